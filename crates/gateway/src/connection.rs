//! A connection to an MCP server over a pair of streams: JSON-RPC, one message a line, kept as it came.
//!
//! The protocol library reads messages into its own types, which drop members that they do not know; a gateway must not.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

/// The most bytes of one message.
const MOST_MESSAGE_BYTES: u64 = 16 << 20;
/// How many messages may wait to be written.
const QUEUE: usize = 256;

/// How a request fails.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Fault {
    /// The server answered with an error: the error object
    Answered(Value),
    /// The server answered what is no answer
    Nonsense(&'static str),
    /// The connection has ended
    Closed,
}

type Waiting = Arc<Mutex<HashMap<u64, oneshot::Sender<Result<Value, Fault>>>>>;

/// A connection. When it is dropped, whatever waits for an answer gets none.
pub(crate) struct Connection {
    out: mpsc::Sender<Value>,
    waiting: Waiting,
    next: AtomicU64,
    closed: CancellationToken,
}

/// A request under way. When it is dropped without an answer, the server is told that nobody waits any more.
struct Pending<'a> {
    connection: &'a Connection,
    id: u64,
    is_answered: bool,
}

impl Connection {
    /// Speaks over a pair of streams. Notifications go to `notified` as they come.
    pub(crate) fn open<R, W>(reader: R, writer: W, notified: mpsc::Sender<Value>) -> Self
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let (out, queue) = mpsc::channel(QUEUE);
        let (waiting, closed) = (Waiting::default(), CancellationToken::new());
        tokio::spawn(write(writer, queue, closed.clone()));
        tokio::spawn(read(reader, Arc::clone(&waiting), out.clone(), notified, closed.clone()));
        Self { out, waiting, next: AtomicU64::new(1), closed }
    }

    /// Whether the other side is gone.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed.is_cancelled()
    }

    /// Asks, and waits for the answer's `result`.
    pub(crate) async fn request(&self, method: &str, params: Value) -> Result<Value, Fault> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (answer, answered) = oneshot::channel();
        lock(&self.waiting).insert(id, answer);
        let mut pending = Pending { connection: self, id, is_answered: false };
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        if self.out.send(request).await.is_err() {
            return Err(Fault::Closed);
        }
        let answer = tokio::select! {
            answer = answered => answer.unwrap_or(Err(Fault::Closed)),
            () = self.closed.cancelled() => Err(Fault::Closed),
        };
        pending.is_answered = true;
        answer
    }

    /// Tells something.
    pub(crate) async fn notify(&self, method: &str, params: Option<Value>) {
        // A connection that has ended is told nothing.
        let _ = self.out.send(notification(method, params)).await;
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.closed.cancel();
    }
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        lock(&self.connection.waiting).remove(&self.id);
        if !self.is_answered {
            let params = json!({"requestId": self.id, "reason": "nobody waits for the answer any more"});
            // When the queue is full the server has other things to read first; it will find out by itself.
            let _ = self.connection.out.try_send(notification("notifications/cancelled", Some(params)));
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

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn write<W: AsyncWrite + Unpin>(mut writer: W, mut queue: mpsc::Receiver<Value>, closed: CancellationToken) {
    loop {
        let message = tokio::select! {
            message = queue.recv() => message,
            () = closed.cancelled() => None,
        };
        let Some(message) = message else { break };
        let mut line = message.to_string();
        line.push('\n');
        if writer.write_all(line.as_bytes()).await.is_err() || writer.flush().await.is_err() {
            break;
        }
    }
    closed.cancel();
}

async fn read<R: AsyncRead + Unpin>(
    reader: R,
    waiting: Waiting,
    out: mpsc::Sender<Value>,
    notified: mpsc::Sender<Value>,
    closed: CancellationToken,
) {
    let mut reader = BufReader::new(reader);
    let mut line = Vec::new();
    loop {
        line.clear();
        let mut limited = (&mut reader).take(MOST_MESSAGE_BYTES);
        let ended = tokio::select! {
            read = limited.read_until(b'\n', &mut line) => !matches!(read, Ok(1..)) || !line.ends_with(b"\n"),
            () = closed.cancelled() => true,
        };
        if ended {
            break;
        }
        match serde_json::from_slice::<Value>(&line) {
            Ok(message) => dispatch(message, &waiting, &out, &notified).await,
            // Some programs greet on standard output. It is no message, and no answer.
            Err(_) => tracing::warn!(bytes = line.len(), "an upstream server wrote a line that is no message"),
        }
    }
    closed.cancel();
    lock(&waiting).clear();
}

async fn dispatch(message: Value, waiting: &Waiting, out: &mpsc::Sender<Value>, notified: &mpsc::Sender<Value>) {
    let (is_request, id) = (message.get("method").is_some(), message.get("id"));
    match (is_request, id) {
        (true, None) => {
            // A server that tells more than the agent reads waits, rather than fill the memory.
            let _ = notified.send(message).await;
        }
        (true, Some(id)) => {
            let answer = if message["method"] == "ping" {
                json!({"jsonrpc": "2.0", "id": id, "result": {}})
            } else {
                let error = json!({"code": -32601, "message": "a gateway takes no requests from servers"});
                json!({"jsonrpc": "2.0", "id": id, "error": error})
            };
            let _ = out.send(answer).await;
        }
        (false, Some(id)) => {
            let waits = id.as_u64().and_then(|id| lock(waiting).remove(&id));
            if let Some(waits) = waits {
                let _ = waits.send(outcome(message));
            }
        }
        (false, None) => tracing::warn!("an upstream server sent a message without method and id"),
    }
}

fn outcome(mut message: Value) -> Result<Value, Fault> {
    match (message.get_mut("result").map(Value::take), message.get_mut("error").map(Value::take)) {
        (Some(result), None) if result.is_object() => Ok(result),
        (None, Some(error)) if error.is_object() => Err(Fault::Answered(error)),
        _ => Err(Fault::Nonsense("its answer has neither a result nor an error, or is no object")),
    }
}
