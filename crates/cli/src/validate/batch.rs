//! `validate --jsonl`: case after case, in memory that does not grow with their number.

use std::io::{self, BufRead, BufReader, Read};

use bailiwick_core::json::{Limits, Object, ReadError, Value, parse};
use bailiwick_core::work::vectors::{VectorError, check_child, check_report};
use bailiwick_core::work::{Finding, validate_order};
use bailiwick_schema::Engine;

use crate::failure::{Answer, Failure};
use crate::input::Input;
use crate::output::Output;
use crate::text::{shortened, with_article};

/// For one line: a document within its limits, with the other documents around it.
const LINE: Limits = Limits { bytes: 16 << 20, depth: Limits::DOCUMENT.depth + 3, ..Limits::DOCUMENT };

/// The members of a line; those after `sub_orders` are for people, so that conformance vectors can be fed as they are.
const MEMBERS: [&str; 11] =
    ["kind", "order", "report", "parent", "siblings", "sub_orders", "id", "note", "source", "contested", "expect"];

/// Why a line was not checked.
enum Refused {
    TooLong,
    NotJson(ReadError),
    NotACase(String),
}

pub(super) fn run() -> Result<Answer, Failure> {
    let mut lines = BufReader::with_capacity(64 * 1024, io::stdin().lock());
    let mut output = Output::new();
    let mut line = Vec::new();
    let mut number = 0_u64;
    let mut all_checked = true;
    loop {
        // Whoever waits for an answer before the next question gets it: nothing complete is left to read.
        if !lines.buffer().contains(&b'\n') {
            output.flush()?;
        }
        let Some(length) = next_line(&mut lines, &mut line)? else { break };
        number = number.saturating_add(1);
        let answer = match length {
            Length::Fits if line.trim_ascii().is_empty() => continue,
            Length::Fits => check_line(line.trim_ascii_end()),
            Length::TooLong => Err(Refused::TooLong),
        };
        let answer = answer.unwrap_or_else(|refused| {
            all_checked = false;
            refused.to_value(number)
        });
        output.json_line(&answer)?;
    }
    output.flush()?;
    Ok(Answer::when(all_checked))
}

enum Length {
    Fits,
    TooLong,
}

/// Reads a line, of which no more than the limit is kept; `None` at the end.
fn next_line(lines: &mut impl BufRead, line: &mut Vec<u8>) -> Result<Option<Length>, Failure> {
    let failed = |error| Input::Standard.unreadable(&error);
    line.clear();
    let most = u64::try_from(LINE.bytes).unwrap_or(u64::MAX).saturating_add(1);
    let read = lines.take(most).read_until(b'\n', line).map_err(failed)?;
    if read == 0 {
        return Ok(None);
    }
    if line.last() == Some(&b'\n') || line.len() <= LINE.bytes {
        return Ok(Some(Length::Fits));
    }
    lines.skip_until(b'\n').map_err(failed)?;
    Ok(Some(Length::TooLong))
}

fn check_line(line: &[u8]) -> Result<Value, Refused> {
    let case = parse(line, &LINE).map_err(Refused::NotJson)?;
    let object = case.as_object().ok_or_else(|| {
        Refused::NotACase(format!("the line is {}, must be an object", with_article(case.type_name())))
    })?;
    for (name, _) in object.iter() {
        if !MEMBERS.contains(&name.as_str()) {
            let accepted: Vec<String> = MEMBERS.iter().map(|name| format!("`{name}`")).collect();
            let name = shortened(name, 80);
            return Err(Refused::NotACase(format!("unknown member `{name}`; accepted: {}", accepted.join(", "))));
        }
    }
    let findings: Value = check_case(object)?.iter().map(Finding::to_value).collect();
    Ok(Object::new().with("findings", findings).into())
}

fn check_case(case: &Object) -> Result<Vec<Finding>, Refused> {
    let needed = |name: &str, kind: &str| {
        case.get(name).ok_or_else(|| Refused::NotACase(format!("`{name}` is missing; kind `{kind}` needs it")))
    };
    let malformed = |error: VectorError| Refused::NotACase(error.to_string());
    let validation = match case.str("kind") {
        Some("order") => Ok(validate_order(needed("order", "order")?, &Engine)),
        Some("report") => {
            check_report(needed("report", "report")?, needed("order", "report")?, case.get("sub_orders"), &Engine)
        }
        Some("child") => check_child(needed("order", "child")?, needed("parent", "child")?, case.get("siblings")),
        Some(other) => {
            let other = shortened(other, 80);
            return Err(Refused::NotACase(format!("`kind` is `{other}`; accepted: `order`, `report`, `child`")));
        }
        None => return Err(Refused::NotACase("`kind` is missing; accepted: `order`, `report`, `child`".into())),
    };
    Ok(validation.map_err(malformed)?.findings)
}

impl Refused {
    fn to_value(&self, line: u64) -> Value {
        let (code, message) = match self {
            Self::TooLong => {
                ("line_too_long", format!("line {line}: too long, at most {} bytes are accepted", LINE.bytes))
            }
            Self::NotJson(error) => (error.code(), format!("line {line} column {}: {}", error.column, error.kind)),
            Self::NotACase(what) => ("not_a_case", format!("line {line}: {what}")),
        };
        let error = Object::new().with("code", code).with("message", message).with("line", line);
        Object::new().with("error", error).into()
    }
}
