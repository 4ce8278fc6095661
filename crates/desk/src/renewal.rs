//! Bringing documents to the form of the rules, when an older Bailiwick wrote them.
//!
//! What a document is kept as, and by what it is found, may change while the rules stay the same. Documents follow from
//! the journal, so this writes no entry. It is done when a desk is opened and before it takes anything: under the lock,
//! in transactions of bounded size, each of which notes how far it came. So several processes that open a desk at once
//! do it together, and one that is killed leaves the rest to the next.

use bailiwick_core::heart::capability::{self, FORM};
use bailiwick_core::heart::{Change, Document, IndexEntry, Key, Stored, View};
use bailiwick_core::json::{Object, Value};
use bailiwick_store::{Commit, Snapshot, Transaction, found_by};

use crate::DeskError;
use crate::desk::Shared;
use crate::load::with_view;

/// The kind of the note.
pub(crate) const KIND: &str = Form::KIND;

/// How many documents one transaction looks at.
const BATCH: u32 = 128;

/// Which form the documents of a workspace have: durable.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Form {
    /// How often this was written
    version: u64,
    /// Of documents up to `after`, or of all
    number: u64,
    /// How far renewal came; `None` when it is done
    after: Option<Key>,
}

impl Form {
    const ID: &'static str = "documents";

    /// The form of a workspace that says nothing.
    const FIRST: Self = Self { version: 0, number: 1, after: None };

    fn is_current(&self) -> bool {
        self.number >= FORM && self.after.is_none()
    }
}

impl Document for Form {
    const KIND: &'static str = "form";

    fn id(&self) -> String {
        Self::ID.into()
    }

    fn version(&self) -> u64 {
        self.version
    }

    fn to_value(&self) -> Value {
        let after = self.after.as_ref().map(|key| Object::new().with("kind", &key.kind).with("id", &key.id));
        Object::new().with("version", self.version).with("number", self.number).with_some("after", after).into()
    }

    fn from_value(value: Value) -> Option<Self> {
        let number = |name| value.get(name)?.as_number()?.to_u64();
        let string = |key: &Value, name| key.get(name)?.as_str().map(String::from);
        let key = |key| Some(Key { kind: string(key, "kind")?, id: string(key, "id")? });
        let after = match value.get("after") {
            None => None,
            Some(after) => Some(key(after)?),
        };
        Some(Self { version: number("version")?, number: number("number")?, after })
    }

    fn index(&self) -> Vec<IndexEntry> {
        Vec::new()
    }
}

/// Renews whatever is of an earlier form.
pub(crate) async fn renew(shared: &Shared) -> Result<(), DeskError> {
    let mut snapshot = shared.store.snapshot().await?;
    if form_of(&mut *snapshot, &shared.workspace).await?.is_current() {
        return Ok(());
    }
    drop(snapshot);
    loop {
        let mut transaction = shared.store.begin(&shared.workspace).await?;
        let form = form_of(&mut *transaction, &shared.workspace).await?;
        if form.is_current() {
            return Ok(());
        }
        let after = form.after.as_ref().filter(|_| form.number == FORM);
        let page = transaction.all_documents(&shared.workspace, after, BATCH).await?;
        let next = match page.last() {
            Some(last) if page.len() == usize::try_from(BATCH).unwrap_or(usize::MAX) => Some(last.key.clone()),
            _ => None,
        };
        transaction.refuse_older_writers().await?;
        renew_page(&mut *transaction, &shared.workspace, &page).await?;
        let noted = Form { version: form.version.saturating_add(1), number: FORM, after: next };
        note(&mut *transaction, &shared.workspace, &noted).await?;
        transaction.commit().await?;
    }
}

async fn form_of(snapshot: &mut (dyn Snapshot + '_), workspace: &str) -> Result<Form, DeskError> {
    let found = snapshot.documents(workspace, &[Key::of::<Form>(Form::ID)]).await?;
    let stored = found.into_iter().flatten().next();
    let form = stored.map(|stored| stored.read().map_err(DeskError::Corrupt)).transpose()?;
    Ok(form.unwrap_or(Form::FIRST))
}

async fn renew_page(
    transaction: &mut (dyn Transaction + '_),
    workspace: &str,
    page: &[Stored],
) -> Result<(), DeskError> {
    let mut view = View::new();
    let (mut removed, mut written) = (Commit::default(), Commit::default());
    for stored in page {
        let renewed = with_view(&mut *transaction, workspace, &mut view, |view| capability::renew(view, stored)).await;
        let (renewed, index) = match renewed {
            Ok(Some(renewed)) => renewed,
            Ok(None) => continue,
            Err(DeskError::Corrupt(corrupt)) => {
                // It stays for verification to find; whatever needs it says so.
                tracing::warn!(%corrupt, "a document was not brought to the form of the rules");
                continue;
            }
            Err(error) => return Err(error),
        };
        if renewed == *stored && is_found_by(&mut *transaction, workspace, &stored.key, &index).await? {
            continue;
        }
        let key = stored.key.clone();
        // Index entries of an earlier form may have names that nobody knows any more; they go with their document.
        removed.changes.push(Change { key: key.clone(), stored: None, index_added: vec![], index_removed: vec![] });
        written.changes.push(Change { key, stored: Some(renewed), index_added: index, index_removed: vec![] });
    }
    transaction.write(workspace, &removed).await?;
    Ok(transaction.write(workspace, &written).await?)
}

async fn is_found_by(
    snapshot: &mut (dyn Snapshot + '_),
    workspace: &str,
    key: &Key,
    index: &[IndexEntry],
) -> Result<bool, DeskError> {
    let mut found = snapshot.index_of(workspace, key).await?;
    let kept = |entry: &IndexEntry| (String::from(entry.name), found_by(&entry.value), entry.sort.clone());
    let mut wanted: Vec<_> = index.iter().map(kept).collect();
    wanted.sort();
    wanted.dedup();
    found.sort();
    Ok(found == wanted)
}

async fn note(transaction: &mut (dyn Transaction + '_), workspace: &str, form: &Form) -> Result<(), DeskError> {
    let (key, stored) = (Key::of::<Form>(Form::ID), Some(Stored::of(form)));
    let change = Change { key, stored, index_added: vec![], index_removed: vec![] };
    Ok(transaction.write(workspace, &Commit { changes: vec![change], ..Commit::default() }).await?)
}
