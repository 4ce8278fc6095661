//! The result of checking a document, as the page shows it.

use bailiwick_core::json::ReadError;
use bailiwick_core::work::{Kind as FindingKind, Validation, has_invalid};

use super::check::{Check, Document, Outcome};
use super::layout::{Layout, lay_out};
use super::place::{Place, place_of_error, places};
use crate::journal::amount::counted;

/// How good or bad something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Tone {
    /// Nothing is wrong
    Good,
    /// Nothing can be said
    Open,
    /// Accepted, but a limit is passed
    Limit,
    /// Rejected
    Bad,
}

/// Something to show about a place in the text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Item {
    /// How bad it is
    pub(crate) tone: Tone,
    /// The rule that found it; empty for what is no rule's business
    pub(crate) rule: &'static str,
    /// The path as the finding writes it, or line and column
    pub(crate) path: String,
    /// What is wrong
    pub(crate) message: String,
}

/// What one check found.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Group {
    /// What was checked
    pub(crate) title: String,
    /// How it stands
    pub(crate) tone: Tone,
    /// The verdict in words
    pub(crate) verdict: String,
    /// What to know besides
    pub(crate) remarks: Vec<String>,
    /// The first of its items and the one after its last
    pub(crate) items: std::ops::Range<usize>,
}

/// The result.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Shown {
    /// One for each check
    pub(crate) groups: Vec<Group>,
    /// What was found, in the order of the groups
    pub(crate) items: Vec<Item>,
    /// The text with a mark for each item
    pub(crate) layout: Layout,
}

/// Puts together what to show of a document and its checks.
pub(crate) fn show(document: &Document, checks: &[Check]) -> Shown {
    let mut drawn = Drawn::default();
    match &document.value {
        Err(error) => drawn.unreadable(&document.text, error),
        Ok(_) => {
            for check in checks {
                drawn.check(&document.text, check);
            }
        }
    }
    if let Some(error) = &document.repeated {
        drawn.repeated(&document.text, error);
    }
    Shown { layout: lay_out(&document.text, &drawn.places), groups: drawn.groups, items: drawn.items }
}

#[derive(Default)]
struct Drawn {
    groups: Vec<Group>,
    items: Vec<Item>,
    places: Vec<Place>,
}

impl Drawn {
    fn unreadable(&mut self, text: &str, error: &ReadError) {
        self.group("As JSON".into(), Tone::Bad, "It cannot be read, so no rule was applied.".into(), 1);
        self.error(text, error, Tone::Bad, error.kind.to_string());
    }

    fn repeated(&mut self, text: &str, error: &ReadError) {
        let verdict = "A name occurs twice in one object. The last one counts; other programs may take the first.";
        self.group("Names".into(), Tone::Limit, verdict.into(), 1);
        self.error(text, error, Tone::Limit, error.kind.to_string());
    }

    fn error(&mut self, text: &str, error: &ReadError, tone: Tone, message: String) {
        let path = format!("line {} column {}", error.line, error.column);
        self.items.push(Item { tone, rule: "", path, message });
        self.places.push(place_of_error(text, error.offset));
    }

    fn check(&mut self, text: &str, check: &Check) {
        match &check.outcome {
            Outcome::NotChecked(why) => self.group(check.title.clone(), Tone::Open, why.clone(), 0),
            Outcome::Checked { validation, .. } => {
                let (tone, verdict) = verdict(validation);
                self.group(check.title.clone(), tone, verdict, validation.findings.len());
                let remarks = validation.skipped.iter().map(|rule| format!("{rule} was not evaluated."));
                if let Some(group) = self.groups.last_mut() {
                    group.remarks.extend(remarks);
                }
                self.places.extend(places(text, &validation.findings));
                self.items.extend(validation.findings.iter().map(|finding| Item {
                    tone: if finding.kind == FindingKind::Invalid { Tone::Bad } else { Tone::Limit },
                    rule: finding.rule.as_str(),
                    path: finding.path.clone(),
                    message: finding.message.clone(),
                }));
            }
        }
    }

    /// Begins a group of so many items.
    fn group(&mut self, title: String, tone: Tone, verdict: String, items: usize) {
        let first = self.items.len();
        self.groups.push(Group { title, tone, verdict, remarks: Vec::new(), items: first..first + items });
    }
}

/// The verdict of a check (`spec work-orders §5`).
fn verdict(validation: &Validation) -> (Tone, String) {
    let count = validation.findings.len();
    let number = counted(count as u64, "finding", "findings");
    if has_invalid(&validation.findings) {
        (Tone::Bad, format!("Rejected: {number}."))
    } else if count > 0 {
        (Tone::Limit, format!("Over a limit: {number}. It is accepted and recorded, and the order expires."))
    } else if validation.skipped.is_empty() {
        (Tone::Good, "Valid.".into())
    } else {
        (Tone::Open, "Valid by every rule that was evaluated.".into())
    }
}

#[cfg(test)]
mod tests {
    use super::super::check::check;
    use super::super::layout::{Part, Row};
    use super::*;

    fn shown(text: &str) -> Shown {
        let documents = [Document::read("order.json", text.as_bytes())];
        show(&documents[0], &check(&documents, 0))
    }

    /// The texts that are marked.
    fn marked(shown: &Shown) -> Vec<&str> {
        let lines = shown.layout.rows.iter().filter_map(|row| match row {
            Row::Line { parts, .. } => Some(parts),
            Row::Gap { .. } => None,
        });
        let marked = |part: &Part| matches!(part, Part::Mark { .. });
        lines
            .flatten()
            .filter(|part| marked(part))
            .map(|part| match part {
                Part::Mark { text, .. } | Part::Text(text) => text.as_str(),
                Part::Cut { .. } => "",
            })
            .collect()
    }

    #[test]
    fn every_finding_has_its_mark() {
        let shown = shown(r#"{"spec":"awl/work-order@0.9","budget":{"usd":-1}}"#);
        assert_eq!(shown.groups[0].tone, Tone::Bad);
        assert_eq!(shown.groups[0].items, 0..shown.items.len());
        assert!(shown.items.len() > 2);
        assert!(shown.layout.mark_of.iter().all(Option::is_some));
        assert_eq!(marked(&shown), ["{", "\"awl/work-order@0.9\"", "-1"]);
    }

    #[test]
    fn what_cannot_be_read_is_marked_where_reading_stopped() {
        let shown = shown("{\"goal\": \"x\",\n \"to\": w}");
        assert_eq!(shown.items[0].path, "line 2 column 8");
        assert_eq!(marked(&shown), ["w"]);
        assert_eq!(shown.groups.len(), 1);
    }

    #[test]
    fn repeated_names_are_pointed_out_beside_the_verdict() {
        let shown = shown(r#"{"goal": "x", "goal": 7}"#);
        assert_eq!(shown.groups.len(), 2);
        assert_eq!((shown.groups[1].tone, shown.items.last().unwrap().rule), (Tone::Limit, ""));
    }

    #[test]
    fn bytes_that_are_not_utf_8_are_marked() {
        let documents = [Document::read("a", b"{\"goal\": \"\xFFx\"}")];
        let shown = show(&documents[0], &check(&documents, 0));
        assert_eq!(marked(&shown), ["\u{FFFD}"]);
    }
}
