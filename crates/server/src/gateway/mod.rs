//! The gateways of orders, at `/gateway/{order}/mcp`: what `bailiwick gateway` is on standard input and output, for workers
//! elsewhere (`spec work-orders §15`).
//!
//! An order's worker, and nobody else, reaches the order's tools here. One gateway serves all of the worker's connections, so
//! the servers behind it are started once for an order; when nobody has used it for a while, it ends and they with it.

mod exchange;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::extract::{Request, State};
use axum::http::{HeaderValue, Method, header};
use axum::response::{IntoResponse, Response};
use bailiwick_core::heart;
use bailiwick_core::json::{self, Object, Value};
use bailiwick_core::principal::Principal;
use bailiwick_core::work::{Query, quoted};
use bailiwick_gateway::{Gateway, GatewayError, LocalDesk, Options, Session, Upstreams};

use self::exchange::Reader;
use crate::admission::Ticket;
use crate::app::App;
use crate::body;
use crate::input::Id;
use crate::mcp::unreadable;
use crate::problem::{Code, Problem};

/// How many gateways run at once.
const MOST_OPEN: usize = 64;
/// How long a gateway that nobody uses goes on.
const IDLE_TIME: Duration = Duration::from_secs(600);
/// How often that is looked after.
const TIDY: Duration = Duration::from_secs(60);

/// Which servers stand behind the gateways, and how these behave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gatekeeping {
    /// The servers
    pub upstreams: Upstreams,
    /// How gateways behave
    pub options: Options,
}

/// The gateways that run.
pub(crate) struct Gateways {
    app: Arc<App>,
    gatekeeping: Gatekeeping,
    open: Mutex<HashMap<String, Opened>>,
    /// Held while one is opened, so that no order gets two
    opening: tokio::sync::Mutex<()>,
}

/// A gateway that runs.
#[derive(Clone)]
struct Opened {
    gateway: Gateway,
    worker: Arc<str>,
    used: Instant,
}

impl Gateways {
    pub(crate) fn new(app: Arc<App>, gatekeeping: Gatekeeping) -> Self {
        Self { app, gatekeeping, open: Mutex::default(), opening: tokio::sync::Mutex::default() }
    }

    /// Ends gateways that nobody uses, for as long as the server runs.
    pub(crate) async fn tidy(self: Arc<Self>) {
        let mut ticks = tokio::time::interval(TIDY);
        loop {
            ticks.tick().await;
            for opened in self.take(|opened| opened.used.elapsed() >= IDLE_TIME) {
                opened.gateway.settle().await;
            }
        }
    }

    /// Ends all of them, once the outcome of every call is noted.
    pub(crate) async fn finish(&self) {
        for opened in self.take(|_| true) {
            opened.gateway.settle().await;
        }
    }

    fn take(&self, which: impl Fn(&Opened) -> bool) -> Vec<Opened> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.extract_if(|_, opened| which(opened)).map(|(_, opened)| opened).collect()
    }

    /// The gateway of an order that runs.
    fn running(&self, order: &str) -> Option<Opened> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let opened = open.get_mut(order)?;
        opened.used = Instant::now();
        Some(opened.clone())
    }

    /// The gateway of an order, for the order's worker.
    async fn of(&self, order: &str, principal: &Principal) -> Result<Opened, Problem> {
        let opened = match self.running(order) {
            Some(opened) => opened,
            None => {
                let _opening = self.opening.lock().await;
                match self.running(order) {
                    Some(opened) => opened,
                    None => self.open(order, principal).await?,
                }
            }
        };
        match *opened.worker == principal.id {
            true => Ok(opened),
            false => {
                Err(Problem::new(Code::Forbidden, format!("the tools of order {} are for its worker", quoted(order))))
            }
        }
    }

    async fn open(&self, order: &str, principal: &Principal) -> Result<Opened, Problem> {
        // Asked by whoever wants in, so that nobody learns of an order that they may not read, and none is opened for a stranger.
        let query = heart::Query::Work(Query::parse("get", Object::new().with("id", order))?);
        let view = self.app.ask(principal, query).await?;
        if view.get("to").and_then(Value::as_str) != Some(&principal.id) {
            return Err(Problem::new(
                Code::Forbidden,
                format!("the tools of order {} are for its worker", quoted(order)),
            ));
        }
        self.make_room()?;
        let authority = LocalDesk::new(self.app.desk.clone(), Principal::gateway(), order);
        let Gatekeeping { upstreams, options } = &self.gatekeeping;
        let opening = Gateway::open(Arc::new(authority), upstreams, options.clone());
        let gateway = self.app.in_time(opening, "").await?.map_err(|error| match error {
            GatewayError::Order(why) => Problem::new(Code::Unavailable, why),
            other => Problem::new(Code::Internal, other.to_string()),
        })?;
        let opened = Opened { gateway, worker: principal.id.as_str().into(), used: Instant::now() };
        self.open.lock().unwrap_or_else(PoisonError::into_inner).insert(order.to_owned(), opened.clone());
        Ok(opened)
    }

    /// The gateway that was used longest ago makes room, unless it is at work.
    fn make_room(&self) -> Result<(), Problem> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.len() < MOST_OPEN {
            return Ok(());
        }
        let oldest =
            open.iter().filter(|(_, opened)| opened.used.elapsed() >= TIDY).min_by_key(|(_, opened)| opened.used);
        let Some(order) = oldest.map(|(order, _)| order.clone()) else {
            return Err(Problem::new(
                Code::Unavailable,
                format!("{MOST_OPEN} gateways are at work, try again shortly"),
            ));
        };
        if let Some(opened) = open.remove(&order) {
            tokio::spawn(async move { opened.gateway.settle().await });
        }
        Ok(())
    }

    async fn answer(self: &Arc<Self>, order: &str, ticket: &Ticket, request: Request) -> Result<Response, Problem> {
        let Some(principal) = request.extensions().get::<Principal>().cloned() else {
            let nobody = "nobody acts; in open mode the header `X-Bailiwick-Actor` must name who does";
            return Err(Problem::new(Code::Unauthenticated, nobody));
        };
        let opened = self.of(order, &principal).await?;
        let (parts, body) = request.into_parts();
        body::check_is_json(&parts.headers)?;
        let text = body::read(&parts.headers, body, &self.app.limits).await?;
        if let Err(error) = json::parse(&text, &json::Limits::DOCUMENT) {
            return Ok(unreadable(&error));
        }
        // A call takes as long as the server behind it; that is bounded there.
        let waiting = ticket.wait(&self.app)?;
        let session = Session::of_requests(opened.gateway);
        exchange::answer(&self.app, session, Reader { principal, request: parts }, &text, waiting).await
    }
}

/// Answers whatever is sent to `/gateway/{order}/mcp`.
pub(crate) async fn handle(
    State(gateways): State<Arc<Gateways>>,
    Id(order): Id,
    ticket: Ticket,
    request: Request,
) -> Response {
    if request.method() != Method::POST {
        let mut response = Problem::new(Code::MethodNotAllowed, "a gateway takes POST only").into_response();
        response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("POST"));
        return response;
    }
    gateways.answer(&order, &ticket, request).await.into_response()
}
