//! Passes at a desk: who gets one for which order, and which orders' passes no longer count.
//!
//! A pass is a secret, so it stands in no journal, document or receipt: it is made from the order whenever its worker
//! asks, and asking leaves no trace (`spec work-orders §13`).

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::{IssueError, MOST_LIST_BYTES, Revocations, Terms, issue, revoke};
use crate::arguments::{Arguments, bad_request};
use crate::hash::Hash;
use crate::heart::{Context, Document, Order, Refusal, Scope, Select, View, ViewError};
use crate::jose::{Issuer, PublicKey};
use crate::json::{Object, Value};
use crate::message::quoted;
use crate::time::{self, Millis};
use crate::work::decide::{forbidden, not_found, refusal};
use crate::work::gateway::{Allowance, check_standing};
use crate::work::record::index;
use crate::work::{OrderRecord, State};

/// How many audiences a pass may name.
pub const MOST_AUDIENCES: usize = 16;

/// How many orders one revocation list names.
pub const MOST_REVOKED: u32 = 10_000;

/// A worker asks for a pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The order
    pub id: String,
    /// `aud`: who may accept it; nobody named means anybody
    pub audiences: Vec<String>,
    /// `cnf`: the thumbprint of the key whose owner alone may use it
    pub holder: Option<Hash>,
}

impl Request {
    /// Asks for a pass that anybody accepts from whoever shows it.
    pub fn new(id: impl Into<String>) -> Self {
        Self { id: id.into(), audiences: Vec::new(), holder: None }
    }

    /// Reads a request: `id`, and perhaps `audience` (strings) and `holder` (a public JWK).
    ///
    /// # Errors
    ///
    /// `BAD_REQUEST` naming the argument at fault and what is accepted.
    pub fn parse(arguments: Object) -> Result<Self, Refusal> {
        let mut arguments = Arguments::new(arguments);
        let id = arguments.required("id")?;
        let audiences = arguments.strings("audience")?.unwrap_or_default();
        if audiences.len() > MOST_AUDIENCES {
            let count = audiences.len();
            return Err(bad_request(format!("`audience` has {count} names, at most {MOST_AUDIENCES} are accepted")));
        }
        if audiences.iter().any(|audience| audience.trim().is_empty()) {
            return Err(bad_request("`audience` has a blank name; each must name who may accept the pass"));
        }
        let holder = arguments.object("holder")?.map(|jwk| PublicKey::parse(&jwk.into()));
        let holder = holder.transpose().map_err(|fault| bad_request(format!("`holder`: {fault}")))?;
        arguments.finish()?;
        Ok(Self { id, audiences, holder: holder.map(|key| key.thumbprint()) })
    }
}

/// Makes a pass for whoever acts, if they are the order's worker and at work: `{pass, expires_at}`.
///
/// Refused, in this order: `NOT_FOUND`, `FORBIDDEN` to all but the worker, `INVALID_TRANSITION` unless the order is
/// being worked on and not overdue; `PAUSED` or `STOPPED` while somebody holds the work up; `BAD_REQUEST` if there can be no pass for the order.
pub(crate) fn mint(
    view: &View,
    request: &Request,
    issuer: &Issuer<'_>,
    context: &Context<'_>,
) -> Result<Result<Value, Refusal>, ViewError> {
    let Some(record) = view.document::<OrderRecord>(&request.id)? else { return Ok(Err(not_found(&request.id))) };
    if let Err(refusal) = check_may_have(&record, context) {
        return Ok(Err(refusal));
    }
    // Whoever was held up must not go on where the desk can't be asked.
    let allowance: Option<Allowance> = view.document(&request.id)?;
    if let Some(Err(refusal)) = allowance.map(|allowance| check_standing(&allowance)) {
        return Ok(Err(refusal));
    }
    let audiences: Vec<&str> = request.audiences.iter().map(String::as_str).collect();
    let terms = Terms {
        issuer: issuer.name,
        jti: &format!("pass_{}", context.fresh.hex("pass", 32)),
        now: context.now,
        ttl_seconds: issuer.ttl_seconds,
        audiences: &audiences,
        holder: request.holder,
    };
    Ok(match issue(&record.order, &terms, issuer.key) {
        Ok(issued) => {
            Ok(Object::new().with("pass", issued.token).with("expires_at", time::format(issued.expires_at)).into())
        }
        Err(error @ IssueError::DeadlinePassed(_)) => Err(refusal("INVALID_TRANSITION", format!("{error}"))),
        Err(error) => Err(bad_request(format!("there is no pass for order {}: {error}", quoted(&request.id)))),
    })
}

fn check_may_have(record: &OrderRecord, context: &Context<'_>) -> Result<(), Refusal> {
    let (id, actor) = (quoted(record.order_id()), context.principal.id.as_str());
    if actor != record.worker() {
        return Err(forbidden(format!("a pass for order {id} is for its worker, not for {}", quoted(actor))));
    }
    // Overdue is as good as expired, whether or not that was written down yet.
    let state = if record.is_overdue(context.now) { State::Expired } else { record.state };
    if state == State::Working {
        return Ok(());
    }
    Err(refusal("INVALID_TRANSITION", format!("order {id} is {state}, passes are for orders that are working")))
}

/// Signs the list of orders whose passes no longer count though they may not have ended: orders that were called off, ran
/// into a limit before their deadline, or are stopped. They stay on it until the deadline, after which no pass of theirs or of an
/// order below them can be alive.
///
/// What is on the list follows from the journal up to its head alone, `version` being the head's sequence and `as_of` its
/// time. So whoever signs the list for that head signs the same one.
pub(crate) fn sign_revocations(
    view: &View,
    (version, as_of): (u64, Millis),
    issuer: &Issuer<'_>,
    now: Millis,
) -> Result<Result<String, Refusal>, ViewError> {
    let ended: Vec<OrderRecord> = view.select(&until_after(index::REVOKED, OrderRecord::KIND, as_of))?;
    let stopped: Vec<Allowance> = view.select(&until_after(Allowance::STOPPED, Allowance::KIND, as_of))?;
    // One may be both, and stands on the list once.
    let orders = ended.iter().map(OrderRecord::order_id).chain(stopped.iter().map(|allowance| &*allowance.order));
    let orders: Vec<&str> = orders.collect::<BTreeSet<_>>().into_iter().collect();
    let list =
        revoke(issuer.name, version, &Revocations { orders: &orders, ..Revocations::default() }, issuer.key, now);
    // A shorter list would bring passes back.
    if orders.len() > usize::try_from(MOST_REVOKED).unwrap_or(usize::MAX) || list.len() > MOST_LIST_BYTES {
        let message = format!("more orders are revoked than the {MOST_REVOKED} that a list holds");
        return Ok(Err(refusal("UNAVAILABLE", message)));
    }
    Ok(Ok(list))
}

/// Whatever an index sorts at a time or later.
fn until_after(index: &'static str, kind: &'static str, time: Millis) -> Select {
    Select {
        kind,
        scope: Scope::Workspace,
        index,
        value: String::new(),
        also: Vec::new(),
        after: Some((time::format(time), String::new())),
        order: Order::Ascending,
        limit: MOST_REVOKED.saturating_add(1),
    }
}
