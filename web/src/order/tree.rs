//! The orders around an order: those above it, its parts, and those that it goes on from.

use std::sync::Arc;

use bailiwick_core::json::Value;
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::Shown;
use super::timeline::order_address;
use crate::api::Path;
use crate::desk::Desk;
use crate::document::{items, text};
use crate::load::Load;
use crate::parts::{StateBadge, live, memo};

/// How many levels up are read; more than anybody follows by eye.
const MOST_PARENTS: usize = 8;
/// How many sub-orders are read whole, to count what they hold.
const MOST_SUBS: usize = 50;
/// How many sub-orders are listed.
const LISTED: &str = "200";

/// The sub-orders of an order.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Subs {
    /// The views that were read
    pub(super) views: Vec<Arc<Value>>,
    /// How many there are
    pub(super) total: usize,
    /// Whether every one was read
    pub(super) complete: bool,
}

/// Reads the orders above one, nearest first, into a signal.
pub(super) fn read_parents(desk: Desk, order: Memo<Arc<Value>>) -> RwSignal<Vec<Arc<Value>>> {
    let parents = RwSignal::new(Vec::new());
    let parent_id = memo(move || order.with(|order| text(order, "parent_id").to_string()));
    Effect::new(move |_| {
        let mut next = parent_id.get();
        spawn_local(async move {
            let mut found: Vec<Arc<Value>> = Vec::new();
            while !next.is_empty() && found.len() < MOST_PARENTS {
                // A parent that this person may not read ends the chain; the link to it stays.
                let Ok(view) = desk.get(&Path::new("orders").then(&next).into_text()).await else { break };
                next = view.get("order").map(|order| text(order, "parent_id").to_string()).unwrap_or_default();
                found.push(Arc::new(view));
                if parents.try_set(found.clone()).is_some() {
                    break;
                }
            }
        });
    });
    parents
}

/// Reads an order's sub-orders whole, again whenever their list changes.
pub(super) fn read_subs(desk: Desk, list: Load) -> RwSignal<Subs> {
    let subs = RwSignal::new(Subs::default());
    Effect::new(move |_| {
        let Some(answer) = list.answer.get() else { return };
        let ids: Vec<String> = items(&answer, "orders").iter().map(|order| text(order, "id").to_string()).collect();
        let total = ids.len();
        spawn_local(async move {
            let mut views = Vec::new();
            for id in ids.into_iter().take(MOST_SUBS) {
                if let Ok(view) = desk.get(&Path::new("orders").then(&id).into_text()).await {
                    views.push(Arc::new(view));
                }
            }
            let complete = views.len() == total;
            subs.try_set(Subs { views, total, complete });
        });
    });
    subs
}

/// Lists an order's sub-orders.
pub(super) fn list_subs(desk: Desk, id: &str) -> Load {
    let path = Path::new("orders").with("parent_id", id).with("limit", LISTED).into_text();
    Load::of(Signal::stored(path), changes_of_any_order(desk))
}

/// A new sub-order has an id that nobody knows yet, so every order counts.
fn changes_of_any_order(desk: Desk) -> ReadSignal<u64> {
    desk.live.changes(|entry| text(entry, "type").starts_with("work."))
}

/// The tree around an order. Nothing where it stands alone.
#[component]
pub(super) fn Tree(shown: Shown) -> impl IntoView {
    let desk = Desk::here();
    let id = shown.id.get_value();
    let path = Path::new("orders").with("continues", &id).with("limit", "10").into_text();
    let successors = Load::of(Signal::stored(path), changes_of_any_order(desk));
    let next = memo(move || successors.answer.with(|answer| answer.as_deref().map(|a| items(a, "orders").to_vec())));
    let before = memo(move || shown.order.with(|order| text(order, "continues").to_string()));
    let parent_id = memo(move || shown.order.with(|order| text(order, "parent_id").to_string()));
    let subs = memo(move || {
        shown.sub_list.answer.with(|answer| answer.as_deref().map(|a| items(a, "orders").to_vec())).unwrap_or_default()
    });
    let alone = move || {
        before.with(String::is_empty)
            && parent_id.with(String::is_empty)
            && subs.with(Vec::is_empty)
            && next.with(|next| next.as_ref().is_none_or(Vec::is_empty))
    };
    let content = move || {
        view! {
            <section class="card stack tight" aria-labelledby="tree">
                <h2 id="tree">"Around this order"</h2>
                {live(move || above(&parent_id.get(), &shown.parents.get()))}
                {live(move || below(subs.get(), shown.subs.with(|subs| subs.complete)))}
                {live(move || (!before.with(String::is_empty)).then(|| view! {
                    <h3>"Picks up from"</h3>
                    <p><a class="id" href=order_address(&before.get())>{before.get()}</a></p>
                }))}
                {live(move || next.get().filter(|next| !next.is_empty()).map(|next| view! {
                    <h3>"Picked up by"</h3>
                    <ul class="tree">{next.into_iter().map(|order| view! { <Branch order/> }).collect_view()}</ul>
                }))}
            </section>
        }
    };
    live(move || (!alone()).then(content))
}

/// The chain above, the nearest last, as the tree is drawn.
fn above(parent_id: &str, parents: &[Arc<Value>]) -> Option<AnyView> {
    if parent_id.is_empty() {
        return None;
    }
    let known = if parents.is_empty() {
        view! { <li><a class="id" href=order_address(parent_id)>{parent_id.to_string()}</a></li> }.into_any()
    } else {
        parents.iter().rev().map(|parent| view! { <Branch order=Value::clone(parent)/> }).collect_view().into_any()
    };
    Some(view! { <h3>"Part of"</h3><ul class="tree chain">{known}</ul> }.into_any())
}

fn below(subs: Vec<Value>, complete: bool) -> Option<AnyView> {
    (!subs.is_empty()).then(|| {
        view! {
            <h3>"Parts"</h3>
            <ul class="tree">{subs.into_iter().map(|order| view! { <Branch order/> }).collect_view()}</ul>
            {(!complete).then(|| view! {
                <p class="quiet">"There are more parts than this page counts, so the cost bars leave some out."</p>
            })}
        }
        .into_any()
    })
}

#[component]
fn Branch(order: Value) -> impl IntoView {
    view! {
        <li>
            <StateBadge name=text(&order, "state")/>" "
            <a href=order_address(text(&order, "id"))>{text(&order, "goal").to_string()}</a>
            " "<span class="id quiet">{text(&order, "to").to_string()}</span>
        </li>
    }
}
