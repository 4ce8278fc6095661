//! What waits for the caller.

use serde_json::json;

use crate::openapi::check_shape;
use crate::running::{MANAGER, start};

const AUDITOR: &str = "human:auditor";

#[tokio::test]
async fn it_shows_what_waits_for_the_caller_only() {
    let server = start().await;
    let none = server.get("/api/v1/inbox").by(AUDITOR).send().await.json();
    assert_eq!(none, json!({"items": [], "counts": {"review": 0, "answer": 0}}));
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.push(server.order_to_review(AUDITOR).await);
    }
    server.order_to_review("human:ada").await;
    let inbox = server.get("/api/v1/inbox").by(AUDITOR).send().await.json();
    assert_eq!(inbox["counts"], json!({"review": 3, "answer": 0}));
    check_shape("Inbox", &inbox);
    for item in inbox["items"].as_array().unwrap() {
        check_shape("Waiting", item);
        assert!(ids.iter().any(|id| item["id"] == **id));
        assert_eq!((&item["from"], &item["to"]), (&json!(AUDITOR), &json!("agent:worker")));
    }
    let others = server.get("/api/v1/inbox").by(MANAGER).send().await.json();
    assert_eq!(others["counts"]["review"], 0);
    let one = server.get(&format!("/api/v1/inbox?q={}&ask=review", ids[1])).by(AUDITOR).send().await.json();
    assert_eq!(one["items"].as_array().unwrap().len(), 1);
    let asked = server.get("/api/v1/inbox?ask=answer").by(AUDITOR).send().await.json();
    assert_eq!((&asked["items"], &asked["counts"]["review"]), (&json!([]), &json!(3)));
    let first = server.get("/api/v1/inbox?limit=2").by(AUDITOR).send().await.json();
    let cursor = first["next_cursor"].as_str().unwrap().replace('/', "%2F");
    let rest = server.get(&format!("/api/v1/inbox?limit=2&cursor={cursor}")).by(AUDITOR).send().await.json();
    assert_eq!((rest["items"].as_array().unwrap().len(), rest.get("next_cursor")), (1, None));
    for wrong in ["ask=sign", "limit=0", "limit=x", "cursor=x", "of=x", "q=a&q=b"] {
        server.get(&format!("/api/v1/inbox?{wrong}")).by(AUDITOR).send().await.is_problem(400, "BAD_REQUEST");
    }
    server.stop().await;
}
