//! Who makes a request.
//!
//! Closed mode: a bearer key. Open mode: whoever the header `X-Bailiwick-Actor` names. In both, for REST, the session of a
//! browser. All is checked before anything of the body is read.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::{ConnectInfo, FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, Method, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use bailiwick_core::principal::{MOST_CHARACTERS, Principal};

use crate::app::{App, Exposure};
use crate::problem::{Code, Problem};
use crate::session::check_own_page;
use crate::{Auth, KeyRing};

/// Names who acts, in open mode; in closed mode it may repeat whom the key stands for.
pub(crate) const ACTOR: HeaderName = HeaderName::from_static("x-bailiwick-actor");

/// Whoever acts, as [`establish`] found out.
pub(crate) struct Acting(pub(crate) Principal);

impl<S: Sync> FromRequestParts<S> for Acting {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let nobody = || Problem::new(Code::Internal, "nobody found out who makes the request");
        parts.extensions.get::<Principal>().cloned().map(Self).ok_or_else(nobody)
    }
}

/// Finds out who makes a request by REST and puts the [`Principal`] into its extensions; refuses whoever is nobody.
pub(crate) async fn establish(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let principal = caller(&app, request.method(), request.uri(), request.headers()).await.map(Some);
    go_on(&app, principal, request, next).await
}

/// Finds out who makes a request by MCP. In open mode it may be nobody: then the call says who acts.
pub(crate) async fn establish_agent(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let principal = agent(&app, request.headers());
    go_on(&app, principal, request, next).await
}

/// Who makes a request by MCP; in open mode it may be nobody.
///
/// # Errors
///
/// As [`caller`].
pub(crate) fn agent(app: &App, headers: &HeaderMap) -> Result<Option<Principal>, Problem> {
    match &app.auth {
        Auth::Keys(keys) => by_key(keys, headers).map(Some),
        Auth::Open => claimed(headers),
    }
}

/// Asks for a key only where others than programs on the same machine can reach the server.
pub(crate) async fn establish_if_exposed(app: State<Arc<App>>, request: Request, next: Next) -> Response {
    match app.exposure {
        Exposure::Loopback => next.run(request).await,
        Exposure::Network => establish_agent(app, request, next).await,
    }
}

async fn go_on(app: &App, principal: Result<Option<Principal>, Problem>, mut request: Request, next: Next) -> Response {
    match principal {
        Ok(Some(principal)) => {
            app.presence.greet(&principal.id);
            request.extensions_mut().insert(principal);
        }
        Ok(None) => {}
        Err(problem) => {
            let peer = request.extensions().get::<ConnectInfo<SocketAddr>>().map(|peer| peer.0);
            tracing::warn!(code = problem.code().name(), peer = peer.map(tracing::field::display), "caller refused");
            return problem.into_response();
        }
    }
    next.run(request).await
}

/// Who makes a request by REST. What it says goes before what a browser sends by itself.
///
/// # Errors
///
/// `UNAUTHENTICATED` if it is nobody, `FORBIDDEN` if it says to be somebody else, `BAD_REQUEST` for a name that is none.
pub(crate) async fn caller(app: &App, method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<Principal, Problem> {
    let nobody = match &app.auth {
        Auth::Keys(keys) if headers.contains_key(header::AUTHORIZATION) => return by_key(keys, headers),
        Auth::Keys(_) => "the request has no key; send `Authorization: Bearer <key>`",
        Auth::Open => match claimed(headers)? {
            Some(principal) => return Ok(principal),
            None => "nobody acts; in open mode the header `X-Bailiwick-Actor` must name who does",
        },
    };
    let Some(secret) = app.cookie.presented(headers)? else {
        return Err(Problem::new(Code::Unauthenticated, nobody));
    };
    check_own_page(&app.origins, method, uri, headers)?;
    let principal = app.within(app.desk.session(secret)).await?.ok_or_else(|| {
        Problem::new(
            Code::Unauthenticated,
            "the session has ended; `bailiwick sign-in` prints a link that gives another",
        )
    })?;
    check_is_named(&principal, headers)?;
    Ok(principal)
}

fn by_key(keys: &KeyRing, headers: &HeaderMap) -> Result<Principal, Problem> {
    let refused = |detail| Problem::new(Code::Unauthenticated, detail);
    let mut given = headers.get_all(header::AUTHORIZATION).iter();
    let key = match (given.next(), given.next()) {
        (Some(one), None) => bearer(one.as_bytes()),
        (None, _) => return Err(refused("the request has no key; send `Authorization: Bearer <key>`")),
        (Some(_), Some(_)) => return Err(refused("the request has more than one `Authorization`")),
    };
    let key =
        key.ok_or_else(|| refused("the `Authorization` is of another kind; send `Authorization: Bearer <key>`"))?;
    let principal = keys.principal(key).ok_or_else(|| refused("the key is unknown"))?;
    check_is_named(&principal, headers)?;
    Ok(principal)
}

/// Refuses a request that names somebody else than it comes from.
fn check_is_named(principal: &Principal, headers: &HeaderMap) -> Result<(), Problem> {
    match actor(headers)? {
        Some(actor) if actor != principal.id => {
            Err(Problem::new(Code::Forbidden, "`X-Bailiwick-Actor` names somebody else than the request comes from"))
        }
        _ => Ok(()),
    }
}

/// The key of `Bearer <key>`; the scheme's case does not matter (RFC 9110 §11.1).
fn bearer(authorization: &[u8]) -> Option<&[u8]> {
    const SCHEME: &[u8] = b"bearer ";
    let (scheme, key) = authorization.split_at_checked(SCHEME.len())?;
    let key = key.trim_ascii();
    (scheme.eq_ignore_ascii_case(SCHEME) && !key.is_empty()).then_some(key)
}

fn claimed(headers: &HeaderMap) -> Result<Option<Principal>, Problem> {
    Ok(actor(headers)?.map(Principal::claimed))
}

fn actor(headers: &HeaderMap) -> Result<Option<&str>, Problem> {
    let wrong = |detail| Err(Problem::new(Code::BadRequest, detail));
    let mut given = headers.get_all(ACTOR).iter();
    let Some(actor) = given.next() else { return Ok(None) };
    if given.next().is_some() {
        return wrong("the request has more than one `X-Bailiwick-Actor`");
    }
    match std::str::from_utf8(actor.as_bytes()) {
        Err(_) => wrong("`X-Bailiwick-Actor` is not UTF-8"),
        Ok(actor) if actor.trim().is_empty() => wrong("`X-Bailiwick-Actor` is blank; it must name who acts"),
        Ok(actor) if actor.chars().count() > MOST_CHARACTERS => Err(Problem::new(
            Code::BadRequest,
            format!("`X-Bailiwick-Actor` has more than {MOST_CHARACTERS} characters"),
        )),
        Ok(actor) => Ok(Some(actor)),
    }
}
