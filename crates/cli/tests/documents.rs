//! Commands that need no store.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may stop at the first surprise")]

mod common;

use common::{Place, conformance};
use serde_json::{Value, json};

const COMMANDS: [&str; 35] = [
    "validate",
    "new",
    "schema",
    "conformance",
    "journal",
    "journal verify",
    "journal export",
    "mcp",
    "serve",
    "order",
    "order create",
    "order list",
    "order show",
    "order accept",
    "order decline",
    "order start",
    "order progress",
    "order report",
    "order answer",
    "order review",
    "order cancel",
    "order watch",
    "order track-record",
    "pass",
    "pass issue",
    "pass verify",
    "pass inspect",
    "keys",
    "keys new",
    "keys public",
    "keys rotate",
    "import",
    "import awl",
    "doctor",
    "completions",
];

fn starters(place: &Place) {
    place.write("order.json", place.say("new order").expect(0).stdout);
    place.write("report.json", place.say("new report").expect(0).stdout);
}

fn starter_order(place: &Place) -> Value {
    place.say("new order").expect(0).json()
}

#[test]
fn every_command_explains_itself() {
    let place = Place::new();
    for command in COMMANDS {
        let help = place.say(&format!("{command} --help")).expect(0).stdout;
        assert!(help.contains("Usage: bailiwick"), "{command}: {help}");
        assert!(help.contains("Examples:"), "{command}: {help}");
    }
    for arguments in ["--help", "-h", "help"] {
        let help = place.say(arguments).expect(0).stdout;
        assert!(help.contains("Usage: bailiwick") && help.contains("validate"), "{help}");
    }
    let nothing = place.run::<&str>([]).expect(0);
    assert!(nothing.stdout.contains("Usage: bailiwick"));
}

#[test]
fn versions_are_told() {
    let place = Place::new();
    let version = format!("bailiwick {}\n", env!("CARGO_PKG_VERSION"));
    for flag in ["--version", "-v", "-V"] {
        assert_eq!(place.say(flag).expect(0).stdout, version);
    }
}

#[test]
fn usage_errors_name_the_fault_and_show_the_usage() {
    let place = Place::new();
    for (line, message) in [
        ("valdate", "bailiwick: unknown command `valdate`; did you mean `validate`?\n\nUsage: bailiwick"),
        ("validate", "bailiwick: missing `<ORDER>`\n\nUsage: bailiwick validate"),
        (
            "validate o.json --jsno",
            "bailiwick: unknown argument `--jsno`; did you mean `--json`?\n\nUsage: bailiwick validate",
        ),
        ("validate o.json --parent", "bailiwick: `--parent <ORDER>` needs a value\n\nUsage: bailiwick validate"),
        ("validate --json --jsonl", "bailiwick: `--json` cannot be used with `--jsonl`\n\nUsage: bailiwick validate"),
        ("new", "bailiwick: new what? accepted: `order`, `report`\n\nUsage: bailiwick new"),
        ("new letter", "bailiwick: no starter for `letter`; accepted: `order`, `report`\n\nUsage: bailiwick new"),
        ("new order report", "bailiwick: 2 arguments, accepted is one: `order` or `report`\n\nUsage: bailiwick new"),
        ("schema letter", "bailiwick: no schema `letter`; accepted: `order`, `report`"),
        ("journal", "bailiwick: which command? accepted: `verify`, `export`"),
        (
            "order review wo_1 maybe",
            "bailiwick: `<DECISION>` is `maybe`; accepted: `approve`, `rework`\n\nUsage: bailiwick order review",
        ),
        ("desk --store x", "bailiwick: the desk's server is `bailiwick mcp` over stdio"),
    ] {
        let run = place.say(line).expect(2);
        assert!(run.stderr.starts_with(message), "{line}: {}", run.stderr);
        assert_eq!(run.stdout, "", "{line}");
    }
}

#[test]
fn starters_are_valid_together() {
    let place = Place::new();
    starters(&place);
    let run = place.say("validate order.json report.json").expect(0);
    assert_eq!(run.stdout, "✓ order.json\n✓ report.json\n");
    let order = starter_order(&place);
    assert_eq!((&order["id"], &order["spec"]), (&json!("wo_example"), &json!("awl/work-order@0.1")));
}

#[test]
fn findings_are_lined_up() {
    let place = Place::new();
    starters(&place);
    let mut order = starter_order(&place);
    order.as_object_mut().unwrap().remove("goal");
    place.write_json("bad.json", &order);
    let run = place.say("validate bad.json report.json").expect(1);
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert_eq!(lines[0], "✗ bad.json");
    assert!(lines[1].starts_with("  O1   invalid /  ") && lines[1].contains("goal"), "{}", lines[1]);
    assert_eq!(lines.len(), 2, "a report is not looked at when its order is not valid");
}

#[test]
fn limits_are_marked_and_accepted() {
    let place = Place::new();
    starters(&place);
    let mut report = place.say("new report").json();
    report["cost"] = json!({"usd": 2});
    place.write_json("dear.json", &report);
    let run = place.say("validate order.json dear.json").expect(0);
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert_eq!(lines[..2], ["✓ order.json", "! dear.json"]);
    assert!(lines[2].starts_with("  R7   limit   /cost/usd  "), "{}", lines[2]);

    let result = place.say("validate order.json dear.json --json").expect(0).json();
    assert_eq!(result["ok"], json!(true));
    assert_eq!(result["results"][0], json!({"file": "order.json", "findings": []}));
    assert_eq!(result["results"][1]["findings"][0]["rule"], json!("R7"));
}

#[test]
fn parents_siblings_and_sub_orders_are_counted() {
    let place = Place::new();
    starters(&place);
    let mut child = starter_order(&place);
    child["id"] = json!("wo_child");
    child["budget"] = json!({"usd": 0.6});
    child["deadline"] = child["created_at"].clone();
    place.write_json("child.json", &child);
    // The child's deadline is its creation: O3 hides what follows.
    assert_eq!(place.say("validate child.json --parent order.json").expect(1).stdout.lines().count(), 2);

    child["deadline"] = serde_json::from_str::<Value>(&std::fs::read_to_string(place.path("order.json")).unwrap())
        .unwrap()["deadline"]
        .clone();
    place.write_json("child.json", &child);
    let within = place.say("validate child.json --parent order.json").expect(0).stdout;
    assert_eq!(within, "✓ child.json\n✓ order.json\n✓ child.json (within parent)\n");

    place.write_json("others.json", &json!([{"order": child, "state": "working"}]));
    let run = place.say("validate child.json --parent order.json --siblings others.json").expect(1);
    assert!(run.stdout.contains("✗ child.json (within parent)\n  C4   invalid /budget/usd  "), "{}", run.stdout);

    let mut report = place.say("new report").json();
    report["cost"] = json!({"usd": 0.5});
    place.write_json("report.json", &report);
    let run = place.say("validate order.json report.json --sub-orders others.json").expect(0);
    assert!(run.stdout.contains("! report.json\n  R13  limit   /cost/usd  "), "{}", run.stdout);

    place.write_json("others.json", &json!([{"order": child, "state": "lost"}]));
    let run = place.say("validate order.json report.json --sub-orders others.json").expect(2);
    assert!(run.stderr.starts_with("bailiwick: `others.json`: "), "{}", run.stderr);
}

#[test]
fn what_cannot_be_read_is_named_with_its_place() {
    let place = Place::new();
    place.write("cut.json", "{\n  \"spec\": ");
    place.write("surrogate.json", "{\"goal\": \"\\ud800\"}");
    place.write("latin.json", b"{\"goal\": \"\xe9\"}");
    place.write("deep.json", "[".repeat(100_000));
    for (file, part) in [
        ("cut.json", "`cut.json` line 2 column 11: the text ends too early"),
        ("surrogate.json", "unpaired surrogate"),
        ("latin.json", "is not UTF-8"),
        ("deep.json", "nested too deeply"),
        ("none.json", "`none.json` cannot be read: no such file"),
        (".", "`.` cannot be read: is a directory"),
    ] {
        let run = place.run(["validate", file]).expect(2);
        assert!(run.stderr.starts_with("bailiwick: ") && run.stderr.contains(part), "{file}: {}", run.stderr);
        assert!(run.stderr.contains("\n\nUsage: bailiwick validate"), "{file}: {}", run.stderr);
    }
}

#[test]
fn a_repeated_name_means_its_last_value() {
    let place = Place::new();
    let order = place.say("new order").stdout.replacen('{', "{\n  \"goal\": 7,", 1);
    place.run_with(["validate", "-"], order).expect(0);
}

#[test]
fn standard_input_is_read_once() {
    let place = Place::new();
    starters(&place);
    let order = place.say("new order").stdout;
    let run = place.run_with(["validate", "-", "report.json"], &order).expect(0);
    assert_eq!(run.stdout, "✓ -\n✓ report.json\n");
    let run = place.run_with(["validate", "-", "-"], &order).expect(2);
    assert!(run.stderr.contains("only once"), "{}", run.stderr);
}

#[test]
fn a_text_cannot_forge_what_is_shown() {
    let place = Place::new();
    let mut order = starter_order(&place);
    order["\u{1b}[2J✓ order.json"] = json!(1);
    place.write_json("order.json", &order);
    let run = place.say("validate order.json").expect(1);
    assert!(!run.stdout.contains('\u{1b}'), "{:?}", run.stdout);
}

#[test]
fn lines_are_answered_in_order() {
    let place = Place::new();
    let order = starter_order(&place);
    let mut parent = order.clone();
    parent["budget"] = json!({"usd": 0.5});
    let lines = [
        json!({"kind": "order", "order": order, "id": "a", "note": "members for people are passed over", "expect": []}),
        json!({"kind": "order", "order": []}),
        json!({"kind": "child", "order": order, "parent": parent}),
        json!({"kind": "report", "order": order}),
        json!({"kind": "letter", "order": order}),
        json!({"kind": "order", "order": order, "sub-orders": []}),
        json!([]),
    ];
    let mut input: String = lines.iter().map(|line| format!("{line}\n")).collect();
    input.push_str("{\"kind\":\n\n{\"kind\": \"order\", \"order\": \"\\udfff\"}\n");
    let run = place.run_with(["validate", "--jsonl"], input).expect(1);
    let answers = run.json_lines();
    assert_eq!(answers[0], json!({"findings": []}));
    assert_eq!(answers[1]["findings"][0]["rule"], json!("O1"));
    assert_eq!(answers[2]["findings"][0]["path"], json!("/budget/usd"));
    let messages: Vec<&str> = answers[3..].iter().map(|answer| answer["error"]["message"].as_str().unwrap()).collect();
    for (message, part) in messages.iter().zip([
        "line 4: `report` is missing; kind `report` needs it",
        "line 5: `kind` is `letter`; accepted: `order`, `report`, `child`",
        "line 6: unknown member `sub-orders`; accepted: `kind`",
        "line 7: the line is an array, must be an object",
        "line 8 column 9: ",
        "line 10 column 29: unpaired surrogate",
    ]) {
        assert!(message.starts_with(part), "{message}");
    }
    assert_eq!(answers.len(), 9, "a blank line is no case");
    assert_eq!(answers[8]["error"]["line"], json!(10));
}

#[test]
fn each_line_is_answered_before_the_next_is_needed() {
    use std::io::{BufRead, BufReader, Write};
    use std::process::Stdio;

    let place = Place::new();
    let mut child =
        place.command(["validate", "--jsonl"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    for _ in 0..3 {
        // The beginning of the next line must not keep the answer back.
        stdin.write_all(b"{\"kind\": \"order\", \"order\": {}}\n{\"kind\":").unwrap();
        assert!(answers.next().unwrap().unwrap().starts_with("{\"findings\":["));
        stdin.write_all(b"\"order\", \"order\": 1}\n").unwrap();
        assert!(answers.next().unwrap().unwrap().starts_with("{\"findings\":["));
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_long_line_is_refused_and_the_next_is_answered() {
    let place = Place::new();
    let mut input = format!("{{\"kind\": \"order\", \"order\": \"{}\"}}\n", "x".repeat(20 << 20));
    input.push_str("{\"kind\": \"order\", \"order\": 1}\n");
    let answers = place.run_with(["validate", "--jsonl"], input).expect(1).json_lines();
    assert_eq!(answers[0]["error"]["code"], json!("line_too_long"));
    assert_eq!(answers[1]["findings"].as_array().unwrap().len(), 1);
}

#[test]
fn schemas_are_printed() {
    let place = Place::new();
    for (name, title) in [("order", "AWL Work Order v0.4"), ("report", "AWL Work Report v0.3")] {
        let run = place.run(["schema", name]).expect(0);
        assert_eq!(run.json()["title"], json!(title));
        assert!(run.stdout.starts_with("{\n  \"$schema\""), "{}", run.stdout);
    }
    for name in ["event", "journal-entry", "journal-export"] {
        assert!(place.run(["schema", name]).expect(0).json()["$schema"].is_string());
    }
}

#[test]
fn every_vector_of_the_repository_passes() {
    let place = Place::new();
    let run = place.run(["conformance".as_ref(), conformance("").as_os_str()]).expect(0);
    let last = run.stdout.lines().last().unwrap();
    let passed: u64 = last.strip_suffix(" passed, 0 failed").unwrap().parse().unwrap();
    assert!(passed > 200, "{last}");
}

#[test]
fn vectors_that_fail_are_shown() {
    let place = Place::new();
    let vectors = json!([
        {"id": "right", "kind": "order", "order": 1, "expect": [{"rule": "O1", "kind": "invalid", "path": "/"}]},
        {"id": "wrong", "kind": "order", "order": 1, "expect": [{"rule": "O2", "kind": "invalid", "path": "/criteria"}]},
        {"id": "odd", "kind": "letter", "order": 1, "expect": []},
    ]);
    place.write_json("vectors.json", &vectors);
    let run = place.say("conformance vectors.json").expect(1);
    assert_eq!(
        run.stdout.lines().collect::<Vec<_>>(),
        [
            "✗ vectors.json wrong",
            "    expected O2 invalid /criteria",
            "    actual   O1 invalid /",
            "✗ vectors.json odd",
            "    expected a vector of the published form",
            "    actual   malformed vector: `kind` must be `order`, `report` or `child`",
            "1 passed, 2 failed",
        ]
    );
    let result = place.say("conformance vectors.json --json").expect(1).json();
    assert_eq!((&result["passed"], &result["failed"]), (&json!(1), &json!(2)));
    assert_eq!(result["failures"][0]["expected"], json!("O2 invalid /criteria"));

    place.write_json("folder/other.json", &json!({}));
    let run = place.say("conformance folder").expect(0);
    assert!(run.stdout.starts_with("skipped: folder/other.json"), "{}", run.stdout);
    place.say("conformance folder/other.json").expect(2);
    place.say("conformance nowhere").expect(2);
}

#[test]
fn shells_can_complete() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = place.run(["completions", shell]).expect(0).stdout;
        assert!(script.contains("validate") && script.contains("conformance"), "{shell}");
    }
}

#[cfg(unix)]
#[test]
fn nobody_reading_is_no_failure() {
    let place = Place::new();
    let mut command = std::process::Command::new("sh");
    let program = env!("CARGO_BIN_EXE_bailiwick");
    command.current_dir(place.path("")).args(["-c", &format!("({program} completions bash; echo $? >&2) | head -c 1")]);
    let run = common::finish(command, b"");
    assert_eq!(run.stderr, "0\n");
}
