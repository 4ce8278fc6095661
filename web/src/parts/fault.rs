//! When there is nothing to show: because it failed, or because there is none.

use leptos::prelude::*;

use super::live::live;

use crate::load::Load;

/// Says why something could not be read, with a way to try again. Nothing while all is well.
#[component]
pub(crate) fn Fault(load: Load) -> impl IntoView {
    live(move || {
        load.error.get().map(|error| {
            let kept = load.answer.with(Option::is_some);
            view! {
                <div class="note bad" role="alert">
                    <p>
                        {error.sentence()}"."
                        {kept.then_some(" What you see is as it was before.")}
                    </p>
                    <button type="button" class="button small" on:click=move |_| load.reload()>"Try again"</button>
                </div>
            }
        })
    })
}

/// An empty page that teaches how it gets filled.
#[component]
pub(crate) fn Empty(title: &'static str, children: Children) -> impl IntoView {
    view! {
        <div class="empty">
            <h2>{title}</h2>
            {children()}
        </div>
    }
}
