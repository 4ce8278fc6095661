//! Questions about orders.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::decide::{forbidden, not_found};
use super::record::{OrderRecord, index};
use super::track_record::TrackRecord;
use super::{Reads, State, gateway, quoted, reply, text};
use crate::arguments::{Arguments, bad_request};
use crate::heart::{Configuration, Context, Document, Order, Refusal, Scope, Select, View, ViewError};
use crate::json::{Number, Object, Value};
use crate::principal::{Established, is_gateway};

/// A question that changes nothing.
#[derive(Debug, Clone, PartialEq)]
pub enum Query {
    /// One order, with its history
    Get {
        /// The order
        id: String,
    },
    /// The orders that match every filter, by `created_at`
    List(List),
    /// How an order's gateways stand
    Gateway {
        /// The order
        id: String,
    },
    /// What an order's gateways have called, the last first
    Calls(Calls),
    /// What an agent has done so far
    TrackRecord {
        /// The agent
        agent: String,
    },
    /// What every agent has done so far, by name
    Agents(Agents),
}

/// Which calls to list.
#[derive(Debug, Clone, PartialEq)]
pub struct Calls {
    /// The order
    pub id: String,
    /// Only those before this number: `next_before` of an earlier answer
    pub before: Option<Number>,
    /// How many at most
    pub limit: Option<u32>,
}

/// Which agents to list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Agents {
    /// After this one: `next_cursor` of an earlier answer
    pub cursor: Option<String>,
    /// How many at most
    pub limit: Option<u32>,
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
    /// By `created_at`, the oldest or the newest first
    pub order: Order,
    /// After this place: `next_cursor` of an earlier answer in the same order
    pub cursor: Option<String>,
    /// How many at most
    pub limit: Option<u32>,
}

/// How many orders or agents one answer lists at most, and when nothing is said.
pub const MOST_LISTED: u32 = 1_000;

impl Query {
    /// Reads a request: the query's short name (`get`, `list`, `track_record`, `agents`) and its arguments as `spec §14.2`
    /// names them.
    ///
    /// # Errors
    ///
    /// `BAD_REQUEST` naming the argument at fault and what is accepted.
    pub fn parse(name: &str, arguments: Object) -> Result<Self, Refusal> {
        let mut arguments = Arguments::new(arguments);
        let query = match name {
            "get" => Self::Get { id: arguments.required("id")? },
            "gateway" => Self::Gateway { id: arguments.required("id")? },
            "calls" => Self::Calls(Calls {
                id: arguments.required("id")?,
                before: arguments.number("before")?,
                limit: arguments.limit(MOST_LISTED)?,
            }),
            "track_record" => Self::TrackRecord { agent: arguments.required("agent")? },
            "list" => Self::List(List {
                to: arguments.string("to")?,
                from: arguments.string("from")?,
                state: arguments.string("state")?.map(|name| state(&name)).transpose()?,
                parent_id: arguments.string("parent_id")?,
                continues: arguments.string("continues")?,
                order: arguments.string("order")?.map_or(Ok(Order::Ascending), |name| order(&name))?,
                cursor: arguments.string("cursor")?,
                limit: arguments.limit(MOST_LISTED)?,
            }),
            "agents" => {
                Self::Agents(Agents { cursor: arguments.string("cursor")?, limit: arguments.limit(MOST_LISTED)? })
            }
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

fn order(name: &str) -> Result<Order, Refusal> {
    match name {
        "oldest_first" => Ok(Order::Ascending),
        "newest_first" => Ok(Order::Descending),
        _ => Err(bad_request(format!("unknown order {}; accepted: `oldest_first`, `newest_first`", quoted(name)))),
    }
}

/// Answers a query.
pub(crate) fn answer(
    view: &View,
    query: &Query,
    context: &Context<'_>,
    configuration: &Configuration,
) -> Result<Result<Value, Refusal>, ViewError> {
    let is_restricted = configuration.sections.work.reads == Reads::Parties && !is_gateway(&context.principal.id);
    let reader = is_restricted.then_some(context.principal.id.as_str());
    // Who signed in runs the desk, and sees how each agent does even where reads are restricted.
    let own = reader.filter(|_| context.principal.established != Established::SignIn);
    match query {
        Query::Get { id } => get(view, id, reader),
        Query::Gateway { id } => match record(view, id, reader)? {
            Ok(record) => Ok(Ok(gateway::status(view, &record, context.now)?)),
            Err(refusal) => Ok(Err(refusal)),
        },
        Query::Calls(calls) => match record(view, &calls.id, reader)? {
            Ok(record) => gateway::calls(view, &record, calls.before, calls.limit.unwrap_or(MOST_LISTED)),
            Err(refusal) => Ok(Err(refusal)),
        },
        Query::List(list) => find(view, list, reader),
        Query::TrackRecord { agent } if own.is_some_and(|own| own != agent) => {
            let rule =
                "while `work.restrict_reads` is set, a track record is for its own agent and for whoever signed in";
            Ok(Err(forbidden(rule)))
        }
        Query::TrackRecord { agent } => {
            let track = view.document(agent)?.unwrap_or_else(|| TrackRecord::empty(agent));
            Ok(Ok(track.to_reply().into()))
        }
        Query::Agents(agents) => list_agents(view, agents, own),
    }
}

/// An order, for whoever may read it. A stranger gets the same answer as for one that is not there, and learns nothing.
fn record(view: &View, id: &str, reader: Option<&str>) -> Result<Result<OrderRecord, Refusal>, ViewError> {
    let record = view.document::<OrderRecord>(id)?;
    Ok(record.filter(|record| reader.is_none_or(|reader| record.parties.contains(reader))).ok_or_else(|| not_found(id)))
}

fn get(view: &View, id: &str, reader: Option<&str>) -> Result<Result<Value, Refusal>, ViewError> {
    let record = match record(view, id, reader)? {
        Ok(record) => record,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let last_report = match record.last_report_id() {
        Some(report) => view.document(&report)?,
        None => None,
    };
    let effects = gateway::effect_views(view, &record)?;
    Ok(Ok(reply::view(&record, last_report.as_ref(), effects).into()))
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
        order: list.order,
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

/// Lists agents; only the one that asks, if `own` is given.
fn list_agents(view: &View, agents: &Agents, own: Option<&str>) -> Result<Result<Value, Refusal>, ViewError> {
    if let Some(own) = own {
        let after = agents.cursor.as_deref().unwrap_or_default();
        let track = view.document::<TrackRecord>(own)?.filter(|track| after < track.agent.as_str());
        let records: Value = track.iter().map(|track| Value::from(track.to_reply())).collect();
        return Ok(Ok(Object::new().with("agents", records).into()));
    }
    let limit = agents.limit.unwrap_or(MOST_LISTED);
    let mut found: Vec<TrackRecord> = view.select(&Select {
        kind: TrackRecord::KIND,
        scope: Scope::Workspace,
        index: TrackRecord::ALL,
        value: String::new(),
        also: Vec::new(),
        order: Order::Ascending,
        after: agents.cursor.as_ref().map(|agent| (String::new(), agent.clone())),
        limit: limit.saturating_add(1),
    })?;
    let most = usize::try_from(limit).unwrap_or(usize::MAX);
    let more = found.len() > most;
    found.truncate(most);
    let next = found.last().filter(|_| more).map(|last| last.agent.clone());
    let records: Value = found.iter().map(|track| Value::from(track.to_reply())).collect();
    Ok(Ok(Object::new().with("agents", records).with_some("next_cursor", next).into()))
}
