//! Calls: asked for, numbered, held or forwarded, and how they went (`spec work-orders §8.1`, `§15.3`).

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::act::{BeginCall, CallOutcome, FinishCall, amounts};
use super::allowance::{Allowance, Exhausted, Standing, limit_of, minus, seconds_worked};
use super::fact::{CallBegun, CallFinished, GatewayFact};
use crate::arguments::bad_request;
use crate::heart::{Document, IndexEntry, Refusal, View, ViewError};
use crate::json::{Number, Object, Value, write_compact};
use crate::time::{self, Millis};
use crate::work::decide::{Outcome, Turn, forbidden, refusal};
use crate::work::record::OrderRecord;
use crate::work::{State, ToolSet, Totals, UNITS, Unit, effect_references, quoted, shown};

/// How soon a call that was never forwarded must be given back to get its units back.
pub const RETURN_SECONDS: u64 = 5;
/// How many calls are held at most in one attempt.
pub const MOST_HELD: u64 = 1_000;
/// How many bytes the arguments of all held calls of one attempt have at most: they must fit a report.
pub const MOST_HELD_BYTES: u64 = 4 << 20;

/// One call that was allowed: journaled.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The order
    pub order: String,
    /// Its number among all calls of the order, from 1
    pub n: u64,
    /// `server/tool`
    pub tool: String,
    /// The number of reworks before it
    pub attempt: u64,
    /// When it was allowed
    pub at: String,
    /// The gateway that asked
    pub gateway: String,
    /// What was reserved for it in `usd` and `tokens`
    pub reserved: Totals,
    /// The arguments of a held call; a call without is forwarded
    pub arguments: Option<Value>,
    /// How it ended
    pub ended: Option<Ended>,
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Ended {
    /// When
    pub at: String,
    /// How
    pub outcome: CallOutcome,
    /// What it cost, if that was said
    pub cost: Option<Totals>,
    /// What went wrong
    pub error: Option<String>,
}

impl Call {
    /// By order.
    pub(super) const OF: &'static str = "order";
    /// Held ones by order and attempt.
    pub(super) const HELD: &'static str = "held";

    /// As a fact has it.
    pub(in crate::work) fn begun(begun: &CallBegun) -> Self {
        Self {
            order: begun.order.clone(),
            n: begun.n,
            tool: begun.tool.clone(),
            attempt: begun.attempt,
            at: begun.at.clone(),
            gateway: begun.gateway.clone(),
            reserved: begun.reserved,
            arguments: begun.arguments.clone(),
            ended: None,
        }
    }

    /// As reports and evidence name it: `server/tool#n` (`spec §8.3`).
    pub fn reference(&self) -> String {
        reference(&self.tool, self.n)
    }

    /// Whether it is held rather than forwarded.
    pub fn is_staged(&self) -> bool {
        self.arguments.is_some()
    }

    /// The id of an order's call.
    pub(super) fn id_of(order: &str, n: u64) -> String {
        format!("{order}#{n}")
    }

    /// The value under which held calls of an attempt are found.
    pub(super) fn held_of(order: &str, attempt: u64) -> String {
        format!("{order}#{attempt}")
    }
}

/// `server/tool#n`
pub(super) fn reference(tool: &str, n: u64) -> String {
    format!("{tool}#{n}")
}

/// The call number in a reference, if it has the form of one.
pub(super) fn number_of(reference: &str) -> Option<u64> {
    let (tool, _) = reference.rsplit_once('#')?;
    let digits = reference.get(tool.len().saturating_add(1)..)?;
    crate::work::is_ref_of(reference, tool).then(|| digits.parse().ok())?
}

/// How many bytes a held call's arguments have.
pub(super) fn bytes_of(arguments: &Value) -> u64 {
    u64::try_from(write_compact(arguments).len()).unwrap_or(u64::MAX)
}

/// Checks a call in the order of `spec §15.3` and gives it a number.
pub(super) fn begin(view: &View, turn: Turn<'_>, begin: &BeginCall) -> Result<Outcome, ViewError> {
    let order = turn.record.order_id();
    let allowance = view.document(order)?.unwrap_or_else(|| Allowance::unused(order));
    let staged = ToolSet::of(turn.record.order.get("staged")).allows(&begin.tool);
    let checked = match check(&turn, &allowance, begin, staged) {
        Ok(()) => check_references(view, &turn.record, begin, staged)?,
        refused => refused,
    };
    if let Err(refusal) = checked {
        return Ok(Outcome { facts: turn.facts, reply: Err(refusal) });
    }
    let begun = CallBegun {
        order: order.into(),
        n: allowance.last_n.saturating_add(1),
        tool: begin.tool.clone(),
        attempt: turn.record.reworks(),
        at: time::format(turn.context.now),
        gateway: turn.context.principal.id.clone(),
        reserved: begin.reserve,
        arguments: begin.arguments.clone(),
    };
    let mut after = allowance;
    after.begun(&begun);
    let reply = Object::new()
        .with("n", begun.n)
        .with("ref", reference(&begun.tool, begun.n))
        .with("staged", staged)
        .with("at", &begun.at)
        .with("remaining", remaining(&turn.record, &after, turn.context.now));
    let mut facts = turn.facts;
    facts.push(GatewayFact::CallBegun(begun).into());
    Ok(Outcome::accept(facts, reply))
}

fn check(turn: &Turn<'_>, allowance: &Allowance, begin: &BeginCall, staged: bool) -> Result<(), Refusal> {
    let record = &turn.record;
    let id = quoted(record.order_id());
    if record.state == State::Expired && record.deadline().is_none_or(|deadline| turn.context.now > deadline) {
        return Err(refusal("DEADLINE_PASSED", format!("the deadline of order {id} has passed")));
    }
    if record.state != State::Working {
        let message = format!("order {id} is {}; calls are allowed while it is working", record.state);
        return Err(refusal("INVALID_TRANSITION", message));
    }
    check_standing(allowance)?;
    if !ToolSet::of(record.order.get("tools")).allows(&begin.tool) {
        return Err(forbidden(format!("order {id} does not allow the tool {}", quoted(&begin.tool))));
    }
    allowance
        .check(record, &begin.reserve, turn.context.now)
        .map_err(|Exhausted { unit, limit, spent }| exceeded(unit, limit, spent))?;
    match &begin.arguments {
        Some(_) if !staged => Err(bad_request("`arguments` go with staged tools only; send `references`")),
        None if staged => {
            Err(bad_request(format!("`arguments` is missing; calls of {} are held", quoted(&begin.tool))))
        }
        Some(_) if !begin.references.is_empty() => {
            Err(bad_request("`references` go with tools that are not staged; of a held call the arguments are read"))
        }
        Some(arguments) => {
            let (held, bytes) = allowance.held_in(record.reworks());
            check_room(held, bytes, arguments).map(|_| ())
        }
        None => Ok(()),
    }
}

/// Refuses while the gateways are held up.
pub(in crate::work) fn check_standing(allowance: &Allowance) -> Result<(), Refusal> {
    let (code, word, then) = match allowance.standing {
        Standing::Running => return Ok(()),
        Standing::Paused => ("PAUSED", "paused", "it goes on when somebody resumes it"),
        Standing::Stopped => ("STOPPED", "stopped", "report with what there is"),
    };
    let by = allowance.by.as_deref().unwrap_or_default();
    let why = allowance.reason.as_deref().map_or_else(String::new, |reason| format!(": {reason}"));
    Err(refusal(code, format!("{} {word} this work{why}; {then}", quoted(by))))
}

pub(super) fn exceeded(unit: Unit, limit: Number, spent: Number) -> Refusal {
    let name = unit.as_str();
    refusal(
        "BUDGET_EXCEEDED",
        format!("{} {name} of {} are spent; report with what there is", shown(spent), shown(limit)),
    )
    .with("unit", name)
    .with("limit", limit)
    .with("spent", spent)
}

/// Whether so many held calls, whose arguments have so many bytes, leave room for another; gives the bytes with it.
pub(super) fn check_room(held: u64, bytes: u64, arguments: &Value) -> Result<u64, Refusal> {
    if held >= MOST_HELD {
        return Err(bad_request(format!("{held} calls are held, at most {MOST_HELD} can be")));
    }
    let bytes = bytes.saturating_add(bytes_of(arguments));
    if bytes > MOST_HELD_BYTES {
        let message = format!(
            "with this call the arguments of held calls would have {bytes} bytes, at most {MOST_HELD_BYTES} can be held"
        );
        return Err(bad_request(message));
    }
    Ok(bytes)
}

pub(super) fn not_held_reference(name: &str) -> Refusal {
    bad_request(format!("the arguments refer to {}, which is no call that is held before", quoted(name)))
}

pub(super) fn held_reference(name: &str) -> Refusal {
    bad_request(format!(
        "the arguments refer to {}, which is held and has no result before it is approved; \
         this tool is not staged and would run at once",
        quoted(name)
    ))
}

/// A held call may use the results of calls that are held before it; a forwarded one may use none, for there is no result yet.
fn check_references(
    view: &View,
    record: &OrderRecord,
    begin: &BeginCall,
    staged: bool,
) -> Result<Result<(), Refusal>, ViewError> {
    let named: BTreeSet<&str> = match &begin.arguments {
        Some(arguments) => effect_references(arguments).into_iter().map(|reference| reference.effect).collect(),
        None => begin.references.iter().map(String::as_str).collect(),
    };
    let order = record.order_id();
    let ids: Vec<String> = named.iter().filter_map(|name| Some(Call::id_of(order, number_of(name)?))).collect();
    let calls: Vec<Call> = view.documents(&ids)?;
    let held: BTreeSet<String> =
        calls.iter().filter(|call| call.is_staged() && call.attempt == record.reworks()).map(Call::reference).collect();
    let wrong = named.into_iter().find(|name| held.contains(*name) != staged);
    Ok(match wrong {
        Some(name) if staged => Err(not_held_reference(name)),
        Some(name) => Err(held_reference(name)),
        None => Ok(()),
    })
}

/// Takes note of how a call went.
pub(super) fn finish(view: &View, turn: Turn<'_>, finish: &FinishCall) -> Result<Outcome, ViewError> {
    let order = turn.record.order_id();
    let n = finish.n;
    let refuse = |facts, refusal: Refusal| Ok(Outcome { facts, reply: Err(refusal) });
    let Some(call) = view.document::<Call>(&Call::id_of(order, n))? else {
        let missing = refusal("NOT_FOUND", format!("order {} has no call {n}", quoted(order)));
        return refuse(turn.facts, missing);
    };
    if call.is_staged() {
        let held = bad_request(format!("call {n} is held; it ends when its effect does"));
        return refuse(turn.facts, held);
    }
    let reply = Object::new().with("n", n).with("ref", call.reference()).with("outcome", finish.outcome.as_str());
    if let Some(ended) = &call.ended {
        if ended.outcome == finish.outcome {
            return Ok(Outcome::accept(turn.facts, reply));
        }
        let message = format!("call {n} has ended as `{}` already", ended.outcome.as_str());
        return refuse(turn.facts, refusal("CONFLICT", message));
    }
    let now = turn.context.now;
    let until = time::instant(&call.at).map(|at| at.saturating_add_seconds(RETURN_SECONDS));
    let is_released = finish.outcome == CallOutcome::Returned && until.is_some_and(|until| now <= until);
    let finished = CallFinished {
        order: order.into(),
        n,
        at: time::format(now),
        outcome: finish.outcome,
        is_released,
        cost: finish.cost,
        error: finish.error.clone(),
    };
    let mut facts = turn.facts;
    facts.push(GatewayFact::CallFinished(finished).into());
    Ok(Outcome::accept(facts, reply.with("released", is_released)))
}

/// What is left in each unit that the order limits.
pub(super) fn remaining(record: &OrderRecord, allowance: &Allowance, now: Millis) -> Value {
    let mut left = Object::new();
    for unit in UNITS {
        let Some(limit) = limit_of(record, unit) else { continue };
        let spent = match unit {
            Unit::Seconds => Number::Integer(seconds_worked(record, now).into()),
            unit => allowance.spent_of(unit),
        };
        left.insert(unit.as_str(), minus(limit, spent));
    }
    left.into()
}

impl Document for Call {
    const KIND: &'static str = "call";

    fn id(&self) -> String {
        Self::id_of(&self.order, self.n)
    }

    fn version(&self) -> u64 {
        if self.ended.is_some() { 2 } else { 1 }
    }

    fn to_value(&self) -> Value {
        let of = Object::new()
            .with("order", &self.order)
            .with("n", self.n)
            .with("tool", &self.tool)
            .with("attempt", self.attempt)
            .with("at", &self.at)
            .with("gateway", &self.gateway)
            .with_some("reserved", amounts(&self.reserved))
            .with_some("arguments", self.arguments.clone());
        let Some(ended) = &self.ended else { return of.into() };
        of.with("finished_at", &ended.at)
            .with("outcome", ended.outcome.as_str())
            .with_some("cost", ended.cost.as_ref().map(Totals::to_value))
            .with_some("error", ended.error.as_ref())
            .into()
    }

    fn from_value(value: Value) -> Option<Self> {
        let string = |name| value.get(name).and_then(Value::as_str).map(String::from);
        let count = |name| value.get(name)?.as_number()?.to_u64();
        Some(Self {
            order: string("order")?,
            n: count("n")?,
            tool: string("tool")?,
            attempt: count("attempt")?,
            at: string("at")?,
            gateway: string("gateway")?,
            reserved: value.get("reserved").map(Totals::from_value).unwrap_or_default(),
            arguments: value.get("arguments").cloned(),
            ended: match string("outcome") {
                None => None,
                Some(outcome) => Some(Ended {
                    at: string("finished_at")?,
                    outcome: CallOutcome::parse(&outcome)?,
                    cost: value.get("cost").map(Totals::from_value),
                    error: string("error"),
                }),
            },
        })
    }

    fn index(&self) -> Vec<IndexEntry> {
        // All numbers of 64 bits have 20 digits at most.
        let sort = format!("{:020}", self.n);
        let mut entries = Vec::from([IndexEntry::new(Self::OF, &*self.order, &*sort)]);
        if self.is_staged() {
            entries.push(IndexEntry::new(Self::HELD, Self::held_of(&self.order, self.attempt), sort));
        }
        entries
    }
}
