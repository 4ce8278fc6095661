//! The conformance vectors of work orders without a schema engine: all rules but O4 and R11.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::Path;

use bailiwick_core::json::{Limits, Value, parse};
use bailiwick_core::work::vectors::{VectorError, run_vector};
use bailiwick_core::work::{NoEngine, Rule};

/// Every vector in the folder.
fn vectors() -> Vec<Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/work-orders");
    let mut vectors = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        vectors.extend_from_slice(parse(&bytes, &Limits::DOCUMENT).unwrap().as_array().unwrap());
    }
    vectors
}

#[test]
fn every_vector_passes_or_says_which_rule_was_skipped() {
    let vectors = vectors();
    assert!(vectors.len() > 1000, "{} vectors", vectors.len());
    let mut skipped = 0;
    for vector in vectors {
        match run_vector(&vector, &NoEngine) {
            Ok(()) => {}
            Err(VectorError::Skipped(Rule::O4 | Rule::R11)) => skipped += 1,
            Err(error) => panic!("{:?}: {error}", vector.get("id")),
        }
    }
    assert!(skipped > 300, "{skipped} skipped");
}

#[test]
fn a_malformed_vector_says_what_is_wrong() {
    for (text, what) in [
        (r#"{"kind": "order", "order": {}}"#, "`expect` is missing"),
        (r#"{"kind": "order", "expect": []}"#, "`order` is missing"),
        (r#"{"kind": "orders", "order": {}, "expect": []}"#, "`kind` must be `order`, `report` or `child`"),
        (r#"{"kind": "report", "order": {}, "expect": []}"#, "`report` is missing"),
        (r#"{"kind": "child", "order": {}, "expect": []}"#, "`parent` is missing"),
    ] {
        let vector = parse(text.as_bytes(), &Limits::DOCUMENT).unwrap();
        assert_eq!(run_vector(&vector, &NoEngine), Err(VectorError::Malformed(what)), "{text}");
    }
    let unknown_rule = r#"{"kind": "order", "order": {}, "expect": [{"rule": "O9", "kind": "invalid", "path": "/"}]}"#;
    let vector = parse(unknown_rule.as_bytes(), &Limits::DOCUMENT).unwrap();
    assert!(matches!(run_vector(&vector, &NoEngine), Err(VectorError::Malformed(_))));
}
