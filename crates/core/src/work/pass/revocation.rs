//! Passes that no longer count.
//!
//! A revocation list is a JWS of its own kind, signed by the issuer's key: `iss`, `iat`, a `version` that only rises, and
//! what is revoked: `passes` (base64url of [`Pass::id`]), `jtis`, `orders` (every pass of the order, renewed ones too).
//! A verifier keeps the newest it has seen and refuses older ones, so nobody can bring back a pass by showing an old list.
//! A list that revokes the same may be signed again with the same version, at a later time or with another key.
//!
//! What is revoked takes everything below it along: a chain with a revoked link is refused, and a pass whose `parent` is
//! a revoked order is refused even when it is shown alone. An issuer may leave out passes that have ended by themselves.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::Pass;
use super::claims::seconds;
use super::issuing::whole_seconds;
use super::refusal::{Code, Refusal, refuse};
use crate::hash::Hash;
use crate::jose::{Compact, KeySet, SigningKey, base64url};
use crate::json::{Number, Object, Value};
use crate::message::quoted;
use crate::time::Millis;
use crate::work::structure::{Record, Shape, TEXT, check, optional, required};
use crate::work::{Rule, items, text};

/// The `typ` of a revocation list.
pub const REVOCATIONS_TYPE: &str = "awl-pass-revocations+jwt";

/// Bytes of one list.
pub const MOST_LIST_BYTES: usize = 4 << 20;

const CLAIMS: Record = Record::new(&[
    required("iss", TEXT),
    required("iat", Shape::Any),
    required("version", Shape::Any),
    optional("passes", TEXTS),
    optional("jtis", TEXTS),
    optional("orders", TEXTS),
]);

const TEXTS: Shape = Shape::List { least: 0, item: &TEXT };

/// What an issuer revokes.
#[derive(Debug, Clone, Copy, Default)]
pub struct Revocations<'a> {
    /// By [`Pass::id`]
    pub passes: &'a [Hash],
    /// By `jti`
    pub jtis: &'a [&'a str],
    /// By order: all its passes
    pub orders: &'a [&'a str],
}

/// Signs a list. `version` is higher than that of any list the issuer has published before.
pub fn revoke(issuer: &str, version: u64, revoked: &Revocations<'_>, key: &SigningKey, now: Millis) -> String {
    let texts = |list: &[&str]| list.iter().copied().map(Value::from).collect::<Value>();
    let claims = Object::new()
        .with("iss", issuer)
        .with("iat", whole_seconds(now))
        .with("version", version)
        .with("passes", revoked.passes.iter().map(|id| base64url::encode(id).into()).collect::<Value>())
        .with("jtis", texts(revoked.jtis))
        .with("orders", texts(revoked.orders));
    key.sign(REVOCATIONS_TYPE, &claims.into())
}

/// A list that was verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RevocationList {
    issuer: String,
    version: u64,
    issued_at: Millis,
    passes: BTreeSet<Hash>,
    jtis: BTreeSet<String>,
    orders: BTreeSet<String>,
}

impl RevocationList {
    /// Verifies a list. `held` is the newest that the verifier has of this issuer, if it has any.
    ///
    /// # Errors
    ///
    /// [`Code::Malformed`], [`Code::Unsupported`], [`Code::BadSignature`]; [`Code::WrongIssuer`] if `held` is another
    /// issuer's; [`Code::Stale`] if its version is lower than that of `held`, or the same for one that revokes
    /// something else.
    pub fn verify(token: &str, keys: &KeySet, now: Millis, held: Option<&Self>) -> Result<Self, Refusal> {
        let token = Compact::parse(token, MOST_LIST_BYTES)?;
        let payload = Value::from(token.payload_object()?);
        token.check_type(REVOCATIONS_TYPE)?;
        keys.verify(&token, now)?;
        let list = Self::read(&payload)?;
        match held {
            Some(held) if held.issuer != list.issuer => {
                let message = format!("the issuer is {}, expected was {}", quoted(&list.issuer), quoted(&held.issuer));
                refuse(Code::WrongIssuer, message)
            }
            Some(held) if list.version < held.version => {
                let message = format!("the list's version is `{}`, `{}` is known", list.version, held.version);
                refuse(Code::Stale, message)
            }
            Some(held) if list.version == held.version && !list.revokes_the_same(held) => {
                refuse(Code::Stale, format!("two lists have version `{}`", list.version))
            }
            _ => Ok(list),
        }
    }

    fn revokes_the_same(&self, other: &Self) -> bool {
        (&self.passes, &self.jtis, &self.orders) == (&other.passes, &other.jtis, &other.orders)
    }

    fn read(claims: &Value) -> Result<Self, Refusal> {
        if let Some(finding) = check(claims, Shape::Record(&CLAIMS), Rule::O1).first() {
            return refuse(Code::Malformed, format!("claim {}: {}", finding.path, finding.message));
        }
        let version = match claims.get("version") {
            Some(Value::Number(Number::Integer(version))) => u64::try_from(*version).ok(),
            _ => None,
        };
        let Some(version) = version else {
            return refuse(Code::Malformed, "claim /version: a whole number from 0 on is needed");
        };
        let texts = |name| items(claims, name).iter().filter_map(Value::as_str).map(String::from).collect();
        let passes = items(claims, "passes").iter().map(|id| base64url::decode_array(id.as_str()?));
        let Some(passes) = passes.collect::<Option<Vec<_>>>() else {
            return refuse(Code::Malformed, "claim /passes: each is 32 bytes in base64url without padding");
        };
        Ok(Self {
            issuer: text(claims, "iss").into(),
            version,
            issued_at: seconds(claims, "iat")?,
            passes: passes.into_iter().collect(),
            jtis: texts("jtis"),
            orders: texts("orders"),
        })
    }

    /// Whose passes it is about.
    pub fn issuer(&self) -> &str {
        &self.issuer
    }

    /// Its number.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// When it was signed, by the issuer's clock. How old a list may be is for the verifier to say.
    pub fn issued_at(&self) -> Millis {
        self.issued_at
    }

    /// Why a pass no longer counts, if it is of this issuer and revoked.
    pub fn revokes(&self, pass: &Pass) -> Option<String> {
        if pass.issuer() != self.issuer {
            return None;
        }
        if !self.passes.is_empty() && self.passes.contains(&pass.id()) {
            return Some("the pass is revoked".into());
        }
        if self.jtis.contains(pass.jti()) {
            return Some(format!("the pass with `jti` {} is revoked", quoted(pass.jti())));
        }
        let orders = [Some(pass.order()), pass.parent()].into_iter().flatten();
        let revoked = orders.into_iter().find(|order| self.orders.contains(*order));
        revoked.map(|order| format!("the passes of order {} and below are revoked", quoted(order)))
    }
}
