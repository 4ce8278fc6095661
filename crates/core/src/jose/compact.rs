//! The compact form of a signed token (RFC 7515 §3.1): header, payload and signature, in base64url, between points.

use alloc::format;
use alloc::vec::Vec;

use super::base64url;
use super::fault::{Fault, malformed, unsupported};
use super::key::Algorithm;
use crate::hash::{Hash, sha256};
use crate::json::{Duplicates, Limits, Object, Value, parse};
use crate::message::{described, quoted};

/// The deepest nesting of a header or payload (`spec passes §4`).
const DEEPEST: usize = 32;

/// A token whose form is right. Nothing in it is to be believed before [`KeySet::verify`](super::KeySet::verify)
/// says so.
#[derive(Debug, Clone)]
pub struct Compact<'a> {
    signing_input: &'a str,
    header: Object,
    payload: Vec<u8>,
    signature: Vec<u8>,
}

impl<'a> Compact<'a> {
    /// Reads a token of at most `most_bytes`: exactly three parts in strict base64url, the first of them a JSON object
    /// without repeated names. The payload may be any bytes.
    ///
    /// # Errors
    ///
    /// [`Fault::Malformed`]. Nothing is decoded until the length and the number of parts are right.
    pub fn parse(token: &'a str, most_bytes: usize) -> Result<Self, Fault> {
        if token.len() > most_bytes {
            return malformed(format!("the token has {} bytes, at most {most_bytes} are accepted", token.len()));
        }
        let mut parts = token.split('.');
        let (Some(header), Some(payload), Some(signature), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            let count = token.split('.').count();
            return malformed(format!("the token has {count} parts, three are needed with a `.` between them"));
        };
        let end = header.len().saturating_add(payload.len()).saturating_add(1);
        // Decoding is cheaper than reading JSON, so a wrong digit anywhere is found first.
        let (header, payload, signature) =
            (decode("header", header)?, decode("payload", payload)?, decode("signature", signature)?);
        Ok(Self {
            signing_input: token.get(..end).unwrap_or_default(),
            header: read_object("header", &header)?,
            payload,
            signature,
        })
    }

    /// What was signed: header and payload as they stand in the token (RFC 7515 §5.1).
    pub fn signing_input(&self) -> &'a str {
        self.signing_input
    }

    /// What identifies the token: SHA-256 of what was signed. The same for every signature that fits.
    pub fn digest(&self) -> Hash {
        sha256(&[self.signing_input.as_bytes()])
    }

    /// The signature's bytes. Good for verifying only: one token can have many.
    pub fn signature(&self) -> &[u8] {
        &self.signature
    }

    /// The payload's bytes.
    pub fn payload(&self) -> &[u8] {
        &self.payload
    }

    /// The header's members.
    pub fn header(&self) -> &Object {
        &self.header
    }

    /// The payload as a JSON object.
    ///
    /// # Errors
    ///
    /// [`Fault::Malformed`] if it is anything else, repeats a name, or nests deeper than 32 levels.
    pub fn payload_object(&self) -> Result<Object, Fault> {
        read_object("payload", &self.payload)
    }

    /// Checks that the token is of a kind (RFC 8725 §3.11): exactly this `typ`, upper and lower case told apart.
    ///
    /// # Errors
    ///
    /// [`Fault::Unsupported`].
    pub fn check_type(&self, typ: &str) -> Result<(), Fault> {
        match self.header.get("typ") {
            Some(Value::String(found)) if found == typ => Ok(()),
            Some(found) => unsupported(format!("`typ` is {}, only `{typ}` is accepted", described(found))),
            None => unsupported(format!("`typ` is missing, only `{typ}` is accepted")),
        }
    }

    /// The key's name that the header gives.
    ///
    /// # Errors
    ///
    /// [`Fault::Unsupported`] if it is no string.
    pub fn key_id(&self) -> Result<Option<&str>, Fault> {
        match self.header.get("kid") {
            None => Ok(None),
            Some(Value::String(kid)) => Ok(Some(kid)),
            Some(other) => unsupported(format!("`kid` is {}, only a string is accepted", described(other))),
        }
    }

    /// The algorithm that the header names, after a look at what else must not be in it: `crit` (RFC 7515 §4.1.11)
    /// and `b64` (RFC 7797) ask for something that is not done here. Other unknown members are ignored, as RFC 7515
    /// §4 demands; among them keys and addresses of keys (`jwk`, `jku`, `x5c`, `x5u`), which are never used.
    ///
    /// # Errors
    ///
    /// [`Fault::Unsupported`].
    pub(super) fn algorithm(&self) -> Result<Algorithm, Fault> {
        for name in ["crit", "b64"] {
            if self.header.contains(name) {
                return unsupported(format!("header member `{name}` is not accepted"));
            }
        }
        match self.header.get("alg") {
            Some(Value::String(name)) => Algorithm::parse(name).ok_or_else(|| {
                Fault::Unsupported(format!("`alg` is {}, accepted are `ES256`, `EdDSA` and `Ed25519`", quoted(name)))
            }),
            Some(other) => unsupported(format!("`alg` is {}, only a string is accepted", described(other))),
            None => unsupported("`alg` is missing"),
        }
    }
}

fn decode(part: &str, text: &str) -> Result<Vec<u8>, Fault> {
    base64url::decode(text).ok_or_else(|| Fault::Malformed(format!("the {part} is not base64url without padding")))
}

/// Reads strictly: two readers must never see two different values.
fn read_object(part: &str, text: &[u8]) -> Result<Object, Fault> {
    const LIMITS: Limits = Limits { depth: DEEPEST, ..Limits::DOCUMENT.with_duplicates(Duplicates::Refuse) };
    match parse(text, &LIMITS) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(other) => malformed(format!("the {part} is {}, a JSON object is needed", described(&other))),
        Err(error) => malformed(format!("the {part} is not JSON as it is read here: {error}")),
    }
}
