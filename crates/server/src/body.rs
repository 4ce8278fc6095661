//! Reading request bodies: JSON, within limits of size and time.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, header};
use bailiwick_core::json::{self, Object, Value};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use tokio::time::timeout;

use std::sync::Arc;

use crate::Limits;
use crate::app::App;
use crate::problem::{Code, Problem};

/// How much of a body that is too large is taken in and thrown away, so that its sender reads the answer instead of
/// meeting a closed connection.
const DRAINED_BYTES: u64 = 32 << 20;
/// How long that may take.
const DRAINED_TIME: Duration = Duration::from_secs(5);

/// A body that is a JSON object.
pub(crate) struct Document(pub(crate) Object);

/// A body that is a JSON object or is left out.
pub(crate) struct Details(pub(crate) Object);

impl FromRequest<Arc<App>> for Document {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, Problem> {
        let (parts, body) = request.into_parts();
        check_is_json(&parts.headers)?;
        let text = read(&parts.headers, body, &app.limits).await?;
        object(&text).map(Self)
    }
}

impl FromRequest<Arc<App>> for Details {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, Problem> {
        let (parts, body) = request.into_parts();
        let text = read(&parts.headers, body, &app.limits).await?;
        if text.is_empty() {
            return Ok(Self(Object::new()));
        }
        check_is_json(&parts.headers)?;
        object(&text).map(Self)
    }
}

fn object(text: &[u8]) -> Result<Object, Problem> {
    match json::parse(text, &json::Limits::DOCUMENT).map_err(|error| Problem::unreadable(&error))? {
        Value::Object(object) => Ok(object),
        other => {
            Err(Problem::new(Code::BadRequest, format!("the body is of type {}, must be an object", other.type_name())))
        }
    }
}

/// # Errors
///
/// `UNSUPPORTED_MEDIA_TYPE` unless the body is said to be JSON.
pub(crate) fn check_is_json(headers: &HeaderMap) -> Result<(), Problem> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split_once(';').map_or(kind, |(kind, _)| kind).trim();
    if kind.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    Err(Problem::new(Code::UnsupportedMediaType, "the body must be `application/json`"))
}

/// Reads a whole body.
///
/// # Errors
///
/// `PAYLOAD_TOO_LARGE`, at once if the length is stated; `REQUEST_TIMEOUT`; `BAD_REQUEST` if it breaks off.
pub(crate) async fn read(headers: &HeaderMap, body: Body, limits: &Limits) -> Result<Bytes, Problem> {
    let stated = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    let most = u64::try_from(limits.body_bytes).unwrap_or(u64::MAX);
    if let Some(length) = stated.filter(|length| *length > most) {
        // Whoever waits for `100 Continue` has not sent anything yet, and need not.
        if length <= DRAINED_BYTES && !headers.contains_key(header::EXPECT) {
            drain(body).await;
        }
        return Err(too_large(limits));
    }
    let mut body = Limited::new(body, limits.body_bytes);
    match timeout(limits.body_time, (&mut body).collect()).await {
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large(limits)),
        Ok(Err(_)) => Err(Problem::new(Code::BadRequest, "the body broke off")),
        Err(_) => Err(Problem::new(
            Code::RequestTimeout,
            format!("the body did not arrive within {} s", limits.body_time.as_secs()),
        )),
    }
}

async fn drain(mut body: Body) {
    let all = async { while let Some(Ok(_)) = body.frame().await {} };
    let _ = timeout(DRAINED_TIME, all).await;
}

fn too_large(limits: &Limits) -> Problem {
    Problem::new(Code::PayloadTooLarge, format!("the body is larger than {} bytes", limits.body_bytes))
}
