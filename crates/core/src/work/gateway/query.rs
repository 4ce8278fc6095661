//! What a gateway has done, for whoever asks.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::allowance::{Allowance, limit_of, seconds_worked};
use super::call::{Call, MOST_HELD, remaining};
use crate::arguments::bad_request;
use crate::heart::{Document, Order, Refusal, Scope, Select, View, ViewError};
use crate::json::{Number, Object, Value};
use crate::time::Millis;
use crate::work::record::OrderRecord;
use crate::work::{Totals, UNITS, Unit, shown};

/// `{standing, reason?, by?, since?}`
pub(super) fn standing(allowance: &Allowance) -> Object {
    Object::new()
        .with("order_id", &allowance.order)
        .with("standing", allowance.standing.as_str())
        .with_some("reason", allowance.reason.as_ref())
        .with_some("by", allowance.by.as_ref())
        .with_some("since", allowance.since.as_ref())
}

/// How an order's gateways stand: [`standing`], `{state, attempt, next_n, calls, spent, limits, remaining, tools_used, held}`.
/// `held` has the calls held in the present attempt, in the form that a report's `effects` needs.
pub(in crate::work) fn status(view: &View, record: &OrderRecord, now: Millis) -> Result<Value, ViewError> {
    let order = record.order_id();
    let allowance = view.document(order)?.unwrap_or_else(|| Allowance::unused(order));
    let attempt = record.reworks();
    let held: Vec<Call> = view.select(&Select {
        kind: Call::KIND,
        scope: Scope::Workspace,
        index: Call::HELD,
        value: Call::held_of(order, attempt),
        also: Vec::new(),
        order: Order::Ascending,
        after: None,
        limit: u32::try_from(MOST_HELD).unwrap_or(u32::MAX),
    })?;
    let seconds = Number::Integer(seconds_worked(record, now).into());
    let mut spent = allowance.spent;
    spent.add(Unit::ToolCalls, allowance.spent_of(Unit::ToolCalls));
    spent.add(Unit::Seconds, seconds);
    let mut limits = Object::new();
    for unit in UNITS {
        limits.insert_some(unit.as_str(), limit_of(record, unit));
    }
    Ok(standing(&allowance)
        .with("state", record.state.as_str())
        .with("attempt", attempt)
        .with("next_n", allowance.last_n.saturating_add(1))
        .with("calls", allowance.calls)
        .with("spent", spent.to_value())
        .with("limits", limits)
        .with("remaining", remaining(record, &allowance, now))
        .with("tools_used", allowance.tools_used.iter().map(Value::from).collect::<Value>())
        .with("held", held.iter().map(effect_of).collect::<Value>())
        .into())
}

/// A held call as a report's `effects` has it.
fn effect_of(call: &Call) -> Value {
    Object::new()
        .with("ref", call.reference())
        .with("tool", &call.tool)
        .with_some("arguments", call.arguments.clone())
        .into()
}

/// The calls of an order before a number, the last first: `{calls, next_before}`.
pub(in crate::work) fn calls(
    view: &View,
    record: &OrderRecord,
    before: Option<Number>,
    limit: u32,
) -> Result<Result<Value, Refusal>, ViewError> {
    let order = record.order_id();
    let after = match before.map(Number::to_u64) {
        None => None,
        Some(Some(n)) => Some((format!("{n:020}"), Call::id_of(order, n))),
        Some(None) => {
            let before = before.map(shown).unwrap_or_default();
            return Ok(Err(bad_request(format!("`before` is {before}, must be a call's number"))));
        }
    };
    let mut found: Vec<Call> = view.select(&Select {
        kind: Call::KIND,
        scope: Scope::Workspace,
        index: Call::OF,
        value: order.into(),
        also: Vec::new(),
        order: Order::Descending,
        after,
        limit: limit.saturating_add(1),
    })?;
    let most = usize::try_from(limit).unwrap_or(usize::MAX);
    let more = found.len() > most;
    found.truncate(most);
    let next = found.last().filter(|_| more).map_or(Value::Null, |call| call.n.into());
    let attempt = record.reworks();
    let calls: Value = found.iter().map(|call| shown_call(call, attempt)).collect();
    Ok(Ok(Object::new().with("calls", calls).with("next_before", next).into()))
}

fn shown_call(call: &Call, attempt: u64) -> Value {
    let ended = call.ended.as_ref();
    Object::new()
        .with("n", call.n)
        .with("ref", call.reference())
        .with("tool", &call.tool)
        .with("at", &call.at)
        .with_some("finished_at", ended.map(|ended| &ended.at))
        .with("gateway", &call.gateway)
        .with("staged", call.is_staged())
        .with("attempt", call.attempt)
        .with("state", state(call, attempt))
        .with_some("cost", ended.and_then(|ended| ended.cost.as_ref()).map(Totals::to_value))
        .with_some("error", ended.and_then(|ended| ended.error.as_ref()).map(String::as_str))
        .with_some("arguments", call.arguments.clone())
        .into()
}

/// Rework drops what was held before it: nothing of it ran (`spec §8.1`).
fn state(call: &Call, attempt: u64) -> &'static str {
    match &call.ended {
        _ if call.is_staged() && call.attempt < attempt => "dropped",
        _ if call.is_staged() => "held",
        Some(ended) => ended.outcome.as_str(),
        None => "begun",
    }
}
