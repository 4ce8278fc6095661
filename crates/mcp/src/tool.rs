//! A tool: what a client is told about it, and what it does.

use std::sync::Arc;

use bailiwick_desk::Failure;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};

use crate::answer::Answer;
use crate::call::Call;
use crate::work;

/// A tool that a server offers.
#[derive(Clone)]
pub(crate) struct Entry {
    pub(crate) tool: Tool,
    nature: Nature,
    action: Action,
}

/// What a tool does, by toolset.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Action {
    Work(work::Action),
}

/// What kind of change a tool makes: the four hints follow from it, so that none can be forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nature {
    /// Changes nothing
    Reads,
    /// Adds something; called again, it adds again
    Adds,
    /// Takes a step that is taken once; called again, it changes nothing more
    Steps,
    /// As [`Nature::Steps`], and nothing undoes it
    Ends,
    /// Decides for good; called again later, it decides again
    Decides,
}

impl Nature {
    /// The hints. Every tool keeps to the desk, so the world is never open.
    fn hints(self) -> ToolAnnotations {
        ToolAnnotations::new()
            .read_only(self == Self::Reads)
            .destructive(matches!(self, Self::Ends | Self::Decides))
            .idempotent(matches!(self, Self::Reads | Self::Steps | Self::Ends))
            .open_world(false)
    }
}

/// What a client is told about a tool.
pub(crate) struct Definition {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) description: &'static str,
    pub(crate) nature: Nature,
    pub(crate) input: serde_json::Value,
    pub(crate) output: serde_json::Value,
}

impl Entry {
    pub(crate) fn new(definition: Definition, action: Action) -> Self {
        let Definition { name, title, description, nature, input, output } = definition;
        let mut hints = nature.hints();
        hints.title = Some(title.into());
        let tool = Tool::new(name, description, object(input))
            .with_title(title)
            .with_raw_output_schema(object(output))
            .with_annotations(hints);
        Self { tool, nature, action }
    }

    pub(crate) fn name(&self) -> &str {
        &self.tool.name
    }

    pub(crate) fn only_reads(&self) -> bool {
        self.nature == Nature::Reads
    }

    /// Whether it is of use only at a desk that signs passes.
    pub(crate) fn needs_signer(&self) -> bool {
        match self.action {
            Action::Work(action) => action.needs_signer(),
        }
    }

    pub(crate) async fn run(&self, call: Call) -> Result<Answer, Failure> {
        match self.action {
            Action::Work(action) => work::run(action, call).await,
        }
    }
}

/// A schema, as the protocol library takes it.
fn object(schema: serde_json::Value) -> Arc<JsonObject> {
    match schema {
        serde_json::Value::Object(schema) => Arc::new(schema),
        _ => Arc::default(),
    }
}
