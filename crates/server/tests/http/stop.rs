//! Stopping: nobody is cut off in the middle of an answer, and nobody holds the server up.

use std::time::{Duration, Instant};

use bailiwick_server::{Limits, ServerOptions};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::running::{MANAGER, start, start_with, within_reason};

#[tokio::test]
async fn waiting_calls_answer_as_things_stand() {
    let server = start().await;
    let id = server.order().await;
    let rest = server.get(&format!("/api/v1/orders/{id}?wait_after=1&timeout_s=50")).by(MANAGER).send();
    let body = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "wait_for_update", "arguments": {"id": id, "since_seq": 1, "timeout_s": 50}},
    });
    let mcp = server.post("/mcp", body).by(MANAGER).header("accept", "application/json, text/event-stream").send();
    let (rest, mcp) = (tokio::spawn(rest), tokio::spawn(mcp));
    tokio::time::sleep(Duration::from_millis(300)).await;
    let begun = Instant::now();
    let address = server.address;
    server.stop().await;
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
    let (rest, mcp) = (within_reason(rest).await.unwrap(), within_reason(mcp).await.unwrap());
    assert_eq!((rest.status.as_u16(), &rest.json()["state"]), (200, &json!("offered")));
    assert_eq!(mcp.json()["result"]["structuredContent"]["state"], "offered", "{}", mcp.text());
    assert!(TcpStream::connect(address).await.is_err(), "nobody is taken in any more");
}

#[tokio::test]
async fn a_running_request_is_answered() {
    let server = start().await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let body = json!({"goal": "too little"}).to_string();
    let head = format!(
        "POST /api/v1/orders HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Authorization: Bearer manager-key\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    tokio::time::sleep(Duration::from_millis(200)).await;
    server.stop.cancel();
    tokio::time::sleep(Duration::from_millis(200)).await;
    stream.write_all(body.as_bytes()).await.unwrap();
    let mut answer = String::new();
    within_reason(stream.read_to_string(&mut answer)).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 422"), "{answer}");
    within_reason(server.task).await.unwrap().unwrap();
}

#[tokio::test]
async fn connections_that_hang_do_not_hold_it_up() {
    let server = start_with(|options| {
        let limits = Limits { stop_time: Duration::from_millis(500), ..options.limits };
        ServerOptions { limits, ..options }
    })
    .await;
    let idle = TcpStream::connect(server.address).await.unwrap();
    let mut half = TcpStream::connect(server.address).await.unwrap();
    half.write_all(
        b"POST /api/v1/orders HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
        Authorization: Bearer manager-key\r\nContent-Length: 100\r\n\r\n{",
    )
    .await
    .unwrap();
    tokio::time::sleep(Duration::from_millis(200)).await;
    let begun = Instant::now();
    server.stop().await;
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    drop((idle, half));
}
