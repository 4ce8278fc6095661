//! Whether the server lives, can work, and what it counts.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bailiwick_core::json::Object;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::Auth;
use crate::app::App;
use crate::problem::Problem;
use crate::rest::json;

/// Those that need no key.
pub(crate) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::default().routes(routes!(healthz)).routes(routes!(readyz))
}

/// The one that may need a key.
pub(crate) fn metrics_routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::default().routes(routes!(metrics))
}

/// Whether the server lives
///
/// Needs no key, and asks nothing of the store.
#[utoipa::path(
    get, path = "/healthz", tag = "operation", security(()),
    responses((status = 200, description = "it does", body = Object, example = json!({"status": "ok"}))),
)]
pub(crate) async fn healthz() -> Response {
    json(StatusCode::OK, &Object::new().with("status", "ok").into())
}

/// Whether the server can work
///
/// The store answers. Needs no key.
#[utoipa::path(
    get, path = "/readyz", tag = "operation", security(()),
    responses((status = 200, description = "it can", body = Object, example = json!({"status": "ready"}))),
)]
pub(crate) async fn readyz(State(app): State<Arc<App>>) -> Result<Response, Problem> {
    app.within(app.desk.check()).await?;
    Ok(json(StatusCode::OK, &Object::new().with("status", "ready").into()))
}

/// Numbers for monitoring
///
/// In the Prometheus text format. Needs a key unless the server listens on loopback only.
#[utoipa::path(
    get, path = "/metrics", tag = "operation", security((), ("key" = [])),
    responses((status = 200, description = "the numbers", body = String, content_type = "text/plain")),
)]
pub(crate) async fn metrics(State(app): State<Arc<App>>) -> Response {
    // Numbers are wanted above all when the store is in trouble, so they don't depend on it.
    let head = app.within(app.desk.head()).await.ok().map(|head| head.head.sequence);
    let keys = match &app.auth {
        Auth::Keys(keys) => Some(keys.len()),
        Auth::Open => None,
    };
    let mut response = app.metrics.render(head, keys).into_response();
    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}
