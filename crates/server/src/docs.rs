//! What REST offers: the OpenAPI document, made of the routes themselves, and a page for people, made of the
//! document.

mod page;
mod published;

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use bailiwick_core::principal::MOST_CHARACTERS;
use serde_json::{Map, Value, json};
use utoipa_axum::router::OpenApiRouter;

use crate::ServerOptions;
use crate::app::App;
use crate::problem::Code;
use crate::{health, input, rest, well_known};

/// Where the page is.
pub(crate) const PAGE_PATH: &str = "/api/v1/docs";
const STYLE_PATH: &str = "/api/v1/docs.css";
const DOCUMENT_PATH: &str = "/api/v1/openapi.json";

/// The names of the security schemes in the document.
const SCHEME: &str = "key";
const SESSION_SCHEME: &str = "session";

const ABOUT: &str = "Work orders between agents and people: who may do what, up to which cost and when, and how the \
    result is proved. Every decision is an entry of a journal that anybody can verify. In closed mode each request \
    carries a key; in open mode, which is for trying out, it names who acts. Browsers have a session instead, which a \
    link gives that the server prints; its cookie counts from the server's own pages only. Errors are `application/problem+json` \
    with a stable `code`.";

const TAGS: [(&str, &str); 8] = [
    ("orders", "Work orders and their reports"),
    ("passes", "An order's authority as a signed token, and what verifies it"),
    ("gateways", "What gateways call and carry out under an order, and holding them up"),
    ("inbox", "What waits for a person"),
    ("agents", "What agents have done so far"),
    ("journal", "The record of every decision"),
    ("session", "Who the caller is"),
    ("operation", "For whoever runs the server"),
];

/// Statuses that any operation may answer: the request may be for another host, or from another page.
const ANY: [u16; 2] = [400, 403];
/// Further ones of any operation under `/api/v1`.
const OF_REST: [u16; 3] = [401, 500, 503];
/// Further ones of an operation that changes something.
const OF_COMMANDS: [u16; 6] = [404, 408, 409, 413, 415, 422];

/// The OpenAPI 3.1 document of the REST interface, as JSON text.
pub fn openapi() -> String {
    format!("{:#}", document())
}

/// The document and the page. They hold nothing secret and need no key.
pub(crate) fn routes() -> Router {
    let document = document();
    let page = Bytes::from(page::render(&document));
    let text = Bytes::from(document.to_string());
    let fixed = |kind, policy, body: Bytes| get(move || async move { answer(kind, policy, body) });
    let page_policy =
        "default-src 'none'; style-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";
    let style = Bytes::from_static(page::STYLE.as_bytes());
    Router::new()
        .route(DOCUMENT_PATH, fixed("application/json", None, text))
        .route(PAGE_PATH, fixed("text/html; charset=utf-8", Some(page_policy), page))
        .route(STYLE_PATH, fixed("text/css; charset=utf-8", None, style))
}

fn answer(kind: &'static str, policy: Option<&'static str>, body: Bytes) -> Response {
    let mut response = body.into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    if let Some(policy) = policy {
        headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    }
    response
}

/// What the routes say about themselves, and what holds for all of them.
fn document() -> Value {
    let routes: OpenApiRouter<Arc<App>> =
        rest::routes().merge(health::routes()).merge(health::metrics_routes()).merge(well_known::routes());
    // INVARIANT: a document of maps, arrays and strings can always be written.
    let mut document = serde_json::to_value(routes.get_openapi()).unwrap_or_default();
    document["info"] = json!({
        "title": "Bailiwick",
        "version": env!("CARGO_PKG_VERSION"),
        "description": ABOUT,
        "license": {"name": "Apache License 2.0", "identifier": "Apache-2.0"},
    });
    document["servers"] = json!([{"url": "/"}]);
    document["tags"] = TAGS.iter().map(|(name, about)| json!({"name": name, "description": about})).collect();
    document["security"] = json!([{SCHEME: []}, {SESSION_SCHEME: []}]);
    document["components"]["securitySchemes"] = json!({
        SCHEME: {"type": "http", "scheme": "bearer"},
        SESSION_SCHEME: {
            "type": "apiKey", "in": "cookie", "name": format!("bailiwick_{}", ServerOptions::DEFAULT_PORT),
            "description": "The session of a browser. The name ends in the port that the server listens on.",
        },
    });
    if let Some(shapes) = document["components"]["schemas"].as_object_mut() {
        published::put_into(shapes);
    }
    document["components"]["parameters"] = parameters();
    document["components"]["responses"] = problems();
    for (path, item) in document["paths"].as_object_mut().into_iter().flatten() {
        for (method, operation) in item.as_object_mut().into_iter().flatten() {
            complete(path, method, operation);
        }
    }
    document
}

/// Headers that every operation takes, or every command.
fn parameters() -> Value {
    json!({
        "Actor": {
            "name": "X-Bailiwick-Actor", "in": "header", "schema": {"type": "string", "minLength": 1, "maxLength": MOST_CHARACTERS},
            "description": "In open mode: who acts. In closed mode it may be left out, or repeat whom the key stands for.",
        },
        "Once": {
            "name": "Idempotency-Key", "in": "header",
            "schema": {"type": "string", "minLength": 1, "maxLength": input::MOST_KEY},
            "description": "Chosen by the client. Repeated with the same key, the command does nothing and answers the same.",
        },
    })
}

/// One response for each status that problems have.
fn problems() -> Value {
    let mut responses = Map::new();
    // A known path and method never answer 405.
    for code in Code::ALL.into_iter().filter(|code| *code != Code::MethodNotAllowed) {
        let codes: Vec<String> = Code::ALL
            .iter()
            .filter(|other| other.status() == code.status())
            .map(|code| format!("`{}`: {}", code.name(), code.title()))
            .collect();
        let mut response = json!({
            "description": codes.join("; "),
            "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
        });
        let header = match code {
            Code::Unauthenticated => Some("WWW-Authenticate"),
            Code::Unavailable => Some("Retry-After"),
            _ => None,
        };
        if let Some(header) = header {
            response["headers"] = json!({header: {"schema": {"type": "string"}}});
        }
        responses.insert(problem_name(code.status().as_u16()), response);
    }
    responses.into()
}

fn problem_name(status: u16) -> String {
    format!("Problem{status}")
}

/// Adds to an operation what holds for all of its kind.
fn complete(path: &str, method: &str, operation: &mut Value) {
    let changes = method == "post";
    let mut statuses = Vec::from(ANY);
    match path {
        "/healthz" => {}
        "/readyz" => statuses.extend([500, 503]),
        "/metrics" => statuses.push(401),
        well_known::KEYS_PATH | well_known::REVOCATIONS_PATH => statuses.extend([404, 500, 503]),
        _ => statuses.extend(OF_REST),
    }
    match path {
        _ if changes => statuses.extend(OF_COMMANDS),
        "/api/v1/orders/{id}" => statuses.push(404),
        _ => {}
    }
    statuses.sort_unstable();
    for status in statuses {
        operation["responses"][status.to_string()] =
            json!({"$ref": format!("#/components/responses/{}", problem_name(status))});
    }
    if operation["requestBody"]["content"]["application/json"]["schema"]["oneOf"].is_array() {
        take_optional(&mut operation["requestBody"]);
    }
    if path.starts_with(rest::ROOT) {
        let mut parameters = operation["parameters"].as_array().cloned().unwrap_or_default();
        parameters.push(json!({"$ref": "#/components/parameters/Actor"}));
        // A secret is made anew each time, so there is no repeating it.
        if changes && !path.ends_with("/pass") {
            parameters.push(json!({"$ref": "#/components/parameters/Once"}));
        }
        operation["parameters"] = parameters.into();
    }
}

/// A body that may be left out is described as one that may be null, which it may not.
fn take_optional(body: &mut Value) {
    let schema = &mut body["content"]["application/json"]["schema"];
    let given = schema["oneOf"].as_array().and_then(|choices| choices.iter().find(|choice| choice["type"] != "null"));
    if let Some(given) = given.cloned() {
        *schema = given;
        body["required"] = false.into();
    }
}
