//! Why a server does not start, or ends.

use std::io;
use std::net::SocketAddr;

/// Why a server does not start, or ends. Messages hold no secret.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    /// A host that has no address
    #[error("the host `{host}` has no address: {source}")]
    Host {
        /// As configured
        host: String,
        /// What the system says
        source: io::Error,
    },
    /// An address that can't be listened on
    #[error("can't listen on {address}: {source}")]
    Bind {
        /// Where
        address: SocketAddr,
        /// What the system says
        source: io::Error,
    },
    /// Open mode on an address that others can reach
    #[error(
        "open mode believes whatever name a request gives, so it listens on loopback only, not on {address}; give a keys file"
    )]
    OpenBeyondLoopback {
        /// Where it should have listened
        address: SocketAddr,
    },
    /// An allowed host that is none
    #[error("`allowed_hosts` names `{entry}`; accepted: a host name or address, with a port or without")]
    AllowedHost {
        /// As configured
        entry: String,
    },
    /// An allowed origin that is none
    #[error("`allowed_origins` names `{entry}`; accepted: `http://` or `https://`, a host, and a port or none")]
    AllowedOrigin {
        /// As configured
        entry: String,
    },
    /// The operating system gave no randomness
    #[error("no randomness: {0}")]
    Randomness(getrandom::Error),
}

impl ServerError {
    /// The stable code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Host { .. } => "server_host",
            Self::Bind { .. } => "server_bind",
            Self::OpenBeyondLoopback { .. } => "server_open_mode",
            Self::AllowedHost { .. } => "server_allowed_hosts",
            Self::AllowedOrigin { .. } => "server_allowed_origins",
            Self::Randomness(_) => "server_randomness",
        }
    }
}
