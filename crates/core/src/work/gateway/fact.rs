//! What follows from what gateways do.

use alloc::string::String;

use super::act::{CallOutcome, amounts};
use super::allowance::{Allowance, Standing};
use super::call::{Call, Ended};
use super::effects;
use crate::heart::{BlobReader, BlobWriter, Draft, ViewError};
use crate::json::{Object, Value};
use crate::work::{Fact, OrderRecord, Totals};

/// Something that followed from what a gateway did, or was told.
#[derive(Debug, Clone, PartialEq)]
pub enum GatewayFact {
    /// A call was allowed
    CallBegun(CallBegun),
    /// A call came to its end
    CallFinished(CallFinished),
    /// An effect was done
    EffectDone(EffectDone),
    /// The gateways were held up or let go on
    Controlled(Controlled),
}

/// A call was allowed.
#[derive(Debug, Clone, PartialEq)]
pub struct CallBegun {
    /// The order
    pub order: String,
    /// The call's number
    pub n: u64,
    /// `server/tool`
    pub tool: String,
    /// The number of reworks before it
    pub attempt: u64,
    /// When
    pub at: String,
    /// Which gateway asked
    pub gateway: String,
    /// What was reserved
    pub reserved: Totals,
    /// The arguments of a held call
    pub arguments: Option<Value>,
}

/// A call came to its end.
#[derive(Debug, Clone, PartialEq)]
pub struct CallFinished {
    /// The order
    pub order: String,
    /// The call's number
    pub n: u64,
    /// When
    pub at: String,
    /// How
    pub outcome: CallOutcome,
    /// Whether its units were given back
    pub is_released: bool,
    /// What it cost
    pub cost: Option<Totals>,
    /// What went wrong
    pub error: Option<String>,
}

/// An effect was done. That it was stands in the order's events; this keeps what came out.
#[derive(Debug, Clone, PartialEq)]
pub struct EffectDone {
    /// The order
    pub order: String,
    /// Which effect
    pub reference: String,
    /// The result, unless there is none or it is too large to keep
    pub result: Option<Value>,
}

/// The gateways were held up or let go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Controlled {
    /// The order
    pub order: String,
    /// What they shall do
    pub standing: Standing,
    /// Why
    pub reason: Option<String>,
    /// Who said so
    pub by: String,
    /// When
    pub at: String,
}

impl From<GatewayFact> for Fact {
    fn from(fact: GatewayFact) -> Self {
        Self::Gateway(fact.into())
    }
}

impl GatewayFact {
    /// As the journal writes it.
    pub(in crate::work) fn write(&self, blobs: &mut BlobWriter) -> Object {
        let of = |name: &str, order: Value| Object::new().with("fact", name).with("order", order);
        match self {
            Self::CallBegun(begun) => of("work.call_begun", blobs.put_name(&begun.order))
                .with("n", begun.n)
                .with("tool", &begun.tool)
                .with("attempt", begun.attempt)
                .with("at", &begun.at)
                .with("gateway", blobs.put_name(&begun.gateway))
                .with_some("reserved", amounts(&begun.reserved))
                .with_some("arguments", blobs.put_some(begun.arguments.clone())),
            Self::CallFinished(finished) => of("work.call_finished", blobs.put_name(&finished.order))
                .with("n", finished.n)
                .with("at", &finished.at)
                .with("outcome", finished.outcome.as_str())
                .with("released", finished.is_released)
                .with_some("cost", finished.cost.as_ref().map(Totals::to_value))
                .with_some("error", blobs.put_some(finished.error.as_ref())),
            Self::EffectDone(done) => of("work.effect_done", blobs.put_name(&done.order))
                .with("ref", &done.reference)
                .with_some("result", blobs.put_some(done.result.clone())),
            Self::Controlled(controlled) => of("work.controlled", blobs.put_name(&controlled.order))
                .with("standing", controlled.standing.as_str())
                .with_some("reason", blobs.put_some(controlled.reason.as_ref()))
                .with("by", blobs.put_name(&controlled.by))
                .with("at", &controlled.at),
        }
    }

    /// Reads what [`GatewayFact::write`] gives.
    pub(in crate::work) fn read(object: &Object, blobs: &BlobReader<'_>) -> Option<Self> {
        let string = |name| object.str(name).map(String::from);
        let name = |member| blobs.take_name(object.get(member)?);
        let count = |name| object.get(name)?.as_number()?.to_u64();
        let optional = |name| match object.get(name) {
            Some(reference) => blobs.take(reference).map(Some),
            None => Some(None),
        };
        let text = |name| match object.get(name) {
            Some(reference) => blobs.take_string(reference).map(Some),
            None => Some(None),
        };
        let order = name("order")?;
        Some(match object.str("fact")? {
            "work.call_begun" => Self::CallBegun(CallBegun {
                order,
                n: count("n")?,
                tool: string("tool")?,
                attempt: count("attempt")?,
                at: string("at")?,
                gateway: name("gateway")?,
                reserved: object.get("reserved").map(Totals::from_value).unwrap_or_default(),
                arguments: optional("arguments")?,
            }),
            "work.call_finished" => Self::CallFinished(CallFinished {
                order,
                n: count("n")?,
                at: string("at")?,
                outcome: CallOutcome::parse(object.str("outcome")?)?,
                is_released: object.get("released")?.as_bool()?,
                cost: object.get("cost").map(Totals::from_value),
                error: text("error")?,
            }),
            "work.effect_done" => {
                Self::EffectDone(EffectDone { order, reference: string("ref")?, result: optional("result")? })
            }
            "work.controlled" => Self::Controlled(Controlled {
                order,
                standing: Standing::parse(object.str("standing")?)?,
                reason: text("reason")?,
                by: name("by")?,
                at: string("at")?,
            }),
            _ => return None,
        })
    }

    /// What it does to documents.
    pub(in crate::work) fn apply(&self, draft: &mut Draft<'_>) -> Result<(), ViewError> {
        match self {
            Self::CallBegun(begun) => {
                change(draft, &begun.order, |allowance| allowance.begun(begun))?;
                draft.put(&Call::begun(begun))
            }
            Self::CallFinished(finished) => {
                let id = Call::id_of(&finished.order, finished.n);
                let Some(mut call) = draft.document::<Call>(&id)? else { return Ok(()) };
                change(draft, &finished.order, |allowance| allowance.finished(finished, &call))?;
                call.ended = Some(Ended {
                    at: finished.at.clone(),
                    outcome: finished.outcome,
                    cost: finished.cost,
                    error: finished.error.clone(),
                });
                draft.put(&call)
            }
            Self::EffectDone(done) => effects::keep_result(draft, done),
            Self::Controlled(controlled) => {
                let deadline = draft.document::<OrderRecord>(&controlled.order)?.and_then(|record| record.deadline());
                change(draft, &controlled.order, |allowance| allowance.controlled(controlled, deadline))
            }
        }
    }
}

fn change(draft: &mut Draft<'_>, order: &str, change: impl FnOnce(&mut Allowance)) -> Result<(), ViewError> {
    let mut allowance = draft.document(order)?.unwrap_or_else(|| Allowance::unused(order));
    change(&mut allowance);
    draft.put(&allowance)
}
