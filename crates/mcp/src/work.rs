//! Toolset `work`: work orders and work reports (`spec work-orders §14.2`).

mod definition;
mod schema;

use std::time::Duration;

use bailiwick_core::heart::{Command, Credential, Key, Query, Refusal};
use bailiwick_core::json::{Number, Object, Value};
use bailiwick_core::work::{self, OrderRecord};
use bailiwick_desk::Failure;

use crate::answer::Answer;
use crate::arguments::{bad_request, take_number, take_string};
use crate::call::Call;
use crate::tool::{Action as ToolAction, Entry};

/// What a tool of this toolset does.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Action {
    /// Runs the command of core with this name
    Command(&'static str),
    /// Lists orders
    List,
    /// Shows an order
    Show,
    /// Follows an order
    Wait,
    /// Tells what an agent has done
    TrackRecord,
    /// Makes a pass
    Renew,
}

impl Action {
    /// Whether it is of use only where passes are signed.
    pub(crate) fn needs_signer(self) -> bool {
        matches!(self, Self::Renew)
    }
}

/// How long `wait_for_update` may wait, in seconds.
const WAIT_SECONDS: std::ops::RangeInclusive<f64> = 1.0..=55.0;
/// How long `wait_for_update` waits when nothing is said, in seconds.
const USUAL_WAIT_SECONDS: f64 = 25.0;

pub(crate) async fn run(action: Action, mut call: Call) -> Result<Answer, Failure> {
    match action {
        Action::Command(name) => {
            let parse = |arguments| work::Command::parse(name, arguments).map(Command::Work);
            Ok(Answer::of(call.command(parse).await?))
        }
        Action::Show => {
            let query = query("get", std::mem::take(&mut call.arguments))?;
            Ok(Answer::of(call.query(query).await?))
        }
        Action::List => list(call).await,
        Action::Wait => wait(call).await,
        Action::TrackRecord => track_record(call).await,
        Action::Renew => renew(call).await,
    }
}

fn query(name: &str, arguments: Object) -> Result<Query, Refusal> {
    work::Query::parse(name, arguments).map(Query::Work)
}

/// The text is the array that the specification asks for; the structured content says where the list goes on.
async fn list(mut call: Call) -> Result<Answer, Failure> {
    let query = query("list", std::mem::take(&mut call.arguments))?;
    let found = call.query(query).await?;
    let note = found.get("next_cursor").and_then(Value::as_str).map(|cursor| {
        let cursor = serde_json::Value::from(cursor);
        format!("There are more orders: call list_work_orders again with the same filters and \"cursor\": {cursor}")
    });
    let none = Value::Array(Vec::new());
    let answer = Answer::showing(found.get("orders").unwrap_or(&none), found.clone());
    Ok(answer.noting(note))
}

async fn wait(mut call: Call) -> Result<Answer, Failure> {
    let mut arguments = std::mem::take(&mut call.arguments);
    let since = since_seq(take_number(&mut arguments, "since_seq"))?;
    let timeout = timeout(take_number(&mut arguments, "timeout_s"))?;
    let id = arguments.str("id").unwrap_or_default().to_owned();
    let query = query("get", arguments)?;
    let principal = call.caller.reading();
    let key = Key::of::<OrderRecord>(id);
    let changed = tokio::select! {
        changed = call.desk.wait(&principal, query.clone(), &key, since, timeout) => Some(changed?),
        () = call.stop.wanted() => None,
    };
    match changed {
        Some(view) => Ok(Answer::of(view)),
        None => Ok(Answer::of(call.query(query).await?)),
    }
}

fn since_seq(number: Option<Number>) -> Result<u64, Refusal> {
    let since = number.and_then(Number::to_u64);
    since.ok_or_else(|| bad_request("`since_seq` must be a whole number from 0: the `last_seq` you have seen"))
}

fn timeout(number: Option<Number>) -> Result<Duration, Refusal> {
    let seconds = number.map_or(USUAL_WAIT_SECONDS, Number::to_f64);
    if WAIT_SECONDS.contains(&seconds) {
        return Ok(Duration::from_secs_f64(seconds));
    }
    let (least, most) = (WAIT_SECONDS.start(), WAIT_SECONDS.end());
    Err(bad_request(format!("`timeout_s` is {seconds}, must be from {least} to {most}")))
}

async fn track_record(mut call: Call) -> Result<Answer, Failure> {
    let mut arguments = std::mem::take(&mut call.arguments);
    let named = take_string(&mut arguments, "agent");
    let agent = named.or_else(|| call.caller.id().map(Into::into));
    let agent = agent.ok_or_else(|| bad_request("`agent` is missing; this server is bound to nobody"))?;
    let query = query("track_record", arguments.with("agent", agent))?;
    Ok(Answer::of(call.query(query).await?))
}

async fn renew(mut call: Call) -> Result<Answer, Failure> {
    let mut arguments = std::mem::take(&mut call.arguments);
    let principal = call.caller.acting(take_string(&mut arguments, "actor"))?;
    let credential = Credential::Pass(work::pass::Request::parse(arguments)?);
    Ok(Answer::of(call.desk.mint(&principal, &credential).await?))
}

/// The tools, in the order in which they are listed.
pub(crate) fn tools() -> Vec<Entry> {
    [
        (definition::create(), Action::Command("create")),
        (definition::list(), Action::List),
        (definition::show(), Action::Show),
        (definition::accept(), Action::Command("accept")),
        (definition::decline(), Action::Command("decline")),
        (definition::start(), Action::Command("start")),
        (definition::progress(), Action::Command("progress")),
        (definition::report(), Action::Command("report")),
        (definition::answer(), Action::Command("answer")),
        (definition::review(), Action::Command("review")),
        (definition::allow_retry(), Action::Command("allow_effect_retry")),
        (definition::cancel(), Action::Command("cancel")),
        (definition::wait(), Action::Wait),
        (definition::track_record_of(), Action::TrackRecord),
        (definition::renew(), Action::Renew),
    ]
    .map(|(definition, action)| Entry::new(definition, ToolAction::Work(action)))
    .into()
}
