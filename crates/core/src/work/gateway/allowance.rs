//! What an order's gateways have used so far, and whether they may go on.

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

use super::call::Call;
use super::fact::{CallBegun, CallFinished, Controlled};
use crate::heart::{Document, IndexEntry};
use crate::json::{Number, Object, Value};
use crate::time::{self, Millis};
use crate::work::record::OrderRecord;
use crate::work::{State, Totals, Unit};

/// The most different tools of an order that are listed as used.
const MOST_TOOLS: usize = 1_000;

/// What an order's gateways have used: journaled, one document for each order of which there was a call or that was held up.
#[derive(Debug, Clone, PartialEq)]
pub struct Allowance {
    /// The order
    pub order: String,
    version: u64,
    /// The number that the last call got, 0 before the first
    pub last_n: u64,
    /// Calls that count: all but those that were returned
    pub calls: u64,
    /// `usd` and `tokens`: what calls cost, or have reserved
    pub spent: Totals,
    /// Every tool that was called
    pub tools_used: BTreeSet<String>,
    /// The attempt in which calls were held last
    held_attempt: u64,
    /// How many it holds
    pub(super) held: u64,
    /// How many bytes their arguments have
    pub(super) held_bytes: u64,
    /// Whether the gateways may go on
    pub standing: Standing,
    /// Why
    pub reason: Option<String>,
    /// Who said so
    pub by: Option<String>,
    /// When
    pub since: Option<String>,
    /// While stopped: until when passes of the order, or of one below it, could be alive
    stopped_until: Option<Millis>,
}

/// Whether an order's gateways may go on, the strictest last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Standing {
    /// They may
    #[default]
    Running,
    /// Not until somebody lets them
    Paused,
    /// Not until the manager lets them
    Stopped,
}

impl Standing {
    const ALL: [Self; 3] = [Self::Running, Self::Paused, Self::Stopped];

    /// The stable name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Stopped => "stopped",
        }
    }

    /// The standing of this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|standing| standing.as_str() == name)
    }
}

/// A unit of which there is no more.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Exhausted {
    pub(super) unit: Unit,
    pub(super) limit: Number,
    pub(super) spent: Number,
}

impl Allowance {
    /// The index of those that are stopped. The `sort` is the order's deadline.
    pub(in crate::work) const STOPPED: &str = "stopped";

    /// Of an order of which there was no call.
    pub fn unused(order: &str) -> Self {
        Self {
            order: order.into(),
            version: 0,
            last_n: 0,
            calls: 0,
            spent: Totals::default(),
            tools_used: BTreeSet::new(),
            held_attempt: 0,
            held: 0,
            held_bytes: 0,
            standing: Standing::Running,
            reason: None,
            by: None,
            since: None,
            stopped_until: None,
        }
    }

    /// What was spent in a unit; `seconds` are the order's to know.
    pub fn spent_of(&self, unit: Unit) -> Number {
        match unit {
            Unit::ToolCalls => Number::Integer(self.calls.into()),
            unit => self.spent.get(unit).unwrap_or(Number::Integer(0)),
        }
    }

    /// What was spent, as sums that a budget is compared with: units of which nothing was spent are left out.
    pub(in crate::work) fn to_totals(&self) -> Totals {
        let mut totals = self.spent;
        if self.calls > 0 {
            totals.add(Unit::ToolCalls, Number::Integer(self.calls.into()));
        }
        totals
    }

    /// Whether another call fits the order's budget, leaving out what sub-orders hold (`spec §15.3`).
    pub(super) fn check(&self, record: &OrderRecord, reserve: &Totals, now: Millis) -> Result<(), Exhausted> {
        for unit in crate::work::UNITS {
            let Some(limit) = limit_of(record, unit) else { continue };
            let spent = match unit {
                Unit::Seconds => Number::Integer(seconds_worked(record, now).into()),
                unit => self.spent_of(unit),
            };
            if !fits(unit, limit, spent, reserve.get(unit).unwrap_or(Number::Integer(0))) {
                return Err(Exhausted { unit, limit, spent });
            }
        }
        Ok(())
    }

    /// A call was allowed.
    pub(in crate::work) fn begun(&mut self, begun: &CallBegun) {
        self.version = self.version.saturating_add(1);
        self.last_n = begun.n;
        self.calls = self.calls.saturating_add(1);
        self.spent.add_all(Some(&begun.reserved.to_value()));
        if self.tools_used.len() < MOST_TOOLS {
            self.tools_used.insert(begun.tool.clone());
        }
        if let Some(arguments) = &begun.arguments {
            if self.held_attempt != begun.attempt {
                (self.held_attempt, self.held, self.held_bytes) = (begun.attempt, 0, 0);
            }
            self.held = self.held.saturating_add(1);
            self.held_bytes = self.held_bytes.saturating_add(super::call::bytes_of(arguments));
        }
    }

    /// A call came to its end.
    pub(in crate::work) fn finished(&mut self, finished: &CallFinished, call: &Call) {
        self.version = self.version.saturating_add(1);
        if finished.is_released {
            self.calls = self.calls.saturating_sub(1);
        }
        if finished.is_released || finished.cost.is_some() {
            self.spent.subtract_all(Some(&call.reserved.to_value()));
        }
        if let Some(cost) = &finished.cost {
            self.spent.add_all(Some(&cost.to_value()));
        }
    }

    /// The gateways were held up or let go on, of an order with this deadline.
    pub(in crate::work) fn controlled(&mut self, controlled: &Controlled, deadline: Option<Millis>) {
        self.version = self.version.saturating_add(1);
        self.standing = controlled.standing;
        self.reason.clone_from(&controlled.reason);
        self.stopped_until = deadline.filter(|_| self.standing == Standing::Stopped);
        (self.by, self.since) = (Some(controlled.by.clone()), Some(controlled.at.clone()));
    }

    /// How many calls are held in an attempt, and how many bytes their arguments have.
    pub(super) fn held_in(&self, attempt: u64) -> (u64, u64) {
        if attempt == self.held_attempt { (self.held, self.held_bytes) } else { (0, 0) }
    }
}

/// Whether one more call fits a limit, of which so much is spent and which is expected to cost so much.
pub(super) fn fits(unit: Unit, limit: Number, spent: Number, reserved: Number) -> bool {
    match unit {
        Unit::ToolCalls => plus(spent, Number::Integer(1)) <= limit,
        Unit::Seconds => spent <= limit,
        // Until the first cost is known there is nothing to compare.
        Unit::Usd | Unit::Tokens => plus(spent, reserved) <= limit && (spent < limit || spent == Number::Integer(0)),
    }
}

/// The order's budget in a unit, less what its sub-orders hold.
pub(super) fn limit_of(record: &OrderRecord, unit: Unit) -> Option<Number> {
    let budget = unit.of(record.order.get("budget"))?;
    let mut left = Totals::default();
    left.add(unit, budget);
    if let Some(held) = record.held.get(unit) {
        left.subtract(unit, held);
    }
    left.get(unit)
}

/// The sum of two amounts, rounded as sums of budgets are.
pub(super) fn plus(a: Number, b: Number) -> Number {
    let mut sum = Totals::default();
    sum.add(Unit::Usd, a);
    sum.add(Unit::Usd, b);
    sum.get(Unit::Usd).unwrap_or(a)
}

/// What is left of a limit; never below 0.
pub(super) fn minus(limit: Number, spent: Number) -> Number {
    let mut left = Totals::default();
    left.add(Unit::Usd, limit);
    left.subtract(Unit::Usd, spent);
    left.get(Unit::Usd).filter(|left| *left > Number::Integer(0)).unwrap_or(Number::Integer(0))
}

/// Whole seconds that the order has been `working`, rounded down: neither waiting for an answer nor for a review counts
/// against the worker (`spec §15.3`).
pub(super) fn seconds_worked(record: &OrderRecord, now: Millis) -> u64 {
    let mut worked: i64 = 0;
    let mut since: Option<Millis> = None;
    for event in &record.events {
        let at = time::instant(&event.at).unwrap_or(now);
        match (since, event.to) {
            (None, State::Working) => since = Some(at),
            (Some(began), to) if to != State::Working => {
                worked = worked.saturating_add(at.0.saturating_sub(began.0).max(0));
                since = None;
            }
            _ => {}
        }
    }
    if let Some(began) = since {
        worked = worked.saturating_add(now.0.saturating_sub(began.0).max(0));
    }
    u64::try_from(worked.wrapping_div(1_000)).unwrap_or(0)
}

impl Document for Allowance {
    const KIND: &'static str = "allowance";

    fn id(&self) -> String {
        self.order.clone()
    }

    fn version(&self) -> u64 {
        self.version
    }

    fn to_value(&self) -> Value {
        Object::new()
            .with("order", &self.order)
            .with("version", self.version)
            .with("last_n", self.last_n)
            .with("calls", self.calls)
            .with("spent", self.spent.to_value())
            .with("tools_used", self.tools_used.iter().map(Value::from).collect::<Value>())
            .with("held_attempt", self.held_attempt)
            .with("held", self.held)
            .with("held_bytes", self.held_bytes)
            .with("standing", self.standing.as_str())
            .with_some("reason", self.reason.as_ref())
            .with_some("by", self.by.as_ref())
            .with_some("since", self.since.as_ref())
            .with_some("stopped_until", self.stopped_until.map(time::format))
            .into()
    }

    fn from_value(value: Value) -> Option<Self> {
        let count = |name| value.get(name)?.as_number()?.to_u64();
        let string = |name| value.get(name).and_then(Value::as_str).map(String::from);
        Some(Self {
            order: string("order")?,
            version: count("version")?,
            last_n: count("last_n")?,
            calls: count("calls")?,
            spent: Totals::from_value(value.get("spent")?),
            tools_used: value
                .get("tools_used")?
                .as_array()?
                .iter()
                .map(|t| t.as_str().map(Into::into))
                .collect::<Option<_>>()?,
            held_attempt: count("held_attempt")?,
            held: count("held")?,
            held_bytes: count("held_bytes")?,
            standing: Standing::parse(value.get("standing")?.as_str()?)?,
            reason: string("reason"),
            by: string("by"),
            since: string("since"),
            stopped_until: match string("stopped_until") {
                Some(text) => Some(time::instant(&text)?),
                None => None,
            },
        })
    }

    fn index(&self) -> Vec<IndexEntry> {
        self.stopped_until.map(|until| IndexEntry::new(Self::STOPPED, "", time::format(until))).into_iter().collect()
    }
}
