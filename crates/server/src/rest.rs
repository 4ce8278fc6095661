//! The REST interface, under `/api/v1`.
//!
//! Routes and their description are one: [`routes`] collects handlers, and the OpenAPI document comes out of the
//! same calls.

mod agents;
mod events;
mod export;
mod gateway;
mod inbox;
mod journal;
mod orders;
mod session;
mod shapes;

use std::sync::Arc;

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bailiwick_core::json::{Value, write_compact};
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;

/// Where the interface starts.
pub(crate) const ROOT: &str = "/api/v1";

/// What no route names by itself.
#[derive(OpenApi)]
#[openapi(components(schemas(shapes::Problem, shapes::Finding, shapes::FindingKind, shapes::ListOrder)))]
struct Common;

/// Everything under [`ROOT`] that needs a caller.
pub(crate) fn routes() -> OpenApiRouter<Arc<App>> {
    let routes = OpenApiRouter::with_openapi(Common::openapi())
        .routes(routes!(orders::list_orders, orders::create_order))
        .routes(routes!(orders::show_order))
        .routes(routes!(orders::accept_order))
        .routes(routes!(orders::decline_order))
        .routes(routes!(orders::start_order))
        .routes(routes!(orders::note_progress))
        .routes(routes!(orders::submit_report))
        .routes(routes!(orders::answer_question))
        .routes(routes!(orders::review_report))
        .routes(routes!(orders::cancel_order))
        .routes(routes!(orders::issue_pass))
        .routes(routes!(gateway::show_gateway))
        .routes(routes!(gateway::control_gateway))
        .routes(routes!(gateway::list_calls, gateway::begin_call))
        .routes(routes!(gateway::finish_call))
        .routes(routes!(gateway::begin_effect))
        .routes(routes!(gateway::finish_effect))
        .routes(routes!(gateway::allow_effect_retry))
        .routes(routes!(session::show_session, session::end_session))
        .routes(routes!(inbox::list_waiting))
        .routes(routes!(agents::list_agents))
        .routes(routes!(agents::show_track_record))
        .routes(routes!(journal::show_head))
        .routes(routes!(journal::list_entries))
        .routes(routes!(export::export_journal))
        .routes(routes!(events::follow_events));
    OpenApiRouter::default().nest(ROOT, routes)
}

/// An answer that no cache may keep: it holds a secret.
pub(crate) fn secret_json(status: StatusCode, value: &Value) -> Response {
    let mut response = json(status, value);
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// An answer in JSON.
pub(crate) fn json(status: StatusCode, value: &Value) -> Response {
    json_text(status, write_compact(value))
}

/// An answer that is JSON text already.
pub(crate) fn json_text(status: StatusCode, text: impl IntoResponse) -> Response {
    let mut response = (status, text).into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
