//! The keys that somebody signs with, over time.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::fault::{Fault, malformed};
use super::{MOST_KEYS, PublicKey, SigningKey, base64url};
use crate::json::{Object, Value};
use crate::message::{described, quoted};
use crate::time::Millis;

/// How long a key has been in use before it is preferred to the one before: a verifier whose clock is behind by no
/// more than this never meets a key before its time.
const SETTLING_SECONDS: u64 = 30;

/// The private keys of one issuer. Each signs between its `not_before` and `not_after`; one that is yet to come is
/// published already, so that verifiers have it before anything is signed with it.
#[derive(Debug, Clone)]
pub struct SigningKeys {
    keys: Vec<SigningKey>,
}

/// Who signs, at one moment.
#[derive(Debug, Clone, Copy)]
pub struct Issuer<'a> {
    /// By the name that verifiers expect
    pub name: &'a str,
    /// The key to sign with now
    pub key: &'a SigningKey,
    /// How long what is signed counts
    pub ttl_seconds: u64,
}

impl SigningKeys {
    /// Reads one private JWK or a set of them, `{"keys": […]}`. A key of a set that has no `kid` is named by its
    /// thumbprint (RFC 7638), so that each has a name of its own.
    ///
    /// # Errors
    ///
    /// As [`SigningKey::parse`]; and [`Fault::Malformed`] if two keys have one name, or if a set has none or more than
    /// [`MOST_KEYS`].
    pub fn parse(keys: &Value) -> Result<Self, Fault> {
        match keys.get("keys") {
            None => Ok(Self { keys: Vec::from([SigningKey::parse(keys)?]) }),
            Some(Value::Array(keys)) => Self::parse_set(keys),
            Some(other) => malformed(format!("`keys` is {}, an array is needed", described(other))),
        }
    }

    fn parse_set(keys: &[Value]) -> Result<Self, Fault> {
        if keys.is_empty() || keys.len() > MOST_KEYS {
            return malformed(format!("the set has {} keys, 1 to {MOST_KEYS} are accepted", keys.len()));
        }
        let keys =
            keys.iter().map(|key| SigningKey::parse(key).map(SigningKey::named)).collect::<Result<Vec<_>, _>>()?;
        let mut seen = BTreeSet::new();
        let mut names = keys.iter().filter_map(|key| key.public().kid());
        match names.find(|kid| !seen.insert(*kid)) {
            Some(kid) => malformed(format!("two keys have the `kid` {}, each must have its own", quoted(kid))),
            None => Ok(Self { keys }),
        }
    }

    /// The key to sign with: of those in use the one that came last, once it has settled. `None` if none is in use.
    pub fn at(&self, now: Millis) -> Option<&SigningKey> {
        let begins = |key: &&SigningKey| key.public().not_before();
        let current = || self.keys.iter().filter(|key| key.public().is_current(now));
        let has_settled =
            |key: &&SigningKey| begins(key).is_none_or(|first| first.saturating_add_seconds(SETTLING_SECONDS) <= now);
        current().filter(has_settled).max_by_key(begins).or_else(|| current().max_by_key(begins))
    }

    /// The public keys, in the order in which they were given.
    pub fn public_keys(&self) -> impl Iterator<Item = &PublicKey> {
        self.keys.iter().map(SigningKey::public)
    }

    /// What verifiers get: the public keys as a JWK set (RFC 7517 §5), those to come included, those over left out.
    pub fn published(&self, now: Millis) -> Value {
        let keys = self.public_keys().filter(|key| !key.has_ended(now));
        Object::new().with("keys", keys.map(|key| Value::from(key.to_jwk())).collect::<Value>()).into()
    }

    /// The keys once another takes over at `turn`: it begins then, and the others end at `end`, which gives what they
    /// signed time to run out. Keys that are over are left out.
    ///
    /// # Errors
    ///
    /// [`Fault::Malformed`] if there would be more than [`MOST_KEYS`].
    pub fn rotated(&self, new: SigningKey, now: Millis, turn: Millis, end: Millis) -> Result<Self, Fault> {
        let old = self.keys.iter().filter(|key| !key.public().has_ended(now)).cloned();
        let old = old.map(|key| key.named().with_public(|public| public.ending(end)));
        let new = new.named().with_public(|public| public.between(Some(turn), None));
        let keys: Vec<SigningKey> = old.chain([new]).collect();
        if keys.len() > MOST_KEYS {
            return malformed(format!("there would be {} keys, at most {MOST_KEYS} are accepted", keys.len()));
        }
        Ok(Self { keys })
    }

    /// Every key with its secret, as a JWK set. It belongs in a file that only its owner can read.
    pub fn to_private_value(&self) -> Value {
        let keys: Value = self.keys.iter().map(|key| Value::from(key.to_private_jwk())).collect();
        Object::new().with("keys", keys).into()
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there is none; never so for what was read.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }
}

impl From<SigningKey> for SigningKeys {
    fn from(key: SigningKey) -> Self {
        Self { keys: Vec::from([key]) }
    }
}

/// The name that a key has if it is given no other.
pub(super) fn name_of(thumbprint: &[u8; 32]) -> String {
    base64url::encode(thumbprint)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jose::{Algorithm, KeySet};
    use crate::time;

    fn key(byte: u8) -> SigningKey {
        SigningKey::from_secret(Algorithm::Ed25519, &[byte; 32]).unwrap()
    }

    fn at(seconds: i64) -> Millis {
        time::instant("2026-03-02T08:00:00Z").unwrap().checked_add_seconds(seconds).unwrap()
    }

    fn kid(key: Option<&SigningKey>) -> Option<&str> {
        key.and_then(|key| key.public().kid())
    }

    /// One key, and another that takes over after 600 s; the first verifies for an hour more.
    fn turned() -> (SigningKeys, SigningKey, SigningKey) {
        let (old, new) = (key(1), key(2));
        let keys = SigningKeys::from(old.clone()).rotated(new.clone(), at(0), at(600), at(4200)).unwrap();
        (keys, old, new)
    }

    #[test]
    fn the_next_key_is_published_before_it_signs() {
        let (keys, old, new) = turned();
        let (old, new) = (old.public().kid(), new.public().kid());
        assert_eq!(kid(keys.at(at(0))), old);
        // Half a minute for clocks that are behind.
        assert_eq!(kid(keys.at(at(600))), old);
        assert_eq!(kid(keys.at(at(629))), old);
        assert_eq!(kid(keys.at(at(630))), new);
        assert_eq!(kid(keys.at(at(1_000_000))), new);
        let count = |now| keys.published(now).get("keys").unwrap().as_array().unwrap().len();
        assert_eq!([count(at(0)), count(at(4199)), count(at(4200))], [2, 2, 1]);
        assert!(KeySet::parse(&keys.published(at(0))).is_ok());
        assert!(!crate::json::write_compact(&keys.published(at(0))).contains("\"d\""));
    }

    #[test]
    fn a_key_signs_at_once_when_no_other_is_there() {
        let keys = SigningKeys::from(key(1).with_public(|public| public.between(Some(at(0)), Some(at(9)))));
        assert!(keys.at(at(-1)).is_none());
        assert!(keys.at(at(0)).is_some());
        assert!(keys.at(at(8)).is_some());
        assert!(keys.at(at(9)).is_none());
    }

    #[test]
    fn keys_are_read_as_they_are_written() {
        let (keys, ..) = turned();
        let again = SigningKeys::parse(&keys.to_private_value()).unwrap();
        assert_eq!(again.to_private_value(), keys.to_private_value());
        let single = SigningKeys::parse(&key(1).to_private_jwk().into()).unwrap();
        assert_eq!((single.len(), single.is_empty()), (1, false));
    }

    #[test]
    fn rotation_leaves_out_what_is_over() {
        let (keys, ..) = turned();
        assert_eq!(keys.rotated(key(3), at(4199), at(5000), at(9000)).unwrap().len(), 3);
        assert_eq!(keys.rotated(key(3), at(4200), at(5000), at(9000)).unwrap().len(), 2);
    }

    #[test]
    fn sets_that_are_no_keys_are_refused() {
        let set = |keys: Value| SigningKeys::parse(&Object::new().with("keys", keys).into());
        let jwk = || Value::from(key(1).to_private_jwk());
        assert!(set([jwk()].into_iter().collect()).is_ok());
        assert_eq!(set(Vec::<Value>::new().into()).unwrap_err().code(), "MALFORMED");
        assert_eq!(set([jwk(), jwk()].into_iter().collect()).unwrap_err().code(), "MALFORMED");
        assert_eq!(set(Value::Null).unwrap_err().code(), "MALFORMED");
        let public = Value::from(key(1).public().to_jwk());
        assert_eq!(set([public].into_iter().collect()).unwrap_err().code(), "UNSUPPORTED");
        let many: Value = (0..65).map(|byte| Value::from(key(byte).to_private_jwk())).collect();
        assert_eq!(set(many).unwrap_err().code(), "MALFORMED");
    }
}
