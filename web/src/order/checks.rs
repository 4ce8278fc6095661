//! The rules, applied again in this browser.

use std::sync::Arc;

use bailiwick_core::json::{Value, write_compact};
use bailiwick_core::work::{
    Finding, Kind, NoEngine, Rule, Validation, validate_child_order, validate_order, validate_own_cost, validate_report,
};
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::Shown;
use super::cost::sub_order;
use super::tree::Subs;
use crate::document::items;
use crate::engine;
use crate::parts::{live, memo};

/// What the rules say of one document.
#[derive(Debug, Clone, PartialEq)]
struct Verdict {
    what: &'static str,
    validation: Validation,
}

/// Every document of an order's page, checked.
fn verdicts(order: &Value, report: Option<&Value>, parent: Option<&Value>, subs: &Subs) -> Vec<Verdict> {
    let mut verdicts = vec![Verdict { what: "The order", validation: validate_order(order, &NoEngine) }];
    if let Some(report) = report {
        let mut validation = validate_report(report, order, &NoEngine);
        if !validation.has_invalid() && subs.complete {
            validation.findings.extend(validate_own_cost(
                report,
                order,
                subs.views.iter().filter_map(|sub| sub_order(sub)),
            ));
        }
        if !subs.complete {
            validation.skipped.push(Rule::R13);
        }
        verdicts.push(Verdict { what: "The report", validation });
    }
    if let Some(parent) = parent.and_then(|parent| parent.get("order")) {
        let validation = validate_child_order(order, parent).into();
        verdicts.push(Verdict { what: "The order within its parent", validation });
    }
    verdicts
}

/// Whether the desk recorded other limits than were found here. R13 is left out: sub-orders that were issued after the
/// report count here, and did not yet count there.
fn differs(recorded: &[Finding], found: &[Verdict]) -> bool {
    let limits = |finding: &&Finding| finding.kind == Kind::Limit && finding.rule != Rule::R13;
    let key = |finding: &Finding| (finding.rule, finding.path.clone());
    let recorded: Vec<_> = recorded.iter().filter(limits).map(key).collect();
    let found: Vec<_> = found.iter().flat_map(|verdict| &verdict.validation.findings).filter(limits).map(key).collect();
    recorded.len() != found.len() || !recorded.iter().all(|limit| found.contains(limit))
}

/// What the engine says of the rules that the page leaves to it.
#[derive(Debug, Clone, PartialEq)]
enum ByEngine {
    /// There is nothing to ask
    NotNeeded,
    /// It is being loaded, or thinks
    Asking,
    /// It cannot be asked
    Failed(String),
    /// O4 and R11
    Found(Vec<Finding>),
}

/// The findings, computed here.
#[component]
pub(super) fn Checks(shown: Shown) -> impl IntoView {
    let verdicts = memo(move || {
        shown.order.with(|order| {
            shown.report.with(|report| {
                shown.parents.with(|parents| {
                    shown.subs.with(|subs| verdicts(order, report.as_deref(), parents.first().map(Arc::as_ref), subs))
                })
            })
        })
    });
    let by_engine = ask_engine(shown);
    let differs = move || shown.findings.with(|recorded| verdicts.with(|found| differs(recorded, found)));
    view! {
        <section class="card stack tight" aria-labelledby="checks">
            <h2 id="checks">"Checks"</h2>
            <p class="quiet">"Checked in this browser, by the same rules that the desk uses."</p>
            {live(move || verdicts.get().into_iter().map(|verdict| view! { <VerdictRow verdict by_engine/> }).collect_view())}
            {live(move || differs().then(|| view! {
                <p class="note bad">
                    "The desk recorded other limits than this browser finds. Verify the journal before you decide."
                </p>
            }))}
        </section>
    }
}

/// Asks the engine wherever the order has an output schema.
fn ask_engine(shown: Shown) -> RwSignal<ByEngine> {
    let found = RwSignal::new(ByEngine::NotNeeded);
    let question = memo(move || {
        let order = shown.order.with(|order| order.get("output_schema").is_some().then(|| write_compact(order)))?;
        let report = shown.report.with(|report| report.as_deref().map(write_compact));
        Some((order, report))
    });
    Effect::new(move |_| {
        let Some((order, report)) = question.get() else { return found.set(ByEngine::NotNeeded) };
        found.set(ByEngine::Asking);
        spawn_local(async move {
            let answer = answers(&order, report.as_deref()).await;
            // An answer to a question that has changed since is left to the newer one.
            if question.try_get_untracked() == Some(Some((order, report))) {
                found.set(answer);
            }
        });
    });
    found
}

async fn answers(order: &str, report: Option<&str>) -> ByEngine {
    let mut findings = match engine::check_order(order).await {
        Ok(validation) => validation.findings,
        Err(error) => return ByEngine::Failed(error.message),
    };
    if let Some(report) = report {
        match engine::check_report(report, order).await {
            Ok(validation) => findings.extend(validation.findings),
            Err(error) => return ByEngine::Failed(error.message),
        }
    }
    findings.retain(|finding| matches!(finding.rule, Rule::O4 | Rule::R11));
    ByEngine::Found(findings)
}

#[component]
fn VerdictRow(verdict: Verdict, by_engine: RwSignal<ByEngine>) -> impl IntoView {
    let Verdict { what, validation: Validation { findings, skipped } } = verdict;
    live(move || {
        let (mut findings, mut skipped) = (findings.clone(), skipped.clone());
        let mut note = None;
        if let Some(rule) = skipped.iter().copied().find(|rule| matches!(rule, Rule::O4 | Rule::R11)) {
            match by_engine.get() {
                ByEngine::Found(found) => {
                    skipped.retain(|other| *other != rule);
                    findings.extend(found.into_iter().filter(|finding| finding.rule == rule));
                }
                ByEngine::Failed(message) => note = Some(message),
                ByEngine::Asking => note = Some("The schema engine is being asked…".into()),
                ByEngine::NotNeeded => {}
            }
        }
        let clean = findings.is_empty();
        let skipped: Vec<&str> = skipped.iter().map(|rule| rule.as_str()).collect();
        view! {
            <div>
                <h3>
                    {what}" "
                    {if clean {
                        view! { <span class="badge good">"keeps every rule checked"</span> }.into_any()
                    } else {
                        view! { <span class="badge bad">{findings_words(findings.len())}</span> }.into_any()
                    }}
                </h3>
                {(!clean).then(|| view! { <FindingList findings/> })}
                {(!skipped.is_empty()).then(|| view! {
                    <p class="quiet">"Not evaluated: "{skipped.join(", ")}". "{note}</p>
                })}
            </div>
        }
    })
}

fn findings_words(count: usize) -> String {
    if count == 1 { "1 finding".into() } else { format!("{count} findings") }
}

/// Findings, each with its rule, its place and what it says.
#[component]
pub(crate) fn FindingList(findings: Vec<Finding>) -> impl IntoView {
    let row = |finding: Finding| {
        let (tone, kind) = match finding.kind {
            Kind::Invalid => ("badge bad", "rejects"),
            Kind::Limit => ("badge warn", "ends the order"),
        };
        view! {
            <li>
                <span class=tone>{finding.rule.as_str()}" "{kind}</span>" "{finding.message}" "
                <span class="id quiet">{finding.path}</span>
            </li>
        }
    };
    view! { <ul class="findings">{findings.into_iter().map(row).collect_view()}</ul> }
}

/// The findings that the desk recorded.
pub(super) fn recorded(view: &Value) -> Vec<Finding> {
    items(view, "findings").iter().filter_map(Finding::from_value).collect()
}

#[cfg(test)]
mod tests {
    use bailiwick_core::json::{Limits, parse};

    use super::*;

    fn value(text: &str) -> Value {
        parse(text.as_bytes(), &Limits::DOCUMENT).unwrap()
    }

    fn order() -> Value {
        value(
            r#"{"spec":"awl/work-order@0.1","id":"o","created_at":"2026-01-01T00:00:00Z","from":"m","to":"w","goal":"g",
            "criteria":[{"id":"a","text":"A"}],"budget":{"usd":2},"deadline":"2026-01-02T00:00:00Z","tools":[]}"#,
        )
    }

    fn report(usd: &str) -> Value {
        value(&format!(
            r#"{{"spec":"awl/work-report@0.1","order_id":"o","from":"w","status":"failed","error":"e",
            "result":{{"summary":""}},"evidence":[],"cost":{{"usd":{usd}}},"finished_at":"2026-01-01T01:00:00Z",
            "tools_used":[]}}"#
        ))
    }

    fn rules(verdicts: &[Verdict]) -> Vec<&'static str> {
        verdicts.iter().flat_map(|v| &v.validation.findings).map(|finding| finding.rule.as_str()).collect()
    }

    #[test]
    fn sub_orders_count_once_all_are_read() {
        let sub = Arc::new(value(r#"{"state":"working","order":{"budget":{"usd":1.5}}}"#));
        let all = Subs { views: vec![sub.clone()], total: 1, complete: true };
        assert_eq!(rules(&verdicts(&order(), Some(&report("1")), None, &all)), ["R13"]);
        let some = Subs { views: vec![sub], total: 900, complete: false };
        let found = verdicts(&order(), Some(&report("1")), None, &some);
        assert_eq!(rules(&found), [""; 0]);
        assert_eq!(found[1].validation.skipped, [Rule::R13]);
    }

    #[test]
    fn a_desk_that_overlooks_a_limit_is_found_out() {
        let none = Subs { views: vec![], total: 0, complete: true };
        let found = verdicts(&order(), Some(&report("3")), None, &none);
        assert_eq!(rules(&found), ["R7"]);
        assert!(differs(&[], &found));
        assert!(!differs(&found[1].validation.findings, &found));
    }

    #[test]
    fn a_sub_order_is_checked_within_its_parent() {
        let parent = value(r#"{"order":{"budget":{"usd":1},"tools":[],"deadline":"2026-02-01T00:00:00Z"}}"#);
        let none = Subs { views: vec![], total: 0, complete: true };
        assert_eq!(rules(&verdicts(&order(), None, Some(&parent), &none)), ["C1"]);
    }
}
