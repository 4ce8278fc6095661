//! One call of a tool, made ready: who calls, what for, and until when it may take.

use bailiwick_core::heart::{Command, Query, Refusal};
use bailiwick_core::json::{Object, Value};
use bailiwick_desk::{Desk, Failure};
use rmcp::model::{JsonObject, RequestMetaObject};
use tokio_util::sync::CancellationToken;

use crate::arguments::{bad_request, check, take_string};
use crate::identity::Caller;
use crate::wire::to_core;

/// The member of a request's `_meta` that names a command: repeated with the same name, it is not done again and
/// answers the same. A string of 1 to 200 characters, chosen by the client.
pub const IDEMPOTENCY_KEY: &str = "bailiwick/idempotency-key";

/// A call whose arguments have the shape that the tool states.
pub(crate) struct Call {
    pub(crate) desk: Desk,
    pub(crate) caller: Caller,
    pub(crate) arguments: Object,
    pub(crate) stop: Stop,
    key: Option<String>,
}

/// When a call that waits should answer at once.
#[derive(Clone)]
pub(crate) struct Stop {
    /// The client takes its request back
    pub(crate) request: CancellationToken,
    /// The server shuts down
    pub(crate) server: CancellationToken,
}

impl Stop {
    pub(crate) async fn wanted(&self) {
        tokio::select! {
            () = self.request.cancelled() => {}
            () = self.server.cancelled() => {}
        }
    }
}

impl Call {
    /// # Errors
    ///
    /// `BAD_REQUEST` if the arguments or the idempotency key are not of the stated shape.
    pub(crate) fn new(
        desk: Desk,
        caller: Caller,
        arguments: &JsonObject,
        schema: &JsonObject,
        meta: &RequestMetaObject,
        stop: Stop,
    ) -> Result<Self, Refusal> {
        let arguments =
            to_core(arguments).map_err(|error| bad_request(format!("the arguments can't be read: {error}")))?;
        check(&arguments, schema)?;
        Ok(Self { desk, caller, arguments, stop, key: key(meta)? })
    }

    /// Runs a command as whoever `actor` names; once only, if the client gave it a key.
    pub(crate) async fn command(
        &mut self,
        parse: impl FnOnce(Object) -> Result<Command, Refusal>,
    ) -> Result<Value, Failure> {
        let mut arguments = std::mem::take(&mut self.arguments);
        let principal = self.caller.acting(take_string(&mut arguments, "actor"))?;
        let command = parse(arguments)?;
        match &self.key {
            Some(key) => self.desk.run_once(&principal, command, key).await,
            None => self.desk.run(&principal, command).await,
        }
    }

    /// Asks a question.
    pub(crate) async fn query(&self, query: Query) -> Result<Value, Failure> {
        self.desk.ask(&self.caller.reading(), query).await
    }
}

fn key(meta: &RequestMetaObject) -> Result<Option<String>, Refusal> {
    const MOST: usize = 200;
    match meta.get(IDEMPOTENCY_KEY) {
        None => Ok(None),
        Some(serde_json::Value::String(key)) if (1..=MOST).contains(&key.chars().count()) => Ok(Some(key.clone())),
        Some(_) => {
            Err(bad_request(format!("`_meta[\"{IDEMPOTENCY_KEY}\"]` must be a string of 1 to {MOST} characters")))
        }
    }
}
