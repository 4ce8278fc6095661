//! Who acts (`spec work-orders §14.1`).

use bailiwick_mcp::Identity;
use serde_json::json;

use crate::support::{Client, MANAGER, WORKER, bound, memory_desk, order, with};

#[tokio::test]
async fn a_bound_session_acts_as_itself_whatever_it_says() {
    let desk = memory_desk().await;
    let mut manager = Client::open(&desk, bound(MANAGER)).await;
    let other = manager.refused("create_work_order", with(order(), "actor", json!("human:bo"))).await;
    assert_eq!(other["code"], "FORBIDDEN");
    assert_eq!(other["findings"], json!([]));
    let view = manager.done("create_work_order", with(order(), "actor", json!(MANAGER))).await;
    assert_eq!(view["from"], MANAGER);
    let forged = manager.refused("create_work_order", with(order(), "from", json!("human:bo"))).await;
    assert_eq!(forged["code"], "BAD_REQUEST");
    // Permission is asked before whether the state allows it.
    assert_eq!(manager.refused("start_work_order", json!({"id": view["id"]})).await["code"], "FORBIDDEN");
    assert_eq!(manager.refused("accept_work_order", json!({"id": "wo_none"})).await["code"], "NOT_FOUND");
}

#[tokio::test]
async fn an_unbound_session_says_who_acts_each_time() {
    let desk = memory_desk().await;
    let mut anybody = Client::open(&desk, Identity::Unbound).await;
    assert_eq!(anybody.refused("create_work_order", order()).await["code"], "BAD_REQUEST");
    assert_eq!(anybody.refused("create_work_order", with(order(), "actor", json!("  "))).await["code"], "BAD_REQUEST");
    assert_eq!(anybody.refused("create_work_order", with(order(), "actor", json!(7))).await["code"], "BAD_REQUEST");
    let id = anybody.done("create_work_order", with(order(), "actor", json!(MANAGER))).await["id"].clone();
    let stranger = json!({"id": id, "actor": "agent:stranger"});
    assert_eq!(anybody.refused("accept_work_order", stranger).await["code"], "FORBIDDEN");
    let view = anybody.done("accept_work_order", json!({"id": id, "actor": WORKER})).await;
    assert_eq!(view["events"][1]["actor"], WORKER);
    assert_eq!(anybody.done("get_work_order", json!({"id": id})).await["state"], "accepted");
    assert_eq!(anybody.refused("get_track_record", json!({})).await["code"], "BAD_REQUEST");
    assert_eq!(anybody.done("get_track_record", json!({"agent": WORKER})).await["orders"], 1);
}

#[tokio::test]
async fn where_somebody_must_be_established_nobody_else_is_served() {
    let desk = memory_desk().await;
    let mut client = Client::open(&desk, Identity::PerRequest).await;
    let reply = client.request("tools/call", json!({"name": "list_work_orders", "arguments": {}})).await;
    assert_eq!(reply["error"]["code"], -32603, "{reply}");
    assert!(client.request("tools/list", json!({})).await["result"]["tools"].is_array());
}
