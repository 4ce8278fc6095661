//! `bailiwick validate`: the rules on files (`spec work-orders §16`).

mod batch;

use std::path::PathBuf;

use bailiwick_core::json::{Object, Value};
use bailiwick_core::work::vectors::{VectorError, check_child, check_report};
use bailiwick_core::work::{Finding, Rule, Validation, has_invalid, validate_order};
use bailiwick_schema::Engine;

use crate::failure::{Answer, Failure};
use crate::input::{Input, check_standard_once};
use crate::output::{Mark, Output};
use crate::text::visible;

const EXAMPLES: &str = "\
Examples:
  bailiwick validate order.json
  bailiwick validate order.json report.json --sub-orders subs.json
  bailiwick validate sub.json --parent order.json --siblings siblings.json
  cat order.json | bailiwick validate - --json
  bailiwick validate --jsonl < cases.jsonl > findings.jsonl

Marks: ✓ nothing found, ! over a limit (accepted, but the order expires), ✗ rejected.
Siblings and sub-orders are arrays of {\"order\", \"state\"}.

With --jsonl each line of standard input is {\"kind\": \"order\"|\"report\"|\"child\", \"order\",
\"report\"?, \"parent\"?, \"siblings\"?, \"sub_orders\"?}, answered by a line {\"findings\": […]}, or by
{\"error\": {\"code\", \"message\", \"line\"}} if it cannot be checked.

Exit status: 0 fine (limits included), 1 a document is rejected, 2 a file cannot be read.
With --jsonl: 0 every line was checked, 1 some line could not be.";

/// Check an order, a report on it, or a sub-order within its parent
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The order; `-` is standard input
    #[arg(required_unless_present = "jsonl")]
    order: Option<PathBuf>,
    /// The report on the order
    report: Option<PathBuf>,
    /// The order of which ORDER is a sub-order
    #[arg(long, value_name = "ORDER")]
    parent: Option<PathBuf>,
    /// The parent's other sub-orders
    #[arg(long, value_name = "FILE", requires = "parent")]
    siblings: Option<PathBuf>,
    /// The order's own sub-orders, counted with what the report spent
    #[arg(long, value_name = "FILE", requires = "report")]
    sub_orders: Option<PathBuf>,
    /// Print {"ok", "results"}
    #[arg(long)]
    json: bool,
    /// Check one case per line of standard input
    #[arg(long, conflicts_with_all = ["order", "report", "parent", "siblings", "sub_orders", "json"])]
    jsonl: bool,
}

/// What was found in one file.
struct Entry {
    file: String,
    findings: Vec<Finding>,
    skipped: Vec<Rule>,
}

impl Entry {
    fn new(file: String, validation: Validation) -> Self {
        Self { file, findings: validation.findings, skipped: validation.skipped }
    }

    fn is_valid(&self) -> bool {
        !has_invalid(&self.findings)
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    let Some(order) = &arguments.order else { return batch::run() };
    let results = check_files(order, arguments)?;
    let ok = results.iter().all(Entry::is_valid);
    let mut output = Output::new();
    if arguments.json {
        output.json(&to_value(&results, ok))?;
    } else {
        for entry in &results {
            print(entry, &mut output)?;
        }
    }
    output.flush()?;
    Ok(Answer::when(ok))
}

/// Reads every file first, then checks in the order that the specification gives.
fn check_files(order: &std::path::Path, arguments: &Arguments) -> Result<Vec<Entry>, Failure> {
    let input = |path: &Option<PathBuf>| path.clone().map(Input::from);
    let order_file = Input::from(order.to_owned());
    let [report_file, parent_file, siblings_file, sub_orders_file] =
        [&arguments.report, &arguments.parent, &arguments.siblings, &arguments.sub_orders].map(input);
    let named = [&report_file, &parent_file, &siblings_file, &sub_orders_file];
    check_standard_once(named.into_iter().flatten().chain([&order_file]))?;
    let read = |file: &Option<Input>| file.as_ref().map(Input::read_document).transpose();
    let order = order_file.read_document()?;
    let (report, parent) = (read(&report_file)?, read(&parent_file)?);
    let (siblings, sub_orders) = (read(&siblings_file)?, read(&sub_orders_file)?);

    let mut results = vec![Entry::new(order_file.to_string(), validate_order(&order, &Engine))];
    if !results.iter().all(Entry::is_valid) {
        return Ok(results);
    }
    if let (Some(file), Some(parent)) = (parent_file, parent) {
        let entry = Entry::new(file.to_string(), validate_order(&parent, &Engine));
        let valid = entry.is_valid();
        results.push(entry);
        if valid {
            let within = check_child(&order, &parent, siblings.as_ref());
            let within = within.map_err(|error| malformed(siblings_file.as_ref(), &error))?;
            results.push(Entry::new(format!("{order_file} (within parent)"), within));
        }
    }
    if let (Some(file), Some(report)) = (report_file, report) {
        let validation = check_report(&report, &order, sub_orders.as_ref(), &Engine);
        let validation = validation.map_err(|error| malformed(sub_orders_file.as_ref(), &error))?;
        results.push(Entry::new(file.to_string(), validation));
    }
    Ok(results)
}

fn malformed(file: Option<&Input>, error: &VectorError) -> Failure {
    Failure::usage(match file {
        Some(file) => format!("`{file}`: {error}"),
        None => error.to_string(),
    })
}

fn print(entry: &Entry, output: &mut Output) -> Result<(), Failure> {
    let mark = match (entry.findings.is_empty(), entry.is_valid()) {
        (true, _) => Mark::Good,
        (false, true) => Mark::Warning,
        (false, false) => Mark::Bad,
    };
    let mark = output.style().mark(mark);
    output.line(format!("{mark} {}", visible(&entry.file)))?;
    for finding in &entry.findings {
        let (rule, kind) = (finding.rule, finding.kind);
        output.line(format!("  {rule:<4} {kind:<7} {}  {}", visible(&finding.path), visible(&finding.message)))?;
    }
    for rule in &entry.skipped {
        output.line(format!("  {rule:<4} was not evaluated"))?;
    }
    Ok(())
}

fn to_value(results: &[Entry], ok: bool) -> Value {
    let results: Value = results
        .iter()
        .map(|entry| {
            let findings: Value = entry.findings.iter().map(Finding::to_value).collect();
            Object::new().with("file", &entry.file).with("findings", findings).into()
        })
        .collect();
    Object::new().with("ok", ok).with("results", results).into()
}
