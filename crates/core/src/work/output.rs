//! Where JSON Schema comes in: an order's `output_schema` and a report's output (`spec work-orders §6.4`).
//!
//! This crate holds no schema engine; that would cost every user of the small wasm build more than all other
//! rules together. Whoever has an engine passes it in as [`OutputSchemas`]; whoever has none passes [`NoEngine`],
//! and the validation then says that O4 and R11 were skipped.

use alloc::string::String;
use alloc::vec::Vec;

use crate::json::Value;

/// A JSON Schema 2020-12 engine, formats asserted, that never fetches anything.
pub trait OutputSchemas: Sync {
    /// O4: is this schema usable? `Some` fault when it is not.
    fn check_schema(&self, schema: &Value) -> Checked<Option<String>>;

    /// R11: does the output fit the schema? An absent output (`None`) is neither null nor anything else: every
    /// constraint on type fails, every keyword that only applies to some type is satisfied.
    fn check_output(&self, schema: &Value, output: Option<&Value>) -> Checked<Vec<OutputFault>>;
}

/// The answer of an engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Checked<T> {
    /// The question was looked into.
    Evaluated(T),
    /// There is no engine. The rule is skipped, and the validation says so.
    NotEvaluated,
}

/// One way in which an output does not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputFault {
    /// JSON Pointer (RFC 6901) into the output; its root is the empty string
    pub pointer: String,
    /// What is wrong there
    pub message: String,
}

/// No engine: O4 and R11 are skipped.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoEngine;

impl OutputSchemas for NoEngine {
    fn check_schema(&self, _: &Value) -> Checked<Option<String>> {
        Checked::NotEvaluated
    }

    fn check_output(&self, _: &Value, _: Option<&Value>) -> Checked<Vec<OutputFault>> {
        Checked::NotEvaluated
    }
}
