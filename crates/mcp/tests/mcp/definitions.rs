//! What a model is told about the tools.

use bailiwick_desk::Desk;
use bailiwick_mcp::{Access, Toolsets};
use serde_json::{Value, json};

use crate::support::{Client, bound, memory_desk};

const NAMES: [&str; 14] = [
    "create_work_order",
    "list_work_orders",
    "get_work_order",
    "accept_work_order",
    "decline_work_order",
    "start_work_order",
    "report_progress",
    "submit_work_report",
    "answer_question",
    "review_work_report",
    "allow_effect_retry",
    "cancel_work_order",
    "wait_for_update",
    "get_track_record",
];

pub(crate) async fn listed(toolsets: Toolsets) -> Vec<Value> {
    listed_at(&memory_desk().await, toolsets).await
}

pub(crate) async fn listed_at(desk: &Desk, toolsets: Toolsets) -> Vec<Value> {
    let mut client = Client::open_with(desk, bound("a"), toolsets).await;
    client.request("tools/list", json!({})).await["result"]["tools"].as_array().unwrap().clone()
}

fn names(tools: &[Value]) -> Vec<&str> {
    tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn the_list_is_short_and_always_the_same() {
    let tools = listed(Toolsets::default()).await;
    assert_eq!(names(&tools), NAMES);
    let text = serde_json::to_string(&tools).unwrap();
    assert_eq!(text, serde_json::to_string(&listed(Toolsets::all()).await).unwrap());
    // 8,000 tokens, at 3.5 bytes a token. Measured exactly, so that growth is noticed.
    assert_eq!(text.len(), 23_805, "the size of the list has changed; is it worth it?");
    assert!(text.len() <= 28_000, "{}", text.len());
}

#[tokio::test]
async fn read_only_lists_and_runs_only_what_changes_nothing() {
    let toolsets = Toolsets::default().with_access(Access::ReadOnly);
    let tools = listed(toolsets.clone()).await;
    assert_eq!(names(&tools), ["list_work_orders", "get_work_order", "wait_for_update", "get_track_record"]);
    assert!(tools.iter().all(|tool| tool["annotations"]["readOnlyHint"] == true));
    let mut client = Client::open_with(&memory_desk().await, bound("a"), toolsets).await;
    let reply = client.request("tools/call", json!({"name": "create_work_order", "arguments": {}})).await;
    assert_eq!(reply["error"]["code"], -32602, "{reply}");
}

#[tokio::test]
async fn every_tool_says_all_it_should() {
    for tool in listed(Toolsets::all()).await {
        let name = tool["name"].as_str().unwrap();
        let hints = &tool["annotations"];
        for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
            assert!(hints[hint].is_boolean(), "{name} {hint}");
        }
        assert!(tool["title"].as_str().is_some_and(|title| !title.is_empty()), "{name}");
        assert_eq!(tool["title"], hints["title"], "{name}");
        assert!(tool["description"].as_str().is_some_and(|text| text.len() > 30), "{name}");
        assert_eq!(tool["inputSchema"]["additionalProperties"], false, "{name}");
        for schema in ["inputSchema", "outputSchema"] {
            assert_eq!(tool[schema]["type"], "object", "{name}");
            assert!(jsonschema::draft202012::meta::is_valid(&tool[schema]), "{name} {schema}");
            assert_described(&tool[schema], name);
        }
    }
}

/// Whatever is required is a property.
fn assert_described(schema: &Value, name: &str) {
    for required in schema["required"].as_array().into_iter().flatten() {
        assert!(schema["properties"].get(required.as_str().unwrap()).is_some(), "{name} {required}");
    }
}

#[tokio::test]
async fn arguments_are_those_of_the_specification() {
    let expected = [
        (
            "create_work_order",
            "to goal criteria budget deadline tools | staged escalate_to inputs context handoff output_schema parent_id continues id metadata actor",
        ),
        ("list_work_orders", "| to from state parent_id continues limit cursor"),
        ("get_work_order", "id |"),
        ("accept_work_order", "id | actor"),
        ("decline_work_order", "id | reason actor"),
        ("start_work_order", "id | actor"),
        ("report_progress", "id note | percent actor"),
        (
            "submit_work_report",
            "id status result evidence cost tools_used | effects started_at finished_at questions error handoff metadata actor",
        ),
        ("answer_question", "id answer | actor"),
        ("review_work_report", "id decision | reason effects actor"),
        ("allow_effect_retry", "id ref | reason actor"),
        ("cancel_work_order", "id | reason actor"),
        ("wait_for_update", "id since_seq | timeout_s"),
        ("get_track_record", "| agent"),
    ];
    let tools = listed(Toolsets::default()).await;
    for (tool, (name, arguments)) in tools.iter().zip(expected) {
        assert_eq!(tool["name"], name);
        let (required, optional) = arguments.split_once('|').unwrap();
        let required: Vec<&str> = required.split_whitespace().collect();
        let mut all: Vec<&str> = required.iter().copied().chain(optional.split_whitespace()).collect();
        let mut properties: Vec<&String> = tool["inputSchema"]["properties"].as_object().unwrap().keys().collect();
        all.sort_unstable();
        properties.sort_unstable();
        assert_eq!(properties, all, "{name}");
        let stated: Vec<&str> =
            tool["inputSchema"]["required"].as_array().into_iter().flatten().map(|r| r.as_str().unwrap()).collect();
        assert_eq!(stated, required, "{name}");
    }
}
