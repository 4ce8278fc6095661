//! Cost against budget, as bars.

use std::sync::Arc;

use bailiwick_core::json::{Number, Value};
use bailiwick_core::work::{SubOrder, Totals, UNITS, Unit, held_by_sub_orders};
use leptos::prelude::*;

use super::Shown;
use crate::parts::{amount_words, live, memo, unit_words};

/// What was used of one unit.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Bar {
    unit: Unit,
    /// The most that may be used; `None` where the order sets no limit
    limit: Option<Number>,
    /// What the last report says was used
    own: Option<Number>,
    /// What sub-orders hold
    held: Option<Number>,
}

/// The lengths of a bar's parts, in percent of the whole.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Lengths {
    own: f64,
    held: f64,
    /// Where the limit is
    limit: f64,
}

impl Bar {
    fn used(&self) -> f64 {
        self.own.map_or(0.0, Number::to_f64) + self.held.map_or(0.0, Number::to_f64)
    }

    /// How much is used beyond the limit; the rules forgive a billionth.
    fn excess(&self) -> Option<f64> {
        let excess = self.used() - self.limit?.to_f64();
        (excess > 1e-9).then_some(excess)
    }

    fn lengths(&self) -> Lengths {
        let limit = self.limit.map_or(0.0, Number::to_f64);
        let whole = limit.max(self.used());
        let percent = |part: f64| if whole > 0.0 { part / whole * 100.0 } else { 0.0 };
        Lengths {
            own: percent(self.own.map_or(0.0, Number::to_f64)),
            held: percent(self.held.map_or(0.0, Number::to_f64)),
            limit: percent(limit),
        }
    }

    /// The bar in words.
    fn words(&self) -> String {
        let used = self.own.map_or_else(|| "nothing reported".into(), |own| format!("{} used", amount_words(own)));
        let held = self.held.map_or_else(String::new, |held| format!(", {} held by sub-orders", amount_words(held)));
        match self.limit {
            Some(limit) => format!("{used}{held}, of {}", amount_words(limit)),
            None => format!("{used}{held}, no limit"),
        }
    }
}

/// A bar for every unit that the order limits or the report names.
pub(super) fn bars(order: &Value, report: Option<&Value>, held: &Totals) -> Vec<Bar> {
    UNITS
        .into_iter()
        .map(|unit| Bar {
            unit,
            limit: unit.of(order.get("budget")),
            own: unit.of(report.and_then(|report| report.get("cost"))),
            held: held.get(unit),
        })
        .filter(|bar| bar.limit.is_some() || bar.own.is_some())
        .collect()
}

/// What the sub-orders that were read hold, as the desk counts it.
fn held(subs: &[Arc<Value>]) -> Totals {
    held_by_sub_orders(subs.iter().filter_map(|sub| sub_order(sub)))
}

/// A sub-order as the rules want it, from its view.
pub(super) fn sub_order(view: &Value) -> Option<SubOrder<'_>> {
    let state = bailiwick_core::work::State::parse(view.get("state")?.as_str()?)?;
    Some(SubOrder { order: view.get("order")?, state })
}

/// Cost against budget.
#[component]
pub(super) fn Cost(shown: Shown) -> impl IntoView {
    let bars = memo(move || {
        let held = shown.subs.with(|subs| held(&subs.views));
        shown.order.with(|order| shown.report.with(|report| bars(order, report.as_deref(), &held)))
    });
    view! {
        <section class="card" aria-labelledby="cost">
            <h2 id="cost">"Cost and budget"</h2>
            <ul class="stack">{live(move || bars.get().into_iter().map(|bar| view! { <BarRow bar/> }).collect_view())}</ul>
        </section>
    }
}

#[component]
fn BarRow(bar: Bar) -> impl IntoView {
    let Lengths { own, held, limit } = bar.lengths();
    let excess = bar.excess().map(|excess| {
        let excess = amount_words(Number::Float((excess * 1e9).round() / 1e9));
        view! { <span class="badge bad">{format!("{excess} over the limit")}</span> }
    });
    let percent = |length: f64| format!("{length:.2}%");
    let own_class = if excess.is_some() { "over" } else { "own" };
    view! {
        <li class="bar">
            <div class="bar-head">
                <span class="label">{unit_words(bar.unit)}" "{excess}</span>
                <span>{bar.words()}</span>
            </div>
            <svg aria-hidden="true" preserveAspectRatio="none">
                <rect class=own_class x="0" y="0" width=percent(own) height="100%"/>
                <rect class="held" x=percent(own) y="0" width=percent(held) height="100%"/>
                {(bar.limit.is_some() && limit < 99.5).then(|| view! {
                    <line class="limit" x1=percent(limit) x2=percent(limit) y1="0" y2="100%"/>
                })}
            </svg>
        </li>
    }
}

#[cfg(test)]
mod tests {
    use bailiwick_core::json::{Limits, parse};

    use super::*;

    fn value(text: &str) -> Value {
        parse(text.as_bytes(), &Limits::DOCUMENT).unwrap()
    }

    #[test]
    fn own_cost_and_what_is_held_count_together() {
        let order = value(r#"{"budget":{"usd":4,"tool_calls":10}}"#);
        let report = value(r#"{"cost":{"usd":3,"tokens":5}}"#);
        let sub = Arc::new(value(r#"{"state":"working","order":{"budget":{"usd":2}}}"#));
        let gone = Arc::new(value(r#"{"state":"declined","order":{"budget":{"usd":9}}}"#));
        let bars = bars(&order, Some(&report), &held(&[sub, gone]));
        let words: Vec<String> = bars.iter().map(Bar::words).collect();
        let expected = ["3 used, 2 held by sub-orders, of 4", "5 used, no limit", "nothing reported, of 10"];
        assert_eq!(words, expected);
        assert_eq!(bars[0].excess(), Some(1.0));
        assert_eq!(bars[0].lengths(), Lengths { own: 60.0, held: 40.0, limit: 80.0 });
        assert_eq!(bars[1].excess(), None);
        assert_eq!(bars[2].lengths(), Lengths { own: 0.0, held: 0.0, limit: 100.0 });
    }

    #[test]
    fn a_budget_of_nothing_divides_nothing() {
        let bars = bars(&value(r#"{"budget":{"usd":0}}"#), None, &Totals::default());
        assert_eq!(bars[0].lengths(), Lengths { own: 0.0, held: 0.0, limit: 0.0 });
    }
}
