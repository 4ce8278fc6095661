//! `bailiwick import awl`: a folder with one JSON file per order (`spec work-orders §11`).

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use bailiwick_core::heart::{self, Context, Fresh, Memory};
use bailiwick_core::json::{Limits, Object, Value};
use bailiwick_core::principal::Principal;
use bailiwick_core::time::{Millis, instant};
use bailiwick_core::work;
use bailiwick_desk::Desk;
use bailiwick_schema::Engine;
use futures_util::future::join_all;

use crate::failure::{Answer, Failure, cause};
use crate::input::Input;
use crate::output::{Mark, Output};
use crate::place::StoreArguments;
use crate::text::{visible, with_article};

const EXAMPLES: &str = "\
Examples:
  bailiwick import awl .awl --dry-run
  bailiwick import awl .awl --store desk.db

Every file orders/*.json of the folder is one order with its reports and events. Parents are taken
over before their sub-orders. Orders that are there already stay as they are, so that the command
can be repeated; a broken file is named and does not stop the rest. Nothing in the folder changes.

Exit status: 0 everything is there now, 1 some files could not be taken over.";

/// A record: an order, its reports, its events.
const RECORD: Limits = Limits { bytes: 64 << 20, ..Limits::DOCUMENT };

/// Take over a folder of orders, one JSON file each
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The other desk's folder, or the `orders` folder in it
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    #[command(flatten)]
    store: StoreArguments,
    /// Say what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,
    /// Print {"ok", "dry_run", "imported", "already_there", "failed", "files"}
    #[arg(long)]
    json: bool,
}

/// How many are taken over at once.
const TOGETHER: usize = 30;

/// A file, and the record in it.
struct Source {
    file: PathBuf,
    record: Object,
}

/// A file that cannot be read, and why.
type Broken = (PathBuf, String);

/// What became of a file.
enum Fate {
    Imported,
    Present,
    Failed(String),
}

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    let (_, place) = arguments.store.read()?;
    let (sources, broken) = read_folder(&arguments.folder)?;
    let sources = parents_first(sources);
    let mut log = Log { arguments, output: Output::new(), counts: [0; 3], files: Vec::new() };
    for (file, why) in broken {
        log.note(&file, None, &Fate::Failed(why))?;
    }
    let is_there = place.file.as_ref().is_none_or(|file| file.exists());
    crate::block_on(async {
        // A dry run must not even make an empty store.
        let desk = if arguments.dry_run && !is_there { None } else { Some(place.open_desk().await?) };
        let mut rehearsal = Memory::new();
        for together in sources.chunks(TOGETHER) {
            // They are sent in this order, so a parent is there before its sub-orders; together, so that they share
            // a commit.
            let fates = together.iter().map(async |source| match &desk {
                Some(desk) if !arguments.dry_run => import(desk, &source.record).await,
                Some(desk) => present(desk, &source.record).await,
                None => Ok(None),
            });
            for (Source { file, record }, fate) in together.iter().zip(join_all(fates).await) {
                let fate = fate?.unwrap_or_else(|| rehearse(&mut rehearsal, record));
                log.note(file, Some(record), &fate)?;
            }
        }
        if let Some(desk) = desk {
            desk.close().await;
        }
        log.finish()
    })
}

/// Reads every record; those that cannot be read come with the reason.
fn read_folder(folder: &Path) -> Result<(Vec<Source>, Vec<Broken>), Failure> {
    let unreadable = |error| Failure::usage(format!("`{}` cannot be read: {}", folder.display(), cause(&error)));
    let orders = folder.join("orders");
    let folder = if orders.is_dir() { &orders } else { folder };
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        files.push(entry.map_err(unreadable)?.path());
    }
    files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    let (mut sources, mut broken) = (Vec::new(), Vec::new());
    for file in files {
        match Input::File(file.clone()).read_json(&RECORD) {
            Ok(Value::Object(record)) => sources.push(Source { file, record }),
            Ok(other) => broken.push((file, format!("it is {}, must be an object", with_article(other.type_name())))),
            Err(Failure::Usage(why) | Failure::Unable(why)) => broken.push((file, why)),
            Err(failure) => return Err(failure),
        }
    }
    Ok((sources, broken))
}

/// The order in which they were created, and whatever the clocks said, no sub-order before its parent.
fn parents_first(mut sources: Vec<Source>) -> Vec<Source> {
    sources.sort_by_cached_key(|source| {
        let created = member(&source.record, "created_at");
        (instant(&created), created, id(&source.record))
    });
    let places: HashMap<String, usize> =
        sources.iter().enumerate().map(|(at, source)| (id(&source.record), at)).collect();
    let parents: Vec<Option<usize>> =
        sources.iter().map(|source| places.get(&member(&source.record, "parent_id")).copied()).collect();
    let mut sources: Vec<Option<Source>> = sources.into_iter().map(Some).collect();
    let mut sorted = Vec::new();
    for at in 0..sources.len() {
        let mut chain = Vec::new();
        let mut next = Some(at);
        // Ends at an order that is done already, so a circle of parents does no harm.
        while let Some(source) = next.and_then(|at| Some((at, sources.get_mut(at)?.take()?))) {
            next = parents.get(source.0).copied().flatten();
            chain.push(source.1);
        }
        sorted.extend(chain.into_iter().rev());
    }
    sorted
}

fn id(record: &Object) -> String {
    member(record, "id")
}

/// A text of the order in a record; empty if there is none.
fn member(record: &Object, name: &str) -> String {
    record.get("order").and_then(|order| order.get(name)?.as_str()).unwrap_or_default().to_owned()
}

fn command(record: &Object) -> heart::Command {
    heart::Command::Work(work::Command::Import { record: record.clone() })
}

async fn import(desk: &Desk, record: &Object) -> Result<Option<Fate>, Failure> {
    let refusal = match desk.run(&Principal::desk(), command(record)).await {
        Ok(_) => return Ok(Some(Fate::Imported)),
        Err(bailiwick_desk::Failure::Refused(refusal)) => refusal,
        Err(bailiwick_desk::Failure::Failed(error)) => return Err(Failure::unable(error)),
    };
    let present = if refusal.code == "ALREADY_EXISTS" { present(desk, record).await? } else { None };
    Ok(Some(present.unwrap_or(Fate::Failed(refusal.message))))
}

/// What becomes of a record whose order is there already; `None` if it is not.
async fn present(desk: &Desk, record: &Object) -> Result<Option<Fate>, Failure> {
    Ok(stored(desk, record).await?.map(|view| match view.get("order") == record.get("order") {
        true => Fate::Present,
        false => Fate::Failed(format!("another order has the id `{}`", id(record))),
    }))
}

/// Imports into memory only, by the same rules.
fn rehearse(memory: &mut Memory, record: &Object) -> Fate {
    let principal = Principal::desk();
    let context = Context { now: Millis::default(), principal: &principal, fresh: Fresh([0; 32]), schemas: &Engine };
    match memory.run(&command(record), &context).map(|step| step.outcome.reply) {
        Ok(Ok(_)) => Fate::Imported,
        Ok(Err(refusal)) => Fate::Failed(refusal.message),
        Err(_) => Fate::Failed("the record does not fit those before it".into()),
    }
}

/// The desk's own view of an order; `None` if there is no such order.
async fn stored(desk: &Desk, record: &Object) -> Result<Option<Value>, Failure> {
    let Ok(query) = work::Query::parse("get", Object::new().with("id", id(record))) else { return Ok(None) };
    // The order's own manager may read it, whatever is in force.
    let reader = Principal::claimed(member(record, "from"));
    match desk.ask(&reader, heart::Query::Work(query)).await {
        Ok(view) => Ok(Some(view)),
        Err(bailiwick_desk::Failure::Refused(_)) => Ok(None),
        Err(bailiwick_desk::Failure::Failed(error)) => Err(Failure::unable(error)),
    }
}

/// Tells what becomes of each file, and sums it up.
struct Log<'a> {
    arguments: &'a Arguments,
    output: Output,
    /// Imported, present, failed
    counts: [u64; 3],
    files: Vec<Value>,
}

impl Log<'_> {
    fn note(&mut self, file: &Path, record: Option<&Object>, fate: &Fate) -> Result<(), Failure> {
        let dry = self.arguments.dry_run;
        let (place, mark, word, why) = match fate {
            Fate::Imported if dry => (0, Mark::Good, "would be imported", None),
            Fate::Imported => (0, Mark::Good, "imported", None),
            Fate::Present => (1, Mark::Good, "already there", None),
            Fate::Failed(why) => (2, Mark::Bad, "failed", Some(why)),
        };
        if let Some(count) = self.counts.get_mut(place) {
            *count = count.saturating_add(1);
        }
        let (file, id) = (file.display().to_string(), record.map(id).filter(|id| !id.is_empty()));
        if self.arguments.json {
            let word = if dry && word == "would be imported" { "imported" } else { word };
            let entry = Object::new().with("file", file).with_some("id", id).with("result", word.replace(' ', "_"));
            self.files.push(entry.with_some("message", why).into());
            return Ok(());
        }
        let mark = self.output.style().mark(mark);
        let id = id.map(|id| format!(" {}", visible(&id))).unwrap_or_default();
        let why = why.map(|why| format!(": {}", visible(why))).unwrap_or_default();
        self.output.line(format!("{mark} {}{id} {word}{why}", visible(&file)))
    }

    fn finish(mut self) -> Result<Answer, Failure> {
        let [imported, present, failed] = self.counts;
        if self.arguments.json {
            let result = Object::new()
                .with("ok", failed == 0)
                .with("dry_run", self.arguments.dry_run)
                .with("imported", imported)
                .with("already_there", present)
                .with("failed", failed)
                .with("files", self.files);
            self.output.json(&result.into())?;
        } else {
            let word = if self.arguments.dry_run { "would be imported" } else { "imported" };
            self.output.line(format!("{imported} {word}, {present} already there, {failed} failed"))?;
        }
        self.output.flush()?;
        Ok(Answer::when(failed == 0))
    }
}
