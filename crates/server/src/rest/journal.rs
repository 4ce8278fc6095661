//! Reading the journal.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use bailiwick_core::hash::{Hash, hex};
use bailiwick_core::journal::Entry;
use bailiwick_core::journal::export::write_entry_line;
use bailiwick_core::json::{Object, Value};
use bailiwick_core::time;
use bailiwick_desk::{Desk, DeskError, StoredEntry};

use super::{json, json_text, shapes};
use crate::app::App;
use crate::caller::Acting;
use crate::input::Parameters;
use crate::problem::{Code, Problem};

/// Entries on a page unless the request says how many, and the most it may say.
const PAGE: u64 = 100;
const MOST_PAGE: u64 = 1000;

/// How many entries are looked through at a time for those that match, and at most for one answer.
const SCAN: u64 = 256;
const MOST_SCANNED: u64 = 4096;

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
/// Those that match every filter given, each exactly as it was hashed, with its hash. In order, after `after`; or with
/// `before` newest first, and a `before` beyond the end begins at the end. An answer looks through 4,096 entries at most:
/// with a filter it may have fewer than `limit`, or none, and still say where to go on.
#[utoipa::path(
    get, path = "/journal/entries", tag = "journal",
    params(
        ("after" = Option<u64>, Query, description = "start after this sequence; 0 if left out"),
        ("before" = Option<u64>, Query, description = "newest first, starting before this sequence; goes without `after`"),
        ("actor" = Option<String>, Query, description = "only by whom"),
        ("type" = Option<String>, Query, description = "only of this type"),
        ("entity" = Option<String>, Query, description = "only about this `entity_id`"),
        ("limit" = Option<u64>, Query, description = "how many at most, 1 to 1000; 100 if left out", minimum = 1, maximum = 1000),
    ),
    responses((status = 200, description = "the entries", body = shapes::Entries)),
)]
pub(super) async fn list_entries(
    State(app): State<Arc<App>>,
    acting: Acting,
    mut parameters: Parameters,
) -> Result<Response, Problem> {
    let (after, before) = (parameters.number("after", 0, u64::MAX)?, parameters.number("before", 0, u64::MAX)?);
    let limit = parameters.number("limit", 1, MOST_PAGE)?.unwrap_or(PAGE);
    let filter = Filter::taken_from(&mut parameters);
    parameters.finish("`after`, `before`, `actor`, `type`, `entity`, `limit`")?;
    app.check_reads_journal(&acting.0).await?;
    // The head is read first, so it is never behind the page by more than what was written meanwhile.
    let head = app.within(app.desk.head()).await?.head;
    let (entries, next) = match (after, before) {
        (Some(_), Some(_)) => {
            return Err(Problem::new(Code::BadRequest, "`after` and `before` do not go together"));
        }
        (after, None) => {
            let (entries, next) = app.within(forwards(&app.desk, after.unwrap_or(0), limit, &filter)).await?;
            (entries, format!("\"next_after\":{next}"))
        }
        (None, Some(before)) => {
            let end = before.min(head.sequence.saturating_add(1));
            let (entries, next) = app.within(backwards(&app.desk, end, limit, &filter)).await?;
            let next = next.map_or_else(|| "null".into(), |next| next.to_string());
            (entries, format!("\"next_before\":{next}"))
        }
    };
    let mut body = b"{\"entries\":[".to_vec();
    for (place, entry) in entries.iter().enumerate() {
        if place > 0 {
            body.push(b',');
        }
        write_entry(&entry.preimage, &entry.hash, &mut body);
    }
    let hash = hex(&head.hash);
    let rest = format!("],{next},\"head_sequence\":{},\"head_hash\":\"{hash}\"}}", head.sequence);
    body.extend_from_slice(rest.as_bytes());
    Ok(json_text(StatusCode::OK, body))
}

/// Which entries are looked for; all if nothing is given.
struct Filter {
    actor: Option<String>,
    kind: Option<String>,
    entity: Option<String>,
}

impl Filter {
    fn taken_from(parameters: &mut Parameters) -> Self {
        Self { actor: parameters.text("actor"), kind: parameters.text("type"), entity: parameters.text("entity") }
    }

    fn is_empty(&self) -> bool {
        self.actor.is_none() && self.kind.is_none() && self.entity.is_none()
    }

    fn matches(&self, stored: &StoredEntry) -> bool {
        if self.is_empty() {
            return true;
        }
        // One that can't be read has none of what is looked for; without a filter it is shown.
        let Ok(entry) = Entry::read_preimage(&stored.preimage, stored.hash) else { return false };
        let is = |wanted: &Option<String>, found: &str| wanted.as_ref().is_none_or(|wanted| wanted == found);
        is(&self.actor, &entry.actor) && is(&self.kind, &entry.kind) && is(&self.entity, &entry.entity_id)
    }
}

/// Entries after a sequence that match, in order; and the sequence after which to go on.
async fn forwards(desk: &Desk, after: u64, limit: u64, filter: &Filter) -> Result<(Vec<StoredEntry>, u64), DeskError> {
    let (mut found, mut after, mut room) = (Vec::new(), after, limit);
    let last = after.saturating_add(MOST_SCANNED);
    while after < last && room > 0 {
        let count = if filter.is_empty() { room } else { SCAN };
        let entries = desk.entries(after, u32::try_from(count).unwrap_or(u32::MAX)).await?;
        if entries.is_empty() {
            break;
        }
        for entry in entries {
            if room == 0 {
                break;
            }
            after = entry.sequence;
            if filter.matches(&entry) {
                found.push(entry);
                room -= 1;
            }
        }
    }
    Ok((found, after))
}

/// Entries before a sequence that match, newest first; and the sequence before which to go on.
async fn backwards(
    desk: &Desk,
    end: u64,
    limit: u64,
    filter: &Filter,
) -> Result<(Vec<StoredEntry>, Option<u64>), DeskError> {
    let (mut found, mut end, mut room) = (Vec::new(), end, limit);
    let last = end.saturating_sub(MOST_SCANNED);
    while end > last.max(1) && room > 0 {
        let start = end.saturating_sub(if filter.is_empty() { room } else { SCAN }).max(last).max(1);
        let count = u32::try_from(end - start).unwrap_or(u32::MAX);
        for entry in desk.entries(start - 1, count).await?.into_iter().rev() {
            if room == 0 {
                break;
            }
            end = entry.sequence;
            if filter.matches(&entry) {
                found.push(entry);
                room -= 1;
            }
        }
        // Should an entry be missing, this goes past it.
        end = if room == 0 { end } else { start };
    }
    Ok((found, (end > 1).then_some(end)))
}

/// Adds an entry as exports write it, without the end of the line.
pub(super) fn write_entry(preimage: &[u8], hash: &Hash, out: &mut Vec<u8>) {
    write_entry_line(preimage, hash, out);
    if out.last() == Some(&b'\n') {
        out.pop();
    }
}
