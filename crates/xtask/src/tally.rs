//! Counts passed and failed tests from the lines that test programs print.

use std::ops::AddAssign;

/// How many tests passed and failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
}

impl Tally {
    /// Adds what one line of output says: `test result: ok. 3 passed; 0 failed; …` as `cargo test` writes it, or
    /// `3 passed, 0 failed` as our own clients do. Any other line says nothing.
    pub(crate) fn read_line(&mut self, line: &str) {
        let counts = match line.strip_prefix("test result: ") {
            Some(rest) => rest.split_once(". ").map(|(_, counts)| counts),
            None => Some(line),
        };
        let Some(counts) = counts else { return };
        let mut parts = counts.split([';', ',']).map(str::trim);
        let (Some(passed), Some(failed)) = (parts.next(), parts.next()) else {
            return;
        };
        if let (Some(passed), Some(failed)) = (number_before(passed, " passed"), number_before(failed, " failed")) {
            *self += Self { passed, failed };
        }
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
    }
}

fn number_before(text: &str, word: &str) -> Option<u64> {
    text.strip_suffix(word)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, passed: u64, failed: u64) {
        let mut tally = Tally::default();
        tally.read_line(line);
        assert_eq!(tally, Tally { passed, failed }, "{line}");
    }

    #[test]
    fn counts_what_test_programs_print() {
        check("test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.04s", 12, 0);
        check("test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1s", 3, 2);
        check("41 passed, 1 failed", 41, 1);
    }

    #[test]
    fn other_lines_say_nothing() {
        check("test journal::a_gap_is_found ... ok", 0, 0);
        check("running 12 tests", 0, 0);
        check("all passed, none failed", 0, 0);
        check("", 0, 0);
    }
}
