//! The journal entry: one envelope for every journal (`coordination §5.1–5.3`).
//!
//! An entry's hash covers its canonical JSON without the `hash` member; that text names the hash of the entry
//! before it. The same bytes, prefixed with a zero byte, are the entry's leaf in the Merkle tree
//! (`tamper-evidence §7`), so whoever seals should keep them: [`Draft::seal_into`] leaves them in a buffer.
//!
//! What an entry does not say: that its payload makes sense, or that its principal was allowed to cause it.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::hash::{Hash, hex, sha256};
use crate::json::{Object, Value, write_canonical_into};

/// The most bytes that the canonical form of a [`Label::Journal1`] entry may have; bulk belongs into blobs.
pub const MAX_ENTRY_BYTES: usize = 16 * 1024;

/// The member `protocol`: which family an entry belongs to, and with it the hash rule (`coordination §5.3`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Label {
    /// `agenttool.collab/0.1`: old public events, which have no `session_id` at all
    Collab01,
    /// `agenttool.collab/0.2`: public coordination events
    Collab02,
    /// `bailiwick.journal/1`: Bailiwick's decision records
    Journal1,
    /// Any other label; hashed as `agenttool.collab/0.2` is
    Other(String),
}

impl Label {
    /// The label as journals write it.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Collab01 => "agenttool.collab/0.1",
            Self::Collab02 => "agenttool.collab/0.2",
            Self::Journal1 => "bailiwick.journal/1",
            Self::Other(label) => label,
        }
    }

    /// Reads a label; every text is one.
    pub fn parse(text: &str) -> Self {
        match text {
            "agenttool.collab/0.1" => Self::Collab01,
            "agenttool.collab/0.2" => Self::Collab02,
            "bailiwick.journal/1" => Self::Journal1,
            other => Self::Other(other.into()),
        }
    }

    /// Whether entries with this label have a `session_id` member, be it null.
    pub fn has_session_id(&self) -> bool {
        *self != Self::Collab01
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Where a journal ends: the sequence and the hash of its last entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// The last entry's sequence, 0 for an empty journal
    pub sequence: u64,
    /// The last entry's hash, all zeros for an empty journal
    pub hash: Hash,
}

impl Head {
    /// The head of an empty journal.
    pub const GENESIS: Self = Self { sequence: 0, hash: [0; 32] };
}

impl Default for Head {
    fn default() -> Self {
        Self::GENESIS
    }
}

/// An entry of a journal, in its place in the chain.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The family it belongs to (member `protocol`)
    pub protocol: Label,
    /// The workspace whose journal this is
    pub workspace_id: String,
    /// The random label that the workspace got when it was created
    pub epoch_id: String,
    /// The place in the journal, from 1
    pub sequence: u64,
    /// The entry's own id
    pub id: String,
    /// What happened (member `type`)
    pub kind: String,
    /// What it happened to
    pub entity_id: String,
    /// Who caused it
    pub actor: String,
    /// In which session; always `None` for [`Label::Collab01`]
    pub session_id: Option<String>,
    /// When, as UTC with three fractional digits and `Z`
    pub occurred_at: String,
    /// The details
    pub payload: Object,
    /// The hash of the entry before this one, zeros for the first
    pub prev_hash: Hash,
    /// The hash of this entry
    pub hash: Hash,
}

/// An entry that has no place in a chain yet.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    /// The family it belongs to (member `protocol`)
    pub protocol: Label,
    /// The workspace whose journal this is
    pub workspace_id: String,
    /// The random label that the workspace got when it was created
    pub epoch_id: String,
    /// The entry's own id
    pub id: String,
    /// What happened (member `type`)
    pub kind: String,
    /// What it happened to
    pub entity_id: String,
    /// Who caused it
    pub actor: String,
    /// In which session; dropped when sealing a [`Label::Collab01`] entry, which cannot carry it
    pub session_id: Option<String>,
    /// When, as UTC with three fractional digits and `Z`
    pub occurred_at: String,
    /// The details
    pub payload: Object,
}

/// Why a draft cannot become an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SealError {
    /// The canonical form of a [`Label::Journal1`] entry is longer than [`MAX_ENTRY_BYTES`]
    TooLarge {
        /// How long it is
        bytes: usize,
    },
    /// The journal has 2^64 − 1 entries
    Full,
}

impl SealError {
    /// The stable code.
    pub const fn code(self) -> &'static str {
        match self {
            Self::TooLarge { .. } => "entry_too_large",
            Self::Full => "journal_full",
        }
    }
}

impl fmt::Display for SealError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge { bytes } => {
                write!(f, "the entry has {bytes} bytes in canonical form, at most {MAX_ENTRY_BYTES} are accepted")
            }
            Self::Full => f.write_str("the journal has no sequence number left"),
        }
    }
}

impl core::error::Error for SealError {}

impl Draft {
    /// Makes this the entry after `head`.
    ///
    /// # Errors
    ///
    /// [`SealError`] if the entry is too large or the journal is full.
    pub fn seal(self, head: &Head) -> Result<Entry, SealError> {
        self.seal_into(head, &mut Vec::new())
    }

    /// [`Draft::seal`] that leaves the canonical bytes that were hashed in `preimage`, replacing what was there:
    /// the data of the entry's Merkle leaf.
    ///
    /// # Errors
    ///
    /// [`SealError`] if the entry is too large or the journal is full.
    pub fn seal_into(self, head: &Head, preimage: &mut Vec<u8>) -> Result<Entry, SealError> {
        let mut entry = self.after(head).ok_or(SealError::Full)?;
        preimage.clear();
        entry.write_preimage(preimage);
        if entry.protocol == Label::Journal1 && preimage.len() > MAX_ENTRY_BYTES {
            return Err(SealError::TooLarge { bytes: preimage.len() });
        }
        entry.hash = sha256(&[preimage]);
        Ok(entry)
    }

    /// The entry in its place, still without its hash.
    fn after(self, head: &Head) -> Option<Entry> {
        let session_id = if self.protocol.has_session_id() { self.session_id } else { None };
        Some(Entry {
            protocol: self.protocol,
            workspace_id: self.workspace_id,
            epoch_id: self.epoch_id,
            sequence: head.sequence.checked_add(1)?,
            id: self.id,
            kind: self.kind,
            entity_id: self.entity_id,
            actor: self.actor,
            session_id,
            occurred_at: self.occurred_at,
            payload: self.payload,
            prev_hash: head.hash,
            hash: [0; 32],
        })
    }
}

impl Entry {
    /// The head of a journal that ends with this entry.
    pub fn head(&self) -> Head {
        Head { sequence: self.sequence, hash: self.hash }
    }

    /// The canonical bytes that the hash covers (`coordination §5.2`, `§5.3`).
    pub fn preimage(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.write_preimage(&mut bytes);
        bytes
    }

    /// The entry's leaf in the Merkle tree: SHA-256 over a zero byte and the preimage (`RFC 9162 §2.1.1`).
    pub fn leaf_hash(&self) -> Hash {
        sha256(&[&[0], &self.preimage()])
    }

    /// The canonical text of the payload, as stores keep it.
    pub fn payload_text(&self) -> String {
        let mut bytes = Vec::new();
        write_canonical_into(&Value::Object(self.payload.clone()), &mut bytes);
        String::from_utf8(bytes).unwrap_or_default()
    }

    /// The entry as a value, the hash included.
    pub fn to_value(&self) -> Value {
        Value::Object(self.members().with("hash", hex(&self.hash)))
    }

    /// Every member but the hash.
    fn members(&self) -> Object {
        let mut object = Object::new()
            .with("protocol", self.protocol.as_str())
            .with("workspace_id", &self.workspace_id)
            .with("epoch_id", &self.epoch_id)
            .with("sequence", self.sequence)
            .with("id", &self.id)
            .with("type", &self.kind)
            .with("entity_id", &self.entity_id)
            .with("actor", &self.actor);
        if self.protocol.has_session_id() {
            object.insert("session_id", self.session_id.as_ref().map_or(Value::Null, Value::from));
        }
        object
            .with("occurred_at", &self.occurred_at)
            .with("payload", self.payload.clone())
            .with("prev_hash", hex(&self.prev_hash))
    }

    fn write_preimage(&self, out: &mut Vec<u8>) {
        write_canonical_into(&Value::Object(self.members()), out);
    }
}
