//! What a document is, told from its content.

use bailiwick_core::json::Value;

/// The kinds of document that can be checked here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A work order; a sub-order too
    Order,
    /// A report on an order
    Report,
    /// A list of `{"order", "state"}`: the sub-orders of an order
    SubOrders,
    /// An export of a journal
    Journal,
}

impl Kind {
    /// Every kind, as the page offers them.
    pub(crate) const ALL: [Self; 4] = [Self::Order, Self::Report, Self::SubOrders, Self::Journal];

    /// The kind in words.
    pub(crate) const fn label(self) -> &'static str {
        match self {
            Self::Order => "Work order",
            Self::Report => "Report",
            Self::SubOrders => "List of sub-orders",
            Self::Journal => "Journal export",
        }
    }

    /// The name by which a form sends it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Order => "order",
            Self::Report => "report",
            Self::SubOrders => "sub-orders",
            Self::Journal => "journal",
        }
    }

    /// The kind with this name.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// How the exports of journals begin, or what stands near their beginning.
const JOURNAL_FORMATS: [&str; 2] = ["\"bailiwick.journal-export/", "\"coordination-journal/"];

/// How much of a text is looked at to tell a journal from a document.
pub(crate) const BEGINNING_BYTES: usize = 4096;

/// Whether a text that begins like this is a journal.
pub(crate) fn begins_a_journal(beginning: &str) -> bool {
    JOURNAL_FORMATS.iter().any(|format| beginning.contains(format) && beginning.contains("\"format\""))
}

/// What a document is. Nothing is said about whether it is a good one.
pub(crate) fn kind_of(document: &Value) -> Kind {
    let text = |name| document.get(name).and_then(Value::as_str).unwrap_or_default();
    let has = |name| document.get(name).is_some();
    match document {
        Value::Array(_) => Kind::SubOrders,
        _ if text("format").starts_with("coordination-journal/") => Kind::Journal,
        _ if text("spec").starts_with("awl/work-report@") => Kind::Report,
        _ if text("spec").starts_with("awl/work-order@") => Kind::Order,
        _ if has("order_id") || (has("status") && !has("criteria")) => Kind::Report,
        _ => Kind::Order,
    }
}

/// What a text that cannot be read most likely was to be.
pub(crate) fn kind_of_unreadable(text: &str) -> Kind {
    if text.trim_start().starts_with('[') {
        Kind::SubOrders
    } else if text.contains("\"awl/work-report@") || text.contains("\"order_id\"") {
        Kind::Report
    } else {
        Kind::Order
    }
}

#[cfg(test)]
mod tests {
    use bailiwick_core::json::{Limits, parse};

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Kind) {
        let document = parse(text.as_bytes(), &Limits::DOCUMENT).unwrap();
        assert_eq!(kind_of(&document), expected, "{text}");
        assert_eq!(Kind::parse(expected.name()), Some(expected));
    }

    #[test]
    fn kinds_are_told_by_their_format_and_else_by_their_members() {
        check(r#"{"spec": "awl/work-order@0.4", "order_id": "x"}"#, Kind::Order);
        check(r#"{"spec": "awl/work-report@0.9"}"#, Kind::Report);
        check(r#"{"order_id": "x"}"#, Kind::Report);
        check(r#"{"status": "done"}"#, Kind::Report);
        check(r#"{"goal": "x"}"#, Kind::Order);
        check("{}", Kind::Order);
        check("[]", Kind::SubOrders);
        check(r#"{"format": "coordination-journal/1"}"#, Kind::Journal);
    }

    #[test]
    fn journals_are_told_by_their_beginning() {
        assert!(begins_a_journal(r#"{"format":"bailiwick.journal-export/1","workspace_id":"desk""#));
        assert!(begins_a_journal("{\n \"format\": \"coordination-journal/1\","));
        assert!(!begins_a_journal(r#"{"goal": "read bailiwick.journal-export/1"}"#));
    }

    #[test]
    fn unreadable_texts_are_guessed_at() {
        assert_eq!(kind_of_unreadable("{\"order_id\": \"x\",,"), Kind::Report);
        assert_eq!(kind_of_unreadable("{\"goal\": "), Kind::Order);
        assert_eq!(kind_of_unreadable(" [{"), Kind::SubOrders);
    }
}
