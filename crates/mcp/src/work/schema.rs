//! The JSON Schemas (2020-12) of arguments and results. They are kept short: a model reads all of them before its
//! first call. What they leave open, core judges.

use bailiwick_core::work::State;
use serde_json::{Map, Value, json};

/// An object that takes the given members and no others.
pub(super) fn arguments(properties: Value, required: &[&str]) -> Value {
    let mut schema = json!({"type": "object", "properties": properties});
    if !required.is_empty() {
        insert(&mut schema, "required", json!(required));
    }
    insert(&mut schema, "additionalProperties", json!(false));
    schema
}

/// The same, for a tool that acts as somebody.
pub(super) fn acting(mut properties: Value, required: &[&str]) -> Value {
    insert(&mut properties, "actor", described("string", "who acts; needed only if the session is bound to nobody"));
    arguments(properties, required)
}

fn insert(object: &mut Value, name: &str, value: Value) {
    if let Some(members) = object.as_object_mut() {
        members.insert(name.into(), value);
    }
}

pub(super) fn described(type_name: &str, description: &str) -> Value {
    json!({"type": type_name, "description": description})
}

pub(super) fn string() -> Value {
    json!({"type": "string"})
}

pub(super) fn object() -> Value {
    json!({"type": "object"})
}

pub(super) fn strings(description: &str) -> Value {
    json!({"type": "array", "items": string(), "description": description})
}

pub(super) fn order_id() -> Value {
    described("string", "the order's id")
}

pub(super) fn states() -> Value {
    let names: Vec<&str> = State::ALL.iter().map(|state| state.as_str()).collect();
    json!({"type": "string", "enum": names})
}

/// Budget and cost (`spec §2.2`).
pub(super) fn amounts(description: &str) -> Value {
    let number = || json!({"type": "number", "minimum": 0});
    let integer = || json!({"type": "integer", "minimum": 0});
    let properties = json!({"usd": number(), "tokens": integer(), "tool_calls": integer(), "seconds": number()});
    let mut schema = arguments(properties, &[]);
    insert(&mut schema, "description", json!(description));
    schema
}

/// A handoff (`spec §2.4`).
pub(super) fn handoff(description: &str) -> Value {
    let list = |item| json!({"type": "array", "items": item});
    let properties = json!({
        "summary": string(),
        "decisions": list(arguments(json!({"text": string(), "why": string()}), &["text"])),
        "tried": list(arguments(json!({"text": string(), "result": string()}), &["text"])),
        "open_questions": list(string()),
        "next_step": string(),
    });
    let mut schema = arguments(properties, &[]);
    insert(&mut schema, "description", json!(description));
    schema
}

/// The members of a summary (`spec §9`), and which of them are always there.
fn summary_members() -> (Map<String, Value>, Vec<&'static str>) {
    let required = vec!["id", "state", "from", "to", "goal", "deadline", "last_seq"];
    let mut members: Map<String, Value> = ["id", "from", "to", "goal", "deadline", "parent_id", "continues"]
        .map(|name| (name.into(), string()))
        .into_iter()
        .collect();
    members.insert("state".into(), states());
    members.insert("last_seq".into(), json!({"type": "integer"}));
    (members, required)
}

fn findings() -> Value {
    json!({"type": "array", "items": object()})
}

/// A summary and further members, all of them always there.
fn summary_with(more: Vec<(&'static str, Value)>) -> Value {
    let (mut members, mut required) = summary_members();
    for (name, schema) in more {
        members.insert(name.into(), schema);
        required.push(name);
    }
    json!({"type": "object", "properties": members, "required": required})
}

/// The view (`spec §14.1`).
pub(super) fn view() -> Value {
    summary_with(vec![
        ("order", object()),
        ("latest_report", json!({"type": ["object", "null"]})),
        ("findings", findings()),
        ("events", json!({"type": "array", "items": object()})),
    ])
}

/// The ref of a call (`spec §8.3`).
pub(super) fn reference() -> Value {
    described("string", "`server/tool#n`")
}

/// The answer to a start: the view, and a pass where the desk signs them.
pub(super) fn started() -> Value {
    let mut schema = view();
    if let Some(members) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        members.extend(["pass", "expires_at"].map(|name| (name.into(), string())));
    }
    schema
}

/// A pass and when it ends (`spec §13`).
pub(super) fn pass() -> Value {
    json!({
        "type": "object",
        "properties": {"pass": string(), "expires_at": string()},
        "required": ["pass", "expires_at"],
    })
}

/// The answer to a report: the summary and its findings.
pub(super) fn submitted() -> Value {
    summary_with(vec![("findings", findings())])
}

/// A page of summaries.
pub(super) fn page() -> Value {
    json!({
        "type": "object",
        "properties": {"orders": {"type": "array", "items": summary_with(Vec::new())}, "next_cursor": string()},
        "required": ["orders"],
    })
}

/// A track record (`spec §10`).
pub(super) fn track_record() -> Value {
    const COUNTS: [&str; 11] = [
        "orders",
        "active",
        "approved",
        "approved_first_time",
        "declined",
        "expired",
        "cancelled",
        "reworks",
        "reports",
        "failed",
        "blocked",
    ];
    let mut members: Map<String, Value> =
        COUNTS.map(|name| (name.into(), json!({"type": "integer"}))).into_iter().collect();
    members.insert("agent".into(), string());
    members.insert("spent".into(), object());
    members.insert("budget".into(), object());
    let required: Vec<&String> = members.keys().collect();
    json!({"type": "object", "properties": &members, "required": required})
}
