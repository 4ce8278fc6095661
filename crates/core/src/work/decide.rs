//! What follows from a command on an order (`spec work-orders §7`, `§9`).

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::command::{Command, Decision, fresh_order_id};
use super::fact::{Fact, Opened, Reported};
use super::gateway::{self, Allowance};
use super::record::{OrderRecord, ReportRecord, index};
use super::report::check_own_cost;
use super::sub_order::check_child_budgets;
use super::{
    Action, Event, Finding, Kind, Role, SelfReview, State, effect_references, has_invalid, import, items, next_state,
    order_spec_for, quoted, reply, report_spec_for, text, validate_child_order, validate_order, validate_report,
};
use crate::arguments::bad_request;
use crate::heart::{Configuration, Context, Document, Order, Refusal, Scope, Select, View, ViewError};
use crate::json::{Number, Object, Value};
use crate::principal::{DESK, Established, MOST_CHARACTERS, is_gateway};
use crate::time;

pub(super) type Outcome = crate::heart::Outcome<Fact>;

/// How many orders may stand above one another.
pub const MOST_DEPTH: u64 = 64;
/// How many events an order may have before it takes no more progress notes.
pub const MOST_EVENTS: usize = 1_000;
/// How much text an order's history may hold before it takes no more progress notes, answers and reasons for rework: names,
/// notes and effects in bytes of UTF-8. What ends an order is always taken, so its document stays below 16 MiB.
pub const MOST_HISTORY_BYTES: usize = 1 << 20;
/// How many reports an order takes.
pub const MOST_REPORTS: usize = 1_000;

/// Decides a command.
pub(crate) fn decide(
    view: &View,
    command: &Command,
    context: &Context<'_>,
    configuration: &Configuration,
) -> Result<Outcome, ViewError> {
    let for_desk = matches!(command, Command::ExpireDue { .. } | Command::Import { .. });
    let for_gateway = matches!(command, Command::Gateway { .. });
    let by_desk = context.principal.established == Established::Desk;
    let by_gateway = is_gateway(&context.principal.id);
    let as_desk = by_desk && !by_gateway;
    if for_desk != as_desk || (context.principal.id == DESK) != as_desk {
        return Ok(forbidden("the desk acts for itself only, and nobody acts for the desk").into());
    }
    if by_gateway && !for_gateway {
        return Ok(forbidden("a gateway makes calls and carries out effects; it neither gives nor takes orders").into());
    }
    if context.principal.id.trim().is_empty() {
        return Ok(bad_request("`actor` is blank; it must name who acts").into());
    }
    let length = context.principal.id.chars().count();
    if length > MOST_CHARACTERS {
        return Ok(
            bad_request(format!("`actor` has {length} characters, at most {MOST_CHARACTERS} are accepted")).into()
        );
    }
    match command {
        Command::Create { input } => create(view, input, context),
        Command::Accept { id } => step(view, id, context, Action::Accept, None),
        Command::Start { id } => step(view, id, context, Action::Start, None),
        Command::Decline { id, reason } => step(view, id, context, Action::Decline, reason.clone()),
        Command::Cancel { id, reason } => step(view, id, context, Action::Cancel, reason.clone()),
        Command::Answer { id, answer } => step(view, id, context, Action::Answer, Some(answer.clone())),
        Command::Progress { id, note, percent } => progress(view, id, context, note, *percent),
        Command::Report { id, input } => report(view, id, input, context),
        Command::Review { id, decision, reason, effects } => {
            review(view, id, context, configuration, (*decision, reason.clone(), effects.as_deref()))
        }
        Command::Gateway { id, act } => gateway::decide(view, id, act, context),
        Command::ExpireDue { id } => expire_due(view, id, context),
        Command::Import { record } => import_record(view, record),
    }
}

/// An order in the course of a command: the facts so far, and the record as they leave it.
pub(super) struct Turn<'a> {
    pub(super) record: OrderRecord,
    pub(super) last_report: Option<ReportRecord>,
    pub(super) facts: Vec<Fact>,
    pub(super) context: &'a Context<'a>,
}

impl<'a> Turn<'a> {
    /// Reads an order; an overdue one is expired first.
    pub(super) fn open(view: &View, id: &str, context: &'a Context<'a>) -> Result<Result<Self, Refusal>, ViewError> {
        let Some(record) = view.document::<OrderRecord>(id)? else { return Ok(Err(not_found(id))) };
        let last_report = match record.last_report_id() {
            Some(report) => view.document(&report)?,
            None => None,
        };
        let mut turn = Self { record, last_report, facts: Vec::new(), context };
        if turn.record.is_overdue(context.now) {
            turn.expire("deadline passed".into());
        }
        Ok(Ok(turn))
    }

    /// Adds an event, whose number, time and state before are filled in.
    pub(super) fn moved(&mut self, mut event: Event) {
        event.seq = self.record.last_seq().saturating_add(1);
        event.at = time::format(self.context.now);
        event.from = Some(self.record.state);
        self.record.moved(&event);
        self.facts.push(Fact::Moved { order: self.record.order_id().into(), event });
    }

    fn expire(&mut self, note: String) {
        let event = event(Action::Expire, State::Expired, DESK);
        self.moved(Event { note: Some(note), ..event });
    }

    /// Takes an action if the state allows it and the history has room.
    fn take(&mut self, action: Action, note: Option<String>) -> Result<(), Refusal> {
        let to = next_state(self.record.state, action).ok_or_else(|| self.invalid_transition(action.as_str()))?;
        self.take_to(Event { note, ..event(action, to, &self.context.principal.id) })
    }

    fn take_to(&mut self, event: Event) -> Result<(), Refusal> {
        self.check_room(&event)?;
        self.moved(event);
        Ok(())
    }

    /// Whether the history has room for another event. Without an answer or a rework there is no further report, so
    /// these and progress notes are all that can make it grow.
    fn check_room(&self, event: &Event) -> Result<(), Refusal> {
        if !matches!(event.action, Action::Progress | Action::Answer | Action::Rework | Action::AllowEffectRetry) {
            return Ok(());
        }
        let held = self.record.events.iter().map(Event::text_bytes).fold(0, usize::saturating_add);
        let bytes = held.saturating_add(event.text_bytes());
        if bytes <= MOST_HISTORY_BYTES {
            return Ok(());
        }
        let action = event.action.as_str();
        Err(bad_request(format!(
            "with this `{action}` the order's history would hold {bytes} bytes of text, at most {MOST_HISTORY_BYTES} are accepted"
        )))
    }

    /// Whether the history has room for another event that can come again and again.
    pub(super) fn check_history(&self, action: Action, note: Option<&str>) -> Result<(), Refusal> {
        if self.record.events.len() >= MOST_EVENTS {
            return Err(bad_request(format!(
                "the order has {MOST_EVENTS} events and takes no more `{}`",
                action.as_str()
            )));
        }
        let event = event(action, self.record.state, &self.context.principal.id);
        self.check_room(&Event { note: note.map(Into::into), ..event })
    }

    pub(super) fn invalid_transition(&self, action: &str) -> Refusal {
        let allowed: Vec<String> =
            super::allowed_actions(self.record.state).map(|action| format!("`{}`", action.as_str())).collect();
        let state = self.record.state;
        let then = if allowed.is_empty() { "nothing more".to_string() } else { allowed.join(", ") };
        refusal(
            "INVALID_TRANSITION",
            format!(
                "order {} is {state}, which does not allow `{action}`; it allows {then}",
                quoted(self.record.order_id())
            ),
        )
    }

    /// Whether the principal may take an action: asked before whether the state allows it.
    pub(super) fn permit(&self, action: Action) -> Result<(), Refusal> {
        let actor = self.context.principal.id.as_str();
        let (role, whose) = match action.role() {
            Role::Worker => ("worker", self.record.worker()),
            Role::Manager | Role::Desk | Role::Gateway => ("manager", self.record.manager()),
        };
        let escalated = action == Action::Answer && self.record.escalation() == Some(actor);
        if actor == whose || escalated {
            return Ok(());
        }
        let id = quoted(self.record.order_id());
        Err(forbidden(format!("`{}` on order {id} is for its {role}, not for {}", action.as_str(), quoted(actor))))
    }

    fn finish(self, reply: Result<(), Refusal>) -> Outcome {
        // Whatever was approved just now was not yet claimed.
        let effects = gateway::fresh_effects(&self.record);
        let reply = reply.map(|()| reply::view(&self.record, self.last_report.as_ref(), effects).into());
        Outcome { facts: self.facts, reply }
    }
}

pub(super) fn event(action: Action, to: State, actor: &str) -> Event {
    Event {
        seq: 1,
        at: String::new(),
        actor: actor.into(),
        action,
        from: None,
        to,
        note: None,
        percent: None,
        effects: None,
    }
}

pub(super) fn refusal(code: &'static str, message: impl Into<String>) -> Refusal {
    Refusal::new(code, message).with("findings", Vec::<Value>::new())
}

pub(super) fn forbidden(message: impl Into<String>) -> Refusal {
    refusal("FORBIDDEN", message)
}

pub(super) fn not_found(id: &str) -> Refusal {
    refusal("NOT_FOUND", format!("no order {}", quoted(id)))
}

fn invalid(what: &str, findings: &[Finding]) -> Refusal {
    let broken = || findings.iter().filter(|finding| finding.kind == Kind::Invalid);
    let (count, first) = (broken().count(), broken().next());
    let first = first.map_or_else(String::new, |f| format!("; first {} at `{}`: {}", f.rule, f.path, f.message));
    Refusal::new("VALIDATION_FAILED", format!("the {what} fails {count} check(s){first}"))
        .with("findings", findings.iter().map(Finding::to_value).collect::<Value>())
}

fn create(view: &View, input: &Object, context: &Context<'_>) -> Result<Outcome, ViewError> {
    let id = match input.get("id") {
        None => fresh_order_id(&context.fresh),
        Some(id) => id.as_str().unwrap_or_default().into(),
    };
    let opened = Opened {
        spec: order_spec_for(input).into(),
        created_at: time::format(context.now),
        from: context.principal.id.clone(),
        id,
        // The same value as in the command, so that the journal keeps one blob for both.
        input: input.clone(),
    };
    let mut document = opened.document();
    if let Some(id) = input.get("id") {
        // As given, so that the structure check sees what may be wrong with it.
        document.insert("id", id.clone());
    }
    let order: Value = document.into();
    let findings = validate_order(&order, context.schemas).findings;
    if has_invalid(&findings) {
        return Ok(invalid("order", &findings).into());
    }
    if time::instant(text(&order, "deadline")).is_none() {
        let deadline = quoted(text(&order, "deadline"));
        return Ok(bad_request(format!(
            "`deadline` {deadline} names no certain instant; write it like `2026-01-01T09:00:00Z`"
        ))
        .into());
    }
    if let Some(name) = ["to", "escalate_to"].into_iter().find(|name| is_gateway(text(&order, name))) {
        let id = quoted(text(&order, name));
        return Ok(bad_request(format!("`{name}` is {id}, a gateway; it neither gives nor takes orders")).into());
    }
    let mut facts = Vec::new();
    let checked = match check_parent(view, &order, context, &mut facts)? {
        Ok(()) => check_continues(view, &order, context, &mut facts)?,
        refused => refused,
    };
    if let Err(refusal) = checked {
        return Ok(Outcome { facts, reply: Err(refusal) });
    }
    if view.document::<OrderRecord>(&opened.id)?.is_some() {
        let id = quoted(&opened.id);
        return Ok(Outcome { facts, reply: Err(refusal("ALREADY_EXISTS", format!("order {id} exists already"))) });
    }
    let parent = match opened.input.str("parent_id") {
        Some(parent) => view.document(parent)?,
        None => None,
    };
    let mut record = OrderRecord::open(&opened, parent.as_ref());
    let event = Event { at: opened.created_at.clone(), ..event(Action::Create, State::Offered, &opened.from) };
    record.moved(&event);
    let order = opened.id.clone();
    facts.extend([Fact::Opened(opened), Fact::Moved { order, event }]);
    Ok(Outcome::accept(facts, reply::view(&record, None, None)))
}

/// Whether the order may stand below its parent: `parent_id`, C1–C5.
fn check_parent(
    view: &View,
    order: &Value,
    context: &Context<'_>,
    facts: &mut Vec<Fact>,
) -> Result<Result<(), Refusal>, ViewError> {
    let Some(id) = order.get("parent_id").and_then(Value::as_str) else { return Ok(Ok(())) };
    let parent = match Turn::open(view, id, context)? {
        Ok(mut turn) => {
            facts.append(&mut turn.facts);
            turn
        }
        Err(refusal) => return Ok(Err(refusal)),
    };
    let record = &parent.record;
    if record.state.is_terminal() {
        return Ok(Err(refusal("INVALID_TRANSITION", format!("parent order {} is {}", quoted(id), record.state))));
    }
    if record.worker() != context.principal.id {
        return Ok(Err(forbidden(format!("only the worker of order {} may split it", quoted(id)))));
    }
    if record.depth >= MOST_DEPTH {
        return Ok(Err(bad_request(format!("order {} already stands {MOST_DEPTH} levels deep", quoted(id)))));
    }
    let mut findings = validate_child_order(order, &record.order);
    // What the parent's own gateway has spent is gone, too.
    let mut held = record.held;
    if let Some(allowance) = view.document::<Allowance>(id)? {
        held.add_all(Some(&allowance.to_totals().to_value()));
    }
    findings.extend(check_child_budgets(order, &record.order, held));
    if has_invalid(&findings) {
        return Ok(Err(invalid("sub-order", &findings)));
    }
    Ok(Ok(()))
}

/// Whether the order may pick up from another: only from a finished one of the same manager, and only once at a
/// time (`spec §7.5`).
fn check_continues(
    view: &View,
    order: &Value,
    context: &Context<'_>,
    facts: &mut Vec<Fact>,
) -> Result<Result<(), Refusal>, ViewError> {
    let Some(id) = order.get("continues").and_then(Value::as_str) else { return Ok(Ok(())) };
    let target = match Turn::open(view, id, context)? {
        Ok(mut turn) => {
            add_new(facts, core::mem::take(&mut turn.facts));
            turn
        }
        Err(refusal) => return Ok(Err(refusal)),
    };
    let record = &target.record;
    if !record.state.is_terminal() {
        return Ok(Err(refusal(
            "INVALID_TRANSITION",
            format!("order {} is {}; only a finished order can be continued", quoted(id), record.state),
        )));
    }
    if record.manager() != context.principal.id {
        return Ok(Err(forbidden(format!("only the manager of order {} may continue it", quoted(id)))));
    }
    let others: Vec<OrderRecord> = view.select(&Select {
        kind: OrderRecord::KIND,
        scope: Scope::Workspace,
        index: index::CONTINUES_ACTIVE,
        value: id.into(),
        also: Vec::new(),
        order: Order::Ascending,
        after: None,
        limit: 1,
    })?;
    let Some(other) = others.first() else { return Ok(Ok(())) };
    if !other.is_overdue(context.now) {
        return Ok(Err(refusal(
            "INVALID_TRANSITION",
            format!("order {} already continues {} and is {}", quoted(other.order_id()), quoted(id), other.state),
        )));
    }
    // Expired in the same decision: until it is, it counts as active, and the order would be continued by two.
    if let Ok(other) = Turn::open(view, other.order_id(), context)? {
        add_new(facts, other.facts);
    }
    Ok(Ok(()))
}

/// Adds facts that are not there yet: an order may be a parent and continued, and its expiry is recorded once.
fn add_new(facts: &mut Vec<Fact>, more: Vec<Fact>) {
    for fact in more {
        if !facts.contains(&fact) {
            facts.push(fact);
        }
    }
}

/// A plain transition.
fn step(
    view: &View,
    id: &str,
    context: &Context<'_>,
    action: Action,
    note: Option<String>,
) -> Result<Outcome, ViewError> {
    Ok(match Turn::open(view, id, context)? {
        Err(refusal) => refusal.into(),
        Ok(mut turn) => {
            let reply = turn.permit(action).and_then(|()| turn.take(action, note));
            turn.finish(reply)
        }
    })
}

fn progress(
    view: &View,
    id: &str,
    context: &Context<'_>,
    note: &str,
    percent: Option<Number>,
) -> Result<Outcome, ViewError> {
    let mut turn = match Turn::open(view, id, context)? {
        Err(refusal) => return Ok(refusal.into()),
        Ok(turn) => turn,
    };
    let reply = turn.permit(Action::Progress).and_then(|()| {
        let to = next_state(turn.record.state, Action::Progress)
            .ok_or_else(|| turn.invalid_transition(Action::Progress.as_str()))?;
        if turn.record.events.len() >= MOST_EVENTS {
            return Err(bad_request(format!("the order has {MOST_EVENTS} events and takes no more progress notes")));
        }
        let event = event(Action::Progress, to, &context.principal.id);
        turn.take_to(Event { note: Some(note.into()), percent, ..event })
    });
    Ok(turn.finish(reply))
}

fn report(view: &View, id: &str, input: &Object, context: &Context<'_>) -> Result<Outcome, ViewError> {
    let mut turn = match Turn::open(view, id, context)? {
        Err(refusal) => return Ok(refusal.into()),
        Ok(turn) => turn,
    };
    let before = turn.facts.len();
    let reply = submit(&mut turn, input);
    if reply.is_err() {
        // Not even the automatic start is stored with a refused report.
        turn.facts.truncate(before);
    }
    Ok(Outcome { reply: reply.map(|findings| reply::submitted(&turn.record, &findings).into()), facts: turn.facts })
}

fn submit(turn: &mut Turn<'_>, input: &Object) -> Result<Vec<Finding>, Refusal> {
    turn.permit(Action::ReportDone)?;
    if turn.record.state == State::Accepted {
        turn.take(Action::Start, None)?;
    }
    if turn.record.state != State::Working {
        return Err(turn.invalid_transition("report"));
    }
    if turn.record.reports.len() >= MOST_REPORTS {
        return Err(bad_request(format!("the order has {MOST_REPORTS} reports and takes no more")));
    }
    let attempt = u64::try_from(turn.record.reports.len()).unwrap_or(u64::MAX).saturating_add(1);
    let mut reported = Reported {
        order: turn.record.order_id().into(),
        spec: report_spec_for(input).into(),
        from: turn.context.principal.id.clone(),
        attempt,
        received_at: time::format(turn.context.now),
        input: input.clone(),
        findings: Vec::new(),
    };
    let report: Value = reported.document().into();
    let mut findings = validate_report(&report, &turn.record.order, turn.context.schemas).findings;
    if !has_invalid(&findings) {
        findings.extend(check_own_cost(&report, &turn.record.order, &turn.record.held));
    }
    if has_invalid(&findings) {
        return Err(invalid("report", &findings));
    }
    reported.findings.clone_from(&findings);
    turn.last_report = Some(turn.record.reported(&reported));
    turn.facts.push(Fact::Reported(reported));
    let action = match text(&report, "status") {
        "failed" => Action::ReportFailed,
        "blocked" => Action::ReportBlocked,
        _ => Action::ReportDone,
    };
    turn.take(action, Some(format!("attempt {attempt}")))?;
    if !findings.is_empty() {
        let messages: Vec<&str> = findings.iter().map(|finding| finding.message.as_str()).collect();
        turn.expire(messages.join("; "));
    }
    Ok(findings)
}

fn review(
    view: &View,
    id: &str,
    context: &Context<'_>,
    configuration: &Configuration,
    (decision, reason, effects): (Decision, Option<String>, Option<&[String]>),
) -> Result<Outcome, ViewError> {
    let mut turn = match Turn::open(view, id, context)? {
        Err(refusal) => return Ok(refusal.into()),
        Ok(turn) => turn,
    };
    let action = match decision {
        Decision::Approve => Action::Approve,
        Decision::Rework => Action::Rework,
    };
    let reply = turn.permit(action).and_then(|()| {
        check_other_eyes(&turn, configuration)?;
        let to = next_state(turn.record.state, action).ok_or_else(|| turn.invalid_transition(action.as_str()))?;
        let effects = match decision {
            Decision::Approve => approved_effects(turn.last_report.as_ref(), effects)?,
            Decision::Rework => None,
        };
        let event = event(action, to, &context.principal.id);
        turn.take_to(Event { note: reason, effects, ..event })
    });
    Ok(turn.finish(reply))
}

/// In closed mode nobody decides on its own work (design invariant 6). A principal whose id was merely claimed acts
/// in open mode: allowed, and recorded as claimed.
fn check_other_eyes(turn: &Turn<'_>, configuration: &Configuration) -> Result<(), Refusal> {
    let own = turn.record.worker() == turn.context.principal.id;
    let open = turn.context.principal.established == Established::Claimed;
    if own && !open && configuration.sections.work.self_review == SelfReview::Refused {
        return Err(forbidden("nobody reviews their own report unless `work.allow_self_review` is set"));
    }
    Ok(())
}

/// The refs that an approval covers, in the report's order; `None` when the report lists no effects (`spec §8.4`).
fn approved_effects(report: Option<&ReportRecord>, chosen: Option<&[String]>) -> Result<Option<Vec<String>>, Refusal> {
    let listed = report.map(|report| items(&report.report, "effects")).unwrap_or_default();
    let refs: Vec<&str> = listed.iter().map(|effect| text(effect, "ref")).collect();
    let Some(chosen) = chosen else {
        return Ok((!refs.is_empty()).then(|| refs.into_iter().map(String::from).collect()));
    };
    let known: BTreeSet<&str> = refs.iter().copied().collect();
    let mut approved: BTreeSet<&str> = BTreeSet::new();
    for name in chosen {
        if !known.contains(name.as_str()) {
            return Err(bad_request(format!("the report lists no effect {}", quoted(name))));
        }
        if !approved.insert(name) {
            return Err(bad_request(format!("effect {} is named twice", quoted(name))));
        }
    }
    let needs: BTreeMap<&str, Vec<&str>> = listed
        .iter()
        .map(|effect| {
            let references = effect.get("arguments").map(effect_references).unwrap_or_default();
            (text(effect, "ref"), references.into_iter().map(|reference| reference.effect).collect())
        })
        .collect();
    // Each effect's references name earlier effects (R16), so looking one step back from each approved one suffices.
    for name in &approved {
        let missing = needs.get(name).into_iter().flatten().find(|needed| !approved.contains(*needed));
        if let Some(missing) = missing {
            let message =
                format!("effect {} uses the result of {}, which is not approved", quoted(name), quoted(missing));
            return Err(bad_request(message));
        }
    }
    if listed.is_empty() {
        return Ok(None);
    }
    Ok(Some(refs.into_iter().filter(|name| approved.contains(name)).map(String::from).collect()))
}

fn expire_due(view: &View, id: &str, context: &Context<'_>) -> Result<Outcome, ViewError> {
    Ok(match Turn::open(view, id, context)? {
        Err(refusal) => refusal.into(),
        Ok(turn) => Outcome::accept(turn.facts, Value::Null),
    })
}

fn import_record(view: &View, record: &Object) -> Result<Outcome, ViewError> {
    let imported = match import::parse(record) {
        Ok((imported, _)) => imported,
        Err(fault) => return Ok(bad_request(fault).into()),
    };
    let id = imported.order_id();
    if view.document::<OrderRecord>(id)?.is_some() {
        return Ok(refusal("ALREADY_EXISTS", format!("order {} exists already", quoted(id))).into());
    }
    Ok(Outcome::accept([Fact::Imported { record: record.clone() }].into(), Object::new().with("id", id)))
}
