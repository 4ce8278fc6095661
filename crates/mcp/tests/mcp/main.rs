//! The server as clients meet it: over streams, on both revisions of the protocol.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may stop at the first surprise")]

mod definitions;
mod identity;
mod input;
mod life;
mod passes;
mod support;
mod wires;
