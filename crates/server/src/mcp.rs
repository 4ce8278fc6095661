//! MCP over streamable HTTP, at `/mcp` (`spec work-orders §14.4`).
//!
//! Stateless on both wires: every request is authenticated and served by itself, by whichever process it reaches.
//! The older wire's `initialize` is answered with an `Mcp-Session-Id` that names the conversation and that nothing
//! is kept for; it need not be sent back, and closing it (`DELETE`) or listening to it (`GET`) is refused with 405,
//! as that revision allows.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bailiwick_core::hash::hex;
use bailiwick_core::json::{self, Object, ReadError, Value, write_compact};
use bailiwick_mcp::{Identity, Server, Toolsets};
use http_body_util::BodyExt;
use rmcp::model::ProtocolVersion;
use rmcp::transport::streamable_http_server::StreamableHttpServerConfig;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::tower::StreamableHttpService;
use serde::Deserialize;

use crate::admission::Ticket;
use crate::app::App;
use crate::problem::{Code, Problem};
use crate::{Auth, body, rest};

const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");

/// The request that opens a conversation on the older wire.
const INITIALIZE: &str = "initialize";

/// The tool that waits for a change.
const WAITING_TOOL: &str = "wait_for_update";

/// What a client should know whose call took too long.
const UNSETTLED: &str = ", and whether a command took effect is not known; look before repeating it";

/// JSON-RPC 2.0 §5.1.
const PARSE_ERROR: i64 = -32_700;
const INVALID_REQUEST: i64 = -32_600;
const METHOD_NOT_FOUND: i64 = -32_601;

/// Where a request of the newer wire says which revision it speaks.
pub(crate) const REVISION: &str = "io.modelcontextprotocol/protocolVersion";

/// The MCP endpoint.
#[derive(Clone)]
pub(crate) struct Endpoint {
    app: Arc<App>,
    service: StreamableHttpService<Server, NeverSessionManager>,
    /// The names of the tools, which are the only ones that are counted by name
    tools: Arc<[String]>,
}

/// What a message is about.
struct Message<'a> {
    method: &'a str,
    /// The tool that is called, if it is one of ours
    tool: Option<&'a str>,
    wire: Wire,
    id: Value,
}

/// Which of the two wires a message is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wire {
    /// Opened by `initialize`
    Older,
    /// Each request says for itself which revision it speaks
    Newer,
}

impl Endpoint {
    pub(crate) fn new(app: Arc<App>, toolsets: &Toolsets) -> Self {
        let identity = match app.auth {
            Auth::Keys(_) => Identity::PerRequest,
            Auth::Open => Identity::Unbound,
        };
        let server = Server::new(app.desk.clone(), identity, toolsets, app.stopping.clone());
        let tools = server.tools().into_iter().map(|tool| tool.name.into_owned()).collect();
        // Hosts, origins and the size of bodies are checked before, for every route alike.
        let config = StreamableHttpServerConfig::default()
            .with_legacy_session_mode(false)
            .with_json_response(true)
            .disable_allowed_hosts()
            .disable_allowed_origins()
            .with_max_request_body_bytes(app.limits.body_bytes);
        let service =
            StreamableHttpService::new(move || Ok(server.clone()), Arc::new(NeverSessionManager::default()), config);
        Self { app, service, tools }
    }

    async fn answer(&self, ticket: &Ticket, request: Request) -> Result<Response, Problem> {
        let (parts, body) = request.into_parts();
        body::check_is_json(&parts.headers)?;
        let text = body::read(&parts.headers, body, &self.app.limits).await?;
        let value = match json::parse(&text, &json::Limits::DOCUMENT) {
            Ok(value) => value,
            Err(error) => return Ok(unreadable(&error)),
        };
        let message = self.look_at(&value);
        if message.method == INITIALIZE && message.wire == Wire::Newer {
            return Ok(error(StatusCode::NOT_FOUND, message.id, METHOD_NOT_FOUND, "this revision has no `initialize`"));
        }
        let answer = self.service.handle(Request::from_parts(parts, Body::from(text)));
        let response = match message.tool {
            Some(WAITING_TOOL) => {
                let _waiting = ticket.wait(&self.app)?;
                answer.await
            }
            _ => self.app.in_time(answer, UNSETTLED).await?,
        };
        self.finish(&message, response.map(Body::new)).await
    }

    fn look_at<'a>(&self, value: &'a Value) -> Message<'a> {
        let method = value.get("method").and_then(Value::as_str).unwrap_or_default();
        let params = value.get("params");
        let name = params.and_then(|params| params.get("name")?.as_str());
        let tool = name.filter(|name| method == "tools/call" && self.tools.iter().any(|tool| tool == name));
        let revision = params.and_then(|params| params.get("_meta")?.get(REVISION)?.as_str());
        let newer = revision.is_some_and(|revision| revision >= ProtocolVersion::V_2026_07_28.as_str());
        let wire = if newer { Wire::Newer } else { Wire::Older };
        Message { method, tool, wire, id: value.get("id").cloned().unwrap_or(Value::Null) }
    }

    async fn finish(&self, message: &Message<'_>, mut response: Response) -> Result<Response, Problem> {
        if response.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE {
            // The content type was right, so what is meant is that this JSON is no message.
            let said = "the body is no JSON-RPC request or notification";
            return Ok(error(StatusCode::BAD_REQUEST, message.id.clone(), INVALID_REQUEST, said));
        }
        if message.method == INITIALIZE && response.status() == StatusCode::OK {
            response.headers_mut().insert(SESSION_ID, session_id()?);
        }
        match message.tool {
            Some(tool) if is_json(&response) => self.count(tool, response).await,
            _ => Ok(response),
        }
    }

    /// Counts a tool's call by its outcome, which stands in the answer.
    async fn count(&self, tool: &str, response: Response) -> Result<Response, Problem> {
        let (parts, body) = response.into_parts();
        let collected = body.collect().await.map_err(|_| Problem::new(Code::Internal, "the answer broke off"))?;
        let text = collected.to_bytes();
        self.app.metrics.commanded("mcp", tool, &outcome(&text));
        Ok(Response::from_parts(parts, Body::from(text)))
    }
}

/// Answers whatever is sent to `/mcp`.
pub(crate) async fn handle(State(endpoint): State<Endpoint>, ticket: Ticket, request: Request) -> Response {
    if request.method() != Method::POST {
        let mut response = Problem::new(Code::MethodNotAllowed, "`/mcp` takes POST only").into_response();
        response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("POST"));
        return response;
    }
    endpoint.answer(&ticket, request).await.into_response()
}

fn is_json(response: &Response) -> bool {
    response.headers().get(header::CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"))
}

/// The parts of an answer that say how a call went.
#[derive(Deserialize)]
struct Answered {
    result: Option<Outcome>,
}

#[derive(Deserialize)]
struct Outcome {
    #[serde(default, rename = "isError")]
    is_error: Option<bool>,
    #[serde(default)]
    content: Vec<Text>,
}

#[derive(Deserialize)]
struct Text {
    #[serde(default)]
    text: String,
}

#[derive(Deserialize)]
struct Refused {
    code: String,
}

/// `ok`, the code of a refusal, or `error` for one of the protocol.
fn outcome(answer: &Bytes) -> String {
    let Ok(Answered { result: Some(outcome) }) = serde_json::from_slice(answer) else { return "error".into() };
    if outcome.is_error != Some(true) {
        return "ok".into();
    }
    let refused = outcome.content.first().and_then(|content| serde_json::from_str::<Refused>(&content.text).ok());
    refused.map_or_else(|| "error".into(), |refused| refused.code)
}

fn session_id() -> Result<HeaderValue, Problem> {
    let mut random = [0; 16];
    let id = getrandom::fill(&mut random).ok().and_then(|()| HeaderValue::from_str(&hex(&random)).ok());
    id.ok_or_else(|| Problem::new(Code::Internal, "no randomness for a session id"))
}

pub(crate) fn unreadable(cause: &ReadError) -> Response {
    let message = format!("the body is not JSON: line {} column {}: {}", cause.line, cause.column, cause.kind);
    error(StatusCode::BAD_REQUEST, Value::Null, PARSE_ERROR, &message)
}

/// A JSON-RPC error.
fn error(status: StatusCode, id: Value, code: i64, message: &str) -> Response {
    let error = Object::new().with("code", code).with("message", message);
    let body = Object::new().with("jsonrpc", "2.0").with("id", id).with("error", error);
    rest::json_text(status, write_compact(&body.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_are_told_from_answers() {
        let told = |text: &'static str| outcome(&Bytes::from_static(text.as_bytes()));
        assert_eq!(told(r#"{"jsonrpc":"2.0","id":1,"result":{"content":[],"structuredContent":{}}}"#), "ok");
        let refused =
            r#"{"id":1,"result":{"isError":true,"content":[{"type":"text","text":"{\"code\":\"NOT_FOUND\"}"}]}}"#;
        assert_eq!(told(refused), "NOT_FOUND");
        assert_eq!(told(r#"{"id":1,"error":{"code":-32602,"message":"x"}}"#), "error");
        assert_eq!(told(r#"{"id":1,"result":{"isError":true,"content":[]}}"#), "error");
    }
}
