//! Every route, and the layers in front of them.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use bailiwick_mcp::Toolsets;
use tower_http::catch_panic::CatchPanicLayer;

use crate::app::App;
use crate::gateway::Gateways;
use crate::origin::Arrived;
use crate::problem::{Code, Problem};
use crate::{admission, caller, dashboard, docs, gateway, health, mcp, rest, sign_in, watch, well_known};

/// The whole server as one service.
pub(crate) fn router(app: &Arc<App>, toolsets: &Toolsets, gateways: Option<&Arc<Gateways>>) -> Router {
    let endpoint = mcp::Endpoint::new(Arc::clone(app), toolsets);
    let admit = || from_fn_with_state(Arc::clone(app), admission::admit);
    let rest = Router::from(rest::routes())
        .method_not_allowed_fallback(method_not_allowed)
        .layer(admit())
        .layer(from_fn_with_state(Arc::clone(app), caller::establish))
        .with_state(Arc::clone(app));
    let agents = Router::new()
        .route("/mcp", any(mcp::handle))
        .with_state(endpoint)
        .layer(admit())
        .layer(from_fn_with_state(Arc::clone(app), caller::establish_agent));
    let gateways = gateways.map_or_else(Router::new, |gateways| {
        Router::new()
            .route("/gateway/{id}/mcp", any(gateway::handle))
            .with_state(Arc::clone(gateways))
            .layer(admit())
            .layer(from_fn_with_state(Arc::clone(app), caller::establish_agent))
    });
    let people =
        sign_in::routes().method_not_allowed_fallback(method_not_allowed).layer(admit()).with_state(Arc::clone(app));
    let well_known = Router::from(well_known::routes())
        .method_not_allowed_fallback(method_not_allowed)
        .layer(admit())
        .with_state(Arc::clone(app));
    let metrics = Router::from(health::metrics_routes())
        .method_not_allowed_fallback(method_not_allowed)
        .layer(from_fn_with_state(Arc::clone(app), caller::establish_if_exposed))
        .with_state(Arc::clone(app));
    let open = Router::from(health::routes())
        .with_state(Arc::clone(app))
        .merge(docs::routes())
        .merge(dashboard::routes())
        .method_not_allowed_fallback(method_not_allowed);
    open.merge(metrics)
        .merge(well_known)
        .merge(rest)
        .merge(agents)
        .merge(gateways)
        .merge(people)
        .fallback(dashboard::file_or_nothing)
        .layer(from_fn_with_state(Arc::clone(app), check_origin))
        .layer(CatchPanicLayer::custom(panicked))
        .layer(from_fn_with_state(Arc::clone(app), watch::note))
}

async fn check_origin(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let at = request.extensions().get::<Arrived>().map(|at| at.0);
    match app.origins.check(request.uri(), request.headers(), at) {
        Ok(()) => next.run(request).await,
        Err(problem) => {
            tracing::warn!(code = problem.code().name(), "host or origin refused");
            problem.into_response()
        }
    }
}

async fn method_not_allowed() -> Problem {
    Problem::new(Code::MethodNotAllowed, "this path does not take that method; `Allow` lists those that it takes")
}

fn panicked(_: Box<dyn std::any::Any + Send>) -> Response {
    // The panic hook has written where; what it says may hold a document, so it goes no further.
    tracing::error!("a request panicked");
    Problem::new(Code::Internal, "this request met a mistake of ours").into_response()
}
