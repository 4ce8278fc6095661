//! What holds for every JSON value and every text, tried on random ones; `serde_json` is the second opinion.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use bailiwick_core::json::{
    Limits, Number, Object, Tree, Value, parse, parse_lossless, write_canonical, write_compact, write_jcs, write_pretty,
};
use proptest::prelude::*;

const LIMITS: Limits = Limits::DOCUMENT;

fn number() -> impl Strategy<Value = Number> {
    let double = any::<u64>().prop_map(f64::from_bits).prop_filter("finite", |double| double.is_finite());
    prop_oneof![
        any::<i128>().prop_map(Number::Integer),
        any::<i64>().prop_map(|integer| Number::Integer(integer.into())),
        (-1000_i128..1000).prop_map(Number::Integer),
        double.prop_map(Number::Float),
        (-1000_i32..1000).prop_map(|tenths| Number::Float(f64::from(tenths) / 10.0)),
    ]
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-c]{0,2}", "[0-9]{1,11}", "[ -~]{0,40}", "\\PC{0,12}", any::<String>()]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        number().prop_map(Value::Number),
        text().prop_map(Value::String),
    ];
    leaf.prop_recursive(5, 80, 12, |inner| {
        let object = prop::collection::vec((text(), inner.clone()), 0..30).prop_map(|members| {
            let mut object = Object::new();
            members.into_iter().for_each(|(name, value)| object.insert(name, value));
            Value::Object(object)
        });
        prop_oneof![prop::collection::vec(inner, 0..12).prop_map(Value::Array), object]
    })
}

/// The same value with the members of every object the other way round.
fn reversed(value: &Value) -> Value {
    match value {
        Tree::Array(items) => items.iter().map(reversed).collect(),
        Tree::Object(object) => {
            let mut reversed_object = Object::new();
            object.iter().rev().for_each(|(name, value)| reversed_object.insert(name, reversed(value)));
            reversed_object.into()
        }
        scalar => scalar.clone(),
    }
}

/// JSON texts, some of them broken: a valid one in which a few bytes were exchanged, cut out or put in.
fn nearly_json() -> impl Strategy<Value = Vec<u8>> {
    const PIECES: &[&[u8]] = &[
        b"\"",
        b"\\",
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b":",
        b"0",
        b"1",
        b"-",
        b"+",
        b".",
        b"e",
        b"E9",
        b" ",
        b"\n",
        b"\t",
        b"\0",
        b"t",
        b"true",
        b"null",
        b"\\u00",
        b"\\ud83d",
        b"\\ude00",
        b"\\n",
        b"\xC3",
        b"\xA9",
        b"\xED\xA0\x80",
        b"\xEF\xBB\xBF",
        b"99999",
        b"1e999",
    ];
    let edit = (any::<prop::sample::Index>(), prop::sample::select(PIECES), 0..3_usize);
    (value(), any::<bool>(), prop::collection::vec(edit, 0..4)).prop_map(|(value, pretty, edits)| {
        let mut text = if pretty { write_pretty(&value) } else { write_compact(&value) }.into_bytes();
        for (at, piece, cut) in edits {
            let at = at.index(text.len() + 1);
            let end = (at + cut).min(text.len());
            text.splice(at..end, piece.iter().copied());
        }
        text
    })
}

/// Whether serde_json reads the same value, as far as it can hold it: its integers end at 64 bits, and its doubles
/// may be off in the last bit.
fn is_same(ours: &Value, theirs: &serde_json::Value) -> bool {
    match (ours, theirs) {
        (Tree::Null, serde_json::Value::Null) => true,
        (Tree::Bool(ours), serde_json::Value::Bool(theirs)) => ours == theirs,
        (Tree::Number(ours), serde_json::Value::Number(theirs)) => {
            let (ours, theirs) = (ours.to_f64(), theirs.as_f64().unwrap());
            (ours - theirs).abs() <= theirs.abs() * 1e-15 + 1e-320
        }
        (Tree::String(ours), serde_json::Value::String(theirs)) => ours == theirs,
        (Tree::Array(ours), serde_json::Value::Array(theirs)) => {
            ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(ours, theirs)| is_same(ours, theirs))
        }
        (Tree::Object(ours), serde_json::Value::Object(theirs)) => {
            let same = |(ours, theirs): ((&String, &Value), (&String, &serde_json::Value))| {
                ours.0 == theirs.0 && is_same(ours.1, theirs.1)
            };
            ours.len() == theirs.len() && ours.iter().zip(theirs).all(same)
        }
        _ => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_reads_back(value in value()) {
        // The debug text tells integers from doubles and 0.0 from -0.0, which equality does not.
        let expected = format!("{value:?}");
        for text in [write_compact(&value), write_pretty(&value)] {
            let read = parse(text.as_bytes(), &LIMITS).unwrap();
            prop_assert_eq!(format!("{read:?}"), expected.as_str());
            prop_assert_eq!(&read, &value);
        }
    }

    #[test]
    fn canonical_forms_are_their_own(value in value()) {
        for write in [write_canonical::<String>, write_jcs] {
            let text = write(&value);
            let read = parse(text.as_bytes(), &LIMITS).unwrap();
            prop_assert_eq!(write(&read), &*text);
        }
    }

    #[test]
    fn canonical_forms_ignore_the_order_of_members(value in value()) {
        let other = reversed(&value);
        prop_assert_eq!(&other, &value);
        prop_assert_eq!(write_canonical(&other), write_canonical(&value));
        prop_assert_eq!(write_jcs(&other), write_jcs(&value));
    }

    #[test]
    fn both_readers_agree_on_everyday_text(value in value()) {
        let lossless = parse_lossless(write_compact(&value).as_bytes(), &LIMITS).unwrap();
        prop_assert_eq!(write_compact(&lossless), write_compact(&value));
        prop_assert_eq!(write_canonical(&lossless), write_canonical(&value));
    }

    #[test]
    fn unpaired_surrogates_survive(units in prop::collection::vec(prop_oneof![0xD7FE_u16..0xE002, 0x20_u16..0x7F], 0..8)) {
        let escaped: String = units.iter().map(|unit| format!("\\u{unit:04x}")).collect();
        let read = parse_lossless(format!("\"{escaped}\"").as_bytes(), &LIMITS).unwrap();
        let expected: String = char::decode_utf16(units.iter().copied())
            .map(|unit| match unit {
                Ok('"') => "\\\"".into(),
                Ok('\\') => "\\\\".into(),
                Ok(c) => String::from(c),
                Err(unpaired) => format!("\\u{:04x}", unpaired.unpaired_surrogate()),
            })
            .collect();
        prop_assert_eq!(write_canonical(&read), format!("\"{expected}\""));
        let Tree::String(text) = read else { panic!("not a string") };
        prop_assert_eq!(text.to_string_lossy(), String::from_utf16_lossy(&units));
    }

    #[test]
    fn any_bytes_are_read_or_refused(text in prop::collection::vec(any::<u8>(), 0..200)) {
        let verdict = parse(&text, &LIMITS);
        prop_assert_eq!(verdict.is_ok(), serde_json::from_slice::<serde_json::Value>(&text).is_ok());
    }

    #[test]
    fn broken_texts_get_the_verdict_of_serde_json(text in nearly_json()) {
        let ours = parse(&text, &LIMITS);
        let theirs = serde_json::from_slice::<serde_json::Value>(&text);
        match (&ours, &theirs) {
            (Ok(ours), Ok(theirs)) => prop_assert!(is_same(ours, theirs), "{ours:?} {theirs:?}"),
            (Err(error), Err(_)) => prop_assert!(error.offset <= text.len()),
            _ => prop_assert!(false, "{ours:?} {theirs:?}"),
        }
        let _either_way = parse_lossless(&text, &LIMITS);
    }
}
