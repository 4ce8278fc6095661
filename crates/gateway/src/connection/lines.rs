//! A connection over a pair of streams: one message a line.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::{Fault, MOST_MESSAGE_BYTES, Progress, is_progress_of, notification, outcome, refusal_of, with_token};

/// How many messages may wait to be written.
const QUEUE: usize = 256;

type Waiting = Arc<Mutex<HashMap<u64, Waits>>>;

/// Who waits for an answer.
struct Waits {
    answer: oneshot::Sender<Result<Value, Fault>>,
    progress: Option<Progress>,
}

/// A connection. When it is dropped, whatever waits for an answer gets none.
pub(super) struct Lines {
    out: mpsc::Sender<Value>,
    waiting: Waiting,
    next: AtomicU64,
    closed: CancellationToken,
}

/// A request under way. When it is dropped without an answer, the server is told that nobody waits any more.
struct Pending<'a> {
    connection: &'a Lines,
    id: u64,
    is_answered: bool,
}

impl Lines {
    /// Speaks over a pair of streams. Notifications go to `notified` as they come.
    pub(super) fn open<R, W>(reader: R, writer: W, notified: mpsc::Sender<Value>) -> Self
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
    pub(super) fn is_closed(&self) -> bool {
        self.closed.is_cancelled()
    }

    pub(super) fn close(&self) {
        self.closed.cancel();
    }

    /// Asks, and waits for the answer's `result`.
    pub(super) async fn request(
        &self,
        method: &str,
        mut params: Value,
        progress: Option<Progress>,
    ) -> Result<Value, Fault> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        if progress.is_some() {
            with_token(&mut params, id);
        }
        let (answer, answered) = oneshot::channel();
        lock(&self.waiting).insert(id, Waits { answer, progress });
        let mut pending = Pending { connection: self, id, is_answered: false };
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        if self.out.send(request).await.is_err() {
            return Err(Fault::Unsent("the connection had ended".into()));
        }
        let answer = tokio::select! {
            answer = answered => answer.unwrap_or(Err(Fault::Closed)),
            () = self.closed.cancelled() => Err(Fault::Closed),
        };
        pending.is_answered = true;
        answer
    }

    /// Tells something.
    pub(super) async fn notify(&self, method: &str, params: Option<Value>) {
        // A connection that has ended is told nothing.
        let _ = self.out.send(notification(method, params)).await;
    }
}

impl Drop for Lines {
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
        let mut limited = (&mut reader).take(MOST_MESSAGE_BYTES as u64);
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
            // Progress is for whoever waits for the answer, and overtakes nothing: both come from here, in order.
            if let Some(id) = is_progress_of(&message) {
                if let Some(progress) = lock(waiting).get(&id).and_then(|waits| waits.progress.as_ref()) {
                    // One step less is no loss when the agent does not keep up.
                    let _ = progress.try_send(message);
                }
                return;
            }
            // A server that tells more than the agent reads waits, rather than fill the memory.
            let _ = notified.send(message).await;
        }
        (true, Some(_)) => {
            let _ = out.send(refusal_of(&message)).await;
        }
        (false, Some(id)) => {
            let waits = id.as_u64().and_then(|id| lock(waiting).remove(&id));
            if let Some(waits) = waits {
                let _ = waits.answer.send(outcome(message));
            }
        }
        (false, None) => tracing::warn!("an upstream server sent a message without method and id"),
    }
}
