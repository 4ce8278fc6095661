//! An order's life, as data (`spec work-orders §7`, `§9`).
// A test fails by panicking, its helpers too.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod world;

use bailiwick_core::heart::{self, Context, Fresh, configuration::Adopt};
use bailiwick_core::json::{Value, write_compact};
use bailiwick_core::principal::Principal;
use bailiwick_core::waiting::Waiting;
use bailiwick_core::work::{self, Action, NoEngine, State, TrackRecord, next_state};
use world::{BLOCKED, DONE, ORDER, World, object};

const ID: &str = r#"{"id": "o"}"#;
const REWORK: &str = r#"{"id": "o", "decision": "rework", "reason": "again"}"#;
const APPROVE: &str = r#"{"id": "o", "decision": "approve"}"#;

/// A world with the order in a state.
fn in_state(state: State) -> World {
    let mut world = World::new();
    world.all(&[("m", "create", ORDER)]);
    let accept = ("w", "accept", ID);
    let start = ("w", "start", ID);
    match state {
        State::Offered => {}
        State::Accepted => world.all(&[accept]),
        State::Working => world.all(&[accept, start]),
        State::Blocked => world.all(&[accept, start, ("w", "report", BLOCKED)]),
        State::Submitted => world.all(&[accept, start, ("w", "report", DONE)]),
        State::Approved => world.all(&[accept, start, ("w", "report", DONE), ("m", "review", APPROVE)]),
        State::Declined => world.all(&[("w", "decline", ID)]),
        State::Cancelled => world.all(&[("m", "cancel", ID)]),
        State::Expired => {
            world.at("2026-01-01T10:00:00.001Z");
            assert_eq!(world.expire_due(), 1);
        }
    }
    assert_eq!(world.state("o"), state.as_str());
    world
}

#[test]
fn every_action_in_every_state() {
    let failed = r#"{"id": "o", "status": "failed", "result": {"summary": ""}, "evidence": [], "cost": {"usd": 0, "tool_calls": 0}, "tools_used": [], "error": "E"}"#;
    let answer = r#"{"id": "o", "answer": "A"}"#;
    let progress = r#"{"id": "o", "note": "N", "percent": 50}"#;
    let cases = [
        (Action::Accept, "w", "accept", ID),
        (Action::Decline, "w", "decline", ID),
        (Action::Start, "w", "start", ID),
        (Action::ReportDone, "w", "report", DONE),
        (Action::ReportFailed, "w", "report", failed),
        (Action::ReportBlocked, "w", "report", BLOCKED),
        (Action::Answer, "m", "answer", answer),
        (Action::Approve, "m", "review", APPROVE),
        (Action::Rework, "m", "review", REWORK),
        (Action::Cancel, "m", "cancel", ID),
        (Action::Progress, "w", "progress", progress),
    ];
    for state in State::ALL {
        for (action, actor, name, arguments) in cases {
            let mut world = in_state(state);
            let reports = matches!(action, Action::ReportDone | Action::ReportFailed | Action::ReportBlocked);
            // A report on an accepted order starts it.
            let from = if reports && state == State::Accepted { State::Working } else { state };
            match (next_state(from, action), world.run(actor, name, arguments)) {
                (Some(to), Ok(_)) => assert_eq!(world.state("o"), to.as_str(), "{action:?} in {state}"),
                (None, Err((code, _))) => assert_eq!(code, "INVALID_TRANSITION", "{action:?} in {state}"),
                (expected, got) => panic!("{action:?} in {state}: expected {expected:?}, got {got:?}"),
            }
            // Whoever has no part in it is refused, whatever the state.
            let mut world = in_state(state);
            let before = world.entries.len();
            assert_eq!(world.refused("x", name, arguments), "FORBIDDEN", "{action:?} in {state}");
            assert_eq!(world.entries.len(), before);
            world.check_replay();
        }
    }
}

#[test]
fn the_escalation_contact_answers_and_nothing_else() {
    let mut world = World::new();
    let order = ORDER.replace(r#""goal""#, r#""escalate_to": "e", "goal""#);
    world.all(&[("m", "create", &order), ("w", "accept", ID), ("w", "report", BLOCKED)]);
    assert_eq!(world.actions("o"), ["create", "accept", "start", "report_blocked"]);
    for (name, arguments) in [("cancel", ID), ("review", APPROVE)] {
        assert_eq!(world.refused("e", name, arguments), "FORBIDDEN");
    }
    world.all(&[("e", "answer", r#"{"id": "o", "answer": "This one"}"#)]);
    assert_eq!(world.state("o"), "working");
    world.all(&[("w", "report", BLOCKED), ("m", "answer", r#"{"id": "o", "answer": "That one"}"#)]);
    world.check_replay();
}

#[test]
fn the_exact_deadline_is_alive_and_a_millisecond_later_is_not() {
    let mut world = in_state(State::Working);
    world.at("2026-01-01T10:00:00.000Z");
    assert_eq!(world.expire_due(), 0);
    world.all(&[("w", "progress", r#"{"id": "o", "note": "still here"}"#)]);
    world.at("2026-01-01T10:00:00.001Z");
    let entries = world.entries.len();
    assert_eq!(world.refused("w", "progress", r#"{"id": "o", "note": "late"}"#), "INVALID_TRANSITION");
    assert_eq!(world.entries.len(), entries + 1, "the refusal records the expiry");
    assert_eq!(world.state("o"), "expired");
    assert_eq!(world.expire_due(), 0, "once");
    world.check_replay();
}

#[test]
fn waiting_states_expire_too() {
    for state in [State::Offered, State::Accepted, State::Blocked, State::Submitted] {
        let mut world = in_state(state);
        world.at("2026-01-01T10:00:01Z");
        assert_eq!(world.expire_due(), 1);
        assert_eq!(world.actions("o").last().unwrap(), "expire");
        world.check_replay();
    }
}

#[test]
fn a_refused_report_leaves_nothing_not_even_the_start() {
    let mut world = in_state(State::Accepted);
    let unproven = DONE.replace(r#"{"criterion": "c", "type": "note"}"#, "");
    assert_eq!(world.refused("w", "report", &unproven), "VALIDATION_FAILED");
    assert_eq!(world.state("o"), "accepted");
    assert_eq!(world.actions("o"), ["create", "accept"]);
}

#[test]
fn a_report_over_the_limit_is_kept_and_expires_the_order() {
    let mut world = in_state(State::Working);
    let dear = DONE.replace(r#""usd": 0.5"#, r#""usd": 1.5"#);
    let reply = world.run("w", "report", &dear).unwrap();
    assert_eq!(reply.get("state").unwrap().as_str(), Some("expired"));
    assert_eq!(reply.get("findings").unwrap().as_array().unwrap().len(), 1);
    let view = world.ask("get", ID).unwrap();
    let events = view.get("events").unwrap().as_array().unwrap();
    let [.., reported, expired] = events else { panic!() };
    assert_eq!(reported.get("note").unwrap().as_str(), Some("attempt 1"));
    assert!(expired.get("note").unwrap().as_str().unwrap().contains("spent 1.5 usd"));
    assert_eq!(expired.get("actor").unwrap().as_str(), Some("desk"));
    assert!(view.get("latest_report").unwrap().as_object().is_some());
    world.check_replay();
}

#[test]
fn create_fills_in_what_the_desk_knows() {
    let mut world = World::new();
    let forged = ORDER
        .replace(r#""id": "o""#, r#""spec": "awl/work-order@0.4", "created_at": "2020-01-01T00:00:00Z", "from": "x""#);
    let view = world.run("m", "create", &forged).unwrap();
    let order = view.get("order").unwrap();
    assert_eq!(order.get("spec").unwrap().as_str(), Some("awl/work-order@0.1"));
    assert_eq!(order.get("from").unwrap().as_str(), Some("m"));
    assert_eq!(order.get("created_at").unwrap().as_str(), Some("2026-01-01T09:00:00.000Z"));
    let id = order.get("id").unwrap().as_str().unwrap();
    assert!(id.len() == 19 && id.starts_with("wo_"), "{id}");
    world.check_replay();
}

#[test]
fn create_refuses() {
    let with = |from: &str, to: &str| ORDER.replace(from, to);
    let cases = [
        ("VALIDATION_FAILED", with(r#""goal": "G""#, r#""goal": """#)),
        ("VALIDATION_FAILED", with(r#""id": "o""#, r#""id": 7"#)),
        ("VALIDATION_FAILED", with(r#""id": "o""#, r#""id": """#)),
        ("VALIDATION_FAILED", with(r#""goal""#, r#""bogus": 1, "goal""#)),
        ("VALIDATION_FAILED", with("2026-01-01T10:00:00Z", "2026-01-01T09:00:00Z")),
        ("BAD_REQUEST", with("2026-01-01T10:00:00Z", "2026-01-01T23:59:60Z")),
        ("NOT_FOUND", with(r#""goal""#, r#""parent_id": "p", "goal""#)),
        ("NOT_FOUND", with(r#""goal""#, r#""continues": "p", "goal""#)),
    ];
    for (code, order) in cases {
        assert_eq!(World::new().refused("m", "create", &order), code, "{order}");
    }
    let mut world = in_state(State::Offered);
    assert_eq!(world.refused("m", "create", ORDER), "ALREADY_EXISTS");
    assert_eq!(world.refused(" ", "create", &ORDER.replace(r#""o""#, r#""p""#)), "BAD_REQUEST");
    assert_eq!(world.refused("desk", "create", &ORDER.replace(r#""o""#, r#""p""#)), "FORBIDDEN", "nobody is the desk");
}

#[test]
fn sub_orders_narrow_and_hold_budget_until_declined() {
    let mut world = in_state(State::Working);
    let sub = |id: &str, usd: &str| {
        ORDER
            .replace(r#""id": "o""#, &format!(r#""id": "{id}", "parent_id": "o""#))
            .replace(r#""to": "w""#, r#""to": "v""#)
            .replace(r#""usd": 1, "tool_calls": 5"#, &format!(r#""usd": {usd}, "tool_calls": 1"#))
    };
    assert_eq!(world.refused("m", "create", &sub("a", "0.5")), "FORBIDDEN");
    assert_eq!(world.refused("w", "create", &sub("a", "1.5")), "VALIDATION_FAILED");
    world.all(&[("w", "create", &sub("a", "0.6"))]);
    assert_eq!(world.refused("w", "create", &sub("b", "0.5")), "VALIDATION_FAILED");
    // A cancelled sub-order goes on holding its budget; a declined one lets go.
    world.all(&[("w", "create", &sub("c", "0.1")), ("w", "cancel", r#"{"id": "c"}"#)]);
    assert_eq!(world.refused("w", "create", &sub("b", "0.4")), "VALIDATION_FAILED");
    world.all(&[("v", "decline", r#"{"id": "a"}"#), ("w", "create", &sub("b", "0.9"))]);
    // What sub-orders hold counts against the order's own report: R13.
    let reply = world.run("w", "report", DONE).unwrap();
    assert!(write_compact(reply.get("findings").unwrap()).contains(r#""rule":"R13""#));
    assert_eq!(world.state("o"), "expired");
    assert_eq!(world.refused("w", "create", &sub("d", "0")), "INVALID_TRANSITION");
    world.check_replay();
}

#[test]
fn only_one_live_order_continues_a_finished_one() {
    let again =
        |id: &str, target: &str| ORDER.replace(r#""id": "o""#, &format!(r#""id": "{id}", "continues": "{target}""#));
    let mut world = in_state(State::Working);
    assert_eq!(world.refused("m", "create", &again("b", "o")), "INVALID_TRANSITION");
    world.all(&[("m", "cancel", ID)]);
    assert_eq!(world.refused("x", "create", &again("b", "o")), "FORBIDDEN");
    world.all(&[("m", "create", &again("b", "o"))]);
    assert_eq!(world.refused("m", "create", &again("c", "o")), "INVALID_TRANSITION");
    world.all(&[("m", "cancel", r#"{"id": "b"}"#), ("m", "create", &again("c", "o"))]);
    world.check_replay();
}

#[test]
fn an_overdue_parent_expires_even_though_the_command_is_refused() {
    let mut world = in_state(State::Working);
    world.at("2026-01-01T11:00:00Z");
    let sub =
        ORDER.replace(r#""id": "o""#, r#""id": "a", "parent_id": "o", "continues": "o""#).replace("T10:00", "T12:00");
    assert_eq!(world.refused("w", "create", &sub), "INVALID_TRANSITION");
    assert_eq!(world.state("o"), "expired");
    world.check_replay();
}

#[test]
fn effects_are_approved_in_part() {
    let mut world = World::new();
    let order = ORDER.replace(r#""tools""#, r#""staged": ["a/send"], "tools""#);
    let report = DONE.replace(
        r#""tools_used""#,
        r#""effects": [{"ref": "a/send#1", "tool": "a/send", "arguments": {}}, {"ref": "a/send#2", "tool": "a/send", "arguments": {"x": {"$ref": "a/send#1"}}}], "tools_used""#,
    );
    world.all(&[("m", "create", &order), ("w", "accept", ID), ("w", "report", &report)]);
    let approve = |effects: &str| format!(r#"{{"id": "o", "decision": "approve", "effects": {effects}}}"#);
    for effects in [r#"["a/send#2"]"#, r#"["a/send#3"]"#, r#"["a/send#1", "a/send#1"]"#, "[1]", r#""a""#] {
        assert_eq!(world.refused("m", "review", &approve(effects)), "BAD_REQUEST", "{effects}");
    }
    let rework = r#"{"id": "o", "decision": "rework", "reason": "r", "effects": []}"#;
    assert_eq!(world.refused("m", "review", rework), "BAD_REQUEST");
    let effects = |world: &World| {
        let view = world.ask("get", ID).unwrap();
        write_compact(view.get("events").unwrap().as_array().unwrap().last().unwrap().get("effects").unwrap())
    };
    world.all(&[("m", "review", &approve(r#"["a/send#1"]"#))]);
    assert_eq!(effects(&world), r#"["a/send#1"]"#);
    world.check_replay();
}

#[test]
fn bad_arguments_name_what_is_accepted() {
    let cases = [
        ("accept", r#"{}"#, "`id` is missing"),
        ("accept", r#"{"id": 7}"#, "`id` is 7"),
        ("accept", r#"{"id": "o", "idd": "o"}"#, "unknown argument `idd`; accepted: `id`"),
        ("answer", r#"{"id": "o", "answer": " "}"#, "`answer` is missing or blank"),
        ("review", r#"{"id": "o", "decision": "maybe"}"#, "unknown decision `maybe`"),
        ("review", r#"{"id": "o", "decision": "rework", "reason": " "}"#, "rework needs a `reason`"),
        ("progress", r#"{"id": "o", "note": "n", "percent": 101}"#, "`percent` is 101"),
        ("progress", r#"{"id": "o", "note": "n", "percent": -1}"#, "`percent` is -1"),
        ("progress", r#"{"id": "o", "note": "n", "percent": "1"}"#, "`percent` is `1`"),
    ];
    for (name, arguments, message) in cases {
        let (code, said) = World::new().run("w", name, arguments).unwrap_err();
        assert_eq!(code, "BAD_REQUEST");
        assert!(said.contains(message), "{said}");
    }
    for (name, arguments) in [
        ("list", r#"{"state": "done"}"#),
        ("list", r#"{"limit": 0}"#),
        ("list", r#"{"cursor": "x"}"#),
        ("list", r#"{"order": "newest"}"#),
    ] {
        assert_eq!(World::new().ask(name, arguments).unwrap_err().0, "BAD_REQUEST");
    }
}

#[test]
fn lists_match_every_filter_in_the_order_of_creation() {
    let mut world = World::new();
    for (at, id, actor, to) in [(3, "a", "m", "w"), (1, "b", "m", "v"), (2, "c", "n", "w"), (4, "d", "m", "w")] {
        world.at(&format!("2026-01-01T09:00:0{at}Z"));
        let order = ORDER.replace(r#""o""#, &format!("\"{id}\"")).replace(r#""to": "w""#, &format!(r#""to": "{to}""#));
        world.all(&[(actor, "create", &order)]);
    }
    world.all(&[("w", "accept", r#"{"id": "d"}"#)]);
    let ids = |arguments: &str| -> Vec<String> {
        let reply = world.ask("list", arguments).unwrap();
        let orders = reply.get("orders").unwrap().as_array().unwrap();
        orders.iter().map(|order| order.get("id").unwrap().as_str().unwrap().into()).collect()
    };
    assert_eq!(ids("{}"), ["b", "c", "a", "d"]);
    assert_eq!(ids(r#"{"to": "w"}"#), ["c", "a", "d"]);
    assert_eq!(ids(r#"{"to": "w", "from": "m"}"#), ["a", "d"]);
    assert_eq!(ids(r#"{"to": "w", "from": "m", "state": "accepted"}"#), ["d"]);
    assert_eq!(ids(r#"{"to": "nobody"}"#), [""; 0]);
    let first = world.ask("list", r#"{"limit": 3}"#).unwrap();
    let cursor = first.get("next_cursor").unwrap().as_str().unwrap();
    assert_eq!(ids(&format!(r#"{{"limit": 3, "cursor": "{cursor}"}}"#)), ["d"]);
    let newest = r#""order": "newest_first""#;
    assert_eq!(ids(&format!("{{{newest}}}")), ["d", "a", "c", "b"]);
    let first = world.ask("list", &format!(r#"{{{newest}, "to": "w", "limit": 2}}"#)).unwrap();
    let cursor = first.get("next_cursor").unwrap().as_str().unwrap();
    assert_eq!(ids(&format!(r#"{{{newest}, "to": "w", "cursor": "{cursor}"}}"#)), ["c"]);
}

#[test]
fn what_waits_for_a_person_is_in_the_inbox() {
    let mut world = World::new();
    let id = "order/o";
    world.all(&[("human:ada", "create", ORDER), ("w", "accept", ID), ("w", "report", BLOCKED)]);
    let waiting = world.memory.document::<Waiting>(id).unwrap().unwrap();
    assert_eq!((waiting.ask.as_str(), waiting.of), ("answer", vec!["human:ada".to_string()]));
    world.all(&[("human:ada", "answer", r#"{"id": "o", "answer": "A"}"#)]);
    assert_eq!(world.memory.document::<Waiting>(id).unwrap(), None);
    world.all(&[("w", "report", DONE)]);
    assert_eq!(world.memory.document::<Waiting>(id).unwrap().unwrap().ask, "review");
    world.at("2026-01-02T00:00:00Z");
    world.expire_due();
    assert_eq!(world.memory.document::<Waiting>(id).unwrap(), None);
    world.check_replay();
}

#[test]
fn nobody_reviews_their_own_report_in_closed_mode() {
    let own = ORDER.replace(r#""to": "w""#, r#""to": "m""#);
    let mut world = World::new();
    let (keyed, signed_in) = (Principal::by_api_key("m"), Principal::by_sign_in("m"));
    for (name, arguments) in [("create", own.as_str()), ("accept", ID), ("report", DONE)] {
        world.run_as(&keyed, name, arguments).unwrap();
    }
    assert_eq!(world.run_as(&keyed, "review", APPROVE).unwrap_err().0, "FORBIDDEN");
    assert_eq!(world.run_as(&signed_in, "review", APPROVE).unwrap_err().0, "FORBIDDEN");
    let adopt = heart::Command::Configuration(Adopt { settings: object(r#"{"work": {"allow_self_review": true}}"#) });
    assert_eq!(world.step(&keyed, adopt.clone()).outcome.reply.unwrap_err().code, "FORBIDDEN");
    world.step(&Principal::desk(), adopt.clone()).outcome.reply.unwrap();
    let entries = world.entries.len();
    world.step(&Principal::desk(), adopt).outcome.reply.unwrap();
    assert_eq!(world.entries.len(), entries, "adopting what is in force changes nothing");
    world.run_as(&signed_in, "review", APPROVE).unwrap();
    world.check_replay();
    // In open mode it is allowed, and the entry says that the name was merely claimed.
    let mut world = World::new();
    world.all(&[("m", "create", &own), ("m", "accept", ID), ("m", "report", DONE), ("m", "review", APPROVE)]);
    let established = world.entries.last().unwrap().payload.get("principal").unwrap().get("established").unwrap();
    assert_eq!(established.as_str(), Some("claimed"));
}

#[test]
fn a_track_record_adds_up() {
    let mut world = in_state(State::Submitted);
    world.all(&[("m", "review", REWORK), ("w", "report", &DONE.replace("0.5", "0.7")), ("m", "review", APPROVE)]);
    world.all(&[("m", "create", &ORDER.replace(r#""o""#, r#""p""#)), ("w", "decline", r#"{"id": "p"}"#)]);
    world.all(&[("m", "create", &ORDER.replace(r#""o""#, r#""q""#))]);
    let record = world.ask("track_record", r#"{"agent": "w"}"#).unwrap();
    let expected = r#"{"agent":"w","orders":3,"active":1,"approved":1,"approved_first_time":0,"declined":1,"expired":0,"cancelled":0,"reworks":1,"reports":2,"failed":0,"blocked":0,"spent":{"usd":0.7,"tool_calls":2},"budget":{"usd":3,"tool_calls":15}}"#;
    assert_eq!(record, Value::Object(object(expected)));
    let nobody = world.ask("track_record", r#"{"agent": "x"}"#).unwrap();
    assert_eq!(nobody, TrackRecord::empty("x").to_reply().into());
    world.check_replay();
}

#[test]
fn a_tampered_record_is_found_by_deciding_again() {
    let mut world = in_state(State::Submitted);
    let at = world.entries.len() - 1;
    // The worker's report is turned into the manager's: the chain could be recomputed, the decision can't.
    world.entries[at].payload.insert("principal", Principal::claimed("m").to_value());
    let (report, _) = world.replay();
    let difference = report.first_difference.unwrap();
    assert_eq!(difference.sequence, world.entries[at].sequence);
}

#[test]
fn what_rests_on_erased_text_is_applied_and_nobody_is_accused() {
    let mut world = in_state(State::Submitted);
    world.all(&[("m", "create", &ORDER.replace(r#""o""#, r#""p""#))]);
    let input = world.entries[0].payload.get("arguments").unwrap().get("input").unwrap();
    let digest = input.get("blob").unwrap().as_str().unwrap().to_string();
    world.blobs.remove(&digest).unwrap();
    let (report, memory) = world.replay();
    assert_eq!(report.first_difference, None);
    // Every entry about the order rests on it; the other order does not.
    assert_eq!((report.erased, report.decided), (4, 1));
    assert!(memory.documents().any(|stored| stored.key.id == "p"));
}

#[test]
fn an_overdue_continuation_expires_before_the_order_is_continued_again() {
    let mut world = World::new();
    let order = |id: &str, deadline: &str, more: &str| {
        let order = ORDER.replace(r#""id": "o""#, &format!(r#""id": "{id}"{more}"#));
        order.replace("2026-01-01T10:00:00Z", deadline)
    };
    let continues = r#", "continues": "o""#;
    world.all(&[
        ("m", "create", ORDER),
        ("m", "cancel", r#"{"id": "o"}"#),
        ("m", "create", &order("p", "2026-01-01T10:00:00Z", continues)),
    ]);
    assert_eq!(world.refused("m", "create", &order("q", "2026-01-01T12:00:00Z", continues)), "INVALID_TRANSITION");
    world.at("2026-01-01T11:00:00Z");
    world.run("m", "create", &order("q", "2026-01-01T12:00:00Z", continues)).unwrap();
    // Nobody looked meanwhile, and nothing was expired by the clock.
    assert_eq!(world.state("p"), "expired");
    assert_eq!(world.refused("m", "create", &order("r", "2026-01-01T12:00:00Z", continues)), "INVALID_TRANSITION");
    assert_eq!(world.actions("p"), ["create", "expire"]);
    world.check_replay();
}

#[test]
fn a_track_record_is_its_agents_own_where_reads_are_restricted() {
    let mut world = World::new();
    world.run("m", "create", ORDER).unwrap();
    let code = |world: &World, principal: &Principal| {
        let context = Context { now: world.now, principal, fresh: Fresh([0; 32]), schemas: &NoEngine };
        let query = work::Query::TrackRecord { agent: "w".into() };
        world.memory.ask(&heart::Query::Work(query), &context).unwrap().map_err(|refusal| refusal.code)
    };
    let [own, other, operator] =
        [Principal::by_api_key("w"), Principal::by_api_key("m"), Principal::by_sign_in("human:operator")];
    assert!(code(&world, &other).is_ok());
    let settings = object(r#"{"work": {"restrict_reads": true}}"#);
    world.step(&Principal::desk(), heart::Command::Configuration(Adopt { settings })).outcome.reply.unwrap();
    assert_eq!(code(&world, &other), Err("FORBIDDEN"));
    assert!(code(&world, &own).is_ok());
    assert!(code(&world, &operator).is_ok());
    // A list of agents shows no more.
    world.run("m", "create", &ORDER.replace(r#""id": "o", "to": "w""#, r#""to": "v""#)).unwrap();
    let listed = |principal: &Principal| {
        let context = Context { now: world.now, principal, fresh: Fresh([0; 32]), schemas: &NoEngine };
        let query = heart::Query::Work(work::Query::Agents(work::Agents::default()));
        let reply = world.memory.ask(&query, &context).unwrap().unwrap();
        let agents = reply.get("agents").unwrap().as_array().unwrap();
        agents.iter().map(|agent| agent.get("agent").unwrap().as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(
        (listed(&own), listed(&other), listed(&operator)),
        (vec!["w".into()], vec![], vec!["v".into(), "w".into()])
    );
}
