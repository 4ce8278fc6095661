//! Who the caller is, and signing out.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bailiwick_core::json::Object;
use bailiwick_core::principal::Established;
use bailiwick_mcp::Access;

use super::{json, shapes};
use crate::Auth;
use crate::app::App;
use crate::caller::Acting;
use crate::input::Parameters;
use crate::problem::{Code, Problem};

/// Show who I am
///
/// Whom the caller is taken for and how that was established, and what server this is.
#[utoipa::path(
    get, path = "/session", tag = "session",
    responses((status = 200, description = "the caller", body = shapes::Session)),
)]
pub(super) async fn show_session(
    State(app): State<Arc<App>>,
    acting: Acting,
    parameters: Parameters,
) -> Result<Response, Problem> {
    parameters.finish("none")?;
    let mode = match app.auth {
        Auth::Keys(_) => "keys",
        Auth::Open => "open",
    };
    let access = match app.access {
        Access::Full => "full",
        Access::ReadOnly => "read_only",
    };
    let session = Object::new()
        .with("id", acting.0.id)
        .with("established", acting.0.established.name())
        .with("mode", mode)
        .with("access", access)
        .with("workspace", app.desk.workspace())
        .with("version", env!("CARGO_PKG_VERSION"));
    Ok(json(StatusCode::OK, &session.into()))
}

/// Sign out
///
/// Ends the session that the request's cookie stands for.
#[utoipa::path(
    delete, path = "/session", tag = "session",
    responses((status = 204, description = "the session has ended")),
)]
pub(super) async fn end_session(
    State(app): State<Arc<App>>,
    acting: Acting,
    parameters: Parameters,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    parameters.finish("none")?;
    // A cookie beside a key was not looked at, and may come from any page.
    let secret = match acting.0.established {
        Established::SignIn => app.cookie.presented(&headers)?,
        _ => None,
    };
    let secret = secret.ok_or_else(|| Problem::new(Code::BadRequest, "the request has no session to end"))?;
    app.within(app.desk.end_session(secret)).await?;
    let mut response = StatusCode::NO_CONTENT.into_response();
    if let Some(forget) = app.cookie.forget() {
        response.headers_mut().insert(header::SET_COOKIE, forget);
    }
    Ok(response)
}
