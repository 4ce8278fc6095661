//! Where no desk can be asked: a gateway counts by itself what is done with an order's passes (`spec work-orders §15.5`, `§15.6`).
//!
//! The same checks in the same order as at a desk, on a [`Tally`] that the gateway keeps. It bounds what goes through this
//! gateway; several gateways that can't ask a desk know nothing of each other, so it can't bound their sum. A pass doesn't say
//! what sub-orders hold, how long the worker waited for an answer, or whether there was a rework: the first is not taken off,
//! all time since the first pass counts, and nothing that is held is dropped.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::act::{CallOutcome, amounts};
use super::allowance::{fits, minus, plus};
use super::call::{bytes_of, check_room, exceeded, held_reference, not_held_reference, reference};
use crate::heart::Refusal;
use crate::json::{Number, Object, Value};
use crate::time::{self, Millis};
use crate::work::decide::forbidden;
use crate::work::pass::Pass;
use crate::work::{Totals, UNITS, Unit, effect_references, quoted};

/// How many calls are listed with their outcome; the older ones are counted only.
const MOST_LOGGED: usize = 1_000;

/// What a gateway has let through under one order, by itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Tally {
    order: String,
    calls: u64,
    spent: Totals,
    /// What a desk was seen to count
    at_desk: Totals,
    next_n: u64,
    attempt: u64,
    began_at: Option<Millis>,
    tools_used: BTreeSet<String>,
    held: Vec<Held>,
    held_bytes: u64,
    log: Vec<Logged>,
}

/// A call that is held.
#[derive(Debug, Clone, PartialEq)]
struct Held {
    reference: String,
    tool: String,
    arguments: Value,
    at: String,
}

/// A call that was let through or held.
#[derive(Debug, Clone, PartialEq)]
struct Logged {
    n: u64,
    tool: String,
    at: String,
    staged: bool,
    outcome: Option<CallOutcome>,
}

/// A call that a [`Tally`] has let through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counted {
    /// Its number among all calls of the order
    pub n: u64,
    /// `server/tool#n`
    pub reference: String,
    /// Whether it is held rather than forwarded
    pub staged: bool,
}

impl Tally {
    /// Of an order of which this gateway has seen nothing.
    pub fn unused(order: &str) -> Self {
        Self {
            order: order.into(),
            calls: 0,
            spent: Totals::default(),
            at_desk: Totals::default(),
            next_n: 1,
            attempt: 0,
            began_at: None,
            tools_used: BTreeSet::new(),
            held: Vec::new(),
            held_bytes: 0,
            log: Vec::new(),
        }
    }

    /// The order.
    pub fn order(&self) -> &str {
        &self.order
    }

    /// Takes note of what a desk was seen to count before it could not be asked any more: its last number, which so many calls
    /// had, and what they cost. Numbers go on from there, and it counts as spent.
    pub fn learn(&mut self, last_n: u64, cost: &Totals) {
        self.next_n = self.next_n.max(last_n.saturating_add(1));
        let calls = Number::Integer(last_n.into());
        for (unit, amount) in
            [(Unit::ToolCalls, Some(calls)), (Unit::Usd, cost.get(Unit::Usd)), (Unit::Tokens, cost.get(Unit::Tokens))]
        {
            let known = self.at_desk.get(unit).unwrap_or(Number::Integer(0));
            if let Some(amount) = amount.filter(|amount| *amount > known) {
                self.at_desk.add(unit, minus(amount, known));
            }
        }
    }

    /// Checks a call in the order of `spec §15.3`, with a pass that was verified, and gives it a number. The tally must be
    /// kept for good before the call is forwarded.
    ///
    /// # Errors
    ///
    /// `FORBIDDEN`, `BUDGET_EXCEEDED` or `BAD_REQUEST`; then nothing was counted.
    pub fn begin(&mut self, pass: &Pass, tool: &str, arguments: &Value, now: Millis) -> Result<Counted, Refusal> {
        if pass.order() != self.order {
            let (of, here) = (quoted(pass.order()), quoted(&self.order));
            return Err(forbidden(format!("the pass is for order {of}, this gateway is for {here}")));
        }
        if !pass.allows(tool) {
            return Err(forbidden(format!("the pass does not allow the tool {}", quoted(tool))));
        }
        let began_at = self.began_at.map_or(pass.issued_at(), |began| began.min(pass.issued_at()));
        self.check_budget(pass, began_at, now)?;
        let staged = pass.stages(tool);
        self.check_references(arguments, staged)?;
        let held_bytes = match staged {
            true => check_room(u64::try_from(self.held.len()).unwrap_or(u64::MAX), self.held_bytes, arguments)?,
            false => self.held_bytes,
        };
        let (n, at) = (self.next_n, time::format(now));
        let counted = Counted { n, reference: reference(tool, n), staged };
        (self.began_at, self.held_bytes) = (Some(began_at), held_bytes);
        self.next_n = n.saturating_add(1);
        self.calls = self.calls.saturating_add(1);
        self.tools_used.insert(tool.into());
        if staged {
            let (reference, arguments) = (counted.reference.clone(), arguments.clone());
            self.held.push(Held { reference, tool: tool.into(), arguments, at: at.clone() });
        }
        if self.log.len() >= MOST_LOGGED {
            self.log.remove(0);
        }
        self.log.push(Logged { n, tool: tool.into(), at, staged, outcome: None });
        Ok(counted)
    }

    fn check_budget(&self, pass: &Pass, began_at: Millis, now: Millis) -> Result<(), Refusal> {
        for unit in UNITS {
            let Some(limit) = unit.of(pass.budget()) else { continue };
            let spent = self.spent_of(unit, began_at, now);
            if !fits(unit, limit, spent, Number::Integer(0)) {
                return Err(exceeded(unit, limit, spent));
            }
        }
        Ok(())
    }

    fn spent_of(&self, unit: Unit, began_at: Millis, now: Millis) -> Number {
        let own = match unit {
            Unit::ToolCalls => Number::Integer(self.calls.into()),
            Unit::Seconds => Number::Integer(now.0.saturating_sub(began_at.0).max(0).wrapping_div(1_000).into()),
            unit => self.spent.get(unit).unwrap_or(Number::Integer(0)),
        };
        self.at_desk.get(unit).map_or(own, |at_desk| plus(own, at_desk))
    }

    fn check_references(&self, arguments: &Value, staged: bool) -> Result<(), Refusal> {
        let is_held = |name: &str| self.held.iter().any(|held| held.reference == name);
        let names = effect_references(arguments).into_iter().map(|reference| reference.effect);
        match names.into_iter().find(|name| is_held(name) != staged) {
            Some(name) if staged => Err(not_held_reference(name)),
            Some(name) => Err(held_reference(name)),
            None => Ok(()),
        }
    }

    /// Takes note of how a forwarded call went, and of what it cost. One that was never forwarded gives its unit back.
    pub fn finish(&mut self, n: u64, outcome: CallOutcome, cost: Option<&Value>) {
        let Some(call) = self.log.iter_mut().find(|call| call.n == n && !call.staged && call.outcome.is_none()) else {
            return;
        };
        call.outcome = Some(outcome);
        if outcome == CallOutcome::Returned {
            self.calls = self.calls.saturating_sub(1);
        }
        for unit in [Unit::Usd, Unit::Tokens] {
            if let Some(amount) = unit.of(cost).filter(|amount| *amount >= Number::Integer(0)) {
                self.spent.add(unit, amount);
            }
        }
    }

    /// How it stands, in the form in which a desk says so: `{order_id, attempt, next_n, calls, spent, limits, remaining, tools_used,
    /// held}`; limits are those of a pass, if there is one.
    pub fn status(&self, pass: Option<&Pass>, now: Millis) -> Object {
        let (mut spent, mut limits, mut remaining) = (Object::new(), Object::new(), Object::new());
        let began_at = self.began_at.unwrap_or(now);
        for unit in UNITS {
            let used = self.spent_of(unit, began_at, now);
            spent.insert(unit.as_str(), used);
            if let Some(limit) = unit.of(pass.and_then(Pass::budget)) {
                limits.insert(unit.as_str(), limit);
                remaining.insert(unit.as_str(), minus(limit, used));
            }
        }
        let held = self.held.iter().map(|held| {
            let of = Object::new().with("ref", &held.reference).with("tool", &held.tool);
            Value::from(of.with("arguments", held.arguments.clone()))
        });
        Object::new()
            .with("order_id", &self.order)
            .with("attempt", self.attempt)
            .with("next_n", self.next_n)
            .with("calls", self.calls)
            .with("spent", spent)
            .with("limits", limits)
            .with("remaining", remaining)
            .with("tools_used", self.tools_used.iter().map(Value::from).collect::<Value>())
            .with("held", held.collect::<Value>())
    }

    /// As it is kept: `{order_id, calls, spent, next_n, attempt, held, log}` (`spec §15.5`), and `at_desk`,
    /// `began_at`, `tools_used`.
    pub fn to_value(&self) -> Value {
        let held = self.held.iter().map(|held| {
            let of = Object::new().with("ref", &held.reference).with("tool", &held.tool);
            Value::from(of.with("arguments", held.arguments.clone()).with("at", &held.at))
        });
        let log = self.log.iter().map(|call| {
            let of = Object::new().with("n", call.n).with("tool", &call.tool).with("at", &call.at);
            let ok = call.outcome.map(|outcome| outcome == CallOutcome::Done);
            let outcome = call.outcome.map(CallOutcome::as_str);
            Value::from(of.with("staged", call.staged).with_some("ok", ok).with_some("outcome", outcome))
        });
        Object::new()
            .with("order_id", &self.order)
            .with("calls", self.calls)
            .with("spent", amounts(&self.spent).unwrap_or_else(|| Object::new().into()))
            .with_some("at_desk", amounts(&self.at_desk))
            .with("next_n", self.next_n)
            .with("attempt", self.attempt)
            .with_some("began_at", self.began_at.map(time::format))
            .with("tools_used", self.tools_used.iter().map(Value::from).collect::<Value>())
            .with("held", held.collect::<Value>())
            .with("log", log.collect::<Value>())
            .into()
    }

    /// Reads what [`Tally::to_value`] gives; `None` for anything else.
    pub fn parse(value: &Value) -> Option<Self> {
        let count = |of: &Value, name| of.get(name)?.as_number()?.to_u64();
        let string = |of: &Value, name| of.get(name).and_then(Value::as_str).map(String::from);
        let list = |name| value.get(name).and_then(Value::as_array);
        let held: Vec<Held> = list("held")?
            .iter()
            .map(|held| {
                let (reference, tool) = (string(held, "ref")?, string(held, "tool")?);
                Some(Held { reference, tool, arguments: held.get("arguments")?.clone(), at: string(held, "at")? })
            })
            .collect::<Option<_>>()?;
        let log = list("log")?.iter().map(|call| {
            let outcome = match call.get("outcome") {
                Some(name) => Some(CallOutcome::parse(name.as_str()?)?),
                None => None,
            };
            let staged = call.get("staged")?.as_bool()?;
            Some(Logged { n: count(call, "n")?, tool: string(call, "tool")?, at: string(call, "at")?, staged, outcome })
        });
        Some(Self {
            order: string(value, "order_id")?,
            calls: count(value, "calls")?,
            spent: Totals::from_value(value.get("spent")?),
            at_desk: value.get("at_desk").map(Totals::from_value).unwrap_or_default(),
            next_n: count(value, "next_n")?,
            attempt: count(value, "attempt")?,
            began_at: match value.get("began_at") {
                Some(text) => Some(time::instant(text.as_str()?)?),
                None => None,
            },
            tools_used: list("tools_used")?.iter().map(|tool| tool.as_str().map(Into::into)).collect::<Option<_>>()?,
            held_bytes: held.iter().map(|held| bytes_of(&held.arguments)).fold(0, u64::saturating_add),
            held,
            log: log.collect::<Option<_>>()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jose::{Algorithm, KeySet, SigningKey};
    use crate::json::{Limits, parse};
    use crate::work::pass::{Check, Terms, issue, verify};

    fn json(text: &str) -> Value {
        parse(text.as_bytes(), &Limits::DOCUMENT).unwrap()
    }

    fn at(seconds: i64) -> Millis {
        Millis(1_800_000_000_000 + seconds * 1_000)
    }

    fn pass_of(order: &str, budget: &str, issued_at: Millis) -> Pass {
        let key = SigningKey::from_secret(Algorithm::Ed25519, &[7; 32]).unwrap();
        let order = json(&format!(
            r#"{{"id": "{order}", "to": "agent:w", "tools": ["a/*", "mail/send"], "staged": ["mail/send"],
                "budget": {budget}, "deadline": "2100-01-01T00:00:00Z"}}"#
        ));
        let terms = Terms {
            issuer: "https://desk.example",
            jti: "pass_1",
            now: issued_at,
            ttl_seconds: 900,
            audiences: &[],
            holder: None,
        };
        let token = issue(&order, &terms, &key).unwrap().token;
        verify(&token, &KeySet::of(key.public().clone()), &Check::at(issued_at), None).unwrap()
    }

    fn refused(result: Result<Counted, Refusal>) -> &'static str {
        result.unwrap_err().code
    }

    #[test]
    fn calls_are_counted_up_to_the_budget_whatever_pass_carries_them() {
        let mut tally = Tally::unused("wo_1");
        let (pass, renewed) =
            (pass_of("wo_1", r#"{"tool_calls": 3}"#, at(0)), pass_of("wo_1", r#"{"tool_calls": 3}"#, at(600)));
        assert_eq!(tally.begin(&pass, "a/x", &json("{}"), at(1)).unwrap().reference, "a/x#1");
        assert_eq!(refused(tally.begin(&pass, "b/x", &json("{}"), at(1))), "FORBIDDEN");
        assert_eq!(
            refused(tally.begin(&pass_of("wo_2", r#"{"usd": 1}"#, at(0)), "a/x", &json("{}"), at(1))),
            "FORBIDDEN"
        );
        assert_eq!(tally.begin(&renewed, "a/y", &json("{}"), at(601)).unwrap().n, 2);
        tally.finish(2, CallOutcome::Returned, None);
        assert_eq!(tally.begin(&renewed, "a/y", &json("{}"), at(602)).unwrap().n, 3);
        assert_eq!(tally.begin(&renewed, "a/y", &json("{}"), at(602)).unwrap().n, 4);
        let full = tally.begin(&renewed, "a/y", &json("{}"), at(603)).unwrap_err();
        assert_eq!((full.code, full.details.get("spent")), ("BUDGET_EXCEEDED", Some(&3_u64.into())));
        // An outcome counts once.
        tally.finish(2, CallOutcome::Returned, None);
        assert_eq!(refused(tally.begin(&renewed, "a/y", &json("{}"), at(603))), "BUDGET_EXCEEDED");
    }

    #[test]
    fn time_counts_from_the_first_pass_and_cost_once_it_is_known() {
        let mut tally = Tally::unused("wo_1");
        let pass = |from| pass_of("wo_1", r#"{"seconds": 60, "usd": 1}"#, at(from));
        assert_eq!(tally.begin(&pass(0), "a/x", &json("{}"), at(50)).unwrap().n, 1);
        assert_eq!(tally.begin(&pass(55), "a/x", &json("{}"), at(60)).unwrap().n, 2);
        assert_eq!(refused(tally.begin(&pass(55), "a/x", &json("{}"), at(61))), "BUDGET_EXCEEDED");
        tally.finish(1, CallOutcome::Done, Some(&json(r#"{"usd": 1, "tokens": 5, "other": 1}"#)));
        let full = tally.begin(&pass(0), "a/x", &json("{}"), at(50)).unwrap_err();
        assert_eq!(full.details.get("unit").and_then(Value::as_str), Some("usd"));
        // Nobody earns by saying a negative cost.
        tally.finish(2, CallOutcome::Done, Some(&json(r#"{"usd": -5}"#)));
        assert_eq!(refused(tally.begin(&pass(0), "a/x", &json("{}"), at(50))), "BUDGET_EXCEEDED");
    }

    #[test]
    fn held_calls_may_use_what_is_held_before_and_others_may_not() {
        let mut tally = Tally::unused("wo_1");
        tally.learn(6, &Totals::default());
        tally.learn(4, &Totals::default());
        let pass = pass_of("wo_1", r#"{"tool_calls": 9}"#, at(0));
        let early = json(r#"{"x": {"$ref": "mail/send#7"}}"#);
        assert_eq!(refused(tally.begin(&pass, "mail/send", &early, at(1))), "BAD_REQUEST");
        let held = tally.begin(&pass, "mail/send", &json(r#"{"to": 1}"#), at(1)).unwrap();
        assert_eq!((held.reference.as_str(), held.staged), ("mail/send#7", true));
        assert_eq!(tally.begin(&pass, "mail/send", &early, at(1)).unwrap().n, 8);
        assert_eq!(refused(tally.begin(&pass, "a/x", &early, at(1))), "BAD_REQUEST");
        let status = Value::from(tally.status(Some(&pass), at(2)));
        assert_eq!(status.get("held").unwrap().as_array().unwrap().len(), 2);
        assert_eq!(status.get("remaining").unwrap().get("tool_calls"), Some(&1_u64.into()));
        assert_eq!(Tally::parse(&tally.to_value()), Some(tally));
    }

    #[test]
    fn what_is_kept_is_read_again_and_nothing_else() {
        let mut tally = Tally::unused("wo_1");
        let pass = pass_of("wo_1", r#"{"tool_calls": 9, "usd": 3}"#, at(0));
        for tool in ["a/x", "mail/send", "a/y"] {
            tally.begin(&pass, tool, &json(r#"{"to": [1.5, null]}"#), at(1)).unwrap();
        }
        tally.finish(1, CallOutcome::Failed, Some(&json(r#"{"usd": 0.25}"#)));
        let kept = tally.to_value();
        assert_eq!(Tally::parse(&json(&crate::json::write_compact(&kept))), Some(tally));
        for name in ["order_id", "calls", "spent", "next_n", "held", "log"] {
            let mut without = kept.as_object().unwrap().clone();
            without.remove(name);
            assert_eq!(Tally::parse(&without.into()), None, "{name}");
        }
        assert_eq!(Tally::parse(&json("[]")), None);
    }
}
