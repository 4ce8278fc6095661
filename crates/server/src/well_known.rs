//! What verifiers of passes fetch: public keys, and the list of passes that no longer count. Neither is secret, so neither
//! needs a key.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bailiwick_core::json::write_compact;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::problem::{Code, Problem};

/// Where the public keys are (RFC 7517 §5).
pub(crate) const KEYS_PATH: &str = "/.well-known/jwks.json";
/// Where the list of revoked passes is.
pub(crate) const REVOCATIONS_PATH: &str = "/.well-known/bailiwick-revocations";

/// Verifiers may keep keys for five minutes: shorter than a new key is published before it signs.
const KEYS_CACHING: HeaderValue = HeaderValue::from_static("public, max-age=300");
/// A list that is kept is one that misses who was revoked since.
const REVOCATIONS_CACHING: HeaderValue = HeaderValue::from_static("no-cache");

pub(crate) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::default().routes(routes!(show_keys)).routes(routes!(show_revocations))
}

/// Show the public keys of passes
///
/// A JWK set. A key that is yet to come into use is in it already, with `not_before`; one that has gone out of use is not.
/// Needs no key. 404 where the server signs no passes.
#[utoipa::path(
    get, path = KEYS_PATH, tag = "passes", security(()),
    responses((
        status = 200, description = "the keys", content_type = "application/jwk-set+json", body = Object,
        headers(("Cache-Control" = String, description = "how long they may be kept")),
    )),
)]
pub(crate) async fn show_keys(State(app): State<Arc<App>>) -> Result<Response, Problem> {
    check_signs(&app)?;
    let keys = app.within(app.desk.published_keys()).await?;
    Ok(answer("application/jwk-set+json", KEYS_CACHING, write_compact(&keys)))
}

/// Show the revoked passes
///
/// A JWS in the compact form, signed like the passes, of orders that ended before their deadline or are
/// stopped, by their ids. Verifiers keep the
/// newest they have seen and refuse a lower `version`. Needs no key. 404 where the server signs no passes.
#[utoipa::path(
    get, path = REVOCATIONS_PATH, tag = "passes", security(()),
    responses((status = 200, description = "the list", content_type = "application/jwt", body = String)),
)]
pub(crate) async fn show_revocations(State(app): State<Arc<App>>) -> Result<Response, Problem> {
    check_signs(&app)?;
    let list = app.within(app.desk.revocations()).await?;
    Ok(answer("application/jwt", REVOCATIONS_CACHING, list.to_string()))
}

fn check_signs(app: &App) -> Result<(), Problem> {
    match app.desk.signer() {
        Some(_) => Ok(()),
        None => Err(Problem::new(Code::NotFound, "this server signs no passes")),
    }
}

fn answer(kind: &'static str, caching: HeaderValue, text: String) -> Response {
    let headers = [(header::CONTENT_TYPE, HeaderValue::from_static(kind)), (header::CACHE_CONTROL, caching)];
    (StatusCode::OK, headers, text).into_response()
}
