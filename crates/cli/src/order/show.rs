//! Orders as people read them.

use bailiwick_core::json::{Value, write_compact};

use crate::failure::Failure;
use crate::output::Output;
use crate::text::{shortened, visible};

/// What happened to an order, on one line.
pub(super) fn line(reply: &Value, output: &mut Output) -> Result<(), Failure> {
    let (id, state) = (visible(text(reply, "id")), text(reply, "state"));
    output.line(format!("{} is {state}", output.style().strong(&id)))?;
    for finding in items(reply, "findings") {
        output.line(format!("  {}", finding_line(finding)))?;
    }
    Ok(())
}

/// How an order's gateways stand.
pub(super) fn gateway(reply: &Value, output: &mut Output) -> Result<(), Failure> {
    let (id, standing) = (visible(text(reply, "order_id")), text(reply, "standing"));
    let by = reply.get("by").and_then(Value::as_str).map_or_else(String::new, |by| format!(" by {}", visible(by)));
    output.line(format!("the gateway of {} is {standing}{by}", output.style().strong(&id)))?;
    if let Some(reason) = reply.get("reason").and_then(Value::as_str) {
        field("reason", &visible(reason), output)?;
    }
    for name in ["spent", "remaining"] {
        if let Some(amounts) = reply.get(name) {
            field(name, &visible(&write_compact(amounts)), output)?;
        }
    }
    for held in items(reply, "held") {
        let arguments = held.get("arguments").map(write_compact).unwrap_or_default();
        field("held", &format!("{} {}", visible(text(held, "ref")), shortened(&arguments, 100)), output)?;
    }
    Ok(())
}

/// A table of summaries.
pub(super) fn table(reply: &Value, output: &mut Output) -> Result<(), Failure> {
    let orders = items(reply, "orders");
    if orders.is_empty() {
        return output.line("no orders");
    }
    let mut rows = vec![["ID", "STATE", "FROM", "TO", "DEADLINE", "GOAL"].map(str::to_owned)];
    for order in orders {
        rows.push([
            visible(text(order, "id")),
            text(order, "state").to_owned(),
            shortened(text(order, "from"), 30),
            shortened(text(order, "to"), 30),
            visible(text(order, "deadline")),
            shortened(text(order, "goal"), 60),
        ]);
    }
    let mut widths = [0; 6];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    for (number, row) in rows.iter().enumerate() {
        let cells: Vec<String> = row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        let line = cells.join("  ");
        match number {
            0 => output.line(output.style().strong(line.trim_end()))?,
            _ => output.line(line.trim_end())?,
        }
    }
    match reply.get("next_cursor").and_then(Value::as_str) {
        Some(cursor) => output.line(format!("more with --cursor {}", visible(cursor))),
        None => Ok(()),
    }
}

/// An order with its history.
pub(super) fn order(view: &Value, output: &mut Output) -> Result<(), Failure> {
    let order = view.get("order").unwrap_or(&Value::Null);
    let id = visible(text(view, "id"));
    output.line(format!("{} is {}", output.style().strong(&id), text(view, "state")))?;
    field("goal", &visible(text(order, "goal")), output)?;
    let parties = format!("{} → {}", visible(text(order, "from")), visible(text(order, "to")));
    field("parties", &parties, output)?;
    for name in ["escalate_to", "deadline", "parent_id", "continues"] {
        if let Some(value) = order.get(name).and_then(Value::as_str) {
            field(name, &visible(value), output)?;
        }
    }
    for criterion in items(order, "criteria") {
        let criterion = format!("{}: {}", visible(text(criterion, "id")), visible(text(criterion, "text")));
        field("criterion", &criterion, output)?;
    }
    for name in ["budget", "tools", "staged"] {
        if let Some(value) = order.get(name) {
            field(name, &visible(&write_compact(value)), output)?;
        }
    }
    match view.get("latest_report") {
        Some(report) if !report.is_null() => self::report(report, output)?,
        _ => {}
    }
    for finding in items(view, "findings") {
        field("finding", &finding_line(finding), output)?;
    }
    output.line("")?;
    for event in items(view, "events") {
        output.line(event_line(event))?;
    }
    Ok(())
}

fn report(report: &Value, output: &mut Output) -> Result<(), Failure> {
    field("report", text(report, "status"), output)?;
    if let Some(summary) = report.get("result").and_then(|result| result.get("summary")?.as_str()) {
        field("summary", &visible(summary), output)?;
    }
    for evidence in items(report, "evidence") {
        let parts = ["criterion", "type", "ref", "note"].map(|name| visible(text(evidence, name)));
        field("evidence", parts.join("  ").trim_end(), output)?;
    }
    for question in items(report, "questions").iter().filter_map(Value::as_str) {
        field("question", &visible(question), output)?;
    }
    if let Some(error) = report.get("error").and_then(Value::as_str) {
        field("error", &visible(error), output)?;
    }
    for effect in items(report, "effects") {
        let arguments = effect.get("arguments").map(write_compact).unwrap_or_default();
        field("effect", &format!("{} {}", visible(text(effect, "ref")), visible(&arguments)), output)?;
    }
    match report.get("cost") {
        Some(cost) => field("cost", &visible(&write_compact(cost)), output),
        None => Ok(()),
    }
}

/// What an agent has done so far: each number on its line.
pub(super) fn track(reply: &Value, output: &mut Output) -> Result<(), Failure> {
    for (name, value) in reply.as_object().into_iter().flat_map(|object| object.iter()) {
        let value = value.as_str().map_or_else(|| write_compact(value), str::to_owned);
        output.line(format!("{:<20} {}", visible(name), visible(&value)))?;
    }
    Ok(())
}

/// An event on one line.
pub(super) fn event_line(event: &Value) -> String {
    let seq = event.get("seq").map(write_compact).unwrap_or_default();
    let (at, actor) = (text(event, "at"), visible(text(event, "actor")));
    let (action, to) = (text(event, "action"), text(event, "to"));
    let percent = event.get("percent").map(|percent| format!(" {} %", write_compact(percent))).unwrap_or_default();
    let note = event.get("note").and_then(Value::as_str).map(|note| format!("  {}", visible(note)));
    format!("{seq:>4}  {at}  {action:<14} → {to:<9}{percent}  {actor}{}", note.unwrap_or_default())
}

fn finding_line(finding: &Value) -> String {
    let part = |name| visible(text(finding, name));
    format!("{:<4} {:<7} {}  {}", part("rule"), part("kind"), part("path"), part("message"))
}

fn field(name: &str, value: &str, output: &mut Output) -> Result<(), Failure> {
    output.line(format!("  {name:<12} {value}"))
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn items<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value.get(name).and_then(Value::as_array).unwrap_or_default()
}
