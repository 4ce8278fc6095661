//! A refused command.

use alloc::string::String;

use crate::json::{Object, Value};

/// Why a command or a query was refused: an answer, not a failure.
#[derive(Debug, Clone, PartialEq)]
pub struct Refusal {
    /// The stable code, as the capability's specification names it
    pub code: &'static str,
    /// What was refused and what would be accepted; lower case, no full stop, user text in backticks
    pub message: String,
    /// Further members of the error object
    pub details: Object,
}

impl Refusal {
    /// A refusal without further members.
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), details: Object::new() }
    }

    /// Adds a member to the error object.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.details.insert(name, value);
        self
    }

    /// The error object: `{code, message, …details}`.
    pub fn to_value(&self) -> Value {
        let mut object = Object::new().with("code", self.code).with("message", &self.message);
        for (name, value) in self.details.iter() {
            object.insert(name.clone(), value.clone());
        }
        object.into()
    }
}
