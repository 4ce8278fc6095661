//! Reading members of documents that the desk has checked.

use bailiwick_core::json::{Number, Value};

/// A string member; empty when there is none.
pub(crate) fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// The items of an array member; none when there is none.
pub(crate) fn items<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value.get(name).and_then(Value::as_array).unwrap_or_default()
}

/// A count; 0 when there is none.
pub(crate) fn count(value: &Value, name: &str) -> u64 {
    value.get(name).and_then(|value| value.as_number().copied().and_then(Number::to_u64)).unwrap_or(0)
}

/// The strings of an array member.
pub(crate) fn texts<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = &'a str> {
    items(value, name).iter().filter_map(Value::as_str)
}
