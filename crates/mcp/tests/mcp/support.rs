//! A client that writes lines, so that tests can write anything, and a desk in memory.

use std::time::Duration;

use bailiwick_core::principal::Principal;
use bailiwick_desk::Desk;
use bailiwick_mcp::{Identity, StdioError, Toolsets, serve_streams};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf, duplex, split};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

pub(crate) const MANAGER: &str = "human:ada";
pub(crate) const WORKER: &str = "agent:clerk";
/// Long enough for anything that should happen, short enough to wait for what should not.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) async fn memory_desk() -> Desk {
    let store = bailiwick_store::open("sqlite::memory:", bailiwick_store::Options::default()).await.unwrap();
    Desk::open(store, bailiwick_desk::Options::default()).await.unwrap()
}

pub(crate) fn bound(id: &str) -> Identity {
    Identity::Bound(Principal::claimed(id))
}

/// A session, and the server that serves it.
pub(crate) struct Client {
    to: Option<WriteHalf<DuplexStream>>,
    from: Lines<BufReader<ReadHalf<DuplexStream>>>,
    next_id: i64,
    pub(crate) shutdown: CancellationToken,
    pub(crate) served: JoinHandle<Result<(), StdioError>>,
}

impl Client {
    /// Connects without opening a session.
    pub(crate) fn connect(desk: &Desk, identity: Identity, toolsets: Toolsets) -> Self {
        let (ours, theirs) = duplex(1 << 16);
        let ((from, to), streams) = (split(ours), split(theirs));
        let shutdown = CancellationToken::new();
        let (desk, stop) = (desk.clone(), shutdown.clone());
        let served = tokio::spawn(async move { serve_streams(desk, identity, &toolsets, streams, stop).await });
        Self { to: Some(to), from: BufReader::new(from).lines(), next_id: 1, shutdown, served }
    }

    /// Opens a session of the older revision.
    pub(crate) async fn open(desk: &Desk, identity: Identity) -> Self {
        Self::open_with(desk, identity, Toolsets::default()).await
    }

    pub(crate) async fn open_with(desk: &Desk, identity: Identity, toolsets: Toolsets) -> Self {
        let mut client = Self::connect(desk, identity, toolsets);
        client.initialize().await;
        client
    }

    pub(crate) async fn initialize(&mut self) -> Value {
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "0"}});
        let reply = self.request("initialize", params).await;
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        reply["result"].clone()
    }

    pub(crate) async fn send(&mut self, message: &Value) {
        self.write(message.to_string().as_bytes()).await;
        self.write(b"\n").await;
    }

    pub(crate) async fn write(&mut self, bytes: &[u8]) {
        self.to.as_mut().unwrap().write_all(bytes).await.unwrap();
    }

    /// The next message of the server.
    pub(crate) async fn receive(&mut self) -> Value {
        let line = tokio::time::timeout(PATIENCE, self.from.next_line()).await.expect("an answer in time");
        serde_json::from_str(&line.unwrap().expect("the server is there")).expect("only protocol on the output")
    }

    pub(crate) fn fresh_id(&mut self) -> i64 {
        self.next_id += 1;
        self.next_id
    }

    pub(crate) async fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.fresh_id();
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await;
        let reply = self.receive().await;
        assert_eq!(reply["id"], id, "{reply}");
        reply
    }

    /// Calls a tool and answers the result.
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let reply = self.request("tools/call", json!({"name": tool, "arguments": arguments})).await;
        assert!(reply["error"].is_null(), "{reply}");
        reply["result"].clone()
    }

    /// Calls a tool that succeeds and answers its structured content, which must be its text as well.
    pub(crate) async fn done(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments).await;
        assert_ne!(result["isError"], true, "{tool}: {}", text(&result));
        let structured = result["structuredContent"].clone();
        let shown: Value = serde_json::from_str(text(&result)).unwrap();
        let expected = if tool == "list_work_orders" { &structured["orders"] } else { &structured };
        assert_eq!(&shown, expected);
        structured
    }

    /// Calls a tool that is refused and answers the error object.
    pub(crate) async fn refused(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments.clone()).await;
        assert_eq!(result["isError"], true, "{tool} {arguments}: {}", text(&result));
        serde_json::from_str(text(&result)).unwrap()
    }

    /// Ends input only.
    pub(crate) async fn end_input(&mut self) {
        self.to.take().unwrap().shutdown().await.unwrap();
    }

    /// Writes lines and meanwhile reads as many answers; their ids, sorted.
    pub(crate) async fn exchange(&mut self, lines: &[u8], answers: usize) -> Vec<i64> {
        let mut to = self.to.take().unwrap();
        let write = async {
            to.write_all(lines).await.unwrap();
            to
        };
        let read = async {
            let mut ids = Vec::new();
            while ids.len() < answers {
                ids.push(self.receive().await["id"].as_i64().unwrap());
            }
            ids
        };
        let (to, mut ids) = tokio::join!(write, read);
        self.to = Some(to);
        ids.sort_unstable();
        ids
    }

    /// Ends input, and waits for the server to end.
    pub(crate) async fn close(mut self) {
        self.end_input().await;
        let served = tokio::time::timeout(PATIENCE, self.served).await.expect("the server ends with its input");
        served.unwrap().unwrap();
    }
}

/// The first text of a result.
pub(crate) fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap()
}

/// Arguments for an order, valid until long after the test.
pub(crate) fn order() -> Value {
    json!({
        "to": WORKER,
        "goal": "File the outage ticket",
        "criteria": [{"id": "ticket", "text": "A ticket exists with the outage window"}],
        "budget": {"usd": 0.5, "tool_calls": 6},
        "deadline": "2999-01-01T00:00:00Z",
        "tools": ["tracker/*"],
    })
}

/// Arguments for a report that is accepted.
pub(crate) fn report(id: &Value) -> Value {
    json!({
        "id": id,
        "status": "done",
        "result": {"summary": "Ticket 7 is filed"},
        "evidence": [{"criterion": "ticket", "type": "tool_call", "ref": "tracker/create#1"}],
        "cost": {"usd": 0.1, "tool_calls": 1},
        "tools_used": ["tracker/create"],
    })
}

/// The same arguments with one member changed.
pub(crate) fn with(mut arguments: Value, name: &str, value: Value) -> Value {
    arguments[name] = value;
    arguments
}

/// Sessions of a manager and a worker at one desk.
pub(crate) async fn pair() -> (Desk, Client, Client) {
    let desk = memory_desk().await;
    let manager = Client::open(&desk, bound(MANAGER)).await;
    let worker = Client::open(&desk, bound(WORKER)).await;
    (desk, manager, worker)
}

/// An order that the worker works on.
pub(crate) async fn working(manager: &mut Client, worker: &mut Client) -> Value {
    let id = manager.done("create_work_order", order()).await["id"].clone();
    worker.done("accept_work_order", json!({"id": id})).await;
    worker.done("start_work_order", json!({"id": id})).await;
    id
}

/// Checks that a future is not done for a while.
pub(crate) async fn still_waits<F: Future + Unpin>(future: &mut F) {
    assert!(tokio::time::timeout(Duration::from_millis(300), future).await.is_err());
}
