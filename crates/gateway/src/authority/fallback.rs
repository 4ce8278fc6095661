//! The desk while it can be asked, and passes while it can't.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bailiwick_core::json::Object;
use bailiwick_core::work::Totals;

use super::alone::NOTE;
use super::{Answer, AskedCall, Authority, Begun, Failure, Place, Terms, WithPass};

/// How long a desk that could not be asked is left alone, so that not every call waits for it.
const PAUSE: Duration = Duration::from_secs(5);

/// Asks the desk; while that can't be asked, goes by passes. A desk that is back is asked again.
pub struct Fallback {
    desk: Box<dyn Authority>,
    alone: WithPass,
    /// While the desk is away: when to ask it again, and why it was not to be asked
    away: Mutex<Option<(Instant, String)>>,
    seen: Mutex<Seen>,
}

/// What the desk was seen to count.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    /// The highest number that it gave out
    last_n: u64,
    /// What the calls of this gateway cost
    cost: Totals,
}

impl Fallback {
    /// A desk, and what to do without it.
    pub fn new(desk: Box<dyn Authority>, alone: WithPass) -> Self {
        Self { desk, alone, away: Mutex::new(None), seen: Mutex::default() }
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Why the desk is not asked just now.
    fn away(&self) -> Option<Failure> {
        let away = self.away.lock().unwrap_or_else(PoisonError::into_inner);
        away.as_ref().filter(|(until, _)| Instant::now() < *until).map(|(_, why)| Failure::Unreachable(why.clone()))
    }

    /// Takes note of whether the desk answered, and says so when that has changed.
    async fn note<T>(&self, answer: &Result<T, Failure>) {
        let was_away = {
            let mut away = self.away.lock().unwrap_or_else(PoisonError::into_inner);
            match answer {
                Err(Failure::Unreachable(why)) => away.replace((Instant::now() + PAUSE, why.clone())),
                _ => away.take(),
            }
            .is_some()
        };
        match answer {
            Err(Failure::Unreachable(why)) if !was_away => {
                tracing::warn!(%why, "{NOTE}");
                let Seen { last_n, cost } = *self.seen();
                if let Err(failure) = self.alone.learn(last_n, cost).await {
                    tracing::warn!(?failure, "what the desk counted was not noted");
                }
            }
            Err(Failure::Unreachable(_)) => {}
            _ if was_away => tracing::warn!("the desk is asked again"),
            _ => {}
        }
    }

    /// The desk's answer; a failure if it is away.
    async fn ask<T>(&self, asked: impl AsyncFnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
        if let Some(away) = self.away() {
            return Err(away);
        }
        let answer = asked().await;
        self.note(&answer).await;
        answer
    }
}

impl Authority for Fallback {
    fn terms(&self) -> Answer<'_, Option<Terms>> {
        Box::pin(async {
            match self.ask(async || self.desk.terms().await).await {
                Err(Failure::Unreachable(_)) => self.alone.terms().await,
                answer => answer,
            }
        })
    }

    fn order(&self) -> Answer<'_> {
        self.desk.order()
    }

    fn status(&self) -> Answer<'_> {
        Box::pin(async {
            match self.ask(async || self.desk.status().await).await {
                Err(Failure::Unreachable(_)) => self.alone.status().await,
                answer => answer,
            }
        })
    }

    fn begin_call<'a>(&'a self, call: &'a AskedCall) -> Answer<'a, Begun> {
        Box::pin(async move {
            match self.ask(async || self.desk.begin_call(call).await).await {
                Err(Failure::Unreachable(_)) => self.alone.begin_call(call).await,
                Ok(begun) => {
                    let mut seen = self.seen();
                    seen.last_n = begun.n.max(seen.last_n);
                    drop(seen);
                    Ok(begun)
                }
                refused => refused,
            }
        })
    }

    fn finish_call(&self, place: Place, outcome: Object) -> Answer<'_, ()> {
        match place {
            Place::Desk => {
                self.seen().cost.add_all(outcome.get("cost"));
                self.desk.finish_call(place, outcome)
            }
            Place::Record => self.alone.finish_call(place, outcome),
        }
    }

    fn effect(&self, name: &'static str, arguments: Object) -> Answer<'_> {
        self.desk.effect(name, arguments)
    }
}
