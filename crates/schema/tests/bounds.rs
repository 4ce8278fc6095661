//! No schema may hang or crash whoever evaluates it.

#![allow(clippy::unwrap_used)]

use std::fmt::Write as _;

use bailiwick_core::json::{Limits, Value, parse};
use bailiwick_schema::Schema;

fn json(text: &str) -> Value {
    parse(text.as_bytes(), &Limits::JOURNAL).unwrap()
}

/// The messages of all faults.
fn messages(schema: &str, output: &str) -> Vec<String> {
    let schema = Schema::compile(&json(schema)).unwrap();
    schema.check(Some(&json(output))).into_iter().map(|fault| fault.message).collect()
}

#[test]
fn a_schema_that_refers_to_itself_ends() {
    for schema in [
        r##"{"$ref": "#"}"##,
        r##"{"allOf": [{"$ref": "#"}]}"##,
        r##"{"anyOf": [{"type": "string"}, {"$ref": "#"}]}"##,
        r##"{"not": {"$ref": "#"}}"##,
        r##"{"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}"##,
        r##"{"$dynamicRef": "#x", "$dynamicAnchor": "x"}"##,
        r##"{"if": {"$ref": "#"}, "then": false}"##,
    ] {
        assert_eq!(messages(schema, "1"), ["the output schema refers back to itself without end"], "{schema}");
    }
}

#[test]
fn a_schema_may_refer_to_itself_on_the_way_down() {
    let schema = r##"{"type": "object", "additionalProperties": {"$ref": "#"}}"##;
    assert!(messages(schema, r#"{"a": {"b": {}}}"#).is_empty());
    assert_eq!(messages(schema, r#"{"a": {"b": 1}}"#).len(), 1);
}

#[test]
fn work_is_limited() {
    let mut schema = String::from(r##"{"$ref": "#/$defs/a0", "$defs": {"##);
    for level in 0..40 {
        let next = level + 1;
        write!(
            schema,
            r##""a{level}": {{"allOf": [{{"$ref": "#/$defs/a{next}"}}, {{"$ref": "#/$defs/a{next}"}}]}}, "##
        )
        .unwrap();
    }
    schema.push_str(r#""a40": {"type": "number"}}}"#);
    assert_eq!(messages(&schema, "1"), ["the output schema takes too much work to evaluate on this output"]);
}

#[test]
fn nesting_is_limited() {
    let mut schema = String::from(r##"{"$ref": "#/$defs/a0", "$defs": {"##);
    for level in 0..5000 {
        write!(schema, r##""a{level}": {{"$ref": "#/$defs/a{}"}}, "##, level + 1).unwrap();
    }
    schema.push_str(r#""a5000": {"type": "number"}}}"#);
    assert_eq!(messages(&schema, "1"), ["the output schema goes too deep on this output"]);
}

#[test]
fn documents_may_be_as_deep_as_the_reader_allows() {
    let deep = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
    assert!(messages(r##"{"items": {"$ref": "#"}}"##, &deep(128)).is_empty());
    assert!(messages(r##"{"allOf": [{"anyOf": [{"items": {"$ref": "#"}}]}]}"##, &deep(128)).is_empty());

    let schema = r#"{"not": "#.repeat(127) + "{}" + &"}".repeat(127);
    assert_eq!(messages(&schema, "1").len(), 1);
}

#[test]
fn a_pattern_that_takes_too_long_is_a_fault() {
    let text = format!("\"{}b\"", "a".repeat(200));
    assert_eq!(messages(r#"{"pattern": "^(a+)+$"}"#, &text).len(), 1);
    assert_eq!(
        messages(r#"{"pattern": "^(?:(a*)*)*\\1c$"}"#, &text),
        ["a pattern of the output schema takes too much work to match on this output"]
    );
}

#[test]
fn large_documents_take_no_quadratic_time() {
    let count = 50_000;
    let names: Vec<String> = (0..count).map(|n| format!("\"n{n}\"")).collect();
    let members: Vec<String> = names.iter().map(|name| format!("{name}: 1")).collect();
    let schemas: Vec<String> = (0..count).map(|n| format!("\"n{n}\": {{\"$ref\": \"#/$defs/n{}\"}}", n / 2)).collect();
    let integers: Vec<String> = (0..count).map(|n| format!("\"n{n}\": {{\"type\": \"integer\"}}")).collect();
    let schema = format!(
        r#"{{"required": [{}], "properties": {{{}}}, "$defs": {{{}}}}}"#,
        names.join(","),
        schemas.join(","),
        integers.join(",")
    );
    assert!(messages(&schema, &format!("{{{}}}", members.join(","))).is_empty());

    let items: Vec<String> = (0..count).map(|n| format!("{{\"a\": {n}, \"b\": [{n}]}}")).collect();
    assert!(messages(r#"{"uniqueItems": true}"#, &format!("[{}]", items.join(","))).is_empty());
}

#[test]
fn nesting_of_schemas_is_limited() {
    let deep = r#"{"not": "#.repeat(511) + "{}" + &"}".repeat(511);
    assert!(Schema::compile(&json(&deep)).is_ok());
}
