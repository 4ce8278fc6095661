//! The desk's promises, on both databases.
// A test fails by panicking, its helpers too.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use bailiwick_core::heart::{Command, Key, Query};
use bailiwick_core::json::Value;
use bailiwick_core::principal::Principal;
use bailiwick_core::time::{self, Millis};
use bailiwick_core::work::{self, OrderRecord};
use bailiwick_desk::{Desk, Options};
use bailiwick_store::Clock;
use common::{FAR, addresses, ask, object, open, order, run, state};
use sqlx::Connection as _;
use tokio_stream::StreamExt as _;

fn get(id: &str) -> Query {
    Query::Work(work::Query::Get { id: id.into() })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeated_key_answers_the_same_and_does_nothing() {
    let folder = tempfile::tempdir().unwrap();
    for address in addresses(folder.path()).await {
        let desk = open(&address).await;
        let (m, x) = (Principal::claimed("m"), Principal::claimed("x"));
        let create = |goal: &str| {
            let arguments = object(&order("o", "w", FAR).replace('G', goal).replace(r#""id": "o", "#, ""));
            Command::Work(work::Command::parse("create", arguments).unwrap())
        };
        let first = desk.run_once(&m, create("G"), "k").await.unwrap();
        let again = desk.run_once(&m, create("G"), "k").await.unwrap();
        assert_eq!(first, again);
        assert_eq!(desk.head().await.unwrap().head.sequence, 1);
        assert_eq!(desk.run_once(&m, create("H"), "k").await.unwrap_err().code(), "CONFLICT");
        let other = desk.run_once(&x, create("G"), "k").await.unwrap();
        assert_ne!(first.get("id"), other.get("id"), "keys belong to their principal");
        // A refusal is not remembered: the same key may succeed later.
        let accept = Command::Work(work::Command::Accept { id: "later".into() });
        let w = Principal::claimed("w");
        assert_eq!(desk.run_once(&w, accept.clone(), "a").await.unwrap_err().code(), "NOT_FOUND");
        run(&desk, "m", "create", &order("later", "w", FAR)).await.unwrap();
        assert_eq!(state(&desk.run_once(&w, accept, "a").await.unwrap()), "accepted");
        desk.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_workers_who_accept_at_once_one_wins() {
    let folder = tempfile::tempdir().unwrap();
    for address in addresses(folder.path()).await {
        let desks = [open(&address).await, open(&address).await];
        run(&desks[0], "m", "create", &order("o", "w", FAR)).await.unwrap();
        let accept = |at: usize| run(&desks[at], "w", "accept", r#"{"id": "o"}"#);
        let (a, b, c, d) = tokio::join!(accept(0), accept(1), accept(0), accept(1));
        let results = [a, b, c, d];
        assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
        for refused in results.iter().filter_map(|result| result.as_ref().err()) {
            assert_eq!(refused.code(), "INVALID_TRANSITION");
        }
        for desk in &desks {
            desk.close().await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn waiting_wakes_across_processes_and_times_out_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    for address in addresses(folder.path()).await {
        let (one, two) = (open(&address).await, open(&address).await);
        run(&one, "m", "create", &order("o", "w", FAR)).await.unwrap();
        let (key, m) = (Key::of::<OrderRecord>("o"), Principal::claimed("m"));
        let unchanged = one.wait(&m, get("o"), &key, 1, Duration::from_millis(50)).await.unwrap();
        assert_eq!(state(&unchanged), "offered");
        for (waiter, actor) in [(&one, &two), (&two, &two)] {
            let before = ask(&one, "get", r#"{"id": "o"}"#).await.unwrap();
            let seq = before.get("last_seq").and_then(Value::as_number).and_then(|n| n.to_u64()).unwrap();
            let waiting = {
                let (waiter, key, m) = (waiter.clone(), key.clone(), m.clone());
                tokio::spawn(async move { waiter.wait(&m, get("o"), &key, seq, Duration::from_secs(20)).await })
            };
            tokio::time::sleep(Duration::from_millis(200)).await;
            let name = if seq == 1 { "accept" } else { "start" };
            run(actor, "w", name, r#"{"id": "o"}"#).await.unwrap();
            let acted = Instant::now();
            let view = waiting.await.unwrap().unwrap();
            println!("{}: woken {:?} after the answer", one.describe(), acted.elapsed());
            assert!(acted.elapsed() < Duration::from_millis(900), "woken by the event, not by looking now and then");
            assert_eq!(view.get("last_seq").and_then(Value::as_number).and_then(|n| n.to_u64()), Some(seq + 1));
        }
        let missing = one.wait(&m, get("p"), &Key::of::<OrderRecord>("p"), 0, Duration::from_secs(20)).await;
        assert_eq!(missing.unwrap_err().code(), "NOT_FOUND");
        one.close().await;
        two.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn overdue_orders_expire_by_themselves_once_whatever_the_number_of_processes() {
    let folder = tempfile::tempdir().unwrap();
    for address in addresses(folder.path()).await {
        let desks = [open(&address).await, open(&address).await, open(&address).await];
        let soon = bailiwick_core::time::format(bailiwick_core::time::Millis(
            bailiwick_core::time::instant("1970-01-01T00:00:00Z").unwrap().0
                + i64::try_from(
                    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis(),
                )
                .unwrap()
                + 4_000,
        ));
        for number in 0..100 {
            run(&desks[0], "m", "create", &order(&format!("o{number}"), "w", &soon)).await.unwrap();
        }
        // Nobody reads; the timers see to it.
        let deadline = Instant::now() + Duration::from_secs(20);
        while desks[0].head().await.unwrap().head.sequence < 200 {
            assert!(Instant::now() < deadline, "the orders did not expire by themselves");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        tokio::time::sleep(Duration::from_millis(1500)).await;
        assert_eq!(desks[1].head().await.unwrap().head.sequence, 200, "once each");
        let record = ask(&desks[2], "track_record", r#"{"agent": "w"}"#).await.unwrap();
        assert_eq!(record.get("expired").and_then(Value::as_number).and_then(|n| n.to_u64()), Some(100));
        assert!(desks[2].verify(|_| ()).await.unwrap().is_ok());
        for desk in &desks {
            desk.close().await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn following_misses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    for address in addresses(folder.path()).await {
        let (one, two) = (open(&address).await, open(&address).await);
        let mut follower = Box::pin(one.follow(0));
        let writers = [one.clone(), two.clone(), two.clone()].into_iter().enumerate().map(|(writer, desk)| {
            tokio::spawn(async move {
                for number in 0..100 {
                    run(&desk, "m", "create", &order(&format!("o{writer}-{number}"), "w", FAR)).await.unwrap();
                }
            })
        });
        let writers: Vec<_> = writers.collect();
        for expected in 1..=300 {
            let entry = tokio::time::timeout(Duration::from_secs(20), follower.next()).await.unwrap().unwrap().unwrap();
            assert_eq!(entry.sequence, expected);
        }
        for writer in writers {
            writer.await.unwrap();
        }
        one.close().await;
        two.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_are_adopted_by_a_command_and_bad_ones_leave_the_old_in_force() {
    let desk = open("sqlite::memory:").await;
    let first = desk.adopt(object(r#"{"work": {"restrict_reads": true}}"#)).await.unwrap();
    let again = desk.adopt(object(r#"{"work": {"restrict_reads": true}}"#)).await.unwrap();
    assert_eq!(first.get("digest"), again.get("digest"));
    assert_eq!(again.get("changed").and_then(Value::as_bool), Some(false));
    let refused = desk.adopt(object(r#"{"work": {"restrict_read": true}}"#)).await.unwrap_err();
    assert!(refused.to_string().contains("`work.restrict_read`"), "{refused}");
    run(&desk, "m", "create", &order("o", "w", FAR)).await.unwrap();
    let stranger = ask(&desk, "get", r#"{"id": "o"}"#).await;
    assert_eq!(stranger.unwrap_err().code(), "NOT_FOUND", "reads are still restricted");
    assert!(desk.verify(|_| ()).await.unwrap().is_ok());
    desk.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_closed_desk_says_so() {
    let desk = open("sqlite::memory:").await;
    desk.close().await;
    assert_eq!(run(&desk, "m", "create", &order("o", "w", FAR)).await.unwrap_err().code(), "UNAVAILABLE");
}

#[tokio::test(flavor = "multi_thread")]
async fn edits_beside_the_journal_are_found() {
    let edits = [
        "DELETE FROM index_entries WHERE name = 'due'",
        "UPDATE index_entries SET value = CAST('approved' AS BLOB) WHERE name = 'state'",
        "UPDATE journals SET last_at = last_at + 1",
        "UPDATE journals SET epoch_id = CAST('epoch_x' AS BLOB)",
        "UPDATE documents SET body = CAST(replace(CAST(body AS TEXT), 'offered', 'working') AS BLOB)",
        "UPDATE blobs SET bytes = CAST('{}' AS BLOB)",
        "UPDATE entries SET preimage = CAST(replace(CAST(preimage AS TEXT), '\"m\"', '\"n\"') AS BLOB)",
    ];
    for edit in edits {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("edited.db").display().to_string();
        let desk = open(&file).await;
        run(&desk, "m", "create", &order("o", "w", FAR)).await.unwrap();
        assert!(desk.verify(|_| ()).await.unwrap().is_ok());
        desk.close().await;
        let mut connection = sqlx::SqliteConnection::connect(&format!("sqlite:{file}")).await.unwrap();
        let done = sqlx::query(edit).execute(&mut connection).await.unwrap();
        assert!(done.rows_affected() > 0, "{edit}");
        connection.close().await.unwrap();
        let desk = open(&file).await;
        assert!(!desk.verify(|_| ()).await.unwrap().is_ok(), "{edit}");
        desk.close().await;
    }
}

/// A clock that is moved by hand.
#[derive(Clone)]
struct HandClock(Arc<AtomicI64>);

impl Clock for HandClock {
    fn now(&self) -> Millis {
        Millis(self.0.load(Ordering::SeqCst))
    }
}

impl HandClock {
    fn at(timestamp: &str) -> Self {
        Self(Arc::new(AtomicI64::new(time::instant(timestamp).unwrap().0)))
    }

    fn move_to(&self, timestamp: &str) {
        self.0.store(time::instant(timestamp).unwrap().0, Ordering::SeqCst);
    }

    async fn open(&self, address: &str) -> Desk {
        let options = bailiwick_store::Options { clock: Some(Arc::new(self.clone())), ..Default::default() };
        Desk::open(bailiwick_store::open(address, options).await.unwrap(), Options::default()).await.unwrap()
    }
}

const MORNING: &str = "2050-01-01T09:00:00Z";
const NOON: &str = "2050-01-01T12:00:00Z";
const EVENING: &str = "2050-01-01T18:00:00Z";

#[tokio::test(flavor = "multi_thread")]
async fn a_document_that_cannot_be_read_keeps_nothing_else_from_expiring() {
    for broken in [1, 70] {
        let (folder, clock) = (tempfile::tempdir().unwrap(), HandClock::at(MORNING));
        let file = folder.path().join("broken.db").display().to_string();
        let desk = clock.open(&file).await;
        // They fall due before the good one does, and there are more than one transaction does.
        for number in 0..broken {
            run(&desk, "m", "create", &order(&format!("b{number}"), "w", "2050-01-01T11:00:00Z")).await.unwrap();
        }
        run(&desk, "m", "create", &order("good", "w", NOON)).await.unwrap();
        run(&desk, "m", "create", &order("far", "w", FAR)).await.unwrap();
        desk.close().await;
        let mut connection = sqlx::SqliteConnection::connect(&format!("sqlite:{file}")).await.unwrap();
        let damage = "UPDATE documents SET body = CAST('{}' AS BLOB) WHERE CAST(id AS TEXT) LIKE 'b%'";
        let damaged = sqlx::query(damage).execute(&mut connection).await.unwrap().rows_affected();
        assert_eq!(damaged, broken);
        connection.close().await.unwrap();
        clock.move_to(EVENING);
        let desk = clock.open(&file).await;
        assert_eq!(state(&ask(&desk, "get", r#"{"id": "far"}"#).await.unwrap()), "offered");
        let expired = ask(&desk, "list", r#"{"state": "expired"}"#).await.unwrap();
        let expired = expired.get("orders").unwrap().as_array().unwrap();
        let expired: Vec<_> = expired.iter().map(|order| order.get("id").cloned()).collect();
        assert_eq!(expired, [Some(Value::from("good"))], "with {broken} broken");
        assert_eq!(ask(&desk, "get", r#"{"id": "b0"}"#).await.unwrap_err().code(), "INTERNAL");
        desk.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn thousands_of_overdue_orders_keep_nobody_waiting_for_all_of_them() {
    const MANY: u64 = 2_000;
    let folder = tempfile::tempdir().unwrap();
    for address in addresses(folder.path()).await {
        let clock = HandClock::at(MORNING);
        let desk = clock.open(&address).await;
        let mut creating = tokio::task::JoinSet::new();
        for number in 0..MANY {
            let (desk, order) = (desk.clone(), order(&format!("o{number}"), "w", NOON));
            creating.spawn(async move { run(&desk, "m", "create", &order).await.unwrap() });
        }
        creating.join_all().await;
        clock.move_to(EVENING);
        let all = {
            let desk = desk.clone();
            tokio::spawn(async move { ask(&desk, "list", r#"{"state": "offered"}"#).await.unwrap() })
        };
        // Meanwhile its own order is all that a reader waits for, and commands get their turn.
        let last = format!(r#"{{"id": "o{}"}}"#, MANY - 1);
        assert_eq!(state(&ask(&desk, "get", &last).await.unwrap()), "expired");
        run(&desk, "m", "create", &order("new", "v", FAR)).await.unwrap();
        let done = desk.head().await.unwrap().head.sequence - MANY;
        println!("{}: {done} of {MANY} had expired when others were answered", desk.describe());
        assert!(done < MANY, "one transaction did all of them");
        let open = all.await.unwrap();
        let open = open.get("orders").unwrap().as_array().unwrap();
        let overdue = open.iter().filter(|order| order.get("to").and_then(Value::as_str) == Some("w")).count();
        assert_eq!(overdue, 0, "an overdue order is never shown as open");
        assert_eq!(desk.head().await.unwrap().head.sequence, 2 * MANY + 1, "each expired once");
        assert!(desk.verify(|_| ()).await.unwrap().is_ok());
        desk.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn waiting_wakes_for_a_change_by_a_command_about_another_order() {
    let folder = tempfile::tempdir().unwrap();
    for address in addresses(folder.path()).await {
        let clock = HandClock::at(MORNING);
        let (one, two) = (clock.open(&address).await, clock.open(&address).await);
        run(&one, "m", "create", &order("o", "w", NOON)).await.unwrap();
        let waiting = {
            let (one, key) = (one.clone(), Key::of::<OrderRecord>("o"));
            let m = Principal::claimed("m");
            tokio::spawn(async move { one.wait(&m, get("o"), &key, 1, Duration::from_secs(20)).await })
        };
        tokio::time::sleep(Duration::from_millis(200)).await;
        clock.move_to(EVENING);
        // Refused, because the order above it is overdue; that it expired is recorded all the same.
        let sub_order = order("p", "w", FAR).replace(r#""id": "p""#, r#""id": "p", "parent_id": "o""#);
        assert_eq!(run(&two, "w", "create", &sub_order).await.unwrap_err().code(), "INVALID_TRANSITION");
        let acted = Instant::now();
        assert_eq!(state(&waiting.await.unwrap().unwrap()), "expired");
        assert!(acted.elapsed() < Duration::from_secs(5), "woken by the entry: {:?}", acted.elapsed());
        one.close().await;
        two.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_equal_command_written_otherwise_is_the_same_command() {
    let desk = open("sqlite::memory:").await;
    let m = Principal::claimed("m");
    let create = |text: &str| Command::Work(work::Command::parse("create", object(text)).unwrap());
    let text = order("o", "w", FAR);
    let otherwise =
        text.replace(r#""id": "o", "to": "w""#, r#""to": "w", "id": "o""#).replace(r#""usd": 1"#, r#""usd": 1.0"#);
    assert_ne!(text, otherwise);
    let first = desk.run_once(&m, create(&text), "k").await.unwrap();
    assert_eq!(desk.run_once(&m, create(&otherwise), "k").await.unwrap(), first);
    let other = text.replace(r#""usd": 1"#, r#""usd": 1.5"#);
    assert_eq!(desk.run_once(&m, create(&other), "k").await.unwrap_err().code(), "CONFLICT");
    desk.close().await;
}
