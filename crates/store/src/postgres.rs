//! PostgreSQL: one database, shared by any number of processes on any number of machines. Version 13 or newer.
//!
//! - A group is locked by `SELECT … FOR UPDATE` on the rows of its workspaces, in READ COMMITTED.
//! - A command is one statement: its rows travel as arrays.
//! - Durable: a commit is answered when the server has flushed it; a server or role with `synchronous_commit = off`
//!   is overruled.
//! - Commits are told by NOTIFY, inside the writing transaction. Should a notification be lost, or a connection pooler
//!   not pass them on, a look at the server's snapshot once a second finds what was committed.
//! - A server that goes away and comes back is found again. Meanwhile calls are answered `store_unavailable`.
//!
//! The role needs nothing but to sign in, to use a schema (the first of its `search_path`), to create tables there
//! at the first start of each format, and later to read and write them.

use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use bailiwick_core::time::Millis;
use sqlx::pool::PoolOptions;
use sqlx::postgres::{PgArguments, PgConnectOptions, PgConnection, PgListener, PgPool, PgRow};
use sqlx::{Arguments, Column, ConnectOptions, Connection, Error, Row as _, TypeInfo, query, query_with, raw_sql};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::address::refuse;
use crate::bell::Bell;
use crate::link::{Link, Row, Value};
use crate::rows::Rows;
use crate::session::{Backend, check_format};
use crate::sql::postgres as sql;
use crate::{Clock, FORMAT, Options, StoreError};

/// The steps from one format to the next.
const MIGRATIONS: [&str; FORMAT as usize] = [include_str!("migrations/postgres/0001.sql")];

/// The oldest server that has everything used here.
const OLDEST_SERVER: u32 = 130_000;

/// How long to wait for a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// How long the listener may take to end.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// How many transactions run at once.
const CONNECTIONS: u32 = 8;

/// A connection that was idle for longer is tried before it is used.
const TRUSTED_IDLE: Duration = Duration::from_secs(1);

/// How often to look for commits that nobody was told of, while somebody watches.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

type Transaction = sqlx::Transaction<'static, sqlx::Postgres>;

/// A PostgreSQL database.
pub(crate) struct Postgres {
    pool: PgPool,
    place: Arc<str>,
    clock: Option<Arc<dyn Clock>>,
    bell: Arc<Bell>,
    listener: tokio::sync::Mutex<Option<JoinHandle<()>>>,
}

impl Postgres {
    /// Opens a database, and makes the tables if there are none.
    pub(crate) async fn open(url: &str, options: &Options) -> Result<Self, StoreError> {
        check_parameters(url)?;
        let connect = PgConnectOptions::from_str(url).map_err(|error| refuse(url, &error.to_string()))?;
        let connect = match connect.get_application_name() {
            Some(_) => connect,
            None => connect.application_name("bailiwick"),
        };
        let connect = connect.disable_statement_logging();
        let place: Arc<str> = place(&connect).into();
        let mut connection = match timeout(CONNECT_TIMEOUT, connect.connect()).await {
            Ok(connected) => connected.map_err(|error| connect_failure(url, &place, error))?,
            Err(_) => return Err(failure(&place, Error::PoolTimedOut)),
        };
        initialise(&mut connection, &place).await?;
        let _ = connection.close().await;

        let bell = Arc::new(Bell::new());
        let listening = PoolOptions::new().max_connections(1).max_lifetime(None).idle_timeout(None);
        let listening = listening.acquire_timeout(CONNECT_TIMEOUT).connect_lazy_with(connect.clone());
        Ok(Self {
            pool: pool(options.lock_timeout).connect_lazy_with(connect),
            listener: tokio::sync::Mutex::new(Some(tokio::spawn(listen(bell.clone(), listening, place.clone())))),
            place,
            clock: options.clock.clone(),
            bell,
        })
    }

    async fn begin(&self, sql: &'static str) -> Result<PostgresLink, StoreError> {
        let mut begun = self.pool.begin_with(sql).await;
        // A server that was restarted leaves connections that are found dead when they are next used. Nothing was
        // asked on them yet, so another one will do.
        for _ in 0..CONNECTIONS {
            match &begun {
                Err(error) if is_lost(error) => begun = self.pool.begin_with(sql).await,
                _ => break,
            }
        }
        let transaction = begun.map_err(|error| failure(&self.place, error))?;
        let (place, clock, bell) = (self.place.clone(), self.clock.clone(), self.bell.clone());
        Ok(PostgresLink { transaction, has_written: false, place, clock, bell })
    }
}

/// What may stand after the `?` of a URL. Anything else is more likely a slip of the pen than meant to be ignored.
const PARAMETERS: [&str; 18] = [
    "application_name",
    "dbname",
    "host",
    "hostaddr",
    "options",
    "password",
    "port",
    "ssl-ca",
    "ssl-cert",
    "ssl-key",
    "ssl-mode",
    "ssl-root-cert",
    "sslcert",
    "sslkey",
    "sslmode",
    "sslrootcert",
    "statement-cache-capacity",
    "user",
];

fn check_parameters(url: &str) -> Result<(), StoreError> {
    let parameters = url.split_once('?').map_or("", |(_, parameters)| parameters);
    for parameter in parameters.split('&').filter(|parameter| !parameter.is_empty()) {
        let name = parameter.split('=').next().unwrap_or_default();
        if !PARAMETERS.contains(&name) {
            return Err(refuse(url, &format!("there is no parameter `{name}`; known are {}", PARAMETERS.join(", "))));
        }
    }
    Ok(())
}

fn place(connect: &PgConnectOptions) -> String {
    let socket = connect.get_socket().map(|socket| socket.display().to_string());
    let host = socket.unwrap_or_else(|| format!("{}:{}", connect.get_host(), connect.get_port()));
    let user = connect.get_username();
    format!("{user}@{host}/{}", connect.get_database().unwrap_or(user))
}

fn pool(lock_timeout: Duration) -> PoolOptions<sqlx::Postgres> {
    let lock_timeout = format!("{}ms", lock_timeout.as_millis().max(1));
    PoolOptions::new()
        .max_connections(CONNECTIONS)
        .acquire_timeout(CONNECT_TIMEOUT)
        .test_before_acquire(false)
        .before_acquire(|connection: &mut PgConnection, meta| {
            Box::pin(async move {
                if meta.idle_for > TRUSTED_IDLE {
                    connection.ping().await?;
                }
                Ok(!connection.is_in_transaction())
            })
        })
        .after_connect(move |connection, _| {
            let lock_timeout = lock_timeout.clone();
            Box::pin(async move { query(sql::SETTINGS).bind(lock_timeout).execute(connection).await.map(|_| ()) })
        })
}

/// Makes or checks the tables, however many processes try at once.
async fn initialise(connection: &mut PgConnection, place: &str) -> Result<(), StoreError> {
    if connection.server_version_num().is_some_and(|version| version < OLDEST_SERVER) {
        return Err(StoreError::Foreign(format!("the server at {place} is older than PostgreSQL 13; upgrade it")));
    }
    if present_format(connection, place).await? == FORMAT {
        return Ok(());
    }
    let refuse = |error| failure(place, error);
    let mut transaction = connection.begin().await.map_err(refuse)?;
    query(sql::LOCK_MIGRATION).execute(&mut *transaction).await.map_err(refuse)?;
    let done = usize::try_from(present_format(&mut transaction, place).await?).unwrap_or(usize::MAX);
    for step in MIGRATIONS.into_iter().skip(done) {
        raw_sql(step).execute(&mut *transaction).await.map_err(refuse)?;
    }
    transaction.commit().await.map_err(refuse)
}

/// The format of the tables, 0 if there are none. Refuses what a newer Bailiwick wrote, and a schema that holds
/// another program's tables by the names of ours.
async fn present_format(connection: &mut PgConnection, place: &str) -> Result<u64, StoreError> {
    let refuse = |error| failure(place, error);
    let mut tables = Vec::new();
    for row in query(sql::FIND_TABLES).fetch_all(&mut *connection).await.map_err(refuse)? {
        tables.push(row.try_get::<String, _>(0).map_err(refuse)?);
    }
    let Some(taken) = tables.first() else { return Ok(0) };
    if !tables.iter().any(|table| table == "bailiwick") {
        return Err(StoreError::Foreign(format!(
            "the schema at {place} holds another program's table `{taken}`; take over what Bailiwick can read with \
             `bailiwick import`, and give Bailiwick a database of its own, or a schema by \
             `?options=-csearch_path%3Dname`"
        )));
    }
    let row = query(crate::sql::FORMAT).fetch_one(&mut *connection).await.map_err(refuse)?;
    // Negative numbers are nobody's; they are refused like those from far ahead.
    let number = |column: usize| row.try_get(column).map(|number: i64| u64::try_from(number).unwrap_or(u64::MAX));
    let (format, least_writer) = (number(0).map_err(refuse)?, number(1).map_err(refuse)?);
    check_format(format, least_writer)?;
    Ok(format)
}

impl Backend for Postgres {
    type Link = PostgresLink;

    async fn read(&self) -> Result<PostgresLink, StoreError> {
        self.begin(sql::BEGIN_READ).await
    }

    async fn write(&self, group: Value<'_>) -> Result<(PostgresLink, Vec<Row>), StoreError> {
        let mut link = self.begin(sql::BEGIN_WRITE).await?;
        let workspaces = link.fetch(sql::LOCK, vec![group]).await?;
        Ok((link, workspaces))
    }

    fn watch(&self) -> watch::Receiver<u64> {
        self.bell.subscribe()
    }

    fn describe(&self) -> String {
        format!("PostgreSQL at {}", self.place)
    }

    async fn close(&self) {
        self.bell.close();
        if let Some(mut listener) = self.listener.lock().await.take()
            && timeout(CLOSE_TIMEOUT, &mut listener).await.is_err()
        {
            // It waits for a server that is away.
            listener.abort();
        }
        self.pool.close().await;
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.bell.close();
    }
}

/// Rings when others have committed, while somebody watches.
async fn listen(bell: Arc<Bell>, pool: PgPool, place: Arc<str>) {
    while bell.wanted().await {
        if let Err(error) = listen_on(&bell, &pool).await {
            tracing::warn!(%error, %place, "can't listen for other processes' commits, trying again");
            bell.pause(LOOK_INTERVAL).await;
        }
    }
    pool.close().await;
}

/// Rings until nobody watches or the connection is lost.
async fn listen_on(bell: &Bell, pool: &PgPool) -> Result<(), Error> {
    let mut listener = PgListener::connect_with(pool).await?;
    listener.listen(sql::CHANNEL).await?;
    let schema: String = query(sql::SCHEMA).fetch_one(&mut listener).await?.try_get(0)?;
    let mut known = None;
    while bell.is_wanted() {
        // The first look rings too: whoever began to watch before it may have missed something.
        let snapshot: String = query(sql::SNAPSHOT).fetch_one(&mut listener).await?.try_get(0)?;
        if known.as_ref() != Some(&snapshot) {
            known = Some(snapshot);
            bell.ring();
        }
        let until_next_look = async {
            loop {
                match listener.try_recv().await? {
                    Some(told) if told.payload() == schema => bell.ring(),
                    Some(_) => {}
                    None => return Ok::<_, Error>(()),
                }
            }
        };
        tokio::select! {
            lost = until_next_look => lost?,
            () = bell.pause(LOOK_INTERVAL) => {}
        }
    }
    Ok(())
}

/// An open transaction.
pub(crate) struct PostgresLink {
    transaction: Transaction,
    /// Whether something was written since the mark
    has_written: bool,
    place: Arc<str>,
    clock: Option<Arc<dyn Clock>>,
    bell: Arc<Bell>,
}

impl Link for PostgresLink {
    async fn now(&mut self) -> Result<Millis, StoreError> {
        if let Some(clock) = &self.clock {
            return Ok(clock.now());
        }
        let row = query(sql::NOW).fetch_one(&mut *self.transaction).await;
        row.and_then(|row| row.try_get(0)).map(Millis).map_err(|error| failure(&self.place, error))
    }

    async fn fetch(&mut self, sql: &'static str, values: Vec<Value<'_>>) -> Result<Vec<Row>, StoreError> {
        let mut parameters = Parameters::default();
        values.into_iter().for_each(|value| parameters.add(value));
        let rows = query_with(sql, parameters.0).fetch_all(&mut *self.transaction).await;
        let rows = rows.map_err(|error| failure(&self.place, error))?;
        rows.iter().map(|row| decode(row).map_err(|error| failure(&self.place, error))).collect()
    }

    async fn write(&mut self, rows: Rows<'_>) -> Result<usize, StoreError> {
        let moved = self.write_rows(rows).await.map_err(|error| failure(&self.place, error))?;
        Ok(usize::try_from(moved).unwrap_or(usize::MAX))
    }

    async fn undo(&mut self) -> Result<(), StoreError> {
        let undone = query(crate::sql::UNDO).execute(&mut *self.transaction).await;
        undone.map(|_| ()).map_err(|error| failure(&self.place, error))
    }

    async fn commit(self) -> Result<(), StoreError> {
        let committed = self.transaction.commit().await;
        self.bell.ring();
        committed.map_err(|error| commit_failure(&self.place, error))
    }
}

impl PostgresLink {
    async fn write_rows(&mut self, rows: Rows<'_>) -> Result<i64, Error> {
        if self.has_written {
            raw_sql(sql::MARK).execute(&mut *self.transaction).await?;
        }
        self.has_written = true;
        let row = query_with(sql::WRITE, parameters(rows).0).fetch_one(&mut *self.transaction).await?;
        row.try_get(0)
    }
}

/// The parameters of [`sql::WRITE`].
fn parameters(mut rows: Rows<'_>) -> Parameters {
    use Kind::{Bytes, Integer, Text};
    let mut parameters = Parameters::default();
    parameters.add(Value::text(rows.workspace));
    parameters.add_columns(&mut rows.heads, [Integer, Bytes, Integer, Text, Integer, Bytes]);
    parameters.add_columns(&mut rows.entries, [Text, Integer, Bytes, Bytes, Bytes, Bytes, Bytes, Bytes, Bytes]);
    parameters.add_columns(&mut rows.removed, [Text, Bytes]);
    parameters.add_columns(&mut rows.documents, [Text, Bytes, Integer, Bytes]);
    parameters.add_columns(&mut rows.index_removed, [Text, Text, Bytes, Bytes, Bytes]);
    parameters.add_columns(&mut rows.index_added, [Text, Text, Bytes, Bytes, Bytes]);
    parameters.add_columns(&mut rows.blobs, [Bytes, Bytes, Bytes]);
    parameters.add_columns(&mut rows.receipts, [Bytes, Bytes, Bytes, Integer]);
    parameters
}

/// What a column of a table holds.
enum Kind {
    Integer,
    Text,
    Bytes,
}

/// The parameters of a statement.
#[derive(Default)]
struct Parameters(PgArguments);

// Values of these types always encode, so the result of adding them says nothing.
impl Parameters {
    fn add(&mut self, value: Value<'_>) {
        let _ = match value {
            Value::Null => self.0.add(None::<i64>),
            Value::Integer(number) => self.0.add(number),
            Value::Text(text) => self.0.add(text.into_owned()),
            Value::Bytes(bytes) => self.0.add(bytes.into_owned()),
        };
    }

    /// Adds an array for each column.
    fn add_columns<const N: usize>(&mut self, rows: &mut [[Value<'_>; N]], kinds: [Kind; N]) {
        for (column, kind) in kinds.into_iter().enumerate() {
            let values = rows.iter_mut().filter_map(|row| Some(std::mem::replace(row.get_mut(column)?, Value::Null)));
            let _ = match kind {
                Kind::Integer => self.0.add(values.map(Value::into_integer).collect::<Vec<_>>()),
                Kind::Text => self.0.add(values.map(Value::into_string).collect::<Vec<_>>()),
                Kind::Bytes => self.0.add(values.map(Value::into_blob).collect::<Vec<_>>()),
            };
        }
    }
}

impl Value<'_> {
    fn into_integer(self) -> Option<i64> {
        if let Self::Integer(number) = self { Some(number) } else { None }
    }

    fn into_string(self) -> Option<String> {
        if let Self::Text(text) = self { Some(text.into_owned()) } else { None }
    }

    fn into_blob(self) -> Option<Vec<u8>> {
        if let Self::Bytes(bytes) = self { Some(bytes.into_owned()) } else { None }
    }
}

fn decode(row: &PgRow) -> Result<Row, Error> {
    row.columns()
        .iter()
        .map(|column| decode_column(row, column.ordinal(), column.type_info().name()))
        .collect::<Result<_, _>>()
        .map(Row)
}

fn decode_column(row: &PgRow, column: usize, kind: &str) -> Result<Value<'static>, Error> {
    let value = match kind {
        "INT8" => row.try_get::<Option<i64>, _>(column)?.map(Value::Integer),
        "BYTEA" => row.try_get::<Option<Vec<u8>>, _>(column)?.map(Value::owned),
        _ => row.try_get::<Option<String>, _>(column)?.map(|text| Value::Text(text.into())),
    };
    Ok(value.unwrap_or(Value::Null))
}

/// Whether a connection was lost while it was idle.
fn is_lost(error: &Error) -> bool {
    match error {
        Error::Io(_) => true,
        Error::Database(error) => error.code().is_some_and(|state| state.starts_with("57P")),
        _ => false,
    }
}

/// What a failure means, by its SQLSTATE.
fn failure(place: &str, error: Error) -> StoreError {
    let state = match &error {
        Error::Database(database) => database.code().unwrap_or_default().into_owned(),
        Error::PoolTimedOut => {
            return StoreError::Unavailable(format!(
                "no connection to PostgreSQL at {place} within {} seconds; check that it runs and is not overloaded",
                CONNECT_TIMEOUT.as_secs()
            ));
        }
        Error::PoolClosed => return StoreError::Unavailable(format!("the store at {place} was closed")),
        Error::ColumnDecode { .. } | Error::Decode(_) | Error::ColumnIndexOutOfBounds { .. } | Error::RowNotFound => {
            return StoreError::Damaged(format!(
                "PostgreSQL at {place} answered what does not fit the tables: {error}"
            ));
        }
        _ => {
            return StoreError::Unavailable(format!(
                "the connection to PostgreSQL at {place} failed ({error}); check that it runs and can be reached"
            ));
        }
    };
    let said = said(&error);
    match state.as_str() {
        "23503" => StoreError::Missing("workspace, journal or document that was referred to".into()),
        state if state.starts_with("23") => StoreError::Conflict(format!("what is written exists already ({said})")),
        "55P03" => StoreError::Unavailable(format!(
            "another process holds the lock of the group at {place}; end it or wait, then try again"
        )),
        "53100" => StoreError::NotWritable(format!("the disk of PostgreSQL at {place} is full; free some space")),
        "25006" => StoreError::NotWritable(format!("PostgreSQL at {place} is read-only; name the primary server")),
        "42501" | "3F000" => StoreError::NotWritable(format!(
            "the role may not do this at {place} ({said}); let it use a schema, and create tables there at the first \
             start"
        )),
        "54000" => StoreError::Limit(format!("PostgreSQL at {place} can't take this much ({said})")),
        state if ["08", "40", "53", "57"].iter().any(|class| state.starts_with(class)) => {
            StoreError::Unavailable(format!("PostgreSQL at {place} could not answer ({said}); try again later"))
        }
        _ => StoreError::Damaged(format!("PostgreSQL at {place} refused a statement ({said})")),
    }
}

/// An error in the server's own words.
fn said(error: &Error) -> String {
    match error.as_database_error() {
        Some(error) => error.message().into(),
        None => error.to_string(),
    }
}

/// What a failure to connect means.
fn connect_failure(url: &str, place: &str, error: Error) -> StoreError {
    let state = error.as_database_error().and_then(|error| error.code()).unwrap_or_default().into_owned();
    match state.as_str() {
        state if state.starts_with("28") => refuse(url, &format!("the server refused the sign-in ({})", said(&error))),
        "3D000" => refuse(url, &format!("{}; create it first", said(&error))),
        _ => failure(place, error),
    }
}

/// What a failed commit means: only what the server itself refused was surely not committed.
fn commit_failure(place: &str, error: Error) -> StoreError {
    let state = error.as_database_error().and_then(|error| error.code()).unwrap_or_default().into_owned();
    match ["23", "25", "40", "53"].iter().any(|class| state.starts_with(class)) {
        true => failure(place, error),
        false => StoreError::CommitUnknown(format!("PostgreSQL at {place}: {}", said(&error))),
    }
}
