//! What agents have done so far (`spec work-orders §10`).

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use bailiwick_core::heart;
use bailiwick_core::json::{Object, Value};
use bailiwick_core::time;
use bailiwick_core::work::Query;

use super::{json, shapes};
use crate::app::App;
use crate::caller::Acting;
use crate::input::{Id, Parameters};
use crate::problem::Problem;

/// List agents
///
/// Everybody to whom an order was ever addressed, by name: the track record of each, and when it was last seen. That is
/// passing: an agent is seen by acting or by asking this server, and what a server saw is gone when it stops, except for
/// what the newest entries of the journal tell.
#[utoipa::path(
    get, path = "/agents", tag = "agents",
    params(
        ("limit" = Option<u32>, Query, description = "how many at most, 1 to 1000", minimum = 1, maximum = 1000),
        ("cursor" = Option<String>, Query, description = "`next_cursor` of an earlier answer", min_length = 1),
    ),
    responses((status = 200, description = "the agents", body = shapes::Agents)),
)]
pub(super) async fn list_agents(
    State(app): State<Arc<App>>,
    acting: Acting,
    parameters: Parameters,
) -> Result<Response, Problem> {
    let query = Query::parse("agents", parameters.into_arguments(&["limit"]))?;
    let found = app.ask(&acting.0, heart::Query::Work(query)).await?;
    app.within(app.presence.catch_up(&app.desk)).await?;
    let records = found.get("agents").and_then(Value::as_array).unwrap_or_default();
    let agents: Value =
        records.iter().filter_map(Value::as_object).map(|record| with_last_seen(&app, record)).collect();
    let next = found.get("next_cursor").cloned();
    Ok(json(StatusCode::OK, &Object::new().with("agents", agents).with_some("next_cursor", next).into()))
}

fn with_last_seen(app: &App, record: &Object) -> Value {
    let seen = record.str("agent").and_then(|agent| app.presence.last_seen(agent));
    record.clone().with("last_seen", seen.map_or(Value::Null, |at| time::format(at).into())).into()
}

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
