//! From token to pass: the checks, in the order of `spec work-orders §13`.

use alloc::format;
use alloc::vec::Vec;

use super::refusal::{Code, Refusal, refuse};
use super::revocation::RevocationList;
use super::{MOST_CHAIN_BYTES, MOST_LINKS, MOST_PASS_BYTES, PASS_TYPE, Pass};
use crate::hash::Hash;
use crate::jose::{Compact, KeySet};
use crate::message::quoted;
use crate::time::Millis;
use crate::work::validate_child_order;

/// The most that clocks may differ (`spec passes §2`).
pub const MOST_LEEWAY_SECONDS: u32 = 30;

/// What a verifier expects. What is left out is not checked, except that a pass for certain audiences counts only
/// for a verifier that says it is one of them (RFC 7519 §4.1.3).
#[derive(Debug, Clone, Copy)]
pub struct Check<'a> {
    /// The verifier's clock
    pub now: Millis,
    /// How far the issuer's clock may be off; at most [`MOST_LEEWAY_SECONDS`], whatever is written here
    pub leeway_seconds: u32,
    /// `iss` of every pass. Must be given where keys of several issuers are about.
    pub issuer: Option<&'a str>,
    /// `sub` of the pass, of the last one in a chain
    pub worker: Option<&'a str>,
    /// `order` of the pass, of the last one in a chain
    pub order: Option<&'a str>,
    /// Who is verifying, as `aud` would name it
    pub audience: Option<&'a str>,
    /// The longest time from `iat` to `exp`
    pub most_lifetime_seconds: Option<u64>,
    /// Each counts for the passes of its own issuer
    pub revocations: &'a [RevocationList],
}

impl Check<'_> {
    /// Checks that need nothing but a clock.
    pub const fn at(now: Millis) -> Self {
        Self {
            now,
            leeway_seconds: 0,
            issuer: None,
            worker: None,
            order: None,
            audience: None,
            most_lifetime_seconds: None,
            revocations: &[],
        }
    }

    /// What of this goes for the passes above the last one.
    const fn above(self) -> Self {
        Self { worker: None, order: None, ..self }
    }

    fn leeway_seconds(&self) -> u32 {
        self.leeway_seconds.min(MOST_LEEWAY_SECONDS)
    }
}

/// Verifies one pass, within its parent's if that is given; stops at the first failure.
///
/// In this order: length, form and header without touching a key; the signature; only then the claims, first their
/// types, then times, issuer, worker, order, parent, rules C1, C2, C3 and C5; last what is ours: lifetime, revocation,
/// audience. A pass that names a parent and is verified without one is accepted: it was not asked about its chain.
///
/// # Errors
///
/// A [`Refusal`] that names this pass's link: one more than the parent's.
pub fn verify(token: &str, keys: &KeySet, check: &Check<'_>, parent: Option<&Pass>) -> Result<Pass, Refusal> {
    let pass = verify_link(token, keys, check, parent)?;
    check_audience(&pass, check).map_err(|refusal| refusal.at(pass.link))?;
    Ok(pass)
}

/// Verifies a chain of 1 to [`MOST_LINKS`] passes, root first. Worker, order and audience are those of the last.
///
/// # Errors
///
/// The first [`Refusal`] from the root on.
pub fn verify_chain(tokens: &[&str], keys: &KeySet, check: &Check<'_>) -> Result<Vec<Pass>, Refusal> {
    let Some((leaf, above)) = tokens.split_last() else {
        return refuse(Code::Malformed, "there is no pass");
    };
    // Before any work is done for the first one.
    let bytes = tokens.iter().map(|token| token.len()).fold(0, usize::saturating_add);
    check_size(tokens.len(), bytes).map_err(|refusal| refusal.at(above.len()))?;
    let mut passes: Vec<Pass> = Vec::with_capacity(tokens.len());
    for token in above {
        let pass = verify_link(token, keys, &check.above(), passes.last())?;
        passes.push(check_fresh(pass, &passes)?);
    }
    let pass = verify(leaf, keys, check, passes.last())?;
    passes.push(check_fresh(pass, &passes)?);
    Ok(passes)
}

/// What identifies a pass, read from a token that need not be believed: whoever holds a pass needs it to make proofs.
/// `None` for what does not have the form of a signed token.
pub fn identity(token: &str) -> Option<Hash> {
    Compact::parse(token, MOST_PASS_BYTES).ok().map(|token| token.digest())
}

fn verify_link(token: &str, keys: &KeySet, check: &Check<'_>, parent: Option<&Pass>) -> Result<Pass, Refusal> {
    let link = parent.map_or(0, |parent| parent.link.saturating_add(1));
    let bytes = parent.map_or(0, |parent| parent.chain_bytes).saturating_add(token.len());
    let verified = || {
        check_size(link.saturating_add(1), bytes)?;
        let mut pass = believe(token, keys, check.now)?;
        check_times(&pass, check)?;
        check_names(&pass, check)?;
        if let Some(parent) = parent {
            check_parent(&pass, parent)?;
            pass.chain_expires_at = pass.chain_expires_at.min(parent.chain_expires_at);
        }
        check_own(&pass, check)?;
        (pass.link, pass.chain_bytes) = (link, bytes);
        Ok(pass)
    };
    verified().map_err(|refusal: Refusal| refusal.at(link))
}

fn check_size(links: usize, bytes: usize) -> Result<(), Refusal> {
    if links > MOST_LINKS {
        return refuse(Code::Malformed, format!("the chain has {links} passes, at most {MOST_LINKS} are accepted"));
    }
    if bytes > MOST_CHAIN_BYTES {
        let message = format!("the chain has {bytes} bytes, at most {MOST_CHAIN_BYTES} are accepted");
        return refuse(Code::Malformed, message);
    }
    Ok(())
}

/// Form, header, signature; then the claims. The payload's JSON is read before the signature, so that what is no JSON
/// object is refused without touching a key; not one of its members is looked at.
fn believe(token: &str, keys: &KeySet, now: Millis) -> Result<Pass, Refusal> {
    let token = Compact::parse(token, MOST_PASS_BYTES)?;
    let payload = token.payload_object()?;
    token.check_type(PASS_TYPE)?;
    keys.verify(&token, now)?;
    Pass::read(payload, token.signing_input())
}

fn check_times(pass: &Pass, check: &Check<'_>) -> Result<(), Refusal> {
    let times = pass.times();
    let leeway: i64 = check.leeway_seconds().into();
    // Of two clocks either may be ahead, so the moment is stretched both ways.
    let (Some(earliest), Some(latest)) =
        (check.now.checked_add_seconds(leeway.wrapping_neg()), check.now.checked_add_seconds(leeway))
    else {
        return refuse(Code::Expired, "the verifier's clock is at the end of time");
    };
    if earliest >= times.expires_at {
        let message = format!("the pass ended at `{}`, it is `{}`", times.expires_at, check.now);
        return refuse(Code::Expired, message);
    }
    if earliest > times.deadline {
        let message = format!("the order's deadline was `{}`, it is `{}`", times.deadline, check.now);
        return refuse(Code::Expired, message);
    }
    if latest < times.not_before {
        let message = format!("the pass begins at `{}`, it is `{}`", times.not_before, check.now);
        return refuse(Code::NotYetValid, message);
    }
    Ok(())
}

fn check_names(pass: &Pass, check: &Check<'_>) -> Result<(), Refusal> {
    for (expected, found, what, code) in [
        (check.issuer, pass.issuer(), "issuer", Code::WrongIssuer),
        (check.worker, pass.worker(), "worker", Code::WrongWorker),
        (check.order, pass.order(), "order", Code::WrongOrder),
    ] {
        if let Some(expected) = expected.filter(|expected| *expected != found) {
            return refuse(code, format!("the {what} is {}, expected was {}", quoted(found), quoted(expected)));
        }
    }
    Ok(())
}

fn check_parent(pass: &Pass, parent: &Pass) -> Result<(), Refusal> {
    let named = pass.parent();
    if named != Some(parent.order()) {
        let named = named.map_or_else(|| "no parent".into(), quoted);
        let message = format!("the pass names {named}, the pass above it is for order {}", quoted(parent.order()));
        return refuse(Code::WrongParent, message);
    }
    if pass.issuer() != parent.issuer() {
        let message = format!(
            "the issuer is {}, the pass above it was issued by {}",
            quoted(pass.issuer()),
            quoted(parent.issuer())
        );
        return refuse(Code::WrongParent, message);
    }
    check_narrower(pass, parent)
}

/// C1, C2, C3 and C5; then what is ours: audience and holder may be added on the way down, never dropped.
fn check_narrower(pass: &Pass, parent: &Pass) -> Result<(), Refusal> {
    let findings = validate_child_order(pass.claims(), parent.claims());
    if let Some(first) = findings.first() {
        let message = first.message.clone();
        return Err(Refusal { findings, ..Refusal::new(Code::WiderThanParent, message) });
    }
    let is_named = |audience| parent.audiences().contains(audience);
    let is_narrower = !pass.audiences().is_empty() && pass.audiences().iter().all(is_named);
    if !parent.audiences().is_empty() && !is_narrower {
        return refuse(Code::WiderThanParent, "`aud` names more than the parent's");
    }
    if parent.holder().is_some() && pass.holder().is_none() {
        return refuse(Code::WiderThanParent, "the parent is bound to a holder by `cnf`, and this pass to none");
    }
    Ok(())
}

/// What the source format does not have: lifetime and revocation.
fn check_own(pass: &Pass, check: &Check<'_>) -> Result<(), Refusal> {
    let times = pass.times();
    if let Some(most) = check.most_lifetime_seconds
        && times.issued_at.saturating_add_seconds(most) < times.expires_at
    {
        return refuse(Code::TooLongLived, format!("the pass lives longer than {most} seconds"));
    }
    match check.revocations.iter().find_map(|list| list.revokes(pass)) {
        Some(why) => refuse(Code::Revoked, why),
        None => Ok(()),
    }
}

fn check_audience(pass: &Pass, check: &Check<'_>) -> Result<(), Refusal> {
    let named = pass.audiences();
    if named.is_empty() {
        return Ok(());
    }
    match check.audience {
        Some(audience) if named.iter().any(|one| one == audience) => Ok(()),
        Some(audience) => refuse(Code::WrongAudience, format!("`aud` does not name {}", quoted(audience))),
        None => {
            refuse(Code::WrongAudience, "the pass is for certain audiences, and the verifier named none for itself")
        }
    }
}

/// A pass serves once in a chain: an issuer gives each its own `jti`.
fn check_fresh(pass: Pass, above: &[Pass]) -> Result<Pass, Refusal> {
    if above.iter().any(|other| other.jti() == pass.jti()) {
        let message = format!("`jti` {} is that of a pass above", quoted(pass.jti()));
        return Err(Refusal::new(Code::WrongParent, message).at(pass.link));
    }
    Ok(pass)
}
