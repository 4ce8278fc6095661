//! Questions about orders.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::arguments::{Arguments, bad_request};
use super::decide::{forbidden, not_found};
use super::record::{OrderRecord, index};
use super::track_record::TrackRecord;
use super::{Reads, State, quoted, reply, text};
use crate::heart::{Configuration, Context, Document, Refusal, Scope, Select, View, ViewError};
use crate::json::{Number, Object, Value};
use crate::principal::Established;

/// A question that changes nothing.
#[derive(Debug, Clone, PartialEq)]
pub enum Query {
    /// One order, with its history
    Get {
        /// The order
        id: String,
    },
    /// The orders that match every filter, in the order of `created_at`
    List(List),
    /// What an agent has done so far
    TrackRecord {
        /// The agent
        agent: String,
    },
}

/// Which orders to list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct List {
    /// Only those to this worker
    pub to: Option<String>,
    /// Only those from this manager
    pub from: Option<String>,
    /// Only those in this state
    pub state: Option<State>,
    /// Only sub-orders of this one
    pub parent_id: Option<String>,
    /// Only those that pick up from this one
    pub continues: Option<String>,
    /// After this place: `next_cursor` of an earlier answer
    pub cursor: Option<String>,
    /// How many at most
    pub limit: Option<u32>,
}

/// How many orders one answer lists at most, and when nothing is said.
pub const MOST_LISTED: u32 = 1_000;

impl Query {
    /// Reads a request: the query's short name (`get`, `list`, `track_record`) and its arguments as `spec §14.2`
    /// names them.
    ///
    /// # Errors
    ///
    /// `BAD_REQUEST` naming the argument at fault and what is accepted.
    pub fn parse(name: &str, arguments: Object) -> Result<Self, Refusal> {
        let mut arguments = Arguments::new(arguments);
        let query = match name {
            "get" => Self::Get { id: arguments.required("id")? },
            "track_record" => Self::TrackRecord { agent: arguments.required("agent")? },
            "list" => Self::List(List {
                to: arguments.string("to")?,
                from: arguments.string("from")?,
                state: arguments.string("state")?.map(|name| state(&name)).transpose()?,
                parent_id: arguments.string("parent_id")?,
                continues: arguments.string("continues")?,
                cursor: arguments.string("cursor")?,
                limit: arguments.number("limit")?.map(limit).transpose()?,
            }),
            _ => return Err(bad_request(format!("unknown query {}", quoted(name)))),
        };
        arguments.finish()?;
        Ok(query)
    }
}

fn state(name: &str) -> Result<State, Refusal> {
    State::parse(name).ok_or_else(|| {
        let states: Vec<String> = State::ALL.iter().map(|state| format!("`{}`", state.as_str())).collect();
        bad_request(format!("unknown state {}; accepted: {}", quoted(name), states.join(", ")))
    })
}

fn limit(number: Number) -> Result<u32, Refusal> {
    match number.to_u64().and_then(|limit| u32::try_from(limit).ok()) {
        Some(limit @ 1..=MOST_LISTED) => Ok(limit),
        _ => Err(bad_request(format!(
            "`limit` is {}, must be a whole number from 1 to {MOST_LISTED}",
            super::shown(number)
        ))),
    }
}

/// Answers a query.
pub(crate) fn answer(
    view: &View,
    query: &Query,
    context: &Context<'_>,
    configuration: &Configuration,
) -> Result<Result<Value, Refusal>, ViewError> {
    let reader = (configuration.sections.work.reads == Reads::Parties).then_some(context.principal.id.as_str());
    match query {
        Query::Get { id } => get(view, id, reader),
        Query::List(list) => find(view, list, reader),
        Query::TrackRecord { agent } => {
            if configuration.sections.work.reads == Reads::Parties
                && !sees_every_agent(context)
                && context.principal.id != *agent
            {
                let message =
                    "`work.restrict_reads` is set: a track record is for its own agent and for whoever is signed in";
                return Ok(Err(forbidden(message)));
            }
            let track = view.document(agent)?.unwrap_or_else(|| TrackRecord::empty(agent));
            Ok(Ok(track.to_reply().into()))
        }
    }
}

/// Who signs in runs the desk, and sees how each agent does even where reads are restricted.
fn sees_every_agent(context: &Context<'_>) -> bool {
    context.principal.established == Established::SignIn
}

fn get(view: &View, id: &str, reader: Option<&str>) -> Result<Result<Value, Refusal>, ViewError> {
    let Some(record) = view.document::<OrderRecord>(id)? else { return Ok(Err(not_found(id))) };
    if reader.is_some_and(|reader| !record.parties.contains(reader)) {
        // The same answer as for an order that is not there: a stranger learns nothing.
        return Ok(Err(not_found(id)));
    }
    let last_report = match record.last_report_id() {
        Some(report) => view.document(&report)?,
        None => None,
    };
    Ok(Ok(reply::view(&record, last_report.as_ref()).into()))
}

fn find(view: &View, list: &List, reader: Option<&str>) -> Result<Result<Value, Refusal>, ViewError> {
    let after = match &list.cursor {
        None => None,
        Some(cursor) => match cursor.split_once('/') {
            Some((sort, id)) => Some((sort.into(), id.into())),
            None => return Ok(Err(bad_request(format!("`cursor` {} is none that was given out", quoted(cursor))))),
        },
    };
    // The most selective filters first: the first one is searched by, the others are checked.
    let mut terms: Vec<(&'static str, String)> = [
        (index::PARENT, list.parent_id.clone()),
        (index::CONTINUES, list.continues.clone()),
        (index::TO, list.to.clone()),
        (index::FROM, list.from.clone()),
        (index::PARTY, reader.map(Into::into)),
        (index::STATE, list.state.map(|state| state.as_str().into())),
    ]
    .into_iter()
    .filter_map(|(index, value)| Some((index, value?)))
    .collect();
    let (index, value) = if terms.is_empty() { (index::ALL, String::new()) } else { terms.remove(0) };
    let limit = list.limit.unwrap_or(MOST_LISTED);
    let mut found: Vec<OrderRecord> = view.select(&Select {
        kind: OrderRecord::KIND,
        scope: Scope::Workspace,
        index,
        value,
        also: terms,
        after,
        limit: limit.saturating_add(1),
    })?;
    let more = found.len() > usize::try_from(limit).unwrap_or(usize::MAX);
    found.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    let next = found.last().filter(|_| more);
    let next = next.map(|last| format!("{}/{}", text(&last.order, "created_at"), last.order_id()));
    let orders: Value = found.iter().map(|record| Value::from(reply::summary(record))).collect();
    Ok(Ok(Object::new().with("orders", orders).with_some("next_cursor", next).into()))
}
