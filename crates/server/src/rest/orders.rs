//! Work orders (`spec work-orders §9`).

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use bailiwick_core::heart::{self, Key};
use bailiwick_core::json::{Object, Value};
use bailiwick_core::principal::Principal;
use bailiwick_core::work::{Command, OrderRecord, Query, pass};
use bailiwick_mcp::Access;

use super::{json, secret_json, shapes};
use crate::admission::Ticket;
use crate::app::App;
use crate::body::{Details, Document};
use crate::caller::Acting;
use crate::input::{Id, Once, Parameters};
use crate::problem::{Code, Problem};

/// Seconds that a call waits unless it says how long, and the most it may say (`spec work-orders §14.2`).
const WAIT_SECONDS: u64 = 25;
const MOST_WAIT_SECONDS: u64 = 55;

pub(super) type Answer = Result<Response, Problem>;

/// List orders
///
/// Answers the orders that match every filter given, by `created_at`.
#[utoipa::path(
    get, path = "/orders", tag = "orders",
    params(
        ("to" = Option<String>, Query, description = "only those to this worker"),
        ("from" = Option<String>, Query, description = "only those from this manager"),
        ("state" = Option<shapes::State>, Query, description = "only those in this state"),
        ("parent_id" = Option<String>, Query, description = "only parts of this order"),
        ("continues" = Option<String>, Query, description = "only those that pick up from this order"),
        ("order" = Option<shapes::ListOrder>, Query, description = "by `created_at`; `oldest_first` when left out"),
        ("limit" = Option<u32>, Query, description = "how many at most, 1 to 1000", minimum = 1, maximum = 1000),
        ("cursor" = Option<String>, Query, description = "`next_cursor` of an earlier answer in the same order", min_length = 1),
    ),
    responses((status = 200, description = "the orders", body = shapes::Orders)),
)]
pub(super) async fn list_orders(State(app): State<Arc<App>>, acting: Acting, parameters: Parameters) -> Answer {
    let query = Query::parse("list", parameters.into_arguments(&["limit"]))?;
    Ok(json(StatusCode::OK, &app.ask(&acting.0, heart::Query::Work(query)).await?))
}

/// Issue an order
///
/// The caller becomes its manager.
#[utoipa::path(
    post, path = "/orders", tag = "orders",
    request_body = shapes::NewOrder,
    responses((
        status = 201, description = "the order, offered to its worker", body = shapes::View,
        headers(("Location" = String, description = "where the order is")),
    )),
)]
pub(super) async fn create_order(
    State(app): State<Arc<App>>,
    acting: Acting,
    once: Once,
    Document(order): Document,
) -> Answer {
    let view = run(&app, &acting.0, &once, "create", order).await?;
    let location = view.get("id").and_then(Value::as_str).map(|id| format!("{}/orders/{}", super::ROOT, encoded(id)));
    let mut response = json(StatusCode::CREATED, &view);
    if let Some(location) = location.and_then(|location| HeaderValue::from_str(&location).ok()) {
        response.headers_mut().insert(header::LOCATION, location);
    }
    Ok(response)
}

/// Show an order, or wait for it to change
///
/// With `wait_after` the answer comes as soon as the order's `last_seq` is higher, or unchanged after `timeout_s`.
#[utoipa::path(
    get, path = "/orders/{id}", tag = "orders",
    params(
        ("id" = String, Path, description = "the order's id, percent-encoded"),
        ("wait_after" = Option<u64>, Query, description = "wait for a `last_seq` above this"),
        ("timeout_s" = Option<u64>, Query, description = "with `wait_after`: how long to wait, 1 to 55 seconds; 25 if left out", minimum = 1, maximum = 55),
    ),
    responses((status = 200, description = "the order", body = shapes::View)),
)]
pub(super) async fn show_order(
    State(app): State<Arc<App>>,
    acting: Acting,
    Id(id): Id,
    mut parameters: Parameters,
    ticket: Ticket,
) -> Answer {
    let wait_after = parameters.number("wait_after", 0, u64::MAX)?;
    let timeout = parameters.number("timeout_s", 1, MOST_WAIT_SECONDS)?;
    parameters.finish("`wait_after`, `timeout_s`")?;
    let key = Key::of::<OrderRecord>(id.as_str());
    let query = heart::Query::Work(Query::parse("get", Object::new().with("id", id))?);
    let view = match (wait_after, timeout) {
        (Some(after), timeout) => {
            let timeout = Duration::from_secs(timeout.unwrap_or(WAIT_SECONDS));
            wait(&app, &acting.0, query, &key, after, timeout, &ticket).await?
        }
        (None, None) => app.ask(&acting.0, query).await?,
        (None, Some(_)) => return Err(Problem::new(Code::BadRequest, "`timeout_s` goes with `wait_after` only")),
    };
    Ok(json(StatusCode::OK, &view))
}

/// Waits for an order to change. Answers the unchanged one when the server stops.
async fn wait(
    app: &App,
    principal: &Principal,
    query: heart::Query,
    key: &Key,
    after: u64,
    timeout: Duration,
    ticket: &Ticket,
) -> Result<Value, Problem> {
    let _waiting = ticket.wait(app)?;
    tokio::select! {
        answer = app.desk.wait(principal, query.clone(), key, after, timeout) => Ok(answer?),
        () = app.stopping.cancelled() => app.ask(principal, query).await,
    }
}

/// Accept an order
///
/// For the worker, while it is offered.
#[utoipa::path(
    post, path = "/orders/{id}/accept", tag = "orders",
    params(("id" = String, Path, description = "the order's id, percent-encoded")),
    responses((status = 200, description = "the order, accepted", body = shapes::View)),
)]
pub(super) async fn accept_order(
    State(app): State<Arc<App>>,
    acting: Acting,
    once: Once,
    id: Id,
    details: Details,
) -> Answer {
    act(&app, &acting.0, &once, "accept", id, details.0).await
}

/// Decline an order
///
/// For the worker, while it is offered.
#[utoipa::path(
    post, path = "/orders/{id}/decline", tag = "orders",
    params(("id" = String, Path, description = "the order's id, percent-encoded")),
    request_body = Option<shapes::Reason>,
    responses((status = 200, description = "the order, declined", body = shapes::View)),
)]
pub(super) async fn decline_order(
    State(app): State<Arc<App>>,
    acting: Acting,
    once: Once,
    id: Id,
    details: Details,
) -> Answer {
    act(&app, &acting.0, &once, "decline", id, details.0).await
}

/// Start work on an order
///
/// For the worker, once it is accepted. Where the server signs passes the answer has one, made anew if the request is
/// repeated.
#[utoipa::path(
    post, path = "/orders/{id}/start", tag = "orders",
    params(("id" = String, Path, description = "the order's id, percent-encoded")),
    responses((status = 200, description = "the order, being worked on", body = shapes::Started)),
)]
pub(super) async fn start_order(
    State(app): State<Arc<App>>,
    acting: Acting,
    once: Once,
    id: Id,
    details: Details,
) -> Answer {
    let started = command(&app, &acting.0, &once, "start", id, details.0).await?;
    Ok(secret_json(StatusCode::OK, &started))
}

/// Get a pass
///
/// For the worker, while working, where the server signs passes. It is made anew each time, and kept nowhere.
#[utoipa::path(
    post, path = "/orders/{id}/pass", tag = "passes",
    params(("id" = String, Path, description = "the order's id, percent-encoded")),
    request_body = Option<shapes::PassRequest>,
    responses((status = 200, description = "the pass", body = shapes::Pass)),
)]
pub(super) async fn issue_pass(State(app): State<Arc<App>>, acting: Acting, id: Id, details: Details) -> Answer {
    check_may_change(&app)?;
    let request = pass::Request::parse(about(id, details.0)?)?;
    Ok(secret_json(StatusCode::OK, &app.mint(&acting.0, &heart::Credential::Pass(request)).await?))
}

/// Say how far the work is
///
/// For the worker, while working.
#[utoipa::path(
    post, path = "/orders/{id}/progress", tag = "orders",
    params(("id" = String, Path, description = "the order's id, percent-encoded")),
    request_body = shapes::Progress,
    responses((status = 200, description = "the order, with the note among its events", body = shapes::View)),
)]
pub(super) async fn note_progress(
    State(app): State<Arc<App>>,
    acting: Acting,
    once: Once,
    id: Id,
    details: Document,
) -> Answer {
    act(&app, &acting.0, &once, "progress", id, details.0).await
}

/// Report on an order
///
/// For the worker. A report with failed checks is refused with every finding, and nothing is stored.
#[utoipa::path(
    post, path = "/orders/{id}/reports", tag = "orders",
    params(("id" = String, Path, description = "the order's id, percent-encoded")),
    request_body = shapes::NewReport,
    responses((status = 200, description = "the report is stored", body = shapes::Submitted)),
)]
pub(super) async fn submit_report(
    State(app): State<Arc<App>>,
    acting: Acting,
    once: Once,
    id: Id,
    report: Document,
) -> Answer {
    act(&app, &acting.0, &once, "report", id, report.0).await
}

/// Answer a blocked worker
///
/// For the manager or the escalation contact.
#[utoipa::path(
    post, path = "/orders/{id}/answer", tag = "orders",
    params(("id" = String, Path, description = "the order's id, percent-encoded")),
    request_body = shapes::Answer,
    responses((status = 200, description = "the order, being worked on again", body = shapes::View)),
)]
pub(super) async fn answer_question(
    State(app): State<Arc<App>>,
    acting: Acting,
    once: Once,
    id: Id,
    details: Document,
) -> Answer {
    act(&app, &acting.0, &once, "answer", id, details.0).await
}

/// Decide on a report
///
/// For the manager, once a report is submitted.
#[utoipa::path(
    post, path = "/orders/{id}/review", tag = "orders",
    params(("id" = String, Path, description = "the order's id, percent-encoded")),
    request_body = shapes::Review,
    responses((status = 200, description = "the order, approved or back to work", body = shapes::View)),
)]
pub(super) async fn review_report(
    State(app): State<Arc<App>>,
    acting: Acting,
    once: Once,
    id: Id,
    details: Document,
) -> Answer {
    act(&app, &acting.0, &once, "review", id, details.0).await
}

/// Call an order off
///
/// For the manager, while it is not finished.
#[utoipa::path(
    post, path = "/orders/{id}/cancel", tag = "orders",
    params(("id" = String, Path, description = "the order's id, percent-encoded")),
    request_body = Option<shapes::Reason>,
    responses((status = 200, description = "the order, cancelled", body = shapes::View)),
)]
pub(super) async fn cancel_order(
    State(app): State<Arc<App>>,
    acting: Acting,
    once: Once,
    id: Id,
    details: Details,
) -> Answer {
    act(&app, &acting.0, &once, "cancel", id, details.0).await
}

/// Runs a command on the order in the path.
pub(super) async fn act(
    app: &App,
    principal: &Principal,
    once: &Once,
    name: &str,
    id: Id,
    arguments: Object,
) -> Answer {
    Ok(json(StatusCode::OK, &command(app, principal, once, name, id, arguments).await?))
}

async fn command(
    app: &App,
    principal: &Principal,
    once: &Once,
    name: &str,
    id: Id,
    arguments: Object,
) -> Result<Value, Problem> {
    run(app, principal, once, name, about(id, arguments)?).await
}

/// The arguments of a request about the order in the path.
fn about(Id(id): Id, mut arguments: Object) -> Result<Object, Problem> {
    if arguments.contains("id") {
        return Err(Problem::new(Code::BadRequest, "`id` stands in the path, not in the body"));
    }
    arguments.insert("id", id);
    Ok(arguments)
}

fn check_may_change(app: &App) -> Result<(), Problem> {
    match app.access {
        Access::Full => Ok(()),
        Access::ReadOnly => Err(Problem::new(Code::Forbidden, "this server is read-only")),
    }
}

async fn run(app: &App, principal: &Principal, once: &Once, name: &str, arguments: Object) -> Result<Value, Problem> {
    check_may_change(app)?;
    let command = Command::parse(name, arguments)?;
    app.run(principal, heart::Command::Work(command), once.0.as_deref()).await
}

/// Percent-encodes whatever may not stand in one segment of a path (RFC 3986 §3.3).
fn encoded(id: &str) -> String {
    let segment = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
        other => format!("%{other:02X}"),
    };
    id.bytes().map(segment).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_encoded_for_paths() {
        assert_eq!(encoded("wo_1-2.3~"), "wo_1-2.3~");
        assert_eq!(encoded("a/b c%é"), "a%2Fb%20c%25%C3%A9");
    }
}
