//! Bailiwick's rules.
//!
//! Everything that Bailiwick decides is decided here, by pure functions over plain data: is this order or
//! report valid, may this principal do that now, what follows from it, has this journal been touched.
//! The same code runs in the server, in the browser and in the npm package.
//!
//! What this crate does *not* know: a clock, randomness, files, a network, an async runtime, SQL. Time, fresh
//! ids and configuration come in as values ([`heart::Context`]).
//!
//! Where to look:
//!
//! - [`json`]: values, the strict reader, the canonical writer
//! - [`time`]: timestamps and instants
//! - [`jose`]: signed tokens and the keys to verify them
//! - [`principal`]: who is acting, and how we know
//! - [`heart`]: the machine every capability runs in: decide, then apply
//! - [`journal`]: entries, the hash chain, verification
//! - [`waiting`]: what waits for a person
//! - [`work`]: work orders and reports: documents, rules, lifecycle
#![no_std]
#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod arguments;
pub mod hash;
pub mod heart;
pub mod jose;
pub mod journal;
pub mod json;
pub mod message;
pub mod principal;
pub mod time;
pub mod waiting;
pub mod work;
