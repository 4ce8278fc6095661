//! Anchors: exact positions in a journal, which clients keep and bring back (`coordination §1`, `§5.6`).

use alloc::string::{String, ToString};
use core::fmt;

use super::Row;
use crate::hash::{from_hex, hex};
use crate::json::{Object, Value};

/// An exact position in a journal. Sequence 0, before the first entry, has the all-zero hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Anchor {
    /// The workspace's epoch
    pub epoch_id: String,
    /// The last entry before the position
    pub sequence: u64,
    /// That entry's hash
    pub hash: String,
}

/// The hash before the first entry.
const ZEROS: &str = "0000000000000000000000000000000000000000000000000000000000000000";

impl Anchor {
    /// The position before the first entry.
    pub fn genesis(epoch_id: impl Into<String>) -> Self {
        Self { epoch_id: epoch_id.into(), sequence: 0, hash: ZEROS.to_string() }
    }

    /// The position after an entry.
    pub fn after(row: &Row<'_>) -> Self {
        Self { epoch_id: row.epoch_id.into(), sequence: row.sequence, hash: row.hash.into() }
    }

    /// As results show it.
    pub fn to_value(&self) -> Value {
        Object::new().with("epoch_id", &self.epoch_id).with("sequence", self.sequence).with("hash", &self.hash).into()
    }

    /// Reads what [`Anchor::to_value`] writes; `None` if it is malformed, which counts as [`AnchorFault::Mismatch`].
    pub fn from_value(value: &Value) -> Option<Self> {
        let hash = value.get("hash")?.as_str().filter(|hash| from_hex::<32>(hash).is_some())?;
        Some(Self {
            epoch_id: value.get("epoch_id")?.as_str()?.into(),
            sequence: value.get("sequence")?.as_number()?.to_u64()?,
            hash: hash.into(),
        })
    }
}

/// Why an anchor is not a position in a journal (`coordination §5.6`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnchorFault {
    /// It belongs to another epoch
    Mismatch,
    /// The journal says something else at that position
    ForkDetected,
    /// It is beyond the journal's end
    Ahead {
        /// Where the journal ends
        head_sequence: u64,
    },
}

impl AnchorFault {
    /// The stable code.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Mismatch => "cursor_mismatch",
            Self::ForkDetected => "cursor_fork_detected",
            Self::Ahead { .. } => "cursor_ahead",
        }
    }
}

impl fmt::Display for AnchorFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mismatch => f.write_str("the cursor belongs to another epoch"),
            Self::ForkDetected => f.write_str("the journal does not have the cursor's hash at that sequence"),
            Self::Ahead { head_sequence } => write!(f, "the cursor is beyond the journal's head `{head_sequence}`"),
        }
    }
}

impl core::error::Error for AnchorFault {}

/// Checks that an anchor is a position in the journal of epoch `epoch_id` that ends at `head_sequence`.
///
/// `stored` is the row at the anchor's sequence, `None` if there is none.
///
/// # Errors
///
/// [`AnchorFault`] if it is not, or if the stored entry no longer hashes to its own hash.
pub fn verify_anchor(
    anchor: &Anchor,
    epoch_id: &str,
    head_sequence: u64,
    stored: Option<&Row<'_>>,
) -> Result<(), AnchorFault> {
    if anchor.epoch_id != epoch_id {
        return Err(AnchorFault::Mismatch);
    }
    if anchor.sequence == 0 {
        return if anchor.hash == ZEROS { Ok(()) } else { Err(AnchorFault::ForkDetected) };
    }
    if anchor.sequence > head_sequence {
        return Err(AnchorFault::Ahead { head_sequence });
    }
    let stored = stored.filter(|row| row.sequence == anchor.sequence && row.hash == anchor.hash);
    match stored.map(Row::recompute_hash) {
        Some(Ok(hash)) if hex(&hash) == anchor.hash => Ok(()),
        _ => Err(AnchorFault::ForkDetected),
    }
}
