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
        let effects = self.effects.clone().map(Value::from);
        self.write((&self.actor).into(), self.note.as_ref().map(Value::from), effects).into()
    }

    /// As the journal writes it: the note, the effects and a long name are blobs.
    pub(super) fn to_fact(&self, blobs: &mut BlobWriter) -> Object {
        let actor = blobs.put_name(&self.actor);
        let note = blobs.put_some(self.note.as_ref());
        let effects = blobs.put_some(self.effects.clone());
        self.write(actor, note, effects)
    }

    /// How much text it holds: the name of who acted, the note and the effects, in bytes of UTF-8.
    pub(super) fn text_bytes(&self) -> usize {
        let texts = [Some(&self.actor), self.note.as_ref()].into_iter().flatten();
        texts.chain(self.effects.iter().flatten()).map(String::len).fold(0, usize::saturating_add)
    }

    fn write(&self, actor: Value, note: Option<Value>, effects: Option<Value>) -> Object {
        Object::new()
            .with("seq", self.seq)
            .with("at", &self.at)
            .with("actor", actor)
            .with("action", self.action.as_str())
            .with("from", self.from.map_or(Value::Null, |state| state.as_str().into()))
            .with("to", self.to.as_str())
            .with_some("note", note)
            .with_some("percent", self.percent)
            .with_some("effects", effects)
    }

    /// Reads what [`Event::to_value`] writes.
    pub fn from_value(value: &Value) -> Option<Self> {
        Self::read(value, |text| text.as_str().map(Into::into), strings)
    }

    /// Reads what [`Event::to_fact`] writes; earlier journals hold the effects themselves.
    pub(super) fn from_fact(value: &Value, blobs: &BlobReader<'_>) -> Option<Self> {
        let effects = |refs: &Value| match refs {
            Value::Array(_) => strings(refs),
            reference => match blobs.take(reference)? {
                Value::Object(erased) if erased.contains("erased") => Some(Vec::new()),
                refs => strings(&refs),
            },
        };
        Self::read(value, |text| blobs.take_name(text), effects)
    }

    fn read(
        value: &Value,
        text: impl Fn(&Value) -> Option<String>,
        effects: impl Fn(&Value) -> Option<Vec<String>>,
    ) -> Option<Self> {
        let object = value.as_object()?;
        Some(Self {
            seq: object.get("seq")?.as_number()?.to_u64()?,
            at: object.str("at")?.into(),
            actor: text(object.get("actor")?)?,
            action: Action::parse(object.str("action")?)?,
            from: match object.get("from")? {
                Value::Null => None,
                state => Some(State::parse(state.as_str()?)?),
            },
            to: State::parse(object.str("to")?)?,
            note: match object.get("note") {
                Some(note) => Some(text(note)?),
                None => None,
            },
            percent: object.get("percent").and_then(Value::as_number).copied(),
            effects: match object.get("effects") {
                Some(refs) => Some(effects(refs)?),
                None => None,
            },
        })
    }
}

fn strings(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|item| item.as_str().map(Into::into)).collect()
}
