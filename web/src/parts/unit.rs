//! What orders are limited in, in words.

use bailiwick_core::work::Unit;

/// The unit as people call it.
pub(crate) const fn unit_words(unit: Unit) -> &'static str {
    match unit {
        Unit::Usd => "US dollars",
        Unit::Tokens => "Tokens",
        Unit::ToolCalls => "Tool calls",
        Unit::Seconds => "Seconds",
    }
}
