//! What is noted about each request: its id, a line in the log, a count.
//!
//! The log gets method, route, status and duration; never a body, a query, a header or a path with an id in it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;
use bailiwick_core::hash::hex;
use tracing::Instrument;

use crate::ServerError;
use crate::admission::Waited;
use crate::app::App;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The route of a request that none matches.
const NO_ROUTE: &str = "none";

/// Gives each request an id that no other of any process has.
pub(crate) struct RequestIds {
    process: String,
    next: AtomicU64,
}

impl RequestIds {
    /// # Errors
    ///
    /// [`ServerError::Randomness`] if the system has none.
    pub(crate) fn new() -> Result<Self, ServerError> {
        let mut process = [0; 6];
        getrandom::fill(&mut process).map_err(ServerError::Randomness)?;
        Ok(Self { process: hex(&process), next: AtomicU64::new(1) })
    }

    fn next(&self) -> String {
        format!("{}-{}", self.process, self.next.fetch_add(1, Ordering::Relaxed))
    }

    /// The id that the client or a proxy gave, if it is a plain one; else a new one.
    fn of(&self, request: &Request) -> String {
        let plain = |id: &&str| {
            (1..=64).contains(&id.len())
                && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
        };
        let given = request.headers().get(REQUEST_ID).and_then(|id| id.to_str().ok()).filter(plain);
        given.map_or_else(|| self.next(), Into::into)
    }
}

/// Notes a request and its answer, and adds what every answer has.
pub(crate) async fn note(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let begun = Instant::now();
    let id = app.request_ids.of(&request);
    let method = known(request.method());
    let matched = request.extensions().get::<MatchedPath>().cloned();
    let route = matched.as_ref().map_or(NO_ROUTE, MatchedPath::as_str);
    let span = tracing::info_span!("request", %id, method, route);
    let mut response = next.run(request).instrument(span.clone()).await;
    let took = begun.elapsed();
    let status = response.status();
    let waited = response.extensions().get::<Waited>().is_some();
    app.metrics.answered(route, method, status.as_u16(), (!waited).then_some(took));
    span.in_scope(|| {
        let (status, milliseconds) = (status.as_u16(), took.as_secs_f64() * 1000.0);
        if status >= StatusCode::INTERNAL_SERVER_ERROR.as_u16() {
            tracing::warn!(status, milliseconds, "answered");
        } else {
            tracing::info!(status, milliseconds, "answered");
        }
    });
    add_headers(&mut response, &id);
    response
}

/// What every answer says: its request's id, and that browsers take it for what it is and keep nothing.
fn add_headers(response: &mut Response, id: &str) {
    let headers = response.headers_mut();
    if let Ok(id) = HeaderValue::from_str(id) {
        headers.insert(REQUEST_ID, id);
    }
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    let policy = HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'");
    headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(policy);
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
}

/// The method's name; a client's own word for one is not repeated.
fn known(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::POST => "POST",
        Method::HEAD => "HEAD",
        Method::OPTIONS => "OPTIONS",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        _ => "other",
    }
}
