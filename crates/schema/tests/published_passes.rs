//! The published schemas of passes, proofs and revocation lists say what verifying says, as far as a schema can: judged
//! by the claims of the conformance vectors, by an engine of another author.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::Path;

use bailiwick_core::jose::Compact;
use bailiwick_core::json::{Limits, Value, parse};
use bailiwick_core::work::is_pattern;
use bailiwick_schema::{PASS, PASS_PROOF, PASS_REVOCATIONS};

/// What is refused although the schema takes it: what a schema can't say.
const BEYOND_A_SCHEMA: &[(&str, &str)] = &[
    ("exp-written-as-double", "to a schema, 1.0 is an integer"),
    ("exp-with-exponent", "to a schema, 1.8e9 is an integer"),
    ("iat-minus-zero", "to a schema, -0.0 is an integer, and not negative"),
    ("deadline-hour-offset", "no format says that an offset has minutes"),
    ("deadline-unknown-instant", "a leap second is a date-time"),
    ("cnf-jwk-broken", "whether a point is on its curve takes arithmetic"),
];

fn vectors(file: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/passes").join(file);
    parse(&std::fs::read(path).unwrap(), &Limits::STORED).unwrap().as_array().unwrap().to_vec()
}

fn schema(text: &str) -> jsonschema::Validator {
    let schema: serde_json::Value = serde_json::from_str(text).unwrap();
    jsonschema::draft202012::options()
        .should_validate_formats(true)
        .with_format("date-time", bailiwick_core::time::is_timestamp)
        .build(&schema)
        .unwrap()
}

/// The claims of a token, if it has the form of one.
fn claims(token: &Value) -> Option<serde_json::Value> {
    let token = Compact::parse(token.as_str().unwrap(), 1 << 20).ok()?;
    token.payload_object().ok()?;
    serde_json::from_slice(token.payload()).ok()
}

fn items<'a>(vector: &'a Value, name: &str) -> &'a [Value] {
    vector.get(name).and_then(Value::as_array).unwrap_or_default()
}

fn str_of<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn is_accepted(vector: &Value) -> bool {
    vector.get("expect").unwrap().get("ok").unwrap().as_bool().unwrap()
}

#[test]
fn what_verifies_fits_its_schema() {
    let (pass, proof, list) = (schema(PASS), schema(PASS_PROOF), schema(PASS_REVOCATIONS));
    let mut counts = [0, 0, 0];
    for file in ["accepted.json", "names.json", "times.json", "chains.json", "holder.json", "revocation.json"] {
        for vector in vectors(file).iter().filter(|vector| is_accepted(vector)) {
            let proofs = vector.get("call").and_then(|call| call.get("proof"));
            let kinds = [
                items(vector, "passes"),
                proofs.map(std::slice::from_ref).unwrap_or_default(),
                items(vector, "revocations"),
            ];
            for ((tokens, schema), count) in kinds.into_iter().zip([&pass, &proof, &list]).zip(&mut counts) {
                for claims in tokens.iter().filter_map(claims) {
                    assert!(schema.is_valid(&claims), "{} {claims}", str_of(vector, "id"));
                    *count += 1;
                }
            }
        }
    }
    let [passes, proofs, lists] = counts;
    assert!(passes > 100 && proofs > 5 && lists > 5, "{counts:?}");
}

#[test]
fn malformed_claims_do_not_fit() {
    let (pass, proof, list) = (schema(PASS), schema(PASS_PROOF), schema(PASS_REVOCATIONS));
    let mut beyond: Vec<&str> = Vec::new();
    let all = [vectors("claims.json"), vectors("holder.json"), vectors("revocation.json")].concat();
    let malformed = |vector: &&Value| str_of(vector.get("expect").unwrap(), "code") == "MALFORMED";
    for vector in all.iter().filter(malformed) {
        let id = str_of(vector, "id");
        let (schema, token) = match str_of(vector, "kind") {
            "call" => (&proof, vector.get("call").unwrap().get("proof").unwrap()),
            "revocations" => (&list, items(vector, "revocations").last().unwrap()),
            _ => (&pass, items(vector, "passes").last().unwrap()),
        };
        let Some(claims) = claims(token) else { continue };
        match BEYOND_A_SCHEMA.iter().find(|(known, _)| *known == id) {
            Some((known, _)) => {
                assert!(schema.is_valid(&claims), "{id} is not beyond a schema");
                beyond.push(known);
            }
            None => assert!(!schema.is_valid(&claims), "{id} {claims}"),
        }
    }
    beyond.sort_unstable();
    let mut expected: Vec<&str> = BEYOND_A_SCHEMA.iter().map(|(id, _)| *id).collect();
    expected.sort_unstable();
    assert_eq!(beyond, expected);
}

#[test]
fn the_pattern_of_tools_is_ours() {
    let pass: serde_json::Value = serde_json::from_str(PASS).unwrap();
    let pattern = schema(&pass["$defs"]["patterns"]["items"].to_string());
    for text in
        ["*", "a/b", "a/*", "../..", "A_1/z-9", "", "**", "*/x", "a/b/c", "a/", "/b", "a", " a/b", "a/b*", "é/b"]
    {
        assert_eq!(pattern.is_valid(&serde_json::Value::from(text)), is_pattern(text), "{text}");
    }
}
