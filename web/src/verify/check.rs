//! Which documents are checked against which, and what comes of it.
//!
//! The order of checks is that of `bailiwick validate`: a document that is rejected by itself is not compared with
//! others, since the rules between documents take both as valid (`spec work-orders §6.2, §6.3`).

use std::sync::Arc;

use bailiwick_core::json::{Duplicates, Limits, Object, ReadError, Value, parse};
use bailiwick_core::work::vectors::{check_child, check_report, parse_sub_orders};
use bailiwick_core::work::{NoEngine, Rule, Validation, has_invalid, validate_order};

use super::kind::{Kind, kind_of, kind_of_unreadable};

/// A document as it was given.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Document {
    /// What the page calls it: the name of its file
    pub(crate) name: String,
    /// What it is taken for
    pub(crate) kind: Kind,
    /// Its text
    pub(crate) text: Arc<str>,
    /// What its text says
    pub(crate) value: Result<Arc<Value>, ReadError>,
    /// A name that occurs twice in an object, where the last one counts
    pub(crate) repeated: Option<ReadError>,
}

impl Document {
    /// Reads a file and tells its kind from its content.
    pub(crate) fn read(name: impl Into<String>, bytes: &[u8]) -> Self {
        let value = parse(bytes, &Limits::DOCUMENT);
        // If it is not UTF-8, what comes before the error is, so the error is marked at the right place.
        let text: Arc<str> = String::from_utf8_lossy(bytes).into();
        let kind = value.as_ref().map_or_else(|_| kind_of_unreadable(&text), kind_of);
        let once = Limits::DOCUMENT.with_duplicates(Duplicates::Refuse);
        let repeated = if value.is_ok() { parse(text.as_bytes(), &once).err() } else { None };
        Self { name: name.into(), kind, text, value: value.map(Arc::new), repeated }
    }

    fn string(&self, name: &str) -> Option<&str> {
        self.value.as_ref().ok()?.get(name)?.as_str()
    }
}

/// One check of a document.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Check {
    /// What was checked, in words
    pub(crate) title: String,
    /// What came of it
    pub(crate) outcome: Outcome,
}

/// What came of a check.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Outcome {
    /// The rules were applied
    Checked {
        /// What they found
        validation: Validation,
        /// What the engine has to be asked for the rules that were skipped
        question: Option<Question>,
    },
    /// The rules could not be applied, and why
    NotChecked(String),
}

/// What only the engine can answer. All are JSON texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Question {
    /// O4
    Order(Arc<str>),
    /// R11
    Report {
        /// The report
        report: Arc<str>,
        /// Its order
        order: Arc<str>,
    },
}

/// Checks the document at `index`, with what the others say about it.
pub(crate) fn check(documents: &[Document], index: usize) -> Vec<Check> {
    let Some(document) = documents.get(index) else { return Vec::new() };
    let Ok(value) = &document.value else { return Vec::new() };
    match document.kind {
        Kind::Order => check_order(documents, index, document, value),
        Kind::Report => vec![check_against_order(documents, document, value)],
        Kind::SubOrders => vec![check_list(value)],
        Kind::Journal => Vec::new(),
    }
}

fn check_order(documents: &[Document], index: usize, document: &Document, order: &Value) -> Vec<Check> {
    let validation = validate_order(order, &NoEngine);
    let is_valid = !validation.has_invalid();
    let question = (!validation.skipped.is_empty()).then(|| Question::Order(document.text.clone()));
    let by_itself = Check { title: "As a work order".into(), outcome: Outcome::Checked { validation, question } };
    let mut checks = vec![by_itself];
    if let Some(parent_id) = document.string("parent_id").filter(|_| is_valid) {
        checks.push(check_within_parent(documents, index, order, parent_id));
    }
    checks
}

fn check_within_parent(documents: &[Document], index: usize, order: &Value, parent_id: &str) -> Check {
    let Some(parent) = order_with_id(documents, parent_id) else {
        return Check {
            title: "Within its parent".into(),
            outcome: Outcome::NotChecked(format!(
                "It is a sub-order of `{parent_id}`. Add that order to check it too."
            )),
        };
    };
    let title = format!("Within its parent, {}", parent.name);
    let Some(value) = valid_order(parent) else { return Check { title, outcome: rejected(parent) } };
    let siblings = sub_orders(documents, parent_id, Some(index));
    let within = check_child(order, value, (!siblings.is_empty()).then_some(Value::Array(siblings)).as_ref());
    Check { title, outcome: outcome(within.map_err(|error| error.to_string()), None) }
}

fn check_against_order(documents: &[Document], document: &Document, report: &Value) -> Check {
    let order_id = document.string("order_id").unwrap_or_default();
    let orders: Vec<&Document> = documents.iter().filter(|document| document.kind == Kind::Order).collect();
    // A single order is the one that is meant, even if the ids differ: that is rule R2's business.
    let order = order_with_id(documents, order_id).or(match orders.as_slice() {
        [only] => Some(*only),
        _ => None,
    });
    let Some(order) = order else {
        let missing = match order_id {
            "" => "A report is checked against its order. Add the order.".into(),
            id => format!("It reports on the order `{id}`. Add that order to check it."),
        };
        return Check { title: "As a report".into(), outcome: Outcome::NotChecked(missing) };
    };
    let title = format!("As a report on {}", order.name);
    let Some(value) = valid_order(order) else { return Check { title, outcome: rejected(order) } };
    let list = sub_orders(documents, order.string("id").unwrap_or_default(), None);
    let list = (!list.is_empty()).then_some(Value::Array(list));
    let validation = check_report(report, value, list.as_ref(), &NoEngine).map_err(|error| error.to_string());
    let question = Question::Report { report: document.text.clone(), order: order.text.clone() };
    Check { title, outcome: outcome(validation, Some(question)) }
}

fn check_list(value: &Value) -> Check {
    let count = parse_sub_orders(value).map(|list| list.len());
    let (title, found) = match count {
        Ok(count) => (format!("As a list of sub-orders: {count} in it"), Ok(Validation::default())),
        Err(error) => ("As a list of sub-orders".into(), Err(error.to_string())),
    };
    Check { title, outcome: outcome(found, None) }
}

fn outcome(validation: Result<Validation, String>, question: Option<Question>) -> Outcome {
    match validation {
        Ok(validation) => {
            let question = question.filter(|_| !validation.skipped.is_empty());
            Outcome::Checked { validation, question }
        }
        Err(message) => Outcome::NotChecked(message),
    }
}

fn rejected(order: &Document) -> Outcome {
    Outcome::NotChecked(format!("{} is itself not valid, so nothing can be compared with it.", order.name))
}

fn order_with_id<'a>(documents: &'a [Document], id: &str) -> Option<&'a Document> {
    documents.iter().find(|document| document.kind == Kind::Order && document.string("id") == Some(id))
}

/// The order, unless it is rejected by itself.
fn valid_order(document: &Document) -> Option<&Value> {
    let value = document.value.as_ref().ok()?;
    (!has_invalid(&validate_order(value, &NoEngine).findings)).then_some(value)
}

/// The sub-orders of an order that are here: those in lists, and orders by themselves, whose state is not known and
/// which therefore count as offered. Each once, and without the one at `except`.
fn sub_orders(documents: &[Document], parent_id: &str, except: Option<usize>) -> Vec<Value> {
    let id_of = |order: &Value| order.get("id").and_then(Value::as_str).map(String::from);
    let mut known: Vec<String> =
        except.and_then(|index| documents.get(index)?.string("id").map(String::from)).into_iter().collect();
    let mut list = Vec::new();
    let mut add = |order: &Value, entry: Value| {
        let id = id_of(order).unwrap_or_default();
        let belongs = order.get("parent_id").and_then(Value::as_str) == Some(parent_id);
        if belongs && !known.contains(&id) {
            known.push(id);
            list.push(entry);
        }
    };
    let values = |kind: Kind| {
        documents
            .iter()
            .filter(move |document| document.kind == kind)
            .filter_map(|document| document.value.as_ref().ok())
    };
    for entry in values(Kind::SubOrders).filter_map(|value| value.as_array()).flatten() {
        if let Some(order) = entry.get("order") {
            add(order, entry.clone());
        }
    }
    for order in values(Kind::Order) {
        add(order, Object::new().with("order", (**order).clone()).with("state", "offered").into());
    }
    list
}

/// Puts what the engine says in the place of what was found without it. R13 stays: the engine was not asked for it.
pub(crate) fn completed(without: &Validation, with: Validation) -> Validation {
    let own_cost = without.findings.iter().filter(|finding| finding.rule == Rule::R13).cloned();
    Validation { findings: with.findings.into_iter().chain(own_cost).collect(), skipped: with.skipped }
}

#[cfg(test)]
mod tests {
    use bailiwick_core::work::Finding;

    use super::*;

    const ORDER: &str = r#"{"spec":"awl/work-order@0.4","id":"P","created_at":"2026-01-01T00:00:00Z","from":"m","to":"w",
        "goal":"g","criteria":[{"id":"a","text":"t"}],"budget":{"usd":10},"deadline":"2026-02-01T00:00:00Z","tools":["fs/*"]}"#;
    const REPORT: &str = r#"{"spec":"awl/work-report@0.3","order_id":"P","from":"w","status":"done","result":{"summary":"s"},
        "evidence":[{"criterion":"a","type":"note","note":"e"}],"cost":{"usd":8},"tools_used":[],"finished_at":"2026-01-02T00:00:00Z","attempt":1}"#;

    fn child(id: &str, usd: u32) -> String {
        let order = ORDER.replace("\"id\":\"P\"", &format!("\"id\":\"{id}\",\"parent_id\":\"P\""));
        order.replace("\"usd\":10", &format!("\"usd\":{usd}"))
    }

    fn documents(texts: &[&str]) -> Vec<Document> {
        texts.iter().enumerate().map(|(index, text)| Document::read(format!("{index}.json"), text.as_bytes())).collect()
    }

    /// The rules that the last check of the document found broken, or why it was not checked.
    fn rules(checks: &[Check]) -> Result<Vec<Rule>, String> {
        match &checks.last().unwrap().outcome {
            Outcome::Checked { validation, .. } => Ok(validation.findings.iter().map(|finding| finding.rule).collect()),
            Outcome::NotChecked(why) => Err(why.clone()),
        }
    }

    #[test]
    fn a_report_finds_its_order_by_id() {
        let other = ORDER.replace("\"P\"", "\"Q\"");
        let all = documents(&[&other, REPORT, ORDER]);
        let checks = check(&all, 1);
        assert_eq!(checks[0].title, "As a report on 2.json");
        assert_eq!(rules(&checks), Ok(vec![]), "{checks:?}");
        assert!(rules(&check(&documents(&[REPORT]), 0)).unwrap_err().contains("`P`"));
    }

    #[test]
    fn a_single_order_is_the_one_that_is_meant() {
        let other = ORDER.replace("\"P\"", "\"Q\"");
        assert_eq!(rules(&check(&documents(&[&other, REPORT]), 1)), Ok(vec![Rule::R2]));
    }

    #[test]
    fn nothing_is_compared_with_a_rejected_order() {
        let broken = ORDER.replace("[\"fs/*\"]", "7");
        assert!(rules(&check(&documents(&[&broken, REPORT]), 1)).unwrap_err().contains("0.json"));
        let all = documents(&[&broken, &child("C", 1)]);
        assert!(rules(&check(&all, 1)).unwrap_err().contains("0.json"));
        assert_eq!(check(&all, 0).len(), 1);
    }

    #[test]
    fn siblings_count_with_a_sub_order() {
        let (small, large) = (child("C", 4), child("D", 7));
        assert_eq!(rules(&check(&documents(&[&small, ORDER]), 0)), Ok(vec![]));
        assert_eq!(rules(&check(&documents(&[&small, ORDER, &large]), 0)), Ok(vec![Rule::C4]));
        // The list knows that the sibling was declined, and the order itself in the list does not count twice.
        let declined = format!(r#"[{{"order":{large},"state":"declined"}},{{"order":{small},"state":"working"}}]"#);
        assert_eq!(rules(&check(&documents(&[&small, ORDER, &large, &declined]), 0)), Ok(vec![]));
    }

    #[test]
    fn sub_orders_count_with_a_report() {
        assert_eq!(rules(&check(&documents(&[ORDER, REPORT, &child("C", 4)]), 1)), Ok(vec![Rule::R13]));
        assert_eq!(rules(&check(&documents(&[ORDER, REPORT, &child("C", 2)]), 1)), Ok(vec![]));
    }

    #[test]
    fn rules_that_need_the_engine_are_asked_of_it() {
        let order = ORDER.replace("\"goal\"", "\"output_schema\":{\"type\":\"object\"},\"goal\"");
        let all = documents(&[&order, REPORT]);
        let question = |index| match &check(&all, index)[0].outcome {
            Outcome::Checked { question, .. } => question.clone(),
            Outcome::NotChecked(why) => panic!("{why}"),
        };
        assert_eq!(question(0), Some(Question::Order(order.as_str().into())));
        assert_eq!(question(1), Some(Question::Report { report: REPORT.into(), order: order.as_str().into() }));
        assert!(matches!(&check(&documents(&[ORDER]), 0)[0].outcome, Outcome::Checked { question: None, .. }));
    }

    #[test]
    fn the_engine_adds_and_own_cost_stays() {
        let finding = |rule| Finding::new(rule, "/", "");
        let without = Validation { findings: vec![finding(Rule::R5), finding(Rule::R13)], skipped: vec![Rule::R11] };
        let with = Validation { findings: vec![finding(Rule::R5), finding(Rule::R11)], skipped: vec![] };
        let rules: Vec<Rule> = completed(&without, with).findings.iter().map(|finding| finding.rule).collect();
        assert_eq!(rules, [Rule::R5, Rule::R11, Rule::R13]);
    }

    #[test]
    fn names_that_occur_twice_are_noticed_and_the_last_counts() {
        let text = ORDER.replace("\"goal\":\"g\"", "\"goal\":7,\"goal\":\"g\"");
        let document = Document::read("a", text.as_bytes());
        assert_eq!(document.repeated.as_ref().map(ReadError::code), Some("duplicate_name"));
        assert_eq!(rules(&check(&[document], 0)), Ok(vec![]));
    }

    #[test]
    fn a_list_is_read_whole_or_refused() {
        assert!(rules(&check(&documents(&["[]"]), 0)).is_ok());
        assert!(rules(&check(&documents(&["[1]"]), 0)).is_err());
    }
}
