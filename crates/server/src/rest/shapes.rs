//! The shapes of bodies, for the OpenAPI document.
//!
//! These types are described, never made: what goes over the wire is built and checked by core. Tests validate
//! answers against the document.
//!
//! Documents that have a published schema are described by it.
#![expect(dead_code, reason = "the types are described, never made")]

use serde::Serialize;
use utoipa::ToSchema;

mod gateway;

pub(crate) use gateway::*;

/// Shapes whose description is a published schema, which `docs::published` puts in.
macro_rules! published {
    ($($name:ident),*) => {$(
        #[derive(Serialize, ToSchema)]
        pub(crate) struct $name {}
    )*};
}

published!(WorkOrder, WorkReport, NewOrder, NewReport, Event, Entry, State, Amounts);

/// In which order a list comes
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ListOrder {
    OldestFirst,
    NewestFirst,
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
    /// The order document
    order: WorkOrder,
    /// The last report document, or null
    latest_report: Option<WorkReport>,
    /// Findings of the last accepted report: limits
    findings: Vec<Finding>,
    events: Vec<Event>,
    /// Where each effect stands that was approved
    #[schema(nullable = false)]
    effects: Option<Vec<ApprovedEffect>>,
}

/// An order with its history, and a pass where the server signs them
#[derive(Serialize, ToSchema)]
pub(crate) struct Started {
    #[serde(flatten)]
    view: View,
    /// A delegation pass: a JWS in the compact form. Whoever has it can use it
    #[schema(nullable = false)]
    pass: Option<String>,
    /// When the pass ends
    #[schema(nullable = false, format = DateTime)]
    expires_at: Option<String>,
}

/// How the pass is bound; may be left out
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PassRequest {
    /// The only ones who may accept it; anybody if left out
    #[schema(nullable = false, max_items = 16)]
    audience: Option<Vec<String>>,
    /// The public key, a JWK, of the only one who may use it, with a proof for each call
    #[schema(nullable = false, value_type = Option<Object>)]
    holder: Option<()>,
}

/// A delegation pass
#[derive(Serialize, ToSchema)]
pub(crate) struct Pass {
    /// A JWS in the compact form. Whoever has it can use it
    pass: String,
    /// When it ends
    #[schema(format = DateTime)]
    expires_at: String,
}

/// The answer to a report
#[derive(Serialize, ToSchema)]
pub(crate) struct Submitted {
    #[serde(flatten)]
    summary: Summary,
    /// Limits that the report exceeds: they ended the order
    findings: Vec<Finding>,
}

/// Why; may be left out
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Reason {
    #[schema(nullable = false)]
    reason: Option<String>,
}

/// How far the work is
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Progress {
    /// Not blank
    #[schema(pattern = "\\S", max_length = 65536)]
    note: String,
    #[schema(nullable = false, minimum = 0, maximum = 100)]
    percent: Option<f64>,
}

/// The answer to a blocked worker
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Answer {
    /// Not blank
    #[schema(pattern = "\\S", max_length = 65536)]
    answer: String,
}

/// The manager's decision on a report
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum Review {
    Approval(Approval),
    Rework(Rework),
}

/// The report is good
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Approval {
    decision: Approve,
    #[schema(nullable = false, max_length = 65536)]
    reason: Option<String>,
    /// Which of the report's effects to approve; all if left out
    #[schema(nullable = false)]
    effects: Option<Vec<String>>,
}

/// Back to work
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rework {
    decision: BackToWork,
    /// What is missing; not blank
    #[schema(pattern = "\\S", max_length = 65536)]
    reason: String,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Approve {
    Approve,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum BackToWork {
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
    spent: Amounts,
    /// Sum by unit over all orders
    budget: Amounts,
}

/// What an agent has done so far, and when it was last seen
#[derive(Serialize, ToSchema)]
pub(crate) struct KnownAgent {
    #[serde(flatten)]
    record: TrackRecord,
    /// By this server, or in the newest entries of the journal; null if not there
    #[schema(format = DateTime)]
    last_seen: Option<String>,
}

/// Agents by name
#[derive(Serialize, ToSchema)]
pub(crate) struct Agents {
    agents: Vec<KnownAgent>,
    /// There are more: give this as `cursor`
    #[schema(nullable = false)]
    next_cursor: Option<String>,
}

/// What waits for the caller
#[derive(Serialize, ToSchema)]
pub(crate) struct Inbox {
    items: Vec<Waiting>,
    counts: Counts,
    /// There may be more: give this as `cursor`
    #[schema(nullable = false)]
    next_cursor: Option<String>,
}

/// Something that waits for a person
#[derive(Serialize, ToSchema)]
pub(crate) struct Waiting {
    /// What kind of thing waits
    kind: WaitingKind,
    /// Its id
    #[schema(example = "wo_0123456789abcdef")]
    id: String,
    ask: Ask,
    /// What it is about, in a line
    title: String,
    /// Who gave the work
    #[schema(nullable = false, example = "human:ada")]
    from: Option<String>,
    /// Who does it
    #[schema(nullable = false, example = "agent:worker")]
    to: Option<String>,
    #[schema(format = DateTime)]
    since: String,
    /// When it expires
    #[schema(format = DateTime)]
    due: String,
    /// Of the order when the wait began: its `last_seq`
    version: u64,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum WaitingKind {
    Order,
}

/// A report to review, or a question to answer
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Ask {
    Review,
    Answer,
}

/// How much waits for the caller, by what is asked
#[derive(Serialize, ToSchema)]
pub(crate) struct Counts {
    review: u64,
    answer: u64,
}

/// Whom a request comes from, and what server answers it
#[derive(Serialize, ToSchema)]
pub(crate) struct Session {
    #[schema(example = "human:ada")]
    id: String,
    established: Established,
    mode: Mode,
    access: Access,
    #[schema(example = "desk")]
    workspace: String,
    /// Of the server
    #[schema(example = "0.1.0")]
    version: String,
}

/// How it is known who the caller is: by a sign-in link, by a key, or not at all
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Established {
    SignIn,
    ApiKey,
    Claimed,
}

/// Whether requests need a key, or are believed
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Mode {
    Keys,
    Open,
}

/// Whether the server takes commands
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Access {
    Full,
    ReadOnly,
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

/// Entries of the journal
#[derive(Serialize, ToSchema)]
pub(crate) struct Entries {
    entries: Vec<Entry>,
    /// Give this as `after` to read on; there unless `before` was given
    #[schema(nullable = false)]
    next_after: Option<u64>,
    /// Give this as `before` to read on; there if `before` was given, null at the journal's beginning
    next_before: Option<u64>,
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
