//! From a finding's path to the place in the text that a reader should look at.

use std::ops::Range;

use bailiwick_core::json::{Limits, Location, locate};
use bailiwick_core::work::Finding;

/// A place in a text, in bytes. Values stand for themselves; objects and arrays are marked by the name of their
/// member or by their opening bracket, since a mark over half the text points at nothing.
pub(crate) type Place = Range<usize>;

/// The place that each finding is about, in the order of the findings.
///
/// `text` is one that was read; of any other the places are empty.
pub(crate) fn places(text: &str, findings: &[Finding]) -> Vec<Place> {
    let exact: Vec<String> = findings.iter().map(pointer).collect();
    let named: Vec<String> = findings.iter().zip(&exact).map(|(finding, path)| unknown_member(finding, path)).collect();
    let pointers: Vec<&str> = exact.iter().chain(&named).map(String::as_str).collect();
    let locations = locate(text.as_bytes(), &pointers, &Limits::DOCUMENT).unwrap_or_default();
    let (exact, named) = locations.split_at(locations.len() / 2);
    let shown = |(exact, named): (&Location, &Location)| match &named.name {
        Some(name) if named.is_exact && exact.value != named.value => name.clone(),
        _ => shown(text, exact),
    };
    exact.iter().zip(named).map(shown).collect()
}

/// The place where a text could not be read: the character there, or the last one if the text ends too early.
pub(crate) fn place_of_error(text: &str, offset: usize) -> Place {
    let start = text.floor_char_boundary(offset.min(text.len()));
    match text[start..].chars().next() {
        Some('"') => start..string_end(text, start),
        Some(c) => start..start + c.len_utf8(),
        None => text.trim_end().char_indices().last().map_or(0..0, |(at, c)| at..at + c.len_utf8()),
    }
}

/// The end of the string that begins at `start`, or of its line.
fn string_end(text: &str, start: usize) -> usize {
    let mut escaped = false;
    for (at, c) in text[start..].char_indices().skip(1) {
        match c {
            '\n' => return start + at,
            '"' if !escaped => return start + at + 1,
            _ => escaped = c == '\\' && !escaped,
        }
    }
    text.len()
}

/// The pointer as RFC 6901 writes it: findings write the root as `/` (`spec work-orders §5`).
fn pointer(finding: &Finding) -> String {
    if finding.path == "/" { String::new() } else { finding.path.clone() }
}

/// The pointer to the member that a finding calls unknown; its own path where it calls none so.
///
/// Such a finding's path is the object around the member, and only the message says which member.
fn unknown_member(finding: &Finding, path: &str) -> String {
    let name = finding.message.strip_prefix("unknown member `").and_then(|rest| Some(rest.split_once("`: ")?.0));
    match name {
        Some(name) => format!("{path}/{}", name.replace('~', "~0").replace('/', "~1")),
        None => path.into(),
    }
}

fn shown(text: &str, location: &Location) -> Place {
    let value = &location.value;
    match (text.as_bytes().get(value.start), &location.name) {
        (Some(b'{' | b'['), Some(name)) => name.clone(),
        (Some(b'{' | b'['), None) => value.start..value.start + 1,
        _ => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use bailiwick_core::json::{Duplicates, parse};
    use bailiwick_core::work::{NoEngine, Rule, validate_order};

    use super::*;

    /// What is marked for a finding at this path.
    fn marked<'a>(text: &'a str, path: &str, message: &str) -> &'a str {
        let places = places(text, &[Finding::new(Rule::O1, path, message)]);
        assert_eq!(places.len(), 1);
        &text[places[0].clone()]
    }

    #[test]
    fn values_are_marked_and_containers_by_name_or_bracket() {
        let text = r#"{"budget": {"usd": -1}, "tools": ["a b", {"c": 1}], "goal": "é\"x"}"#;
        assert_eq!(marked(text, "/budget/usd", ""), "-1");
        assert_eq!(marked(text, "/budget", ""), "\"budget\"");
        assert_eq!(marked(text, "/tools/0", ""), "\"a b\"");
        assert_eq!(marked(text, "/tools/1", ""), "{");
        assert_eq!(marked(text, "/goal", ""), r#""é\"x""#);
        assert_eq!(marked(text, "/", ""), "{");
        assert_eq!(marked(text, "/criteria", "`criteria` is missing: an array"), "{");
        assert_eq!(marked(text, "/budget/tokens", ""), "\"budget\"");
    }

    #[test]
    fn a_document_that_is_no_object_is_marked_as_a_whole() {
        assert_eq!(marked(" null ", "/", ""), "null");
        assert_eq!(marked("[1, 2]", "/", ""), "[");
    }

    /// If the words of the message change, the name is no longer found: this must fail then.
    #[test]
    fn unknown_members_are_marked_by_their_name() {
        let text = r#"{"criteria": [{"id": "a", "text": "t", "wei/gh~t": {"x": 1}}], "gaol": "g", "x-y": 1}"#;
        let value = parse(text.as_bytes(), &Limits::DOCUMENT).unwrap();
        let findings: Vec<Finding> = validate_order(&value, &NoEngine).findings;
        let marks: Vec<&str> = places(text, &findings).into_iter().map(|place| &text[place]).collect();
        let mark_of = |name: &str| {
            let at = findings.iter().position(|finding| finding.message.contains(&format!("member `{name}`"))).unwrap();
            marks[at]
        };
        assert_eq!(mark_of("gaol"), "\"gaol\"");
        assert_eq!(mark_of("wei/gh~t"), "\"wei/gh~t\"");
        assert_eq!(marks.iter().filter(|mark| **mark == "{").count(), findings.len() - 2);
    }

    #[track_caller]
    fn check_error(text: &str, limits: &Limits, expected: &str) {
        let error = parse(text.as_bytes(), limits).unwrap_err();
        assert_eq!(&text[place_of_error(text, error.offset)], expected, "{error}");
    }

    #[test]
    fn errors_of_reading_are_marked() {
        let document = Limits::DOCUMENT;
        check_error("{\"a\": é}", &document, "é");
        check_error("{\"a\": 1,\n}", &document, "}");
        check_error("{\"a\": \"x\"\n", &document, "\"");
        check_error("", &document, "");
        check_error("  \n", &document, "");
        let once = document.with_duplicates(Duplicates::Refuse);
        check_error("{\"a\": 1, \"b\": 2, \"a\": 3}", &once, "\"a\"");
        check_error(r#"{"\"\\": 1, "\"\\": 2}"#, &once, r#""\"\\""#);
        let shallow = Limits { depth: 2, ..document };
        check_error("[[[1]]]", &shallow, "[");
    }

    #[test]
    fn many_findings_cost_one_pass() {
        let mut text = String::from("{\"tools\": [");
        let mut findings = Vec::new();
        for index in 0..10_000 {
            text.push_str("\"x\", ");
            findings.push(Finding::new(Rule::O1, format!("/tools/{index}"), ""));
        }
        text.push_str("\"x\"]}");
        let places = places(&text, &findings);
        assert_eq!(places.len(), 10_000);
        assert!(places.iter().all(|place| &text[place.clone()] == "\"x\""));
    }
}
