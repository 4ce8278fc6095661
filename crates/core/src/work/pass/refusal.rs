//! Why a pass does not count.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::jose::Fault;
use crate::json::{Object, Value};
use crate::work::Finding;

/// What is wrong with a pass. The first ten are `spec work-orders §12`, in the order of the checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Code {
    /// Not the form of a pass
    Malformed,
    /// An algorithm, kind of token or key that is not taken
    Unsupported,
    /// Not signed by a trusted key
    BadSignature,
    /// After its end, or after the order's deadline
    Expired,
    /// Before its begin
    NotYetValid,
    /// Another issuer's
    WrongIssuer,
    /// Another worker's
    WrongWorker,
    /// For another order
    WrongOrder,
    /// Not a child of the pass above it
    WrongParent,
    /// Allows what the pass above it does not
    WiderThanParent,
    /// Lives longer than is accepted
    TooLongLived,
    /// On a revocation list
    Revoked,
    /// For another audience
    WrongAudience,
    /// A revocation list that is older than the one at hand
    Stale,
    /// Bound to a holder, and shown without a proof
    ProofRequired,
    /// The proof is not the holder's, or for something else
    BadProof,
    /// The proof is too old, or from the future
    ProofExpired,
    /// The proof was used before
    Replayed,
}

impl Code {
    /// Every code, in the order of the checks.
    pub const ALL: [Self; 18] = [
        Self::Malformed,
        Self::Unsupported,
        Self::BadSignature,
        Self::Expired,
        Self::NotYetValid,
        Self::WrongIssuer,
        Self::WrongWorker,
        Self::WrongOrder,
        Self::WrongParent,
        Self::WiderThanParent,
        Self::TooLongLived,
        Self::Revoked,
        Self::WrongAudience,
        Self::Stale,
        Self::ProofRequired,
        Self::BadProof,
        Self::ProofExpired,
        Self::Replayed,
    ];

    /// The code as answers carry it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Malformed => "MALFORMED",
            Self::Unsupported => "UNSUPPORTED",
            Self::BadSignature => "BAD_SIGNATURE",
            Self::Expired => "EXPIRED",
            Self::NotYetValid => "NOT_YET_VALID",
            Self::WrongIssuer => "WRONG_ISSUER",
            Self::WrongWorker => "WRONG_WORKER",
            Self::WrongOrder => "WRONG_ORDER",
            Self::WrongParent => "WRONG_PARENT",
            Self::WiderThanParent => "WIDER_THAN_PARENT",
            Self::TooLongLived => "TOO_LONG_LIVED",
            Self::Revoked => "REVOKED",
            Self::WrongAudience => "WRONG_AUDIENCE",
            Self::Stale => "STALE",
            Self::ProofRequired => "PROOF_REQUIRED",
            Self::BadProof => "BAD_PROOF",
            Self::ProofExpired => "PROOF_EXPIRED",
            Self::Replayed => "REPLAYED",
        }
    }

    /// The code of this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|code| code.as_str() == name)
    }
}

/// A pass, a proof or a revocation list that does not count, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// What is wrong
    pub code: Code,
    /// Which pass of the chain, the root being 0; 0 too for what stands alone
    pub link: usize,
    /// For people; names the value at fault
    pub message: String,
    /// With [`Code::WiderThanParent`]: what is wider, by rules C1, C2, C3 and C5
    pub findings: Vec<Finding>,
}

impl Refusal {
    pub(super) fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, link: 0, message: message.into(), findings: Vec::new() }
    }

    pub(super) fn at(self, link: usize) -> Self {
        Self { link, ..self }
    }

    /// As answers carry it: `{"code", "link", "message", "findings"}`.
    pub fn to_object(&self) -> Object {
        let findings: Value = self.findings.iter().map(Finding::to_value).collect();
        let link = u64::try_from(self.link).unwrap_or(u64::MAX);
        Object::new()
            .with("code", self.code.as_str())
            .with("link", link)
            .with("message", &self.message)
            .with("findings", findings)
    }
}

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Self {
        let (code, message) = match fault {
            Fault::Malformed(message) => (Code::Malformed, message),
            Fault::Unsupported(message) => (Code::Unsupported, message),
            Fault::BadSignature(message) => (Code::BadSignature, message),
        };
        Self::new(code, message)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code.as_str(), self.message)
    }
}

impl core::error::Error for Refusal {}

/// Shorthand.
pub(super) fn refuse<T>(code: Code, message: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal::new(code, message))
}
