//! The published schemas as shapes of the OpenAPI document, so that a document is described in one place.

use bailiwick_schema::{EVENT, JOURNAL_ENTRY, WORK_ORDER, WORK_REPORT};
use serde_json::{Map, Value};

/// What the desk fills into an order, whatever the request says (`spec work-orders §9`).
const FILLED_INTO_ORDERS: [&str; 3] = ["spec", "created_at", "from"];
/// What the desk fills into a report.
const FILLED_INTO_REPORTS: [&str; 4] = ["spec", "order_id", "from", "attempt"];

/// Puts the published schemas, and what they define, in the place of the shapes that stand for them.
pub(super) fn put_into(shapes: &mut Map<String, Value>) {
    let (order, report) = (read(WORK_ORDER, shapes), read(WORK_REPORT, shapes));
    shapes.insert("NewOrder".into(), request(&order, &FILLED_INTO_ORDERS, &["id"]));
    shapes.insert("NewReport".into(), request(&report, &FILLED_INTO_REPORTS, &["finished_at"]));
    shapes.insert("WorkOrder".into(), order);
    shapes.insert("WorkReport".into(), report);
    let (event, entry) = (read(EVENT, shapes), read(JOURNAL_ENTRY, shapes));
    shapes.insert("Event".into(), event);
    shapes.insert("Entry".into(), entry);
}

/// A published schema without what makes it a document of its own; its definitions become shapes.
fn read(text: &str, shapes: &mut Map<String, Value>) -> Value {
    // INVARIANT: tests of `bailiwick-schema` read every published schema.
    let mut schema: Value = serde_json::from_str(text).unwrap_or_default();
    lead_to_shapes(&mut schema);
    let Some(members) = schema.as_object_mut() else { return schema };
    for name in ["$schema", "$id", "title"] {
        members.remove(name);
    }
    if let Some(Value::Object(definitions)) = members.remove("$defs") {
        shapes.extend(definitions.into_iter().map(|(name, schema)| (shape_name(&name), schema)));
    }
    schema
}

/// What a request gives of a document: not what the desk fills in, and what `optional` names only if it wants to.
fn request(document: &Value, filled: &[&str], optional: &[&str]) -> Value {
    let mut schema = document.clone();
    let given = |name: &str| !filled.contains(&name);
    if let Some(Value::Array(required)) = schema.get_mut("required") {
        required.retain(|name| name.as_str().is_some_and(|name| given(name) && !optional.contains(&name)));
    }
    if let Some(Value::Array(examples)) = schema.get_mut("examples") {
        for members in examples.iter_mut().filter_map(Value::as_object_mut) {
            members.retain(|name, _| given(name));
        }
    }
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.retain(|name, _| given(name));
    }
    let about = format!("What the desk fills in is left out: `{}`. ", filled.join("`, `"));
    schema["description"] = format!("{about}{}", schema["description"].as_str().unwrap_or_default()).into();
    schema
}

/// Turns references to definitions into references to shapes. Effects refer to one another by the same member, so
/// examples that do are left out: tools would follow them.
fn lead_to_shapes(value: &mut Value) {
    match value {
        Value::Object(members) => {
            if members.get("examples").is_some_and(|examples| examples.to_string().contains("\"$ref\"")) {
                members.remove("examples");
            }
            let target = members.get("$ref").and_then(Value::as_str).and_then(|target| target.strip_prefix("#/$defs/"));
            if let Some(name) = target.map(shape_name) {
                members.insert("$ref".into(), format!("#/components/schemas/{name}").into());
            }
            members.values_mut().for_each(lead_to_shapes);
        }
        Value::Array(items) => items.iter_mut().for_each(lead_to_shapes),
        _ => {}
    }
}

/// `context_ref` is called `ContextRef` among shapes.
fn shape_name(definition: &str) -> String {
    let capital = |word: &str| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_uppercase().chain(letters).collect::<String>()).unwrap_or_default()
    };
    definition.split('_').map(capital).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_of_one_name_are_one() {
        let mut all: Map<String, Value> = Map::new();
        for text in [WORK_ORDER, WORK_REPORT, EVENT, JOURNAL_ENTRY] {
            let mut shapes = Map::new();
            read(text, &mut shapes);
            for (name, mut shape) in shapes {
                // Each document says in its own words what the same thing is for.
                shape["description"] = Value::Null;
                assert_eq!(*all.entry(name.clone()).or_insert(shape.clone()), shape, "{name}");
            }
        }
    }

    #[test]
    fn every_reference_leads_to_a_shape() {
        let mut shapes = Map::new();
        put_into(&mut shapes);
        let text = Value::from(shapes).to_string();
        assert_eq!(text.matches("\"$ref\"").count(), text.matches("\"$ref\":\"#/components/schemas/").count());
    }

    #[test]
    fn requests_leave_out_what_the_desk_fills_in() {
        let mut shapes = Map::new();
        put_into(&mut shapes);
        let order = &shapes["NewOrder"];
        assert_eq!(order["required"], serde_json::json!(["to", "goal", "criteria", "budget", "deadline", "tools"]));
        assert!(order["properties"]["id"].is_object() && order["properties"]["from"].is_null());
        assert!(!shapes["NewReport"]["required"].as_array().unwrap().contains(&"finished_at".into()));
        assert!(shapes["WorkOrder"]["properties"]["from"].is_object());
    }
}
