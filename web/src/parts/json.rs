//! A document as it is.

use bailiwick_core::json::{Value, write_pretty};
use leptos::prelude::*;

use super::live::live;

use super::Copy;

/// A JSON value, laid out for reading, with a button that copies it.
#[component]
pub(crate) fn Json(
    /// The value
    #[prop(into)]
    value: Signal<Value>,
    /// What it is, for names of the region and the button: `report`
    what: &'static str,
) -> impl IntoView {
    let text = Signal::derive(move || value.with(write_pretty));
    view! {
        <div class="json">
            <pre tabindex="0" role="group" aria-label=what><code>{live(move || text.get())}</code></pre>
            <Copy text what/>
        </div>
    }
}
