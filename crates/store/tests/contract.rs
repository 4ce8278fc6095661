//! What every store must do, on every database: SQLite in memory and in a file, and PostgreSQL where
//! `BAILIWICK_POSTGRES_URL` names a server.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may stop at the first surprise")]

mod support;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bailiwick_core::heart::{Change, IndexEntry, Key, Order, Scope, Select};
use bailiwick_core::journal::Head;
use bailiwick_core::time::Millis;
use bailiwick_store::{Clock, Commit, Due, NewJournal, NewWorkspace, Options, Receipt, ReceiptKey, Store};
use support::*;
use tokio::time::{sleep, timeout};

/// Runs each test at each place.
macro_rules! contract {
    ($($(#[$attribute:meta])* $test:ident)*) => {
        contract!(@at memory Memory $($(#[$attribute])* $test)*);
        contract!(@at file File $($(#[$attribute])* $test)*);
        contract!(@at postgres Postgres $($(#[$attribute])* $test)*);
    };
    (@at $module:ident $kind:ident $($(#[$attribute:meta])* $test:ident)*) => {
        mod $module {
            use super::support::{Kind, Place};
            $(
                $(#[$attribute])*
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $test() {
                    if let Some(place) = Place::new(Kind::$kind).await {
                        super::$test(&place).await;
                        place.finish().await;
                    }
                }
            )*
        }
    };
}

contract! {
    a_workspace_is_opened_once
    what_does_not_exist_is_missing
    entries_are_appended_and_read_by_sequence
    entries_that_do_not_follow_are_refused
    documents_are_put_replaced_and_removed
    documents_are_answered_in_the_order_asked_for
    selections_are_in_byte_order_and_paged_by_key
    selections_need_every_further_entry
    selections_over_a_group_are_merged
    index_entries_come_and_go_with_their_documents
    due_work_is_found_earliest_first
    any_code_point_may_name_things
    what_is_too_long_is_refused
    blobs_are_kept_once_and_read_until_erased
    receipts_are_found_by_who_and_key
    a_snapshot_shows_one_moment
    dropping_a_transaction_leaves_nothing
    a_failed_command_leaves_the_others
    a_large_command_is_written_whole_or_not_at_all
    all_documents_are_paged_by_kind_and_id
    the_clock_can_be_given
    a_group_is_locked_for_one_at_a_time
    writers_in_one_process_take_turns
    writers_in_two_stores_never_lose_or_fork
    a_watcher_hears_of_other_stores
    a_watcher_hears_of_its_own_store
    everything_is_there_after_a_restart
    stores_that_start_together_all_succeed
    a_newer_writer_stops_an_older_one
    a_closed_store_is_unavailable
}

async fn a_workspace_is_opened_once(place: &Place) {
    let store = open_desk(place).await;
    let head = snapshot(&store).await.head(DESK, DECISIONS).await.unwrap();
    assert_eq!((head.epoch_id.as_str(), head.head, head.last_at), ("epoch_decisions", Head::GENESIS, None));

    let another = NewJournal { name: "another".into(), epoch_id: "epoch_2".into() };
    let changed = NewJournal { name: DECISIONS.into(), epoch_id: "epoch_2".into() };
    let again = NewWorkspace { id: DESK.into(), group: "elsewhere".into(), journals: vec![changed, another] };
    store.open_workspace(&again).await.unwrap();
    let mut snapshot = snapshot(&store).await;
    assert_eq!(snapshot.head(DESK, DECISIONS).await.unwrap().epoch_id, "epoch_decisions");
    assert_eq!(snapshot.head(DESK, "another").await.unwrap().epoch_id, "epoch_2");
    assert_eq!(code(store.begin("elsewhere").await), "store_missing");
}

async fn what_does_not_exist_is_missing(place: &Place) {
    let store = open_desk(place).await;
    assert_eq!(code(store.begin("nowhere").await), "store_missing");
    let mut reader = snapshot(&store).await;
    for workspace in [DESK, "nowhere"] {
        assert_eq!(code(reader.head(workspace, "nothing").await), "store_missing");
        assert_eq!(code(reader.entries(workspace, "nothing", 0, 10).await), "store_missing");
    }
    assert_eq!(reader.documents("nowhere", &[key("order", "1")]).await.unwrap(), [None]);
    assert_eq!(reader.select("nowhere", &select("order", "state", "open")).await.unwrap(), []);
    assert_eq!(reader.count("nowhere", &select("order", "state", "open")).await.unwrap(), 0);
    drop(reader);

    store.open_workspace(&workspace("other", "other")).await.unwrap();
    let mut transaction = begin(&store).await;
    for workspace in ["other", "nowhere"] {
        let error = transaction.write(workspace, &changes(vec![put("order", "1", 1, &[])])).await.unwrap_err();
        assert_eq!(error.code(), "store_missing");
        assert!(error.to_string().contains(workspace), "{error}");
    }
    let unknown = transaction.write(DESK, &entries("nothing", chain(Head::GENESIS, 1))).await;
    assert_eq!(code(unknown), "store_missing");
    transaction.write(DESK, &entries(DECISIONS, chain(Head::GENESIS, 1))).await.unwrap();
    transaction.commit().await.unwrap();
}

async fn entries_are_appended_and_read_by_sequence(place: &Place) {
    let store = open_desk(place).await;
    let (decisions, events) = (chain(Head::GENESIS, 3), chain(Head::GENESIS, 9));
    let mut both = entries(EVENTS, events[..7].to_vec());
    both.entries.extend(entries(DECISIONS, decisions.clone()).entries);
    both.entries.extend(entries(EVENTS, events[7..].to_vec()).entries);
    write(&store, &both).await;

    let mut reader = snapshot(&store).await;
    let head = reader.head(DESK, EVENTS).await.unwrap();
    assert_eq!(head.head, events[8].head());
    assert_eq!(head.last_at, bailiwick_core::time::instant(&events[8].occurred_at));
    assert_eq!(reader.head(DESK, DECISIONS).await.unwrap().head, decisions[2].head());
    let read = reader.entries(DESK, EVENTS, 3, 4).await.unwrap();
    assert_eq!(read.iter().map(|entry| entry.sequence).collect::<Vec<_>>(), [4, 5, 6, 7]);
    for (read, written) in read.iter().zip(&events[3..]) {
        assert_eq!((&read.preimage, read.hash), (&written.preimage(), written.hash));
    }
    assert_eq!(reader.entries(DESK, EVENTS, 9, 4).await.unwrap(), []);
    assert_eq!(reader.entries(DESK, EVENTS, u64::MAX, 4).await.unwrap(), []);
    assert_eq!(reader.entries(DESK, EVENTS, 0, 0).await.unwrap(), []);
}

async fn entries_that_do_not_follow_are_refused(place: &Place) {
    let store = open_desk(place).await;
    let first = chain(Head::GENESIS, 2);
    write(&store, &entries(DECISIONS, first.clone())).await;

    let mut transaction = begin(&store).await;
    let head = first[1].head();
    let fork = entry(&first[0].head());
    let other_hash = entry(&Head { hash: [1; 32], ..head });
    let ahead = entry(&Head { sequence: 5, ..head });
    let genesis = entry(&Head::GENESIS);
    for wrong in [fork, other_hash, ahead, genesis] {
        let result = transaction.write(DESK, &entries(DECISIONS, vec![wrong])).await;
        assert_eq!(code(result), "store_conflict");
    }
    let gap = vec![entry(&head), entry(&head)];
    assert_eq!(code(transaction.write(DESK, &entries(DECISIONS, gap)).await), "store_conflict");
    let mut zero = entry(&head);
    zero.sequence = 0;
    assert_eq!(code(transaction.write(DESK, &entries(DECISIONS, vec![zero])).await), "store_conflict");
    let mut tampered = entry(&head);
    tampered.actor = "somebody else".into();
    assert_eq!(code(transaction.write(DESK, &entries(DECISIONS, vec![tampered])).await), "store_damaged");
    let same_id = entry_with_id(&head, &first[0].id);
    assert_eq!(code(transaction.write(DESK, &entries(DECISIONS, vec![same_id])).await), "store_conflict");
    // Both journals move or none does.
    let mut half = entries(EVENTS, vec![entry(&Head::GENESIS)]);
    half.entries.extend(entries(DECISIONS, vec![entry(&first[0].head())]).entries);
    assert_eq!(code(transaction.write(DESK, &half).await), "store_conflict");

    transaction.write(DESK, &entries(DECISIONS, vec![entry(&head)])).await.unwrap();
    transaction.commit().await.unwrap();
    let mut reader = snapshot(&store).await;
    assert_eq!(reader.head(DESK, DECISIONS).await.unwrap().head.sequence, 3);
    assert_eq!(reader.head(DESK, EVENTS).await.unwrap().head, Head::GENESIS);
    assert_eq!(reader.entries(DESK, DECISIONS, 0, 10).await.unwrap().len(), 3);
}

async fn documents_are_put_replaced_and_removed(place: &Place) {
    let store = open_desk(place).await;
    write(&store, &changes(vec![put("order", "1", 1, &[]), put("report", "1", 9, &[])])).await;
    write(&store, &changes(vec![put("order", "1", 2, &[])])).await;
    let keys = [key("order", "1"), key("report", "1")];
    let found = snapshot(&store).await.documents(DESK, &keys).await.unwrap();
    let found: Vec<_> =
        found.into_iter().map(|stored| stored.map(|stored| (stored.key, stored.version, stored.body))).collect();
    assert_eq!(found[0], Some((keys[0].clone(), 2, b"{\"v\":2}".to_vec())));
    assert_eq!(found[1], Some((keys[1].clone(), 9, b"{\"v\":9}".to_vec())));

    let gone = Change { key: key("order", "1"), stored: None, index_added: vec![], index_removed: vec![] };
    let never = Change { key: key("order", "never"), ..gone.clone() };
    write(&store, &changes(vec![gone, never])).await;
    let found = snapshot(&store).await.documents(DESK, &keys).await.unwrap();
    assert_eq!(found.iter().map(Option::is_some).collect::<Vec<_>>(), [false, true]);
}

async fn documents_are_answered_in_the_order_asked_for(place: &Place) {
    let store = open_desk(place).await;
    let names: Vec<String> = (0..20).map(|number| format!("order_{number}")).collect();
    write(&store, &changes(names.iter().map(|name| put("order", name, 1, &[])).collect())).await;
    let mut wanted: Vec<_> = names.iter().rev().map(|name| key("order", name)).collect();
    wanted.insert(3, key("order", "unknown"));
    wanted.push(key("order", "order_7"));
    let mut reader = snapshot(&store).await;
    let found = reader.documents(DESK, &wanted).await.unwrap();
    for (wanted, found) in wanted.iter().zip(&found) {
        assert_eq!(found.as_ref().map(|stored| &stored.key), (wanted.id != "unknown").then_some(wanted));
    }
    assert_eq!(found.len(), wanted.len());
    assert_eq!(reader.documents(DESK, &[]).await.unwrap(), []);
}

/// Texts that byte order, UTF-16 order, locales and ends of text order differently, in byte order.
const TEXTS: [&str; 14] = ["\0", "\0\0", " ", "-a", "A", "B", "a", "a\0", "a\0b", "a-b", "ab", "z", "é\u{ffff}", "😀"];

async fn selections_are_in_byte_order_and_paged_by_key(place: &Place) {
    let store = open_desk(place).await;
    let by_id = TEXTS.iter().rev().map(|id| put("order", id, 1, &[("state", "open", "same"), ("n", "", id)]));
    write(&store, &changes(by_id.collect())).await;
    let early = put("order", "zz", 1, &[("state", "open", ""), ("state", "closed", "")]);
    let other_kind = put("report", "1", 1, &[("state", "open", "same")]);
    write(&store, &changes(vec![early, other_kind])).await;

    let mut reader = snapshot(&store).await;
    let all = reader.select(DESK, &select("order", "state", "open")).await.unwrap();
    let expected: Vec<&str> = ["zz"].into_iter().chain(TEXTS).collect();
    assert_eq!(ids(&all), expected);
    assert_eq!(ids(&reader.select(DESK, &select("order", "n", "")).await.unwrap()), TEXTS);
    for limit in [1, 2, 7] {
        let mut paged = Vec::new();
        let mut page = Select { limit, ..select("order", "state", "open") };
        loop {
            let found = reader.select(DESK, &page).await.unwrap();
            let Some(last) = found.last() else { break };
            let sort = if last.key.id == "zz" { "" } else { "same" };
            page.after = Some((sort.into(), last.key.id.clone()));
            paged.extend(found);
        }
        assert_eq!(ids(&paged), expected);
    }
    for limit in [1, 2, 7, 100] {
        let mut paged = Vec::new();
        let mut page = Select { limit, order: Order::Descending, ..select("order", "state", "open") };
        loop {
            let found = reader.select(DESK, &page).await.unwrap();
            let Some(last) = found.last() else { break };
            let sort = if last.key.id == "zz" { "" } else { "same" };
            page.after = Some((sort.into(), last.key.id.clone()));
            paged.extend(found);
        }
        assert!(ids(&paged).iter().eq(expected.iter().rev()), "{limit}");
    }
    let page = Select { limit: 3, after: Some(("same".into(), "a".into())), ..select("order", "state", "open") };
    assert_eq!(reader.count(DESK, &page).await.unwrap(), 15);
    assert_eq!(ids(&reader.select(DESK, &page).await.unwrap()), ["a\0", "a\0b", "a-b"]);
    assert_eq!(reader.select(DESK, &Select { limit: 0, ..page }).await.unwrap(), []);
    assert_eq!(reader.select(DESK, &select("order", "state", "ope")).await.unwrap(), []);
}

async fn selections_need_every_further_entry(place: &Place) {
    const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];
    let store = open_desk(place).await;
    // Document n has the first n of the further entries.
    let document = |count: usize| {
        let further = NAMES[..count].iter().map(|name| (*name, "yes", ""));
        let index: Vec<_> = further.chain([("state", "open", "")]).collect();
        put("order", &format!("{count}"), 1, &index)
    };
    write(&store, &changes((0..=5).map(document).collect())).await;
    let mut reader = snapshot(&store).await;
    for count in 0..=5 {
        let also = NAMES[..count].iter().map(|name| (*name, "yes".into())).collect();
        let select = Select { also, ..select("order", "state", "open") };
        let found = reader.select(DESK, &select).await.unwrap();
        assert_eq!(found.len(), 6 - count);
        assert_eq!(reader.count(DESK, &select).await.unwrap(), 6 - count as u64);
    }
    let none = Select { also: vec![("a", "no".into())], ..select("order", "state", "open") };
    assert_eq!(reader.select(DESK, &none).await.unwrap(), []);
    let six = Select { also: vec![("a", "yes".into()); 6], ..none };
    assert_eq!(code(reader.select(DESK, &six).await), "store_limit");
    assert_eq!(code(reader.count(DESK, &six).await), "store_limit");
    reader.count(DESK, &select("order", "state", "open")).await.unwrap();
}

async fn selections_over_a_group_are_merged(place: &Place) {
    let store = place.open().await;
    for (id, group) in [("w1", "g"), ("w2", "g"), ("w3", "other")] {
        store.open_workspace(&workspace(id, group)).await.unwrap();
        let mut transaction = store.begin(group).await.unwrap();
        let document =
            |number: usize| put("task", &format!("{number}_{id}"), 1, &[("state", "open", &format!("{number}"))]);
        transaction.write(id, &changes((0..4).map(document).collect())).await.unwrap();
        transaction.commit().await.unwrap();
    }
    let mut reader = snapshot(&store).await;
    let select = Select { scope: Scope::Group, limit: 5, ..select("task", "state", "open") };
    let found = reader.select("w2", &select).await.unwrap();
    assert_eq!(ids(&found), ["0_w1", "0_w2", "1_w1", "1_w2", "2_w1"]);
    assert_eq!(reader.count("w1", &select).await.unwrap(), 8);
    let rest = Select { after: Some(("2".into(), "2_w1".into())), ..select.clone() };
    assert_eq!(ids(&reader.select("w1", &rest).await.unwrap()), ["2_w2", "3_w1", "3_w2"]);
    let back = Select { order: Order::Descending, ..select.clone() };
    assert_eq!(ids(&reader.select("w1", &back).await.unwrap()), ["3_w2", "3_w1", "2_w2", "2_w1", "1_w2"]);
    let own = Select { scope: Scope::Workspace, ..select };
    assert_eq!(reader.count("w1", &own).await.unwrap(), 4);
}

async fn index_entries_come_and_go_with_their_documents(place: &Place) {
    let store = open_desk(place).await;
    write(&store, &changes(vec![put("order", "1", 1, &[("state", "open", "1"), ("owner", "me", "")])])).await;
    let mut moved = put("order", "1", 2, &[("state", "closed", "1")]);
    moved.index_removed = vec![IndexEntry::new("state", "open", "1"), IndexEntry::new("state", "never", "")];
    write(&store, &changes(vec![moved])).await;
    let mut reader = snapshot(&store).await;
    for (value, count) in [("open", 0), ("closed", 1)] {
        assert_eq!(reader.count(DESK, &select("order", "state", value)).await.unwrap(), count);
    }
    assert_eq!(reader.count(DESK, &select("order", "owner", "me")).await.unwrap(), 1);
    drop(reader);

    let mut gone = put("order", "1", 3, &[]);
    gone.stored = None;
    write(&store, &changes(vec![gone])).await;
    assert_eq!(snapshot(&store).await.count(DESK, &select("order", "owner", "me")).await.unwrap(), 0);

    // What is not there can't be found.
    let mut nothing = put("order", "2", 1, &[("owner", "me", "")]);
    nothing.stored = None;
    let mut transaction = begin(&store).await;
    assert_eq!(code(transaction.write(DESK, &changes(vec![nothing])).await), "store_missing");
}

async fn due_work_is_found_earliest_first(place: &Place) {
    let store = open_desk(place).await;
    assert_eq!(snapshot(&store).await.next_due(DESK).await.unwrap(), None);
    let due = IndexEntry::DUE;
    let documents = [("order", "1", "2026-01-03"), ("report", "2", "2026-01-01"), ("order", "3", "2026-01-02")];
    let documents = documents.map(|(kind, id, at)| put(kind, id, 1, &[(due, "", at), ("state", "open", "0")]));
    write(&store, &changes(documents.to_vec())).await;
    let mut reader = snapshot(&store).await;
    assert_eq!(reader.next_due(DESK).await.unwrap().as_deref(), Some("2026-01-01"));
    let due = |at: &str, kind: &str, id: &str| Due { at: at.into(), key: key(kind, id) };
    let [first, second, third] =
        [due("2026-01-01", "report", "2"), due("2026-01-02", "order", "3"), due("2026-01-03", "order", "1")];
    let found = reader.due(DESK, "2026-01-03", None, 10).await.unwrap();
    assert_eq!(found, [first.clone(), second.clone()]);
    assert_eq!(reader.due(DESK, "2026-01-04", None, 1).await.unwrap(), std::slice::from_ref(&first));
    assert_eq!(reader.due(DESK, "2026-01-01", None, 10).await.unwrap(), []);
    assert_eq!(reader.due(DESK, "2026-01-04", Some(&first), 1).await.unwrap(), std::slice::from_ref(&second));
    assert_eq!(reader.due(DESK, "2026-01-04", Some(&second), 9).await.unwrap(), [third]);
    // Of two that are due at the same time, the kind says which comes first, then the id.
    let between = due("2026-01-02", "order", "2");
    assert_eq!(reader.due(DESK, "2026-01-03", Some(&between), 9).await.unwrap(), std::slice::from_ref(&second));
    assert_eq!(reader.due(DESK, "2026-01-03", Some(&due("2026-01-02", "p", "")), 9).await.unwrap(), []);
    assert_eq!(reader.next_due("nowhere").await.unwrap(), None);
}

async fn any_code_point_may_name_things(place: &Place) {
    let store = place.open().await;
    let odd = "\0\u{1}\u{7f}\u{d7ff}\u{e000}\u{ffff}😀\0";
    let long = "😀".repeat(512);
    let new = NewWorkspace {
        id: odd.into(),
        group: format!("{odd}{long}"),
        journals: vec![NewJournal { name: DECISIONS.into(), epoch_id: odd.into() }],
    };
    store.open_workspace(&new).await.unwrap();
    let mut transaction = store.begin(&new.group).await.unwrap();
    let first = entry_with_id(&Head::GENESIS, odd);
    let receipt = |key: &str| {
        let key = ReceiptKey { principal: long.clone(), established: "claimed".into(), key: key.into() };
        (key, Receipt { command: [3; 32], reply: odd.into(), at: Millis(5) })
    };
    let commit = Commit {
        entries: vec![(DECISIONS.into(), first.clone())],
        changes: [odd, &long].map(|name| put("agent", name, 1, &[("owner", name, odd), ("due", "", odd)])).to_vec(),
        blobs: vec![blob(odd)],
        receipt: Some(receipt(odd)),
    };
    transaction.write(odd, &commit).await.unwrap();
    transaction.commit().await.unwrap();

    let mut reader = snapshot(&store).await;
    assert_eq!(reader.head(odd, DECISIONS).await.unwrap().epoch_id, odd);
    assert_eq!(reader.entries(odd, DECISIONS, 0, 1).await.unwrap()[0].preimage, first.preimage());
    for name in [odd, &long] {
        assert!(reader.documents(odd, &[key("agent", name)]).await.unwrap()[0].is_some());
        assert_eq!(ids(&reader.select(odd, &select("agent", "owner", name)).await.unwrap()), [name]);
        let also = Select { also: vec![("owner", name.into())], ..select("agent", "due", "") };
        assert_eq!(ids(&reader.select(odd, &also).await.unwrap()), [name]);
    }
    assert_eq!(reader.next_due(odd).await.unwrap().as_deref(), Some(odd));
    let found: Vec<Key> = reader.due(odd, "\u{2}", None, 9).await.unwrap().into_iter().map(|due| due.key).collect();
    assert_eq!(found, [key("agent", odd), key("agent", &long)]);
    assert_eq!(reader.blobs(odd, &[blob(odd).digest]).await.unwrap(), [Some(blob(odd))]);
    assert_eq!(reader.receipt(odd, &receipt(odd).0).await.unwrap(), Some(receipt(odd).1));
    assert_eq!(reader.receipt(odd, &receipt("").0).await.unwrap(), None);
    assert_eq!(reader.all_documents(odd, Some(&key("agent", odd)), 9).await.unwrap().len(), 1);
}

async fn what_is_too_long_is_refused(place: &Place) {
    let store = open_desk(place).await;
    let long = |length: usize| "x".repeat(length);
    let too_long = NewWorkspace { id: long(129), ..workspace(DESK, DESK) };
    assert_eq!(code(store.open_workspace(&too_long).await), "store_limit");
    let mut transaction = begin(&store).await;
    let longest = put(&long(64), &long(2048), 1, &[("state", &long(100_000), &long(256))]);
    transaction.write(DESK, &changes(vec![longest])).await.unwrap();
    for change in [
        put(&long(65), "1", 1, &[]),
        put("order", &long(2049), 1, &[]),
        put("order", "1", 1, &[("state", "", &long(257))]),
        put("order", "1", u64::MAX, &[]),
    ] {
        assert_eq!(code(transaction.write(DESK, &changes(vec![change])).await), "store_limit");
    }
    transaction.commit().await.unwrap();
}

async fn blobs_are_kept_once_and_read_until_erased(place: &Place) {
    let store = open_desk(place).await;
    let kept: Vec<_> = (0..10).map(|number| blob(&format!("text {number}"))).collect();
    write(&store, &Commit { blobs: kept.clone(), ..Commit::default() }).await;
    write(&store, &Commit { blobs: kept[..2].to_vec(), ..Commit::default() }).await;
    let mut wanted: Vec<_> = kept.iter().rev().map(|blob| blob.digest).collect();
    wanted.insert(1, [0; 32]);
    let mut reader = snapshot(&store).await;
    let found = reader.blobs(DESK, &wanted).await.unwrap();
    assert_eq!(found[0].as_ref(), Some(&kept[9]));
    assert_eq!(found[1], None);
    assert_eq!(found.iter().flatten().count(), 10);
    assert_eq!(reader.blobs("nowhere", &wanted[..1]).await.unwrap(), [None]);
    drop(reader);
    if place.is_shared() {
        place.run("UPDATE blobs SET salt = NULL, bytes = NULL").await;
        assert_eq!(snapshot(&store).await.blobs(DESK, &wanted[..1]).await.unwrap(), [None]);
    }
}

async fn receipts_are_found_by_who_and_key(place: &Place) {
    let store = open_desk(place).await;
    let key = ReceiptKey { principal: "agent:a".into(), established: "api_key".into(), key: "k1".into() };
    let receipt = Receipt { command: [1; 32], reply: b"{}".to_vec(), at: Millis(-1) };
    let commit = Commit { receipt: Some((key.clone(), receipt.clone())), ..Commit::default() };
    write(&store, &commit).await;
    let mut reader = snapshot(&store).await;
    assert_eq!(reader.receipt(DESK, &key).await.unwrap(), Some(receipt));
    assert_eq!(reader.receipt("nowhere", &key).await.unwrap(), None);
    let others = [
        ReceiptKey { principal: "agent:b".into(), ..key.clone() },
        ReceiptKey { established: "claimed".into(), ..key.clone() },
        ReceiptKey { key: "k2".into(), ..key },
    ];
    for other in others {
        assert_eq!(reader.receipt(DESK, &other).await.unwrap(), None);
    }
    drop(reader);
    let mut transaction = begin(&store).await;
    assert_eq!(code(transaction.write(DESK, &commit).await), "store_conflict");
}

async fn a_snapshot_shows_one_moment(place: &Place) {
    let store = open_desk(place).await;
    let mut before = snapshot(&store).await;
    assert_eq!(before.head(DESK, DECISIONS).await.unwrap().head, Head::GENESIS);
    let mut commit = entries(DECISIONS, chain(Head::GENESIS, 1));
    commit.changes = vec![put("order", "1", 1, &[("state", "open", "")])];

    let mut transaction = begin(&store).await;
    transaction.write(DESK, &commit).await.unwrap();
    assert_eq!(transaction.head(DESK, DECISIONS).await.unwrap().head.sequence, 1);
    assert_eq!(transaction.count(DESK, &select("order", "state", "open")).await.unwrap(), 1);
    let mut during = timeout(Duration::from_secs(1), store.snapshot()).await.unwrap().unwrap();
    assert_eq!(during.head(DESK, DECISIONS).await.unwrap().head, Head::GENESIS);
    transaction.commit().await.unwrap();

    for reader in [&mut before, &mut during] {
        assert_eq!(reader.head(DESK, DECISIONS).await.unwrap().head, Head::GENESIS);
        assert_eq!(reader.documents(DESK, &[key("order", "1")]).await.unwrap(), [None]);
        assert_eq!(reader.count(DESK, &select("order", "state", "open")).await.unwrap(), 0);
    }
    assert_eq!(head(&store, DECISIONS).await.sequence, 1);
}

async fn dropping_a_transaction_leaves_nothing(place: &Place) {
    let store = open_desk(place).await;
    for _ in 0..3 {
        let mut transaction = begin(&store).await;
        transaction.write(DESK, &entries(DECISIONS, chain(Head::GENESIS, 1))).await.unwrap();
        drop(transaction);
    }
    assert_eq!(head(&store, DECISIONS).await, Head::GENESIS);
    // Nothing was written, so there is nothing to lose either.
    begin(&store).await.commit().await.unwrap();
    write(&store, &entries(DECISIONS, chain(Head::GENESIS, 1))).await;
    assert_eq!(head(&store, DECISIONS).await.sequence, 1);
}

async fn a_failed_command_leaves_the_others(place: &Place) {
    let store = open_desk(place).await;
    let mut transaction = begin(&store).await;
    let first = entry(&Head::GENESIS);
    let mut commit = entries(DECISIONS, vec![first.clone()]);
    commit.changes = vec![put("order", "1", 1, &[("state", "open", "")])];
    transaction.write(DESK, &commit).await.unwrap();
    for id in ["2", "3"] {
        let mut failing = entries(DECISIONS, vec![entry_with_id(&first.head(), &first.id)]);
        failing.changes = vec![put("order", id, 1, &[("state", "open", "")]), put("order", "1", 7, &[])];
        failing.blobs = vec![blob(id)];
        assert_eq!(code(transaction.write(DESK, &failing).await), "store_conflict");
        assert_eq!(transaction.head(DESK, DECISIONS).await.unwrap().head, first.head());
    }
    let mut last = entries(DECISIONS, vec![entry(&first.head())]);
    last.changes = vec![put("order", "4", 1, &[("state", "open", "")])];
    transaction.write(DESK, &last).await.unwrap();
    transaction.commit().await.unwrap();

    let mut reader = snapshot(&store).await;
    assert_eq!(ids(&reader.select(DESK, &select("order", "state", "open")).await.unwrap()), ["1", "4"]);
    assert_eq!(reader.documents(DESK, &[key("order", "1")]).await.unwrap()[0].as_ref().unwrap().version, 1);
    assert_eq!(reader.blobs(DESK, &[blob("2").digest]).await.unwrap(), [None]);
    assert_eq!(reader.head(DESK, DECISIONS).await.unwrap().head.sequence, 2);
}

async fn a_large_command_is_written_whole_or_not_at_all(place: &Place) {
    let store = open_desk(place).await;
    let index: Vec<(&'static str, &str, &str)> =
        ["a", "b", "c", "d", "e", "f", "g", "h", "i"].map(|name| (name, "yes", "")).to_vec();
    let names: Vec<String> = (0..11).map(|number| format!("order_{number:02}")).collect();
    let mut large = entries(DECISIONS, chain(Head::GENESIS, 21));
    large.entries.extend(entries(EVENTS, chain(Head::GENESIS, 13)).entries);
    large.changes = names.iter().map(|name| put("order", name, 1, &index)).collect();
    large.blobs = names.iter().map(|name| blob(name)).collect();
    let mut transaction = begin(&store).await;
    transaction.write(DESK, &large).await.unwrap();
    assert_eq!(transaction.head(DESK, DECISIONS).await.unwrap().head.sequence, 21);

    // The last entry of this one is there already.
    let head = transaction.head(DESK, EVENTS).await.unwrap().head;
    let mut failing = chain(head, 20);
    failing.push(entry_with_id(&failing[19].head(), &large.entries[0].1.id));
    let mut failing = entries(EVENTS, failing);
    failing.changes = names.iter().map(|name| put("report", name, 1, &index)).collect();
    assert_eq!(code(transaction.write(DESK, &failing).await), "store_conflict");
    transaction.commit().await.unwrap();

    let mut reader = snapshot(&store).await;
    assert_eq!(reader.head(DESK, EVENTS).await.unwrap().head, head);
    for (name, ..) in &index {
        assert_eq!(ids(&reader.select(DESK, &select("order", name, "yes")).await.unwrap()), names);
        assert_eq!(reader.count(DESK, &select("report", name, "yes")).await.unwrap(), 0);
    }
    let digests: Vec<_> = large.blobs.iter().map(|blob| blob.digest).collect();
    assert!(reader.blobs(DESK, &digests).await.unwrap().iter().all(Option::is_some));
    drop(reader);

    let removed = names.iter().map(|name| {
        let index_removed = index.iter().map(|(name, value, sort)| IndexEntry::new(name, *value, *sort)).collect();
        Change { key: key("order", name), stored: None, index_added: vec![], index_removed }
    });
    write(&store, &changes(removed.collect())).await;
    let mut reader = snapshot(&store).await;
    assert_eq!(reader.count(DESK, &select("order", "a", "yes")).await.unwrap(), 0);
    assert_eq!(reader.all_documents(DESK, None, 100).await.unwrap(), []);
}

async fn all_documents_are_paged_by_kind_and_id(place: &Place) {
    let store = open_desk(place).await;
    let kinds = ["Order", "order", "order_2", "report"];
    let everything: Vec<_> = kinds.iter().flat_map(|kind| TEXTS.map(|id| (*kind, id))).collect();
    write(&store, &changes(everything.iter().rev().map(|(kind, id)| put(kind, id, 1, &[])).collect())).await;
    let mut reader = snapshot(&store).await;
    let mut found = Vec::new();
    while let page = reader.all_documents(DESK, found.last(), 9).await.unwrap()
        && !page.is_empty()
    {
        found.extend(page.into_iter().map(|stored| stored.key));
    }
    assert_eq!(found, everything.iter().map(|(kind, id)| key(kind, id)).collect::<Vec<_>>());
}

struct Stopped(Millis);

impl Clock for Stopped {
    fn now(&self) -> Millis {
        self.0
    }
}

async fn the_clock_can_be_given(place: &Place) {
    let stopped = Options { clock: Some(Arc::new(Stopped(Millis(42)))), ..Options::default() };
    let store = place.open_with(stopped).await;
    assert_eq!(snapshot(&store).await.now().await.unwrap(), Millis(42));
    store.close().await;

    let store = open_desk(place).await;
    let mut transaction = begin(&store).await;
    let first = transaction.now().await.unwrap();
    sleep(Duration::from_millis(5)).await;
    let second = transaction.now().await.unwrap();
    assert!(first < second, "time goes on within a transaction");
    let system = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_millis() as i64;
    assert!(second.millis_since(Millis(system)).abs() < 5_000, "{second} {system}");
}

async fn a_group_is_locked_for_one_at_a_time(place: &Place) {
    let patient = open_desk(place).await;
    patient.open_workspace(&workspace("other", "other")).await.unwrap();
    let held = begin(&patient).await;
    if place.is_shared() {
        let impatient = place.open_impatiently().await;
        let start = Instant::now();
        let error = impatient.begin(DESK).await.err().unwrap();
        assert_eq!(error.code(), "store_unavailable");
        assert!(error.to_string().contains("lock"), "{error}");
        assert!((150..3000).contains(&start.elapsed().as_millis()), "{:?}", start.elapsed());
        if place.kind == Kind::Postgres {
            impatient.begin("other").await.unwrap();
        }
        assert_eq!(head(&impatient, DECISIONS).await, Head::GENESIS);
    }
    let waiting = tokio::spawn({
        let store = patient.clone();
        async move { write(&store, &entries(DECISIONS, chain(Head::GENESIS, 1))).await }
    });
    sleep(Duration::from_millis(50)).await;
    assert!(!waiting.is_finished());
    held.commit().await.unwrap();
    waiting.await.unwrap();
    assert_eq!(head(&patient, DECISIONS).await.sequence, 1);
}

/// Appends to the same journal from several tasks, each time after reading the head under the lock.
async fn append_from(stores: Vec<Arc<dyn Store>>, times: usize) -> Vec<Duration> {
    let append = |store: Arc<dyn Store>| async move {
        let mut longest = Duration::ZERO;
        for _ in 0..times {
            let start = Instant::now();
            let mut transaction = begin(&store).await;
            let head = transaction.head(DESK, DECISIONS).await.unwrap().head;
            let next = entry(&head);
            let mut commit = entries(DECISIONS, vec![next.clone()]);
            commit.changes = vec![put("entry", &next.id, 1, &[("all", "", &format!("{:09}", next.sequence))])];
            transaction.write(DESK, &commit).await.unwrap();
            transaction.commit().await.unwrap();
            longest = longest.max(start.elapsed());
        }
        longest
    };
    let tasks: Vec<_> = stores.into_iter().map(|store| tokio::spawn(append(store))).collect();
    let mut longest = Vec::new();
    for task in tasks {
        longest.push(task.await.unwrap());
    }
    longest
}

/// Checks that a journal is a chain of so many entries, each with its document.
async fn check_chain(store: &Arc<dyn Store>, length: usize) {
    let mut reader = snapshot(store).await;
    let found = reader.entries(DESK, DECISIONS, 0, 100_000).await.unwrap();
    assert_eq!(found.len(), length);
    let mut head = Head::GENESIS;
    let mut ids = BTreeSet::new();
    for stored in found {
        let read = bailiwick_core::journal::Entry::read_preimage(&stored.preimage, stored.hash).unwrap();
        assert_eq!((read.prev_hash, read.sequence), (head.hash, head.sequence + 1));
        head = read.head();
        ids.insert(read.id);
    }
    assert_eq!(reader.head(DESK, DECISIONS).await.unwrap().head, head);
    assert_eq!(ids.len(), length);
    assert_eq!(reader.count(DESK, &select("entry", "all", "")).await.unwrap(), length as u64);
}

async fn writers_in_one_process_take_turns(place: &Place) {
    let store = open_desk(place).await;
    append_from(vec![store.clone(); 6], 20).await;
    check_chain(&store, 120).await;
}

async fn writers_in_two_stores_never_lose_or_fork(place: &Place) {
    if !place.is_shared() {
        return;
    }
    let (a, b) = (open_desk(place).await, place.open().await);
    let start = Instant::now();
    let longest = append_from(vec![a.clone(), b.clone(), a.clone(), b.clone()], 50).await;
    println!("{:?}: 200 commands from two stores in {:?}, longest waits {longest:?}", place.kind, start.elapsed());
    check_chain(&a, 200).await;
}

async fn a_watcher_hears_of_other_stores(place: &Place) {
    if !place.is_shared() {
        return;
    }
    let (writing, watching) = (open_desk(place).await, place.open().await);
    let mut watch = watching.watch();
    let mut waits = Vec::new();
    for number in 0..25 {
        sleep(Duration::from_millis(3 * number)).await;
        let next = entry(&head(&writing, DECISIONS).await);
        let expected = next.head();
        watch.mark_unchanged();
        write(&writing, &entries(DECISIONS, vec![next])).await;
        let start = Instant::now();
        loop {
            timeout(Duration::from_secs(2), watch.changed()).await.expect("a watcher hears").unwrap();
            if head(&watching, DECISIONS).await == expected {
                break;
            }
        }
        waits.push(start.elapsed());
    }
    waits.sort();
    let (median, longest) = (waits[waits.len() / 2], waits[waits.len() - 1]);
    println!("{:?}: another store hears of a commit after {median:?} (median), {longest:?} (longest)", place.kind);
    assert!(longest < Duration::from_secs(1), "{longest:?}");
}

async fn a_watcher_hears_of_its_own_store(place: &Place) {
    let store = open_desk(place).await;
    let mut watch = store.watch();
    sleep(Duration::from_millis(100)).await;
    for _ in 0..5 {
        let before = *watch.borrow_and_update();
        write(&store, &changes(vec![put("cursor", "1", 1, &[])])).await;
        assert!(*watch.borrow_and_update() > before, "a commit rings before it is answered");
    }
}

async fn everything_is_there_after_a_restart(place: &Place) {
    if !place.is_shared() {
        return;
    }
    let store = open_desk(place).await;
    let mut commit = entries(DECISIONS, chain(Head::GENESIS, 2));
    commit.changes = vec![put("order", "1", 1, &[("state", "open", "")])];
    commit.blobs = vec![blob("text")];
    write(&store, &commit).await;
    let described = store.describe();
    store.close().await;

    let store = place.open().await;
    assert_eq!(store.describe(), described);
    let mut reader = snapshot(&store).await;
    assert_eq!(reader.head(DESK, DECISIONS).await.unwrap().head, commit.entries[1].1.head());
    assert_eq!(reader.count(DESK, &select("order", "state", "open")).await.unwrap(), 1);
    assert_eq!(reader.blobs(DESK, &[blob("text").digest]).await.unwrap(), [Some(blob("text"))]);
}

async fn stores_that_start_together_all_succeed(place: &Place) {
    if !place.is_shared() {
        return;
    }
    let starts: Vec<_> = (0..8)
        .map(|_| {
            let address = place.address.clone();
            tokio::spawn(async move {
                let store = bailiwick_store::open(&address, Options::default()).await.unwrap();
                store.open_workspace(&workspace(DESK, DESK)).await.unwrap();
                store
            })
        })
        .collect();
    let mut stores = Vec::new();
    for start in starts {
        stores.push(start.await.unwrap());
    }
    append_from(stores.clone(), 3).await;
    check_chain(&stores[0], 24).await;
    for store in stores {
        store.close().await;
    }
}

async fn a_newer_writer_stops_an_older_one(place: &Place) {
    if !place.is_shared() {
        return;
    }
    let store = open_desk(place).await;
    for _ in 0..2 {
        let mut transaction = store.begin(DESK).await.unwrap();
        transaction.refuse_older_writers().await.unwrap();
        transaction.commit().await.unwrap();
    }
    store.begin(DESK).await.unwrap();
    place.run("UPDATE bailiwick SET least_writer = 7").await;
    let error = store.begin(DESK).await.err().unwrap();
    assert_eq!(error.code(), "store_foreign");
    assert!(error.to_string().contains("writer 7") && error.to_string().contains("writer 3"), "{error}");
    assert_eq!(head(&store, DECISIONS).await, Head::GENESIS);
}

async fn a_closed_store_is_unavailable(place: &Place) {
    let store = open_desk(place).await;
    let mut watch = store.watch();
    sleep(Duration::from_millis(50)).await;
    watch.mark_unchanged();
    timeout(Duration::from_secs(5), store.close()).await.expect("closing is prompt");
    assert_eq!(code(store.begin(DESK).await), "store_unavailable");
    assert_eq!(code(store.snapshot().await), "store_unavailable");
    store.close().await;
}
