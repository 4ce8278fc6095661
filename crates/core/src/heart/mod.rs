//! The heart: decide, then apply.
//!
//! Every capability is a small state machine over plain data and runs in the same way:
//!
//! ```text
//! decide(&View, &Command, &Context) -> Outcome { facts, reply }     what follows, and the answer
//! apply(&mut Draft, &Fact)                                          the only way that journaled state changes
//! answer(&View, &Query, &Context) -> reply                          reading changes nothing
//! ```
//!
//! `decide` never mutates and `apply` never refuses. Facts stand whatever the reply is: an overdue order answers
//! "no" *and* records its expiry. A function that needs a document which the [`View`] does not hold answers
//! [`ViewError::NotLoaded`]; whoever drives the machine loads exactly that and calls again. So what a command
//! needs is said in one place only: where it is used.
//!
//! Two drive it: a desk, from a database, under a lock; and [`replay`], from a journal, anywhere.
//!
//! This module does not know what any capability is about; [`capability`] lists them.

mod blob;
pub mod capability;
pub mod configuration;
mod context;
mod document;
mod memory;
mod record;
mod refusal;
pub mod replay;
mod run;
pub mod vectors;
mod view;

pub use blob::{Blob, BlobReader, BlobWriter, blob_references};
pub use capability::{Command, Credential, Fact, Query, RULES};
pub use configuration::Configuration;
pub use context::{Context, Fresh};
pub use document::{Change, Corrupt, Document, Draft, IndexEntry, Key, Stored};
pub use memory::Memory;
pub use record::{Reading, Record, RecordError};
pub use refusal::Refusal;
pub use run::{Outcome, Step, ask, run};
pub use view::{Need, Order, Scope, Select, View, ViewError};
