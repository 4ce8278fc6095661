//! Pages of a public journal (`coordination §5.5`).

use alloc::vec::Vec;
use core::fmt;

use super::{Anchor, Row, StoredHead};
use crate::hash::hex;
use crate::json::{Object, Value};

/// Consecutive entries, read in one snapshot, and whether they hang together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<'a> {
    /// The entries
    pub rows: &'a [Row<'a>],
    /// Where the page starts
    pub cursor: Anchor,
    /// Where it ends: after its last entry, or where it starts if it is empty
    pub next_anchor: Anchor,
    /// Where the journal ends
    pub head: StoredHead<'a>,
    /// Whether there are entries after these
    pub has_more: bool,
    /// Whether the page's entries follow each other and are what their hashes say. If the page reaches the head, or
    /// is empty, it must end there.
    pub chain_valid: bool,
}

/// Why there is no page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageError {
    /// It would start beyond the journal's end
    InvalidCursor {
        /// Where it should have started
        after_sequence: u64,
        /// Where the journal ends
        head_sequence: u64,
    },
    /// There is no entry at the sequence after which it should start
    CursorMismatch,
}

impl PageError {
    /// The stable code.
    pub const fn code(self) -> &'static str {
        match self {
            Self::InvalidCursor { .. } => "invalid_cursor",
            Self::CursorMismatch => "cursor_mismatch",
        }
    }
}

impl fmt::Display for PageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidCursor { after_sequence, head_sequence } => {
                write!(f, "sequence `{after_sequence}` is beyond the journal's head `{head_sequence}`")
            }
            Self::CursorMismatch => f.write_str("there is no entry at the sequence after which the page starts"),
        }
    }
}

impl core::error::Error for PageError {}

impl<'a> Page<'a> {
    /// The page of `rows` after `after_sequence`, in a journal of epoch `epoch_id`.
    ///
    /// `predecessor` is the row at `after_sequence`, `None` if that is 0.
    ///
    /// # Errors
    ///
    /// [`PageError`] if it cannot start there. Entries that do not hang together are no error:
    /// [`Page::chain_valid`] says so.
    pub fn new(
        epoch_id: &str,
        after_sequence: u64,
        predecessor: Option<&Row<'_>>,
        rows: &'a [Row<'a>],
        head: StoredHead<'a>,
    ) -> Result<Self, PageError> {
        if after_sequence > head.sequence {
            return Err(PageError::InvalidCursor { after_sequence, head_sequence: head.sequence });
        }
        let cursor = match predecessor.filter(|row| row.sequence == after_sequence) {
            _ if after_sequence == 0 => Anchor::genesis(epoch_id),
            Some(row) => Anchor { epoch_id: epoch_id.into(), sequence: after_sequence, hash: row.hash.into() },
            None => return Err(PageError::CursorMismatch),
        };
        let next_anchor = rows.last().map_or_else(|| cursor.clone(), Anchor::after);
        let has_more = next_anchor.sequence < head.sequence;
        let chain_valid = is_chain(&cursor, rows) && ends_right(&next_anchor, rows, head);
        Ok(Self { rows, cursor, next_anchor, head, has_more, chain_valid })
    }

    /// The page object.
    pub fn to_value(&self) -> Value {
        Object::new()
            .with("events", self.rows.iter().map(Row::to_value).collect::<Vec<_>>())
            .with("next_cursor", self.next_anchor.sequence)
            .with("cursor", self.cursor.to_value())
            .with("next_anchor", self.next_anchor.to_value())
            .with("head_sequence", self.head.sequence)
            .with("head_hash", self.head.hash)
            .with("has_more", self.has_more)
            .with("chain_valid", self.chain_valid)
            .with("verification_scope", "returned_page")
            .into()
    }
}

fn is_chain(cursor: &Anchor, rows: &[Row<'_>]) -> bool {
    let mut previous = (cursor.sequence, cursor.hash.as_str());
    rows.iter().all(|row| {
        let (sequence, hash) = core::mem::replace(&mut previous, (row.sequence, row.hash));
        sequence.checked_add(1) == Some(row.sequence)
            && row.prev_hash == hash
            && row.recompute_hash().is_ok_and(|recomputed| hex(&recomputed) == row.hash)
    })
}

/// A page that does not reach the head's sequence has nothing to say about it; an empty one must start there.
fn ends_right(end: &Anchor, rows: &[Row<'_>], head: StoredHead<'_>) -> bool {
    if end.sequence == head.sequence { end.hash == head.hash } else { !rows.is_empty() }
}
