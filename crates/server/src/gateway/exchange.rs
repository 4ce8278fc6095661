//! One request of streamable HTTP, answered by a session whose results are handed on as they came.
//!
//! The protocol library's own service takes results of its types only, and those drop what they don't know. So this is the
//! stateless half of that transport, for both revisions: a request's headers are checked against its body, it is served by
//! itself, and its answer is JSON, or a stream of events where something is told before.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use bailiwick_core::principal::Principal;
use bailiwick_gateway::Session;
use rmcp::RoleServer;
use rmcp::model::{
    ClientCapabilities, ClientJsonRpcMessage, ErrorCode, Implementation, InitializeRequestParams, ProtocolVersion,
    ServerJsonRpcMessage,
};
use rmcp::service::serve_directly_with_ct;
use rmcp::transport::OneshotTransport;
use serde_json::{Value, json};
use tokio::sync::mpsc::Receiver;
use tokio::time::{Interval, MissedTickBehavior};
use tokio_stream::Stream;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::admission::Waiting;
use crate::app::App;
use crate::caller::agent;
use crate::mcp::REVISION;
use crate::problem::{Code, Problem};
use crate::rest;

const VERSION: &str = "mcp-protocol-version";
const METHOD: &str = "mcp-method";
const NAME: &str = "mcp-name";

/// The one request whose answer comes when somebody ends it.
const LISTEN: &str = "subscriptions/listen";

/// How often a quiet stream says that it is alive.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// How long somebody whose key was taken out of force goes on reading, at most.
const ASK_AGAIN: Duration = Duration::from_secs(2);

/// Who reads an answer, and the request by which that is known.
pub(super) struct Reader {
    pub(super) principal: Principal,
    pub(super) request: Parts,
}

/// Answers a request, or takes note of a notification.
pub(super) async fn answer(
    app: &Arc<App>,
    session: Session,
    reader: Reader,
    text: &Bytes,
    waiting: Waiting,
) -> Result<Response, Problem> {
    let read = serde_json::from_slice::<Value>(text).ok();
    let (Some(body), Ok(message)) = (read, serde_json::from_slice::<ClientJsonRpcMessage>(text)) else {
        return Ok(refused(
            &Value::Null,
            ErrorCode::INVALID_REQUEST,
            "the body is no JSON-RPC request or notification",
        ));
    };
    if let ClientJsonRpcMessage::Notification(_) = message {
        return Ok(StatusCode::ACCEPTED.into_response());
    }
    if !matches!(message, ClientJsonRpcMessage::Request(_)) {
        return Ok(refused(&Value::Null, ErrorCode::INVALID_REQUEST, "nothing was asked that this could answer"));
    }
    let version = match check_headers(&reader.request.headers, &body) {
        Ok(version) => version,
        Err((code, why)) => return Ok(refused(&body["id"], code, &why)),
    };
    let is_newer = !version.has_initialize();
    let ends_when_stopped = body["method"] == LISTEN;
    let (transport, messages) = OneshotTransport::<RoleServer>::new(message);
    let gone = CancellationToken::new();
    let peer = InitializeRequestParams::new(ClientCapabilities::default(), Implementation::default());
    let served = serve_directly_with_ct(session, transport, Some(peer.with_protocol_version(version)), gone.clone());
    tokio::spawn(async move {
        // How it ended was answered.
        let _ = served.waiting().await;
    });
    let stopping = if ends_when_stopped { app.stopping.clone() } else { CancellationToken::new() };
    let mut exchange = Exchange {
        app: Arc::clone(app),
        reader,
        messages,
        ask_again: every(ASK_AGAIN),
        stopping,
        _gone: gone.drop_guard(),
        _waiting: waiting,
    };
    match exchange.next().await {
        None => Err(Problem::new(Code::Unavailable, "the request was given up")),
        Some(first) if is_last(&first) => Ok(alone(&first, is_newer)),
        Some(first) => {
            let events = Sse::new(events(first, exchange)).keep_alive(KeepAlive::new().interval(KEEP_ALIVE));
            Ok(events.into_response())
        }
    }
}

/// A request under way. Dropped, it is called off.
struct Exchange {
    app: Arc<App>,
    reader: Reader,
    messages: Receiver<ServerJsonRpcMessage>,
    ask_again: Interval,
    stopping: CancellationToken,
    _gone: DropGuard,
    _waiting: Waiting,
}

impl Exchange {
    /// The next message, unless its reader may read no longer.
    async fn next(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            tokio::select! {
                biased;
                _ = self.ask_again.tick() => {
                    let still = agent(&self.app, &self.reader.request.headers);
                    if !still.is_ok_and(|still| still.as_ref() == Some(&self.reader.principal)) {
                        return None;
                    }
                }
                message = self.messages.recv() => return message,
                () = self.stopping.cancelled() => return None,
            }
        }
    }
}

fn every(period: Duration) -> Interval {
    let mut interval = tokio::time::interval(period);
    interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
    interval.reset();
    interval
}

fn events(first: ServerJsonRpcMessage, mut exchange: Exchange) -> impl Stream<Item = Result<Event, Infallible>> {
    async_stream::stream! {
        let mut message = Some(first);
        while let Some(sent) = message {
            let was_last = is_last(&sent);
            // INVARIANT: messages are always written, and JSON of one line.
            yield Ok(Event::default().data(serde_json::to_string(&sent).unwrap_or_default()));
            message = if was_last { None } else { exchange.next().await };
        }
    }
}

const fn is_last(message: &ServerJsonRpcMessage) -> bool {
    matches!(message, ServerJsonRpcMessage::Response(_) | ServerJsonRpcMessage::Error(_))
}

/// An answer that is one message. On the newer revision some errors show in the status, too.
fn alone(message: &ServerJsonRpcMessage, is_newer: bool) -> Response {
    let status = match message {
        ServerJsonRpcMessage::Error(error) if is_newer => match error.error.code {
            ErrorCode::UNSUPPORTED_PROTOCOL_VERSION
            | ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY
            | ErrorCode::HEADER_MISMATCH => StatusCode::BAD_REQUEST,
            ErrorCode::METHOD_NOT_FOUND => StatusCode::NOT_FOUND,
            _ => StatusCode::OK,
        },
        _ => StatusCode::OK,
    };
    // INVARIANT: messages are always written.
    rest::json_text(status, serde_json::to_string(message).unwrap_or_default())
}

/// An error of the protocol by which a request is refused.
fn refused(id: &Value, code: ErrorCode, message: &str) -> Response {
    let body = json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}});
    let status = if code == ErrorCode::METHOD_NOT_FOUND { StatusCode::NOT_FOUND } else { StatusCode::BAD_REQUEST };
    rest::json_text(status, body.to_string())
}

/// Checks a request's headers against its body; gives the revision that it speaks.
fn check_headers(headers: &HeaderMap, body: &Value) -> Result<ProtocolVersion, (ErrorCode, String)> {
    let method = body["method"].as_str().unwrap_or_default();
    let header = headers.get(VERSION).map(|version| String::from_utf8_lossy(version.as_bytes()));
    if method == "initialize" {
        let asked = body["params"]["protocolVersion"].as_str().unwrap_or_default();
        if header.is_some_and(|header| header != asked) {
            let why = "`MCP-Protocol-Version` is another than `params.protocolVersion`";
            return Err((ErrorCode::INVALID_REQUEST, why.into()));
        }
        return Ok(known(asked).unwrap_or(ProtocolVersion::LATEST_WITH_INITIALIZE));
    }
    let stated = body["params"]["_meta"][REVISION].as_str();
    let version = match (&header, stated) {
        // What an absent header means (revision 2025-06-18, transports).
        (None, None) => return Ok(ProtocolVersion::V_2025_03_26),
        (Some(header), Some(stated)) if header == stated => stated,
        (Some(header), None) => header,
        _ => return Err(mismatch("`MCP-Protocol-Version` is another than the one in `_meta`")),
    };
    let Some(version) = known(version) else {
        let why = format!("the protocol version `{version}` is not supported");
        let code = if stated.is_some() { ErrorCode::UNSUPPORTED_PROTOCOL_VERSION } else { ErrorCode::INVALID_REQUEST };
        return Err((code, why));
    };
    if version.has_initialize() {
        return Ok(version);
    }
    if stated.is_none() {
        return Err((ErrorCode::INVALID_PARAMS, format!("`_meta` lacks `{REVISION}`")));
    }
    check_named(headers, METHOD, method)?;
    let named = match method {
        "tools/call" | "prompts/get" => body["params"]["name"].as_str(),
        "resources/read" => body["params"]["uri"].as_str(),
        _ => None,
    };
    named.map_or(Ok(()), |named| check_named(headers, NAME, named))?;
    Ok(version)
}

fn known(version: &str) -> Option<ProtocolVersion> {
    ProtocolVersion::KNOWN_VERSIONS.iter().find(|known| known.as_str() == version).cloned()
}

fn check_named(headers: &HeaderMap, header: &str, expected: &str) -> Result<(), (ErrorCode, String)> {
    let mut given = headers.get_all(header).iter();
    match (given.next(), given.next()) {
        (Some(one), None) if one.as_bytes() == expected.as_bytes() => Ok(()),
        // What a header can't carry comes encoded. It is the body that counts here.
        (Some(one), None) if !expected.is_ascii() && one.as_bytes().starts_with(b"=?base64?") => Ok(()),
        _ => Err(mismatch(&format!("`{header}` is not what the body says"))),
    }
}

fn mismatch(why: &str) -> (ErrorCode, String) {
    (ErrorCode::HEADER_MISMATCH, why.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::{HeaderName, HeaderValue};

    #[track_caller]
    fn check(sent: &[(&'static str, &'static str)], body: &Value, expected: Result<&str, i32>) {
        let headers: HeaderMap =
            sent.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value))).collect();
        let checked = check_headers(&headers, body);
        let checked = checked.as_ref().map(ProtocolVersion::as_str).map_err(|(code, _)| code.0);
        assert_eq!(checked, expected, "{sent:?} {body}");
    }

    #[test]
    fn headers_say_what_the_body_says() {
        let newer = |params: Value| {
            let mut params = params;
            params["_meta"] = json!({ REVISION: "2026-07-28" });
            json!({"method": "tools/call", "params": params})
        };
        let call = newer(json!({"name": "a__b"}));
        let all = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", "a__b")];
        check(&all, &call, Ok("2026-07-28"));
        for missing in 0..3 {
            let some: Vec<_> = all.iter().enumerate().filter(|(at, _)| *at != missing).map(|(_, pair)| *pair).collect();
            check(&some, &call, Err(-32020));
        }
        check(&all, &newer(json!({"name": "a__c"})), Err(-32020));
        check(&all, &json!({"method": "tools/call", "params": {"name": "a__b"}}), Err(-32602));
        check(&[("mcp-protocol-version", "2025-11-25")], &json!({"method": "tools/list"}), Ok("2025-11-25"));
        check(&[("mcp-protocol-version", "2025-11-25")], &call, Err(-32020));
        check(&[("mcp-protocol-version", "1999-01-01")], &json!({"method": "tools/list"}), Err(-32600));
        check(&[], &json!({"method": "tools/list"}), Ok("2025-03-26"));
        let begin = json!({"method": "initialize", "params": {"protocolVersion": "2025-06-18"}});
        check(&[], &begin, Ok("2025-06-18"));
        check(&[("mcp-protocol-version", "2025-11-25")], &begin, Err(-32600));
    }
}
