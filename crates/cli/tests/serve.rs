//! The server as a process: where it listens, whom it lets in, how it reads again and stops.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may stop at the first surprise")]
#![cfg(unix)]

mod common;

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::Duration;

use common::server::Server;
use common::{Place, order};
use serde_json::{Value, json};

#[test]
fn keys_let_people_in() {
    let place = Place::new();
    place.write("keys.json", r#"{"keys": {"key-of-manager": "agent:manager", "key-of-worker": "agent:worker"}}"#);
    let server = Server::start(&place, "serve --port 0 --keys keys.json --store desk.db");
    assert_eq!(server.request("GET", "/healthz", None, "").0, 200);
    assert_eq!(server.request("GET", "/api/v1/orders", None, "").0, 401);
    assert_eq!(server.request("GET", "/api/v1/orders", Some("guess"), "").0, 401);
    let (status, body) = server.request("POST", "/api/v1/orders", Some("key-of-manager"), &order("wo_1").to_string());
    assert!((200..300).contains(&status), "{status} {body}");
    // The command line sees what the server keeps, and the other way round.
    place.say("order accept wo_1 --as agent:worker --store desk.db").expect(0);
    let (_, body) = server.request("GET", "/api/v1/orders/wo_1", Some("key-of-worker"), "");
    assert!(body.contains("\"accepted\""), "{body}");
    let log = server.stop();
    assert!(!log.contains("key-of-") && !log.contains("OPEN MODE"), "{log}");
    place.say("journal verify --store desk.db").expect(0);
}

#[test]
fn open_mode_is_loud() {
    let place = Place::new();
    let server = Server::start(&place, "serve --port 0 --store desk.db --json");
    assert_eq!(server.request("GET", "/api/v1/orders", None, "").0, 401);
    assert!(server.stop().contains("OPEN MODE"));
}

#[test]
fn the_first_line_is_json_if_asked() {
    let place = Place::new();
    let mut child = place
        .command("serve --port 0 --store desk.db --json".split(' '))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    let ready: Value = serde_json::from_str(&line).unwrap();
    assert!(ready["address"].as_str().unwrap().starts_with("http://127.0.0.1:"));
    assert_eq!(ready["mode"], json!("open"));
    let link = format!("{}/sign-in?token=", ready["address"].as_str().unwrap());
    assert!(ready["sign_in"].as_str().unwrap().starts_with(&link), "{ready}");
}

#[test]
fn a_printed_link_signs_in_once_and_another_can_be_had() {
    let place = Place::new();
    place.write("keys.json", r#"{"keys": {"key-of-manager": "agent:manager"}}"#);
    let server = Server::start(&place, "serve --port 0 --keys keys.json --store desk.db");
    let base = format!("http://{}", server.address);
    for person in ["human:operator", "human:ada"] {
        let run = place.say(&format!("sign-in --as {person} --store desk.db --address {base} --json")).expect(0);
        let link = run.json()["sign_in"].as_str().unwrap().to_owned();
        let path = link.strip_prefix(&base).unwrap();
        assert_eq!(server.request("GET", path, None, "").0, 303);
        assert_eq!(server.request("GET", path, None, "").0, 403);
    }
    let plain = place.say("sign-in --store desk.db").expect(0);
    assert!(plain.stdout.starts_with("http://127.0.0.1:8787/sign-in?token="), "{}", plain.stdout);
    let token = plain.stdout.lines().next().unwrap().rsplit_once('=').unwrap().1.to_owned();
    let log = server.stop();
    assert!(!log.contains(&token) && !log.contains("token="), "{log}");
    place.say("journal verify --store desk.db").expect(0);
}

#[test]
fn links_are_for_persons_and_for_desks_that_are_there() {
    let place = Place::new();
    let missing = place.say("sign-in --store desk.db").expect(2);
    assert!(missing.stderr.contains("there is no store at `desk.db`"), "{}", missing.stderr);
    place.write_json("order.json", &order("wo_1"));
    place.say("order create order.json --as agent:manager --store desk.db").expect(0);
    for (line, message) in [
        ("sign-in --store desk.db --as agent:ada", "`agent:ada` is no person; accepted: `human:` and a name"),
        ("sign-in --store desk.db --address desk.example.com", "`--address` is `desk.example.com`, must be `http://`"),
        ("serve --port 0 --store desk.db --operator ada", "`ada` is no person"),
    ] {
        let run = place.say(line).expect(2);
        assert!(run.stderr.contains(message), "{line}: {}", run.stderr);
    }
}

#[test]
fn a_hangup_reads_keys_and_rules_again() {
    let place = Place::new();
    place.write("keys.json", r#"{"keys": {"first": "agent:manager"}}"#);
    place.write("bailiwick.yaml", "server:\n  port: 0\n  keys: keys.json\nstorage:\n  path: desk.db\n");
    let server = Server::start(&place, "serve --config bailiwick.yaml");
    let enters = |server: &Server, key: &str| server.request("GET", "/api/v1/orders", Some(key), "").0 == 200;
    assert!(enters(&server, "first") && !enters(&server, "second"));
    let (status, body) = server.request("POST", "/api/v1/orders", Some("first"), &order("wo_1").to_string());
    assert!((200..300).contains(&status), "{body}");

    place.write("keys.json", r#"{"keys": {"second": "agent:stranger"}}"#);
    place.write(
        "bailiwick.yaml",
        "work:\n  restrict_reads: true\nserver:\n  port: 0\n  keys: keys.json\nstorage:\n  path: desk.db\n",
    );
    server.signal("-HUP");
    server.until(|server| enters(server, "second"));
    assert!(!enters(&server, "first"));
    assert_eq!(server.request("GET", "/api/v1/orders/wo_1", Some("second"), "").0, 404);

    // What is faulty changes nothing.
    place.write("keys.json", r#"{"keys": {"": "agent:nobody"}}"#);
    place.write("bailiwick.yaml", "work:\n  restrict_reads: maybe\n");
    server.signal("-HUP");
    std::thread::sleep(Duration::from_millis(300));
    assert!(enters(&server, "second"));
    assert_eq!(server.request("GET", "/api/v1/orders/wo_1", Some("second"), "").0, 404);
    let log = server.stop();
    assert!(log.contains("the rules in force stay: `bailiwick.yaml` line 2"), "{log}");
    assert!(log.contains("the keys in force stay: `keys.json`"), "{log}");
}

#[test]
fn a_faulty_start_is_explained() {
    let place = Place::new();
    place.write("bad.json", r#"{"keys": {"k": " "}}"#);
    place.write("keys.yaml", "server:\n  keys: keys.json\n");
    for (line, message) in [
        ("serve --host 0.0.0.0 --port 0", "bailiwick: others can reach `0.0.0.0`, so give a keys file"),
        ("serve --open --host 0.0.0.0 --port 0 --store desk.db", "bailiwick: open mode"),
        ("serve --open --keys keys.json", "bailiwick: `--open` cannot be used with `--keys <FILE>`"),
        ("serve --open --config keys.yaml", "bailiwick: `--open` cannot be used with the keys `keys.json`"),
        ("serve --keys none.json", "bailiwick: `none.json` cannot be read: no such file or directory"),
        ("serve --keys bad.json", "bailiwick: `bad.json`: the actor of key 1 is blank"),
        ("serve --port 70000", "bailiwick: `--port <PORT>` is `70000`"),
    ] {
        let run = place.say(line).expect(2);
        assert!(run.stderr.contains(message), "{line}: {}", run.stderr);
    }
}

#[test]
fn a_taken_port_is_named() {
    let place = Place::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let run = place.say(&format!("serve --port {port} --store desk.db")).expect(2);
    assert!(run.stderr.contains(&format!("127.0.0.1:{port}")), "{}", run.stderr);
}
