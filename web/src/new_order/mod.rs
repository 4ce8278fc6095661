//! A new order: a form whose document is checked while it is written.
//!
//! - `draft`: what stands in the fields, and the document it makes
//! - `fields`: the fields
//! - `text`: the same draft as JSON text

mod draft;
mod fields;
mod text;

use std::collections::BTreeSet;
use std::sync::Arc;

use bailiwick_core::json::{Limits, Object, Value, parse, write_compact};
use bailiwick_core::time;
use bailiwick_core::work::{Finding, NoEngine, validate_order};
use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos_router::NavigateOptions;
use leptos_router::hooks::use_navigate;

use crate::api::{ApiError, fresh_key, segment};
use crate::desk::Desk;
use crate::document::text as member;
use crate::page::Heading;
use crate::parts::{focus, live, memo};
use draft::{Draft, Spot, Unreadable, fault_words, filled_in};
use fields::Fields;
use text::Text;

/// Under which name the browser keeps the draft while the tab is open.
const KEPT: &str = "bailiwick.new-order";

/// Two ways to see the draft.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tab {
    Form,
    Json,
}

/// What is being written, and what the rules say of it.
#[derive(Clone, Copy)]
struct Writing {
    draft: RwSignal<Draft>,
    /// The document as the agent will get it; where a text cannot be read, which
    order: Memo<Result<Arc<Value>, Vec<Unreadable>>>,
    findings: Memo<Vec<Finding>>,
    /// Where somebody has written and gone on: only there findings are shown before the order is sent
    touched: RwSignal<BTreeSet<String>>,
    /// Whether sending has been tried
    tried: RwSignal<bool>,
    /// Why the text on the page cannot be read: the draft is then an earlier one, and not what is to be sent
    text_fault: RwSignal<Option<String>>,
}

impl Writing {
    fn new(desk: Desk) -> Self {
        let draft = RwSignal::new(kept().unwrap_or_else(Draft::new));
        let order = memo(move || {
            let created_at = time::format(desk.now.get());
            let manager = desk.caller_id();
            draft.with(Draft::document).map(|document| Arc::new(filled_in(&document, &manager, &created_at)))
        });
        let findings = memo(move || {
            order
                .with(|order| order.as_ref().map(|order| validate_order(order, &NoEngine).findings).unwrap_or_default())
        });
        Effect::new(move |_| keep(&draft.get()));
        let (touched, tried, text_fault) = (RwSignal::new(BTreeSet::new()), RwSignal::new(false), RwSignal::new(None));
        Self { draft, order, findings, touched, tried, text_fault }
    }

    /// What is wrong at a place, once it is time to say so. `name` is the place's name among those touched.
    fn faults(self, spot: Spot, name: &str) -> Vec<String> {
        if !self.tried.get() && !self.touched.with(|touched| touched.contains(name)) {
            return Vec::new();
        }
        let unreadable = self.order.with(|order| match (order, spot) {
            (Err(faults), Spot::Field(field)) => {
                faults.iter().filter(|fault| fault.field == field).map(|fault| fault.message.clone()).collect()
            }
            _ => Vec::new(),
        });
        let here = |finding: &&Finding| Spot::of(&finding.path) == spot;
        let found = self.findings.with(|findings| {
            self.draft.with(|draft| findings.iter().filter(here).map(|finding| fault_words(draft, finding)).collect())
        });
        [unreadable, found].concat()
    }

    /// Somebody has written at a place and gone on.
    fn touch(self, name: &str) {
        if !self.touched.with_untracked(|touched| touched.contains(name)) {
            self.touched.update(|touched| {
                touched.insert(name.into());
            });
        }
    }
}

fn storage() -> Option<web_sys::Storage> {
    window().session_storage().ok().flatten()
}

fn kept() -> Option<Draft> {
    let text = storage()?.get_item(KEPT).ok().flatten()?;
    Draft::from_value(&parse(text.as_bytes(), &Limits::DOCUMENT).ok()?)
}

/// A browser that keeps nothing loses only the convenience.
fn keep(draft: &Draft) {
    if let Some(storage) = storage() {
        let _ = if draft.is_blank() {
            storage.remove_item(KEPT)
        } else {
            storage.set_item(KEPT, &write_compact(&draft.to_value()))
        };
    }
}

/// The page at `/new`.
#[component]
pub(crate) fn NewOrderPage() -> impl IntoView {
    let desk = Desk::here();
    let writing = Writing::new(desk);
    let tab = RwSignal::new(Tab::Form);
    let clear = move |_| {
        writing.draft.set(Draft::new());
        writing.touched.set(BTreeSet::new());
        writing.tried.set(false);
        focus("to");
    };
    view! {
        <div class="page-head">
            <Heading title="New order"/>
            {live(move || writing.draft.with(|draft| !draft.is_blank()).then(|| view! {
                <button type="button" class="button small" on:click=clear>"Start over"</button>
            }))}
        </div>
        <div class="tabs" role="tablist" aria-label="How to write it">
            <TabButton tab own=Tab::Form id="tab-form" words="Form"/>
            <TabButton tab own=Tab::Json id="tab-json" words="JSON"/>
        </div>
        <div class="new-order">
            <div role="tabpanel" id="panel" aria-labelledby=move || if tab.get() == Tab::Form { "tab-form" } else { "tab-json" }>
                {live(move || match tab.get() {
                    Tab::Form => view! { <Fields writing/> }.into_any(),
                    Tab::Json => view! { <Text writing/> }.into_any(),
                })}
            </div>
            <aside class="aside stack" aria-label="Checks and sending"><Issue writing tab/></aside>
        </div>
    }
}

#[component]
fn TabButton(tab: RwSignal<Tab>, own: Tab, id: &'static str, words: &'static str) -> impl IntoView {
    let is_own = move || tab.get() == own;
    // Arrow keys move between the tabs, as everywhere; there are two, so either arrow leads to the other.
    let other = move |event: leptos::ev::KeyboardEvent| {
        if matches!(event.key().as_str(), "ArrowLeft" | "ArrowRight") {
            event.prevent_default();
            let (next, id) = if own == Tab::Form { (Tab::Json, "tab-json") } else { (Tab::Form, "tab-form") };
            tab.set(next);
            focus(id);
        }
    };
    view! {
        <button
            type="button" role="tab" id=id aria-controls="panel"
            aria-selected=move || is_own().to_string() tabindex=move || if is_own() { "0" } else { "-1" }
            on:click=move |_| tab.set(own) on:keydown=other
        >
            {words}
        </button>
    }
}

/// What the rules say of the whole, and the button that issues the order.
#[component]
fn Issue(writing: Writing, tab: RwSignal<Tab>) -> impl IntoView {
    let desk = Desk::here();
    let navigate = use_navigate();
    let busy = RwSignal::new(false);
    let refusal = RwSignal::new(None::<ApiError>);
    let uncertain = StoredValue::new(None::<(Draft, String)>);
    let faults = move || {
        let unreadable = writing.order.with(|order| order.as_ref().err().map_or(0, Vec::len));
        unreadable + writing.findings.with(Vec::len)
    };
    let issue = move |_| {
        writing.tried.set(true);
        if writing.text_fault.with_untracked(Option::is_some) {
            return focus("json");
        }
        let draft = writing.draft.get_untracked();
        let Ok(document) = draft.document() else { return focus("faults") };
        if !writing.findings.with_untracked(Vec::is_empty) {
            return focus("faults");
        }
        if busy.get_untracked() {
            return;
        }
        let again = uncertain.get_value().filter(|(last, _)| *last == draft);
        let key = again.map_or_else(fresh_key, |(_, key)| key);
        let navigate = navigate.clone();
        busy.set(true);
        refusal.set(None);
        spawn_local(async move {
            let answer = desk.post("orders", &document, &key).await;
            if busy.try_set(false).is_some() {
                return;
            }
            match answer {
                Ok(view) => {
                    keep(&Draft::new());
                    desk.notices.say(format!("Issued. {} can take it now.", member(&view, "to")));
                    navigate(&format!("/orders/{}", segment(member(&view, "id"))), NavigateOptions::default());
                }
                Err(error) => {
                    uncertain.set_value(error.is_uncertain().then_some((draft, key)));
                    refusal.set(Some(error));
                }
            }
        });
    };
    view! {
        <section class="card stack tight" aria-labelledby="checks">
            <h2 id="checks">"Checks"</h2>
            <p role="status">{live(move || match writing.text_fault.with(Option::is_some) {
                true => "The text can't be read, so it can't be checked or sent.".into(),
                false => state_words(faults()),
            })}</p>
            {live(move || (writing.tried.get() && faults() > 0).then(|| view! { <FaultList writing tab/> }))}
            <p class="quiet">"Checked in this browser, by the same rules that the desk uses."</p>
            {live(move || refusal.get().map(|error| view! { <Refused error/> }))}
            <div class="buttons">
                <button type="button" class="button primary" aria-disabled=move || busy.get().to_string() on:click=issue>
                    "Issue the order"
                </button>
                {live(move || busy.get().then(|| view! { <span class="quiet">"Sending…"</span> }))}
            </div>
            {live(move || (!desk.may_act()).then(|| view! {
                <p class="note warn">"You are signed in for reading only, so the desk will refuse."</p>
            }))}
        </section>
    }
}

fn state_words(faults: usize) -> String {
    match faults {
        0 => "This order keeps every rule.".into(),
        1 => "1 thing is missing or wrong.".into(),
        faults => format!("{faults} things are missing or wrong."),
    }
}

/// Every fault, each leading to its field.
#[component]
fn FaultList(writing: Writing, tab: RwSignal<Tab>) -> impl IntoView {
    let faults = move || {
        let unreadable = writing.order.with(|order| {
            let faults = order.as_ref().err().cloned().unwrap_or_default();
            faults.into_iter().map(|fault| (Spot::Field(fault.field), fault.message)).collect::<Vec<_>>()
        });
        let found = writing.findings.with(|findings| {
            let words = |draft: &Draft| {
                findings
                    .iter()
                    .map(|finding| (Spot::of(&finding.path), fault_words(draft, finding)))
                    .collect::<Vec<_>>()
            };
            writing.draft.with(words)
        });
        [unreadable, found].concat()
    };
    let row = move |(spot, message): (Spot, String)| {
        let go = move |event: leptos::ev::MouseEvent| {
            event.prevent_default();
            tab.set(Tab::Form);
            // The fields may only now come onto the page.
            request_animation_frame(move || fields::go_to(spot));
        };
        view! { <li><a href="/new" on:click=go>{message}</a></li> }
    };
    view! {
        <div id="faults" tabindex="-1" role="group" aria-label="What is missing or wrong" class="note bad">
            <ul class="summary-list">{live(move || faults().into_iter().map(row).collect_view())}</ul>
        </div>
    }
}

/// Why the desk refused.
#[component]
fn Refused(error: ApiError) -> impl IntoView {
    let uncertain = error.is_uncertain().then_some(" It may have arrived all the same. Send it again: it counts once.");
    let findings = match &error {
        ApiError::Refused(problem) => problem.findings.clone(),
        _ => Vec::new(),
    };
    view! {
        <div class="note bad" role="alert">
            <p>{error.sentence()}"."{uncertain}</p>
            {(!findings.is_empty()).then(|| view! { <crate::order::FindingList findings/> })}
        </div>
    }
}

/// The order as the agent will get it, or an empty object while a text cannot be read.
fn as_sent(writing: Writing) -> Signal<Value> {
    Signal::derive(move || match writing.order.get() {
        Ok(order) => Value::clone(&order),
        Err(_) => Object::new().into(),
    })
}
