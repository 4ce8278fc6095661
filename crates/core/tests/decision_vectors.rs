//! The vectors of `conformance/decisions`: that each gets its verdict, and that they are what these rules write.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod world;

use bailiwick_core::hash::hex;
use bailiwick_core::heart::{self, blob_references, configuration::Adopt, vectors};
use bailiwick_core::journal::export::{Header, Journal, write_blob_line, write_entry_line};
use bailiwick_core::journal::{Draft, Entry, Head};
use bailiwick_core::json::{Limits, Object, Value, parse, write_pretty};
use bailiwick_core::principal::Principal;
use bailiwick_core::work::NoEngine;
use bailiwick_core::work::gateway::arguments_digest;
use world::{BLOCKED, DONE, ORDER, World, object};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../conformance/decisions/work.json");

#[test]
fn every_journal_gets_its_verdict() {
    let file = parse(&std::fs::read(FILE).unwrap(), &Limits::STORED).unwrap();
    let cases = vectors::run(file.as_object().unwrap(), &NoEngine).unwrap();
    assert!(cases.len() > 20);
    for case in cases {
        assert_eq!(case.found, case.expected, "{}", case.id);
    }
}

/// The journals follow from these rules byte for byte. When this fails because a form was changed on purpose, raise the
/// rule set's number, keep the file as one of an earlier rule set, and write another: `WRITE_VECTORS=1 cargo test`.
#[test]
fn the_journals_are_those_that_these_rules_write() {
    let file = Object::new().with("format", vectors::FORMAT).with("cases", cases());
    let text = write_pretty(&file.into()) + "\n";
    if std::env::var_os("WRITE_VECTORS").is_some() {
        std::fs::write(FILE, &text).unwrap();
    }
    assert!(std::fs::read_to_string(FILE).unwrap() == text, "conformance/decisions/work.json is of other rules");
}

/// A life of an order: settings, calls that are forwarded and held, a pause, a question, a rework, effects carried out and
/// tried again, an expiry beside a refusal.
fn life() -> World {
    let mut world = World::new();
    let settings = object(r#"{"work": {"allow_self_review": true}}"#);
    world.step(&Principal::desk(), heart::Command::Configuration(Adopt { settings })).outcome.reply.unwrap();
    let order = ORDER.replace(r#""tools": ["a/*"]"#, r#""tools": ["a/*"], "staged": ["a/send"]"#);
    let with_effects = |effects: &str| format!(r#"{}, "effects": [{effects}]}}"#, DONE.strip_suffix('}').unwrap());
    world.all(&[
        ("m", "create", &order),
        ("w", "accept", r#"{"id": "o"}"#),
        ("w", "start", r#"{"id": "o"}"#),
        ("gateway", "begin_call", r#"{"id": "o", "tool": "a/send", "arguments": {}}"#),
        ("gateway", "begin_call", r#"{"id": "o", "tool": "a/b", "cost": {"usd": 0.25}}"#),
        ("gateway", "finish_call", r#"{"id": "o", "n": 2, "outcome": "done", "cost": {"usd": 0.01}}"#),
        ("human:m", "control", r#"{"id": "o", "standing": "paused", "reason": "Let me look"}"#),
        ("m", "control", r#"{"id": "o", "standing": "running"}"#),
        ("w", "progress", r#"{"id": "o", "note": "half", "percent": 50}"#),
        ("w", "report", BLOCKED),
        ("m", "answer", r#"{"id": "o", "answer": "This one"}"#),
        ("w", "report", &with_effects(r#"{"ref": "a/send#1", "tool": "a/send", "arguments": {}}"#)),
        ("m", "review", r#"{"id": "o", "decision": "rework", "reason": "again"}"#),
    ]);
    world.at("2026-01-01T09:30:00Z");
    let (first, second) = (r#"{"to": "x"}"#, r#"{"to": {"$ref": "a/send#3", "pointer": "/sent/0"}}"#);
    let held = |arguments: &str| format!(r#"{{"id": "o", "tool": "a/send", "arguments": {arguments}}}"#);
    let begin = |n: u8, arguments: &str| {
        let digest = hex(&arguments_digest(&object(arguments).into()));
        format!(r#"{{"id": "o", "ref": "a/send#{n}", "tool": "a/send", "arguments_digest": "{digest}"}}"#)
    };
    let effect =
        |n: u8, arguments: &str| format!(r#"{{"ref": "a/send#{n}", "tool": "a/send", "arguments": {arguments}}}"#);
    let effects = [effect(3, first), effect(4, second), effect(5, first)].join(", ");
    let done = r#"{"id": "o", "ref": "a/send#3", "outcome": "done", "result": {"sent": ["y"]}}"#;
    let failed = r#"{"id": "o", "ref": "a/send#4", "outcome": "failed", "error": "no such address"}"#;
    world.all(&[
        ("gateway", "begin_call", &held(first)),
        ("gateway", "begin_call", &held(second)),
        ("gateway", "begin_call", &held(first)),
        ("w", "report", &with_effects(&effects)),
        ("m", "review", r#"{"id": "o", "decision": "approve", "effects": ["a/send#3", "a/send#4"]}"#),
        ("gateway", "begin_effect", &begin(3, first)),
        ("gateway", "finish_effect", done),
        ("gateway:other", "begin_effect", &begin(4, second)),
        ("gateway:other", "finish_effect", failed),
        ("m", "allow_effect_retry", r#"{"id": "o", "ref": "a/send#4", "reason": "the address is right"}"#),
        ("gateway", "begin_effect", &begin(4, second)),
        ("m", "create", &ORDER.replace(r#""id": "o""#, r#""id": "p""#)),
    ]);
    world.at("2026-01-01T11:00:00Z");
    assert_eq!(world.refused("w", "accept", r#"{"id": "p"}"#), "INVALID_TRANSITION");
    world
}

/// The number of the entry of a command, from 0.
fn at(world: &World, kind: &str) -> usize {
    world.entries.iter().position(|entry| entry.kind == kind).unwrap()
}

/// An entry changed, and the rest of the chain made to fit again: whoever has the whole journal can do that.
fn forged(world: &World, at: usize, change: impl FnOnce(&mut Entry)) -> Vec<Entry> {
    let mut entries = world.entries.clone();
    change(&mut entries[at]);
    sealed(entries)
}

fn sealed(entries: Vec<Entry>) -> Vec<Entry> {
    let mut head = Head::GENESIS;
    let seal = |entry: Entry| {
        let Entry { protocol, workspace_id, epoch_id, id, kind, entity_id, actor, session_id, .. } = entry;
        let (occurred_at, payload) = (entry.occurred_at, entry.payload);
        let draft =
            Draft { protocol, workspace_id, epoch_id, id, kind, entity_id, actor, session_id, occurred_at, payload };
        let entry = draft.seal(&head).unwrap();
        head = entry.head();
        entry
    };
    entries.into_iter().map(seal).collect()
}

fn export(world: &World, entries: &[Entry], is_there: impl Fn(&Entry) -> bool) -> Value {
    let head = entries.last().unwrap().head();
    let mut text = Vec::new();
    let header = Header {
        workspace_id: "desk".into(),
        journal: Journal::Decisions,
        head_sequence: head.sequence,
        head_hash: hex(&head.hash),
    };
    header.write_line(&mut text);
    for entry in entries {
        for digest in blob_references(&entry.payload).iter().filter(|_| is_there(entry)) {
            let (salt, bytes) = &world.blobs[&hex(digest)];
            write_blob_line(digest, salt, bytes, &mut text);
        }
        write_entry_line(&entry.preimage(), &entry.hash, &mut text);
    }
    String::from_utf8(text).unwrap().lines().map(Value::from).collect()
}

struct Expect {
    decided: usize,
    applied: usize,
    erased: usize,
    difference: Option<(&'static str, usize)>,
}

fn case(id: &str, lines: Value, expect: &Expect) -> Value {
    let number = |count: usize| u64::try_from(count).unwrap();
    let all = expect.difference.is_none() && expect.applied + expect.erased == 0;
    let difference = expect.difference;
    let difference = difference.map(|(code, at)| Object::new().with("code", code).with("sequence", number(at) + 1));
    let expect = Object::new()
        .with("chain_ok", true)
        .with("decided", number(expect.decided))
        .with("applied", number(expect.applied))
        .with("erased", number(expect.erased))
        .with("decided_all", all)
        .with_some("difference", difference);
    Object::new().with("id", id).with("lines", lines).with("expect", expect).into()
}

fn cases() -> Value {
    let mut cases = good_cases();
    cases.extend(forged_cases());
    cases.into_iter().collect()
}

fn good_cases() -> Vec<Value> {
    let world = life();
    let count = world.entries.len();
    let whole = export(&world, &world.entries, |_| true);
    let answer = at(&world, "work.answer");
    let erased = export(&world, &world.entries, |entry| entry.kind != "work.answer");
    // Every later entry rests on the order or on the worker's track record, of which a part was erased.
    let after = count - answer;
    let rules = |from: usize, number: u64| {
        let mut entries = world.entries.clone();
        entries[from..].iter_mut().for_each(|entry| entry.payload.insert("rules", number));
        sealed(entries)
    };
    let mut earlier = rules(0, 1);
    // Rule set 1 wrote effects inside its entries.
    let review = earlier.iter().rposition(|entry| entry.kind == "work.review").unwrap();
    change_fact(&mut earlier[review], |fact| {
        let Some(Value::Object(mut event)) = fact.remove("event") else { panic!("a transition has an event") };
        event.insert("effects", Value::Array(vec!["a/send#3".into(), "a/send#4".into()]));
        fact.insert("event", event);
    });
    let earlier = sealed(earlier);
    let mut later = rules(count - 1, 999);
    later[count - 1].kind = "work.teleport".into();
    later[count - 1].payload.insert("arguments", object(r#"{"to": "Mars"}"#));
    let later = sealed(later);
    vec![
        case("decided", whole, &Expect { decided: count, applied: 0, erased: 0, difference: None }),
        case("erased", erased, &Expect { decided: count - after, applied: 0, erased: after, difference: None }),
        case(
            "earlier-rules",
            export(&world, &earlier, |_| true),
            &Expect { decided: 0, applied: count, erased: 0, difference: None },
        ),
        case(
            "later-rules-unknown-command",
            export(&world, &later, |_| true),
            &Expect { decided: count - 1, applied: 1, erased: 0, difference: None },
        ),
    ]
}

fn change_fact(entry: &mut Entry, change: impl FnOnce(&mut Object)) {
    let facts = entry.payload.get("facts").unwrap().as_array().unwrap();
    let mut facts: Vec<Object> = facts.iter().map(|fact| fact.as_object().unwrap().clone()).collect();
    change(facts.last_mut().unwrap());
    entry.payload.insert("facts", facts.into_iter().map(Value::from).collect::<Value>());
}

fn change_member(entry: &mut Entry, name: &str, change: impl FnOnce(&mut Object)) {
    let mut member = entry.payload.get(name).unwrap().as_object().unwrap().clone();
    change(&mut member);
    entry.payload.insert(name, member);
}

type Forgery = (&'static str, &'static str, &'static str, fn(&mut Entry));

/// id, the entry's command, the code, and what is done to the entry.
const FORGERIES: &[Forgery] = &[
    ("another-actor", "work.accept", "envelope_differs", |entry| entry.actor = "x".into()),
    ("another-entity", "work.accept", "envelope_differs", |entry| entry.entity_id = "p".into()),
    ("another-id", "work.accept", "envelope_differs", |entry| entry.id.replace_range(6..7, "f")),
    ("a-session", "work.accept", "envelope_differs", |entry| entry.session_id = Some("s".into())),
    ("time-written-otherwise", "work.accept", "envelope_differs", |entry| {
        entry.occurred_at = entry.occurred_at.replace(".000Z", "Z");
    }),
    ("another-principal", "work.accept", "facts_differ", |entry| {
        entry.actor = "x".into();
        change_member(entry, "principal", |principal| principal.insert("id", "x"));
    }),
    ("another-command", "work.accept", "facts_differ", |entry| entry.kind = "work.start".into()),
    ("unknown-command", "work.accept", "record_unreadable", |entry| entry.kind = "work.teleport".into()),
    ("unknown-fact", "work.accept", "record_unreadable", |entry| {
        change_fact(entry, |fact| fact.insert("fact", "work.teleported"));
    }),
    ("another-state", "work.accept", "facts_differ", |entry| {
        change_fact(entry, |fact| {
            let Some(Value::Object(mut event)) = fact.remove("event") else { return };
            event.insert("to", "approved");
            fact.insert("event", event);
        });
    }),
    ("no-facts", "work.accept", "facts_differ", |entry| entry.payload.insert("facts", Value::Array(Vec::new()))),
    ("refused-though-accepted", "work.accept", "reply_differs", |entry| entry.payload.insert("refused", "FORBIDDEN")),
    ("unknown-member", "work.accept", "record_form_differs", |entry| entry.payload.insert("note", "x")),
    ("unknown-argument", "work.accept", "record_form_differs", |entry| {
        change_member(entry, "arguments", |arguments| arguments.insert("note", "x"));
    }),
    ("unknown-member-of-principal", "work.accept", "record_form_differs", |entry| {
        change_member(entry, "principal", |principal| principal.insert("role", "admin"));
    }),
    ("unknown-member-of-fact", "work.accept", "record_form_differs", |entry| {
        change_fact(entry, |fact| fact.insert("note", "x"));
    }),
    ("another-configuration", "work.accept", "configuration_differs", |entry| {
        entry.payload.insert("configuration", "0".repeat(64));
    }),
    ("time-runs-backwards", "work.accept", "time_runs_backwards", |entry| {
        entry.occurred_at = "2026-01-01T08:59:59.999Z".into();
    }),
    ("rule-set-0", "work.accept", "rule_set_falls", |entry| entry.payload.insert("rules", 0_u64)),
    ("rule-set-falls", "work.accept", "rule_set_falls", |entry| entry.payload.insert("rules", 1_u64)),
    ("call-number-given-twice", "work.begin_call", "facts_differ", |entry| {
        change_fact(entry, |fact| fact.insert("n", 2_u64))
    }),
    ("call-not-counted", "work.begin_call", "facts_differ", |entry| {
        entry.payload.insert("facts", Value::Array(Vec::new()));
    }),
    ("call-of-another-tool", "work.begin_call", "facts_differ", |entry| {
        change_fact(entry, |fact| fact.insert("tool", "a/b"));
    }),
    ("call-by-the-worker", "work.begin_call", "facts_differ", |entry| {
        entry.actor = "w".into();
        change_member(entry, "principal", |principal| principal.insert("id", "w"));
    }),
    ("units-given-back", "work.finish_call", "facts_differ", |entry| {
        change_fact(entry, |fact| fact.insert("released", true));
    }),
    ("effect-of-another-call", "work.begin_effect", "facts_differ", |entry| {
        change_member(entry, "arguments", |arguments| arguments.insert("arguments_digest", "0".repeat(64)));
    }),
    ("effect-not-approved", "work.begin_effect", "facts_differ", |entry| {
        change_member(entry, "arguments", |arguments| arguments.insert("ref", "a/send#5"));
    }),
    ("pause-lifted-by-the-worker", "work.control", "facts_differ", |entry| {
        entry.actor = "w".into();
        change_member(entry, "principal", |principal| principal.insert("id", "w"));
    }),
    ("effects-inside", "work.review", "record_form_differs", |entry| {
        change_fact(entry, |fact| {
            let Some(Value::Object(mut event)) = fact.remove("event") else { return };
            event.insert("effects", Value::Array(vec!["a/send#1".into()]));
            fact.insert("event", event);
        });
    }),
];

fn forged_cases() -> Vec<Value> {
    let world = life();
    let forge = |(id, kind, code, change): &Forgery| {
        let at = at(&world, kind);
        let lines = export(&world, &forged(&world, at, change), |_| true);
        case(id, lines, &Expect { decided: at, applied: 0, erased: 0, difference: Some((code, at)) })
    };
    FORGERIES.iter().map(forge).collect()
}
