//! What every page shares: the session, the stream of events, the messages, the clock.

use bailiwick_core::json::{Object, Value};
use bailiwick_core::time::Millis;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::api::{self, ApiError};
use crate::clock;
use crate::live::Live;
use crate::notices::Notices;
use crate::session::{Access, Caller, Session};

/// The desk, as seen from this page.
#[derive(Clone, Copy)]
pub(crate) struct Desk {
    /// Who is signed in
    pub(crate) session: RwSignal<Session>,
    /// The journal as it grows
    pub(crate) live: Live,
    /// Messages at the edge of the page
    pub(crate) notices: Notices,
    /// The time, moving on by itself
    pub(crate) now: ReadSignal<Millis>,
    /// How many things wait for the caller, once that is known
    pub(crate) waiting: RwSignal<Option<u64>>,
}

impl Desk {
    /// Makes it available to the whole page.
    pub(crate) fn provide() -> Self {
        let desk = Self {
            session: RwSignal::new(Session::Asking),
            live: Live::new(),
            notices: Notices::new(),
            now: clock::ticking(),
            waiting: RwSignal::new(None),
        };
        provide_context(desk);
        desk
    }

    /// The one that [`Desk::provide`] made.
    pub(crate) fn here() -> Self {
        use_context().unwrap_or_else(Self::provide)
    }

    /// Asks who is signed in, and follows the journal if somebody is.
    pub(crate) fn ask_session(self) {
        spawn_local(async move {
            let session = match api::get("session").await {
                Ok(answer) => Caller::read(&answer).map_or(Session::Unknown, Session::SignedIn),
                Err(error) if error.is_signed_out() => Session::SignedOut,
                Err(_) => Session::Unknown,
            };
            if matches!(session, Session::SignedIn(_)) {
                self.live.connect(self);
            }
            self.session.set(session);
        });
    }

    /// Forgets whoever was signed in, with everything that was shown to them.
    pub(crate) fn forget(self) {
        self.live.close();
        self.waiting.set(None);
        self.session.set(Session::SignedOut);
    }

    /// Signs out.
    pub(crate) fn sign_out(self) {
        spawn_local(async move {
            match api::delete("session").await {
                Ok(_) => self.forget(),
                Err(error) if error.is_signed_out() => self.forget(),
                Err(error) => self.notices.say(format!("Not signed out. {}.", error.sentence())),
            }
        });
    }

    /// Reads something; a session that has ended is noticed.
    pub(crate) async fn get(self, path: &str) -> Result<Value, ApiError> {
        self.noticing(api::get(path).await)
    }

    /// Sends a command; a session that has ended is noticed.
    pub(crate) async fn post(self, path: &str, body: &Object, key: &str) -> Result<Value, ApiError> {
        self.noticing(api::post(path, body, key).await)
    }

    fn noticing(self, answer: Result<Value, ApiError>) -> Result<Value, ApiError> {
        if answer.as_ref().is_err_and(ApiError::is_signed_out) {
            self.forget();
        }
        answer
    }

    /// The id of whoever is signed in; empty for nobody.
    pub(crate) fn caller_id(self) -> String {
        self.session.with(|session| session.caller().map(|caller| caller.id.clone()).unwrap_or_default())
    }

    /// Whether whoever is signed in may decide here.
    pub(crate) fn may_act(self) -> bool {
        self.session.with(|session| session.caller().is_some_and(|caller| caller.access == Access::Full))
    }
}
