use super::*;
use crate::json::{Text, write_compact};
use std::string::ToString;
use std::vec;

const TINY: Limits = Limits { bytes: 40, depth: 3, string_bytes: 5, members: 2, duplicates: Duplicates::Refuse };

fn read(text: &str) -> Value {
    parse(text.as_bytes(), &Limits::DOCUMENT).unwrap()
}

/// Reads a text and writes it again.
#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(write_compact(&read(text)), expected, "{text}");
}

#[track_caller]
fn check_refused(text: &[u8], limits: &Limits, code: &str, at: usize, message: &str) {
    let error = parse(text, limits).unwrap_err();
    let shown = String::from_utf8_lossy(text);
    assert_eq!((error.code(), error.offset, &*error.kind.to_string()), (code, at, message), "{shown}");
}

#[test]
fn values_of_every_kind() {
    check(
        r#" { "a" : [ null , true , false , 1 , 1.5 , "x" , { } , [ ] ] } "#,
        r#"{"a":[null,true,false,1,1.5,"x",{},[]]}"#,
    );
    check("\t\r\n 0 ", "0");
    check(r#""""#, r#""""#);
}

#[test]
fn numbers_are_integers_or_doubles() {
    let integer = |text: &str, expected: i128| {
        let number = read(text);
        assert!(matches!(number, Tree::Number(Number::Integer(value)) if value == expected), "{text}: {number:?}");
    };
    integer("0", 0);
    integer("-0", 0);
    integer("9999999999999999999", 9_999_999_999_999_999_999);
    integer("-9999999999999999999", -9_999_999_999_999_999_999);
    integer("18446744073709551616", 1 << 64);
    integer(&i128::MAX.to_string(), i128::MAX);
    integer(&i128::MIN.to_string(), i128::MIN);

    let float = |text: &str, expected: f64| {
        let number = read(text);
        let same = matches!(number, Tree::Number(Number::Float(value)) if value.to_bits() == expected.to_bits());
        assert!(same, "{text}: {number:?}");
    };
    float("1.0", 1.0);
    float("-0.0", -0.0);
    float("-0e0", -0.0);
    float("1e2", 100.0);
    float("1E+2", 100.0);
    float("25e-1", 2.5);
    float("170141183460469231731687303715884105728", 170_141_183_460_469_231_731_687_303_715_884_105_728.0);
    float("1e-400", 0.0);
    float("1.7976931348623157e308", f64::MAX);
}

#[test]
fn wrong_numbers_are_named() {
    let check =
        |text: &str, code, at, message: &str| check_refused(text.as_bytes(), &Limits::DOCUMENT, code, at, message);
    check("-", "invalid_number", 1, "incomplete number `-`, expected a digit");
    check("[1.]", "invalid_number", 3, "incomplete number `1.`, expected a digit");
    check("1e+", "invalid_number", 3, "incomplete number `1e+`, expected a digit");
    check("01", "invalid_number", 1, "incomplete number `0`, expected no digit after a leading zero");
    check("-00", "invalid_number", 2, "incomplete number `-0`, expected no digit after a leading zero");
    check("[1e309]", "number_out_of_range", 1, "number `1e309` is too large, expected a magnitude below 1.8e308");
    let long = "9".repeat(400);
    let message = std::format!("number `{}…` is too large, expected a magnitude below 1.8e308", "9".repeat(40));
    check(&long, "number_out_of_range", 0, &message);
    check(&std::format!("-{long}"), "number_out_of_range", 0, &message.replacen("`9", "`-", 1));
    for text in ["NaN", "Infinity", "+1", ".5", "True", "nul", "'a'", "٣"] {
        let found = if text.starts_with(char::is_alphanumeric) { text } else { &text[..1] };
        check(text, "unexpected_text", 0, &std::format!("unexpected `{found}`, expected {A_VALUE}"));
    }
    check("-Infinity", "invalid_number", 1, "incomplete number `-`, expected a digit");
    check("1x", "trailing_text", 1, "unexpected `x` after the value, expected the end");
}

#[test]
fn escapes_become_characters() {
    check(r#""\"\\\/\b\f\n\r\t\u0041\u00e9\u20AC\ud83d\ude00\u0000""#, r#""\"\\/\b\f\n\r\tAé€😀\u0000""#);
    check(r#"{"\u0061b":"x\u0020y"}"#, r#"{"ab":"x y"}"#);
}

#[test]
fn wrong_strings_are_named() {
    let check = |text: &[u8], code, at, message: &str| check_refused(text, &Limits::DOCUMENT, code, at, message);
    check(b"\"abc", "unexpected_end", 4, "the text ends too early, expected a closing `\"`");
    check(b"\"abc\\", "unexpected_end", 4, "the text ends too early, expected a closing `\"`");
    check(b"\"a\tb\"", "control_character", 2, "raw `U+0009` in a string, expected its escape `\\u0009`");
    let escapes = "expected a backslash and one of `\"\\/bfnrt`, or `\\u` and four hexadecimal digits";
    check(br#""\x41""#, "invalid_escape", 1, &std::format!("unknown escape `\\x`, {escapes}"));
    check(br#""\u12g4""#, "invalid_escape", 1, &std::format!("unknown escape `\\u12g4`, {escapes}"));
    check(br#""\u+123""#, "invalid_escape", 1, &std::format!("unknown escape `\\u+123`, {escapes}"));
    check(
        "\"\\u00\u{202e}\"".as_bytes(),
        "invalid_escape",
        1,
        &std::format!("unknown escape `\\u00U+202E\"`, {escapes}"),
    );
    let pair = "expected a character or a pair of surrogates";
    check(br#""a\ud800""#, "unpaired_surrogate", 2, &std::format!("unpaired surrogate `\\ud800`, {pair}"));
    check(br#""\ude00\ud83d""#, "unpaired_surrogate", 1, &std::format!("unpaired surrogate `\\ude00`, {pair}"));
    check(b"\"\xFF\"", "invalid_utf8", 1, "byte `0xff` is not UTF-8, which is all that is accepted");
    check(b"\"\xED\xA0\x80\"", "invalid_utf8", 1, "byte `0xed` is not UTF-8, which is all that is accepted");
    check(b"\xEF\xBB\xBF{}", "byte_order_mark", 0, "`U+FEFF` at the start, a JSON text has no byte order mark");
}

#[test]
fn wrong_structure_is_named() {
    let check = |text: &[u8], code, at, message: &str| check_refused(text, &Limits::DOCUMENT, code, at, message);
    check(b"", "unexpected_end", 0, &std::format!("the text ends too early, expected {A_VALUE}"));
    check(b"[1 2]", "unexpected_text", 3, "unexpected `2`, expected `,` or `]`");
    check(b"[1,]", "unexpected_text", 3, &std::format!("unexpected `]`, expected {A_VALUE}"));
    check(b"[1", "unexpected_end", 2, "the text ends too early, expected `,` or `]`");
    check(b"{a:1}", "unexpected_text", 1, "unexpected `a`, expected a member's name in double quotes");
    check(b"{\"a\":1,}", "unexpected_text", 7, "unexpected `}`, expected a member's name in double quotes");
    check(b"{\"a\" 1}", "unexpected_text", 5, "unexpected `1`, expected `:`");
    check(b"{\"a\":1;", "unexpected_text", 6, "unexpected `;`, expected `,` or `}`");
    check(b"{} // done", "trailing_text", 3, "unexpected `/` after the value, expected the end");
    check("\u{a0}1".as_bytes(), "unexpected_text", 0, &std::format!("unexpected `U+00A0`, expected {A_VALUE}"));
}

#[test]
fn places_are_lines_and_code_points() {
    let error = parse("{\n  \"é😀\": nil\n}".as_bytes(), &Limits::DOCUMENT).unwrap_err();
    assert_eq!((error.offset, error.line, error.column), (14, 2, 9));
    assert!(error.to_string().starts_with("line 2 column 9: unexpected `nil`, expected a value"));
    let error = parse(b"[\n\xFF", &Limits::DOCUMENT).unwrap_err();
    assert_eq!((error.offset, error.line, error.column), (2, 2, 1));
}

#[test]
fn the_last_of_repeated_names_wins_at_the_first_place() {
    check(r#"{"a":1,"b":2,"a":3}"#, r#"{"a":3,"b":2}"#);
    check(r#"{"a":1,"\u0061":{"a":2,"a":3},"b":4,"b":5,"a":6}"#, r#"{"a":6,"b":5}"#);
    check(r#"[{"a":1},{"a":2,"b":{"a":3,"a":4}}]"#, r#"[{"a":1},{"a":2,"b":{"a":4}}]"#);
    let many = |value: usize| (0..50).map(move |at| std::format!("\"m{at}\":{value}"));
    let text = std::format!("{{{}}}", many(1).chain(many(2)).chain(many(3)).collect::<Vec<_>>().join(","));
    check(&text, &std::format!("{{{}}}", many(3).collect::<Vec<_>>().join(",")));
}

#[test]
fn repeated_names_can_be_refused() {
    let limits = Limits::DOCUMENT.with_duplicates(Duplicates::Refuse);
    let message = "member `a` occurs twice, expected each name once";
    check_refused(br#"{"b":{"a":1}, "a":1, "\u0061":2}"#, &limits, "duplicate_name", 21, message);
    check_refused(br#"[{"a":1},{"x":{"a":1,"a":2}}]"#, &limits, "duplicate_name", 21, message);
    let members = |names: &[usize]| names.iter().map(|at| std::format!("\"{at}\":0")).collect::<Vec<_>>().join(",");
    let names: Vec<usize> = (100..140).collect();
    assert!(parse(std::format!("{{{}}}", members(&names)).as_bytes(), &limits).is_ok());
    let text = std::format!("{{{},\"120\":0}}", members(&names));
    let message = "member `120` occurs twice, expected each name once";
    check_refused(text.as_bytes(), &limits, "duplicate_name", 1 + 40 * 8, message);
}

#[test]
fn limits_hold_exactly() {
    assert!(parse(b"[[[]]]", &TINY).is_ok());
    check_refused(b"[[[[]]]]", &TINY, "too_deep", 3, "nested too deeply, at most 3 levels are accepted");
    check_refused(br#"{"a":[{"b":{}}]}"#, &TINY, "too_deep", 11, "nested too deeply, at most 3 levels are accepted");
    assert!(parse(br#"["12345",{"123\u00e9":[1,2]}]"#, &TINY).is_ok());
    check_refused(br#"["123456"]"#, &TINY, "string_too_long", 1, "string too long, at most 5 bytes are accepted");
    check_refused(br#"{"1234\u00e9":1}"#, &TINY, "string_too_long", 1, "string too long, at most 5 bytes are accepted");
    check_refused(b"[1,2,3]", &TINY, "too_many_members", 5, "too many members, at most 2 are accepted");
    let three = br#"{"a":1,"b":2,"c":3}"#;
    check_refused(three, &TINY, "too_many_members", 13, "too many members, at most 2 are accepted");
    assert!(parse(&[b' '; 39].iter().chain(b"1").copied().collect::<Vec<_>>(), &TINY).is_ok());
    check_refused(&[b' '; 41], &TINY, "too_long", 0, "the text has `41` bytes, at most 40 are accepted");
}

#[test]
fn depth_is_bounded_whatever_the_limit_says() {
    let nested = |open: &str, middle: &str, close: &str, levels: usize| {
        std::format!("{}{middle}{}", open.repeat(levels), close.repeat(levels))
    };
    let limits = Limits { depth: usize::MAX, ..Limits::DOCUMENT };
    for (open, middle, close) in [("[", "", "]"), ("{\"a\":", "0", "}"), ("[{\"a\":", "0", "}]")] {
        let width = open.matches(['[', '{']).count();
        let deepest = parse(nested(open, middle, close, DEEPEST / width).as_bytes(), &limits).unwrap();
        assert_eq!(deepest.clone(), deepest);
        let error = parse(nested(open, middle, close, DEEPEST / width + 1).as_bytes(), &limits).unwrap_err();
        assert_eq!(error.kind, ReadErrorKind::TooDeep { limit: DEEPEST });
        assert!(parse(nested(open, middle, close, 128 / width).as_bytes(), &Limits::DOCUMENT).is_ok());
        assert!(parse(nested(open, middle, close, 128 / width + 1).as_bytes(), &Limits::DOCUMENT).is_err());
    }
    assert_eq!(parse("[".repeat(1 << 20).as_bytes(), &limits).unwrap_err().code(), "too_deep");
}

#[test]
fn lossless_texts_keep_unpaired_surrogates() {
    let read = |text: &str| match parse_lossless(text.as_bytes(), &Limits::JOURNAL).unwrap() {
        Tree::String(text) => text,
        other => panic!("{other:?}"),
    };
    assert_eq!(read(r#""\ud83d\ude00""#).as_ref(), "😀".as_bytes());
    assert_eq!(read(r#""\ud800""#).as_ref(), [0xED, 0xA0, 0x80]);
    assert_eq!(read(r#""\udfff\ud83d""#).as_ref(), [0xED, 0xBF, 0xBF, 0xED, 0xA0, 0xBD]);
    assert_eq!(
        read(r#""\ud83d\ud83d\ude00\ude00""#).as_ref(),
        [&[0xED, 0xA0, 0xBD], "😀".as_bytes(), &[0xED, 0xB8, 0x80]].concat()
    );
    assert_eq!(read(r#""\ud83dx\ude00""#).as_ref(), [0xED, 0xA0, 0xBD, b'x', 0xED, 0xB8, 0x80]);
    assert_eq!(read(r#""\ud83d\n""#).as_ref(), [0xED, 0xA0, 0xBD, b'\n']);
    assert_eq!(read(r#""a\ud800b""#).as_str(), None);
    assert_eq!(read(r#""a\ud800b\udc00\ud801""#).to_string_lossy(), "a\u{FFFD}b\u{FFFD}\u{FFFD}");
    assert_eq!(read(r#""a\ud7ff\ue000""#).to_string_lossy(), "a\u{d7ff}\u{e000}");
    assert_eq!(read(r#""caf\u00e9""#).as_str(), Some("café"));
    assert!(parse_lossless(b"\"\xED\xA0\x80\"", &Limits::JOURNAL).is_err());
    let object = parse_lossless(br#"{"\ud800":1,"\uD800":2}"#, &Limits::JOURNAL).unwrap();
    assert_eq!(object.as_object().map(Object::len), Some(1));
}

#[test]
fn big_texts_stay_linear() {
    let names: Vec<_> = (0..50_000).map(|at| std::format!("\"n{}\":{at}", at % 25_000)).collect();
    let value = read(&std::format!("{{{}}}", names.join(",")));
    assert_eq!(value.as_object().map(Object::len), Some(25_000));
    assert_eq!(value.get("n7"), Some(&Value::from(25_007_u64)));
    let items = vec!["\"\\u0041\""; 100_000].join(",");
    assert_eq!(read(&std::format!("[{items}]")).as_array().map(<[Value]>::len), Some(100_000));
}
