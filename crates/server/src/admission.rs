//! How much a server takes on at once.
//!
//! Requests being worked on and calls that wait are counted apart: hundreds of agents may wait without standing in
//! the way of those who act. Beyond a limit the answer is 503 at once; nothing queues.

use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::Limits;
use crate::app::App;
use crate::metrics::Lasting;
use crate::problem::{Code, Problem};

/// What is still free.
pub(crate) struct Admission {
    requests: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
}

/// A request's place among those being worked on. Cloning gives another handle on the same place.
#[derive(Clone)]
pub(crate) struct Ticket(Arc<Mutex<Place>>);

enum Place {
    Working {
        _permit: OwnedSemaphorePermit,
    },
    /// It gave up its place, and waits or streams
    Waiting,
}

/// A call's place among those that wait, until it is dropped.
pub(crate) struct Waiting {
    _permit: OwnedSemaphorePermit,
    _counted: Lasting,
}

/// Marks the answer to a request that waited.
#[derive(Clone, Copy)]
pub(crate) struct Waited;

impl Admission {
    pub(crate) fn new(limits: &Limits) -> Self {
        let places = |number: usize| Arc::new(Semaphore::new(number.min(Semaphore::MAX_PERMITS)));
        Self { requests: places(limits.requests), waiting: places(limits.waiting) }
    }
}

impl Ticket {
    /// Gives up the place among the working requests for one among those that wait.
    ///
    /// # Errors
    ///
    /// `UNAVAILABLE` if too many wait already.
    pub(crate) fn wait(&self, app: &App) -> Result<Waiting, Problem> {
        let permit = Arc::clone(&app.admission.waiting).try_acquire_owned().map_err(|_| full("calls waiting"))?;
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Place::Waiting;
        Ok(Waiting { _permit: permit, _counted: app.metrics.waiting() })
    }

    fn waited(&self) -> bool {
        matches!(*self.0.lock().unwrap_or_else(PoisonError::into_inner), Place::Waiting)
    }
}

impl<S: Sync> FromRequestParts<S> for Ticket {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let missing = || Problem::new(Code::Internal, "the request was never admitted");
        parts.extensions.get::<Self>().cloned().ok_or_else(missing)
    }
}

/// Lets a request in if there is room.
pub(crate) async fn admit(State(app): State<Arc<App>>, mut request: Request, next: Next) -> Response {
    let Ok(permit) = Arc::clone(&app.admission.requests).try_acquire_owned() else {
        return full("requests at once").into_response();
    };
    let ticket = Ticket(Arc::new(Mutex::new(Place::Working { _permit: permit })));
    request.extensions_mut().insert(ticket.clone());
    let mut response = next.run(request).await;
    if ticket.waited() {
        response.extensions_mut().insert(Waited);
    }
    response
}

fn full(what: &str) -> Problem {
    Problem::new(Code::Unavailable, format!("too many {what}, try again shortly"))
}
