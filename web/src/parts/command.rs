//! Something to copy and run elsewhere.

use leptos::prelude::*;
use wasm_bindgen_futures::JsFuture;

use crate::desk::Desk;

/// A command line, with a button that copies it.
#[component]
pub(crate) fn Command(#[prop(into)] text: String) -> impl IntoView {
    let copied = text.clone();
    view! {
        <div class="command">
            <pre tabindex="0"><code>{text}</code></pre>
            <Copy text=Signal::stored(copied) what="command"/>
        </div>
    }
}

/// A button that copies a text.
#[component]
pub(crate) fn Copy(
    /// The text, as it is when the button is pressed
    text: Signal<String>,
    /// What it is, for the button's name
    what: &'static str,
) -> impl IntoView {
    let desk = Desk::here();
    let copy = move |_| {
        let written = JsFuture::from(window().navigator().clipboard().write_text(&text.get_untracked()));
        leptos::task::spawn_local(async move {
            desk.notices.say(match written.await {
                Ok(_) => format!("Copied the {what}."),
                Err(_) => format!("The browser did not let this page copy. Select the {what} and copy it by hand."),
            });
        });
    };
    view! { <button type="button" class="button small" aria-label=format!("Copy {what}") on:click=copy>"Copy"</button> }
}
