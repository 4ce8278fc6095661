//! Passes at a desk: who gets one, when, and which orders' passes no longer count (`spec work-orders §13`).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod world;

use bailiwick_core::heart::{Change, Command, Context, Credential, Document, Fresh, Key, Stored};
use bailiwick_core::jose::{Algorithm, Compact, Issuer, KeySet, SigningKey};
use bailiwick_core::json::{Value, write_compact};
use bailiwick_core::principal::Principal;
use bailiwick_core::time::{Millis, instant};
use bailiwick_core::work::pass::{
    Check, MOST_LIST_BYTES, MOST_REVOKED, Pass, Request, RevocationList, verify, verify_chain,
};
use bailiwick_core::work::{self, NoEngine, OrderRecord};

use world::{BLOCKED, DONE, ORDER, World, object};

const ID: &str = r#"{"id": "o"}"#;

fn key() -> SigningKey {
    SigningKey::from_secret(Algorithm::Es256, &[7; 32]).unwrap()
}

fn keys() -> KeySet {
    KeySet::of(key().public().clone())
}

fn mint(world: &World, actor: &str, arguments: &str) -> Result<Value, String> {
    let principal = Principal::claimed(actor);
    let context = Context { now: world.now, principal: &principal, fresh: Fresh([3; 32]), schemas: &NoEngine };
    let request = Request::parse(object(arguments)).map_err(|refusal| refusal.code.to_string())?;
    let (key, name) = (key(), "https://desk.example");
    let issuer = Issuer { name, key: &key, ttl_seconds: 900 };
    let minted = world.memory.mint(&Credential::Pass(request), &issuer, &context).unwrap();
    minted.map_err(|refusal| refusal.code.to_string())
}

fn pass(world: &World, arguments: &str, check: &Check<'_>) -> Pass {
    let minted = mint(world, "w", arguments).unwrap();
    verify(minted.get("pass").unwrap().as_str().unwrap(), &keys(), check, None).unwrap()
}

fn code(world: &World, actor: &str) -> String {
    mint(world, actor, ID).unwrap_err()
}

/// An order that its worker is working on.
fn working() -> World {
    let mut world = World::new();
    world.all(&[("m", "create", ORDER), ("w", "accept", ID), ("w", "start", ID)]);
    world
}

/// The list as of the world's journal, without one before it.
fn list(world: &World) -> RevocationList {
    let last = world.entries.last().unwrap();
    let head = (last.sequence, instant(&last.occurred_at).unwrap());
    let key = key();
    let issuer = Issuer { name: "https://desk.example", key: &key, ttl_seconds: 900 };
    let token = world.memory.sign_revocations(head, &issuer, world.now).unwrap().unwrap();
    RevocationList::verify(&token, &keys(), world.now, None).unwrap()
}

#[test]
fn a_pass_is_for_the_worker_while_it_works() {
    let mut world = World::new();
    assert_eq!(code(&world, "w"), "NOT_FOUND");
    world.all(&[("m", "create", ORDER)]);
    assert_eq!(code(&world, "w"), "INVALID_TRANSITION");
    // Who asks comes before where the order stands.
    assert_eq!(code(&world, "m"), "FORBIDDEN");
    world.all(&[("w", "accept", ID)]);
    assert_eq!(code(&world, "w"), "INVALID_TRANSITION");
    world.all(&[("w", "start", ID)]);
    for stranger in ["m", "W", "desk", ""] {
        assert_eq!(code(&world, stranger), "FORBIDDEN", "{stranger}");
    }
    let minted = mint(&world, "w", ID).unwrap();
    assert_eq!(minted.get("expires_at").unwrap().as_str(), Some("2026-01-01T09:15:00.000Z"));
    let pass = pass(&world, ID, &Check::at(world.now));
    assert_eq!((pass.order(), pass.worker(), pass.issuer()), ("o", "w", "https://desk.example"));
    assert!(pass.jti().starts_with("pass_") && pass.jti().len() == 37);
    assert!(pass.audiences().is_empty() && pass.holder().is_none());

    for (actor, step, arguments, is_working) in [
        ("w", "report", BLOCKED, false),
        ("m", "answer", r#"{"id": "o", "answer": "That one"}"#, true),
        ("w", "report", DONE, false),
        ("m", "review", r#"{"id": "o", "decision": "rework", "reason": "R"}"#, true),
        ("w", "report", DONE, false),
        ("m", "review", r#"{"id": "o", "decision": "approve"}"#, false),
    ] {
        world.all(&[(actor, step, arguments)]);
        assert_eq!(mint(&world, "w", ID).is_ok(), is_working, "after {step}");
    }
}

#[test]
fn an_overdue_order_gives_no_pass_though_nobody_wrote_its_expiry() {
    let mut world = working();
    world.at("2026-01-01T10:00:00Z");
    // At the very deadline the order lives, but there is no second left for a pass.
    assert_eq!(code(&world, "w"), "INVALID_TRANSITION");
    world.at("2026-01-01T09:59:59Z");
    assert!(mint(&world, "w", ID).is_ok());
    world.at("2026-01-01T10:00:00.001Z");
    assert_eq!(code(&world, "w"), "INVALID_TRANSITION");
    assert_eq!(code(&world, "m"), "FORBIDDEN");
}

#[test]
fn asking_leaves_no_trace() {
    let world = working();
    let (entries, documents) = (world.entries.len(), world.memory.documents().cloned().collect::<Vec<_>>());
    mint(&world, "w", ID).unwrap();
    assert_eq!(world.entries.len(), entries);
    assert_eq!(world.memory.documents().cloned().collect::<Vec<_>>(), documents);
}

#[test]
fn a_worker_may_bind_its_pass() {
    let world = working();
    let holder = SigningKey::from_secret(Algorithm::Ed25519, &[9; 32]).unwrap();
    let public = write_compact(&holder.public().to_jwk().into());
    let arguments = format!(r#"{{"id": "o", "audience": ["https://tools.example"], "holder": {public}}}"#);
    let check = Check { audience: Some("https://tools.example"), ..Check::at(world.now) };
    let pass = pass(&world, &arguments, &check);
    assert_eq!(pass.audiences(), ["https://tools.example"]);
    assert_eq!(pass.holder(), Some(holder.public().thumbprint()));

    let private = write_compact(&holder.to_private_jwk().into());
    for wrong in [
        format!(r#"{{"id": "o", "holder": {private}}}"#),
        r#"{"id": "o", "holder": {}}"#.into(),
        r#"{"id": "o", "holder": "k"}"#.into(),
        r#"{"id": "o", "audience": "a"}"#.into(),
        r#"{"id": "o", "audience": [" "]}"#.into(),
        format!(r#"{{"id": "o", "audience": [{}]}}"#, ["\"a\""; 17].join(", ")),
        r#"{"id": "o", "ttl_seconds": 99999}"#.into(),
        r#"{"id": ""}"#.into(),
        "{}".into(),
    ] {
        assert_eq!(mint(&world, "w", &wrong).unwrap_err(), "BAD_REQUEST", "{wrong}");
    }
}

#[test]
fn beginning_work_comes_with_a_pass_and_nothing_else_does() {
    let command = |name: &str, arguments: &str| Command::Work(work::Command::parse(name, object(arguments)).unwrap());
    assert_eq!(Credential::of(&command("start", ID)), Some(Credential::Pass(Request::new("o"))));
    for (name, arguments) in [
        ("create", ORDER),
        ("accept", ID),
        ("report", DONE),
        ("cancel", ID),
        ("answer", r#"{"id": "o", "answer": "A"}"#),
        ("review", r#"{"id": "o", "decision": "rework", "reason": "R"}"#),
    ] {
        assert_eq!(Credential::of(&command(name, arguments)), None, "{name}");
    }
}

#[test]
fn called_off_orders_are_revoked_until_their_deadline() {
    let mut world = working();
    let alive = pass(&world, ID, &Check::at(world.now));
    assert_eq!(list(&world).revokes(&alive), None);
    world.at("2026-01-01T09:10:00Z");
    world.all(&[("m", "cancel", ID)]);
    let cancelled = list(&world);
    assert!(cancelled.revokes(&alive).is_some());
    assert_eq!(cancelled.version(), world.entries.len() as u64);

    // The list follows from the journal, not from the clock: signed later it revokes the same.
    world.at("2026-01-01T11:00:00Z");
    let key = key();
    let issuer = Issuer { name: "https://desk.example", key: &key, ttl_seconds: 900 };
    let last = world.entries.last().unwrap();
    let head = (last.sequence, instant(&last.occurred_at).unwrap());
    let later = world.memory.sign_revocations(head, &issuer, world.now).unwrap().unwrap();
    let later = RevocationList::verify(&later, &keys(), world.now, Some(&cancelled)).unwrap();
    assert!(later.issued_at() > cancelled.issued_at() && later.revokes(&alive).is_some());

    // The next entry after the deadline takes it off: no pass of it can be alive.
    world.all(&[("m", "create", &ORDER.replace(r#""id": "o""#, r#""id": "p""#).replace("01T10", "02T10"))]);
    assert_eq!(list(&world).revokes(&alive), None);
}

#[test]
fn only_orders_whose_passes_could_be_alive_are_revoked() {
    let over = DONE.replace("\"usd\": 0.5", "\"usd\": 5");
    let approve = r#"{"id": "o", "decision": "approve"}"#;
    type Step<'a> = (&'a str, &'a str, &'a str);
    let cases: [(&str, &[Step<'_>], bool); 5] = [
        ("called off at work", &[("w", "accept", ID), ("w", "start", ID), ("m", "cancel", ID)], true),
        ("over budget", &[("w", "accept", ID), ("w", "start", ID), ("w", "report", &over)], true),
        ("called off before it began", &[("w", "accept", ID), ("m", "cancel", ID)], false),
        ("declined", &[("w", "decline", ID)], false),
        (
            "approved",
            &[("w", "accept", ID), ("w", "start", ID), ("w", "report", DONE), ("m", "review", approve)],
            false,
        ),
    ];
    let alive = pass(&working(), ID, &Check::at(World::new().now));
    for (what, steps, is_revoked) in cases {
        let mut world = World::new();
        world.all(&[("m", "create", ORDER)]);
        world.all(steps);
        assert_eq!(list(&world).revokes(&alive).is_some(), is_revoked, "{what}");
    }
    let mut world = working();
    world.at("2026-01-01T10:00:00.001Z");
    assert_eq!(world.expire_due(), 1);
    assert_eq!(list(&world).revokes(&alive), None, "its passes ended with the deadline");
}

#[test]
fn work_that_is_held_up_gets_no_pass_and_stopped_work_is_revoked() {
    let mut world = working();
    let alive = pass(&world, ID, &Check::at(world.now));
    let control = |standing: &str| format!(r#"{{"id": "o", "standing": "{standing}", "reason": "R"}}"#);
    let expected = [
        ("paused", "PAUSED", false),
        ("running", "", false),
        ("stopped", "STOPPED", true),
        ("running", "", false),
        ("stopped", "STOPPED", true),
    ];
    for (standing, refused, is_revoked) in expected {
        world.all(&[("m", "control", &control(standing))]);
        assert_eq!(mint(&world, "w", ID).err().unwrap_or_default(), refused, "{standing}");
        assert_eq!(mint(&world, "m", ID).unwrap_err(), "FORBIDDEN", "who asks comes first");
        assert_eq!(list(&world).revokes(&alive).is_some(), is_revoked, "{standing}");
    }
    // Called off as well, it is named once.
    world.all(&[("m", "cancel", ID)]);
    assert!(list(&world).revokes(&alive).is_some());
    let key = key();
    let issuer = Issuer { name: "https://desk.example", key: &key, ttl_seconds: 900 };
    let sign = |at| world.memory.sign_revocations((9, at), &issuer, world.now).unwrap().unwrap();
    let orders = |token: String| Compact::parse(&token, 4096).unwrap().payload_object().unwrap().get("orders").cloned();
    assert_eq!(write_compact(&orders(sign(world.now)).unwrap()), r#"["o"]"#);
    let after = instant("2026-01-01T10:00:00.001Z").unwrap();
    assert_eq!(write_compact(&orders(sign(after)).unwrap()), "[]", "past the deadline nothing is alive");
    world.check_replay();
}

#[test]
fn what_is_below_a_revoked_order_goes_with_it() {
    let mut world = working();
    let child = ORDER.replace(r#""id": "o", "to": "w""#, r#""id": "p", "to": "v", "parent_id": "o""#);
    world.all(&[("w", "create", &child), ("v", "accept", r#"{"id": "p"}"#), ("v", "start", r#"{"id": "p"}"#)]);
    let token = |actor: &str, id: &str| {
        let minted = mint(&world, actor, id).unwrap();
        minted.get("pass").unwrap().as_str().unwrap().to_owned()
    };
    let (parent, child) = (token("w", ID), token("v", r#"{"id": "p"}"#));
    // The same fresh bytes gave both their `jti`, which a desk never does; so each is verified on its own.
    let now = world.now;
    let mut worked = world;
    worked.all(&[("m", "cancel", ID)]);
    let lists = [list(&worked)];
    let check = Check { revocations: &lists, ..Check::at(now) };
    for token in [&parent, &child] {
        assert_eq!(verify_chain(&[token], &keys(), &check).unwrap_err().code.as_str(), "REVOKED");
    }
    assert!(verify_chain(&[&child], &keys(), &Check::at(now)).is_ok());
}

#[test]
fn a_list_holds_only_so_many() {
    let mut world = working();
    world.all(&[("m", "cancel", ID)]);
    let document = world.memory.documents().find(|stored| stored.key.kind == "order").unwrap().clone();
    let issuer_key = key();
    let issuer = Issuer { name: "https://desk.example", key: &issuer_key, ttl_seconds: 900 };
    let copies = usize::try_from(MOST_REVOKED).unwrap();
    for number in 1..=copies {
        let key = Key { id: format!("o{number}"), ..document.key.clone() };
        let body = String::from_utf8(document.body.clone()).unwrap();
        let body = body.replace(r#""id":"o""#, &format!(r#""id":"o{number}""#)).into_bytes();
        let stored = Stored { key: key.clone(), body, ..document };
        let index_added = stored.read::<OrderRecord>().unwrap().index();
        world.memory.apply(&Change { key, stored: Some(stored), index_added, index_removed: Vec::new() });
        if number == copies - 1 {
            let token = world.memory.sign_revocations((9, Millis(0)), &issuer, world.now).unwrap().unwrap();
            let list = Compact::parse(&token, MOST_LIST_BYTES).unwrap().payload_object().unwrap();
            assert_eq!(list.get("orders").unwrap().as_array().unwrap().len(), copies);
        }
    }
    // One too many: no list at all rather than one that brings a pass back.
    let refused = world.memory.sign_revocations((9, Millis(0)), &issuer, world.now).unwrap().unwrap_err();
    assert_eq!(refused.code, "UNAVAILABLE");
}
