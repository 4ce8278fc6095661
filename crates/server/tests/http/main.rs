//! The server from outside: over TCP, with a desk in memory.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod access;
mod agents;
mod gateway;
mod inbox;
mod journal;
mod limits;
mod mcp;
mod openapi;
mod orders;
mod passes;
mod running;
mod sign_in;
mod stop;
