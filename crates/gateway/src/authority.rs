//! Who answers for an order: the port through which a gateway asks.

use std::future::Future;
use std::pin::Pin;

use bailiwick_core::heart::{Command, Query, Refusal};
use bailiwick_core::json::{Object, Value};
use bailiwick_core::principal::Principal;
use bailiwick_core::work;
use bailiwick_desk::Desk;

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Failure {
    /// The answer is no
    Refused(Refusal),
    /// Whoever answers for the order cannot be reached; says why
    Unreachable(String),
}

/// What is asked, boxed so that a gateway can hold any authority.
pub type Answer<'a> = Pin<Box<dyn Future<Output = Result<Value, Failure>> + Send + 'a>>;

/// Answers for one order: may a call be made, may an effect be carried out (`bailiwick_core::work::gateway`).
pub trait Authority: Send + Sync {
    /// The order with its history.
    fn order(&self) -> Answer<'_>;

    /// What was spent, what is left, what is held.
    fn status(&self) -> Answer<'_>;

    /// Asks for something, by the short name of a command of gateways and its arguments without `id`.
    fn act(&self, name: &'static str, arguments: Object) -> Answer<'_>;
}

/// A desk in the same process.
#[derive(Clone)]
pub struct LocalDesk {
    desk: Desk,
    principal: Principal,
    order: String,
}

impl LocalDesk {
    /// A desk, asked by a gateway about an order.
    pub fn new(desk: Desk, principal: Principal, order: impl Into<String>) -> Self {
        Self { desk, principal, order: order.into() }
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

impl Authority for LocalDesk {
    fn order(&self) -> Answer<'_> {
        Box::pin(self.ask("get"))
    }

    fn status(&self) -> Answer<'_> {
        Box::pin(self.ask("gateway"))
    }

    fn act(&self, name: &'static str, arguments: Object) -> Answer<'_> {
        Box::pin(self.run(name, arguments))
    }
}
