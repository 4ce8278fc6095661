//! Journals as single documents, the form of the public coordination format (`coordination-journal/1`).

use alloc::format;
use alloc::vec::Vec;

use super::chain::{FailureCode, StoredHead, Verifier, sequence_of};
use super::export::{DOCUMENT_FORMAT, fault};
use super::row::Row;
use super::verify::{ExportError, ExportErrorKind, ExportReport, Listener};
use crate::json::{Limits, LosslessText, Object, Tree, parse_lossless};

/// Verifies a document that begins after `skipped` lines of its file.
///
/// The rows of other workspaces are not looked at, and the order of rows is that of their sequences, as when a
/// database is asked for them (`coordination §5.7`).
pub(super) fn verify_document(
    text: &[u8],
    skipped: u64,
    mut chain: Verifier,
    expected_workspace: Option<&str>,
    listener: &mut dyn Listener,
) -> Result<ExportReport, ExportError> {
    let limits = Limits { bytes: text.len(), members: text.len(), ..Limits::JOURNAL };
    let document = parse_lossless(text, &limits).map_err(|error| ExportError {
        line: u64::try_from(error.line).ok().and_then(|line| line.checked_add(skipped)),
        kind: ExportErrorKind::Json(error),
    })?;
    let unreadable = |kind| ExportError { line: None, kind };
    if document.get("format").and_then(Tree::as_str) != Some(DOCUMENT_FORMAT) {
        return Err(ExportError { line: skipped.checked_add(1), kind: ExportErrorKind::OtherFormat });
    }
    let (workspace_id, head) = read_workspace(&document).map_err(unreadable)?;
    let mut rows = read_rows(&document).map_err(unreadable)?;
    rows.retain(|row| row.workspace_id == workspace_id);
    rows.sort_by_key(|row| row.sequence);

    if expected_workspace.is_some_and(|expected| expected != workspace_id) {
        // This failure, like every other, is in the report.
        let _ = chain.fail(FailureCode::WorkspaceNotFound, None);
    }
    for row in &rows {
        if chain.is_settled() || chain.push(row).is_err() {
            break;
        }
        listener.row(row);
    }
    Ok(ExportReport {
        workspace_id: workspace_id.into(),
        journal: None,
        blobs: 0,
        failed_line: None,
        chain: chain.finish(Some(&head)),
    })
}

fn read_workspace(document: &Tree<LosslessText>) -> Result<(&str, StoredHead<'_>), ExportErrorKind> {
    let workspace = document.get("workspace").and_then(Tree::as_object);
    let workspace = workspace.ok_or_else(|| fault(DOCUMENT, "workspace", "an object"))?;
    let string = |member| workspace.str(member).ok_or_else(|| fault("workspace", member, "a string"));
    let sequence = workspace.get("event_head_sequence").and_then(Tree::as_number).and_then(|number| number.to_u64());
    let head = StoredHead {
        sequence: sequence.ok_or_else(|| fault("workspace", "event_head_sequence", "an integer from 0"))?,
        hash: string("event_head_hash")?,
    };
    Ok((string("id")?, head))
}

fn read_rows(document: &Tree<LosslessText>) -> Result<Vec<Row<'_>>, ExportErrorKind> {
    let events = document.get("events").and_then(Tree::as_array);
    let events = events.ok_or_else(|| fault(DOCUMENT, "events", "an array"))?;
    let mut rows = Vec::with_capacity(events.len());
    for (index, event) in events.iter().enumerate() {
        let fault = |member, expected| fault(DOCUMENT, &format!("events/{index}{member}"), expected);
        let event = event.as_object().ok_or_else(|| fault("", "an object"))?;
        rows.push(read_row(event).map_err(|(member, expected)| fault(member, expected))?);
    }
    Ok(rows)
}

const DOCUMENT: &str = "document";

fn read_row(event: &Object<LosslessText>) -> Result<Row<'_>, (&'static str, &'static str)> {
    let string = |path: &'static str| event.str(path.trim_start_matches('/')).ok_or((path, "a string"));
    Ok(Row {
        protocol: string("/protocol")?,
        workspace_id: string("/workspace_id")?,
        epoch_id: string("/epoch_id")?,
        sequence: sequence_of(event).ok_or(("/sequence", "an integer from 0"))?,
        id: string("/id")?,
        kind: string("/type")?,
        entity_id: string("/entity_id")?,
        actor: string("/actor")?,
        session_id: match event.get("session_id") {
            None | Some(Tree::Null) => None,
            Some(_) => Some(string("/session_id")?),
        },
        occurred_at: string("/occurred_at")?,
        payload: string("/payload_json")?,
        prev_hash: string("/prev_hash")?,
        hash: string("/hash")?,
    })
}
