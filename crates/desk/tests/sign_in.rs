//! Signing in, on both databases.
// A test fails by panicking.
#![allow(clippy::unwrap_used)]

mod common;

use std::sync::Arc;
use std::time::Duration;

use bailiwick_core::principal::Principal;
use bailiwick_desk::{Desk, LINK_TIME, Options, SESSION_TIME};
use bailiwick_store::Clock;
use common::{FAR, Told, addresses, open, order, run};

const ADA: &str = "human:ada";

async fn open_at(address: &str, clock: &Arc<Told>) -> Desk {
    let clock: Arc<dyn Clock> = Arc::<Told>::clone(clock);
    let options = bailiwick_store::Options { clock: Some(clock), ..bailiwick_store::Options::default() };
    Desk::open(bailiwick_store::open(address, options).await.unwrap(), Options::default()).await.unwrap()
}

async fn signed_in(desk: &Desk) -> String {
    let link = desk.issue_link(ADA).await.unwrap();
    let (session, person) = desk.redeem_link(link.reveal()).await.unwrap().unwrap();
    assert_eq!(person, Principal::by_sign_in(ADA));
    session.reveal().into()
}

/// How many durable documents are kept.
async fn kept(desk: &Desk) -> usize {
    let mut snapshot = desk.store().snapshot().await.unwrap();
    let all = snapshot.all_documents(desk.workspace(), None, 1000).await.unwrap();
    all.iter().filter(|stored| ["session", "sign_in_link"].contains(&stored.key.kind.as_str())).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_gives_one_session_however_many_ask_at_once() {
    let folder = tempfile::tempdir().unwrap();
    for address in addresses(folder.path()).await {
        let desks = [open(&address).await, open(&address).await];
        for _ in 0..3 {
            let link = desks[0].issue_link(ADA).await.unwrap();
            let asking: Vec<_> = (0..20)
                .map(|number: usize| {
                    let (desk, link) = (desks[number % 2].clone(), link.clone());
                    tokio::spawn(async move { desk.redeem_link(link.reveal()).await.unwrap() })
                })
                .collect();
            let mut sessions = Vec::new();
            for asked in asking {
                sessions.extend(asked.await.unwrap());
            }
            assert_eq!(sessions.len(), 1, "{address}");
            let (session, _) = sessions.remove(0);
            assert_eq!(desks[1].session(session.reveal()).await.unwrap(), Some(Principal::by_sign_in(ADA)));
            assert!(desks[1].redeem_link(link.reveal()).await.unwrap().is_none());
        }
        for desk in desks {
            desk.close().await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_outlive_a_process_and_end_by_signing_out() {
    let folder = tempfile::tempdir().unwrap();
    for address in addresses(folder.path()).await {
        let desk = open(&address).await;
        let (one, other) = (signed_in(&desk).await, signed_in(&desk).await);
        desk.close().await;
        let desk = open(&address).await;
        assert!(desk.session(&one).await.unwrap().is_some());
        desk.end_session(&one).await.unwrap();
        desk.end_session(&one).await.unwrap();
        assert!(desk.session(&one).await.unwrap().is_none());
        assert!(desk.session(&other).await.unwrap().is_some(), "others go on");
        for nobody in ["", "0", &"0".repeat(64)] {
            assert!(desk.session(nobody).await.unwrap().is_none());
            assert!(desk.redeem_link(nobody).await.unwrap().is_none());
        }
        desk.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_has_expired_counts_no_more_and_is_cleared_away() {
    let folder = tempfile::tempdir().unwrap();
    for address in addresses(folder.path()).await {
        let clock = Told::new();
        let desk = open_at(&address, &clock).await;
        let link = desk.issue_link(ADA).await.unwrap();
        let session = signed_in(&desk).await;
        clock.pass(LINK_TIME);
        let late = desk.issue_link(ADA).await.unwrap();
        assert_eq!(kept(&desk).await, 3, "a link counts until its last moment");
        clock.pass(Duration::from_millis(1));
        assert!(desk.redeem_link(link.reveal()).await.unwrap().is_none());
        let later = desk.issue_link(ADA).await.unwrap();
        assert_eq!(kept(&desk).await, 3, "the expired link was cleared away");
        // Used now and then, a session lives on; left alone, it ends.
        for _ in 0..3 {
            clock.pass(SESSION_TIME - Duration::from_secs(3600));
            assert!(desk.session(&session).await.unwrap().is_some());
        }
        clock.pass(SESSION_TIME + Duration::from_millis(1));
        assert!(desk.session(&session).await.unwrap().is_none());
        for link in [late, later] {
            assert!(desk.redeem_link(link.reveal()).await.unwrap().is_none());
        }
        signed_in(&desk).await;
        assert_eq!(kept(&desk).await, 1, "the expired session, too");
        desk.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_secret_is_kept_and_the_journal_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    for address in addresses(folder.path()).await {
        let desk = open(&address).await;
        run(&desk, "m", "create", &order("o", "w", FAR)).await.unwrap();
        let (link, session) = (desk.issue_link(ADA).await.unwrap(), signed_in(&desk).await);
        let mut snapshot = desk.store().snapshot().await.unwrap();
        for stored in snapshot.all_documents(desk.workspace(), None, 1000).await.unwrap() {
            let text = format!("{} {}", stored.key.id, String::from_utf8(stored.body).unwrap());
            assert!(!text.contains(&session) && !text.contains(link.reveal()));
        }
        drop(snapshot);
        assert!(!format!("{link:?}").contains(link.reveal()));
        assert_eq!(desk.head().await.unwrap().head.sequence, 1);
        assert!(desk.verify(|_| ()).await.unwrap().is_ok());
        desk.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn links_are_for_persons() {
    let desk = open("sqlite::memory:").await;
    for nobody in ["", "ada", "agent:ada", "human:", "human: ", &format!("human:{}", "a".repeat(507))] {
        let refused = desk.issue_link(nobody).await.unwrap_err();
        assert_eq!(refused.code(), "BAD_REQUEST");
        assert!(refused.to_string().contains("`human:`"), "{refused}");
    }
    desk.issue_link(&format!("human:{}", "a".repeat(506))).await.unwrap();
    desk.close().await;
}
