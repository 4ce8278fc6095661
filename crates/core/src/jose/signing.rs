//! Private keys, and making tokens.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use core::fmt;

use ed25519_dalek::Signer as _;

use super::base64url;
use super::fault::{Fault, malformed, unsupported};
use super::key::{Algorithm, Point, PublicKey, algorithm_of, coordinate, misfit, text};
use super::signing_set::name_of;
use crate::json::{Object, Value, write_compact};
use crate::message::described;

/// A key that signs. Its secret is shown by nothing but [`SigningKey::to_private_jwk`], and wiped when dropped.
#[derive(Clone)]
pub struct SigningKey {
    secret: Secret,
    public: PublicKey,
    /// The `alg` that headers carry
    name: &'static str,
}

#[derive(Clone)]
enum Secret {
    Es256(Box<p256::ecdsa::SigningKey>),
    Ed25519(Box<ed25519_dalek::SigningKey>),
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigningKey").field("public", &self.public).finish_non_exhaustive()
    }
}

impl SigningKey {
    /// Makes a key of 32 bytes that nobody can guess. Its `kid` is its thumbprint (RFC 7638).
    ///
    /// # Errors
    ///
    /// [`Fault::Malformed`] for the very few bytes that are no key of P-256: zero, and what is not below its order.
    pub fn from_secret(algorithm: Algorithm, secret: &[u8; 32]) -> Result<Self, Fault> {
        Self::from_bytes(algorithm, secret).map(Self::named)
    }

    /// Reads a private JWK: the members of a public one and `d`. If `alg` is `Ed25519`, headers carry that name of
    /// the algorithm rather than `EdDSA`.
    ///
    /// # Errors
    ///
    /// As [`PublicKey::parse`]; [`Fault::Unsupported`] without `d`, [`Fault::Malformed`] if the parts do not belong
    /// together.
    pub fn parse(jwk: &Value) -> Result<Self, Fault> {
        let Some(jwk) = jwk.as_object() else {
            return malformed(format!("a key is {}, a JWK is an object", described(jwk)));
        };
        if let Some(why) = misfit(jwk, "sign")? {
            return Err(Fault::Unsupported(why));
        }
        let (Some(algorithm), true) = (algorithm_of(jwk)?, jwk.contains("d")) else {
            return unsupported("the key has no private member `d`, without which it can't sign");
        };
        let public = PublicKey::parse_public(jwk)?;
        let key = Self::from_bytes(algorithm, &coordinate(jwk, "d")?)?;
        if key.public.point != public.point {
            return malformed("the key's private member `d` does not belong to its public part");
        }
        let name = if text(jwk, "alg")? == Some("Ed25519") { "Ed25519" } else { key.name };
        Ok(Self { public, name, ..key })
    }

    fn from_bytes(algorithm: Algorithm, secret: &[u8; 32]) -> Result<Self, Fault> {
        let (secret, point) = match algorithm {
            Algorithm::Es256 => {
                let Ok(key) = p256::ecdsa::SigningKey::from_slice(secret) else {
                    return malformed("the secret is no private key of P-256");
                };
                let point = Point::Es256(Box::new(*key.verifying_key()));
                (Secret::Es256(Box::new(key)), point)
            }
            Algorithm::Ed25519 => {
                let key = ed25519_dalek::SigningKey::from_bytes(secret);
                let point = Point::Ed25519(Box::new(key.verifying_key()));
                (Secret::Ed25519(Box::new(key)), point)
            }
        };
        let public = PublicKey { point, kid: None, not_before: None, not_after: None };
        Ok(Self { secret, public, name: algorithm.as_str() })
    }

    /// The same key, named by its thumbprint (RFC 7638) if it has no name.
    pub(super) fn named(mut self) -> Self {
        if self.public.kid.is_none() {
            self.public.kid = Some(name_of(&self.public.thumbprint()));
        }
        self
    }

    /// The same key with another window.
    pub(super) fn with_public(self, change: impl FnOnce(PublicKey) -> PublicKey) -> Self {
        Self { public: change(self.public), ..self }
    }

    /// The key that verifies what this one signs.
    pub fn public(&self) -> &PublicKey {
        &self.public
    }

    /// The whole key as a JWK. Whoever has it can sign: it belongs in a file that only its owner can read.
    pub fn to_private_jwk(&self) -> Object {
        let secret = match &self.secret {
            Secret::Es256(key) => base64url::encode(&key.to_bytes()),
            Secret::Ed25519(key) => base64url::encode(key.as_bytes()),
        };
        self.public.to_jwk().with("alg", self.name).with("d", secret)
    }

    /// Makes a token of a kind. Its header holds `alg`, `typ` and the key's `kid` if it has one.
    pub fn sign(&self, typ: &str, payload: &Value) -> String {
        self.compose(self.header(typ).with_some("kid", self.public.kid()), payload)
    }

    /// Makes a token that shows the public key in its header (`jwk`), for those who know only its thumbprint.
    pub fn sign_with_key(&self, typ: &str, payload: &Value) -> String {
        self.compose(self.header(typ).with("jwk", self.public.required_members()), payload)
    }

    fn header(&self, typ: &str) -> Object {
        Object::new().with("alg", self.name).with("typ", typ)
    }

    fn compose(&self, header: Object, payload: &Value) -> String {
        let part = |value: &Value| base64url::encode(write_compact(value).as_bytes());
        let signed = format!("{}.{}", part(&header.into()), part(payload));
        let signature = match &self.secret {
            Secret::Es256(key) => {
                let signature: p256::ecdsa::Signature = key.sign(signed.as_bytes());
                base64url::encode(&signature.to_bytes())
            }
            Secret::Ed25519(key) => base64url::encode(&key.sign(signed.as_bytes()).to_bytes()),
        };
        [signed, signature].join(".")
    }
}
