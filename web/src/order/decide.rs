//! Deciding: approve, send back, answer, cancel, and the few steps of a person who is the worker.

use std::collections::BTreeSet;

use bailiwick_core::json::Value;
use bailiwick_core::work::{Action, State};
use leptos::html::Dialog;
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::Shown;
use super::effects::{EffectChoice, chosen, listed, unmet};
use super::preview::{Decision, news};
use super::rights::{Rights, next_step};
use crate::api::{ApiError, Path, fresh_key};
use crate::desk::Desk;
use crate::document::text;
use crate::parts::{Copy, Json, focus, live, memo, state_words};

/// What is being written. It outlives every change of the order, so that nothing typed is lost.
#[derive(Clone, Copy)]
struct Writing {
    /// Approve or send back, once that is chosen
    choice: RwSignal<Option<Action>>,
    /// The reason for either
    reason: RwSignal<String>,
    /// The answer to a question
    answer: RwSignal<String>,
    /// The reason for cancelling
    cancel_reason: RwSignal<String>,
    /// The effects that are not to run
    left_out: RwSignal<BTreeSet<String>>,
    /// Whether something is on its way
    busy: RwSignal<bool>,
    /// Why the last attempt came to nothing
    fault: RwSignal<Option<String>>,
    /// The last attempt, if nobody knows whether it arrived: sent again, it must carry the same key
    uncertain: StoredValue<Option<(Decision, String)>>,
}

/// What whoever is signed in can do about the order.
#[component]
pub(super) fn Decide(shown: Shown) -> impl IntoView {
    let desk = Desk::here();
    let writing = Writing {
        choice: RwSignal::new(None),
        reason: RwSignal::new(String::new()),
        answer: RwSignal::new(String::new()),
        cancel_reason: RwSignal::new(String::new()),
        left_out: RwSignal::new(BTreeSet::new()),
        busy: RwSignal::new(false),
        fault: RwSignal::new(None),
        uncertain: StoredValue::new(None),
    };
    let rights = memo(move || {
        let caller = if desk.may_act() { desk.caller_id() } else { String::new() };
        shown.order.with(|order| shown.state.get().map(|state| Rights::of(order, state, &caller)))
    });
    let may = move |action| rights.with(|rights| rights.as_ref().is_some_and(|rights| rights.may(action)));
    let may_memo = move |action| memo(move || may(action));
    let (review, answer, cancel) = (may_memo(Action::Approve), may_memo(Action::Answer), may_memo(Action::Cancel));
    view! {
        <section class="card stack" id="decide" aria-labelledby="decide-title">
            <h2 id="decide-title" tabindex="-1">"Your part"</h2>
            <Standing shown rights/>
            {live(move || writing.fault.get().map(|fault| view! { <p class="note bad" role="alert">{fault}</p> }))}
            {live(move || review.get().then(|| view! { <Review shown writing/> }))}
            {live(move || answer.get().then(|| view! { <Answer shown writing/> }))}
            <WorkerSteps shown writing rights/>
            <Unsent shown writing rights/>
            {live(move || cancel.get().then(|| view! { <Cancel shown writing/> }))}
        </section>
    }
}

/// Where the order stands, when there is nothing to decide here.
#[component]
fn Standing(shown: Shown, rights: Memo<Option<Rights>>) -> impl IntoView {
    let desk = Desk::here();
    live(move || {
        let state = shown.state.get()?;
        let decides = |rights: &Rights| rights.actions.iter().any(|action| *action != Action::Cancel);
        if rights.with(|rights| rights.as_ref().is_some_and(decides)) {
            return None;
        }
        let read_only = (!desk.may_act()).then_some(" You are signed in for reading only.");
        let step = shown.order.with(|order| next_step(order, state));
        Some(match step {
            None => view! { <p>"This order is finished: "{state_words(state).to_ascii_lowercase()}"."{read_only}</p> }
                .into_any(),
            Some((who, words)) => view! { <p><span class="id">{who}</span>" "{words}"."{read_only}</p> }.into_any(),
        })
    })
}

/// Approve or send back.
#[component]
fn Review(shown: Shown, writing: Writing) -> impl IntoView {
    let effects = memo(move || shown.report.with(|report| listed(report.as_deref())));
    let decision = Signal::derive(move || {
        let action = writing.choice.get()?;
        let approved = || effects.with(|effects| writing.left_out.with(|left_out| chosen(effects, left_out)));
        Some(Decision {
            action,
            note: writing.reason.get(),
            effects: (action == Action::Approve).then(approved).flatten(),
        })
    });
    let unmet = move || effects.with(|effects| writing.left_out.with(|left_out| unmet(effects, left_out))).is_some();
    let blocked = Signal::derive(move || writing.choice.get() == Some(Action::Approve) && unmet());
    let rework = memo(move || writing.choice.get() == Some(Action::Rework));
    let label = move || if rework.get() { "What is missing" } else { "Reason, if you want to give one" };
    view! {
        <fieldset class="field">
            <legend>"Your decision on the report"</legend>
            <Choice writing action=Action::Approve words="Approve"/>
            <Choice writing action=Action::Rework words="Send back to work"/>
        </fieldset>
        {live(move || (writing.choice.get() == Some(Action::Approve)).then(|| view! {
            <EffectChoice effects left_out=writing.left_out/>
        }))}
        {live(move || writing.choice.get().is_some().then(|| view! {
            <Note id="reason" label=Signal::derive(move || label().to_string()) value=writing.reason required=rework/>
            <Preview shown decision/>
            <Send shown writing decision blocked/>
        }))}
    }
}

#[component]
fn Choice(writing: Writing, action: Action, words: &'static str) -> impl IntoView {
    view! {
        <label class="check">
            <input
                type="radio" name="decision" value=action.as_str()
                prop:checked=move || writing.choice.get() == Some(action)
                on:change=move |_| writing.choice.set(Some(action))
            />
            {words}
        </label>
    }
}

/// Answer a blocked worker.
#[component]
fn Answer(shown: Shown, writing: Writing) -> impl IntoView {
    let decision =
        Signal::derive(move || Some(Decision { action: Action::Answer, note: writing.answer.get(), effects: None }));
    let required = memo(|| true);
    view! {
        <Note id="answer" label=Signal::stored("Your answer".to_string()) value=writing.answer required/>
        <Preview shown decision/>
        <Send shown writing decision blocked=Signal::stored(false)/>
    }
}

/// Cancel, after asking once more.
#[component]
fn Cancel(shown: Shown, writing: Writing) -> impl IntoView {
    let desk = Desk::here();
    let dialog = NodeRef::<Dialog>::new();
    let decision = Signal::derive(move || {
        Some(Decision { action: Action::Cancel, note: writing.cancel_reason.get(), effects: None })
    });
    let open = move |_| {
        if let Some(dialog) = dialog.get_untracked() {
            let _ = dialog.show_modal();
        }
    };
    let close = move || {
        if let Some(dialog) = dialog.get_untracked() {
            dialog.close();
        }
    };
    let cancel = move |_| {
        close();
        if let Some(decision) = decision.get_untracked() {
            send(desk, shown, writing, decision);
        }
    };
    view! {
        <div><button type="button" class="button danger" on:click=open>"Cancel the order…"</button></div>
        <dialog node_ref=dialog aria-labelledby="cancel-title">
            <h2 id="cancel-title">"Cancel this order?"</h2>
            <p>"The worker has to stop, and nothing it held back will run. This cannot be undone."</p>
            <Note
                id="cancel-reason" label=Signal::stored("Reason, if you want to give one".to_string())
                value=writing.cancel_reason required=memo(|| false)
            />
            <Preview shown decision/>
            <div class="buttons">
                <button type="button" class="button danger" on:click=cancel>"Cancel the order"</button>
                <button type="button" class="button" on:click=move |_| close()>"Keep it"</button>
            </div>
        </dialog>
    }
}

/// The steps of a person who is the worker.
#[component]
fn WorkerSteps(shown: Shown, writing: Writing, rights: Memo<Option<Rights>>) -> impl IntoView {
    const STEPS: [(Action, &str); 3] =
        [(Action::Accept, "Accept"), (Action::Start, "Start work"), (Action::Decline, "Decline")];
    let desk = Desk::here();
    let step = move |(action, words): (Action, &'static str)| {
        let take = move |_| send(desk, shown, writing, Decision { action, note: String::new(), effects: None });
        view! { <button type="button" class="button" on:click=take>{words}</button> }
    };
    let steps = move || {
        let may = |(action, _): &(Action, _)| rights.with(|r| r.as_ref().is_some_and(|r| r.may(*action)));
        STEPS.into_iter().filter(may).collect::<Vec<_>>()
    };
    live(move || {
        let steps = steps();
        (!steps.is_empty()).then(|| view! { <div class="buttons">{steps.into_iter().map(step).collect_view()}</div> })
    })
}

/// A text that goes with a decision.
#[component]
fn Note(id: &'static str, label: Signal<String>, value: RwSignal<String>, required: Memo<bool>) -> impl IntoView {
    view! {
        <div class="field">
            <label for=id>{label}</label>
            <textarea id=id rows="3" maxlength="65536" aria-required=move || required.get().to_string() bind:value=value></textarea>
        </div>
    }
}

/// What the agent will see.
#[component]
fn Preview(shown: Shown, decision: Signal<Option<Decision>>) -> impl IntoView {
    let desk = Desk::here();
    let event = memo(move || {
        let state = shown.state.get()?;
        decision.get()?.event(state, shown.last_seq.get(), &desk.caller_id(), desk.now.get())
    });
    let value = Signal::derive(move || event.get().map_or(Value::Null, |event| news(&event)));
    let worker = move || shown.order.with(|order| text(order, "to").to_string());
    let explained = move || match event.get().map(|event| event.to) {
        Some(State::Working) => "It goes on working with this.",
        Some(State::Approved) => "Its work is done. Calls that were held back may run now, as far as you approve them.",
        _ => "It has to stop.",
    };
    view! {
        <details open class="preview">
            <summary>"What "<span class="id">{worker}</span>" will see"</summary>
            <p class="quiet">
                "New in the order, as "<code>"wait_for_update"</code>" and "<code>"get_work_order"</code>" answer it. "{explained}
            </p>
            <Json value what="preview"/>
        </details>
    }
}

/// The button that sends.
#[component]
fn Send(shown: Shown, writing: Writing, decision: Signal<Option<Decision>>, blocked: Signal<bool>) -> impl IntoView {
    let desk = Desk::here();
    let words = move || match decision.get().map(|decision| decision.action) {
        Some(Action::Approve) => "Approve",
        Some(Action::Rework) => "Send back",
        _ => "Send the answer",
    };
    let click = move |_| {
        let Some(decision) = decision.get_untracked() else { return };
        if decision.lacks_note() {
            let (id, fault) = match decision.action {
                Action::Rework => ("reason", "Say what is missing: the worker goes on with that."),
                _ => ("answer", "Write the answer first."),
            };
            writing.fault.set(Some(fault.into()));
            focus(id);
        } else if !blocked.get_untracked() {
            send(desk, shown, writing, decision);
        }
    };
    let disabled = move || (writing.busy.get() || blocked.get()).to_string();
    view! {
        <div class="buttons">
            <button type="button" class="button primary" aria-disabled=disabled on:click=click>{words}</button>
            {live(move || writing.busy.get().then(|| view! { <span class="quiet">"Sending…"</span> }))}
        </div>
    }
}

/// A text that can no longer be sent, because the order has moved on.
#[component]
fn Unsent(shown: Shown, writing: Writing, rights: Memo<Option<Rights>>) -> impl IntoView {
    let may = move |action| rights.with(|rights| rights.as_ref().is_some_and(|rights| rights.may(action)));
    let text = memo(move || {
        let texts = [
            (!may(Action::Approve)).then(|| writing.reason.get()),
            (!may(Action::Answer)).then(|| writing.answer.get()),
            (!may(Action::Cancel)).then(|| writing.cancel_reason.get()),
        ];
        texts.into_iter().flatten().find(|text| !text.trim().is_empty())
    });
    live(move || {
        let unsent = text.get()?;
        let state = shown.state.get().map(state_words)?.to_ascii_lowercase();
        Some(view! {
            <div class="note warn stack tight">
                <p>"The order is now "{state}", so this was not sent:"</p>
                <p class="prose said">{unsent.clone()}</p>
                <Copy text=Signal::stored(unsent) what="text"/>
            </div>
        })
    })
}

/// Sends a decision and shows what came of it.
fn send(desk: Desk, shown: Shown, writing: Writing, decision: Decision) {
    if writing.busy.get_untracked() {
        return;
    }
    let again = writing.uncertain.get_value().filter(|(last, _)| *last == decision);
    let key = again.map_or_else(fresh_key, |(_, key)| key);
    writing.busy.set(true);
    writing.fault.set(None);
    spawn_local(async move {
        let path = Path::new("orders").then(&shown.id.get_value()).into_text();
        let answer = desk.post(&format!("{path}/{}", decision.endpoint()), &decision.body(), &key).await;
        if writing.busy.try_set(false).is_some() {
            // The page is gone; what was decided stands, and the journal tells.
            return;
        }
        match answer {
            Ok(view) => sent(desk, shown, writing, &decision, view),
            Err(error) => failed(shown, writing, decision, key, &error),
        }
    });
}

fn sent(desk: Desk, shown: Shown, writing: Writing, decision: &Decision, view: Value) {
    writing.uncertain.set_value(None);
    match decision.action {
        Action::Answer => writing.answer.set(String::new()),
        Action::Cancel => writing.cancel_reason.set(String::new()),
        _ => writing.reason.set(String::new()),
    }
    writing.choice.set(None);
    shown.load.answer.set(Some(std::sync::Arc::new(view)));
    let worker = shown.order.with_untracked(|order| text(order, "to").to_string());
    desk.notices.say(match decision.action {
        Action::Approve => format!("Approved. {worker} sees it now."),
        Action::Rework => format!("Sent back. {worker} sees your reason now."),
        Action::Answer => format!("Answered. {worker} goes on working."),
        Action::Cancel => format!("Cancelled. {worker} sees it now."),
        action => format!("Done: {}.", action.as_str()),
    });
    // What had the focus is gone; the place where the order's state stands is where to read on.
    focus("decide-title");
}

fn failed(shown: Shown, writing: Writing, decision: Decision, key: String, error: &ApiError) {
    let sentence = error.sentence();
    let fault = if error.is_overtaken() {
        shown.load.reload();
        format!("Somebody was faster: {sentence}. The page shows the order as it is now; what you wrote is still here.")
    } else if error.is_uncertain() {
        format!("{sentence}. Your decision may have arrived all the same. Send it again: it counts once.")
    } else {
        format!("Not done. {sentence}.")
    };
    writing.uncertain.set_value(error.is_uncertain().then_some((decision, key)));
    writing.fault.set(Some(fault));
}
