//! `bailiwick import`: what other desks kept.

mod awl;

use crate::failure::{Answer, Failure};

/// Take over what another desk kept
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  bailiwick import awl .awl --dry-run", arg_required_else_help = false)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    Awl(awl::Arguments),
}

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    match &arguments.command {
        Command::Awl(arguments) => awl::run(arguments),
    }
}
