//! The journal: entries, the hash chain, its verification, and Merkle proofs over it.
//!
//! One envelope, one canonical form and one hash rule serve every journal (`coordination §5`): the public
//! coordination journals, whose labels and payloads are fixed from outside, and Bailiwick's own decision
//! records. So one verifier checks them all.
//!
//! - [`entry`]: the envelope; sealing a draft into an entry
//! - [`row`]: an entry in columns, for journals that others wrote
//! - [`chain`]: verification, entry by entry
//! - [`anchor`], [`page`]: positions in a journal, and reading on from them
//! - [`export`], [`verify`]: journals as files, and their verification
//! - [`merkle`]: tree hashing, inclusion and consistency proofs

pub mod anchor;
mod base64;
pub mod chain;
mod document;
pub mod entry;
pub mod export;
pub mod merkle;
pub mod page;
pub mod row;
mod scan;
pub mod verify;

pub use anchor::{Anchor, AnchorFault, verify_anchor};
pub use chain::{Failure, FailureCode, Report, StoredHead, Verifier};
pub use entry::{Draft, Entry, EntryError, Head, Label, SealError};
pub use export::{Header, Journal};
pub use page::{Page, PageError};
pub use row::Row;
pub use verify::{ExportError, ExportReport, ExportVerifier, Listener, verify_export};
