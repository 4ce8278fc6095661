//! What waits for a person: one kind of document for every capability, so that the inbox is one query.

use alloc::string::String;
use alloc::vec::Vec;

use crate::heart::{Document, IndexEntry, Key};
use crate::json::{Object, Value};

/// Something that waits for a person: journaled.
#[derive(Debug, Clone, PartialEq)]
pub struct Waiting {
    /// The document it is about
    pub about: Key,
    /// That document's version when the wait began
    pub version: u64,
    /// What is asked of the person, as the capability calls it: `review`, `answer`
    pub ask: String,
    /// Who can end the wait; persons among them find it in their inbox
    pub of: Vec<String>,
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
            title: string("title")?,
            since: string("since")?,
            due: string("due")?,
        })
    }

    /// Most urgent first.
    fn index(&self) -> Vec<IndexEntry> {
        let mut entries = Vec::from([IndexEntry::new(Self::ALL, "", &self.due)]);
        entries.extend(self.of.iter().map(|person| IndexEntry::new(Self::OF, person, &self.due)));
        entries
    }
}
