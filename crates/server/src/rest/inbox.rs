//! What waits for the caller.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use bailiwick_core::{heart, waiting};

use super::{json, shapes};
use crate::app::App;
use crate::caller::Acting;
use crate::input::Parameters;
use crate::problem::Problem;

/// List what waits for me
///
/// Reports to review and questions to answer that wait for the caller, a person; most urgent first. `counts` is over
/// all of it, whatever the filters. With `q` an answer looks through 1,000 of them at most: it may have fewer than
/// `limit`, or none, and still say where to go on.
#[utoipa::path(
    get, path = "/inbox", tag = "inbox",
    params(
        ("ask" = Option<shapes::Ask>, Query, description = "only what asks for this"),
        ("q" = Option<String>, Query, description = "only what has this text in `id`, `title`, `from` or `to`, in upper or lower case"),
        ("limit" = Option<u32>, Query, description = "how much at most, 1 to 200; 200 if left out", minimum = 1, maximum = 200),
        ("cursor" = Option<String>, Query, description = "`next_cursor` of an earlier answer", min_length = 1),
    ),
    responses((status = 200, description = "what waits", body = shapes::Inbox)),
)]
pub(super) async fn list_waiting(
    State(app): State<Arc<App>>,
    acting: Acting,
    parameters: Parameters,
) -> Result<Response, Problem> {
    let query = waiting::Query::parse(parameters.into_arguments(&["limit"]))?;
    Ok(json(StatusCode::OK, &app.ask(&acting.0, heart::Query::Waiting(query)).await?))
}
