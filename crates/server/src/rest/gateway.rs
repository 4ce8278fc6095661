//! What gateways ask and say, and who may hold them up (`spec work-orders §8`, `§15`).
//!
//! Calls and effects are for gateways alone: for a key that stands for `gateway:<name>`.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use bailiwick_core::heart;
use bailiwick_core::json::Object;
use bailiwick_core::work::Query;

use super::orders::{Answer, act};
use super::{json, shapes};
use crate::app::App;
use crate::body::Document;
use crate::caller::Acting;
use crate::input::{Id, Once, Parameters};

/// Show how an order's gateways stand
///
/// What was spent, what is left, which calls are held, and whether the gateways may go on.
#[utoipa::path(
    get, path = "/orders/{id}/gateway", tag = "gateways",
    params(("id" = String, Path, description = "the order's id, percent-encoded")),
    responses((status = 200, description = "how they stand", body = shapes::Gateway)),
)]
pub(super) async fn show_gateway(
    State(app): State<Arc<App>>,
    acting: Acting,
    Id(id): Id,
    parameters: Parameters,
) -> Answer {
    parameters.finish("none")?;
    let query = Query::parse("gateway", Object::new().with("id", id))?;
    Ok(json(StatusCode::OK, &app.ask(&acting.0, heart::Query::Work(query)).await?))
}

/// List an order's calls
///
/// Everything that its gateways were allowed to call, the last first.
#[utoipa::path(
    get, path = "/orders/{id}/calls", tag = "gateways",
    params(
        ("id" = String, Path, description = "the order's id, percent-encoded"),
        ("before" = Option<u64>, Query, description = "`next_before` of an earlier answer"),
        ("limit" = Option<u32>, Query, description = "how many at most, 1 to 1000", minimum = 1, maximum = 1000),
    ),
    responses((status = 200, description = "the calls", body = shapes::Calls)),
)]
pub(super) async fn list_calls(
    State(app): State<Arc<App>>,
    acting: Acting,
    Id(id): Id,
    parameters: Parameters,
) -> Answer {
    let query = Query::parse("calls", parameters.into_arguments(&["limit", "before"]).with("id", id))?;
    Ok(json(StatusCode::OK, &app.ask(&acting.0, heart::Query::Work(query)).await?))
}

/// Pause, resume or stop an order's gateways
///
/// From the next call on. Pausing and stopping are for the manager, `escalate_to` and any person; resuming is for the
/// manager, `escalate_to` and whoever paused.
#[utoipa::path(
    post, path = "/orders/{id}/control", tag = "gateways",
    params(("id" = String, Path, description = "the order's id, percent-encoded")),
    request_body = shapes::Control,
    responses((status = 200, description = "how they stand now", body = shapes::Standing)),
)]
pub(super) async fn control_gateway(
    State(app): State<Arc<App>>,
    acting: Acting,
    once: Once,
    id: Id,
    details: Document,
) -> Answer {
    act(&app, &acting.0, &once, "control", id, details.0).await
}

/// Ask whether a call may be made
///
/// For gateways, before each call. What is allowed counts as spent from then on.
#[utoipa::path(
    post, path = "/orders/{id}/calls", tag = "gateways",
    params(("id" = String, Path, description = "the order's id, percent-encoded")),
    request_body = shapes::BeginCall,
    responses((status = 200, description = "it may; forward it, or hold it if it is staged", body = shapes::CallBegun)),
)]
pub(super) async fn begin_call(
    State(app): State<Arc<App>>,
    acting: Acting,
    once: Once,
    id: Id,
    call: Document,
) -> Answer {
    act(&app, &acting.0, &once, "begin_call", id, call.0).await
}

/// Say how a call went
///
/// For gateways, after each call that was forwarded. One that never was gives its units back if that is said within five
/// seconds.
#[utoipa::path(
    post, path = "/orders/{id}/calls/outcome", tag = "gateways",
    params(("id" = String, Path, description = "the order's id, percent-encoded")),
    request_body = shapes::FinishCall,
    responses((status = 200, description = "noted", body = shapes::CallFinished)),
)]
pub(super) async fn finish_call(
    State(app): State<Arc<App>>,
    acting: Acting,
    once: Once,
    id: Id,
    outcome: Document,
) -> Answer {
    act(&app, &acting.0, &once, "finish_call", id, outcome.0).await
}

/// Claim an approved effect
///
/// For gateways, before an effect is carried out. Nobody else is answered with it again, unless the manager allows a retry.
#[utoipa::path(
    post, path = "/orders/{id}/effects/begin", tag = "gateways",
    params(("id" = String, Path, description = "the order's id, percent-encoded")),
    request_body = shapes::BeginEffect,
    responses((status = 200, description = "carry it out; or it failed, for a reference in it leads nowhere", body = shapes::EffectBegun)),
)]
pub(super) async fn begin_effect(
    State(app): State<Arc<App>>,
    acting: Acting,
    once: Once,
    id: Id,
    effect: Document,
) -> Answer {
    act(&app, &acting.0, &once, "begin_effect", id, effect.0).await
}

/// Say how an effect went
///
/// For gateways, once a claimed effect was carried out.
#[utoipa::path(
    post, path = "/orders/{id}/effects/outcome", tag = "gateways",
    params(("id" = String, Path, description = "the order's id, percent-encoded")),
    request_body = shapes::FinishEffect,
    responses((status = 200, description = "noted", body = shapes::EffectFinished)),
)]
pub(super) async fn finish_effect(
    State(app): State<Arc<App>>,
    acting: Acting,
    once: Once,
    id: Id,
    outcome: Document,
) -> Answer {
    act(&app, &acting.0, &once, "finish_effect", id, outcome.0).await
}

/// Allow another try of an effect
///
/// For the manager, when an effect failed, or was begun and nobody knows whether it ran. It may then happen twice.
#[utoipa::path(
    post, path = "/orders/{id}/effects/retry", tag = "gateways",
    params(("id" = String, Path, description = "the order's id, percent-encoded")),
    request_body = shapes::Retry,
    responses((status = 200, description = "the order; the effect is approved again", body = shapes::View)),
)]
pub(super) async fn allow_effect_retry(
    State(app): State<Arc<App>>,
    acting: Acting,
    once: Once,
    id: Id,
    details: Document,
) -> Answer {
    act(&app, &acting.0, &once, "allow_effect_retry", id, details.0).await
}
