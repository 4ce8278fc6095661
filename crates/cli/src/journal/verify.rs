//! `bailiwick journal verify`.

use std::collections::HashMap;
use std::io::Read;
use std::path::PathBuf;

use bailiwick_core::hash::hex;
use bailiwick_core::heart::BlobReader;
use bailiwick_core::heart::replay::Replay;
use bailiwick_core::journal::export::{DOCUMENT_BYTES, ExportedBlob};
use bailiwick_core::journal::{Entry, ExportVerifier, Listener, Row};
use bailiwick_schema::Engine;

use super::stored::verify_desk;
use super::verdict::{Verdict, Wrong};
use crate::failure::{Answer, Failure};
use crate::input::Input;
use crate::output::Output;
use crate::place::StoreArguments;

const EXAMPLES: &str = "\
Examples:
  bailiwick journal verify export.jsonl
  bailiwick journal export --store desk.db | bailiwick journal verify - --decide --json
  bailiwick journal verify --store desk.db

FILE is an export of ours (JSON Lines) or a document of format coordination-journal/1. A store's
decisions are made again with the rules of this program, and its documents compared with what the
journal makes of them; --decide does the first for an export. Entries of other rules than this
program's are applied, not decided again, and so are erased ones: the verdict says how many, and
with --require-decided they count as wrong.

Exit status: 0 the journal is in order, 1 it is not, 2 it cannot be read.";

/// Check that nobody rewrote a journal
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The export; `-` is standard input
    #[arg(conflicts_with = "store")]
    file: Option<PathBuf>,
    #[command(flatten)]
    store: StoreArguments,
    /// The workspace of the store
    #[arg(long, value_name = "ID", default_value = "desk")]
    workspace: String,
    /// Also make every decision of an export again
    #[arg(long, requires = "file")]
    decide: bool,
    /// Also count it as wrong if a decision could not be made again: it was made by other rules, or erased
    #[arg(long)]
    require_decided: bool,
    /// Print {"ok", "checked_events", "head_sequence", "head_hash", "first_failure", …}
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    let (name, mut verdict) = match &arguments.file {
        Some(file) => {
            let input = Input::from(file.clone());
            let decide = arguments.decide || arguments.require_decided;
            let verdict = if decide { decide_again(&input)? } else { check_chain(&input)? };
            (input.to_string(), verdict)
        }
        None => {
            let (_, place) = arguments.store.read()?;
            crate::block_on(async {
                let desk = place.open_existing_desk(&arguments.workspace).await?;
                let verdict = verify_desk(&desk).await.map_err(Failure::unable);
                let name = desk.describe();
                desk.close().await;
                Ok((name, verdict?))
            })?
        }
    };
    if arguments.require_decided {
        verdict.require_decided();
    }
    let mut output = Output::new();
    if arguments.json {
        output.json(&verdict.to_value())?;
    } else {
        verdict.print(&name, &mut output)?;
    }
    output.flush()?;
    Ok(Answer::when(verdict.is_ok()))
}

fn check_chain(input: &Input) -> Result<Verdict, Failure> {
    let mut last = Last::default();
    verify(input, &mut last)
}

fn decide_again(input: &Input) -> Result<Verdict, Failure> {
    let engine = Engine;
    let mut decider = Decider {
        last: Last::default(),
        replay: Replay::new(&engine),
        blobs: HashMap::new(),
        unreadable: None,
        rows: 0,
    };
    let mut verdict = verify(input, &mut decider)?;
    if decider.rows > 0 {
        return Err(Failure::usage(format!(
            "`{input}` is a public journal, which holds no decisions; leave out `--decide`"
        )));
    }
    if let Some(wrong) = decider.unreadable {
        verdict.fail(wrong);
    }
    verdict.take_replay(decider.replay.finish().0);
    Ok(verdict)
}

/// Verifies piece by piece, in memory that does not grow with the journal.
fn verify<L: Listener + AsRef<Last>>(input: &Input, listener: &mut L) -> Result<Verdict, Failure> {
    let mut verifier = ExportVerifier::new(DOCUMENT_BYTES);
    let mut reader = input.open()?;
    let mut chunk = vec![0; 256 * 1024];
    loop {
        let read = match reader.read(&mut chunk) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(input.unreadable(&error)),
        };
        verifier.push_to(chunk.get(..read).unwrap_or_default(), listener);
    }
    match verifier.finish_to(listener) {
        Ok(report) => {
            let mut verdict = Verdict::of_chain(&report.chain);
            verdict.workspace = Some(report.workspace_id);
            verdict.blobs = report.journal.map(|_| report.blobs);
            if let (Some(wrong), Some(line)) = (&mut verdict.failure, report.failed_line) {
                wrong.message = Some(format!("line {line}"));
            }
            Ok(verdict)
        }
        // After a good beginning an unreadable line is damage, which is an answer about the journal.
        Err(error) => match listener.as_ref().verdict() {
            Some(mut verdict) => {
                verdict.failure = Some(Wrong::new(error.code(), None, error.to_string()));
                Ok(verdict)
            }
            None => Err(Failure::usage(format!("`{input}`: {error}"))),
        },
    }
}

/// Remembers the last entry that was in order.
#[derive(Default)]
struct Last {
    text: Vec<u8>,
    count: u64,
}

impl Last {
    fn entry(&mut self, text: &[u8]) {
        self.text.clear();
        self.text.extend_from_slice(text);
        self.count = self.count.saturating_add(1);
    }

    /// What can be said after the entries so far; `None` if there were none.
    fn verdict(&self) -> Option<Verdict> {
        let entry = Entry::read(&self.text).ok()?;
        Some(Verdict {
            workspace: Some(entry.workspace_id),
            checked_events: self.count,
            head_sequence: entry.sequence,
            head_hash: entry.hash,
            ..Verdict::default()
        })
    }
}

impl AsRef<Last> for Last {
    fn as_ref(&self) -> &Last {
        self
    }
}

impl Listener for Last {
    fn entry(&mut self, text: &[u8]) {
        Last::entry(self, text);
    }
}

/// Makes every decision again as the entries go by.
struct Decider<'a> {
    last: Last,
    replay: Replay<'a>,
    /// Those of the next entry
    blobs: HashMap<String, Vec<u8>>,
    unreadable: Option<Wrong>,
    rows: u64,
}

impl AsRef<Last> for Decider<'_> {
    fn as_ref(&self) -> &Last {
        &self.last
    }
}

impl Listener for Decider<'_> {
    fn blob(&mut self, blob: &ExportedBlob<'_>) {
        self.blobs.insert(hex(&blob.digest), blob.bytes.to_vec());
    }

    fn entry(&mut self, text: &[u8]) {
        self.last.entry(text);
        let blobs = std::mem::take(&mut self.blobs);
        match Entry::read(text) {
            Ok(entry) => self.replay.push(&entry, &BlobReader::new(&|digest| blobs.get(digest).cloned())),
            Err(error) if self.unreadable.is_none() => {
                let sequence = Some(self.last.count);
                self.unreadable = Some(Wrong::new(error.code(), sequence, error.to_string()));
            }
            Err(_) => {}
        }
    }

    fn row(&mut self, _: &Row<'_>) {
        self.rows = self.rows.saturating_add(1);
    }
}
