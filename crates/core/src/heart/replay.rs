//! Replay: from a journal to the documents, deciding everything again on the way.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::{
    BlobReader, Change, Context, Draft, Fact, Key, Memory, Reading, Record, RecordError, ViewError, capability, run,
};
use crate::journal::Entry;
use crate::time::Millis;
use crate::work::OutputSchemas;

/// Builds the documents of a workspace from its journal, entry by entry, and compares every decision with what the
/// rules say. It takes the chain as verified: [`crate::journal`] does that.
pub struct Replay<'a> {
    memory: Memory,
    /// Documents of which a part was erased
    incomplete: BTreeSet<Key>,
    schemas: &'a dyn OutputSchemas,
    /// The last entry's rule set and time
    last: Option<(u32, Millis)>,
    report: ReplayReport,
}

/// What a replay found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReplayReport {
    /// Entries whose decision was made again, with the same result
    pub decided: u64,
    /// Entries of a rule set that these rules don't know: applied, not decided again
    pub applied: u64,
    /// Entries of which a part was erased, and entries that rest on them: applied as far as they can be
    pub erased: u64,
    /// The first entry where the record and the rules part
    pub first_difference: Option<Difference>,
}

impl ReplayReport {
    /// Whether every decision was made again, with the same result: none only applied, none erased.
    pub fn decided_all(&self) -> bool {
        self.first_difference.is_none() && self.applied == 0 && self.erased == 0
    }
}

/// Where a journal and the rules part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The entry's sequence
    pub sequence: u64,
    /// What differs
    pub what: DifferenceKind,
}

/// What differs between a record and the rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DifferenceKind {
    /// The entry cannot be read
    Record(RecordError),
    /// The facts are not those that the rules give
    Facts,
    /// The answer is not the one that the rules give
    Reply {
        /// The code by the rules, `None` for yes
        by_the_rules: Option<String>,
        /// The code in the record
        in_the_record: Option<String>,
    },
    /// The configuration is not the one in force
    Configuration,
    /// A document that the facts touch is not of its form
    Document,
    /// The entry's time is before that of the entry before it
    Time,
    /// The number of the rule set is 0 or lower than in the entry before it
    Rules {
        /// The number
        number: u32,
        /// The least that is accepted
        least: u32,
    },
}

impl<'a> Replay<'a> {
    /// A replay from an empty workspace.
    pub fn new(schemas: &'a dyn OutputSchemas) -> Self {
        Self {
            memory: Memory::new(),
            incomplete: BTreeSet::new(),
            schemas,
            last: None,
            report: ReplayReport::default(),
        }
    }

    /// Replays the next entry. After the first difference nothing is replayed.
    pub fn push(&mut self, entry: &Entry, blobs: &BlobReader<'_>) {
        if self.report.first_difference.is_some() {
            return;
        }
        if let Err(what) = self.step(entry, blobs) {
            self.report.first_difference = Some(Difference { sequence: entry.sequence, what });
        }
    }

    fn step(&mut self, entry: &Entry, blobs: &BlobReader<'_>) -> Result<(), DifferenceKind> {
        let reading = Record::read(entry, blobs).map_err(DifferenceKind::Record)?;
        let (rules, at, facts) = match &reading {
            Reading::Ours(record) => (record.rules, record.at, &record.facts),
            Reading::Others { rules, at, facts } => (*rules, *at, facts),
        };
        self.check_order(rules, at)?;
        let count = |counter: &mut u64| *counter = counter.saturating_add(1);
        let decided = match &reading {
            Reading::Ours(record) if !blobs.met_erased() => self.decide(record)?,
            _ => None,
        };
        let changes = match (decided, &reading) {
            (Some(changes), _) => {
                count(&mut self.report.decided);
                changes
            }
            (None, Reading::Others { .. }) if !blobs.met_erased() => {
                count(&mut self.report.applied);
                self.apply(facts)?
            }
            (None, _) => {
                count(&mut self.report.erased);
                self.apply(facts)?
            }
        };
        for change in &changes {
            if blobs.met_erased() {
                self.incomplete.insert(change.key.clone());
            }
            self.memory.apply(change);
        }
        Ok(())
    }

    /// Along a journal time never runs backwards, and a program with an older rule set no longer writes.
    fn check_order(&mut self, rules: u32, at: Millis) -> Result<(), DifferenceKind> {
        let (least, before) = self.last.unwrap_or((1, at));
        if rules < least {
            return Err(DifferenceKind::Rules { number: rules, least });
        }
        if at < before {
            return Err(DifferenceKind::Time);
        }
        self.last = Some((rules, at));
        Ok(())
    }

    /// Makes the decision again and compares. `None` if it rests on a document of which a part was erased, so that
    /// nothing can be said.
    fn decide(&self, record: &Record) -> Result<Option<Vec<Change>>, DifferenceKind> {
        let context =
            Context { now: record.at, principal: &record.principal, fresh: record.fresh, schemas: self.schemas };
        let (step, view) =
            self.memory.with_view(|view| run(view, &record.command, &context)).map_err(|_| DifferenceKind::Document)?;
        if view.loaded().any(|key| self.incomplete.contains(key)) {
            return Ok(None);
        }
        if step.configuration != record.configuration {
            return Err(DifferenceKind::Configuration);
        }
        if step.outcome.facts != record.facts {
            return Err(DifferenceKind::Facts);
        }
        let by_the_rules = step.outcome.reply.err().map(|refusal| String::from(refusal.code));
        if by_the_rules != record.refused {
            return Err(DifferenceKind::Reply { by_the_rules, in_the_record: record.refused.clone() });
        }
        Ok(Some(step.changes))
    }

    fn apply(&self, facts: &[Fact]) -> Result<Vec<Change>, DifferenceKind> {
        let applied = self.memory.with_view(|view| {
            let mut draft = Draft::new(view);
            for fact in facts {
                capability::apply(&mut draft, fact)?;
            }
            Ok(draft.into_changes())
        });
        Ok(applied.map_err(|_: ViewError| DifferenceKind::Document)?.0)
    }

    /// What was found, and the documents as the journal gives them.
    pub fn finish(self) -> (ReplayReport, Memory) {
        (self.report, self.memory)
    }
}

impl DifferenceKind {
    /// The stable code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Record(RecordError::OtherLabel | RecordError::Unreadable) => "record_unreadable",
            Self::Record(RecordError::Envelope(_)) => "envelope_differs",
            Self::Record(RecordError::Form) => "record_form_differs",
            Self::Facts => "facts_differ",
            Self::Reply { .. } => "reply_differs",
            Self::Configuration => "configuration_differs",
            Self::Document => "document_unreadable",
            Self::Time => "time_runs_backwards",
            Self::Rules { .. } => "rule_set_falls",
        }
    }
}

impl fmt::Display for DifferenceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Record(error) => write!(f, "the entry is not the record of a decision: {error}"),
            Self::Facts => f.write_str("the rules give other facts than the record"),
            Self::Reply { by_the_rules, in_the_record } => {
                let said =
                    |code: &Option<String>| code.as_ref().map_or_else(|| "yes".into(), |code| format!("`{code}`"));
                write!(f, "the rules say {}, the record says {}", said(by_the_rules), said(in_the_record))
            }
            Self::Configuration => f.write_str("the record names another configuration than the one in force"),
            Self::Document => f.write_str("a document it touches is not of its form"),
            Self::Time => f.write_str("its time is before that of the entry before it"),
            Self::Rules { number, least } => write!(f, "it names rule set {number}, must be {least} or higher"),
        }
    }
}
