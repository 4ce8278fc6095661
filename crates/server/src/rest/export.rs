//! The journal as a file (`bailiwick.journal-export/1`), written as it is read: memory does not grow with it.

use std::io;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::Response;
use bailiwick_core::hash::{Hash, from_hex, hex};
use bailiwick_core::journal::export::{Header, Journal, write_blob_line, write_entry_line};
use bailiwick_core::journal::{Entry, Head};
use bailiwick_core::json::Value;
use bailiwick_desk::{Desk, DeskError};
use tokio_stream::Stream;

use crate::admission::{Ticket, Waiting};
use crate::app::App;
use crate::caller::Reading;
use crate::input::Parameters;
use crate::problem::{Code, Problem};

/// Entries read at once.
const PAGE: u32 = 256;
/// Entries whose blobs are held at once: few, as a blob may be large.
const WITH_BLOBS: usize = 16;

/// Export the journal
///
/// JSON Lines: a header that says where the journal ends, then every entry up to there, each after the blobs that
/// it names. `bailiwick journal verify` checks such a file, and needs no server. An export that breaks off is
/// shorter than its header says.
#[utoipa::path(
    get, path = "/journal/export", tag = "journal",
    responses((status = 200, description = "the export", body = String, content_type = "application/x-ndjson")),
)]
pub(super) async fn export_journal(
    State(app): State<Arc<App>>,
    reading: Reading,
    parameters: Parameters,
    ticket: Ticket,
) -> Result<Response, Problem> {
    parameters.finish("none")?;
    app.check_reads_journal(&reading.0).await?;
    let journal = Journal::parse(app.desk.journal())
        .ok_or_else(|| Problem::new(Code::Internal, "the journal is of no kind that exports know"))?;
    let head = app.within(app.desk.head()).await?.head;
    let waiting = ticket.wait(&app)?;
    let mut response = Response::new(Body::from_stream(lines(app, journal, head, waiting)));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/x-ndjson"));
    let disposition = HeaderValue::from_static("attachment; filename=\"journal.jsonl\"");
    headers.insert(header::CONTENT_DISPOSITION, disposition);
    Ok(response)
}

/// An entry as it is stored.
struct Line {
    preimage: Vec<u8>,
    hash: Hash,
}

/// The lines of an export up to a head. A failing store breaks the answer off.
fn lines(app: Arc<App>, journal: Journal, head: Head, waiting: Waiting) -> impl Stream<Item = io::Result<Bytes>> {
    async_stream::try_stream! {
        let _waiting = waiting;
        let mut out = Vec::new();
        let header = Header {
            workspace_id: app.desk.workspace().into(),
            journal,
            head_sequence: head.sequence,
            head_hash: hex(&head.hash),
        };
        header.write_line(&mut out);
        let mut after = 0;
        while after < head.sequence {
            let mut entries = app.desk.entries(after, PAGE).await.map_err(broken)?;
            entries.retain(|entry| entry.sequence <= head.sequence);
            let Some(last) = entries.last() else {
                Err(io::Error::other("the journal is shorter than its head says"))?;
                break;
            };
            after = last.sequence;
            let entries: Vec<Line> =
                entries.into_iter().map(|entry| Line { preimage: entry.preimage, hash: entry.hash }).collect();
            for some in entries.chunks(WITH_BLOBS) {
                write(&app.desk, some, &mut out).await.map_err(broken)?;
                yield Bytes::from(std::mem::take(&mut out));
            }
        }
        if !out.is_empty() {
            yield Bytes::from(out);
        }
    }
}

/// Adds the lines of some entries, each after its blobs.
async fn write(desk: &Desk, entries: &[Line], out: &mut Vec<u8>) -> Result<(), DeskError> {
    let named: Vec<Vec<Hash>> = entries.iter().map(blobs_of).collect();
    let mut found = desk.blobs(&named.concat()).await?.into_iter();
    for (entry, named) in entries.iter().zip(named) {
        for blob in found.by_ref().take(named.len()).flatten() {
            write_blob_line(&blob.digest, &blob.salt, &blob.bytes, out);
        }
        write_entry_line(&entry.preimage, &entry.hash, out);
    }
    Ok(())
}

/// The digests of the blobs that an entry names, each once. Of an entry that can't be read none: it is exported for
/// a verifier to find.
fn blobs_of(entry: &Line) -> Vec<Hash> {
    let mut named = Vec::new();
    if let Ok(entry) = Entry::read_preimage(&entry.preimage, entry.hash) {
        collect(&entry.payload.into(), &mut named);
    }
    named
}

fn collect(value: &Value, named: &mut Vec<Hash>) {
    match value {
        Value::Object(object) => match object.str("blob").and_then(from_hex).filter(|_| object.len() == 1) {
            Some(digest) if named.contains(&digest) => {}
            Some(digest) => named.push(digest),
            None => object.iter().for_each(|(_, member)| collect(member, named)),
        },
        Value::Array(items) => items.iter().for_each(|item| collect(item, named)),
        _ => {}
    }
}

fn broken(error: DeskError) -> io::Error {
    tracing::error!(code = error.code(), %error, "an export broke off");
    io::Error::other(error)
}
