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

use super::merkle::leaf_hash;
use crate::hash::{Hash, from_hex, hex, sha256};
use crate::json::{
    Duplicates, Limits, Object, ReadError, Text, Tree, Value, parse, write_canonical, write_canonical_into,
};

/// The most bytes that the canonical form of a [`Label::Journal1`] entry may have; bulk belongs into blobs.
pub const MAX_ENTRY_BYTES: usize = 16 * 1024;

const COLLAB_01: &str = "agenttool.collab/0.1";
const COLLAB_02: &str = "agenttool.collab/0.2";
const JOURNAL_1: &str = "bailiwick.journal/1";

/// How an entry's text is read: a name that occurs twice means two things to two readers, so it is refused.
pub(super) const ENTRY_LIMITS: Limits = Limits::JOURNAL.with_duplicates(Duplicates::Refuse);

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
            Self::Collab01 => COLLAB_01,
            Self::Collab02 => COLLAB_02,
            Self::Journal1 => JOURNAL_1,
            Self::Other(label) => label,
        }
    }

    /// Reads a label; every text is one.
    pub fn parse(text: &str) -> Self {
        match text {
            COLLAB_01 => Self::Collab01,
            COLLAB_02 => Self::Collab02,
            JOURNAL_1 => Self::Journal1,
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
        let payload = Value::Object(core::mem::take(&mut entry.payload));
        preimage.clear();
        entry.write_preimage(&payload, preimage);
        if let Value::Object(payload) = payload {
            entry.payload = payload;
        }
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
        self.write_preimage(&Value::Object(self.payload.clone()), &mut bytes);
        bytes
    }

    /// The entry's leaf in the Merkle tree: SHA-256 over a zero byte and the preimage (`RFC 9162 §2.1.1`).
    pub fn leaf_hash(&self) -> Hash {
        leaf_hash(&self.preimage())
    }

    /// The canonical text of the payload.
    pub fn payload_text(&self) -> String {
        write_canonical(&Value::Object(self.payload.clone()))
    }

    /// The entry as a value, the hash included, in the order of `coordination §5.1`.
    pub fn to_value(&self) -> Value {
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
            .with("hash", hex(&self.hash))
            .into()
    }

    /// Reads an entry from its preimage and its hash, as stores keep them. Does not check that they belong together.
    ///
    /// # Errors
    ///
    /// [`EntryError`] if the text is no entry without its hash.
    pub fn read_preimage(preimage: &[u8], hash: Hash) -> Result<Self, EntryError> {
        let mut object = read_object(preimage)?;
        check_members(&object, HashMember::Outside)?;
        Self::from_members(&mut object, hash)
    }

    /// Reads an entry from its JSON text, the hash included. Does not check that the hash is right.
    ///
    /// # Errors
    ///
    /// [`EntryError`] if the text is no entry.
    pub fn read(text: &[u8]) -> Result<Self, EntryError> {
        let mut object = read_object(text)?;
        check_members(&object, HashMember::Inside)?;
        let hash = take_hash(&mut object, "hash")?;
        Self::from_members(&mut object, hash)
    }

    fn from_members(object: &mut Object, hash: Hash) -> Result<Self, EntryError> {
        let sequence = object.get("sequence").and_then(Value::as_number).and_then(|number| number.to_u64());
        Ok(Self {
            protocol: Label::parse(&take_string(object, "protocol")?),
            workspace_id: take_string(object, "workspace_id")?,
            epoch_id: take_string(object, "epoch_id")?,
            sequence: sequence.ok_or_else(|| EntryError::form("sequence", A_SEQUENCE))?,
            id: take_string(object, "id")?,
            kind: take_string(object, "type")?,
            entity_id: take_string(object, "entity_id")?,
            actor: take_string(object, "actor")?,
            session_id: match object.remove("session_id") {
                Some(Value::String(id)) => Some(id),
                _ => None,
            },
            occurred_at: take_string(object, "occurred_at")?,
            payload: match object.remove("payload") {
                Some(Value::Object(payload)) => payload,
                _ => return Err(EntryError::form("payload", "an object")),
            },
            prev_hash: take_hash(object, "prev_hash")?,
            hash,
        })
    }

    /// Writes the preimage, given the payload as a value.
    fn write_preimage(&self, payload: &Value, out: &mut Vec<u8>) {
        let envelope = Envelope {
            protocol: self.protocol.as_str(),
            workspace_id: &self.workspace_id,
            epoch_id: &self.epoch_id,
            sequence: self.sequence,
            id: &self.id,
            kind: &self.kind,
            entity_id: &self.entity_id,
            actor: &self.actor,
            session_id: self.session_id.as_deref(),
            occurred_at: &self.occurred_at,
            prev_hash: &hex(&self.prev_hash),
        };
        envelope.write(out, |out| write_canonical_into(payload, out));
    }
}

/// Why a text is no entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryError {
    /// It is not JSON, or holds what no everyday value can: an unpaired surrogate
    Json(ReadError),
    /// It is JSON, but no object
    NotAnObject,
    /// A member is missing, unknown or of the wrong form
    Form {
        /// The member's name
        member: String,
        /// What would be accepted
        expected: &'static str,
    },
}

impl EntryError {
    pub(super) fn form(member: &str, expected: &'static str) -> Self {
        Self::Form { member: member.into(), expected }
    }

    /// The stable code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Json(error) => error.code(),
            Self::NotAnObject | Self::Form { .. } => "entry_form",
        }
    }
}

impl fmt::Display for EntryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json(error) => error.fmt(f),
            Self::NotAnObject => f.write_str("an entry is an object"),
            Self::Form { member, expected } => write!(f, "member `{member}` of an entry: expected {expected}"),
        }
    }
}

impl core::error::Error for EntryError {}

/// Whether an entry's text has its hash as a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HashMember {
    /// As exports write entries
    Inside,
    /// As entries are hashed
    Outside,
}

const A_STRING: &str = "a string";
const A_HASH: &str = "64 lower-case hexadecimal digits";
const A_SEQUENCE: &str = "an integer from 1";

/// Checks that an object has the members of an entry and no others.
pub(super) fn check_members<S: Text>(object: &Object<S>, hash: HashMember) -> Result<(), EntryError> {
    let protocol = object.str("protocol").ok_or_else(|| EntryError::form("protocol", A_STRING))?;
    let has_session_id = protocol != COLLAB_01;
    for (name, value) in object.iter() {
        let name = name.as_str().unwrap_or("\u{FFFD}");
        let (known, fits, expected) = match name {
            "payload" => (true, true, ""),
            "sequence" => (true, value.as_number().is_some_and(|n| n.to_u64().is_some()), A_SEQUENCE),
            "session_id" => (has_session_id, value.is_null() || value.as_str().is_some(), "a string or null"),
            "hash" => (hash == HashMember::Inside, value.as_str().is_some(), A_STRING),
            "protocol" | "workspace_id" | "epoch_id" | "id" | "type" | "entity_id" | "actor" | "occurred_at"
            | "prev_hash" => (true, matches!(value, Tree::String(_)), A_STRING),
            _ => (false, false, ""),
        };
        if !known {
            return Err(EntryError::form(name, "no such member"));
        }
        if !fits {
            return Err(EntryError::form(name, expected));
        }
    }
    let required =
        ["workspace_id", "epoch_id", "sequence", "id", "type", "entity_id", "actor", "occurred_at", "payload"];
    let optional = [("prev_hash", true), ("session_id", has_session_id), ("hash", hash == HashMember::Inside)];
    let optional = optional.into_iter().filter_map(|(name, needed)| needed.then_some(name));
    match required.into_iter().chain(optional).find(|name| !object.contains(name)) {
        Some(missing) => Err(EntryError::form(missing, "it, but it is missing")),
        None => Ok(()),
    }
}

fn read_object(text: &[u8]) -> Result<Object, EntryError> {
    match parse(text, &ENTRY_LIMITS).map_err(EntryError::Json)? {
        Value::Object(object) => Ok(object),
        _ => Err(EntryError::NotAnObject),
    }
}

fn take_string(object: &mut Object, name: &str) -> Result<String, EntryError> {
    match object.remove(name) {
        Some(Value::String(text)) => Ok(text),
        _ => Err(EntryError::form(name, A_STRING)),
    }
}

fn take_hash(object: &mut Object, name: &str) -> Result<Hash, EntryError> {
    from_hex(&take_string(object, name)?).ok_or_else(|| EntryError::form(name, A_HASH))
}

/// Everything of an entry but its payload and its hash.
pub(super) struct Envelope<'a> {
    pub(super) protocol: &'a str,
    pub(super) workspace_id: &'a str,
    pub(super) epoch_id: &'a str,
    pub(super) sequence: u64,
    pub(super) id: &'a str,
    pub(super) kind: &'a str,
    pub(super) entity_id: &'a str,
    pub(super) actor: &'a str,
    pub(super) session_id: Option<&'a str>,
    pub(super) occurred_at: &'a str,
    pub(super) prev_hash: &'a str,
}

impl Envelope<'_> {
    /// Adds the canonical form, which is what is hashed; `payload` writes the payload's part of it.
    pub(super) fn write(&self, out: &mut Vec<u8>, payload: impl FnOnce(&mut Vec<u8>)) {
        write_member(out, b"{\"actor\":", self.actor);
        write_member(out, b",\"entity_id\":", self.entity_id);
        write_member(out, b",\"epoch_id\":", self.epoch_id);
        write_member(out, b",\"id\":", self.id);
        write_member(out, b",\"occurred_at\":", self.occurred_at);
        out.extend_from_slice(b",\"payload\":");
        payload(out);
        write_member(out, b",\"prev_hash\":", self.prev_hash);
        write_member(out, b",\"protocol\":", self.protocol);
        out.extend_from_slice(b",\"sequence\":");
        write_canonical_into(&Value::from(self.sequence), out);
        if self.protocol != COLLAB_01 {
            match self.session_id {
                Some(id) => write_member(out, b",\"session_id\":", id),
                None => out.extend_from_slice(b",\"session_id\":null"),
            }
        }
        write_member(out, b",\"type\":", self.kind);
        write_member(out, b",\"workspace_id\":", self.workspace_id);
        out.push(b'}');
    }
}

fn write_member(out: &mut Vec<u8>, name: &[u8], text: &str) {
    out.extend_from_slice(name);
    if text.bytes().any(|byte| matches!(byte, 0..0x20 | b'"' | b'\\')) {
        return write_canonical_into(&Value::from(text), out);
    }
    out.push(b'"');
    out.extend_from_slice(text.as_bytes());
    out.push(b'"');
}
