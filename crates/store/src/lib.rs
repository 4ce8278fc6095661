//! Where Bailiwick's state is kept: journals, documents, index entries, blobs and receipts, in SQLite or PostgreSQL.
//!
//! A store keeps what it is given and decides nothing. It does not know what a document is about.
//!
//! Where to look:
//!
//! - `port`: what a desk asks of a store
//! - `session`: the port, once for both databases, as statements over a `link`
//! - `sql`: the statements; `migrations/`: the tables
//! - `sqlite`, `postgres`: connections, locks, waking others, what failures mean
//! - `rows`: a command as rows; `bell`: telling whoever watches; `address`: where a store is
#![forbid(unsafe_code)]

mod address;
mod bell;
mod error;
mod link;
mod options;
mod port;
mod postgres;
mod rows;
mod session;
mod sql;
mod sqlite;

use std::sync::Arc;

pub use error::StoreError;
pub use options::{Clock, Options, SystemClock};
pub use port::{
    Commit, Due, JournalHead, NewJournal, NewWorkspace, Receipt, ReceiptKey, Snapshot, Store, StoredEntry, Transaction,
};

pub use rows::found_by;

use address::Address;
use session::Kept;

/// The format of the tables that this Bailiwick reads and writes.
pub(crate) const FORMAT: u64 = 1;

/// The number of this Bailiwick as a writer. It rises when older ones must stop writing to what it has written,
/// though the tables are the same.
///
/// 2: what waits for a person says whose work it is (`bailiwick_core::heart::capability::FORM` 2).
/// 3: rule set 3, whose entries older writers must not follow with theirs.
pub(crate) const WRITER: u64 = 3;

/// Opens a store, and makes it if there is none.
///
/// The address is a file (`path`, `sqlite:path`, `sqlite:///absolute/path`), `sqlite::memory:` for one that is gone
/// when it is closed, or `postgres://user:password@host:port/database`. A parameter `options=-csearch_path%3Dname`
/// puts a PostgreSQL store into a schema of its own.
///
/// # Errors
///
/// [`StoreError::Address`] for another form; [`StoreError::Foreign`], [`StoreError::Unsafe`],
/// [`StoreError::NotWritable`], [`StoreError::Unavailable`] or [`StoreError::Damaged`] for a database that can't be
/// used. A database that is refused is left as it was.
pub async fn open(address: &str, options: Options) -> Result<Arc<dyn Store>, StoreError> {
    Ok(match Address::parse(address)? {
        Address::Memory => Arc::new(Kept(sqlite::Sqlite::open_in_memory(&options).await?)),
        Address::File(path) => Arc::new(Kept(sqlite::Sqlite::open(path, &options).await?)),
        Address::Postgres(url) => Arc::new(Kept(postgres::Postgres::open(&url, &options).await?)),
    })
}
