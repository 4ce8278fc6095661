//! Requests to the desk's REST interface.
//!
//! Paths are relative to the page's base, so the dashboard works wherever it is served from. Answers come as `core`'s
//! JSON values; errors as [`ApiError`].

mod path;
mod problem;

use bailiwick_core::json::{Limits, Object, Value, parse, write_compact};
use gloo_net::http::{Request, RequestBuilder, Response};

pub(crate) use path::{Path, segment};
pub(crate) use problem::ApiError;

/// Where the interface is, from the page's base.
pub(crate) const ROOT: &str = "api/v1/";

/// The header under which a repeated command counts once.
const IDEMPOTENCY_KEY: &str = "Idempotency-Key";

/// Reads something. The path is relative to [`ROOT`].
pub(crate) async fn get(path: &str) -> Result<Value, ApiError> {
    let request = Request::get(&address(path)).build().map_err(|_| ApiError::Unreachable)?;
    read(request.send().await).await
}

/// Sends a command. Sent again with the same key it does nothing a second time, and answers as it did.
pub(crate) async fn post(path: &str, body: &Object, key: &str) -> Result<Value, ApiError> {
    let text = write_compact(&body.clone().into());
    let request = json(Request::post(&address(path))).header(IDEMPOTENCY_KEY, key).body(text);
    read(request.map_err(|_| ApiError::Unreachable)?.send().await).await
}

/// A key for a command, that no other command has.
pub(crate) fn fresh_key() -> String {
    let mut bytes = [0_u8; 16];
    let random = web_sys::window().and_then(|window| window.crypto().ok());
    let filled = random.is_some_and(|random| random.get_random_values_with_u8_array(&mut bytes).is_ok());
    if filled {
        bailiwick_core::hash::hex(&bytes)
    } else {
        format!("{}{}", js_sys::Date::now(), js_sys::Math::random())
    }
}

/// Ends something: the session.
pub(crate) async fn delete(path: &str) -> Result<Value, ApiError> {
    let request = Request::delete(&address(path)).build().map_err(|_| ApiError::Unreachable)?;
    read(request.send().await).await
}

fn address(path: &str) -> String {
    format!("{ROOT}{path}")
}

fn json(request: RequestBuilder) -> RequestBuilder {
    request.header("Content-Type", "application/json")
}

async fn read(answer: Result<Response, gloo_net::Error>) -> Result<Value, ApiError> {
    let response = answer.map_err(|_| ApiError::Unreachable)?;
    let status = response.status();
    let text = response.text().await.map_err(|_| ApiError::Unreachable)?;
    if status == 204 {
        return Ok(Value::Null);
    }
    let body = parse(text.as_bytes(), &Limits::STORED).map_err(|_| ApiError::Foreign { status })?;
    if response.ok() { Ok(body) } else { Err(problem::read(status, &body)) }
}
