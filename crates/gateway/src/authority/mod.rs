//! Who answers for an order: the port through which a gateway asks, and whoever stands behind it.

mod alone;
mod fallback;
mod local;
mod remote;
mod watched;

use std::future::Future;
use std::pin::Pin;

use bailiwick_core::heart::Refusal;
use bailiwick_core::json::{Object, Value};
use bailiwick_core::work::{ToolSet, effect_references};

pub use alone::{AloneError, AloneOptions, PassSource, WithPass};
pub use fallback::Fallback;
pub use local::LocalDesk;
pub use remote::{RemoteDesk, RemoteError};

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Failure {
    /// The answer is no
    Refused(Refusal),
    /// Whoever answers for the order cannot be reached; says why
    Unreachable(String),
}

/// What is asked, boxed so that a gateway can hold any authority.
pub type Answer<'a, T = Value> = Pin<Box<dyn Future<Output = Result<T, Failure>> + Send + 'a>>;

/// Answers for one order: may a call be made, may an effect be carried out (`bailiwick_core::work::gateway`).
pub trait Authority: Send + Sync {
    /// What the order allows; `None` while that is not known, because it comes with each call.
    fn terms(&self) -> Answer<'_, Option<Terms>>;

    /// The order with its history.
    fn order(&self) -> Answer<'_>;

    /// What was spent, what is left, what is held.
    fn status(&self) -> Answer<'_>;

    /// May this call be made? What was answered is durable.
    fn begin_call<'a>(&'a self, call: &'a AskedCall) -> Answer<'a, Begun>;

    /// How a call went that was begun at `place`: `{n, outcome, cost?, error?}`.
    fn finish_call(&self, place: Place, outcome: Object) -> Answer<'_, ()>;

    /// Claims an effect, or says how it went: `begin_effect` or `finish_effect` and its arguments without `id`.
    fn effect(&self, name: &'static str, arguments: Object) -> Answer<'_>;
}

/// What an order allows.
#[derive(Debug, Clone, PartialEq)]
pub struct Terms {
    /// Who does the work
    pub worker: String,
    /// `tools`: patterns
    pub tools: Value,
    /// `staged`: patterns
    pub staged: Value,
}

impl Terms {
    /// Of an order document, or of the claims of a pass: `worker` stands under another name there.
    pub(crate) fn of(document: &Value, worker: &str) -> Self {
        let member = |name| document.get(name).cloned().unwrap_or(Value::Array(Vec::new()));
        let worker = document.get(worker).and_then(Value::as_str).unwrap_or_default().to_owned();
        Self { worker, tools: member("tools"), staged: member("staged") }
    }

    pub(crate) fn allows(&self, tool: &str) -> bool {
        ToolSet::of(Some(&self.tools)).allows(tool)
    }

    pub(crate) fn stages(&self, tool: &str) -> bool {
        ToolSet::of(Some(&self.staged)).allows(tool)
    }
}

/// A call that the agent wants to make.
#[derive(Debug, Clone, PartialEq)]
pub struct AskedCall {
    /// `server/tool`
    pub tool: String,
    /// Its arguments
    pub arguments: Value,
    /// The pass that came with it
    pub pass: Option<String>,
    /// The proof that the pass is shown by its holder
    pub proof: Option<String>,
}

/// A call that may be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Begun {
    /// Its number
    pub n: u64,
    /// `server/tool#n`
    pub reference: String,
    /// Whether it is held rather than forwarded
    pub staged: bool,
    /// Where it is counted
    pub place: Place,
}

/// Where a call is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// At the order's desk
    Desk,
    /// In this gateway's own record
    Record,
}

/// The arguments of `begin_call` at a desk.
fn to_arguments(call: &AskedCall, terms: &Terms) -> Object {
    let asked = Object::new().with("tool", &call.tool);
    if terms.stages(&call.tool) {
        return asked.with("arguments", call.arguments.clone());
    }
    let names: Vec<Value> =
        effect_references(&call.arguments).into_iter().map(|reference| reference.effect.into()).collect();
    if names.is_empty() { asked } else { asked.with("references", names) }
}

/// Reads a desk's answer to `begin_call`.
fn to_begun(answer: &Value) -> Result<Begun, Failure> {
    let read = || {
        Some(Begun {
            n: answer.get("n")?.as_number()?.to_u64()?,
            reference: answer.get("ref")?.as_str()?.to_owned(),
            staged: answer.get("staged")?.as_bool()?,
            place: Place::Desk,
        })
    };
    read().ok_or_else(|| Failure::Unreachable("its answer is not one of a desk".into()))
}
