//! What every part of a server shares.

use std::sync::Arc;

use bailiwick_core::heart::{self, Configuration, Document, Key};
use bailiwick_core::json::Value;
use bailiwick_core::principal::{Established, Principal};
use bailiwick_core::work::Reads;
use bailiwick_desk::{Desk, Failure};
use bailiwick_mcp::Access;
use tokio_util::sync::CancellationToken;

use crate::admission::Admission;
use crate::metrics::Metrics;
use crate::origin::Origins;
use crate::presence::Presence;
use crate::problem::{Code, Problem};
use crate::session::Cookie;
use crate::watch::RequestIds;
use crate::{Auth, Limits};

/// What every part of a server shares.
pub(crate) struct App {
    pub(crate) desk: Desk,
    pub(crate) auth: Auth,
    pub(crate) access: Access,
    pub(crate) auditors: Vec<String>,
    pub(crate) limits: Limits,
    pub(crate) origins: Origins,
    pub(crate) cookie: Cookie,
    pub(crate) admission: Admission,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) presence: Presence,
    pub(crate) request_ids: RequestIds,
    /// Whether the numbers of `/metrics` are for whoever has a key only
    pub(crate) exposure: Exposure,
    /// Cancelled when the server is asked to stop
    pub(crate) stopping: CancellationToken,
}

/// What a client should know whose command took too long.
const UNSETTLED: &str =
    ", and whether the command took effect is not known; repeat it with the same `Idempotency-Key`, or look first";

/// Who can reach the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exposure {
    /// Programs on the same machine
    Loopback,
    /// Others, too
    Network,
}

impl App {
    /// Runs a command, once only if the client gave it a key, and counts it.
    pub(crate) async fn run(
        &self,
        principal: &Principal,
        command: heart::Command,
        key: Option<&str>,
    ) -> Result<Value, Problem> {
        let name = command.name();
        let run = async {
            match key {
                Some(key) => self.desk.run_once(principal, command, key).await,
                None => self.desk.run(principal, command).await,
            }
        };
        let answer = self.in_time(run, UNSETTLED).await.and_then(|answer| answer.map_err(Problem::from));
        let outcome = answer.as_ref().map_or_else(|problem| problem.code().name(), |_| "ok");
        self.metrics.commanded("rest", name, outcome);
        answer
    }

    /// Makes a credential, and counts it.
    pub(crate) async fn mint(&self, principal: &Principal, credential: &heart::Credential) -> Result<Value, Problem> {
        let minted = self.within(self.desk.mint(principal, credential)).await;
        let outcome = minted.as_ref().map_or_else(|problem| problem.code().name(), |_| "ok");
        self.metrics.commanded("rest", "work.pass", outcome);
        minted
    }

    /// Answers a query.
    pub(crate) async fn ask(&self, principal: &Principal, query: heart::Query) -> Result<Value, Problem> {
        self.within(self.desk.ask(principal, query)).await
    }

    /// Waits for an answer of the desk, not without end.
    pub(crate) async fn within<T, E: Into<Failure>>(
        &self,
        answer: impl Future<Output = Result<T, E>>,
    ) -> Result<T, Problem> {
        self.in_time(answer, "").await?.map_err(|failure| failure.into().into())
    }

    /// Waits for an answer as long as one may take; `then` is added to the detail if it took longer.
    pub(crate) async fn in_time<T>(&self, answer: impl Future<Output = T>, then: &str) -> Result<T, Problem> {
        let time = self.limits.answer_time;
        let late = |_| Problem::new(Code::Unavailable, format!("no answer within {} s{then}", time.as_secs()));
        tokio::time::timeout(time, answer).await.map_err(late)
    }

    /// Refuses whoever may not read the journal. It tells of every order, so while `work.restrict_reads` keeps
    /// orders to their parties, it is for auditors only, and for whoever signed in: an operator.
    pub(crate) async fn check_reads_journal(&self, principal: &Principal) -> Result<(), Problem> {
        let is_operator = principal.established == Established::SignIn;
        if is_operator || self.auditors.contains(&principal.id) || self.reads().await? == Reads::Everyone {
            return Ok(());
        }
        Err(Problem::new(
            Code::Forbidden,
            "while `work.restrict_reads` is set, the journal is for `server.auditors` only",
        ))
    }

    /// Who may read orders, by the configuration in force.
    async fn reads(&self) -> Result<Reads, Problem> {
        let key = [Key { kind: Configuration::KIND.into(), id: Configuration::CURRENT.into() }];
        let stored = self
            .within(async {
                let mut snapshot = self.desk.store().snapshot().await?;
                snapshot.documents(self.desk.workspace(), &key).await
            })
            .await?;
        let Some(stored) = stored.into_iter().flatten().next() else { return Ok(Reads::default()) };
        // One that can't be read restricts: it may say so.
        Ok(stored.read::<Configuration>().map_or(Reads::Parties, |configuration| configuration.sections.work.reads))
    }
}
