//! Orders and reports: what messages promise, versions, references, and documents of the largest size.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::fmt::Write as _;

use bailiwick_core::json::{Limits, Value, parse};
use bailiwick_core::work::{
    Finding, Kind, NoEngine, Rule, State, SubOrder, UNITS, effect_references, held_by_sub_orders, order_spec_for,
    report_spec_for, validate_child_budgets, validate_child_order, validate_order, validate_own_cost, validate_report,
};

fn json(text: &str) -> Value {
    parse(text.as_bytes(), &Limits::DOCUMENT).unwrap()
}

/// An order with more members; a repeated name counts last.
fn order(more: &str) -> Value {
    json(&format!(
        r#"{{"spec": "awl/work-order@0.1", "id": "wo_1", "created_at": "2026-01-01T09:00:00Z", "from": "a", "to": "b",
        "goal": "g", "criteria": [{{"id": "c1", "text": "t"}}], "budget": {{"usd": 0.3}},
        "deadline": "2026-01-01T12:00:00Z", "tools": ["a/*"]{more}}}"#
    ))
}

fn report(more: &str) -> Value {
    json(&format!(
        r#"{{"spec": "awl/work-report@0.1", "order_id": "wo_1", "from": "b", "status": "done", "result": {{"summary": ""}},
        "evidence": [{{"criterion": "c1", "type": "note"}}], "cost": {{"usd": 0.1}},
        "finished_at": "2026-01-01T10:00:00Z", "tools_used": []{more}}}"#
    ))
}

fn only(findings: Vec<Finding>) -> Finding {
    let [finding] = <[Finding; 1]>::try_from(findings).unwrap();
    finding
}

#[test]
fn messages_name_what_is_at_fault() {
    let check_order = |more: &str| only(validate_order(&order(more), &NoEngine).findings).message;
    assert!(check_order(r#", "aim": 1"#).contains("`aim`"));
    assert!(check_order(r#", "criteria": [{"id": "c", "text": "t"}, {"id": "c", "text": "u"}]"#).contains("`c`"));
    assert!(check_order(r#", "staged": ["mail/send"]"#).contains("`mail/send`"));

    let check_report = |more: &str| only(validate_report(&report(more), &order(""), &NoEngine).findings).message;
    assert!(check_report(r#", "tools_used": ["web/get"]"#).contains("`web/get`"));
    assert!(check_report(r#", "evidence": []"#).contains("`c1`"));
    assert!(check_report(r#", "cost": {}"#).contains("`usd`"));
}

#[test]
fn what_ends_an_order_says_how_much_was_spent() {
    let over = only(validate_report(&report(r#", "cost": {"usd": 0.5}"#), &order(""), &NoEngine).findings);
    assert_eq!((over.rule, over.kind, over.message.as_str()), (Rule::R7, Kind::Limit, "spent 0.5 usd of 0.3"));

    let sub_order = order(r#", "budget": {"usd": 0.25}"#);
    let held = [SubOrder { order: &sub_order, state: State::Working }];
    let over = only(validate_own_cost(&report(""), &order(""), held));
    assert_eq!(over.message, "spent 0.1 usd and sub-orders hold 0.25, together more than 0.3");
}

#[test]
fn nobody_can_flood_a_message() {
    let name = "n".repeat(100_000);
    let finding = only(validate_order(&order(&format!(", \"{name}\": 1")), &NoEngine).findings);
    assert!(finding.message.len() < 1000, "{}", finding.message.len());
    let finding = only(validate_order(&order(&format!(", \"id\": \"{name}\"")), &NoEngine).findings);
    assert!(finding.message.len() < 1000, "{}", finding.message.len());
}

#[test]
fn a_skipped_rule_is_named() {
    let order = order(r#", "output_schema": {"type": "nope"}"#);
    let validation = validate_order(&order, &NoEngine);
    assert_eq!((validation.findings.len(), validation.skipped.as_slice()), (0, [Rule::O4].as_slice()));
    assert_eq!(validate_report(&report(""), &order, &NoEngine).skipped, [Rule::R11]);
    let blocked = report(r#", "status": "blocked", "questions": ["q"]"#);
    assert_eq!(validate_report(&blocked, &order, &NoEngine).skipped, []);
}

#[test]
fn the_lowest_version_that_fits_is_marked() {
    for (more, version) in [
        ("", "0.1"),
        (r#", "handoff": {}"#, "0.2"),
        (r#", "continues": "x", "handoff": {}"#, "0.3"),
        (r#", "staged": []"#, "0.4"),
        (r#", "staged": null, "continues": null, "handoff": null"#, "0.1"),
    ] {
        assert_eq!(order_spec_for(order(more).as_object().unwrap()), format!("awl/work-order@{version}"), "{more}");
    }
    for (more, version) in
        [("", "0.1"), (r#", "handoff": {}"#, "0.2"), (r#", "effects": []"#, "0.3"), (r#", "effects": null"#, "0.1")]
    {
        assert_eq!(report_spec_for(report(more).as_object().unwrap()), format!("awl/work-report@{version}"), "{more}");
    }
}

#[test]
fn references_carry_their_pointer_and_place() {
    let arguments = json(r#"{"a": [{"$ref": "x/y#1"}], "b/c": {"$ref": "x/y#2", "pointer": "/k"}}"#);
    let found: Vec<_> =
        effect_references(&arguments).into_iter().map(|found| (found.effect, found.pointer, found.path())).collect();
    assert_eq!(found, [("x/y#1", "", "/a/0".into()), ("x/y#2", "/k", "/b~1c".into())]);
}

#[test]
fn held_sums_leave_out_declined_orders_and_seconds() {
    let (one, two) =
        (json(r#"{"budget": {"usd": 0.1, "seconds": 5}}"#), json(r#"{"budget": {"usd": 0.2, "tokens": 7}}"#));
    let held = held_by_sub_orders([
        SubOrder { order: &one, state: State::Expired },
        SubOrder { order: &two, state: State::Approved },
        SubOrder { order: &two, state: State::Declined },
    ]);
    let [usd, tokens, tool_calls, seconds] = UNITS.map(|unit| held.get(unit));
    assert_eq!(usd.unwrap().to_f64(), 0.3);
    assert_eq!(tokens.unwrap().to_u64(), Some(7));
    assert_eq!((tool_calls, seconds), (None, None));
}

/// `count` items, written by `item`.
fn list(count: usize, item: impl Fn(&mut String, usize)) -> String {
    let mut text = String::from("[");
    for index in 0..count {
        if index > 0 {
            text.push(',');
        }
        item(&mut text, index);
    }
    text.push(']');
    text
}

#[test]
fn ten_thousand_of_everything_is_no_trouble() {
    let count = 10_000;
    let criteria = list(count, |text, n| write!(text, r#"{{"id": "c{n}", "text": "t"}}"#).unwrap());
    let tools = list(count, |text, n| write!(text, "\"a/t{n}\"").unwrap());
    let evidence = list(count, |text, n| write!(text, r#"{{"criterion": "c{n}", "type": "note"}}"#).unwrap());
    let effects = list(count, |text, n| {
        write!(text, r#"{{"ref": "a/t{n}#1", "tool": "a/t{n}", "arguments": {{"a": {{"$ref": "a/t{}#1"}}}}}}"#, n / 2)
            .unwrap();
    });
    let order = order(&format!(r#", "criteria": {criteria}, "tools": {tools}, "staged": {tools}"#));
    let report = report(&format!(r#", "evidence": {evidence}, "tools_used": {tools}, "effects": {effects}"#));
    assert!(validate_order(&order, &NoEngine).findings.is_empty());
    // The first effect refers to itself.
    assert_eq!(validate_report(&report, &order, &NoEngine).findings.len(), 1);
    // Everything that the child may call is staged by the parent.
    assert_eq!(validate_child_order(&order, &order).len(), count);

    let siblings = (0..count).map(|_| SubOrder { order: &order, state: State::Working });
    assert_eq!(validate_child_budgets(&order, &order, siblings).len(), 1);
}

#[test]
fn findings_do_not_outgrow_the_report() {
    let name = "n".repeat(1_000_000);
    let references = list(50_000, |text, n| write!(text, r#"{{"$ref": "x#{n}"}}"#).unwrap());
    let effects = format!(r#"[{{"ref": "a/b#1", "tool": "a/b", "arguments": {{"{name}": {references}}}}}]"#);
    let findings = validate_report(&report(&format!(", \"effects\": {effects}")), &order(""), &NoEngine).findings;
    assert!(findings.iter().any(|finding| finding.rule == Rule::R16));
    assert!(findings.iter().map(|finding| finding.path.len()).sum::<usize>() < 6_000_000);

    let unknown: String = (0..50_000).fold(String::new(), |text, n| text + &format!(", \"u{n}\": 1"));
    assert_eq!(validate_order(&order(&unknown), &NoEngine).findings.len(), 10_000);
}
