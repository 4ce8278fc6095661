//! Signing in: the link that `bailiwick serve` and `bailiwick sign-in` print gives a browser its session, once.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Query, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use bailiwick_desk::Secret;
use serde::Deserialize;

use crate::app::App;
use crate::problem::{Code, Problem};

const PATH: &str = "/sign-in";

/// Says that a browser looks ahead, and nobody has followed the link yet.
const PURPOSE: HeaderName = HeaderName::from_static("sec-purpose");

const SPENT: &str = include_str!("sign_in.html");

/// The address that signs a person in, once, at a server reached at `base`: `http://127.0.0.1:8787`.
pub fn sign_in_url(base: &str, link: &Secret) -> String {
    format!("{}{PATH}?token={}", base.trim_end_matches('/'), link.reveal())
}

#[derive(Deserialize)]
struct Given {
    token: Option<String>,
}

/// The one route. Looking (`HEAD`) takes nothing.
pub(crate) fn routes() -> Router<Arc<App>> {
    Router::new().route(PATH, get(follow).head(|| async { StatusCode::OK }))
}

async fn follow(State(app): State<Arc<App>>, request: Request) -> Result<Response, Problem> {
    let given = Query::<Given>::try_from_uri(request.uri()).ok().and_then(|Query(given)| given.token);
    let token = given.filter(|_| !looks_ahead(request.headers()));
    let redeemed = match &token {
        Some(token) => app.within(app.desk.redeem_link(token)).await?,
        None => None,
    };
    let Some((session, person)) = redeemed else { return Ok(spent()) };
    tracing::info!(person = person.id, "signed in");
    let transport = app.origins.transport(request.uri(), request.headers());
    let cookie = app.cookie.set(session.reveal(), transport);
    let cookie = cookie.ok_or_else(|| Problem::new(Code::Internal, "the cookie can't be written"))?;
    let to_dashboard = [(header::LOCATION, HeaderValue::from_static("/")), (header::SET_COOKIE, cookie)];
    Ok((StatusCode::SEE_OTHER, to_dashboard).into_response())
}

fn looks_ahead(headers: &HeaderMap) -> bool {
    headers.get_all(PURPOSE).iter().any(|purpose| purpose.as_bytes().starts_with(b"prefetch"))
}

/// Used, expired and never given out look the same.
fn spent() -> Response {
    let kind = [(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"))];
    (StatusCode::FORBIDDEN, kind, SPENT).into_response()
}
