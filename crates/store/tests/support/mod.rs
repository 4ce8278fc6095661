//! Places to keep a store in, and things to keep there.
#![allow(dead_code, reason = "each test binary uses its own part")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use bailiwick_core::heart::{Blob, Change, IndexEntry, Key, Order, Scope, Select, Stored};
use bailiwick_core::journal::export::blob_digest;
use bailiwick_core::journal::{Draft, Entry, Head, Label};
use bailiwick_core::json::Object;
use bailiwick_store::{Commit, NewJournal, NewWorkspace, Options, Snapshot, Store, StoreError, Transaction, open};
use sqlx::{ConnectOptions, Connection};
use tempfile::TempDir;

/// Names a PostgreSQL server to test on; each test makes a schema there and drops it.
pub(crate) const POSTGRES: &str = "BAILIWICK_POSTGRES_URL";

/// A new, empty place for a store.
pub(crate) struct Place {
    pub(crate) address: String,
    pub(crate) kind: Kind,
    /// The schema's name, and the server it is on
    schema: Option<(String, String)>,
    folder: Option<TempDir>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Memory,
    File,
    Postgres,
}

impl Place {
    pub(crate) async fn new(kind: Kind) -> Option<Self> {
        match kind {
            Kind::Memory => Some(Self { address: "sqlite::memory:".into(), kind, schema: None, folder: None }),
            Kind::File => {
                let folder = tempfile::tempdir().unwrap();
                let address = folder.path().join("store.db").to_str().unwrap().into();
                Some(Self { address, kind, schema: None, folder: Some(folder) })
            }
            Kind::Postgres => {
                let Ok(url) = std::env::var(POSTGRES) else {
                    eprintln!("skipped: set {POSTGRES} to the URL of a PostgreSQL database to test on");
                    return None;
                };
                static COUNT: AtomicU32 = AtomicU32::new(0);
                let number = COUNT.fetch_add(1, Ordering::Relaxed);
                let schema = format!("bailiwick_test_{}_{number}", std::process::id());
                run_postgres(&url, &format!("DROP SCHEMA IF EXISTS {schema} CASCADE; CREATE SCHEMA {schema}")).await;
                let joint = if url.contains('?') { '&' } else { '?' };
                let address = format!("{url}{joint}options=-csearch_path%3D{schema}");
                Some(Self { address, kind, schema: Some((schema, url)), folder: None })
            }
        }
    }

    /// Whether a second store can be opened on the same data.
    pub(crate) fn is_shared(&self) -> bool {
        self.kind != Kind::Memory
    }

    pub(crate) async fn open(&self) -> Arc<dyn Store> {
        self.open_with(Options::default()).await
    }

    pub(crate) async fn open_with(&self, options: Options) -> Arc<dyn Store> {
        open(&self.address, options).await.unwrap()
    }

    pub(crate) async fn open_impatiently(&self) -> Arc<dyn Store> {
        self.open_with(Options { lock_timeout: Duration::from_millis(200), ..Options::default() }).await
    }

    pub(crate) fn path(&self) -> std::path::PathBuf {
        self.folder.as_ref().unwrap().path().join("store.db")
    }

    /// Runs SQL behind the store's back.
    pub(crate) async fn run(&self, sql: &str) {
        match self.kind {
            Kind::Postgres => run_postgres(&self.address, sql).await,
            _ => run_sqlite(&self.path(), sql).await,
        }
    }

    /// Leaves nothing behind.
    pub(crate) async fn finish(self) {
        if let Some((schema, url)) = &self.schema {
            run_postgres(url, &format!("DROP SCHEMA {schema} CASCADE")).await;
        }
    }
}

pub(crate) async fn run_postgres(url: &str, sql: &str) {
    let options: sqlx::postgres::PgConnectOptions = url.parse().unwrap();
    let mut connection = options.connect().await.unwrap();
    sqlx::raw_sql(sqlx::AssertSqlSafe(sql.to_owned())).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

pub(crate) async fn run_sqlite(path: &std::path::Path, sql: &str) {
    let mut connection = sqlite(path).await;
    sqlx::raw_sql(sqlx::AssertSqlSafe(sql.to_owned())).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

pub(crate) async fn sqlite(path: &std::path::Path) -> sqlx::SqliteConnection {
    sqlx::sqlite::SqliteConnectOptions::new().filename(path).create_if_missing(true).connect().await.unwrap()
}

pub(crate) const DESK: &str = "desk";
pub(crate) const DECISIONS: &str = "decisions";
pub(crate) const EVENTS: &str = "events";

pub(crate) fn workspace(id: &str, group: &str) -> NewWorkspace {
    let journal = |name: &str| NewJournal { name: name.into(), epoch_id: format!("epoch_{name}") };
    NewWorkspace { id: id.into(), group: group.into(), journals: vec![journal(DECISIONS), journal(EVENTS)] }
}

/// A store with the workspace `desk` in the group `desk`.
pub(crate) async fn open_desk(place: &Place) -> Arc<dyn Store> {
    let store = place.open().await;
    store.open_workspace(&workspace(DESK, DESK)).await.unwrap();
    store
}

pub(crate) async fn begin(store: &Arc<dyn Store>) -> Box<dyn Transaction> {
    store.begin(DESK).await.unwrap()
}

pub(crate) async fn snapshot(store: &Arc<dyn Store>) -> Box<dyn Snapshot> {
    store.snapshot().await.unwrap()
}

/// Writes one command and commits it.
pub(crate) async fn write(store: &Arc<dyn Store>, commit: &Commit) {
    let mut transaction = begin(store).await;
    transaction.write(DESK, commit).await.unwrap();
    transaction.commit().await.unwrap();
}

pub(crate) async fn head(store: &Arc<dyn Store>, journal: &str) -> Head {
    snapshot(store).await.head(DESK, journal).await.unwrap().head
}

/// The entry after a head, with an id that nobody else gives.
pub(crate) fn entry(head: &Head) -> Entry {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    entry_with_id(head, &format!("event_{}_{number}", std::process::id()))
}

pub(crate) fn entry_with_id(head: &Head, id: &str) -> Entry {
    let draft = Draft {
        protocol: Label::Journal1,
        workspace_id: DESK.into(),
        epoch_id: "epoch".into(),
        id: id.into(),
        kind: "work.order_issued".into(),
        entity_id: "order_1".into(),
        actor: "agent:\u{0}worker".into(),
        session_id: None,
        occurred_at: "2026-01-01T09:00:00.000Z".into(),
        payload: Object::new().with("note", "é😀"),
    };
    draft.seal(head).unwrap()
}

/// Entries that follow each other.
pub(crate) fn chain(mut head: Head, count: usize) -> Vec<Entry> {
    (0..count)
        .map(|_| {
            let entry = entry(&head);
            head = entry.head();
            entry
        })
        .collect()
}

pub(crate) fn entries(journal: &str, entries: Vec<Entry>) -> Commit {
    Commit { entries: entries.into_iter().map(|entry| (journal.into(), entry)).collect(), ..Commit::default() }
}

pub(crate) fn key(kind: &str, id: &str) -> Key {
    Key { kind: kind.into(), id: id.into() }
}

pub(crate) fn put(kind: &str, id: &str, version: u64, index: &[(&'static str, &str, &str)]) -> Change {
    let key = key(kind, id);
    let stored = Stored { key: key.clone(), version, body: format!("{{\"v\":{version}}}").into() };
    let index_added = index.iter().map(|(name, value, sort)| IndexEntry::new(name, *value, *sort)).collect();
    Change { key, stored: Some(stored), index_added, index_removed: Vec::new() }
}

pub(crate) fn changes(changes: Vec<Change>) -> Commit {
    Commit { changes, ..Commit::default() }
}

pub(crate) fn select(kind: &'static str, index: &'static str, value: &str) -> Select {
    Select {
        kind,
        scope: Scope::Workspace,
        index,
        value: value.into(),
        also: Vec::new(),
        order: Order::Ascending,
        after: None,
        limit: 100,
    }
}

pub(crate) fn ids(found: &[Stored]) -> Vec<&str> {
    found.iter().map(|stored| stored.key.id.as_str()).collect()
}

pub(crate) fn blob(text: &str) -> Blob {
    let (salt, bytes) = ([7; 16], text.as_bytes().to_vec());
    Blob { digest: blob_digest(&salt, &bytes), salt, bytes }
}

pub(crate) fn code<T>(result: Result<T, StoreError>) -> &'static str {
    match result {
        Ok(_) => "ok",
        Err(error) => error.code(),
    }
}
