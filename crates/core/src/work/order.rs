//! Work orders: structure and the O rules (`spec work-orders §2, §6.1`).

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::vec::Vec;

use super::structure::{AGENT, Member, Record, STRING, Shape, TEXT, check, optional, required};
use super::{Checked, Finding, OutputSchemas, Rule, ToolSet, Validation, items, quoted, text};
use crate::json::{Object, Value};
use crate::time;

/// The versions of the order document that are read, oldest first.
pub const ORDER_SPECS: [&str; 4] =
    ["awl/work-order@0.1", "awl/work-order@0.2", "awl/work-order@0.3", "awl/work-order@0.4"];

/// The newest version of the order document.
pub const ORDER_SPEC: &str = "awl/work-order@0.4";

/// The most characters of an order's id.
pub(super) const MOST_ID: usize = 128;

const ORDER: Record = Record::document(&[
    required("spec", Shape::OneOf(&ORDER_SPECS)),
    required("id", Shape::Text { least: 1, most: MOST_ID }),
    required("created_at", Shape::Timestamp),
    required("from", AGENT),
    required("to", AGENT),
    required("goal", TEXT),
    required("criteria", Shape::List { least: 1, item: &Shape::Record(&CRITERION) }),
    required("budget", Shape::Record(&BUDGET)),
    required("deadline", Shape::Timestamp),
    required("tools", Shape::List { least: 0, item: &Shape::ToolPattern }),
    optional("staged", Shape::List { least: 0, item: &Shape::ToolPattern }),
    optional("escalate_to", AGENT),
    optional("inputs", Shape::FreeObject),
    optional("context", Shape::List { least: 0, item: &Shape::Record(&CONTEXT_REF) }),
    optional("handoff", HANDOFF),
    optional("output_schema", Shape::FreeObject),
    optional("parent_id", TEXT),
    optional("continues", TEXT),
    optional("metadata", Shape::FreeObject),
]);

const CRITERION: Record = Record::new(&[required("id", Shape::Text { least: 1, most: 64 }), required("text", TEXT)]);
const CONTEXT_REF: Record = Record::new(&[required("uri", TEXT), optional("note", STRING)]);
pub(super) const BUDGET: Record = Record::not_empty(AMOUNTS);

/// The members of a budget or a cost.
pub(super) const AMOUNTS: &[Member] = &[
    optional("usd", Shape::Amount),
    optional("tokens", Shape::Integer { least: 0 }),
    optional("tool_calls", Shape::Integer { least: 0 }),
    optional("seconds", Shape::Amount),
];

/// What earlier work established, in an order or a report (`spec §2.4`).
pub(super) const HANDOFF: Shape = Shape::Record(&Record::not_empty(&[
    optional("summary", TEXT),
    optional("decisions", Shape::List { least: 0, item: &Shape::Record(&DECISION) }),
    optional("tried", Shape::List { least: 0, item: &Shape::Record(&ATTEMPT) }),
    optional("open_questions", Shape::List { least: 0, item: &TEXT }),
    optional("next_step", TEXT),
]));

const DECISION: Record = Record::new(&[required("text", TEXT), optional("why", STRING)]);
const ATTEMPT: Record = Record::new(&[required("text", TEXT), optional("result", STRING)]);

/// Whether the value has the structure of a work order; no other rule is looked at.
pub fn is_work_order(value: &Value) -> bool {
    check(value, Shape::Record(&ORDER), Rule::O1).is_empty()
}

/// The version a writer marks an order with: the lowest that defines every field it uses (`spec §2.1`).
/// A field set to `null` counts as unused.
pub fn order_spec_for(order: &Object) -> &'static str {
    let uses = |name| order.get(name).is_some_and(|value| !value.is_null());
    let [first, second, third, fourth] = ORDER_SPECS;
    if uses("staged") {
        fourth
    } else if uses("continues") {
        third
    } else if uses("handoff") {
        second
    } else {
        first
    }
}

/// Checks an order by rules O1–O5.
///
/// Any JSON value may be passed. Structure errors (O1) hide everything else. The clock is not consulted.
pub fn validate_order(order: &Value, schemas: &dyn OutputSchemas) -> Validation {
    let findings = check(order, Shape::Record(&ORDER), Rule::O1);
    if !findings.is_empty() {
        return findings.into();
    }
    let mut validation = Validation::default();
    check_criterion_ids(order, &mut validation.findings);
    check_deadline(order, &mut validation.findings);
    check_output_schema(order, schemas, &mut validation);
    check_staged(order, &mut validation.findings);
    validation
}

/// O2
fn check_criterion_ids(order: &Value, findings: &mut Vec<Finding>) {
    let mut seen = BTreeSet::new();
    for (index, criterion) in items(order, "criteria").iter().enumerate() {
        let id = text(criterion, "id");
        if !seen.insert(id) {
            let message = format!("criterion id {} repeats an earlier one", quoted(id));
            findings.push(Finding::new(Rule::O2, format!("/criteria/{index}/id"), message));
        }
    }
}

/// O3
fn check_deadline(order: &Value, findings: &mut Vec<Finding>) {
    let (created_at, deadline) = (text(order, "created_at"), text(order, "deadline"));
    if let (Some(created), Some(due)) = (time::instant(created_at), time::instant(deadline))
        && due <= created
    {
        let message = format!("deadline {} is not later than created_at {}", quoted(deadline), quoted(created_at));
        findings.push(Finding::new(Rule::O3, "/deadline", message));
    }
}

/// O4
fn check_output_schema(order: &Value, schemas: &dyn OutputSchemas, validation: &mut Validation) {
    let Some(schema) = order.get("output_schema") else { return };
    match schemas.check_schema(schema) {
        Checked::NotEvaluated => validation.skipped.push(Rule::O4),
        Checked::Evaluated(None) => {}
        Checked::Evaluated(Some(fault)) => {
            validation.findings.push(Finding::new(Rule::O4, "/output_schema", fault));
        }
    }
}

/// O5
fn check_staged(order: &Value, findings: &mut Vec<Finding>) {
    let staged = items(order, "staged");
    if staged.is_empty() {
        return;
    }
    let tools = ToolSet::of(order.get("tools"));
    for (index, pattern) in staged.iter().enumerate() {
        let pattern = pattern.as_str().unwrap_or_default();
        if !tools.covers(pattern) {
            let message = format!("staged pattern {} is not covered by the order's `tools`", quoted(pattern));
            findings.push(Finding::new(Rule::O5, format!("/staged/{index}"), message));
        }
    }
}
