//! Several processes on one SQLite file, some of them killed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may stop at the first surprise")]

mod support;

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use bailiwick_core::journal::{Entry, Head};
use bailiwick_store::{Options, Store, open};
use support::*;
use tempfile::tempdir;

/// Tells a child process which store to write.
const CHILD: &str = "BAILIWICK_TEST_CHILD_STORE";
/// How many entries to append.
const COUNT: &str = "BAILIWICK_TEST_CHILD_COUNT";

/// Not a test of its own: what a child process does. Says each sequence once it is committed.
#[tokio::test]
async fn child() {
    let (Ok(address), Ok(count)) = (std::env::var(CHILD), std::env::var(COUNT)) else { return };
    let store = open(&address, Options::default()).await.unwrap();
    store.open_workspace(&workspace(DESK, DESK)).await.unwrap();
    for _ in 0..count.parse().unwrap() {
        let mut transaction = begin(&store).await;
        let head = transaction.head(DESK, DECISIONS).await.unwrap().head;
        let next = entry(&head);
        let mut commit = entries(DECISIONS, vec![next.clone()]);
        commit.changes = vec![put("entry", &next.id, 1, &[("all", "", "")])];
        transaction.write(DESK, &commit).await.unwrap();
        transaction.commit().await.unwrap();
        println!("committed {}", next.sequence);
        std::io::stdout().flush().unwrap();
    }
}

fn spawn(path: &Path, count: u32) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child", "--nocapture"])
        .env(CHILD, path)
        .env(COUNT, count.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap()
}

/// Checks that the journal is a chain, each entry with its document, and answers its length.
async fn check(store: &Arc<dyn Store>) -> u64 {
    let mut reader = snapshot(store).await;
    let mut head = Head::GENESIS;
    for stored in reader.entries(DESK, DECISIONS, 0, 100_000).await.unwrap() {
        let read = Entry::read_preimage(&stored.preimage, stored.hash).unwrap();
        assert_eq!((read.prev_hash, read.sequence), (head.hash, head.sequence + 1));
        head = read.head();
    }
    assert_eq!(reader.head(DESK, DECISIONS).await.unwrap().head, head);
    assert_eq!(reader.count(DESK, &select("entry", "all", "")).await.unwrap(), head.sequence);
    head.sequence
}

#[tokio::test]
async fn processes_that_start_together_write_one_journal() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("new/store.db");
    let children: Vec<_> = (0..6).map(|_| spawn(&path, 20)).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let store = open(path.to_str().unwrap(), Options::default()).await.unwrap();
    assert_eq!(check(&store).await, 120);
}

#[tokio::test]
async fn a_killed_process_leaves_all_that_it_answered() {
    let folder = tempdir().unwrap();
    let mut before = 0;
    for round in 0..30_u64 {
        // The first rounds stop a process while it makes the database.
        let path = folder.path().join(format!("{}/store.db", if round < 20 { round } else { 20 }));
        let mut child = spawn(&path, 100_000);
        tokio::time::sleep(Duration::from_millis(2 + round * 2)).await;
        child.kill().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let sequence = |line: String| line.strip_prefix("committed ")?.parse::<u64>().ok();
        let answered = lines.filter_map(sequence).last().unwrap_or(before);
        child.wait().unwrap();

        let store = open(path.to_str().unwrap(), Options::default()).await.unwrap();
        store.open_workspace(&workspace(DESK, DESK)).await.unwrap();
        let found = check(&store).await;
        assert!(found == answered || found == answered + 1, "answered {answered}, found {found}");
        store.close().await;
        before = if round < 20 { 0 } else { found };
    }
}
