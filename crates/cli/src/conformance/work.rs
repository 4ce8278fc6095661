//! Documents and the findings they must give.

use bailiwick_core::json::Value;
use bailiwick_core::work::vectors::{Expectation, VectorError, run_vector};
use bailiwick_schema::Engine;

use super::{Case, Difference};

/// Whether this is meant to be a vector of this kind.
pub(super) fn is_vector(value: &Value) -> bool {
    value.get("kind").is_some() && value.get("expect").is_some()
}

pub(super) fn run(vectors: &[Value]) -> Vec<Case> {
    let engine = Engine;
    vectors.iter().zip(1_u64..).map(|(vector, number)| run_one(vector, number, &engine)).collect()
}

fn run_one(vector: &Value, number: u64, engine: &Engine) -> Case {
    let id = vector.get("id").and_then(Value::as_str).map_or_else(|| format!("number {number}"), str::to_owned);
    match run_vector(vector, engine) {
        Ok(()) => Case::new(id, None),
        Err(VectorError::Mismatch { expected, actual }) => {
            Case::new(id, Some(Difference { expected: list(&expected), actual: list(&actual) }))
        }
        Err(other) => Case::malformed(id, other.to_string()),
    }
}

fn list(findings: &[Expectation]) -> String {
    if findings.is_empty() {
        return "nothing".into();
    }
    findings.iter().map(|(rule, kind, path)| format!("{rule} {kind} {path}")).collect::<Vec<_>>().join(", ")
}
