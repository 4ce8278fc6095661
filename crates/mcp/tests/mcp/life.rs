//! An order's life through the tools.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use bailiwick_mcp::Toolsets;
use jsonschema::Validator;
use serde_json::{Value, json};

use crate::definitions::listed;
use crate::support::{Client, MANAGER, PATIENCE, WORKER, bound, order, pair, report, still_waits, text, with, working};

/// Output schemas by tool.
async fn output_schemas() -> HashMap<String, Validator> {
    let tools = listed(Toolsets::all()).await;
    let named = tools.iter().map(|tool| {
        let schema = jsonschema::draft202012::new(&tool["outputSchema"]).unwrap();
        (tool["name"].as_str().unwrap().to_owned(), schema)
    });
    named.collect()
}

/// Calls a tool and checks what it answers against its output schema.
async fn conforming(
    schemas: &mut HashMap<String, Validator>,
    client: &mut Client,
    tool: &str,
    arguments: Value,
) -> Value {
    let answer = client.done(tool, arguments).await;
    let errors: Vec<String> = schemas[tool].iter_errors(&answer).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{tool}: {errors:?}");
    answer
}

#[tokio::test]
async fn an_order_goes_through_its_life_and_each_result_is_as_stated() {
    let (_desk, mut manager, mut worker) = pair().await;
    let mut schemas = output_schemas().await;
    let s = &mut schemas;
    let view = conforming(s, &mut manager, "create_work_order", order()).await;
    let id = view["id"].clone();
    assert_eq!(
        (&view["state"], &view["from"], &view["latest_report"]),
        (&json!("offered"), &json!(MANAGER), &Value::Null)
    );
    let found = conforming(s, &mut worker, "list_work_orders", json!({"to": WORKER, "state": "offered"})).await;
    assert_eq!(found["orders"][0]["id"], id);
    conforming(s, &mut worker, "get_work_order", json!({"id": id})).await;
    assert_eq!(conforming(s, &mut worker, "accept_work_order", json!({"id": id})).await["state"], "accepted");
    assert_eq!(conforming(s, &mut worker, "start_work_order", json!({"id": id})).await["state"], "working");
    let view = conforming(s, &mut worker, "report_progress", json!({"id": id, "note": "half", "percent": 50})).await;
    assert_eq!(view["last_seq"], 4);
    let blocked = with(with(report(&id), "status", json!("blocked")), "questions", json!(["Which window?"]));
    let summary = conforming(s, &mut worker, "submit_work_report", blocked).await;
    assert_eq!((&summary["state"], &summary["findings"]), (&json!("blocked"), &json!([])));
    assert_eq!(
        conforming(s, &mut manager, "answer_question", json!({"id": id, "answer": "8 to 9"})).await["state"],
        "working"
    );
    conforming(s, &mut worker, "submit_work_report", report(&id)).await;
    let rework = json!({"id": id, "decision": "rework", "reason": "No window"});
    assert_eq!(conforming(s, &mut manager, "review_work_report", rework).await["state"], "working");
    conforming(s, &mut worker, "submit_work_report", report(&id)).await;
    let view = conforming(s, &mut manager, "review_work_report", json!({"id": id, "decision": "approve"})).await;
    assert_eq!((&view["state"], &view["latest_report"]["attempt"]), (&json!("approved"), &json!(3)));
    let wait = json!({"id": id, "since_seq": 0});
    assert_eq!(conforming(s, &mut worker, "wait_for_update", wait).await["state"], "approved");
    let track = conforming(s, &mut manager, "get_track_record", json!({"agent": WORKER})).await;
    assert_eq!((&track["approved"], &track["reworks"], &track["reports"]), (&json!(1), &json!(1), &json!(3)));
    let own = conforming(s, &mut worker, "get_track_record", json!({})).await;
    assert_eq!(own, track);

    let second = conforming(s, &mut manager, "create_work_order", order()).await["id"].clone();
    conforming(s, &mut worker, "decline_work_order", json!({"id": second, "reason": "busy"})).await;
    let third = with(order(), "continues", second);
    let third = conforming(s, &mut manager, "create_work_order", third).await;
    assert!(third["continues"].is_string());
    conforming(s, &mut manager, "cancel_work_order", json!({"id": third["id"]})).await;
    let nobody = conforming(s, &mut manager, "get_track_record", json!({"agent": "agent:new"})).await;
    assert_eq!(nobody["orders"], 0);
}

#[tokio::test]
async fn every_part_of_an_order_and_a_report_gets_through() {
    let (_desk, mut manager, mut worker) = pair().await;
    let full = json!({
        "id": "wo_full", "to": WORKER, "goal": "g", "criteria": [{"id": "c", "text": "t"}],
        "budget": {"usd": 1, "tokens": 1000, "tool_calls": 5, "seconds": 60.5}, "deadline": "2999-01-01T00:00:00Z",
        "tools": ["mail/send", "web/*"], "staged": ["mail/send"], "escalate_to": "human:bo", "inputs": {"a": [1, 2.5, null]},
        "context": [{"uri": "file:///x", "note": ""}],
        "handoff": {"summary": "s", "decisions": [{"text": "d", "why": "w"}], "tried": [{"text": "t", "result": ""}], "open_questions": ["q"], "next_step": "n"},
        "output_schema": {"type": "object", "required": ["n"]}, "metadata": {"k": "v"},
    });
    let view = manager.done("create_work_order", full.clone()).await;
    for (name, value) in full.as_object().unwrap() {
        assert_eq!(&view["order"][name], value, "{name}");
    }
    worker.done("accept_work_order", json!({"id": "wo_full"})).await;
    let report = json!({
        "id": "wo_full", "status": "done",
        "result": {"summary": "s", "output": {"n": 0.30000000000000004}, "artifacts": [{"uri": "file:///y", "media_type": "text/plain", "note": "n"}]},
        "evidence": [{"criterion": "c", "type": "note", "ref": "r", "note": "n"}],
        "cost": {"usd": 0.1, "tokens": 1, "tool_calls": 1, "seconds": 0.5}, "tools_used": ["web/get"],
        "effects": [{"ref": "mail/send#1", "tool": "mail/send", "arguments": {"to": "x"}, "reversible": false}],
        "started_at": "2026-01-01T00:00:00Z", "finished_at": "2026-01-01T01:00:00Z",
        "handoff": {"next_step": "n"}, "metadata": {"k": 1},
    });
    worker.done("submit_work_report", report.clone()).await;
    let view = manager.done("get_work_order", json!({"id": "wo_full"})).await;
    for (name, value) in report.as_object().unwrap().iter().filter(|(name, _)| *name != "id") {
        assert_eq!(&view["latest_report"][name], value, "{name}");
    }
    let approve = json!({"id": "wo_full", "decision": "approve", "effects": ["mail/send#1"]});
    let view = manager.done("review_work_report", approve).await;
    assert_eq!(view["events"].as_array().unwrap().last().unwrap()["effects"], json!(["mail/send#1"]));
    let child = with(with(order(), "parent_id", json!("wo_full")), "tools", json!(["web/get"]));
    assert_eq!(worker.refused("create_work_order", child).await["code"], "INVALID_TRANSITION");
}

#[tokio::test]
async fn a_refused_report_names_its_failed_checks_and_changes_nothing() {
    let (_desk, mut manager, mut worker) = pair().await;
    let id = working(&mut manager, &mut worker).await;
    let bad = with(with(report(&id), "evidence", json!([])), "tools_used", json!(["web/get"]));
    let error = worker.refused("submit_work_report", bad).await;
    assert_eq!(error["code"], "VALIDATION_FAILED");
    let rules: Vec<&str> = error["findings"].as_array().unwrap().iter().map(|f| f["rule"].as_str().unwrap()).collect();
    assert_eq!(rules, ["R4", "R5"]);
    assert_eq!(worker.done("get_work_order", json!({"id": id})).await["state"], "working");
    assert_eq!(worker.done("submit_work_report", report(&id)).await["state"], "submitted");
}

#[tokio::test]
async fn an_over_budget_report_is_kept_and_its_findings_shown() {
    let (_desk, mut manager, mut worker) = pair().await;
    let id = working(&mut manager, &mut worker).await;
    let over = with(report(&id), "cost", json!({"usd": 0.5000000000000001, "tool_calls": 1}));
    let summary = worker.done("submit_work_report", over).await;
    assert_eq!((&summary["state"], &summary["findings"][0]["rule"]), (&json!("expired"), &json!("R7")));
}

#[tokio::test]
async fn a_list_goes_on_where_it_ended() {
    let (_desk, mut manager, _worker) = pair().await;
    for n in 0..5 {
        manager.done("create_work_order", with(order(), "id", json!(format!("wo_{n}")))).await;
    }
    let mut seen = Vec::new();
    let mut arguments = json!({"from": MANAGER, "limit": 2});
    loop {
        let result = manager.call("list_work_orders", arguments.clone()).await;
        let shown: Vec<Value> = serde_json::from_str(text(&result)).unwrap();
        seen.extend(shown.iter().map(|order| order["id"].as_str().unwrap().to_owned()));
        let structured = &result["structuredContent"];
        assert_eq!(structured["orders"], json!(shown));
        let Some(cursor) = structured["next_cursor"].as_str() else {
            assert_eq!(result["content"].as_array().unwrap().len(), 1);
            break;
        };
        let note = result["content"][1]["text"].as_str().unwrap();
        assert!(note.contains(&json!(cursor).to_string()), "{note}");
        arguments["cursor"] = json!(cursor);
    }
    assert_eq!(seen, ["wo_0", "wo_1", "wo_2", "wo_3", "wo_4"]);
    let error = manager.refused("list_work_orders", json!({"cursor": "nonsense"})).await;
    assert_eq!(error["code"], "BAD_REQUEST");
}

#[tokio::test]
async fn texts_are_indented_by_two_spaces() {
    let (_desk, mut manager, _worker) = pair().await;
    let result = manager.call("create_work_order", with(order(), "id", json!("wo_1"))).await;
    assert!(text(&result).starts_with("{\n  \"id\": \"wo_1\",\n  \"state\": \"offered\","), "{}", text(&result));
}

#[tokio::test]
async fn waiting_ends_with_a_change_or_in_time() {
    let (_desk, mut manager, mut worker) = pair().await;
    let id = working(&mut manager, &mut worker).await;
    let began = Instant::now();
    let view = manager.done("wait_for_update", json!({"id": id, "since_seq": 3, "timeout_s": 1})).await;
    assert!(began.elapsed() >= Duration::from_secs(1));
    assert_eq!(view["last_seq"], 3);
    let waiting = manager.done("wait_for_update", json!({"id": id, "since_seq": 3}));
    let mut waiting = Box::pin(waiting);
    still_waits(&mut waiting).await;
    worker.done("report_progress", json!({"id": id, "note": "on it"})).await;
    assert_eq!(waiting.await["last_seq"], 4);
    assert_eq!(manager.refused("wait_for_update", json!({"id": "wo_none", "since_seq": 0})).await["code"], "NOT_FOUND");
}

#[tokio::test]
async fn a_waiting_call_does_not_hold_up_others_and_can_be_taken_back() {
    let (_desk, mut manager, mut worker) = pair().await;
    let id = working(&mut manager, &mut worker).await;
    let wait = json!({"name": "wait_for_update", "arguments": {"id": id, "since_seq": 99, "timeout_s": 55}});
    manager.send(&json!({"jsonrpc": "2.0", "id": "w", "method": "tools/call", "params": wait})).await;
    manager.done("get_work_order", json!({"id": id})).await;
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "w"}});
    manager.send(&cancel).await;
    manager.done("get_work_order", json!({"id": id})).await;
    // The request that was taken back is never answered: the next message answers the next request.
    manager.done("get_work_order", json!({"id": id})).await;
    manager.close().await;
}

#[tokio::test]
async fn waiting_calls_answer_when_the_server_stops_or_input_ends() {
    let (desk, mut manager, mut worker) = pair().await;
    let id = working(&mut manager, &mut worker).await;
    let wait = json!({"name": "wait_for_update", "arguments": {"id": id, "since_seq": 99, "timeout_s": 55}});
    let began = Instant::now();
    manager.send(&json!({"jsonrpc": "2.0", "id": 77, "method": "tools/call", "params": wait})).await;
    manager.done("get_work_order", json!({"id": id})).await;
    manager.shutdown.cancel();
    let reply = manager.receive().await;
    assert_eq!((&reply["id"], &reply["result"]["structuredContent"]["last_seq"]), (&json!(77), &json!(3)));
    tokio::time::timeout(PATIENCE, &mut manager.served).await.unwrap().unwrap().unwrap();

    let mut other = Client::open(&desk, bound(MANAGER)).await;
    other.send(&json!({"jsonrpc": "2.0", "id": 78, "method": "tools/call", "params": wait})).await;
    other.end_input().await;
    let reply = other.receive().await;
    assert_eq!((&reply["id"], &reply["result"]["structuredContent"]["last_seq"]), (&json!(78), &json!(3)));
    tokio::time::timeout(PATIENCE, &mut other.served).await.unwrap().unwrap().unwrap();
    assert!(began.elapsed() < Duration::from_secs(30), "as things stand, not when the wait is over");
}

#[tokio::test]
async fn a_command_with_a_key_is_done_once() {
    let (_desk, mut manager, _worker) = pair().await;
    let keyed = |order: Value, key: Value| json!({"name": "create_work_order", "arguments": order, "_meta": {"bailiwick/idempotency-key": key}});
    let first = manager.request("tools/call", keyed(order(), json!("k1"))).await;
    let again = manager.request("tools/call", keyed(order(), json!("k1"))).await;
    assert_eq!(first["result"]["structuredContent"]["id"], again["result"]["structuredContent"]["id"]);
    let found = manager.done("list_work_orders", json!({})).await;
    assert_eq!(found["orders"].as_array().unwrap().len(), 1);
    let other = manager.request("tools/call", keyed(with(order(), "goal", json!("another")), json!("k1"))).await;
    assert!(text(&other["result"]).contains("\"CONFLICT\""), "{other}");
    for key in [json!(""), json!(7), json!("k".repeat(201))] {
        let refused = manager.request("tools/call", keyed(order(), key)).await;
        assert!(text(&refused["result"]).contains("\"BAD_REQUEST\""), "{refused}");
    }
}
