//! What an agent has done so far (`spec work-orders §10`).

use alloc::string::String;
use alloc::vec::Vec;

use super::record::{OrderRecord, ReportSummary};
use super::{Action, Event, State, Totals};
use crate::heart::{Document, IndexEntry};
use crate::json::{Object, Value};

/// An agent's track record: journaled, kept as orders go along, so that reading it costs the same however many
/// orders there were.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TrackRecord {
    /// The agent
    pub agent: String,
    version: u64,
    orders: u64,
    active: u64,
    approved: u64,
    approved_first_time: u64,
    declined: u64,
    expired: u64,
    cancelled: u64,
    reworks: u64,
    reports: u64,
    failed: u64,
    blocked: u64,
    spent: Totals,
    budget: Totals,
}

impl TrackRecord {
    /// Everybody's, by agent.
    pub(super) const ALL: &'static str = "all";

    /// The record of an agent who was never given an order.
    pub fn empty(agent: &str) -> Self {
        Self { agent: agent.into(), ..Self::default() }
    }

    /// An order was addressed to the agent.
    pub(super) fn opened(&mut self, order: &Value) {
        self.version = self.version.saturating_add(1);
        self.orders = self.orders.saturating_add(1);
        self.active = self.active.saturating_add(1);
        self.budget.add_all(order.get("budget"));
    }

    /// One of its orders went through a transition; `record` is the order afterwards.
    pub(super) fn moved(&mut self, event: &Event, record: &OrderRecord) {
        self.version = self.version.saturating_add(1);
        if event.action == Action::Rework {
            self.reworks = self.reworks.saturating_add(1);
        }
        if event.from == Some(event.to) || !event.to.is_terminal() {
            return;
        }
        self.active = self.active.saturating_sub(1);
        let count = match event.to {
            State::Approved => &mut self.approved,
            State::Declined => &mut self.declined,
            State::Expired => &mut self.expired,
            _ => &mut self.cancelled,
        };
        *count = count.saturating_add(1);
        if event.to == State::Approved && record.reworks() == 0 {
            self.approved_first_time = self.approved_first_time.saturating_add(1);
        }
    }

    /// One of its reports was accepted. A cost is the order's running total, so it replaces the one before.
    pub(super) fn reported(&mut self, before: Option<&ReportSummary>, report: &ReportSummary) {
        self.version = self.version.saturating_add(1);
        self.reports = self.reports.saturating_add(1);
        match report.status.as_str() {
            "failed" => self.failed = self.failed.saturating_add(1),
            "blocked" => self.blocked = self.blocked.saturating_add(1),
            _ => {}
        }
        self.spent.subtract_all(before.map(|before| &before.cost));
        self.spent.add_all(Some(&report.cost));
    }

    /// As `get_track_record` answers it.
    pub fn to_reply(&self) -> Object {
        Object::new()
            .with("agent", &self.agent)
            .with("orders", self.orders)
            .with("active", self.active)
            .with("approved", self.approved)
            .with("approved_first_time", self.approved_first_time)
            .with("declined", self.declined)
            .with("expired", self.expired)
            .with("cancelled", self.cancelled)
            .with("reworks", self.reworks)
            .with("reports", self.reports)
            .with("failed", self.failed)
            .with("blocked", self.blocked)
            .with("spent", self.spent.to_value())
            .with("budget", self.budget.to_value())
    }
}

impl Document for TrackRecord {
    const KIND: &'static str = "track_record";

    fn id(&self) -> String {
        self.agent.clone()
    }

    fn version(&self) -> u64 {
        self.version
    }

    fn to_value(&self) -> Value {
        self.to_reply().with("version", self.version).into()
    }

    fn from_value(value: Value) -> Option<Self> {
        let count = |name| value.get(name)?.as_number()?.to_u64();
        Some(Self {
            agent: value.get("agent")?.as_str()?.into(),
            version: count("version")?,
            orders: count("orders")?,
            active: count("active")?,
            approved: count("approved")?,
            approved_first_time: count("approved_first_time")?,
            declined: count("declined")?,
            expired: count("expired")?,
            cancelled: count("cancelled")?,
            reworks: count("reworks")?,
            reports: count("reports")?,
            failed: count("failed")?,
            blocked: count("blocked")?,
            spent: Totals::from_value(value.get("spent")?),
            budget: Totals::from_value(value.get("budget")?),
        })
    }

    fn index(&self) -> Vec<IndexEntry> {
        Vec::from([IndexEntry::new(Self::ALL, "", "")])
    }
}
