//! Reading a request's arguments: every member known, every type right, every text within its limit.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::heart::Refusal;
use crate::json::{Number, Object, Value};
use crate::work::{quoted, shown as shown_number};

/// The most characters of a free text: an answer, a reason, a note.
pub(crate) const MOST_TEXT: usize = 65_536;

/// The arguments of one request, taken out one by one.
pub(crate) struct Arguments {
    members: Object,
    accepted: Vec<&'static str>,
}

pub(crate) fn bad_request(message: impl Into<String>) -> Refusal {
    Refusal::new("BAD_REQUEST", message).with("findings", Vec::<Value>::new())
}

impl Arguments {
    pub(crate) fn new(members: Object) -> Self {
        Self { members, accepted: Vec::new() }
    }

    fn take(&mut self, name: &'static str) -> Option<Value> {
        self.accepted.push(name);
        self.members.remove(name)
    }

    fn of_type<T>(
        value: Option<Value>,
        name: &str,
        wanted: &str,
        read: impl Fn(Value) -> Result<T, Value>,
    ) -> Result<Option<T>, Refusal> {
        value
            .map(|value| {
                read(value).map_err(|other| bad_request(format!("`{name}` is {}, must be {wanted}", shown(&other))))
            })
            .transpose()
    }

    /// Whatever there is, of any type.
    pub(crate) fn value(&mut self, name: &'static str) -> Option<Value> {
        self.take(name)
    }

    /// An optional string.
    pub(crate) fn string(&mut self, name: &'static str) -> Result<Option<String>, Refusal> {
        let value = self.take(name);
        Self::of_type(value, name, "a string", |value| match value {
            Value::String(text) => Ok(text),
            other => Err(other),
        })
    }

    /// A string that must be there and not be empty.
    pub(crate) fn required(&mut self, name: &'static str) -> Result<String, Refusal> {
        match self.string(name)? {
            Some(text) if !text.is_empty() => Ok(text),
            Some(_) => Err(bad_request(format!("`{name}` is empty"))),
            None => Err(bad_request(format!("`{name}` is missing; it must be a string"))),
        }
    }

    /// An optional free text; a blank one counts as none.
    pub(crate) fn text(&mut self, name: &'static str) -> Result<Option<String>, Refusal> {
        let text = self.string(name)?.filter(|text| !text.trim().is_empty());
        match text.as_ref().map(|text| text.chars().count()) {
            Some(count) if count > MOST_TEXT => {
                Err(bad_request(format!("`{name}` has {count} characters, at most {MOST_TEXT} are accepted")))
            }
            _ => Ok(text),
        }
    }

    /// An optional number.
    pub(crate) fn number(&mut self, name: &'static str) -> Result<Option<Number>, Refusal> {
        let value = self.take(name);
        Self::of_type(value, name, "a number", |value| match value {
            Value::Number(number) => Ok(number),
            other => Err(other),
        })
    }

    /// How many to answer at most: an optional whole number from 1 to `most`.
    pub(crate) fn limit(&mut self, most: u32) -> Result<Option<u32>, Refusal> {
        let Some(number) = self.number("limit")? else { return Ok(None) };
        match number.to_u64().and_then(|limit| u32::try_from(limit).ok()) {
            Some(limit) if (1..=most).contains(&limit) => Ok(Some(limit)),
            _ => Err(bad_request(format!(
                "`limit` is {}, must be a whole number from 1 to {most}",
                shown_number(number)
            ))),
        }
    }

    /// An optional array of strings.
    pub(crate) fn strings(&mut self, name: &'static str) -> Result<Option<Vec<String>>, Refusal> {
        let value = self.take(name);
        Self::of_type(value, name, "an array of strings", |value| {
            let texts = value.as_array().map(|items| items.iter().map(|item| item.as_str().map(String::from)));
            texts.and_then(Iterator::collect).ok_or(value)
        })
    }

    /// An optional object.
    pub(crate) fn object(&mut self, name: &'static str) -> Result<Option<Object>, Refusal> {
        let value = self.take(name);
        Self::of_type(value, name, "an object", |value| match value {
            Value::Object(object) => Ok(object),
            other => Err(other),
        })
    }

    /// Whatever was not taken, for a document that is checked as a whole.
    pub(crate) fn rest(self) -> Object {
        self.members
    }

    /// Refuses whatever was not taken.
    pub(crate) fn finish(self) -> Result<(), Refusal> {
        match self.members.iter().next() {
            None => Ok(()),
            Some((name, _)) => {
                let accepted: Vec<String> = self.accepted.iter().map(|name| format!("`{name}`")).collect();
                Err(bad_request(format!("unknown argument {}; accepted: {}", quoted(name), accepted.join(", "))))
            }
        }
    }
}

/// A value of the wrong type, for a message.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        Value::Number(number) => shown_number(*number),
        Value::Bool(value) => format!("{value}"),
        Value::Null => "null".into(),
        Value::Array(_) | Value::Object(_) => format!("an {}", value.type_name()),
    }
}
