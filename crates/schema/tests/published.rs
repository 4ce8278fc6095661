//! The published schemas say what the structure checks of `core` say, judged by an engine of another author; and our own
//! engine gives the same findings on them, place by place.

#![allow(clippy::unwrap_used, clippy::panic)]

mod documents;

use bailiwick_core::json::{Limits, Value, parse, write_compact};
use bailiwick_core::time::is_timestamp;
use bailiwick_core::work::{NoEngine, Rule, is_work_order, is_work_report, validate_order, validate_report};
use bailiwick_schema::{EVENT, JOURNAL_ENTRY, JOURNAL_EXPORT, Schema, WORK_ORDER, WORK_REPORT};
use documents::Dice;

const MUTATIONS: usize = 12_000;

/// A published schema, in both engines.
struct Published {
    theirs: jsonschema::Validator,
    ours: Schema,
}

impl Published {
    fn new(text: &str) -> Self {
        let schema: serde_json::Value = serde_json::from_str(text).unwrap();
        let theirs = jsonschema::draft202012::options()
            .should_validate_formats(true)
            .with_format("date-time", is_timestamp)
            .build(&schema)
            .unwrap();
        let ours = Schema::compile(&parse(text.as_bytes(), &Limits::DOCUMENT).unwrap()).unwrap();
        Self { theirs, ours }
    }

    /// Compares with the structure findings of a document, given by their paths.
    fn check(&self, document: &Value, is_valid: bool, mut paths: Vec<String>) {
        let text = write_compact(document);
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(self.theirs.is_valid(&json), is_valid, "{text}");
        let mut ours: Vec<String> = self.ours.check(Some(document)).into_iter().map(|fault| fault.pointer).collect();
        for path in &mut ours {
            if path.is_empty() {
                path.push('/');
            }
        }
        ours.sort();
        paths.sort();
        assert_eq!(ours, paths, "{text}");
    }
}

/// Each document as it is, then mutated.
fn for_each(documents: &[Value], seed: u64, check: impl Fn(&Value)) {
    documents.iter().for_each(&check);
    let mut dice = Dice::new(seed);
    for _ in 0..MUTATIONS {
        let document = documents::mutate(dice.pick(documents), &mut dice);
        check(&document);
    }
}

#[test]
fn orders() {
    let published = Published::new(WORK_ORDER);
    for_each(&documents::orders(), 1, |order| {
        let findings = validate_order(order, &NoEngine).findings;
        let paths =
            findings.into_iter().filter(|finding| finding.rule == Rule::O1).map(|finding| finding.path).collect();
        published.check(order, is_work_order(order), paths);
    });
}

#[test]
fn reports() {
    let published = Published::new(WORK_REPORT);
    for_each(&documents::reports(), 2, |report| {
        let findings = validate_report(report, &Value::Null, &NoEngine).findings;
        let paths =
            findings.into_iter().filter(|finding| finding.rule == Rule::R1).map(|finding| finding.path).collect();
        published.check(report, is_work_report(report), paths);
    });
}

#[test]
fn schemas_are_schemas_and_their_examples_fit() {
    for text in [WORK_ORDER, WORK_REPORT, EVENT] {
        let schema = parse(text.as_bytes(), &Limits::DOCUMENT).unwrap();
        let published = Published::new(text);
        for name in ["$id", "title", "description"] {
            assert!(schema.get(name).is_some(), "{name}");
        }
        let examples = schema.get("examples").and_then(Value::as_array).unwrap();
        assert!(!examples.is_empty());
        for example in examples {
            published.check(example, true, Vec::new());
        }
    }
    for text in [JOURNAL_ENTRY, JOURNAL_EXPORT] {
        let schema: serde_json::Value = serde_json::from_str(text).unwrap();
        assert!(jsonschema::draft202012::meta::is_valid(&schema));
    }
}
