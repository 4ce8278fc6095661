//! Whatever a client sends, the server answers and lives on.

use bailiwick_mcp::Toolsets;
use serde_json::{Value, json};

use crate::support::{Client, MANAGER, bound, memory_desk, order, pair, with};

#[tokio::test]
async fn bad_arguments_are_refused_by_name() {
    let (_desk, mut manager, _worker) = pair().await;
    let id = manager.done("create_work_order", order()).await["id"].clone();
    let mut without_goal = order();
    without_goal.as_object_mut().unwrap().remove("goal");
    let cases = [
        ("create_work_order", json!({}), "`to`"),
        ("create_work_order", without_goal, "`goal`"),
        ("create_work_order", with(order(), "goal", json!(7)), "`goal`"),
        ("create_work_order", with(order(), "criteria", json!({})), "`criteria`"),
        ("create_work_order", with(order(), "inputs", Value::Null), "`inputs`"),
        ("create_work_order", with(order(), "x-note", json!("n")), "`x-note`"),
        ("create_work_order", with(order(), "spec", json!("awl/work-order@0.4")), "`spec`"),
        ("list_work_orders", json!({"state": "lost"}), "`lost`"),
        ("list_work_orders", json!({"limit": 0}), "`limit`"),
        ("list_work_orders", json!({"limit": 1001}), "`limit`"),
        ("list_work_orders", json!({"to": ["a"]}), "`to`"),
        ("get_work_order", json!({}), "`id`"),
        ("get_work_order", json!({"id": ""}), "`id`"),
        ("get_work_order", json!({"id": id, "actor": MANAGER}), "`actor`"),
        ("accept_work_order", json!({"id": {"a": 1}}), "`id`"),
        ("report_progress", json!({"id": id, "note": " "}), "`note`"),
        ("report_progress", json!({"id": id, "note": "n", "percent": 101}), "`percent`"),
        ("report_progress", json!({"id": id, "note": "n", "percent": "50"}), "`percent`"),
        ("submit_work_report", json!({"id": id, "status": "done"}), "`result`"),
        ("answer_question", json!({"id": id, "answer": ""}), "`answer`"),
        ("review_work_report", json!({"id": id, "decision": "maybe"}), "`maybe`"),
        ("review_work_report", json!({"id": id, "decision": "rework"}), "`reason`"),
        ("review_work_report", json!({"id": id, "decision": "approve", "effects": [1]}), "`effects`"),
        ("wait_for_update", json!({"id": id}), "`since_seq`"),
        ("wait_for_update", json!({"id": id, "since_seq": -1}), "`since_seq`"),
        ("wait_for_update", json!({"id": id, "since_seq": 1.5}), "`since_seq`"),
        ("wait_for_update", json!({"id": id, "since_seq": 0, "timeout_s": 56}), "`timeout_s`"),
        ("wait_for_update", json!({"id": id, "since_seq": 0, "timeout_s": 0.5}), "`timeout_s`"),
        ("get_track_record", json!({"agent": ""}), "`agent`"),
        ("get_track_record", json!({"agents": "a"}), "`agents`"),
    ];
    for (tool, arguments, named) in cases {
        let error = manager.refused(tool, arguments.clone()).await;
        assert_eq!(error["code"], "BAD_REQUEST", "{tool} {arguments} {error}");
        assert_eq!(error["findings"], json!([]), "{tool} {arguments}");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains(named), "{tool} {arguments}: {message}");
    }
    assert_eq!(manager.done("get_work_order", json!({"id": id})).await["last_seq"], 1);
}

#[tokio::test]
async fn what_is_inside_the_arguments_is_checked_by_the_rules() {
    let (_desk, mut manager, _worker) = pair().await;
    let unknown = with(order(), "criteria", json!([{"id": "c", "text": "t", "weight": 1}]));
    let error = manager.refused("create_work_order", unknown).await;
    assert_eq!((&error["code"], &error["findings"][0]["rule"]), (&json!("VALIDATION_FAILED"), &json!("O1")));
    assert_eq!(error["findings"][0]["path"], "/criteria/0");
    let past = with(order(), "deadline", json!("2020-01-01T00:00:00Z"));
    assert_eq!(manager.refused("create_work_order", past).await["findings"][0]["rule"], "O3");
}

#[tokio::test]
async fn unroutable_requests_get_protocol_errors() {
    let (_desk, mut manager, _worker) = pair().await;
    let cases = [
        ("tools/call", json!({"name": "no_such_tool", "arguments": {}}), -32602),
        ("tools/call", json!({"name": "delete_work_order", "arguments": {}}), -32602),
        ("tools/call", json!({}), -32602),
        ("tools/call", json!({"name": 7}), -32602),
        ("tools/call", json!({"name": "get_work_order", "arguments": [1]}), -32602),
        ("tools/call", json!({"name": "get_work_order", "arguments": "id"}), -32602),
        ("tools/list", json!({"cursor": "x"}), -32602),
        ("no/such/method", json!({}), -32601),
        ("prompts/list", json!({}), -32601),
        ("resources/read", json!({"uri": "file:///etc/passwd"}), -32601),
        ("logging/setLevel", json!({"level": "debug"}), -32601),
        ("tasks/get", json!({"taskId": "x"}), -32601),
    ];
    for (method, params, code) in cases {
        let reply = manager.request(method, params.clone()).await;
        assert_eq!(reply["error"]["code"], code, "{method} {params}: {reply}");
    }
    // No arguments at all are no arguments.
    let reply = manager.request("tools/call", json!({"name": "list_work_orders"})).await;
    assert!(reply["result"]["structuredContent"]["orders"].is_array(), "{reply}");
    assert_eq!(manager.request("ping", json!({})).await["result"], json!({}));
}

#[tokio::test]
async fn lines_that_are_no_messages_are_answered_and_skipped() {
    let (_desk, mut manager, _worker) = pair().await;
    let cases: [(&[u8], i64); 9] = [
        (b"{\n", -32700),
        (b"not json\n", -32700),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\xfe\"}\n", -32700),
        (b"\xef\xbb\xbf{}\n", -32700),
        (b"\"\\ud800\"\n", -32700),
        (b"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]\n", -32600),
        (b"null\n", -32600),
        (b"{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}\n", -32600),
        (b"{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}\n", -32600),
    ];
    for (line, code) in cases {
        manager.write(line).await;
        let reply = manager.receive().await;
        assert_eq!(reply["error"]["code"], code, "{reply}");
        assert_eq!(reply["jsonrpc"], "2.0");
    }
    for silent in [
        "\n",
        "\r\n",
        "  \n",
        "{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{}}\n",
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/odd\",\"params\":[]}\n",
    ] {
        manager.write(silent.as_bytes()).await;
    }
    manager.done("list_work_orders", json!({})).await;
}

#[tokio::test]
async fn repeated_names_mean_the_last_one() {
    let (_desk, mut manager, _worker) = pair().await;
    let line = br#"{"jsonrpc":"2.0","id":1,"id":9,"method":"nope","method":"tools/call","params":{"name":"x","name":"get_work_order","arguments":{"id":"a","id":"wo_last"}}}"#;
    manager.write(line).await;
    manager.write(b"\n").await;
    let reply = manager.receive().await;
    assert_eq!(reply["id"], 9);
    assert!(reply["result"]["content"][0]["text"].as_str().unwrap().contains("`wo_last`"), "{reply}");
}

#[tokio::test]
async fn a_message_of_ten_megabytes_is_refused_and_skipped() {
    let (_desk, mut manager, _worker) = pair().await;
    manager.write(br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":""#).await;
    for _ in 0..160 {
        manager.write(&[b'x'; 64 << 10]).await;
    }
    manager.write(b"\"}}\n").await;
    let reply = manager.receive().await;
    assert_eq!((&reply["id"], &reply["error"]["code"]), (&json!(1), &json!(-32600)));
    assert!(reply["error"]["message"].as_str().unwrap().contains("4194304"), "{reply}");
    manager.done("list_work_orders", json!({})).await;
}

#[tokio::test]
async fn a_message_close_to_the_limit_is_taken() {
    let (_desk, mut manager, _worker) = pair().await;
    let goal = "g".repeat((4 << 20) - 2000);
    let view = manager.done("create_work_order", with(order(), "goal", json!(goal))).await;
    assert_eq!(view["goal"].as_str().unwrap().len(), goal.len());
}

#[tokio::test]
async fn deep_and_wide_arguments_are_refused() {
    let (_desk, mut manager, _worker) = pair().await;
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    let line = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"create_work_order","arguments":{{"inputs":{{"a":{deep}}}}}}}}}"#
    );
    manager.write(line.as_bytes()).await;
    manager.write(b"\n").await;
    assert_eq!(manager.receive().await["error"]["code"], -32700);
    let wide: serde_json::Map<String, Value> = (0..99_000).map(|n| (format!("n{n}"), Value::Null)).collect();
    let error = manager.refused("get_work_order", Value::Object(wide)).await;
    assert_eq!(error["code"], "BAD_REQUEST");
    manager.done("list_work_orders", json!({})).await;
}

#[tokio::test]
async fn nothing_before_the_session_is_open_ends_it() {
    let desk = memory_desk().await;
    let mut client = Client::connect(&desk, bound(MANAGER), Toolsets::default());
    for notification in ["notifications/initialized", "notifications/cancelled", "notifications/odd"] {
        client.send(&json!({"jsonrpc": "2.0", "method": notification, "params": {"requestId": 1}})).await;
    }
    client.send(&json!({"jsonrpc": "2.0", "id": 4, "result": {}})).await;
    client.send(&json!({"jsonrpc": "2.0", "id": 4, "error": {"code": 1, "message": "m"}})).await;
    assert_eq!(client.request("ping", json!({})).await["result"], json!({}));
    assert_eq!(client.request("tools/list", json!({})).await["error"]["code"], -32602);
    assert_eq!(client.request("initialize", json!({"protocolVersion": 7})).await["error"]["code"], -32602);
    assert_eq!(client.request("server/discover", json!({})).await["error"]["code"], -32602);
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    client.initialize().await;
    // Once more: odd, and harmless.
    client.initialize().await;
    client.done("list_work_orders", json!({})).await;
    client.close().await;
}

#[tokio::test]
async fn a_client_that_leaves_before_it_opened_a_session_is_fine() {
    let desk = memory_desk().await;
    Client::connect(&desk, bound(MANAGER), Toolsets::default()).close().await;
}

#[tokio::test]
async fn many_requests_at_once_are_all_answered() {
    let (_desk, mut manager, _worker) = pair().await;
    let mut lines = Vec::new();
    for id in 10_000..11_000 {
        let call = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "list_work_orders"}});
        lines.extend_from_slice(call.to_string().as_bytes());
        lines.push(b'\n');
    }
    let ids = manager.exchange(&lines, 1_000).await;
    assert_eq!(ids, (10_000..11_000).collect::<Vec<i64>>());
}
