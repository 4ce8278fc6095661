//! The journal as it grows, as server-sent events.
//!
//! Each event's id is the entry's sequence, so a client that was cut off goes on without loss: browsers send the
//! last id as `Last-Event-ID` by themselves.
//!
//! A stream outlives the request that opened it, so whether its reader may still read is asked again while it runs: a
//! session may have ended, a key may have been taken out of force.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use bailiwick_core::hash::Hash;
use bailiwick_core::principal::Principal;
use bailiwick_desk::DeskError;
use tokio::time::MissedTickBehavior;
use tokio_stream::{Stream, StreamExt};

use super::journal::write_entry;
use crate::admission::{Ticket, Waiting};
use crate::app::App;
use crate::caller::{Acting, caller};
use crate::input::Parameters;
use crate::problem::{Code, Problem};

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// How often a quiet stream says that it is alive; proxies cut silence after half a minute or more.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// How long somebody who may no longer read goes on reading, at most.
const ASK_AGAIN: Duration = Duration::from_secs(2);
/// How long a client that was cut off waits before it comes back.
const RETRY: Duration = Duration::from_secs(1);

/// Follow the journal
///
/// A stream of server-sent events, one for each entry, as they are written. The event's `id` is the entry's
/// sequence, its `data` the entry with its hash. With `Last-Event-ID` or `after` it goes on after that sequence
/// without loss; without either it starts now.
#[utoipa::path(
    get, path = "/events", tag = "journal",
    params(
        ("after" = Option<u64>, Query, description = "start after this sequence"),
        ("Last-Event-ID" = Option<u64>, Header, description = "the last event that was received; goes before `after`"),
    ),
    responses((status = 200, description = "the entries, as they come", body = String, content_type = "text/event-stream")),
)]
pub(super) async fn follow_events(
    State(app): State<Arc<App>>,
    acting: Acting,
    mut parameters: Parameters,
    ticket: Ticket,
    request: Parts,
) -> Result<Response, Problem> {
    let after = parameters.number("after", 0, u64::MAX)?;
    parameters.finish("`after`")?;
    app.check_reads_journal(&acting.0).await?;
    let head = app.within(app.desk.head()).await?.head.sequence;
    let after = last_event(&request.headers)?.or(after).unwrap_or(head);
    if after > head {
        // Of another journal; it would wait in silence for what was meant by that number.
        return Err(Problem::new(
            Code::BadRequest,
            format!("there is no sequence {after} yet, the journal ends at {head}"),
        ));
    }
    let waiting = ticket.wait(&app)?;
    let reader = Reader { principal: acting.0, request };
    let events = Sse::new(events(app, after, reader, waiting)).keep_alive(KeepAlive::new().interval(KEEP_ALIVE));
    Ok(events.into_response())
}

/// Who reads a stream, and the request by which that is known.
struct Reader {
    principal: Principal,
    request: Parts,
}

impl Reader {
    /// Whether the request would still be taken. A store that does not answer takes nobody's right away.
    async fn may_read(&self, app: &App) -> bool {
        let Parts { method, uri, headers, .. } = &self.request;
        let asked = async {
            let same = caller(app, method, uri, headers).await? == self.principal;
            app.check_reads_journal(&self.principal).await.map(|()| same)
        };
        asked.await.unwrap_or_else(|problem| problem.code() == Code::Unavailable)
    }
}

/// The entries after a sequence, until the reader may read no longer, the server stops or the store fails; the client
/// then comes back.
fn events(
    app: Arc<App>,
    after: u64,
    reader: Reader,
    waiting: Waiting,
) -> impl Stream<Item = Result<Event, Infallible>> {
    async_stream::stream! {
        let _waiting = waiting;
        let mut ask_again = tokio::time::interval(ASK_AGAIN);
        ask_again.set_missed_tick_behavior(MissedTickBehavior::Delay);
        ask_again.reset();
        yield Ok(Event::default().retry(RETRY).comment("events of the journal"));
        let mut entries = pin!(app.desk.follow(after));
        loop {
            let next = tokio::select! {
                biased;
                _ = ask_again.tick() => {
                    if reader.may_read(&app).await {
                        continue;
                    }
                    break;
                }
                next = entries.next() => next,
                () = app.stopping.cancelled() => break,
            };
            match next {
                Some(Ok(entry)) => yield Ok(event(entry.sequence, &entry.preimage, &entry.hash)),
                Some(Err(error)) => {
                    log(&error);
                    break;
                }
                None => break,
            }
        }
    }
}

fn event(sequence: u64, preimage: &[u8], hash: &Hash) -> Event {
    let mut data = Vec::with_capacity(preimage.len() + 80);
    write_entry(preimage, hash, &mut data);
    Event::default().id(sequence.to_string()).data(String::from_utf8_lossy(&data))
}

fn log(error: &DeskError) {
    tracing::error!(code = error.code(), %error, "an event stream ended");
}

fn last_event(headers: &HeaderMap) -> Result<Option<u64>, Problem> {
    let Some(id) = headers.get(LAST_EVENT_ID) else { return Ok(None) };
    let sequence = id.to_str().ok().and_then(|id| id.parse().ok());
    let wrong = || Problem::new(Code::BadRequest, "`Last-Event-ID` is none of this stream; it must be a sequence");
    sequence.map(Some).ok_or_else(wrong)
}
