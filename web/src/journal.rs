//! The journal: what happened, newest first, and its check in this browser.

pub(crate) mod amount;
mod check;
mod history;
mod row;
pub(crate) mod verdict;
pub(crate) mod verification;

use leptos::prelude::*;

use crate::focus::focus_soon;
use crate::page::Heading;
use crate::parts::{Empty, Filters};

use amount::counted;
use check::CheckSection;
use history::History;
use row::EntryRow;

/// The page at `/journal`.
#[component]
pub(crate) fn JournalPage() -> impl IntoView {
    let filters = Filters::of("/journal", &["actor", "type", "entity"]);
    let history = History::of(filters);
    view! {
        <div class="page-head"><Heading title="Journal"/></div>
        <p class="lead">
            "Everything that was decided here, each entry chained to the one before it by its hash. "
            "Nothing can be changed later without breaking the chain, and this browser can check that by itself."
        </p>
        <CheckSection history/>
        <section aria-labelledby="entries">
            <h2 id="entries" tabindex="-1">"Entries"</h2>
            <FilterFields filters/>
            <NewEntries history/>
            <Trouble history/>
            <EntryList filters history/>
            <Older history/>
        </section>
    }
}

#[component]
fn FilterFields(filters: Filters) -> impl IntoView {
    view! {
        <form class="filters" aria-label="Filters" on:submit=move |event| event.prevent_default()>
            <FilterField filters name="actor" label="Who" example="agent:worker"/>
            <FilterField filters name="type" label="What" example="work.review"/>
            <FilterField filters name="entity" label="Of which order" example="whole id"/>
            {move || filters.any().then(|| view! { <a class="button quiet" href="/journal">"Clear"</a> })}
        </form>
    }
}

#[component]
fn FilterField(filters: Filters, name: &'static str, label: &'static str, example: &'static str) -> impl IntoView {
    let set = filters.setter(name);
    let id = format!("filter-{name}");
    view! {
        <div class="field">
            <label for=id.clone()>{label}</label>
            <input
                id=id class="code" placeholder=example autocomplete="off" spellcheck="false"
                prop:value=move || filters.value(name)
                on:change=move |event| set(event_target_value(&event).trim().to_string())
            />
        </div>
    }
}

/// Says what came since, without moving what is being read.
#[component]
fn NewEntries(history: History) -> impl IntoView {
    let count = history.new;
    let show = move |_| {
        history.reload();
        focus_soon("entries");
    };
    let words = move || match count.get() {
        0 => String::new(),
        count => format!("{} since this page was read", counted(count, "new entry", "new entries")),
    };
    view! {
        <div class="new-entries" class:visible=move || count.with(|count| *count > 0)>
            <p role="status">{words}</p>
            {move || count.with(|count| *count > 0).then(|| view! {
                <button type="button" class="button small" on:click=show>"Show"</button>
            })}
        </div>
    }
}

#[component]
fn Trouble(history: History) -> impl IntoView {
    move || {
        history.error.get().map(|error| {
            view! {
                <div class="note bad" role="alert">
                    <p>{error.sentence()}"."</p>
                    <button type="button" class="button small" on:click=move |_| history.resume()>"Try again"</button>
                </div>
            }
        })
    }
}

#[component]
fn EntryList(filters: Filters, history: History) -> impl IntoView {
    let entries = history.entries;
    let is_empty = Memo::new(move |_| entries.with(Vec::is_empty));
    let is_whole = move || history.is_read.get() && history.next_before.get().is_none();
    view! {
        <ol class="entries" aria-label="Entries, newest first">
            <For each=move || entries.get() key=|entry| row::key(entry) children=|entry| view! { <EntryRow entry/> }/>
        </ol>
        {move || (is_empty.get() && is_whole()).then(|| if filters.any() { nothing_matches().into_any() } else { nothing().into_any() })}
    }
}

fn nothing_matches() -> impl IntoView {
    view! {
        <Empty title="No entry matches">
            <p>"Each filter is compared letter by letter with the whole: "<code>"agent:work"</code>" does not find "<code>"agent:worker"</code>"."</p>
            <p><a href="/journal">"Show every entry"</a></p>
        </Empty>
    }
}

fn nothing() -> impl IntoView {
    view! {
        <Empty title="Nothing happened yet">
            <p>"The first entry is written when somebody gives an order. "<a href="/new">"Write one"</a>"."</p>
        </Empty>
    }
}

/// The way further back.
#[component]
fn Older(history: History) -> impl IntoView {
    move || {
        let before = history.next_before.get()?;
        let busy = history.busy.get();
        let found = history.entries.with(|entries| entries.last().map(|entry| row::sequence(entry)));
        // A search looks at a bounded number of entries each time, and may have found none of them.
        let looked = (found != Some(before)).then(|| {
            view! {
                <p class="quiet" role="status">"Looked back to entry "{amount::grouped(before)}"."</p>
            }
        });
        Some(view! {
            <div class="more">
                {looked}
                <button type="button" class="button" aria-disabled=busy.to_string() on:click=move |_| history.older()>
                    {if busy { "Reading…" } else { "Show older" }}
                </button>
            </div>
        })
    }
}
