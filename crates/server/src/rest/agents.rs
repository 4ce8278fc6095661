//! What agents have done so far (`spec work-orders §10`).

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use bailiwick_core::heart;
use bailiwick_core::json::Object;
use bailiwick_core::work::Query;

use super::{json, shapes};
use crate::app::App;
use crate::caller::Acting;
use crate::input::{Id, Parameters};
use crate::problem::Problem;

/// Show an agent's track record
///
/// Sums over every order that was addressed to the agent.
#[utoipa::path(
    get, path = "/agents/{agent}/track-record", tag = "agents",
    params(("agent" = String, Path, description = "the agent reference, percent-encoded")),
    responses((status = 200, description = "the track record", body = shapes::TrackRecord)),
)]
pub(super) async fn show_track_record(
    State(app): State<Arc<App>>,
    acting: Acting,
    Id(agent): Id,
    parameters: Parameters,
) -> Result<Response, Problem> {
    parameters.finish("none")?;
    let query = Query::parse("track_record", Object::new().with("agent", agent))?;
    Ok(json(StatusCode::OK, &app.ask(&acting.0, heart::Query::Work(query)).await?))
}
