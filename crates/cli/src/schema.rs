//! `bailiwick schema`: the published JSON Schemas.

use bailiwick_core::json::{Limits, parse};

use crate::failure::{Answer, Failure};
use crate::output::print_json;

const EXAMPLES: &str = "\
Examples:
  bailiwick schema order > work-order.schema.json
  bailiwick schema journal-export";

/// Print a JSON Schema
#[derive(clap::Args)]
#[command(after_help = EXAMPLES, override_usage = "bailiwick schema <order|report|event|journal-entry|journal-export|pass|pass-proof|pass-revocations>")]
pub(crate) struct Arguments {
    /// `order`, `report`, `event`, `journal-entry`, `journal-export`, `pass`, `pass-proof` or `pass-revocations`
    #[arg(value_name = "order|report|event|journal-entry|journal-export|pass|pass-proof|pass-revocations")]
    names: Vec<String>,
}

/// The schemas by name.
const SCHEMAS: [(&str, &str); 8] = [
    ("order", bailiwick_schema::WORK_ORDER),
    ("report", bailiwick_schema::WORK_REPORT),
    ("event", bailiwick_schema::EVENT),
    ("journal-entry", bailiwick_schema::JOURNAL_ENTRY),
    ("journal-export", bailiwick_schema::JOURNAL_EXPORT),
    ("pass", bailiwick_schema::PASS),
    ("pass-proof", bailiwick_schema::PASS_PROOF),
    ("pass-revocations", bailiwick_schema::PASS_REVOCATIONS),
];

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    let accepted = || SCHEMAS.map(|(name, _)| format!("`{name}`")).join(", ");
    let [name] = arguments.names.as_slice() else {
        return Err(Failure::usage(format!("which schema? accepted is one of {}", accepted())));
    };
    let Some((_, text)) = SCHEMAS.iter().find(|(known, _)| known == name) else {
        return Err(Failure::usage(format!("no schema `{name}`; accepted: {}", accepted())));
    };
    let schema = parse(text.as_bytes(), &Limits::STORED).map_err(Failure::unable)?;
    print_json(&schema)?;
    Ok(Answer::Yes)
}
