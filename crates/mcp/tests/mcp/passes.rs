//! Passes through the tools (`spec work-orders §13`).

use bailiwick_core::jose::{Algorithm, KeySet, SigningKey};
use bailiwick_core::work::pass::{Check, Pass, verify};
use bailiwick_desk::{Desk, Options, Signer};
use bailiwick_mcp::{Access, Toolsets};
use serde_json::{Value, json};

use crate::definitions::{listed, listed_at};
use crate::support::{Client, MANAGER, WORKER, bound, order, working};

async fn signing_desk() -> Desk {
    let store = bailiwick_store::open("sqlite::memory:", bailiwick_store::Options::default()).await.unwrap();
    let key = SigningKey::from_secret(Algorithm::Es256, &[7; 32]).unwrap();
    let signer = Signer::new(key.into(), "https://desk.example", 60);
    Desk::open(store, Options { signer: Some(signer), ..Options::default() }).await.unwrap()
}

async fn believed(desk: &Desk, answer: &Value) -> Pass {
    let keys = KeySet::parse(&desk.published_keys().await.unwrap()).unwrap();
    let now = desk.store().snapshot().await.unwrap().now().await.unwrap();
    verify(answer["pass"].as_str().unwrap(), &keys, &Check::at(now), None).unwrap()
}

#[tokio::test]
async fn a_worker_gets_a_pass_with_the_start_and_others_on_request() {
    let desk = signing_desk().await;
    let (mut manager, mut worker) =
        (Client::open(&desk, bound(MANAGER)).await, Client::open(&desk, bound(WORKER)).await);
    let id = manager.done("create_work_order", order()).await["id"].clone();
    worker.done("accept_work_order", json!({"id": id})).await;
    assert_eq!(worker.refused("renew_work_pass", json!({"id": id})).await["code"], "INVALID_TRANSITION");
    let started = worker.done("start_work_order", json!({"id": id})).await;
    let first = believed(&desk, &started).await;
    assert_eq!((first.order(), first.worker()), (id.as_str().unwrap(), WORKER));

    let tools = listed_at(&desk, Toolsets::default()).await;
    let schema = |name: &str| {
        let tool = tools.iter().find(|tool| tool["name"] == name).unwrap();
        jsonschema::draft202012::new(&tool["outputSchema"]).unwrap()
    };
    assert!(schema("start_work_order").is_valid(&started));
    let renewed = worker.done("renew_work_pass", json!({"id": id})).await;
    assert!(schema("renew_work_pass").is_valid(&renewed));
    assert_ne!(believed(&desk, &renewed).await.jti(), first.jti());

    assert_eq!(manager.refused("renew_work_pass", json!({"id": id})).await["code"], "FORBIDDEN");
    let named = json!({"id": id, "actor": MANAGER});
    assert_eq!(worker.refused("renew_work_pass", named).await["code"], "FORBIDDEN");
    assert_eq!(worker.refused("renew_work_pass", json!({"id": id, "ttl": 9})).await["code"], "BAD_REQUEST");
    let key = SigningKey::from_secret(Algorithm::Ed25519, &[9; 32]).unwrap();
    let holder: Value =
        serde_json::from_str(&bailiwick_core::json::write_compact(&key.public().to_jwk().into())).unwrap();
    let bound_to = json!({"id": id, "holder": holder});
    let answer = worker.done("renew_work_pass", bound_to).await;
    assert_eq!(believed(&desk, &answer).await.holder(), Some(key.public().thumbprint()));

    // Nobody reads a pass out of an order.
    let view = manager.done("get_work_order", json!({"id": id})).await;
    assert!(view.get("pass").is_none());
}

#[tokio::test]
async fn the_tool_is_listed_only_where_passes_are_signed() {
    let is_listed = |tools: Vec<Value>| tools.iter().any(|tool| tool["name"] == "renew_work_pass");
    let desk = signing_desk().await;
    let tools = listed_at(&desk, Toolsets::default()).await;
    assert!(serde_json::to_string(&tools).unwrap().len() <= 28_000, "8,000 tokens, at 3.5 bytes a token");
    assert!(is_listed(tools));
    assert!(!is_listed(listed_at(&desk, Toolsets::default().with_access(Access::ReadOnly)).await));
    assert!(!is_listed(listed(Toolsets::all()).await));

    let (_desk, mut manager, mut worker) = crate::support::pair().await;
    let id = working(&mut manager, &mut worker).await;
    let call = json!({"name": "renew_work_pass", "arguments": {"id": id}});
    assert_eq!(worker.request("tools/call", call).await["error"]["code"], -32602);
}
