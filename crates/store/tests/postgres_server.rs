//! What only a server can do: go away, refuse, restrict. Needs `BAILIWICK_POSTGRES_URL`, with a role that may make
//! roles and end others' connections.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may stop at the first surprise")]

mod support;

use std::sync::Arc;
use std::time::{Duration, Instant};

use bailiwick_core::journal::Head;
use bailiwick_store::{Options, Store, open};
use support::*;
use tokio::time::{sleep, timeout};

/// A place whose connections carry a name of their own, so that a test can end them and no others.
async fn named_place(name: &str) -> Option<Place> {
    let mut place = Place::new(Kind::Postgres).await?;
    place.address.push_str(&format!("&application_name={name}"));
    Some(place)
}

async fn end_connections(name: &str) {
    let url = std::env::var(POSTGRES).unwrap();
    let others = "pid <> pg_backend_pid()";
    run_postgres(
        &url,
        &format!(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '{name}' AND {others}"
        ),
    )
    .await;
}

#[tokio::test]
async fn a_server_that_ends_connections_is_found_again() {
    let Some(place) = named_place("bailiwick_test_found_again").await else { return };
    let (watching, writing) = (open_desk(&place).await, place.open().await);
    let mut watch = watching.watch();
    timeout(Duration::from_secs(2), watch.changed()).await.unwrap().unwrap();
    for _ in 0..3 {
        end_connections("bailiwick_test_found_again").await;
        // At most the connections that were open can fail, each once.
        let mut failures = 0;
        while let Err(error) = append(&writing).await {
            assert_eq!(error, "store_unavailable");
            failures += 1;
            assert!(failures <= 10);
        }
    }
    let expected = head(&writing, DECISIONS).await;
    assert_eq!(expected.sequence, 3);
    timeout(Duration::from_secs(5), async {
        while head(&watching, DECISIONS).await != expected {
            watch.changed().await.unwrap();
        }
    })
    .await
    .unwrap();

    // The watcher listens again: it hears sooner than by looking once a second.
    sleep(Duration::from_secs(2)).await;
    watch.mark_unchanged();
    append(&writing).await.unwrap();
    let start = Instant::now();
    timeout(Duration::from_secs(5), watch.changed()).await.unwrap().unwrap();
    println!("heard after {:?}", start.elapsed());
    place.finish().await;
}

async fn append(store: &Arc<dyn Store>) -> Result<(), &'static str> {
    let work = async {
        let mut transaction = store.begin(DESK).await?;
        let head = transaction.head(DESK, DECISIONS).await?.head;
        transaction.write(DESK, &entries(DECISIONS, chain(head, 1))).await?;
        transaction.commit().await
    };
    work.await.map_err(|error| error.code())
}

#[tokio::test]
async fn a_transaction_whose_connection_is_lost_is_not_committed() {
    let Some(place) = named_place("bailiwick_test_lost").await else { return };
    let store = open_desk(&place).await;
    let mut transaction = begin(&store).await;
    transaction.write(DESK, &entries(DECISIONS, chain(Head::GENESIS, 1))).await.unwrap();
    end_connections("bailiwick_test_lost").await;
    assert_eq!(code(transaction.commit().await), "store_commit_unknown");

    let mut transaction = loop {
        match store.begin(DESK).await {
            Ok(transaction) => break transaction,
            Err(error) => assert_eq!(error.code(), "store_unavailable"),
        }
    };
    assert_eq!(transaction.head(DESK, DECISIONS).await.unwrap().head, Head::GENESIS);
    end_connections("bailiwick_test_lost").await;
    let lost = transaction.write(DESK, &entries(DECISIONS, chain(Head::GENESIS, 1))).await;
    assert_eq!(code(lost), "store_unavailable");
    assert_eq!(code(transaction.head(DESK, DECISIONS).await), "store_unavailable");
    assert_eq!(code(transaction.commit().await), "store_unavailable");
    place.finish().await;
}

#[tokio::test]
async fn a_transaction_that_failed_half_way_cannot_be_committed() {
    let Some(place) = Place::new(Kind::Postgres).await else { return };
    let store = open_desk(&place).await;
    let mut transaction = begin(&store).await;
    transaction.write(DESK, &entries(DECISIONS, chain(Head::GENESIS, 1))).await.unwrap();
    // PostgreSQL can't look for such a name, gives the transaction up, and would answer a commit all the same.
    assert!(transaction.head(DESK, "no\0name").await.is_err());
    assert_eq!(code(transaction.commit().await), "store_unavailable");
    assert_eq!(head(&store, DECISIONS).await, Head::GENESIS);
    place.finish().await;
}

#[tokio::test]
async fn a_schema_with_other_tables_is_refused_untouched() {
    let Some(place) = Place::new(Kind::Postgres).await else { return };
    place.run("CREATE TABLE documents (x int)").await;
    let error = open(&place.address, Options::default()).await.err().unwrap();
    assert_eq!(error.code(), "store_foreign");
    assert!(error.to_string().contains("`documents`") && error.to_string().contains("bailiwick import"), "{error}");
    place.run("DROP TABLE documents").await;
    open_desk(&place).await;

    place.run("UPDATE bailiwick SET format = 99").await;
    let error = open(&place.address, Options::default()).await.err().unwrap();
    assert_eq!(error.code(), "store_foreign");
    assert!(error.to_string().contains("format 99") && error.to_string().contains("format 1"), "{error}");
    place.finish().await;
}

#[tokio::test]
async fn a_server_that_refuses_is_named_without_the_password() {
    let Ok(url) = std::env::var(POSTGRES) else { return };
    let start = Instant::now();
    let error = open("postgres://me:secret@127.0.0.1:9/db", Options::default()).await.err().unwrap();
    assert_eq!(error.code(), "store_unavailable");
    assert!(error.to_string().contains("me@127.0.0.1:9/db") && !error.to_string().contains("secret"), "{error}");
    assert!(start.elapsed() < Duration::from_secs(6), "{:?}", start.elapsed());

    let elsewhere = format!("{}/bailiwick_no_such_database", url.rsplit_once('/').unwrap().0);
    let error = open(&elsewhere, Options::default()).await.err().unwrap();
    assert_eq!(error.code(), "store_address");
    assert!(error.to_string().contains("create it first"), "{error}");

    for address in ["postgres://me:secret@host:port/db", "postgres://me@host/db?pasword=secret"] {
        let error = open(address, Options::default()).await.err().unwrap();
        assert_eq!(error.code(), "store_address");
        assert!(!error.to_string().contains("secret"), "{error}");
    }
}

#[tokio::test]
async fn a_role_with_few_rights_is_enough() {
    let Some(place) = Place::new(Kind::Postgres).await else { return };
    let url = std::env::var(POSTGRES).unwrap();
    let role = format!("bailiwick_test_role_{}", std::process::id());
    let schema = place.address.rsplit_once("%3D").unwrap().1;
    place.run(&format!("CREATE ROLE {role} LOGIN PASSWORD 'secret'; GRANT USAGE ON SCHEMA {schema} TO {role}")).await;
    let (_, server) = url.split_once("://").unwrap();
    let server = server.rsplit_once('@').map_or(server, |(_, server)| server);
    let address = format!("postgres://{role}:secret@{server}?options=-csearch_path%3D{schema}");

    let error = open(&address, Options::default()).await.err().unwrap();
    assert_eq!(error.code(), "store_not_writable");
    assert!(error.to_string().contains("create tables") && !error.to_string().contains("secret"), "{error}");

    open_desk(&place).await.close().await;
    let tables = format!("ALL TABLES IN SCHEMA {schema}");
    place.run(&format!("GRANT SELECT, INSERT, UPDATE, DELETE ON {tables} TO {role}")).await;
    let store = open(&address, Options::default()).await.unwrap();
    assert!(store.describe().contains(&role) && !store.describe().contains("secret"), "{}", store.describe());
    store.open_workspace(&workspace("another", "another")).await.unwrap();
    append(&store).await.unwrap();
    let mut commit = changes(vec![put("order", "1", 1, &[("state", "open", "")])]);
    commit.blobs = vec![blob("text")];
    write(&store, &commit).await;
    store.close().await;
    place.run(&format!("DROP OWNED BY {role}; DROP ROLE {role}")).await;
    place.finish().await;
}

#[tokio::test]
async fn stores_in_different_groups_write_side_by_side() {
    let Some(place) = Place::new(Kind::Postgres).await else { return };
    let (a, b) = (open_desk(&place).await, place.open_impatiently().await);
    b.open_workspace(&workspace("other", "other")).await.unwrap();
    let held = begin(&a).await;
    let mut transaction = b.begin("other").await.unwrap();
    transaction.write("other", &entries(DECISIONS, chain(Head::GENESIS, 1))).await.unwrap();
    transaction.commit().await.unwrap();
    // A new workspace of a locked group waits for the lock.
    assert_eq!(code(b.open_workspace(&workspace("second", DESK)).await), "store_unavailable");
    held.commit().await.unwrap();
    b.open_workspace(&workspace("second", DESK)).await.unwrap();
    place.finish().await;
}
