//! Running other programs: shown before they start, explained when they fail.

use std::env;
use std::io::{self, BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::failure::Failure;
use crate::tally::Tally;

/// Runs a program with its output on ours.
pub(crate) fn run(command: &mut Command) -> Result<(), Failure> {
    show(command);
    let status = command.status().map_err(|error| not_started(command, &error))?;
    if status.success() { Ok(()) } else { Err(Failure::new(format!("`{}` ended with {status}", line(command)))) }
}

/// Runs a program with its output on ours, and counts the tests that it reports on standard output.
pub(crate) fn run_counting(command: &mut Command, tally: &mut Tally) -> Result<(), Failure> {
    show(command);
    let mut child = command.stdout(Stdio::piped()).spawn().map_err(|error| not_started(command, &error))?;
    if let Some(stdout) = child.stdout.take() {
        let mut out = io::stdout().lock();
        for text in BufReader::new(stdout).split(b'\n').map_while(Result::ok) {
            let text = String::from_utf8_lossy(&text);
            tally.read_line(&text);
            // A closed standard output is no reason to end the tests.
            let _ = writeln!(out, "{text}");
        }
    }
    let status = child.wait().map_err(|error| not_started(command, &error))?;
    if status.success() { Ok(()) } else { Err(Failure::new(format!("`{}` ended with {status}", line(command)))) }
}

/// What a program prints on standard output, when it starts at all and ends well.
pub(crate) fn output_of(command: &mut Command) -> Option<String> {
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The full path of a program on `PATH`.
pub(crate) fn find_on_path(program: &str) -> Option<PathBuf> {
    let name = format!("{program}{}", env::consts::EXE_SUFFIX);
    env::split_paths(&env::var_os("PATH")?).map(|folder| folder.join(&name)).find(|path| path.is_file())
}

/// Whether this process may install packages system-wide.
pub(crate) fn is_root() -> bool {
    cfg!(unix) && output_of(Command::new("id").arg("-u")).is_some_and(|id| id.trim() == "0")
}

fn show(command: &Command) {
    println!("$ {}", line(command));
}

/// The command as a person would type it.
fn line(command: &Command) -> String {
    let program = PathBuf::from(command.get_program());
    let name =
        program.file_name().map_or_else(|| program.display().to_string(), |name| name.to_string_lossy().into_owned());
    let arguments = command.get_args().map(|argument| argument.to_string_lossy().into_owned());
    std::iter::once(name).chain(arguments).collect::<Vec<_>>().join(" ")
}

fn not_started(command: &Command, error: &io::Error) -> Failure {
    Failure::new(format!("`{}` could not be started: {error}", line(command)))
}
