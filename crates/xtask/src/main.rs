//! The project's own commands: `cargo xtask …`. Two of them are all that a newcomer needs, `serve` and `test`; both set up what
//! is missing first.

mod cluster;
mod dashboard;
mod failure;
mod layering;
mod package;
mod process;
mod project;
mod serve;
mod setup;
mod size;
mod suites;
mod tally;

use std::env;
use std::process::ExitCode;

use failure::Failure;
use project::Project;

const HELP: &str = "\
cargo xtask COMMAND

  serve [ARGUMENTS]        set up, build dashboard and server, start; arguments go to `bailiwick serve`
  test [--only NAME]…      set up, run every suite, or those whose names start with NAME
  test --list              the suites
  web                      build the dashboard into web/dist
  pkg                      build the npm package into pkg/dist
  size                     build both and print what a browser has to load; fails above a budget
  setup                    bring everything that the suites need
  bench [ARGUMENTS]        run the benchmarks on a release build

Tools go into the folder `.cache`, or the one that BAILIWICK_CACHE names. With CI=true a skipped suite is a failure.
";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match obey(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("xtask: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn obey(arguments: &[String]) -> Result<(), Failure> {
    let Some((command, rest)) = arguments.split_first() else {
        print!("{HELP}");
        return Ok(());
    };
    match command.as_str() {
        "serve" => serve::serve(&Project::find()?, rest),
        "test" => test(rest),
        "web" => dashboard::build(&Project::find()?),
        "pkg" => package::build(&Project::find()?),
        "size" => size::size(&Project::find()?),
        "setup" => setup::set_up_all(&Project::find()?),
        "bench" => serve::bench(&Project::find()?, rest),
        "help" | "--help" | "-h" => {
            print!("{HELP}");
            Ok(())
        }
        other => Err(Failure::new(format!("there is no command `{other}`")).next("`cargo xtask --help` lists them")),
    }
}

fn test(arguments: &[String]) -> Result<(), Failure> {
    let mut only = Vec::new();
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--list" => {
                suites::list();
                return Ok(());
            }
            "--only" => match arguments.next() {
                Some(name) => only.push(name.clone()),
                None => {
                    return Err(
                        Failure::new("`--only` needs the name of a suite").next("`cargo xtask test --list` shows them")
                    );
                }
            },
            other => {
                return Err(
                    Failure::new(format!("`test` does not know `{other}`")).next("it takes --only NAME and --list")
                );
            }
        }
    }
    suites::test(Project::find()?, &only)
}
