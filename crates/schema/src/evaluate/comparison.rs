//! Comparing values, as JSON Schema means it.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use bailiwick_core::json::{Number, Object, Value};

/// Whether a number is a multiple, by floating-point division: 0.3 is none of 0.1. Integers are divided exactly.
pub(super) fn is_multiple(number: Number, divisor: Number) -> bool {
    let (value, by) = (number.to_f64(), divisor.to_f64());
    match (number, divisor) {
        (Number::Integer(number), Number::Integer(divisor)) => number.checked_rem(divisor) == Some(0),
        (_, Number::Integer(_)) => libm::fmod(value, by) == 0.0,
        _ => {
            let quotient = value / by;
            if quotient.is_finite() { libm::trunc(quotient) == quotient } else { libm::fmod(value, by) == 0.0 }
        }
    }
}

/// What comparing a value costs.
pub(super) fn weight(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 1,
        Value::String(text) => 1 + text.len() / 16,
        Value::Array(items) => 1 + items.iter().map(weight).sum::<usize>(),
        Value::Object(object) => {
            1 + object.iter().map(|(name, value)| 2 + name.len() / 16 + weight(value)).sum::<usize>()
        }
    }
}

/// An order of all values in which equal ones, as JSON Schema means it, are equal.
pub(super) fn compare(a: &Value, b: &Value) -> Ordering {
    match (a, b) {
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (Value::Number(a), Value::Number(b)) => a.compare(*b),
        (Value::String(a), Value::String(b)) => a.cmp(b),
        (Value::Array(a), Value::Array(b)) => {
            let first = a.iter().zip(b).map(|(a, b)| compare(a, b)).find(|order| order.is_ne());
            first.unwrap_or_else(|| a.len().cmp(&b.len()))
        }
        (Value::Object(a), Value::Object(b)) => a.len().cmp(&b.len()).then_with(|| compare_objects(a, b)),
        (a, b) => rank(a).cmp(&rank(b)),
    }
}

/// Objects with as many members: in the order of their names.
fn compare_objects(a: &Object, b: &Object) -> Ordering {
    let compare_members =
        |((a_name, a), (b_name, b)): ((&str, &Value), (&str, &Value))| a_name.cmp(b_name).then_with(|| compare(a, b));
    let first = by_name(a).into_iter().zip(by_name(b)).map(compare_members).find(|order| order.is_ne());
    first.unwrap_or(Ordering::Equal)
}

fn by_name(object: &Object) -> BTreeMap<&str, &Value> {
    object.iter().map(|(name, value)| (name.as_str(), value)).collect()
}

/// Which kind comes before which.
fn rank(value: &Value) -> u8 {
    match value {
        Value::Null => 0,
        Value::Bool(_) => 1,
        Value::Number(_) => 2,
        Value::String(_) => 3,
        Value::Array(_) => 4,
        Value::Object(_) => 5,
    }
}
