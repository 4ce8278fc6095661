//! What can be wrong with a call.

use std::fmt;

use bailiwick_core::journal::merkle::ProofError;
use bailiwick_core::journal::{ExportError, PageError};
use bailiwick_core::json::{Object, ReadError, ReadErrorKind};

/// Why a call has no answer. What a check finds is never here: that is its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// A document cannot be read
    Read {
        /// Where in the caller's own text: bytes of bytes, UTF-16 code units of a string, nowhere in an object
        place: Option<usize>,
        /// Why
        error: ReadError,
    },
    /// A document is too long to be copied
    TooLong {
        /// Bytes it has
        bytes: usize,
        /// Bytes allowed
        limit: usize,
    },
    /// An argument is of the wrong form
    Argument {
        /// Its name
        name: &'static str,
        /// What would be accepted
        expected: &'static str,
    },
    /// An option is not known
    UnknownOption {
        /// Its name
        name: String,
        /// Those that are
        known: String,
    },
    /// A journal export cannot be read
    Export(ExportError),
    /// A page cannot start where it should
    Page(PageError),
    /// A proof does not hold
    Proof(ProofError),
    /// Decisions were to be made again of a journal that holds none
    DecisionsAbsent,
    /// A verifier has reported and takes no more
    Finished,
}

impl Fault {
    pub(crate) const fn argument(name: &'static str, expected: &'static str) -> Self {
        Self::Argument { name, expected }
    }

    /// The stable code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Read { error, .. } => error.code(),
            Self::TooLong { .. } => "too_long",
            Self::Argument { .. } | Self::UnknownOption { .. } => "invalid_argument",
            Self::Export(error) => error.code(),
            Self::Page(error) => error.code(),
            Self::Proof(error) => error.code(),
            Self::DecisionsAbsent => "decisions_absent",
            Self::Finished => "verifier_finished",
        }
    }

    /// Where it is, as far as that is known: `offset`, `line`, `column`, `path`.
    pub fn place(&self) -> Object {
        let number = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
        match self {
            Self::Read { place: Some(offset), error } => Object::new()
                .with("offset", number(*offset))
                .with("line", number(error.line))
                .with("column", number(error.column)),
            Self::Argument { name, .. } => Object::new().with("path", format!("/{name}")),
            Self::Export(error) => Object::new().with_some("line", error.line),
            _ => Object::new(),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read { place: Some(_), error } => error.fmt(f),
            Self::Read { place: None, error } => error.kind.fmt(f),
            Self::TooLong { bytes, limit } => ReadErrorKind::TooLong { bytes: *bytes, limit: *limit }.fmt(f),
            Self::Argument { name, expected } => write!(f, "`{name}` is not of its form, expected {expected}"),
            Self::UnknownOption { name, known } => write!(f, "there is no option `{name}`, only `{known}`"),
            Self::Export(error) => error.fmt(f),
            Self::Page(error) => error.fmt(f),
            Self::Proof(error) => error.fmt(f),
            Self::DecisionsAbsent => f.write_str("a public journal holds no decisions that could be made again"),
            Self::Finished => f.write_str("this verifier has reported, make a new one for another journal"),
        }
    }
}

impl std::error::Error for Fault {}
