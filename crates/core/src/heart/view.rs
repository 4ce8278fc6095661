//! What has been loaded for a decision.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use super::{Change, Corrupt, Document, Key, Stored};

/// The documents and selections loaded for a decision. What was not loaded is an error, never nothing.
#[derive(Debug, Default)]
pub struct View {
    documents: BTreeMap<Key, Option<Stored>>,
    selections: BTreeMap<Select, Vec<Stored>>,
    counts: BTreeMap<Select, u64>,
}

/// Something a decision needs and the view lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Need {
    /// Documents by key
    Documents(Vec<Key>),
    /// Documents by an index
    Selection(alloc::boxed::Box<Select>),
    /// How many documents a selection would find without its paging
    Count(alloc::boxed::Box<Select>),
}

/// Documents of one kind, found by an index and answered by (`sort`, id).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Select {
    /// The kind of document
    pub kind: &'static str,
    /// Where to look
    pub scope: Scope,
    /// The index
    pub index: &'static str,
    /// The value found by
    pub value: String,
    /// Further index entries (name, value) that each document must have
    pub also: Vec<(&'static str, String)>,
    /// In which order
    pub order: Order,
    /// Start after this (`sort`, id): keyset paging
    pub after: Option<(String, String)>,
    /// How many at most
    pub limit: u32,
}

/// The order in which a selection answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Order {
    /// By (`sort`, id), byte for byte
    #[default]
    Ascending,
    /// The other way around
    Descending,
}

/// Where a selection looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// The command's own workspace
    Workspace,
    /// Every workspace of its lock group
    Group,
}

/// Why a view could not answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ViewError {
    /// Load this and call again
    NotLoaded(Need),
    /// A stored document is not of its form
    Corrupt(Corrupt),
}

impl From<Corrupt> for ViewError {
    fn from(corrupt: Corrupt) -> Self {
        Self::Corrupt(corrupt)
    }
}

impl View {
    /// A view in which nothing is loaded.
    pub fn new() -> Self {
        Self::default()
    }

    /// Says what the store holds for a key.
    pub fn load(&mut self, key: Key, stored: Option<Stored>) {
        self.documents.insert(key, stored);
    }

    /// Says what the store answers to a selection.
    pub fn load_selection(&mut self, select: Select, stored: Vec<Stored>) {
        self.selections.insert(select, stored);
    }

    /// Says how many documents the store has for a selection, its paging left aside.
    pub fn load_count(&mut self, select: Select, count: u64) {
        self.counts.insert(select, count);
    }

    /// A document.
    pub fn document<D: Document>(&self, id: &str) -> Result<Option<D>, ViewError> {
        let key = Key::of::<D>(id);
        match self.documents.get(&key) {
            Some(stored) => Ok(stored.as_ref().map(Stored::read).transpose()?),
            None => Err(ViewError::NotLoaded(Need::Documents([key].into()))),
        }
    }

    /// Several documents; those that do not exist are left out. Asks for all missing ones at once.
    pub fn documents<D: Document>(&self, ids: &[String]) -> Result<Vec<D>, ViewError> {
        let keys: Vec<Key> = ids.iter().map(Key::of::<D>).collect();
        let missing: Vec<Key> = keys.iter().filter(|key| !self.documents.contains_key(key)).cloned().collect();
        if !missing.is_empty() {
            return Err(ViewError::NotLoaded(Need::Documents(missing)));
        }
        keys.iter().filter_map(|key| self.documents.get(key)?.as_ref()).map(|stored| Ok(stored.read()?)).collect()
    }

    /// The documents that a selection finds.
    pub fn select<D: Document>(&self, select: &Select) -> Result<Vec<D>, ViewError> {
        match self.selections.get(select) {
            Some(found) => found.iter().map(|stored| Ok(stored.read()?)).collect(),
            None => Err(ViewError::NotLoaded(Need::Selection(select.clone().into()))),
        }
    }

    /// How many documents a selection would find without its paging.
    pub fn count(&self, select: &Select) -> Result<u64, ViewError> {
        self.counts.get(select).copied().ok_or_else(|| ViewError::NotLoaded(Need::Count(select.clone().into())))
    }

    /// How many bytes of documents are loaded by key, about.
    pub fn bytes(&self) -> usize {
        /// What a key and its place take, about.
        const OVERHEAD: usize = 200;
        self.documents
            .values()
            .map(|stored| stored.as_ref().map_or(0, |stored| stored.body.len()).saturating_add(OVERHEAD))
            .fold(0, usize::saturating_add)
    }

    /// Forgets what selections found and counted, and keeps the documents.
    pub fn forget_selections(&mut self) {
        self.selections.clear();
        self.counts.clear();
    }

    /// The keys of every document that was loaded, one by one or by a selection.
    pub fn loaded(&self) -> impl Iterator<Item = &Key> {
        self.documents.keys().chain(self.selections.values().flatten().map(|stored| &stored.key))
    }

    /// Takes over the changes of a finished command: its documents stay loaded, selections are forgotten.
    pub fn advance(&mut self, changes: &[Change]) {
        self.forget_selections();
        for change in changes {
            self.documents.insert(change.key.clone(), change.stored.clone());
        }
    }
}
