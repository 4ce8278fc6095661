//! `bailiwick journal`: what was decided, and whether the record is whole.

mod export;
mod progress;
mod stored;
mod verdict;
mod verify;

pub(crate) use stored::verify_desk;

use crate::failure::{Answer, Failure};

const EXAMPLES: &str = "\
Examples:
  bailiwick journal verify --store desk.db
  bailiwick journal export --store desk.db --output desk.jsonl
  bailiwick journal verify desk.jsonl";

/// Verify or export a journal
#[derive(clap::Args)]
#[command(after_help = EXAMPLES, arg_required_else_help = false)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    Verify(verify::Arguments),
    Export(export::Arguments),
}

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    match &arguments.command {
        Command::Verify(arguments) => verify::run(arguments),
        Command::Export(arguments) => export::run(arguments),
    }
}
