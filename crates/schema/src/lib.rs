//! The JSON Schema engine behind [`bailiwick_core::work::OutputSchemas`]: rules O4 and R11.
//!
//! JSON Schema 2020-12 and no other dialect, formats asserted, ECMAScript regular expressions. It reads nothing but
//! what it is given: no network, no files, remote references lead nowhere (`spec work-orders §6.4`).
//!
//! A schema comes from one party and judges another's output, so no schema may hang or crash whoever evaluates it:
//! work and nesting are limited, and what could not be judged within the limits is refused.
//!
//! - [`Engine`]: what to pass to the checks of `core`
//! - [`Schema`]: a compiled schema, to evaluate more than once
//! - [`WORK_ORDER`], [`WORK_REPORT`], [`EVENT`], [`JOURNAL_ENTRY`], [`JOURNAL_EXPORT`], [`PASS`], [`PASS_PROOF`],
//!   [`PASS_REVOCATIONS`]: the published schemas of the documents themselves

mod compile;
mod evaluate;
mod format;
mod keyword;
mod meta;
mod pattern;
mod published;
mod uri;

use bailiwick_core::json::Value;
use bailiwick_core::work::{Checked, OutputFault, OutputSchemas};

pub use compile::SchemaError;
pub use published::{
    EVENT, JOURNAL_ENTRY, JOURNAL_EXPORT, PASS, PASS_PROOF, PASS_REVOCATIONS, WORK_ORDER, WORK_REPORT,
};

/// A compiled schema.
#[derive(Debug)]
pub struct Schema(compile::Compiled);

impl Schema {
    /// Compiles a schema.
    ///
    /// # Errors
    ///
    /// When it is not a usable JSON Schema 2020-12: it breaks the meta-schema, names another dialect, holds a
    /// malformed regular expression or a reference that leads nowhere.
    pub fn compile(schema: &Value) -> Result<Self, SchemaError> {
        compile::compile(schema).map(Self)
    }

    /// Every way in which a value does not fit, and none when it fits.
    ///
    /// `None` is an absent value. It is neither null nor anything else: every constraint on type fails, every keyword
    /// that only applies to some type is satisfied.
    pub fn check(&self, value: Option<&Value>) -> Vec<OutputFault> {
        evaluate::evaluate(&self.0, value)
    }
}

/// The engine, for the checks of `core`. Compiling a schema takes less time than looking it up in a cache would, so it
/// keeps nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Engine;

impl OutputSchemas for Engine {
    fn check_schema(&self, schema: &Value) -> Checked<Option<String>> {
        Checked::Evaluated(Schema::compile(schema).err().map(|error| error.to_string()))
    }

    fn check_output(&self, schema: &Value, output: Option<&Value>) -> Checked<Vec<OutputFault>> {
        Checked::Evaluated(match Schema::compile(schema) {
            Ok(schema) => schema.check(output),
            Err(error) => {
                let message = format!("the output schema is not usable: {error}");
                vec![OutputFault { pointer: String::new(), message }]
            }
        })
    }
}
