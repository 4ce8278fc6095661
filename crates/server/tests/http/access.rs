//! Who may come in: keys, open mode, hosts and origins.

use std::time::Duration;

use axum::http::Method;
use bailiwick_core::json::Object;
use bailiwick_server::{Auth, Server, ServerOptions};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::running::{MANAGER, WORKER, desk, new_order, start, start_open, start_with, within_reason};

#[tokio::test]
async fn only_a_known_key_opens_the_door() {
    let server = start().await;
    let calls = || {
        [
            server.get("/api/v1/orders"),
            server.get("/api/v1/events"),
            server.get("/api/v1/journal/export"),
            server.post("/mcp", json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})),
            server.get("/mcp"),
        ]
    };
    for authorization in ["", "Bearer nobody", "Bearer ", "Bearer", "Basic bWFuYWdlci1rZXk=", "manager-key"] {
        for call in calls() {
            let call = if authorization.is_empty() { call } else { call.header("authorization", authorization) };
            let answer = call.send().await;
            answer.is_problem(401, "UNAUTHENTICATED");
            assert_eq!(answer.header("www-authenticate"), "Bearer");
            assert!(!answer.text().contains("manager-key"));
        }
    }
    let twice = server.get("/api/v1/orders").by(MANAGER).by(WORKER).send().await;
    twice.is_problem(401, "UNAUTHENTICATED");
    let any_case = server.get("/api/v1/orders").header("authorization", "bEARER manager-key").send().await;
    assert_eq!(any_case.status, 200);
    for path in ["/healthz", "/readyz", "/api/v1/openapi.json", "/api/v1/docs", "/api/v1/docs.css", "/metrics"] {
        assert_eq!(server.get(path).send().await.status, 200, "{path}");
    }
    // Pages hold nothing of the desk, built with a dashboard or without.
    for path in ["/", "/orders", "/orders/wo_1", "/new", "/agents", "/journal", "/verify", "/verify/?x=1"] {
        let page = server.get(path).send().await;
        assert_eq!(page.header("content-type"), "text/html; charset=utf-8", "{path}");
        assert!(page.header("content-security-policy").starts_with("default-src 'none'"), "{path}");
    }
    server.get("/nowhere.js").send().await.is_problem(404, "NOT_FOUND");
    server.stop().await;
}

#[tokio::test]
async fn strangers_are_refused_before_their_body_is_read() {
    let server = start().await;
    for path in ["/mcp", "/api/v1/orders"] {
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\
             Accept: application/json, text/event-stream\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut answer = [0; 12];
        within_reason(stream.read_exact(&mut answer)).await.unwrap();
        assert_eq!(&answer, b"HTTP/1.1 401", "{path}");
    }
    server.stop().await;
}

#[tokio::test]
async fn the_key_decides_who_acts() {
    let server = start().await;
    let other = server.get("/api/v1/orders").by(MANAGER).header("x-bailiwick-actor", WORKER).send().await;
    other.is_problem(403, "FORBIDDEN");
    let same = server.get("/api/v1/orders").by(MANAGER).header("x-bailiwick-actor", MANAGER).send().await;
    assert_eq!(same.status, 200);
    server.stop().await;
}

#[tokio::test]
async fn reloaded_keys_count_from_the_next_request_on() {
    let server = start().await;
    assert_eq!(server.get("/api/v1/orders").by(MANAGER).send().await.status, 200);
    assert!(server.keys.reload(br#"{"keys": {"x": ""}}"#).is_err());
    assert_eq!(server.get("/api/v1/orders").by(MANAGER).send().await.status, 200);
    server.keys.reload(br#"{"keys": {"new-key": "agent:manager"}}"#).unwrap();
    assert_eq!(server.get("/api/v1/orders").by(MANAGER).send().await.status, 401);
    let new = server.get("/api/v1/orders").header("authorization", "Bearer new-key").send().await;
    assert_eq!(new.status, 200);
    server.stop().await;
}

#[tokio::test]
async fn open_mode_believes_whoever_is_named() {
    let server = start_open().await;
    let nobody = server.post("/api/v1/orders", new_order()).send().await;
    let detail = nobody.is_problem(401, "UNAUTHENTICATED");
    assert!(detail.contains("`X-Bailiwick-Actor`"), "{detail}");
    let blank = server.post("/api/v1/orders", new_order()).header("x-bailiwick-actor", " ").send().await;
    blank.is_problem(400, "BAD_REQUEST");
    let created = server.post("/api/v1/orders", new_order()).header("x-bailiwick-actor", MANAGER).send().await;
    assert_eq!(created.json()["from"], MANAGER);
    server.get("/api/v1/orders").send().await.is_problem(401, "UNAUTHENTICATED");
    let listed = server.get("/api/v1/orders").header("x-bailiwick-actor", WORKER).send().await.json();
    assert_eq!(listed["orders"].as_array().unwrap().len(), 1);
    let entries = server.get("/api/v1/journal/entries").header("x-bailiwick-actor", WORKER).send().await.json();
    assert_eq!(entries["entries"][0]["payload"]["principal"]["established"], "claimed");
    server.stop().await;
}

#[tokio::test]
async fn open_mode_stays_on_loopback() {
    for host in ["0.0.0.0", "::"] {
        let options = ServerOptions { host: host.into(), port: 0, ..ServerOptions::new(Auth::Open) };
        let error = Server::bind(desk().await, options).await.err().unwrap();
        assert_eq!(error.code(), "server_open_mode");
        assert!(error.to_string().contains("loopback"));
    }
    let options = ServerOptions { host: "no such host".into(), ..ServerOptions::new(Auth::Open) };
    assert_eq!(Server::bind(desk().await, options).await.err().unwrap().code(), "server_host");
}

#[tokio::test]
async fn an_address_in_use_is_named() {
    let server = start().await;
    let options = ServerOptions { port: server.address.port(), ..ServerOptions::new(Auth::Open) };
    let error = Server::bind(desk().await, options).await.err().unwrap();
    assert_eq!(error.code(), "server_bind");
    assert!(error.to_string().contains(&server.address.to_string()));
    server.stop().await;
}

#[tokio::test]
async fn requests_for_other_hosts_and_from_other_pages_are_refused() {
    let server = start_with(|options| ServerOptions {
        allowed_hosts: vec!["desk.example.com".into()],
        allowed_origins: vec!["https://page.example.com".into()],
        ..options
    })
    .await;
    for path in ["/healthz", "/api/v1/orders", "/api/v1/docs", "/mcp", "/nowhere"] {
        server.get(path).by(MANAGER).header("host", "evil.example").send().await.is_problem(403, "FORBIDDEN");
        let page = server.get(path).by(MANAGER).header("origin", "http://evil.example").send().await;
        page.is_problem(403, "FORBIDDEN");
    }
    let named = server.get("/api/v1/orders").by(MANAGER).header("host", "desk.example.com").send().await;
    assert_eq!(named.status, 200);
    for origin in ["http://localhost:3000", "https://page.example.com"] {
        let page = server.get("/api/v1/orders").by(MANAGER).header("origin", origin).send().await;
        assert_eq!(page.status, 200, "{origin}");
    }
    server.stop().await;
}

#[tokio::test]
async fn numbers_need_a_key_where_others_can_reach_them() {
    let exposed = start_with(|options| ServerOptions { host: "0.0.0.0".into(), ..options }).await;
    exposed.get("/metrics").send().await.is_problem(401, "UNAUTHENTICATED");
    let numbers = exposed.get("/metrics").by(MANAGER).send().await;
    assert_eq!(numbers.header("content-type"), "text/plain; version=0.0.4; charset=utf-8");
    assert!(numbers.text().contains("bailiwick_api_keys 4"), "{}", numbers.text());
    exposed.stop().await;
}

#[tokio::test]
async fn requests_and_commands_are_counted_by_names_of_ours() {
    let server = start().await;
    let id = server.order().await;
    server.get(&format!("/api/v1/orders/{id}")).by(MANAGER).send().await;
    server.post(&format!("/api/v1/orders/{id}/accept"), json!({})).by(MANAGER).send().await;
    server.get("/nowhere/secret").send().await;
    server.call(Method::from_bytes(b"WHATEVER").unwrap(), "/healthz").send().await;
    let numbers = server.get("/metrics").send().await.text();
    for line in [
        "bailiwick_http_requests_total{route=\"/api/v1/orders/{id}\",method=\"GET\",status=\"200\"} 1",
        "bailiwick_http_requests_total{route=\"none\",method=\"GET\",status=\"404\"} 1",
        "bailiwick_http_requests_total{route=\"/healthz\",method=\"other\",status=\"405\"} 1",
        "bailiwick_commands_total{interface=\"rest\",name=\"work.create\",outcome=\"ok\"} 1",
        "bailiwick_commands_total{interface=\"rest\",name=\"work.accept\",outcome=\"FORBIDDEN\"} 1",
        "bailiwick_journal_head_sequence 1",
    ] {
        assert!(numbers.lines().any(|found| found == line), "{line} in\n{numbers}");
    }
    assert!(!numbers.contains("secret") && !numbers.contains(&id));
    server.stop().await;
}

#[tokio::test]
async fn every_answer_has_an_id_and_tells_browsers_what_it_is() {
    let server = start().await;
    let answer = server.get("/healthz").header("x-request-id", "mine-1").send().await;
    assert_eq!(answer.header("x-request-id"), "mine-1");
    assert_eq!(answer.header("x-content-type-options"), "nosniff");
    assert!(answer.header("content-security-policy").starts_with("default-src 'none'"));
    assert_eq!(answer.header("cache-control"), "no-store");
    let (one, two) = (server.get("/healthz").send().await, server.get("/nowhere").send().await);
    assert_ne!(one.header("x-request-id"), two.header("x-request-id"));
    let odd = server.get("/healthz").header("x-request-id", "a b\tc").send().await;
    assert_ne!(odd.header("x-request-id"), "a b\tc");
    server.stop().await;
}

#[tokio::test]
async fn restricted_reads_keep_the_journal_to_auditors() {
    let server = start_with(|options| ServerOptions { auditors: vec!["human:auditor".into()], ..options }).await;
    let id = server.order().await;
    let paths = ["/api/v1/journal/head", "/api/v1/journal/entries", "/api/v1/journal/export"];
    for path in paths {
        assert_eq!(server.get(path).by(WORKER).send().await.status, 200, "{path}");
    }
    let settings = Object::new().with("work", Object::new().with("restrict_reads", true));
    server.desk.adopt(settings).await.unwrap();
    for path in paths {
        server.get(path).by(WORKER).send().await.is_problem(403, "FORBIDDEN");
        assert_eq!(server.get(path).by("human:auditor").send().await.status, 200, "{path}");
    }
    server.get("/api/v1/events").by(WORKER).send().await.is_problem(403, "FORBIDDEN");
    assert_eq!(server.get(&format!("/api/v1/orders/{id}")).by(WORKER).send().await.status, 200);
    assert_ne!(server.get(&format!("/api/v1/orders/{id}")).by("human:auditor").send().await.status, 200);
    server.stop().await;
}

#[tokio::test]
async fn readiness_is_about_the_store() {
    let server = start().await;
    assert_eq!(server.get("/readyz").send().await.json(), json!({"status": "ready"}));
    server.desk.close().await;
    let unready = tokio::time::timeout(Duration::from_secs(40), server.get("/readyz").send()).await.unwrap();
    assert!(unready.status.is_server_error(), "{}", unready.text());
    assert_eq!(server.get("/healthz").send().await.status, 200);
    server.stop().await;
}
