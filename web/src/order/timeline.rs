//! What happened to an order.

use std::collections::BTreeMap;

use bailiwick_core::json::Value;
use bailiwick_core::principal::DESK;
use bailiwick_core::work::shown as number;
use leptos::prelude::*;

use super::Shown;
use crate::api::{Path, segment};
use crate::desk::Desk;
use crate::document::{count, items, text, texts};
use crate::load::Load;
use crate::parts::{keyed, memo};
use crate::when::When;

/// How many entries of the journal are looked through for who was who.
const ENTRIES: &str = "200";

/// Where the journal has an event, and how it knew who acted.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Source {
    sequence: u64,
    established: String,
}

/// Where the journal has the events of an order, by their `seq`.
fn sources(entries: &[Value], order_id: &str) -> BTreeMap<u64, Source> {
    let mut found = BTreeMap::new();
    for entry in entries {
        let Some(payload) = entry.get("payload") else { continue };
        let established = payload.get("principal").map(|principal| text(principal, "established")).unwrap_or_default();
        let source = || Source { sequence: count(entry, "sequence"), established: established.into() };
        for fact in items(payload, "facts") {
            let about = |fact: &Value| [text(fact, "order"), text(fact, "id")].contains(&order_id);
            let Some(event) = fact.get("event") else {
                // The fact that opens an order has no event of its own: it is the first.
                if text(entry, "type") == "work.create" && about(fact) {
                    found.insert(1, source());
                }
                continue;
            };
            if about(fact) {
                found.insert(count(event, "seq"), source());
            }
        }
    }
    found
}

/// How a principal was established, in words.
fn established_words(name: &str) -> Option<&'static str> {
    Some(match name {
        "claimed" => "name claimed, not checked",
        "api_key" => "known by key",
        "sign_in" => "signed in",
        _ => return None,
    })
}

/// An event's action as a sentence goes on after the actor.
fn action_words(event: &Value) -> String {
    let words = match text(event, "action") {
        "create" => "issued the order",
        "accept" => "accepted",
        "decline" => "declined",
        "start" => "started work",
        "progress" => "noted progress",
        "report_done" => "reported: done",
        "report_failed" => "reported: failed",
        "report_blocked" => "asked a question",
        "answer" => "answered",
        "approve" => "approved",
        "rework" => "sent it back to work",
        "cancel" => "cancelled",
        "expire" => "ended it: expired",
        "effect_start" => "began",
        "effect_done" => "did",
        "effect_failed" => "failed at",
        "allow_effect_retry" => "allowed another try of",
        other => other,
    };
    let effect = || texts(event, "effects").next().unwrap_or_default();
    if text(event, "action").contains("effect") {
        return format!("{words} {}", effect());
    }
    if is_report(event) {
        return format!("{words}, {}", text(event, "note"));
    }
    match event.get("percent").and_then(Value::as_number) {
        Some(percent) => format!("{words}, {} %", number(*percent)),
        None => words.into(),
    }
}

/// Whether it is a report, whose note is only the number of the attempt.
fn is_report(event: &Value) -> bool {
    text(event, "action").starts_with("report_")
}

/// The events of an order, oldest first.
#[component]
pub(super) fn Timeline(shown: Shown) -> impl IntoView {
    let desk = Desk::here();
    let head = Signal::derive(move || {
        // The newest entry, and every time that the order has a new event.
        let query = Path::new("journal/entries").with("before", &u32::MAX.to_string()).with("limit", ENTRIES);
        query.with("entity", &shown.id.get_value()).into_text()
    });
    let id = shown.id.get_value();
    let changes = desk.live.changes(move |entry| text(entry, "entity_id") == id);
    let journal = Load::of(head, changes);
    let sources = memo(move || {
        let entries = journal.answer.get();
        entries.map(|answer| sources(items(&answer, "entries"), &shown.id.get_value())).unwrap_or_default()
    });
    let events = move || shown.events.with(|events| events.as_array().unwrap_or_default().to_vec());
    view! {
        <section class="card" aria-labelledby="timeline">
            <h2 id="timeline">"Timeline"</h2>
            <ol class="timeline">
                {keyed(
                    Signal::derive(events),
                    |event| count(event, "seq").to_string(),
                    move |event| view! { <EventRow event sources/> }.into_any(),
                )}
            </ol>
        </section>
    }
}

#[component]
fn EventRow(event: Value, sources: Memo<BTreeMap<u64, Source>>) -> impl IntoView {
    let seq = count(&event, "seq");
    let source = memo(move || sources.with(|sources| sources.get(&seq).cloned()));
    let actor = text(&event, "actor").to_string();
    let by_desk = actor == DESK;
    let note = text(&event, "note").to_string();
    let effects: Vec<String> = texts(&event, "effects").map(String::from).collect();
    let journal = move || {
        source.get().map(|source| {
            let how = (!by_desk).then(|| established_words(&source.established)).flatten();
            view! {
                {how.map(|how| view! { <span>{how}</span> })}
                <span>"journal "{source.sequence}</span>
            }
        })
    };
    view! {
        <li class="event">
            <p><span class:id=!by_desk>{if by_desk { "The desk".into() } else { actor }}</span>" "{action_words(&event)}</p>
            {(!note.is_empty() && !is_report(&event)).then(|| view! { <p class="prose said">{note}</p> })}
            {event.get("effects").is_some().then(|| view! {
                <p class="said">
                    {if effects.is_empty() { "No effect was approved".into() } else { format!("Approved to run: {}", effects.join(", ")) }}
                </p>
            })}
            <p class="event-meta quiet"><span><When at=text(&event, "at")/></span>{journal}</p>
        </li>
    }
}

/// The address of an order's page.
pub(super) fn order_address(id: &str) -> String {
    format!("/orders/{}", segment(id))
}

#[cfg(test)]
mod tests {
    use bailiwick_core::json::{Limits, parse};

    use super::*;

    #[test]
    fn events_are_found_in_the_journal() {
        let entries = parse(
            br#"[{"sequence":7,"type":"work.accept","payload":{"principal":{"id":"agent:a","established":"api_key"},
            "facts":[{"order":"o","event":{"seq":2}},{"order":"other","event":{"seq":9}}]}},
            {"sequence":3,"type":"work.create","payload":{"principal":{"established":"sign_in"},"facts":[{"id":"o"}]}}]"#,
            &Limits::DOCUMENT,
        );
        let found = sources(entries.unwrap().as_array().unwrap(), "o");
        let of = |sequence, established: &str| Source { sequence, established: established.into() };
        assert_eq!(found, BTreeMap::from([(1, of(3, "sign_in")), (2, of(7, "api_key"))]));
    }

    #[test]
    fn details_are_part_of_the_sentence() {
        let event = parse(br#"{"action":"progress","percent":40}"#, &Limits::DOCUMENT).unwrap();
        assert_eq!(action_words(&event), "noted progress, 40 %");
        let event = parse(br#"{"action":"report_done","note":"attempt 2"}"#, &Limits::DOCUMENT).unwrap();
        assert_eq!(action_words(&event), "reported: done, attempt 2");
    }
}
