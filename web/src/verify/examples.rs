//! Something to try when there is nothing at hand.

use gloo_net::http::Request;

/// An example: what its button says, and the files it adds.
pub(crate) struct Example {
    /// What it shows, in words
    pub(crate) label: &'static str,
    files: Files,
}

/// The files of an example.
#[derive(Clone, Copy)]
enum Files {
    /// Names and texts
    Here(&'static [(&'static str, &'static str)]),
    /// A journal, fetched from beside the page: too large for everybody to load. Its name, and what becomes of its text.
    Journal(&'static str, fn(&str) -> String),
}

const ORDER: &str = include_str!("examples/order.json");
const ORDER_WITH_MISTAKES: &str = include_str!("examples/order-with-mistakes.json");
const REPORT: &str = include_str!("examples/report.json");

/// Where the journal is, from the page's base.
const JOURNAL: &str = "examples/journal.jsonl";

/// What the page offers.
pub(crate) const EXAMPLES: [Example; 4] = [
    Example {
        label: "An order with mistakes",
        files: Files::Here(&[("order-with-mistakes.json", ORDER_WITH_MISTAKES)]),
    },
    Example {
        label: "A report against its order",
        files: Files::Here(&[("order.json", ORDER), ("report.json", REPORT)]),
    },
    Example { label: "A journal", files: Files::Journal("journal.jsonl", str::to_owned) },
    Example { label: "A journal that was tampered with", files: Files::Journal("tampered.jsonl", tampered) },
];

impl Example {
    /// Its files: name and text; no text for one that could not be fetched.
    pub(crate) async fn files(&self) -> Vec<(&'static str, Option<String>)> {
        match self.files {
            Files::Here(files) => files.iter().map(|(name, text)| (*name, Some((*text).to_owned()))).collect(),
            Files::Journal(name, change) => vec![(name, journal().await.as_deref().map(change))],
        }
    }
}

async fn journal() -> Option<String> {
    let answer = Request::get(JOURNAL).send().await.ok().filter(gloo_net::http::Response::ok)?;
    answer.text().await.ok()
}

/// The journal, in which the one who approved was made another.
fn tampered(journal: &str) -> String {
    let (before, last) = journal.trim_end().rsplit_once('\n').unwrap_or_default();
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
        let Files::Here(files) = example.files else { panic!("`{}` is fetched", example.label) };
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
        let verify = |example: &Example| {
            let Files::Journal(_, change) = example.files else { panic!("`{}` is no journal", example.label) };
            verify_export(change(include_str!("../../assets/examples/journal.jsonl")).as_bytes()).unwrap().chain
        };
        assert!(verify(journal).ok);
        let failure = verify(tampered).first_failure.unwrap();
        assert_eq!((failure.code, failure.sequence), (FailureCode::EventHashMismatch, Some(5)));
    }
}
