//! Calls, effects and control over HTTP.

use bailiwick_core::hash::hex;
use bailiwick_core::json::{Limits, parse};
use bailiwick_core::work::gateway::arguments_digest;
use serde_json::{Value, json};

use crate::openapi::check_shape;
use crate::running::{GATEWAY, MANAGER, Running, WORKER, done, new_order, start};

/// An order at work whose mails are held, with three calls to make; its id.
async fn at_work(server: &Running) -> String {
    let mut order = new_order();
    order["tools"] = json!(["status/*", "mail/send"]);
    order["staged"] = json!(["mail/send"]);
    order["budget"] = json!({"usd": 1, "tool_calls": 3});
    let id = server.post("/api/v1/orders", order).by(MANAGER).send().await.json()["id"].as_str().unwrap().to_owned();
    for step in ["accept", "start"] {
        act(server, WORKER, &id, step, json!({})).await;
    }
    id
}

/// What a command that must succeed is answered.
#[track_caller]
fn act(server: &Running, who: &str, id: &str, step: &str, body: Value) -> impl Future<Output = Value> {
    let call = server.post(&format!("/api/v1/orders/{id}/{step}"), body).by(who);
    let step = step.to_owned();
    async move {
        let answer = call.send().await;
        assert_eq!(answer.status, 200, "{step}: {}", answer.text());
        answer.json()
    }
}

fn digest(arguments: &Value) -> String {
    hex(&arguments_digest(&parse(arguments.to_string().as_bytes(), &Limits::DOCUMENT).unwrap()))
}

#[tokio::test]
async fn a_held_mail_is_sent_once_after_it_was_approved() {
    let server = start().await;
    let id = at_work(&server).await;
    let forwarded = act(&server, GATEWAY, &id, "calls", json!({"tool": "status/window", "cost": {"usd": 0.5}})).await;
    check_shape("CallBegun", &forwarded);
    assert_eq!((&forwarded["ref"], &forwarded["remaining"]["usd"]), (&json!("status/window#1"), &json!(0.5)));
    let outcome = json!({"n": 1, "outcome": "done", "cost": {"usd": 0.25}});
    let ended = act(&server, GATEWAY, &id, "calls/outcome", outcome.clone()).await;
    check_shape("CallFinished", &ended);
    act(&server, GATEWAY, &id, "calls/outcome", outcome).await;
    let mail = json!({"to": "list@example.org", "subject": "Outage"});
    let held = act(&server, GATEWAY, &id, "calls", json!({"tool": "mail/send", "arguments": mail})).await;
    assert_eq!((&held["ref"], &held["staged"]), (&json!("mail/send#2"), &json!(true)));

    let status = server.get(&format!("/api/v1/orders/{id}/gateway")).by(WORKER).send().await.json();
    check_shape("Gateway", &status);
    check_shape("Held", &status["held"][0]);
    assert_eq!((&status["spent"]["usd"], &status["remaining"]["tool_calls"]), (&json!(0.25), &json!(1)));
    let mut report = done();
    report["effects"] = status["held"].clone();
    report["cost"] = json!({"usd": 0.25, "tool_calls": 2});
    act(&server, WORKER, &id, "reports", report).await;
    let view = act(&server, MANAGER, &id, "review", json!({"decision": "approve"})).await;
    check_shape("View", &view);
    assert_eq!(view["effects"], json!([{"ref": "mail/send#2", "status": "approved"}]));

    let claim = json!({"ref": "mail/send#2", "tool": "mail/send", "arguments_digest": digest(&mail)});
    let begun = act(&server, GATEWAY, &id, "effects/begin", claim.clone()).await;
    check_shape("EffectBegun", &begun);
    assert_eq!(begun["arguments"], mail);
    let again = server.post(&format!("/api/v1/orders/{id}/effects/begin"), claim.clone()).by(GATEWAY).send().await;
    assert!(again.is_problem(409, "INVALID_TRANSITION").contains("`started`"));
    let failed = json!({"ref": "mail/send#2", "outcome": "failed", "error": "mailbox full"});
    check_shape("EffectFinished", &act(&server, GATEWAY, &id, "effects/outcome", failed).await);
    let retry = json!({"ref": "mail/send#2", "reason": "emptied"});
    act(&server, MANAGER, &id, "effects/retry", retry).await;
    act(&server, GATEWAY, &id, "effects/begin", claim).await;
    let sent = json!({"ref": "mail/send#2", "outcome": "done", "result": {"id": "m1"}});
    act(&server, GATEWAY, &id, "effects/outcome", sent).await;
    let view = server.get(&format!("/api/v1/orders/{id}")).by(MANAGER).send().await.json();
    check_shape("View", &view);
    assert_eq!((&view["effects"][0]["status"], &view["effects"][0]["result"]), (&json!("done"), &json!({"id": "m1"})));

    let calls = server.get(&format!("/api/v1/orders/{id}/calls?limit=1")).by(MANAGER).send().await.json();
    check_shape("Calls", &calls);
    check_shape("Call", &calls["calls"][0]);
    assert_eq!((&calls["calls"][0]["n"], &calls["next_before"]), (&json!(2), &json!(2)));
    let rest = server.get(&format!("/api/v1/orders/{id}/calls?before=2")).by(MANAGER).send().await.json();
    assert_eq!((&rest["calls"][0]["state"], &rest["next_before"]), (&json!("done"), &Value::Null));
    assert!(server.desk.verify(|_| ()).await.unwrap().is_ok());
    server.stop().await;
}

#[tokio::test]
async fn calls_are_for_gateways_and_people_hold_them_up() {
    let server = start().await;
    let id = at_work(&server).await;
    let calls = format!("/api/v1/orders/{id}/calls");
    let call = json!({"tool": "status/window"});
    for who in [WORKER, MANAGER] {
        server.post(&calls, call.clone()).by(who).send().await.is_problem(403, "FORBIDDEN");
    }
    let cancel = format!("/api/v1/orders/{id}/cancel");
    server.post(&cancel, json!({})).by(GATEWAY).send().await.is_problem(403, "FORBIDDEN");
    let control =
        |who: &'static str, body: Value| server.post(&format!("/api/v1/orders/{id}/control"), body).by(who).send();
    control(WORKER, json!({"standing": "paused"})).await.is_problem(403, "FORBIDDEN");
    let paused = control("human:auditor", json!({"standing": "paused", "reason": "Let me look"})).await;
    check_shape("Standing", &paused.json());
    let refused = server.post(&calls, call.clone()).by(GATEWAY).send().await;
    assert!(refused.is_problem(409, "PAUSED").contains("Let me look"));
    assert_eq!(control(MANAGER, json!({"standing": "running"})).await.status, 200);
    for n in 1..=3 {
        assert_eq!(act(&server, GATEWAY, &id, "calls", call.clone()).await["n"], n);
    }
    let over = server.post(&calls, call.clone()).by(GATEWAY).send().await;
    over.is_problem(409, "BUDGET_EXCEEDED");
    assert_eq!(
        (&over.json()["unit"], &over.json()["limit"], &over.json()["spent"]),
        (&json!("tool_calls"), &json!(3), &json!(3))
    );
    assert_eq!(control(MANAGER, json!({"standing": "stopped"})).await.status, 200);
    control("human:auditor", json!({"standing": "running"})).await.is_problem(403, "FORBIDDEN");
    server.post(&calls, call).by(GATEWAY).send().await.is_problem(409, "STOPPED");
    server.stop().await;
}
