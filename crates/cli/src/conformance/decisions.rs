//! Journals whose decisions are made again.

use bailiwick_core::heart::vectors;
use bailiwick_core::json::{Object, write_compact};
use bailiwick_schema::Engine;

use super::{Case, Difference};

/// Runs the vectors of a file; `None` if it holds none.
pub(super) fn run(file: &Object) -> Option<Vec<Case>> {
    Some(vectors::run(file, &Engine)?.into_iter().map(compare).collect())
}

fn compare(vectors::Case { id, expected, found }: vectors::Case) -> Case {
    let difference = (expected != found).then(|| Difference {
        expected: write_compact(&expected.into()),
        actual: write_compact(&found.clone().into()),
    });
    Case::new(id, found, difference)
}
