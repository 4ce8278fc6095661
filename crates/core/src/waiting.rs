//! What waits for a person: one kind of document for every capability, so that the inbox is one query.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::arguments::{Arguments, bad_request};
use crate::heart::{Context, Document, IndexEntry, Key, Order, Refusal, Scope, Select, View, ViewError};
use crate::json::{Object, Value};
use crate::work::quoted;

/// Something that waits for a person: journaled.
#[derive(Debug, Clone, PartialEq)]
pub struct Waiting {
    /// The document it is about
    pub about: Key,
    /// That document's version when the wait began
    pub version: u64,
    /// What is asked of the person, one of [`ASKS`]
    pub ask: String,
    /// Who can end the wait; persons among them find it in their inbox
    pub of: Vec<String>,
    /// Who gave the work; `None` in documents of before this was kept
    pub from: Option<String>,
    /// Who does it
    pub to: Option<String>,
    /// What it is about, in a line
    pub title: String,
    /// Since when
    pub since: String,
    /// Until when, as a timestamp in UTC with milliseconds
    pub due: String,
}

impl Waiting {
    /// Everything that waits.
    pub const ALL: &'static str = "all";
    /// What waits for one person.
    pub const OF: &'static str = "of";
    /// What is asked of one person, by the ask.
    const ASKED_OF: &'static str = "asked_of";

    fn asked_of(ask: &str, person: &str) -> String {
        format!("{ask}/{person}")
    }

    /// The id of whatever waits because of a document; a document has one wait at most.
    pub fn id_of(about: &Key) -> String {
        alloc::format!("{}/{}", about.kind, about.id)
    }
}

impl Document for Waiting {
    const KIND: &'static str = "waiting";

    fn id(&self) -> String {
        Self::id_of(&self.about)
    }

    fn version(&self) -> u64 {
        self.version
    }

    fn to_value(&self) -> Value {
        Object::new()
            .with("kind", &self.about.kind)
            .with("id", &self.about.id)
            .with("version", self.version)
            .with("ask", &self.ask)
            .with("of", self.of.iter().map(Value::from).collect::<Value>())
            .with_some("from", self.from.clone())
            .with_some("to", self.to.clone())
            .with("title", &self.title)
            .with("since", &self.since)
            .with("due", &self.due)
            .into()
    }

    fn from_value(value: Value) -> Option<Self> {
        let string = |name| value.get(name)?.as_str().map(String::from);
        Some(Self {
            about: Key { kind: string("kind")?, id: string("id")? },
            version: value.get("version")?.as_number()?.to_u64()?,
            ask: string("ask")?,
            of: value.get("of")?.as_array()?.iter().map(|p| p.as_str().map(Into::into)).collect::<Option<_>>()?,
            from: string("from"),
            to: string("to"),
            title: string("title")?,
            since: string("since")?,
            due: string("due")?,
        })
    }

    /// Most urgent first.
    fn index(&self) -> Vec<IndexEntry> {
        let mut entries = Vec::from([IndexEntry::new(Self::ALL, "", &self.due)]);
        for person in &self.of {
            entries.push(IndexEntry::new(Self::OF, person, &self.due));
            entries.push(IndexEntry::new(Self::ASKED_OF, Self::asked_of(&self.ask, person), &self.due));
        }
        entries
    }
}

/// What may be asked of a person. A capability that asks for something else adds it here.
pub const ASKS: [&str; 2] = ["review", "answer"];

/// How much of what waits one answer shows at most, and when nothing is said.
pub const MOST_SHOWN: u32 = 200;

/// How much of what waits one answer looks through for a text.
const MOST_SEARCHED: u32 = 1_000;

/// What waits for whoever asks, most urgent first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Query {
    /// Only what asks for this, one of [`ASKS`]
    pub ask: Option<String>,
    /// Only what has this text, in upper or lower case, in its id, title, `from` or `to`
    pub text: Option<String>,
    /// After this place (due, id of the waiting document): `next_cursor` of an earlier answer
    pub after: Option<(String, String)>,
    /// How much at most
    pub limit: Option<u32>,
}

impl Query {
    /// Reads a request: `ask`, `q`, `cursor`, `limit`, each of which may be left out.
    ///
    /// # Errors
    ///
    /// `BAD_REQUEST` naming the argument at fault and what is accepted.
    pub fn parse(arguments: Object) -> Result<Self, Refusal> {
        let mut arguments = Arguments::new(arguments);
        let query = Self {
            ask: arguments.string("ask")?.map(ask).transpose()?,
            text: arguments.text("q")?,
            after: arguments.string("cursor")?.map(|cursor| place(&cursor)).transpose()?,
            limit: arguments.limit(MOST_SHOWN)?,
        };
        arguments.finish()?;
        Ok(query)
    }
}

fn ask(name: String) -> Result<String, Refusal> {
    if ASKS.contains(&name.as_str()) {
        return Ok(name);
    }
    Err(bad_request(format!("`ask` is {}; accepted: `{}`", quoted(&name), ASKS.join("`, `"))))
}

fn place(cursor: &str) -> Result<(String, String), Refusal> {
    let place = cursor.split_once('/').map(|(due, id)| (due.into(), id.into()));
    place.ok_or_else(|| bad_request(format!("`cursor` {} is none that was given out", quoted(cursor))))
}

/// Answers what waits for the principal: `{items, counts, next_cursor?}`. With a text, an answer may have fewer items
/// than asked for, or none, and still say where to go on.
pub(crate) fn answer(view: &View, query: &Query, context: &Context<'_>) -> Result<Result<Value, Refusal>, ViewError> {
    let person = context.principal.id.as_str();
    let mut counts = Object::new();
    for ask in ASKS {
        counts.insert(ask, view.count(&asked_of(ask, person))?);
    }
    let limit = query.limit.unwrap_or(MOST_SHOWN);
    let looked_at = if query.text.is_some() { MOST_SEARCHED } else { limit };
    let mut select = match &query.ask {
        Some(ask) => asked_of(ask, person),
        None => selection(Waiting::OF, person.into()),
    };
    select.after = query.after.clone();
    select.limit = looked_at.saturating_add(1);
    let found: Vec<Waiting> = view.select(&select)?;
    let sought = query.text.as_ref().map(|text| text.to_lowercase());
    let (mut items, mut seen) = (Vec::new(), 0_usize);
    for waiting in found.iter().take(size(looked_at)) {
        if items.len() >= size(limit) {
            break;
        }
        seen = seen.saturating_add(1);
        if sought.as_ref().is_none_or(|text| waiting.has(text)) {
            items.push(Value::from(waiting.to_item()));
        }
    }
    let last = seen.checked_sub(1).and_then(|last| found.get(last)).filter(|_| seen < found.len());
    let next = last.map(|last| format!("{}/{}", last.due, last.id()));
    Ok(Ok(Object::new().with("items", items).with("counts", counts).with_some("next_cursor", next).into()))
}

fn asked_of(ask: &str, person: &str) -> Select {
    selection(Waiting::ASKED_OF, Waiting::asked_of(ask, person))
}

fn selection(index: &'static str, value: String) -> Select {
    Select {
        kind: Waiting::KIND,
        scope: Scope::Workspace,
        index,
        value,
        also: Vec::new(),
        order: Order::Ascending,
        after: None,
        limit: 0,
    }
}

fn size(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

impl Waiting {
    /// Whether a text in lower case stands in what a person would look for.
    fn has(&self, text: &str) -> bool {
        let parts = [Some(&self.about.id), Some(&self.title), self.from.as_ref(), self.to.as_ref()];
        parts.into_iter().flatten().any(|part| part.to_lowercase().contains(text))
    }

    /// As answers show it.
    fn to_item(&self) -> Object {
        Object::new()
            .with("kind", &self.about.kind)
            .with("id", &self.about.id)
            .with("ask", &self.ask)
            .with("title", &self.title)
            .with_some("from", self.from.clone())
            .with_some("to", self.to.clone())
            .with("since", &self.since)
            .with("due", &self.due)
            .with("version", self.version)
    }
}
