//! The journal: entries, the hash chain, its verification, and Merkle proofs over it.
//!
//! One envelope, one canonical form and one hash rule serve every journal (`coordination §5`): the public
//! coordination journals, whose labels and payloads are fixed from outside, and Bailiwick's own decision
//! records. So one verifier checks them all.
//!
//! - [`entry`]: the envelope; sealing a draft into an entry
//! - [`merkle`]: tree hashing, inclusion and consistency proofs

pub mod entry;
pub mod merkle;

pub use entry::{Draft, Entry, Head, Label, SealError};
