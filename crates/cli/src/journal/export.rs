//! `bailiwick journal export`.

use std::fs::{self, File};
use std::io::{BufWriter, ErrorKind, Read as _, Write};
use std::path::{Path, PathBuf};

use bailiwick_desk::Desk;
use futures_util::StreamExt as _;

use super::progress::Progress;
use crate::failure::{Answer, Failure, cause};
use crate::output::Output;
use crate::place::StoreArguments;

const EXAMPLES: &str = "\
Examples:
  bailiwick journal export --store desk.db --output desk.jsonl
  bailiwick journal export --store desk.db | gzip > desk.jsonl.gz

The export is JSON Lines: a header, then each entry after the texts that it names. `bailiwick journal
verify` reads it anywhere, without the store. It holds everything that was written in orders and
reports: keep it as safe as the store itself.";

/// Write a journal to a file, for others to verify
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    store: StoreArguments,
    /// The workspace of the store
    #[arg(long, value_name = "ID", default_value = "desk")]
    workspace: String,
    /// Where to write; standard output if left out
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    let (_, place) = arguments.store.read()?;
    crate::block_on(async {
        let desk = place.open_existing_desk(&arguments.workspace).await?;
        let exported = match &arguments.output {
            None => {
                let mut output = Output::new();
                let exported = export(&desk, &mut |bytes| output.bytes(bytes)).await;
                exported.and_then(|()| output.flush())
            }
            Some(file) => export_to_file(&desk, file).await,
        };
        desk.close().await;
        exported.map(|()| Answer::Yes)
    })
}

/// Writes beside the file first, so that a file of that name is always a whole export.
async fn export_to_file(desk: &Desk, file: &Path) -> Result<(), Failure> {
    let failed = |error| Failure::unable(format!("`{}` cannot be written: {}", file.display(), cause(&error)));
    check_replaceable(file)?;
    let Some(name) = file.file_name() else {
        return Err(Failure::usage(format!("`{}` names no file", file.display())));
    };
    let mut name = name.to_owned();
    name.push(".part");
    let part = file.with_file_name(name);
    let mut writer = BufWriter::new(create_private(&part).map_err(failed)?);
    let exported = export(desk, &mut |bytes| writer.write_all(bytes).map_err(failed)).await;
    let finished = exported.and_then(|()| {
        writer.flush().map_err(failed)?;
        writer.get_ref().sync_all().map_err(failed)?;
        fs::rename(&part, file).map_err(failed)
    });
    if finished.is_err() {
        // What is left of it is of no use; if it cannot be removed, the first failure says more.
        let _ = fs::remove_file(&part);
    }
    finished
}

/// Refuses to replace anything but an earlier export: the name may be the store's own.
fn check_replaceable(file: &Path) -> Result<(), Failure> {
    let unreadable = |error| Failure::unable(format!("`{}` cannot be looked at: {}", file.display(), cause(&error)));
    let mut start = Vec::new();
    match File::open(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(unreadable(error)),
        Ok(there) => there.take(64).read_to_end(&mut start).map_err(unreadable)?,
    };
    if start.is_empty() || start.starts_with(br#"{"format":"bailiwick.journal-export/"#) {
        return Ok(());
    }
    Err(Failure::usage(format!("`{}` exists and is no export; name another file", file.display())))
}

/// A new file that only its owner can read.
fn create_private(file: &Path) -> std::io::Result<File> {
    let mut options = File::options();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file)
}

type Sink<'a> = &'a mut dyn FnMut(&[u8]) -> Result<(), Failure>;

/// Writes the journal as it stands now.
async fn export(desk: &Desk, sink: Sink<'_>) -> Result<(), Failure> {
    let mut progress = Progress::new();
    let mut parts = std::pin::pin!(desk.export());
    while let Some(part) = parts.next().await {
        let part = part.map_err(Failure::unable)?;
        sink(&part.bytes)?;
        progress.at(part.done, part.of, "entries");
    }
    Ok(())
}
