//! Bailiwick's use cases, and the crate to embed.
//!
//! A [`Desk`] is one workspace of a store: it takes commands and queries of whoever acts, locks, loads, lets
//! [`bailiwick_core`] decide, commits, and tells whoever waits. It decides nothing itself and knows no capability:
//! what a command means stands in core, where it is kept in the store.
//!
//! ```text
//! command ─▶ writer ─▶ lock ─▶ load ─▶ heart::run ─▶ journal entry + documents ─▶ commit ─▶ answer
//!                              ▲          │                                           │
//!                              └──────────┘ "not loaded"                              ▼
//!                                                                        tail ─▶ whoever waits or follows
//! ```
//!
//! `examples/embed.rs` shows a desk in another program: in memory, with its own clock and ids, and a listener.

mod credential;
mod desk;
mod entropy;
mod export;
mod failure;
mod load;
mod renewal;
mod sign_in;
mod tail;
mod timer;
mod verify;
mod writer;

pub use bailiwick_store::StoredEntry;
pub use credential::Signer;
pub use desk::{Desk, Options};
pub use entropy::{Entropy, OsEntropy};
pub use export::ExportPart;
pub use failure::{DeskError, Failure};
pub use sign_in::{LINK_TIME, SESSION_TIME, Secret};
pub use verify::{HeadCheck, Verification};
