//! Where an order stands, in words and colour.

use bailiwick_core::work::State;
use leptos::prelude::*;

/// The state as people call it.
pub(crate) const fn state_words(state: State) -> &'static str {
    match state {
        State::Offered => "Offered",
        State::Accepted => "Accepted",
        State::Working => "Working",
        State::Blocked => "Blocked",
        State::Submitted => "To review",
        State::Approved => "Approved",
        State::Declined => "Declined",
        State::Expired => "Expired",
        State::Cancelled => "Cancelled",
    }
}

/// How a state looks, beside its word.
const fn tone(state: State) -> &'static str {
    match state {
        State::Offered | State::Accepted => "badge",
        State::Working => "badge info",
        State::Blocked | State::Submitted => "badge warn",
        State::Approved => "badge good",
        State::Declined | State::Expired => "badge bad",
        State::Cancelled => "badge",
    }
}

/// A state by its name in documents; an unknown one is shown as it is.
#[component]
pub(crate) fn StateBadge(#[prop(into)] name: String) -> impl IntoView {
    match State::parse(&name) {
        Some(state) => view! { <span class=tone(state)>{state_words(state)}</span> }.into_any(),
        None => view! { <span class="badge">{name}</span> }.into_any(),
    }
}
