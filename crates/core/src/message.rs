//! How messages show what documents hold: short, on one line, text of users in backticks.

use alloc::format;
use alloc::string::String;

use crate::json::{Number, Value};

/// Text of a user as messages show it: in backticks, on one line, at most 80 characters.
pub fn quoted(text: &str) -> String {
    const MOST: usize = 80;
    let mut shown = String::from("`");
    for c in text.chars().take(MOST) {
        if c.is_control() {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    let left = if text.len() > MOST { text.chars().count().saturating_sub(MOST) } else { 0 };
    if left > 0 {
        shown.push('…');
    }
    shown.push('`');
    if left > 0 {
        shown.push_str(&format!(" ({left} more characters)"));
    }
    shown
}

/// A number as messages show it: the shortest text that reads back as the same value.
pub fn shown(number: Number) -> String {
    match number {
        Number::Integer(value) => format!("{value}"),
        Number::Float(value) if value != 0.0 && !(1e-7..1e21).contains(&libm::fabs(value)) => format!("{value:e}"),
        Number::Float(value) => format!("{value}"),
    }
}

/// A value as messages show it.
pub fn described(value: &Value) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Bool(value) => format!("{value}"),
        Value::Number(number) => format!("the number {}", shown(*number)),
        Value::String(text) if text.is_empty() => "an empty string".into(),
        Value::String(text) => quoted(text),
        Value::Array(items) if items.is_empty() => "an empty array".into(),
        Value::Array(_) => "an array".into(),
        Value::Object(_) => "an object".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_text_is_short_and_on_one_line() {
        assert_eq!(quoted("a\nb"), "`a\\nb`");
        assert_eq!(quoted(&"é".repeat(80)), format!("`{}`", "é".repeat(80)));
        assert_eq!(quoted(&"é".repeat(81)), format!("`{}…` (1 more characters)", "é".repeat(80)));
    }

    #[test]
    fn numbers_are_shown_short() {
        assert_eq!(shown(Number::Float(0.1 + 0.2)), "0.30000000000000004");
        assert_eq!(shown(Number::Float(2.0)), "2");
        assert_eq!(shown(Number::Float(1e300)), "1e300");
        assert_eq!(shown(Number::Float(5e-324)), "5e-324");
    }
}
