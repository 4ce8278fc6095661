//! What orders are limited in, in words.

use bailiwick_core::json::Number;
use bailiwick_core::work::{Unit, shown};

/// The unit as people call it.
pub(crate) const fn unit_words(unit: Unit) -> &'static str {
    match unit {
        Unit::Usd => "US dollars",
        Unit::Tokens => "Tokens",
        Unit::ToolCalls => "Tool calls",
        Unit::Seconds => "Seconds",
    }
}

/// An amount as people read it: from five digits on, a comma between the thousands.
pub(crate) fn amount_words(amount: Number) -> String {
    let text = shown(amount);
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    if whole.len() < 5 || !whole.bytes().all(|byte| byte.is_ascii_digit()) {
        return text;
    }
    let mut grouped = String::with_capacity(text.len() + whole.len() / 3);
    for (place, digit) in whole.chars().enumerate() {
        if place > 0 && (whole.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_amounts_are_grouped() {
        assert_eq!(amount_words(Number::Integer(1_234_567)), "1,234,567");
        assert_eq!(amount_words(Number::Float(12_345.678)), "12,345.678");
        assert_eq!(amount_words(Number::Integer(1234)), "1234");
        assert_eq!(amount_words(Number::Float(1e300)), "1e300");
    }
}
