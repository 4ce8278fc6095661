//! The list of agents, and when each was last seen.

use serde_json::{Value, json};

use crate::openapi::check_shape;
use crate::running::{MANAGER, WORKER, new_order, start};

#[tokio::test]
async fn agents_have_their_record_and_when_they_were_last_seen() {
    let server = start().await;
    for name in ["agent:b", "agent:a"] {
        let mut order = new_order();
        order["to"] = json!(name);
        assert_eq!(server.post("/api/v1/orders", order).by(MANAGER).send().await.status, 201);
    }
    server.order().await;
    let list = || async { server.get("/api/v1/agents").by(MANAGER).send().await.json() };
    let agents = list().await;
    let names: Vec<&str> = agents["agents"].as_array().unwrap().iter().map(|a| a["agent"].as_str().unwrap()).collect();
    assert_eq!(names, ["agent:a", "agent:b", WORKER]);
    assert_eq!(agents["agents"][2]["last_seen"], Value::Null);
    check_shape("Agents", &agents);
    // Asking is enough, and so is acting elsewhere on the same store.
    server.get("/api/v1/orders").by(WORKER).send().await;
    let elsewhere = bailiwick_core::work::Command::Accept { id: "none".into() };
    let by = bailiwick_core::principal::Principal::claimed("agent:a");
    server.desk.run(&by, bailiwick_core::heart::Command::Work(elsewhere)).await.unwrap_err();
    let unseen = list().await;
    assert!(unseen["agents"][2]["last_seen"].is_string());
    assert_eq!(unseen["agents"][0]["last_seen"], Value::Null, "what was refused left no entry");
    let orders = server.get("/api/v1/orders?to=agent%3Aa").by(MANAGER).send().await.json();
    let id = orders["orders"][0]["id"].as_str().unwrap().to_owned();
    let accept = bailiwick_core::work::Command::Accept { id };
    server.desk.run(&by, bailiwick_core::heart::Command::Work(accept)).await.unwrap();
    let seen = list().await;
    assert!(seen["agents"][0]["last_seen"].is_string() && seen["agents"][1]["last_seen"].is_null());
    check_shape("KnownAgent", &seen["agents"][0]);
    let page = server.get("/api/v1/agents?limit=2").by(MANAGER).send().await.json();
    assert_eq!(page["next_cursor"], "agent:b");
    let rest = server.get("/api/v1/agents?limit=2&cursor=agent%3Ab").by(MANAGER).send().await.json();
    assert_eq!((&rest["agents"][0]["agent"], rest.get("next_cursor")), (&json!(WORKER), None));
    server.get("/api/v1/agents?sort=x").by(MANAGER).send().await.is_problem(400, "BAD_REQUEST");
    server.stop().await;
}
