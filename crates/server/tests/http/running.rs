//! A server under test, and a client that says exactly what it is told to.

use std::net::SocketAddr;
use std::time::{Duration, SystemTime};

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, Method, Request, Response, StatusCode, header};
use bailiwick_core::heart::Command;
use bailiwick_core::json::{Limits, parse};
use bailiwick_core::principal::Principal;
use bailiwick_core::time::{self, Millis};
use bailiwick_core::work;
use bailiwick_desk::Desk;
use bailiwick_server::{Auth, KeyRing, Server, ServerError, ServerOptions};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

pub(crate) const MANAGER: &str = "agent:manager";
pub(crate) const WORKER: &str = "agent:worker";
pub(crate) const GATEWAY: &str = "gateway:edge";

pub(crate) const KEYS: &str = r#"{"keys": {"manager-key": "agent:manager", "worker-key": "agent:worker", "auditor-key": "human:auditor",
        "gateway-key": "gateway:edge"}}"#;

/// Longer than anything here takes.
pub(crate) const SOON: Duration = Duration::from_secs(10);

pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    pub(crate) desk: Desk,
    pub(crate) keys: KeyRing,
    pub(crate) stop: CancellationToken,
    pub(crate) task: JoinHandle<Result<(), ServerError>>,
}

pub(crate) async fn desk() -> Desk {
    let store = bailiwick_store::open("sqlite::memory:", bailiwick_store::Options::default()).await.unwrap();
    Desk::open(store, bailiwick_desk::Options::default()).await.unwrap()
}

/// A server in closed mode.
pub(crate) async fn start() -> Running {
    start_with(|options| options).await
}

/// A server in open mode.
pub(crate) async fn start_open() -> Running {
    start_with(|options| ServerOptions { auth: Auth::Open, ..options }).await
}

pub(crate) async fn start_with(change: impl FnOnce(ServerOptions) -> ServerOptions) -> Running {
    start_on(desk().await, change).await
}

pub(crate) async fn start_on(desk: Desk, change: impl FnOnce(ServerOptions) -> ServerOptions) -> Running {
    let keys = KeyRing::from_json(KEYS.as_bytes()).unwrap();
    let options = change(ServerOptions { port: 0, ..ServerOptions::new(Auth::Keys(keys.clone())) });
    let server = Server::bind(desk.clone(), options).await.unwrap();
    let (address, stop) = (server.address(), CancellationToken::new());
    let task = tokio::spawn(server.run(stop.clone()));
    Running { address, desk, keys, stop, task }
}

impl Running {
    pub(crate) fn get(&self, path: &str) -> Call {
        self.call(Method::GET, path)
    }

    pub(crate) fn post(&self, path: &str, body: Value) -> Call {
        let call = self.call(Method::POST, path).header("content-type", "application/json");
        Call { body: Body::from(body.to_string()), ..call }
    }

    pub(crate) fn call(&self, method: Method, path: &str) -> Call {
        let request = Request::builder().method(method).uri(path);
        // The port that is called, at a name that is ours whatever the server listens on.
        let host = format!("localhost:{}", self.address.port());
        Call { address: self.address, request, host: Some(host), body: Body::empty() }
    }

    /// Stops the server and waits for it.
    pub(crate) async fn stop(self) {
        self.stop.cancel();
        within_reason(self.task).await.unwrap().unwrap();
    }

    /// An order that the manager has issued; its id.
    pub(crate) async fn order(&self) -> String {
        let answer = self.post("/api/v1/orders", new_order()).by(MANAGER).send().await;
        assert_eq!(answer.status, 201, "{}", answer.text());
        answer.json()["id"].as_str().unwrap().into()
    }

    /// An order that waits for a person's review; its id.
    pub(crate) async fn order_to_review(&self, person: &str) -> String {
        let order = new_order().to_string();
        let arguments = parse(order.as_bytes(), &Limits::DOCUMENT).unwrap().as_object().unwrap().clone();
        let create = Command::Work(work::Command::parse("create", arguments).unwrap());
        let issued = self.desk.run(&Principal::by_sign_in(person), create).await.unwrap();
        let id = issued.get("id").unwrap().as_str().unwrap().to_owned();
        for (step, body) in [("accept", json!({})), ("start", json!({})), ("reports", done())] {
            let answer = self.post(&format!("/api/v1/orders/{id}/{step}"), body).by(WORKER).send().await;
            assert_eq!(answer.status, 200, "{}", answer.text());
        }
        id
    }

    /// An order that the worker works on; its id.
    pub(crate) async fn order_at_work(&self) -> String {
        let id = self.order().await;
        for step in ["accept", "start"] {
            let answer = self.call(Method::POST, &format!("/api/v1/orders/{id}/{step}")).by(WORKER).send().await;
            assert_eq!(answer.status, 200, "{}", answer.text());
        }
        id
    }
}

pub(crate) struct Call {
    address: SocketAddr,
    request: axum::http::request::Builder,
    host: Option<String>,
    body: Body,
}

impl Call {
    /// With the key of an agent.
    pub(crate) fn by(self, agent: &str) -> Self {
        let key = match agent {
            MANAGER => "manager-key",
            WORKER => "worker-key",
            GATEWAY => "gateway-key",
            _ => "auditor-key",
        };
        self.header("authorization", &format!("Bearer {key}"))
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        if name == "host" {
            self.host = Some(value.into());
            return self;
        }
        self.request = self.request.header(name, value);
        self
    }

    pub(crate) fn body(self, body: impl Into<Body>) -> Self {
        Self { body: body.into(), ..self }
    }

    /// Sends it and reads the head of the answer.
    pub(crate) async fn open(self) -> Response<Incoming> {
        let mut request = self.request;
        if let Some(host) = self.host {
            request = request.header(header::HOST, host);
        }
        let stream = TcpStream::connect(reachable(self.address)).await.unwrap();
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
        tokio::spawn(connection);
        within_reason(sender.send_request(request.body(self.body).unwrap())).await.unwrap()
    }

    /// Sends it and reads the whole answer.
    pub(crate) async fn send(self) -> Answer {
        let (parts, body) = self.open().await.into_parts();
        let body = tokio::time::timeout(Duration::from_secs(70), body.collect()).await.unwrap().unwrap().to_bytes();
        Answer { status: parts.status, headers: parts.headers, body }
    }
}

/// An address that a server listening on every one can be reached by.
fn reachable(address: SocketAddr) -> SocketAddr {
    if address.ip().is_unspecified() { SocketAddr::from(([127, 0, 0, 1], address.port())) } else { address }
}

pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map(|value| value.to_str().unwrap()).unwrap_or_default()
    }

    /// Checks that this is a problem with a status and a code, in full; answers its detail.
    #[track_caller]
    pub(crate) fn is_problem(&self, status: u16, code: &str) -> String {
        assert_eq!(self.status, status, "{}", self.text());
        assert_eq!(self.header("content-type"), "application/problem+json");
        let problem = self.json();
        assert_eq!(problem["code"], code);
        assert_eq!(problem["status"], status);
        assert_eq!(problem["type"], format!("/api/v1/docs#{code}"));
        assert!(problem["title"].is_string());
        assert!(problem["findings"].is_array());
        let detail = problem["detail"].as_str().unwrap();
        assert!(!detail.ends_with('.') && !detail.is_empty(), "{detail}");
        detail.into()
    }
}

pub(crate) async fn within_reason<F: Future>(future: F) -> F::Output {
    tokio::time::timeout(SOON, future).await.expect("this takes too long")
}

pub(crate) fn in_an_hour() -> String {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis();
    time::format(Millis(i64::try_from(now).unwrap() + 3_600_000))
}

pub(crate) fn new_order() -> Value {
    json!({
        "to": WORKER,
        "goal": "Find the outage window",
        "criteria": [{"id": "window", "text": "The window is named"}],
        "budget": {"usd": 1},
        "deadline": in_an_hour(),
        "tools": ["status/*"],
    })
}

pub(crate) fn done() -> Value {
    json!({
        "status": "done",
        "result": {"summary": "The window is 14 minutes"},
        "evidence": [{"criterion": "window", "type": "tool_call", "ref": "status/window#1"}],
        "cost": {"usd": 0.25},
        "tools_used": ["status/window"],
    })
}
