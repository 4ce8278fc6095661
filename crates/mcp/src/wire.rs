//! Between the JSON of core, exact and in order, and the JSON of the protocol library.

use bailiwick_core::json::{Limits, Number, Object, ReadError, Value, parse};
use rmcp::model::JsonObject;

/// Takes a client's object over into core, within the limits of documents.
///
/// It goes through text: that takes time in proportion to its size whatever its shape, and the one strict reader
/// stays the judge of what is too deep or too wide.
///
/// # Errors
///
/// What the reader refuses.
pub(crate) fn to_core(object: &JsonObject) -> Result<Object, ReadError> {
    // INVARIANT: a map with text for names is always written, and read back as an object.
    let text = serde_json::to_vec(object).unwrap_or_else(|_| b"{}".to_vec());
    match parse(&text, &Limits::DOCUMENT)? {
        Value::Object(object) => Ok(object),
        _ => Ok(Object::new()),
    }
}

/// Hands a value of core to the protocol library. Integers beyond 64 bits become the nearest double.
pub(crate) fn to_wire(value: Value) -> serde_json::Value {
    match value {
        Value::Null => serde_json::Value::Null,
        Value::Bool(value) => value.into(),
        Value::Number(number) => number_to_wire(number),
        Value::String(text) => text.into(),
        Value::Array(items) => items.into_iter().map(to_wire).collect(),
        Value::Object(object) => {
            object.into_members().into_iter().map(|(name, value)| (name, to_wire(value))).collect()
        }
    }
}

fn number_to_wire(number: Number) -> serde_json::Value {
    if let Number::Integer(integer) = number {
        if let Ok(integer) = i64::try_from(integer) {
            return integer.into();
        }
        if let Ok(integer) = u64::try_from(integer) {
            return integer.into();
        }
    }
    number.to_f64().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_kind_and_their_last_bit() {
        let text =
            br#"{"a":1,"b":1.0,"c":0.30000000000000004,"d":18446744073709551615,"e":-9223372036854775808,"f":1e300}"#;
        let value = parse(text, &Limits::DOCUMENT).unwrap();
        let wire = to_wire(value.clone());
        let back = to_core(wire.as_object().unwrap()).unwrap();
        assert_eq!(Value::Object(back.clone()), value);
        assert!(matches!(back.get("a"), Some(Value::Number(Number::Integer(1)))));
        assert!(matches!(back.get("b"), Some(Value::Number(Number::Float(_)))));
    }

    #[test]
    fn what_is_too_deep_is_refused() {
        let mut value = serde_json::Value::Null;
        for _ in 0..200 {
            value = serde_json::Value::Array(vec![value]);
        }
        let mut object = JsonObject::new();
        object.insert("deep".into(), value);
        assert!(to_core(&object).is_err());
    }
}
