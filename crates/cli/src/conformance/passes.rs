//! Delegation passes, and what must be said about them.

use bailiwick_core::json::Value;
pub(super) use bailiwick_core::work::pass::vectors::is_vector;
use bailiwick_core::work::pass::vectors::{Judgement, run_vector};

use super::{Case, Difference};

pub(super) fn run(vectors: &[Value]) -> Vec<Case> {
    vectors.iter().zip(1_u64..).map(|(vector, number)| run_one(vector, number)).collect()
}

fn run_one(vector: &Value, number: u64) -> Case {
    let id = vector.get("id").and_then(Value::as_str).map_or_else(|| format!("number {number}"), str::to_owned);
    match run_vector(vector) {
        Ok(Judgement { said, difference }) => {
            let difference = difference.map(|found| Difference { expected: found.expected, actual: found.actual });
            Case::new(id, said, difference)
        }
        Err(malformed) => Case::malformed(id, malformed.to_string()),
    }
}
