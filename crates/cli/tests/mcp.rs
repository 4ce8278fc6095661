//! Agents over stdio, as raw lines.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may stop at the first surprise")]

mod common;

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use common::{Place, order, report};
use serde_json::{Value, json};

/// One agent's process.
struct Agent {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: std::io::Lines<BufReader<ChildStdout>>,
    last_id: u64,
}

impl Agent {
    fn start(place: &Place, line: &str) -> Self {
        let mut child = place
            .command(line.split(' '))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let stdin = child.stdin.take();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut agent = Self { child, stdin, lines, last_id: 0 };
        let opened = agent.request(
            "initialize",
            json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}),
        );
        assert_eq!(opened["result"]["protocolVersion"], json!("2025-11-25"), "{opened}");
        agent.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string());
        agent
    }

    fn send(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(line.as_bytes()).unwrap();
        stdin.write_all(b"\n").unwrap();
    }

    fn receive(&mut self) -> Value {
        let line = self.lines.next().expect("the server still answers").unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: only protocol on stdout, not {line}"))
    }

    fn request(&mut self, method: &str, params: Value) -> Value {
        self.last_id += 1;
        let id = self.last_id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string());
        loop {
            let message = self.receive();
            if message["id"] == json!(id) {
                return message;
            }
        }
    }

    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.request("tools/call", json!({"name": tool, "arguments": arguments}));
        answer["result"].clone()
    }

    #[track_caller]
    fn ok(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments);
        assert_ne!(result["isError"], json!(true), "{tool}: {result}");
        result["structuredContent"].clone()
    }

    #[track_caller]
    fn refused(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], json!(true), "{tool}: {result}");
        serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap()
    }

    /// Closes standard input, and waits for a good end.
    fn finish(mut self) {
        drop(self.stdin.take());
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        // Already gone after `finish`.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn two_agents_share_a_store() {
    let place = Place::new();
    let mut manager = Agent::start(&place, "mcp --as agent:manager --store desk.db");
    let mut worker = Agent::start(&place, "mcp --actor agent:worker --store desk.db");
    let tools = manager.request("tools/list", json!({}));
    assert_eq!(tools["result"]["tools"].as_array().unwrap().len(), 14, "{tools}");

    assert_eq!(manager.ok("create_work_order", order("wo_1"))["state"], json!("offered"));
    let found = worker.ok("list_work_orders", json!({"to": "agent:worker", "state": "offered"}));
    assert_eq!(found["orders"][0]["id"], json!("wo_1"));
    assert_eq!(
        worker.refused("accept_work_order", json!({"id": "wo_1", "actor": "agent:manager"}))["code"],
        "FORBIDDEN"
    );
    assert_eq!(worker.ok("accept_work_order", json!({"id": "wo_1"}))["state"], json!("accepted"));
    worker.ok("start_work_order", json!({"id": "wo_1"}));

    // The manager waits in one process while the worker reports in another.
    manager.last_id += 1;
    let wait = json!({"name": "wait_for_update", "arguments": {"id": "wo_1", "since_seq": 3, "timeout_s": 30}});
    manager.send(&json!({"jsonrpc": "2.0", "id": manager.last_id, "method": "tools/call", "params": wait}).to_string());
    let mut answer = report();
    answer["id"] = json!("wo_1");
    assert_eq!(worker.ok("submit_work_report", answer)["state"], json!("submitted"));
    let woken = manager.receive();
    assert_eq!(woken["result"]["structuredContent"]["state"], json!("submitted"), "{woken}");

    let approved = manager.ok("review_work_report", json!({"id": "wo_1", "decision": "approve"}));
    assert_eq!(approved["state"], json!("approved"));
    let track = worker.ok("get_track_record", json!({}));
    assert_eq!(track["agent"], json!("agent:worker"));
    manager.finish();
    worker.finish();
    let verdict = place.say("journal verify --store desk.db --json").expect(0).json();
    assert_eq!(verdict["ok"], json!(true));
}

#[test]
fn what_no_client_should_send_is_survived() {
    let place = Place::new();
    let mut agent = Agent::start(&place, "mcp --as agent:a --store desk.db");
    agent.send(&format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":77,\"method\":\"tools/list\",\"x\":\"{}\"}}",
        "x".repeat(10 << 20)
    ));
    assert!(agent.receive()["error"]["message"].is_string());
    agent.send("not json");
    assert_eq!(agent.receive()["error"]["code"], json!(-32700));
    let stdin = agent.stdin.as_mut().unwrap();
    stdin.write_all(b"\"\xff\xfe\"\n").unwrap();
    assert!(agent.receive()["error"].is_object());
    assert_eq!(agent.refused("get_work_order", json!({"id": "wo_1", "mood": "good"}))["code"], "BAD_REQUEST");
    assert_eq!(agent.refused("get_work_order", json!({"id": "wo_1"}))["code"], "NOT_FOUND");
    agent.finish();
}

#[test]
fn an_unbound_session_names_its_actor() {
    let place = Place::new();
    let mut agent = Agent::start(&place, "mcp --store desk.db");
    assert_eq!(agent.refused("create_work_order", order("wo_1"))["code"], "BAD_REQUEST");
    let mut named = order("wo_1");
    named["actor"] = json!("agent:manager");
    assert_eq!(agent.ok("create_work_order", named)["from"], json!("agent:manager"));
    agent.finish();
}

#[test]
fn reading_only_offers_nothing_else() {
    let place = Place::new();
    let mut agent = Agent::start(&place, "mcp --as agent:a --store desk.db --read-only");
    let tools = agent.request("tools/list", json!({}));
    let tools = tools["result"]["tools"].as_array().unwrap();
    assert!(!tools.is_empty() && tools.iter().all(|tool| tool["annotations"]["readOnlyHint"] == json!(true)));
    agent.finish();
}

#[test]
fn the_environment_names_folder_and_actor() {
    let place = Place::new();
    let mut command = place.command(["mcp"]);
    command.env("AWL_STORE", place.path("shared")).env("AWL_ACTOR", "agent:env");
    let open = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params":
        {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}});
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params":
        {"name": "get_track_record", "arguments": {}}});
    let input = format!("{open}\n{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}}\n{call}\n");
    let run = common::finish(command, input.as_bytes()).expect(0);
    let answers = run.json_lines();
    assert_eq!(answers[1]["result"]["structuredContent"]["agent"], json!("agent:env"), "{answers:?}");
    assert!(place.path("shared/bailiwick.db").is_file());
}

#[test]
fn rules_of_the_configuration_are_adopted() {
    let place = Place::new();
    place.write("rules.yaml", "work:\n  restrict_reads: true\n");
    let mut manager = Agent::start(&place, "mcp --as agent:manager --store desk.db --config rules.yaml");
    manager.ok("create_work_order", order("wo_1"));
    let mut stranger = Agent::start(&place, "mcp --as agent:stranger --store desk.db");
    assert_eq!(stranger.refused("get_work_order", json!({"id": "wo_1"}))["code"], "NOT_FOUND");
    manager.ok("get_work_order", json!({"id": "wo_1"}));
    stranger.finish();
    manager.finish();
}

#[test]
fn a_faulty_start_is_explained() {
    let place = Place::new();
    for (line, message) in [
        (
            "mcp --toolsets plumbing",
            "bailiwick: `--toolsets <NAMES>` is `plumbing`: unknown toolset `plumbing`; accepted: `work`, `all`",
        ),
        ("mcp --as= --store desk.db", "bailiwick: `--as` is blank"),
        ("mcp --store redis://localhost", "bailiwick: "),
        ("mcp --frobnicate", "bailiwick: unknown argument `--frobnicate`"),
    ] {
        let run = place.say(line).expect(2);
        assert!(run.stderr.starts_with(message), "{line}: {}", run.stderr);
        assert_eq!(run.stdout, "");
    }
}

#[test]
fn another_desks_folder_is_pointed_out() {
    let place = Place::new();
    place.write(".awl/orders/wo_1.json", "{}");
    let run = place.run_with(["mcp", "--as", "agent:a", "--store", ".awl"], "").expect(0);
    assert!(run.stderr.contains("bailiwick import awl .awl"), "{}", run.stderr);
}
