//! Reading the journal.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use bailiwick_core::hash::{Hash, hex};
use bailiwick_core::journal::export::write_entry_line;
use bailiwick_core::json::{Object, Value};
use bailiwick_core::time;

use super::{json, json_text, shapes};
use crate::app::App;
use crate::caller::Acting;
use crate::input::Parameters;
use crate::problem::Problem;

/// Entries on a page unless the request says how many, and the most it may say.
const PAGE: u64 = 100;
const MOST_PAGE: u64 = 1000;

/// Show where the journal ends
///
/// Sequence and hash of the last entry. Whoever keeps them can tell later whether anything before was changed.
#[utoipa::path(
    get, path = "/journal/head", tag = "journal",
    responses((status = 200, description = "the head", body = shapes::Head)),
)]
pub(super) async fn show_head(
    State(app): State<Arc<App>>,
    acting: Acting,
    parameters: Parameters,
) -> Result<Response, Problem> {
    parameters.finish("none")?;
    app.check_reads_journal(&acting.0).await?;
    let head = app.within(app.desk.head()).await?;
    let object = Object::new()
        .with("workspace_id", app.desk.workspace())
        .with("journal", app.desk.journal())
        .with("epoch_id", head.epoch_id)
        .with("sequence", head.head.sequence)
        .with("hash", hex(&head.head.hash))
        .with("last_at", head.last_at.map_or(Value::Null, |at| time::format(at).into()));
    Ok(json(StatusCode::OK, &object.into()))
}

/// List journal entries
///
/// In order, each exactly as it was hashed, with its hash.
#[utoipa::path(
    get, path = "/journal/entries", tag = "journal",
    params(
        ("after" = Option<u64>, Query, description = "start after this sequence; 0 if left out"),
        ("limit" = Option<u64>, Query, description = "how many at most, 1 to 1000; 100 if left out", minimum = 1, maximum = 1000),
    ),
    responses((status = 200, description = "the entries", body = shapes::Entries)),
)]
pub(super) async fn list_entries(
    State(app): State<Arc<App>>,
    acting: Acting,
    mut parameters: Parameters,
) -> Result<Response, Problem> {
    let after = parameters.number("after", 0, u64::MAX)?.unwrap_or(0);
    let limit = parameters.number("limit", 1, MOST_PAGE)?.unwrap_or(PAGE);
    parameters.finish("`after`, `limit`")?;
    app.check_reads_journal(&acting.0).await?;
    let limit = u32::try_from(limit).unwrap_or(u32::MAX);
    // The head is read first, so it is never behind the page by more than what was written meanwhile.
    let head = app.within(app.desk.head()).await?.head;
    let entries = app.within(app.desk.entries(after, limit)).await?;
    let next_after = entries.last().map_or(after, |entry| entry.sequence);
    let mut body = b"{\"entries\":[".to_vec();
    for (place, entry) in entries.iter().enumerate() {
        if place > 0 {
            body.push(b',');
        }
        write_entry(&entry.preimage, &entry.hash, &mut body);
    }
    let rest = format!(
        "],\"next_after\":{next_after},\"head_sequence\":{},\"head_hash\":\"{}\"}}",
        head.sequence,
        hex(&head.hash)
    );
    body.extend_from_slice(rest.as_bytes());
    Ok(json_text(StatusCode::OK, body))
}

/// Adds an entry as exports write it, without the end of the line.
pub(super) fn write_entry(preimage: &[u8], hash: &Hash, out: &mut Vec<u8>) {
    write_entry_line(preimage, hash, out);
    if out.last() == Some(&b'\n') {
        out.pop();
    }
}
