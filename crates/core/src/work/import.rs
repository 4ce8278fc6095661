//! Orders taken over from another desk: a record `{order, state, reports, events, findings}` (`spec §9`).

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::order::MOST_ID;
use super::record::{OrderRecord, ReportRecord, ReportSummary};
use super::{Action, Event, Finding, State, Totals, text};
use crate::json::{Object, Value};
use crate::principal::MOST_CHARACTERS;

/// Reads a record that is to be taken over.
///
/// # Errors
///
/// A message that says what is not accepted.
pub(super) fn parse(record: &Object) -> Result<(OrderRecord, Vec<ReportRecord>), String> {
    let (imported, reports) =
        read(record).ok_or("the record is not of the form {order, state, reports, events, findings}")?;
    if let Some(event) = imported.events.iter().find(|event| !names_its_effect(event)) {
        let (seq, action) = (event.seq, event.action.as_str());
        return Err(format!("event {seq} is `{action}` and must name one effect in `effects`"));
    }
    let names = [("id", MOST_ID), ("from", MOST_CHARACTERS), ("to", MOST_CHARACTERS), ("escalate_to", MOST_CHARACTERS)];
    for (name, most) in names {
        let length = text(&imported.order, name).chars().count();
        if length > most {
            return Err(format!("the order's `{name}` has {length} characters, at most {most} are accepted"));
        }
    }
    Ok((imported, reports))
}

/// Whether an event about an effect says about which.
fn names_its_effect(event: &Event) -> bool {
    let is_about_one = matches!(
        event.action,
        Action::EffectStart | Action::EffectDone | Action::EffectFailed | Action::AllowEffectRetry
    );
    !is_about_one || event.effects.as_ref().is_some_and(|effects| effects.len() == 1)
}

/// Reads a record as another desk kept it; `None` if it is none.
///
/// What its sub-orders hold is counted as they are taken over in turn.
pub(super) fn read(record: &Object) -> Option<(OrderRecord, Vec<ReportRecord>)> {
    let array = |name| record.get(name).and_then(Value::as_array);
    let order = record.get("order")?.clone();
    let members = order.as_object()?;
    let party = |name| members.str(name).map(Into::into);
    let parties: BTreeSet<_> = ["from", "to", "escalate_to"].into_iter().filter_map(party).collect();
    members.str("id")?;
    let mut reports = Vec::new();
    let mut summaries = Vec::new();
    for (report, attempt) in array("reports").unwrap_or_default().iter().zip(1_u64..) {
        let mut report = report.as_object()?.clone();
        report.insert("attempt", attempt);
        report.insert("order_id", members.str("id")?);
        let report = Value::Object(report);
        summaries.push(ReportSummary::of(&report, attempt));
        reports.push(ReportRecord::imported(report));
    }
    let record = OrderRecord {
        state: State::parse(record.str("state")?)?,
        events: array("events")?.iter().map(Event::from_value).collect::<Option<_>>()?,
        reports: summaries,
        findings: array("findings").unwrap_or_default().iter().map(Finding::from_value).collect::<Option<_>>()?,
        held: Totals::default(),
        parties,
        depth: 0,
        order,
    };
    is_consistent(&record).then_some((record, reports))
}

/// Whether the events number from 1 without a gap and end in the record's state.
fn is_consistent(record: &OrderRecord) -> bool {
    record.events.iter().zip(1_u64..).all(|(event, seq)| event.seq == seq)
        && record.events.last().is_some_and(|event| event.to == record.state)
}
