//! `bailiwick doctor`: is everything in place, and what to do where it isn't.

mod host;

use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use bailiwick_core::json::{Object, Value};
use bailiwick_core::time::Millis;
use bailiwick_desk::{Desk, DeskError};
use bailiwick_server::KeyRing;
use bailiwick_store::Store;

use crate::configuration::Configuration;
use crate::failure::{Answer, Failure, cause};
use crate::journal::verify_desk;
use crate::output::{Mark, Output};
use crate::place::{Place, StoreArguments, desk_in};
use crate::text::{counted, visible};

const EXAMPLES: &str = "\
Examples:
  bailiwick doctor
  bailiwick doctor --store desk.db --json

Exit status: 0 nothing is wrong (! is advice), 1 something is.";

/// Check the store, its journal and its surroundings
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    store: StoreArguments,
    /// The workspace of the store
    #[arg(long, value_name = "ID", default_value = "desk")]
    workspace: String,
    /// Print {"ok", "checks"}
    #[arg(long)]
    json: bool,
}

/// What one check found.
struct Check {
    name: &'static str,
    mark: Mark,
    message: String,
    /// What to do about it
    advice: Option<String>,
}

impl Check {
    fn good(name: &'static str, message: impl Into<String>) -> Self {
        Self { name, mark: Mark::Good, message: message.into(), advice: None }
    }

    fn warning(name: &'static str, message: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { name, mark: Mark::Warning, message: message.into(), advice: Some(advice.into()) }
    }

    fn bad(name: &'static str, message: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { name, mark: Mark::Bad, message: message.into(), advice: Some(advice.into()) }
    }
}

/// How far apart clocks may be.
const CLOCK_TOLERANCE_MILLIS: i64 = 2_000;

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    let mut checks = Vec::new();
    let configuration = check_configuration(arguments, &mut checks);
    let place = arguments.store.place(configuration.as_ref())?;
    match &place.file {
        Some(file) if !file.exists() => {
            let message = format!("none yet at `{}`", file.display());
            checks.push(Check::warning("store", message, "the first `bailiwick serve` or `bailiwick mcp` makes one"));
            if let Some(folder) = place.folder_to_import() {
                let advice = format!("`bailiwick import awl {}` takes them over", folder.display());
                checks.push(Check::warning("import", "the folder holds orders of another desk", advice));
            }
        }
        _ => crate::block_on(check_store(&place, &arguments.workspace, &mut checks))?,
    }
    if let Some(file) = &place.file {
        checks.extend(host::check_disk(file));
        checks.extend(host::check_permissions(file));
    }
    if let Some(keys) = configuration.and_then(|configuration| configuration.server.keys) {
        checks.push(check_keys(&keys));
        checks.extend(host::check_secret("keys", &keys));
    }
    print(&checks, arguments.json)
}

fn check_configuration(arguments: &Arguments, checks: &mut Vec<Check>) -> Option<Configuration> {
    let file = arguments.store.configuration.file();
    match (file, arguments.store.configuration.read()) {
        (_, Err(error)) => {
            checks.push(Check::bad(
                "configuration",
                error.to_string(),
                "mend the file; until then the rules in force stay",
            ));
            None
        }
        (Some(file), Ok(configuration)) => {
            checks.push(Check::good("configuration", format!("`{}` can be read", file.display())));
            configuration
        }
        (None, Ok(_)) => {
            checks.push(Check::good("configuration", "no file, the built-in rules apply unless others were adopted"));
            None
        }
    }
}

fn check_keys(file: &Path) -> Check {
    let read = std::fs::read(file).map_err(|error| format!("cannot be read: {}", cause(&error)));
    match read.and_then(|text| KeyRing::from_json(&text).map_err(|error| error.to_string())) {
        Ok(ring) if ring.is_empty() => {
            Check::warning("keys", format!("`{}` holds no keys", file.display()), "nobody can come in")
        }
        Ok(ring) => {
            let keys = counted(u64::try_from(ring.len()).unwrap_or(u64::MAX), "key");
            Check::good("keys", format!("`{}` holds {keys}", file.display()))
        }
        Err(why) => {
            let advice = "mend the file; a server that runs keeps the keys it has";
            Check::bad("keys", format!("`{}`: {why}", file.display()), advice)
        }
    }
}

async fn check_store(place: &Place, workspace: &str, checks: &mut Vec<Check>) -> Result<(), Failure> {
    let store = match place.open_store().await {
        Ok(store) => store,
        Err(error) => {
            let advice = "check the address, that the database runs, and that no other program owns it";
            checks.push(Check::bad("store", error.to_string(), advice));
            return Ok(());
        }
    };
    checks.push(Check::good("store", store.describe()));
    let Some(desk) = desk_in(Arc::clone(&store), workspace).await? else {
        let advice = "the first `bailiwick serve` or `bailiwick mcp` makes it, or name another with `--workspace`";
        checks.push(Check::warning("workspace", format!("there is no `{workspace}` in the store yet"), advice));
        store.close().await;
        return Ok(());
    };
    checks.push(check_clock(&store, &desk).await);
    checks.push(check_writing(&store, workspace).await);
    checks.push(check_journal(&desk).await);
    desk.close().await;
    Ok(())
}

async fn check_clock(store: &Arc<dyn Store>, desk: &Desk) -> Check {
    let looked = async {
        let now = store.snapshot().await?.now().await?;
        Ok::<_, DeskError>((now, desk.head().await?.last_at))
    };
    let (now, last) = match looked.await {
        Ok(times) => times,
        Err(error) => return Check::bad("clock", error.to_string(), "the store must answer first"),
    };
    let apart = now.millis_since(now_here()).saturating_abs();
    let ahead = last.map_or(0, |last| last.millis_since(now));
    if apart > CLOCK_TOLERANCE_MILLIS {
        let message = format!("the store's clock and this machine's are {apart} ms apart");
        return Check::warning("clock", message, "keep both in step (NTP); deadlines go by the store's clock");
    }
    if ahead > CLOCK_TOLERANCE_MILLIS {
        let message = format!("the last entry is {ahead} ms ahead of the clock, which must have gone back");
        return Check::warning("clock", message, "new entries keep that entry's time until the clock catches up");
    }
    Check::good("clock", now.to_string())
}

fn now_here() -> Millis {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// Takes the write lock and lets go of it: whoever can do that can write.
async fn check_writing(store: &Arc<dyn Store>, workspace: &str) -> Check {
    match store.begin(workspace).await {
        Ok(_) => Check::good("writing", "the write lock can be taken"),
        Err(error) => {
            let advice = "check the permissions, the free space, and whether another process holds the database";
            Check::bad("writing", error.to_string(), advice)
        }
    }
}

async fn check_journal(desk: &Desk) -> Check {
    let verdict = match verify_desk(desk).await {
        Ok(verdict) => verdict,
        Err(error) => return Check::bad("journal", error.to_string(), "it could not be verified"),
    };
    let Some(wrong) = &verdict.failure else {
        let entries = match verdict.checked_events {
            1 => "1 entry".to_owned(),
            count => format!("{count} entries"),
        };
        let documents = counted(verdict.documents.unwrap_or_default(), "document");
        return Check::good("journal", format!("{entries} in order and decided again, {documents} compared"));
    };
    let place = wrong.sequence.map(|sequence| format!(" at sequence {sequence}")).unwrap_or_default();
    let advice = "keep the database as it is, compare it with an earlier export, and find out who could write to it; \
                  `bailiwick journal verify` says more";
    Check::bad("journal", format!("{}{place}", wrong.code), advice)
}

fn print(checks: &[Check], json: bool) -> Result<Answer, Failure> {
    let ok = checks.iter().all(|check| check.mark != Mark::Bad);
    let mut output = Output::new();
    if json {
        output.json(&to_value(checks, ok))?;
    } else {
        for check in checks {
            let mark = output.style().mark(check.mark);
            let advice = check.advice.as_ref().map(|advice| format!("; {}", visible(advice))).unwrap_or_default();
            output.line(format!("{mark} {:<14} {}{advice}", check.name, visible(&check.message)))?;
        }
    }
    output.flush()?;
    Ok(Answer::when(ok))
}

fn to_value(checks: &[Check], ok: bool) -> Value {
    let checks: Value = checks
        .iter()
        .map(|check| {
            let result = match check.mark {
                Mark::Good => "good",
                Mark::Warning => "warning",
                Mark::Bad => "bad",
            };
            let object = Object::new().with("check", check.name).with("result", result);
            object.with("message", &check.message).with_some("advice", check.advice.as_ref()).into()
        })
        .collect();
    Object::new().with("ok", ok).with("checks", checks).into()
}
