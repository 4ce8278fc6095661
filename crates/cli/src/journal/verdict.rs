//! What is said about a journal, to people and to programs.

use bailiwick_core::hash::{Hash, hex};
use bailiwick_core::heart::replay::ReplayReport;
use bailiwick_core::journal::Report;
use bailiwick_core::json::{Object, Value};

use crate::failure::Failure;
use crate::output::{Mark, Output};
use crate::text::{counted, visible};

/// What was found out about a journal.
#[derive(Debug, Clone, Default)]
pub(crate) struct Verdict {
    /// Whose journal, if it says so
    pub(crate) workspace: Option<String>,
    /// Entries in order, counted until the first failure
    pub(crate) checked_events: u64,
    /// The last entry in order
    pub(crate) head_sequence: u64,
    /// Its hash
    pub(crate) head_hash: Hash,
    /// The first thing that is wrong
    pub(crate) failure: Option<Wrong>,
    /// Blobs that are what their digests say
    pub(crate) blobs: Option<u64>,
    /// What came of deciding again, if that was asked for
    pub(crate) decided: Option<ReplayReport>,
    /// Documents that are what the journal makes of them, if there are any to compare
    pub(crate) documents: Option<u64>,
}

/// Something that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wrong {
    /// The stable code
    pub(crate) code: String,
    /// With which entry
    pub(crate) sequence: Option<u64>,
    /// What there is to say beyond the code
    pub(crate) message: Option<String>,
}

impl Wrong {
    pub(crate) fn new(code: &str, sequence: Option<u64>, message: impl Into<String>) -> Self {
        Self { code: code.into(), sequence, message: Some(message.into()) }
    }
}

impl Verdict {
    /// What the chain says.
    pub(crate) fn of_chain(report: &Report) -> Self {
        Self {
            checked_events: report.checked_events,
            head_sequence: report.head_sequence,
            head_hash: report.head_hash,
            failure: report.first_failure.map(|failure| Wrong {
                code: failure.code.code().into(),
                sequence: failure.sequence,
                message: None,
            }),
            ..Self::default()
        }
    }

    /// Adds what came of deciding again.
    pub(crate) fn take_replay(&mut self, report: ReplayReport) {
        if let Some(difference) = &report.first_difference {
            let (code, message) = (difference.what.code(), difference.what.to_string());
            self.fail(Wrong::new(code, Some(difference.sequence), message));
        }
        self.decided = Some(report);
    }

    /// Counts it as wrong if not every decision was made again.
    pub(crate) fn require_decided(&mut self) {
        let Some(replay) = self.decided.as_ref().filter(|replay| !replay.decided_all()) else { return };
        let left = replay.applied.saturating_add(replay.erased);
        let entries = match left {
            1 => "1 entry".to_owned(),
            left => format!("{left} entries"),
        };
        self.fail(Wrong::new(
            "not_decided",
            None,
            format!("{entries} could not be decided again, and `--require-decided` is set"),
        ));
    }

    /// Notes something wrong, unless there is something already.
    pub(crate) fn fail(&mut self, wrong: Wrong) {
        self.failure.get_or_insert(wrong);
    }

    /// Whether nothing is wrong.
    pub(crate) fn is_ok(&self) -> bool {
        self.failure.is_none()
    }

    /// For programs: `{ok, checked_events, head_sequence, head_hash, first_failure, …}`.
    pub(crate) fn to_value(&self) -> Value {
        let failure = self.failure.as_ref().map_or(Value::Null, |wrong| {
            let sequence = wrong.sequence.map_or(Value::Null, Value::from);
            let failure = Object::new().with("code", &wrong.code).with("sequence", sequence);
            failure.with_some("message", wrong.message.as_ref()).into()
        });
        let mut object = Object::new()
            .with("ok", self.is_ok())
            .with("checked_events", self.checked_events)
            .with("head_sequence", self.head_sequence)
            .with("head_hash", hex(&self.head_hash))
            .with("first_failure", failure)
            .with_some("workspace_id", self.workspace.as_ref())
            .with_some("blobs", self.blobs);
        if let Some(replay) = &self.decided {
            object.insert("decided", replay.decided);
            object.insert("applied", replay.applied);
            object.insert("erased", replay.erased);
            object.insert("decided_all", replay.decided_all());
        }
        object.with_some("documents", self.documents).into()
    }

    /// For people.
    pub(crate) fn print(&self, name: &str, output: &mut Output) -> Result<(), Failure> {
        let in_order = match self.checked_events {
            1 => "1 entry".to_owned(),
            count => format!("{count} entries"),
        };
        match &self.failure {
            None => {
                let mark = output.style().mark(Mark::Good);
                output.line(format!("{mark} {}: {in_order} in order", visible(name)))?;
            }
            Some(wrong) => {
                let mark = output.style().mark(Mark::Bad);
                let place = wrong.sequence.map(|sequence| format!(" at sequence {sequence}")).unwrap_or_default();
                output.line(format!("{mark} {}: {}{place}", visible(name), visible(&wrong.code)))?;
                if let Some(message) = &wrong.message {
                    output.line(format!("  {}", visible(message)))?;
                }
                output.line(format!("  before that: {in_order} in order"))?;
            }
        }
        output.line(format!("  head       {} {}", self.head_sequence, hex(&self.head_hash)))?;
        if let Some(workspace) = &self.workspace {
            output.line(format!("  workspace  {}", visible(workspace)))?;
        }
        if let Some(blobs) = self.blobs {
            output.line(format!("  blobs      {blobs} are what their digests say"))?;
        }
        if let Some(replay) = &self.decided {
            output.line(format!("  decided    {}", in_words(replay)))?;
            if replay.applied > 0 || replay.erased > 0 {
                let mark = output.style().mark(Mark::Warning);
                output.line(format!(
                    "  {mark} not every decision was made again: whether the rules were kept there is not known"
                ))?;
            }
        }
        if let Some(documents) = self.documents {
            output.line(format!(
                "  documents  {} compared with what the journal makes of them",
                counted(documents, "document")
            ))?;
        }
        Ok(())
    }
}

fn in_words(replay: &ReplayReport) -> String {
    let mut words = format!("{} again with the same result", replay.decided);
    if replay.applied > 0 {
        words.push_str(&format!("; {} of other rules applied, not decided again", replay.applied));
    }
    if replay.erased > 0 {
        words.push_str(&format!("; {} read \"erased\", not decided again", replay.erased));
    }
    words
}
