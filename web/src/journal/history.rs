//! Entries of the journal, newest first, as far as they have been read.

use std::sync::Arc;

use bailiwick_core::json::{Number, Value};
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::row::sequence;
use crate::api::{ApiError, Path};
use crate::desk::Desk;
use crate::document::{count, items, text};
use crate::parts::Filters;

/// How many entries come at a time.
const PAGE: u32 = 50;

/// Later than every entry: JavaScript's largest exact integer.
const THE_END: u64 = (1 << 53) - 1;

/// Where the journal ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Head {
    /// The last entry's sequence
    pub(crate) sequence: u64,
    /// Its hash, hexadecimal
    pub(crate) hash: String,
}

/// What the page has read.
#[derive(Clone, Copy)]
pub(crate) struct History {
    /// The entries, newest first
    pub(crate) entries: RwSignal<Vec<Arc<Value>>>,
    /// Where to read on; `None` at the beginning of the journal
    pub(crate) next_before: RwSignal<Option<u64>>,
    /// Where the journal ends, as far as is known
    pub(crate) head: RwSignal<Option<Head>>,
    /// How many entries came since
    pub(crate) new: RwSignal<u64>,
    /// Why reading failed
    pub(crate) error: RwSignal<Option<ApiError>>,
    /// Whether something is being read
    pub(crate) busy: RwSignal<bool>,
    /// Whether anything was read
    pub(crate) is_read: RwSignal<bool>,
    filters: Filters,
    /// Counts the readings from the start, so that a late answer to an earlier question is dropped.
    reading: StoredValue<u64>,
}

impl History {
    /// Reads what the filters let through, and again when they change.
    pub(crate) fn of(filters: Filters) -> Self {
        let history = Self {
            entries: RwSignal::new(Vec::new()),
            next_before: RwSignal::new(None),
            head: RwSignal::new(None),
            new: RwSignal::new(0),
            error: RwSignal::new(None),
            busy: RwSignal::new(false),
            is_read: RwSignal::new(false),
            filters,
            reading: StoredValue::new(0),
        };
        let question = filters.request("", 0);
        Effect::new(move |before: Option<String>| {
            let now = question.get();
            if before.as_ref() != Some(&now) {
                history.entries.set(Vec::new());
                history.is_read.set(false);
                history.reload();
            }
            now
        });
        Desk::here().live.on_entry(move |entry| history.hear(entry));
        history
    }

    /// Reads from the end again.
    pub(crate) fn reload(self) {
        self.reading.update_value(|number| *number += 1);
        self.read(THE_END);
    }

    /// Reads further back.
    pub(crate) fn older(self) {
        if let Some(before) = self.next_before.get_untracked()
            && !self.busy.get_untracked()
        {
            self.read(before);
        }
    }

    /// Tries again what failed.
    pub(crate) fn resume(self) {
        match self.next_before.get_untracked() {
            Some(before) => self.read(before),
            None => self.reload(),
        }
    }

    fn read(self, before: u64) {
        let desk = Desk::here();
        let number = self.reading.get_value();
        let path = untrack(|| {
            let filter = |path: Path, name: &&'static str| path.with(name, &self.filters.value(name));
            let path = Path::new("journal/entries").with("before", &before.to_string());
            ["actor", "type", "entity"].iter().fold(path, filter).with("limit", &PAGE.to_string()).into_text()
        });
        self.busy.set(true);
        spawn_local(async move {
            let answer = desk.get(&path).await;
            // The page may be gone, or ask for something else by now.
            if self.reading.try_get_value() == Some(number) {
                self.keep(before, answer);
            }
        });
    }

    fn keep(self, before: u64, answer: Result<Value, ApiError>) {
        self.busy.set(false);
        let page = match answer {
            Ok(page) => page,
            Err(error) => return self.error.set(Some(error)),
        };
        self.error.set(None);
        let read: Vec<Arc<Value>> = items(&page, "entries").iter().cloned().map(Arc::new).collect();
        if before == THE_END {
            self.new.set(0);
            self.head
                .set(Some(Head { sequence: count(&page, "head_sequence"), hash: text(&page, "head_hash").into() }));
            self.entries.set(read);
        } else {
            self.entries.update(|entries| entries.extend(read));
        }
        self.next_before
            .set(page.get("next_before").and_then(|next| next.as_number().copied().and_then(Number::to_u64)));
        self.is_read.set(true);
    }

    /// Takes notice of an entry that was just written; `None` if some may have been missed.
    fn hear(self, entry: Option<&Value>) {
        let Some(entry) = entry else { return self.reload() };
        let head = Head { sequence: sequence(entry), hash: text(entry, "hash").into() };
        let is_new =
            self.head.with_untracked(|known| known.as_ref().is_some_and(|known| known.sequence < head.sequence));
        if !is_new {
            return;
        }
        self.head.set(Some(head));
        let matches = untrack(|| {
            [("actor", "actor"), ("type", "type"), ("entity", "entity_id")].iter().all(|(filter, member)| {
                let wanted = self.filters.value(filter);
                wanted.is_empty() || wanted == text(entry, member)
            })
        });
        if matches {
            self.new.update(|count| *count += 1);
        }
    }
}
