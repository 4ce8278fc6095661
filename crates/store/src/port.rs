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
    async fn begin(&self, group: &str) -> Result<Box<dyn Transaction>, StoreError>;

    /// A consistent view for reading. It never waits for writers, and is short-lived.
    async fn snapshot(&self) -> Result<Box<dyn Snapshot>, StoreError>;

    /// A number that rises after every commit, of this process or another, within 50 ms. Watching other processes
    /// costs something only while a receiver is alive.
    fn watch(&self) -> watch::Receiver<u64>;

    /// What kind of store this is and where, without secrets, for people.
    fn describe(&self) -> String;

    /// Waits for what is under way and lets go of the database.
    async fn close(&self);
}

/// What can be read at one moment.
#[async_trait]
pub trait Snapshot: Send {
    /// The store's clock.
    async fn now(&mut self) -> Result<Millis, StoreError>;

    /// Documents by key, in the order asked for; `None` for those that do not exist.
    async fn documents(&mut self, workspace: &str, keys: &[Key]) -> Result<Vec<Option<Stored>>, StoreError>;

    /// Documents by an index, in the order of (`sort`, id), both compared byte for byte.
    async fn select(&mut self, workspace: &str, select: &Select) -> Result<Vec<Stored>, StoreError>;

    /// How many documents a selection would find without its paging.
    async fn count(&mut self, workspace: &str, select: &Select) -> Result<u64, StoreError>;

    /// Documents of any kind whose index entry `due` has a `sort` below the given one, earliest first.
    async fn due(&mut self, workspace: &str, before: &str, limit: u32) -> Result<Vec<Key>, StoreError>;

    /// The earliest `due` of a workspace.
    async fn next_due(&mut self, workspace: &str) -> Result<Option<String>, StoreError>;

    /// Where a journal ends.
    async fn head(&mut self, workspace: &str, journal: &str) -> Result<JournalHead, StoreError>;

    /// Entries after a sequence, in order.
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
    /// Stores everything that one command leads to, or, when it fails, nothing of it; the transaction lives on.
    async fn write(&mut self, workspace: &str, commit: &Commit) -> Result<(), StoreError>;

    /// Makes all writes durable and visible, and releases the lock.
    async fn commit(self: Box<Self>) -> Result<(), StoreError>;
}

/// A workspace to open.
#[derive(Debug, Clone)]
pub struct NewWorkspace {
    /// Its id
    pub id: String,
    /// The lock group it belongs to
    pub group: String,
    /// Its journals
    pub journals: Vec<NewJournal>,
}

/// A journal to open.
#[derive(Debug, Clone)]
pub struct NewJournal {
    /// Its name within the workspace
    pub name: String,
    /// The epoch its entries carry, used only if the journal is new
    pub epoch_id: String,
}

/// What one command leads to.
#[derive(Debug, Clone, Default)]
pub struct Commit {
    /// Entries to append, each with the name of its journal; the first of each journal follows that journal's head
    pub entries: Vec<(String, Entry)>,
    /// Documents and index entries
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
