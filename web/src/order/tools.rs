//! Tools used against tools allowed.

use bailiwick_core::json::Value;
use bailiwick_core::work::tool_allowed;
use leptos::prelude::*;

use super::Shown;
use crate::document::texts;
use crate::parts::{live, memo};

/// A tool that was called.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Used {
    name: String,
    /// The first pattern of the order that allows it
    allowed_by: Option<String>,
}

/// A pattern of the order.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Allowed {
    pattern: String,
    /// Whether some or all of its calls are held back until the report is approved
    staged: bool,
}

fn used(order: &Value, report: Option<&Value>) -> Vec<Used> {
    let mut found: Vec<Used> = Vec::new();
    for name in report.into_iter().flat_map(|report| texts(report, "tools_used")) {
        if found.iter().all(|used| used.name != name) {
            let by = texts(order, "tools").find(|pattern| tool_allowed(name, [*pattern]));
            found.push(Used { name: name.into(), allowed_by: by.map(String::from) });
        }
    }
    found
}

fn allowed(order: &Value) -> Vec<Allowed> {
    let staged =
        |pattern: &str| texts(order, "staged").any(|staged| bailiwick_core::work::patterns_overlap(staged, pattern));
    texts(order, "tools").map(|pattern| Allowed { pattern: pattern.into(), staged: staged(pattern) }).collect()
}

/// Tools used against tools allowed.
#[component]
pub(super) fn Tools(shown: Shown) -> impl IntoView {
    let allowed = memo(move || shown.order.with(|order| allowed(order)));
    let used = memo(move || shown.order.with(|order| shown.report.with(|report| used(order, report.as_deref()))));
    let reported = move || shown.report.with(Option::is_some);
    view! {
        <section class="card" aria-labelledby="tools">
            <h2 id="tools">"Tools"</h2>
            <div class="stack">
                <div>
                    <h3>"Allowed"</h3>
                    {live(move || list(allowed.get(), "None: the work needs no tool", |tool| view! {
                        <li>
                            <code class="id">{tool.pattern}</code>
                            {tool.staged.then(|| view! { " "<span class="badge warn">"held back until approved"</span> })}
                        </li>
                    }.into_any()))}
                </div>
                <div>
                    <h3>"Used"</h3>
                    {live(move || list(used.get(), if reported() { "None" } else { "No report yet" }, |tool| view! {
                        <li>
                            <code class="id">{tool.name}</code>" "
                            {match tool.allowed_by {
                                Some(pattern) => view! { <span class="quiet">"by "<code>{pattern}</code></span> }.into_any(),
                                None => view! { <span class="badge bad">"not allowed"</span> }.into_any(),
                            }}
                        </li>
                    }.into_any()))}
                </div>
            </div>
        </section>
    }
}

fn list<T>(tools: Vec<T>, none: &'static str, row: fn(T) -> AnyView) -> AnyView {
    if tools.is_empty() {
        return view! { <p class="quiet">{none}</p> }.into_any();
    }
    view! { <ul class="tools">{tools.into_iter().map(row).collect_view()}</ul> }.into_any()
}

#[cfg(test)]
mod tests {
    use bailiwick_core::json::{Limits, parse};

    use super::*;

    fn value(text: &str) -> Value {
        parse(text.as_bytes(), &Limits::DOCUMENT).unwrap()
    }

    #[test]
    fn each_tool_is_shown_once_with_what_allows_it() {
        let order = value(r#"{"tools":["mail/*","web/get"],"staged":["mail/send"]}"#);
        let report = value(r#"{"tools_used":["mail/send","mail/send","web/post"]}"#);
        let by = |name: &str, by: Option<&str>| Used { name: name.into(), allowed_by: by.map(String::from) };
        assert_eq!(used(&order, Some(&report)), [by("mail/send", Some("mail/*")), by("web/post", None)]);
        let staged: Vec<bool> = allowed(&order).iter().map(|tool| tool.staged).collect();
        assert_eq!(staged, [true, false]);
    }
}
