//! What can go wrong with a store.

use thiserror::Error;

/// What can go wrong with a store. Messages hold no secret and no part of a stored document.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The address is of no known form
    #[error("the store address `{address}` is not usable: {why}")]
    Address {
        /// As given, without a password
        address: String,
        /// What is wrong and what is accepted
        why: String,
    },
    /// Another program's database, or one that a newer Bailiwick wrote
    #[error("{0}")]
    Foreign(String),
    /// The database can't be reached, or went away, or stayed locked: trying again later may help
    #[error("the store is unavailable: {0}")]
    Unavailable(String),
    /// The database can't be written: read-only, or the disk is full
    #[error("the store can't be written: {0}")]
    NotWritable(String),
    /// A file, or one beside it, that somebody else could have put there: a link, another owner's, not a plain file
    #[error("the store is not safe to use: {0}")]
    Unsafe(String),
    /// An entry does not follow the journal's head, or a key is taken: catch up, decide again
    #[error("the store has moved on: {0}")]
    Conflict(String),
    /// Something is larger, or more, than a store takes
    #[error("beyond a limit of the store: {0}")]
    Limit(String),
    /// What is stored contradicts itself
    #[error("the store is damaged: {0}")]
    Damaged(String),
    /// Something that does not exist was named
    #[error("no {0} in the store")]
    Missing(String),
    /// A commit whose outcome is not known
    #[error("the store did not say whether it committed: {0}")]
    CommitUnknown(String),
}

impl StoreError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Address { .. } => "store_address",
            Self::Foreign(_) => "store_foreign",
            Self::Unavailable(_) => "store_unavailable",
            Self::NotWritable(_) => "store_not_writable",
            Self::Unsafe(_) => "store_unsafe",
            Self::Conflict(_) => "store_conflict",
            Self::Limit(_) => "store_limit",
            Self::Damaged(_) => "store_damaged",
            Self::Missing(_) => "store_missing",
            Self::CommitUnknown(_) => "store_commit_unknown",
        }
    }
}
