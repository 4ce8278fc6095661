//! The decision record: what a journal entry of Bailiwick's own says, and enough to decide it again.
//!
//! The entry's `type` is the command's name, `entity_id` what it is about, `actor` the principal, `occurred_at` the
//! time of the decision. The payload's members:
//!
//! | member | what |
//! |---|---|
//! | `arguments` | the command in normal form, bulk as blob references |
//! | `principal` | `{id, established}` |
//! | `rules` | the number of the rule set; it never falls along a journal |
//! | `configuration` | the digest of the configuration in force |
//! | `fresh` | the source of the ids it created, hexadecimal |
//! | `facts` | what followed, in order |
//! | `refused` | the code, if the answer was no |

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::{Blob, BlobReader, BlobWriter, Command, Context, Fact, Fresh, RULES, Step};
use crate::hash::{from_hex, hex};
use crate::journal::{Draft, Entry, Label};
use crate::json::{Object, Value};
use crate::principal::Principal;
use crate::time::{self, Millis};

/// A decision as the journal keeps it.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// The command
    pub command: Command,
    /// Who acted
    pub principal: Principal,
    /// When
    pub at: Millis,
    /// The number of the rule set that decided
    pub rules: u32,
    /// The digest of the configuration in force
    pub configuration: String,
    /// The source of the ids it created
    pub fresh: Fresh,
    /// What followed
    pub facts: Vec<Fact>,
    /// The code, if the answer was no
    pub refused: Option<String>,
}

/// An entry read back.
#[derive(Debug, Clone, PartialEq)]
pub enum Reading {
    /// Decided by this rule set: it can be decided again
    Ours(Box<Record>),
    /// Decided by another rule set, whose commands are not looked at
    Others {
        /// When
        at: Millis,
        /// The number of the rule set
        rules: u32,
        /// What followed
        facts: Vec<Fact>,
    },
}

/// Why an entry cannot be read as a decision record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordError {
    /// It carries another label than `bailiwick.journal/1`
    OtherLabel,
    /// It is of no form that these rules know
    Unreadable,
    /// A member of the entry around the record is not what the record says
    Envelope(&'static str),
    /// The record has members or references that its own writer would not have written
    Form,
}

impl Record {
    /// The record of a decided command.
    pub fn of(command: Command, context: &Context<'_>, step: &Step) -> Self {
        Self {
            command,
            principal: context.principal.clone(),
            at: context.now,
            rules: RULES,
            configuration: step.configuration.clone(),
            fresh: context.fresh,
            facts: step.outcome.facts.clone(),
            refused: step.outcome.reply.as_ref().err().map(|refusal| refusal.code.to_string()),
        }
    }

    /// The journal entry, without its place in a journal, and the blobs it refers to.
    pub fn write(&self, workspace_id: &str, epoch_id: &str, salts: [u8; 32]) -> (Draft, Vec<Blob>) {
        let mut blobs = BlobWriter::new(salts);
        let payload = self.payload(&mut blobs);
        let draft = Draft {
            protocol: Label::Journal1,
            workspace_id: workspace_id.into(),
            epoch_id: epoch_id.into(),
            id: entry_id(&self.fresh),
            kind: self.command.name().into(),
            entity_id: self.command.entity(&self.fresh),
            actor: self.principal.id.clone(),
            session_id: None,
            occurred_at: time::format(self.at),
            payload,
        };
        (draft, blobs.into_blobs())
    }

    fn payload(&self, blobs: &mut BlobWriter) -> Object {
        Object::new()
            .with("arguments", self.command.write(blobs))
            .with("principal", self.principal.to_value())
            .with("rules", self.rules)
            .with("configuration", &self.configuration)
            .with("fresh", hex(&self.fresh.0))
            .with("facts", self.facts.iter().map(|fact| Value::from(fact.write(blobs))).collect::<Value>())
            .with_some("refused", self.refused.as_ref())
    }

    /// Reads an entry back. What stands around the record must be what the record gives, and a record of this rule set
    /// exactly what [`Record::write`] writes, as far as nothing of it was erased.
    ///
    /// # Errors
    ///
    /// [`RecordError`] if it is no decision record.
    pub fn read(entry: &Entry, blobs: &BlobReader<'_>) -> Result<Reading, RecordError> {
        if entry.protocol != Label::Journal1 {
            return Err(RecordError::OtherLabel);
        }
        let head = RecordHead::read(entry).ok_or(RecordError::Unreadable)?;
        head.check_envelope(entry)?;
        let facts = || {
            let facts = entry.payload.get("facts")?.as_array()?;
            facts.iter().map(|fact| Fact::read(fact.as_object()?, blobs)).collect::<Option<Vec<_>>>()
        };
        if head.rules != RULES {
            let facts = facts().ok_or(RecordError::Unreadable)?;
            return Ok(Reading::Others { at: head.at, rules: head.rules, facts });
        }
        let command = || Command::read(&entry.kind, entry.payload.get("arguments")?.as_object()?, blobs);
        let command = command().ok_or(RecordError::Unreadable)?;
        let facts = facts().ok_or(RecordError::Unreadable)?;
        let RecordHead { principal, at, rules, configuration, fresh, refused } = head;
        let record = Self { command, principal, at, rules, configuration, fresh, facts, refused };
        if !blobs.met_erased() {
            if record.command.entity(&record.fresh) != entry.entity_id {
                return Err(RecordError::Envelope("entity_id"));
            }
            if record.payload(&mut BlobWriter::again(blobs)) != entry.payload {
                return Err(RecordError::Form);
            }
        }
        Ok(Reading::Ours(record.into()))
    }
}

/// What a record says besides the command and its facts.
struct RecordHead {
    principal: Principal,
    at: Millis,
    rules: u32,
    configuration: String,
    fresh: Fresh,
    refused: Option<String>,
}

impl RecordHead {
    fn read(entry: &Entry) -> Option<Self> {
        let payload = &entry.payload;
        Some(Self {
            principal: Principal::from_value(payload.get("principal")?)?,
            at: time::instant(&entry.occurred_at)?,
            rules: u32::try_from(payload.get("rules")?.as_number()?.to_u64()?).ok()?,
            configuration: payload.str("configuration")?.into(),
            fresh: Fresh(from_hex(payload.str("fresh")?)?),
            refused: match payload.get("refused") {
                Some(code) => Some(code.as_str()?.into()),
                None => None,
            },
        })
    }

    /// The envelope is the label's, not the rule set's: it is checked whichever decided.
    fn check_envelope(&self, entry: &Entry) -> Result<(), RecordError> {
        let members = [
            ("actor", entry.actor == self.principal.id),
            ("id", entry.id == entry_id(&self.fresh)),
            ("session_id", entry.session_id.is_none()),
            ("occurred_at", entry.occurred_at == time::format(self.at)),
        ];
        match members.iter().find(|(_, is_same)| !is_same) {
            Some((member, _)) => Err(RecordError::Envelope(member)),
            None => Ok(()),
        }
    }
}

fn entry_id(fresh: &Fresh) -> String {
    alloc::format!("event_{}", fresh.uuid("entry"))
}

impl core::fmt::Display for RecordError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::OtherLabel => f.write_str("it carries another label than `bailiwick.journal/1`"),
            Self::Unreadable => f.write_str("it is of no form that these rules know"),
            Self::Envelope(member) => write!(f, "its `{member}` is not what the decision in it gives"),
            Self::Form => f.write_str("its payload is not what these rules write for such a decision"),
        }
    }
}

impl core::error::Error for RecordError {}
