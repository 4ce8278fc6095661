//! `bailiwick completions`: what a shell can complete.

use clap_complete::{Shell, generate};

use crate::failure::{Answer, Failure};
use crate::output::Output;

const EXAMPLES: &str = "\
Examples:
  bailiwick completions bash > ~/.local/share/bash-completion/completions/bailiwick
  bailiwick completions fish > ~/.config/fish/completions/bailiwick.fish";

/// Print a script that lets a shell complete commands
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// For which shell
    shell: Shell,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    let mut script = Vec::new();
    generate(arguments.shell, &mut crate::command_line(), "bailiwick", &mut script);
    let mut output = Output::new();
    output.bytes(&script)?;
    output.flush()?;
    Ok(Answer::Yes)
}
