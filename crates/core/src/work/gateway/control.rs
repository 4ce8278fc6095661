//! Holding an order's gateways up, and letting them go on.

use alloc::format;
use alloc::string::String;

use super::allowance::{Allowance, Standing};
use super::fact::{Controlled, GatewayFact};
use super::query::standing;
use crate::heart::{Refusal, View, ViewError};
use crate::principal::is_person;
use crate::time;
use crate::work::decide::{Outcome, Turn, forbidden, refusal};
use crate::work::quoted;

/// Sets what the gateways shall do from the next call on. An equal standing changes nothing.
pub(super) fn set(view: &View, turn: Turn<'_>, wanted: Standing, reason: Option<String>) -> Result<Outcome, ViewError> {
    let order = turn.record.order_id();
    let allowance = view.document(order)?.unwrap_or_else(|| Allowance::unused(order));
    if let Err(refusal) = check(&turn, &allowance, wanted) {
        return Ok(Outcome { facts: turn.facts, reply: Err(refusal) });
    }
    let mut facts = turn.facts;
    let mut after = allowance;
    if after.standing != wanted || after.reason != reason {
        let controlled = Controlled {
            order: order.into(),
            standing: wanted,
            reason,
            by: turn.context.principal.id.clone(),
            at: time::format(turn.context.now),
        };
        after.controlled(&controlled, turn.record.deadline());
        facts.push(GatewayFact::Controlled(controlled).into());
    }
    Ok(Outcome::accept(facts, standing(&after)))
}

/// Holding up only narrows, so any person may; letting go on is for who answers for the order, and lifting a pause for
/// whoever set it.
fn check(turn: &Turn<'_>, allowance: &Allowance, wanted: Standing) -> Result<(), Refusal> {
    let record = &turn.record;
    let actor = turn.context.principal.id.as_str();
    let answers_for_it = actor == record.manager() || record.escalation() == Some(actor);
    let paused_it = allowance.standing == Standing::Paused && allowance.by.as_deref() == Some(actor);
    let softens = wanted < allowance.standing;
    let may = answers_for_it || if softens { wanted == Standing::Running && paused_it } else { is_person(actor) };
    let id = quoted(record.order_id());
    if !may {
        let who = if softens {
            "its manager, for `escalate_to` and for whoever paused it"
        } else {
            "its manager, for `escalate_to` and for people"
        };
        return Err(forbidden(format!("`{}` on order {id} is for {who}, not for {}", wanted.as_str(), quoted(actor))));
    }
    if record.state.is_terminal() {
        return Err(refusal(
            "INVALID_TRANSITION",
            format!("order {id} is {}; there is nothing to hold up", record.state),
        ));
    }
    Ok(())
}
