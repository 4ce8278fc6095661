//! The documents of the conformance vectors.
#![allow(dead_code, clippy::unwrap_used, clippy::indexing_slicing)]

use std::path::Path;

use bailiwick_core::json::{Limits, Value, parse};

/// Every vector for work orders.
pub(crate) fn vectors() -> Vec<Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/work-orders");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let read = |path: &std::path::PathBuf| parse(&std::fs::read(path).unwrap(), &Limits::DOCUMENT).unwrap();
    paths.iter().flat_map(|path| read(path).as_array().unwrap().to_vec()).collect()
}

/// Every order in them, sub-orders and parents too.
pub(crate) fn orders() -> Vec<Value> {
    let vectors = vectors();
    let member = |name| vectors.iter().filter_map(move |vector| vector.get(name)).cloned();
    member("order").chain(member("parent")).collect()
}

/// Every report in them.
pub(crate) fn reports() -> Vec<Value> {
    vectors().iter().filter_map(|vector| vector.get("report")).cloned().collect()
}

/// A seeded source of choices, the same on every run.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `sides` (xorshift64*).
    pub(crate) fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % sides
    }

    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.roll(from.len())]
    }
}

/// Values that are wrong in most places, right in some, and near a bound.
const VALUES: &[&str] = &[
    "null",
    "true",
    "0",
    "1",
    "-1",
    "0.5",
    "-0.5",
    "2.0",
    "-0.0",
    "1e30",
    "18446744073709551616",
    "\"\"",
    "\" \"",
    "\"a\"",
    "\"a/b\"",
    "\"a/*\"",
    "\"*\"",
    "\"*/b\"",
    "\"a/b\\n\"",
    "\"é/b\"",
    "\"done\"",
    "\"note\"",
    "\"awl/work-order@0.3\"",
    "\"awl/work-report@0.3\"",
    "\"2026-01-01T12:00:00Z\"",
    "\"2026-01-01 12:00:00.5+01\"",
    "\"2026-12-31T23:59:60Z\"",
    "\"2026-01-01T12:00Z\"",
    "\"2026-02-29T12:00:00Z\"",
    "[]",
    "[null]",
    "[\"a/b\"]",
    "[\"\"]",
    "[{\"text\": \"t\"}]",
    "{}",
    "{\"usd\": 1}",
    "{\"a\": 1}",
    "{\"text\": \"t\"}",
    "{\"uri\": \"u\"}",
];

/// Names to add.
const NAMES: &[&str] =
    &["x-a", "x-", "X-a", "a", "", "note", "why", "usd", "seconds", "summary", "output", "effects", "staged"];

/// Changes a document in one to three places: a member or an item taken out, replaced, doubled, or a member added.
pub(crate) fn mutate(document: &Value, dice: &mut Dice) -> Value {
    let mut document = document.clone();
    for _ in 0..=dice.roll(3) {
        document = mutate_once(document, dice, 0);
    }
    document
}

fn mutate_once(value: Value, dice: &mut Dice, depth: usize) -> Value {
    let goes_inside = depth < 6 && dice.roll(8) != 0;
    match value {
        Value::Object(object) if goes_inside && !object.is_empty() => {
            let mut members = object.into_members();
            let at = dice.roll(members.len());
            match dice.roll(10) {
                0 => drop(members.remove(at)),
                1 => members.push(((*dice.pick(NAMES)).into(), random_value(dice))),
                _ => {
                    let (name, value) = members.remove(at);
                    members.insert(at, (name, mutate_once(value, dice, depth + 1)));
                }
            }
            let mut object = bailiwick_core::json::Object::new();
            for (name, value) in members {
                object.insert(name, value);
            }
            object.into()
        }
        Value::Array(mut items) if goes_inside && !items.is_empty() => {
            let at = dice.roll(items.len());
            match dice.roll(8) {
                0 => drop(items.remove(at)),
                1 => items.push(items[at].clone()),
                _ => {
                    let item = items.remove(at);
                    items.insert(at, mutate_once(item, dice, depth + 1));
                }
            }
            Value::Array(items)
        }
        Value::String(text) if dice.roll(4) == 0 => {
            let longer = text.repeat(1 + dice.roll(40));
            let length = *dice.pick(&[1, 64, 65, 128, 129, 512, 513]);
            Value::String(longer.chars().chain("é😀".chars().cycle()).take(length).collect())
        }
        _ => random_value(dice),
    }
}

fn random_value(dice: &mut Dice) -> Value {
    parse(dice.pick(VALUES).as_bytes(), &Limits::DOCUMENT).unwrap()
}
