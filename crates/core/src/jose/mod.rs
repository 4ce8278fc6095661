//! Signed tokens: JSON Web Keys and Signatures, as little of them as delegation passes need.
//!
//! - [`Compact`]: a token in the compact form (RFC 7515 §3.1), read but not believed
//! - [`KeySet`], [`PublicKey`]: the keys that somebody trusts (RFC 7517), and the only way to believe a token
//! - [`SigningKey`]: makes tokens; [`SigningKeys`]: several that take turns
//! - [`base64url`]: RFC 4648 §5 without padding, one spelling per value
//!
//! Two algorithms: `ES256` (P-256, RFC 7518 §3.4) and Ed25519, whose name is `EdDSA` (RFC 8037) or `Ed25519`
//! (RFC 9864). The key decides; the header must agree. Signatures are made without randomness (RFC 6979, RFC 8032).
//!
//! What this room does *not* do: encryption, MACs, RSA, detached or unencoded payloads, the JSON forms, certificates.
//! It never uses a key that a token brings along, and knows nothing of what payloads mean.
//!
//! ECDSA signatures have a second spelling, (r, n − s), which verifies too. So nothing may depend on the bytes of a
//! signature: what identifies a token is [`Compact::digest`], over what was signed.

pub mod base64url;
mod compact;
mod fault;
mod key;
mod set;
mod signing;
mod signing_set;

pub use compact::Compact;
pub use fault::Fault;
pub use key::{Algorithm, PublicKey};
pub use set::{KeySet, MOST_KEYS};
pub use signing::SigningKey;
pub use signing_set::{Issuer, SigningKeys};
