//! What a server is started with.

use std::time::Duration;

use bailiwick_mcp::Toolsets;

use crate::{Gatekeeping, KeyRing};

/// What a server is started with.
#[derive(Debug, Clone)]
pub struct ServerOptions {
    /// The host name or address to listen on
    pub host: String,
    /// The port to listen on; 0 lets the system choose
    pub port: u16,
    /// How it is known who is acting
    pub auth: Auth,
    /// Hosts, with a port or without, by which the server is addressed besides loopback names and its own
    /// addresses: `desk.example.com`
    pub allowed_hosts: Vec<String>,
    /// Origins of web pages that may use it besides its own and loopback ones: `https://desk.example.com`
    pub allowed_origins: Vec<String>,
    /// Which tools are offered over MCP. With [`bailiwick_mcp::Access::ReadOnly`] the REST interface refuses
    /// whatever changes something, too.
    pub toolsets: Toolsets,
    /// Who may read the journal while `work.restrict_reads` keeps orders to their parties
    pub auditors: Vec<String>,
    /// The servers behind the gateways of orders; without them there are no gateways here
    pub gatekeeping: Option<Gatekeeping>,
    /// What it takes on at once
    pub limits: Limits,
}

/// How a server knows who is acting.
#[derive(Debug, Clone)]
pub enum Auth {
    /// Closed mode: each request carries a key
    Keys(KeyRing),
    /// Open mode, for trying out on loopback: each request says who acts, by the header `X-Bailiwick-Actor` or the
    /// argument `actor` of a tool, and is believed. Everything done so is recorded as merely claimed.
    Open,
}

/// What a server takes on at once. Whatever is beyond is refused at once, never queued without end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a request's body; beyond: 413
    pub body_bytes: usize,
    /// Requests being worked on, waiting ones apart; beyond: 503
    pub requests: usize,
    /// Waiting calls, event streams and exports; beyond: 503
    pub waiting: usize,
    /// Open connections; beyond: they wait to be accepted
    pub connections: usize,
    /// How long a request's body may take to arrive
    pub body_time: Duration,
    /// How long the desk may take for an answer that does not wait for anything
    pub answer_time: Duration,
    /// How long running requests may take to finish once the server is asked to stop
    pub stop_time: Duration,
}

impl ServerOptions {
    /// The port that is listened on unless another is chosen (`spec work-orders §14.4`).
    pub const DEFAULT_PORT: u16 = 8787;

    /// A server on `127.0.0.1:8787` with the default toolset and limits.
    pub fn new(auth: Auth) -> Self {
        Self {
            host: "127.0.0.1".into(),
            port: Self::DEFAULT_PORT,
            auth,
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            toolsets: Toolsets::default(),
            auditors: Vec::new(),
            gatekeeping: None,
            limits: Limits::default(),
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_bytes: 4 << 20,
            requests: 256,
            waiting: 4096,
            connections: 8192,
            body_time: Duration::from_secs(30),
            answer_time: Duration::from_secs(30),
            stop_time: Duration::from_secs(10),
        }
    }
}
