//! A desk elsewhere, asked over HTTP under the gateway's own key.
//!
//! A command is sent again with the same idempotency key until there is an answer or the time is up, so it is carried out once
//! however often the connection breaks. What was begun and never answered counts as spent at the desk.

use std::fmt;
use std::time::{Duration, Instant};

use bailiwick_core::heart::Refusal;
use bailiwick_core::json::{Limits, Object, Value, parse, write_compact};
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::{Method, Request, StatusCode, Uri};
use tokio::sync::OnceCell;

use super::{Answer, AskedCall, Authority, Begun, Failure, Place, Terms, to_arguments, to_begun};
use crate::http::{HttpClient, parse_address, read};

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// The most bytes of an answer: an order with all its history.
const MOST_ANSWER_BYTES: usize = 16 << 20;
/// How long to wait before asking again, doubled each time.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
/// How long one attempt may take.
const ATTEMPT_TIME: Duration = Duration::from_secs(5);

/// Codes of a desk; any other is treated as a failure of whatever answered.
const CODES: [&str; 12] = [
    "BAD_REQUEST",
    "UNAUTHENTICATED",
    "FORBIDDEN",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "CONFLICT",
    "INVALID_TRANSITION",
    "DEADLINE_PASSED",
    "BUDGET_EXCEEDED",
    "PAUSED",
    "STOPPED",
    "PAYLOAD_TOO_LARGE",
];

/// A desk elsewhere.
pub struct RemoteDesk {
    client: HttpClient,
    root: String,
    key: HeaderValue,
    order: String,
    time: Duration,
    terms: OnceCell<Terms>,
}

impl fmt::Debug for RemoteDesk {
    /// Without the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteDesk").field("root", &self.root).field("order", &self.order).finish_non_exhaustive()
    }
}

/// Why a desk cannot be asked at all. Messages hold no key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RemoteError {
    /// The address is none
    #[error("`{0}` is no address of a desk; accepted: `http://` or `https://`, a host, and a path or none")]
    Address(String),
    /// The key can't be sent
    #[error("the key is empty or has characters that a header cannot carry")]
    Key,
    /// TLS is not to be had
    #[error("{0}")]
    Tls(String),
}

impl RemoteDesk {
    /// The desk at an address, like `https://desk.example`, asked with a key about an order; it may take so long to answer.
    ///
    /// # Errors
    ///
    /// [`RemoteError`].
    pub fn new(address: &str, key: &str, order: &str, time: Duration) -> Result<Self, RemoteError> {
        let wrong = || RemoteError::Address(address.into());
        let uri = parse_address(address).filter(|uri| uri.query().is_none()).ok_or_else(wrong)?;
        let key = Some(key.trim()).filter(|key| !key.is_empty());
        let mut key =
            key.and_then(|key| HeaderValue::try_from(format!("Bearer {key}")).ok()).ok_or(RemoteError::Key)?;
        key.set_sensitive(true);
        let root = uri.to_string().trim_end_matches('/').to_owned();
        let client = HttpClient::new().map_err(RemoteError::Tls)?;
        Ok(Self { client, root, key, order: order.into(), time, terms: OnceCell::new() })
    }

    async fn know_terms(&self) -> Result<&Terms, Failure> {
        self.terms
            .get_or_try_init(|| async {
                let view = self.get("").await?;
                Ok(Terms::of(view.get("order").unwrap_or(&Value::Null), "to"))
            })
            .await
    }

    async fn get(&self, path: &str) -> Result<Value, Failure> {
        self.ask(Method::GET, path, &Bytes::new(), None).await
    }

    async fn post(&self, path: &str, arguments: Object) -> Result<Value, Failure> {
        let mut random = [0; 16];
        getrandom::fill(&mut random).map_err(|error| Failure::Unreachable(format!("no randomness: {error}")))?;
        let once = HeaderValue::try_from(bailiwick_core::hash::hex(&random)).ok();
        self.ask(Method::POST, path, &Bytes::from(write_compact(&arguments.into())), once).await
    }

    /// Asks until there is an answer or the time is up.
    async fn ask(&self, method: Method, path: &str, body: &Bytes, once: Option<HeaderValue>) -> Result<Value, Failure> {
        let uri = format!("{}/api/v1/orders/{}{path}", self.root, encoded(&self.order));
        let uri: Uri = uri.parse().map_err(|_| Failure::Unreachable("the order's id makes no address".into()))?;
        let (began, mut pause) = (Instant::now(), FIRST_PAUSE);
        loop {
            let left = self.time.saturating_sub(began.elapsed());
            let attempt = self.attempt(method.clone(), uri.clone(), body.clone(), once.clone());
            let why = match tokio::time::timeout(left.min(ATTEMPT_TIME), attempt).await {
                Ok(Ok(answer)) => return answer.map_err(Failure::Refused),
                Ok(Err(why)) => why,
                Err(_) => "it does not answer in time".into(),
            };
            if began.elapsed() + pause >= self.time {
                return Err(Failure::Unreachable(why));
            }
            tokio::time::sleep(pause).await;
            pause *= 2;
        }
    }

    /// Asks once. The outer error is one that asking again may mend.
    async fn attempt(
        &self,
        method: Method,
        uri: Uri,
        body: Bytes,
        once: Option<HeaderValue>,
    ) -> Result<Result<Value, Refusal>, String> {
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = method;
        *request.uri_mut() = uri;
        let headers = request.headers_mut();
        headers.insert(header::AUTHORIZATION, self.key.clone());
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(once) = once {
            headers.insert(IDEMPOTENCY_KEY, once);
        }
        let response = self.client.send(request).await.map_err(|why| format!("{why}"))?;
        let status = response.status();
        let body = read(response.into_body(), MOST_ANSWER_BYTES).await.map_err(|why| format!("{why}"))?;
        let value = parse(&body, &Limits { bytes: MOST_ANSWER_BYTES, ..Limits::STORED });
        let value = value.map_err(|_| format!("its answer, with the status {status}, is no JSON"))?;
        match status {
            StatusCode::OK | StatusCode::CREATED => Ok(Ok(value)),
            _ => refusal(&value).map(Err).ok_or_else(|| format!("its answer has the status {status}")),
        }
    }
}

/// Reads `application/problem+json`; `None` for a problem that may pass.
fn refusal(problem: &Value) -> Option<Refusal> {
    let named = problem.get("code")?.as_str()?;
    let code = CODES.into_iter().find(|code| *code == named)?;
    let mut refusal = Refusal::new(code, problem.get("detail").and_then(Value::as_str).unwrap_or_default());
    for (name, value) in problem.as_object()?.iter() {
        if !["type", "title", "status", "detail", "code", "findings"].contains(&name.as_str()) {
            refusal = refusal.with(name, value.clone());
        }
    }
    Some(refusal)
}

/// An id as a part of a path.
fn encoded(id: &str) -> String {
    let mut text = String::with_capacity(id.len());
    for byte in id.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'~' => text.push(byte.into()),
            // A dot too: a part that is `..` would be taken for a step back.
            other => text.push_str(&format!("%{other:02X}")),
        }
    }
    text
}

impl Authority for RemoteDesk {
    fn terms(&self) -> Answer<'_, Option<Terms>> {
        Box::pin(async { self.know_terms().await.cloned().map(Some) })
    }

    fn order(&self) -> Answer<'_> {
        Box::pin(self.get(""))
    }

    fn status(&self) -> Answer<'_> {
        Box::pin(self.get("/gateway"))
    }

    fn begin_call<'a>(&'a self, call: &'a AskedCall) -> Answer<'a, Begun> {
        Box::pin(async move {
            let arguments = to_arguments(call, self.know_terms().await?);
            to_begun(&self.post("/calls", arguments).await?)
        })
    }

    fn finish_call(&self, _: Place, outcome: Object) -> Answer<'_, ()> {
        Box::pin(async move { self.post("/calls/outcome", outcome).await.map(|_| ()) })
    }

    fn effect(&self, name: &'static str, arguments: Object) -> Answer<'_> {
        let path = if name == "begin_effect" { "/effects/begin" } else { "/effects/outcome" };
        Box::pin(self.post(path, arguments))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_keys_are_checked_and_never_shown() {
        let desk = RemoteDesk::new("https://desk.example/", "s3cret", "a/b ..", Duration::from_secs(1)).unwrap();
        assert!(!format!("{desk:?}").contains("s3cret"));
        assert_eq!((desk.root.as_str(), encoded(&desk.order).as_str()), ("https://desk.example", "a%2Fb%20%2E%2E"));
        for address in ["", "desk.example", "ftp://desk.example", "http://", "http://h/?a=b"] {
            let error = RemoteDesk::new(address, "k", "o", Duration::from_secs(1)).unwrap_err();
            assert_eq!(error, RemoteError::Address(address.into()));
        }
        for key in ["", " ", "a\nb"] {
            assert_eq!(RemoteDesk::new("http://h", key, "o", Duration::from_secs(1)).unwrap_err(), RemoteError::Key);
        }
    }

    #[test]
    fn problems_become_refusals_unless_they_may_pass() {
        let read = |text: &str| refusal(&parse(text.as_bytes(), &Limits::DOCUMENT).unwrap());
        let full = r#"{"type": "t", "title": "x", "status": 409, "code": "BUDGET_EXCEEDED", "detail": "all gone", "unit": "usd"}"#;
        let refused = read(full).unwrap();
        assert_eq!((refused.code, refused.message.as_str()), ("BUDGET_EXCEEDED", "all gone"));
        assert_eq!(refused.details, Object::new().with("unit", "usd"));
        assert_eq!(read(r#"{"code": "UNAVAILABLE", "detail": "later"}"#), None);
        assert_eq!(read(r#"{"code": "INTERNAL"}"#), None);
        assert_eq!(read("[]"), None);
    }
}
