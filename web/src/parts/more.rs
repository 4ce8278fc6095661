//! The rest of a long list.

use leptos::prelude::*;

use super::live::{live, memo};

use crate::load::Load;

/// A button for the next page of a list, while there is one.
#[component]
pub(crate) fn More(
    /// The list
    list: Load,
    /// How many pages of it are shown
    pages: RwSignal<u32>,
) -> impl IntoView {
    let more = memo(move || {
        list.answer.with(|answer| {
            answer.as_deref().is_some_and(|answer| answer.get("next_cursor").is_some_and(|cursor| !cursor.is_null()))
        })
    });
    live(move || {
        more.get().then(|| view! {
            <p class="more">
                <button type="button" class="button" on:click=move |_| pages.update(|pages| *pages += 1)>"Show more"</button>
            </p>
        })
    })
}
