//! Why a token or a key is refused.

use alloc::string::String;
use core::fmt;

/// Why a token or a key is refused. Messages name the value at fault, never a token, a signature or a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// It does not have the form that it should have
    Malformed(String),
    /// It has a form that is not taken here
    Unsupported(String),
    /// No trusted key made this signature
    BadSignature(String),
}

impl Fault {
    /// The stable name (`spec work-orders §12`).
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Malformed(_) => "MALFORMED",
            Self::Unsupported(_) => "UNSUPPORTED",
            Self::BadSignature(_) => "BAD_SIGNATURE",
        }
    }

    /// What is wrong, for people.
    pub fn message(&self) -> &str {
        let (Self::Malformed(message) | Self::Unsupported(message) | Self::BadSignature(message)) = self;
        message
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message())
    }
}

impl core::error::Error for Fault {}

/// Shorthand for the commonest two.
pub(super) fn malformed<T>(message: impl Into<String>) -> Result<T, Fault> {
    Err(Fault::Malformed(message.into()))
}

pub(super) fn unsupported<T>(message: impl Into<String>) -> Result<T, Fault> {
    Err(Fault::Unsupported(message.into()))
}
