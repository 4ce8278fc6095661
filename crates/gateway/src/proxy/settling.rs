//! Noting how calls went, in their order, after the agent has its answer.

use std::sync::{Arc, Mutex, PoisonError};

use bailiwick_core::json::{Object, Value};
use tokio::sync::mpsc;
use tokio_util::task::TaskTracker;

use super::COST;
use crate::authority::{Authority, Begun, Failure, Place};
use crate::message::to_core;

/// The most characters of an error that are noted.
const MOST_ERROR: usize = 1_000;

/// Takes outcomes and notes them one after the other.
pub(super) struct Settling {
    outcomes: Mutex<Option<mpsc::UnboundedSender<(Place, Object)>>>,
}

/// A call of which it is not noted yet how it went. Dropped, it failed: whoever waited for it is gone.
pub(super) struct Unsettled<'a> {
    settling: &'a Settling,
    n: u64,
    place: Place,
    is_settled: bool,
}

impl Settling {
    /// Begins to note. It ends when it was closed and everything is noted.
    pub(super) fn start(authority: Arc<dyn Authority>, tasks: &TaskTracker) -> Self {
        // Each call that begins waits for a durable answer first, so there are never more of these than calls under way.
        let (outcomes, mut queue) = mpsc::unbounded_channel::<(Place, Object)>();
        tasks.spawn(async move {
            while let Some((place, outcome)) = queue.recv().await {
                match authority.finish_call(place, outcome).await {
                    Ok(()) => {}
                    Err(Failure::Refused(refusal)) => {
                        tracing::warn!(code = refusal.code, message = refusal.message, "an outcome was not noted");
                    }
                    // It counts as spent either way.
                    Err(Failure::Unreachable(why)) => tracing::warn!(why, "an outcome could not be noted"),
                }
            }
        });
        Self { outcomes: Mutex::new(Some(outcomes)) }
    }

    /// Takes nothing more.
    pub(super) fn close(&self) {
        self.outcomes.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// A call that is about to be forwarded.
    pub(super) const fn unsettled(&self, begun: &Begun) -> Unsettled<'_> {
        Unsettled { settling: self, n: begun.n, place: begun.place, is_settled: false }
    }

    fn note(&self, place: Place, outcome: Object) {
        if let Some(outcomes) = &*self.outcomes.lock().unwrap_or_else(PoisonError::into_inner) {
            let _ = outcomes.send((place, outcome));
        }
    }
}

impl Unsettled<'_> {
    /// The server answered; a result may say that the tool failed, and what it cost.
    pub(super) fn done(self, result: &serde_json::Value) {
        let cost = result.get("_meta").and_then(|meta| meta.get(COST)).and_then(|cost| to_core(cost).ok());
        let (outcome, error) = match result.get("isError") {
            Some(serde_json::Value::Bool(true)) => ("failed", Some("the tool answered with an error")),
            _ => ("done", None),
        };
        self.settle(outcome, cost.filter(|cost| cost.as_object().is_some()), error);
    }

    /// There was no answer, or an error.
    pub(super) fn failed(self, why: &str) {
        self.settle("failed", None, Some(why));
    }

    /// The call was never forwarded.
    pub(super) fn returned(self, why: &str) {
        self.settle("returned", None, Some(why));
    }

    fn settle(mut self, outcome: &str, cost: Option<Value>, error: Option<&str>) {
        self.is_settled = true;
        let error = error.map(|error| error.chars().take(MOST_ERROR).collect::<String>());
        let outcome = Object::new().with("n", self.n).with("outcome", outcome);
        let error = error.filter(|error| !error.trim().is_empty());
        self.settling.note(self.place, outcome.with_some("cost", cost).with_some("error", error));
    }
}

impl Drop for Unsettled<'_> {
    fn drop(&mut self) {
        if !self.is_settled {
            let why = "nobody waited for the answer";
            let outcome = Object::new().with("n", self.n).with("outcome", "failed").with("error", why);
            self.settling.note(self.place, outcome);
        }
    }
}
