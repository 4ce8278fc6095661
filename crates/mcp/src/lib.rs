//! Bailiwick's tools for agents, over the Model Context Protocol.
//!
//! A [`Server`] answers one MCP session, or any number of stateless requests, for a [`Desk`](bailiwick_desk::Desk).
//! It translates and decides nothing: it checks that arguments have the shape that a tool's schema states, finds
//! out who is acting, hands the command to the desk and writes the answer down twice, as text and as structured
//! content.
//!
//! Tools come in toolsets, one module each; [`Toolsets`] says which of them a server offers. Two revisions of the
//! protocol are spoken: 2026-07-28, where each request stands for itself, and those up to 2025-11-25, which open
//! with `initialize`.
//!
//! [`serve_stdio`] runs a server on standard input and output. For HTTP, give a [`Server`] with
//! [`Identity::PerRequest`] to `rmcp`'s streamable HTTP service.
//!
//! What this crate does *not* do: authenticate anybody. On stdio an identity is only claimed; over HTTP the layer
//! in front establishes it.

mod answer;
mod arguments;
mod call;
mod identity;
mod server;
mod stdio;
mod tool;
mod toolset;
mod wire;
mod work;

pub use call::IDEMPOTENCY_KEY;
pub use identity::Identity;
pub use server::{INSTRUCTIONS, SERVER_NAME, Server, TOOLS_TTL_MS};
pub use stdio::{MOST_MESSAGE_BYTES, StdioError, serve_stdio, serve_streams};
pub use toolset::{Access, Toolset, Toolsets, UnknownToolset};
