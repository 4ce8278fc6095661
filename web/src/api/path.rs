//! Paths and queries, percent-encoded.

use std::fmt::Write as _;

/// A path with its query, built piece by piece.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Path {
    text: String,
    has_query: bool,
}

impl Path {
    /// A path that needs no encoding.
    pub(crate) fn new(text: &str) -> Self {
        Self { text: text.into(), has_query: false }
    }

    /// Adds a segment, encoded.
    #[must_use]
    pub(crate) fn then(mut self, name: &str) -> Self {
        self.text.push('/');
        self.text.push_str(&segment(name));
        self
    }

    /// Adds a parameter unless its value is empty.
    #[must_use]
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        if !value.is_empty() {
            self.text.push(if self.has_query { '&' } else { '?' });
            self.has_query = true;
            let _ = write!(self.text, "{name}={}", segment(value));
        }
        self
    }

    /// The whole.
    pub(crate) fn into_text(self) -> String {
        self.text
    }
}

/// Percent-encodes whatever may not stand in one segment of a path or a value of a query (RFC 3986 §3.3).
pub(crate) fn segment(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => encoded.push(char::from(byte)),
            // Writing to a string cannot fail.
            other => {
                let _ = write!(encoded, "%{other:02X}");
            }
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_encoded_and_empty_parameters_left_out() {
        let path = Path::new("orders").then("a/b c%é").with("to", "").with("q", "x&y").with("state", "offered");
        assert_eq!(path.into_text(), "orders/a%2Fb%20c%25%C3%A9?q=x%26y&state=offered");
    }
}
