//! The sign.

use leptos::prelude::*;

/// A boundary with somebody inside it, drawn in the colour of the text around. It says nothing that the name beside it
/// does not, so it is hidden from screen readers.
#[component]
pub(crate) fn Logo() -> impl IntoView {
    view! {
        <svg class="logo" viewBox="0 0 32 32" width="24" height="24" aria-hidden="true">
            <path
                d="M6 12V6h6M20 6h6v6M26 20v6h-6M12 26H6v-6"
                fill="none" stroke="currentColor" stroke-width="3" stroke-linecap="round" stroke-linejoin="round"
            />
            <circle cx="16" cy="16" r="4.5" fill="currentColor"/>
        </svg>
    }
}
