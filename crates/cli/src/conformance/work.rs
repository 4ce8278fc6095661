//! Documents and the findings they must give.

use bailiwick_core::json::{Object, Value};
use bailiwick_core::work::vectors::{Expectation, VectorError, run_checks, run_vector};
use bailiwick_core::work::{Finding, Validation};
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
    let said = match run_checks(vector, engine) {
        Ok(validation) => said(&validation),
        Err(error) => return Case::malformed(id, error.to_string()),
    };
    match run_vector(vector, engine) {
        Ok(()) => Case::new(id, said, None),
        Err(VectorError::Mismatch { expected, actual }) => {
            Case::new(id, said, Some(Difference { expected: list(&expected), actual: list(&actual) }))
        }
        Err(other) => Case::malformed(id, other.to_string()),
    }
}

/// What the checks said, messages included.
fn said(validation: &Validation) -> Object {
    let findings: Value = validation.findings.iter().map(Finding::to_value).collect();
    let skipped: Value = validation.skipped.iter().map(|rule| Value::from(rule.as_str())).collect();
    Object::new().with("findings", findings).with("skipped", skipped)
}

fn list(findings: &[Expectation]) -> String {
    if findings.is_empty() {
        return "nothing".into();
    }
    findings.iter().map(|(rule, kind, path)| format!("{rule} {kind} {path}")).collect::<Vec<_>>().join(", ")
}
