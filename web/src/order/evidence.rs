//! Criteria with what proves them, side by side.

use bailiwick_core::json::Value;
use leptos::prelude::*;

use super::Shown;
use crate::document::{items, text};
use crate::parts::{live, memo};

/// A criterion and its evidence.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Proof {
    id: String,
    wanted: String,
    evidence: Vec<Value>,
}

/// How well a criterion is proven.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Strength {
    /// Nothing names it
    Missing,
    /// Nobody can open or replay what names it
    Notes,
    /// Something can be looked at
    Shown,
}

impl Proof {
    fn strength(&self) -> Strength {
        if self.evidence.is_empty() {
            Strength::Missing
        } else if self.evidence.iter().all(|item| text(item, "type") == "note") {
            Strength::Notes
        } else {
            Strength::Shown
        }
    }
}

/// Every criterion of an order in its order, then whatever a report's evidence names beside them.
pub(super) fn proofs(order: &Value, report: Option<&Value>) -> Vec<Proof> {
    let evidence = report.map(|report| items(report, "evidence")).unwrap_or_default();
    let naming = |id: &str| evidence.iter().filter(|item| text(item, "criterion") == id).cloned().collect();
    let criteria = items(order, "criteria");
    let mut proofs: Vec<Proof> = criteria
        .iter()
        .map(|criterion| {
            let id = text(criterion, "id");
            Proof { id: id.into(), wanted: text(criterion, "text").into(), evidence: naming(id) }
        })
        .collect();
    for item in evidence {
        let id = text(item, "criterion");
        if !proofs.iter().any(|proof| proof.id == id) {
            proofs.push(Proof { id: id.into(), wanted: String::new(), evidence: naming(id) });
        }
    }
    proofs
}

/// The criteria of an order, each beside the evidence of its last report.
#[component]
pub(super) fn Criteria(shown: Shown) -> impl IntoView {
    let proofs = memo(move || shown.order.with(|order| shown.report.with(|report| proofs(order, report.as_deref()))));
    // Whether a gap is a fault depends on what the report claims.
    let status =
        memo(move || shown.report.with(|report| report.as_deref().map(|report| text(report, "status").to_string())));
    view! {
        <section class="card" aria-labelledby="criteria">
            <h2 id="criteria">"Criteria and evidence"</h2>
            <ul class="proofs">
                {live(move || proofs.get().into_iter().map(|proof| view! { <ProofRow proof status=status.get()/> }).collect_view())}
            </ul>
        </section>
    }
}

#[component]
fn ProofRow(proof: Proof, status: Option<String>) -> impl IntoView {
    let known = !proof.wanted.is_empty();
    let note = match (proof.strength(), status.as_deref()) {
        (Strength::Missing, None) => Some(("quiet", "No report yet")),
        (Strength::Missing, Some("done")) => Some(("badge bad", "No evidence")),
        (Strength::Missing, Some(_)) => Some(("quiet", "No evidence in this report")),
        (Strength::Notes, _) => Some(("badge warn", "Only a note: nothing to open or replay")),
        (Strength::Shown, _) => None,
    };
    view! {
        <li class="proof">
            <div>
                <p>{if known { proof.wanted } else { "The order has no such criterion".into() }}</p>
                <p class="id quiet">{proof.id}</p>
            </div>
            <div class="stack tight">
                {proof.evidence.into_iter().map(|item| view! { <Evidence item/> }).collect_view()}
                {note.map(|(class, words)| view! { <p><span class=class>{words}</span></p> })}
            </div>
        </li>
    }
}

#[component]
fn Evidence(item: Value) -> impl IntoView {
    let kind = match text(&item, "type") {
        "tool_call" => "Tool call",
        "artifact" => "Artifact",
        "citation" => "Citation",
        _ => "Note",
    };
    let (reference, note) = (text(&item, "ref").to_string(), text(&item, "note").to_string());
    view! {
        <div class="evidence">
            <span class="badge">{kind}</span>
            {(!reference.is_empty()).then(|| view! { " "<Reference reference/> })}
            {(!note.is_empty()).then(|| view! { <p class="prose">{note}</p> })}
        </div>
    }
}

/// Something that can be looked up: a link if it is a web address, else as it is. Anything else an agent may write as an
/// address, `javascript:` among it, stays text.
#[component]
pub(super) fn Reference(#[prop(into)] reference: String) -> impl IntoView {
    if reference.starts_with("https://") || reference.starts_with("http://") {
        let address = reference.clone();
        view! { <a class="id" href=address target="_blank" rel="noopener noreferrer">{reference}</a> }.into_any()
    } else {
        view! { <span class="id">{reference}</span> }.into_any()
    }
}

#[cfg(test)]
mod tests {
    use bailiwick_core::json::{Limits, parse};

    use super::*;

    fn value(text: &str) -> Value {
        parse(text.as_bytes(), &Limits::DOCUMENT).unwrap()
    }

    #[test]
    fn evidence_stands_beside_its_criterion() {
        let order = value(r#"{"criteria":[{"id":"a","text":"A"},{"id":"b","text":"B"},{"id":"c","text":"C"}]}"#);
        let report = value(
            r#"{"evidence":[{"criterion":"b","type":"note"},{"criterion":"a","type":"note"},
            {"criterion":"a","type":"citation"},{"criterion":"z","type":"note"}]}"#,
        );
        let found: Vec<(String, usize, Strength)> = proofs(&order, Some(&report))
            .iter()
            .map(|proof| (proof.id.clone(), proof.evidence.len(), proof.strength()))
            .collect();
        let of = |id: &str, count, strength| (id.to_string(), count, strength);
        assert_eq!(
            found,
            [
                of("a", 2, Strength::Shown),
                of("b", 1, Strength::Notes),
                of("c", 0, Strength::Missing),
                of("z", 1, Strength::Notes)
            ]
        );
        assert_eq!(proofs(&order, None).len(), 3);
    }
}
