//! Which MCP servers stand behind a gateway (`spec work-orders §15.1`).

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use bailiwick_core::json::{Limits, Object, Value, parse};
use bailiwick_core::work::{is_part, quoted};
use hyper::header::{HeaderName, HeaderValue};
use hyper::{HeaderMap, Uri};

use crate::http::parse_address;

/// The most servers.
const MOST_SERVERS: usize = 64;

/// The servers, by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upstreams(pub(crate) BTreeMap<String, Server>);

/// Where a server is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Server {
    Program(Program),
    Address(Address),
}

/// A server that is spoken to by streamable HTTP.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) url: Uri,
    pub(crate) headers: HeaderMap,
}

impl fmt::Debug for Address {
    /// Without the headers' values, which are secrets as a rule.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let headers = self.headers.keys().collect::<Vec<_>>();
        f.debug_struct("Address").field("url", &self.url).field("headers", &headers).finish()
    }
}

/// A server that is started as a program and spoken to over its standard input and output.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Program {
    pub(crate) command: String,
    pub(crate) arguments: Vec<String>,
    pub(crate) environment: BTreeMap<String, String>,
    pub(crate) folder: Option<PathBuf>,
}

impl fmt::Debug for Program {
    /// Without arguments and the environment's values, among which there may be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let environment = self.environment.keys().collect::<Vec<_>>();
        f.debug_struct("Program")
            .field("command", &self.command)
            .field("environment", &environment)
            .finish_non_exhaustive()
    }
}

/// Why a configuration is not taken: names the member at fault and what is accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ConfigError(String);

impl Upstreams {
    /// Reads `{"mcpServers": {"<server>": …}}`, the form that MCP clients use. A server is a program,
    /// `{"command", "args"?, "env"?, "cwd"?}`, or an address for streamable HTTP, `{"url", "headers"?}`.
    ///
    /// # Errors
    ///
    /// [`ConfigError`] for what is no JSON of this form, for unknown members, and where there are no servers.
    pub fn parse(text: &[u8]) -> Result<Self, ConfigError> {
        let value = parse(text, &Limits::DOCUMENT)
            .map_err(|error| wrong(format!("not JSON: line {} column {}: {}", error.line, error.column, error.kind)))?;
        let object = value.as_object().ok_or_else(|| wrong("it must be an object with `mcpServers`"))?;
        check_members(object, "the configuration", &["mcpServers"])?;
        let servers = object.get("mcpServers").and_then(Value::as_object);
        let servers = servers.ok_or_else(|| wrong("`mcpServers` must be an object of servers by name"))?;
        if servers.is_empty() || servers.len() > MOST_SERVERS {
            let count = servers.len();
            return Err(wrong(format!("`mcpServers` has {count} servers; accepted: 1 to {MOST_SERVERS}")));
        }
        servers
            .iter()
            .map(|(name, server)| Ok((name.clone(), read_server(name, server)?)))
            .collect::<Result<_, _>>()
            .map(Self)
    }
}

fn wrong(message: impl Into<String>) -> ConfigError {
    ConfigError(message.into())
}

fn check_members(object: &Object, what: &str, accepted: &[&str]) -> Result<(), ConfigError> {
    match object.iter().find(|(name, _)| !accepted.contains(&name.as_str())) {
        None => Ok(()),
        Some((name, _)) => {
            let accepted: Vec<String> = accepted.iter().map(|name| format!("`{name}`")).collect();
            Err(wrong(format!("{what} has an unknown member {}; accepted: {}", quoted(name), accepted.join(", "))))
        }
    }
}

fn read_server(name: &str, server: &Value) -> Result<Server, ConfigError> {
    let what = format!("server {}", quoted(name));
    if !is_part(name) {
        return Err(wrong(format!("{what}: a server's name has letters, digits, `_`, `.` and `-` only")));
    }
    let members = server.as_object().ok_or_else(|| wrong(format!("{what} must be an object")))?;
    match (members.contains("command"), members.contains("url")) {
        (true, false) => read_program(&what, members).map(Server::Program),
        (false, true) => read_address(&what, members).map(Server::Address),
        (true, true) => Err(wrong(format!("{what} has both a `command` and a `url`; it must have one of them"))),
        (false, false) => Err(wrong(format!("{what} needs a `command` or a `url`"))),
    }
}

fn read_program(what: &str, members: &Object) -> Result<Program, ConfigError> {
    check_members(members, what, &["command", "args", "env", "cwd"])?;
    let text = |member: &str| match members.get(member) {
        None => Ok(None),
        Some(value) => match value.as_str().filter(|text| !text.is_empty()) {
            Some(text) => Ok(Some(text.to_owned())),
            None => Err(wrong(format!("{what}: `{member}` must be a string that is not empty"))),
        },
    };
    let arguments = match members.get("args") {
        None => Vec::new(),
        Some(list) => strings(list).ok_or_else(|| wrong(format!("{what}: `args` must be an array of strings")))?,
    };
    let environment = match members.get("env") {
        None => BTreeMap::new(),
        Some(list) => pairs(list).ok_or_else(|| wrong(format!("{what}: `env` must be an object of strings")))?,
    };
    let (command, folder) = (text("command")?.unwrap_or_default(), text("cwd")?.map(PathBuf::from));
    Ok(Program { command, arguments, environment, folder })
}

fn read_address(what: &str, members: &Object) -> Result<Address, ConfigError> {
    check_members(members, what, &["url", "headers"])?;
    let url = members.get("url").and_then(Value::as_str).and_then(parse_address);
    let url = url.ok_or_else(|| wrong(format!("{what}: `url` must begin with `http://` or `https://` and a host")))?;
    let mut headers = HeaderMap::new();
    let given = match members.get("headers") {
        None => BTreeMap::new(),
        Some(list) => pairs(list).ok_or_else(|| wrong(format!("{what}: `headers` must be an object of strings")))?,
    };
    for (name, value) in given {
        // The value may be a secret, so it is not repeated.
        let header = HeaderName::try_from(&name).ok().zip(HeaderValue::try_from(&value).ok());
        let (header, mut value) = header
            .ok_or_else(|| wrong(format!("{what}: header {} has a name or value that is none", quoted(&name))))?;
        value.set_sensitive(true);
        headers.insert(header, value);
    }
    Ok(Address { url, headers })
}

fn strings(list: &Value) -> Option<Vec<String>> {
    list.as_array()?.iter().map(|item| item.as_str().map(Into::into)).collect()
}

fn pairs(list: &Value) -> Option<BTreeMap<String, String>> {
    list.as_object()?.iter().map(|(name, value)| Some((name.clone(), value.as_str()?.into()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_of_clients_is_taken() {
        let text =
            br#"{"mcpServers": {"mail": {"command": "npx", "args": ["-y", "x"], "env": {"A": "b"}, "cwd": "/tmp"},
            "a.b-c_1": {"url": "https://tools.example/mcp", "headers": {"Authorization": "Bearer s3cret"}}}}"#;
        let upstreams = Upstreams::parse(text).unwrap();
        assert!(!format!("{upstreams:?}").contains("s3cret"));
        let Upstreams(servers) = upstreams;
        assert_eq!(servers.keys().collect::<Vec<_>>(), ["a.b-c_1", "mail"]);
        let Server::Program(mail) = &servers["mail"] else { unreachable!() };
        assert_eq!((mail.command.as_str(), mail.arguments.len()), ("npx", 2));
        assert_eq!((mail.environment["A"].as_str(), mail.folder.as_deref()), ("b", Some("/tmp".as_ref())));
        let Server::Address(tools) = &servers["a.b-c_1"] else { unreachable!() };
        assert_eq!(tools.url, "https://tools.example/mcp");
        assert_eq!(tools.headers["authorization"], "Bearer s3cret");
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, named) in [
            ("{", "not JSON: line 1"),
            ("[]", "`mcpServers`"),
            (r#"{"mcpServers": {}}"#, "0 servers"),
            (r#"{"mcpServers": {}, "x": 1}"#, "unknown member `x`"),
            (r#"{"mcpServers": {"a/b": {"command": "x"}}}"#, "server `a/b`"),
            (r#"{"mcpServers": {"a": {"command": "x", "type": "stdio"}}}"#, "unknown member `type`"),
            (r#"{"mcpServers": {"a": {}}}"#, "needs a `command` or a `url`"),
            (r#"{"mcpServers": {"a": {"command": "x", "url": "http://h"}}}"#, "both"),
            (r#"{"mcpServers": {"a": {"command": ""}}}"#, "`command`"),
            (r#"{"mcpServers": {"a": {"command": "x", "args": [1]}}}"#, "`args`"),
            (r#"{"mcpServers": {"a": {"command": "x", "env": {"A": 1}}}}"#, "`env`"),
            (r#"{"mcpServers": {"a": {"url": "ftp://localhost"}}}"#, "`url`"),
            (r#"{"mcpServers": {"a": {"url": "/mcp"}}}"#, "`url`"),
            (r#"{"mcpServers": {"a": {"url": "http://h", "args": []}}}"#, "unknown member `args`"),
            (r#"{"mcpServers": {"a": {"url": "http://h", "headers": {"a b": "c"}}}}"#, "header `a b`"),
        ] {
            let error = Upstreams::parse(text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(named), "{text}: {error}");
        }
    }
}
