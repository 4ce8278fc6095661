//! Passes made by a desk: with the reply they belong to, on request, and nowhere else.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bailiwick_core::heart::{Command, Credential};
use bailiwick_core::jose::{Algorithm, KeySet, SigningKey, SigningKeys};
use bailiwick_core::json::{Limits, Object, Value, parse, write_compact};
use bailiwick_core::principal::Principal;
use bailiwick_core::time::{self, Millis};
use bailiwick_core::work;
use bailiwick_core::work::pass::{Check, Pass, Request, RevocationList, verify};
use bailiwick_desk::{Desk, Failure, Options, Signer};
use bailiwick_store::Clock;
use common::{FAR, Told, addresses, object, order, run};

const ISSUER: &str = "https://desk.example";

fn key(seed: u8) -> SigningKey {
    SigningKey::from_secret(Algorithm::Ed25519, &[seed; 32]).unwrap()
}

fn signer(seed: u8) -> Signer {
    Signer::new(key(seed).into(), ISSUER, 900)
}

async fn open(address: &str, signer: Signer) -> Desk {
    let store = bailiwick_store::open(address, bailiwick_store::Options::default()).await.unwrap();
    Desk::open(store, Options { signer: Some(signer), ..Options::default() }).await.unwrap()
}

/// An order that is accepted.
async fn accepted(desk: &Desk, id: &str) {
    run(desk, "m", "create", &order(id, "w", FAR)).await.unwrap();
    run(desk, "w", "accept", &format!(r#"{{"id": "{id}"}}"#)).await.unwrap();
}

async fn start_once(desk: &Desk, id: &str, key: &str) -> Value {
    let command = work::Command::parse("start", object(&format!(r#"{{"id": "{id}"}}"#))).unwrap();
    desk.run_once(&Principal::claimed("w"), Command::Work(command), key).await.unwrap()
}

async fn mint(desk: &Desk, actor: &str, id: &str) -> Result<Value, Failure> {
    desk.mint(&Principal::claimed(actor), &Credential::Pass(Request::new(id))).await
}

fn token(reply: &Value) -> &str {
    reply.get("pass").unwrap().as_str().unwrap()
}

/// The clock of the machine, as the store has it.
async fn now(desk: &Desk) -> Millis {
    desk.store().snapshot().await.unwrap().now().await.unwrap()
}

async fn believed(desk: &Desk, token: &str) -> Pass {
    let keys = KeySet::parse(&desk.published_keys().await.unwrap()).unwrap();
    verify(token, &keys, &Check::at(now(desk).await), None).unwrap()
}

async fn list(desk: &Desk, held: Option<&RevocationList>) -> RevocationList {
    let keys = KeySet::parse(&desk.published_keys().await.unwrap()).unwrap();
    RevocationList::verify(&desk.revocations().await.unwrap(), &keys, now(desk).await, held).unwrap()
}

/// Whether any file below a folder holds a text.
fn is_kept(folder: &Path, text: &str) -> bool {
    folder.read_dir().unwrap().any(|entry| {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        bytes.windows(text.len()).any(|window| window == text.as_bytes())
    })
}

#[tokio::test]
async fn beginning_work_gives_a_pass_and_so_does_repeating_it() {
    let folder = tempfile::tempdir().unwrap();
    for address in addresses(folder.path()).await {
        let desk = open(&address, signer(7)).await;
        accepted(&desk, "o").await;
        let first = start_once(&desk, "o", "k").await;
        let pass = believed(&desk, token(&first)).await;
        assert_eq!((pass.order(), pass.worker(), pass.issuer()), ("o", "w", ISSUER));
        assert!(first.get("expires_at").unwrap().as_str().is_some());

        let again = start_once(&desk, "o", "k").await;
        assert_eq!(again.get("events"), first.get("events"), "nothing was done again");
        assert_ne!(believed(&desk, token(&again)).await.jti(), pass.jti(), "a pass of its own");

        let renewed = mint(&desk, "w", "o").await.unwrap();
        assert_ne!(believed(&desk, token(&renewed)).await.jti(), pass.jti());
        assert_eq!(mint(&desk, "m", "o").await.unwrap_err().code(), "FORBIDDEN");
        assert_eq!(mint(&desk, "w", "none").await.unwrap_err().code(), "NOT_FOUND");

        let head = desk.head().await.unwrap();
        mint(&desk, "w", "o").await.unwrap();
        assert_eq!(desk.head().await.unwrap(), head, "asking leaves no entry");

        run(&desk, "m", "cancel", r#"{"id": "o"}"#).await.unwrap();
        let late = start_once(&desk, "o", "k").await;
        assert_eq!(late.get("state").unwrap().as_str(), Some("working"), "what was answered then");
        assert!(late.get("pass").is_none() && late.get("expires_at").is_none(), "but no authority any more");
        assert_eq!(mint(&desk, "w", "o").await.unwrap_err().code(), "INVALID_TRANSITION");
        desk.close().await;
    }
}

#[tokio::test]
async fn no_file_ever_holds_a_pass() {
    let folder = tempfile::tempdir().unwrap();
    let address = format!("sqlite:{}", folder.path().join("test.db").display());
    let desk = open(&address, signer(7)).await;
    accepted(&desk, "o").await;
    let replies = [start_once(&desk, "o", "key-of-a-receipt").await, start_once(&desk, "o", "key-of-a-receipt").await];
    let renewed = mint(&desk, "w", "o").await.unwrap();
    run(&desk, "w", "progress", r#"{"id": "o", "note": "on the way"}"#).await.unwrap();
    assert!(is_kept(folder.path(), "on the way"), "the search finds what is there");
    for reply in replies.iter().chain([&renewed]) {
        let mut parts = token(reply).split('.');
        let (header, payload, signature) = (parts.next().unwrap(), parts.next().unwrap(), parts.next().unwrap());
        for part in [header, payload, signature] {
            assert!(!is_kept(folder.path(), part));
        }
        assert!(!is_kept(folder.path(), believed(&desk, token(reply)).await.jti()));
    }
    desk.close().await;
    assert!(!is_kept(folder.path(), "awl-pass"));
}

#[tokio::test]
async fn a_desk_without_a_signer_makes_no_passes() {
    let folder = tempfile::tempdir().unwrap();
    let desk = common::open(&format!("sqlite:{}", folder.path().join("test.db").display())).await;
    accepted(&desk, "o").await;
    let view = start_once(&desk, "o", "k").await;
    assert!(view.get("pass").is_none());
    assert_eq!(mint(&desk, "w", "o").await.unwrap_err().code(), "BAD_REQUEST");
    assert_eq!(desk.revocations().await.unwrap_err().code(), "BAD_REQUEST");
    assert_eq!(desk.published_keys().await.unwrap_err().code(), "BAD_REQUEST");
    desk.close().await;
}

#[tokio::test]
async fn asking_for_a_pass_past_the_deadline_ends_the_order() {
    let folder = tempfile::tempdir().unwrap();
    for address in addresses(folder.path()).await {
        let clock = Told::new();
        let shared: Arc<dyn Clock> = Arc::<Told>::clone(&clock);
        let options = bailiwick_store::Options { clock: Some(shared), ..bailiwick_store::Options::default() };
        let store = bailiwick_store::open(&address, options).await.unwrap();
        let desk = Desk::open(store, Options { signer: Some(signer(7)), ..Options::default() }).await.unwrap();
        let deadline = time::format(clock.now().saturating_add_seconds(60));
        run(&desk, "m", "create", &order("o", "w", &deadline)).await.unwrap();
        run(&desk, "w", "accept", r#"{"id": "o"}"#).await.unwrap();
        let started = start_once(&desk, "o", "k").await;
        assert_eq!(started.get("expires_at").unwrap().as_str(), Some(&*deadline), "never past the deadline");
        clock.pass(Duration::from_millis(60_001));
        assert_eq!(mint(&desk, "w", "o").await.unwrap_err().code(), "INVALID_TRANSITION");
        let last = desk.entries(desk.head().await.unwrap().head.sequence - 1, 1).await.unwrap();
        assert!(String::from_utf8_lossy(&last[0].preimage).contains("work.expire_due"));
        desk.close().await;
    }
}

#[tokio::test]
async fn keys_take_turns() {
    let folder = tempfile::tempdir().unwrap();
    let signer = signer(7);
    let desk = open(&format!("sqlite:{}", folder.path().join("test.db").display()), signer.clone()).await;
    accepted(&desk, "o").await;
    let first = start_once(&desk, "o", "k").await;
    let at = |seconds: i64, now: Millis| now.checked_add_seconds(seconds).unwrap();
    let now = now(&desk).await;

    // The next key is published before it signs, the one before verifies on.
    let old = SigningKeys::from(key(7));
    let secret = old.to_private_value().get("keys").unwrap().as_array().unwrap()[0]
        .get("d")
        .unwrap()
        .as_str()
        .unwrap()
        .to_owned();
    assert!(!format!("{signer:?} {old:?}").contains(&secret));
    signer.replace_keys(old.rotated(key(8), now, at(600, now), at(4200, now)).unwrap());
    assert_eq!(desk.published_keys().await.unwrap().get("keys").unwrap().as_array().unwrap().len(), 2);
    let minted = mint(&desk, "w", "o").await.unwrap();
    assert_eq!(kid(token(&minted)), key(7).public().kid().unwrap());

    signer.replace_keys(old.rotated(key(8), now, at(-60, now), at(3600, now)).unwrap());
    let minted = mint(&desk, "w", "o").await.unwrap();
    assert_eq!(kid(token(&minted)), key(8).public().kid().unwrap());
    assert_eq!(believed(&desk, token(&first)).await.order(), "o");

    let over = key(7).to_private_jwk().with("not_after", "2020-01-01T00:00:00Z");
    signer.replace_keys(SigningKeys::parse(&over.into()).unwrap());
    assert_eq!(mint(&desk, "w", "o").await.unwrap_err().code(), "UNAVAILABLE");
    // Work begins all the same.
    accepted(&desk, "p").await;
    assert!(start_once(&desk, "p", "l").await.get("pass").is_none());
    desk.close().await;
}

fn kid(token: &str) -> String {
    let header = token.split('.').next().unwrap();
    let header = bailiwick_core::jose::base64url::decode(header).unwrap();
    parse(&header, &Limits::DOCUMENT).unwrap().get("kid").unwrap().as_str().unwrap().into()
}

#[tokio::test]
async fn the_list_of_revoked_orders_only_rises() {
    let folder = tempfile::tempdir().unwrap();
    for address in addresses(folder.path()).await {
        let desk = open(&address, signer(7)).await;
        let empty = list(&desk, None).await;
        assert_eq!((empty.version(), empty.issuer()), (0, ISSUER));
        accepted(&desk, "o").await;
        let pass = believed(&desk, token(&start_once(&desk, "o", "k").await)).await;
        // A list may be kept for a few times the time it took.
        let mut held = empty;
        for (step, is_revoked) in [("progress", false), ("cancel", true)] {
            let note = Object::new().with("id", "o").with_some("note", (step == "progress").then_some("N"));
            run(&desk, "m", step, &write_compact(&note.into())).await.ok();
            let head = desk.head().await.unwrap().head.sequence;
            let began = std::time::Instant::now();
            while held.version() < head {
                assert!(began.elapsed().as_secs() < 10, "the list does not follow the journal");
                held = list(&desk, Some(&held)).await;
            }
            assert_eq!(held.revokes(&pass).is_some(), is_revoked, "after {step}");
        }
        // Another process, which signs with the next key, gives the same list for the same head.
        let other = open(&address, signer(8)).await;
        let list_of_other = list(&other, Some(&held)).await;
        assert_eq!(list_of_other.version(), held.version());
        assert!(list_of_other.revokes(&pass).is_some());
        other.close().await;
        desk.close().await;
    }
}
