//! A line of input as a message, or why it is none.

use bailiwick_core::json::{Limits, Number, Object, ReadErrorKind, Value, parse as parse_json};
use rmcp::RoleServer;
use rmcp::model::{
    ClientRequest, ErrorCode, ErrorData, GetMeta, JsonRpcMessage, ProtocolVersion, RequestId, ServerJsonRpcMessage,
};
use rmcp::service::RxJsonRpcMessage;

use super::MOST_MESSAGE_BYTES;
use crate::wire::to_wire;

/// A line that is no message, and what to answer.
#[derive(Debug)]
pub(super) struct Fault {
    code: ErrorCode,
    message: String,
    /// The request at fault, if it could be told
    id: Option<RequestId>,
}

impl Fault {
    fn new(code: ErrorCode, message: impl Into<String>, id: Option<RequestId>) -> Self {
        Self { code, message: message.into(), id }
    }

    pub(super) fn too_long(id: Option<&Value>) -> Self {
        let message =
            format!("the message has more than {MOST_MESSAGE_BYTES} bytes, which is the limit; it was skipped");
        Self::new(ErrorCode::INVALID_REQUEST, message, id.and_then(request_id))
    }

    /// The answer to send.
    pub(super) fn into_message(self) -> ServerJsonRpcMessage {
        ServerJsonRpcMessage::error(ErrorData::new(self.code, self.message, None), self.id)
    }
}

fn invalid(message: impl Into<String>, id: Option<RequestId>) -> Fault {
    Fault::new(ErrorCode::INVALID_REQUEST, message, id)
}

/// Reads a line; `None` if it holds nothing that wants attention.
///
/// It is read by core's reader: duplicate names mean the last one, as everywhere.
pub(super) fn parse(line: &[u8]) -> Result<Option<RxJsonRpcMessage<RoleServer>>, Fault> {
    if line.trim_ascii().is_empty() {
        return Ok(None);
    }
    let value = parse_json(line, &Limits::DOCUMENT).map_err(|error| match error.kind {
        ReadErrorKind::TooLong { .. } => Fault::too_long(None),
        _ => Fault::new(ErrorCode::PARSE_ERROR, format!("the message can't be read: {error}"), None),
    })?;
    match value {
        Value::Object(object) => message(object),
        Value::Array(_) => Err(invalid("batches are not accepted; send one message a line", None)),
        other => Err(invalid(format!("a message must be an object, not a {}", other.type_name()), None)),
    }
}

fn message(object: Object) -> Result<Option<RxJsonRpcMessage<RoleServer>>, Fault> {
    let id = object.get("id").map(request_id);
    if object.contains("result") || object.contains("error") {
        // The server asks nothing, so nothing can be an answer.
        return Ok(None);
    }
    let id = match id {
        None => None,
        Some(None) => return Err(invalid("`id` must be a string or an integer of at most 64 bits", None)),
        Some(id) => id,
    };
    if object.str("jsonrpc") != Some("2.0") {
        return Err(invalid("`jsonrpc` must be `2.0`", id));
    }
    if object.str("method").is_none() {
        return Err(invalid("`method` must be a string", id));
    }
    if object.get("params").is_some_and(|params| params.as_object().is_none()) {
        return not_of_its_form("`params` must be an object", id);
    }
    match serde_json::from_value(to_wire(object.into())) {
        Ok(message) => Ok(Some(message)),
        Err(_) => not_of_its_form("`params._meta` must be an object", id),
    }
}

/// Nobody waits for the answer to a notification, so a malformed one is passed over.
fn not_of_its_form(
    message: &'static str,
    id: Option<RequestId>,
) -> Result<Option<RxJsonRpcMessage<RoleServer>>, Fault> {
    match id {
        None => Ok(None),
        id => Err(Fault::new(ErrorCode::INVALID_PARAMS, message, id)),
    }
}

fn request_id(value: &Value) -> Option<RequestId> {
    match value {
        Value::String(id) => Some(RequestId::String(id.as_str().into())),
        Value::Number(Number::Integer(id)) => i64::try_from(*id).ok().map(RequestId::Number),
        _ => None,
    }
}

/// Keeps back what the library takes for the end of a session that has not been opened yet: anything but a request.
#[derive(Debug, Default)]
pub(super) enum Lifecycle {
    /// Neither `initialize` nor a request that stands for itself has come
    #[default]
    Before,
    Open,
}

impl Lifecycle {
    /// Whether a message may go on to the library.
    pub(super) fn admits(&mut self, message: &RxJsonRpcMessage<RoleServer>) -> bool {
        if matches!(self, Self::Open) {
            return true;
        }
        let JsonRpcMessage::Request(request) = message else { return false };
        if opens(&request.request) {
            *self = Self::Open;
        }
        true
    }
}

/// Whether a request opens a session, as the library sees it.
fn opens(request: &ClientRequest) -> bool {
    match request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => false,
        request => {
            let meta = request.get_meta();
            let version = meta.protocol_version();
            meta.missing_required_keys(&ProtocolVersion::V_2026_07_28).is_empty()
                && version.is_some_and(|version| ProtocolVersion::KNOWN_VERSIONS.contains(&version))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The code and the id of the fault, or what kind of message it is.
    fn outcome(line: &[u8]) -> String {
        match parse(line) {
            Ok(None) => "nothing".into(),
            Ok(Some(JsonRpcMessage::Request(request))) => format!("{} {}", request.request.method(), request.id),
            Ok(Some(JsonRpcMessage::Notification(_))) => "notification".into(),
            Ok(Some(_)) => "other".into(),
            Err(Fault { code, id: None, .. }) => code.0.to_string(),
            Err(Fault { code, id: Some(id), .. }) => format!("{} {id}", code.0),
        }
    }

    #[test]
    fn whatever_is_no_message_is_answered_as_json_rpc_says() {
        let cases: &[(&[u8], &str)] = &[
            (b"", "nothing"),
            (b" \r", "nothing"),
            (br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, "ping 1"),
            (br#"{"jsonrpc":"2.0","id":"a","method":"tools/list","params":{}}"#, "tools/list a"),
            (br#"{"jsonrpc":"2.0","id":7,"id":8,"method":"ping"}"#, "ping 8"),
            (br#"{"jsonrpc":"2.0","id":1,"method":"no/such","params":{"_meta":{}}}"#, "no/such 1"),
            (br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, "notification"),
            (br#"{"jsonrpc":"2.0","method":"notifications/no_such","params":{}}"#, "notification"),
            (br#"{"jsonrpc":"2.0","id":1,"result":{}}"#, "nothing"),
            (br#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}"#, "nothing"),
            (b"{", "-32700"),
            (b"hello", "-32700"),
            (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", "-32700"),
            (br#"{"jsonrpc":"2.0","id":1,"method":"\ud800"}"#, "-32700"),
            (br#"{"jsonrpc":"2.0","id":1,"method":"ping"}{}"#, "-32700"),
            (b"[]", "-32600"),
            (b"7", "-32600"),
            (b"{}", "-32600"),
            (br#"{"id":1,"method":"ping"}"#, "-32600 1"),
            (br#"{"jsonrpc":"2.0","id":1}"#, "-32600 1"),
            (br#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, "-32600"),
            (br#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, "-32600"),
            (br#"{"jsonrpc":"2.0","id":99999999999999999999,"method":"ping"}"#, "-32600"),
            (br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}"#, "-32602 1"),
            (br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":1,"name":"x"}}"#, "-32602 1"),
            (br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":[]}"#, "nothing"),
        ];
        for (line, expected) in cases {
            assert_eq!(outcome(line), *expected, "{}", String::from_utf8_lossy(line));
        }
    }

    #[test]
    fn deep_nesting_is_refused() {
        let line = format!("{{\"a\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(outcome(line.as_bytes()), "-32700");
    }
}
