//! The conformance vectors of passes, made by another implementation of JWS.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::Path;

use bailiwick_core::json::{Limits, Value, parse};
use bailiwick_core::work::pass::vectors::{Malformed, is_vector, run_vector};

#[test]
fn every_vector_passes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/passes");
    let (mut count, mut failures) = (0, Vec::new());
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let vectors = parse(&std::fs::read(&path).unwrap(), &Limits::STORED).unwrap();
        for vector in vectors.as_array().unwrap() {
            assert!(is_vector(vector));
            count += 1;
            if let Some(difference) = run_vector(vector).unwrap().difference {
                let id = vector.get("id").and_then(Value::as_str);
                failures.push(format!("{} {id:?}: {difference:?}", path.display()));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(count > 450, "{count} vectors");
}

#[test]
fn a_malformed_vector_says_what_is_wrong() {
    for (text, what) in
        [(r#"{"kind": "pass"}"#, "`expect` is missing"), (r#"{"kind": "pass", "expect": {}}"#, "`keys` is missing")]
    {
        let vector = parse(text.as_bytes(), &Limits::DOCUMENT).unwrap();
        assert_eq!(run_vector(&vector), Err(Malformed(what)), "{text}");
        assert_eq!(is_vector(&vector), text.contains("expect"));
    }
}
