//! Orders by hand, taking over another desk's, and the doctor.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may stop at the first surprise")]

mod common;

use std::fs;

use common::{Place, order, report};
use serde_json::{Value, json};

fn prepared() -> Place {
    let place = Place::new();
    place.write_json("order.json", &order("wo_1"));
    place.write_json("report.json", &report());
    place
}

#[test]
fn an_order_goes_all_the_way() {
    let place = prepared();
    let say = |line: &str| place.say(&format!("{line} --store desk.db"));
    assert_eq!(say("order create order.json --as agent:manager").expect(0).stdout, "wo_1 is offered\n");
    assert_eq!(say("order accept wo_1 --as agent:worker").expect(0).stdout, "wo_1 is accepted\n");
    assert_eq!(say("order start wo_1 --as agent:worker").expect(0).stdout, "wo_1 is working\n");
    say("order progress wo_1 halfway --percent 50 --as agent:worker").expect(0);

    let mut blocked = report();
    blocked["status"] = json!("blocked");
    blocked["questions"] = json!(["Which tracker?"]);
    place.write_json("blocked.json", &blocked);
    assert_eq!(say("order report wo_1 blocked.json --as agent:worker").expect(0).stdout, "wo_1 is blocked\n");
    say("order answer wo_1 the-usual-one --as agent:manager").expect(0);
    assert_eq!(say("order report wo_1 report.json --as agent:worker").expect(0).stdout, "wo_1 is submitted\n");
    let rework = say("order review wo_1 rework --as agent:manager").expect(1);
    assert!(rework.stderr.starts_with("bailiwick: rework needs a `reason`"), "{}", rework.stderr);
    assert_eq!(say("order review wo_1 approve --as agent:manager").expect(0).stdout, "wo_1 is approved\n");

    let shown = say("order show wo_1").expect(0).stdout;
    for part in [
        "wo_1 is approved",
        "File the ticket",
        "agent:manager → agent:worker",
        "tracker/create#1",
        "→ approved",
        "50 %",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let view = say("order show wo_1 --json").expect(0).json();
    assert_eq!((&view["state"], &view["events"][0]["action"]), (&json!("approved"), &json!("create")));
    let track = say("order track-record agent:worker").expect(0).stdout;
    assert!(track.contains("agent:worker"), "{track}");
    assert_eq!(say("order watch wo_1").expect(0).stdout.lines().count(), view["events"].as_array().unwrap().len());
    let events = say("order watch wo_1 --after 2 --json").expect(0).json_lines();
    assert_eq!(events[0]["seq"], json!(3));
}

#[test]
fn lists_are_filtered_and_paged() {
    let place = Place::new();
    for number in 1..=3 {
        let file = format!("{number}.json");
        place.write_json(&file, &order(&format!("wo_{number}")));
        place.say(&format!("order create {file} --as agent:manager --store desk.db")).expect(0);
    }
    place.say("order accept wo_2 --as agent:worker --store desk.db").expect(0);
    let table = place.say("order list --to agent:worker --state offered --store desk.db").expect(0).stdout;
    let lines: Vec<&str> = table.lines().collect();
    assert!(lines[0].starts_with("ID    STATE    FROM"), "{table}");
    assert!(lines[1].starts_with("wo_1  offered  agent:manager"), "{table}");
    assert_eq!(lines.len(), 3);
    let page = place.say("order list --limit 2 --json --store desk.db").expect(0).json();
    assert_eq!(page["orders"].as_array().unwrap().len(), 2);
    let cursor = page["next_cursor"].as_str().unwrap();
    let rest = place.run(["order", "list", "--cursor", cursor, "--json", "--store", "desk.db"]).expect(0).json();
    assert_eq!(rest["orders"][0]["id"], json!("wo_3"));
    assert_eq!(place.say("order list --state approved --store desk.db").expect(0).stdout, "no orders\n");
    let wrong = place.say("order list --state lost --store desk.db").expect(1);
    assert!(wrong.stderr.contains("unknown state `lost`; accepted: `offered`"), "{}", wrong.stderr);
}

#[test]
fn refusals_are_answers() {
    let place = prepared();
    place.say("order create order.json --as agent:manager --store desk.db").expect(0);
    let run = place.say("order accept wo_1 --as agent:stranger --store desk.db").expect(1);
    assert!(run.stderr.contains("(FORBIDDEN)") && run.stdout.is_empty(), "{run:?}");
    let run = place.say("order show wo_9 --store desk.db --json").expect(1);
    assert_eq!(run.json()["code"], json!("NOT_FOUND"));
    let mut bad = order("wo_2");
    bad["budget"] = json!({});
    place.write_json("bad.json", &bad);
    let run = place.say("order create bad.json --as agent:manager --store desk.db").expect(1);
    assert!(run.stderr.contains("\n  O1   invalid /budget  "), "{}", run.stderr);
}

#[test]
fn acting_needs_a_name_and_looking_needs_a_store() {
    let place = prepared();
    let run = place.say("order create order.json --store desk.db").expect(2);
    assert!(run.stderr.starts_with("bailiwick: who acts?"), "{}", run.stderr);
    let run = place.say("order list --store none.db").expect(2);
    assert!(run.stderr.contains("there is no store at `none.db`"), "{}", run.stderr);
    assert!(!place.path("none.db").exists());
}

#[test]
fn a_key_makes_a_command_happen_once() {
    let place = Place::new();
    let mut anonymous = order("");
    anonymous.as_object_mut().unwrap().remove("id");
    place.write_json("order.json", &anonymous);
    let line = "order create order.json --as agent:manager --store desk.db --idempotency-key job-1 --json";
    let (first, again) = (place.say(line).expect(0).json(), place.say(line).expect(0).json());
    assert_eq!(first["id"], again["id"]);
    let list = place.say("order list --store desk.db --json").expect(0).json();
    assert_eq!(list["orders"].as_array().unwrap().len(), 1);
}

#[test]
fn watching_ends_when_another_process_finishes_the_order() {
    let place = prepared();
    place.say("order create order.json --as agent:manager --store desk.db").expect(0);
    assert_eq!(place.say("order watch wo_1 --timeout 0 --store desk.db").status, 1, "not finished within the time");
    let mut watch = place.command("order watch wo_1 --json --timeout 60 --store desk.db".split(' '));
    let watching = std::thread::spawn(move || {
        common::finish(std::mem::replace(&mut watch, std::process::Command::new("true")), b"")
    });
    std::thread::sleep(std::time::Duration::from_millis(300));
    place.say("order cancel wo_1 --reason enough --as agent:manager --store desk.db").expect(0);
    let events = watching.join().unwrap().expect(0).json_lines();
    assert_eq!(events.last().unwrap()["note"], json!("enough"));
}

#[test]
fn the_store_is_chosen_by_precedence() {
    let place = prepared();
    let chosen = |variables: &[(&str, &str)], arguments: &[&str]| {
        let mut command = place.command([&["order", "list"], arguments].concat());
        command.envs(variables.iter().copied());
        let stderr = common::finish(command, b"").expect(2).stderr;
        let name = stderr.strip_prefix("bailiwick: there is no store at `").unwrap();
        name.split_once('`').unwrap().0.to_owned()
    };
    let home = |name: &str| place.path(name).display().to_string();
    assert_eq!(chosen(&[], &[]), home(".local/share/bailiwick/bailiwick.db"));
    assert_eq!(chosen(&[("XDG_DATA_HOME", &home("data"))], &[]), home("data/bailiwick/bailiwick.db"));
    place.write(".config/bailiwick/bailiwick.yaml", "storage:\n  path: configured.db\n");
    assert_eq!(chosen(&[], &[]), home(".config/bailiwick/configured.db"));
    place.write("other.yaml", "storage: {path: other.db}");
    assert_eq!(chosen(&[("BAILIWICK_CONFIG", "other.yaml")], &[]), "other.db");
    assert_eq!(chosen(&[], &["--config", "other.yaml"]), "other.db");
    // Each one wins over those before it.
    let mut variables = vec![("AGENTOOL_COLLAB_DB", "collab.db")];
    assert_eq!(chosen(&variables, &[]), "collab.db");
    variables.push(("AWL_STORE", ".awl"));
    assert_eq!(chosen(&variables, &[]), ".awl/bailiwick.db");
    variables.push(("BAILIWICK_STORE", "named.db"));
    assert_eq!(chosen(&variables, &[]), "named.db");
    assert_eq!(chosen(&variables, &["--store", "flag.db"]), "flag.db");
}

/// Records as the other desk kept them, made by ours.
fn awl_folder(place: &Place) {
    let at = |minute: u32| format!("2026-01-01T09:{minute:02}:00.000Z");
    let record = |id: &str, minute: u32, parent: Option<&str>| {
        let mut document = order(id);
        document["spec"] = json!("awl/work-order@0.2");
        document["created_at"] = json!(at(minute));
        document["from"] = json!("agent:manager");
        if let Some(parent) = parent {
            document["parent_id"] = json!(parent);
            document["from"] = json!("agent:worker");
            document["budget"] = json!({"usd": 0.5, "tool_calls": 1});
        }
        let event = json!({"seq": 1, "at": at(minute), "actor": document["from"], "action": "create", "from": null, "to": "offered"});
        json!({"order": document, "state": "offered", "reports": [], "events": [event], "findings": []})
    };
    // The child's file comes first, and its clock was behind.
    place.write_json(".awl/orders/a_child.json", &record("a_child", 1, Some("wo_parent")));
    place.write_json(".awl/orders/wo_parent.json", &record("wo_parent", 5, None));
    place.write(".awl/orders/readme.txt", "not an order");
}

#[test]
fn another_desk_is_taken_over() {
    let place = Place::new();
    awl_folder(&place);
    let dry = place.say("import awl .awl --store desk.db --dry-run").expect(0);
    assert!(dry.stdout.contains("would be imported"), "{}", dry.stdout);
    assert!(!place.path("desk.db").exists(), "a dry run makes nothing");

    let run = place.say("import awl .awl --store desk.db").expect(0);
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert_eq!(
        lines,
        [
            "✓ .awl/orders/wo_parent.json wo_parent imported",
            "✓ .awl/orders/a_child.json a_child imported",
            "2 imported, 0 already there, 0 failed"
        ]
    );
    let again = place.say("import awl .awl/orders --store desk.db --json").expect(0).json();
    assert_eq!((&again["imported"], &again["already_there"]), (&json!(0), &json!(2)));
    let view = place.say("order show a_child --store desk.db --json").expect(0).json();
    assert_eq!((&view["parent_id"], &view["last_seq"]), (&json!("wo_parent"), &json!(1)));
    // What a sub-order holds counts: another one does not fit beside it.
    let mut sibling = order("sibling");
    sibling["parent_id"] = json!("wo_parent");
    sibling["budget"] = json!({"usd": 0.6, "tool_calls": 1});
    place.write_json("sibling.json", &sibling);
    let refused = place.say("order create sibling.json --as agent:worker --store desk.db").expect(1);
    assert!(refused.stderr.contains("C4"), "{}", refused.stderr);
    place.say("journal verify --store desk.db").expect(0);
}

#[test]
fn broken_files_are_named_and_stop_nothing() {
    let place = Place::new();
    awl_folder(&place);
    place.write(".awl/orders/cut.json", "{\"order\":");
    place.write(".awl/orders/list.json", "[]");
    place.write(".awl/orders/gap.json", "{\"order\": {\"id\": \"gap\"}, \"state\": \"offered\", \"events\": []}");
    let run = place.say("import awl .awl --store desk.db").expect(1);
    for part in [
        "✗ .awl/orders/cut.json failed",
        "✗ .awl/orders/list.json failed: it is an array",
        "✗ .awl/orders/gap.json gap failed: ",
    ] {
        assert!(run.stdout.contains(part), "{part}: {}", run.stdout);
    }
    assert!(run.stdout.ends_with("2 imported, 0 already there, 3 failed\n"), "{}", run.stdout);
    place.say("import awl nowhere --store desk.db").expect(2);
}

#[test]
fn the_doctor_looks_at_everything() {
    let place = prepared();
    let fresh = place.say("doctor --store desk.db").expect(0).stdout;
    assert!(fresh.contains("! store") && fresh.contains("none yet"), "{fresh}");
    assert!(!place.path("desk.db").exists());

    place.say("order create order.json --as agent:manager --store desk.db").expect(0);
    let checks = place.say("doctor --store desk.db --json").expect(0).json();
    let good: Vec<&str> = checks["checks"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|check| check["result"] == json!("good"))
        .map(|check| check["check"].as_str().unwrap())
        .collect();
    for name in ["configuration", "store", "clock", "writing", "journal"] {
        assert!(good.contains(&name), "{name}: {checks}");
    }
}

#[test]
fn the_doctor_finds_what_is_wrong() {
    let place = prepared();
    place.write("bad.yaml", "server:\n  prot: 1\n");
    let run = place.say("doctor --store desk.db --config bad.yaml").expect(1);
    assert!(run.stdout.contains("`bad.yaml` line 2: unknown key `server.prot`"), "{}", run.stdout);

    place.write("keys.yaml", "server:\n  keys: keys.json\n");
    place.write("keys.json", "{\"keys\": {\"\": \"agent:a\"}}");
    let run = place.say("doctor --store desk.db --config keys.yaml").expect(1);
    assert!(run.stdout.contains("✗ keys           `keys.json`: key 1 is empty"), "{}", run.stdout);
    assert!(run.stdout.contains("`chmod 600 keys.json` keeps others out"), "{}", run.stdout);

    place.write("other.db", "this is no database, whatever its name says");
    let run = place.say("doctor --store other.db").expect(1);
    assert!(run.stdout.contains("✗ store"), "{}", run.stdout);
    assert_eq!(fs::read(place.path("other.db")).unwrap(), b"this is no database, whatever its name says");
}

#[test]
fn a_faulty_configuration_stops_a_command() {
    let place = prepared();
    place.write("bad.yaml", "work:\n  restrict_reads: maybe\n");
    let run = place.say("order list --config bad.yaml --store desk.db").expect(2);
    assert_eq!(
        run.stderr,
        "bailiwick: `bad.yaml` line 2: `work.restrict_reads` is `maybe`, must be `true` or `false`\n"
    );
    let run = place.say("order list --config none.yaml --store desk.db").expect(2);
    assert!(run.stderr.contains("`none.yaml`: cannot be read"), "{}", run.stderr);
}

#[test]
fn views_are_json_for_programs() {
    let place = prepared();
    let created: Value =
        place.say("order create order.json --as agent:manager --store desk.db --json").expect(0).json();
    assert_eq!((&created["id"], &created["last_seq"]), (&json!("wo_1"), &json!(1)));
}
