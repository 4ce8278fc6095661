//! The conformance vectors of work orders, all rules.

#![allow(clippy::unwrap_used, clippy::panic)]

mod documents;

use bailiwick_core::work::vectors::run_vector;
use bailiwick_schema::Engine;

#[test]
fn every_vector_passes() {
    let failures: Vec<String> = documents::vectors()
        .iter()
        .filter_map(|vector| run_vector(vector, &Engine).err().map(|error| format!("{:?}: {error}", vector.get("id"))))
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn ids_are_unique() {
    let mut ids: Vec<String> =
        documents::vectors().iter().filter_map(|v| v.get("id")?.as_str().map(str::to_owned)).collect();
    let count = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), count);
    assert!(count > 1000, "{count} vectors");
}
