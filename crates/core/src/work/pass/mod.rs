//! Delegation passes: an order's authority as a short-lived signed token (`spec work-orders §13`, `spec passes`).
//!
//! A desk issues a pass when an order's work begins; whoever guards a tool checks it with the desk's public key alone.
//! A pass names its order, worker, tools, budget and deadline. A sub-order's pass names its parent order, so a chain
//! of passes, root first, shows that authority only ever narrowed.
//!
//! - [`issue`]: a pass for an order
//! - [`verify`], [`verify_chain`]: from token to [`Pass`]; a [`Pass`] comes from nowhere else
//! - [`check_holder`]: who shows a pass is whom it was given to, by a proof for each call ([`prove`])
//! - [`RevocationList`]: passes that no longer count
//! - [`Request`]: a worker asks a desk for one
//! - [`vectors`]: conformance vectors
//!
//! # Formats
//!
//! All are JWS in the compact form, [`jose`](crate::jose) says how strictly it is read. Their JSON Schemas:
//! `schemas/pass.json`, `schemas/pass-proof.json`, `schemas/pass-revocations.json`.
//!
//! | Token | `typ` | Signed by | Claims |
//! |---|---|---|---|
//! | pass | [`PASS_TYPE`] | the desk | `iss`, `sub`, `jti`, `iat`, `nbf`, `exp`, `order`, `parent`?, `tools`, `budget`, `deadline`, `staged`?; ours: `aud`?, `cnf`? |
//! | proof | [`PROOF_TYPE`] | the holder | `jti`, `iat`, `ath`, `htm`, `htu`, `tool`, `arguments` |
//! | revocation list | [`REVOCATIONS_TYPE`] | the desk | `iss`, `iat`, `version`, `passes`?, `jtis`?, `orders`? |
//!
//! `aud` and `cnf` are ours and opt-in: a pass without them verifies anywhere. A claim that is not listed is refused,
//! for it may be a limit that is not understood; names that start with `x-` are for notes and limit nothing.
//!
//! # What identifies a pass
//!
//! [`Pass::id`], the SHA-256 of what was signed: never of the signature, which can be spelled in more than one way.
//!
//! # What a pass is not
//!
//! It counts nothing: whoever guards the tools keeps the spending. It ends nothing early: cancelling an order stops
//! new passes only, so passes are short-lived, and a [`RevocationList`] is for those who need more.

mod claims;
mod holder;
mod issuing;
mod refusal;
mod request;
mod revocation;
pub mod vectors;
mod verifying;

pub use claims::Pass;
pub use holder::{Call, MOST_PROOF_BYTES, PROOF_TYPE, ProofCheck, RecentProofs, Replays, check_holder, prove};
pub use issuing::{DEFAULT_TTL_SECONDS, IssueError, Issued, Terms, issue};
pub use refusal::{Code, Refusal};
pub use request::{MOST_AUDIENCES, MOST_REVOKED, Request};
pub(crate) use request::{mint, sign_revocations};
pub use revocation::{MOST_LIST_BYTES, REVOCATIONS_TYPE, RevocationList, Revocations, revoke};
pub use verifying::{Check, MOST_LEEWAY_SECONDS, identity, verify, verify_chain};

/// The `typ` of a pass.
pub const PASS_TYPE: &str = "awl-pass+jwt";

/// Bytes of one pass (`spec passes §4`).
pub const MOST_PASS_BYTES: usize = 64 << 10;

/// Bytes of all passes of a chain together (`spec passes §4`).
pub const MOST_CHAIN_BYTES: usize = 256 << 10;

/// Links of a chain.
pub const MOST_LINKS: usize = 64;
