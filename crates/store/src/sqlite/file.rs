//! The database file: who may have it, whose it is, and how a new one begins (`spec coordination §13`).
//!
//! Nothing here opens the file but SQLite: closing a file of one's own would drop the locks that another store of
//! this process holds on it.

use std::fs::{self, DirBuilder, Metadata, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions, Connection, Error, Row, query, raw_sql};
use tokio::time::{Instant, sleep};

use super::failure::{failure, is_busy, is_malformed};
use crate::session::check_format;
use crate::{FORMAT, StoreError, sql};

/// Marks a database as Bailiwick's: `BAIL`.
const APPLICATION_ID: i32 = 0x4241_494c;

/// The steps from one format to the next.
const MIGRATIONS: [&str; FORMAT as usize] = [include_str!("../migrations/sqlite/0001.sql")];

/// How long to wait before trying again while another process holds a lock.
const PAUSE: Duration = Duration::from_millis(2);

/// What SQLite keeps beside a database.
const SIDECARS: [&str; 3] = ["-wal", "-shm", "-journal"];

/// Makes sure that there is a file that is safe to use: a plain one, this user's, without another name. A new one is
/// for its owner only, and so is a new folder; a folder that exists is left as it is.
pub(super) fn prepare(path: &Path) -> Result<(), StoreError> {
    if let Some(folder) = path.parent().filter(|folder| !folder.exists()) {
        create_folder(folder).map_err(|error| not_created(folder, &error))?;
    }
    match create(path) {
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        // Opening fails on a file system that can only be read, even if the file is there.
        Err(_) if path.symlink_metadata().is_ok() => {}
        Err(error) => return Err(not_created(path, &error)),
    }
    let metadata = path.symlink_metadata().map_err(|error| not_created(path, &error))?;
    check_safe(path, &metadata)?;
    if metadata.permissions().readonly() {
        return Err(StoreError::NotWritable(format!(
            "`{}` is read-only; make it writable for its owner",
            path.display()
        )));
    }
    for sidecar in SIDECARS.map(|suffix| beside(path, suffix)) {
        match sidecar.symlink_metadata() {
            Ok(metadata) => check_safe(&sidecar, &metadata)?,
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(not_created(&sidecar, &error)),
        }
    }
    Ok(())
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Makes a folder and what is missing above it, so that it is still there after a loss of power.
fn create_folder(folder: &Path) -> io::Result<()> {
    let new: Vec<_> = folder.ancestors().take_while(|folder| !folder.exists()).collect();
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)?;
    #[cfg(unix)]
    for parent in new.into_iter().filter_map(Path::parent) {
        fs::File::open(parent)?.sync_all()?;
    }
    Ok(())
}

fn create(path: &Path) -> io::Result<fs::File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn not_created(path: &Path, error: &io::Error) -> StoreError {
    StoreError::NotWritable(format!("`{}` can't be created or read: {error}", path.display()))
}

fn check_safe(path: &Path, metadata: &Metadata) -> Result<(), StoreError> {
    let refuse = |what: &str| {
        Err(StoreError::Unsafe(format!(
            "`{}` is {what}; name the plain file itself, with no other name",
            path.display()
        )))
    };
    if metadata.file_type().is_symlink() {
        return refuse("a symbolic link");
    }
    if metadata.is_dir() {
        return refuse("a folder");
    }
    if !metadata.is_file() {
        return refuse("no plain file");
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        // A sidecar that is just being removed has none.
        if metadata.nlink() > 1 {
            return refuse("hard-linked");
        }
        if effective_user().is_some_and(|user| user != metadata.uid()) {
            return refuse("another user's");
        }
    }
    Ok(())
}

/// The user that new files of this process belong to, where the system tells it.
#[cfg(unix)]
fn effective_user() -> Option<u32> {
    use std::os::unix::fs::MetadataExt;
    Some(fs::metadata("/proc/self").ok()?.uid())
}

/// Tells one file from another, whatever their names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mark {
    device: u64,
    inode: u64,
}

/// Which file a path leads to; `None` if there is none, or the system does not tell.
#[cfg(unix)]
pub(super) fn mark(path: &Path) -> Option<Mark> {
    use std::os::unix::fs::MetadataExt;
    let metadata = fs::metadata(path).ok()?;
    Some(Mark { device: metadata.dev(), inode: metadata.ino() })
}

/// Which file a path leads to; `None` if there is none, or the system does not tell.
#[cfg(not(unix))]
pub(super) fn mark(_path: &Path) -> Option<Mark> {
    None
}

/// Refuses, without touching it, a file that is another program's, or that a newer Bailiwick wrote.
pub(super) async fn identify(path: &Path) -> Result<(), StoreError> {
    let length = |path: &Path| fs::metadata(path).map_or(0, |metadata| metadata.len());
    let (file, wal) = (length(path), length(&beside(path, "-wal")));
    match read_file_alone(path).await {
        // What is in the WAL was not read, and could be another program's tables.
        Ok(identity) if identity.is_new() && (file == 0 || wal == 0) => Ok(()),
        Ok(identity) => identity.check(path),
        // Alone the file makes no sense while somebody writes to it, or stopped half-way. What it is will show when
        // it is opened with what is beside it, under a lock; if it is damaged, that says so.
        Err(error) if is_malformed(&error) => Ok(()),
        Err(error) => Err(failure(path, error)),
    }
}

/// What the file says without looking at what is beside it, and without a lock.
async fn read_file_alone(path: &Path) -> Result<Identity, Error> {
    let options = SqliteConnectOptions::new().filename(path).read_only(true).immutable(true);
    let mut connection = options.disable_statement_logging().connect().await?;
    let identity = Identity::read(&mut connection).await?;
    connection.close().await?;
    Ok(identity)
}

/// What a database says about itself.
struct Identity {
    application: i32,
    version: i32,
    objects: i64,
}

impl Identity {
    /// Reads all of it at one moment.
    async fn read(connection: &mut SqliteConnection) -> Result<Self, Error> {
        let mut moment = connection.begin().await?;
        let application = query("PRAGMA application_id").fetch_one(&mut *moment).await?.try_get(0)?;
        let version = query("PRAGMA user_version").fetch_one(&mut *moment).await?.try_get(0)?;
        let objects = match application {
            0 => query("SELECT count(*) FROM sqlite_schema").fetch_one(&mut *moment).await?.try_get(0)?,
            // Somebody's in any case.
            _ => 0,
        };
        moment.rollback().await?;
        Ok(Self { application, version, objects })
    }

    fn is_new(&self) -> bool {
        self.application == 0 && self.version == 0 && self.objects == 0
    }

    /// The format, which is 0 for a new database.
    fn format(&self) -> u64 {
        // A negative version is nobody's; it is refused like one from far ahead.
        u64::try_from(self.version).unwrap_or(u64::MAX)
    }

    fn check(&self, path: &Path) -> Result<(), StoreError> {
        let at = path.display();
        if self.application != APPLICATION_ID {
            return Err(StoreError::Foreign(format!(
                "`{at}` is another program's database (application id {:#010x}); take over what Bailiwick can read \
                 with `bailiwick import`, or name another file",
                self.application
            )));
        }
        if self.format() > FORMAT {
            return Err(StoreError::Foreign(format!(
                "`{at}` has format {}, this Bailiwick knows format {FORMAT}; install a newer Bailiwick",
                self.version
            )));
        }
        Ok(())
    }
}

/// Brings a database to the present format, however many processes try at once, and lets readers and a writer work
/// side by side.
pub(super) async fn initialise(
    path: &Path,
    options: &SqliteConnectOptions,
    timeout: Duration,
) -> Result<(), StoreError> {
    let refuse = |error| failure(path, error);
    let mut connection = options.clone().connect().await.map_err(refuse)?;
    let deadline = Instant::now() + timeout;
    loop {
        match migrate(path, &mut connection).await {
            Ok(()) => break,
            Err(Failure::Database(error)) if is_busy(&error) && Instant::now() < deadline => sleep(PAUSE).await,
            Err(Failure::Database(error)) => return Err(refuse(error)),
            Err(Failure::Refused(error)) => return Err(error),
        }
    }
    check_writable(&mut connection).await.map_err(refuse)?;
    connection.close().await.map_err(refuse)?;
    restrict(path).map_err(|error| not_created(path, &error))
}

/// Why a database can't be brought to the present format.
enum Failure {
    Database(Error),
    Refused(StoreError),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Database(error)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::Refused(error)
    }
}

async fn migrate(path: &Path, connection: &mut SqliteConnection) -> Result<(), Failure> {
    let present = Identity::read(connection).await?;
    if !present.is_new() {
        present.check(path)?;
    }
    if present.format() < FORMAT {
        // The marks of a new database are set before it is switched to WAL: so the file itself, not just what is
        // beside it, says whose it is from its first byte on.
        let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
        let present = Identity::read(&mut transaction).await?;
        if !present.is_new() {
            present.check(path)?;
        }
        let done = usize::try_from(present.format()).unwrap_or(usize::MAX);
        for step in MIGRATIONS.into_iter().skip(done) {
            raw_sql(step).execute(&mut *transaction).await?;
        }
        transaction.commit().await?;
    }
    let row = query(sql::FORMAT).fetch_one(&mut *connection).await?;
    // Negative numbers are nobody's; they are refused like those from far ahead.
    let number = |column: usize| row.try_get(column).map(|number: i64| u64::try_from(number).unwrap_or(u64::MAX));
    check_format(number(0)?, number(1)?)?;
    let mode: String = query("PRAGMA journal_mode = WAL").fetch_one(&mut *connection).await?.try_get(0)?;
    match mode.as_str() {
        "wal" => Ok(()),
        mode => Err(Failure::Refused(StoreError::NotWritable(format!(
            "`{}` can't be switched from journal mode `{mode}` to `wal`; name a file on a local disk",
            path.display()
        )))),
    }
}

/// Fails if the database can only be read. That somebody else is writing is fine.
async fn check_writable(connection: &mut SqliteConnection) -> Result<(), Error> {
    raw_sql("PRAGMA busy_timeout = 0").execute(&mut *connection).await?;
    match connection.begin_with("BEGIN IMMEDIATE").await {
        Ok(transaction) => transaction.rollback().await,
        Err(error) if is_busy(&error) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Takes the file and what is beside it away from everybody but its owner.
#[cfg(unix)]
fn restrict(path: &Path) -> io::Result<()> {
    for path in [path.to_owned()].into_iter().chain(SIDECARS.map(|suffix| beside(path, suffix))) {
        use std::os::unix::fs::PermissionsExt;
        match fs::metadata(&path) {
            Ok(metadata) if metadata.permissions().mode() & 0o077 != 0 => {
                fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?;
            }
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Other systems keep a person's files apart by where they are.
#[cfg(not(unix))]
fn restrict(_: &Path) -> io::Result<()> {
    Ok(())
}
