//! What the worker handed in: summary, output, artifacts, questions, effects.

use std::sync::Arc;

use bailiwick_core::json::Value;
use leptos::prelude::*;

use super::Shown;
use super::evidence::Reference;
use crate::document::{count, items, text, texts};
use crate::parts::{Json, live};
use crate::when::When;

/// The last report.
#[component]
pub(super) fn Outcome(shown: Shown) -> impl IntoView {
    let report = shown.report;
    live(move || report.get().map(|report| view! { <Report report/> }))
}

#[component]
fn Report(report: Arc<Value>) -> impl IntoView {
    let status = match text(&report, "status") {
        "blocked" => ("badge warn", "Blocked: needs an answer"),
        "failed" => ("badge bad", "Failed"),
        _ => ("badge good", "Done"),
    };
    let result = report.get("result").cloned().unwrap_or(Value::Null);
    let summary = text(&result, "summary").to_string();
    let error = text(&report, "error").to_string();
    let whole = Value::clone(&report);
    view! {
        <section class="card stack tight" aria-labelledby="report">
            <div class="card-head">
                <h2 id="report">"Report "{count(&report, "attempt").to_string()}</h2>
                <span><span class=status.0>{status.1}</span>" "<span class="quiet"><When at=text(&report, "finished_at")/></span></span>
            </div>
            {(!summary.is_empty()).then(|| view! { <p class="prose">{summary}</p> })}
            {(!error.is_empty()).then(|| view! { <div class="note bad"><h3>"Error"</h3><p class="prose">{error}</p></div> })}
            <Questions report=report.clone()/>
            <Output output=result.get("output").cloned()/>
            <Artifacts artifacts=items(&result, "artifacts").to_vec()/>
            <Handoff handoff=report.get("handoff").cloned()/>
            <details><summary>"The report as it was sent"</summary><Json value=Signal::stored(whole) what="report"/></details>
        </section>
    }
}

#[component]
fn Questions(report: Arc<Value>) -> impl IntoView {
    let questions: Vec<String> = texts(&report, "questions").map(String::from).collect();
    (!questions.is_empty()).then(|| {
        view! {
            <div class="note warn">
                <h3>"Questions"</h3>
                <ol class="numbered">
                    {questions.into_iter().map(|question| view! { <li class="prose">{question}</li> }).collect_view()}
                </ol>
            </div>
        }
    })
}

#[component]
fn Output(output: Option<Value>) -> impl IntoView {
    output.map(|output| view! { <h3>"Output"</h3><Json value=Signal::stored(output) what="output"/> })
}

#[component]
fn Artifacts(artifacts: Vec<Value>) -> impl IntoView {
    let row = |artifact: Value| {
        let kind = text(&artifact, "media_type").to_string();
        view! {
            <li>
                <Reference reference=text(&artifact, "uri")/>
                {(!kind.is_empty()).then(|| view! { " "<span class="quiet">{kind}</span> })}
                <p class="prose">{text(&artifact, "note").to_string()}</p>
            </li>
        }
    };
    (!artifacts.is_empty()).then(|| {
        view! {
            <h3>"Artifacts"</h3>
            <ul class="stack tight">{artifacts.into_iter().map(row).collect_view()}</ul>
        }
    })
}

/// What was established, for whoever goes on.
#[component]
pub(super) fn Handoff(handoff: Option<Value>) -> impl IntoView {
    handoff.map(|handoff| {
        let pairs = |member, second| {
            items(&handoff, member)
                .iter()
                .map(|item| {
                    let (first, second) = (text(item, "text"), text(item, second));
                    if second.is_empty() { first.to_string() } else { format!("{first} ({second})") }
                })
                .collect::<Vec<_>>()
        };
        let one = |member| Some(text(&handoff, member).to_string()).filter(|text| !text.is_empty());
        let parts = [
            ("Summary", one("summary").into_iter().collect()),
            ("Decided", pairs("decisions", "why")),
            ("Tried", pairs("tried", "result")),
            ("Open questions", texts(&handoff, "open_questions").map(String::from).collect()),
            ("Next step", one("next_step").into_iter().collect()),
        ];
        let row = |(name, lines): (&'static str, Vec<String>)| {
            (!lines.is_empty()).then(|| {
                view! {
                    <dt>{name}</dt>
                    <dd>{lines.into_iter().map(|line| view! { <p class="prose">{line}</p> }).collect_view()}</dd>
                }
            })
        };
        view! {
            <details>
                <summary>"Handoff: what the worker before established"</summary>
                <dl class="facts">{parts.into_iter().map(row).collect_view()}</dl>
            </details>
        }
    })
}
