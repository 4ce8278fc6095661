//! Every order, with filters.

use bailiwick_core::json::Value;
use bailiwick_core::work::State;
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::use_navigate;

use crate::api::segment;
use crate::desk::Desk;
use crate::document::{count, items, text};
use crate::load::{List, Load};
use crate::page::Heading;
use crate::parts::{Empty, Fault, Filters, More, StateBadge, keyed, live, memo, state_words};
use crate::when::When;

/// How many orders come at a time.
const PAGE: u32 = 50;

/// The page at `/orders`.
#[component]
pub(crate) fn OrdersPage() -> impl IntoView {
    let desk = Desk::here();
    let filters = Filters::of("/orders", &["state", "to", "from"]);
    let pages = RwSignal::new(1);
    let changes = desk.live.changes(|_| true);
    let request = filters.request("orders", PAGE);
    let newest_first = Signal::derive(move || request.with(|request| format!("{request}&order=newest_first")));
    let orders = Load::list(newest_first, List { member: "orders", pages }, changes);
    view! {
        <div class="page-head">
            <Heading title="Orders"/>
            <OpenById/>
        </div>
        <FilterFields filters/>
        <Fault load=orders/>
        {live(move || orders.answer.with(Option::is_some).then(|| view! { <OrderList filters orders/> }))}
        <More list=orders pages/>
    }
}

#[component]
fn OpenById() -> impl IntoView {
    let id = RwSignal::new(String::new());
    let navigate = use_navigate();
    let open = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let id = id.get_untracked();
        if !id.trim().is_empty() {
            navigate(&format!("/orders/{}", segment(id.trim())), NavigateOptions::default());
        }
    };
    view! {
        <form class="open-by-id" on:submit=open>
            <label class="visually-hidden" for="open-id">"Open an order by its id"</label>
            <input id="open-id" class="code" placeholder="wo_…" autocomplete="off" spellcheck="false" bind:value=id/>
            <button type="submit" class="button">"Open"</button>
        </form>
    }
}

#[component]
fn FilterFields(filters: Filters) -> impl IntoView {
    let set_state = filters.setter("state");
    let option = move |state: State| {
        let name = state.as_str();
        view! { <option value=name selected=move || filters.value("state") == name>{state_words(state)}</option> }
    };
    view! {
        <form class="filters" aria-label="Filters" on:submit=move |event| event.prevent_default()>
            <div class="field">
                <label for="filter-state">"State"</label>
                <select id="filter-state" on:change=move |event| set_state(event_target_value(&event))>
                    <option value="" selected=move || filters.value("state").is_empty()>"Any"</option>
                    {State::ALL.into_iter().map(option).collect_view()}
                </select>
            </div>
            <PartyField filters name="to" label="Worker"/>
            <PartyField filters name="from" label="Manager"/>
            {live(move || filters.any().then(|| view! { <a class="button quiet" href="/orders">"Clear"</a> }))}
        </form>
    }
}

#[component]
fn PartyField(filters: Filters, name: &'static str, label: &'static str) -> impl IntoView {
    let set = filters.setter(name);
    let id = format!("filter-{name}");
    view! {
        <div class="field">
            <label for=id.clone()>{label}</label>
            <input
                id=id class="code" placeholder="whole id" autocomplete="off" spellcheck="false"
                prop:value=move || filters.value(name)
                on:change=move |event| set(event_target_value(&event))
            />
        </div>
    }
}

#[component]
fn OrderList(filters: Filters, orders: Load) -> impl IntoView {
    let shown =
        memo(move || orders.answer.with(|answer| answer.as_deref().map(|answer| items(answer, "orders").to_vec())));
    let empty = move || shown.with(|shown| shown.as_ref().is_none_or(Vec::is_empty));
    view! {
        <ul class="orders" aria-label="Orders">
            {keyed(
                Signal::derive(move || shown.get().unwrap_or_default()),
                |order| format!("{}/{}", text(order, "id"), count(order, "last_seq")),
                |order| view! { <OrderRow order/> }.into_any(),
            )}
        </ul>
        {live(move || empty().then(|| if filters.any() { nothing_matches().into_any() } else { no_orders().into_any() }))}
    }
}

/// An order in a line.
#[component]
pub(crate) fn OrderRow(order: Value) -> impl IntoView {
    let id = text(&order, "id").to_string();
    view! {
        <li class="order-row">
            <StateBadge name=text(&order, "state")/>
            <a class="order-goal" href=format!("/orders/{}", segment(&id))>{text(&order, "goal").to_string()}</a>
            <p class="order-meta quiet">
                <span>"to "<span class="id">{text(&order, "to").to_string()}</span></span>
                <span>"from "<span class="id">{text(&order, "from").to_string()}</span></span>
                <span>"due "<When at=text(&order, "deadline")/></span>
                <span class="id">{id}</span>
            </p>
        </li>
    }
}

fn nothing_matches() -> impl IntoView {
    view! {
        <Empty title="No order matches">
            <p>"Worker and manager are compared letter by letter: "<code>"agent:worker"</code>" is not "<code>"Agent:Worker"</code>"."</p>
            <p><a href="/orders">"Show every order"</a></p>
        </Empty>
    }
}

fn no_orders() -> impl IntoView {
    view! {
        <Empty title="No orders yet">
            <p>
                "An order says what an agent is to achieve, how that is judged, and within which limits: budget, deadline, tools. "
                <a href="/new">"Write the first one"</a>"."
            </p>
        </Empty>
    }
}
