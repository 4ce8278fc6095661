//! Where in a text the values stand that pointers name.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use super::read::{Fault, Reader, check_encoding};
use super::{Limits, ReadError};

/// Where a value stands in its text, in bytes from the start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// The name of the member that holds it, quotes included; `None` in an array and for the whole text
    pub name: Option<Range<usize>>,
    /// The value itself
    pub value: Range<usize>,
    /// Whether it is the value that the pointer names; if that is not there, this is the innermost one around it
    pub is_exact: bool,
}

/// Finds the values that pointers name (`RFC 6901`; the empty one is the whole text), in the order of the pointers.
///
/// Names are compared with their escapes resolved. Of a name that occurs twice the last member counts, as it does for
/// [`Duplicates::LastWins`](super::Duplicates::LastWins). One pass over the text, however many pointers there are.
///
/// # Errors
///
/// As [`parse`](super::parse), but only up to the end of the value, and however many members there are.
pub fn locate(text: &[u8], pointers: &[&str], limits: &Limits) -> Result<Vec<Location>, ReadError> {
    let text = check_encoding(text, limits)?;
    let steps = pointers.iter().map(|pointer| steps_of(pointer)).collect();
    let mut locator = Locator { reader: Reader::new(text, limits), steps, found: vec![None; pointers.len()] };
    locator.reader.skip_space();
    let all: Vec<usize> = (0..pointers.len()).collect();
    let walked = locator.value(0, None, &all);
    walked.map_err(|fault| ReadError::at(text.as_bytes(), locator.reader.at, *fault))?;
    Ok(locator.found.into_iter().flatten().collect())
}

/// The steps of a pointer, escapes resolved.
fn steps_of(pointer: &str) -> Vec<String> {
    pointer.split('/').skip(1).map(|step| step.replace("~1", "/").replace("~0", "~")).collect()
}

struct Locator<'a> {
    reader: Reader<'a, String>,
    /// Of each pointer
    steps: Vec<Vec<String>>,
    /// For each pointer, once the innermost value around it is complete
    found: Vec<Option<Location>>,
}

impl Locator<'_> {
    /// Goes through the value at the reader's place, which `wanted` pointers lead to or through.
    fn value(&mut self, depth: usize, name: Option<Range<usize>>, wanted: &[usize]) -> Result<(), Fault> {
        let start = self.reader.at;
        let next = self.wanted_inside(depth, wanted);
        match self.reader.peek() {
            Some(b'{') if !next.is_empty() => self.object(depth, &next)?,
            Some(b'[') if !next.is_empty() => self.array(depth, &next)?,
            _ => self.skip(depth)?,
        }
        let value = start..self.reader.at;
        for index in wanted {
            let is_exact = self.steps.get(*index).is_some_and(|steps| steps.len() == depth);
            if let Some(found) = self.found.get_mut(*index) {
                found.get_or_insert_with(|| Location { name: name.clone(), value: value.clone(), is_exact });
            }
        }
        Ok(())
    }

    fn object(&mut self, depth: usize, next: &BTreeMap<String, Vec<usize>>) -> Result<(), Fault> {
        let inside = self.reader.enter(depth)?;
        let mut more = !self.reader.take(b'}');
        while more {
            let start = self.reader.at;
            let text = self.reader.name_text()?;
            let name = start..self.reader.at;
            self.reader.colon()?;
            match next.get(&text) {
                Some(wanted) => {
                    // What was found under an earlier member of this name does not count.
                    self.forget(wanted);
                    self.value(inside, Some(name), wanted)?;
                }
                None => self.skip(inside)?,
            }
            more = self.reader.comma_or(b'}', "`,` or `}`")?;
        }
        Ok(())
    }

    fn array(&mut self, depth: usize, next: &BTreeMap<String, Vec<usize>>) -> Result<(), Fault> {
        let inside = self.reader.enter(depth)?;
        let mut more = !self.reader.take(b']');
        let mut index: usize = 0;
        while more {
            match next.get(&alloc::format!("{index}")) {
                Some(wanted) => self.value(inside, None, wanted)?,
                None => self.skip(inside)?,
            }
            index = index.wrapping_add(1);
            more = self.reader.comma_or(b']', "`,` or `]`")?;
        }
        Ok(())
    }

    /// Reads a value that nobody asked for.
    fn skip(&mut self, depth: usize) -> Result<(), Fault> {
        self.reader.value(depth)?;
        self.reader.values.clear();
        Ok(())
    }

    fn forget(&mut self, wanted: &[usize]) {
        for index in wanted {
            if let Some(found) = self.found.get_mut(*index) {
                *found = None;
            }
        }
    }

    /// The pointers that lead further in than `depth`, by their next step.
    fn wanted_inside(&self, depth: usize, wanted: &[usize]) -> BTreeMap<String, Vec<usize>> {
        let mut inside: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for index in wanted {
            if let Some(step) = self.steps.get(*index).and_then(|steps| steps.get(depth)) {
                inside.entry(step.clone()).or_default().push(*index);
            }
        }
        inside
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    /// What the pointer finds: the value's text, and whether it is the one meant.
    fn found(text: &str, pointer: &str) -> (String, bool) {
        let locations = locate(text.as_bytes(), &[pointer], &Limits::DOCUMENT).unwrap();
        let [location] = locations.as_slice() else { panic!("one pointer, {} locations", locations.len()) };
        (text[location.value.clone()].to_string(), location.is_exact)
    }

    #[track_caller]
    fn check(text: &str, pointer: &str, value: &str) {
        assert_eq!(found(text, pointer), (value.into(), true));
    }

    #[test]
    fn values_are_found_at_every_depth() {
        let text = " {\"a\": [1, {\"b\":\t\"é😀\" }, -2.5e3] , \"c\":null}\n";
        check(text, "", text.trim());
        check(text, "/a", "[1, {\"b\":\t\"é😀\" }, -2.5e3]");
        check(text, "/a/0", "1");
        check(text, "/a/1/b", "\"é😀\"");
        check(text, "/a/2", "-2.5e3");
        check(text, "/c", "null");
    }

    #[test]
    fn names_are_compared_without_their_escapes() {
        let text = r#"{"a\u002fb~": {"\u00e9\"": 1, "": 2}}"#;
        check(text, "/a~1b~0/é\"", "1");
        check(text, "/a~1b~0/", "2");
        check(r#"{"~1": 3}"#, "/~01", "3");
    }

    #[test]
    fn what_is_missing_is_marked_by_what_is_around_it() {
        let text = r#"{"result": {"summary": "s"}, "list": [1]}"#;
        assert_eq!(found(text, "/result/output/x"), (r#"{"summary": "s"}"#.into(), false));
        assert_eq!(found(text, "/result/summary/x"), ("\"s\"".into(), false));
        assert_eq!(found(text, "/list/1"), ("[1]".into(), false));
        assert_eq!(found(text, "/list/01"), ("[1]".into(), false));
        assert_eq!(found(text, "/nothing"), (text.into(), false));
    }

    #[test]
    fn the_last_of_equal_names_counts() {
        check(r#"{"a": {"b": 1}, "a": {"b": 2}}"#, "/a/b", "2");
        assert_eq!(found(r#"{"a": {"b": 1}, "\u0061": {}}"#, "/a/b"), ("{}".into(), false));
    }

    #[test]
    fn names_are_located_with_their_quotes() {
        let text = r#"{"x": [{"n\n": 1}]}"#;
        let locations = locate(text.as_bytes(), &["/x/0/n\n", "/x/0", "/x", ""], &Limits::DOCUMENT).unwrap();
        let names: Vec<Option<&str>> =
            locations.iter().map(|location| location.name.clone().map(|name| &text[name])).collect();
        assert_eq!(names, [Some(r#""n\n""#), None, Some("\"x\""), None]);
    }

    #[test]
    fn unreadable_texts_fail_as_they_do_when_parsed() {
        for text in ["", "{\"a\": [1, }", "[1", "{\"a\" 1}", "\u{FEFF}{}", "{1:2}"] {
            let expected = super::super::parse(text.as_bytes(), &Limits::DOCUMENT).unwrap_err();
            assert_eq!(locate(text.as_bytes(), &["/a/0"], &Limits::DOCUMENT), Err(expected), "{text}");
        }
        let deep = "[".repeat(600);
        assert!(locate(deep.as_bytes(), &["/0/0/0"], &Limits::DOCUMENT).is_err());
    }
}
