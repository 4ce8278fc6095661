//! What a gateway does under an order: calls, held calls carried out, and who may hold it up (`spec work-orders §8`, `§15`).
//!
//! A gateway stands before the tools. It asks before each call ([`Act::BeginCall`]) and says afterwards how it went
//! ([`Act::FinishCall`]). A call counts as spent from the moment it is allowed, so that neither a crash nor a second gateway can
//! spend the same unit twice; only one that was never forwarded gives its units back, and only at once.
//!
//! Calls of staged tools are held with their arguments. Once a report that lists them is approved, each is carried out at
//! most once: claimed ([`Act::BeginEffect`]), then settled ([`Act::FinishEffect`]). One that was claimed and never settled may
//! or may not have run, and is not run again unless the manager says so ([`Act::AllowEffectRetry`]).
//!
//! Where no desk can be asked, a gateway counts by itself what is done with an order's passes: [`Tally`].
//!
//! | Document | One for each | Holds |
//! |---|---|---|
//! | [`Allowance`] | order | numbers given out, what was spent, which tools were used, whether the gateway may go on |
//! | [`Call`] | call | who made it when, and how it went; the arguments of a held one |
//! | [`Effect`] | effect that was claimed | where it stands, and its result, which later effects may use |

mod act;
mod allowance;
mod alone;
mod call;
mod control;
mod effects;
mod fact;
mod query;

pub use act::{Act, BeginCall, BeginEffect, CallOutcome, Ending, FinishCall, FinishEffect};
pub use allowance::{Allowance, Standing};
pub use alone::{Counted, Tally};
pub(in crate::work) use call::check_standing;
pub use call::{Call, MOST_HELD, MOST_HELD_BYTES, RETURN_SECONDS};
pub use effects::{Effect, EffectStatus, MOST_RESULT_BYTES, arguments_digest};
pub(in crate::work) use effects::{fresh as fresh_effects, moved as effect_moved, views as effect_views};
pub use fact::{CallBegun, CallFinished, Controlled, GatewayFact};
pub(in crate::work) use query::{calls, status};

use super::decide::{Outcome, Turn, forbidden};
use crate::heart::{Context, Refusal, View, ViewError};
use crate::principal::is_gateway;

/// Decides what a gateway, or whoever minds one, asks for.
pub(in crate::work) fn decide(
    view: &View,
    order: &str,
    act: &Act,
    context: &Context<'_>,
) -> Result<Outcome, ViewError> {
    if let Err(refusal) = check_principal(act, context) {
        return Ok(refusal.into());
    }
    let turn = match Turn::open(view, order, context)? {
        Err(refusal) => return Ok(refusal.into()),
        Ok(turn) => turn,
    };
    match act {
        Act::BeginCall(begin) => call::begin(view, turn, begin),
        Act::FinishCall(finish) => call::finish(view, turn, finish),
        Act::BeginEffect(begin) => effects::begin(view, turn, begin),
        Act::FinishEffect(finish) => effects::finish(view, turn, finish),
        Act::AllowEffectRetry { reference, reason } => effects::allow_retry(view, turn, reference, reason.clone()),
        Act::Control { standing, reason } => control::set(view, turn, *standing, reason.clone()),
    }
}

/// Calls and effects are for gateways alone: their records are evidence.
fn check_principal(act: &Act, context: &Context<'_>) -> Result<(), Refusal> {
    if act.is_for_gateways() && !is_gateway(&context.principal.id) {
        let name = act.name();
        return Err(forbidden(alloc::format!("`{name}` is for gateways: `gateway` or `gateway:<name>`")));
    }
    Ok(())
}
