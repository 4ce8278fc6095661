//! Documents of this capability: the order with its history, and its reports.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::fact::{Opened, Reported, read_findings};
use super::{Action, Event, Finding, State, Totals, text};
use crate::heart::{Document, IndexEntry};
use crate::json::{Object, Value};
use crate::time::{self, Millis};

/// An order and its history: journaled, one document per order. Its version is the `seq` of its last event.
#[derive(Debug, Clone, PartialEq)]
pub struct OrderRecord {
    /// The order document
    pub order: Value,
    /// Where it stands
    pub state: State,
    /// Every transition
    pub events: Vec<Event>,
    /// What each report said, in short; the documents themselves are [`ReportRecord`]s
    pub reports: Vec<ReportSummary>,
    /// The findings of the last accepted report: limits
    pub findings: Vec<Finding>,
    /// What its sub-orders hold of its budget
    pub held: Totals,
    /// Everybody who is a party to this order or one above it
    pub parties: BTreeSet<String>,
    /// How many orders stand above it
    pub depth: u64,
}

/// A report, in short.
#[derive(Debug, Clone, PartialEq)]
pub struct ReportSummary {
    /// 1 for the first
    pub attempt: u64,
    /// `done`, `failed` or `blocked`
    pub status: String,
    /// The order's cost so far
    pub cost: Value,
}

/// A stored report: journaled, never changed.
#[derive(Debug, Clone, PartialEq)]
pub struct ReportRecord {
    /// The report document
    pub report: Value,
}

impl OrderRecord {
    /// A record that has only just begun: no event yet.
    pub(super) fn open(opened: &Opened, parent: Option<&Self>) -> Self {
        let order: Value = opened.document().into();
        let mut parties = parent.map(|parent| parent.parties.clone()).unwrap_or_default();
        parties.extend(
            ["from", "to", "escalate_to"].into_iter().filter_map(|name| order.get(name)?.as_str().map(String::from)),
        );
        Self {
            state: State::Offered,
            events: Vec::new(),
            reports: Vec::new(),
            findings: Vec::new(),
            held: Totals::default(),
            parties,
            depth: parent.map_or(0, |parent| parent.depth.saturating_add(1)),
            order,
        }
    }

    /// Goes through a transition.
    pub(super) fn moved(&mut self, event: &Event) {
        self.state = event.to;
        self.events.push(event.clone());
    }

    /// Takes note of an accepted report.
    pub(super) fn reported(&mut self, reported: &Reported) -> ReportRecord {
        let report: Value = reported.document().into();
        self.reports.push(ReportSummary::of(&report, reported.attempt));
        self.findings.clone_from(&reported.findings);
        ReportRecord { report }
    }

    /// The order's id.
    pub fn order_id(&self) -> &str {
        text(&self.order, "id")
    }

    /// The manager.
    pub fn manager(&self) -> &str {
        text(&self.order, "from")
    }

    /// The worker.
    pub fn worker(&self) -> &str {
        text(&self.order, "to")
    }

    /// Who answers a blocked worker besides the manager.
    pub fn escalation(&self) -> Option<&str> {
        self.order.get("escalate_to").and_then(Value::as_str)
    }

    /// The order above it.
    pub fn parent(&self) -> Option<&str> {
        self.order.get("parent_id").and_then(Value::as_str)
    }

    /// The `seq` of its last event.
    pub fn last_seq(&self) -> u64 {
        self.events.last().map_or(0, |event| event.seq)
    }

    /// Whether it was ever sent back to work.
    pub fn reworks(&self) -> u64 {
        let reworks = self.events.iter().filter(|event| event.action == Action::Rework).count();
        u64::try_from(reworks).unwrap_or(u64::MAX)
    }

    /// Whether the deadline has passed: strictly, and a deadline that names no known instant has always passed
    /// (`spec §4.2`, `§7.4`).
    pub fn is_overdue(&self, now: Millis) -> bool {
        !self.state.is_terminal() && self.deadline().is_none_or(|deadline| now > deadline)
    }

    /// The deadline; `None` if it names no certain instant.
    pub(super) fn deadline(&self) -> Option<Millis> {
        time::instant(text(&self.order, "deadline"))
    }

    /// Until when passes of this order, or of one below it, could be alive though it was called off or ran into a limit.
    fn revoked_until(&self) -> Option<Millis> {
        let is_revoked = matches!(self.state, State::Cancelled | State::Expired);
        let (deadline, ended) = (self.deadline()?, self.events.last()?);
        let had_begun = self.events.iter().any(|event| event.to == State::Working);
        let is_early = time::instant(&ended.at).is_none_or(|ended| ended < deadline);
        (is_revoked && had_begun && is_early).then_some(deadline)
    }

    /// The key of the last report, if there is one.
    pub fn last_report_id(&self) -> Option<String> {
        self.reports.last().map(|report| report_id(self.order_id(), report.attempt))
    }
}

/// The id of an order's report: `<order>#<attempt>`.
fn report_id(order: &str, attempt: u64) -> String {
    format!("{order}#{attempt}")
}

impl ReportSummary {
    pub(super) fn of(report: &Value, attempt: u64) -> Self {
        Self {
            attempt,
            status: text(report, "status").to_string(),
            cost: report.get("cost").cloned().unwrap_or(Value::Object(Object::new())),
        }
    }

    fn to_value(&self) -> Value {
        Object::new().with("attempt", self.attempt).with("status", &self.status).with("cost", self.cost.clone()).into()
    }

    fn from_value(value: &Value) -> Option<Self> {
        Some(Self {
            attempt: value.get("attempt")?.as_number()?.to_u64()?,
            status: value.get("status")?.as_str()?.into(),
            cost: value.get("cost")?.clone(),
        })
    }
}

/// The indexes under which orders are found. The `sort` is `created_at`.
pub(super) mod index {
    /// Every order
    pub(in crate::work) const ALL: &str = "all";
    /// By worker
    pub(in crate::work) const TO: &str = "to";
    /// By manager
    pub(in crate::work) const FROM: &str = "from";
    /// By state
    pub(in crate::work) const STATE: &str = "state";
    /// By the order above
    pub(in crate::work) const PARENT: &str = "parent";
    /// By the order picked up from
    pub(in crate::work) const CONTINUES: &str = "continues";
    /// Active orders by the order picked up from
    pub(in crate::work) const CONTINUES_ACTIVE: &str = "continues_active";
    /// Orders that ended before their deadline after work had begun: their passes no longer count. The `sort` is the
    /// deadline.
    pub(in crate::work) const REVOKED: &str = "revoked";
    /// By each party to it or an order above it
    pub(in crate::work) const PARTY: &str = "party";
}

impl Document for OrderRecord {
    const KIND: &'static str = "order";

    fn id(&self) -> String {
        self.order_id().into()
    }

    fn version(&self) -> u64 {
        self.last_seq()
    }

    fn to_value(&self) -> Value {
        Object::new()
            .with("order", self.order.clone())
            .with("state", self.state.as_str())
            .with("events", self.events.iter().map(Event::to_value).collect::<Value>())
            .with("reports", self.reports.iter().map(ReportSummary::to_value).collect::<Value>())
            .with("findings", self.findings.iter().map(Finding::to_value).collect::<Value>())
            .with("held", self.held.to_value())
            .with("parties", self.parties.iter().map(Value::from).collect::<Value>())
            .with("depth", self.depth)
            .into()
    }

    fn from_value(value: Value) -> Option<Self> {
        let array = |name| value.get(name).and_then(Value::as_array);
        Some(Self {
            order: value.get("order")?.clone(),
            state: State::parse(value.get("state")?.as_str()?)?,
            events: array("events")?.iter().map(Event::from_value).collect::<Option<_>>()?,
            reports: array("reports")?.iter().map(ReportSummary::from_value).collect::<Option<_>>()?,
            findings: read_findings(value.get("findings")?)?,
            held: Totals::from_value(value.get("held")?),
            parties: array("parties")?.iter().map(|p| p.as_str().map(Into::into)).collect::<Option<_>>()?,
            depth: value.get("depth")?.as_number()?.to_u64()?,
        })
    }

    fn index(&self) -> Vec<IndexEntry> {
        let created_at = text(&self.order, "created_at");
        let entry = |name, value: &str| IndexEntry::new(name, value, created_at);
        let mut entries = Vec::from([
            entry(index::ALL, ""),
            entry(index::TO, self.worker()),
            entry(index::FROM, self.manager()),
            entry(index::STATE, self.state.as_str()),
        ]);
        entries.extend(self.parent().map(|parent| entry(index::PARENT, parent)));
        entries.extend(self.parties.iter().map(|party| entry(index::PARTY, party)));
        let active = !self.state.is_terminal();
        if let Some(target) = self.order.get("continues").and_then(Value::as_str) {
            entries.push(entry(index::CONTINUES, target));
            entries.extend(active.then(|| entry(index::CONTINUES_ACTIVE, target)));
        }
        if let Some(until) = self.revoked_until() {
            entries.push(IndexEntry::new(index::REVOKED, "", time::format(until)));
        }
        if active {
            let due = self.deadline().map_or_else(String::new, time::format);
            entries.push(IndexEntry::new(IndexEntry::DUE, "", due));
        }
        entries
    }
}

impl Document for ReportRecord {
    const KIND: &'static str = "report";

    fn id(&self) -> String {
        let attempt = self.report.get("attempt").and_then(Value::as_number).and_then(|number| number.to_u64());
        report_id(text(&self.report, "order_id"), attempt.unwrap_or(0))
    }

    fn version(&self) -> u64 {
        1
    }

    fn to_value(&self) -> Value {
        self.report.clone()
    }

    fn from_value(value: Value) -> Option<Self> {
        value.as_object().is_some().then_some(Self { report: value })
    }

    fn index(&self) -> Vec<IndexEntry> {
        Vec::new()
    }
}
