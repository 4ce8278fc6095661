//! The three checks, each with the optional list that adds a rule to it (`spec work-orders §17`).

use bailiwick_core::json::Value;
use bailiwick_core::work::vectors::{VectorError, parse_sub_orders};
use bailiwick_core::work::{
    Rule, Validation, validate_child_budgets, validate_child_order, validate_own_cost, validate_report,
};
use bailiwick_schema::Engine;

/// Why a list of sub-orders cannot be used.
pub(super) type Malformed = VectorError;

/// The engine that judges output schemas.
pub(super) const ENGINE: Engine = Engine;

/// A sub-order within its parent: C1–C3 and C5; with siblings, C4.
pub(super) fn child(order: &Value, parent: &Value, siblings: Option<&Value>) -> Result<Validation, Malformed> {
    let mut validation = Validation::from(validate_child_order(order, parent));
    if let Some(list) = siblings {
        validation.findings.extend(validate_child_budgets(order, parent, parse_sub_orders(list)?));
    }
    Ok(validation)
}

/// A report against its order: the R rules; with the order's sub-orders, R13.
pub(super) fn report(report: &Value, order: &Value, sub_orders: Option<&Value>) -> Result<Validation, Malformed> {
    let sub_orders = sub_orders.map(parse_sub_orders).transpose()?;
    let mut validation = validate_report(report, order, &ENGINE);
    // A broken structure hides everything else.
    let broken = validation.findings.iter().any(|finding| finding.rule == Rule::R1);
    if let Some(list) = sub_orders.filter(|_| !broken) {
        validation.findings.extend(validate_own_cost(report, order, list));
    }
    Ok(validation)
}
