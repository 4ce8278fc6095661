//! A connection by streamable HTTP: each message is a POST, answered by JSON or by a stream of events.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::{HeaderMap, Method, Request, Response, StatusCode, Uri};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::sse::Events;
use super::{Fault, MOST_MESSAGE_BYTES, Progress, is_progress_of, notification, outcome, refusal_of, with_token};
use crate::http::{HttpClient, Unanswered, read};

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");

/// How long to wait before a stream is taken up again, unless the server says how long.
const PAUSE: Duration = Duration::from_secs(1);
/// The longest that a server may have us wait.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// A connection. When it is dropped, the session ends.
pub(crate) struct Http {
    shared: Arc<Shared>,
}

struct Shared {
    client: HttpClient,
    address: Uri,
    headers: HeaderMap,
    session: OnceLock<HeaderValue>,
    version: OnceLock<HeaderValue>,
    next: AtomicU64,
    notified: mpsc::Sender<Value>,
    closed: CancellationToken,
}

/// A request under way. When it is dropped without an answer, the server is told that nobody waits any more.
struct Pending {
    shared: Arc<Shared>,
    id: u64,
    is_answered: bool,
}

impl Http {
    /// Speaks to an address, with headers of the configuration. Notifications go to `notified` as they come.
    pub(crate) fn open(client: HttpClient, address: Uri, headers: HeaderMap, notified: mpsc::Sender<Value>) -> Self {
        let (session, version) = (OnceLock::new(), OnceLock::new());
        let (next, closed) = (AtomicU64::new(1), CancellationToken::new());
        Self { shared: Arc::new(Shared { client, address, headers, session, version, next, notified, closed }) }
    }

    pub(super) fn is_closed(&self) -> bool {
        self.shared.closed.is_cancelled()
    }

    pub(super) fn close(&self) {
        self.shared.closed.cancel();
    }

    /// The revision that every further request names.
    pub(super) fn settle_on(&self, protocol_version: &str) {
        if let Ok(version) = HeaderValue::from_str(protocol_version) {
            let _ = self.shared.version.set(version);
        }
    }

    /// Asks, and waits for the answer's `result`.
    pub(super) async fn request(
        &self,
        method: &str,
        mut params: Value,
        progress: Option<Progress>,
    ) -> Result<Value, Fault> {
        let id = self.shared.next.fetch_add(1, Ordering::Relaxed);
        if progress.is_some() {
            with_token(&mut params, id);
        }
        let mut pending = Pending { shared: Arc::clone(&self.shared), id, is_answered: false };
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        let answer = tokio::select! {
            answer = self.shared.ask(id, &request, progress.as_ref()) => answer,
            () = self.shared.closed.cancelled() => Err(Fault::Closed),
        };
        pending.is_answered = true;
        answer
    }

    /// Tells something.
    pub(super) async fn notify(&self, method: &str, params: Option<Value>) {
        self.shared.tell(&notification(method, params)).await;
    }

    /// Listens to what the server tells outside of answers, where it offers that.
    pub(super) fn listen(&self) {
        let shared = Arc::clone(&self.shared);
        tokio::spawn(async move {
            let closed = shared.closed.clone();
            tokio::select! {
                () = shared.follow() => {}
                () = closed.cancelled() => {}
            }
        });
    }
}

impl Drop for Http {
    fn drop(&mut self) {
        self.shared.closed.cancel();
        let shared = Arc::clone(&self.shared);
        if shared.session.get().is_some() && tokio::runtime::Handle::try_current().is_ok() {
            tokio::spawn(async move {
                // A server that is gone has no session either.
                let _ = shared.client.send(shared.head(Method::DELETE, Bytes::new())).await;
            });
        }
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if !self.is_answered && tokio::runtime::Handle::try_current().is_ok() {
            let (shared, id) = (Arc::clone(&self.shared), self.id);
            tokio::spawn(async move {
                let params = json!({"requestId": id, "reason": "nobody waits for the answer any more"});
                shared.tell(&notification("notifications/cancelled", Some(params))).await;
            });
        }
    }
}

impl Shared {
    fn head(&self, method: Method, body: Bytes) -> Request<Full<Bytes>> {
        let accepted = match method {
            Method::GET => "text/event-stream",
            _ => "application/json, text/event-stream",
        };
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = method;
        *request.uri_mut() = self.address.clone();
        let headers = request.headers_mut();
        headers.insert(header::ACCEPT, HeaderValue::from_static(accepted));
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        for (name, value) in [(SESSION, self.session.get()), (VERSION, self.version.get())] {
            if let Some(value) = value {
                headers.insert(name, value.clone());
            }
        }
        // What the configuration says goes before what we would say.
        headers.extend(self.headers.clone());
        request
    }

    /// Sends a message that is not answered.
    async fn tell(&self, message: &Value) {
        let request = self.head(Method::POST, Bytes::from(message.to_string()));
        if let Err(why) = self.client.send(request).await {
            tracing::debug!(?why, "an upstream server could not be told something");
        }
    }

    async fn ask(&self, id: u64, request: &Value, progress: Option<&Progress>) -> Result<Value, Fault> {
        let head = self.head(Method::POST, Bytes::from(request.to_string()));
        let response = self.client.send(head).await.map_err(|why| match why {
            Unanswered::Unreached(why) => Fault::Unsent(format!("cannot be reached: {why}")),
            Unanswered::Broken(_) => Fault::Closed,
        })?;
        let status = response.status();
        if self.session.get().is_some() && [StatusCode::NOT_FOUND, StatusCode::BAD_REQUEST].contains(&status) {
            return self.refused(id, status, response).await;
        }
        if let Some(session) = response.headers().get(SESSION) {
            let _ = self.session.set(session.clone());
        }
        match kind(&response) {
            Some(Kind::Events) if status.is_success() => self.answer_among_events(id, response, progress).await,
            Some(Kind::Json) => answer_alone(status, response).await,
            _ if status.is_success() => {
                Err(Fault::Nonsense("its answer is neither JSON nor a stream of events".into()))
            }
            _ => Err(Fault::Nonsense(format!("its answer has the status {status}"))),
        }
    }

    /// A server that has forgotten the session says so with 404, or, as many do, with 400 and an error that is about no request.
    /// Either way it did nothing, and a new session begins with the next request.
    async fn refused(&self, id: u64, status: StatusCode, response: Response<Incoming>) -> Result<Value, Fault> {
        let body = read(response.into_body(), MOST_MESSAGE_BYTES).await.map_err(|_| Fault::Closed)?;
        let message = serde_json::from_slice::<Value>(&body).unwrap_or_default();
        if status == StatusCode::BAD_REQUEST && message["id"] == id {
            return outcome(message);
        }
        self.closed.cancel();
        Err(Fault::Unsent("has ended the session".into()))
    }

    /// Reads a stream until the answer is there. One that ends before is taken up again if the server lets us.
    async fn answer_among_events(
        &self,
        id: u64,
        response: Response<Incoming>,
        progress: Option<&Progress>,
    ) -> Result<Value, Fault> {
        let mut events = Events::default();
        let mut body = response.into_body();
        loop {
            while let Some(frame) = body.frame().await {
                let Ok(frame) = frame else { break };
                let Ok(data) = frame.into_data() else { continue };
                let found = events.push(&data).map_err(|_| Fault::Nonsense("its answer is too long".into()))?;
                for event in found {
                    if let Some(answer) = self.take(id, &event.data, progress).await {
                        return answer;
                    }
                }
            }
            let Some(last) = events.last_id().and_then(|id| HeaderValue::from_str(id).ok()) else {
                return Err(Fault::Closed);
            };
            tokio::time::sleep(pause(&events)).await;
            let mut again = self.head(Method::GET, Bytes::new());
            again.headers_mut().insert(LAST_EVENT, last);
            body = match self.client.send(again).await {
                Ok(response) if response.status().is_success() => response.into_body(),
                _ => return Err(Fault::Closed),
            };
        }
    }

    /// Takes a message of a stream; gives the answer, if it is that.
    async fn take(&self, id: u64, text: &str, progress: Option<&Progress>) -> Option<Result<Value, Fault>> {
        let Ok(message) = serde_json::from_str::<Value>(text) else {
            return Some(Err(Fault::Nonsense("an event of its answer is no JSON".into())));
        };
        match (message.get("method").is_some(), message.get("id")) {
            (true, None) => match (is_progress_of(&message), progress) {
                (Some(of), Some(progress)) if of == id => {
                    // One step less is no loss when the agent does not keep up.
                    let _ = progress.try_send(message);
                }
                (Some(_), _) => {}
                (None, _) => {
                    let _ = self.notified.send(message).await;
                }
            },
            (true, Some(_)) => self.tell(&refusal_of(&message)).await,
            (false, Some(of)) if of.as_u64() == Some(id) => return Some(outcome(message)),
            (false, _) => tracing::warn!("an upstream server answered what nobody asked"),
        }
        None
    }

    /// Follows the server's own stream, where it has one.
    async fn follow(&self) {
        let mut events = Events::default();
        loop {
            let mut request = self.head(Method::GET, Bytes::new());
            if let Some(last) = events.last_id().and_then(|id| HeaderValue::from_str(id).ok()) {
                request.headers_mut().insert(LAST_EVENT, last);
            }
            match self.client.send(request).await {
                Ok(response) if response.status().is_success() && matches!(kind(&response), Some(Kind::Events)) => {
                    self.hear(response.into_body(), &mut events).await;
                }
                // A server without such a stream says so.
                Ok(_) => return,
                Err(_) => {}
            }
            tokio::time::sleep(pause(&events)).await;
        }
    }

    async fn hear(&self, mut body: Incoming, events: &mut Events) {
        while let Some(Ok(frame)) = body.frame().await {
            let Ok(data) = frame.into_data() else { continue };
            let Ok(found) = events.push(&data) else { return };
            for event in found {
                // No request has the id 0, so nothing here is an answer to one.
                self.take(0, &event.data, None).await;
            }
        }
    }
}

fn pause(events: &Events) -> Duration {
    events.retry_ms().map_or(PAUSE, Duration::from_millis).min(LONGEST_PAUSE)
}

enum Kind {
    Json,
    Events,
}

fn kind<B>(response: &Response<B>) -> Option<Kind> {
    let kind = response.headers().get(header::CONTENT_TYPE)?.to_str().ok()?;
    match kind.split(';').next()?.trim().to_ascii_lowercase().as_str() {
        "application/json" => Some(Kind::Json),
        "text/event-stream" => Some(Kind::Events),
        _ => None,
    }
}

/// Reads an answer that is one message. A server may well send an error of the protocol with a status that is one.
async fn answer_alone(status: StatusCode, response: Response<Incoming>) -> Result<Value, Fault> {
    let body = read(response.into_body(), MOST_MESSAGE_BYTES).await.map_err(|_| Fault::Closed)?;
    let wrong = || Fault::Nonsense(format!("its answer has the status {status} and is no message"));
    let message: Value = serde_json::from_slice(&body).map_err(|_| wrong())?;
    match outcome(message) {
        Err(Fault::Nonsense(_)) if !status.is_success() => Err(wrong()),
        outcome => outcome,
    }
}
