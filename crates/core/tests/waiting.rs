//! What waits for a person, and the list of agents, as data.
// A test fails by panicking, its helpers too.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod world;

use bailiwick_core::heart::{self, Context, Fresh};
use bailiwick_core::json::{Value, write_compact};
use bailiwick_core::principal::Principal;
use bailiwick_core::waiting::Query;
use bailiwick_core::work::NoEngine;
use world::{BLOCKED, DONE, ORDER, World, object};

const ADA: &str = "human:ada";

/// Orders `o1` to `o6` from Ada: three reported on, two blocked, one offered. The later in name, the more urgent.
fn world() -> World {
    let mut world = World::new();
    for number in 1..=6 {
        let id = format!(r#""id": "o{number}""#);
        let due = format!("2026-01-0{}T10:00:00Z", 9 - number);
        let order = ORDER.replace(r#""id": "o""#, &id).replace("2026-01-01T10:00:00Z", &due);
        let order = order.replace(r#""goal": "G""#, &format!(r#""goal": "Find Ölvorkommen {number}""#));
        world.run(ADA, "create", &order).unwrap();
        let report = if number <= 3 { DONE } else { BLOCKED };
        let steps: &[(&str, &str)] =
            if number == 6 { &[] } else { &[("accept", ""), ("start", ""), ("report", report)] };
        for (name, arguments) in steps {
            let arguments =
                if arguments.is_empty() { format!("{{{id}}}") } else { arguments.replace(r#""id": "o""#, &id) };
            world.run("w", name, &arguments).unwrap();
        }
    }
    world
}

fn inbox(world: &World, person: &str, arguments: &str) -> Value {
    let principal = Principal::by_sign_in(person);
    let context = Context { now: world.now, principal: &principal, fresh: Fresh([0; 32]), schemas: &NoEngine };
    let query = Query::parse(object(arguments)).unwrap();
    world.memory.ask(&heart::Query::Waiting(query), &context).unwrap().unwrap()
}

fn ids(answer: &Value) -> Vec<&str> {
    let items = answer.get("items").unwrap().as_array().unwrap();
    items.iter().map(|item| item.get("id").unwrap().as_str().unwrap()).collect()
}

#[track_caller]
fn check(arguments: &str, expected: &[&str]) {
    let world = world();
    let answer = inbox(&world, ADA, arguments);
    assert_eq!(ids(&answer), expected, "{arguments}");
    let counts = write_compact(answer.get("counts").unwrap());
    assert_eq!(counts, r#"{"review":3,"answer":2}"#, "counts are over everything, whatever the filters");
}

#[test]
fn the_most_urgent_comes_first() {
    check("{}", &["o5", "o4", "o3", "o2", "o1"]);
    let world = world();
    let answer = inbox(&world, ADA, r#"{"limit": 1}"#);
    let item = write_compact(&answer.get("items").unwrap().as_array().unwrap()[0]);
    let expected = r#"{"kind":"order","id":"o5","ask":"answer","title":"Find Ölvorkommen 5","from":"human:ada","to":"w","since":"2026-01-01T09:00:00.000Z","due":"2026-01-04T10:00:00.000Z","version":4}"#;
    assert_eq!(item, expected);
}

#[test]
fn filters_narrow() {
    check(r#"{"ask": "review"}"#, &["o3", "o2", "o1"]);
    check(r#"{"ask": "answer"}"#, &["o5", "o4"]);
    check(r#"{"q": "ölVORKOMMEN 2"}"#, &["o2"]);
    check(r#"{"q": "O4"}"#, &["o4"]);
    check(r#"{"q": "human:ADA", "ask": "answer"}"#, &["o5", "o4"]);
    check(r#"{"q": "nowhere"}"#, &[]);
    check(r#"{"q": " "}"#, &["o5", "o4", "o3", "o2", "o1"]);
}

#[test]
fn everybody_sees_their_own() {
    let world = world();
    for nobody in ["human:eve", "w", "m", ""] {
        let answer = inbox(&world, nobody, "{}");
        assert_eq!(write_compact(&answer), r#"{"items":[],"counts":{"review":0,"answer":0}}"#, "{nobody}");
    }
}

#[test]
fn pages_hang_together() {
    let world = world();
    for filter in ["", r#""q": "find", "#, r#""ask": "review", "#] {
        let all = inbox(&world, ADA, &format!("{{{filter}\"limit\": 200}}"));
        assert!(all.get("next_cursor").is_none());
        let (mut seen, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = inbox(&world, ADA, &format!("{{{filter}{cursor}\"limit\": 2}}"));
            assert!(ids(&page).len() <= 2);
            seen.extend(ids(&page).into_iter().map(String::from));
            let Some(next) = page.get("next_cursor") else { break };
            cursor = format!("\"cursor\": {}, ", write_compact(next));
        }
        assert_eq!(seen, ids(&all), "{filter}");
    }
}

#[test]
fn a_search_looks_through_a_bounded_part_and_says_where_to_go_on() {
    let mut world = World::new();
    for number in 0..1_100 {
        let id = format!(r#""id": "o{number:04}""#);
        world.run(ADA, "create", &ORDER.replace(r#""id": "o""#, &id)).unwrap();
        for (name, arguments) in [("accept", format!("{{{id}}}")), ("report", DONE.replace(r#""id": "o""#, &id))] {
            world.run("w", name, &arguments).unwrap();
        }
    }
    let first = inbox(&world, ADA, r#"{"q": "o1099"}"#);
    assert_eq!(ids(&first), [""; 0]);
    let cursor = write_compact(first.get("next_cursor").unwrap());
    let rest = inbox(&world, ADA, &format!(r#"{{"q": "o1099", "cursor": {cursor}}}"#));
    assert_eq!((ids(&rest).as_slice(), rest.get("next_cursor")), (&["o1099"][..], None));
}

#[test]
fn what_is_not_accepted_is_named() {
    for (arguments, message) in [
        (r#"{"ask": "sign"}"#, "`ask` is `sign`; accepted: `review`, `answer`"),
        (r#"{"cursor": "x"}"#, "`cursor` `x` is none that was given out"),
        (r#"{"limit": 201}"#, "`limit` is 201, must be a whole number from 1 to 200"),
        (r#"{"person": "x"}"#, "unknown argument `person`; accepted: `ask`, `q`, `cursor`, `limit`"),
    ] {
        let refusal = Query::parse(object(arguments)).unwrap_err();
        assert_eq!((refusal.code, refusal.message.as_str()), ("BAD_REQUEST", message));
    }
}

#[test]
fn agents_are_listed_by_name() {
    let mut world = World::new();
    for agent in ["c", "a", "d", "b"] {
        let order = ORDER.replace(r#""to": "w""#, &format!(r#""to": "{agent}""#));
        world.run("m", "create", &order.replace(r#""id": "o""#, &format!(r#""id": "{agent}""#))).unwrap();
    }
    let page = |arguments: &str| {
        let page = world.ask("agents", arguments).unwrap();
        let agents = page.get("agents").unwrap().as_array().unwrap().iter();
        let names: Vec<String> = agents.map(|agent| agent.get("agent").unwrap().as_str().unwrap().into()).collect();
        (names.join(" "), page.get("next_cursor").and_then(Value::as_str).map(String::from))
    };
    assert_eq!(page("{}"), ("a b c d".into(), None));
    assert_eq!(page(r#"{"limit": 3}"#), ("a b c".into(), Some("c".into())));
    assert_eq!(page(r#"{"limit": 3, "cursor": "c"}"#), ("d".into(), None));
    let first = world.ask("agents", r#"{"limit": 1}"#).unwrap();
    let record = world.ask("track_record", r#"{"agent": "a"}"#).unwrap();
    assert_eq!(first.get("agents").unwrap().as_array().unwrap()[0], record);
    world.check_replay();
}
