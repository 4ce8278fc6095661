//! One entry of the journal.

use std::sync::Arc;

use bailiwick_core::json::Value;
use leptos::prelude::*;
use wasm_bindgen::JsCast;

use super::amount::grouped;
use crate::api::segment;
use crate::document::{count, text};
use crate::parts::Json;
use crate::when::When;

/// The entry's place in the journal.
pub(super) fn sequence(entry: &Value) -> u64 {
    count(entry, "sequence")
}

/// What tells it from every other entry: place and hash.
pub(super) fn key(entry: &Value) -> String {
    format!("{}/{}", sequence(entry), text(entry, "hash"))
}

/// An entry in a line, which opens to show all of it.
#[component]
pub(super) fn EntryRow(entry: Arc<Value>) -> impl IntoView {
    let (opened, set_opened) = signal(false);
    let toggled = move |event: web_sys::Event| {
        let details = event.target().and_then(|target| target.dyn_into::<web_sys::Element>().ok());
        if details.is_some_and(|details| details.has_attribute("open")) {
            set_opened.set(true);
        }
    };
    let of = text(&entry, "entity_id").to_string();
    let whole = entry.clone();
    view! {
        <li class="entry">
            <details on:toggle=toggled>
                <summary>
                    <span class="entry-number">{grouped(sequence(&entry))}</span>
                    " "<code class="entry-type">{text(&entry, "type").to_string()}</code>
                    " "<span class="entry-of id">{of}</span>
                    " "<span class="entry-by quiet">"by "<span class="id">{text(&entry, "actor").to_string()}</span></span>
                    " "<span class="entry-at quiet"><When at=text(&entry, "occurred_at")/></span>
                </summary>
                // Thousands of entries may be listed, few are opened.
                {move || opened.get().then(|| view! { <Whole entry=whole.clone()/> })}
            </details>
        </li>
    }
}

#[component]
fn Whole(entry: Arc<Value>) -> impl IntoView {
    let of_order = text(&entry, "type").starts_with("work.");
    let order = of_order.then(|| format!("/orders/{}", segment(text(&entry, "entity_id"))));
    view! {
        <div class="entry-whole stack tight">
            <p>"Hash "<span class="id">{text(&entry, "hash").to_string()}</span></p>
            {order.map(|address| view! { <p><a href=address>"Open the order"</a></p> })}
            <Json value=Signal::stored((*entry).clone()) what="entry"/>
        </div>
    }
}
