//! `bailiwick order watch`.

use std::time::{Duration, Instant};

use bailiwick_core::heart::{self, Key};
use bailiwick_core::json::{Number, Object, Value};
use bailiwick_core::principal::Principal;
use bailiwick_core::work::{OrderRecord, Query, State};
use bailiwick_desk::Desk;

use super::{Common, report, show};
use crate::failure::{Answer, Failure};
use crate::output::Output;

const EXAMPLES: &str = "\
Examples:
  bailiwick order watch wo_7
  bailiwick order watch wo_7 --after 3 --timeout 60 --json

Exit status: 0 the order is finished, 1 it was not within the time given.";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// The order
    id: String,
    /// Only events after this one
    #[arg(long, value_name = "SEQ", default_value_t = 0)]
    after: u64,
    /// Stop after so many seconds
    #[arg(long = "timeout", value_name = "SECONDS")]
    timeout_seconds: Option<u64>,
}

/// What to follow.
pub(super) struct Request {
    id: String,
    query: Query,
    after: u64,
    timeout: Option<Duration>,
}

/// How long one call waits.
const TURN: Duration = Duration::from_secs(60);

impl Arguments {
    pub(super) fn request(&self) -> Result<Request, heart::Refusal> {
        Ok(Request {
            id: self.id.clone(),
            query: Query::parse("get", Object::new().with("id", &self.id))?,
            after: self.after,
            timeout: self.timeout_seconds.map(Duration::from_secs),
        })
    }
}

pub(super) async fn run(
    desk: &Desk,
    principal: &Principal,
    request: &Request,
    common: &Common,
) -> Result<Answer, Failure> {
    let key = Key::of::<OrderRecord>(&request.id);
    let begun = Instant::now();
    let mut after = request.after;
    let mut turn = Duration::ZERO;
    loop {
        let query = heart::Query::Work(request.query.clone());
        let view = match desk.wait(principal, query, &key, after, turn).await {
            Ok(view) => view,
            Err(failure) => return report(&failure, common),
        };
        after = print_events(&view, after, common)?;
        if view.get("state").and_then(Value::as_str).and_then(State::parse).is_some_and(State::is_terminal) {
            return Ok(Answer::Yes);
        }
        turn = match request.timeout {
            None => TURN,
            Some(timeout) => TURN.min(timeout.saturating_sub(begun.elapsed())),
        };
        if turn.is_zero() {
            return Ok(Answer::No);
        }
    }
}

/// Prints the events after one, and answers the last one's number.
fn print_events(view: &Value, after: u64, common: &Common) -> Result<u64, Failure> {
    let mut last = after;
    let mut output = Output::new();
    for event in view.get("events").and_then(Value::as_array).unwrap_or_default() {
        let seq = event.get("seq").and_then(Value::as_number).copied().and_then(Number::to_u64).unwrap_or_default();
        if seq > after {
            last = last.max(seq);
            match common.json {
                true => output.json_line(event)?,
                false => output.line(show::event_line(event))?,
            }
        }
    }
    output.flush()?;
    Ok(last)
}
