//! Passes bound to a holder: whoever shows one must prove, for each call, that it was given to them.
//!
//! A pass with `cnf` names a key. For each call its holder signs a **proof**, after the model of RFC 9449: a JWS whose
//! header shows the public key (`jwk`, trusted only because the pass names its thumbprint) and whose claims tie it to
//! this pass, this call and this moment:
//!
//! | Claim | What |
//! |---|---|
//! | `jti` | a fresh id, so that a proof serves once |
//! | `iat` | whole seconds; accepted for a short time |
//! | `ath` | the pass: base64url of [`Pass::id`]. (RFC 9449 digests the whole token; a signature has several spellings.) |
//! | `htm` | `tools/call`, the MCP method |
//! | `htu` | whom the call is addressed to, as the verifier names itself |
//! | `tool` | the tool's name, `server/tool` |
//! | `arguments` | base64url of the SHA-256 of the call's arguments in the form of RFC 8785 |

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;

use super::Pass;
use super::claims::seconds;
use super::issuing::whole_seconds;
use super::refusal::{Code, Refusal, refuse};
use super::verifying::MOST_LEEWAY_SECONDS;
use crate::hash::{Hash, sha256};
use crate::jose::{Compact, KeySet, PublicKey, SigningKey, base64url};
use crate::json::{Number, Object, Value, write_jcs};
use crate::message::quoted;
use crate::time::Millis;
use crate::work::structure::{Record, Shape, TEXT, check, required};
use crate::work::{Rule, text};

/// The `typ` of a proof.
pub const PROOF_TYPE: &str = "awl-pass-proof+jwt";

/// Bytes of one proof.
pub const MOST_PROOF_BYTES: usize = 8 << 10;

/// The MCP method that proofs are for.
const METHOD: &str = "tools/call";

const CLAIMS: Record = Record::new(&[
    required("jti", Shape::Text { least: 1, most: 128 }),
    required("iat", Shape::Any),
    required("ath", TEXT),
    required("htm", TEXT),
    required("htu", TEXT),
    required("tool", TEXT),
    required("arguments", TEXT),
]);

/// A call, as its proof must name it.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// `server/tool`
    pub tool: &'a str,
    /// The arguments as they will be sent
    pub arguments: &'a Value,
    /// Whom the call is addressed to: the verifier's own name
    pub audience: &'a str,
}

/// When a proof counts.
#[derive(Debug, Clone, Copy)]
pub struct ProofCheck {
    /// The verifier's clock
    pub now: Millis,
    /// How old a proof may be
    pub window_seconds: u32,
    /// How far the holder's clock may be ahead; at most [`MOST_LEEWAY_SECONDS`], whatever is written here
    pub leeway_seconds: u32,
}

impl ProofCheck {
    /// A minute, on the same clock.
    pub const fn at(now: Millis) -> Self {
        Self { now, window_seconds: 60, leeway_seconds: 0 }
    }
}

/// Who remembers which proofs were used. Two verifiers of one audience must share one, or a proof serves at each.
pub trait Replays {
    /// Remembers a proof until an instant, after which it would be refused as too old anyway. Answers whether it is
    /// new; a store that can't tell answers no.
    fn is_new(&mut self, holder: &Hash, jti: &str, until: Millis, now: Millis) -> bool;
}

/// Proofs used in this process, up to a number of them. When it is full of proofs that still count, new ones are refused:
/// forgetting one would let it serve again.
#[derive(Debug)]
pub struct RecentProofs {
    most: usize,
    used: BTreeMap<(Hash, String), Millis>,
}

impl RecentProofs {
    /// Room for so many.
    pub const fn with_room_for(most: usize) -> Self {
        Self { most, used: BTreeMap::new() }
    }
}

impl Replays for RecentProofs {
    fn is_new(&mut self, holder: &Hash, jti: &str, until: Millis, now: Millis) -> bool {
        if self.used.len() >= self.most {
            self.used.retain(|_, until| *until > now);
        }
        let proof = (*holder, String::from(jti));
        if self.used.len() >= self.most || self.used.contains_key(&proof) {
            return false;
        }
        self.used.insert(proof, until);
        true
    }
}

/// Makes the proof for a call with a pass of this [`identity`](super::identity), by the holder's key.
///
/// `jti` is a fresh id. `None` if the arguments hold a whole number beyond 2^53, for which RFC 8785 has no exact form.
pub fn prove(pass: &Hash, call: &Call<'_>, key: &SigningKey, jti: &str, now: Millis) -> Option<String> {
    let claims = Object::new()
        .with("jti", jti)
        .with("iat", whole_seconds(now))
        .with("ath", base64url::encode(pass))
        .with("htm", METHOD)
        .with("htu", call.audience)
        .with("tool", call.tool)
        .with("arguments", digest(call.arguments)?);
    Some(key.sign_with_key(PROOF_TYPE, &claims.into()))
}

/// Checks that a call comes from the pass's holder. A pass that is bound to nobody needs no proof, and none is looked
/// at. Whether the pass allows the tool is for [`Pass::allows`].
///
/// Without `replays`, a proof serves again and again for the same call while its window lasts.
///
/// # Errors
///
/// [`Code::ProofRequired`], [`Code::Malformed`], [`Code::Unsupported`], [`Code::BadSignature`], [`Code::BadProof`],
/// [`Code::ProofExpired`], [`Code::Replayed`], at the pass's link.
pub fn check_holder(
    pass: &Pass,
    proof: Option<&str>,
    call: &Call<'_>,
    check: &ProofCheck,
    replays: Option<&mut dyn Replays>,
) -> Result<(), Refusal> {
    let Some(holder) = pass.holder() else { return Ok(()) };
    let checked = || {
        let Some(proof) = proof else {
            return refuse(Code::ProofRequired, "the pass is bound to a holder, and no proof came with the call");
        };
        let claims = believe(proof, &holder)?;
        check_binding(&claims, pass, call)?;
        let until = check_window(&claims, check)?;
        let jti = text(&claims, "jti");
        match replays.is_none_or(|replays| replays.is_new(&holder, jti, until, check.now)) {
            true => Ok(()),
            false => refuse(Code::Replayed, format!("proof {} was used before", quoted(jti))),
        }
    };
    checked().map_err(|refusal: Refusal| refusal.at(pass.link()))
}

/// The proof's claims, if the holder signed them.
fn believe(proof: &str, holder: &Hash) -> Result<Value, Refusal> {
    let token = Compact::parse(proof, MOST_PROOF_BYTES)?;
    let claims = Value::from(token.payload_object()?);
    token.check_type(PROOF_TYPE)?;
    let Some(jwk) = token.header().get("jwk") else {
        return refuse(Code::Unsupported, "the proof's header has no `jwk`, the holder's public key");
    };
    let key = PublicKey::parse(jwk)?;
    if key.thumbprint() != *holder {
        return refuse(Code::BadProof, "the proof's key is not the one that the pass is bound to");
    }
    KeySet::of(key).verify(&token, Millis::default())?;
    match check(&claims, Shape::Record(&CLAIMS), Rule::O1).first() {
        Some(finding) => refuse(Code::Malformed, format!("proof claim {}: {}", finding.path, finding.message)),
        None => Ok(claims),
    }
}

/// This pass, this call.
fn check_binding(claims: &Value, pass: &Pass, call: &Call<'_>) -> Result<(), Refusal> {
    let Some(arguments) = digest(call.arguments) else {
        return refuse(
            Code::BadProof,
            "the arguments hold a whole number beyond 2^53, which no proof can name exactly",
        );
    };
    let pass = base64url::encode(&pass.id());
    for (name, expected) in [
        ("ath", pass.as_str()),
        ("htm", METHOD),
        ("htu", call.audience),
        ("tool", call.tool),
        ("arguments", arguments.as_str()),
    ] {
        let found = text(claims, name);
        if found != expected {
            let message = format!("the proof's `{name}` is {}, this call's is {}", quoted(found), quoted(expected));
            return refuse(Code::BadProof, message);
        }
    }
    Ok(())
}

/// This moment. Gives the instant from which the proof is too old.
fn check_window(claims: &Value, check: &ProofCheck) -> Result<Millis, Refusal> {
    let made = seconds(claims, "iat")?;
    let leeway = check.leeway_seconds.min(MOST_LEEWAY_SECONDS);
    // The second in which it was made counts in full.
    let until = made.saturating_add_seconds(u64::from(check.window_seconds).saturating_add(1));
    if made > check.now.saturating_add_seconds(leeway.into()) || check.now >= until {
        return refuse(Code::ProofExpired, format!("the proof was made at `{made}`, it is `{}`", check.now));
    }
    Ok(until)
}

/// What names a call's arguments: SHA-256 of their RFC 8785 form. `None` if that form is not exact: two calls with
/// different arguments must never share a proof.
fn digest(arguments: &Value) -> Option<String> {
    is_exact(arguments).then(|| base64url::encode(&sha256(&[write_jcs(arguments).as_bytes()])))
}

/// Whether RFC 8785 writes every number as it is.
fn is_exact(value: &Value) -> bool {
    const SAFE: i128 = 1 << 53;
    match value {
        Value::Number(Number::Integer(integer)) => (-SAFE..=SAFE).contains(integer),
        Value::Array(items) => items.iter().all(is_exact),
        Value::Object(object) => object.iter().all(|(_, member)| is_exact(member)),
        _ => true,
    }
}
