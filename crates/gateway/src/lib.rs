//! The gateway: an MCP server for one worker and one order, in front of the worker's real MCP servers
//! (`spec work-orders §15`).
//!
//! It asks before each call and holds the calls of staged tools; it decides nothing by itself. Whoever answers for the order
//! stands behind a port ([`Authority`]), so the gateway knows no store. What comes from an upstream server goes on as it came:
//! results, progress, log messages and changes of lists are handed on as raw JSON, members that nobody here knows included.
//!
//! - [`Upstreams::parse`]: the configuration, in the form that MCP clients use
//! - [`Gateway`]: the proxy; [`serve_stdio`] serves it to an agent
//! - [`commit`]: carries out what was approved
//! - [`LocalDesk`], [`RemoteDesk`], [`WithPass`], [`Fallback`]: who answers for the order
//!
//! ```text
//! agent ─▶ Gateway ─▶ Authority: may this call be made?
//!             └─────▶ Upstream ─▶ the worker's MCP server
//! ```

mod authority;
mod commit;
mod config;
mod connection;
mod http;
mod message;
mod names;
mod proxy;
mod upstream;

pub use authority::{
    AloneError, AloneOptions, Answer, AskedCall, Authority, Begun, Failure, Fallback, LocalDesk, PassSource, Place,
    RemoteDesk, RemoteError, Terms, WithPass,
};
pub use commit::{Carried, Outcome, commit};
pub use config::{ConfigError, Upstreams};
pub use names::Naming;
pub use proxy::{Gateway, GatewayError, Options, Session, serve_stdio};
