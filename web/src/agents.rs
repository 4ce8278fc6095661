//! The agents: what each has done so far, and how to connect one.

use bailiwick_core::json::Value;
use bailiwick_core::work::UNITS;
use leptos::prelude::*;

use crate::api::segment;
use crate::desk::Desk;
use crate::document::{count, items, text};
use crate::load::{List, Load};
use crate::page::Heading;
use crate::parts::{Command, Fault, More, amount_words, memo, unit_words};
use crate::when::When;

/// How many agents come at a time.
const PAGE: u32 = 100;

/// What the list can be sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sort {
    Name,
    LastSeen,
    Active,
    Approved,
    Reworks,
}

impl Sort {
    const ALL: [Self; 5] = [Self::Name, Self::LastSeen, Self::Active, Self::Approved, Self::Reworks];

    const fn words(self) -> &'static str {
        match self {
            Self::Name => "Name",
            Self::LastSeen => "Last seen",
            Self::Active => "Active orders",
            Self::Approved => "Approved orders",
            Self::Reworks => "Reworks",
        }
    }
}

/// The agents in an order: names upwards, times and counts downwards, equal ones by name.
fn sorted(agents: &[Value], sort: Sort) -> Vec<Value> {
    let mut agents = agents.to_vec();
    agents.sort_by(|a, b| {
        let by = match sort {
            Sort::Name => std::cmp::Ordering::Equal,
            Sort::LastSeen => text(b, "last_seen").cmp(text(a, "last_seen")),
            Sort::Active => count(b, "active").cmp(&count(a, "active")),
            Sort::Approved => count(b, "approved").cmp(&count(a, "approved")),
            Sort::Reworks => count(b, "reworks").cmp(&count(a, "reworks")),
        };
        by.then_with(|| text(a, "agent").cmp(text(b, "agent")))
    });
    agents
}

/// The page at `/agents`.
#[component]
pub(crate) fn AgentsPage() -> impl IntoView {
    let desk = Desk::here();
    let pages = RwSignal::new(1);
    let changes = desk.live.changes(|_| true);
    let path = Signal::stored(format!("agents?limit={PAGE}"));
    let agents = Load::list(path, List { member: "agents", pages }, changes);
    let sort = RwSignal::new(Sort::Name);
    let shown = memo(move || {
        agents.answer.with(|answer| answer.as_deref().map(|answer| sorted(items(answer, "agents"), sort.get())))
    });
    let list = move || match shown.get() {
        None => ().into_any(),
        Some(agents) if agents.is_empty() => view! { <p>"No agent has been given an order yet."</p> }.into_any(),
        Some(agents) => view! { <Records agents/> }.into_any(),
    };
    view! {
        <div class="page-head">
            <Heading title="Agents"/>
            <SortField sort/>
        </div>
        <Fault load=agents/>
        {list}
        <More list=agents pages/>
        <Connect/>
    }
}

#[component]
fn SortField(sort: RwSignal<Sort>) -> impl IntoView {
    let choose = move |event| {
        let chosen = event_target_value(&event);
        if let Some(chosen) = Sort::ALL.into_iter().find(|sort| sort.words() == chosen) {
            sort.set(chosen);
        }
    };
    view! {
        <div class="row">
            <label class="label" for="agents-sort">"Sort by"</label>
            <select id="agents-sort" class="narrow" on:change=choose>
                {Sort::ALL.into_iter().map(|sort| view! { <option value=sort.words()>{sort.words()}</option> }).collect_view()}
            </select>
        </div>
    }
}

#[component]
fn Records(agents: Vec<Value>) -> impl IntoView {
    view! {
        <ul class="agents" aria-label="Track records">
            {agents.into_iter().map(|agent| view! { <Record agent/> }).collect_view()}
        </ul>
    }
}

/// The counts of a track record, as people call them.
const COUNTS: [(&str, &str); 8] = [
    ("approved", "Approved"),
    ("approved_first_time", "First time"),
    ("reworks", "Reworks"),
    ("failed", "Failed"),
    ("blocked", "Blocked"),
    ("declined", "Declined"),
    ("expired", "Expired"),
    ("cancelled", "Cancelled"),
];

#[component]
fn Record(agent: Value) -> impl IntoView {
    let name = text(&agent, "agent").to_string();
    let active = count(&agent, "active");
    let total = count(&agent, "orders");
    let last_seen = text(&agent, "last_seen").to_string();
    let orders = format!("/orders?to={}", segment(&name));
    view! {
        <li class="card agent">
            <div class="card-head">
                <h2 class="id">{name}</h2>
                <p class="quiet">
                    {if last_seen.is_empty() {
                        "not seen since the server started".into_any()
                    } else {
                        view! { "last seen "<When at=last_seen/> }.into_any()
                    }}
                </p>
            </div>
            <p><a href=orders>{orders_of(total, active)}</a></p>
            <dl class="counts">
                {COUNTS
                    .into_iter()
                    .map(|(member, words)| view! { <div><dt>{words}</dt><dd>{count(&agent, member)}</dd></div> })
                    .collect_view()}
            </dl>
            <dl class="facts">
                {amounts(&agent)
                    .into_iter()
                    .map(|(unit, used)| view! { <dt>{unit}</dt><dd>{used}</dd> })
                    .collect_view()}
            </dl>
        </li>
    }
}

fn orders_of(total: u64, active: u64) -> String {
    let orders = if total == 1 { "1 order".into() } else { format!("{total} orders") };
    if active == 0 { format!("{orders}, none active") } else { format!("{orders}, {active} active") }
}

/// What an agent spent of its budgets, by unit.
fn amounts(agent: &Value) -> Vec<(&'static str, String)> {
    let of = |unit: bailiwick_core::work::Unit| {
        let (spent, budget) = (unit.of(agent.get("spent")), unit.of(agent.get("budget")));
        let text = match (spent, budget) {
            (None, None) => return None,
            (spent, Some(budget)) => {
                format!("{} spent of {}", spent.map_or_else(|| "0".into(), amount_words), amount_words(budget))
            }
            (Some(spent), None) => format!("{} spent, without a limit", amount_words(spent)),
        };
        Some((unit_words(unit), text))
    };
    UNITS.into_iter().filter_map(of).collect()
}

/// How agents are connected to this very server.
#[component]
fn Connect() -> impl IntoView {
    let server = window().location().origin().unwrap_or_default();
    view! {
        <section class="connect stack" aria-labelledby="connect">
            <h2 id="connect">"Connect an agent"</h2>
            <p>
                "Agents talk to this desk over MCP. Each needs a key of its own: add it to the file of "
                <code>"bailiwick serve --keys keys.json"</code>" and put it where it says KEY."
            </p>
            <h3>"Claude Code"</h3>
            <Command text=format!(
                "claude mcp add --transport http bailiwick {server}/mcp --header \"Authorization: Bearer KEY\"",
            )/>
            <h3>"Codex"</h3>
            <Command text=format!("codex mcp add bailiwick --url {server}/mcp --bearer-token-env-var BAILIWICK_KEY")/>
            <h3>"Cursor, Gemini CLI, Claude Desktop: in their settings file"</h3>
            <Command text=format!(
                "{{\"mcpServers\": {{\"bailiwick\": {{\"url\": \"{server}/mcp\", \"headers\": {{\"Authorization\": \"Bearer KEY\"}}}}}}}}",
            )/>
        </section>
    }
}

#[cfg(test)]
mod tests {
    use bailiwick_core::json::{Limits, parse};

    use super::*;

    fn agents() -> Vec<Value> {
        let text = br#"[{"agent":"b","active":2,"last_seen":null},{"agent":"a","active":2,"last_seen":"2026-01-01T00:00:00.000Z"},
            {"agent":"c","active":5}]"#;
        parse(text, &Limits::DOCUMENT).unwrap().as_array().unwrap().to_vec()
    }

    fn names(sort: Sort) -> String {
        sorted(&agents(), sort).iter().map(|agent| text(agent, "agent")).collect()
    }

    #[test]
    fn agents_are_sorted_and_ties_go_by_name() {
        assert_eq!(names(Sort::Name), "abc");
        assert_eq!(names(Sort::Active), "cab");
        assert_eq!(names(Sort::LastSeen), "abc");
    }

    #[test]
    fn amounts_say_what_is_missing() {
        let agent = parse(br#"{"spent":{"usd":1.5,"tokens":7},"budget":{"usd":4,"tool_calls":3}}"#, &Limits::DOCUMENT);
        let amounts = amounts(&agent.unwrap());
        let texts: Vec<&str> = amounts.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(texts, ["1.5 spent of 4", "7 spent, without a limit", "0 spent of 3"]);
    }
}
