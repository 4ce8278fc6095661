//! Verifying and exporting journals.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may stop at the first surprise")]

mod common;

use std::fs;

use common::{Place, conformance, order, report};
use serde_json::{Value, json};

fn read(name: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(conformance(name)).unwrap()).unwrap()
}

/// A store in which one order went all the way.
fn with_history(place: &Place) {
    place.write_json("order.json", &order("wo_1"));
    place.write_json("report.json", &report());
    for line in [
        "order create order.json --as agent:manager --store desk.db",
        "order accept wo_1 --as agent:worker --store desk.db",
        "order report wo_1 report.json --as agent:worker --store desk.db",
        "order review wo_1 approve --as agent:manager --store desk.db",
    ] {
        place.say(line).expect(0);
    }
}

#[test]
fn public_journals_are_verified() {
    let place = Place::new();
    for name in ["journal/labelled.json", "journal/mixed-labels.json"] {
        let head = &read(name)["workspace"];
        let file = conformance(name);
        let arguments = ["journal".as_ref(), "verify".as_ref(), "--json".as_ref(), file.as_os_str()];
        let verdict = place.run(arguments).expect(0).json();
        assert_eq!(verdict["ok"], json!(true));
        assert_eq!(verdict["head_sequence"], head["event_head_sequence"]);
        assert_eq!(verdict["checked_events"], head["event_head_sequence"]);
        assert_eq!(verdict["head_hash"], head["event_head_hash"]);
        assert_eq!(verdict["first_failure"], Value::Null);
        let plain = place.run_with(["journal", "verify", "-"], fs::read(file).unwrap()).expect(0).stdout;
        assert!(plain.starts_with("✓ -: ") && plain.contains(head["event_head_hash"].as_str().unwrap()), "{plain}");
    }
}

#[test]
fn a_changed_row_is_found() {
    let place = Place::new();
    let mut journal = read("journal/labelled.json");
    journal["events"][4]["actor"] = json!("mallory");
    place.write_json("journal.json", &journal);
    let verdict = place.say("journal verify journal.json --json").expect(1).json();
    assert_eq!(verdict["ok"], json!(false));
    assert_eq!(verdict["checked_events"], json!(4));
    assert_eq!(verdict["first_failure"], json!({"code": "event_hash_mismatch", "sequence": 5}));
    let plain = place.say("journal verify journal.json").expect(1).stdout;
    assert!(plain.starts_with("✗ journal.json: event_hash_mismatch at sequence 5\n"), "{plain}");
}

#[test]
fn what_is_no_journal_is_an_error() {
    let place = Place::new();
    for text in ["", "{}", "[1]", "hello", "{\"format\": \"other/1\"}"] {
        place.write("file", text);
        let run = place.say("journal verify file --json").expect(2);
        assert!(run.stdout.is_empty() && run.stderr.starts_with("bailiwick: `file`: line 1"), "{text}: {run:?}");
    }
    place.say("journal verify none.jsonl").expect(2);
    let run = place.say("journal verify --store none.db").expect(2);
    assert!(run.stderr.contains("there is no store at"), "{}", run.stderr);
    assert!(!place.path("none.db").exists(), "looking makes nothing");
}

#[test]
fn exports_of_every_kind_get_their_exit_status() {
    let place = Place::new();
    for case in read("journal/exports.json")["cases"].as_array().unwrap() {
        if case.get("workspace").is_some() || case.get("prefix").is_some() {
            continue;
        }
        let text: String =
            case["lines"].as_array().unwrap().iter().map(|line| format!("{}\n", line.as_str().unwrap())).collect();
        let run = place.run_with(["journal", "verify", "-", "--json"], text);
        let expect = &case["expect"];
        match expect.get("error") {
            None => {
                let fine = expect["ok"] == json!(true);
                assert_eq!(run.status, i32::from(!fine), "{case} {run:?}");
                let failure = &run.json()["first_failure"];
                assert_eq!(failure.get("code"), expect.get("failure"), "{case}");
            }
            // Nothing in order came before: a file error. Else damage, which is an answer.
            Some(_) if run.status == 2 => assert!(run.stdout.is_empty(), "{case}"),
            Some(code) => assert_eq!(run.expect(1).json()["first_failure"]["code"], *code, "{case}"),
        }
    }
}

#[test]
fn a_store_is_exported_and_verified_anywhere() {
    let place = Place::new();
    with_history(&place);

    let verdict = place.say("journal verify --store desk.db --json").expect(0).json();
    assert_eq!(verdict["ok"], json!(true));
    assert_eq!((&verdict["checked_events"], &verdict["decided"]), (&json!(4), &json!(4)));
    assert!(verdict["documents"].as_u64().unwrap() >= 2);

    let export = place.say("journal export --store desk.db").expect(0).stdout;
    assert!(export.starts_with("{\"format\":\"bailiwick.journal-export/1\",\"workspace_id\":\"desk\""), "{export}");
    place.say("journal export --store desk.db --output desk.jsonl").expect(0);
    assert_eq!(fs::read_to_string(place.path("desk.jsonl")).unwrap(), export);
    assert!(!place.path("desk.jsonl.part").exists());

    let elsewhere = Place::new();
    let outside = elsewhere.run_with(["journal", "verify", "-", "--decide", "--json"], &export).expect(0).json();
    for name in ["ok", "checked_events", "head_sequence", "head_hash", "first_failure", "decided", "applied", "erased"]
    {
        assert_eq!(outside[name], verdict[name], "{name}");
    }
    let plain = elsewhere.run_with(["journal", "verify", "-", "--decide"], &export).expect(0).stdout;
    assert!(plain.contains("decided    4 again with the same result"), "{plain}");
}

#[test]
fn damage_anywhere_in_an_export_is_found() {
    let place = Place::new();
    with_history(&place);
    let export = place.say("journal export --store desk.db").expect(0).stdout;
    let header = export.find('\n').unwrap();
    for at in (header + 1..export.len()).step_by(97) {
        let mut bytes = export.clone().into_bytes();
        bytes[at] ^= 1;
        let run = place.run_with(["journal", "verify", "-", "--json"], &bytes);
        assert!(run.status != 0, "byte {at} changed and nobody noticed");
    }
    // Whole lines lost or swapped.
    let lines: Vec<&str> = export.lines().collect();
    for skip in 1..lines.len() {
        let mut fewer: Vec<&str> = lines.clone();
        let lost = fewer.remove(skip);
        let run = place.run_with(["journal", "verify", "-"], fewer.join("\n"));
        let blob = lost.starts_with("{\"blob\"");
        assert_eq!(run.status == 0, blob, "without line {skip}: {run:?}");
    }
}

#[test]
fn an_erased_text_reads_erased() {
    let place = Place::new();
    place.write_json("order.json", &order("wo_1"));
    place.say("order create order.json --as agent:manager --store desk.db").expect(0);
    place.say("order cancel wo_1 --reason private-matters --as agent:manager --store desk.db").expect(0);
    let export = place.say("journal export --store desk.db").expect(0).stdout;
    let without: String =
        export.lines().filter(|line| !line.contains("private-matters")).map(|line| format!("{line}\n")).collect();
    assert_ne!(without, export);
    let verdict = place.run_with(["journal", "verify", "-", "--decide", "--json"], without).expect(0).json();
    assert_eq!((&verdict["decided"], &verdict["erased"]), (&json!(1), &json!(1)));
}

#[test]
fn decisions_in_a_public_journal_cannot_be_made_again() {
    let place = Place::new();
    let file = conformance("journal/labelled.json");
    let run = place.run(["journal".as_ref(), "verify".as_ref(), "--decide".as_ref(), file.as_os_str()]).expect(2);
    assert!(run.stderr.contains("public journal"), "{}", run.stderr);
}

#[test]
fn a_workspace_that_is_not_there_is_named() {
    let place = Place::new();
    with_history(&place);
    let run = place.say("journal verify --store desk.db --workspace other").expect(2);
    assert!(run.stderr.contains("there is no workspace `other`"), "{}", run.stderr);
}

#[test]
fn decisions_that_cannot_be_made_again_are_said_and_can_be_insisted_on() {
    let place = Place::new();
    let vectors = read("decisions/work.json");
    for case in vectors["cases"].as_array().unwrap() {
        let (id, expect) = (case["id"].as_str().unwrap(), &case["expect"]);
        let lines = case["lines"].as_array().unwrap().iter().map(|line| format!("{}\n", line.as_str().unwrap()));
        place.write("export.jsonl", lines.collect::<String>());
        let differs = expect["difference"].is_object();
        let run = place.say("journal verify export.jsonl --decide --json").expect(i32::from(differs));
        let verdict = run.json();
        for count in ["decided", "applied", "erased", "decided_all"] {
            assert_eq!(verdict[count], expect[count], "{id}: {count}");
        }
        let all = expect["decided_all"] == json!(true);
        let strict = place.say("journal verify export.jsonl --require-decided --json").expect(i32::from(!all)).json();
        let code = if all {
            Value::Null
        } else if differs {
            expect["difference"]["code"].clone()
        } else {
            json!("not_decided")
        };
        assert_eq!(strict["first_failure"]["code"], code, "{id}");
        let plain = place.say("journal verify export.jsonl --decide").expect(i32::from(differs)).stdout;
        let says_so = plain.contains("not every decision was made again");
        assert_eq!(says_so, expect["applied"] != json!(0) || expect["erased"] != json!(0), "{id}: {plain}");
    }
}
