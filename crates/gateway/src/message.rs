//! Between the JSON of core, exact and in order, and the JSON that goes over wires.

use bailiwick_core::json::{self, Limits, ReadError, write_compact};
use serde_json::Value;

/// Takes a value over into core, within the limits of documents.
pub(crate) fn to_core(value: &Value) -> Result<json::Value, ReadError> {
    // INVARIANT: such a value is always written.
    let text = serde_json::to_vec(value).unwrap_or_else(|_| b"null".to_vec());
    json::parse(&text, &Limits::DOCUMENT)
}

/// Hands a value of core on. Integers beyond 64 bits become the nearest double.
pub(crate) fn to_wire(value: &json::Value) -> Value {
    // INVARIANT: core writes JSON.
    serde_json::from_str(&write_compact(value)).unwrap_or(Value::Null)
}
