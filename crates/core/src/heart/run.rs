//! One turn of the machine.

use alloc::vec::Vec;

use super::{Change, Command, Configuration, Context, Draft, Fact, Query, Refusal, View, ViewError, capability};
use crate::json::Value;

/// What a command leads to.
#[derive(Debug, Clone)]
pub struct Outcome<F = Fact> {
    /// What followed; stands whatever the reply is
    pub facts: Vec<F>,
    /// The answer
    pub reply: Result<Value, Refusal>,
}

impl<F> Outcome<F> {
    /// An answer with what followed from the command.
    pub fn accept(facts: Vec<F>, reply: impl Into<Value>) -> Self {
        Self { facts, reply: Ok(reply.into()) }
    }

    /// A refusal from which nothing follows.
    pub fn refuse(refusal: Refusal) -> Self {
        Self { facts: Vec::new(), reply: Err(refusal) }
    }

    /// The outcome of one capability as one of the machine.
    pub(super) fn of(self, fact: impl Fn(F) -> Fact) -> Outcome {
        Outcome { facts: self.facts.into_iter().map(fact).collect(), reply: self.reply }
    }
}

impl<F> From<Refusal> for Outcome<F> {
    fn from(refusal: Refusal) -> Self {
        Self::refuse(refusal)
    }
}

/// A decided command: its outcome, the configuration it was decided under, and what to store.
#[derive(Debug, Clone)]
pub struct Step {
    /// The outcome
    pub outcome: Outcome,
    /// The digest of the configuration in force
    pub configuration: alloc::string::String,
    /// What the facts change
    pub changes: Vec<Change>,
}

/// Decides a command and applies what follows.
///
/// # Errors
///
/// [`ViewError::NotLoaded`] names what to load before calling again.
pub fn run(view: &View, command: &Command, context: &Context<'_>) -> Result<Step, ViewError> {
    let configuration = Configuration::in_force(view)?;
    let outcome = capability::decide(view, command, context, &configuration)?;
    let mut draft = Draft::new(view);
    for fact in &outcome.facts {
        capability::apply(&mut draft, fact)?;
    }
    Ok(Step { outcome, configuration: configuration.digest(), changes: draft.into_changes() })
}

/// Answers a query.
///
/// # Errors
///
/// [`ViewError::NotLoaded`] names what to load before calling again.
pub fn ask(view: &View, query: &Query, context: &Context<'_>) -> Result<Result<Value, Refusal>, ViewError> {
    let configuration = Configuration::in_force(view)?;
    capability::answer(view, query, context, &configuration)
}
