//! JSON against public vectors, and the canonical form against the worked journal of the specification.
//!
//! The public vectors lie in the folder that `BAILIWICK_VECTORS` names; without it their tests say so and pass.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeMap;
use std::path::PathBuf;

use bailiwick_core::hash::{hex, sha256};
use bailiwick_core::json::{Limits, Value, parse, parse_lossless, write_canonical, write_jcs};

/// A file of vectors, or `None` if there is no folder of them.
fn vectors(file: &str) -> Option<Value> {
    let Some(folder) = std::env::var_os("BAILIWICK_VECTORS") else {
        println!("skipped: BAILIWICK_VECTORS does not name the folder with {file}");
        return None;
    };
    let text = std::fs::read(PathBuf::from(folder).join(file)).unwrap();
    let limits = Limits { bytes: usize::MAX, string_bytes: usize::MAX, ..Limits::DOCUMENT };
    Some(parse(&text, &limits).unwrap())
}

fn from_base64(text: &str) -> Vec<u8> {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bytes, mut bits, mut len) = (Vec::new(), 0_u32, 0);
    for digit in text.bytes().filter(|byte| *byte != b'=') {
        let value = DIGITS.iter().position(|known| *known == digit).expect("a base64 digit");
        (bits, len) = ((bits << 6) | u32::try_from(value).unwrap(), len + 6);
        if len >= 8 {
            len -= 8;
            bytes.push(u8::try_from(bits >> len & 0xFF).unwrap());
        }
    }
    bytes
}

const ACCEPTED: &str = "accepted";
const REFUSED: &str = "refused";
/// Refused in everyday text, kept in old journals
const LOSSLESS: &str = "accepted only without loss";

const UNDERFLOW: &str = "a number too small for a double is the nearest one, zero";
const OVERFLOW: &str = "a number too large for a double has no nearest one";
const EXACT: &str = "an integer that fits 128 bits is exact";
const NEAREST: &str = "an integer beyond 128 bits is the nearest double";
const SURROGATE: &str = "a string of UTF-8 can't hold an unpaired surrogate, one of WTF-8 can";
const ENCODING: &str = "the text must be UTF-8";
const DEPTH: &str = "documents nest up to 128 levels";
const MARK: &str = "RFC 8259 §8.1 lets a reader refuse a byte order mark";

/// What we decided where RFC 8259 leaves the choice to the reader.
const DECIDED: &[(&str, &str, &str)] = &[
    ("i_number_double_huge_neg_exp.json", ACCEPTED, UNDERFLOW),
    ("i_number_huge_exp.json", REFUSED, OVERFLOW),
    ("i_number_neg_int_huge_exp.json", REFUSED, OVERFLOW),
    ("i_number_pos_double_huge_exp.json", REFUSED, OVERFLOW),
    ("i_number_real_neg_overflow.json", REFUSED, OVERFLOW),
    ("i_number_real_pos_overflow.json", REFUSED, OVERFLOW),
    ("i_number_real_underflow.json", ACCEPTED, UNDERFLOW),
    ("i_number_too_big_neg_int.json", ACCEPTED, EXACT),
    ("i_number_too_big_pos_int.json", ACCEPTED, EXACT),
    ("i_number_very_big_negative_int.json", ACCEPTED, NEAREST),
    ("i_object_key_lone_2nd_surrogate.json", LOSSLESS, SURROGATE),
    ("i_string_1st_surrogate_but_2nd_missing.json", LOSSLESS, SURROGATE),
    ("i_string_1st_valid_surrogate_2nd_invalid.json", LOSSLESS, SURROGATE),
    ("i_string_UTF-16LE_with_BOM.json", REFUSED, ENCODING),
    ("i_string_UTF-8_invalid_sequence.json", REFUSED, ENCODING),
    ("i_string_UTF8_surrogate_U+D800.json", REFUSED, ENCODING),
    ("i_string_incomplete_surrogate_and_escape_valid.json", LOSSLESS, SURROGATE),
    ("i_string_incomplete_surrogate_pair.json", LOSSLESS, SURROGATE),
    ("i_string_incomplete_surrogates_escape_valid.json", LOSSLESS, SURROGATE),
    ("i_string_invalid_lonely_surrogate.json", LOSSLESS, SURROGATE),
    ("i_string_invalid_surrogate.json", LOSSLESS, SURROGATE),
    ("i_string_invalid_utf-8.json", REFUSED, ENCODING),
    ("i_string_inverted_surrogates_U+1D11E.json", LOSSLESS, SURROGATE),
    ("i_string_iso_latin_1.json", REFUSED, ENCODING),
    ("i_string_lone_second_surrogate.json", LOSSLESS, SURROGATE),
    ("i_string_lone_utf8_continuation_byte.json", REFUSED, ENCODING),
    ("i_string_not_in_unicode_range.json", REFUSED, ENCODING),
    ("i_string_overlong_sequence_2_bytes.json", REFUSED, ENCODING),
    ("i_string_overlong_sequence_6_bytes.json", REFUSED, ENCODING),
    ("i_string_overlong_sequence_6_bytes_null.json", REFUSED, ENCODING),
    ("i_string_truncated-utf-8.json", REFUSED, ENCODING),
    ("i_string_utf16BE_no_BOM.json", REFUSED, ENCODING),
    ("i_string_utf16LE_no_BOM.json", REFUSED, ENCODING),
    ("i_structure_500_nested_arrays.json", REFUSED, DEPTH),
    ("i_structure_UTF-8_BOM_empty_object.json", REFUSED, MARK),
];

fn verdict(text: &[u8]) -> &'static str {
    let lossless = parse_lossless(text, &Limits::DOCUMENT).is_ok();
    match (parse(text, &Limits::DOCUMENT), lossless) {
        (Ok(_), true) => ACCEPTED,
        (Err(_), true) => LOSSLESS,
        (Err(_), false) => REFUSED,
        (Ok(value), false) => panic!("the lossless reader refuses {value:?}"),
    }
}

#[test]
fn json_test_suite() {
    let Some(suite) = vectors("json-parsing.json") else { return };
    let mut decided: BTreeMap<_, _> =
        DECIDED.iter().map(|(name, verdict, reason)| (*name, (*verdict, *reason))).collect();
    let cases = suite.get("cases").unwrap().as_array().unwrap();
    for case in cases {
        let member = |name| case.get(name).and_then(Value::as_str).unwrap();
        let name = member("name");
        let (expected, reason) = match member("expect") {
            "accept" => (ACCEPTED, "the suite"),
            "reject" => (REFUSED, "the suite"),
            _ => decided.remove(name).unwrap_or_else(|| panic!("nobody decided on {name}")),
        };
        assert_eq!(verdict(&from_base64(member("base64"))), expected, "{name}: {reason}");
    }
    assert!(decided.is_empty(), "no such cases: {decided:?}");
    assert_eq!(cases.len(), 318);
}

#[test]
fn json_canonicalization_scheme() {
    let Some(suite) = vectors("jcs.json") else { return };
    let cases = suite.get("cases").unwrap().as_array().unwrap();
    for case in cases {
        let member = |name| case.get(name).and_then(Value::as_str).unwrap();
        let value = parse(member("input").as_bytes(), &Limits::DOCUMENT).unwrap();
        assert_eq!(write_jcs(&value), member("output"), "{}", member("name"));
        // The journal's form has one rule more, which shows where a name is an array index.
        let differs = matches!(member("name"), "structures.json" | "weird.json");
        assert_eq!(write_canonical(&value) != member("output"), differs, "{}", member("name"));
    }
    assert_eq!(cases.len(), 6);
}

/// The hash of a journal entry's text: canonical form, then SHA-256.
#[track_caller]
fn check_hash(text: &str, canonical: &str, hash: &str) {
    let value = parse_lossless(text.as_bytes(), &Limits::JOURNAL).unwrap();
    assert_eq!(write_canonical(&value), canonical);
    assert_eq!(hex(&sha256(&[canonical.as_bytes()])), hash);
}

/// `spec coordination, Appendix A`: the first event of the worked chain.
#[test]
fn worked_chain_event_1() {
    let preimage = r#"{"actor":"Zoë","entity_id":"ws_1a3856da29ba121b3b3a8057","epoch_id":"epoch_00000000-0000-4000-8000-000000000000","id":"event_00000000-0000-4000-8000-000000000001","occurred_at":"2026-01-01T00:00:00.000Z","payload":{"name":"demo","repository_key":"local-path:926574b4279e713112c5770897285ef4847ad38b6e8178776f4c72802d82ec7d","rights_profile":"xenia.rights/0.1","root_path":"/srv/demo","worktree_id":"wt_bffd45b47e6d1f049ae85e7b"},"prev_hash":"0000000000000000000000000000000000000000000000000000000000000000","protocol":"agenttool.collab/0.2","sequence":1,"session_id":null,"type":"workspace.opened","workspace_id":"ws_1a3856da29ba121b3b3a8057"}"#;
    let hash = "56566a4c812b7d8c824f3b541da0ad254088bd904bff65b81746892b6da2d48a";
    check_hash(preimage, preimage, hash);
    let respelled = preimage
        .replace("\"Zoë\"", r#" "Zo\u00EB""#)
        .replace("\"sequence\":1", "\"sequence\":7,\"sequence\":1.0")
        .replace("/srv/demo", r"\/srv\/demo");
    check_hash(&respelled, preimage, hash);
}

/// `spec coordination, Appendix A`: the second event, by the older rule and with every kind of character.
#[test]
fn worked_chain_event_2() {
    let text = r#"{
        "sequence": 2, "type": "task.progressed", "actor": "old", "entity_id": "t1",
        "id": "event_00000000-0000-4000-8000-000000000002", "occurred_at": "2026-01-01T00:00:01.000Z",
        "workspace_id": "ws_1a3856da29ba121b3b3a8057", "epoch_id": "epoch_00000000-0000-4000-8000-000000000000",
        "protocol": "agenttool.collab/0.1",
        "prev_hash": "56566a4c812b7d8c824f3b541da0ad254088bd904bff65b81746892b6da2d48a",
        "payload": {
            "version": 3,
            "message": "tab\u0009 quote\" back\\ nul-ish\u0001 del\u007F ls\u2028 smile\uD83D\uDE00 lone\uD800."
        }
    }"#;
    let canonical = [
        r#"{"actor":"old","entity_id":"t1","epoch_id":"epoch_00000000-0000-4000-8000-000000000000","id":"event_00000000-0000-4000-8000-000000000002","occurred_at":"2026-01-01T00:00:01.000Z","payload":{"message":"tab\t quote\" back\\ nul-ish\u0001 del"#,
        "\u{7f} ls\u{2028} smile\u{1f600} lone",
        r#"\ud800.","version":3},"prev_hash":"56566a4c812b7d8c824f3b541da0ad254088bd904bff65b81746892b6da2d48a","protocol":"agenttool.collab/0.1","sequence":2,"type":"task.progressed","workspace_id":"ws_1a3856da29ba121b3b3a8057"}"#,
    ]
    .concat();
    assert_eq!(canonical.len(), 479);
    check_hash(text, &canonical, "ee273a48a910326edb5a78b6d7731a5da78754a8a5989ef10062a2a416ae1e36");
}

/// `spec coordination, Appendix A`: a receipt's hash and a checkpoint's digest.
#[test]
fn worked_digests() {
    check_hash(
        r#"{"request":{"task_id":"t","expected_version":1,"ttl_seconds":900},"operation":"task.claim.v2"}"#,
        r#"{"operation":"task.claim.v2","request":{"expected_version":1,"task_id":"t","ttl_seconds":900}}"#,
        "0d170bd9066634e03aea9334f47bb72a9e3a92826251d86bdb2329321429bf66",
    );
    check_hash(
        r#"{"worktree_id":"wt_1","head_sha":null,"branch":null,"dirty":null,"captured_at":"2026-01-01T00:00:00.000Z"}"#,
        r#"{"branch":null,"captured_at":"2026-01-01T00:00:00.000Z","dirty":null,"head_sha":null,"worktree_id":"wt_1"}"#,
        "2b95d374a684c48fc01805daea3449841299ca9eb6146976838e10fcc935b42c",
    );
}
