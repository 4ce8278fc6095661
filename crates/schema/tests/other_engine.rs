//! Random schemas and values: our engine and one of another author agree on what fits.

#![allow(clippy::unwrap_used)]

mod documents;

use bailiwick_core::json::{Object, Value, write_compact};
use bailiwick_schema::Schema;
use documents::Dice;

const SCHEMAS: usize = 5000;
const VALUES: usize = 12;

const NAMES: &[&str] = &["a", "b", "c", "a/b", ""];
const TYPES: &[&str] = &["null", "boolean", "integer", "number", "string", "array", "object"];
const TEXTS: &[&str] = &["", "a", "ab", "aab", "12", "é", "😀😀", "2026-01-01", "x y"];
const PATTERNS: &[&str] = &["^a", "b$", "^\\d+$", "[a-c]", "^(?:a|b)*$", "\\w", "^.{2}$", "(?=a)", "(?<=a)b", "(a)\\1"];

/// A number, a text, or one of the others; now and then an array or object of them.
fn value(dice: &mut Dice, depth: usize) -> Value {
    match dice.roll(if depth < 3 { 10 } else { 6 }) {
        0 => Value::Null,
        1 => (dice.roll(2) == 0).into(),
        2 => number(dice),
        3..=5 => (*dice.pick(TEXTS)).into(),
        6 | 7 => (0..dice.roll(4)).map(|_| value(dice, depth + 1)).collect(),
        _ => members(dice, |dice| value(dice, depth + 1)),
    }
}

fn number(dice: &mut Dice) -> Value {
    let numbers = [-1.0, 0.0, 1.0, 1.5, 2.0, 3.0, 10.0];
    match dice.roll(2) {
        0 => (dice.roll(5) as u64).into(),
        _ => bailiwick_core::json::Number::from_f64(*dice.pick(&numbers)).unwrap().into(),
    }
}

fn members(dice: &mut Dice, mut member: impl FnMut(&mut Dice) -> Value) -> Value {
    let mut object = Object::new();
    for _ in 0..dice.roll(4) {
        object.insert(*dice.pick(NAMES), member(dice));
    }
    object.into()
}

/// One to three keywords; `$defs` at the root.
fn schema(dice: &mut Dice, depth: usize) -> Value {
    if depth > 3 || (depth > 0 && dice.roll(12) == 0) {
        return (dice.roll(4) > 0).into();
    }
    let mut schema = Object::new();
    for _ in 0..=dice.roll(3) {
        let (name, value) = keyword(dice, depth + 1);
        schema.insert(name, value);
    }
    if depth == 0 {
        schema.insert("$defs", Object::new().with("a", self::schema(dice, 2)).with("b", self::schema(dice, 2)));
    }
    schema.into()
}

fn keyword(dice: &mut Dice, depth: usize) -> (&'static str, Value) {
    let keywords = [
        "type",
        "enum",
        "const",
        "multipleOf",
        "maximum",
        "exclusiveMaximum",
        "minimum",
        "exclusiveMinimum",
        "maxLength",
        "minLength",
        "pattern",
        "maxItems",
        "minItems",
        "uniqueItems",
        "maxProperties",
        "minProperties",
        "required",
        "dependentRequired",
        "properties",
        "patternProperties",
        "additionalProperties",
        "items",
        "prefixItems",
        "contains",
        "propertyNames",
        "dependentSchemas",
        "allOf",
        "anyOf",
        "oneOf",
        "not",
        "if",
        "then",
        "else",
        "$ref",
        "unevaluatedProperties",
        "unevaluatedItems",
    ];
    let name = *dice.pick(&keywords);
    let value = match name {
        "type" => (*dice.pick(TYPES)).into(),
        "enum" => (0..=dice.roll(3)).map(|_| value(dice, 1)).collect(),
        "const" => value(dice, 1),
        "multipleOf" => (1 + dice.roll(3) as u64).into(),
        "maximum" | "exclusiveMaximum" | "minimum" | "exclusiveMinimum" => number(dice),
        "maxLength" | "minLength" | "maxItems" | "minItems" | "maxProperties" | "minProperties" => {
            (dice.roll(4) as u64).into()
        }
        "pattern" => (*dice.pick(PATTERNS)).into(),
        "uniqueItems" => true.into(),
        "required" => names(dice),
        "dependentRequired" => members(dice, names),
        "properties" | "dependentSchemas" => members(dice, |dice| schema(dice, depth)),
        "patternProperties" => Object::new().with(*dice.pick(PATTERNS), schema(dice, depth)).into(),
        "allOf" | "anyOf" | "oneOf" | "prefixItems" => (0..=dice.roll(2)).map(|_| schema(dice, depth)).collect(),
        "$ref" => (*dice.pick(&["#/$defs/a", "#/$defs/b"])).into(),
        _ => schema(dice, depth),
    };
    (name, value)
}

/// Names, none twice.
fn names(dice: &mut Dice) -> Value {
    NAMES.iter().filter(|_| dice.roll(2) == 0).map(|name| Value::from(*name)).collect()
}

#[test]
fn engines_agree() {
    let mut dice = Dice::new(3);
    let mut verdicts = [0, 0];
    for _ in 0..SCHEMAS {
        let schema = schema(&mut dice, 0);
        let text = write_compact(&schema);
        let ours = Schema::compile(&schema).unwrap();
        let theirs = jsonschema::draft202012::new(&serde_json::from_str(&text).unwrap()).unwrap();
        for _ in 0..VALUES {
            let value = value(&mut dice, 0);
            let faults = ours.check(Some(&value));
            // What refers to itself without end has no meaning to agree on.
            if faults.iter().any(|fault| fault.message.contains("without end")) {
                continue;
            }
            let json = serde_json::from_str(&write_compact(&value)).unwrap();
            assert_eq!(faults.is_empty(), theirs.is_valid(&json), "{text} {}\n{faults:?}", write_compact(&value));
            verdicts[usize::from(faults.is_empty())] += 1;
        }
    }
    assert!(verdicts.iter().all(|count| *count > 500), "{verdicts:?}");
}
