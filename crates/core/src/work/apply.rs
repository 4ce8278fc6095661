//! What facts do to documents. The only way that they change.

use alloc::string::String;
use alloc::vec::Vec;

use super::amounts::{hold, release};
use super::fact::{Fact, Opened, Reported};
use super::record::{OrderRecord, ReportRecord, ReportSummary};
use super::track_record::TrackRecord;
use super::{Event, State, gateway, import, text};
use crate::heart::{Document, Draft, Key, ViewError};
use crate::json::Value;
use crate::principal::is_person;
use crate::time;
use crate::waiting::Waiting;

/// Applies a fact.
pub(crate) fn apply(draft: &mut Draft<'_>, fact: &Fact) -> Result<(), ViewError> {
    match fact {
        Fact::Opened(opened) => open(draft, opened),
        Fact::Moved { order, event } => moved(draft, order, event),
        Fact::Reported(reported) => report(draft, reported),
        Fact::Gateway(fact) => fact.apply(draft),
        Fact::Imported { record } => take_over(draft, record),
    }
}

fn open(draft: &mut Draft<'_>, opened: &Opened) -> Result<(), ViewError> {
    let parent: Option<OrderRecord> = match opened.input.str("parent_id") {
        Some(parent) => draft.document(parent)?,
        None => None,
    };
    let record = OrderRecord::open(opened, parent.as_ref());
    draft.put(&record)?;
    hold_of_parent(draft, parent, &record.order)?;
    with_track_record(draft, record.worker(), |track| track.opened(&record.order))
}

fn hold_of_parent(draft: &mut Draft<'_>, parent: Option<OrderRecord>, order: &Value) -> Result<(), ViewError> {
    match parent {
        Some(mut parent) => {
            hold(&mut parent.held, order);
            draft.put(&parent)
        }
        None => Ok(()),
    }
}

fn moved(draft: &mut Draft<'_>, order: &str, event: &Event) -> Result<(), ViewError> {
    let Some(mut record) = draft.document::<OrderRecord>(order)? else { return Ok(()) };
    record.moved(event);
    draft.put(&record)?;
    if event.to == State::Declined
        && let Some(parent) = record.parent()
        && let Some(mut parent) = draft.document::<OrderRecord>(parent)?
    {
        release(&mut parent.held, &record.order);
        draft.put(&parent)?;
    }
    gateway::effect_moved(draft, order, event)?;
    with_track_record(draft, record.worker(), |track| track.moved(event, &record))?;
    update_waiting(draft, &record, &event.at)
}

fn report(draft: &mut Draft<'_>, reported: &Reported) -> Result<(), ViewError> {
    let Some(mut record) = draft.document::<OrderRecord>(&reported.order)? else { return Ok(()) };
    let before = record.reports.last().cloned();
    draft.put(&record.reported(reported))?;
    draft.put(&record)?;
    with_track_record(draft, record.worker(), |track| {
        if let Some(summary) = record.reports.last() {
            track.reported(before.as_ref(), summary);
        }
    })
}

fn take_over(draft: &mut Draft<'_>, record: &crate::json::Object) -> Result<(), ViewError> {
    let Some((record, reports)) = import::read(record) else { return Ok(()) };
    for report in &reports {
        draft.put(report)?;
    }
    let parent: Option<OrderRecord> = match record.parent() {
        Some(parent) => draft.document(parent)?,
        None => None,
    };
    draft.put(&record)?;
    if record.state.holds_budget() {
        hold_of_parent(draft, parent, &record.order)?;
    }
    with_track_record(draft, record.worker(), |track| {
        track.opened(&record.order);
        let mut before: Option<&ReportSummary> = None;
        for summary in &record.reports {
            track.reported(before, summary);
            before = Some(summary);
        }
        for event in &record.events {
            track.moved(event, &record);
        }
    })?;
    for event in &record.events {
        gateway::effect_moved(draft, record.order_id(), event)?;
    }
    let at = record.events.last().map_or_else(String::new, |event| event.at.clone());
    update_waiting(draft, &record, &at)
}

fn with_track_record(
    draft: &mut Draft<'_>,
    agent: &str,
    change: impl FnOnce(&mut TrackRecord),
) -> Result<(), ViewError> {
    let mut track = draft.document(agent)?.unwrap_or_else(|| TrackRecord::empty(agent));
    change(&mut track);
    draft.put(&track)
}

/// Keeps what waits for a person in step with an order's state.
fn update_waiting(draft: &mut Draft<'_>, record: &OrderRecord, since: &str) -> Result<(), ViewError> {
    let about = Key::of::<OrderRecord>(record.order_id());
    let (ask, of): (_, Vec<&str>) = match record.state {
        State::Submitted => ("review", Vec::from([record.manager()])),
        State::Blocked => ("answer", [Some(record.manager()), record.escalation()].into_iter().flatten().collect()),
        _ => ("", Vec::new()),
    };
    let mut of: Vec<String> = of.into_iter().filter(|id| is_person(id)).map(String::from).collect();
    of.dedup();
    if of.is_empty() {
        return match draft.document::<Waiting>(&Waiting::id_of(&about))? {
            Some(waiting) => draft.remove::<Waiting>(&waiting.id()),
            None => Ok(()),
        };
    }
    draft.put(&Waiting {
        version: record.last_seq(),
        about,
        ask: ask.into(),
        of,
        from: Some(record.manager().into()),
        to: Some(record.worker().into()),
        title: text(&record.order, "goal").chars().take(200).collect(),
        since: since.into(),
        due: time::instant(text(&record.order, "deadline")).map_or_else(String::new, time::format),
    })
}

impl ReportRecord {
    /// A report of an imported record.
    pub(super) fn imported(report: Value) -> Self {
        Self { report }
    }
}
