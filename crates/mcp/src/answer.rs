//! What a call is answered (`spec work-orders §14.1`): the same JSON as text and as structured content.

use bailiwick_core::json::{Value, write_pretty};
use bailiwick_desk::Failure;
use rmcp::model::{CallToolResult, ContentBlock};

use crate::wire::to_wire;

/// The answer to a call that succeeded.
pub(crate) struct Answer {
    /// Text items, the first of them JSON
    texts: Vec<String>,
    structured: Value,
}

impl Answer {
    /// An answer with an object, which is its text as well.
    pub(crate) fn of(object: Value) -> Self {
        Self { texts: vec![write_pretty(&object)], structured: object }
    }

    /// An answer whose text shows less than its structured content: the older wire takes objects only, where a
    /// specification may want an array as text.
    pub(crate) fn showing(shown: &Value, structured: Value) -> Self {
        Self { texts: vec![write_pretty(shown)], structured }
    }

    /// Adds a sentence for the reader.
    #[must_use]
    pub(crate) fn noting(mut self, note: Option<String>) -> Self {
        self.texts.extend(note);
        self
    }

    pub(crate) fn into_result(self) -> CallToolResult {
        let mut result = CallToolResult::success(self.texts.into_iter().map(ContentBlock::text).collect());
        result.structured_content = Some(to_wire(self.structured));
        result
    }
}

/// The answer to a call that was refused or failed: the error object as text.
pub(crate) fn error_result(failure: &Failure) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(write_pretty(&failure.to_value()))])
}
