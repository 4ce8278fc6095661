//! Documents in memory: enough of a store to replay a journal anywhere, and to test rules as data.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Bound;

use super::{
    Change, Document, IndexEntry, Key, Need, Order, Query, Refusal, Scope, Select, Step, Stored, View, ViewError, ask,
    run,
};
use super::{Command, Context, Credential, capability};
use crate::jose::Issuer;
use crate::json::Value;
use crate::time::Millis;

/// Every document of a workspace, with its index.
#[derive(Debug, Clone, Default)]
pub struct Memory {
    documents: BTreeMap<Key, Stored>,
    /// (kind, index, value, sort, id)
    index: BTreeSet<(String, &'static str, String, String, String)>,
}

impl Memory {
    /// Memory without documents.
    pub fn new() -> Self {
        Self::default()
    }

    /// Runs a command against everything in memory, and keeps the changes.
    ///
    /// # Errors
    ///
    /// [`ViewError::Corrupt`] for a document that is not of its form.
    pub fn run(&mut self, command: &Command, context: &Context<'_>) -> Result<Step, ViewError> {
        let (step, _) = self.with_view(|view| run(view, command, context))?;
        for change in &step.changes {
            self.apply(change);
        }
        Ok(step)
    }

    /// Answers a query.
    ///
    /// # Errors
    ///
    /// [`ViewError::Corrupt`] for a document that is not of its form.
    pub fn ask(&self, query: &Query, context: &Context<'_>) -> Result<Result<Value, Refusal>, ViewError> {
        Ok(self.with_view(|view| ask(view, query, context))?.0)
    }

    /// Makes a credential.
    ///
    /// # Errors
    ///
    /// [`ViewError::Corrupt`] for a document that is not of its form.
    pub fn mint(
        &self,
        credential: &Credential,
        issuer: &Issuer<'_>,
        context: &Context<'_>,
    ) -> Result<Result<Value, Refusal>, ViewError> {
        Ok(self.with_view(|view| capability::mint(view, credential, issuer, context))?.0)
    }

    /// Signs the list of credentials that no longer count, as of a journal's head: its sequence and its time.
    ///
    /// # Errors
    ///
    /// [`ViewError::Corrupt`] for a document that is not of its form.
    pub fn sign_revocations(
        &self,
        head: (u64, Millis),
        issuer: &Issuer<'_>,
        now: Millis,
    ) -> Result<Result<String, Refusal>, ViewError> {
        Ok(self.with_view(|view| capability::sign_revocations(view, head, issuer, now))?.0)
    }

    /// Calls until the view holds all that is needed; answers the view too.
    pub(super) fn with_view<T>(&self, call: impl Fn(&View) -> Result<T, ViewError>) -> Result<(T, View), ViewError> {
        let mut view = View::new();
        loop {
            match call(&view) {
                Ok(result) => return Ok((result, view)),
                Err(ViewError::NotLoaded(need)) => self.load(&mut view, need),
                Err(error) => return Err(error),
            }
        }
    }

    fn load(&self, view: &mut View, need: Need) {
        match need {
            Need::Documents(keys) => {
                for key in keys {
                    let stored = self.documents.get(&key).cloned();
                    view.load(key, stored);
                }
            }
            Need::Selection(select) => {
                let found = self.select(&select);
                view.load_selection(*select, found);
            }
            Need::Count(select) => {
                let all = Select { after: None, limit: u32::MAX, ..(*select).clone() };
                let count = u64::try_from(self.select(&all).len()).unwrap_or(u64::MAX);
                view.load_count(*select, count);
            }
        }
    }

    fn select(&self, select: &Select) -> Vec<Stored> {
        // A journal is replayed one workspace at a time, so a group is no more than the workspace here.
        let (Scope::Workspace | Scope::Group) = select.scope;
        let entry = |value: &str, (sort, id): (String, String)| {
            (String::from(select.kind), select.index, String::from(value), sort, id)
        };
        let first = entry(&select.value, Default::default());
        // No value stands between one and the same followed by the lowest character.
        let end = entry(&format!("{}\0", select.value), Default::default());
        let place = select.after.clone().map(|after| entry(&select.value, after));
        let (from, to) = match (select.order, place) {
            (Order::Ascending, Some(place)) => (Bound::Excluded(place), Bound::Excluded(end)),
            (Order::Descending, Some(place)) => (Bound::Included(first), Bound::Excluded(place)),
            (_, None) => (Bound::Included(first), Bound::Excluded(end)),
        };
        let entries = self.index.range((from, to));
        let entries: Box<dyn Iterator<Item = _>> = match select.order {
            Order::Ascending => Box::new(entries),
            Order::Descending => Box::new(entries.rev()),
        };
        entries
            .filter_map(|(kind, .., id)| self.documents.get(&Key { kind: kind.clone(), id: id.clone() }))
            .filter(|stored| {
                select.also.iter().all(|(index, value)| {
                    let from = (stored.key.kind.clone(), *index, value.clone(), String::new(), String::new());
                    self.index
                        .range(from..)
                        .take_while(|(kind, i, v, ..)| *kind == stored.key.kind && i == index && v == value)
                        .any(|(.., id)| *id == stored.key.id)
                })
            })
            .take(usize::try_from(select.limit).unwrap_or(usize::MAX))
            .cloned()
            .collect()
    }

    /// Documents with work that fell due before a timestamp, earliest first.
    pub fn due(&self, before: &str) -> Vec<Key> {
        let mut due: Vec<(&String, Key)> = self
            .index
            .iter()
            .filter(|(_, index, _, sort, _)| *index == IndexEntry::DUE && sort.as_str() < before)
            .map(|(kind, _, _, sort, id)| (sort, Key { kind: kind.clone(), id: id.clone() }))
            .collect();
        due.sort();
        due.into_iter().map(|(_, key)| key).collect()
    }

    /// Keeps a change.
    pub fn apply(&mut self, change: &Change) {
        let entry = |entry: &IndexEntry| {
            (change.key.kind.clone(), entry.name, entry.value.clone(), entry.sort.clone(), change.key.id.clone())
        };
        for removed in &change.index_removed {
            self.index.remove(&entry(removed));
        }
        for added in &change.index_added {
            self.index.insert(entry(added));
        }
        match &change.stored {
            Some(stored) => self.documents.insert(change.key.clone(), stored.clone()),
            None => self.documents.remove(&change.key),
        };
    }

    /// A document.
    ///
    /// # Errors
    ///
    /// [`ViewError::Corrupt`] if it is not of its form.
    pub fn document<D: Document>(&self, id: &str) -> Result<Option<D>, ViewError> {
        Ok(self.documents.get(&Key::of::<D>(id)).map(Stored::read).transpose()?)
    }

    /// The index entries of every document as (name, value, sort), in order.
    pub fn index(&self) -> BTreeMap<Key, Vec<(String, String, String)>> {
        let mut found: BTreeMap<Key, Vec<_>> = BTreeMap::new();
        for (kind, name, value, sort, id) in &self.index {
            let entry = (String::from(*name), value.clone(), sort.clone());
            found.entry(Key { kind: kind.clone(), id: id.clone() }).or_default().push(entry);
        }
        found
    }

    /// Every document, by key.
    pub fn documents(&self) -> impl Iterator<Item = &Stored> {
        self.documents.values()
    }
}
