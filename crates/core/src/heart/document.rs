//! Documents: the current state of one aggregate each, and how facts change them.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::{View, ViewError};
use crate::json::{Limits, Value, parse, write_compact};

/// Names a document inside a workspace.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// The kind of document, [`Document::KIND`]
    pub kind: String,
    /// The id, unique within the kind
    pub id: String,
}

impl Key {
    /// The key of a document of a known kind.
    pub fn of<D: Document>(id: impl Into<String>) -> Self {
        Self { kind: D::KIND.into(), id: id.into() }
    }
}

/// A kind of document: a typed form of what the store keeps as bytes.
pub trait Document: Sized {
    /// The kind's stable name.
    const KIND: &'static str;

    /// The id within the kind.
    fn id(&self) -> String;

    /// A number that rises with every change; waiting means waiting for a higher one.
    fn version(&self) -> u64;

    /// The stored form.
    fn to_value(&self) -> Value;

    /// Reads the stored form; `None` if it is none.
    fn from_value(value: Value) -> Option<Self>;

    /// Under which terms the document can be found.
    fn index(&self) -> Vec<IndexEntry>;
}

/// One term under which a document can be found.
///
/// [`super::Select`] finds by `name` and `value` and answers in the order of `sort`. The index named
/// [`IndexEntry::DUE`] is read by the desk itself: its `sort` is the last moment at which nothing needs doing.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct IndexEntry {
    /// The index
    pub name: &'static str,
    /// The value found by, compared byte for byte
    pub value: String,
    /// Where the document stands among others of the same value, compared byte for byte
    pub sort: String,
}

impl IndexEntry {
    /// The index of documents with work that falls due by the clock: no value, the timestamp as sort.
    pub const DUE: &'static str = "due";

    /// An entry.
    pub fn new(name: &'static str, value: impl Into<String>, sort: impl Into<String>) -> Self {
        Self { name, value: value.into(), sort: sort.into() }
    }
}

/// A document as the store keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// Its name
    pub key: Key,
    /// [`Document::version`]
    pub version: u64,
    /// [`Document::to_value`] as compact JSON
    pub body: Vec<u8>,
}

/// A stored document that is not of its kind's form: damage, or a newer writer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Corrupt {
    /// Which document
    pub key: Key,
}

impl Stored {
    /// The stored form of a document.
    pub fn of<D: Document>(document: &D) -> Self {
        Self {
            key: Key::of::<D>(document.id()),
            version: document.version(),
            body: write_compact(&document.to_value()).into(),
        }
    }

    /// The typed form.
    pub fn read<D: Document>(&self) -> Result<D, Corrupt> {
        parse(&self.body, &Limits::STORED).ok().and_then(D::from_value).ok_or_else(|| Corrupt { key: self.key.clone() })
    }
}

/// What a command does to one document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Which document
    pub key: Key,
    /// The document afterwards; `None` when it is gone
    pub stored: Option<Stored>,
    /// Index entries it gains
    pub index_added: Vec<IndexEntry>,
    /// Index entries it loses
    pub index_removed: Vec<IndexEntry>,
}

/// The documents that facts are being applied to: a view, and the changes so far.
pub struct Draft<'a> {
    view: &'a View,
    changed: BTreeMap<Key, Slot>,
}

struct Slot {
    stored: Option<Stored>,
    index: Vec<IndexEntry>,
    index_before: Vec<IndexEntry>,
}

impl<'a> Draft<'a> {
    /// A draft over a view, without changes.
    pub fn new(view: &'a View) -> Self {
        Self { view, changed: BTreeMap::new() }
    }

    /// A document as it stands after the changes so far.
    pub fn document<D: Document>(&self, id: &str) -> Result<Option<D>, ViewError> {
        match self.changed.get(&Key::of::<D>(id)) {
            Some(slot) => Ok(slot.stored.as_ref().map(Stored::read).transpose()?),
            None => self.view.document(id),
        }
    }

    /// Stores a document.
    pub fn put<D: Document>(&mut self, document: &D) -> Result<(), ViewError> {
        let id = document.id();
        let index_before = self.index_before::<D>(&id)?;
        let slot = Slot { stored: Some(Stored::of(document)), index: document.index(), index_before };
        self.changed.insert(Key::of::<D>(id), slot);
        Ok(())
    }

    /// Removes a document, if it is there.
    pub fn remove<D: Document>(&mut self, id: &str) -> Result<(), ViewError> {
        let index_before = self.index_before::<D>(id)?;
        self.changed.insert(Key::of::<D>(id), Slot { stored: None, index: Vec::new(), index_before });
        Ok(())
    }

    fn index_before<D: Document>(&mut self, id: &str) -> Result<Vec<IndexEntry>, ViewError> {
        match self.changed.remove(&Key::of::<D>(id)) {
            Some(slot) => Ok(slot.index_before),
            None => Ok(self.view.document::<D>(id)?.map(|document| document.index()).unwrap_or_default()),
        }
    }

    /// The changes, by key.
    pub fn into_changes(self) -> Vec<Change> {
        let missing = |from: &[IndexEntry], of: &[IndexEntry]| -> Vec<IndexEntry> {
            let mut entries: Vec<_> = from.iter().filter(|entry| !of.contains(entry)).cloned().collect();
            entries.sort();
            entries.dedup();
            entries
        };
        self.changed
            .into_iter()
            .map(|(key, slot)| Change {
                index_added: missing(&slot.index, &slot.index_before),
                index_removed: missing(&slot.index_before, &slot.index),
                key,
                stored: slot.stored,
            })
            .collect()
    }
}

impl core::fmt::Display for Corrupt {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(&format!("the stored {} `{}` is not of its form", self.key.kind, self.key.id))
    }
}
