//! Something to try when there is nothing at hand.

/// An example: what its button says, and the files it adds.
pub(crate) struct Example {
    /// What it shows, in words
    pub(crate) label: &'static str,
    /// Its files: name and text
    pub(crate) files: fn() -> Vec<(&'static str, String)>,
}

const ORDER: &str = include_str!("examples/order.json");
const ORDER_WITH_MISTAKES: &str = include_str!("examples/order-with-mistakes.json");
const REPORT: &str = include_str!("examples/report.json");
const JOURNAL: &str = include_str!("examples/journal.jsonl");

/// What the page offers.
pub(crate) const EXAMPLES: [Example; 4] = [
    Example {
        label: "An order with mistakes",
        files: || vec![("order-with-mistakes.json", ORDER_WITH_MISTAKES.into())],
    },
    Example {
        label: "A report against its order",
        files: || vec![("order.json", ORDER.into()), ("report.json", REPORT.into())],
    },
    Example { label: "A journal", files: || vec![("journal.jsonl", JOURNAL.into())] },
    Example { label: "A journal that was tampered with", files: || vec![("tampered.jsonl", tampered())] },
];

/// The journal, in which the one who approved was made another.
fn tampered() -> String {
    let (before, last) = JOURNAL.trim_end().rsplit_once('\n').unwrap_or_default();
    format!("{before}\n{}\n", last.replacen("agent:planner", "agent:pirate!", 1))
}

#[cfg(test)]
mod tests {
    use bailiwick_core::journal::{FailureCode, verify_export};
    use bailiwick_core::work::Rule;

    use super::super::check::{Document, Outcome, check};
    use super::*;

    /// The rules that the checks of the last file of an example find broken.
    fn rules(example: &Example) -> Vec<Rule> {
        let files = (example.files)();
        let documents: Vec<Document> =
            files.iter().map(|(name, text)| Document::read(*name, text.as_bytes())).collect();
        let checks = check(&documents, documents.len() - 1);
        let Outcome::Checked { validation, .. } = &checks[0].outcome else { panic!("{checks:?}") };
        validation.findings.iter().map(|finding| finding.rule).collect()
    }

    #[test]
    fn examples_show_what_they_promise() {
        let [order, report, journal, tampered] = &EXAMPLES;
        assert_eq!(rules(order), [Rule::O1; 6]);
        assert_eq!(rules(report), [Rule::R4, Rule::R5, Rule::R7]);
        let verify = |example: &Example| verify_export((example.files)()[0].1.as_bytes()).unwrap().chain;
        assert!(verify(journal).ok);
        let failure = verify(tampered).first_failure.unwrap();
        assert_eq!((failure.code, failure.sequence), (FailureCode::EventHashMismatch, Some(5)));
    }
}
