//! What is wrong with a command line, said in the manner of all our messages.

use std::error::Error as _;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::output;

/// Prints what the parser has to say: help and version to standard output, anything else as an error.
pub(crate) fn report(error: &clap::Error) -> ExitCode {
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        // The parser knows whether colours may be used, and whether anybody still reads is all the same now.
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    let usage = match error.get(ContextKind::Usage) {
        Some(ContextValue::StyledStr(usage)) => usage.to_string(),
        _ => crate::usage_of(&std::env::args().skip(1).collect::<Vec<_>>()),
    };
    complain(&message(error), Some(&usage));
    ExitCode::from(2)
}

/// Writes `bailiwick: message`, and the usage after a blank line.
pub(crate) fn complain(message: &str, usage: Option<&str>) {
    use std::io::Write as _;
    let mut text = format!("bailiwick: {message}\n");
    if let Some(usage) = usage {
        text.push_str(&format!("\n{}\n", usage.trim()));
    }
    // If standard error is gone there is nobody left to tell.
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// One line that names what is at fault and what would be accepted.
fn message(error: &clap::Error) -> String {
    let invalid = || quoted(error, ContextKind::InvalidArg);
    match error.kind() {
        ErrorKind::UnknownArgument => {
            format!("unknown argument {}{}", invalid(), meant(error, ContextKind::SuggestedArg))
        }
        ErrorKind::InvalidSubcommand => {
            let unknown = quoted(error, ContextKind::InvalidSubcommand);
            format!("unknown command {unknown}{}", meant(error, ContextKind::SuggestedSubcommand))
        }
        ErrorKind::InvalidValue => invalid_value(error),
        ErrorKind::ValueValidation => {
            let why = error.source().map_or_else(|| "not accepted".to_owned(), ToString::to_string);
            format!("{} is {}: {why}", invalid(), quoted(error, ContextKind::InvalidValue))
        }
        ErrorKind::MissingRequiredArgument => format!("missing {}", invalid()),
        ErrorKind::MissingSubcommand => {
            format!("which command? accepted: {}", quoted(error, ContextKind::ValidSubcommand))
        }
        ErrorKind::ArgumentConflict => match error.get(ContextKind::PriorArg) {
            Some(_) => format!("{} cannot be used with {}", invalid(), quoted(error, ContextKind::PriorArg)),
            None => format!("{} cannot be used with what else is given", invalid()),
        },
        _ => first_line(error),
    }
}

fn invalid_value(error: &clap::Error) -> String {
    let (name, value) = (quoted(error, ContextKind::InvalidArg), quoted(error, ContextKind::InvalidValue));
    let accepted = match quoted(error, ContextKind::ValidValue) {
        none if none.is_empty() => none,
        accepted => format!("accepted: {accepted}"),
    };
    match (value.as_str(), accepted.as_str()) {
        ("" | "``", "") => format!("{name} needs a value"),
        ("" | "``", accepted) => format!("{name} needs a value; {accepted}"),
        (value, accepted) => format!("{name} is {value}; {accepted}"),
    }
}

/// `; did you mean …?`, if there is anything like it.
fn meant(error: &clap::Error, kind: ContextKind) -> String {
    match quoted(error, kind) {
        none if none.is_empty() => none,
        suggestions => format!("; did you mean {suggestions}?"),
    }
}

/// What the parser found, in backticks.
fn quoted(error: &clap::Error, kind: ContextKind) -> String {
    let one = |text: &str| format!("`{}`", crate::text::visible(text));
    match error.get(kind) {
        Some(ContextValue::String(text)) => one(text),
        Some(ContextValue::Strings(texts)) => texts.iter().map(|text| one(text)).collect::<Vec<_>>().join(", "),
        Some(ContextValue::StyledStr(text)) => one(&text.to_string()),
        _ => String::new(),
    }
}

/// The parser's own words, for what is rare.
fn first_line(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let line = text.lines().next().unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line).to_owned()
}

/// Prints the help of the whole program.
pub(crate) fn print_help() -> Result<(), crate::failure::Failure> {
    output::print(crate::command_line().render_help().to_string().trim_end())
}
