//! What callers are answered (`spec work-orders §9`, `§14.1`).

use alloc::vec::Vec;

use super::record::{OrderRecord, ReportRecord};
use super::{Event, Finding, State};
use crate::json::{Object, Value};

/// The summary: `{id, state, from, to, goal, deadline, parent_id?, continues?, last_seq}`.
pub(super) fn summary(record: &OrderRecord) -> Object {
    summary_of(&record.order, record.state, record.last_seq())
}

/// The summary of a record as clients keep it: an object with `order`, `state` and `events` (`spec §9`). `None` if it is
/// not of that form.
pub fn summarize(record: &Value) -> Option<Object> {
    let order = record.get("order").filter(|order| order.as_object().is_some())?;
    let state = State::parse(record.get("state")?.as_str()?)?;
    Some(summary_of(order, state, last_seq(record)?))
}

/// The `seq` of the last of a record's `events`, 0 when there are none (`spec §7.3`). `None` if they are not of their form.
pub fn last_seq(record: &Value) -> Option<u64> {
    match record.get("events")?.as_array()?.last() {
        Some(event) => event.get("seq")?.as_number()?.to_u64(),
        None => Some(0),
    }
}

fn summary_of(order: &Value, state: State, last_seq: u64) -> Object {
    let member = |name: &str| order.get(name).cloned();
    Object::new()
        .with_some("id", member("id"))
        .with("state", state.as_str())
        .with_some("from", member("from"))
        .with_some("to", member("to"))
        .with_some("goal", member("goal"))
        .with_some("deadline", member("deadline"))
        .with_some("parent_id", member("parent_id"))
        .with_some("continues", member("continues"))
        .with("last_seq", last_seq)
}

/// The view: the summary, plus `order`, `latest_report` (or null), `findings`, `events`, and `effects` where some were
/// approved.
pub(super) fn view(record: &OrderRecord, latest_report: Option<&ReportRecord>, effects: Option<Value>) -> Object {
    summary(record)
        .with("order", record.order.clone())
        .with("latest_report", latest_report.map_or(Value::Null, |latest| latest.report.clone()))
        .with("findings", findings(&record.findings))
        .with("events", record.events.iter().map(Event::to_value).collect::<Value>())
        .with_some("effects", effects)
}

/// The answer to a report: the summary plus `findings`.
pub(super) fn submitted(record: &OrderRecord, found: &[Finding]) -> Object {
    summary(record).with("findings", findings(found))
}

fn findings(findings: &[Finding]) -> Value {
    Value::Array(findings.iter().map(Finding::to_value).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(events: Value) -> Value {
        let order =
            Object::new().with("id", "wo_1").with("to", "agent:a").with("goal", "g").with("budget", Object::new());
        Object::new().with("order", order).with("state", "working").with("events", events).into()
    }

    #[test]
    fn a_summary_has_what_the_order_has_and_the_last_event() {
        let event = Object::new().with("seq", 7_u64);
        let summary = summarize(&record(Value::Array([event.into()].into()))).unwrap();
        let expected =
            Object::new().with("id", "wo_1").with("state", "working").with("to", "agent:a").with("goal", "g");
        assert_eq!(summary, expected.with("last_seq", 7_u64));
    }

    #[test]
    fn a_record_without_events_is_at_0() {
        assert_eq!(last_seq(&record(Value::Array(Vec::new()))), Some(0));
    }

    #[test]
    fn what_is_no_record_has_no_summary() {
        let unknown = Object::new()
            .with("order", Object::new())
            .with("state", "resting")
            .with("events", Value::Array(Vec::new()));
        assert_eq!(summarize(&unknown.into()), None);
        assert_eq!(summarize(&record(Value::Null)), None);
        assert_eq!(last_seq(&record(Value::Array([Value::Null].into()))), None);
    }
}
