//! What the values of keywords must look like.

use std::collections::BTreeSet;

use bailiwick_core::json::{Number, Object, Value};
use bailiwick_core::work::quoted;

use super::{Compiler, Result, article};
use crate::keyword::Types;
use crate::pattern::Pattern;

impl Compiler<'_> {
    pub(super) fn types(&self, value: &Value) -> Result<Types> {
        let parse = |name: &Value| match name.as_str().and_then(Types::parse) {
            Some(types) => Ok(types),
            None => self.fail(format!("{} is not a type name", name.as_str().map_or_else(|| article(name), quoted))),
        };
        let Value::Array(names) = value else { return parse(value) };
        if names.is_empty() {
            return self.fail("`type` must not be empty");
        }
        names.iter().try_fold(Types::default(), |types, name| {
            let one = parse(name)?;
            if types.meets(one) { self.fail("`type` names a type twice") } else { Ok(types.with(one)) }
        })
    }

    pub(super) fn pattern(&mut self, name: &str, source: &str) -> Result<Pattern> {
        match Pattern::parse(source, &mut self.room) {
            Ok(pattern) => Ok(pattern),
            Err(error) => self.fail(format!("`{name}` {} is not a regular expression: {error}", quoted(source))),
        }
    }

    pub(super) fn text<'a>(&self, name: &str, value: &'a Value) -> Result<&'a str> {
        value.as_str().map_or_else(|| self.fail(format!("`{name}` must be a string")), Ok)
    }

    pub(super) fn boolean(&self, name: &str, value: &Value) -> Result<bool> {
        value.as_bool().map_or_else(|| self.fail(format!("`{name}` must be true or false")), Ok)
    }

    pub(super) fn array<'a>(&self, name: &str, value: &'a Value) -> Result<&'a [Value]> {
        value.as_array().map_or_else(|| self.fail(format!("`{name}` must be an array")), Ok)
    }

    pub(super) fn members<'a>(&self, name: &str, value: &'a Value) -> Result<&'a Object> {
        value.as_object().map_or_else(|| self.fail(format!("`{name}` must be an object")), Ok)
    }

    pub(super) fn number(&self, name: &str, value: &Value) -> Result<Number> {
        value.as_number().copied().map_or_else(|| self.fail(format!("`{name}` must be a number")), Ok)
    }

    pub(super) fn divisor(&self, name: &str, value: &Value) -> Result<Number> {
        match self.number(name, value)? {
            number if number > Number::Integer(0) => Ok(number),
            _ => self.fail(format!("`{name}` must be greater than 0")),
        }
    }

    /// A whole number of at least 0; one too large to count to is as good as the largest.
    pub(super) fn count(&self, name: &str, value: &Value) -> Result<u64> {
        match value.as_number() {
            Some(number) if number.is_integral() && *number >= Number::Integer(0) => {
                Ok(number.to_u64().unwrap_or(u64::MAX))
            }
            _ => self.fail(format!("`{name}` must be a whole number of at least 0")),
        }
    }

    /// An array of strings, none twice.
    pub(super) fn names(&self, name: &str, value: &Value) -> Result<Vec<String>> {
        let mut seen = BTreeSet::new();
        let mut names = Vec::new();
        for item in self.array(name, value)? {
            match item.as_str() {
                Some(item) if seen.insert(item) => names.push(item.into()),
                Some(item) => return self.fail(format!("`{name}` names {} twice", quoted(item))),
                None => return self.fail(format!("`{name}` must hold strings")),
            }
        }
        Ok(names)
    }

    pub(super) fn check_anchor<'a>(&self, name: &str, value: &'a Value) -> Result<&'a str> {
        let anchor = self.text(name, value)?;
        let mut chars = anchor.chars();
        let first = chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
        if first && chars.all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_')) {
            return Ok(anchor);
        }
        self.fail(format!("`{name}` {} is not an anchor name", quoted(anchor)))
    }
}
