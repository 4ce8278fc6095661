//! Files that SQLite stores live in: good ones, bad ones, other people's.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may stop at the first surprise")]

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bailiwick_core::journal::Head;
use bailiwick_store::{Options, Store, StoreError, open};
use sqlx::Connection;
use support::*;
use tempfile::{TempDir, tempdir};

/// Opens a file with little patience.
async fn try_open(path: &Path) -> Result<Arc<dyn Store>, StoreError> {
    open(path.to_str().unwrap(), Options { lock_timeout: Duration::from_millis(200), ..Options::default() }).await
}

async fn refusal(path: &Path) -> StoreError {
    match try_open(path).await {
        Ok(_) => panic!("{} should have been refused", path.display()),
        Err(error) => error,
    }
}

/// Makes a store with one entry, and closes it.
async fn make_store(path: &Path) {
    let store = try_open(path).await.unwrap();
    store.open_workspace(&workspace(DESK, DESK)).await.unwrap();
    write(&store, &entries(DECISIONS, chain(Head::GENESIS, 1))).await;
    store.close().await;
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Every file of a folder, with its bytes.
fn everything(folder: &TempDir) -> BTreeMap<std::ffi::OsString, Vec<u8>> {
    let read = |entry: fs::DirEntry| (entry.file_name(), fs::read(entry.path()).unwrap());
    fs::read_dir(folder).unwrap().map(|entry| read(entry.unwrap())).collect()
}

#[tokio::test]
async fn a_new_store_is_for_its_owner_only() {
    let folder = tempdir().unwrap();
    set_mode(folder.path(), 0o755);
    let path = folder.path().join("deep/deeper/store.db");
    let store = try_open(&path).await.unwrap();
    store.open_workspace(&workspace(DESK, DESK)).await.unwrap();
    for name in ["store.db", "store.db-wal", "store.db-shm"] {
        assert_eq!(mode(&path.with_file_name(name)), 0o600, "{name}");
    }
    assert_eq!(mode(path.parent().unwrap()), 0o700);
    assert_eq!(mode(&folder.path().join("deep")), 0o700);
    assert_eq!(mode(folder.path()), 0o755);
    assert_eq!(store.describe(), format!("SQLite at {}", path.display()));
}

#[tokio::test]
async fn a_store_that_others_could_read_is_closed_to_them() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("store.db");
    make_store(&path).await;
    set_mode(&path, 0o664);
    try_open(&path).await.unwrap();
    assert_eq!(mode(&path), 0o600);
}

#[tokio::test]
async fn the_file_says_whose_it_is() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("store.db");
    make_store(&path).await;
    let bytes = fs::read(&path).unwrap();
    assert_eq!((&bytes[60..64], &bytes[68..72]), (&[0, 0, 0, 1][..], &b"BAIL"[..]));
    assert_eq!(&bytes[18..20], [2, 2], "WAL");
}

#[tokio::test]
async fn an_empty_file_becomes_a_store() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("store.db");
    fs::write(&path, "").unwrap();
    make_store(&path).await;
}

#[tokio::test]
async fn any_file_name_will_do() {
    let folder = tempdir().unwrap();
    for name in ["a b.db", "100%25?x=1#y&z.db", "ä😀'\".db", "file:x", "-"] {
        let path = folder.path().join(name);
        make_store(&path).await;
        assert!(path.exists(), "{name}");
    }
}

#[tokio::test]
async fn files_that_others_could_have_put_there_are_refused() {
    let folder = tempdir().unwrap();
    let (path, other) = (folder.path().join("store.db"), folder.path().join("other.db"));
    make_store(&other).await;

    symlink(&other, &path).unwrap();
    assert_eq!(refusal(&path).await.code(), "store_unsafe");
    fs::remove_file(&path).unwrap();
    symlink(folder.path().join("nowhere"), &path).unwrap();
    assert_eq!(refusal(&path).await.code(), "store_unsafe");
    assert!(!folder.path().join("nowhere").exists());
    fs::remove_file(&path).unwrap();

    fs::hard_link(&other, &path).unwrap();
    let error = refusal(&path).await;
    assert_eq!(error.code(), "store_unsafe");
    assert!(error.to_string().contains("hard-linked"), "{error}");
    assert_eq!(refusal(&other).await.code(), "store_unsafe");
    fs::remove_file(&path).unwrap();

    fs::create_dir(&path).unwrap();
    assert_eq!(refusal(&path).await.code(), "store_unsafe");
    fs::remove_dir(&path).unwrap();

    let socket = std::os::unix::net::UnixListener::bind(&path).unwrap();
    assert_eq!(refusal(&path).await.code(), "store_unsafe");
    drop(socket);
    fs::remove_file(&path).unwrap();

    for sidecar in ["-wal", "-shm", "-journal"] {
        let sidecar = folder.path().join(format!("other.db{sidecar}"));
        symlink("/dev/null", &sidecar).unwrap();
        let error = refusal(&other).await;
        assert_eq!(error.code(), "store_unsafe");
        assert!(error.to_string().contains(sidecar.to_str().unwrap()), "{error}");
        fs::remove_file(&sidecar).unwrap();
    }
    try_open(&other).await.unwrap();

    // Only root can give a file away.
    if std::os::unix::fs::chown(&other, Some(65534), None).is_ok() {
        assert_eq!(refusal(&other).await.code(), "store_unsafe");
    }
}

/// Checks that a file is refused as another program's, and that nothing in its folder changes.
async fn check_foreign(folder: &TempDir, path: &Path, says: &str) {
    let before = everything(folder);
    let error = refusal(path).await;
    assert_eq!(error.code(), "store_foreign", "{error}");
    assert!(error.to_string().contains(says), "{error}");
    assert!(before == everything(folder), "something was touched");
}

#[tokio::test]
async fn databases_of_other_programs_are_refused_untouched() {
    for sql in [
        "PRAGMA application_id = 1096041293; CREATE TABLE events (x)",
        "PRAGMA application_id = 7",
        "CREATE TABLE workspaces (x)",
        "PRAGMA user_version = 3",
    ] {
        let folder = tempdir().unwrap();
        let path = folder.path().join("store.db");
        run_sqlite(&path, sql).await;
        check_foreign(&folder, &path, "bailiwick import").await;
    }
}

#[tokio::test]
async fn a_database_whose_tables_are_in_its_wal_is_refused_untouched() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("store.db");
    let mut other = sqlite(&path).await;
    let sql = "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE t (x)";
    sqlx::raw_sql(sql).execute(&mut other).await.unwrap();
    check_foreign(&folder, &path, "bailiwick import").await;
    other.close().await.unwrap();
}

#[tokio::test]
async fn files_that_are_no_database_are_refused_untouched() {
    for bytes in [&b"hello"[..], &[0; 8192], &[b'x'; 5000], b"SQLite format 3\0"] {
        let folder = tempdir().unwrap();
        let path = folder.path().join("store.db");
        fs::write(&path, bytes).unwrap();
        check_foreign(&folder, &path, "not a SQLite database").await;
    }
}

#[tokio::test]
async fn a_newer_format_is_refused_untouched() {
    for (version, says) in [("99", "format 99"), ("-1", "format -1")] {
        let folder = tempdir().unwrap();
        let path = folder.path().join("store.db");
        make_store(&path).await;
        run_sqlite(&path, &format!("PRAGMA user_version = {version}")).await;
        check_foreign(&folder, &path, says).await;
        check_foreign(&folder, &path, "format 1;").await;
    }
}

#[tokio::test]
async fn a_newer_writer_is_refused_at_once() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("store.db");
    make_store(&path).await;
    run_sqlite(&path, "UPDATE bailiwick SET least_writer = 9").await;
    let error = refusal(&path).await;
    assert_eq!(error.code(), "store_foreign");
    assert!(error.to_string().contains("writer 9"), "{error}");
}

#[tokio::test]
async fn a_malformed_store_is_damaged() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("store.db");
    make_store(&path).await;
    let mut bytes = fs::read(&path).unwrap();
    bytes[4096..].fill(0x5a);
    fs::write(&path, bytes).unwrap();
    let result = match try_open(&path).await {
        Ok(store) => store.snapshot().await.unwrap().head(DESK, DECISIONS).await.map(|_| ()),
        Err(error) => Err(error),
    };
    assert_eq!(code(result), "store_damaged");
}

#[tokio::test]
async fn what_can_only_be_read_is_refused() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("store.db");
    make_store(&path).await;
    set_mode(&path, 0o400);
    let error = refusal(&path).await;
    assert_eq!(error.code(), "store_not_writable");
    assert!(error.to_string().contains("read-only"), "{error}");
    // Not even root can make files here.
    for path in ["/proc/bailiwick/store.db", "/sys/store.db"] {
        assert_eq!(refusal(Path::new(path)).await.code(), "store_not_writable", "{path}");
    }
    let below_a_file = path.join("store.db");
    assert_eq!(refusal(&below_a_file).await.code(), "store_not_writable");
}

#[tokio::test]
async fn a_full_disk_loses_nothing_that_was_answered() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("store.db");
    let options = Options { size_limit_bytes: Some(300_000), ..Options::default() };
    let store = open(path.to_str().unwrap(), options).await.unwrap();
    store.open_workspace(&workspace(DESK, DESK)).await.unwrap();
    let mut answered = 0;
    let error = loop {
        let mut transaction = begin(&store).await;
        let head = transaction.head(DESK, DECISIONS).await.unwrap().head;
        assert_eq!(head.sequence, answered);
        let mut commit = entries(DECISIONS, chain(head, 1));
        commit.blobs = vec![blob(&format!("{answered}{}", "x".repeat(20_000)))];
        if let Err(error) = transaction.write(DESK, &commit).await {
            // The database may have given up the whole transaction; then nothing of it may seem to work.
            let small = changes(vec![put("order", "1", 1, &[])]);
            match transaction.write(DESK, &small).await {
                Ok(()) => transaction.commit().await.unwrap(),
                Err(_) => assert_eq!(code(transaction.commit().await), "store_unavailable"),
            }
            break error;
        }
        transaction.commit().await.unwrap();
        answered += 1;
        assert!(answered < 100);
    };
    assert_eq!(error.code(), "store_not_writable");
    assert!(error.to_string().contains("room"), "{error}");
    assert!(answered > 3);
    assert_eq!(head(&store, DECISIONS).await.sequence, answered);
    assert_eq!(code(begin(&store).await.commit().await), "ok");
    store.close().await;

    let store = try_open(&path).await.unwrap();
    write(&store, &entries(DECISIONS, chain(head(&store, DECISIONS).await, 1))).await;
    assert_eq!(head(&store, DECISIONS).await.sequence, answered + 1);
}

#[tokio::test]
async fn a_lock_that_another_process_keeps_is_named() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("store.db");
    make_store(&path).await;
    let mut other = sqlite(&path).await;
    let held = other.begin_with("BEGIN IMMEDIATE").await.unwrap();

    // Opening and reading need no lock.
    let store = try_open(&path).await.unwrap();
    store.open_workspace(&workspace(DESK, DESK)).await.unwrap();
    assert_eq!(head(&store, DECISIONS).await.sequence, 1);
    let start = Instant::now();
    let error = store.begin(DESK).await.err().unwrap();
    assert!((200..2000).contains(&start.elapsed().as_millis()), "{:?}", start.elapsed());
    assert_eq!(error.code(), "store_unavailable");
    assert!(error.to_string().contains("another process") && error.to_string().contains("try again"), "{error}");
    held.rollback().await.unwrap();
    begin(&store).await.commit().await.unwrap();
}

#[tokio::test]
async fn stores_in_memory_are_apart_and_leave_nothing() {
    let place = Place::new(Kind::Memory).await.unwrap();
    let (a, b) = (open_desk(&place).await, open_desk(&place).await);
    write(&a, &entries(DECISIONS, chain(Head::GENESIS, 1))).await;
    assert_eq!(head(&a, DECISIONS).await.sequence, 1);
    assert_eq!(head(&b, DECISIONS).await.sequence, 0);
    assert_eq!(a.describe(), "SQLite in memory, gone when closed");
}

#[tokio::test]
async fn an_address_of_another_kind_is_refused() {
    let error = open("mysql://me:secret@host/db", Options::default()).await.err().unwrap();
    assert_eq!(error.code(), "store_address");
    assert!(error.to_string().contains("postgres://") && !error.to_string().contains("secret"), "{error}");
}

/// Looks for the store of somebody who is writing all the while, so that it is met at every moment of a checkpoint.
#[tokio::test(flavor = "multi_thread")]
async fn a_store_in_use_opens_at_any_moment() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("busy.db");
    make_store(&path).await;
    let address = path.to_str().unwrap().to_owned();
    let writing = tokio::spawn(async move {
        let mut connection = sqlx::SqliteConnection::connect(&format!("sqlite:{address}")).await.unwrap();
        for number in 0..400_i64 {
            // A checkpoint at every commit, and a file that grows by many pages each time.
            for text in ["PRAGMA wal_autocheckpoint = 1", "BEGIN IMMEDIATE"] {
                sqlx::query(text).execute(&mut connection).await.unwrap();
            }
            let insert = "INSERT INTO documents (workspace, kind, id, version, body) VALUES (CAST('desk' AS BLOB), 'x', $1, 1, zeroblob(200000))";
            sqlx::query(insert).bind(number.to_be_bytes().to_vec()).execute(&mut connection).await.unwrap();
            sqlx::query("COMMIT").execute(&mut connection).await.unwrap();
        }
    });
    let patient = || Options { lock_timeout: Duration::from_secs(20), ..Options::default() };
    let mut opened = 0;
    while !writing.is_finished() {
        open(path.to_str().unwrap(), patient()).await.unwrap().close().await;
        opened += 1;
    }
    writing.await.unwrap();
    assert!(opened > 5, "{opened}");
}

#[tokio::test]
async fn a_file_that_was_removed_or_replaced_is_not_written_to() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("gone.db");
    make_store(&path).await;
    let store = try_open(&path).await.unwrap();
    assert!(store.snapshot().await.is_ok());
    fs::remove_file(&path).unwrap();
    let unavailable =
        |result: Option<StoreError>| assert!(matches!(result, Some(StoreError::Unavailable(_))), "{result:?}");
    unavailable(store.snapshot().await.err());
    unavailable(store.begin(DESK).await.err());
    make_store(&path).await;
    unavailable(store.snapshot().await.err());
    store.close().await;
}
