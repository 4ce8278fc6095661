//! Work orders and work reports (`spec work-orders`).
//!
//! A manager issues an **order**, a worker answers with a **report**. The checks here are pure functions over
//! [`json::Value`](crate::json::Value): no clock, no store, nobody's permission. Whoever needs those asks the
//! desk.
//!
//! - [`validate_order`], [`validate_report`], [`validate_child_order`], [`validate_child_budgets`],
//!   [`validate_own_cost`]: the rules, each giving [`Finding`]s
//! - [`State`]: where an order stands
//! - [`ToolSet`]: which tools are allowed, covered, staged
//! - [`OutputSchemas`]: the JSON Schema engine that whoever has one passes in
//! - [`gateway`]: what whoever stands before the tools asks and says, and what is carried out after approval
//! - [`pass`]: delegation passes, which carry an order's authority to where the desk can't be reached
//! - [`vectors`]: conformance vectors

mod amounts;
mod apply;
mod command;
mod decide;
mod effect;
mod event;
mod fact;
mod finding;
pub mod gateway;
mod import;
mod lifecycle;
mod order;
mod output;
pub mod pass;
mod place;
mod query;
mod record;
mod reply;
mod report;
mod settings;
mod state;
mod structure;
mod sub_order;
mod tools;
mod track_record;
pub mod vectors;

use alloc::vec::Vec;

pub use amounts::{SUMMED_UNITS, SubOrder, Totals, UNITS, Unit, held_by_sub_orders};
pub use command::{Command, Decision};
pub use decide::{MOST_DEPTH, MOST_EVENTS, MOST_HISTORY_BYTES, MOST_REPORTS};
pub use effect::{Reference, Unfilled, effect_references, fill, is_ref_of, resolve};
pub use event::Event;
pub use fact::{Fact, Opened, Reported};
pub use finding::{Finding, Kind, Rule, has_invalid};
pub use lifecycle::{Action, Role, allowed_actions, next_state};
pub use order::{ORDER_SPEC, ORDER_SPECS, is_work_order, order_spec_for, validate_order};
pub use output::{Checked, NoEngine, OutputFault, OutputSchemas};
pub use place::Place;
pub use query::{Agents, Calls, List, MOST_LISTED, Query};
pub use record::{OrderRecord, ReportRecord, ReportSummary};
pub use reply::{last_seq, summarize};
pub use report::{REPORT_SPEC, REPORT_SPECS, is_work_report, report_spec_for, validate_own_cost, validate_report};
pub use settings::{Reads, SelfReview, Settings};
pub use state::State;
pub use sub_order::{validate_child_budgets, validate_child_order};
pub use tools::{ToolSet, is_name, is_part, is_pattern, pattern_covered, patterns_overlap, tool_allowed};
pub use track_record::TrackRecord;

pub(crate) use apply::apply;
pub(crate) use decide::decide;
pub(crate) use fact::order_of;
pub(crate) use query::answer;

use crate::json::Value;
pub use crate::message::{described, quoted, shown};

/// What the checks of one document found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Validation {
    /// What was found, in the order of the specification
    pub findings: Vec<Finding>,
    /// Rules that apply to the document but were not evaluated, for want of a schema engine: O4 or R11. Whoever
    /// shows the result must say so rather than let them pass silently.
    pub skipped: Vec<Rule>,
}

impl Validation {
    /// Whether any finding rejects the document.
    pub fn has_invalid(&self) -> bool {
        has_invalid(&self.findings)
    }
}

impl From<Vec<Finding>> for Validation {
    fn from(findings: Vec<Finding>) -> Self {
        Self { findings, skipped: Vec::new() }
    }
}

/// A string member of a checked document; empty when there is none.
fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// The items of an array member of a checked document; none when there is no such member.
fn items<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value.get(name).and_then(Value::as_array).unwrap_or_default()
}
