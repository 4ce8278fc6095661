//! Work reports: structure and the R rules (`spec work-orders §3, §6.2`).

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::vec::Vec;

use super::amounts::{SUMMED_UNITS, SubOrder, Totals, UNITS, exceeds, held_by_sub_orders, sum};
use super::effect::{effect_references, is_ref_of};
use super::order::{AMOUNTS, HANDOFF};
use super::structure::{AGENT, Record, STRING, Shape, TEXT, check, optional, required};
use super::{Checked, Finding, OutputSchemas, Rule, ToolSet, Validation, items, quoted, shown, text};
use crate::json::{Number, Object, Value};
use crate::time;

/// The versions of the report document that are read, oldest first.
pub const REPORT_SPECS: [&str; 3] = ["awl/work-report@0.1", "awl/work-report@0.2", "awl/work-report@0.3"];

/// The newest version of the report document.
pub const REPORT_SPEC: &str = "awl/work-report@0.3";

const REPORT: Record = Record::document(&[
    required("spec", Shape::OneOf(&REPORT_SPECS)),
    required("order_id", TEXT),
    required("from", AGENT),
    required("status", Shape::OneOf(&["done", "blocked", "failed"])),
    required("result", Shape::Record(&RESULT)),
    required("evidence", Shape::List { least: 0, item: &Shape::Record(&EVIDENCE) }),
    required("cost", Shape::Record(&COST)),
    required("finished_at", Shape::Timestamp),
    required("tools_used", Shape::List { least: 0, item: &Shape::ToolName }),
    optional("effects", Shape::List { least: 0, item: &Shape::Record(&EFFECT) }),
    optional("started_at", Shape::Timestamp),
    optional("attempt", Shape::Integer { least: 1 }),
    optional("questions", Shape::List { least: 0, item: &TEXT }),
    optional("error", TEXT),
    optional("handoff", HANDOFF),
    optional("metadata", Shape::FreeObject),
]);

const RESULT: Record = Record::new(&[
    required("summary", STRING),
    optional("output", Shape::Any),
    optional("artifacts", Shape::List { least: 0, item: &Shape::Record(&ARTIFACT) }),
]);
const ARTIFACT: Record =
    Record::new(&[required("uri", TEXT), optional("media_type", STRING), optional("note", STRING)]);
const EVIDENCE: Record = Record::new(&[
    required("criterion", TEXT),
    required("type", Shape::OneOf(&["tool_call", "artifact", "citation", "note"])),
    optional("ref", STRING),
    optional("note", STRING),
]);
const COST: Record = Record::new(AMOUNTS);
const EFFECT: Record = Record::new(&[
    required("ref", TEXT),
    required("tool", Shape::ToolName),
    required("arguments", Shape::FreeObject),
    optional("reversible", Shape::Boolean),
]);

/// What the paths of R16 may take in one report. Thousands of bad references below one long name would give findings of
/// many times the report's size; the report is refused without the rest of them.
const MOST_PATH_BYTES: usize = 1 << 22;

/// Whether the value has the structure of a work report; no other rule is looked at.
pub fn is_work_report(value: &Value) -> bool {
    check(value, Shape::Record(&REPORT), Rule::R1).is_empty()
}

/// The version a writer marks a report with: the lowest that defines every field it uses (`spec §2.1`).
/// A field set to `null` counts as unused.
pub fn report_spec_for(report: &Object) -> &'static str {
    let uses = |name| report.get(name).is_some_and(|value| !value.is_null());
    let [first, second, third] = REPORT_SPECS;
    if uses("effects") {
        third
    } else if uses("handoff") {
        second
    } else {
        first
    }
}

/// Checks a report against its order by rules R1–R12 and R14–R16. R13 needs the order's sub-orders:
/// [`validate_own_cost`].
///
/// The report may be any JSON value; the order is assumed valid. Structure errors (R1) hide everything else.
/// Nobody's permission is checked: that the reporter is the order's worker is the desk's business.
pub fn validate_report(report: &Value, order: &Value, schemas: &dyn OutputSchemas) -> Validation {
    let findings = check(report, Shape::Record(&REPORT), Rule::R1);
    if !findings.is_empty() {
        return findings.into();
    }
    let mut validation = Validation::default();
    check_order_id(report, order, &mut validation.findings);
    check_evidence(report, order, &mut validation.findings);
    check_tools_used(report, order, &mut validation.findings);
    check_cost(report, order, &mut validation.findings);
    check_finished(report, order, &mut validation.findings);
    check_status(report, &mut validation.findings);
    check_output(report, order, schemas, &mut validation);
    check_started(report, &mut validation.findings);
    check_effects(report, order, &mut validation.findings);
    validation
}

/// Checks that a report's own cost and the budgets of the order's sub-orders fit the order's budget together: R13.
///
/// Report and order are assumed valid. A cost above the limit by itself is R7's business, a missing unit R6's.
pub fn validate_own_cost<'a>(
    report: &Value,
    order: &Value,
    sub_orders: impl IntoIterator<Item = SubOrder<'a>>,
) -> Vec<Finding> {
    check_own_cost(report, order, &held_by_sub_orders(sub_orders))
}

/// R13, with what the sub-orders hold already summed.
pub(super) fn check_own_cost(report: &Value, order: &Value, held: &Totals) -> Vec<Finding> {
    let mut findings = Vec::new();
    for unit in SUMMED_UNITS {
        let (Some(limit), Some(spent), Some(held)) =
            (unit.of(order.get("budget")), unit.of(report.get("cost")), held.get(unit))
        else {
            continue;
        };
        if spent <= limit && held > Number::Integer(0) && exceeds(sum(spent, held), limit) {
            let name = unit.as_str();
            let (spent, held, limit) = (shown(spent), shown(held), shown(limit));
            let message = format!("spent {spent} {name} and sub-orders hold {held}, together more than {limit}");
            findings.push(Finding::new(Rule::R13, format!("/cost/{name}"), message));
        }
    }
    findings
}

/// R2
fn check_order_id(report: &Value, order: &Value, findings: &mut Vec<Finding>) {
    let (named, id) = (text(report, "order_id"), text(order, "id"));
    if named != id {
        let message = format!("report is for order {}, not for {}", quoted(named), quoted(id));
        findings.push(Finding::new(Rule::R2, "/order_id", message));
    }
}

/// R3, R4
fn check_evidence(report: &Value, order: &Value, findings: &mut Vec<Finding>) {
    let criteria = items(order, "criteria");
    let known: BTreeSet<_> = criteria.iter().map(|criterion| text(criterion, "id")).collect();
    let mut proven = BTreeSet::new();
    for (index, evidence) in items(report, "evidence").iter().enumerate() {
        let criterion = text(evidence, "criterion");
        proven.insert(criterion);
        if !known.contains(criterion) {
            let message = format!("the order has no criterion {}", quoted(criterion));
            findings.push(Finding::new(Rule::R3, format!("/evidence/{index}/criterion"), message));
        }
    }
    if text(report, "status") != "done" {
        return;
    }
    for criterion in criteria {
        let id = text(criterion, "id");
        if !proven.contains(id) {
            let message = format!("no evidence for criterion {}, which `done` needs", quoted(id));
            findings.push(Finding::new(Rule::R4, "/evidence", message));
        }
    }
}

/// R5
fn check_tools_used(report: &Value, order: &Value, findings: &mut Vec<Finding>) {
    let used = items(report, "tools_used");
    if used.is_empty() {
        return;
    }
    let tools = ToolSet::of(order.get("tools"));
    for (index, name) in used.iter().enumerate() {
        let name = name.as_str().unwrap_or_default();
        if !tools.allows(name) {
            let message = format!("tool {} is not allowed by the order's `tools`", quoted(name));
            findings.push(Finding::new(Rule::R5, format!("/tools_used/{index}"), message));
        }
    }
}

/// R6, R7
fn check_cost(report: &Value, order: &Value, findings: &mut Vec<Finding>) {
    for unit in UNITS {
        let Some(limit) = unit.of(order.get("budget")) else { continue };
        let name = unit.as_str();
        match unit.of(report.get("cost")) {
            None => {
                let message = format!("cost does not say how much `{name}` was spent of {}", shown(limit));
                findings.push(Finding::new(Rule::R6, "/cost", message));
            }
            Some(spent) if spent > limit => {
                let message = format!("spent {} {name} of {}", shown(spent), shown(limit));
                findings.push(Finding::new(Rule::R7, format!("/cost/{name}"), message));
            }
            Some(_) => {}
        }
    }
}

/// R8
fn check_finished(report: &Value, order: &Value, findings: &mut Vec<Finding>) {
    let (finished_at, deadline) = (text(report, "finished_at"), text(order, "deadline"));
    if time::instant(finished_at) > time::instant(deadline) && time::instant(deadline).is_some() {
        let message = format!("finished at {}, after the deadline {}", quoted(finished_at), quoted(deadline));
        findings.push(Finding::new(Rule::R8, "/finished_at", message));
    }
}

/// R9, R10
fn check_status(report: &Value, findings: &mut Vec<Finding>) {
    match text(report, "status") {
        "blocked" if items(report, "questions").is_empty() => {
            findings.push(Finding::new(Rule::R9, "/questions", "`blocked` needs at least one question"));
        }
        "failed" if report.get("error").is_none() => {
            findings.push(Finding::new(Rule::R10, "/error", "`failed` needs an error"));
        }
        _ => {}
    }
}

/// R11
fn check_output(report: &Value, order: &Value, schemas: &dyn OutputSchemas, validation: &mut Validation) {
    let Some(schema) = order.get("output_schema").filter(|_| text(report, "status") == "done") else { return };
    let output = report.get("result").and_then(|result| result.get("output"));
    match schemas.check_output(schema, output) {
        Checked::NotEvaluated => validation.skipped.push(Rule::R11),
        Checked::Evaluated(faults) => {
            validation.findings.extend(
                faults
                    .into_iter()
                    .map(|fault| Finding::new(Rule::R11, format!("/result/output{}", fault.pointer), fault.message)),
            );
        }
    }
}

/// R12
fn check_started(report: &Value, findings: &mut Vec<Finding>) {
    let (started_at, finished_at) = (text(report, "started_at"), text(report, "finished_at"));
    if let (Some(started), Some(finished)) = (time::instant(started_at), time::instant(finished_at))
        && started > finished
    {
        let message = format!("started at {}, after finished_at {}", quoted(started_at), quoted(finished_at));
        findings.push(Finding::new(Rule::R12, "/started_at", message));
    }
}

/// R14, R15, R16, effect by effect
fn check_effects(report: &Value, order: &Value, findings: &mut Vec<Finding>) {
    let effects = items(report, "effects");
    if effects.is_empty() {
        return;
    }
    let staged = ToolSet::of(order.get("staged"));
    // Every earlier ref, the malformed ones included: a reference may name those too.
    let mut earlier = BTreeSet::new();
    let mut room = MOST_PATH_BYTES;
    for (index, effect) in effects.iter().enumerate() {
        let (reference, tool) = (text(effect, "ref"), text(effect, "tool"));
        if !staged.allows(tool) {
            let message = format!("tool {} is not staged by the order", quoted(tool));
            findings.push(Finding::new(Rule::R14, format!("/effects/{index}/tool"), message));
        }
        if !is_ref_of(reference, tool) {
            let message = format!("ref {} is not `<tool>#<n>` for tool {}", quoted(reference), quoted(tool));
            findings.push(Finding::new(Rule::R15, format!("/effects/{index}/ref"), message));
        } else if earlier.contains(reference) {
            let message = format!("ref {} repeats an earlier one", quoted(reference));
            findings.push(Finding::new(Rule::R15, format!("/effects/{index}/ref"), message));
        }
        check_references(index, effect, &earlier, &mut room, findings);
        earlier.insert(reference);
    }
}

/// R16
fn check_references(
    index: usize,
    effect: &Value,
    earlier: &BTreeSet<&str>,
    room: &mut usize,
    findings: &mut Vec<Finding>,
) {
    let Some(arguments) = effect.get("arguments") else { return };
    for reference in effect_references(arguments) {
        let message = if !earlier.contains(reference.effect) {
            format!("no earlier effect has the ref {}", quoted(reference.effect))
        } else if !reference.pointer.is_empty() && !reference.pointer.starts_with('/') {
            format!("pointer {} is neither empty nor starts with `/`", quoted(reference.pointer))
        } else {
            continue;
        };
        if *room == 0 {
            return;
        }
        let path = format!("/effects/{index}/arguments{}", reference.path());
        *room = room.saturating_sub(path.len());
        findings.push(Finding::new(Rule::R16, path, message));
    }
}
