//! Conformance vectors of passes: tokens, and what must be said about them.
//!
//! | `kind` | Checked |
//! |---|---|
//! | `pass` | `passes`, root first, with `keys` and `check` (and `revocations`, lists of which each follows the one before) |
//! | `call` | the same, then `call`, which names `tool`, `arguments`, `audience` and perhaps a `proof`, `times` over |
//! | `revocations` | `revocations` alone |
//!
//! `expect` holds `ok` and any of: `code`, `link`, `findings` (rule, kind, path) for a refusal; `allows` and `stages` (a tool's name to
//! yes or no), `expires_at`, `ids` for a pass. What it does not name is not compared.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::{Call, Check, Pass, ProofCheck, RecentProofs, Refusal, RevocationList, check_holder, verify_chain};
use crate::jose::{KeySet, base64url};
use crate::json::{Object, Value, write_compact};
use crate::time::{self, Millis};
use crate::work::{Finding, items};

/// The most that a call is repeated.
const MOST_TIMES: u32 = 8;

/// A vector that is not of the published form; says what is wrong with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Malformed(pub &'static str);

/// What came out of a vector.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// Everything that was said: `{ok, claims}` for passes, root first, `{ok, code, link, message, findings}` for a refusal
    pub said: Object,
    /// What came out otherwise than `expect` has it
    pub difference: Option<Difference>,
}

/// Members of `expect` that came out otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// `expect`, as JSON
    pub expected: String,
    /// The same members, as they came out; and the message of a refusal
    pub actual: String,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "malformed vector: {}", self.0)
    }
}

impl core::error::Error for Malformed {}

/// Whether a value is meant to be a vector of passes.
pub fn is_vector(value: &Value) -> bool {
    let is_ours = |kind| matches!(kind, "pass" | "call" | "revocations");
    value.get("kind").and_then(Value::as_str).is_some_and(is_ours) && value.get("expect").is_some()
}

/// Runs one vector.
///
/// # Errors
///
/// [`Malformed`].
pub fn run_vector(vector: &Value) -> Result<Judgement, Malformed> {
    let expect = vector.get("expect").and_then(Value::as_object).ok_or(Malformed("`expect` is missing"))?;
    let outcome = outcome(vector)?;
    let mut actual = Object::new();
    for (name, expected) in expect.iter() {
        actual.insert_some(name, member(&outcome, name, expected));
    }
    let is_as_expected = actual == *expect;
    if let Err(refusal) = &outcome {
        actual.insert("code", refusal.code.as_str());
        actual.insert("message", &refusal.message);
    }
    let difference = (!is_as_expected)
        .then(|| Difference { expected: write_compact(&expect.clone().into()), actual: write_compact(&actual.into()) });
    Ok(Judgement { said: said(&outcome), difference })
}

fn said(outcome: &Result<Vec<Pass>, Refusal>) -> Object {
    match outcome {
        Ok(passes) => Object::new()
            .with("ok", true)
            .with("claims", passes.iter().map(|pass| pass.claims().clone()).collect::<Value>()),
        Err(refusal) => refusal.to_object().with("ok", false),
    }
}

/// A member of `expect`, as it came out.
fn member(outcome: &Result<Vec<Pass>, Refusal>, name: &str, expected: &Value) -> Option<Value> {
    let leaf = || outcome.as_ref().ok().and_then(|passes| passes.last());
    let refusal = outcome.as_ref().err();
    match name {
        "ok" => Some(outcome.is_ok().into()),
        "code" => Some(refusal?.code.as_str().into()),
        "link" => u64::try_from(refusal?.link).ok().map(Value::from),
        "findings" => Some(refusal?.findings.iter().map(without_message).collect()),
        "allows" => Some(answers(expected, |tool| leaf().is_some_and(|pass| pass.allows(tool)))),
        "stages" => Some(answers(expected, |tool| leaf().is_some_and(|pass| pass.stages(tool)))),
        "expires_at" => Some(time::format(leaf()?.expires_at()).into()),
        "ids" => Some(outcome.as_ref().ok()?.iter().map(|pass| base64url::encode(&pass.id()).into()).collect()),
        _ => None,
    }
}

fn answers(tools: &Value, ask: impl Fn(&str) -> bool) -> Value {
    let mut answers = Object::new();
    for (tool, _) in tools.as_object().into_iter().flat_map(Object::iter) {
        answers.insert(tool, ask(tool));
    }
    answers.into()
}

fn without_message(finding: &Finding) -> Value {
    Object::new()
        .with("rule", finding.rule.as_str())
        .with("kind", finding.kind.as_str())
        .with("path", &finding.path)
        .into()
}

/// Does what a vector's kind asks for.
fn outcome(vector: &Value) -> Result<Result<Vec<Pass>, Refusal>, Malformed> {
    let keys = match KeySet::parse(vector.get("keys").ok_or(Malformed("`keys` is missing"))?) {
        Ok(keys) => keys,
        Err(fault) => return Ok(Err(fault.into())),
    };
    let settings = vector.get("check").ok_or(Malformed("`check` is missing"))?;
    let now = settings.get("now").and_then(Value::as_str).and_then(time::instant);
    let now = now.ok_or(Malformed("`check` must name `now`, a timestamp"))?;
    let lists = match read_lists(vector, &keys, now) {
        Ok(lists) => lists,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let kind = vector.get("kind").and_then(Value::as_str);
    if kind == Some("revocations") {
        return Ok(Ok(Vec::new()));
    }
    let tokens: Option<Vec<&str>> = items(vector, "passes").iter().map(Value::as_str).collect();
    let tokens = tokens.ok_or(Malformed("`passes` must be an array of tokens"))?;
    let check = read_check(settings, now, lists.last());
    match (kind, verify_chain(&tokens, &keys, &check)) {
        (Some("pass"), outcome) => Ok(outcome),
        (Some("call"), Ok(passes)) => {
            let call = vector.get("call").ok_or(Malformed("`call` is missing"))?;
            Ok(make_calls(&passes, call, settings, now)?.map(|()| passes))
        }
        (Some("call"), refused) => Ok(refused),
        _ => Err(Malformed("`kind` must be `pass`, `call` or `revocations`")),
    }
}

/// The revocation lists, each verified as the one that follows the one before.
fn read_lists(vector: &Value, keys: &KeySet, now: Millis) -> Result<Vec<RevocationList>, Refusal> {
    let mut lists: Vec<RevocationList> = Vec::new();
    for token in items(vector, "revocations").iter().filter_map(Value::as_str) {
        lists.push(RevocationList::verify(token, keys, now, lists.last())?);
    }
    Ok(lists)
}

fn read_check<'a>(settings: &'a Value, now: Millis, newest: Option<&'a RevocationList>) -> Check<'a> {
    let text = |name| settings.get(name).and_then(Value::as_str);
    Check {
        leeway_seconds: whole(settings, "leeway_seconds").unwrap_or_default(),
        issuer: text("issuer"),
        worker: text("worker"),
        order: text("order"),
        audience: text("audience"),
        most_lifetime_seconds: whole(settings, "most_lifetime_seconds").map(u64::from),
        revocations: newest.map(core::slice::from_ref).unwrap_or_default(),
        ..Check::at(now)
    }
}

/// Makes the same call as often as the vector says, all with one store of used proofs.
fn make_calls(passes: &[Pass], call: &Value, settings: &Value, now: Millis) -> Result<Result<(), Refusal>, Malformed> {
    let text = |name| call.get(name).and_then(Value::as_str);
    let (Some(pass), Some(tool), Some(audience), Some(arguments)) =
        (passes.last(), text("tool"), text("audience"), call.get("arguments"))
    else {
        return Err(Malformed("`call` must name `tool`, `arguments` and `audience`"));
    };
    let mut check = ProofCheck::at(now);
    check.leeway_seconds = whole(settings, "leeway_seconds").unwrap_or_default();
    check.window_seconds = whole(call, "window_seconds").unwrap_or(check.window_seconds);
    let mut replays = RecentProofs::with_room_for(8);
    for _ in 0..whole(call, "times").unwrap_or(1).min(MOST_TIMES) {
        let call = Call { tool, arguments, audience };
        if let Err(refusal) = check_holder(pass, text("proof"), &call, &check, Some(&mut replays)) {
            return Ok(Err(refusal));
        }
    }
    Ok(Ok(()))
}

/// A member that is a small whole number.
fn whole(settings: &Value, name: &str) -> Option<u32> {
    settings.get(name)?.as_number()?.to_u64()?.try_into().ok()
}
