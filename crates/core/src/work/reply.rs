//! What callers are answered (`spec work-orders §9`, `§14.1`).

use alloc::vec::Vec;

use super::record::{OrderRecord, ReportRecord};
use super::{Event, Finding};
use crate::json::{Object, Value};

/// The summary: `{id, state, from, to, goal, deadline, parent_id?, continues?, last_seq}`.
pub(super) fn summary(record: &OrderRecord) -> Object {
    let member = |name: &str| record.order.get(name).cloned();
    Object::new()
        .with_some("id", member("id"))
        .with("state", record.state.as_str())
        .with_some("from", member("from"))
        .with_some("to", member("to"))
        .with_some("goal", member("goal"))
        .with_some("deadline", member("deadline"))
        .with_some("parent_id", member("parent_id"))
        .with_some("continues", member("continues"))
        .with("last_seq", record.last_seq())
}

/// The view: the summary, plus `order`, `latest_report` (or null), `findings`, `events`.
pub(super) fn view(record: &OrderRecord, latest_report: Option<&ReportRecord>) -> Object {
    summary(record)
        .with("order", record.order.clone())
        .with("latest_report", latest_report.map_or(Value::Null, |latest| latest.report.clone()))
        .with("findings", findings(&record.findings))
        .with("events", record.events.iter().map(Event::to_value).collect::<Value>())
}

/// The answer to a report: the summary plus `findings`.
pub(super) fn submitted(record: &OrderRecord, found: &[Finding]) -> Object {
    summary(record).with("findings", findings(found))
}

fn findings(findings: &[Finding]) -> Value {
    Value::Array(findings.iter().map(Finding::to_value).collect::<Vec<_>>())
}
