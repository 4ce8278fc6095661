//! What the log says, and what it never says. Alone in its program: a subscriber is for every thread.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[allow(dead_code, reason = "shared with the tests in `http`")]
#[path = "http/running.rs"]
mod running;

use std::io;
use std::sync::{Arc, Mutex};

use serde_json::json;

use running::{MANAGER, WORKER, new_order, start};

#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl io::Write for Written {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(text);
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn a_request_is_a_line_without_anything_secret() {
    let written = Written::default();
    let writer = written.clone();
    tracing_subscriber::fmt().json().with_writer(move || writer.clone()).init();
    let server = start().await;
    let mut order = new_order();
    order["id"] = json!("wo_hidden");
    order["goal"] = json!("hidden goal");
    server.post("/api/v1/orders", order).by(MANAGER).header("x-request-id", "trace-me").send().await;
    server.get("/api/v1/orders/wo_hidden?wait_after=0").by(WORKER).send().await;
    server.get("/api/v1/orders?from=agent%3Ahidden").by(WORKER).send().await;
    server.get("/hidden/path").send().await;
    server.get("/api/v1/orders").header("authorization", "Bearer hidden-key").send().await;
    server.get("/api/v1/orders").header("origin", "http://hidden.example").send().await;
    let call = json!({"name": "get_work_order", "arguments": {"id": "wo_hidden", "hidden": 1}});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call});
    server.post("/mcp", body).by(MANAGER).header("accept", "application/json, text/event-stream").send().await;
    server.stop().await;
    let log = String::from_utf8(written.0.lock().unwrap().clone()).unwrap();
    for never in ["hidden", "manager-key", "worker-key", "agent%3A"] {
        assert!(!log.contains(never), "{never} in\n{log}");
    }
    let line = log.lines().find(|line| line.contains("trace-me")).unwrap();
    let line: serde_json::Value = serde_json::from_str(line).unwrap();
    assert_eq!((&line["fields"]["status"], &line["span"]["method"]), (&json!(201), &json!("POST")));
    assert_eq!((&line["span"]["route"], &line["span"]["id"]), (&json!("/api/v1/orders"), &json!("trace-me")));
    assert!(line["fields"]["milliseconds"].is_number());
}
