//! The shapes of bodies, for the OpenAPI document.
//!
//! These types are described, never made: what goes over the wire is built and checked by core. Tests validate
//! answers against the document.
#![expect(dead_code, reason = "the types are described, never made")]

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// Where an order stands
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum State {
    Offered,
    Accepted,
    Working,
    Blocked,
    Submitted,
    Approved,
    Declined,
    Expired,
    Cancelled,
}

/// An order in short
#[derive(Serialize, ToSchema)]
pub(crate) struct Summary {
    #[schema(example = "wo_0123456789abcdef")]
    id: String,
    state: State,
    /// The manager
    #[schema(example = "agent:manager")]
    from: String,
    /// The worker
    #[schema(example = "agent:worker")]
    to: String,
    goal: String,
    /// When the order expires
    #[schema(format = DateTime)]
    deadline: String,
    /// The order that this one is a part of
    #[schema(nullable = false)]
    parent_id: Option<String>,
    /// The finished order that this one picks up from
    #[schema(nullable = false)]
    continues: Option<String>,
    /// The `seq` of the last event; wait for a higher one with `wait_after`
    last_seq: u64,
}

/// Orders that match, in the order of `created_at`
#[derive(Serialize, ToSchema)]
pub(crate) struct Orders {
    orders: Vec<Summary>,
    /// There are more: give this as `cursor`
    #[schema(nullable = false)]
    next_cursor: Option<String>,
}

/// A transition of an order
#[derive(Serialize, ToSchema)]
pub(crate) struct Event {
    /// From 1, without gaps
    seq: u64,
    #[schema(format = DateTime)]
    at: String,
    /// Who did it; `desk` for the desk itself
    actor: String,
    #[schema(example = "accept")]
    action: String,
    /// `null` for `create` only
    from: Option<State>,
    to: State,
    #[schema(nullable = false)]
    note: Option<String>,
    /// Of a progress note
    #[schema(nullable = false, minimum = 0, maximum = 100)]
    percent: Option<f64>,
    /// Of an approval: the effects it covers
    #[schema(nullable = false)]
    effects: Option<Vec<String>>,
}

/// A failed check of a document
#[derive(Serialize, ToSchema)]
pub(crate) struct Finding {
    /// The rule, as the specification numbers it
    #[schema(example = "R4")]
    rule: String,
    /// `invalid` rejects the document; `limit` ends the order
    kind: FindingKind,
    /// JSON Pointer to what fails
    #[schema(example = "/evidence")]
    path: String,
    message: String,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum FindingKind {
    Invalid,
    Limit,
}

/// An order with its history
#[derive(Serialize, ToSchema)]
pub(crate) struct View {
    #[serde(flatten)]
    summary: Summary,
    /// The order document (`awl/work-order`)
    #[schema(value_type = Object)]
    order: Value,
    /// The last report document (`awl/work-report`), or null
    #[schema(value_type = Option<Object>)]
    latest_report: Option<Value>,
    /// Findings of the last accepted report: limits
    findings: Vec<Finding>,
    events: Vec<Event>,
}

/// The answer to a report
#[derive(Serialize, ToSchema)]
pub(crate) struct Submitted {
    #[serde(flatten)]
    summary: Summary,
    /// Limits that the report exceeds: they ended the order
    findings: Vec<Finding>,
}

/// A criterion that the worker must prove
#[derive(Serialize, ToSchema)]
pub(crate) struct Criterion {
    #[schema(example = "tests_pass")]
    id: String,
    text: String,
}

/// An amount of each unit; at least one
#[derive(Serialize, ToSchema)]
pub(crate) struct Amounts {
    #[schema(nullable = false, minimum = 0)]
    usd: Option<f64>,
    #[schema(nullable = false, minimum = 0)]
    tokens: Option<u64>,
    #[schema(nullable = false, minimum = 0)]
    tool_calls: Option<u64>,
    #[schema(nullable = false, minimum = 0)]
    seconds: Option<f64>,
}

/// A new order: the order document without what the desk fills in (`spec`, `created_at`, `from`). The desk checks
/// it by the rules of the work-order specification and answers every finding.
#[derive(Serialize, ToSchema)]
pub(crate) struct NewOrder {
    /// Chosen by the desk if left out
    #[schema(nullable = false)]
    id: Option<String>,
    /// The worker
    #[schema(example = "agent:worker")]
    to: String,
    goal: String,
    #[schema(min_items = 1)]
    criteria: Vec<Criterion>,
    #[schema(value_type = Object, example = json!({"usd": 1, "tool_calls": 10}))]
    budget: Amounts,
    #[schema(format = DateTime)]
    deadline: String,
    /// Tools that may be used: names, or `server/*`
    tools: Vec<String>,
    /// Tools whose effects wait for approval
    #[schema(nullable = false)]
    staged: Option<Vec<String>>,
    /// Who answers a blocked worker besides the manager
    #[schema(nullable = false)]
    escalate_to: Option<String>,
    #[schema(nullable = false)]
    inputs: Option<Value>,
    #[schema(nullable = false)]
    context: Option<Vec<Value>>,
    #[schema(nullable = false)]
    handoff: Option<Value>,
    /// JSON Schema of the report's `result.output`
    #[schema(nullable = false)]
    output_schema: Option<Value>,
    /// The order that this one is a part of
    #[schema(nullable = false)]
    parent_id: Option<String>,
    /// The finished order that this one picks up from
    #[schema(nullable = false)]
    continues: Option<String>,
    #[schema(nullable = false)]
    metadata: Option<Value>,
}

/// How a worker leaves an order
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ReportStatus {
    Done,
    Failed,
    Blocked,
}

/// A report: the report document without what the desk fills in (`spec`, `order_id`, `from`, `attempt`).
#[derive(Serialize, ToSchema)]
pub(crate) struct NewReport {
    status: ReportStatus,
    /// `{"summary": …, "output": …}`
    #[schema(value_type = Object)]
    result: Value,
    /// Proof for each criterion
    evidence: Vec<Value>,
    /// The order's running total
    #[schema(value_type = Object, example = json!({"usd": 0.25}))]
    cost: Amounts,
    tools_used: Vec<String>,
    #[schema(nullable = false)]
    effects: Option<Vec<Value>>,
    #[schema(nullable = false, format = DateTime)]
    started_at: Option<String>,
    #[schema(nullable = false, format = DateTime)]
    finished_at: Option<String>,
    /// Of a blocked report
    #[schema(nullable = false)]
    questions: Option<Vec<String>>,
    /// Of a failed report
    #[schema(nullable = false)]
    error: Option<Value>,
    #[schema(nullable = false)]
    handoff: Option<Value>,
    #[schema(nullable = false)]
    metadata: Option<Value>,
}

/// Why; may be left out
#[derive(Serialize, ToSchema)]
pub(crate) struct Reason {
    #[schema(nullable = false)]
    reason: Option<String>,
}

/// How far the work is
#[derive(Serialize, ToSchema)]
pub(crate) struct Progress {
    note: String,
    #[schema(nullable = false, minimum = 0, maximum = 100)]
    percent: Option<f64>,
}

/// The answer to a blocked worker
#[derive(Serialize, ToSchema)]
pub(crate) struct Answer {
    answer: String,
}

/// The manager's decision on a report
#[derive(Serialize, ToSchema)]
pub(crate) struct Review {
    decision: Decision,
    /// Needed for `rework`
    #[schema(nullable = false)]
    reason: Option<String>,
    /// Which of the report's effects to approve; all if left out
    #[schema(nullable = false)]
    effects: Option<Vec<String>>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Decision {
    Approve,
    Rework,
}

/// What an agent has done so far
#[derive(Serialize, ToSchema)]
pub(crate) struct TrackRecord {
    agent: String,
    orders: u64,
    active: u64,
    approved: u64,
    /// Approved without a rework
    approved_first_time: u64,
    declined: u64,
    expired: u64,
    cancelled: u64,
    reworks: u64,
    reports: u64,
    failed: u64,
    blocked: u64,
    /// Sum by unit over all reports
    #[schema(value_type = Object)]
    spent: Amounts,
    /// Sum by unit over all orders
    #[schema(value_type = Object)]
    budget: Amounts,
}

/// Where the journal ends
#[derive(Serialize, ToSchema)]
pub(crate) struct Head {
    workspace_id: String,
    #[schema(example = "decisions")]
    journal: String,
    epoch_id: String,
    /// Of the last entry; 0 for an empty journal
    sequence: u64,
    /// Of the last entry; zeros for an empty journal
    #[schema(pattern = "^[0-9a-f]{64}$")]
    hash: String,
    /// When the last entry was written; null for an empty journal
    #[schema(format = DateTime)]
    last_at: Option<String>,
}

/// A journal entry (`bailiwick.journal/1`). Its hash is the SHA-256 of its canonical JSON without `hash`.
#[derive(Serialize, ToSchema)]
pub(crate) struct Entry {
    protocol: String,
    workspace_id: String,
    epoch_id: String,
    sequence: u64,
    id: String,
    /// The command
    #[schema(example = "work.create")]
    r#type: String,
    /// What it was about
    entity_id: String,
    actor: String,
    session_id: Option<String>,
    #[schema(format = DateTime)]
    occurred_at: String,
    /// The decision; bulk as references to blobs
    #[schema(value_type = Object)]
    payload: Value,
    #[schema(pattern = "^[0-9a-f]{64}$")]
    prev_hash: String,
    #[schema(pattern = "^[0-9a-f]{64}$")]
    hash: String,
}

/// Entries of the journal
#[derive(Serialize, ToSchema)]
pub(crate) struct Entries {
    entries: Vec<Entry>,
    /// Give this as `after` to read on
    next_after: u64,
    /// Where the journal ended when this was read
    head_sequence: u64,
    #[schema(pattern = "^[0-9a-f]{64}$")]
    head_hash: String,
}

/// An error (RFC 9457)
#[derive(Serialize, ToSchema)]
pub(crate) struct Problem {
    /// Leads to the code's explanation
    #[schema(format = "uri-reference", example = "/api/v1/docs#NOT_FOUND")]
    r#type: String,
    title: String,
    status: u16,
    /// What was refused, and what would be accepted
    detail: String,
    #[schema(example = "NOT_FOUND")]
    code: String,
    /// Of `VALIDATION_FAILED`: every failed check
    findings: Vec<Finding>,
}
