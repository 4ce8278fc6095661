//! The decision record: what a journal entry of Bailiwick's own says, and enough to decide it again.
//!
//! The entry's `type` is the command's name, `entity_id` what it is about, `actor` the principal, `occurred_at` the
//! time of the decision. The payload's members:
//!
//! | member | what |
//! |---|---|
//! | `arguments` | the command in normal form, bulk as blob references |
//! | `principal` | `{id, established}` |
//! | `rules` | the number of the rule set |
//! | `configuration` | the digest of the configuration in force |
//! | `fresh` | the source of the ids it created, hexadecimal |
//! | `facts` | what followed, in order |
//! | `refused` | the code, if the answer was no |

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

/// Why an entry cannot be read as a decision record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordError {
    /// It carries another label than `bailiwick.journal/1`
    OtherLabel,
    /// It is of no form that these rules know
    Unreadable,
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
        let payload = Object::new()
            .with("arguments", self.command.write(&mut blobs))
            .with("principal", self.principal.to_value())
            .with("rules", self.rules)
            .with("configuration", &self.configuration)
            .with("fresh", hex(&self.fresh.0))
            .with("facts", self.facts.iter().map(|fact| Value::from(fact.write(&mut blobs))).collect::<Value>())
            .with_some("refused", self.refused.as_ref());
        let draft = Draft {
            protocol: Label::Journal1,
            workspace_id: workspace_id.into(),
            epoch_id: epoch_id.into(),
            id: alloc::format!("event_{}", self.fresh.uuid("entry")),
            kind: self.command.name().into(),
            entity_id: self.command.entity(&self.fresh),
            actor: self.principal.id.clone(),
            session_id: None,
            occurred_at: time::format(self.at),
            payload,
        };
        (draft, blobs.into_blobs())
    }

    /// Reads an entry back.
    ///
    /// # Errors
    ///
    /// [`RecordError`] if it is no decision record of these rules.
    pub fn read(entry: &Entry, blobs: &BlobReader<'_>) -> Result<Self, RecordError> {
        if entry.protocol != Label::Journal1 {
            return Err(RecordError::OtherLabel);
        }
        Self::read_known(entry, blobs).ok_or(RecordError::Unreadable)
    }

    fn read_known(entry: &Entry, blobs: &BlobReader<'_>) -> Option<Self> {
        let payload = &entry.payload;
        let facts = payload.get("facts")?.as_array()?;
        Some(Self {
            command: Command::read(&entry.kind, payload.get("arguments")?.as_object()?, blobs)?,
            principal: Principal::from_value(payload.get("principal")?)?,
            at: time::instant(&entry.occurred_at)?,
            rules: u32::try_from(payload.get("rules")?.as_number()?.to_u64()?).ok()?,
            configuration: payload.str("configuration")?.into(),
            fresh: Fresh(from_hex(payload.str("fresh")?)?),
            facts: facts.iter().map(|fact| Fact::read(fact.as_object()?, blobs)).collect::<Option<_>>()?,
            refused: payload.str("refused").map(Into::into),
        })
    }
}

impl core::fmt::Display for RecordError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::OtherLabel => "it carries another label than `bailiwick.journal/1`",
            Self::Unreadable => "it is of no form that these rules know",
        })
    }
}

impl core::error::Error for RecordError {}
