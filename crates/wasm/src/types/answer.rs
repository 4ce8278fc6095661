//! What calls take and answer.

use tsify::Tsify;
use wasm_bindgen::prelude::*;

use super::document::{WorkOrder, WorkReport};

#[wasm_bindgen(typescript_custom_section)]
const PLAIN: &'static str = r#"
/** A document: as an object, as JSON text, or as the UTF-8 bytes of one. */
export type Document = string | Uint8Array | object;
/** SHA-256 as 64 lower-case hexadecimal digits. */
export type Hash = string;
/** Whether the value has the structure of a work order (O1); false for what cannot be read at all. */
export function isWorkOrder(text: string | Uint8Array): boolean;
export function isWorkOrder(value: unknown): value is WorkOrder;
/** Whether the value has the structure of a work report (R1); false for what cannot be read at all. */
export function isWorkReport(text: string | Uint8Array): boolean;
export function isWorkReport(value: unknown): value is WorkReport;
"#;

/// One thing that a check found.
#[derive(Tsify)]
pub struct Finding {
    /// The rule that fired.
    #[tsify(type = "Rule")]
    pub rule: String,
    /// What it does to the document.
    #[tsify(type = "Kind")]
    pub kind: String,
    /// JSON Pointer into the checked document; the root is `/`.
    pub path: String,
    /// For people; names the value at fault.
    pub message: String,
}

/// What the checks of one document found.
#[derive(Tsify)]
pub struct Validation {
    /// In the order of the specification.
    pub findings: Vec<Finding>,
    /// Rules that apply but were not evaluated, for want of a schema engine: O4 or R11. Empty in the full build.
    #[tsify(type = "Rule[]")]
    pub skipped: Vec<String>,
}

/// How documents are read.
#[derive(Tsify)]
pub struct ReadOptions {
    /// What a name means that occurs twice in an object of a text. Default: `last_wins`, as in `JSON.parse`.
    #[tsify(optional, type = "'last_wins' | 'refuse'")]
    pub duplicates: Option<String>,
}

/// An order and where it stands.
#[derive(Tsify)]
pub struct SubOrder {
    /// The order.
    pub order: WorkOrder,
    /// Its state.
    #[tsify(type = "State")]
    pub state: String,
}

/// A place in an effect's arguments that stands for a value from an earlier effect's result.
#[derive(Tsify)]
pub struct EffectReference {
    /// The `ref` of the effect it points to.
    pub r#ref: String,
    /// JSON Pointer into that effect's result; empty for all of it.
    pub pointer: String,
    /// Where the reference stands: JSON Pointer into the arguments.
    pub path: String,
}

/// One transition of an order.
#[derive(Tsify)]
pub struct WorkEvent {
    /// 1 for the first event of an order.
    pub seq: f64,
    /// When.
    #[tsify(type = "Timestamp")]
    pub at: String,
    /// Who.
    #[tsify(type = "AgentReference")]
    pub actor: String,
    /// What.
    pub action: String,
    /// The state before; null only on `create`.
    #[tsify(type = "State | null")]
    pub from: Option<String>,
    /// The state after.
    #[tsify(type = "State")]
    pub to: String,
    /// The answer, the reason, what ended it, or the progress note.
    #[tsify(optional)]
    pub note: Option<String>,
    /// How far the work is, 0–100.
    #[tsify(optional)]
    pub percent: Option<f64>,
    /// The refs of the approved effects.
    #[tsify(optional)]
    pub effects: Option<Vec<String>>,
}

/// An order and its history.
#[derive(Tsify)]
pub struct OrderRecord {
    /// The order.
    pub order: WorkOrder,
    /// Where it stands.
    #[tsify(type = "State")]
    pub state: String,
    /// Every transition.
    pub events: Vec<WorkEvent>,
    /// Its reports.
    #[tsify(optional)]
    pub reports: Option<Vec<WorkReport>>,
    /// The findings of the last accepted report.
    #[tsify(optional)]
    pub findings: Option<Vec<Finding>>,
}

/// An order, in short.
#[derive(Tsify)]
pub struct Summary {
    /// Its id.
    pub id: String,
    /// Where it stands.
    #[tsify(type = "State")]
    pub state: String,
    /// The manager.
    #[tsify(type = "AgentReference")]
    pub from: String,
    /// The worker.
    #[tsify(type = "AgentReference")]
    pub to: String,
    /// What to achieve.
    pub goal: String,
    /// When it must be finished.
    #[tsify(type = "Timestamp")]
    pub deadline: String,
    /// The order that it was split from.
    #[tsify(optional)]
    pub parent_id: Option<String>,
    /// The order that it picks up from.
    #[tsify(optional)]
    pub continues: Option<String>,
    /// The `seq` of its last event.
    pub last_seq: f64,
}

/// What verification of a journal found.
#[derive(Tsify)]
pub struct JournalReport {
    /// Whether nothing is wrong.
    pub ok: bool,
    /// How many entries are in order, counted until the first failure.
    pub checked_events: f64,
    /// The sequence of the last entry that is in order.
    pub head_sequence: f64,
    /// Its hash.
    #[tsify(type = "Hash")]
    pub head_hash: String,
    /// What is wrong.
    #[tsify(optional, type = "FailureCode")]
    pub failure: Option<String>,
    /// With which entry; absent if it is about none.
    #[tsify(optional)]
    pub failed_sequence: Option<f64>,
    /// The line of the failure.
    #[tsify(optional)]
    pub failed_line: Option<f64>,
    /// The Merkle root over the entries that are in order.
    #[tsify(type = "Hash")]
    pub root: String,
    /// The first entry whose epoch differs from the one before it.
    #[tsify(optional)]
    pub epoch_changed_at: Option<f64>,
    /// Whose journal it is.
    pub workspace_id: String,
    /// Which of the workspace's journals it is; absent for a `coordination-journal/1` document.
    #[tsify(optional, type = "'decisions' | 'public'")]
    pub journal: Option<String>,
    /// How many blobs are what their digests say.
    pub blobs: f64,
    /// What came of making every decision again, if that was asked for.
    #[tsify(optional)]
    pub decisions: Option<Decisions>,
}

/// What came of making a journal's decisions again.
#[derive(Tsify)]
pub struct Decisions {
    /// Entries decided again, with the same result.
    pub decided: f64,
    /// Entries of other rules: applied, not decided again.
    pub applied: f64,
    /// Entries of which a part was erased: not decided again.
    pub erased: f64,
    /// Whether every decision was made again, with the same result.
    pub decided_all: bool,
    /// The first entry where the record and the rules part. The report is then not `ok`.
    #[tsify(optional)]
    pub first_difference: Option<Difference>,
}

/// Where a record and the rules part.
#[derive(Tsify)]
pub struct Difference {
    /// The entry.
    pub sequence: f64,
    /// What differs.
    #[tsify(
        type = "'record_unreadable' | 'envelope_differs' | 'record_form_differs' | 'rule_set_falls' | 'time_runs_backwards' | 'facts_differ' | 'reply_differs' | 'configuration_differs' | 'document_unreadable'"
    )]
    pub code: String,
    /// For people.
    pub message: String,
}

/// An entry of a public journal, in columns.
#[derive(Tsify)]
pub struct JournalRow {
    /// The label.
    pub protocol: String,
    /// Whose journal it is.
    pub workspace_id: String,
    /// The workspace's epoch.
    pub epoch_id: String,
    /// The place in the journal, from 1.
    pub sequence: f64,
    /// The entry's id.
    pub id: String,
    /// What happened.
    pub r#type: String,
    /// To what.
    pub entity_id: String,
    /// Who caused it.
    pub actor: String,
    /// In which session.
    #[tsify(optional, type = "string | null")]
    pub session_id: Option<String>,
    /// When.
    pub occurred_at: String,
    /// The details, as JSON text.
    pub payload_json: String,
    /// The hash of the entry before.
    #[tsify(type = "Hash")]
    pub prev_hash: String,
    /// Its hash.
    #[tsify(type = "Hash")]
    pub hash: String,
}

/// Consecutive entries of a public journal.
#[derive(Tsify)]
pub struct JournalPage {
    /// The workspace's epoch.
    pub epoch_id: String,
    /// The sequence after which the page starts. Default: 0.
    #[tsify(optional)]
    pub after_sequence: Option<f64>,
    /// The row at that sequence, unless it is 0.
    #[tsify(optional)]
    pub predecessor: Option<JournalRow>,
    /// The entries.
    #[tsify(type = "readonly JournalRow[]")]
    pub rows: Vec<JournalRow>,
    /// Where the journal ends.
    pub head_sequence: f64,
    /// Its last hash.
    #[tsify(type = "Hash")]
    pub head_hash: String,
}

/// A position in a public journal.
#[derive(Tsify)]
pub struct Anchor {
    /// The workspace's epoch.
    pub epoch_id: String,
    /// The last entry before the position.
    pub sequence: f64,
    /// Its hash.
    #[tsify(type = "Hash")]
    pub hash: String,
}

/// A page and whether its entries hang together.
#[derive(Tsify)]
pub struct VerifiedPage {
    /// The entries as results show them.
    #[tsify(type = "JsonObject[]")]
    pub events: Vec<JsValue>,
    /// The sequence to go on after.
    pub next_cursor: f64,
    /// Where the page starts.
    pub cursor: Anchor,
    /// Where it ends.
    pub next_anchor: Anchor,
    /// Where the journal ends.
    pub head_sequence: f64,
    /// Its last hash.
    #[tsify(type = "Hash")]
    pub head_hash: String,
    /// Whether there are entries after these.
    pub has_more: bool,
    /// Whether the entries follow each other, are what their hashes say, and end where the head says if they reach it.
    pub chain_valid: bool,
    /// What was looked at.
    #[tsify(type = "'returned_page'")]
    pub verification_scope: String,
}

/// A proof that a leaf is in a tree.
#[derive(Tsify)]
pub struct InclusionProof {
    /// The leaf's index, from 0.
    #[tsify(type = "number | bigint")]
    pub index: u64,
    /// The number of leaves.
    #[tsify(type = "number | bigint")]
    pub size: u64,
    /// The leaf's hash.
    #[tsify(type = "Hash")]
    pub leaf: String,
    /// From the leaf's side to the root.
    #[tsify(type = "readonly Hash[]")]
    pub path: Vec<String>,
    /// The tree's root.
    #[tsify(type = "Hash")]
    pub root: String,
}

/// A proof that a tree has grown out of an older one.
#[derive(Tsify)]
pub struct ConsistencyProof {
    /// The number of leaves of the old tree, at least 1.
    #[tsify(type = "number | bigint")]
    pub old_size: u64,
    /// The number of leaves of the new tree.
    #[tsify(type = "number | bigint")]
    pub new_size: u64,
    /// The old tree's root.
    #[tsify(type = "Hash")]
    pub old_root: String,
    /// The new tree's root.
    #[tsify(type = "Hash")]
    pub new_root: String,
    /// The path.
    #[tsify(type = "readonly Hash[]")]
    pub path: Vec<String>,
}
