//! SQLite: one file, shared by any number of processes on one machine.
//!
//! - One connection writes, a few read. The write lock is the file's own, so it holds across processes.
//! - Durable: in WAL mode with `synchronous=FULL`, a commit has reached the disk before it is answered. It survives
//!   the end of the process at any moment, and the loss of power if the disk keeps what it says it has.
//! - Nothing signals a commit to other processes, so whoever watches looks at `PRAGMA data_version` every 10 ms.
//!
//! A database in memory is an ordinary one in a private temporary folder, never synced, removed when closed. SQLite's
//! own have no WAL: there, readers and the writer would wait for each other.

mod failure;
mod file;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bailiwick_core::time::Millis;
use sqlx::pool::{PoolConnection, PoolOptions};
use sqlx::sqlite::{SqliteArguments, SqliteConnectOptions, SqliteConnection, SqlitePool, SqliteRow, SqliteSynchronous};
use sqlx::{Arguments, ConnectOptions, Connection, Error, Row as _, TypeInfo, ValueRef, query, query_with};
use tempfile::TempDir;
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};

use crate::bell::Bell;
use crate::link::{Link, Row, Value};
use crate::rows::Rows;
use crate::session::Backend;
use crate::sql::sqlite::{self as sql, slots};
use crate::{Clock, Options, StoreError};

/// How often to look for other processes' commits while somebody watches.
const WATCH_INTERVAL: Duration = Duration::from_millis(10);

/// How long to wait before asking for the write lock again. SQLite's own waiting grows to 100 ms, which is long and
/// unfair among processes that hold the lock for less than one.
const LOCK_PAUSE: Duration = Duration::from_millis(1);

/// How long a task waits for a connection that other tasks of this process hold.
const QUEUE_TIMEOUT: Duration = Duration::from_secs(30);

/// How many reads run at once.
const READERS: u32 = 4;

/// A SQLite database.
pub(crate) struct Sqlite {
    writer: SqlitePool,
    readers: SqlitePool,
    place: Place,
    /// Which file it is
    mark: Option<file::Mark>,
    clock: Arc<dyn Clock>,
    lock_timeout: Duration,
    bell: Arc<Bell>,
    listener: tokio::sync::Mutex<Option<JoinHandle<()>>>,
}

/// Where a database is. A temporary folder goes with the last who knows of it.
#[derive(Clone)]
struct Place {
    path: Arc<Path>,
    temporary: Option<Arc<TempDir>>,
}

impl Sqlite {
    /// Opens a database file, or makes one.
    pub(crate) async fn open(path: PathBuf, options: &Options) -> Result<Self, StoreError> {
        Self::open_at(Place { path: path.into(), temporary: None }, options).await
    }

    /// Makes a database that is gone when it is closed.
    pub(crate) async fn open_in_memory(options: &Options) -> Result<Self, StoreError> {
        let folder = tempfile::Builder::new().prefix("bailiwick-").tempdir().map_err(|error| {
            StoreError::NotWritable(format!(
                "no temporary folder can be made ({error}); set TMPDIR to one that can be written"
            ))
        })?;
        let path = folder.path().join("memory.db").into();
        Self::open_at(Place { path, temporary: Some(Arc::new(folder)) }, options).await
    }

    async fn open_at(place: Place, options: &Options) -> Result<Self, StoreError> {
        file::prepare(&place.path)?;
        file::identify(&place.path).await?;
        let connect = place.connect_options(options);
        file::initialise(&place.path, &connect, options.lock_timeout.saturating_mul(3)).await?;
        let bell = Arc::new(Bell::new());
        let reading = connect.clone().read_only(true);
        // Once connected, the writer does its own waiting. The last pragma is set last.
        let writing = connect.pragma("busy_timeout", "0");
        let listener = tokio::spawn(listen(bell.clone(), reading.clone()));
        Ok(Self {
            writer: pool(1).connect_lazy_with(writing),
            readers: pool(READERS).connect_lazy_with(reading),
            mark: file::mark(&place.path),
            place,
            clock: options.clock.clone().unwrap_or_else(|| Arc::new(crate::SystemClock)),
            lock_timeout: options.lock_timeout,
            bell,
            listener: tokio::sync::Mutex::new(Some(listener)),
        })
    }

    /// A connection on which a transaction is about to begin.
    async fn link(&self, pool: &SqlitePool) -> Result<SqliteLink, StoreError> {
        // A file that was removed lives on for those who have it open, and whatever they write goes with them.
        if file::mark(&self.place.path) != self.mark {
            return Err(StoreError::Unavailable(format!(
                "`{}` was removed or replaced while in use; put it back or start again",
                self.place.path.display()
            )));
        }
        let connection = pool.acquire().await.map_err(|error| self.place.failure(error))?;
        let (place, clock, bell) = (self.place.clone(), self.clock.clone(), self.bell.clone());
        Ok(SqliteLink { connection: Some(connection), place, clock, bell })
    }
}

impl Place {
    fn connect_options(&self, options: &Options) -> SqliteConnectOptions {
        let synchronous = match self.temporary {
            Some(_) => SqliteSynchronous::Off,
            None => SqliteSynchronous::Full,
        };
        let connect = SqliteConnectOptions::new()
            .filename(&self.path)
            .foreign_keys(true)
            .synchronous(synchronous)
            .busy_timeout(options.lock_timeout)
            .pragma("trusted_schema", "OFF")
            // Each command runs under a savepoint; what it would need to go back should not visit the disk.
            .pragma("temp_store", "MEMORY")
            // Every so many pages one commit also tidies up; more often than this slows writing down noticeably.
            .pragma("wal_autocheckpoint", "4000")
            .pragma("journal_size_limit", "67108864")
            .thread_name(|number| format!("bailiwick-sqlite-{number}"))
            .disable_statement_logging();
        match options.size_limit_bytes {
            Some(bytes) => connect.pragma("max_page_count", (bytes / PAGE_BYTES).max(1).to_string()),
            None => connect,
        }
    }
}

/// What SQLite uses for a new database.
const PAGE_BYTES: u64 = 4096;

fn pool(connections: u32) -> PoolOptions<sqlx::Sqlite> {
    PoolOptions::new()
        .max_connections(connections)
        .acquire_timeout(QUEUE_TIMEOUT)
        .max_lifetime(None)
        .idle_timeout(None)
        .test_before_acquire(false)
}

impl Backend for Sqlite {
    type Link = SqliteLink;

    async fn read(&self) -> Result<SqliteLink, StoreError> {
        let mut link = self.link(&self.readers).await?;
        link.run(sql::BEGIN_READ, Vec::new()).await.map_err(|error| self.place.failure(error))?;
        Ok(link)
    }

    async fn write(&self, group: Value<'_>) -> Result<(SqliteLink, Vec<Row>), StoreError> {
        let mut link = self.link(&self.writer).await?;
        let deadline = Instant::now() + self.lock_timeout;
        loop {
            match link.run(sql::BEGIN_WRITE, vec![group.clone()]).await {
                Ok(workspaces) => return Ok((link, workspaces)),
                Err(error) if failure::is_busy(&error) && Instant::now() < deadline => sleep(LOCK_PAUSE).await,
                Err(error) => return Err(self.place.failure(error)),
            }
        }
    }

    fn watch(&self) -> watch::Receiver<u64> {
        self.bell.subscribe()
    }

    fn describe(&self) -> String {
        match self.place.temporary {
            Some(_) => "SQLite in memory, gone when closed".into(),
            None => format!("SQLite at {}", self.place.path.display()),
        }
    }

    async fn close(&self) {
        self.bell.close();
        if let Some(listener) = self.listener.lock().await.take() {
            let _ = listener.await;
        }
        self.readers.close().await;
        self.writer.close().await;
    }
}

impl Drop for Sqlite {
    fn drop(&mut self) {
        self.bell.close();
    }
}

impl Place {
    fn failure(&self, error: Error) -> StoreError {
        failure::failure(&self.path, error)
    }
}

/// Rings when another connection has committed, while somebody watches.
async fn listen(bell: Arc<Bell>, options: SqliteConnectOptions) {
    let mut connection = None;
    let mut known = None;
    while bell.wanted().await {
        match data_version(&mut connection, &options).await {
            // Whoever began to watch before the first look may have missed something, so that one rings as well.
            Ok(version) => {
                if known.replace(version) != Some(version) {
                    bell.ring();
                }
            }
            Err(error) => {
                tracing::warn!(%error, "can't look for other processes' commits");
                connection = None;
                known = None;
            }
        }
        bell.pause(WATCH_INTERVAL).await;
    }
    if let Some(connection) = connection {
        let _ = connection.close().await;
    }
}

async fn data_version(connection: &mut Option<SqliteConnection>, options: &SqliteConnectOptions) -> Result<i64, Error> {
    let connection = match connection {
        Some(connection) => connection,
        None => connection.insert(options.connect().await?),
    };
    query(sql::DATA_VERSION).fetch_one(connection).await?.try_get(0)
}

/// A connection with an open transaction.
pub(crate) struct SqliteLink {
    /// `None` when the transaction has ended
    connection: Option<PoolConnection<sqlx::Sqlite>>,
    place: Place,
    clock: Arc<dyn Clock>,
    bell: Arc<Bell>,
}

impl SqliteLink {
    async fn run(&mut self, sql: &'static str, values: Vec<Value<'_>>) -> Result<Vec<Row>, Error> {
        let mut parameters = Parameters::default();
        values.into_iter().for_each(|value| parameters.add(value));
        self.run_with(sql, parameters).await?.iter().map(decode).collect()
    }

    async fn run_with(&mut self, sql: &'static str, parameters: Parameters) -> Result<Vec<SqliteRow>, Error> {
        let connection = self.connection.as_deref_mut().ok_or(Error::PoolClosed)?;
        query_with(sql, parameters.0).fetch_all(connection).await
    }
}

impl Drop for SqliteLink {
    /// Rolls back what was not committed, so that others need not wait for the lock.
    fn drop(&mut self) {
        let Some(mut connection) = self.connection.take() else { return };
        match Handle::try_current() {
            Ok(runtime) => {
                runtime.spawn(async move {
                    if query(sql::ROLLBACK).execute(&mut *connection).await.is_err() {
                        // SQLite has rolled back by itself, or worse.
                        connection.close_on_drop();
                    }
                });
            }
            // A connection that goes rolls back as well.
            Err(_) => drop(connection.detach()),
        }
    }
}

impl Link for SqliteLink {
    async fn now(&mut self) -> Result<Millis, StoreError> {
        Ok(self.clock.now())
    }

    async fn fetch(&mut self, sql: &'static str, values: Vec<Value<'_>>) -> Result<Vec<Row>, StoreError> {
        self.run(sql, values).await.map_err(|error| self.place.failure(error))
    }

    async fn write(&mut self, mut rows: Rows<'_>) -> Result<usize, StoreError> {
        let mut moved = 0;
        let mut sql = sql::WRITE;
        loop {
            let answer = self.run_with(sql, take_round(&mut rows)).await;
            moved += answer.map_err(|error| self.place.failure(error))?.len();
            if rows.is_empty() {
                return Ok(moved);
            }
            sql = sql::WRITE_MORE;
        }
    }

    async fn undo(&mut self) -> Result<(), StoreError> {
        self.fetch(crate::sql::UNDO, Vec::new()).await.map(|_| ())
    }

    async fn commit(mut self) -> Result<(), StoreError> {
        let committed = self.run(sql::COMMIT, Vec::new()).await;
        if committed.is_ok() {
            self.connection = None;
        }
        self.bell.ring();
        committed.map(|_| ()).map_err(|error| failure::commit_failure(&self.place.path, error))
    }
}

/// The parameters of one run of [`sql::WRITE`]: as many rows of each table as it has slots for.
fn take_round(rows: &mut Rows<'_>) -> Parameters {
    let mut parameters = Parameters::default();
    let workspace = rows.workspace;
    parameters.take(workspace, &mut rows.heads, slots::HEADS);
    parameters.take(workspace, &mut rows.entries, slots::ENTRIES);
    parameters.take(workspace, &mut rows.removed, slots::REMOVED);
    parameters.take(workspace, &mut rows.documents, slots::DOCUMENTS);
    parameters.take(workspace, &mut rows.index_removed, slots::INDEX);
    // An index entry can be stored no earlier than its document.
    let index = if rows.documents.is_empty() { &mut rows.index_added } else { &mut Vec::new() };
    parameters.take(workspace, index, slots::INDEX);
    parameters.take(workspace, &mut rows.blobs, slots::BLOBS);
    parameters.take(workspace, &mut rows.receipts, slots::RECEIPTS);
    parameters
}

/// The parameters of a statement.
#[derive(Default)]
struct Parameters(SqliteArguments);

impl Parameters {
    fn add(&mut self, value: Value<'_>) {
        // Values of these types always encode.
        let _ = match value {
            Value::Null => self.0.add(None::<i64>),
            Value::Integer(number) => self.0.add(number),
            Value::Text(text) => self.0.add(text.into_owned()),
            Value::Bytes(bytes) => self.0.add(bytes.into_owned()),
        };
    }

    /// Adds as many of the first rows as there are slots, each after its workspace, and fills what is left with nulls.
    fn take<const N: usize>(&mut self, workspace: &str, rows: &mut Vec<[Value<'_>; N]>, slots: usize) {
        let used = rows.len().min(slots);
        for row in rows.drain(..used) {
            self.add(Value::text(workspace));
            row.into_iter().for_each(|value| self.add(value));
        }
        for _ in 0..(slots - used) * (N + 1) {
            self.add(Value::Null);
        }
    }
}

fn decode(row: &SqliteRow) -> Result<Row, Error> {
    (0..row.len()).map(|column| decode_column(row, column)).collect::<Result<_, _>>().map(Row)
}

fn decode_column(row: &SqliteRow, column: usize) -> Result<Value<'static>, Error> {
    let raw = row.try_get_raw(column)?;
    if raw.is_null() {
        return Ok(Value::Null);
    }
    let kind = raw.type_info().name().to_owned();
    match kind.as_str() {
        "INTEGER" => row.try_get_unchecked(column).map(Value::Integer),
        "TEXT" => row.try_get_unchecked::<String, _>(column).map(|text| Value::Text(text.into())),
        _ => row.try_get_unchecked(column).map(Value::owned),
    }
}
