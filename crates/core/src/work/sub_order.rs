//! Sub-orders within their parent: the C rules (`spec work-orders §6.3`). Authority only narrows downwards.

use alloc::format;
use alloc::vec::Vec;

use super::amounts::{SUMMED_UNITS, SubOrder, Totals, UNITS, exceeds, held_by_sub_orders, hold};
use super::{Finding, Rule, ToolSet, items, quoted, shown, text};
use crate::json::Value;
use crate::time;

/// Checks a sub-order against its parent by rules C1, C2, C3 and C5. Both are assumed valid.
///
/// Not compared: `parent_id` with the parent's `id`, `created_at`, `from`, `to`. The desk ties those.
pub fn validate_child_order(child: &Value, parent: &Value) -> Vec<Finding> {
    let mut findings = Vec::new();
    check_budget(child, parent, &mut findings);
    check_tools(child, parent, &mut findings);
    check_deadline(child, parent, &mut findings);
    check_staged(child, parent, &mut findings);
    findings
}

/// Checks that a sub-order and the parent's other sub-orders fit the parent's budget together: C4. All are
/// assumed valid.
pub fn validate_child_budgets<'a>(
    child: &Value,
    parent: &Value,
    siblings: impl IntoIterator<Item = SubOrder<'a>>,
) -> Vec<Finding> {
    check_child_budgets(child, parent, held_by_sub_orders(siblings))
}

/// C4, with what the siblings hold already summed.
pub(super) fn check_child_budgets(child: &Value, parent: &Value, mut held: Totals) -> Vec<Finding> {
    hold(&mut held, child);
    let mut findings = Vec::new();
    for unit in SUMMED_UNITS {
        let (Some(limit), Some(held)) = (unit.of(parent.get("budget")), held.get(unit)) else { continue };
        if exceeds(held, limit) {
            let name = unit.as_str();
            let message = format!("all sub-orders together hold {} {name} of {}", shown(held), shown(limit));
            findings.push(Finding::new(Rule::C4, format!("/budget/{name}"), message));
        }
    }
    findings
}

/// C1
fn check_budget(child: &Value, parent: &Value, findings: &mut Vec<Finding>) {
    for unit in UNITS {
        let Some(limit) = unit.of(parent.get("budget")) else { continue };
        let name = unit.as_str();
        match unit.of(child.get("budget")) {
            None => {
                let message = format!("the parent limits `{name}` to {}, and this budget leaves it open", shown(limit));
                findings.push(Finding::new(Rule::C1, "/budget", message));
            }
            Some(amount) if amount > limit => {
                let message = format!("{} {name} is more than the parent's {}", shown(amount), shown(limit));
                findings.push(Finding::new(Rule::C1, format!("/budget/{name}"), message));
            }
            Some(_) => {}
        }
    }
}

/// C2
fn check_tools(child: &Value, parent: &Value, findings: &mut Vec<Finding>) {
    let tools = ToolSet::of(parent.get("tools"));
    for (index, pattern) in items(child, "tools").iter().enumerate() {
        let pattern = pattern.as_str().unwrap_or_default();
        if !tools.covers(pattern) {
            let message = format!("tool pattern {} is not covered by the parent's `tools`", quoted(pattern));
            findings.push(Finding::new(Rule::C2, format!("/tools/{index}"), message));
        }
    }
}

/// C3
fn check_deadline(child: &Value, parent: &Value, findings: &mut Vec<Finding>) {
    let (deadline, limit) = (text(child, "deadline"), text(parent, "deadline"));
    if let (Some(due), Some(latest)) = (time::instant(deadline), time::instant(limit))
        && due > latest
    {
        let message = format!("deadline {} is after the parent's {}", quoted(deadline), quoted(limit));
        findings.push(Finding::new(Rule::C3, "/deadline", message));
    }
}

/// C5
fn check_staged(child: &Value, parent: &Value, findings: &mut Vec<Finding>) {
    let staged = ToolSet::of(parent.get("staged"));
    if staged.is_empty() {
        return;
    }
    for (index, pattern) in items(child, "tools").iter().enumerate() {
        let pattern = pattern.as_str().unwrap_or_default();
        if staged.overlaps(pattern) {
            let message = format!("tool pattern {} overlaps what the parent stages", quoted(pattern));
            findings.push(Finding::new(Rule::C5, format!("/tools/{index}"), message));
        }
    }
}
