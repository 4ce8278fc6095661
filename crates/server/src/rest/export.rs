//! The journal as a file.

use std::io;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::Response;
use tokio_stream::{Stream, StreamExt as _};

use crate::admission::{Ticket, Waiting};
use crate::app::App;
use crate::caller::Reading;
use crate::input::Parameters;
use crate::problem::Problem;

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
    // Asked before the answer begins, so that a store that is away is an error and no broken file.
    app.within(app.desk.head()).await?;
    let waiting = ticket.wait(&app)?;
    let mut response = Response::new(Body::from_stream(parts(&app, waiting)));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/x-ndjson"));
    let disposition = HeaderValue::from_static("attachment; filename=\"journal.jsonl\"");
    headers.insert(header::CONTENT_DISPOSITION, disposition);
    Ok(response)
}

/// The export's pieces. A failing store breaks the answer off.
fn parts(app: &App, waiting: Waiting) -> impl Stream<Item = io::Result<Bytes>> + use<> {
    app.desk.export().map(move |part| {
        let _held_until_the_end = &waiting;
        part.map(|part| Bytes::from(part.bytes)).map_err(|error| {
            tracing::error!(code = error.code(), %error, "an export broke off");
            io::Error::other(error)
        })
    })
}
