//! `bailiwick pass`: delegation passes (`spec work-orders §13`).

mod inspect;
mod issue;
mod verify;

use std::path::Path;

use bailiwick_core::work::pass::MOST_PASS_BYTES;

use crate::failure::{Answer, Failure};
use crate::input::Input;

const EXAMPLES: &str = "\
Examples:
  bailiwick pass issue order.json --key desk-key.json --issuer https://desk.example > pass.jwt
  bailiwick pass verify pass.jwt --keys jwks.json --issuer https://desk.example
  bailiwick pass inspect pass.jwt";

/// Issue, verify and inspect delegation passes
#[derive(clap::Args)]
#[command(after_help = EXAMPLES, arg_required_else_help = false)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    Issue(issue::Arguments),
    Verify(verify::Arguments),
    Inspect(inspect::Arguments),
}

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    match &arguments.command {
        Command::Issue(arguments) => issue::run(arguments),
        Command::Verify(arguments) => verify::run(arguments),
        Command::Inspect(arguments) => inspect::run(arguments),
    }
}

/// Reads a file that holds a token. The line end that editors and shells put behind it is not the token's.
fn read_token(path: &Path, most_bytes: usize) -> Result<String, Failure> {
    let input = Input::from(path.to_owned());
    // What is too long is for verifying to say, up to where a file is plainly no token.
    let text = input.read(most_bytes.saturating_mul(4))?;
    let text = text.strip_suffix(b"\n").unwrap_or(&text);
    let text = text.strip_suffix(b"\r").unwrap_or(text);
    // What is not UTF-8 can't be base64url either; it is refused for that.
    Ok(String::from_utf8_lossy(text).into_owned())
}

fn read_pass(path: &Path) -> Result<String, Failure> {
    read_token(path, MOST_PASS_BYTES)
}
