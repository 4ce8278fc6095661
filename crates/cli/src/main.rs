//! The `bailiwick` command.
//!
//! Each module named after a command holds its arguments and what it does; the others hold what commands share:
//!
//! - [`failure`]: how a command ends, as an exit status: 0 fine, 1 the answer is no, 2 it could not be answered
//! - [`clock`], [`input`], [`output`], [`text`], [`usage`]: the machine, files and the terminal
//! - [`configuration`], [`place`], [`signer`]: which rules, which store, which key
//!
//! Nothing is decided here. Commands translate between a person or a script and the crates that know.

mod clock;
mod completions;
mod configuration;
mod conformance;
mod doctor;
mod failure;
mod gateway;
mod import;
mod input;
mod journal;
mod keys;
mod logging;
mod mcp;
mod order;
mod output;
mod pass;
mod place;
mod schema;
mod serve;
mod sign_in;
mod signals;
mod signer;
mod starter;
mod text;
mod usage;
mod validate;

use std::env;
use std::process::ExitCode;

use clap::{ArgAction, ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};
use tokio::runtime;

use failure::{Answer, Failure};

const EXAMPLES: &str = "\
Examples:
  bailiwick new order > order.json                        a starter to fill in
  bailiwick validate order.json report.json               check a report against its order
  bailiwick serve                                         a desk for several agents and people
  claude mcp add desk -- bailiwick mcp --as agent:worker  a desk for an agent over stdio
  bailiwick journal verify --store desk.db                has anybody rewritten history?

Exit status: 0 fine, 1 the answer is no, 2 it could not be answered.";

/// Keeps every AI agent inside the area where it has authority, and proves it
#[derive(Parser)]
#[command(name = "bailiwick", version, after_help = EXAMPLES, disable_version_flag = true)]
struct Cli {
    /// Print the version
    #[arg(short = 'v', short_alias = 'V', long, action = ArgAction::Version)]
    version: Option<bool>,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    Serve(serve::Arguments),
    SignIn(sign_in::Arguments),
    Mcp(mcp::Arguments),
    Gateway(gateway::Arguments),
    Order(order::Arguments),
    Validate(validate::Arguments),
    New(starter::Arguments),
    Schema(schema::Arguments),
    Journal(journal::Arguments),
    Pass(pass::Arguments),
    Keys(keys::Arguments),
    Import(import::Arguments),
    Conformance(conformance::Arguments),
    Doctor(doctor::Arguments),
    Completions(completions::Arguments),
    /// The MCP server's old name
    #[command(hide = true)]
    Desk {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
        arguments: Vec<String>,
    },
}

fn main() -> ExitCode {
    let matches = match command_line().try_get_matches_from(env::args_os()) {
        Ok(matches) => matches,
        Err(error) => return usage::report(&error),
    };
    let result = match Cli::from_arg_matches(&matches) {
        Ok(Cli { command: Some(command), .. }) => run(command),
        Ok(Cli { command: None, .. }) => usage::print_help().map(|()| Answer::Yes),
        Err(error) => return usage::report(&error),
    };
    match result {
        Ok(Answer::Yes) | Err(Failure::NobodyReads) => ExitCode::SUCCESS,
        Ok(Answer::No) => ExitCode::from(1),
        Err(Failure::Usage(message)) => {
            usage::complain(&message, Some(&usage_of(&names(&matches))));
            ExitCode::from(2)
        }
        Err(Failure::Unable(message)) => {
            usage::complain(&message, None);
            ExitCode::from(2)
        }
    }
}

fn run(command: Command) -> Result<Answer, Failure> {
    match command {
        Command::Serve(arguments) => serve::run(&arguments),
        Command::SignIn(arguments) => sign_in::run(&arguments),
        Command::Mcp(arguments) => mcp::run(&arguments),
        Command::Gateway(arguments) => gateway::run(&arguments),
        Command::Order(arguments) => order::run(&arguments),
        Command::Validate(arguments) => validate::run(&arguments),
        Command::New(arguments) => starter::run(&arguments),
        Command::Schema(arguments) => schema::run(&arguments),
        Command::Journal(arguments) => journal::run(&arguments),
        Command::Pass(arguments) => pass::run(&arguments),
        Command::Keys(arguments) => keys::run(&arguments),
        Command::Import(arguments) => import::run(&arguments),
        Command::Conformance(arguments) => conformance::run(&arguments),
        Command::Doctor(arguments) => doctor::run(&arguments),
        Command::Completions(arguments) => completions::run(&arguments),
        Command::Desk { .. } => {
            Err(Failure::usage("the desk's server is `bailiwick mcp` over stdio, `bailiwick serve` over HTTP"))
        }
    }
}

/// Runs what waits for others. One thread is enough for a single desk, and is there at once.
fn block_on<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    run_on(runtime::Builder::new_current_thread(), work)
}

/// [`block_on`] with a thread for each processor.
fn block_on_many<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    run_on(runtime::Builder::new_multi_thread(), work)
}

fn run_on<T>(mut builder: runtime::Builder, work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = builder.enable_all().build();
    let runtime = runtime.map_err(|error| Failure::unable(format!("no runtime: {error}")))?;
    let result = runtime.block_on(work);
    // A thread may still wait for standard input; nobody needs what it would bring.
    runtime.shutdown_background();
    result
}

/// The program's command line.
fn command_line() -> clap::Command {
    let mut command = Cli::command();
    // Gives every command its full name, for usage texts.
    command.build();
    command
}

/// The names of the commands on the command line, outermost first.
fn names(matches: &ArgMatches) -> Vec<String> {
    let mut names = Vec::new();
    let mut matches = matches;
    while let Some((name, inner)) = matches.subcommand() {
        names.push(name.to_owned());
        matches = inner;
    }
    names
}

/// The usage of a command, given the names that lead to it; words that are no names are passed over.
fn usage_of(names: &[String]) -> String {
    let mut command = command_line();
    for name in names {
        if let Some(inner) = command.find_subcommand(name) {
            command = inner.clone();
        }
    }
    command.render_usage().to_string()
}
