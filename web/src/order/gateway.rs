//! The order's gateway: what it spent and called, live; and holding it up (`spec work-orders §15`).

use bailiwick_core::json::{Object, Value};
use bailiwick_core::work::{UNITS, Unit};
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::Shown;
use crate::api::{Path, fresh_key};
use crate::desk::Desk;
use crate::document::{count, items, text};
use crate::load::Load;
use crate::parts::{Command, Fault, amount_words, focus, live, memo, unit_words};
use crate::when::When;

/// How many calls are shown.
const MOST_CALLS: &str = "20";

/// What an order's gateways have spent and called, and whether they may go on.
#[component]
pub(super) fn Gateway(shown: Shown) -> impl IntoView {
    let desk = Desk::here();
    let id = shown.id.get_value();
    let of = |path: Path| Signal::stored(path.into_text());
    let changes = || {
        let concerned = id.clone();
        desk.live.changes(move |entry| text(entry, "entity_id") == concerned)
    };
    let path = || Path::new("orders").then(&id);
    let status = Load::of(of(path().then("gateway")), changes());
    let calls = Load::of(of(path().then("calls").with("limit", MOST_CALLS)), changes());
    let member = move |name: &'static str| {
        memo(move || {
            status.answer.with(|status| status.as_deref().map(|s| text(s, name).to_string()).unwrap_or_default())
        })
    };
    let (standing, reason, by) = (member("standing"), member("reason"), member("by"));
    let said = move || match &*standing.get() {
        "" => String::new(),
        "running" => "Calls are let through.".into(),
        held => {
            let why =
                Some(reason.get()).filter(|why| !why.is_empty()).map_or_else(String::new, |why| format!(": {why}"));
            format!("{} {held} the work{why}. Every call is refused with that.", by.get())
        }
    };
    let active = memo(move || shown.state.get().is_some_and(|state| !state.is_terminal()));
    let command = format!("bailiwick gateway --order {id} --config upstream.json");
    let none =
        memo(move || calls.answer.with(|calls| calls.as_deref().is_some_and(|calls| items(calls, "calls").is_empty())));
    view! {
        <section class="card stack" aria-labelledby="gateway">
            <h2 id="gateway" tabindex="-1">"Gateway"</h2>
            <Fault load=status/>
            <p aria-live="polite">{live(said)}</p>
            {live(move || (active.get() && desk.may_act()).then(|| view! { <Control shown status standing/> }))}
            {live(move || none.get().then(|| view! {
                <p class="quiet">"No call yet. The worker's tools are limited as they are called when they stand behind a gateway:"</p>
                <Command text=command.clone()/>
            }))}
            {live(move || (!none.get()).then(|| view! { <Spent status/><Calls calls/> }))}
        </section>
    }
}

/// Pause, resume, stop.
#[component]
fn Control(shown: Shown, status: Load, standing: Memo<String>) -> impl IntoView {
    let desk = Desk::here();
    let reason = RwSignal::new(String::new());
    let fault = RwSignal::new(None::<String>);
    let set = move |wanted: &'static str| {
        let given = reason.get_untracked().trim().to_string();
        let body = Object::new().with("standing", wanted).with_some("reason", (!given.is_empty()).then_some(given));
        spawn_local(async move {
            let path = Path::new("orders").then(&shown.id.get_value()).then("control").into_text();
            let answer = desk.post(&path, &body, &fresh_key()).await;
            if fault.try_set(answer.as_ref().err().map(|error| format!("Not done. {}.", error.sentence()))).is_none()
                && answer.is_ok()
            {
                reason.set(String::new());
                status.reload();
                desk.notices.say(match wanted {
                    "running" => "Resumed. The next call is let through.".into(),
                    held => format!("The work is {held}. The next call is refused."),
                });
                focus("gateway");
            }
        });
    };
    let button = move |words: &'static str, class: &'static str, wanted: &'static str| {
        view! { <button type="button" class=class on:click=move |_| set(wanted)>{words}</button> }
    };
    view! {
        {live(move || fault.get().map(|fault| view! { <p class="note bad" role="alert">{fault}</p> }))}
        <div class="field">
            <label for="hold-reason">"Reason, for the worker to read"</label>
            <input id="hold-reason" maxlength="2000" autocomplete="off" bind:value=reason/>
        </div>
        <div class="buttons">
            {live(move || {
                let now = standing.get();
                [
                    (now == "running").then(|| button("Pause calls", "button", "paused")),
                    (now != "running").then(|| button("Resume", "button", "running")),
                    (now != "stopped").then(|| button("Stop for good", "button danger", "stopped")),
                ]
                .into_iter()
                .flatten()
                .collect_view()
            })}
        </div>
    }
}

/// What was spent so far, unit by unit.
#[component]
fn Spent(status: Load) -> impl IntoView {
    let rows = move || {
        let row = |status: &Value, unit: Unit| {
            let spent = unit.of(status.get("spent"))?;
            let of =
                unit.of(status.get("limits")).map_or_else(String::new, |limit| format!(" of {}", amount_words(limit)));
            Some(format!("{}: {}{of}", unit_words(unit), amount_words(spent)))
        };
        status.answer.with(|status| {
            let status = status.as_deref()?;
            let rows = UNITS.into_iter().filter_map(|unit| row(status, unit));
            Some(rows.map(|row| view! { <li>{row}</li> }).collect_view())
        })
    };
    view! { <ul class="tools" aria-label="Spent so far">{live(rows)}</ul> }
}

/// The last calls.
#[component]
fn Calls(calls: Load) -> impl IntoView {
    let row = |call: &Value| {
        let error = text(call, "error").to_string();
        view! {
            <li>
                <code class="id">{text(call, "ref").to_string()}</code>" "
                <span>{state_words(text(call, "state"))}</span>" "
                <span class="quiet"><When at=text(call, "at")/>" "{error}</span>
            </li>
        }
    };
    let rows =
        move || calls.answer.with(|calls| Some(items(calls.as_deref()?, "calls").iter().map(row).collect_view()));
    let more = move || {
        calls.answer.with(|calls| {
            let before = count(calls.as_deref()?, "next_before");
            (before > 0).then(|| view! { <p class="quiet">{format!("and {} before", before - 1)}</p> })
        })
    };
    view! {
        <h3>"Calls, the last first"</h3>
        <ol class="tools" reversed aria-live="polite">{live(rows)}</ol>
        {live(more)}
    }
}

fn state_words(state: &str) -> &'static str {
    match state {
        "begun" => "running",
        "done" => "done",
        "failed" => "failed",
        "returned" => "not made",
        "held" => "held until approved",
        "dropped" => "dropped by rework",
        _ => "",
    }
}
