//! What gateways ask, say and are answered.

use serde::Serialize;
use utoipa::ToSchema;

use super::{Amounts, State};

/// An approved effect
#[derive(Serialize, ToSchema)]
pub(crate) struct ApprovedEffect {
    #[schema(example = "mail/send#4")]
    r#ref: String,
    status: EffectStatus,
    /// Since when
    #[schema(nullable = false)]
    at: Option<String>,
    /// Why it failed
    #[schema(nullable = false)]
    error: Option<String>,
    /// How long the result is, as JSON
    #[schema(nullable = false)]
    result_bytes: Option<u64>,
    /// What came out, if that is short
    #[schema(nullable = false)]
    result: Option<serde_json::Value>,
}

/// `started`: it runs, or nobody knows whether it ran
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum EffectStatus {
    Approved,
    Started,
    Done,
    Failed,
}

/// Whether an order's gateways may go on
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Stand {
    Running,
    Paused,
    Stopped,
}

/// Whether an order's gateways may go on, and who said so
#[derive(Serialize, ToSchema)]
pub(crate) struct Standing {
    order_id: String,
    standing: Stand,
    #[schema(nullable = false)]
    reason: Option<String>,
    #[schema(nullable = false)]
    by: Option<String>,
    #[schema(nullable = false, format = DateTime)]
    since: Option<String>,
}

/// How an order's gateways stand
#[derive(Serialize, ToSchema)]
pub(crate) struct Gateway {
    #[serde(flatten)]
    standing: Standing,
    state: State,
    /// How often the work was sent back
    attempt: u64,
    /// The number that the next call gets
    next_n: u64,
    /// How many calls count
    calls: u64,
    spent: Amounts,
    /// The budget, less what sub-orders hold
    limits: Amounts,
    remaining: Amounts,
    tools_used: Vec<String>,
    /// The calls that are held, as a report's `effects` has them
    held: Vec<Held>,
}

/// A held call
#[derive(Serialize, ToSchema)]
pub(crate) struct Held {
    #[schema(example = "mail/send#4")]
    r#ref: String,
    #[schema(example = "mail/send")]
    tool: String,
    arguments: serde_json::Value,
}

/// What an order's gateways should do
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Control {
    standing: Stand,
    #[schema(nullable = false, max_length = 65536)]
    reason: Option<String>,
}

/// Calls, the last first
#[derive(Serialize, ToSchema)]
pub(crate) struct Calls {
    calls: Vec<Call>,
    /// Give this as `before` to read on; null at the first call
    next_before: Option<u64>,
}

/// A call
#[derive(Serialize, ToSchema)]
pub(crate) struct Call {
    /// Its number among all calls of the order, from 1
    n: u64,
    #[schema(example = "mail/send#4")]
    r#ref: String,
    #[schema(example = "mail/send")]
    tool: String,
    #[schema(format = DateTime)]
    at: String,
    #[schema(nullable = false, format = DateTime)]
    finished_at: Option<String>,
    #[schema(example = "gateway")]
    gateway: String,
    staged: bool,
    attempt: u64,
    state: CallState,
    #[schema(nullable = false)]
    cost: Option<Amounts>,
    #[schema(nullable = false)]
    error: Option<String>,
    /// Of a held call
    #[schema(nullable = false)]
    arguments: Option<serde_json::Value>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum CallState {
    Begun,
    Done,
    Failed,
    Returned,
    Held,
    Dropped,
}

/// A call that a gateway is about to forward or hold
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BeginCall {
    #[schema(example = "mail/send")]
    tool: String,
    /// Of a staged tool
    #[schema(nullable = false)]
    arguments: Option<serde_json::Value>,
    /// Of a tool that is not staged: the refs of other calls that its arguments name
    #[schema(nullable = false)]
    references: Option<Vec<String>>,
    /// What to reserve
    #[schema(nullable = false)]
    cost: Option<Cost>,
}

/// Money and tokens
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Cost {
    #[schema(nullable = false, minimum = 0)]
    usd: Option<f64>,
    #[schema(nullable = false, minimum = 0)]
    tokens: Option<f64>,
}

/// A call that may be made
#[derive(Serialize, ToSchema)]
pub(crate) struct CallBegun {
    n: u64,
    #[schema(example = "mail/send#4")]
    r#ref: String,
    /// Hold it; do not forward it
    staged: bool,
    #[schema(format = DateTime)]
    at: String,
    remaining: Amounts,
}

/// How a call went
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FinishCall {
    n: u64,
    outcome: CallOutcome,
    #[schema(nullable = false)]
    cost: Option<Cost>,
    #[schema(nullable = false, max_length = 65536)]
    error: Option<String>,
}

/// `returned`: it was never forwarded
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum CallOutcome {
    Done,
    Failed,
    Returned,
}

/// A call that has ended
#[derive(Serialize, ToSchema)]
pub(crate) struct CallFinished {
    n: u64,
    r#ref: String,
    outcome: CallOutcome,
    /// Whether its units were given back; not there if this was known before
    #[schema(nullable = false)]
    released: Option<bool>,
}

/// An effect that a gateway is about to carry out, by its own record
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BeginEffect {
    #[schema(example = "mail/send#4")]
    r#ref: String,
    #[schema(example = "mail/send")]
    tool: String,
    /// SHA-256 of the arguments in canonical form (RFC 8785)
    #[schema(pattern = "^[0-9a-f]{64}$")]
    arguments_digest: String,
}

/// An effect that was claimed
#[derive(Serialize, ToSchema)]
pub(crate) struct EffectBegun {
    r#ref: String,
    status: EffectStatus,
    #[schema(nullable = false)]
    tool: Option<String>,
    /// What to call the tool with
    #[schema(nullable = false)]
    arguments: Option<serde_json::Value>,
    #[schema(nullable = false)]
    error: Option<String>,
}

/// How an effect went
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FinishEffect {
    #[schema(example = "mail/send#4")]
    r#ref: String,
    outcome: EffectOutcome,
    /// With `done`: what came out, 1 MiB at most
    #[schema(nullable = false)]
    result: Option<serde_json::Value>,
    /// With `failed`
    #[schema(nullable = false, max_length = 65536)]
    error: Option<String>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum EffectOutcome {
    Done,
    Failed,
}

/// An effect that has ended
#[derive(Serialize, ToSchema)]
pub(crate) struct EffectFinished {
    r#ref: String,
    status: EffectStatus,
}

/// An effect to try again
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Retry {
    #[schema(example = "mail/send#4")]
    r#ref: String,
    #[schema(nullable = false, max_length = 65536)]
    reason: Option<String>,
}
