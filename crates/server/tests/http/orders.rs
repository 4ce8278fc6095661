//! Orders over REST: the whole life, and each class of error.

use std::time::{Duration, Instant};

use axum::http::Method;
use bailiwick_mcp::{Access, Toolsets};
use bailiwick_server::ServerOptions;
use serde_json::{Value, json};

use crate::running::{MANAGER, WORKER, done, new_order, start, start_with, within_reason};

#[tokio::test]
async fn an_order_lives_from_offer_to_approval() {
    let server = start().await;
    let created = server.post("/api/v1/orders", new_order()).by(MANAGER).send().await;
    assert_eq!(created.status, 201);
    let view = created.json();
    let id = view["id"].as_str().unwrap();
    assert_eq!(created.header("location"), format!("/api/v1/orders/{id}"));
    assert_eq!((&view["state"], &view["from"], &view["last_seq"]), (&json!("offered"), &json!(MANAGER), &json!(1)));

    let listed = server.get("/api/v1/orders?to=agent%3Aworker&state=offered").by(WORKER).send().await.json();
    assert_eq!(listed["orders"][0]["id"], id);
    assert_eq!(listed["orders"].as_array().unwrap().len(), 1);

    let path = |step: &str| format!("/api/v1/orders/{id}/{step}");
    let states = [
        ("accept", WORKER, json!({}), "accepted"),
        ("start", WORKER, json!({}), "working"),
        ("progress", WORKER, json!({"note": "reading", "percent": 40}), "working"),
        ("reports", WORKER, blocked(), "blocked"),
        ("answer", MANAGER, json!({"answer": "UTC"}), "working"),
        ("reports", WORKER, done(), "submitted"),
        ("review", MANAGER, json!({"decision": "rework", "reason": "name the cause"}), "working"),
        ("reports", WORKER, done(), "submitted"),
        ("review", MANAGER, json!({"decision": "approve"}), "approved"),
    ];
    for (step, agent, body, state) in states {
        let answer = server.post(&path(step), body).by(agent).send().await;
        assert_eq!(answer.status, 200, "{step}: {}", answer.text());
        assert_eq!(answer.json()["state"], state, "{step}");
    }
    let view = server.get(&format!("/api/v1/orders/{id}")).by(WORKER).send().await.json();
    assert_eq!(view["latest_report"]["attempt"], 3);
    assert_eq!(view["events"].as_array().unwrap().len(), 10);
    assert_eq!(view["events"][3]["percent"], 40);

    let track = server.get("/api/v1/agents/agent%3Aworker/track-record").by(MANAGER).send().await.json();
    assert_eq!((&track["orders"], &track["approved"], &track["reworks"]), (&json!(1), &json!(1), &json!(1)));
    server.stop().await;
}

fn blocked() -> Value {
    json!({
        "status": "blocked", "result": {"summary": "which zone"}, "evidence": [], "cost": {"usd": 0.1},
        "tools_used": [], "questions": ["Which time zone?"],
    })
}

#[tokio::test]
async fn orders_are_declined_and_cancelled_with_a_reason_or_without() {
    let server = start().await;
    let (first, second) = (server.order().await, server.order().await);
    let declined = server.post(&format!("/api/v1/orders/{first}/decline"), json!({"reason": "busy"})).by(WORKER).send();
    assert_eq!(declined.await.json()["events"][1]["note"], "busy");
    let cancelled = server.call(Method::POST, &format!("/api/v1/orders/{second}/cancel")).by(MANAGER).send().await;
    assert_eq!(cancelled.json()["state"], "cancelled");
    server.stop().await;
}

#[tokio::test]
async fn refusals_carry_the_code_and_its_status() {
    let server = start().await;
    let id = server.order().await;
    let nothing = server.get("/api/v1/orders/wo_none").by(MANAGER).send().await;
    nothing.is_problem(404, "NOT_FOUND");
    let again = server.post("/api/v1/orders", with(new_order(), "id", json!(id))).by(MANAGER).send().await;
    again.is_problem(409, "ALREADY_EXISTS");
    let accept = format!("/api/v1/orders/{id}/accept");
    server.post(&accept, json!({})).by(MANAGER).send().await.is_problem(403, "FORBIDDEN");
    let start = format!("/api/v1/orders/{id}/start");
    let detail = server.post(&start, json!({})).by(WORKER).send().await.is_problem(409, "INVALID_TRANSITION");
    assert!(detail.contains("offered"), "{detail}");
    let invalid = server.post("/api/v1/orders", with(new_order(), "criteria", json!([]))).by(MANAGER).send().await;
    invalid.is_problem(422, "VALIDATION_FAILED");
    let finding = &invalid.json()["findings"][0];
    assert_eq!((&finding["rule"], &finding["path"]), (&json!("O1"), &json!("/criteria")));
    server.stop().await;
}

fn with(mut value: Value, name: &str, member: Value) -> Value {
    value[name] = member;
    value
}

#[tokio::test]
async fn malformed_requests_are_named() {
    let server = start().await;
    let id = server.order().await;
    let post = |step: &str, body: Value| server.post(&format!("/api/v1/orders/{id}/{step}"), body).by(WORKER);
    let detail = post("decline", json!({"why": "x"})).send().await.is_problem(400, "BAD_REQUEST");
    assert!(detail.contains("`why`") && detail.contains("`reason`"), "{detail}");
    let detail = post("decline", json!({"id": "other"})).send().await.is_problem(400, "BAD_REQUEST");
    assert!(detail.contains("path"), "{detail}");
    post("progress", json!({"note": "x", "percent": 101})).send().await.is_problem(400, "BAD_REQUEST");
    post("decline", json!(["x"])).send().await.is_problem(400, "BAD_REQUEST");
    let text = post("decline", json!(0)).body("{\"reason\": }").send().await;
    let detail = text.is_problem(400, "BAD_REQUEST");
    assert!(detail.contains("line 1 column 12"), "{detail}");
    post("decline", json!(0)).body("{\"reason\": \"\\ud800\"}").send().await.is_problem(400, "BAD_REQUEST");
    post("progress", json!(0)).body("").send().await.is_problem(400, "BAD_REQUEST");

    let plain = server.call(Method::POST, "/api/v1/orders").by(MANAGER).header("content-type", "text/plain");
    plain.body("{}").send().await.is_problem(415, "UNSUPPORTED_MEDIA_TYPE");
    server
        .call(Method::POST, "/api/v1/orders")
        .by(MANAGER)
        .body("{}")
        .send()
        .await
        .is_problem(415, "UNSUPPORTED_MEDIA_TYPE");
    let nowhere = server.get("/api/v1/order").by(MANAGER).send().await;
    nowhere.is_problem(404, "NOT_FOUND");
    let wrong = server.call(Method::DELETE, "/api/v1/orders").by(MANAGER).send().await;
    wrong.is_problem(405, "METHOD_NOT_ALLOWED");
    assert_eq!(wrong.header("allow"), "GET,HEAD,POST");
    let wrong = server.call(Method::POST, "/healthz").send().await;
    wrong.is_problem(405, "METHOD_NOT_ALLOWED");
    server.stop().await;
}

#[tokio::test]
async fn queries_are_read_strictly() {
    let server = start().await;
    let refused = [
        ("/api/v1/orders?stat=offered", "`stat`"),
        ("/api/v1/orders?state=lost", "`lost`"),
        ("/api/v1/orders?limit=0", "`limit`"),
        ("/api/v1/orders?limit=ten", "`ten`"),
        ("/api/v1/orders?to=a&to=b", "`to` occurs twice"),
        ("/api/v1/orders/x?wait_after=-1", "`wait_after`"),
        ("/api/v1/orders/x?wait_after=1&timeout_s=56", "from 1 to 55"),
        ("/api/v1/orders/x?timeout_s=5", "`wait_after`"),
        ("/api/v1/orders/x?since=5", "`since`"),
        ("/api/v1/orders/%FF", "UTF-8"),
        ("/api/v1/agents/a/track-record?x=1", "`x`"),
        ("/api/v1/journal/entries?limit=1001", "`limit`"),
        ("/api/v1/journal/head?x=1", "`x`"),
    ];
    for (path, named) in refused {
        let detail = server.get(path).by(MANAGER).send().await.is_problem(400, "BAD_REQUEST");
        assert!(detail.contains(named), "{path}: {detail}");
    }
    server.stop().await;
}

#[tokio::test]
async fn lists_are_paged() {
    let server = start().await;
    for _ in 0..5 {
        server.order().await;
    }
    let (mut seen, mut path) = (Vec::new(), "/api/v1/orders?limit=2".to_string());
    loop {
        let page = server.get(&path).by(MANAGER).send().await.json();
        seen.extend(page["orders"].as_array().unwrap().iter().map(|order| order["id"].to_string()));
        let Some(cursor) = page["next_cursor"].as_str() else { break };
        path = format!("/api/v1/orders?limit=2&cursor={}", cursor.replace(':', "%3A").replace('/', "%2F"));
    }
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 5);
    server.stop().await;
}

#[tokio::test]
async fn ids_of_any_characters_work_in_paths() {
    let server = start().await;
    let id = "a/b c?é%";
    let created = server.post("/api/v1/orders", with(new_order(), "id", json!(id))).by(MANAGER).send().await;
    let place = created.header("location").to_string();
    assert_eq!(place, "/api/v1/orders/a%2Fb%20c%3F%C3%A9%25");
    assert_eq!(server.get(&place).by(WORKER).send().await.json()["id"], id);
    let accepted = server.post(&format!("{place}/accept"), json!({})).by(WORKER).send().await;
    assert_eq!(accepted.json()["state"], "accepted");
    server.stop().await;
}

#[tokio::test]
async fn a_command_with_a_key_is_done_once() {
    let server = start().await;
    let create = |order: Value| server.post("/api/v1/orders", order).by(MANAGER).header("idempotency-key", "k-1");
    let order = new_order();
    let (first, second) = (create(order.clone()).send().await, create(order.clone()).send().await);
    assert_eq!((first.status.as_u16(), second.status.as_u16()), (201, 201));
    assert_eq!(first.json(), second.json());
    let other = create(with(order, "goal", json!("Another"))).send().await;
    other.is_problem(409, "CONFLICT");
    let listed = server.get("/api/v1/orders").by(MANAGER).send().await.json();
    assert_eq!(listed["orders"].as_array().unwrap().len(), 1);
    let long = server.post("/api/v1/orders", new_order()).by(MANAGER).header("idempotency-key", &"k".repeat(201));
    long.send().await.is_problem(400, "BAD_REQUEST");
    server.stop().await;
}

#[tokio::test]
async fn a_waiting_call_is_woken_by_the_change() {
    let server = start().await;
    let id = server.order().await;
    let wait = server.get(&format!("/api/v1/orders/{id}?wait_after=1&timeout_s=30")).by(MANAGER).send();
    let waiting = tokio::spawn(wait);
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(!waiting.is_finished());
    let begun = Instant::now();
    server.post(&format!("/api/v1/orders/{id}/accept"), json!({})).by(WORKER).send().await;
    let view = within_reason(waiting).await.unwrap().json();
    assert_eq!(view["state"], "accepted");
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    let at_once = server.get(&format!("/api/v1/orders/{id}?wait_after=1")).by(MANAGER).send().await;
    assert_eq!(at_once.json()["last_seq"], 2);
    let begun = Instant::now();
    let unchanged = server.get(&format!("/api/v1/orders/{id}?wait_after=2&timeout_s=1")).by(MANAGER).send().await;
    assert_eq!(unchanged.json()["last_seq"], 2);
    assert!(begun.elapsed() >= Duration::from_secs(1));
    server.get("/api/v1/orders/none?wait_after=1").by(MANAGER).send().await.is_problem(404, "NOT_FOUND");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_agents_wait_while_others_act() {
    let server = start_with(|options| {
        // Fewer places for work than agents that wait.
        let limits = bailiwick_server::Limits { requests: 32, ..options.limits };
        ServerOptions { limits, ..options }
    })
    .await;
    let id = server.order().await;
    let path = format!("/api/v1/orders/{id}?wait_after=1&timeout_s=50");
    let mut waiting = Vec::new();
    while waiting.len() < 200 {
        waiting.extend((0..25).map(|_| tokio::spawn(server.get(&path).by(WORKER).send())));
        let all_wait = format!("bailiwick_waiting_calls {}\n", waiting.len());
        within_reason(async {
            while !server.get("/metrics").send().await.text().contains(&all_wait) {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        })
        .await;
    }
    server.post(&format!("/api/v1/orders/{id}/accept"), json!({})).by(WORKER).send().await;
    for call in waiting {
        assert_eq!(within_reason(call).await.unwrap().json()["state"], "accepted");
    }
    server.stop().await;
}

#[tokio::test]
async fn a_read_only_server_changes_nothing() {
    let server = start_with(|options| {
        let toolsets = Toolsets::default().with_access(Access::ReadOnly);
        ServerOptions { toolsets, ..options }
    })
    .await;
    let refused = server.post("/api/v1/orders", new_order()).by(MANAGER).send().await;
    refused.is_problem(403, "FORBIDDEN");
    assert_eq!(server.get("/api/v1/orders").by(MANAGER).send().await.json(), json!({"orders": []}));
    server.stop().await;
}
