//! A connection to an MCP server: JSON-RPC whose messages are kept as they came.
//!
//! The protocol library reads messages into its own types, which drop members that they do not know; a gateway must not.

mod http;
mod lines;
mod sse;

pub(crate) use http::Http;

use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;

use self::lines::Lines;

/// The most bytes of one message.
const MOST_MESSAGE_BYTES: usize = 16 << 20;

/// How a request fails.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Fault {
    /// The server answered with an error: the error object
    Answered(Value),
    /// The server answered what is no answer; says what
    Nonsense(String),
    /// The request never came to the server; says why
    Unsent(String),
    /// The connection ended before there was an answer
    Closed,
}

/// Where notifications of a request's progress go, as the server sent them.
pub(crate) type Progress = mpsc::Sender<Value>;

/// A connection to a server. When it is dropped, it ends.
pub(crate) struct Connection(Kind);

enum Kind {
    Lines(Lines),
    Http(Http),
}

impl Connection {
    /// Speaks over a pair of streams. Notifications go to `notified` as they come.
    pub(crate) fn over<R, W>(reader: R, writer: W, notified: mpsc::Sender<Value>) -> Self
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        Self(Kind::Lines(Lines::open(reader, writer, notified)))
    }

    /// Speaks by HTTP.
    pub(crate) const fn by(http: Http) -> Self {
        Self(Kind::Http(http))
    }

    /// Whether it has ended.
    pub(crate) fn is_closed(&self) -> bool {
        match &self.0 {
            Kind::Lines(lines) => lines.is_closed(),
            Kind::Http(http) => http.is_closed(),
        }
    }

    /// Ends it.
    pub(crate) fn close(&self) {
        match &self.0 {
            Kind::Lines(lines) => lines.close(),
            Kind::Http(http) => http.close(),
        }
    }

    /// Asks, and waits for the answer's `result`. Whoever stops waiting tells the server so.
    pub(crate) async fn request(
        &self,
        method: &str,
        params: Value,
        progress: Option<Progress>,
    ) -> Result<Value, Fault> {
        match &self.0 {
            Kind::Lines(lines) => lines.request(method, params, progress).await,
            Kind::Http(http) => http.request(method, params, progress).await,
        }
    }

    /// Tells something. A connection that has ended is told nothing.
    pub(crate) async fn notify(&self, method: &str, params: Option<Value>) {
        match &self.0 {
            Kind::Lines(lines) => lines.notify(method, params).await,
            Kind::Http(http) => http.notify(method, params).await,
        }
    }

    /// Says that the server has introduced itself, and listens to what it tells from now on.
    pub(crate) async fn introduced(&self, protocol_version: &str) {
        if let Kind::Http(http) = &self.0 {
            http.settle_on(protocol_version);
        }
        self.notify("notifications/initialized", None).await;
        if let Kind::Http(http) = &self.0 {
            http.listen();
        }
    }
}

fn notification(method: &str, params: Option<Value>) -> Value {
    let mut message = json!({"jsonrpc": "2.0", "method": method});
    if let (Some(params), Some(members)) = (params, message.as_object_mut()) {
        members.insert("params".into(), params);
    }
    message
}

/// Asks for notifications of progress under a request's own id, which no other request of the connection has.
fn with_token(params: &mut Value, id: u64) {
    let Some(members) = params.as_object_mut() else { return };
    let meta = members.entry("_meta").or_insert_with(|| json!({}));
    if let Some(meta) = meta.as_object_mut() {
        meta.insert("progressToken".into(), id.into());
    }
}

/// The request that a notification of progress is about; `None` for every other message.
fn is_progress_of(message: &Value) -> Option<u64> {
    (message["method"] == "notifications/progress").then(|| message["params"]["progressToken"].as_u64())?
}

/// What a request of the server's is answered with: it may ask whether we are there, and no more.
fn refusal_of(request: &Value) -> Value {
    let id = &request["id"];
    if request["method"] == "ping" {
        return json!({"jsonrpc": "2.0", "id": id, "result": {}});
    }
    let error = json!({"code": -32601, "message": "a gateway takes no requests from servers"});
    json!({"jsonrpc": "2.0", "id": id, "error": error})
}

fn outcome(mut message: Value) -> Result<Value, Fault> {
    match (message.get_mut("result").map(Value::take), message.get_mut("error").map(Value::take)) {
        (Some(result), None) if result.is_object() => Ok(result),
        (None, Some(error)) if error.is_object() => Err(Fault::Answered(error)),
        _ => Err(Fault::Nonsense("its answer has neither a result nor an error, or is no object".into())),
    }
}
