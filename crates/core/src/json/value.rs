//! The JSON value.

use alloc::string::String;
use alloc::vec::Vec;

use super::{Number, Text};

/// A JSON value. Objects keep the order of their members.
pub type Value = Tree<String>;

/// A JSON value over a kind of text; see [`Value`] for the everyday one.
#[derive(Debug, Clone)]
pub enum Tree<S> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, integers exact
    Number(Number),
    /// A string
    String(S),
    /// An array
    Array(Vec<Tree<S>>),
    /// An object
    Object(Object<S>),
}

/// A JSON object: members in the order they were read or inserted, each name once.
#[derive(Debug, Clone, Default)]
pub struct Object<S = String> {
    members: Vec<(S, Tree<S>)>,
}

impl<S> Object<S> {
    /// An object without members.
    pub const fn new() -> Self {
        Self { members: Vec::new() }
    }

    /// Takes members as they are. The caller has made sure that no name occurs twice.
    pub(crate) fn from_unique_members(members: Vec<(S, Tree<S>)>) -> Self {
        Self { members }
    }

    /// How many members there are.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there are no members.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// The members in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&S, &Tree<S>)> + ExactSizeIterator {
        self.members.iter().map(|(name, value)| (name, value))
    }

    /// The members in order, taken out.
    pub fn into_members(self) -> Vec<(S, Tree<S>)> {
        self.members
    }
}

impl<S: Text> Object<S> {
    /// The member called `name`.
    pub fn get(&self, name: &str) -> Option<&Tree<S>> {
        self.members.iter().find(|(n, _)| n.as_ref() == name.as_bytes()).map(|(_, value)| value)
    }

    /// Whether there is a member called `name`.
    pub fn contains(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Takes a member out.
    pub fn remove(&mut self, name: &str) -> Option<Tree<S>> {
        let at = self.members.iter().position(|(n, _)| n.as_ref() == name.as_bytes())?;
        Some(self.members.remove(at).1)
    }

    /// The member called `name`, if it is a string.
    pub fn str(&self, name: &str) -> Option<&str> {
        self.get(name).and_then(Tree::as_str)
    }
}

impl Object<String> {
    /// Sets a member; an existing one keeps its place.
    pub fn insert(&mut self, name: impl Into<String>, value: impl Into<Value>) {
        let (name, value) = (name.into(), value.into());
        match self.members.iter_mut().find(|(n, _)| *n == name) {
            Some((_, slot)) => *slot = value,
            None => self.members.push((name, value)),
        }
    }

    /// Sets a member if there is a value for it.
    pub fn insert_some(&mut self, name: impl Into<String>, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            self.insert(name, value);
        }
    }

    /// Builder form of [`Object::insert`].
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.insert(name, value);
        self
    }

    /// Builder form of [`Object::insert_some`].
    #[must_use]
    pub fn with_some(mut self, name: impl Into<String>, value: Option<impl Into<Value>>) -> Self {
        self.insert_some(name, value);
        self
    }
}

impl<S: Text> Tree<S> {
    /// The string, if it is one that UTF-8 can hold.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => text.as_str(),
            _ => None,
        }
    }

    /// A member, if this is an object that has it.
    pub fn get(&self, name: &str) -> Option<&Self> {
        self.as_object().and_then(|object| object.get(name))
    }
}

impl<S> Tree<S> {
    /// The object, if it is one.
    pub fn as_object(&self) -> Option<&Object<S>> {
        match self {
            Self::Object(object) => Some(object),
            _ => None,
        }
    }

    /// The array, if it is one.
    pub fn as_array(&self) -> Option<&[Self]> {
        match self {
            Self::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The number, if it is one.
    pub fn as_number(&self) -> Option<&Number> {
        match self {
            Self::Number(number) => Some(number),
            _ => None,
        }
    }

    /// The boolean, if it is one.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// Whether this is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// The name of the type as JSON Schema calls it, for messages.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "boolean",
            Self::Number(_) => "number",
            Self::String(_) => "string",
            Self::Array(_) => "array",
            Self::Object(_) => "object",
        }
    }
}

impl Value {
    /// The same value with every number as [`Number::whole`] gives it, so that the canonical forms of equal values are the
    /// same text.
    #[must_use]
    pub fn with_whole_numbers(self) -> Self {
        match self {
            Self::Number(number) => Self::Number(number.whole()),
            Self::Array(items) => Self::Array(items.into_iter().map(Self::with_whole_numbers).collect()),
            Self::Object(object) => {
                let members = object.into_members().into_iter().map(|(name, value)| (name, value.with_whole_numbers()));
                Self::Object(Object { members: members.collect() })
            }
            other => other,
        }
    }
}

impl<S: Text> PartialEq for Tree<S> {
    /// Equality as JSON Schema means it: `1` equals `1.0`, member order does not matter.
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::Number(a), Self::Number(b)) => a == b,
            (Self::String(a), Self::String(b)) => a == b,
            (Self::Array(a), Self::Array(b)) => a == b,
            (Self::Object(a), Self::Object(b)) => a == b,
            _ => false,
        }
    }
}

impl<S: Text> PartialEq for Object<S> {
    fn eq(&self, other: &Self) -> bool {
        if self.len() != other.len() {
            return false;
        }
        let sorted = |object: &Self| -> Vec<usize> {
            let mut order: Vec<usize> = (0..object.members.len()).collect();
            order.sort_by(|a, b| {
                let name = |at: &usize| object.members.get(*at).map(|(name, _)| name);
                name(a).cmp(&name(b))
            });
            order
        };
        sorted(self).into_iter().zip(sorted(other)).all(|(a, b)| self.members.get(a) == other.members.get(b))
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::String(text.into())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::String(text)
    }
}

impl From<&String> for Value {
    fn from(text: &String) -> Self {
        Self::String(text.clone())
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<Number> for Value {
    fn from(number: Number) -> Self {
        Self::Number(number)
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Self::Number(Number::Integer(number.into()))
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Self {
        Self::Number(Number::Integer(number.into()))
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Number(Number::Integer(number.into()))
    }
}

impl From<Object> for Value {
    fn from(object: Object) -> Self {
        Self::Object(object)
    }
}

impl<T: Into<Value>> From<Vec<T>> for Value {
    fn from(items: Vec<T>) -> Self {
        Self::Array(items.into_iter().map(Into::into).collect())
    }
}

impl FromIterator<Value> for Value {
    fn from_iter<I: IntoIterator<Item = Value>>(items: I) -> Self {
        Self::Array(items.into_iter().collect())
    }
}
