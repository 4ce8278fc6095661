//! Answers that are not what was asked for.

use bailiwick_core::heart::{Corrupt, Refusal};
use bailiwick_core::journal::SealError;
use bailiwick_core::json::{Object, Value};
use bailiwick_store::StoreError;
use thiserror::Error;

/// Why there is no reply.
#[derive(Debug, Clone)]
pub enum Failure {
    /// The rules say no: an answer
    Refused(Refusal),
    /// Something broke: nothing can be said about the request itself
    Failed(DeskError),
}

/// What can go wrong at a desk. Messages hold no secret and no part of a document.
#[derive(Debug, Clone, Error)]
#[non_exhaustive]
pub enum DeskError {
    /// The store failed
    #[error("{0}")]
    Store(std::sync::Arc<StoreError>),
    /// A stored document is not of its form
    #[error("{0}; `bailiwick doctor` says more")]
    Corrupt(Corrupt),
    /// A decision does not fit a journal entry
    #[error("{0}")]
    Entry(SealError),
    /// The operating system gave no randomness
    #[error("no randomness: {0}")]
    Entropy(String),
    /// No key of the signer is in use at present
    #[error("no key may sign at present: each is before its `not_before` or after its `not_after`")]
    NoSigningKey,
    /// The desk was closed
    #[error("the desk is closed")]
    Closed,
    /// Whether the command was committed could not be found out
    #[error(
        "the store went away while committing, and whether the command took effect is not known; look before repeating it"
    )]
    Unsettled,
    /// A commit failed, and the command is not in the journal
    #[error("the store went away while committing, and nothing was committed; try again")]
    NotCommitted,
    /// A command asked for more and more documents
    #[error("a command needs more documents than a decision may read")]
    TooMuchToLoad,
}

impl From<StoreError> for DeskError {
    fn from(error: StoreError) -> Self {
        Self::Store(error.into())
    }
}

impl DeskError {
    /// The stable code: `UNAVAILABLE` when trying again later may help, `INTERNAL` otherwise.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Store(error) if matches!(**error, StoreError::Unavailable(_) | StoreError::NotWritable(_)) => {
                "UNAVAILABLE"
            }
            Self::Closed | Self::NoSigningKey | Self::NotCommitted | Self::Unsettled => "UNAVAILABLE",
            _ => "INTERNAL",
        }
    }
}

impl Failure {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Refused(refusal) => refusal.code,
            Self::Failed(error) => error.code(),
        }
    }

    /// The error object: `{code, message, …}`.
    pub fn to_value(&self) -> Value {
        match self {
            Self::Refused(refusal) => refusal.to_value(),
            Self::Failed(error) => Object::new().with("code", error.code()).with("message", error.to_string()).into(),
        }
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl<E: Into<DeskError>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Refused(refusal) => f.write_str(&refusal.message),
            Self::Failed(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Failure {}
