//! A desk in the same process.

use bailiwick_core::heart::{Command, Query};
use bailiwick_core::json::{Object, Value};
use bailiwick_core::principal::Principal;
use bailiwick_core::work;
use bailiwick_desk::Desk;
use tokio::sync::OnceCell;

use super::{Answer, AskedCall, Authority, Begun, Failure, Place, Terms, to_arguments, to_begun};

/// A desk in the same process.
pub struct LocalDesk {
    desk: Desk,
    principal: Principal,
    order: String,
    // Of an order that was issued they never change.
    terms: OnceCell<Terms>,
}

impl LocalDesk {
    /// A desk, asked by a gateway about an order.
    pub fn new(desk: Desk, principal: Principal, order: impl Into<String>) -> Self {
        Self { desk, principal, order: order.into(), terms: OnceCell::new() }
    }

    async fn ask(&self, name: &str) -> Result<Value, Failure> {
        let query = work::Query::parse(name, Object::new().with("id", &self.order)).map_err(Failure::Refused)?;
        self.desk.ask(&self.principal, Query::Work(query)).await.map_err(failed)
    }

    async fn run(&self, name: &str, arguments: Object) -> Result<Value, Failure> {
        let command = work::Command::parse(name, arguments.with("id", &self.order)).map_err(Failure::Refused)?;
        self.desk.run(&self.principal, Command::Work(command)).await.map_err(failed)
    }
}

fn failed(failure: bailiwick_desk::Failure) -> Failure {
    match failure {
        bailiwick_desk::Failure::Refused(refusal) => Failure::Refused(refusal),
        bailiwick_desk::Failure::Failed(error) => Failure::Unreachable(error.to_string()),
    }
}

impl LocalDesk {
    async fn know_terms(&self) -> Result<&Terms, Failure> {
        self.terms
            .get_or_try_init(|| async {
                let view = self.ask("get").await?;
                Ok(Terms::of(view.get("order").unwrap_or(&Value::Null), "to"))
            })
            .await
    }
}

impl Authority for LocalDesk {
    fn terms(&self) -> Answer<'_, Option<Terms>> {
        Box::pin(async { self.know_terms().await.cloned().map(Some) })
    }

    fn order(&self) -> Answer<'_> {
        Box::pin(self.ask("get"))
    }

    fn status(&self) -> Answer<'_> {
        Box::pin(self.ask("gateway"))
    }

    fn begin_call<'a>(&'a self, call: &'a AskedCall) -> Answer<'a, Begun> {
        Box::pin(async move {
            let arguments = to_arguments(call, self.know_terms().await?);
            to_begun(&self.run("begin_call", arguments).await?)
        })
    }

    fn finish_call(&self, _: Place, outcome: Object) -> Answer<'_, ()> {
        Box::pin(async move { self.run("finish_call", outcome).await.map(|_| ()) })
    }

    fn effect(&self, name: &'static str, arguments: Object) -> Answer<'_> {
        Box::pin(self.run(name, arguments))
    }
}
