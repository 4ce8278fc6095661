//! The OpenAPI document: complete, consistent, and true.

use std::collections::BTreeSet;

use axum::http::Method;
use serde_json::{Value, json};

use crate::running::{MANAGER, WORKER, done, new_order, start};

/// Every operation there is.
const OPERATIONS: [&str; 33] = [
    "get /.well-known/bailiwick-revocations",
    "get /.well-known/jwks.json",
    "delete /api/v1/session",
    "get /api/v1/agents/{agent}/track-record",
    "get /api/v1/agents",
    "get /api/v1/events",
    "get /api/v1/inbox",
    "get /api/v1/journal/entries",
    "get /api/v1/journal/export",
    "get /api/v1/journal/head",
    "get /api/v1/orders",
    "get /api/v1/orders/{id}",
    "get /api/v1/orders/{id}/calls",
    "get /api/v1/orders/{id}/gateway",
    "get /api/v1/session",
    "get /healthz",
    "get /metrics",
    "get /readyz",
    "post /api/v1/orders",
    "post /api/v1/orders/{id}/accept",
    "post /api/v1/orders/{id}/answer",
    "post /api/v1/orders/{id}/calls",
    "post /api/v1/orders/{id}/calls/outcome",
    "post /api/v1/orders/{id}/cancel",
    "post /api/v1/orders/{id}/control",
    "post /api/v1/orders/{id}/effects/begin",
    "post /api/v1/orders/{id}/effects/outcome",
    "post /api/v1/orders/{id}/effects/retry",
    "post /api/v1/orders/{id}/decline",
    "post /api/v1/orders/{id}/pass",
    "post /api/v1/orders/{id}/progress",
    "post /api/v1/orders/{id}/reports",
    "post /api/v1/orders/{id}/review",
];

fn document() -> Value {
    serde_json::from_str(&bailiwick_server::openapi()).unwrap()
}

fn operations(document: &Value) -> Vec<(String, &Value)> {
    let paths = document["paths"].as_object().unwrap().iter();
    let methods = paths.flat_map(|(path, item)| {
        item.as_object().unwrap().iter().map(move |(method, operation)| (format!("{method} {path}"), operation))
    });
    methods.collect()
}

#[tokio::test]
async fn it_lists_every_route_and_every_route_answers() {
    let document = document();
    assert_eq!(document["openapi"], "3.1.0");
    let mut found: Vec<String> = operations(&document).into_iter().map(|(name, _)| name).collect();
    found.sort();
    let mut expected = OPERATIONS.map(String::from).to_vec();
    expected.push("post /api/v1/orders/{id}/start".into());
    expected.sort();
    assert_eq!(found, expected);
    let server = start().await;
    for name in found {
        let (method, path) = name.split_once(' ').unwrap();
        let path = path.replace("{id}", "x").replace("{agent}", "x");
        let method = Method::from_bytes(method.to_uppercase().as_bytes()).unwrap();
        let answer = server.call(method, &path).by(MANAGER).open().await;
        let status = answer.status().as_u16();
        assert!(status != 405 && status != 500, "{name}: {status}");
    }
    server.stop().await;
}

#[test]
fn operations_are_named_once_and_references_lead_somewhere() {
    let document = document();
    let ids: BTreeSet<&str> =
        operations(&document).iter().map(|(_, operation)| operation["operationId"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), operations(&document).len());
    assert!(!document.to_string().contains("\"examples\":null"));
    let mut references = Vec::new();
    collect(&document, &mut references);
    assert!(references.len() > 100);
    for reference in references {
        assert!(document.pointer(reference.strip_prefix('#').unwrap()).is_some(), "{reference}");
    }
    for (name, operation) in operations(&document) {
        assert!(operation["summary"].is_string() && operation["description"].is_string(), "{name}");
        assert!(operation["responses"].as_object().unwrap().keys().any(|status| status.starts_with('2')), "{name}");
    }
}

fn collect(value: &Value, references: &mut Vec<String>) {
    match value {
        Value::Object(object) => {
            references.extend(object.get("$ref").and_then(Value::as_str).map(String::from));
            object.values().for_each(|member| collect(member, references));
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, references)),
        _ => {}
    }
}

/// Checks a value against a shape of the document.
#[track_caller]
fn check(document: &Value, shape: &str, value: &Value) {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$ref": format!("#/components/schemas/{shape}"),
        "components": document["components"],
    });
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> = validator.iter_errors(value).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert!(errors.is_empty(), "{shape}: {errors:?} in {value}");
    // Whatever is said, is described.
    let described = members(&document["components"]["schemas"][shape], document);
    for name in value.as_object().unwrap().keys() {
        assert!(described.contains(name), "{shape} does not describe `{name}`");
    }
}

/// Checks a value against a shape.
#[track_caller]
pub(crate) fn check_shape(shape: &str, value: &Value) {
    check(&document(), shape, value);
}

fn members(schema: &Value, document: &Value) -> BTreeSet<String> {
    let mut names: BTreeSet<String> =
        schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect();
    for part in schema["allOf"].as_array().into_iter().flatten() {
        let part = part["$ref"].as_str().map_or(part, |path| document.pointer(&path[1..]).unwrap());
        names.extend(members(part, document));
    }
    names
}

#[tokio::test]
async fn answers_have_the_shapes_it_states() {
    let (document, server) = (document(), start().await);
    check(&document, "NewOrder", &new_order());
    check(&document, "NewReport", &done());
    let id = server.order_at_work().await;
    let get = |path: String| server.get(&path).by(MANAGER).send();
    check(&document, "Orders", &get("/api/v1/orders?limit=1".into()).await.json());
    check(&document, "View", &get(format!("/api/v1/orders/{id}")).await.json());
    let progress = json!({"note": "x", "percent": 12.5});
    check(&document, "Progress", &progress);
    let path = format!("/api/v1/orders/{id}/progress");
    check(&document, "View", &server.post(&path, progress).by(WORKER).send().await.json());
    let reported = server.post(&format!("/api/v1/orders/{id}/reports"), done()).by(WORKER).send().await.json();
    check(&document, "Submitted", &reported);
    let view = get(format!("/api/v1/orders/{id}")).await.json();
    check(&document, "View", &view);
    for event in view["events"].as_array().unwrap() {
        check(&document, "Event", event);
    }
    check(&document, "TrackRecord", &get("/api/v1/agents/agent%3Aworker/track-record".into()).await.json());
    check(&document, "Session", &get("/api/v1/session".into()).await.json());
    check(&document, "Head", &get("/api/v1/journal/head".into()).await.json());
    let entries = get("/api/v1/journal/entries".into()).await.json();
    check(&document, "Entries", &entries);
    let before = get("/api/v1/journal/entries?before=9".into()).await.json();
    check(&document, "Entries", &before);
    let agents = get("/api/v1/agents".into()).await.json();
    check(&document, "Agents", &agents);
    check(&document, "KnownAgent", &agents["agents"][0]);
    let inbox = get("/api/v1/inbox".into()).await.json();
    check(&document, "Inbox", &inbox);
    for entry in entries["entries"].as_array().unwrap() {
        check(&document, "Entry", entry);
    }
    let problem = server.post("/api/v1/orders", json!({})).by(MANAGER).send().await.json();
    check(&document, "Problem", &problem);
    check(&document, "Finding", &problem["findings"][0]);
    server.stop().await;
}

#[tokio::test]
async fn document_and_page_are_served() {
    let server = start().await;
    let served = server.get("/api/v1/openapi.json").send().await;
    assert_eq!(served.header("content-type"), "application/json");
    assert_eq!(served.json(), document());
    let page = server.get("/api/v1/docs").send().await;
    assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
    let policy = page.header("content-security-policy");
    assert!(policy.contains("default-src 'none'") && policy.contains("style-src 'self'"), "{policy}");
    assert!(page.text().contains("INVALID_TRANSITION"));
    assert_eq!(server.get("/api/v1/docs.css").send().await.header("content-type"), "text/css; charset=utf-8");
    server.stop().await;
}
