//! An entry in columns, as the public coordination format and stores like it keep it.

use alloc::vec::Vec;

use super::entry::{Envelope, Label};
use super::scan::is_canonical;
use crate::hash::{Hash, sha256};
use crate::json::{
    Limits, LosslessText, Number, Object, ReadError, Text, Tree, Value, parse_lossless, write_canonical_into,
};

/// An entry as its columns hold it. Nothing is checked and nothing is normalised: a verifier wants to see what is
/// there (`coordination §5.3`, `§5.7`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row<'a> {
    /// The label, see [`Label`]
    pub protocol: &'a str,
    /// The workspace whose journal this is
    pub workspace_id: &'a str,
    /// The random label that the workspace got when it was created
    pub epoch_id: &'a str,
    /// The place in the journal, from 1
    pub sequence: u64,
    /// The entry's own id
    pub id: &'a str,
    /// What happened (member `type`)
    pub kind: &'a str,
    /// What it happened to
    pub entity_id: &'a str,
    /// Who caused it
    pub actor: &'a str,
    /// In which session; not hashed under label `agenttool.collab/0.1`
    pub session_id: Option<&'a str>,
    /// When
    pub occurred_at: &'a str,
    /// The details, as JSON text in any spelling
    pub payload: &'a str,
    /// The hash of the entry before this one
    pub prev_hash: &'a str,
    /// The hash of this entry
    pub hash: &'a str,
}

impl<'a> Row<'a> {
    /// Reads the columns from an object, by their names in the public format: `type` and `payload_json` are text as the
    /// others are, `session_id` may be null or absent. Further members are not looked at. `None` if a column is missing
    /// or of another type.
    pub fn from_columns(columns: &'a Value) -> Option<Self> {
        let string = |name| columns.get(name)?.as_str();
        Some(Self {
            protocol: string("protocol")?,
            workspace_id: string("workspace_id")?,
            epoch_id: string("epoch_id")?,
            sequence: columns.get("sequence")?.as_number().copied().and_then(Number::to_u64)?,
            id: string("id")?,
            kind: string("type")?,
            entity_id: string("entity_id")?,
            actor: string("actor")?,
            session_id: string("session_id"),
            occurred_at: string("occurred_at")?,
            payload: string("payload_json")?,
            prev_hash: string("prev_hash")?,
            hash: string("hash")?,
        })
    }

    /// Adds the canonical bytes that the hash should cover (`coordination §5.2`, `§5.3`).
    ///
    /// # Errors
    ///
    /// [`ReadError`] if the payload is not JSON.
    pub fn write_preimage(&self, out: &mut Vec<u8>) -> Result<(), ReadError> {
        let envelope = Envelope {
            protocol: self.protocol,
            workspace_id: self.workspace_id,
            epoch_id: self.epoch_id,
            sequence: self.sequence,
            id: self.id,
            kind: self.kind,
            entity_id: self.entity_id,
            actor: self.actor,
            session_id: self.session_id,
            occurred_at: self.occurred_at,
            prev_hash: self.prev_hash,
        };
        if is_canonical(self.payload) {
            envelope.write(out, |out| out.extend_from_slice(self.payload.as_bytes()));
        } else {
            let payload = self.read_payload()?;
            envelope.write(out, |out| write_canonical_into(&payload, out));
        }
        Ok(())
    }

    /// The hash that this entry should have.
    ///
    /// # Errors
    ///
    /// [`ReadError`] if the payload is not JSON.
    pub fn recompute_hash(&self) -> Result<Hash, ReadError> {
        let mut preimage = Vec::new();
        self.write_preimage(&mut preimage)?;
        Ok(sha256(&[&preimage]))
    }

    /// The row as results show events (`coordination §5.1`): the payload as an object, no `session_id` under label
    /// `agenttool.collab/0.1`. Unpaired surrogates become U+FFFD; a payload that is not JSON is shown as text.
    pub fn to_value(&self) -> Value {
        let mut object = Object::new()
            .with("protocol", self.protocol)
            .with("workspace_id", self.workspace_id)
            .with("epoch_id", self.epoch_id)
            .with("sequence", self.sequence)
            .with("id", self.id)
            .with("type", self.kind)
            .with("entity_id", self.entity_id)
            .with("actor", self.actor);
        if Label::parse(self.protocol).has_session_id() {
            object.insert("session_id", self.session_id.map_or(Value::Null, Value::from));
        }
        let payload = self.read_payload().map_or_else(|_| Value::from(self.payload), lossy);
        object
            .with("occurred_at", self.occurred_at)
            .with("payload", payload)
            .with("prev_hash", self.prev_hash)
            .with("hash", self.hash)
            .into()
    }

    fn read_payload(&self) -> Result<Tree<LosslessText>, ReadError> {
        parse_lossless(self.payload.as_bytes(), &Limits::JOURNAL)
    }
}

/// A value for those that cannot hold unpaired surrogates.
fn lossy(tree: Tree<LosslessText>) -> Value {
    let text = |text: &LosslessText| text.as_str().map_or_else(|| text.to_string_lossy().into_owned(), Into::into);
    match tree {
        Tree::Null => Value::Null,
        Tree::Bool(value) => Value::Bool(value),
        Tree::Number(number) => Value::Number(number),
        Tree::String(string) => Value::String(text(&string)),
        Tree::Array(items) => items.into_iter().map(lossy).collect(),
        Tree::Object(object) => {
            let mut lossless = Object::new();
            for (name, value) in object.into_members() {
                lossless.insert(text(&name), lossy(value));
            }
            Value::Object(lossless)
        }
    }
}
