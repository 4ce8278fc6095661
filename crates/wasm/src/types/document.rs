//! Orders and reports as types (`spec work-orders §2`, `§3`). Only TypeScript uses them: `core` reads documents as they come.

use tsify::Tsify;
use wasm_bindgen::prelude::*;

#[wasm_bindgen(typescript_custom_section)]
const PLAIN: &'static str = r#"
/** A value that JSON can hold. A bigint is an integer, exactly. */
export type JsonValue = null | boolean | number | bigint | string | readonly JsonValue[] | JsonObject;
/** An object that JSON can hold. A member that is `undefined` is absent. */
export type JsonObject = { readonly [name: string]: JsonValue | undefined };
/** Date, time and zone, as RFC 3339 writes them. */
export type Timestamp = string;
/** An agent or a person, compared byte for byte. */
export type AgentReference = string;
/** `server/tool` */
export type ToolName = string;
/** `*`, `server/*` or `server/tool` */
export type ToolPattern = string;
/** Members of one's own, which nobody checks. */
export interface WorkOrder { [extension: `x-${string}`]: JsonValue | undefined }
export interface WorkReport { [extension: `x-${string}`]: JsonValue | undefined }
"#;

/// A job that a manager gives to a worker: what to achieve, how it is judged, and within which limits.
#[derive(Tsify)]
pub struct WorkOrder {
    /// Format and version.
    #[tsify(type = "OrderSpec")]
    pub spec: String,
    /// The id of the job, 1 to 128 characters.
    pub id: String,
    /// When the order was issued.
    #[tsify(type = "Timestamp")]
    pub created_at: String,
    /// The manager.
    #[tsify(type = "AgentReference")]
    pub from: String,
    /// The worker.
    #[tsify(type = "AgentReference")]
    pub to: String,
    /// What to achieve.
    pub goal: String,
    /// How it is judged whether the job is done, at least one.
    pub criteria: Vec<Criterion>,
    /// The most that the order may spend, at least one unit.
    #[tsify(type = "Amounts")]
    pub budget: Amounts,
    /// When the job must be finished at the latest.
    #[tsify(type = "Timestamp")]
    pub deadline: String,
    /// What the worker may call.
    #[tsify(type = "ToolPattern[]")]
    pub tools: Vec<String>,
    /// Which of these calls are held back until the report that lists them is approved.
    #[tsify(optional, type = "ToolPattern[]")]
    pub staged: Option<Vec<String>>,
    /// Who may answer a blocked worker, beside the manager.
    #[tsify(optional, type = "AgentReference")]
    pub escalate_to: Option<String>,
    /// Structured inputs. Never inspected.
    #[tsify(optional, type = "JsonObject")]
    pub inputs: Option<JsValue>,
    /// What to read.
    #[tsify(optional)]
    pub context: Option<Vec<ContextRef>>,
    /// What earlier work established.
    #[tsify(optional)]
    pub handoff: Option<Handoff>,
    /// The shape of `result.output` when the job is done: a JSON Schema 2020-12.
    #[tsify(optional, type = "JsonObject")]
    pub output_schema: Option<JsValue>,
    /// The order that this one was split from.
    #[tsify(optional)]
    pub parent_id: Option<String>,
    /// The finished order that this one picks up from.
    #[tsify(optional)]
    pub continues: Option<String>,
    /// Free. Ignored.
    #[tsify(optional, type = "JsonObject")]
    pub metadata: Option<JsValue>,
}

/// One thing by which it is judged whether the job is done.
#[derive(Tsify)]
pub struct Criterion {
    /// What evidence refers to, 1 to 64 characters.
    pub id: String,
    /// What must be shown.
    pub text: String,
}

/// Something to read.
#[derive(Tsify)]
pub struct ContextRef {
    /// Where it is.
    pub uri: String,
    /// What it is for.
    #[tsify(optional)]
    pub note: Option<String>,
}

/// Amounts per unit.
#[derive(Tsify)]
pub struct Amounts {
    /// Money for models and paid tools.
    #[tsify(optional)]
    pub usd: Option<f64>,
    /// Model input plus output.
    #[tsify(optional)]
    pub tokens: Option<f64>,
    /// Tool invocations.
    #[tsify(optional)]
    pub tool_calls: Option<f64>,
    /// Wall-clock working time.
    #[tsify(optional)]
    pub seconds: Option<f64>,
}

/// What earlier work established, as the worker before tells it; at least one member.
#[derive(Tsify)]
pub struct Handoff {
    /// In a few words.
    #[tsify(optional)]
    pub summary: Option<String>,
    /// What was decided.
    #[tsify(optional)]
    pub decisions: Option<Vec<HandoffDecision>>,
    /// What was tried.
    #[tsify(optional)]
    pub tried: Option<Vec<HandoffAttempt>>,
    /// What is still open.
    #[tsify(optional)]
    pub open_questions: Option<Vec<String>>,
    /// What to do next.
    #[tsify(optional)]
    pub next_step: Option<String>,
}

/// Something that was decided.
#[derive(Tsify)]
pub struct HandoffDecision {
    /// What.
    pub text: String,
    /// Why.
    #[tsify(optional)]
    pub why: Option<String>,
}

/// Something that was tried.
#[derive(Tsify)]
pub struct HandoffAttempt {
    /// What.
    pub text: String,
    /// What came of it.
    #[tsify(optional)]
    pub result: Option<String>,
}

/// A worker's answer to an order: what came of it, the evidence for each criterion, and what it cost.
#[derive(Tsify)]
pub struct WorkReport {
    /// Format and version.
    #[tsify(type = "ReportSpec")]
    pub spec: String,
    /// The order that is answered.
    pub order_id: String,
    /// The worker.
    #[tsify(type = "AgentReference")]
    pub from: String,
    /// `done` needs evidence for every criterion, `blocked` needs questions, `failed` needs an error.
    #[tsify(type = "'done' | 'blocked' | 'failed'")]
    pub status: String,
    /// What came of it.
    pub result: WorkResult,
    /// What proves the criteria.
    pub evidence: Vec<Evidence>,
    /// What this order itself has spent so far, its sub-orders not included.
    pub cost: Amounts,
    /// When the work ended.
    #[tsify(type = "Timestamp")]
    pub finished_at: String,
    /// Every tool that was really called.
    #[tsify(type = "ToolName[]")]
    pub tools_used: Vec<String>,
    /// Staged calls that run, in this order, once the report is approved.
    #[tsify(optional)]
    pub effects: Option<Vec<Effect>>,
    /// When the work began.
    #[tsify(optional, type = "Timestamp")]
    pub started_at: Option<String>,
    /// 1 for the first report on an order, one more for each further one.
    #[tsify(optional)]
    pub attempt: Option<f64>,
    /// What a blocked worker needs to know.
    #[tsify(optional)]
    pub questions: Option<Vec<String>>,
    /// Why the work failed.
    #[tsify(optional)]
    pub error: Option<String>,
    /// What the work established, for whoever picks it up.
    #[tsify(optional)]
    pub handoff: Option<Handoff>,
    /// Free. Ignored.
    #[tsify(optional, type = "JsonObject")]
    pub metadata: Option<JsValue>,
}

/// What came of the work.
#[derive(Tsify)]
pub struct WorkResult {
    /// In a few words. May be empty.
    pub summary: String,
    /// Any value. When the job is done it must fit the order's `output_schema`.
    #[tsify(optional, type = "JsonValue")]
    pub output: Option<JsValue>,
    /// What the work made.
    #[tsify(optional)]
    pub artifacts: Option<Vec<Artifact>>,
}

/// Something that the work made.
#[derive(Tsify)]
pub struct Artifact {
    /// Where it is.
    pub uri: String,
    /// What kind of file it is.
    #[tsify(optional)]
    pub media_type: Option<String>,
    /// What it is.
    #[tsify(optional)]
    pub note: Option<String>,
}

/// What proves a criterion.
#[derive(Tsify)]
pub struct Evidence {
    /// The id of the criterion.
    pub criterion: String,
    /// A note alone is the weakest proof.
    #[tsify(type = "'tool_call' | 'artifact' | 'citation' | 'note'")]
    pub r#type: String,
    /// Something a reviewer can open or replay.
    #[tsify(optional)]
    pub r#ref: Option<String>,
    /// In words.
    #[tsify(optional)]
    pub note: Option<String>,
}

/// A staged call that runs once the report is approved.
#[derive(Tsify)]
pub struct Effect {
    /// The tool and the number of the call: `server/tool#4`.
    pub r#ref: String,
    /// A tool that the order stages.
    #[tsify(type = "ToolName")]
    pub tool: String,
    /// The arguments of the call.
    #[tsify(type = "JsonObject")]
    pub arguments: JsValue,
    /// The worker's claim. Never checked.
    #[tsify(optional)]
    pub reversible: Option<bool>,
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use bailiwick_core::json::{Limits, Value, parse};

    use super::*;

    /// The members of a declaration, each with whether it must be there.
    fn declared(declaration: &str) -> BTreeMap<String, bool> {
        let member = |line: &str| {
            let (name, _) = line.split_once(": ")?;
            let name = name.trim();
            let is_name = |name: &str| name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
            let bare = name.strip_suffix('?').unwrap_or(name);
            is_name(bare).then(|| (bare.to_owned(), bare == name))
        };
        declaration.lines().filter_map(member).collect()
    }

    /// The members that a schema knows, each with whether it must be there.
    fn published(schema: &Value) -> BTreeMap<String, bool> {
        let required = schema.get("required").and_then(Value::as_array).unwrap_or_default();
        let is_required = |name: &str| required.iter().any(|required| required.as_str() == Some(name));
        let properties = schema.get("properties").and_then(Value::as_object).expect("an object's schema");
        properties.iter().map(|(name, _)| (name.clone(), is_required(name))).collect()
    }

    fn schema(text: &str) -> Value {
        parse(text.as_bytes(), &Limits::DOCUMENT).expect("the published schema")
    }

    #[track_caller]
    fn same<T: Tsify>(schema: &Value, path: &[&str]) {
        let part = path.iter().fold(schema, |part, step| part.get(step).expect("a part of the schema"));
        assert_eq!(declared(T::DECL), published(part), "{path:?}");
    }

    #[test]
    fn orders_are_what_their_schema_says() {
        let schema = schema(include_str!("../../../../schemas/work-order.json"));
        same::<WorkOrder>(&schema, &[]);
        same::<Criterion>(&schema, &["$defs", "criterion"]);
        same::<ContextRef>(&schema, &["$defs", "context_ref"]);
        same::<Amounts>(&schema, &["$defs", "amounts"]);
        same::<Handoff>(&schema, &["$defs", "handoff"]);
        same::<HandoffDecision>(&schema, &["$defs", "handoff", "properties", "decisions", "items"]);
        same::<HandoffAttempt>(&schema, &["$defs", "handoff", "properties", "tried", "items"]);
    }

    #[test]
    fn reports_are_what_their_schema_says() {
        let schema = schema(include_str!("../../../../schemas/work-report.json"));
        same::<WorkReport>(&schema, &[]);
        same::<WorkResult>(&schema, &["properties", "result"]);
        same::<Artifact>(&schema, &["properties", "result", "properties", "artifacts", "items"]);
        same::<Evidence>(&schema, &["$defs", "evidence"]);
        same::<Effect>(&schema, &["$defs", "effect"]);
        same::<Amounts>(&schema, &["$defs", "amounts"]);
        same::<Handoff>(&schema, &["$defs", "handoff"]);
    }

    #[test]
    fn names_that_are_fixed_are_the_schemas() {
        let report = schema(include_str!("../../../../schemas/work-report.json"));
        let names = |path: &[&str]| {
            let part = path.iter().fold(&report, |part, step| part.get(step).expect("a part of the schema"));
            let names: Vec<String> = part
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .map(|name| format!("'{name}'"))
                .collect();
            names.join(" | ")
        };
        assert!(WorkReport::DECL.contains(&names(&["properties", "status", "enum"])));
        assert!(Evidence::DECL.contains(&names(&["$defs", "evidence", "properties", "type", "enum"])));
    }
}
