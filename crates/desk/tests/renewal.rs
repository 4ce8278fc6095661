//! Documents that an older Bailiwick wrote are brought to the form of the rules, on both databases.
// A test fails by panicking.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use bailiwick_core::heart::{Change, IndexEntry, Key, Query, Stored};
use bailiwick_core::json::{Limits, Value, parse, write_compact};
use bailiwick_core::principal::Principal;
use bailiwick_core::waiting;
use bailiwick_desk::Desk;
use bailiwick_store::{Commit, Transaction};
use common::{FAR, addresses, ask, object, open, order, run};

const ADA: &str = "human:ada";

/// A desk with 70 orders, all of which wait for Ada; enough documents for several transactions.
async fn filled(address: &str) -> Desk {
    let desk = open(address).await;
    let long = format!("agent:{}", "w".repeat(80));
    for number in 0..70 {
        let (id, worker) = (format!("o{number:02}"), if number == 7 { long.as_str() } else { "w" });
        run(&desk, ADA, "create", &order(&id, worker, FAR)).await.unwrap();
        run(&desk, worker, "accept", &format!(r#"{{"id": "{id}"}}"#)).await.unwrap();
        let report = format!(
            r#"{{"id": "{id}", "status": "done", "result": {{"summary": "S"}}, "cost": {{"usd": 0.5}}, "tools_used": [],
                "evidence": [{{"criterion": "c", "type": "note"}}]}}"#
        );
        run(&desk, worker, "report", &report).await.unwrap();
    }
    desk
}

/// Every document but the note of its form.
async fn everything(desk: &Desk) -> Vec<Stored> {
    let mut snapshot = desk.store().snapshot().await.unwrap();
    let mut all = snapshot.all_documents(desk.workspace(), None, 10_000).await.unwrap();
    all.retain(|stored| stored.key != form());
    all
}

/// How often it was noted which form the documents have.
async fn notes(desk: &Desk) -> u64 {
    let mut snapshot = desk.store().snapshot().await.unwrap();
    snapshot.documents(desk.workspace(), &[form()]).await.unwrap()[0].as_ref().unwrap().version
}

fn form() -> Key {
    Key { kind: "form".into(), id: "documents".into() }
}

async fn write(transaction: &mut dyn Transaction, desk: &Desk, changes: Vec<Change>) {
    transaction.write(desk.workspace(), &Commit { changes, ..Commit::default() }).await.unwrap();
}

fn change(key: Key, stored: Option<Stored>, index: Vec<IndexEntry>) -> Change {
    Change { key, stored, index_added: index, index_removed: vec![] }
}

/// Writes documents as form 1 had them, those of kind `waiting` and `track_record`, and `note` as how far renewal came.
async fn make_old(desk: &Desk, note: Option<&str>) {
    let mut transaction = desk.store().begin(desk.workspace()).await.unwrap();
    for stored in everything(desk).await {
        let index = match stored.key.kind.as_str() {
            "waiting" => vec![IndexEntry::new("of", ADA, "earlier"), IndexEntry::new("gone", "", "")],
            "track_record" => vec![],
            _ => continue,
        };
        let mut body = parse(&stored.body, &Limits::STORED).unwrap();
        if let Value::Object(members) = &mut body {
            for name in ["from", "to"] {
                members.remove(name);
            }
        }
        let old = Stored { body: write_compact(&body).into(), ..stored.clone() };
        write(&mut *transaction, desk, vec![change(stored.key.clone(), None, vec![])]).await;
        write(&mut *transaction, desk, vec![change(stored.key, Some(old), index)]).await;
    }
    let note = note.map(|text| Stored { key: form(), version: 1, body: text.into() });
    write(&mut *transaction, desk, vec![change(form(), note, vec![])]).await;
    transaction.commit().await.unwrap();
}

async fn check_is_renewed(desk: &Desk) {
    let verification = desk.verify(|_| ()).await.unwrap();
    assert!(verification.is_ok(), "{:?}", verification.first_document_difference);
    let query = waiting::Query::parse(object(r#"{"q": "w", "ask": "review"}"#)).unwrap();
    let inbox = desk.ask(&Principal::by_sign_in(ADA), Query::Waiting(query)).await.unwrap();
    assert_eq!(inbox.get("items").unwrap().as_array().unwrap().len(), 70);
    assert_eq!(write_compact(inbox.get("counts").unwrap()), r#"{"review":70,"answer":0}"#);
    let agents = ask(desk, "agents", "{}").await.unwrap();
    assert_eq!(agents.get("agents").unwrap().as_array().unwrap().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_desk_is_of_the_newest_form() {
    let folder = tempfile::tempdir().unwrap();
    for address in addresses(folder.path()).await {
        let desk = filled(&address).await;
        check_is_renewed(&desk).await;
        let before = (everything(&desk).await, notes(&desk).await);
        desk.close().await;
        let again = open(&address).await;
        assert!((everything(&again).await, notes(&again).await) == before, "opening once more writes nothing");
        again.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn old_documents_are_renewed_once_whoever_opens_the_desk() {
    let folder = tempfile::tempdir().unwrap();
    for address in addresses(folder.path()).await {
        let desk = filled(&address).await;
        let wanted = everything(&desk).await;
        make_old(&desk, None).await;
        assert!(!desk.verify(|_| ()).await.unwrap().is_ok(), "the documents are old");
        desk.close().await;
        let (one, two, three) = tokio::join!(open(&address), open(&address), open(&address));
        for desk in [&one, &two, &three] {
            check_is_renewed(desk).await;
        }
        assert!(everything(&one).await == wanted, "and nothing else has changed");
        assert_eq!(notes(&one).await, 2, "in two transactions, whoever it was");
        run(&two, ADA, "review", r#"{"id": "o03", "decision": "approve"}"#).await.unwrap();
        assert!(three.verify(|_| ()).await.unwrap().is_ok());
        for desk in [one, two, three] {
            desk.close().await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_was_killed_leaves_the_rest_to_the_next() {
    let folder = tempfile::tempdir().unwrap();
    for address in addresses(folder.path()).await {
        let desk = filled(&address).await;
        let halfway = r#"{"version":1,"number":2,"after":{"kind":"report","id":"\uffff"}}"#;
        make_old(&desk, Some(halfway)).await;
        desk.close().await;
        let desk = open(&address).await;
        check_is_renewed(&desk).await;
        desk.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_document_stays_for_verification_to_find() {
    let desk = filled("sqlite::memory:").await;
    let key = Key { kind: "waiting".into(), id: "order/o05".into() };
    let mut transaction = desk.store().begin(desk.workspace()).await.unwrap();
    let damaged = Stored { key: key.clone(), version: 3, body: b"{}".into() };
    write(&mut *transaction, &desk, vec![change(key.clone(), Some(damaged), vec![])]).await;
    write(&mut *transaction, &desk, vec![change(form(), None, vec![])]).await;
    transaction.commit().await.unwrap();
    let again = Desk::open(desk.store().clone(), bailiwick_desk::Options::default()).await.unwrap();
    assert_eq!(again.verify(|_| ()).await.unwrap().first_document_difference, Some(key));
    desk.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn older_writers_are_refused() {
    use sqlx::Connection as _;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("desk.db").display().to_string();
    open(&file).await.close().await;
    let mut connection = sqlx::SqliteConnection::connect(&format!("sqlite:{file}")).await.unwrap();
    let least: i64 = sqlx::query_scalar("SELECT least_writer FROM bailiwick").fetch_one(&mut connection).await.unwrap();
    assert_eq!(least, 3);
}
