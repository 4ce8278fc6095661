//! Checking the desk's own journal: the export it sends, and what it claims about itself.

use bailiwick_core::json::Value;
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::amount::grouped;
use super::history::History;
use super::verdict::Verdict;
use super::verification::Verification;
use crate::api::ApiError;
use crate::desk::Desk;
use crate::document::{count, items, text};
use crate::engine::Source;
use crate::focus::focus_soon;
use crate::parts::Copy;

/// Where the desk sends its journal, from the page's base.
const EXPORT: &str = "api/v1/journal/export";

/// What the desk says about an entry that was verified.
#[derive(Debug, Clone, PartialEq)]
enum Claim {
    /// The same hash
    Same(u64),
    /// Another hash, or none
    Other(u64),
    /// It could not be asked
    Unknown(ApiError),
}

/// Head, export and verification.
#[component]
pub(super) fn CheckSection(history: History) -> impl IntoView {
    let begun = RwSignal::new(false);
    let claim = RwSignal::new(None::<Claim>);
    let on_verdict = Callback::new(move |verdict: Option<Verdict>| {
        claim.set(None);
        if let Some(verdict) = verdict.filter(|verdict| verdict.wrong.is_none() && verdict.head_sequence > 0) {
            compare(verdict, claim);
        }
    });
    let begin = move |_| {
        begun.set(true);
        focus_soon("verification");
    };
    view! {
        <section class="card stack tight" aria-labelledby="check">
            <div class="card-head">
                <h2 id="check">"Is it as it was written?"</h2>
                <p class="buttons">
                    {move || (!begun.get()).then(|| view! {
                        <button type="button" class="button primary" on:click=begin>"Verify"</button>
                    })}
                    <a class="button" href=EXPORT download="journal.jsonl" rel="external">"Download export"</a>
                </p>
            </div>
            <HeadLine history/>
            {move || {
                begun.get().then(|| {
                    let of_entries = history.head.with_untracked(|head| head.as_ref().map(|head| head.sequence));
                    let source = Source::Address(EXPORT.into());
                    view! {
                        <div id="verification" tabindex="-1">
                            <Verification source name="the journal of this desk" of_entries on_verdict/>
                        </div>
                    }
                })
            }}
            <div role="status">{move || claim.get().map(|claim| view! { <ClaimView claim/> })}</div>
        </section>
    }
}

#[component]
fn HeadLine(history: History) -> impl IntoView {
    move || {
        history.head.get().map(|head| match head.sequence {
            0 => view! { <p class="quiet">"There is no entry yet."</p> }.into_any(),
            sequence => {
                let hash = head.hash;
                view! {
                    <p class="head-line">
                        "The desk says it ends at entry "<strong>{grouped(sequence)}</strong>" with hash "
                        <span class="id">{hash.clone()}</span>" "<Copy text=Signal::stored(hash) what="hash"/>
                    </p>
                }
                .into_any()
            }
        })
    }
}

/// Asks the desk, by another way than its export, for the hash of the last entry that was verified.
fn compare(verdict: Verdict, claim: RwSignal<Option<Claim>>) {
    let desk = Desk::here();
    let sequence = verdict.head_sequence;
    let path = format!("journal/entries?after={}&limit=1", sequence.saturating_sub(1));
    spawn_local(async move {
        let found = desk.get(&path).await;
        let _ = claim.try_set(Some(match found {
            Ok(page) if names(&page, sequence, &verdict.head_hash) => Claim::Same(sequence),
            Ok(_) => Claim::Other(sequence),
            Err(error) => Claim::Unknown(error),
        }));
    });
}

/// Whether a page of entries says that the entry has the hash.
fn names(page: &Value, sequence: u64, hash: &str) -> bool {
    let entry = items(page, "entries").first();
    entry.is_some_and(|entry| count(entry, "sequence") == sequence && text(entry, "hash") == hash)
}

#[component]
fn ClaimView(claim: Claim) -> impl IntoView {
    match claim {
        Claim::Same(sequence) => view! {
            <p class="note good">"Asked for entry "{grouped(sequence)}" by itself, the desk names the same hash."</p>
        }
        .into_any(),
        Claim::Other(sequence) => view! {
            <p class="note bad">
                <strong>"The desk contradicts its own export. "</strong>
                "Asked for entry "{grouped(sequence)}" by itself, it does not name the hash that was verified."
            </p>
        }
        .into_any(),
        Claim::Unknown(error) => view! {
            <p class="note warn">"The export was verified, but not compared with the desk's head. "{error.sentence()}"."</p>
        }
        .into_any(),
    }
}

#[cfg(test)]
mod tests {
    use bailiwick_core::json::{Limits, parse};

    use super::*;

    #[test]
    fn a_claim_is_the_entry_with_its_hash() {
        let page = parse(br#"{"entries":[{"sequence":7,"hash":"ab"}]}"#, &Limits::DOCUMENT).unwrap();
        assert!(names(&page, 7, "ab"));
        assert!(!names(&page, 7, "ac"));
        assert!(!names(&page, 8, "ab"));
        assert!(!names(&Value::Null, 0, ""));
    }
}
