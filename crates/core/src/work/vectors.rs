//! Conformance vectors: documents and the findings they must give (`spec work-orders §17`).

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::{
    Kind, OutputSchemas, Rule, State, SubOrder, Validation, validate_child_budgets, validate_child_order,
    validate_order, validate_own_cost, validate_report,
};
use crate::json::Value;

/// What a vector compares: findings without their messages.
pub type Expectation = (Rule, Kind, String);

/// Why a vector did not pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VectorError {
    /// The vector itself is not of the published form; says what is wrong with it.
    Malformed(&'static str),
    /// The findings differ. Each list is sorted, as a multiset.
    Mismatch {
        /// What the vector expects
        expected: Vec<Expectation>,
        /// What the checks found
        actual: Vec<Expectation>,
    },
    /// The findings agree as far as they go, but this rule needs a schema engine and there is none.
    Skipped(Rule),
}

impl fmt::Display for VectorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(what) => write!(f, "malformed vector: {what}"),
            Self::Mismatch { expected, actual } => {
                f.write_str("expected ")?;
                list(f, expected)?;
                f.write_str(", found ")?;
                list(f, actual)
            }
            Self::Skipped(rule) => write!(f, "{rule} was not evaluated: there is no schema engine"),
        }
    }
}

impl core::error::Error for VectorError {}

/// Writes findings, or `nothing`.
fn list(f: &mut fmt::Formatter<'_>, findings: &[Expectation]) -> fmt::Result {
    if findings.is_empty() {
        return f.write_str("nothing");
    }
    for (index, (rule, kind, path)) in findings.iter().enumerate() {
        let separator = if index == 0 { "" } else { ", " };
        write!(f, "{separator}{rule} {kind} {path}")?;
    }
    Ok(())
}

/// Runs one vector and compares what is found with what it expects, as multisets of rule, kind and path.
///
/// # Errors
///
/// See [`VectorError`].
pub fn run_vector(vector: &Value, schemas: &dyn OutputSchemas) -> Result<(), VectorError> {
    let mut expected = parse_expectations(vector)?;
    let validation = run_checks(vector, schemas)?;
    let mut actual: Vec<Expectation> =
        validation.findings.into_iter().map(|found| (found.rule, found.kind, found.path)).collect();
    expected.sort();
    actual.sort();
    if let Some(rule) = validation.skipped.first() {
        expected.retain(|(expected, ..)| expected != rule);
        if actual == expected {
            return Err(VectorError::Skipped(*rule));
        }
    }
    if actual == expected { Ok(()) } else { Err(VectorError::Mismatch { expected, actual }) }
}

/// Runs the checks that a vector's kind asks for.
///
/// # Errors
///
/// [`VectorError::Malformed`] when the vector is not of the published form.
pub fn run_checks(vector: &Value, schemas: &dyn OutputSchemas) -> Result<Validation, VectorError> {
    let member = |name, missing| vector.get(name).ok_or(VectorError::Malformed(missing));
    let order = member("order", "`order` is missing")?;
    match vector.get("kind").and_then(Value::as_str) {
        Some("order") => Ok(validate_order(order, schemas)),
        Some("report") => {
            let report = member("report", "`report` is missing")?;
            check_report(report, order, vector.get("sub_orders"), schemas)
        }
        Some("child") => {
            let parent = member("parent", "`parent` is missing")?;
            check_child(order, parent, vector.get("siblings"))
        }
        _ => Err(VectorError::Malformed("`kind` must be `order`, `report` or `child`")),
    }
}

/// A sub-order within its parent: C1–C3 and C5; with the parent's other sub-orders, C4.
///
/// # Errors
///
/// [`VectorError::Malformed`] when the list is not of the form that [`parse_sub_orders`] reads.
pub fn check_child(order: &Value, parent: &Value, siblings: Option<&Value>) -> Result<Validation, VectorError> {
    let mut validation = Validation::from(validate_child_order(order, parent));
    if let Some(list) = siblings {
        validation.findings.extend(validate_child_budgets(order, parent, parse_sub_orders(list)?));
    }
    Ok(validation)
}

/// A report against its order: the R rules; with the order's sub-orders, R13.
///
/// # Errors
///
/// [`VectorError::Malformed`] when the list is not of the form that [`parse_sub_orders`] reads.
pub fn check_report(
    report: &Value,
    order: &Value,
    sub_orders: Option<&Value>,
    schemas: &dyn OutputSchemas,
) -> Result<Validation, VectorError> {
    let sub_orders = sub_orders.map(parse_sub_orders).transpose()?;
    let mut validation = validate_report(report, order, schemas);
    // A broken structure hides everything else, R13 too.
    let broken = validation.findings.iter().any(|finding| finding.rule == Rule::R1);
    if let Some(list) = sub_orders.filter(|_| !broken) {
        validation.findings.extend(validate_own_cost(report, order, list));
    }
    Ok(validation)
}

/// Reads `[{"order", "state"}]`, the form of `siblings` and `sub_orders` here and on the command line.
///
/// # Errors
///
/// [`VectorError::Malformed`] when the value is anything else.
pub fn parse_sub_orders(list: &Value) -> Result<Vec<SubOrder<'_>>, VectorError> {
    let items = list.as_array().ok_or(VectorError::Malformed("sub-orders must be an array"))?;
    items
        .iter()
        .map(|item| {
            parse_sub_order(item).ok_or(VectorError::Malformed(
                "a sub-order must be an object with `order` (an object) and `state` (a state's name)",
            ))
        })
        .collect()
}

/// One of them.
fn parse_sub_order(item: &Value) -> Option<SubOrder<'_>> {
    let order = item.get("order").filter(|order| order.as_object().is_some())?;
    let state = State::parse(item.get("state")?.as_str()?)?;
    Some(SubOrder { order, state })
}

/// Reads `expect`.
fn parse_expectations(vector: &Value) -> Result<Vec<Expectation>, VectorError> {
    let expect = vector.get("expect").and_then(Value::as_array).ok_or(VectorError::Malformed("`expect` is missing"))?;
    let parse = |item: &Value| {
        let rule = Rule::parse(item.get("rule")?.as_str()?)?;
        let kind = Kind::parse(item.get("kind")?.as_str()?)?;
        Some((rule, kind, item.get("path")?.as_str()?.into()))
    };
    let malformed = VectorError::Malformed("`expect` must hold objects with a known `rule` and `kind`, and a `path`");
    expect.iter().map(|item| parse(item).ok_or(malformed.clone())).collect()
}
