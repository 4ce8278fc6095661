//! An order: what was asked, what came of it, and what to do about it.
//!
//! - `evidence`, `cost`, `tools`, `outcome`, `effects`, `timeline`, `tree`: the order and its last report, part by part
//! - `checks`: the rules, applied again here
//! - `rights`, `preview`, `decide`: who may do what, what the agent will see of it, and doing it

mod checks;
mod cost;
mod decide;
mod effects;
mod evidence;
mod outcome;
mod preview;
mod rights;
mod timeline;
mod tools;
mod tree;

use std::sync::Arc;

use bailiwick_core::json::Value;
use bailiwick_core::work::{Finding, State};
use leptos::prelude::*;
use leptos_router::hooks::use_params_map;

pub(crate) use checks::FindingList;

use crate::api::Path;
use crate::desk::Desk;
use crate::document::{count, items, text};
use crate::inbox::UrgencyMark;
use crate::load::Load;
use crate::page::Heading;
use crate::parts::{Fault, Json, StateBadge, focus, live, memo};
use crate::when::When;

/// The most characters of a goal that its heading shows.
const MOST_TITLE: usize = 120;

/// The order on the page, part by part: each part changes only when its own piece of the answer does.
#[derive(Clone, Copy)]
struct Shown {
    id: StoredValue<String>,
    load: Load,
    order: Memo<Arc<Value>>,
    report: Memo<Option<Arc<Value>>>,
    events: Memo<Arc<Value>>,
    findings: Memo<Vec<Finding>>,
    state: Memo<Option<State>>,
    last_seq: Memo<u64>,
    /// The views of the orders above, nearest first
    parents: RwSignal<Vec<Arc<Value>>>,
    sub_list: Load,
    subs: RwSignal<tree::Subs>,
}

impl Shown {
    fn of(id: String, load: Load) -> Self {
        let desk = Desk::here();
        let member = move |name: &'static str| {
            let read = move |answer: &Option<Arc<Value>>| answer.as_ref().and_then(|view| view.get(name)).cloned();
            memo(move || Arc::new(load.answer.with(read).unwrap_or(Value::Null)))
        };
        let report = member("latest_report");
        let order = member("order");
        let sub_list = tree::list_subs(desk, &id);
        Self {
            load,
            order,
            report: memo(move || Some(report.get()).filter(|report| !report.is_null())),
            events: member("events"),
            findings: memo(move || load.answer.with(|view| view.as_deref().map(checks::recorded).unwrap_or_default())),
            state: memo(move || load.answer.with(|view| State::parse(text(view.as_deref()?, "state")))),
            last_seq: memo(move || load.answer.with(|view| view.as_deref().map_or(0, |view| count(view, "last_seq")))),
            parents: tree::read_parents(desk, order),
            subs: tree::read_subs(desk, sub_list),
            sub_list,
            id: StoredValue::new(id),
        }
    }
}

/// The page at `/orders/:id`.
#[component]
pub(crate) fn OrderPage() -> impl IntoView {
    let params = use_params_map();
    let id = memo(move || params.with(|params| params.get("id")).unwrap_or_default());
    // Another order is another page, even though the address has the same form.
    live(move || view! { <OneOrder id=id.get()/> }.into_any())
}

#[component]
fn OneOrder(id: String) -> impl IntoView {
    let desk = Desk::here();
    let concerned = id.clone();
    let changes = desk.live.changes(move |entry| text(entry, "entity_id") == concerned);
    let load = Load::of(Signal::stored(Path::new("orders").then(&id).into_text()), changes);
    let there = memo(move || load.answer.with(Option::is_some));
    let missing = memo(move || load.error.with(|error| error.as_ref().is_some_and(|error| error.is_not_found())));
    live(move || {
        if there.get() {
            view! { <Fault load/><Order shown=Shown::of(id.clone(), load)/> }.into_any()
        } else if missing.get() {
            view! { <Missing id=id.clone()/> }.into_any()
        } else {
            view! { <Heading title="Order"/><Fault load/> }.into_any()
        }
    })
}

#[component]
fn Missing(id: String) -> impl IntoView {
    view! {
        <div class="gate">
            <Heading title="No such order"/>
            <p>"This desk has no order "<code class="id">{id}</code>", or it is not yours to see."</p>
            <p>"Ids are compared letter by letter. "<a href="/orders">"Look through the orders"</a>"."</p>
        </div>
    }
}

#[component]
fn Order(shown: Shown) -> impl IntoView {
    view! {
        <Head shown/>
        <div class="order-page">
            <div class="stack">
                <outcome::Outcome shown/>
                <effects::Effects shown/>
                <evidence::Criteria shown/>
                <checks::Checks shown/>
                <timeline::Timeline shown/>
            </div>
            <div class="stack">
                <decide::Decide shown/>
                <cost::Cost shown/>
                <tools::Tools shown/>
                <tree::Tree shown/>
                <Given shown/>
            </div>
        </div>
    }
}

#[component]
fn Head(shown: Shown) -> impl IntoView {
    let member = move |name: &'static str| shown.order.with(|order| text(order, name).to_string());
    let title = Signal::derive(move || title(&member("goal")));
    let state = move || shown.state.get().map(|state| view! { <StateBadge name=state.as_str()/> });
    let active = memo(move || shown.state.get().is_some_and(|state| !state.is_terminal()));
    let escalation = move || {
        Some(member("escalate_to")).filter(|contact| !contact.is_empty()).map(|contact| {
            view! {
                <span>"questions also to "<span class="id">{contact}</span></span>
            }
        })
    };
    view! {
        <div class="order-head">
            <p class="order-meta quiet"><a href="/orders">"Orders"</a><span class="id">{shown.id.get_value()}</span></p>
            <Heading title/>
            {live(move || (title.get() != member("goal")).then(|| view! { <p class="prose goal">{member("goal")}</p> }))}
            <p class="order-meta">
                <span aria-live="polite">{state}</span>
                <span>"to "<span class="id">{live(move || member("to"))}</span></span>
                <span>"from "<span class="id">{live(move || member("from"))}</span></span>
                {escalation}
                <span>
                    "due "{live(move || view! { <When at=member("deadline")/> })}" "
                    {live(move || active.get().then(|| view! { <UrgencyMark due=member("deadline")/> }))}
                </span>
                <span class="quiet">"issued "{live(move || view! { <When at=member("created_at")/> })}</span>
            </p>
            {live(move || active.get().then(|| view! {
                <button type="button" class="button small to-decide" on:click=move |_| focus("decide-title")>
                    "Go to your part"
                </button>
            }))}
        </div>
    }
}

/// The first line of a goal, short enough for a heading.
fn title(goal: &str) -> String {
    let line = goal.trim().lines().next().unwrap_or_default();
    if line.chars().count() <= MOST_TITLE {
        return line.into();
    }
    let cut: String = line.chars().take(MOST_TITLE).collect();
    let whole_words = cut.rsplit_once(' ').map_or(cut.as_str(), |(words, _)| words);
    format!("{whole_words}…")
}

/// What the worker was given besides the goal, and the document itself.
#[component]
fn Given(shown: Shown) -> impl IntoView {
    let member = move |name: &'static str| shown.order.with(|order| order.get(name).cloned());
    let context = move || {
        let refs = shown.order.with(|order| items(order, "context").to_vec());
        (!refs.is_empty()).then(|| {
            view! {
                <h3>"To read"</h3>
                <ul class="stack tight">
                    {refs
                        .into_iter()
                        .map(|reference| view! {
                            <li>
                                <evidence::Reference reference=text(&reference, "uri")/>
                                <p class="quiet prose">{text(&reference, "note").to_string()}</p>
                            </li>
                        })
                        .collect_view()}
                </ul>
            }
        })
    };
    let part = move |name: &'static str, words: &'static str| {
        move || {
            member(name).map(|value| {
                view! {
                    <details><summary>{words}</summary><Json value=Signal::stored(value) what=words/></details>
                }
            })
        }
    };
    view! {
        <section class="card stack tight" aria-labelledby="given">
            <h2 id="given">"What the worker was given"</h2>
            {context}
            {live(move || view! { <outcome::Handoff handoff=member("handoff")/> })}
            {part("inputs", "Inputs")}
            {part("output_schema", "Output schema")}
            {part("metadata", "Metadata")}
            <details>
                <summary>"The order as it was issued"</summary>
                <Json value=Signal::derive(move || shown.order.with(|order| Value::clone(order))) what="order"/>
            </details>
        </section>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_goal_is_cut_between_words() {
        assert_eq!(title("  Do it\nand more"), "Do it");
        let long = "word ".repeat(40);
        let cut = title(&long);
        assert!(cut.ends_with("word…") && cut.chars().count() <= MOST_TITLE, "{cut}");
        assert_eq!(title(""), "");
    }
}
