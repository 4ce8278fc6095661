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
use sqlx::pool::PoolOptions;
use sqlx::sqlite::{SqliteArguments, SqliteConnectOptions, SqliteConnection, SqlitePool, SqliteRow, SqliteSynchronous};
use sqlx::{Arguments, ConnectOptions, Connection, Error, Row as _, TypeInfo, ValueRef, query, query_with};
use tempfile::TempDir;
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

type Transaction = sqlx::Transaction<'static, sqlx::Sqlite>;

/// A SQLite database.
pub(crate) struct Sqlite {
    writer: SqlitePool,
    readers: SqlitePool,
    place: Place,
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
        let reading = connect.clone().read_only(true).busy_timeout(options.lock_timeout);
        let listener = tokio::spawn(listen(bell.clone(), reading.clone()));
        Ok(Self {
            writer: pool(1).connect_lazy_with(connect),
            readers: pool(READERS).connect_lazy_with(reading),
            place,
            clock: options.clock.clone().unwrap_or_else(|| Arc::new(crate::SystemClock)),
            lock_timeout: options.lock_timeout,
            bell,
            listener: tokio::sync::Mutex::new(Some(listener)),
        })
    }

    fn link(&self, transaction: Transaction) -> SqliteLink {
        SqliteLink { transaction, place: self.place.clone(), clock: self.clock.clone(), bell: self.bell.clone() }
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
            .busy_timeout(Duration::ZERO)
            .pragma("trusted_schema", "OFF")
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
        // A full disk makes SQLite roll back by itself; sqlx then believes in a transaction that is no more.
        .before_acquire(|connection: &mut SqliteConnection, _| Box::pin(async { Ok(!connection.is_in_transaction()) }))
}

impl Backend for Sqlite {
    type Link = SqliteLink;

    const LOCK: &'static str = sql::LOCK;

    async fn read(&self) -> Result<SqliteLink, StoreError> {
        let transaction = self.readers.begin_with(sql::BEGIN_READ).await;
        transaction.map(|transaction| self.link(transaction)).map_err(|error| self.place.failure(error))
    }

    async fn write(&self) -> Result<SqliteLink, StoreError> {
        let deadline = Instant::now() + self.lock_timeout;
        loop {
            match self.writer.begin_with(sql::BEGIN_WRITE).await {
                Ok(transaction) => return Ok(self.link(transaction)),
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

/// An open transaction.
pub(crate) struct SqliteLink {
    transaction: Transaction,
    place: Place,
    clock: Arc<dyn Clock>,
    bell: Arc<Bell>,
}

impl Link for SqliteLink {
    async fn now(&mut self) -> Result<Millis, StoreError> {
        Ok(self.clock.now())
    }

    async fn fetch(&mut self, sql: &'static str, values: Vec<Value<'_>>) -> Result<Vec<Row>, StoreError> {
        let mut parameters = Parameters::default();
        values.into_iter().for_each(|value| parameters.add(value));
        let rows = query_with(sql, parameters.0).fetch_all(&mut *self.transaction).await;
        let rows = rows.map_err(|error| self.place.failure(error))?;
        rows.iter().map(|row| decode(row).map_err(|error| self.place.failure(error))).collect()
    }

    async fn write(&mut self, mut rows: Rows<'_>) -> Result<usize, StoreError> {
        let mut moved = 0;
        let mut sql = sql::WRITE;
        loop {
            let parameters = take_round(&mut rows);
            let answer = query_with(sql, parameters.0).fetch_all(&mut *self.transaction).await;
            moved += answer.map_err(|error| self.place.failure(error))?.len();
            if rows.is_empty() {
                return Ok(moved);
            }
            sql = sql::WRITE_MORE;
        }
    }

    async fn undo(&mut self) -> Result<(), StoreError> {
        let undone = query(crate::sql::UNDO).execute(&mut *self.transaction).await;
        undone.map(|_| ()).map_err(|error| self.place.failure(error))
    }

    async fn commit(self) -> Result<(), StoreError> {
        let committed = self.transaction.commit().await;
        self.bell.ring();
        committed.map_err(|error| failure::commit_failure(&self.place.path, error))
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
