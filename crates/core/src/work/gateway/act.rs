//! What can be asked for, in normal form.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::allowance::Standing;
use crate::arguments::{Arguments, bad_request};
use crate::hash::{Hash, from_hex, hex};
use crate::heart::{BlobReader, BlobWriter, Refusal};
use crate::json::{Number, Object, Value, write_compact};
use crate::work::{Totals, Unit, is_name, quoted, shown};

/// The most bytes of a tool's name.
const MOST_TOOL_BYTES: usize = 256;
/// The most bytes of the arguments of one held call, as compact JSON.
const MOST_ARGUMENT_BYTES: usize = 1 << 20;
/// The most references to held calls that the arguments of one call may name.
const MOST_REFERENCES: usize = 256;
/// The most bytes of the reference to a call.
const MOST_REFERENCE_BYTES: usize = MOST_TOOL_BYTES + 21;

/// Something that a gateway does under an order, or that is done about one.
#[derive(Debug, Clone, PartialEq)]
pub enum Act {
    /// A gateway is about to forward or hold a call
    BeginCall(BeginCall),
    /// A call that was forwarded has come to its end
    FinishCall(FinishCall),
    /// A gateway claims an approved effect
    BeginEffect(BeginEffect),
    /// A claimed effect has come to its end
    FinishEffect(FinishEffect),
    /// The manager lets an effect that failed, or of which nobody knows, be tried once more
    AllowEffectRetry {
        /// Which
        reference: String,
        /// Why
        reason: Option<String>,
    },
    /// A person or the manager holds the order's gateways up, or lets them go on
    Control {
        /// What they shall do
        standing: Standing,
        /// Why
        reason: Option<String>,
    },
}

/// A call that is about to be forwarded or held.
#[derive(Debug, Clone, PartialEq)]
pub struct BeginCall {
    /// `server/tool`
    pub tool: String,
    /// Of a call that is held: its arguments
    pub arguments: Option<Value>,
    /// Of a call that is forwarded: the references that its arguments name (`spec §8.2`)
    pub references: Vec<String>,
    /// What it is expected to cost in `usd` and `tokens`
    pub reserve: Totals,
}

/// How a forwarded call ended.
#[derive(Debug, Clone, PartialEq)]
pub struct FinishCall {
    /// Its number
    pub n: u64,
    /// How
    pub outcome: CallOutcome,
    /// What it cost in `usd` and `tokens`, in place of what was reserved
    pub cost: Option<Totals>,
    /// What went wrong
    pub error: Option<String>,
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallOutcome {
    /// The upstream server answered
    Done,
    /// It answered with an error, or not at all
    Failed,
    /// The call was never forwarded
    Returned,
}

/// An effect that a gateway is about to carry out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BeginEffect {
    /// Which
    pub reference: String,
    /// The tool of the call, by the gateway's own record
    pub tool: String,
    /// [`arguments_digest`](super::arguments_digest) of its arguments, by the gateway's own record
    pub arguments_digest: Hash,
}

/// How an effect ended.
#[derive(Debug, Clone, PartialEq)]
pub struct FinishEffect {
    /// Which
    pub reference: String,
    /// How
    pub ending: Ending,
}

/// How an effect ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Ending {
    /// It was done; the result, unless there is none or it is too large to keep
    Done(Option<Value>),
    /// It failed; why
    Failed(String),
}

impl CallOutcome {
    pub(super) const ALL: [Self; 3] = [Self::Done, Self::Failed, Self::Returned];

    /// The stable name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Returned => "returned",
        }
    }

    /// The outcome of this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| outcome.as_str() == name)
    }
}

impl Act {
    /// The short names by which acts are asked for.
    pub const NAMES: [&'static str; 6] =
        ["begin_call", "finish_call", "begin_effect", "finish_effect", "allow_effect_retry", "control"];

    /// The short name.
    pub const fn name(&self) -> &'static str {
        let [begin_call, finish_call, begin_effect, finish_effect, retry, control] = Self::NAMES;
        match self {
            Self::BeginCall(_) => begin_call,
            Self::FinishCall(_) => finish_call,
            Self::BeginEffect(_) => begin_effect,
            Self::FinishEffect(_) => finish_effect,
            Self::AllowEffectRetry { .. } => retry,
            Self::Control { .. } => control,
        }
    }

    /// The name of the journal's entries.
    pub(in crate::work) const fn entry_name(&self) -> &'static str {
        match self {
            Self::BeginCall(_) => "work.begin_call",
            Self::FinishCall(_) => "work.finish_call",
            Self::BeginEffect(_) => "work.begin_effect",
            Self::FinishEffect(_) => "work.finish_effect",
            Self::AllowEffectRetry { .. } => "work.allow_effect_retry",
            Self::Control { .. } => "work.control",
        }
    }

    /// Whether gateways do this, and nobody else.
    pub(super) const fn is_for_gateways(&self) -> bool {
        match self {
            Self::BeginCall(_) | Self::FinishCall(_) | Self::BeginEffect(_) | Self::FinishEffect(_) => true,
            Self::AllowEffectRetry { .. } | Self::Control { .. } => false,
        }
    }

    /// Reads a request, whose `id` was taken; `None` if the name is of none.
    pub(in crate::work) fn parse(name: &str, arguments: &mut Arguments) -> Option<Result<Self, Refusal>> {
        Some(match name {
            "begin_call" => begin_call(arguments),
            "finish_call" => finish_call(arguments),
            "begin_effect" => begin_effect(arguments),
            "finish_effect" => finish_effect(arguments),
            "allow_effect_retry" => allow_effect_retry(arguments),
            "control" => control(arguments),
            _ => return None,
        })
    }

    /// The arguments as the journal writes them.
    pub(in crate::work) fn write(&self, of: Object, blobs: &mut BlobWriter) -> Object {
        match self {
            Self::BeginCall(begin) => of
                .with("tool", &begin.tool)
                .with_some("arguments", blobs.put_some(begin.arguments.clone()))
                .with_some(
                    "references",
                    (!begin.references.is_empty()).then(|| begin.references.clone()).map(|r| blobs.put(&r.into())),
                )
                .with_some("cost", amounts(&begin.reserve)),
            Self::FinishCall(finish) => of
                .with("n", finish.n)
                .with("outcome", finish.outcome.as_str())
                .with_some("cost", finish.cost.as_ref().map(Totals::to_value))
                .with_some("error", blobs.put_some(finish.error.as_ref())),
            Self::BeginEffect(begin) => of
                .with("ref", &begin.reference)
                .with("tool", &begin.tool)
                .with("arguments_digest", hex(&begin.arguments_digest)),
            Self::FinishEffect(finish) => {
                let of = of.with("ref", &finish.reference);
                match &finish.ending {
                    Ending::Done(result) => {
                        of.with("outcome", "done").with_some("result", blobs.put_some(result.clone()))
                    }
                    Ending::Failed(error) => of.with("outcome", "failed").with("error", blobs.put(&error.into())),
                }
            }
            Self::AllowEffectRetry { reference, reason } => {
                of.with("ref", reference).with_some("reason", blobs.put_some(reason.as_ref()))
            }
            Self::Control { standing, reason } => {
                of.with("standing", standing.as_str()).with_some("reason", blobs.put_some(reason.as_ref()))
            }
        }
    }

    /// Reads what [`Act::write`] gives.
    pub(in crate::work) fn read(entry_name: &str, arguments: &Object, blobs: &BlobReader<'_>) -> Option<Self> {
        let string = |name| arguments.str(name).map(String::from);
        let optional = |name| match arguments.get(name) {
            Some(reference) => blobs.take(reference).map(Some),
            None => Some(None),
        };
        let text = |name| match arguments.get(name) {
            Some(reference) => blobs.take_string(reference).map(Some),
            None => Some(None),
        };
        Some(match entry_name {
            "work.begin_call" => Self::BeginCall(BeginCall {
                tool: string("tool")?,
                arguments: optional("arguments")?,
                references: match optional("references")? {
                    Some(Value::Array(names)) => {
                        names.iter().map(|name| name.as_str().map(Into::into)).collect::<Option<_>>()?
                    }
                    _ => Vec::new(),
                },
                reserve: arguments.get("cost").map(Totals::from_value).unwrap_or_default(),
            }),
            "work.finish_call" => Self::FinishCall(FinishCall {
                n: arguments.get("n")?.as_number()?.to_u64()?,
                outcome: CallOutcome::parse(arguments.str("outcome")?)?,
                cost: arguments.get("cost").map(Totals::from_value),
                error: text("error")?,
            }),
            "work.begin_effect" => Self::BeginEffect(BeginEffect {
                reference: string("ref")?,
                tool: string("tool")?,
                arguments_digest: from_hex(arguments.str("arguments_digest")?)?,
            }),
            "work.finish_effect" => Self::FinishEffect(FinishEffect {
                reference: string("ref")?,
                ending: match arguments.str("outcome")? {
                    "done" => Ending::Done(optional("result")?),
                    "failed" => Ending::Failed(text("error")??),
                    _ => return None,
                },
            }),
            "work.allow_effect_retry" => Self::AllowEffectRetry { reference: string("ref")?, reason: text("reason")? },
            "work.control" => {
                Self::Control { standing: Standing::parse(arguments.str("standing")?)?, reason: text("reason")? }
            }
            _ => return None,
        })
    }
}

/// The amounts, if there are any.
pub(super) fn amounts(totals: &Totals) -> Option<Value> {
    (*totals != Totals::default()).then(|| totals.to_value())
}

fn begin_call(arguments: &mut Arguments) -> Result<Act, Refusal> {
    let tool = tool(arguments)?;
    let call_arguments = arguments.value("arguments");
    if let Some(given) = &call_arguments {
        let bytes = write_compact(given).len();
        if bytes > MOST_ARGUMENT_BYTES {
            return Err(bad_request(format!(
                "`arguments` has {bytes} bytes, at most {MOST_ARGUMENT_BYTES} are accepted"
            )));
        }
    }
    let references = arguments.strings("references")?.unwrap_or_default();
    if references.len() > MOST_REFERENCES {
        let count = references.len();
        return Err(bad_request(format!("`references` has {count} items, at most {MOST_REFERENCES} are accepted")));
    }
    if let Some(long) = references.iter().find(|name| name.len() > MOST_REFERENCE_BYTES) {
        return Err(too_long("references", long.len(), MOST_REFERENCE_BYTES));
    }
    let reserve = cost(arguments)?.unwrap_or_default();
    Ok(Act::BeginCall(BeginCall { tool, arguments: call_arguments, references, reserve }))
}

fn finish_call(arguments: &mut Arguments) -> Result<Act, Refusal> {
    let n = arguments.number("n")?.ok_or_else(|| bad_request("`n` is missing; it must be the call's number"))?;
    let n = n.to_u64().ok_or_else(|| bad_request(format!("`n` is {}, must be a call's number", shown(n))))?;
    let named = arguments.required("outcome")?;
    let outcome = CallOutcome::parse(&named).ok_or_else(|| {
        bad_request(format!("unknown outcome {}; accepted: `done`, `failed`, `returned`", quoted(&named)))
    })?;
    Ok(Act::FinishCall(FinishCall { n, outcome, cost: cost(arguments)?, error: arguments.text("error")? }))
}

fn begin_effect(arguments: &mut Arguments) -> Result<Act, Refusal> {
    let reference = reference(arguments)?;
    let tool = tool(arguments)?;
    let digest = arguments.required("arguments_digest")?;
    let arguments_digest = from_hex(&digest)
        .ok_or_else(|| bad_request("`arguments_digest` must be a SHA-256 in 64 lower-case hexadecimal digits"))?;
    Ok(Act::BeginEffect(BeginEffect { reference, tool, arguments_digest }))
}

fn finish_effect(arguments: &mut Arguments) -> Result<Act, Refusal> {
    let reference = reference(arguments)?;
    let outcome = arguments.required("outcome")?;
    let (result, error) = (arguments.value("result"), arguments.text("error")?);
    let ending = match (outcome.as_str(), error) {
        ("done", None) => Ending::Done(result),
        ("done", Some(_)) => return Err(bad_request("`error` goes with the outcome `failed`")),
        ("failed", Some(error)) if result.is_none() => Ending::Failed(error),
        ("failed", Some(_)) => return Err(bad_request("`result` goes with the outcome `done`")),
        ("failed", None) => return Err(bad_request("the outcome `failed` needs an `error` that is not blank")),
        (other, _) => {
            return Err(bad_request(format!("unknown outcome {}; accepted: `done`, `failed`", quoted(other))));
        }
    };
    Ok(Act::FinishEffect(FinishEffect { reference, ending }))
}

fn allow_effect_retry(arguments: &mut Arguments) -> Result<Act, Refusal> {
    Ok(Act::AllowEffectRetry { reference: reference(arguments)?, reason: arguments.text("reason")? })
}

fn control(arguments: &mut Arguments) -> Result<Act, Refusal> {
    let named = arguments.required("standing")?;
    let standing = Standing::parse(&named).ok_or_else(|| {
        bad_request(format!("unknown standing {}; accepted: `running`, `paused`, `stopped`", quoted(&named)))
    })?;
    Ok(Act::Control { standing, reason: arguments.text("reason")? })
}

fn tool(arguments: &mut Arguments) -> Result<String, Refusal> {
    let tool = arguments.required("tool")?;
    if tool.len() > MOST_TOOL_BYTES {
        return Err(too_long("tool", tool.len(), MOST_TOOL_BYTES));
    }
    if !is_name(&tool) {
        return Err(bad_request(format!("`tool` {} is no tool name; it must be like `server/tool`", quoted(&tool))));
    }
    Ok(tool)
}

fn reference(arguments: &mut Arguments) -> Result<String, Refusal> {
    let reference = arguments.required("ref")?;
    if reference.len() > MOST_REFERENCE_BYTES {
        return Err(too_long("ref", reference.len(), MOST_REFERENCE_BYTES));
    }
    Ok(reference)
}

fn too_long(name: &str, bytes: usize, most: usize) -> Refusal {
    bad_request(format!("`{name}` has {bytes} bytes, at most {most} are accepted"))
}

/// `{usd?, tokens?}`, none of them negative.
fn cost(arguments: &mut Arguments) -> Result<Option<Totals>, Refusal> {
    let Some(value) = arguments.value("cost") else { return Ok(None) };
    let wrong =
        || bad_request("`cost` must be an object with `usd`, `tokens` or both, as numbers that are not negative");
    let members = value.as_object().ok_or_else(wrong)?;
    let mut totals = Totals::default();
    for (name, amount) in members.iter() {
        let unit = [Unit::Usd, Unit::Tokens].into_iter().find(|unit| unit.as_str() == name).ok_or_else(wrong)?;
        let amount = amount.as_number().copied().filter(|amount| *amount >= Number::Integer(0)).ok_or_else(wrong)?;
        totals.add(unit, amount);
    }
    Ok(Some(totals))
}
