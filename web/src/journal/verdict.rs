//! What came of verifying a journal, in words.

use bailiwick_core::json::Value;

use crate::document::{count, text};
use crate::engine::{EngineError, Progress};

/// What verification found.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Verdict {
    /// Whose journal it is
    pub(crate) workspace_id: String,
    /// Entries in order, counted until the first failure
    pub(crate) entries: u64,
    /// The last entry in order
    pub(crate) head_sequence: u64,
    /// Its hash; empty if it is not known
    pub(crate) head_hash: String,
    /// The Merkle root over the entries in order; empty if it is not known
    pub(crate) root: String,
    /// Texts that are what the entries say
    pub(crate) texts: u64,
    /// The first entry of another epoch than the one before it, which no tool of ours writes
    pub(crate) epoch_changed_at: Option<u64>,
    /// How much was looked at, and how long it took
    pub(crate) progress: Progress,
    /// The first thing that is wrong
    pub(crate) wrong: Option<Wrong>,
}

/// What is wrong with a journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wrong {
    /// The stable code
    pub(crate) code: String,
    /// With which entry
    pub(crate) sequence: Option<u64>,
    /// In which line of the file
    pub(crate) line: Option<u64>,
    /// What is wrong, in a sentence
    pub(crate) what: String,
    /// What that means for the reader
    pub(crate) meaning: &'static str,
}

impl Verdict {
    /// Reads what the engine reports.
    pub(crate) fn read(report: &Value, progress: Progress) -> Self {
        let some = |name| report.get(name).map(|_| count(report, name));
        let wrong = (!text(report, "failure").is_empty())
            .then(|| Wrong::new(text(report, "failure"), some("failed_sequence"), some("failed_line")));
        Self {
            workspace_id: text(report, "workspace_id").into(),
            entries: count(report, "checked_events"),
            head_sequence: count(report, "head_sequence"),
            head_hash: text(report, "head_hash").into(),
            root: text(report, "root").into(),
            texts: count(report, "blobs"),
            epoch_changed_at: some("epoch_changed_at"),
            progress,
            wrong,
        }
    }

    /// What an error says about the journal: after a good beginning a line that cannot be read is damage.
    pub(crate) fn of_error(error: &EngineError, progress: Progress) -> Option<Self> {
        let is_damage = progress.entries > 0 && error.code.starts_with("export_");
        is_damage.then(|| Self {
            entries: progress.entries,
            head_sequence: progress.entries,
            progress,
            wrong: Some(Wrong {
                code: error.code.clone(),
                sequence: None,
                line: None,
                what: format!("Here the file cannot be read: {}.", error.message),
                meaning: "The file was damaged or cut off after it was written. Nothing can be said about what follows.",
            }),
            ..Self::default()
        })
    }
}

impl Wrong {
    fn new(code: &str, sequence: Option<u64>, line: Option<u64>) -> Self {
        let (what, meaning) = explain(code, sequence);
        Self { code: code.into(), sequence, line, what, meaning }
    }
}

/// What a failure code says (`coordination §5.7`), and what it means.
fn explain(code: &str, sequence: Option<u64>) -> (String, &'static str) {
    let entry = sequence.map_or_else(|| "An entry".into(), |sequence| format!("Entry {sequence}"));
    match code {
        "event_hash_mismatch" => (
            format!("{entry} is not what its hash says."),
            "Something in it was changed after it was written: when, who, what, or the hash itself.",
        ),
        "prev_hash_mismatch" => (
            format!("{entry} does not follow on the entry before it."),
            "It names another predecessor. The entry before it was rewritten together with its hash, or one was exchanged.",
        ),
        "sequence_gap" => (
            match sequence {
                Some(sequence) => format!("Where the next entry should be, there is entry {sequence}."),
                None => "An entry is not the next one.".into(),
            },
            "Entries were taken out, repeated, or put in another order.",
        ),
        "head_mismatch" => (
            "The journal does not end where it says it does.".into(),
            "Entries at its end were cut off, or what it says about its own end was changed.",
        ),
        "missing_events" => ("The journal is shorter than was asked for.".into(), "Entries at its end are missing."),
        "blob_mismatch" => (
            match sequence {
                Some(sequence) => format!("A text that belongs to entry {sequence} is not what the entry says."),
                None => "A text is not what its entry says.".into(),
            },
            "The wording of an order, a report or a reason was changed after it was written.",
        ),
        "blob_unnamed" => (
            format!("{entry} does not name the text that stands before it."),
            "A text was put in that nobody wrote, or an entry that belongs to it is missing.",
        ),
        "workspace_not_found" => (
            format!("{entry} belongs to another workspace than the journal says."),
            "Entries of two journals were mixed.",
        ),
        "payload_unparseable" => {
            (format!("The details of {} cannot be read.", entry.replacen('E', "e", 1)), "They were changed or damaged.")
        }
        other => (format!("The journal is refused with `{other}`."), "It is not as it was written."),
    }
}

/// What verification cannot show, whatever it finds (`core::journal::chain`).
pub(crate) const LIMITS: &str = "A journal that holds together can still have been rewritten as a whole, with new hashes \
    throughout, or cut off at its end together with its head. Whoever kept the hash of an earlier head can tell: note this one.";

#[cfg(test)]
mod tests {
    use bailiwick_core::journal::FailureCode;
    use bailiwick_core::json::{Limits, parse};

    use super::*;

    fn read(text: &str) -> Verdict {
        Verdict::read(&parse(text.as_bytes(), &Limits::DOCUMENT).unwrap(), Progress::default())
    }

    #[test]
    fn a_good_report_is_read() {
        let verdict = read(
            r#"{"ok":true,"checked_events":3,"head_sequence":3,"head_hash":"ab","root":"cd","workspace_id":"desk","blobs":2}"#,
        );
        assert_eq!((verdict.entries, verdict.head_sequence, verdict.texts), (3, 3, 2));
        assert_eq!((verdict.head_hash.as_str(), verdict.root.as_str()), ("ab", "cd"));
        assert_eq!((verdict.wrong, verdict.epoch_changed_at), (None, None));
    }

    #[test]
    fn a_failure_names_the_entry_and_the_line() {
        let verdict = read(
            r#"{"ok":false,"checked_events":6,"head_sequence":6,"head_hash":"ab","failure":"event_hash_mismatch","failed_sequence":7,"failed_line":12}"#,
        );
        let wrong = verdict.wrong.unwrap();
        assert_eq!((wrong.sequence, wrong.line), (Some(7), Some(12)));
        assert_eq!(wrong.what, "Entry 7 is not what its hash says.");
    }

    #[test]
    fn every_failure_has_words_of_its_own() {
        for code in FailureCode::ALL {
            for sequence in [None, Some(5)] {
                let (what, _) = explain(code.code(), sequence);
                assert!(!what.contains(code.code()), "{what}");
            }
        }
        assert!(explain("new_code", None).0.contains("new_code"));
    }

    #[test]
    fn what_cannot_be_read_after_a_good_beginning_is_damage() {
        let error = |code: &str| EngineError { code: code.into(), message: "line 9: unexpected `x`".into() };
        let some = Progress { entries: 4, ..Progress::default() };
        let verdict = Verdict::of_error(&error("export_json"), some).unwrap();
        assert_eq!(verdict.wrong.unwrap().what, "Here the file cannot be read: line 9: unexpected `x`.");
        assert_eq!(Verdict::of_error(&error("export_json"), Progress::default()), None);
        assert_eq!(Verdict::of_error(&error("UNAVAILABLE"), some), None);
    }
}
