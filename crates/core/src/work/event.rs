//! Events: one for every transition of an order (`spec work-orders §7.3`).

use alloc::string::String;
use alloc::vec::Vec;

use super::{Action, State};
use crate::heart::{BlobReader, BlobWriter};
use crate::json::{Number, Object, Value};

/// One transition. An order's events are its audit trail.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// 1 for the first event of an order, one more for each further one
    pub seq: u64,
    /// When, UTC with milliseconds
    pub at: String,
    /// Who
    pub actor: String,
    /// What
    pub action: Action,
    /// The state before; `None` only on `create`
    pub from: Option<State>,
    /// The state after
    pub to: State,
    /// The answer, the reason, `attempt <n>`, what ended it, or the progress note
    pub note: Option<String>,
    /// How far the work is, 0–100, with `progress`
    pub percent: Option<Number>,
    /// The refs of the approved effects, with `approve` of a report that lists effects
    pub effects: Option<Vec<String>>,
}

impl Event {
    /// As documents and replies show it.
    pub fn to_value(&self) -> Value {
        self.write(self.note.as_ref().map(Value::from)).into()
    }

    /// As the journal writes it: the note is a blob.
    pub(super) fn to_fact(&self, blobs: &mut BlobWriter) -> Object {
        self.write(blobs.put_some(self.note.as_ref()))
    }

    fn write(&self, note: Option<Value>) -> Object {
        Object::new()
            .with("seq", self.seq)
            .with("at", &self.at)
            .with("actor", &self.actor)
            .with("action", self.action.as_str())
            .with("from", self.from.map_or(Value::Null, |state| state.as_str().into()))
            .with("to", self.to.as_str())
            .with_some("note", note)
            .with_some("percent", self.percent)
            .with_some("effects", self.effects.clone())
    }

    /// Reads what [`Event::to_value`] writes.
    pub fn from_value(value: &Value) -> Option<Self> {
        Self::read(value, |note| note.as_str().map(Into::into))
    }

    pub(super) fn from_fact(value: &Value, blobs: &BlobReader<'_>) -> Option<Self> {
        Self::read(value, |note| blobs.take_string(note))
    }

    fn read(value: &Value, note: impl Fn(&Value) -> Option<String>) -> Option<Self> {
        let object = value.as_object()?;
        Some(Self {
            seq: object.get("seq")?.as_number()?.to_u64()?,
            at: object.str("at")?.into(),
            actor: object.str("actor")?.into(),
            action: Action::parse(object.str("action")?)?,
            from: match object.get("from")? {
                Value::Null => None,
                state => Some(State::parse(state.as_str()?)?),
            },
            to: State::parse(object.str("to")?)?,
            note: match object.get("note") {
                Some(value) => Some(note(value)?),
                None => None,
            },
            percent: object.get("percent").and_then(Value::as_number).copied(),
            effects: match object.get("effects") {
                Some(refs) => Some(refs.as_array()?.iter().map(|r| r.as_str().map(Into::into)).collect::<Option<_>>()?),
                None => None,
            },
        })
    }
}
