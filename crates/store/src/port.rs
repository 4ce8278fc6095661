//! The port: what a desk asks of a store. Implement [`Store`] to keep Bailiwick's state somewhere else.

use async_trait::async_trait;
use bailiwick_core::hash::Hash;
use bailiwick_core::heart::{Blob, Change, Key, Select, Stored};
use bailiwick_core::journal::{Entry, Head};
use bailiwick_core::time::Millis;
use tokio::sync::watch;

use crate::StoreError;

/// A store of workspaces. It keeps what it is given and decides nothing.
#[async_trait]
pub trait Store: Send + Sync + 'static {
    /// Makes sure that a workspace exists, with its journals. Changes nothing if it does.
    async fn open_workspace(&self, workspace: &NewWorkspace) -> Result<(), StoreError>;

    /// Locks a group of workspaces for writing, across every process that uses the database, and waits for it if
    /// another holds it.
    ///
    /// # Errors
    ///
    /// [`StoreError::Missing`] if no workspace is in the group, [`StoreError::Unavailable`] if another process keeps
    /// the lock for longer than [`crate::Options::lock_timeout`], [`StoreError::Foreign`] if a newer Bailiwick has
    /// meanwhile asked older ones to stop writing.
    async fn begin(&self, group: &str) -> Result<Box<dyn Transaction>, StoreError>;

    /// A consistent view for reading, of the moment of its first read. It never waits for writers, and is short-lived.
    async fn snapshot(&self) -> Result<Box<dyn Snapshot>, StoreError>;

    /// A number that rises after every commit: of this store before the commit is answered, of another process
    /// within 50 ms. It may also rise without one, so look what has changed. Watching other processes costs something
    /// only while a receiver is alive.
    fn watch(&self) -> watch::Receiver<u64>;

    /// What kind of store this is and where, without secrets, for people.
    fn describe(&self) -> String;

    /// Waits for open transactions and snapshots to end, and lets go of the database. What is asked later is
    /// answered [`StoreError::Unavailable`].
    async fn close(&self);
}

/// What can be read at one moment.
///
/// What does not exist is found nowhere: a workspace without documents and one that was never opened answer alike,
/// except where a journal is named. After an error from the database itself, every later call is answered
/// [`StoreError::Unavailable`]: begin another.
#[async_trait]
pub trait Snapshot: Send {
    /// The store's clock.
    async fn now(&mut self) -> Result<Millis, StoreError>;

    /// Documents by key, in the order asked for; `None` for those that do not exist.
    async fn documents(&mut self, workspace: &str, keys: &[Key]) -> Result<Vec<Option<Stored>>, StoreError>;

    /// Documents by an index, in the order of (`sort`, id), both compared byte for byte. Over a group, ids should be
    /// unique among its workspaces: paging goes on after an id, whichever workspace it is from.
    ///
    /// # Errors
    ///
    /// [`StoreError::Limit`] for more than five further entries ([`Select::also`]).
    async fn select(&mut self, workspace: &str, select: &Select) -> Result<Vec<Stored>, StoreError>;

    /// How many documents a selection would find without its paging.
    async fn count(&mut self, workspace: &str, select: &Select) -> Result<u64, StoreError>;

    /// Documents of any kind whose index entry `due` has a `sort` below the given one, in the order of (`sort`, kind, id),
    /// from the one after `after` on.
    async fn due(
        &mut self,
        workspace: &str,
        before: &str,
        after: Option<&Due>,
        limit: u32,
    ) -> Result<Vec<Due>, StoreError>;

    /// The earliest `due` of a workspace.
    async fn next_due(&mut self, workspace: &str) -> Result<Option<String>, StoreError>;

    /// Where a journal ends.
    ///
    /// # Errors
    ///
    /// [`StoreError::Missing`] if there is no such journal.
    async fn head(&mut self, workspace: &str, journal: &str) -> Result<JournalHead, StoreError>;

    /// Entries after a sequence, in order.
    ///
    /// # Errors
    ///
    /// [`StoreError::Missing`] if there is no such journal.
    async fn entries(
        &mut self,
        workspace: &str,
        journal: &str,
        after: u64,
        limit: u32,
    ) -> Result<Vec<StoredEntry>, StoreError>;

    /// Blobs by digest, in the order asked for; `None` for those erased or never there.
    async fn blobs(&mut self, workspace: &str, digests: &[Hash]) -> Result<Vec<Option<Blob>>, StoreError>;

    /// The receipt of an earlier command.
    async fn receipt(&mut self, workspace: &str, key: &ReceiptKey) -> Result<Option<Receipt>, StoreError>;

    /// The index entries of a document as (name, value, sort), in no order, the values as [`crate::found_by`] gives them:
    /// for checks.
    async fn index_of(&mut self, workspace: &str, key: &Key) -> Result<Vec<(String, Vec<u8>, String)>, StoreError>;

    /// Every document of a workspace after a key, in the order of (kind, id): for checks and exports.
    async fn all_documents(
        &mut self,
        workspace: &str,
        after: Option<&Key>,
        limit: u32,
    ) -> Result<Vec<Stored>, StoreError>;
}

/// A write transaction that holds its group's lock. Dropped without [`Transaction::commit`], it leaves nothing.
#[async_trait]
pub trait Transaction: Snapshot {
    /// Stores everything that one command leads to, or, when it fails, nothing of it. The transaction lives on,
    /// unless the database gave all of it up (a full disk, a lost connection): then the next call says so, and nothing
    /// is committed.
    ///
    /// # Errors
    ///
    /// [`StoreError::Conflict`] if the entries do not follow the journal's head, or an entry's id or the receipt's key
    /// is taken; [`StoreError::Missing`] if the workspace is not in the locked group, or a journal does not exist, or
    /// an index entry is for a document that does not; [`StoreError::Limit`] for names that are too long (a kind,
    /// index or journal 64 bytes, a document or entry id 2,048, a sort 256; a value may be of any length);
    /// [`StoreError::Damaged`] for an entry whose hash is not that of its bytes.
    async fn write(&mut self, workspace: &str, commit: &Commit) -> Result<(), StoreError>;

    /// Has older Bailiwicks refuse to write to this database from the commit on: they would write documents of an
    /// earlier form.
    async fn refuse_older_writers(&mut self) -> Result<(), StoreError>;

    /// Makes all writes durable and visible, and releases the lock.
    ///
    /// # Errors
    ///
    /// [`StoreError::CommitUnknown`] if the database did not say whether it committed: read the head to find out.
    /// After any other error nothing was committed.
    async fn commit(self: Box<Self>) -> Result<(), StoreError>;
}

/// A document with work that has fallen due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Due {
    /// The `sort` of its index entry `due`
    pub at: String,
    /// Which document
    pub key: Key,
}

/// A workspace to open.
#[derive(Debug, Clone)]
pub struct NewWorkspace {
    /// Its id, at most 128 bytes
    pub id: String,
    /// The lock group it belongs to; ignored for a workspace that exists
    pub group: String,
    /// Its journals
    pub journals: Vec<NewJournal>,
}

/// A journal to open.
#[derive(Debug, Clone)]
pub struct NewJournal {
    /// Its name within the workspace, a plain identifier of at most 64 bytes
    pub name: String,
    /// The epoch its entries carry, used only if the journal is new
    pub epoch_id: String,
}

/// What one command leads to.
#[derive(Debug, Clone, Default)]
pub struct Commit {
    /// Entries to append, each with the name of its journal; the first of each journal follows that journal's head
    pub entries: Vec<(String, Entry)>,
    /// Documents and index entries, at most one change for each document
    pub changes: Vec<Change>,
    /// Blobs
    pub blobs: Vec<Blob>,
    /// The receipt
    pub receipt: Option<(ReceiptKey, Receipt)>,
}

/// Where a journal ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalHead {
    /// The epoch its entries carry
    pub epoch_id: String,
    /// Sequence and hash of the last entry
    pub head: Head,
    /// When the last entry was written; `None` for an empty journal
    pub last_at: Option<Millis>,
}

/// An entry as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredEntry {
    /// Its place in the journal
    pub sequence: u64,
    /// The canonical bytes that were hashed: the entry without its `hash` member
    pub preimage: Vec<u8>,
    /// Their SHA-256
    pub hash: Hash,
}

/// Names a receipt within a workspace.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ReceiptKey {
    /// The principal's id
    pub principal: String,
    /// How the principal was established
    pub established: String,
    /// The key that the client chose
    pub key: String,
}

/// What a command was answered, so that repeating it does nothing and answers the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// SHA-256 of the normalised command
    pub command: Hash,
    /// The reply, as compact JSON
    pub reply: Vec<u8>,
    /// When
    pub at: Millis,
}
