//! The capabilities that run in the machine. A new one adds a variant to each enum here, and nothing to whoever
//! drives the machine.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::{
    BlobReader, BlobWriter, Configuration, Context, Document, Draft, Fresh, IndexEntry, Key, Outcome, Refusal, Stored,
    View, ViewError, configuration,
};
use crate::hash::{Hash, sha256};
use crate::jose::Issuer;
use crate::journal::Entry;
use crate::json::{Object, Value, write_canonical};
use crate::time::Millis;
use crate::waiting::{self, Waiting};
use crate::work;
use crate::work::gateway::{Allowance, Call, Effect};

/// The number of the rule set. It rises whenever any verdict could change, so that a verifier knows whether it
/// can decide an old command again.
pub const RULES: u32 = 3;

/// The settings of every capability, by section.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sections {
    /// Section `work`
    pub work: work::Settings,
}

impl Sections {
    /// What holds where stored settings cannot be read.
    pub const STRICTEST: Self = Self { work: work::Settings::STRICTEST };

    /// Reads settings by section.
    ///
    /// # Errors
    ///
    /// A message naming the first member that is not accepted, and what is.
    pub fn read(settings: &Object) -> Result<Self, String> {
        let mut sections = Self::default();
        for (section, value) in settings.iter() {
            match section.as_str() {
                work::Settings::SECTION => sections.work = work::Settings::from_value(value)?,
                other => {
                    return Err(format!("unknown section `{other}`; accepted: `{}`", work::Settings::SECTION));
                }
            }
        }
        Ok(sections)
    }
}

/// The number of the form in which documents are kept and can be found. It rises whenever what a document is kept as
/// or found by changes while the rules stay the same; a desk then renews what a store holds ([`renew`]). Before there
/// were numbers, the form was 1.
///
/// 2: what waits says `from` and `to` and is found by what it asks; track records are listed.
/// 3: orders whose passes no longer count are found; gateways have documents.
pub const FORM: u64 = 3;

/// A command in normal form, of any capability.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// Adopts a configuration
    Configuration(configuration::Adopt),
    /// Work orders and reports
    Work(work::Command),
}

/// A secret that whoever asks may be given, of any capability. It is made anew each time, and kept nowhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Credential {
    /// A delegation pass
    Pass(work::pass::Request),
}

/// Something that followed from a command, of any capability.
#[derive(Debug, Clone, PartialEq)]
pub enum Fact {
    /// A configuration is in force
    Configuration(configuration::Adopted),
    /// Work orders and reports
    Work(work::Fact),
}

/// A question that changes nothing, of any capability.
#[derive(Debug, Clone, PartialEq)]
pub enum Query {
    /// What waits for whoever asks
    Waiting(waiting::Query),
    /// Work orders and reports
    Work(work::Query),
}

impl Command {
    /// The command's stable name, the `type` of its journal entry.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Configuration(_) => configuration::Adopt::NAME,
            Self::Work(command) => command.name(),
        }
    }

    /// The id of what the command is about, the `entity_id` of its journal entry.
    pub fn entity(&self, fresh: &Fresh) -> String {
        match self {
            Self::Configuration(_) => Configuration::CURRENT.into(),
            Self::Work(command) => command.entity(fresh),
        }
    }

    /// The arguments as the journal writes them.
    pub fn write(&self, blobs: &mut BlobWriter) -> Object {
        match self {
            Self::Configuration(command) => command.write(blobs),
            Self::Work(command) => command.write(blobs),
        }
    }

    /// A digest of the command in normal form: equal commands have equal ones, however their members are ordered and
    /// their numbers written.
    pub fn digest(&self) -> Hash {
        let arguments = self.write(&mut BlobWriter::inline());
        let value: Value = Object::new().with("name", self.name()).with("arguments", arguments).into();
        sha256(&[write_canonical(&value.with_whole_numbers()).as_ref()])
    }

    /// Reads what [`Command::name`] and [`Command::write`] give; `None` if it is no command of these rules.
    pub fn read(name: &str, arguments: &Object, blobs: &BlobReader<'_>) -> Option<Self> {
        match name.split_once('.')?.0 {
            "configuration" => configuration::Adopt::read(name, arguments, blobs).map(Self::Configuration),
            "work" => work::Command::read(name, arguments, blobs).map(Self::Work),
            _ => None,
        }
    }
}

impl Credential {
    /// What the reply of a command comes with, once the command has taken effect.
    pub fn of(command: &Command) -> Option<Self> {
        match command {
            Command::Work(work::Command::Start { id }) => Some(Self::Pass(work::pass::Request::new(id))),
            _ => None,
        }
    }

    /// The document whose due work decides whether there is one.
    pub fn about(&self) -> Key {
        match self {
            Self::Pass(request) => Key::of::<work::OrderRecord>(&*request.id),
        }
    }
}

impl Query {
    /// The one document whose due work the answer shows. `None` if it shows more than one: lists and sums.
    pub fn about(&self) -> Option<Key> {
        match self {
            Self::Work(work::Query::Get { id } | work::Query::Gateway { id }) => Some(Key::of::<work::OrderRecord>(id)),
            Self::Work(work::Query::Calls(calls)) => Some(Key::of::<work::OrderRecord>(&*calls.id)),
            Self::Waiting(_) | Self::Work(_) => None,
        }
    }
}

impl Fact {
    /// The fact as the journal writes it.
    pub fn write(&self, blobs: &mut BlobWriter) -> Object {
        match self {
            Self::Configuration(fact) => fact.write(blobs),
            Self::Work(fact) => fact.write(blobs),
        }
    }

    /// Reads what [`Fact::write`] gives; `None` if it is no fact of these rules.
    pub fn read(object: &Object, blobs: &BlobReader<'_>) -> Option<Self> {
        match object.str("fact")?.split_once('.')?.0 {
            "configuration" => configuration::Adopted::read(object, blobs).map(Self::Configuration),
            "work" => work::Fact::read(object, blobs).map(Self::Work),
            _ => None,
        }
    }
}

/// Decides a command. Reads, never writes.
pub(super) fn decide(
    view: &View,
    command: &Command,
    context: &Context<'_>,
    configuration: &Configuration,
) -> Result<Outcome, ViewError> {
    match command {
        Command::Configuration(command) => {
            Ok(configuration::decide(command, context, configuration).of(Fact::Configuration))
        }
        Command::Work(command) => Ok(work::decide(view, command, context, configuration)?.of(Fact::Work)),
    }
}

/// Applies a fact. Never refuses.
pub(super) fn apply(draft: &mut Draft<'_>, fact: &Fact) -> Result<(), ViewError> {
    match fact {
        Fact::Configuration(fact) => configuration::apply(draft, fact),
        Fact::Work(fact) => work::apply(draft, fact),
    }
}

/// Answers a query.
pub(super) fn answer(
    view: &View,
    query: &Query,
    context: &Context<'_>,
    configuration: &Configuration,
) -> Result<Result<Value, Refusal>, ViewError> {
    match query {
        Query::Waiting(query) => waiting::answer(view, query, context),
        Query::Work(query) => work::answer(view, query, context, configuration),
    }
}

/// Makes a credential, or says why there is none. Reading changes nothing, and neither does this.
///
/// # Errors
///
/// [`ViewError::NotLoaded`] names what to load before calling again.
pub fn mint(
    view: &View,
    credential: &Credential,
    issuer: &Issuer<'_>,
    context: &Context<'_>,
) -> Result<Result<Value, Refusal>, ViewError> {
    match credential {
        Credential::Pass(request) => work::pass::mint(view, request, issuer, context),
    }
}

/// Signs the list of credentials that no longer count, as of a journal's head: its sequence and its time.
///
/// # Errors
///
/// [`ViewError::NotLoaded`] names what to load before calling again.
pub fn sign_revocations(
    view: &View,
    head: (u64, Millis),
    issuer: &Issuer<'_>,
    now: Millis,
) -> Result<Result<String, Refusal>, ViewError> {
    work::pass::sign_revocations(view, head, issuer, now)
}

/// The command that does what has fallen due for a document; a no-op if it was done meanwhile. `None` when nothing
/// ever falls due for documents of this kind.
pub fn expire_due(key: &Key) -> Option<Command> {
    (key.kind == work::OrderRecord::KIND).then(|| Command::Work(work::Command::ExpireDue { id: key.id.clone() }))
}

/// The documents that a journal entry changes, as far as it names them: what somebody may wait for. `None` if it does not
/// say, so that any may be changed.
pub fn touched(entry: &Entry) -> Option<Vec<Key>> {
    if entry.kind == configuration::Adopt::NAME {
        return Some([Key::of::<Configuration>(&*entry.entity_id)].into());
    }
    entry.kind.strip_prefix("work.")?;
    // An order that is taken over stands in a blob, but the entry is about it.
    let mut keys = Vec::from([Key::of::<work::OrderRecord>(&*entry.entity_id)]);
    for fact in entry.payload.get("facts")?.as_array()? {
        if let Some(order) = work::order_of(fact)? {
            let key = Key::of::<work::OrderRecord>(order);
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
    }
    Some(keys)
}

/// A stored document of any earlier form in the form of [`FORM`], with everything it is found by. `None` for a kind that
/// is none of these rules.
///
/// # Errors
///
/// [`ViewError::NotLoaded`] names what to load before calling again.
pub fn renew(view: &View, stored: &Stored) -> Result<Option<(Stored, Vec<IndexEntry>)>, ViewError> {
    Ok(Some(match stored.key.kind.as_str() {
        Configuration::KIND => renewed(&stored.read::<Configuration>()?),
        Waiting::KIND => renewed(&renew_waiting(view, stored.read()?)?),
        work::OrderRecord::KIND => renewed(&stored.read::<work::OrderRecord>()?),
        work::ReportRecord::KIND => renewed(&stored.read::<work::ReportRecord>()?),
        work::TrackRecord::KIND => renewed(&stored.read::<work::TrackRecord>()?),
        Allowance::KIND => renewed(&stored.read::<Allowance>()?),
        Call::KIND => renewed(&stored.read::<Call>()?),
        Effect::KIND => renewed(&stored.read::<Effect>()?),
        _ => return Ok(None),
    }))
}

fn renewed<D: Document>(document: &D) -> (Stored, Vec<IndexEntry>) {
    (Stored::of(document), document.index())
}

/// Form 1 did not say whose work it is.
fn renew_waiting(view: &View, waiting: Waiting) -> Result<Waiting, ViewError> {
    if waiting.about.kind != work::OrderRecord::KIND {
        return Ok(waiting);
    }
    let about: Option<work::OrderRecord> = view.document(&waiting.about.id)?;
    let parties = about.map(|record| (record.manager().into(), record.worker().into()));
    let (from, to) = parties.unzip();
    Ok(Waiting { from, to, ..waiting })
}
