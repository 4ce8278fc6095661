//! What a pass says, once it is believed.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::refusal::{Code, Refusal, refuse};
use crate::hash::{Hash, sha256};
use crate::jose::{PublicKey, base64url};
use crate::json::{Number, Object, Value};
use crate::message::{described, quoted};
use crate::time::{self, Millis};
use crate::work::structure::{AGENT, Record, Shape, TEXT, check, optional, required};
use crate::work::{Rule, ToolSet, is_name, order, text};

const CLAIMS: Record = Record::document(&[
    required("iss", TEXT),
    required("sub", AGENT),
    required("jti", TEXT),
    required("iat", Shape::Any),
    required("nbf", Shape::Any),
    required("exp", Shape::Any),
    required("order", Shape::Text { least: 1, most: 128 }),
    optional("parent", TEXT),
    required("tools", TOOLS),
    required("budget", Shape::Record(&order::BUDGET)),
    required("deadline", Shape::Timestamp),
    optional("staged", TOOLS),
    optional("aud", Shape::Any),
    optional("cnf", Shape::Any),
]);

const TOOLS: Shape = Shape::List { least: 0, item: &Shape::ToolPattern };

/// A pass that was verified. Whether a call is allowed is for [`Pass::allows`], the budget for whoever counts.
#[derive(Debug, Clone)]
pub struct Pass {
    claims: Value,
    signing_input: String,
    times: Times,
    audiences: Vec<String>,
    holder: Option<Hash>,
    /// Where it stands in its chain, the root being 0
    pub(super) link: usize,
    /// The earliest end in the chain
    pub(super) chain_expires_at: Millis,
    /// Bytes of the tokens from the root to here
    pub(super) chain_bytes: usize,
}

/// `iat`, `nbf`, `exp` and the deadline.
#[derive(Debug, Clone, Copy)]
pub(super) struct Times {
    pub(super) issued_at: Millis,
    pub(super) not_before: Millis,
    pub(super) expires_at: Millis,
    pub(super) deadline: Millis,
}

impl Pass {
    /// Reads claims whose signature holds, strictly: each of its type, none unknown.
    pub(super) fn read(claims: Object, signing_input: &str) -> Result<Self, Refusal> {
        let claims = Value::from(claims);
        let times = check_claims(&claims)?;
        let audiences = claims.get("aud").map(parse_audiences).transpose()?.unwrap_or_default();
        let holder = claims.get("cnf").map(parse_holder).transpose()?;
        Ok(Self {
            signing_input: signing_input.into(),
            times,
            audiences,
            holder,
            link: 0,
            chain_expires_at: times.expires_at.min(times.deadline),
            chain_bytes: 0,
            claims,
        })
    }

    /// What identifies the pass: SHA-256 of what was signed.
    pub fn id(&self) -> Hash {
        sha256(&[self.signing_input.as_bytes()])
    }

    /// Every claim.
    pub fn claims(&self) -> &Value {
        &self.claims
    }

    /// `iss`: who issued it.
    pub fn issuer(&self) -> &str {
        text(&self.claims, "iss")
    }

    /// `sub`: whom the order is addressed to.
    pub fn worker(&self) -> &str {
        text(&self.claims, "sub")
    }

    /// `jti`: its serial number, the issuer's own.
    pub fn jti(&self) -> &str {
        text(&self.claims, "jti")
    }

    /// `order`: the order's id.
    pub fn order(&self) -> &str {
        text(&self.claims, "order")
    }

    /// `parent`: the id of the order that this one was split from.
    pub fn parent(&self) -> Option<&str> {
        self.claims.get("parent").and_then(Value::as_str)
    }

    /// `tools`: what the worker may call. To ask about more than one tool, keep the set.
    pub fn tools(&self) -> ToolSet<'_> {
        ToolSet::of(self.claims.get("tools"))
    }

    /// Whether a tool of this name may be called (`spec work-orders §2.3`). What is no tool name may not.
    pub fn allows(&self, tool: &str) -> bool {
        is_name(tool) && self.tools().allows(tool)
    }

    /// Whether calls of this tool are held back until the report that lists them is approved.
    pub fn stages(&self, tool: &str) -> bool {
        is_name(tool) && ToolSet::of(self.claims.get("staged")).allows(tool)
    }

    /// `budget`: the whole order's limits, as an order has them.
    pub fn budget(&self) -> Option<&Value> {
        self.claims.get("budget")
    }

    /// `deadline`: the order's.
    pub fn deadline(&self) -> Millis {
        self.times.deadline
    }

    /// `aud`: who may accept it; nobody named means anybody.
    pub fn audiences(&self) -> &[String] {
        &self.audiences
    }

    /// `cnf`: the thumbprint (RFC 7638) of the key whose owner alone may use the pass. Where there is one, verifying
    /// is not enough for a call: see [`check_holder`](super::check_holder).
    pub fn holder(&self) -> Option<Hash> {
        self.holder
    }

    /// Where it stands in its chain, the root being 0.
    pub fn link(&self) -> usize {
        self.link
    }

    /// `iat`: when it was issued.
    pub fn issued_at(&self) -> Millis {
        self.times.issued_at
    }

    /// When it ends: no pass of its chain, and no deadline, is over before.
    pub fn expires_at(&self) -> Millis {
        self.chain_expires_at
    }

    pub(super) fn times(&self) -> Times {
        self.times
    }
}

/// Checks claims against their table and reads the times.
pub(super) fn check_claims(claims: &Value) -> Result<Times, Refusal> {
    if let Some(finding) = check(claims, Shape::Record(&CLAIMS), Rule::O1).first() {
        return refuse(Code::Malformed, format!("claim {}: {}", finding.path, finding.message));
    }
    let deadline = text(claims, "deadline");
    // A deadline at no known instant would never come.
    let Some(deadline) = time::instant(deadline) else {
        return refuse(Code::Malformed, format!("claim /deadline: {} names no known instant", quoted(deadline)));
    };
    Ok(Times {
        issued_at: seconds(claims, "iat")?,
        not_before: seconds(claims, "nbf")?,
        expires_at: seconds(claims, "exp")?,
        deadline,
    })
}

/// A time claim: whole seconds since 1970, written as an integer, not after the year 9999. Anything else is an error,
/// never "absent" (`spec passes §2`).
pub(super) fn seconds(claims: &Value, name: &str) -> Result<Millis, Refusal> {
    const LAST: i128 = Millis::LAST.0 as i128 / 1000;
    let value = claims.get(name).unwrap_or(&Value::Null);
    if let Value::Number(Number::Integer(seconds @ 0..=LAST)) = value
        && let Some(instant) = i64::try_from(*seconds).ok().and_then(|seconds| Millis(0).checked_add_seconds(seconds))
    {
        return Ok(instant);
    }
    refuse(
        Code::Malformed,
        format!("claim /{name}: {} where whole seconds from 0 to {LAST} are needed", described(value)),
    )
}

/// `aud`: a string or several (RFC 7519 §4.1.3).
fn parse_audiences(aud: &Value) -> Result<Vec<String>, Refusal> {
    let is_good = |audience: &&str| !audience.is_empty();
    let audiences: Option<Vec<String>> = match aud {
        Value::String(_) => Some(aud.as_str().filter(is_good).map(String::from).into_iter().collect()),
        Value::Array(list) => list.iter().map(|one| one.as_str().filter(is_good).map(String::from)).collect(),
        _ => None,
    };
    match audiences.filter(|audiences| !audiences.is_empty()) {
        Some(audiences) => Ok(audiences),
        None => refuse(Code::Malformed, "claim /aud: a string or an array of strings is needed, none of them empty"),
    }
}

/// `cnf`: `{"jkt"}` (RFC 9449 §6.1) or `{"jwk"}` (RFC 7800 §3.2), nothing else beside it.
fn parse_holder(cnf: &Value) -> Result<Hash, Refusal> {
    let members = cnf.as_object().filter(|members| members.len() == 1);
    if let Some(jkt) = members.and_then(|members| members.str("jkt")).and_then(base64url::decode_array) {
        return Ok(jkt);
    }
    match members.and_then(|members| members.get("jwk")).map(PublicKey::parse) {
        Some(Ok(key)) => Ok(key.thumbprint()),
        Some(Err(fault)) => refuse(Code::Malformed, format!("claim /cnf/jwk: {fault}")),
        None => {
            refuse(Code::Malformed, "claim /cnf: either `jkt` with a thumbprint or `jwk` with a public key is needed")
        }
    }
}
