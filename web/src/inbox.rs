//! The inbox: what waits for whoever is signed in, most urgent first.

use bailiwick_core::json::Value;
use bailiwick_core::time;
use leptos::prelude::*;

use crate::api::segment;
use crate::desk::Desk;
use crate::document::{count, items, text};
use crate::load::{List, Load};
use crate::page::Heading;
use crate::parts::{Command, Empty, Fault, Filters, More, keyed, live, memo};
use crate::when::{Urgency, When};

/// How many items come at a time.
const PAGE: u32 = 25;

/// What can be asked of a person: its name in addresses, and as people call it.
const ASKS: [(&str, &str); 3] = [("", "All"), ("review", "Reports to review"), ("answer", "Questions to answer")];

/// The page at `/`.
#[component]
pub(crate) fn InboxPage() -> impl IntoView {
    let desk = Desk::here();
    let filters = Filters::of("/", &["ask", "q"]);
    let pages = RwSignal::new(1);
    let changes = desk.live.changes(|_| true);
    let inbox = Load::list(filters.request("inbox", PAGE), List { member: "items", pages }, changes);
    view! {
        <div class="page-head">
            <Heading title="Inbox"/>
            <Search filters/>
        </div>
        <Asks filters inbox/>
        <Fault load=inbox/>
        {live(move || inbox.answer.with(Option::is_some).then(|| view! { <Items filters inbox/> }))}
        <More list=inbox pages/>
    }
}

#[component]
fn Search(filters: Filters) -> impl IntoView {
    let set = filters.setter("q");
    view! {
        <form class="search" role="search" on:submit=move |event| event.prevent_default()>
            <label class="visually-hidden" for="inbox-search">"Search the inbox"</label>
            <input
                id="inbox-search" type="search" placeholder="Search goals, ids, agents" autocomplete="off"
                prop:value=move || filters.value("q")
                on:input=move |event| set(event_target_value(&event))
            />
        </form>
    }
}

/// Links to what is asked, with how much there is of each.
#[component]
fn Asks(filters: Filters, inbox: Load) -> impl IntoView {
    let counts = memo(move || inbox.answer.with(|answer| answer.as_deref().map(counts)));
    let link = move |index: usize, (ask, name): (&'static str, &'static str)| {
        let count = move || counts.get().and_then(|counts| counts.get(index).copied());
        view! {
            <a
                href=move || filters.address("ask", ask)
                aria-current=move || (filters.value("ask") == ask).then_some("true")
            >
                {name}
                {live(move || count().map(|count| view! { " "<span class="quiet">{count}</span> }))}
            </a>
        }
    };
    view! {
        <nav class="tabs" aria-label="What is asked">
            {ASKS.into_iter().enumerate().map(|(index, ask)| link(index, ask)).collect_view()}
        </nav>
    }
}

/// How much waits: all of it, then by what is asked, in the order of [`ASKS`].
fn counts(inbox: &Value) -> [u64; 3] {
    let of = |ask| inbox.get("counts").map_or(0, |counts| count(counts, ask));
    let (review, answer) = (of("review"), of("answer"));
    [review + answer, review, answer]
}

#[component]
fn Items(filters: Filters, inbox: Load) -> impl IntoView {
    let shown = memo(move || inbox.answer.with(|answer| answer.as_deref().map(|inbox| items(inbox, "items").to_vec())));
    let empty = move || shown.with(|shown| shown.as_ref().is_none_or(Vec::is_empty));
    view! {
        <ul class="inbox" aria-label="Waiting for you">
            {keyed(
                Signal::derive(move || shown.get().unwrap_or_default()),
                |item| format!("{}/{}", text(item, "id"), count(item, "version")),
                |item| view! { <Item item/> }.into_any(),
            )}
        </ul>
        {live(move || empty().then(|| if filters.any() { nothing_matches().into_any() } else { nothing_waits().into_any() }))}
    }
}

#[component]
fn Item(item: Value) -> impl IntoView {
    let (id, ask) = (text(&item, "id").to_string(), text(&item, "ask").to_string());
    let asked = match ask.as_str() {
        "review" => "Review the report",
        "answer" => "Answer the question",
        _ => "Look at this",
    };
    let worker = text(&item, "to").to_string();
    view! {
        <li class="inbox-item">
            <div class="inbox-ask">
                <span class=if ask == "answer" { "badge warn" } else { "badge info" }>{asked}</span>
                <UrgencyMark due=text(&item, "due")/>
            </div>
            <a class="inbox-title" href=format!("/orders/{}", segment(&id))>{text(&item, "title").to_string()}</a>
            <p class="inbox-meta quiet">
                {(!worker.is_empty()).then(|| view! { <span>"from "<span class="id">{worker}</span></span> })}
                <span>"waiting since "<When at=text(&item, "since")/></span>
                <span>"due "<When at=text(&item, "due")/></span>
                <span class="id">{id}</span>
            </p>
        </li>
    }
}

/// A word beside whatever is due soon.
#[component]
pub(crate) fn UrgencyMark(#[prop(into)] due: String) -> impl IntoView {
    let desk = Desk::here();
    let urgency = memo(move || time::instant(&due).map(|due| Urgency::of(due, desk.now.get())));
    live(move || {
        let urgency = urgency.get()?;
        let tone = if urgency == Urgency::Soon { "badge warn" } else { "badge bad" };
        Some(view! { <span class=tone>{urgency.word()?}</span> })
    })
}

fn nothing_matches() -> impl IntoView {
    view! {
        <Empty title="Nothing here matches">
            <p><a href="/">"Show everything that waits"</a></p>
        </Empty>
    }
}

fn nothing_waits() -> impl IntoView {
    let server = window().location().origin().unwrap_or_default();
    view! {
        <Empty title="Nothing waits for you">
            <p>"An order comes here when its worker reports what it did, or asks what it cannot decide. Then you approve, send it back, or answer."</p>
            <ol>
                <li>"Connect an agent, with a key from the file that the server was started with:"</li>
            </ol>
            <Command text=format!(
                "claude mcp add --transport http bailiwick {server}/mcp --header \"Authorization: Bearer KEY\"",
            )/>
            <ol start="2">
                <li>"Give it something to do: "<a href="/new">"write an order"</a>"."</li>
                <li>"Tell the agent to take its work orders from Bailiwick. What it reports appears here by itself."</li>
            </ol>
            <p><a href="/agents">"Other agents and how to connect them"</a></p>
        </Empty>
    }
}

#[cfg(test)]
mod tests {
    use bailiwick_core::json::{Limits, parse};

    use super::*;

    #[test]
    fn counts_stand_in_the_order_of_the_links() {
        let inbox = parse(br#"{"counts":{"answer":1,"review":2}}"#, &Limits::DOCUMENT).unwrap();
        assert_eq!(counts(&inbox), [3, 2, 1]);
        assert_eq!(ASKS.map(|(name, _)| name), ["", "review", "answer"]);
    }
}
