//! Public keys (RFC 7517, RFC 7518 §6.2, RFC 8037).

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use core::fmt;

use p256::ecdsa::signature::Verifier as _;
use p256::elliptic_curve::point::AffineCoordinates as _;

use super::base64url;
use super::fault::{Fault, malformed, unsupported};
use crate::hash::{Hash, sha256};
use crate::json::{Object, Value, write_jcs};
use crate::message::{described, quoted};
use crate::time::{self, Millis};

/// A way to sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Algorithm {
    /// ECDSA with P-256 and SHA-256
    Es256,
    /// EdDSA with Curve25519
    Ed25519,
}

impl Algorithm {
    /// The algorithm that a header or a key names. `Ed25519` is the newer name of `EdDSA` (RFC 9864); both are taken.
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "ES256" => Some(Self::Es256),
            "EdDSA" | "Ed25519" => Some(Self::Ed25519),
            _ => None,
        }
    }

    /// The name that headers carry unless a key asks for another.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Es256 => "ES256",
            Self::Ed25519 => "EdDSA",
        }
    }

    /// Its keys' `kty` and `crv`.
    pub(super) const fn curve(self) -> (&'static str, &'static str) {
        match self {
            Self::Es256 => ("EC", "P-256"),
            Self::Ed25519 => ("OKP", "Ed25519"),
        }
    }
}

/// A key that verifies, from a JWK, and when it may be used.
#[derive(Clone, PartialEq)]
pub struct PublicKey {
    pub(super) point: Point,
    pub(super) kid: Option<String>,
    pub(super) not_before: Option<Millis>,
    pub(super) not_after: Option<Millis>,
}

/// The key itself, decompressed once so that verifying does not do it each time.
#[derive(Clone, PartialEq)]
pub(super) enum Point {
    Es256(Box<p256::ecdsa::VerifyingKey>),
    Ed25519(Box<ed25519_dalek::VerifyingKey>),
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PublicKey").field("algorithm", &self.algorithm()).field("kid", &self.kid).finish()
    }
}

impl PublicKey {
    /// Reads a JWK: `{"kty": "EC", "crv": "P-256", "x", "y"}` or `{"kty": "OKP", "crv": "Ed25519", "x"}`, with
    /// `kid`, `alg`, `use`, `key_ops` if they fit, and our own `not_before` and `not_after`: timestamps between which
    /// the key verifies, the first included, the last not. Other members say nothing about the key and are ignored.
    ///
    /// # Errors
    ///
    /// [`Fault::Unsupported`] for a key of another kind or for another purpose, and for one with its private part:
    /// that has no business where tokens are verified. [`Fault::Malformed`] for members of a wrong type or length, a
    /// point that is not on its curve, and an Ed25519 point of small order or in a second spelling.
    pub fn parse(jwk: &Value) -> Result<Self, Fault> {
        let Some(jwk) = jwk.as_object() else {
            return malformed(format!("a key is {}, a JWK is an object", described(jwk)));
        };
        refuse_private(jwk)?;
        match misfit(jwk, "verify")? {
            Some(why) => Err(Fault::Unsupported(why)),
            None => Self::parse_public(jwk),
        }
    }

    /// Reads the public members of a JWK that is known to be ours.
    pub(super) fn parse_public(jwk: &Object) -> Result<Self, Fault> {
        let point = match algorithm_of(jwk)? {
            Some(Algorithm::Es256) => Point::parse_es256(&coordinate(jwk, "x")?, &coordinate(jwk, "y")?)?,
            Some(Algorithm::Ed25519) => Point::parse_ed25519(&coordinate(jwk, "x")?)?,
            None => return unsupported("the key is of another kind"),
        };
        Ok(Self {
            point,
            kid: text(jwk, "kid")?.map(String::from),
            not_before: instant(jwk, "not_before")?,
            not_after: instant(jwk, "not_after")?,
        })
    }

    /// What it verifies.
    pub fn algorithm(&self) -> Algorithm {
        match self.point {
            Point::Es256(_) => Algorithm::Es256,
            Point::Ed25519(_) => Algorithm::Ed25519,
        }
    }

    /// Its name.
    pub fn kid(&self) -> Option<&str> {
        self.kid.as_deref()
    }

    /// When it comes into use; `None` if it always was.
    pub fn not_before(&self) -> Option<Millis> {
        self.not_before
    }

    /// When it goes out of use; `None` if it never does.
    pub fn not_after(&self) -> Option<Millis> {
        self.not_after
    }

    /// Whether the key may be used at an instant: not before `not_before`, and before `not_after`.
    pub fn is_current(&self, now: Millis) -> bool {
        self.not_before.is_none_or(|first| now >= first) && self.not_after.is_none_or(|end| now < end)
    }

    /// The same key, for use between two instants.
    #[must_use]
    pub fn between(self, not_before: Option<Millis>, not_after: Option<Millis>) -> Self {
        Self { not_before, not_after, ..self }
    }

    /// Whether the key will never be used again.
    pub fn has_ended(&self, now: Millis) -> bool {
        self.not_after.is_some_and(|end| now >= end)
    }

    /// The same key, in use until an instant at most.
    #[must_use]
    pub fn ending(self, end: Millis) -> Self {
        let not_after = self.not_after.map_or(end, |before| before.min(end));
        Self { not_after: Some(not_after), ..self }
    }

    /// Whether a signature over a message is this key's.
    ///
    /// ES256: 64 bytes r‖s, both in 1..n; (r, n − s) counts too. Ed25519: 64 bytes, S below the group's order, R
    /// canonical and not of small order, the equation without cofactor (`verify_strict`).
    pub fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        match &self.point {
            Point::Es256(key) => p256::ecdsa::Signature::from_slice(signature)
                .is_ok_and(|signature| key.verify(message, &signature).is_ok()),
            Point::Ed25519(key) => ed25519_dalek::Signature::from_slice(signature)
                .is_ok_and(|signature| key.verify_strict(message, &signature).is_ok()),
        }
    }

    /// The key as a JWK that others can use: with `alg` and `use`, and `kid`, `not_before`, `not_after` if it has them.
    pub fn to_jwk(&self) -> Object {
        self.required_members()
            .with("alg", self.algorithm().as_str())
            .with("use", "sig")
            .with_some("kid", self.kid.as_ref())
            .with_some("not_before", self.not_before.map(time::format))
            .with_some("not_after", self.not_after.map(time::format))
    }

    /// What identifies the key: SHA-256 of its required members (RFC 7638).
    pub fn thumbprint(&self) -> Hash {
        sha256(&[write_jcs(&Value::from(self.required_members())).as_bytes()])
    }

    /// The members that a key of its kind must have, and no others (RFC 7638 §3.2).
    pub(super) fn required_members(&self) -> Object {
        let (kty, crv) = self.algorithm().curve();
        let jwk = Object::new().with("kty", kty).with("crv", crv);
        match &self.point {
            Point::Es256(key) => {
                let point = key.to_sec1_point(false);
                let encode = |coordinate: Option<&p256::FieldBytes>| coordinate.map(|bytes| base64url::encode(bytes));
                jwk.with_some("x", encode(point.x())).with_some("y", encode(point.y()))
            }
            Point::Ed25519(key) => jwk.with("x", base64url::encode(key.as_bytes())),
        }
    }
}

impl Point {
    fn parse_es256(x: &[u8; 32], y: &[u8; 32]) -> Result<Self, Fault> {
        // Both must be below the field's order, and on the curve. Other ways of making a key also read compressed
        // points, which costs a wasm build several kilobytes.
        let point = p256::AffinePoint::from_coordinates(&(*x).into(), &(*y).into()).into_option();
        match point.and_then(|point| p256::ecdsa::VerifyingKey::from_affine(point).ok()) {
            Some(key) => Ok(Self::Es256(Box::new(key))),
            None => malformed("`x` and `y` are no point of P-256"),
        }
    }

    fn parse_ed25519(x: &[u8; 32]) -> Result<Self, Fault> {
        let Ok(key) = ed25519_dalek::VerifyingKey::from_bytes(x) else {
            return malformed("`x` is no point of Curve25519");
        };
        // A point of small order "verifies" nearly anything, and a second spelling makes two keys of one.
        if key.is_weak() {
            return malformed("`x` is a point of small order");
        }
        if key.to_edwards().compress().as_bytes() != x {
            return malformed("`x` is not the canonical spelling of its point");
        }
        Ok(Self::Ed25519(Box::new(key)))
    }
}

/// Refuses a key that comes with its secret.
pub(super) fn refuse_private(jwk: &Object) -> Result<(), Fault> {
    match ["d", "k"].into_iter().find(|name| jwk.contains(name)) {
        Some(name) => {
            unsupported(format!("the key has its private member `{name}`; tokens are verified with the public part"))
        }
        None => Ok(()),
    }
}

/// Why a JWK is not a key of ours for an operation, if it is not: its kind, its curve or what it is meant for.
pub(super) fn misfit(jwk: &Object, operation: &str) -> Result<Option<String>, Fault> {
    let Some(algorithm) = algorithm_of(jwk)? else {
        let (kty, crv) = (text(jwk, "kty")?.unwrap_or_default(), text(jwk, "crv")?.unwrap_or_default());
        let accepted = "accepted are `EC` with `P-256` and `OKP` with `Ed25519`";
        return Ok(Some(format!("the key has `kty` {} and `crv` {}, {accepted}", quoted(kty), quoted(crv))));
    };
    if let Some(alg) = text(jwk, "alg")?.filter(|alg| Algorithm::parse(alg) != Some(algorithm)) {
        return Ok(Some(format!("the key has `alg` {}, one of its kind has `{}`", quoted(alg), algorithm.as_str())));
    }
    if let Some(purpose) = text(jwk, "use")?.filter(|purpose| *purpose != "sig") {
        return Ok(Some(format!("the key has `use` {}, only `sig` is accepted", quoted(purpose))));
    }
    let operations = match jwk.get("key_ops") {
        None => return Ok(None),
        Some(Value::Array(operations)) => operations,
        Some(other) => return malformed(format!("`key_ops` is {}, an array is needed", described(other))),
    };
    let is_listed = operations.iter().any(|listed| listed.as_str() == Some(operation));
    Ok((!is_listed).then(|| format!("the key's `key_ops` do not list `{operation}`")))
}

/// The algorithm that a JWK's kind and curve fit.
pub(super) fn algorithm_of(jwk: &Object) -> Result<Option<Algorithm>, Fault> {
    let curve = (text(jwk, "kty")?.unwrap_or_default(), text(jwk, "crv")?.unwrap_or_default());
    Ok([Algorithm::Es256, Algorithm::Ed25519].into_iter().find(|algorithm| algorithm.curve() == curve))
}

/// A member that is a string if it is there.
pub(super) fn text<'a>(jwk: &'a Object, name: &str) -> Result<Option<&'a str>, Fault> {
    match jwk.get(name) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => malformed(format!("the key's `{name}` is {}, a string is needed", described(other))),
    }
}

/// A member of 32 bytes. Its value is not shown: it may be a secret.
pub(super) fn coordinate(jwk: &Object, name: &str) -> Result<[u8; 32], Fault> {
    let bytes = text(jwk, name)?.and_then(base64url::decode_array);
    bytes.ok_or_else(|| Fault::Malformed(format!("the key's `{name}` is not 32 bytes in base64url without padding")))
}

fn instant(jwk: &Object, name: &str) -> Result<Option<Millis>, Fault> {
    let Some(text) = text(jwk, name)? else { return Ok(None) };
    match time::instant(text) {
        Some(instant) => Ok(Some(instant)),
        None => malformed(format!(
            "the key's `{name}` is {}, a timestamp such as `2026-01-31T09:00:00Z` is needed",
            quoted(text)
        )),
    }
}
