//! Commands on orders, in normal form.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::gateway::Act;
use super::order::MOST_ID;
use super::quoted;
use crate::arguments::{Arguments, bad_request};
use crate::heart::{BlobReader, BlobWriter, Fresh, Refusal};
use crate::json::{Number, Object, Value};

/// A command on an order.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// Issues an order. The input is the order document without `spec`, `created_at` and `from`; `id` may be left out.
    Create {
        /// The order's other members
        input: Object,
    },
    /// The worker takes the order
    Accept {
        /// The order
        id: String,
    },
    /// The worker turns the order down
    Decline {
        /// The order
        id: String,
        /// Why
        reason: Option<String>,
    },
    /// The worker begins
    Start {
        /// The order
        id: String,
    },
    /// The worker says how far it is
    Progress {
        /// The order
        id: String,
        /// What there is to say
        note: String,
        /// 0–100
        percent: Option<Number>,
    },
    /// The worker reports. The input is the report without `spec`, `order_id`, `from` and `attempt`; `finished_at`
    /// may be left out.
    Report {
        /// The order
        id: String,
        /// The report's other members
        input: Object,
    },
    /// The manager or the escalation contact answers a blocked worker
    Answer {
        /// The order
        id: String,
        /// The answer
        answer: String,
    },
    /// The manager decides on a report
    Review {
        /// The order
        id: String,
        /// How
        decision: Decision,
        /// Why; needed for rework
        reason: Option<String>,
        /// Which of the listed effects to approve; all when left out
        effects: Option<Vec<String>>,
    },
    /// The manager calls the order off
    Cancel {
        /// The order
        id: String,
        /// Why
        reason: Option<String>,
    },
    /// What a gateway does under an order, or is told
    Gateway {
        /// The order
        id: String,
        /// What
        act: Box<Act>,
    },
    /// The desk ends an order if its deadline has passed
    ExpireDue {
        /// The order
        id: String,
    },
    /// The desk takes over an order with its history from another desk
    Import {
        /// The record as the other desk kept it (`spec §9`)
        record: Object,
    },
}

/// A manager's decision on a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// The report is good
    Approve,
    /// Back to work
    Rework,
}

impl Decision {
    const ALL: [Self; 2] = [Self::Approve, Self::Rework];

    const fn as_str(self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::Rework => "rework",
        }
    }
}

/// Members of an order that the desk fills in, whatever the input says.
const ORDER_FILLED: [&str; 3] = ["spec", "created_at", "from"];
/// Members of a report that the desk fills in, whatever the input says.
const REPORT_FILLED: [&str; 4] = ["spec", "order_id", "from", "attempt"];

impl Command {
    /// Reads a request: the command's short name (`create`, `accept`, …) and its arguments as `spec §14.2` names
    /// them, without `actor`.
    ///
    /// # Errors
    ///
    /// `BAD_REQUEST` naming the argument at fault and what is accepted.
    pub fn parse(name: &str, arguments: Object) -> Result<Self, Refusal> {
        let mut arguments = Arguments::new(arguments);
        let command = match name {
            "create" => return Ok(Self::Create { input: without(arguments.rest(), &ORDER_FILLED) }),
            "report" => {
                let id = arguments.required("id")?;
                return Ok(Self::Report { id, input: without(arguments.rest(), &REPORT_FILLED) });
            }
            "accept" => Self::Accept { id: arguments.required("id")? },
            "start" => Self::Start { id: arguments.required("id")? },
            "decline" => Self::Decline { id: arguments.required("id")?, reason: arguments.text("reason")? },
            "cancel" => Self::Cancel { id: arguments.required("id")?, reason: arguments.text("reason")? },
            "progress" => Self::Progress {
                id: arguments.required("id")?,
                note: arguments.text("note")?.ok_or_else(|| bad_request("`note` is missing or blank"))?,
                percent: percent(arguments.number("percent")?)?,
            },
            "answer" => Self::Answer {
                id: arguments.required("id")?,
                answer: arguments.text("answer")?.ok_or_else(|| bad_request("`answer` is missing or blank"))?,
            },
            "review" => review(&mut arguments)?,
            name if Act::NAMES.contains(&name) => {
                let id = arguments.required("id")?;
                let act = Act::parse(name, &mut arguments)
                    .unwrap_or_else(|| Err(bad_request(format!("unknown command {}", quoted(name)))))?;
                Self::Gateway { id, act: act.into() }
            }
            _ => return Err(bad_request(format!("unknown command {}", quoted(name)))),
        };
        arguments.finish()?;
        Ok(command)
    }

    /// The command's stable name.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Create { .. } => "work.create",
            Self::Accept { .. } => "work.accept",
            Self::Decline { .. } => "work.decline",
            Self::Start { .. } => "work.start",
            Self::Progress { .. } => "work.progress",
            Self::Report { .. } => "work.report",
            Self::Answer { .. } => "work.answer",
            Self::Review { .. } => "work.review",
            Self::Cancel { .. } => "work.cancel",
            Self::Gateway { act, .. } => act.entry_name(),
            Self::ExpireDue { .. } => "work.expire_due",
            Self::Import { .. } => "work.import",
        }
    }

    /// The order the command is about.
    pub fn entity(&self, fresh: &Fresh) -> String {
        match self {
            Self::Create { input } => match input.str("id") {
                Some(id) => id.chars().take(MOST_ID).collect(),
                None => fresh_order_id(fresh),
            },
            Self::Import { record } => {
                record.get("order").and_then(|order| order.get("id")?.as_str()).unwrap_or_default().into()
            }
            _ => self.id().unwrap_or_default().into(),
        }
    }

    /// The order that the command names as its argument `id`.
    fn id(&self) -> Option<&str> {
        match self {
            Self::Create { .. } | Self::Import { .. } => None,
            Self::Accept { id }
            | Self::Decline { id, .. }
            | Self::Start { id }
            | Self::Progress { id, .. }
            | Self::Report { id, .. }
            | Self::Answer { id, .. }
            | Self::Review { id, .. }
            | Self::Cancel { id, .. }
            | Self::Gateway { id, .. }
            | Self::ExpireDue { id } => Some(id),
        }
    }

    /// The arguments as the journal writes them.
    pub(crate) fn write(&self, blobs: &mut BlobWriter) -> Object {
        let id = self.id().map(|id| blobs.put_name(id));
        let of = Object::new().with_some("id", id);
        match self {
            Self::Create { input } => of.with("input", blobs.put(&input.clone().into())),
            Self::Report { input, .. } => of.with("input", blobs.put(&input.clone().into())),
            Self::Accept { .. } | Self::Start { .. } | Self::ExpireDue { .. } => of,
            Self::Decline { reason, .. } | Self::Cancel { reason, .. } => {
                of.with_some("reason", blobs.put_some(reason.as_ref()))
            }
            Self::Progress { note, percent, .. } => {
                of.with("note", blobs.put(&note.into())).with_some("percent", *percent)
            }
            Self::Answer { answer, .. } => of.with("answer", blobs.put(&answer.into())),
            Self::Review { decision, reason, effects, .. } => of
                .with("decision", decision.as_str())
                .with_some("reason", blobs.put_some(reason.as_ref()))
                .with_some("effects", blobs.put_some(effects.clone())),
            Self::Gateway { act, .. } => act.write(of, blobs),
            Self::Import { record } => of.with("record", blobs.put(&record.clone().into())),
        }
    }

    /// Reads what [`Command::write`] gives.
    pub(crate) fn read(name: &str, arguments: &Object, blobs: &BlobReader<'_>) -> Option<Self> {
        let id = || blobs.take_name(arguments.get("id")?);
        let bulk = |name| Some(blobs.take(arguments.get(name)?)?.as_object()?.clone());
        let text = |name| match arguments.get(name) {
            Some(reference) => blobs.take_string(reference).map(Some),
            None => Some(None),
        };
        Some(match name {
            "work.create" => Self::Create { input: bulk("input")? },
            "work.report" => Self::Report { id: id()?, input: bulk("input")? },
            "work.accept" => Self::Accept { id: id()? },
            "work.start" => Self::Start { id: id()? },
            "work.decline" => Self::Decline { id: id()?, reason: text("reason")? },
            "work.cancel" => Self::Cancel { id: id()?, reason: text("reason")? },
            "work.progress" => Self::Progress {
                id: id()?,
                note: text("note")??,
                percent: arguments.get("percent").and_then(Value::as_number).copied(),
            },
            "work.answer" => Self::Answer { id: id()?, answer: text("answer")?? },
            "work.review" => Self::Review {
                id: id()?,
                decision: Decision::ALL.into_iter().find(|d| Some(d.as_str()) == arguments.str("decision"))?,
                reason: text("reason")?,
                effects: match arguments.get("effects") {
                    Some(reference) => strings(&blobs.take(reference)?),
                    None => None,
                },
            },
            "work.expire_due" => Self::ExpireDue { id: id()? },
            "work.import" => Self::Import { record: bulk("record")? },
            _ => Self::Gateway { id: id()?, act: Act::read(name, arguments, blobs)?.into() },
        })
    }
}

/// The id of an order that was given none.
pub(super) fn fresh_order_id(fresh: &Fresh) -> String {
    format!("wo_{}", fresh.hex("order", 16))
}

fn without(mut object: Object, names: &[&str]) -> Object {
    for name in names {
        object.remove(name);
    }
    object
}

fn strings(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|item| item.as_str().map(Into::into)).collect()
}

fn percent(number: Option<Number>) -> Result<Option<Number>, Refusal> {
    match number {
        Some(percent) if percent < Number::Integer(0) || percent > Number::Integer(100) => {
            Err(bad_request(format!("`percent` is {}, must be from 0 to 100", super::shown(percent))))
        }
        percent => Ok(percent),
    }
}

fn review(arguments: &mut Arguments) -> Result<Command, Refusal> {
    let id = arguments.required("id")?;
    let named = arguments.required("decision")?;
    let decision = Decision::ALL.into_iter().find(|decision| decision.as_str() == named);
    let decision = decision
        .ok_or_else(|| bad_request(format!("unknown decision {}; accepted: `approve`, `rework`", quoted(&named))))?;
    let (reason, effects) = (arguments.text("reason")?, arguments.strings("effects")?);
    if decision == Decision::Rework && reason.is_none() {
        return Err(bad_request("rework needs a `reason` that is not blank"));
    }
    if decision == Decision::Rework && effects.is_some() {
        return Err(bad_request("`effects` goes with `approve` only: rework drops every effect"));
    }
    Ok(Command::Review { id, decision, reason, effects })
}
