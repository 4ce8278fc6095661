//! What an order can hold, and that whatever is accepted fits its journal entry.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod world;

use std::collections::BTreeSet;

use bailiwick_core::heart::{self, Stored};
use bailiwick_core::journal::entry::MAX_ENTRY_BYTES;
use bailiwick_core::json::{Limits, Number, Object, Value, parse, write_compact};
use bailiwick_core::principal::Principal;
use bailiwick_core::work::{Action, Command, MOST_HISTORY_BYTES, OrderRecord, State};
use world::{BLOCKED, DONE, ORDER, World, object};

/// The longest text that an argument takes.
fn note(c: char) -> Value {
    c.to_string().repeat(65_536).into()
}

fn with_note(name: &str, note: &Value) -> String {
    write_compact(&Object::new().with("id", "o").with(name, note.clone()).into())
}

#[test]
fn a_history_takes_no_more_notes_than_fit_and_can_still_be_ended() {
    let endings: [(&str, &str, String); 3] = [
        ("m", "cancel", with_note("reason", &note('\u{1}'))),
        ("w", "report", DONE.into()),
        ("w", "report", DONE.replace("\"usd\": 0.5", "\"usd\": 5")),
    ];
    for (actor, ending, arguments) in endings {
        let mut world = World::new();
        world.all(&[("m", "create", ORDER), ("w", "accept", r#"{"id": "o"}"#), ("w", "start", r#"{"id": "o"}"#)]);
        let progress = with_note("note", &note('a'));
        let mut taken = 0;
        let (code, message) = loop {
            match world.run("w", "progress", &progress) {
                Ok(_) => taken += 1,
                Err(refusal) => break refusal,
            }
        };
        assert_eq!(taken, MOST_HISTORY_BYTES / 65_536 - 1, "a little is taken by names");
        assert_eq!(code, "BAD_REQUEST");
        assert!(message.contains(&MOST_HISTORY_BYTES.to_string()), "{message}");
        // The worker asks; the answer does not fit, a short one does.
        let long = with_note("answer", &note('a'));
        world.run("w", "report", BLOCKED).unwrap();
        assert_eq!(world.refused("m", "answer", &long), "BAD_REQUEST");
        world.run("m", "answer", r#"{"id": "o", "answer": "Go on"}"#).unwrap();
        world.run("w", "report", DONE).unwrap();
        let rework = Object::new().with("id", "o").with("decision", "rework").with("reason", note('a'));
        assert_eq!(world.refused("m", "review", &write_compact(&rework.into())), "BAD_REQUEST");
        world.run("m", "review", r#"{"id": "o", "decision": "rework", "reason": "No"}"#).unwrap();
        // What ends it is always taken.
        world.run(actor, ending, &arguments).unwrap();
        if world.state("o") == "submitted" {
            let reason = note('\u{1}');
            let approve = Object::new().with("id", "o").with("decision", "approve").with("reason", reason);
            world.run("m", "review", &write_compact(&approve.into())).unwrap();
        }
        let record: OrderRecord = world.memory.document("o").unwrap().unwrap();
        assert!(record.state.is_terminal());
        assert!(Stored::of(&record).body.len() < 16 << 20);
        world.check_replay();
    }
}

/// Names of the greatest length in entries: control characters are six bytes each there.
fn longest(c: char, length: usize) -> String {
    c.to_string().repeat(length)
}

fn json(value: Object) -> String {
    write_compact(&value.into())
}

fn list<const N: usize>(items: [impl Into<Value>; N]) -> Value {
    items.into_iter().map(Into::into).collect()
}

fn effects(count: usize, name: &str) -> Value {
    let name = format!("{name}/{}", "t".repeat(60));
    let effect = |n: usize| {
        let reference = format!("{name}#{n}");
        Value::from(Object::new().with("ref", reference).with("tool", name.as_str()).with("arguments", Object::new()))
    };
    (1..=count).map(effect).collect()
}

#[test]
fn the_largest_of_every_command_fits_its_entry() {
    for c in ['\u{1}', '\u{1f600}'] {
        let (manager, worker) = (longest(c, 511) + "m", longest(c, 511) + "w");
        let id = |n: u32| format!("{}{n:03}", longest(c, 125));
        let mut world = World::new();
        let order = |n: u32| {
            object(ORDER)
                .with("id", id(n))
                .with("to", &*worker)
                .with("escalate_to", &*manager)
                .with("tools", list(["t/*"]))
                .with("staged", list(["t/*"]))
        };
        let of = |n: u32| Object::new().with("id", id(n));
        let long = || Value::from(longest(c, 1_000));
        // A parent, a finished order and its continuation, all due to expire in one decision.
        world.run(&worker, "create", &json(order(1).with("to", &*worker))).unwrap();
        world.run(&worker, "create", &json(order(2))).unwrap();
        world.run(&worker, "decline", &json(of(2).with("reason", long()))).unwrap();
        world.run(&worker, "create", &json(order(3).with("continues", id(2)))).unwrap();
        for n in 4..10 {
            world.run(&manager, "create", &json(order(n).with("deadline", "2026-01-01T20:00:00Z"))).unwrap();
        }
        world.at("2026-01-01T11:00:00Z");
        let late = order(10).with("parent_id", id(1)).with("continues", id(2)).with("deadline", "2026-01-01T20:00:00Z");
        assert_eq!(world.refused(&worker, "create", &json(late.clone())), "INVALID_TRANSITION", "the parent expired");
        let mut late = late;
        late.remove("parent_id");
        world.run(&worker, "create", &json(late)).unwrap();
        let continued: OrderRecord = world.memory.document(&id(3)).unwrap().unwrap();
        assert_eq!(continued.state, State::Expired);

        world.run(&worker, "decline", &json(of(4).with("reason", long()))).unwrap();
        world.run(&manager, "cancel", &json(of(5).with("reason", long()))).unwrap();
        world.run(&worker, "accept", &json(of(6))).unwrap();
        world.run(&worker, "start", &json(of(6))).unwrap();
        world
            .run(
                &worker,
                "progress",
                &json(of(6).with("note", long()).with("percent", Number::Float(99.123_456_789_012_34))),
            )
            .unwrap();
        let report = |n: u32, text: &str| object(text).with("id", id(n)).with("tools_used", list(["t/a"]));
        let blocked = report(6, BLOCKED).with("questions", list([long(), long()]));
        world.run(&worker, "report", &json(blocked)).unwrap();
        world.run(&manager, "answer", &json(of(6).with("answer", long()))).unwrap();
        world.run(&worker, "report", &json(report(6, DONE))).unwrap();
        let rework = of(6).with("decision", "rework").with("reason", long());
        world.run(&manager, "review", &json(rework)).unwrap();
        // Over every limit, so that it expires in the same decision; and many effects, chosen one by one.
        let over = report(6, DONE)
            .with("cost", Object::new().with("usd", Number::Float(1e300)).with("tool_calls", 10_u64.pow(18)));
        world.run(&worker, "report", &json(over)).unwrap();
        world.run(&worker, "accept", &json(of(7))).unwrap();
        let effects = effects(2_000, "t");
        let done = report(7, DONE).with("effects", effects.clone());
        world.run(&worker, "report", &json(done)).unwrap();
        let chosen: Value =
            effects.as_array().unwrap().iter().skip(1).map(|effect| effect.get("ref").unwrap().clone()).collect();
        let approve = of(7).with("decision", "approve").with("reason", long()).with("effects", chosen);
        world.run(&manager, "review", &json(approve)).unwrap();
        world.at("2026-01-01T21:00:00Z");
        assert!(world.expire_due() > 0);
        let imported = object(ORDER)
            .with("spec", "awl/work-order@0.1")
            .with("id", id(99))
            .with("from", &*manager)
            .with("to", &*worker)
            .with("created_at", "2026-01-01T09:00:00.000Z");
        let event = r#"{"seq": 1, "at": "2026-01-01T09:00:00.000Z", "actor": "m", "action": "create", "from": null, "to": "offered"}"#;
        let record = Object::new()
            .with("order", imported)
            .with("state", "offered")
            .with("reports", list([""; 0]))
            .with("events", Value::Array(vec![object(event).into()]));
        let import = heart::Command::Work(Command::Import { record });
        world.step(&Principal::desk(), import).outcome.reply.unwrap();
        // Sealing refuses an entry that is too large, so all of them fit; and they read back as they were.
        let names: BTreeSet<&str> = world.entries.iter().map(|entry| entry.kind.as_str()).collect();
        assert_eq!(names.len(), 11, "every command left an entry: {names:?}");
        let most = world.entries.iter().map(|entry| entry.preimage().len()).max().unwrap();
        assert!(most > MAX_ENTRY_BYTES / 4, "the names are long: {most}");
        world.check_replay();
    }
}

#[test]
fn names_beyond_their_limit_are_refused_before_anything_is_recorded() {
    let mut world = World::new();
    world.run("m", "create", ORDER).unwrap();
    world.at("2026-01-01T11:00:00Z");
    let entries = world.entries.len();
    let (code, message) = world.run(&"x".repeat(513), "accept", r#"{"id": "o"}"#).unwrap_err();
    assert_eq!((code.as_str(), world.entries.len()), ("BAD_REQUEST", entries));
    assert!(message.contains("513") && message.contains("512"), "{message}");
    for (name, length) in [("id", 129), ("from", 513), ("to", 513), ("escalate_to", 513)] {
        let order = object(ORDER).with("from", "m").with(name, "x".repeat(length));
        let event = object(
            r#"{"seq": 1, "at": "2026-01-01T09:00:00.000Z", "actor": "m", "action": "create", "from": null, "to": "offered"}"#,
        );
        let (code, message) = import(&mut world, order, vec![event]).unwrap_err();
        assert_eq!(code, "BAD_REQUEST");
        assert!(message.contains(&format!("`{name}` has {length} characters")), "{message}");
    }
}

fn import(world: &mut World, order: Object, events: Vec<Object>) -> Result<Value, (String, String)> {
    let state = events.last().unwrap().str("to").unwrap().to_owned();
    let events: Value = events.into_iter().map(Value::from).collect();
    let record = Object::new().with("order", order).with("state", state).with("events", events);
    let command = heart::Command::Work(Command::Import { record });
    let reply = world.step(&Principal::desk(), command).outcome.reply;
    reply.map_err(|refusal| (refusal.code.to_string(), refusal.message))
}

#[test]
fn the_published_actions_are_those_of_the_rules_and_the_ones_that_import_names() {
    let schema = parse(include_bytes!("../../../schemas/work-event.json"), &Limits::DOCUMENT).unwrap();
    let actions = schema.get("properties").unwrap().get("action").unwrap().get("enum").unwrap();
    let published: BTreeSet<&str> = actions.as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let known: BTreeSet<&str> = Action::ALL.into_iter().map(Action::as_str).collect();
    assert_eq!(known.difference(&published).count(), 0);
    let event = |seq: u64, action: &str, from: Value, to: &str| {
        let event = Object::new().with("seq", seq).with("at", "2026-01-01T09:00:00.000Z").with("actor", "m");
        event.with("action", action).with("from", from).with("to", to)
    };
    for action in published.difference(&known) {
        let events = vec![
            event(1, "create", Value::Null, "offered"),
            event(2, "approve", "submitted".into(), "approved"),
            event(3, action, "approved".into(), "approved"),
        ];
        let order = object(ORDER).with("from", "m");
        let (code, message) = import(&mut World::new(), order, events).unwrap_err();
        assert_eq!(code, "BAD_REQUEST");
        assert!(message.contains(&format!("event 3 is `{action}`")), "{message}");
    }
}
