//! Approved effects: claimed before they run, run at most once (`spec work-orders §8.4`, `§8.5`).

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::act::{BeginEffect, Ending, FinishEffect};
use super::call::{Call, number_of};
use super::fact::{EffectDone, GatewayFact};
use crate::arguments::bad_request;
use crate::hash::{Hash, sha256};
use crate::heart::{Document, Draft, IndexEntry, Refusal, View, ViewError};
use crate::json::{Object, Value, write_compact, write_jcs};
use crate::principal::GATEWAY;
use crate::time;
use crate::work::decide::{Outcome, Turn, event, forbidden, refusal};
use crate::work::effect::{Unfilled, fill};
use crate::work::record::{OrderRecord, ReportRecord};
use crate::work::{Action, Event, State, effect_references, items, quoted, reply, text};

/// The most bytes of a result that are kept for later effects, as compact JSON.
pub const MOST_RESULT_BYTES: usize = 1 << 20;
/// The most bytes of a result that an order's view shows.
const MOST_SHOWN_BYTES: usize = 4 << 10;

/// An effect that was claimed: journaled. One that never was has no document and is [`EffectStatus::Approved`].
#[derive(Debug, Clone, PartialEq)]
pub struct Effect {
    /// The order
    pub order: String,
    /// `server/tool#n`
    pub reference: String,
    version: u64,
    /// Where it stands
    pub status: EffectStatus,
    /// Since when
    pub at: String,
    /// Why it failed
    pub error: Option<String>,
    /// What came out
    pub result: Option<Value>,
}

/// Where an approved effect stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EffectStatus {
    /// It may be carried out
    Approved,
    /// A gateway claimed it: it runs, or nobody knows whether it ran
    Started,
    /// It was done
    Done,
    /// It failed
    Failed,
}

impl EffectStatus {
    const ALL: [Self; 4] = [Self::Approved, Self::Started, Self::Done, Self::Failed];

    /// The stable name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Approved => "approved",
            Self::Started => "started",
            Self::Done => "done",
            Self::Failed => "failed",
        }
    }

    fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == name)
    }

    /// The status after an event; `None` if the event is about no effect.
    const fn after(action: Action) -> Option<Self> {
        Some(match action {
            Action::EffectStart => Self::Started,
            Action::EffectDone => Self::Done,
            Action::EffectFailed => Self::Failed,
            Action::AllowEffectRetry => Self::Approved,
            _ => return None,
        })
    }
}

/// The digest by which a held call is recognised: SHA-256 of its arguments in canonical form (RFC 8785).
pub fn arguments_digest(arguments: &Value) -> Hash {
    sha256(&[write_jcs(arguments).as_bytes()])
}

/// The refs that the last approval covers, in the report's order.
pub(in crate::work) fn approved(record: &OrderRecord) -> &[String] {
    let approval = record.events.iter().rev().find(|event| event.action == Action::Approve);
    approval.and_then(|event| event.effects.as_deref()).unwrap_or_default()
}

/// Where each approved effect stands, for an order's view; `None` if none was approved.
pub(in crate::work) fn views(view: &View, record: &OrderRecord) -> Result<Option<Value>, ViewError> {
    let refs = approved(record);
    if refs.is_empty() {
        return Ok(None);
    }
    let ids: Vec<String> = refs.iter().map(|reference| Effect::id_of(record.order_id(), reference)).collect();
    let known: Vec<Effect> = view.documents(&ids)?;
    let known: BTreeMap<&str, &Effect> = known.iter().map(|effect| (&*effect.reference, effect)).collect();
    Ok(Some(refs.iter().map(|reference| shown(reference, known.get(&**reference).copied())).collect()))
}

/// The same for an order of which no effect was claimed yet.
pub(in crate::work) fn fresh(record: &OrderRecord) -> Option<Value> {
    let refs = approved(record);
    (!refs.is_empty()).then(|| refs.iter().map(|reference| shown(reference, None)).collect())
}

fn shown(reference: &str, effect: Option<&Effect>) -> Value {
    let of = Object::new().with("ref", reference);
    let Some(effect) = effect else { return of.with("status", EffectStatus::Approved.as_str()).into() };
    let of = of.with("status", effect.status.as_str()).with("at", &effect.at).with_some("error", effect.error.as_ref());
    let Some(result) = &effect.result else { return of.into() };
    let bytes = write_compact(result).len();
    let of = of.with("result_bytes", u64::try_from(bytes).unwrap_or(u64::MAX));
    of.with_some("result", (bytes <= MOST_SHOWN_BYTES).then(|| result.clone())).into()
}

/// Claims an effect. Whoever is answered with its arguments carries it out; nobody else ever is.
pub(super) fn begin(view: &View, mut turn: Turn<'_>, begin: &BeginEffect) -> Result<Outcome, ViewError> {
    let before = match standing(view, &turn, &begin.reference, Action::EffectStart)? {
        Ok(before) => before,
        Err(refusal) => return Ok(Outcome { facts: turn.facts, reply: Err(refusal) }),
    };
    if before != EffectStatus::Approved {
        let message = format!("effect {} is `{}`; {}", quoted(&begin.reference), before.as_str(), next_step(before));
        return Ok(Outcome { facts: turn.facts, reply: Err(refusal("INVALID_TRANSITION", message)) });
    }
    let report = turn.last_report.clone();
    let listed = report.as_ref().and_then(|report| listed(report, &begin.reference));
    let arguments = match listed {
        Some(effect) => match check_same(view, &turn.record, effect, begin)? {
            Ok(()) => effect.get("arguments").cloned().unwrap_or(Value::Object(Object::new())),
            Err(refusal) => return Ok(Outcome { facts: turn.facts, reply: Err(refusal) }),
        },
        None => return Ok(Outcome { facts: turn.facts, reply: Err(unknown(&turn.record, &begin.reference)) }),
    };
    let results = match results(view, &turn.record, &arguments)? {
        Ok(results) => results,
        Err(refusal) => return Ok(Outcome { facts: turn.facts, reply: Err(refusal) }),
    };
    let filled = fill(&arguments, &|reference| results.get(reference));
    move_effect(&mut turn, Action::EffectStart, GATEWAY, &begin.reference, None);
    let of = Object::new().with("ref", &begin.reference);
    let reply = match filled {
        Ok(arguments) => {
            of.with("status", EffectStatus::Started.as_str()).with("tool", &begin.tool).with("arguments", arguments)
        }
        Err(Unfilled { reference, pointer }) => {
            let pointer = quoted(&pointer);
            let error = format!("the result of {} has nothing at {pointer}", quoted(&reference));
            move_effect(&mut turn, Action::EffectFailed, GATEWAY, &begin.reference, Some(error.clone()));
            of.with("status", EffectStatus::Failed.as_str()).with("error", error)
        }
    };
    Ok(Outcome::accept(turn.facts, reply))
}

/// Says how a claimed effect ended.
pub(super) fn finish(view: &View, mut turn: Turn<'_>, finish: &FinishEffect) -> Result<Outcome, ViewError> {
    let (action, note) = match &finish.ending {
        Ending::Done(_) => (Action::EffectDone, None),
        Ending::Failed(error) => (Action::EffectFailed, Some(error.clone())),
    };
    let before = match standing(view, &turn, &finish.reference, action)? {
        Ok(before) => before,
        Err(refusal) => return Ok(Outcome { facts: turn.facts, reply: Err(refusal) }),
    };
    if before != EffectStatus::Started {
        let message =
            format!("effect {} is `{}`; only a started one can end", quoted(&finish.reference), before.as_str());
        return Ok(Outcome { facts: turn.facts, reply: Err(refusal("INVALID_TRANSITION", message)) });
    }
    if let Ending::Done(Some(result)) = &finish.ending {
        let bytes = write_compact(result).len();
        if bytes > MOST_RESULT_BYTES {
            let message = format!("`result` has {bytes} bytes, at most {MOST_RESULT_BYTES} are kept; leave it out");
            return Ok(Outcome { facts: turn.facts, reply: Err(bad_request(message)) });
        }
    }
    move_effect(&mut turn, action, GATEWAY, &finish.reference, note);
    if let Ending::Done(result) = &finish.ending {
        turn.facts.push(
            GatewayFact::EffectDone(EffectDone {
                order: turn.record.order_id().into(),
                reference: finish.reference.clone(),
                result: result.clone(),
            })
            .into(),
        );
    }
    let status = EffectStatus::after(action).unwrap_or(EffectStatus::Started);
    let reply = Object::new().with("ref", &finish.reference).with("status", status.as_str());
    Ok(Outcome::accept(turn.facts, reply))
}

/// Lets the manager have an effect tried again that failed, or of which nobody knows whether it ran.
pub(super) fn allow_retry(
    view: &View,
    mut turn: Turn<'_>,
    reference: &str,
    reason: Option<String>,
) -> Result<Outcome, ViewError> {
    if let Err(refusal) = turn.permit(Action::AllowEffectRetry) {
        return Ok(Outcome { facts: turn.facts, reply: Err(refusal) });
    }
    let before = match standing(view, &turn, reference, Action::AllowEffectRetry)? {
        Ok(before) => before,
        Err(refusal) => return Ok(Outcome { facts: turn.facts, reply: Err(refusal) }),
    };
    let checked = match before {
        EffectStatus::Started | EffectStatus::Failed => turn.check_history(Action::AllowEffectRetry, reason.as_deref()),
        EffectStatus::Approved | EffectStatus::Done => {
            let message = format!("effect {} is `{}`; {}", quoted(reference), before.as_str(), next_step(before));
            Err(refusal("INVALID_TRANSITION", message))
        }
    };
    if let Err(refusal) = checked {
        return Ok(Outcome { facts: turn.facts, reply: Err(refusal) });
    }
    let actor = turn.context.principal.id.clone();
    move_effect(&mut turn, Action::AllowEffectRetry, &actor, reference, reason);
    let mut effects = views(view, &turn.record)?;
    if let Some(Value::Array(shown_effects)) = &mut effects {
        let at = time::format(turn.context.now);
        for effect in shown_effects.iter_mut().filter(|effect| text(effect, "ref") == reference) {
            *effect = shown(reference, Some(&Effect::new(turn.record.order_id(), reference, at.clone())));
        }
    }
    let reply = reply::view(&turn.record, turn.last_report.as_ref(), effects);
    Ok(Outcome::accept(turn.facts, reply))
}

fn next_step(status: EffectStatus) -> &'static str {
    match status {
        EffectStatus::Approved => "it waits to be carried out",
        EffectStatus::Started => "whether it ran is not known, and it runs again only if the manager allows a retry",
        EffectStatus::Done => "it is done",
        EffectStatus::Failed => "it runs again only if the manager allows a retry",
    }
}

/// Where an effect stands, if the order is one whose effects are carried out.
fn standing(
    view: &View,
    turn: &Turn<'_>,
    reference: &str,
    action: Action,
) -> Result<Result<EffectStatus, Refusal>, ViewError> {
    let record = &turn.record;
    if record.state != State::Approved {
        return Ok(Err(turn.invalid_transition(action.as_str())));
    }
    if !approved(record).iter().any(|name| name == reference) {
        return Ok(Err(unknown(record, reference)));
    }
    let effect: Option<Effect> = view.document(&Effect::id_of(record.order_id(), reference))?;
    Ok(Ok(effect.map_or(EffectStatus::Approved, |effect| effect.status)))
}

fn unknown(record: &OrderRecord, reference: &str) -> Refusal {
    let order = quoted(record.order_id());
    refusal("NOT_FOUND", format!("order {order} has no approved effect {}", quoted(reference)))
}

/// The effect as the approved report lists it.
fn listed<'a>(report: &'a ReportRecord, reference: &str) -> Option<&'a Value> {
    items(&report.report, "effects").iter().find(|effect| text(effect, "ref") == reference)
}

/// What was approved must be what was held: a report may not alter a call after the gateway held it (`spec §15.7`).
fn check_same(
    view: &View,
    record: &OrderRecord,
    effect: &Value,
    begin: &BeginEffect,
) -> Result<Result<(), Refusal>, ViewError> {
    let reference = quoted(&begin.reference);
    let digest = effect.get("arguments").map(arguments_digest);
    if text(effect, "tool") != begin.tool || digest != Some(begin.arguments_digest) {
        return Ok(Err(forbidden(format!("effect {reference} is not the call that the gateway holds"))));
    }
    let Some(n) = number_of(&begin.reference) else { return Ok(Ok(())) };
    let Some(call) = view.document::<Call>(&Call::id_of(record.order_id(), n))? else { return Ok(Ok(())) };
    let is_same = call.reference() == begin.reference
        && call.attempt == record.reworks()
        && call.arguments.as_ref().map(arguments_digest) == digest;
    if is_same { Ok(Ok(())) } else { Ok(Err(forbidden(format!("effect {reference} is not the call that was held")))) }
}

/// The results that an effect's arguments refer to; each must have been done.
fn results(
    view: &View,
    record: &OrderRecord,
    arguments: &Value,
) -> Result<Result<BTreeMap<String, Value>, Refusal>, ViewError> {
    let order = record.order_id();
    let mut names: Vec<&str> = effect_references(arguments).into_iter().map(|reference| reference.effect).collect();
    names.sort_unstable();
    names.dedup();
    let ids: Vec<String> = names.iter().map(|name| Effect::id_of(order, name)).collect();
    let effects: Vec<Effect> = view.documents(&ids)?;
    let done =
        |name: &str| effects.iter().find(|effect| effect.reference == name && effect.status == EffectStatus::Done);
    let mut results = BTreeMap::new();
    for name in names {
        let Some(effect) = done(name) else {
            let message = format!("it uses the result of {}, which is not done", quoted(name));
            return Ok(Err(refusal("INVALID_TRANSITION", message)));
        };
        if let Some(result) = &effect.result {
            results.insert(name.into(), result.clone());
        }
    }
    Ok(Ok(results))
}

fn move_effect(turn: &mut Turn<'_>, action: Action, actor: &str, reference: &str, note: Option<String>) {
    let event = event(action, State::Approved, actor);
    turn.moved(Event { note, effects: Some([String::from(reference)].into()), ..event });
}

/// Keeps effects in step with an order's events.
pub(in crate::work) fn moved(draft: &mut Draft<'_>, order: &str, event: &Event) -> Result<(), ViewError> {
    let Some(status) = EffectStatus::after(event.action) else { return Ok(()) };
    let Some([reference]) = event.effects.as_deref() else { return Ok(()) };
    let id = Effect::id_of(order, reference);
    let before = draft.document::<Effect>(&id)?.unwrap_or_else(|| Effect::new(order, reference, String::new()));
    let error = event.note.clone().filter(|_| status == EffectStatus::Failed);
    draft.put(&Effect {
        version: before.version.saturating_add(1),
        status,
        at: event.at.clone(),
        error,
        result: None,
        ..before
    })
}

/// Keeps the result of an effect that was done.
pub(super) fn keep_result(draft: &mut Draft<'_>, done: &EffectDone) -> Result<(), ViewError> {
    let Some(effect) = draft.document::<Effect>(&Effect::id_of(&done.order, &done.reference))? else { return Ok(()) };
    draft.put(&Effect { result: done.result.clone(), ..effect })
}

impl Effect {
    fn new(order: &str, reference: &str, at: String) -> Self {
        Self {
            order: order.into(),
            reference: reference.into(),
            version: 0,
            status: EffectStatus::Approved,
            at,
            error: None,
            result: None,
        }
    }

    /// A tool's name has one `/`, so no two effects share an id.
    pub(super) fn id_of(order: &str, reference: &str) -> String {
        format!("{order}/{reference}")
    }
}

impl Document for Effect {
    const KIND: &'static str = "effect";

    fn id(&self) -> String {
        Self::id_of(&self.order, &self.reference)
    }

    fn version(&self) -> u64 {
        self.version
    }

    fn to_value(&self) -> Value {
        Object::new()
            .with("order", &self.order)
            .with("ref", &self.reference)
            .with("version", self.version)
            .with("status", self.status.as_str())
            .with("at", &self.at)
            .with_some("error", self.error.as_ref())
            .with_some("result", self.result.clone())
            .into()
    }

    fn from_value(value: Value) -> Option<Self> {
        let string = |name| value.get(name).and_then(Value::as_str).map(String::from);
        Some(Self {
            order: string("order")?,
            reference: string("ref")?,
            version: value.get("version")?.as_number()?.to_u64()?,
            status: EffectStatus::parse(value.get("status")?.as_str()?)?,
            at: string("at")?,
            error: string("error"),
            result: value.get("result").cloned(),
        })
    }

    fn index(&self) -> Vec<IndexEntry> {
        Vec::new()
    }
}
