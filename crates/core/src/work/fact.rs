//! What follows from commands on orders.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use super::gateway::GatewayFact;
use super::{Event, Finding};
use crate::heart::{BlobReader, BlobWriter};
use crate::json::{Object, Value};

/// Something that followed from a command.
#[derive(Debug, Clone, PartialEq)]
pub enum Fact {
    /// An order was issued
    Opened(Opened),
    /// An order went through a transition
    Moved {
        /// The order
        order: String,
        /// The transition
        event: Event,
    },
    /// A report was accepted
    Reported(Reported),
    /// What followed from what a gateway did, or was told
    Gateway(Box<GatewayFact>),
    /// An order was taken over with its history from another desk
    Imported {
        /// The record as the other desk kept it (`spec §9`)
        record: Object,
    },
}

/// An order was issued.
#[derive(Debug, Clone, PartialEq)]
pub struct Opened {
    /// Its id
    pub id: String,
    /// The version it is marked with
    pub spec: String,
    /// When, UTC with milliseconds
    pub created_at: String,
    /// The manager
    pub from: String,
    /// Its other members, as given
    pub input: Object,
}

/// A report was accepted.
#[derive(Debug, Clone, PartialEq)]
pub struct Reported {
    /// The order it answers
    pub order: String,
    /// The version it is marked with
    pub spec: String,
    /// The worker
    pub from: String,
    /// 1 for the order's first report
    pub attempt: u64,
    /// When the desk got it, used where the worker did not say when it finished
    pub received_at: String,
    /// Its other members, as given
    pub input: Object,
    /// Limits it exceeds
    pub findings: Vec<Finding>,
}

impl Opened {
    /// The order document.
    pub fn document(&self) -> Object {
        let mut order = Object::new()
            .with("spec", &self.spec)
            .with("id", &self.id)
            .with("created_at", &self.created_at)
            .with("from", &self.from);
        for (name, value) in self.input.iter() {
            if !order.contains(name) {
                order.insert(name.clone(), value.clone());
            }
        }
        order
    }
}

impl Reported {
    /// The report document.
    pub fn document(&self) -> Object {
        let mut report = Object::new()
            .with("spec", &self.spec)
            .with("order_id", &self.order)
            .with("from", &self.from)
            .with("attempt", self.attempt);
        for (name, value) in self.input.iter() {
            if !report.contains(name) {
                report.insert(name.clone(), value.clone());
            }
        }
        if !report.contains("finished_at") {
            report.insert("finished_at", &self.received_at);
        }
        report
    }
}

impl Fact {
    /// As the journal writes it.
    pub(crate) fn write(&self, blobs: &mut BlobWriter) -> Object {
        match self {
            Self::Opened(opened) => Object::new()
                .with("fact", "work.opened")
                .with("id", blobs.put_name(&opened.id))
                .with("spec", &opened.spec)
                .with("created_at", &opened.created_at)
                .with("from", blobs.put_name(&opened.from))
                .with("input", blobs.put(&opened.input.clone().into())),
            Self::Moved { order, event } => Object::new()
                .with("fact", "work.moved")
                .with("order", blobs.put_name(order))
                .with("event", event.to_fact(blobs)),
            Self::Reported(reported) => {
                let findings: Value = reported.findings.iter().map(Finding::to_value).collect();
                Object::new()
                    .with("fact", "work.reported")
                    .with("order", blobs.put_name(&reported.order))
                    .with("spec", &reported.spec)
                    .with("from", blobs.put_name(&reported.from))
                    .with("attempt", reported.attempt)
                    .with("received_at", &reported.received_at)
                    .with("input", blobs.put(&reported.input.clone().into()))
                    .with_some("findings", (!reported.findings.is_empty()).then(|| blobs.put(&findings)))
            }
            Self::Gateway(fact) => fact.write(blobs),
            Self::Imported { record } => {
                Object::new().with("fact", "work.imported").with("record", blobs.put(&record.clone().into()))
            }
        }
    }

    /// Reads what [`Fact::write`] gives.
    pub(crate) fn read(object: &Object, blobs: &BlobReader<'_>) -> Option<Self> {
        let string = |name| object.str(name).map(String::from);
        let name = |member| blobs.take_name(object.get(member)?);
        let bulk = |name| Some(blobs.take(object.get(name)?)?.as_object()?.clone());
        Some(match object.str("fact")? {
            "work.opened" => Self::Opened(Opened {
                id: name("id")?,
                spec: string("spec")?,
                created_at: string("created_at")?,
                from: name("from")?,
                input: bulk("input")?,
            }),
            "work.moved" => {
                Self::Moved { order: name("order")?, event: Event::from_fact(object.get("event")?, blobs)? }
            }
            "work.reported" => Self::Reported(Reported {
                order: name("order")?,
                spec: string("spec")?,
                from: name("from")?,
                attempt: object.get("attempt")?.as_number()?.to_u64()?,
                received_at: string("received_at")?,
                input: bulk("input")?,
                findings: match object.get("findings") {
                    Some(findings) => read_findings(&blobs.take(findings)?)?,
                    None => Vec::new(),
                },
            }),
            "work.imported" => Self::Imported { record: bulk("record")? },
            _ => Self::Gateway(GatewayFact::read(object, blobs)?.into()),
        })
    }
}

/// The order that a written fact is about, `Some(None)` if its entry says that alone. `None` if the name is so long that it
/// stands in a blob, or this is no fact.
pub(crate) fn order_of(fact: &Value) -> Option<Option<&str>> {
    match fact.get("fact")?.as_str()? {
        "work.imported" => Some(None),
        "work.opened" => fact.get("id")?.as_str().map(Some),
        _ => fact.get("order")?.as_str().map(Some),
    }
}

/// Findings from an array; an erased array is none.
pub(super) fn read_findings(value: &Value) -> Option<Vec<Finding>> {
    match value {
        Value::Array(items) => items.iter().map(Finding::from_value).collect(),
        _ => Some(Vec::new()),
    }
}
