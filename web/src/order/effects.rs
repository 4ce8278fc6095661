//! Effects: calls that are held back until the report is approved (`spec work-orders §8`).

use std::collections::BTreeSet;

use bailiwick_core::json::{Object, Value};
use bailiwick_core::work::{State, effect_references};
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::Shown;
use crate::api::{Path, fresh_key};
use crate::desk::Desk;
use crate::document::{items, text};
use crate::parts::{Command, Json, focus, live, memo};

/// The first effect that would run without one whose result it uses: its ref and the other's.
pub(super) fn unmet(effects: &[Value], left_out: &BTreeSet<String>) -> Option<(String, String)> {
    let runs = |name: &str| !left_out.contains(name);
    effects.iter().filter(|effect| runs(text(effect, "ref"))).find_map(|effect| {
        let references = effect.get("arguments").map(effect_references).unwrap_or_default();
        let missing = references.into_iter().find(|reference| !runs(reference.effect))?;
        Some((text(effect, "ref").to_string(), missing.effect.to_string()))
    })
}

/// The refs of the effects that are not left out; `None` where the report lists none.
pub(super) fn chosen(effects: &[Value], left_out: &BTreeSet<String>) -> Option<Vec<String>> {
    let refs = effects.iter().map(|effect| text(effect, "ref")).filter(|name| !left_out.contains(*name));
    (!effects.is_empty()).then(|| refs.map(String::from).collect())
}

/// The effects of the last report.
pub(super) fn listed(report: Option<&Value>) -> Vec<Value> {
    report.map(|report| items(report, "effects").to_vec()).unwrap_or_default()
}

/// The effects, for reading, and how they stand once they were approved. Nothing where there are none.
#[component]
pub(super) fn Effects(shown: Shown) -> impl IntoView {
    let effects = memo(move || shown.report.with(|report| listed(report.as_deref())));
    let standing = memo(move || {
        shown.load.answer.with(|view| view.as_deref().map(|view| items(view, "effects").to_vec()).unwrap_or_default())
    });
    let approved = memo(move || shown.state.get() == Some(State::Approved));
    let words = move || match (approved.get(), standing.with(Vec::is_empty)) {
        (false, _) => "The worker wants these to run, in this order. None has run yet; approving the report lets them.",
        (true, true) => "None of these was approved, so none runs.",
        (true, false) => "Those that were approved run when the gateway carries them out:",
    };
    let command = move || {
        let waits = standing.with(|all| all.iter().any(|effect| text(effect, "status") == "approved"));
        let id = shown.id.get_value();
        waits.then(
            || view! { <Command text=format!("bailiwick gateway --order {id} --config upstream.json --commit")/> },
        )
    };
    live(move || {
        (!effects.with(Vec::is_empty)).then(|| view! {
            <section class="card stack tight" aria-labelledby="effects">
                <h2 id="effects" tabindex="-1">"Held calls"</h2>
                <p class="quiet">{live(words)}</p>
                {live(command)}
                <ol class="effects">
                    {effects.get().into_iter().map(|effect| view! { <Effect shown standing approved effect/> }).collect_view()}
                </ol>
            </section>
        })
    })
}

/// Where an approved effect stands, and another try where it went wrong.
#[component]
fn Standing(shown: Shown, standing: Memo<Vec<Value>>, approved: Memo<bool>, name: String) -> impl IntoView {
    let desk = Desk::here();
    let name = StoredValue::new(name);
    let fault = RwSignal::new(None::<String>);
    let mine = memo(move || {
        standing.with(|all| all.iter().find(|effect| name.with_value(|name| text(effect, "ref") == name)).cloned())
    });
    let retry = move |_| {
        spawn_local(async move {
            let path = Path::new("orders").then(&shown.id.get_value()).then("effects").then("retry").into_text();
            let body = Object::new().with("ref", name.get_value());
            match desk.post(&path, &body, &fresh_key()).await {
                Ok(view) => {
                    shown.load.answer.try_set(Some(std::sync::Arc::new(view)));
                    desk.notices.say(format!("{} may be tried again.", name.get_value()));
                    focus("effects");
                }
                Err(error) => {
                    fault.try_set(Some(format!("Not done. {}.", error.sentence())));
                }
            }
        });
    };
    let manages = move || shown.order.with(|order| text(order, "from") == desk.caller_id()) && desk.may_act();
    live(move || {
        if !approved.get() {
            return None;
        }
        let Some(mine) = mine.get() else {
            return Some(view! { <p class="quiet">"Not approved: it does not run."</p> }.into_any());
        };
        let (words, class, again) = match text(&mine, "status") {
            "done" => ("Done", "badge good", false),
            "failed" => ("Failed", "badge bad", true),
            "started" => ("Running, or nobody knows whether it ran", "badge warn", true),
            _ => ("Approved, waits to run", "badge", false),
        };
        let error = text(&mine, "error").to_string();
        let result = mine.get("result").cloned().map(|result| {
            view! { <details><summary>"Result"</summary><Json value=Signal::stored(result) what="result"/></details> }
        });
        let again = (again && manages()).then(|| {
            view! {
                <p class="quiet">"If it did run after all, another try makes it happen twice."</p>
                <div><button type="button" class="button" on:click=retry>"Allow another try"</button></div>
            }
        });
        Some(
            view! {
                <p aria-live="polite"><span class=class>{words}</span>" "{error}</p>
                {result}
                {again}
                {live(move || fault.get().map(|fault| view! { <p class="note bad" role="alert">{fault}</p> }))}
            }
            .into_any(),
        )
    })
}

#[component]
fn Effect(shown: Shown, standing: Memo<Vec<Value>>, approved: Memo<bool>, effect: Value) -> impl IntoView {
    let reversible = match effect.get("reversible").and_then(Value::as_bool) {
        Some(true) => Some("The worker says it can be undone"),
        Some(false) => Some("The worker says it cannot be undone"),
        None => None,
    };
    let arguments = effect.get("arguments").cloned().unwrap_or(Value::Null);
    view! {
        <li class="stack tight">
            <p><code class="id">{text(&effect, "ref").to_string()}</code>" "<span class="quiet">{reversible}</span></p>
            <Json value=Signal::stored(arguments) what="arguments"/>
            <Standing shown standing approved name=text(&effect, "ref").to_string()/>
        </li>
    }
}

/// Which effects to approve.
#[component]
pub(super) fn EffectChoice(
    /// The effects of the report
    effects: Memo<Vec<Value>>,
    /// The refs of those that are not to run
    left_out: RwSignal<BTreeSet<String>>,
) -> impl IntoView {
    let row = move |effect: Value| {
        let name = text(&effect, "ref").to_string();
        let (held, changed) = (name.clone(), name.clone());
        let change = move |event| {
            let runs = event_target_checked(&event);
            left_out.update(|left_out| {
                if runs {
                    left_out.remove(&changed)
                } else {
                    left_out.insert(changed.clone())
                };
            });
        };
        view! {
            <label class="check">
                <input type="checkbox" prop:checked=move || left_out.with(|left_out| !left_out.contains(&held)) on:change=change/>
                <code class="id">{name}</code>
            </label>
        }
    };
    let fault = move || {
        effects.with(|effects| left_out.with(|left_out| unmet(effects, left_out))).map(|(effect, needed)| {
            view! {
                <p class="wrong">
                    <code>{effect}</code>" uses the result of "<code>{needed}</code>": approve both or neither."
                </p>
            }
        })
    };
    live(move || {
        (!effects.with(Vec::is_empty)).then(|| {
            view! {
                <fieldset class="field" aria-describedby="effects-fault">
                    <legend>"Calls to let run"</legend>
                    {effects.get().into_iter().map(row).collect_view()}
                    <div id="effects-fault">{fault}</div>
                </fieldset>
            }
        })
    })
}

#[cfg(test)]
mod tests {
    use bailiwick_core::json::{Limits, parse};

    use super::*;

    #[test]
    fn an_effect_needs_what_it_refers_to() {
        let effects = parse(
            br##"[{"ref":"t/a#1","arguments":{}},{"ref":"t/b#2","arguments":{"x":[{"$ref":"t/a#1"}]}}]"##,
            &Limits::DOCUMENT,
        );
        let effects = effects.unwrap().as_array().unwrap().to_vec();
        let without = |name: &str| BTreeSet::from([name.to_string()]);
        assert_eq!(unmet(&effects, &BTreeSet::new()), None);
        assert_eq!(unmet(&effects, &without("t/b#2")), None);
        assert_eq!(unmet(&effects, &without("t/a#1")), Some(("t/b#2".into(), "t/a#1".into())));
        assert_eq!(chosen(&effects, &without("t/b#2")), Some(vec!["t/a#1".into()]));
        assert_eq!(chosen(&[], &BTreeSet::new()), None);
    }
}
