//! MCP over HTTP, on both wires.

use std::time::Duration;

use axum::http::Method;
use serde_json::{Value, json};

use crate::running::{Answer, Call, MANAGER, Running, WORKER, new_order, start, start_open, within_reason};

const OLDER: &str = "2025-11-25";
const NEWER: &str = "2026-07-28";

fn older(server: &Running, method: &str, params: Value) -> Call {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    server.post("/mcp", body).header("accept", "application/json, text/event-stream")
}

fn newer(server: &Running, method: &str, mut params: Value) -> Call {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": NEWER,
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let name = params["name"].as_str().unwrap_or_default().to_string();
    let call = older(server, method, params).header("mcp-protocol-version", NEWER).header("mcp-method", method);
    if name.is_empty() { call } else { call.header("mcp-name", &name) }
}

fn tool(name: &str, arguments: Value) -> Value {
    json!({"name": name, "arguments": arguments})
}

fn structured(answer: &Answer) -> Value {
    assert_eq!(answer.status, 200, "{}", answer.text());
    let result = answer.json()["result"].clone();
    assert_ne!(result["isError"], true, "{result}");
    result["structuredContent"].clone()
}

fn refusal(answer: &Answer) -> Value {
    let result = &answer.json()["result"];
    assert_eq!(result["isError"], true, "{}", answer.text());
    serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap()
}

#[tokio::test]
async fn the_older_wire_opens_with_a_handshake_and_needs_no_session() {
    let server = start().await;
    let params = json!({"protocolVersion": OLDER, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let opened = older(&server, "initialize", params).by(MANAGER).send().await;
    assert_eq!(opened.json()["result"]["protocolVersion"], OLDER);
    assert_eq!(opened.header("content-type"), "application/json");
    let session = opened.header("mcp-session-id").to_string();
    assert_eq!(session.len(), 32);
    let told = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let told = server.post("/mcp", told).by(MANAGER).header("accept", "application/json, text/event-stream");
    assert_eq!(told.header("mcp-session-id", &session).send().await.status, 202);
    for session in [Some(session.as_str()), None] {
        let mut call = older(&server, "tools/list", json!({})).by(MANAGER).header("mcp-protocol-version", OLDER);
        if let Some(session) = session {
            call = call.header("mcp-session-id", session);
        }
        assert!(call.send().await.json()["result"]["tools"].as_array().unwrap().len() > 10);
    }
    for method in [Method::GET, Method::DELETE] {
        let refused = server.call(method, "/mcp").by(MANAGER).header("mcp-session-id", &session).send().await;
        refused.is_problem(405, "METHOD_NOT_ALLOWED");
        assert_eq!(refused.header("allow"), "POST");
    }
    server.stop().await;
}

#[tokio::test]
async fn tools_act_as_whoever_the_key_stands_for_on_either_wire() {
    let server = start().await;
    let discovered = newer(&server, "server/discover", json!({})).by(MANAGER).send().await;
    assert_eq!(discovered.status, 200, "{}", discovered.text());
    assert!(discovered.headers.get("mcp-session-id").is_none());
    let created = newer(&server, "tools/call", tool("create_work_order", new_order())).by(MANAGER).send().await;
    let view = structured(&created);
    let id = view["id"].as_str().unwrap();
    assert_eq!(view["from"], MANAGER);
    let accepted = older(&server, "tools/call", tool("accept_work_order", json!({"id": id}))).by(WORKER).send().await;
    assert_eq!(structured(&accepted)["state"], "accepted");
    let other = tool("start_work_order", json!({"id": id, "actor": WORKER}));
    assert_eq!(refusal(&older(&server, "tools/call", other).by(MANAGER).send().await)["code"], "FORBIDDEN");
    let rest = server.get(&format!("/api/v1/orders/{id}")).by(MANAGER).send().await.json();
    assert_eq!(rest["state"], "accepted");
    let numbers = server.get("/metrics").send().await.text();
    for line in [
        "bailiwick_commands_total{interface=\"mcp\",name=\"create_work_order\",outcome=\"ok\"} 1",
        "bailiwick_commands_total{interface=\"mcp\",name=\"start_work_order\",outcome=\"FORBIDDEN\"} 1",
    ] {
        assert!(numbers.lines().any(|found| found == line), "{line} in\n{numbers}");
    }
    server.stop().await;
}

#[tokio::test]
async fn a_waiting_tool_is_woken_and_counted() {
    let server = start().await;
    let id = server.order().await;
    let call = tool("wait_for_update", json!({"id": id, "since_seq": 1, "timeout_s": 30}));
    let waiting = tokio::spawn(newer(&server, "tools/call", call).by(MANAGER).send());
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(!waiting.is_finished());
    assert!(server.get("/metrics").send().await.text().contains("bailiwick_waiting_calls 1"));
    server.post(&format!("/api/v1/orders/{id}/accept"), json!({})).by(WORKER).send().await;
    assert_eq!(structured(&within_reason(waiting).await.unwrap())["state"], "accepted");
    assert!(server.get("/metrics").send().await.text().contains("bailiwick_waiting_calls 0"));
    server.stop().await;
}

#[tokio::test]
async fn what_is_no_message_is_refused_as_one() {
    let server = start().await;
    let post = |body: &'static str| older(&server, "x", json!({})).by(MANAGER).body(body);
    let broken = post("{\"jsonrpc\":").send().await;
    assert_eq!((broken.status.as_u16(), &broken.json()["error"]["code"]), (400, &json!(-32700)));
    for body in ["{\"id\": 7}", "[]", "7", "{\"jsonrpc\": \"2.0\", \"id\": 7, \"method\": 7}"] {
        let no_message = post(body).send().await;
        assert_eq!(no_message.status, 400, "{body}: {}", no_message.text());
        assert_eq!(no_message.json()["error"]["code"], -32600, "{body}");
    }
    let plain = server.call(Method::POST, "/mcp").by(MANAGER).header("content-type", "text/plain").body("{}");
    plain.send().await.is_problem(415, "UNSUPPORTED_MEDIA_TYPE");
    assert_eq!(older(&server, "tools/list", json!({})).by(MANAGER).send().await.status, 200, "the server lives on");
    server.stop().await;
}

#[tokio::test]
async fn the_newer_wire_has_no_handshake() {
    let server = start().await;
    let params = json!({"protocolVersion": NEWER, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    for params in [params, json!({})] {
        let refused = newer(&server, "initialize", params).by(MANAGER).send().await;
        assert_eq!((refused.status.as_u16(), &refused.json()["error"]["code"]), (404, &json!(-32601)));
    }
    server.stop().await;
}

#[tokio::test]
async fn in_open_mode_a_tool_names_its_actor() {
    let server = start_open().await;
    let mut order = new_order();
    let nobody = newer(&server, "tools/call", tool("create_work_order", order.clone())).send().await;
    assert_eq!(refusal(&nobody)["code"], "BAD_REQUEST");
    order["actor"] = json!(MANAGER);
    let created = newer(&server, "tools/call", tool("create_work_order", order)).send().await;
    assert_eq!(structured(&created)["from"], MANAGER);
    let named =
        newer(&server, "tools/call", tool("create_work_order", new_order())).header("x-bailiwick-actor", WORKER);
    assert_eq!(structured(&named.send().await)["from"], WORKER);
    server.stop().await;
}
