//! The structure of documents, as tables (`spec work-orders §2, §3, §5`).
//!
//! A [`Shape`] says what a value must look like. Checking one gives a finding per offending value, missing member
//! and unknown member, and allocates nothing while there is no finding.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::place::Place;
use super::{Finding, Rule, described, quoted, tools};
use crate::json::{Number, Object, Value};
use crate::principal;
use crate::time;

/// Findings of one document. It is refused whatever else is wrong with it.
const MOST_FINDINGS: usize = 10_000;

/// What a value must look like.
#[derive(Debug, Clone, Copy)]
pub(super) enum Shape {
    /// Any JSON value
    Any,
    /// `true` or `false`
    Boolean,
    /// A string with this many code points
    Text { least: usize, most: usize },
    /// One of these strings
    OneOf(&'static [&'static str]),
    /// A timestamp
    Timestamp,
    /// A tool pattern
    ToolPattern,
    /// A tool name
    ToolName,
    /// A number of at least zero
    Amount,
    /// A mathematically integral number of at least this much
    Integer { least: i128 },
    /// An array with at least this many items of one shape
    List { least: usize, item: &'static Shape },
    /// An object whose members are nobody's business
    FreeObject,
    /// An object with these members and no others
    Record(&'static Record),
}

/// Any string.
pub(super) const STRING: Shape = Shape::Text { least: 0, most: usize::MAX };
/// A string that is not empty.
pub(super) const TEXT: Shape = Shape::Text { least: 1, most: usize::MAX };
/// A reference to an agent or a person.
pub(super) const AGENT: Shape = Shape::Text { least: 1, most: principal::MOST_CHARACTERS };

/// The members of an object.
#[derive(Debug)]
pub(super) struct Record {
    /// At most 32
    pub(super) members: &'static [Member],
    /// How many members there must be at least
    pub(super) least: usize,
    /// Whether members named `x-…` may be added
    pub(super) extensions: bool,
}

impl Record {
    /// An object with these members.
    pub(super) const fn new(members: &'static [Member]) -> Self {
        Self { members, least: 0, extensions: false }
    }

    /// The same, with at least one member.
    pub(super) const fn not_empty(members: &'static [Member]) -> Self {
        Self { members, least: 1, extensions: false }
    }

    /// The same, open to members named `x-…`.
    pub(super) const fn document(members: &'static [Member]) -> Self {
        Self { members, least: 0, extensions: true }
    }
}

/// A member of an object.
#[derive(Debug)]
pub(super) struct Member {
    name: &'static str,
    shape: Shape,
    required: bool,
}

/// A member that must be there.
pub(super) const fn required(name: &'static str, shape: Shape) -> Member {
    Member { name, shape, required: true }
}

/// A member that may be absent. `null` is not absent.
pub(super) const fn optional(name: &'static str, shape: Shape) -> Member {
    Member { name, shape, required: false }
}

/// Findings of `rule` for each place where the value does not have the shape.
pub(super) fn check(value: &Value, shape: Shape, rule: Rule) -> Vec<Finding> {
    let mut checker = Checker { rule, findings: Vec::new() };
    checker.value(value, shape, Place::Root);
    checker.findings
}

struct Checker {
    rule: Rule,
    findings: Vec<Finding>,
}

impl Checker {
    fn value(&mut self, value: &Value, shape: Shape, place: Place<'_>) {
        match (shape, value) {
            (Shape::List { least, item }, Value::Array(items)) => {
                if items.len() < least {
                    self.wrong(value, shape, place);
                }
                for (index, value) in items.iter().enumerate() {
                    self.value(value, *item, Place::Item(&place, index));
                }
            }
            (Shape::Record(record), Value::Object(object)) => self.record(object, record, place),
            (Shape::Integer { least }, Value::Number(number)) => {
                // Two keywords, of which a number such as 0.5 can break both.
                if !number.is_integral() {
                    self.wrong(value, shape, place);
                }
                if *number < Number::Integer(least) {
                    self.wrong(value, shape, place);
                }
            }
            _ if fits(value, shape) => {}
            _ => self.wrong(value, shape, place),
        }
    }

    fn record(&mut self, object: &Object, record: &Record, place: Place<'_>) {
        let mut seen = 0_u32;
        // Documents mostly list their members as the tables do, so the search goes on where it last succeeded.
        let mut hint = 0_usize;
        for (name, value) in object.iter() {
            match position(record.members, name, hint) {
                Some((index, member)) => {
                    seen |= bit(index);
                    hint = index.saturating_add(1);
                    self.value(value, member.shape, Place::Member(&place, name));
                }
                None if record.extensions && name.starts_with("x-") => {}
                None => self.report(place, unknown_message(name, record)),
            }
        }
        for (index, member) in record.members.iter().enumerate() {
            if member.required && seen & bit(index) == 0 {
                self.report(place, format!("`{}` is missing: {}", member.name, accepted(member.shape)));
            }
        }
        if object.len() < record.least {
            self.report(place, format!("an empty object where at least one of {} is needed", names(record)));
        }
    }

    fn wrong(&mut self, value: &Value, shape: Shape, place: Place<'_>) {
        self.report(place, format!("{} where {} is needed", described(value), accepted(shape)));
    }

    fn report(&mut self, place: Place<'_>, message: String) {
        if self.findings.len() >= MOST_FINDINGS {
            return;
        }
        self.findings.push(Finding::new(self.rule, place.to_path(), message));
    }
}

/// The member of this name, looked for from `hint` on and then from the start.
fn position(members: &'static [Member], name: &str, hint: usize) -> Option<(usize, &'static Member)> {
    let found = |(_, member): &(usize, &Member)| member.name == name;
    members.iter().enumerate().skip(hint).find(found).or_else(|| members.iter().enumerate().take(hint).find(found))
}

/// The bit that remembers a member.
fn bit(index: usize) -> u32 {
    u32::try_from(index).ok().and_then(|index| 1_u32.checked_shl(index)).unwrap_or(0)
}

/// Whether a value that is neither a list nor a record has the shape.
fn fits(value: &Value, shape: Shape) -> bool {
    match (shape, value) {
        (Shape::Any, _) | (Shape::Boolean, Value::Bool(_)) | (Shape::FreeObject, Value::Object(_)) => true,
        (Shape::Text { least, most }, Value::String(text)) => has_length(text, least, most),
        (Shape::OneOf(names), Value::String(text)) => names.contains(&text.as_str()),
        (Shape::Timestamp, Value::String(text)) => time::is_timestamp(text),
        (Shape::ToolPattern, Value::String(text)) => tools::is_pattern(text),
        (Shape::ToolName, Value::String(text)) => tools::is_name(text),
        (Shape::Amount, Value::Number(number)) => *number >= Number::Integer(0),
        _ => false,
    }
}

/// Whether the text has between `least` and `most` code points.
fn has_length(text: &str, least: usize, most: usize) -> bool {
    // A code point has one to four bytes, so most lengths are settled without counting.
    let bytes = text.len();
    let enough = bytes.div_ceil(4) >= least || text.chars().count() >= least;
    enough && (bytes <= most || text.chars().count() <= most)
}

/// What a shape accepts, as messages say it.
fn accepted(shape: Shape) -> String {
    match shape {
        Shape::Any => "any value".into(),
        Shape::Boolean => "true or false".into(),
        Shape::Text { least: 0, .. } => "a string".into(),
        Shape::Text { most: usize::MAX, .. } => "a string that is not empty".into(),
        Shape::Text { least, most } => format!("a string of {least} to {most} characters"),
        Shape::OneOf(names) => {
            let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
            format!("one of {}", names.join(", "))
        }
        Shape::Timestamp => "a timestamp such as `2026-01-31T09:00:00Z`".into(),
        Shape::ToolPattern => "a tool pattern (`*`, `server/*` or `server/tool`)".into(),
        Shape::ToolName => "a tool name (`server/tool`)".into(),
        Shape::Amount => "a number of at least 0".into(),
        Shape::Integer { least } => format!("a whole number of at least {least}"),
        Shape::List { least: 0, .. } => "an array".into(),
        Shape::List { .. } => "an array that is not empty".into(),
        Shape::FreeObject => "an object".into(),
        Shape::Record(record) => format!("an object with {}", names(record)),
    }
}

/// The member names of a record, as messages list them.
fn names(record: &Record) -> String {
    let names: Vec<_> = record.members.iter().map(|member| format!("`{}`", member.name)).collect();
    names.join(", ")
}

/// What to say about a member that is not in the table.
fn unknown_message(name: &str, record: &Record) -> String {
    let more = if record.extensions { " and names starting with `x-`" } else { "" };
    format!("unknown member {}: accepted are {}{more}", quoted(name), names(record))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_count_code_points() {
        assert!(has_length("😀", 1, 1));
        assert!(!has_length("e\u{301}", 1, 1));
        assert!(has_length("e\u{301}", 2, 2));
        assert!(!has_length("", 1, usize::MAX));
        assert!(has_length(&"é".repeat(512), 1, 512));
        assert!(!has_length(&"é".repeat(513), 1, 512));
        assert!(!has_length("😀😀", 3, 9));
    }
}
