//! The rules on orders and reports (`spec work-orders §6`).

use bailiwick_core::json::{Limits, Object, Value};
use bailiwick_core::work::vectors::parse_sub_orders;
use bailiwick_core::work::{self, Finding, OutputSchemas, SubOrder, Validation};
use wasm_bindgen::prelude::*;

use crate::boundary::{Answer, limits, read, show};
use crate::fault::Fault;

/// The schema engine, where this build has one.
pub(crate) fn engine() -> &'static dyn OutputSchemas {
    #[cfg(feature = "full")]
    return &bailiwick_schema::Engine;
    #[cfg(not(feature = "full"))]
    return &work::NoEngine;
}

/// Checks an order by the rules O1–O5. `skipped` names O4 where the order has an `output_schema` and this build has
/// no schema engine.
#[wasm_bindgen(js_name = validateOrder, unchecked_return_type = "Validation")]
pub fn validate_order(
    #[wasm_bindgen(unchecked_param_type = "unknown")] order: &JsValue,
    #[wasm_bindgen(unchecked_optional_param_type = "ReadOptions")] options: &JsValue,
) -> Answer {
    Ok(shown(work::validate_order(&read(order, &limits(options)?)?, engine())))
}

/// Checks a report against its order, which is taken as valid, by the rules R1–R12 and R14–R16. `skipped` names R11
/// where the order has an `output_schema`, the report is done, and this build has no schema engine.
#[wasm_bindgen(js_name = validateReport, unchecked_return_type = "Validation")]
pub fn validate_report(
    #[wasm_bindgen(unchecked_param_type = "unknown")] report: &JsValue,
    #[wasm_bindgen(unchecked_param_type = "Document")] order: &JsValue,
    #[wasm_bindgen(unchecked_optional_param_type = "ReadOptions")] options: &JsValue,
) -> Answer {
    let limits = limits(options)?;
    let report = read(report, &limits)?;
    Ok(shown(work::validate_report(&report, &read(order, &limits)?, engine())))
}

/// Checks a sub-order against its parent by the rules C1, C2, C3 and C5. Both are taken as valid.
#[wasm_bindgen(js_name = validateChildOrder, unchecked_return_type = "Validation")]
pub fn validate_child_order(
    #[wasm_bindgen(unchecked_param_type = "Document")] child: &JsValue,
    #[wasm_bindgen(unchecked_param_type = "Document")] parent: &JsValue,
    #[wasm_bindgen(unchecked_optional_param_type = "ReadOptions")] options: &JsValue,
) -> Answer {
    let limits = limits(options)?;
    let child = read(child, &limits)?;
    Ok(shown(work::validate_child_order(&child, &read(parent, &limits)?)))
}

/// Checks that a sub-order and its parent's other sub-orders fit the parent's budget together: rule C4.
#[wasm_bindgen(js_name = validateChildBudgets, unchecked_return_type = "Validation")]
pub fn validate_child_budgets(
    #[wasm_bindgen(unchecked_param_type = "Document")] child: &JsValue,
    #[wasm_bindgen(unchecked_param_type = "Document")] parent: &JsValue,
    #[wasm_bindgen(unchecked_param_type = "readonly SubOrder[] | Document")] siblings: &JsValue,
    #[wasm_bindgen(unchecked_optional_param_type = "ReadOptions")] options: &JsValue,
) -> Answer {
    let limits = limits(options)?;
    let (child, parent) = (read(child, &limits)?, read(parent, &limits)?);
    let siblings = read(siblings, &limits)?;
    Ok(shown(work::validate_child_budgets(&child, &parent, sub_orders("siblings", &siblings)?)))
}

/// Checks that a report's own cost and the budgets of the order's sub-orders fit the order's budget together: rule R13.
#[wasm_bindgen(js_name = validateOwnCost, unchecked_return_type = "Validation")]
pub fn validate_own_cost(
    #[wasm_bindgen(unchecked_param_type = "Document")] report: &JsValue,
    #[wasm_bindgen(unchecked_param_type = "Document")] order: &JsValue,
    #[wasm_bindgen(js_name = subOrders, unchecked_param_type = "readonly SubOrder[] | Document")] list: &JsValue,
    #[wasm_bindgen(unchecked_optional_param_type = "ReadOptions")] options: &JsValue,
) -> Answer {
    let limits = limits(options)?;
    let (report, order) = (read(report, &limits)?, read(order, &limits)?);
    let list = read(list, &limits)?;
    Ok(shown(work::validate_own_cost(&report, &order, sub_orders("subOrders", &list)?)))
}

/// What sub-orders hold of their parent's budget, per unit: the budgets of all but declined ones, `seconds` aside.
#[wasm_bindgen(js_name = heldBySubOrders, unchecked_return_type = "Amounts")]
pub fn held_by_sub_orders(
    #[wasm_bindgen(js_name = subOrders, unchecked_param_type = "readonly SubOrder[] | Document")] list: &JsValue,
) -> Answer {
    let list = read(list, &Limits::DOCUMENT)?;
    Ok(show(&work::held_by_sub_orders(sub_orders("subOrders", &list)?).to_value()))
}

/// Whether any finding rejects the document; limits (R7, R8, R13) don't.
#[wasm_bindgen(js_name = hasInvalid)]
pub fn has_invalid(
    #[wasm_bindgen(unchecked_param_type = "readonly Finding[] | Validation")] found: &JsValue,
) -> Result<bool, JsValue> {
    let found = read(found, &Limits::DOCUMENT)?;
    let list = found.get("findings").unwrap_or(&found).as_array();
    let findings: Option<Vec<Finding>> = list.and_then(|list| list.iter().map(Finding::from_value).collect());
    let findings = findings.ok_or(Fault::argument("found", "findings, or what a check answered"))?;
    Ok(work::has_invalid(&findings))
}

/// Whether the value has the structure of a work order (O1); false for what cannot be read at all.
#[wasm_bindgen(js_name = isWorkOrder, skip_typescript)]
pub fn is_work_order(value: &JsValue) -> bool {
    read(value, &Limits::DOCUMENT).is_ok_and(|value| work::is_work_order(&value))
}

/// Whether the value has the structure of a work report (R1); false for what cannot be read at all.
#[wasm_bindgen(js_name = isWorkReport, skip_typescript)]
pub fn is_work_report(value: &JsValue) -> bool {
    read(value, &Limits::DOCUMENT).is_ok_and(|value| work::is_work_report(&value))
}

/// The version to mark an order with: the lowest that defines every field it uses (`spec §2.1`).
#[wasm_bindgen(js_name = orderSpecFor, unchecked_return_type = "OrderSpec")]
pub fn order_spec_for(#[wasm_bindgen(unchecked_param_type = "Document")] order: &JsValue) -> Result<String, JsValue> {
    Ok(work::order_spec_for(&object("order", read(order, &Limits::DOCUMENT)?)?).into())
}

/// The version to mark a report with: the lowest that defines every field it uses (`spec §2.1`).
#[wasm_bindgen(js_name = reportSpecFor, unchecked_return_type = "ReportSpec")]
pub fn report_spec_for(#[wasm_bindgen(unchecked_param_type = "Document")] report: &JsValue) -> Result<String, JsValue> {
    Ok(work::report_spec_for(&object("report", read(report, &Limits::DOCUMENT)?)?).into())
}

fn shown(validation: impl Into<Validation>) -> JsValue {
    let Validation { findings, skipped } = validation.into();
    let findings: Value = findings.iter().map(Finding::to_value).collect();
    let skipped: Value = skipped.iter().map(|rule| Value::from(rule.as_str())).collect();
    show(&Object::new().with("findings", findings).with("skipped", skipped).into())
}

pub(crate) fn object(name: &'static str, value: Value) -> Result<Object, Fault> {
    match value {
        Value::Object(object) => Ok(object),
        _ => Err(Fault::argument(name, "an object")),
    }
}

fn sub_orders<'a>(name: &'static str, list: &'a Value) -> Result<Vec<SubOrder<'a>>, Fault> {
    parse_sub_orders(list)
        .map_err(|_| Fault::argument(name, "an array of `{order, state}` with orders and their states"))
}
