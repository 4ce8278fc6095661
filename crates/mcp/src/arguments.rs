//! Whether the arguments of a call have the shape that its tool states: every member known, none missing, every
//! type right. What is inside them is for core to judge.

use bailiwick_core::heart::Refusal;
use bailiwick_core::json::{Number, Object, Value};
use bailiwick_core::work::quoted;
use rmcp::model::JsonObject;

pub(crate) fn refusal(code: &'static str, message: impl Into<String>) -> Refusal {
    Refusal::new(code, message).with("findings", Vec::<Value>::new())
}

pub(crate) fn bad_request(message: impl Into<String>) -> Refusal {
    refusal("BAD_REQUEST", message)
}

/// Checks arguments against the outermost level of an input schema.
///
/// # Errors
///
/// `BAD_REQUEST` naming the argument at fault and what is accepted.
pub(crate) fn check(arguments: &Object, schema: &JsonObject) -> Result<(), Refusal> {
    let none = JsonObject::new();
    let known = schema.get("properties").and_then(serde_json::Value::as_object).unwrap_or(&none);
    for (name, value) in arguments.iter() {
        let Some(wanted) = known.get(name) else { return Err(unknown(name, known)) };
        let wanted = wanted.get("type").and_then(serde_json::Value::as_str).unwrap_or_default();
        if !is(value, wanted) {
            return Err(bad_request(format!("`{name}` is {}, must be {}", shown(value), with_article(wanted))));
        }
    }
    let required = schema.get("required").and_then(serde_json::Value::as_array).into_iter().flatten();
    let missing = required.filter_map(serde_json::Value::as_str).find(|name| !arguments.contains(name));
    match missing {
        None => Ok(()),
        Some(name) => {
            let wanted = known.get(name).and_then(|schema| schema.get("type")?.as_str()).unwrap_or("value");
            Err(bad_request(format!("`{name}` is missing; it must be {}", with_article(wanted))))
        }
    }
}

fn unknown(name: &str, known: &JsonObject) -> Refusal {
    let accepted: Vec<String> = known.keys().map(|name| format!("`{name}`")).collect();
    let accepted = if accepted.is_empty() { "none".into() } else { accepted.join(", ") };
    bad_request(format!("unknown argument {}; accepted: {accepted}", quoted(name)))
}

/// Whether a value is of a type as JSON Schema calls it; any value is of a type that is not stated.
fn is(value: &Value, wanted: &str) -> bool {
    match (wanted, value) {
        ("", _) => true,
        ("integer", Value::Number(number)) => number.is_integral(),
        _ => value.type_name() == wanted,
    }
}

fn with_article(type_name: &str) -> String {
    let article = if type_name.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {type_name}")
}

/// A value of the wrong type, for a message.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        Value::Number(Number::Integer(number)) => number.to_string(),
        Value::Number(Number::Float(number)) => number.to_string(),
        Value::Bool(value) => value.to_string(),
        Value::Null => "null".into(),
        Value::Array(_) | Value::Object(_) => with_article(value.type_name()),
    }
}

/// Takes a string out of arguments that were checked.
pub(crate) fn take_string(arguments: &mut Object, name: &str) -> Option<String> {
    match arguments.remove(name) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    }
}

/// Takes a number out of arguments that were checked.
pub(crate) fn take_number(arguments: &mut Object, name: &str) -> Option<Number> {
    arguments.remove(name)?.as_number().copied()
}

#[cfg(test)]
mod tests {
    use bailiwick_core::json::{Limits, parse};

    use super::*;

    fn outcome(arguments: &str) -> String {
        let schema = serde_json::json!({
            "properties": {"id": {"type": "string"}, "count": {"type": "integer"}, "any": {}},
            "required": ["id"],
        });
        let arguments = parse(arguments.as_bytes(), &Limits::DOCUMENT).unwrap();
        match check(arguments.as_object().unwrap(), schema.as_object().unwrap()) {
            Ok(()) => String::new(),
            Err(refusal) => refusal.message,
        }
    }

    #[test]
    fn shape_is_checked_and_the_fault_named() {
        assert_eq!(outcome(r#"{"id":"a","count":2.0,"any":null}"#), "");
        assert_eq!(outcome(r#"{"id":"a","cuont":2}"#), "unknown argument `cuont`; accepted: `id`, `count`, `any`");
        assert_eq!(outcome(r#"{"id":7}"#), "`id` is 7, must be a string");
        assert_eq!(outcome(r#"{"id":null}"#), "`id` is null, must be a string");
        assert_eq!(outcome(r#"{"id":["a"]}"#), "`id` is an array, must be a string");
        assert_eq!(outcome(r#"{"id":"a","count":1.5}"#), "`count` is 1.5, must be an integer");
        assert_eq!(outcome(r#"{"id":"a","count":"1"}"#), "`count` is `1`, must be an integer");
        assert_eq!(outcome("{}"), "`id` is missing; it must be a string");
    }
}
