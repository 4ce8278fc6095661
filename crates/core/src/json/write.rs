//! The writers, each named after its rule.
//!
//! | Writer | Rule |
//! |---|---|
//! | [`write_compact`] | our own: members in their order, integers exact, doubles stay recognisable as doubles |
//! | [`write_pretty`] | the same, laid out as `JSON.stringify(value, null, 2)` does |
//! | [`write_canonical`] | `spec coordination §5.2`: what journals hash |
//! | [`write_jcs`] | RFC 8785: what others hash |
//!
//! The two canonical rules differ in one thing: §5.2 puts names that JavaScript takes for array indices first, in
//! numeric order, RFC 8785 does not know them: `{"10":0,"9":0,"":0}` becomes `{"9":0,"10":0,"":0}` and
//! `{"":0,"10":0,"9":0}`.
//! Both print numbers as JavaScript does. An integer beyond 2^53 therefore becomes the nearest double's shortest
//! form (`9007199254740993` is written `9007199254740992`): different integers can have one canonical form.
//!
//! All of them write strings alike: `"`, `\` and control characters escaped as shortly as JSON can, unpaired
//! surrogates as `\udxxx`, everything else raw. So any output is valid UTF-8.

use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Ordering;

use super::scan::{self, SURROGATE_LEAD};
use super::{Number, Object, Text, Tree};

/// Writes a value without white space; the reader gives it back as it was, integers and doubles apart.
pub fn write_compact<S: Text>(value: &Tree<S>) -> String {
    to_text(|out| write_compact_into(value, out))
}

/// [`write_compact`], added to a buffer.
pub fn write_compact_into<S: Text>(value: &Tree<S>, out: &mut Vec<u8>) {
    match value {
        Tree::Null => out.extend_from_slice(b"null"),
        Tree::Bool(value) => write_bool(*value, out),
        Tree::Number(number) => write_number(*number, out),
        Tree::String(text) => write_string(text.as_ref(), out),
        Tree::Array(items) => {
            out.push(b'[');
            comma_separated(items, out, |item, out| write_compact_into(item, out));
            out.push(b']');
        }
        Tree::Object(object) => {
            out.push(b'{');
            comma_separated(object.iter(), out, |(name, value), out| {
                write_string(name.as_ref(), out);
                out.push(b':');
                write_compact_into(value, out);
            });
            out.push(b'}');
        }
    }
}

/// Writes a value as [`write_compact`] does, a line for each member and item, indented by two spaces.
pub fn write_pretty<S: Text>(value: &Tree<S>) -> String {
    to_text(|out| write_pretty_at(value, 0, out))
}

/// Writes a value in the canonical form of journals (`spec coordination §5.2`).
pub fn write_canonical<S: Text>(value: &Tree<S>) -> String {
    to_text(|out| write_canonical_into(value, out))
}

/// [`write_canonical`], added to a buffer.
pub fn write_canonical_into<S: Text>(value: &Tree<S>, out: &mut Vec<u8>) {
    Sorted { compare: journal_order, stack: Vec::new() }.write(value, out);
}

/// Writes a value in the canonical form of RFC 8785, the JSON Canonicalization Scheme.
///
/// RFC 8785 has no form for unpaired surrogates; here they become escapes.
pub fn write_jcs<S: Text>(value: &Tree<S>) -> String {
    to_text(|out| write_jcs_into(value, out))
}

/// [`write_jcs`], added to a buffer.
pub fn write_jcs_into<S: Text>(value: &Tree<S>, out: &mut Vec<u8>) {
    Sorted { compare: utf16_order, stack: Vec::new() }.write(value, out);
}

fn to_text(write: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    write(&mut out);
    // INVARIANT: every writer writes UTF-8, so nothing is ever replaced.
    String::from_utf8(out).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

fn write_pretty_at<S: Text>(value: &Tree<S>, depth: usize, out: &mut Vec<u8>) {
    let inner = depth.saturating_add(1);
    match value {
        Tree::Array(items) if !items.is_empty() => {
            out.push(b'[');
            comma_separated(items, out, |item, out| {
                write_new_line(inner, out);
                write_pretty_at(item, inner, out);
            });
            write_new_line(depth, out);
            out.push(b']');
        }
        Tree::Object(object) if !object.is_empty() => {
            out.push(b'{');
            comma_separated(object.iter(), out, |(name, value), out| {
                write_new_line(inner, out);
                write_string(name.as_ref(), out);
                out.extend_from_slice(b": ");
                write_pretty_at(value, inner, out);
            });
            write_new_line(depth, out);
            out.push(b'}');
        }
        flat => write_compact_into(flat, out),
    }
}

fn write_new_line(depth: usize, out: &mut Vec<u8>) {
    out.push(b'\n');
    out.extend(core::iter::repeat_n(b' ', depth.saturating_mul(2)));
}

fn comma_separated<T>(items: impl IntoIterator<Item = T>, out: &mut Vec<u8>, mut write: impl FnMut(T, &mut Vec<u8>)) {
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write(item, out);
    }
}

fn write_bool(value: bool, out: &mut Vec<u8>) {
    out.extend_from_slice(if value { b"true" } else { b"false" });
}

/// The writer of sorted members.
struct Sorted<'a, S> {
    compare: fn(&[u8], &[u8]) -> Ordering,
    /// Members of the objects that are being written, outer ones first
    stack: Vec<(&'a S, &'a Tree<S>)>,
}

impl<'a, S: Text> Sorted<'a, S> {
    fn write(&mut self, value: &'a Tree<S>, out: &mut Vec<u8>) {
        match value {
            Tree::Null => out.extend_from_slice(b"null"),
            Tree::Bool(value) => write_bool(*value, out),
            Tree::Number(number) => write_javascript_number(*number, out),
            Tree::String(text) => write_string(text.as_ref(), out),
            Tree::Array(items) => {
                out.push(b'[');
                comma_separated(items, out, |item, out| self.write(item, out));
                out.push(b']');
            }
            Tree::Object(object) => {
                out.push(b'{');
                self.write_members(object, out);
                out.push(b'}');
            }
        }
    }

    fn write_members(&mut self, object: &'a Object<S>, out: &mut Vec<u8>) {
        let compare = self.compare;
        if object.iter().is_sorted_by(|(a, _), (b, _)| compare(a.as_ref(), b.as_ref()).is_lt()) {
            return comma_separated(object.iter(), out, |member, out| self.write_member(member, out));
        }
        let base = self.stack.len();
        self.stack.extend(object.iter());
        if let Some(members) = self.stack.get_mut(base..) {
            members.sort_unstable_by(|(a, _), (b, _)| compare(a.as_ref(), b.as_ref()));
        }
        comma_separated(base..self.stack.len(), out, |at, out| {
            if let Some(member) = self.stack.get(at).copied() {
                self.write_member(member, out);
            }
        });
        self.stack.truncate(base);
    }

    fn write_member(&mut self, (name, value): (&'a S, &'a Tree<S>), out: &mut Vec<u8>) {
        write_string(name.as_ref(), out);
        out.push(b':');
        self.write(value, out);
    }
}

/// Array indices first, by number; then all other names by their UTF-16 code units (`spec coordination §5.2`).
fn journal_order(a: &[u8], b: &[u8]) -> Ordering {
    match (array_index(a), array_index(b)) {
        (Some(a), Some(b)) => a.cmp(&b),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => utf16_order(a, b),
    }
}

/// The number that JavaScript takes a name for: 0 to 2^32 − 2 in decimal, no leading zero.
fn array_index(name: &[u8]) -> Option<u32> {
    match name {
        [b'0'] => Some(0),
        [b'1'..=b'9', rest @ ..] if rest.len() < 10 && rest.iter().all(u8::is_ascii_digit) => {
            let index: u32 = core::str::from_utf8(name).ok()?.parse().ok()?;
            (index < u32::MAX).then_some(index)
        }
        _ => None,
    }
}

/// By UTF-16 code units, given UTF-8 or WTF-8.
fn utf16_order(a: &[u8], b: &[u8]) -> Ordering {
    // The byte order is the code point order. UTF-16 departs from it only between a surrogate, paired or not, and
    // what lies above it, and all of those start with a byte of at least 0xED.
    match a.iter().zip(b).find(|(a, b)| a != b) {
        Some((0xED.., 0xED..)) => utf16_units(a).cmp(utf16_units(b)),
        Some((a, b)) => a.cmp(b),
        None => a.len().cmp(&b.len()),
    }
}

/// The UTF-16 code units of UTF-8 or WTF-8.
fn utf16_units(bytes: &[u8]) -> impl Iterator<Item = u16> {
    let bits = |byte: u8| u32::from(byte & 0x3F);
    let mut rest = bytes;
    let points = core::iter::from_fn(move || {
        let (point, after) = match rest {
            [a @ 0xF0..=0xFF, b, c, d, after @ ..] => {
                ((u32::from(a & 7) << 18) | (bits(*b) << 12) | (bits(*c) << 6) | bits(*d), after)
            }
            [a @ 0xE0..=0xFF, b, c, after @ ..] => ((u32::from(a & 15) << 12) | (bits(*b) << 6) | bits(*c), after),
            [a @ 0xC0..=0xFF, b, after @ ..] => ((u32::from(a & 31) << 6) | bits(*b), after),
            [a, after @ ..] => (u32::from(*a), after),
            [] => return None,
        };
        rest = after;
        Some(point)
    });
    points
        .flat_map(|point| match u16::try_from(point) {
            Ok(unit) => [Some(unit), None],
            Err(_) => {
                let mut units = [0; 2];
                let c = char::from_u32(point).unwrap_or(char::REPLACEMENT_CHARACTER);
                c.encode_utf16(&mut units);
                units.map(Some)
            }
        })
        .flatten()
}

/// Integers in full; doubles with a point or an exponent.
fn write_number(number: Number, out: &mut Vec<u8>) {
    match number {
        Number::Integer(integer) => write_integer(integer, out),
        Number::Float(float) => {
            let start = out.len();
            // JavaScript has no negative zero in text.
            if float == 0.0 && float.is_sign_negative() {
                out.push(b'-');
            }
            write_javascript_float(float, out);
            let written = out.get(start..).unwrap_or_default();
            if !written.iter().any(|byte| matches!(byte, b'.' | b'e')) {
                out.extend_from_slice(b".0");
            }
        }
    }
}

/// As JavaScript prints the nearest double.
fn write_javascript_number(number: Number, out: &mut Vec<u8>) {
    const SAFE: i128 = 1 << 53;
    match number {
        Number::Integer(integer @ ..=SAFE) if integer >= -SAFE => write_integer(integer, out),
        number => write_javascript_float(number.to_f64(), out),
    }
}

fn write_javascript_float(float: f64, out: &mut Vec<u8>) {
    out.extend_from_slice(ryu_js::Buffer::new().format(float).as_bytes());
}

fn write_integer(integer: i128, out: &mut Vec<u8>) {
    let mut digits = [0; 39];
    let mut rest = integer.unsigned_abs();
    let mut len: usize = 0;
    for slot in digits.iter_mut().rev() {
        // 64-bit division is much faster, and nearly every number is small.
        let digit;
        (rest, digit) = match u64::try_from(rest) {
            Ok(small) => (u128::from(small / 10), small % 10),
            Err(_) => (rest / 10, u64::try_from(rest % 10).unwrap_or_default()),
        };
        *slot = b'0' | u8::try_from(digit).unwrap_or_default();
        len = len.wrapping_add(1);
        if rest == 0 {
            break;
        }
    }
    if integer < 0 {
        out.push(b'-');
    }
    out.extend_from_slice(digits.get(digits.len().wrapping_sub(len)..).unwrap_or_default());
}

/// Writes a string of UTF-8 or WTF-8.
fn write_string(text: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    let mut rest = text;
    loop {
        let (verbatim, from_here) = rest.split_at_checked(scan::verbatim_len(rest)).unwrap_or((rest, &[]));
        out.extend_from_slice(verbatim);
        let [byte, after @ ..] = from_here else { break };
        rest = match from_here {
            [SURROGATE_LEAD, a @ 0xA0..=0xBF, b, after @ ..] => {
                write_unicode_escape(0xD000 | (u16::from(a & 0x3F) << 6) | u16::from(b & 0x3F), out);
                after
            }
            _ => {
                write_byte(*byte, out);
                after
            }
        };
    }
    out.push(b'"');
}

/// Writes a byte of a string as shortly as JSON can.
fn write_byte(byte: u8, out: &mut Vec<u8>) {
    let short = match byte {
        b'"' | b'\\' => byte,
        0x08 => b'b',
        0x09 => b't',
        0x0A => b'n',
        0x0C => b'f',
        0x0D => b'r',
        0..0x20 => return write_unicode_escape(byte.into(), out),
        _ => return out.push(byte),
    };
    out.extend_from_slice(&[b'\\', short]);
}

fn write_unicode_escape(unit: u16, out: &mut Vec<u8>) {
    out.extend_from_slice(b"\\u");
    out.extend_from_slice(crate::hash::hex(&unit.to_be_bytes()).as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Limits, LosslessText, Value, parse, parse_lossless};
    use std::format;

    fn read(text: &str) -> Value {
        parse(text.as_bytes(), &Limits::DOCUMENT).unwrap()
    }

    fn read_lossless(text: &str) -> Tree<LosslessText> {
        parse_lossless(text.as_bytes(), &Limits::JOURNAL).unwrap()
    }

    #[track_caller]
    fn check_canonical(text: &str, expected: &str) {
        assert_eq!(write_canonical(&read(text)), expected, "{text}");
        assert_eq!(write_canonical(&read_lossless(text)), expected, "{text}");
    }

    #[test]
    fn compact_keeps_order_and_kinds() {
        let texts = [
            r#"{"b":1,"a":[1.0,-0.0,1e-7,1e+21,1.5,-170141183460469231731687303715884105728],"":null}"#,
            r#"["\u0000\u001f\b\t\n\f\r\"\\/ é😀 ","",[],{},true,false]"#,
            "170141183460469231731687303715884105727",
            "18446744073709551616",
            "-1",
            "0",
        ];
        for text in texts {
            assert_eq!(write_compact(&read(text)), text);
        }
    }

    #[test]
    fn pretty_is_laid_out_as_javascript_does() {
        let value = read(r#"{"a":[1,[],{},{"b":"x\n"}],"c":{}}"#);
        let expected =
            "{\n  \"a\": [\n    1,\n    [],\n    {},\n    {\n      \"b\": \"x\\n\"\n    }\n  ],\n  \"c\": {}\n}";
        assert_eq!(write_pretty(&value), expected);
        assert_eq!(write_pretty(&read("[]")), "[]");
        assert_eq!(write_pretty(&read("1")), "1");
    }

    #[test]
    fn canonical_numbers_are_those_of_javascript() {
        let numbers = [
            ("1.0", "1"),
            ("2e0", "2"),
            ("-0", "0"),
            ("-0.0", "0"),
            ("1e21", "1e+21"),
            ("123456789012345678901", "123456789012345680000"),
            ("100000000000000000000", "100000000000000000000"),
            ("1000000000000000000000", "1e+21"),
            ("9007199254740991", "9007199254740991"),
            ("9007199254740992", "9007199254740992"),
            ("9007199254740993", "9007199254740992"),
            ("-9007199254740993", "-9007199254740992"),
            ("9007199254740995", "9007199254740996"),
            ("0.000001", "0.000001"),
            ("0.0000001", "1e-7"),
            ("5e-324", "5e-324"),
            ("1.7976931348623157e308", "1.7976931348623157e+308"),
            ("0.1", "0.1"),
            ("333333333.33333329", "333333333.3333333"),
        ];
        for (text, expected) in numbers {
            check_canonical(text, expected);
            assert_eq!(write_jcs(&read(text)), expected);
        }
    }

    #[test]
    fn canonical_strings_escape_as_little_as_possible() {
        check_canonical(r#""\u0000\u0008\u0009\u000a\u000b\u000c\u000d\u001f""#, r#""\u0000\b\t\n\u000b\f\r\u001f""#);
        check_canonical(
            r#""\/\u007f\u0080\u2028\u2029\ud7ff\ue000\uffff""#,
            "\"/\u{7f}\u{80}\u{2028}\u{2029}\u{d7ff}\u{e000}\u{ffff}\"",
        );
        check_canonical(r#""e\u0301 \u00e9""#, "\"e\u{301} é\"");
        let lone = r#"["\uD800","a\udbffb","\udc00\ud83d","\udfff"]"#;
        assert_eq!(write_canonical(&read_lossless(lone)), lone.to_ascii_lowercase());
        assert_eq!(write_compact(&read_lossless(lone)), lone.to_ascii_lowercase());
    }

    #[test]
    fn names_are_ordered_by_utf_16() {
        // Each name is greater than the one before it, by UTF-16 code units; not so by code points.
        let names = [
            r"",
            r"\u0000",
            r" ",
            r"A",
            r"AA",
            r"a",
            r"\u0080",
            r"\u07ff",
            r"\u0800",
            r"\ud7ff",
            r"\ud800",
            r"\ud800a",
            r"\ud800\udc00",
            r"\ud800\udc00a",
            r"\ud800\ue000",
            r"\ud83d\ude00",
            r"\ud83d\ude01",
            r"\udbff",
            r"\udbff\udfff",
            r"\udc00",
            r"\udc00\ud800",
            r"\udfff",
            r"\ue000",
            r"\ufffd",
            r"\uffff",
        ];
        let parsed: Vec<_> = names.iter().map(|name| read_lossless(&format!("\"{name}\""))).collect();
        let text = |at: usize| match &parsed[at] {
            Tree::String(text) => text.as_ref(),
            _ => unreachable!(),
        };
        for a in 0..names.len() {
            for b in 0..names.len() {
                assert_eq!(utf16_order(text(a), text(b)), a.cmp(&b), "{} {}", names[a], names[b]);
                assert_eq!(journal_order(text(a), text(b)), a.cmp(&b), "{} {}", names[a], names[b]);
            }
        }
        let members = |names: &mut dyn Iterator<Item = &&str>| {
            format!("{{{}}}", names.map(|name| format!("\"{name}\":0")).collect::<Vec<_>>().join(","))
        };
        let expected = write_compact(&read_lossless(&members(&mut names.iter())));
        assert_eq!(write_canonical(&read_lossless(&members(&mut names.iter().rev()))), expected);
    }

    #[test]
    fn array_indices_come_first_in_journals_only() {
        let text = r#"{"b":0,"":0,"4294967295":0,"4294967294":0,"10":0,"9":0,"0":0,"01":0,"-1":0,"1.0":0,"99999999999":0," 1":0}"#;
        check_canonical(
            text,
            r#"{"0":0,"9":0,"10":0,"4294967294":0,"":0," 1":0,"-1":0,"01":0,"1.0":0,"4294967295":0,"99999999999":0,"b":0}"#,
        );
        let jcs = r#"{"":0," 1":0,"-1":0,"0":0,"01":0,"1.0":0,"10":0,"4294967294":0,"4294967295":0,"9":0,"99999999999":0,"b":0}"#;
        assert_eq!(write_jcs(&read(text)), jcs);
    }

    #[test]
    fn members_are_sorted_at_every_level() {
        check_canonical(
            r#"{"b":{"y":[{"d":1,"c":{"f":0,"e":0}}],"x":2},"a":{"z":3},"c":{"b":1,"a":2}}"#,
            r#"{"a":{"z":3},"b":{"x":2,"y":[{"c":{"e":0,"f":0},"d":1}]},"c":{"a":2,"b":1}}"#,
        );
    }

    #[test]
    fn buffers_are_added_to() {
        let mut out = Vec::from(*b"x");
        write_compact_into(&read("1"), &mut out);
        write_canonical_into(&read("{}"), &mut out);
        write_jcs_into(&read("[]"), &mut out);
        assert_eq!(out, b"x1{}[]");
    }
}
