//! Bailiwick over HTTP.
//!
//! A [`Server`] serves a [`Desk`](bailiwick_desk::Desk) to agents and people:
//!
//! | Path | What |
//! |---|---|
//! | `/mcp` | the tools, over MCP's streamable HTTP |
//! | `/gateway/{order}/mcp` | an order's tools, for its worker, where gateways are set up |
//! | `/api/v1/…` | REST, and live events as server-sent events |
//! | `/.well-known/jwks.json`, `/.well-known/bailiwick-revocations` | what verifiers of passes fetch |
//! | `/sign-in` | gives a browser its session, by a link that works once |
//! | `/api/v1/openapi.json`, `/api/v1/docs` | what REST offers, for programs and for people |
//! | `/healthz`, `/readyz`, `/metrics` | for whoever runs it |
//!
//! It finds out who is acting, translates, and decides nothing. A request goes through these layers, and whatever
//! one of them refuses never reaches the next:
//!
//! ```text
//! note (id, log, count) ─▶ host and origin ─▶ caller ─▶ room ─▶ route ─▶ desk
//! ```
//!
//! Every error is `application/problem+json`; codes and statuses stand in one table (`problem`). Nothing is
//! polled per connection: calls that wait and event streams hang on the desk's own wake-ups, and end early when the
//! server is asked to stop.
//!
//! What this crate does *not* do: TLS (a proxy in front does), and decide anything.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod admission;
mod app;
mod body;
mod caller;
mod dashboard;
mod docs;
mod error;
mod gateway;
mod health;
mod input;
mod keys;
mod mcp;
mod metrics;
mod options;
mod origin;
mod presence;
mod problem;
mod rest;
mod router;
mod server;
mod session;
mod sign_in;
mod watch;
mod well_known;

pub use docs::openapi;
pub use error::ServerError;
pub use gateway::Gatekeeping;
pub use keys::{HashedKey, KeyError, KeyRing};
pub use options::{Auth, Limits, ServerOptions};
pub use server::{Server, serve};
pub use sign_in::sign_in_url;
