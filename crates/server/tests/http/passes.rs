//! Passes over HTTP, and what verifiers fetch.

use axum::http::Method;
use bailiwick_core::jose::{Algorithm, KeySet, SigningKey};
use bailiwick_core::json::{Limits, parse};
use bailiwick_core::work::pass::{Check, Pass, RevocationList, verify};
use bailiwick_desk::{Desk, Options, Signer};
use bailiwick_mcp::{Access, Toolsets};
use bailiwick_server::ServerOptions;
use serde_json::{Value, json};

use crate::openapi::check_shape;
use crate::running::{MANAGER, Running, WORKER, start, start_on};

async fn signing_desk() -> Desk {
    let store = bailiwick_store::open("sqlite::memory:", bailiwick_store::Options::default()).await.unwrap();
    let key = SigningKey::from_secret(Algorithm::Es256, &[7; 32]).unwrap();
    let signer = Signer::new(key.into(), "https://desk.example", 60);
    Desk::open(store, Options { signer: Some(signer), ..Options::default() }).await.unwrap()
}

async fn keys(server: &Running) -> KeySet {
    let answer = server.get("/.well-known/jwks.json").send().await;
    assert_eq!(answer.status, 200);
    KeySet::parse(&parse(answer.text().as_bytes(), &Limits::DOCUMENT).unwrap()).unwrap()
}

async fn believed(server: &Running, answer: &Value) -> Pass {
    let now = server.desk.store().snapshot().await.unwrap().now().await.unwrap();
    verify(answer["pass"].as_str().unwrap(), &keys(server).await, &Check::at(now), None).unwrap()
}

async fn list(server: &Running) -> RevocationList {
    let answer = server.get("/.well-known/bailiwick-revocations").send().await;
    assert_eq!((answer.status.as_u16(), answer.header("content-type")), (200, "application/jwt"));
    assert_eq!(answer.header("cache-control"), "no-cache");
    let now = server.desk.store().snapshot().await.unwrap().now().await.unwrap();
    RevocationList::verify(&answer.text(), &keys(server).await, now, None).unwrap()
}

#[tokio::test]
async fn a_worker_gets_passes_that_no_cache_keeps() {
    let server = start_on(signing_desk().await, |options| options).await;
    let id = server.order().await;
    let call = |step: &str| server.call(Method::POST, &format!("/api/v1/orders/{id}/{step}"));
    call("accept").by(WORKER).send().await;
    let early = call("pass").by(WORKER).send().await;
    assert_eq!((early.status.as_u16(), early.json()["code"].as_str()), (409, Some("INVALID_TRANSITION")));
    let started = call("start").by(WORKER).header("idempotency-key", "k").send().await;
    assert_eq!(started.header("cache-control"), "no-store");
    check_shape("Started", &started.json());
    let first = believed(&server, &started.json()).await;
    assert_eq!((first.order(), first.worker()), (id.as_str(), WORKER));
    let again = call("start").by(WORKER).header("idempotency-key", "k").send().await;
    assert_ne!(believed(&server, &again.json()).await.jti(), first.jti());

    let renewed = call("pass").by(WORKER).send().await;
    assert_eq!((renewed.status.as_u16(), renewed.header("cache-control")), (200, "no-store"));
    check_shape("Pass", &renewed.json());
    assert_eq!(believed(&server, &renewed.json()).await.order(), id);
    assert_eq!(call("pass").by(MANAGER).send().await.status, 403);
    assert_eq!(call("pass").send().await.status, 401);
    assert_eq!(server.call(Method::POST, "/api/v1/orders/none/pass").by(WORKER).send().await.status, 404);
    assert_eq!(server.get(&format!("/api/v1/orders/{id}/pass")).by(WORKER).send().await.status, 405);

    let bound = json!({"audience": ["https://tools.example"]});
    check_shape("PassRequest", &bound);
    let bound = server.post(&format!("/api/v1/orders/{id}/pass"), bound).by(WORKER).send().await;
    let claims = bound.json()["pass"].as_str().unwrap().split('.').nth(1).unwrap().to_owned();
    let claims = String::from_utf8(bailiwick_core::jose::base64url::decode(&claims).unwrap()).unwrap();
    assert!(claims.contains(r#""aud":"https://tools.example""#), "{claims}");
    for wrong in [json!({"ttl_seconds": 9}), json!({"id": "x"}), json!({"holder": {"kty": "RSA"}})] {
        let refused = server.post(&format!("/api/v1/orders/{id}/pass"), wrong).by(WORKER).send().await;
        assert_eq!(refused.status, 400, "{}", refused.text());
    }
    server.stop().await;
}

#[tokio::test]
async fn verifiers_need_no_key() {
    let server = start_on(signing_desk().await, |options| options).await;
    let answer = server.get("/.well-known/jwks.json").send().await;
    assert_eq!(answer.header("content-type"), "application/jwk-set+json");
    assert_eq!(answer.header("cache-control"), "public, max-age=300");
    assert_eq!(answer.json()["keys"].as_array().unwrap().len(), 1);
    assert!(!answer.text().contains("\"d\""), "no private part");

    let id = server.order_at_work().await;
    let minted = server.call(Method::POST, &format!("/api/v1/orders/{id}/pass")).by(WORKER).send().await.json();
    let pass = believed(&server, &minted).await;
    assert_eq!(list(&server).await.revokes(&pass), None);
    for (path, body, is_revoked, code) in [
        ("control", json!({"standing": "stopped", "reason": "R"}), true, "STOPPED"),
        ("control", json!({"standing": "running"}), false, ""),
        ("cancel", json!({}), true, "INVALID_TRANSITION"),
    ] {
        let said = server.post(&format!("/api/v1/orders/{id}/{path}"), body).by(MANAGER).send().await;
        assert_eq!(said.status, 200, "{}", said.text());
        let asked = server.call(Method::POST, &format!("/api/v1/orders/{id}/pass")).by(WORKER).send().await;
        assert_eq!(asked.json()["code"].as_str().unwrap_or_default(), code);
        let began = std::time::Instant::now();
        while list(&server).await.revokes(&pass).is_some() != is_revoked {
            assert!(began.elapsed().as_secs() < 10, "the list does not follow");
        }
    }
    assert_eq!(list(&server).await.version(), server.desk.head().await.unwrap().head.sequence);
    server.stop().await;
}

#[tokio::test]
async fn a_server_without_a_key_has_no_passes() {
    let server = start().await;
    let id = server.order_at_work().await;
    for path in ["/.well-known/jwks.json", "/.well-known/bailiwick-revocations"] {
        let answer = server.get(path).send().await;
        assert_eq!((answer.status.as_u16(), answer.json()["code"].as_str()), (404, Some("NOT_FOUND")));
    }
    let refused = server.call(Method::POST, &format!("/api/v1/orders/{id}/pass")).by(WORKER).send().await;
    assert_eq!((refused.status.as_u16(), refused.json()["code"].as_str()), (400, Some("BAD_REQUEST")));
    server.stop().await;
}

#[tokio::test]
async fn a_read_only_server_hands_out_nothing() {
    let toolsets = Toolsets::default().with_access(Access::ReadOnly);
    let server = start_on(signing_desk().await, |options| ServerOptions { toolsets, ..options }).await;
    let answer = server.call(Method::POST, "/api/v1/orders/o/pass").by(WORKER).send().await;
    assert_eq!((answer.status.as_u16(), answer.json()["code"].as_str()), (403, Some("FORBIDDEN")));
    assert_eq!(server.get("/.well-known/jwks.json").send().await.status, 200);
    server.stop().await;
}
