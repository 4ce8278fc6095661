//! `bailiwick conformance`: test vectors as data, run by this very program (`spec work-orders §17`).
//!
//! Anybody with another implementation can compare; anybody with this one can see what it promises.

mod decisions;
mod journal;
mod passes;
mod work;

use std::path::{Path, PathBuf};

use bailiwick_core::json::{Limits, Object, Value, parse, write_jcs};

use crate::failure::{Answer, Failure, cause};
use crate::input::Input;
use crate::output::{Mark, Output};
use crate::text::visible;

const EXAMPLES: &str = "\
Examples:
  bailiwick conformance conformance
  bailiwick conformance my-vectors.json --json
  bailiwick conformance conformance --results > results.jsonl

Files: arrays of work-order vectors {\"id\", \"kind\", \"order\", \"report\"?, \"parent\"?, \"siblings\"?,
\"sub_orders\"?, \"expect\": [{\"rule\", \"kind\", \"path\"}]}, the pass vectors of conformance/passes, and the
journal vectors of conformance/journal. With --results each vector gives a line of canonical JSON: \"file\", \"id\",
and everything that the checks said, for comparison with another implementation byte for byte.

Exit status: 0 every vector passed, 1 some did not, 2 a file cannot be read or holds no vectors.";

/// Run conformance vectors
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Files, or folders whose .json files are taken
    #[arg(required = true, value_name = "DIR|FILE")]
    paths: Vec<PathBuf>,
    /// Print {"ok", "passed", "failed", "failures", "skipped"}
    #[arg(long)]
    json: bool,
    /// Print what the checks said about each vector, a line each
    #[arg(long, conflicts_with = "json")]
    results: bool,
}

/// One vector that was run.
struct Case {
    id: String,
    /// Everything that the checks said
    said: Object,
    difference: Option<Difference>,
}

/// How a vector did not pass.
struct Difference {
    expected: String,
    actual: String,
}

impl Case {
    fn new(id: impl Into<String>, said: Object, difference: Option<Difference>) -> Self {
        Self { id: id.into(), said, difference }
    }

    /// A vector that is not of the published form.
    fn malformed(id: impl Into<String>, what: impl Into<String>) -> Self {
        let what = what.into();
        let said = Object::new().with("malformed", &what);
        Self::new(id, said, Some(Difference { expected: "a vector of the published form".into(), actual: what }))
    }

    /// Compares two values as they are shown.
    fn compare(id: impl Into<String>, said: Object, expected: impl Into<String>, actual: impl Into<String>) -> Self {
        let (expected, actual) = (expected.into(), actual.into());
        Self::new(id, said, (expected != actual).then_some(Difference { expected, actual }))
    }
}

/// What came out so far.
#[derive(Default)]
struct Summary {
    passed: u64,
    failed: u64,
    failures: Vec<Value>,
    skipped: Vec<Value>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    let mut summary = Summary::default();
    let mut output = Output::new();
    for path in &arguments.paths {
        for file in files(path)? {
            match cases(&file)? {
                Some(cases) if arguments.results => {
                    let name = name_below(&file, path);
                    for case in cases {
                        let count = if case.difference.is_none() { &mut summary.passed } else { &mut summary.failed };
                        *count = count.saturating_add(1);
                        let said = case.said.with("file", &name).with("id", case.id);
                        output.line(write_jcs(&Value::Object(said)))?;
                    }
                }
                Some(cases) => {
                    for case in cases {
                        summary.take(&file, case, arguments.json, &mut output)?;
                    }
                }
                None if file == *path => {
                    return Err(Failure::usage(format!("`{}` holds no vectors that are known here", file.display())));
                }
                // Folders hold other things too: bases of edits, vectors of what has another command.
                None => summary.skipped.push(file.display().to_string().into()),
            }
        }
    }
    let Summary { passed, failed, failures, skipped } = summary;
    if arguments.results {
        output.flush()?;
        return Ok(Answer::when(failed == 0));
    }
    if arguments.json {
        let result = Object::new().with("ok", failed == 0).with("passed", passed).with("failed", failed);
        output.json(&result.with("failures", failures).with("skipped", skipped).into())?;
    } else {
        for file in skipped.iter().filter_map(Value::as_str) {
            output.line(format!("skipped: {}: no vectors that are known here", visible(file)))?;
        }
        output.line(format!("{passed} passed, {failed} failed"))?;
    }
    output.flush()?;
    Ok(Answer::when(failed == 0))
}

impl Summary {
    fn take(&mut self, file: &Path, case: Case, json: bool, output: &mut Output) -> Result<(), Failure> {
        let Some(Difference { expected, actual }) = case.difference else {
            self.passed = self.passed.saturating_add(1);
            return Ok(());
        };
        self.failed = self.failed.saturating_add(1);
        let file = file.display().to_string();
        if json {
            let failure = Object::new().with("file", file).with("id", case.id);
            self.failures.push(failure.with("expected", expected).with("actual", actual).into());
            return Ok(());
        }
        let mark = output.style().mark(Mark::Bad);
        output.line(format!("{mark} {} {}", visible(&file), visible(&case.id)))?;
        output.line(format!("    expected {}", visible(&expected)))?;
        output.line(format!("    actual   {}", visible(&actual)))
    }
}

/// A file's path below the folder that was asked for, the same on every system.
fn name_below(file: &Path, folder: &Path) -> String {
    let below = file.strip_prefix(folder).ok().filter(|below| !below.as_os_str().is_empty()).unwrap_or(file);
    below.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/")
}

/// The file itself, or the `.json` files below a folder, in the order of their names.
fn files(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    let unreadable = |error| Failure::usage(format!("`{}` cannot be read: {}", path.display(), cause(&error)));
    if !path.metadata().map_err(unreadable)?.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut entries: Vec<PathBuf> = Vec::new();
    for entry in path.read_dir().map_err(unreadable)? {
        entries.push(entry.map_err(unreadable)?.path());
    }
    entries.sort();
    let mut found = Vec::new();
    for entry in entries {
        if entry.is_dir() {
            found.extend(files(&entry)?);
        } else if entry.extension().is_some_and(|extension| extension == "json") {
            found.push(entry);
        }
    }
    Ok(found)
}

/// Runs the vectors of a file; `None` if it holds none.
fn cases(file: &Path) -> Result<Option<Vec<Case>>, Failure> {
    let input = Input::File(file.to_owned());
    let vectors = parse(&input.read(Limits::STORED.bytes)?, &Limits::STORED);
    let vectors = vectors.map_err(|error| Failure::usage(format!("`{}` {error}", file.display())))?;
    match &vectors {
        Value::Array(vectors) if vectors.iter().all(passes::is_vector) => Ok(Some(passes::run(vectors))),
        Value::Array(vectors) if vectors.iter().all(work::is_vector) => Ok(Some(work::run(vectors))),
        Value::Object(vectors) => match decisions::run(vectors) {
            Some(cases) => Ok(Some(cases)),
            None => journal::run(vectors, file),
        },
        _ => Ok(None),
    }
}
