//! Where Bailiwick's state is kept: journals, documents, index entries, blobs and receipts, in SQLite or PostgreSQL.
//!
//! A store keeps what it is given and decides nothing. It does not know what a document is about.

mod error;
mod port;

pub use error::StoreError;
pub use port::{
    Commit, JournalHead, NewJournal, NewWorkspace, Receipt, ReceiptKey, Snapshot, Store, StoredEntry, Transaction,
};
