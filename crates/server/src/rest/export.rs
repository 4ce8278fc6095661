//! The journal as a file (`bailiwick.journal-export/1`), sent as it is read: memory does not grow with it.

use std::io;
use std::pin::Pin;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::Response;
use bailiwick_desk::{DeskError, ExportPart};
use tokio_stream::{Stream, StreamExt};

use crate::admission::{Ticket, Waiting};
use crate::app::App;
use crate::caller::Acting;
use crate::input::Parameters;
use crate::problem::Problem;

/// What is still to come of an export.
type Parts = Pin<Box<dyn Stream<Item = Result<ExportPart, DeskError>> + Send>>;

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
    acting: Acting,
    parameters: Parameters,
    ticket: Ticket,
) -> Result<Response, Problem> {
    parameters.finish("none")?;
    app.check_reads_journal(&acting.0).await?;
    let waiting = ticket.wait(&app)?;
    let mut parts: Parts = Box::pin(app.desk.export());
    // The first one is waited for: if the store fails now, the answer can still say so.
    let first = app.in_time(parts.next(), "").await?.transpose()?;
    let mut response = Response::new(Body::from_stream(bytes(first, parts, waiting)));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/x-ndjson"));
    let disposition = HeaderValue::from_static("attachment; filename=\"journal.jsonl\"");
    headers.insert(header::CONTENT_DISPOSITION, disposition);
    Ok(response)
}

/// The parts as they are read. A store that fails breaks the answer off.
fn bytes(first: Option<ExportPart>, mut rest: Parts, waiting: Waiting) -> impl Stream<Item = io::Result<Bytes>> {
    async_stream::try_stream! {
        let _waiting = waiting;
        if let Some(part) = first {
            yield Bytes::from(part.bytes);
        }
        while let Some(part) = rest.next().await {
            yield Bytes::from(part.map_err(broken)?.bytes);
        }
    }
}

fn broken(error: DeskError) -> io::Error {
    tracing::error!(code = error.code(), %error, "an export broke off");
    io::Error::other(error)
}
