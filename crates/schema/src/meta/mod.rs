//! The meta-schemas of JSON Schema 2020-12, as published on json-schema.org, for schemas that refer to them.
//!
//! Whether a schema fits them is not found out with these documents: [`crate::compile`] knows the keywords.

use std::sync::OnceLock;

use bailiwick_core::json::{Limits, Value, parse};

/// The dialect that is understood.
pub(crate) const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

const TEXTS: [&str; 9] = [
    include_str!("schema.json"),
    include_str!("core.json"),
    include_str!("applicator.json"),
    include_str!("unevaluated.json"),
    include_str!("validation.json"),
    include_str!("meta-data.json"),
    include_str!("format-annotation.json"),
    include_str!("format-assertion.json"),
    include_str!("content.json"),
];

/// The document with this URI (no fragment), if it is one of the meta-schemas.
pub(crate) fn document(uri: &str) -> Option<&'static Value> {
    static DOCUMENTS: OnceLock<Vec<Value>> = OnceLock::new();
    let documents = DOCUMENTS
        .get_or_init(|| TEXTS.iter().filter_map(|text| parse(text.as_bytes(), &Limits::DOCUMENT).ok()).collect());
    documents.iter().find(|document| document.get("$id").and_then(Value::as_str) == Some(uri))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_there() {
        for text in TEXTS {
            let uri = parse(text.as_bytes(), &Limits::DOCUMENT).unwrap();
            let uri = uri.get("$id").and_then(Value::as_str).unwrap();
            assert!(document(uri).is_some(), "{uri}");
        }
        assert!(document(DIALECT).is_some());
        assert!(document("https://json-schema.org/draft/2019-09/schema").is_none());
    }
}
