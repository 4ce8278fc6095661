//! What a command leads to, as rows of tables.

use std::collections::BTreeMap;

use bailiwick_core::hash::{Hash, sha256};
use bailiwick_core::heart::{Blob, Change, IndexEntry, Key};
use bailiwick_core::journal::{Entry, Head};
use bailiwick_core::time::instant;

use crate::link::Value;
use crate::{Commit, Receipt, ReceiptKey, StoreError};

/// The rows of a command, column by column as the statements of both databases take them.
pub(crate) struct Rows<'a> {
    pub(crate) workspace: &'a str,
    /// sequence, hash, last time, journal, old sequence, old hash
    pub(crate) heads: Vec<[Value<'a>; 6]>,
    /// journal, sequence, id, kind, entity, actor, time, preimage, hash
    pub(crate) entries: Vec<[Value<'a>; 9]>,
    /// kind, id
    pub(crate) removed: Vec<[Value<'a>; 2]>,
    /// kind, id, version, body
    pub(crate) documents: Vec<[Value<'a>; 4]>,
    /// kind, index, value, sort, id
    pub(crate) index_removed: Vec<[Value<'a>; 5]>,
    /// kind, index, value, sort, id
    pub(crate) index_added: Vec<[Value<'a>; 5]>,
    /// digest, salt, bytes
    pub(crate) blobs: Vec<[Value<'a>; 3]>,
    /// name, command, reply, time
    pub(crate) receipts: Vec<[Value<'a>; 4]>,
}

impl<'a> Rows<'a> {
    /// The rows of a command.
    ///
    /// # Errors
    ///
    /// [`StoreError::Conflict`] if its entries don't follow each other, [`StoreError::Damaged`] if an entry's hash is
    /// not that of its bytes, [`StoreError::Limit`] if something is larger than every database can index.
    pub(crate) fn of(workspace: &'a str, commit: &'a Commit) -> Result<Self, StoreError> {
        let mut rows = Self {
            workspace,
            heads: Vec::new(),
            entries: Vec::with_capacity(commit.entries.len()),
            removed: Vec::new(),
            documents: Vec::with_capacity(commit.changes.len()),
            index_removed: Vec::new(),
            index_added: Vec::new(),
            blobs: commit.blobs.iter().map(blob).collect(),
            receipts: Vec::new(),
        };
        rows.append(&commit.entries)?;
        for change in &commit.changes {
            rows.change(change)?;
        }
        if let Some((key, receipt)) = &commit.receipt {
            rows.receipts.push(answer(key, receipt));
        }
        Ok(rows)
    }

    /// The journals that grow, and the sequence that each is expected to end with.
    pub(crate) fn heads(&self) -> Vec<(String, u64)> {
        let head = |[_, _, _, journal, before, _]: &[Value<'a>; 6]| match (journal, before) {
            (Value::Text(journal), Value::Integer(before)) => Some((journal.to_string(), u64::try_from(*before).ok()?)),
            _ => None,
        };
        self.heads.iter().filter_map(head).collect()
    }

    /// Whether nothing is left.
    pub(crate) fn is_empty(&self) -> bool {
        let Self { workspace: _, heads, entries, removed, documents, index_removed, index_added, blobs, receipts } =
            self;
        heads.is_empty()
            && entries.is_empty()
            && removed.is_empty()
            && documents.is_empty()
            && index_removed.is_empty()
            && index_added.is_empty()
            && blobs.is_empty()
            && receipts.is_empty()
    }

    fn append(&mut self, entries: &'a [(String, Entry)]) -> Result<(), StoreError> {
        let mut journals: BTreeMap<&str, (Head, &Entry)> = BTreeMap::new();
        for (journal, entry) in entries {
            let before = head_before(journal, entry)?;
            match journals.get_mut(journal.as_str()) {
                None => {
                    journals.insert(journal, (before, entry));
                }
                Some((_, last)) if last.head() == before => *last = entry,
                Some((_, last)) => {
                    return Err(StoreError::Conflict(format!(
                        "entry {} of journal `{journal}` does not follow entry {} of the same command",
                        entry.sequence, last.sequence
                    )));
                }
            }
            self.entries.push(entry_row(journal, entry)?);
        }
        for (journal, (before, last)) in journals {
            self.heads.push([
                sequence(last.sequence)?,
                Value::bytes(&last.hash),
                instant(&last.occurred_at).map_or(Value::Null, |at| Value::Integer(at.0)),
                Value::name(journal),
                sequence(before.sequence)?,
                Value::owned(before.hash.into()),
            ]);
        }
        Ok(())
    }

    fn change(&mut self, change: &'a Change) -> Result<(), StoreError> {
        let Key { kind, id } = &change.key;
        limit("kind of document", kind, limits::NAME)?;
        limit("document id", id, limits::ID)?;
        match &change.stored {
            Some(stored) => self.documents.push([
                Value::name(kind),
                Value::text(id),
                sequence(stored.version)?,
                Value::bytes(&stored.body),
            ]),
            None => self.removed.push([Value::name(kind), Value::text(id)]),
        }
        for entry in &change.index_removed {
            self.index_removed.push(index_row(&change.key, entry)?);
        }
        for entry in &change.index_added {
            self.index_added.push(index_row(&change.key, entry)?);
        }
        Ok(())
    }
}

/// The head that an entry claims to follow.
fn head_before(journal: &str, entry: &Entry) -> Result<Head, StoreError> {
    match entry.sequence.checked_sub(1) {
        Some(sequence) => Ok(Head { sequence, hash: entry.prev_hash }),
        None => Err(StoreError::Conflict(format!("an entry of journal `{journal}` has sequence 0; the first has 1"))),
    }
}

/// An entry's row. Checks the hash once more: a wrong one could never be mended.
fn entry_row<'a>(journal: &'a str, entry: &'a Entry) -> Result<[Value<'a>; 9], StoreError> {
    limit("entry id", &entry.id, limits::ID)?;
    let preimage = entry.preimage();
    if sha256(&[&preimage]) != entry.hash {
        return Err(StoreError::Damaged(format!(
            "entry {} for journal `{journal}` has a hash that is not that of its bytes",
            entry.sequence
        )));
    }
    Ok([
        Value::name(journal),
        sequence(entry.sequence)?,
        Value::text(&entry.id),
        Value::text(&entry.kind),
        Value::text(&entry.entity_id),
        Value::text(&entry.actor),
        Value::text(&entry.occurred_at),
        Value::owned(preimage),
        Value::bytes(&entry.hash),
    ])
}

fn index_row<'a>(key: &'a Key, entry: &'a IndexEntry) -> Result<[Value<'a>; 5], StoreError> {
    limit("index name", entry.name, limits::NAME)?;
    limit("index sort", &entry.sort, limits::SORT)?;
    Ok([
        Value::name(&key.kind),
        Value::name(entry.name),
        Value::owned(found_by(&entry.value)),
        Value::text(&entry.sort),
        Value::text(&key.id),
    ])
}

fn blob(blob: &Blob) -> [Value<'_>; 3] {
    [Value::bytes(&blob.digest), Value::bytes(&blob.salt), Value::bytes(&blob.bytes)]
}

fn answer<'a>(key: &ReceiptKey, receipt: &'a Receipt) -> [Value<'a>; 4] {
    [
        Value::owned(receipt_name(key).into()),
        Value::bytes(&receipt.command),
        Value::bytes(&receipt.reply),
        Value::Integer(receipt.at.0),
    ]
}

fn sequence<'a>(number: u64) -> Result<Value<'a>, StoreError> {
    Value::number(number).ok_or_else(|| StoreError::Limit(format!("number {number} is larger than 2^63 - 1")))
}

/// How long, in bytes, what is indexed may be. Together the parts of a key stay below the 2,704 bytes that
/// PostgreSQL can index; both databases keep the same limits, so that a journal can move from one to the other.
pub(crate) mod limits {
    /// The id of a workspace
    pub(crate) const WORKSPACE: usize = 128;
    /// A kind of document, an index, a journal
    pub(crate) const NAME: usize = 64;
    /// The id of a document or an entry: an agent reference of 512 code points fits
    pub(crate) const ID: usize = 2048;
    /// The place of a document among others
    pub(crate) const SORT: usize = 256;
}

/// Refuses what is longer than every database can index.
pub(crate) fn limit(what: &str, text: &str, most: usize) -> Result<(), StoreError> {
    match text.len() {
        length if length <= most => Ok(()),
        length => {
            let start: String = text.chars().take(40).collect();
            Err(StoreError::Limit(format!("{what} `{start}…` has {length} bytes, at most {most} are accepted")))
        }
    }
}

/// A text of any length as an index keeps it, when it is only ever looked for as a whole: a short one as it is, a
/// long one as its first 33 bytes and its SHA-256. No short text is as long as that.
pub fn found_by(text: &str) -> Vec<u8> {
    const SHORT: usize = 64;
    const START: usize = 33;
    match text.as_bytes() {
        short if short.len() <= SHORT => short.into(),
        long => long.iter().copied().take(START).chain(sha256(&[long])).collect(),
    }
}

/// The name that a receipt is kept under: a digest of everything that names it, each part preceded by its length.
pub(crate) fn receipt_name(key: &ReceiptKey) -> Hash {
    let ReceiptKey { principal, established, key } = key;
    let lengths = [principal, established, key].map(|part| part.len().to_be_bytes());
    sha256(&[&lengths[0], principal.as_bytes(), &lengths[1], established.as_bytes(), &lengths[2], key.as_bytes()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_differ_are_found_apart() {
        let long = "x".repeat(65);
        assert_eq!(found_by("short"), b"short");
        assert_eq!(found_by(&"x".repeat(64)).len(), 64);
        assert_eq!(found_by(&long).len(), 65);
        assert_ne!(found_by(&long), long.as_bytes());
        assert_ne!(found_by(&format!("{long}y")), found_by(&format!("{long}z")));
    }

    #[test]
    fn receipts_with_shifted_parts_have_different_names() {
        let key = |principal: &str, established: &str, key: &str| {
            receipt_name(&ReceiptKey { principal: principal.into(), established: established.into(), key: key.into() })
        };
        assert_ne!(key("ab", "c", "d"), key("a", "bc", "d"));
        assert_ne!(key("a", "b", "cd"), key("a", "bc", "d"));
    }
}
