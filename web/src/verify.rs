//! Checking documents and journals without a server.
//!
//! Nothing on this page talks to the desk: a copy of it on any web server does the same.

mod check;
mod examples;
mod intake;
mod kind;
mod layout;
mod marked;
mod place;
mod result;
mod sheet;
mod sheets;

use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::page::Heading;

use examples::EXAMPLES;
use intake::Intake;
use sheet::SheetView;
use sheets::Sheets;

/// The page at `/verify`.
#[component]
pub(crate) fn VerifyPage() -> impl IntoView {
    let sheets = Sheets::new();
    let is_empty = Memo::new(move |_| sheets.all.with(Vec::is_empty));
    let ids = move || sheets.all.with(|all| all.iter().map(|(id, _)| *id).collect::<Vec<u32>>());
    view! {
        <div class="page-head"><Heading title="Verify"/></div>
        <p class="lead">
            "Check an order, a report on it, a sub-order within its parent, or the export of a journal. "
            <strong>"Nothing is uploaded"</strong>": the rules run in this page, and no server is asked."
        </p>
        <Intake sheets/>
        <p class="visually-hidden" role="status">{sheets.said}</p>
        <section class="stack" aria-label="Results">
            {move || if is_empty.get() { teach(sheets).into_any() } else { clear(sheets).into_any() }}
            <For each=ids key=|id| *id children=move |id| view! { <SheetView id sheets/> }/>
        </section>
    }
}

/// The page before anything is on it.
fn teach(sheets: Sheets) -> impl IntoView {
    let add = move |index: usize| {
        let Some(example) = EXAMPLES.get(index) else { return };
        spawn_local(async move {
            for (name, text) in example.files().await {
                match text {
                    Some(text) => sheets.add_text(name, &text),
                    None => sheets.add_unreadable(name),
                }
            }
        });
    };
    let button = move |(index, label): (usize, &'static str)| {
        view! { <li><button type="button" class="button" on:click=move |_| add(index)>{label}</button></li> }
    };
    view! {
        <div class="empty">
            <h2>"Nothing to check yet"</h2>
            <p>
                "Several files are checked against each other: a report against the order that it names, a sub-order against its parent and its siblings. "
                "A journal may have any length; it is read piece by piece."
            </p>
            <p id="try">"To see what comes of it, try"</p>
            <ul class="buttons examples" aria-labelledby="try">
                {EXAMPLES.iter().map(|example| example.label).enumerate().map(button).collect_view()}
            </ul>
        </div>
    }
}

fn clear(sheets: Sheets) -> impl IntoView {
    view! {
        <p class="buttons">
            <button type="button" class="button small" on:click=move |_| sheets.clear()>"Remove everything"</button>
        </p>
    }
}
