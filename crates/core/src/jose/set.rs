//! The keys that somebody trusts, and believing a token because of them.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::fault::{Fault, malformed};
use super::key::{misfit, refuse_private, text};
use super::{Compact, PublicKey};
use crate::json::{Object, Value};
use crate::message::{described, quoted};
use crate::time::{self, Millis};

/// The most keys in a set: a token that names none is tried with each.
pub const MOST_KEYS: usize = 64;

/// The public keys of one issuer.
///
/// A set is what one issuer publishes: whoever trusts several issuers keeps a set for each, for any key of a set may
/// sign for its issuer.
#[derive(Debug, Clone, Default)]
pub struct KeySet {
    entries: Vec<Entry>,
    /// Whether it was given as one JWK and not as a set
    single: bool,
}

/// A key of a set, or why it is none of ours: issuers publish keys for other purposes beside these.
#[derive(Debug, Clone)]
struct Entry {
    kid: Option<String>,
    key: Result<PublicKey, String>,
}

impl KeySet {
    /// Reads one JWK or a JWK set, `{"keys": […]}` (RFC 7517 §5).
    ///
    /// Keys of other kinds or for other purposes are kept in a set, but never verify anything.
    ///
    /// # Errors
    ///
    /// As [`PublicKey::parse`]; and [`Fault::Malformed`] if two keys of a set have one `kid`, or if it has none or
    /// more than [`MOST_KEYS`] keys.
    pub fn parse(keys: &Value) -> Result<Self, Fault> {
        match keys.get("keys") {
            None => Ok(Self::of(PublicKey::parse(keys)?)),
            Some(Value::Array(keys)) => Self::parse_set(keys),
            Some(other) => malformed(format!("`keys` is {}, an array is needed", described(other))),
        }
    }

    /// A set of one key.
    pub fn of(key: PublicKey) -> Self {
        Self { entries: Vec::from([Entry { kid: key.kid.clone(), key: Ok(key) }]), single: true }
    }

    fn parse_set(keys: &[Value]) -> Result<Self, Fault> {
        if keys.is_empty() || keys.len() > MOST_KEYS {
            return malformed(format!("the set has {} keys, 1 to {MOST_KEYS} are accepted", keys.len()));
        }
        let entries = keys.iter().map(Entry::parse).collect::<Result<Vec<_>, _>>()?;
        let mut seen = BTreeSet::new();
        let mut kids = entries.iter().filter_map(|entry| entry.kid.as_deref());
        match kids.find(|kid| !seen.insert(*kid)) {
            Some(kid) => malformed(format!("two keys have the `kid` {}, each must have its own", quoted(kid))),
            None => Ok(Self { entries, single: false }),
        }
    }

    /// The keys that can verify.
    pub fn keys(&self) -> impl Iterator<Item = &PublicKey> {
        self.entries.iter().filter_map(|entry| entry.key.as_ref().ok())
    }

    /// The set as others can use it: `{"keys": […]}` of the keys that can verify (RFC 7517 §5).
    pub fn to_value(&self) -> Value {
        let keys: Value = self.keys().map(|key| Value::from(key.to_jwk())).collect();
        Object::new().with("keys", keys).into()
    }

    /// Believes a token, or says why not. Gives the key that signed it.
    ///
    /// A header's `kid` chooses the key, and if no key has that name the token is refused; a key that was given alone
    /// and has no name is taken for the one meant. Without `kid`, the keys that fit `alg` are tried. The algorithm is
    /// the key's; the header must agree.
    ///
    /// # Errors
    ///
    /// [`Fault::Unsupported`] if the header asks for what is not done here or does not agree with the key;
    /// [`Fault::BadSignature`] if no trusted key that may be used at `now` made the signature.
    pub fn verify(&self, token: &Compact<'_>, now: Millis) -> Result<&PublicKey, Fault> {
        let algorithm = token.algorithm()?;
        let kid = token.key_id()?;
        let mut reason = None;
        for entry in self.entries.iter().filter(|entry| self.may_be(entry, kid)) {
            let key = match &entry.key {
                Ok(key) => key,
                Err(_) if kid.is_none() => continue,
                Err(why) => return Err(Fault::Unsupported(why.clone())),
            };
            if key.algorithm() != algorithm {
                if kid.is_none() {
                    continue;
                }
                let (alg, other) = (algorithm.as_str(), key.algorithm().as_str());
                reason = Some(Fault::Unsupported(format!("`alg` is `{alg}`, the trusted key is one for `{other}`")));
            } else if !key.is_current(now) {
                reason = Some(Fault::BadSignature(out_of_use(key, now)));
            } else if key.verifies(token.signing_input().as_bytes(), token.signature()) {
                return Ok(key);
            } else {
                reason = Some(Fault::BadSignature("the signature was not made by a trusted key".into()));
            }
        }
        Err(reason.unwrap_or_else(|| match kid {
            Some(kid) => Fault::BadSignature(format!("no trusted key has the `kid` {}", quoted(kid))),
            None => Fault::Unsupported(format!("no trusted key is one for `alg` `{}`", algorithm.as_str())),
        }))
    }

    /// Whether an entry may be the key that a header means.
    fn may_be(&self, entry: &Entry, kid: Option<&str>) -> bool {
        match (kid, entry.kid.as_deref()) {
            (None, _) => true,
            (Some(_), None) => self.single,
            (Some(meant), Some(kid)) => meant == kid,
        }
    }
}

impl Entry {
    fn parse(jwk: &Value) -> Result<Self, Fault> {
        let Some(object) = jwk.as_object() else {
            return malformed(format!("a key of the set is {}, a JWK is an object", described(jwk)));
        };
        refuse_private(object)?;
        let key = match misfit(object, "verify")? {
            Some(why) => Err(why),
            None => Ok(PublicKey::parse_public(object)?),
        };
        Ok(Self { kid: text(object, "kid")?.map(String::from), key })
    }
}

/// What to say of a key outside its window.
fn out_of_use(key: &PublicKey, now: Millis) -> String {
    let name = quoted(key.kid().unwrap_or_default());
    match key.not_before.filter(|first| now < *first) {
        Some(first) => format!("key {name} is not in use before `{}`", time::format(first)),
        None => format!("key {name} is no longer in use"),
    }
}
