//! A pass for an order.

use alloc::format;
use alloc::string::String;
use core::fmt;

use super::claims::check_claims;
use super::{MOST_PASS_BYTES, PASS_TYPE};
use crate::hash::Hash;
use crate::jose::{SigningKey, base64url};
use crate::json::{Object, Value};
use crate::message::quoted;
use crate::time::{self, Millis};
use crate::work::text;

/// How long a pass lives unless somebody says otherwise.
pub const DEFAULT_TTL_SECONDS: u64 = 900;

/// What a pass says beside what its order says.
#[derive(Debug, Clone, Copy)]
pub struct Terms<'a> {
    /// `iss`: who issues it, by the name that verifiers expect
    pub issuer: &'a str,
    /// `jti`: a fresh id; no two passes of an issuer have the same
    pub jti: &'a str,
    /// When it begins
    pub now: Millis,
    /// How long it lives, unless the deadline comes first
    pub ttl_seconds: u64,
    /// `aud`: who may accept it; nobody named means anybody
    pub audiences: &'a [&'a str],
    /// `cnf`: the thumbprint (RFC 7638) of the key whose owner alone may use it
    pub holder: Option<Hash>,
}

/// A pass, fresh from the key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issued {
    /// The token. Whoever has it can use it (unless it is bound to a holder), so it is shown to its worker alone.
    pub token: String,
    /// `exp`
    pub expires_at: Millis,
}

/// Why there is no pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IssueError {
    /// A lifetime of nothing
    NoLifetime,
    /// The order's deadline leaves no whole second
    DeadlinePassed(Millis),
    /// The key goes out of use before a whole second is over
    KeyOutOfUse(Millis),
    /// What the pass would say is not what a pass may say; names the claim
    Malformed(String),
    /// The order is too large for a pass
    TooLong {
        /// Bytes that the pass would have
        bytes: usize,
    },
}

impl IssueError {
    /// The stable name.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NoLifetime => "NO_LIFETIME",
            Self::DeadlinePassed(_) => "DEADLINE_PASSED",
            Self::KeyOutOfUse(_) => "KEY_OUT_OF_USE",
            Self::Malformed(_) => "MALFORMED",
            Self::TooLong { .. } => "TOO_LONG",
        }
    }
}

impl fmt::Display for IssueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoLifetime => f.write_str("a pass of `0` seconds, at least 1 is needed"),
            Self::DeadlinePassed(deadline) => write!(f, "the order's deadline `{deadline}` leaves no time for a pass"),
            Self::KeyOutOfUse(end) => write!(f, "the key is out of use from `{end}` on and can't sign a pass"),
            Self::Malformed(message) => f.write_str(message),
            Self::TooLong { bytes } => {
                write!(f, "the pass has `{bytes}` bytes, at most {MOST_PASS_BYTES} are accepted")
            }
        }
    }
}

impl core::error::Error for IssueError {}

/// Issues a pass for an order that is assumed valid. Whether it is being worked on is for the caller to know.
///
/// `iat` and `nbf` are now, rounded down to a second; `exp` is the lifetime later, or the deadline rounded down to a
/// second, whichever comes first (`spec work-orders §13`); a key that goes out of use before ends its passes with it, for
/// nobody could verify them any more. The signature takes no randomness: the same order, terms and
/// key give the same token.
///
/// # Errors
///
/// [`IssueError`]. Nothing is issued that [`verify`](super::verify) would not take.
pub fn issue(order: &Value, terms: &Terms<'_>, key: &SigningKey) -> Result<Issued, IssueError> {
    let (claims, expires_at) = claims_for(order, terms, key.public().not_after())?;
    let claims = Value::from(claims);
    check_claims(&claims).map_err(|refusal| IssueError::Malformed(refusal.message))?;
    let token = key.sign(PASS_TYPE, &claims);
    if token.len() > MOST_PASS_BYTES {
        return Err(IssueError::TooLong { bytes: token.len() });
    }
    Ok(Issued { token, expires_at })
}

/// The claims and when they end.
fn claims_for(order: &Value, terms: &Terms<'_>, key_end: Option<Millis>) -> Result<(Object, Millis), IssueError> {
    if terms.ttl_seconds == 0 {
        return Err(IssueError::NoLifetime);
    }
    let deadline = text(order, "deadline");
    let Some(deadline) = time::instant(deadline) else {
        return Err(IssueError::Malformed(format!("the deadline {} names no known instant", quoted(deadline))));
    };
    let start = whole_seconds(terms.now);
    let lifetime = i64::try_from(terms.ttl_seconds).unwrap_or(i64::MAX);
    let end = start.saturating_add(lifetime).min(whole_seconds(deadline));
    if end <= start {
        return Err(IssueError::DeadlinePassed(deadline));
    }
    let end = key_end.map_or(end, |key_end| end.min(whole_seconds(key_end)));
    if let Some(key_end) = key_end.filter(|_| end <= start) {
        return Err(IssueError::KeyOutOfUse(key_end));
    }
    let member = |name| order.get(name).cloned();
    let audiences: Option<Value> = match terms.audiences {
        [] => None,
        [one] => Some((*one).into()),
        several => Some(several.iter().copied().map(Value::from).collect()),
    };
    let holder = terms.holder.map(|thumbprint| Object::new().with("jkt", base64url::encode(&thumbprint)));
    let claims = Object::new()
        .with("iss", terms.issuer)
        .with("sub", text(order, "to"))
        .with("jti", terms.jti)
        .with("iat", start)
        .with("nbf", start)
        .with("exp", end)
        .with("order", text(order, "id"))
        .with_some("parent", member("parent_id"))
        .with_some("tools", member("tools"))
        .with_some("budget", member("budget"))
        .with_some("deadline", member("deadline"))
        .with_some("staged", member("staged"))
        .with_some("aud", audiences)
        .with_some("cnf", holder);
    Ok((claims, Millis(0).checked_add_seconds(end).unwrap_or(deadline)))
}

/// Seconds since 1970, rounded down.
pub(super) fn whole_seconds(instant: Millis) -> i64 {
    instant.0.div_euclid(1000)
}
