//! `bailiwick new`: documents to start from (`spec work-orders §16`).

use bailiwick_core::json::{Object, Value};
use bailiwick_core::time::{self, Millis};
use bailiwick_core::work::{order_spec_for, report_spec_for};

use crate::clock::now;
use crate::failure::{Answer, Failure};
use crate::output::print_json;

const EXAMPLES: &str = "\
Examples:
  bailiwick new order > order.json
  bailiwick new report > report.json
  bailiwick validate order.json report.json";

/// How long after its creation the starter order is due.
const HOUR_SECONDS: u64 = 3600;

/// Print an order or a report to start from
#[derive(clap::Args)]
#[command(after_help = EXAMPLES, override_usage = "bailiwick new <order|report>")]
pub(crate) struct Arguments {
    /// `order` or `report`
    #[arg(value_name = "order|report")]
    kinds: Vec<String>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    let kinds: Vec<&str> = arguments.kinds.iter().map(String::as_str).collect();
    let starter = match kinds[..] {
        ["order"] => order(now()),
        ["report"] => report(now()),
        [] => return Err(Failure::usage("new what? accepted: `order`, `report`")),
        [other] => return Err(Failure::usage(format!("no starter for `{other}`; accepted: `order`, `report`"))),
        [_, _, ..] => {
            return Err(Failure::usage(format!("{} arguments, accepted is one: `order` or `report`", kinds.len())));
        }
    };
    print_json(&starter)?;
    Ok(Answer::Yes)
}

/// An order for `agent:worker` that is due in an hour.
fn order(now: Millis) -> Value {
    let criterion = Object::new().with("id", "c1").with("text", "What must be true when the work is done");
    let rest = Object::new()
        .with("id", "wo_example")
        .with("created_at", time::format(now))
        .with("from", "agent:manager")
        .with("to", "agent:worker")
        .with("goal", "What to achieve")
        .with("criteria", vec![Value::Object(criterion)])
        .with("budget", Object::new().with("usd", 1_u32))
        .with("deadline", time::format(now.saturating_add_seconds(HOUR_SECONDS)))
        .with("tools", Vec::<Value>::new());
    marked(order_spec_for(&rest), rest)
}

/// A report on it that asks a question.
fn report(now: Millis) -> Value {
    let rest = Object::new()
        .with("order_id", "wo_example")
        .with("from", "agent:worker")
        .with("status", "blocked")
        .with("result", Object::new().with("summary", "What was done so far"))
        .with("evidence", Vec::<Value>::new())
        .with("cost", Object::new().with("usd", 0_u32))
        .with("finished_at", time::format(now))
        .with("tools_used", Vec::<Value>::new())
        .with("questions", vec!["What the worker needs to know to go on"]);
    marked(report_spec_for(&rest), rest)
}

/// The document with the version that it needs, which comes first.
fn marked(spec: &str, rest: Object) -> Value {
    let mut document = Object::new().with("spec", spec);
    for (name, value) in rest.into_members() {
        document.insert(name, value);
    }
    document.into()
}

#[cfg(test)]
mod tests {
    use bailiwick_core::work::{NoEngine, validate_order, validate_report};

    use super::*;

    #[test]
    fn starters_fit_together() {
        let now = Millis(1_790_000_000_000);
        let (order, report) = (order(now), report(now));
        assert_eq!(validate_order(&order, &NoEngine).findings, []);
        assert_eq!(validate_report(&report, &order, &NoEngine).findings, []);
    }
}
