//! What is too much is refused at once.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::Method;
use bailiwick_server::{Limits, ServerOptions};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::running::{MANAGER, Running, new_order, start, start_with, within_reason};

async fn limited(change: impl FnOnce(Limits) -> Limits) -> Running {
    start_with(|options| ServerOptions { limits: change(options.limits), ..options }).await
}

#[tokio::test]
async fn a_body_is_at_most_four_mebibytes() {
    let server = start().await;
    for path in ["/api/v1/orders", "/mcp"] {
        let huge = format!("\"{}\"", "x".repeat(6 << 20));
        let call = |body: Body| {
            let call = server.call(Method::POST, path).by(MANAGER).header("content-type", "application/json");
            call.header("accept", "application/json, text/event-stream").body(body)
        };
        let stated = call(huge.clone().into()).send().await;
        stated.is_problem(413, "PAYLOAD_TOO_LARGE");
        let chunks = huge
            .into_bytes()
            .chunks(1 << 16)
            .map(|chunk| Ok::<_, std::io::Error>(Bytes::copy_from_slice(chunk)))
            .collect::<Vec<_>>();
        let unstated = call(Body::from_stream(tokio_stream::iter(chunks))).send().await;
        unstated.is_problem(413, "PAYLOAD_TOO_LARGE");
    }
    let mut order = new_order();
    order["goal"] = json!("x".repeat(3 << 20));
    assert_eq!(server.post("/api/v1/orders", order).by(MANAGER).send().await.status, 201);
    server.stop().await;
}

#[tokio::test]
async fn a_client_that_asks_first_is_told_before_it_sends() {
    let server = start().await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let head = "POST /api/v1/orders HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
        Authorization: Bearer manager-key\r\nContent-Length: 6000000\r\nExpect: 100-continue\r\n\r\n";
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = [0; 12];
    within_reason(stream.read_exact(&mut answer)).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 413");
    server.stop().await;
}

#[tokio::test]
async fn a_body_that_does_not_come_is_given_up() {
    let server = limited(|limits| Limits { body_time: Duration::from_millis(200), ..limits }).await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let head = "POST /api/v1/orders HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
        Authorization: Bearer manager-key\r\nContent-Length: 100\r\n\r\n{";
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = [0; 12];
    within_reason(stream.read_exact(&mut answer)).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 408");
    server.stop().await;
}

#[tokio::test]
async fn requests_beyond_the_limit_are_told_to_come_again() {
    let server = limited(|limits| Limits { requests: 1, ..limits }).await;
    let slow = Body::from_stream(tokio_stream::pending::<Result<Bytes, std::io::Error>>());
    let call = server.call(Method::POST, "/api/v1/orders").by(MANAGER).header("content-type", "application/json");
    let occupying = tokio::spawn(call.body(slow).open());
    tokio::time::sleep(Duration::from_millis(200)).await;
    let refused = server.get("/api/v1/orders").by(MANAGER).send().await;
    refused.is_problem(503, "UNAVAILABLE");
    assert_eq!(refused.header("retry-after"), "1");
    assert_eq!(server.get("/healthz").send().await.status, 200);
    occupying.abort();
    let _ = occupying.await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(server.get("/api/v1/orders").by(MANAGER).send().await.status, 200);
    server.stop().await;
}

#[tokio::test]
async fn waiting_calls_beyond_the_limit_are_told_to_come_again() {
    let server = limited(|limits| Limits { waiting: 1, ..limits }).await;
    let stream = server.get("/api/v1/events").by(MANAGER).open().await;
    let id = server.order().await;
    let wait = format!("/api/v1/orders/{id}?wait_after=1&timeout_s=30");
    server.get(&wait).by(MANAGER).send().await.is_problem(503, "UNAVAILABLE");
    server.get("/api/v1/journal/export").by(MANAGER).send().await.is_problem(503, "UNAVAILABLE");
    drop(stream);
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(server.get("/api/v1/journal/export").by(MANAGER).send().await.status, 200);
    server.stop().await;
}

#[tokio::test]
async fn connections_beyond_the_limit_wait_their_turn() {
    let server = limited(|limits| Limits { connections: 1, ..limits }).await;
    let first = TcpStream::connect(server.address).await.unwrap();
    tokio::time::sleep(Duration::from_millis(100)).await;
    let second = tokio::spawn(server.get("/healthz").send());
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(!second.is_finished());
    drop(first);
    assert_eq!(within_reason(second).await.unwrap().status, 200);
    server.stop().await;
}

#[tokio::test]
async fn an_answer_that_takes_too_long_is_not_waited_for() {
    let server = limited(|limits| Limits { answer_time: Duration::from_millis(300), ..limits }).await;
    let held = server.desk.store().begin(server.desk.workspace()).await.unwrap();
    let written = server.post("/api/v1/orders", new_order()).by(MANAGER).send().await;
    assert!(written.is_problem(503, "UNAVAILABLE").contains("not known"));
    let call = json!({"name": "create_work_order", "arguments": new_order()});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call});
    let called = server.post("/mcp", body).by(MANAGER).header("accept", "application/json, text/event-stream");
    assert!(called.send().await.is_problem(503, "UNAVAILABLE").contains("not known"));
    drop(held);
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(server.post("/api/v1/orders", new_order()).by(MANAGER).send().await.status, 201);
    server.stop().await;
}
