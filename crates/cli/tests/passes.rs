//! `keys` and `pass`, and a server that signs passes, from outside.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may stop at the first surprise")]
#![cfg(unix)]

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use common::Place;
use common::server::Server;
use serde_json::{Value, json};

const DESK: &str = "https://desk.example";

/// An order document, or one that was split from `parent`.
fn order(id: &str, parent: Option<&str>) -> Value {
    let mut order = json!({
        "spec": "awl/work-order@0.4", "id": id, "created_at": "2026-03-02T08:00:00Z", "from": "human:ada", "to": "agent:clerk",
        "goal": "File it", "criteria": [{"id": "c", "text": "C"}], "budget": {"usd": 0.3, "tool_calls": 6},
        "deadline": "2026-03-02T10:00:00Z", "tools": ["status/*", "mail/send"],
    });
    if let Some(parent) = parent {
        order["parent_id"] = json!(parent);
    }
    order
}

const NOW: &str = "2026-03-02T08:05:00Z";

/// A place with a key, its public part, and passes for an order and for a part of it.
fn place_with_passes() -> Place {
    let place = Place::new();
    place.say("keys new key.json").expect(0);
    let public = place.say("keys public key.json").expect(0);
    place.write("jwks.json", public.stdout);
    for (id, parent) in [("root", None), ("sub", Some("root"))] {
        place.write_json(&format!("{id}.json"), &order(id, parent));
        let issue = format!("pass issue {id}.json --key key.json --issuer {DESK} --now {NOW}");
        place.write(&format!("{id}.jwt"), place.say(&issue).expect(0).stdout);
    }
    place
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_key_is_made_for_its_owner_alone_and_never_overwritten() {
    let place = Place::new();
    for (line, alg) in [("keys new es.json", "ES256"), ("keys new ed.json --algorithm ed25519", "EdDSA")] {
        let shown = place.say(line).expect(0).json();
        assert_eq!(shown["keys"][0]["alg"], alg);
        assert!(shown["keys"][0].get("d").is_none(), "what is printed is public");
    }
    assert_eq!(mode(&place.path("es.json")), 0o600);
    let key = fs::read_to_string(place.path("es.json")).unwrap();
    let secret = serde_json::from_str::<Value>(&key).unwrap()["d"].as_str().unwrap().to_owned();
    let again = place.say("keys new es.json").expect(2);
    assert!(again.stderr.contains("`es.json` exists and is left as it is"), "{}", again.stderr);
    assert_eq!(fs::read_to_string(place.path("es.json")).unwrap(), key);
    let public = place.say("keys public es.json").expect(0);
    assert!(!public.stdout.contains(&secret));
    assert_eq!(place.run_with(["keys", "public", "-"], key.as_bytes()).expect(0).stdout, public.stdout);
    // A public key can't sign, and no message shows a secret.
    place.write("public.json", public.stdout);
    let refused = place.say("keys public public.json").expect(2);
    assert!(refused.stderr.contains("has no private member `d`"), "{}", refused.stderr);
    place.write("torn.json", key.replace("P-256", "P-521"));
    let torn = place.say("keys public torn.json").expect(2);
    assert!(torn.stderr.contains("P-521") && !torn.stderr.contains(&secret), "{}", torn.stderr);
    for line in
        ["keys", "keys new", "keys new x.json --algorithm rsa", "keys public none.json", "keys rotate none.json"]
    {
        let run = place.say(line).expect(2);
        assert!(run.stdout.is_empty() && run.stderr.starts_with("bailiwick: "), "{line}: {}", run.stderr);
    }
}

#[test]
fn another_key_takes_over_without_anybody_noticing() {
    let place = Place::new();
    place.write_json("o.json", &order("o", None));
    let first = place.say("keys new key.json --algorithm ed25519").expect(0);
    place.write("jwks.json", &first.stdout);
    let rotated =
        place.say("keys rotate key.json --keys jwks.json --lead-seconds 600 --overlap-seconds 60").expect(0).json();
    let keys = rotated["keys"].as_array().unwrap();
    assert_eq!(keys.len(), 2);
    assert_eq!((&keys[0]["kid"], &keys[1]["alg"]), (&first.json()["keys"][0]["kid"], &json!("EdDSA")));
    assert!(keys[0]["not_before"].is_null() && keys[1]["not_after"].is_null());
    let (end, begin) = (keys[0]["not_after"].as_str().unwrap(), keys[1]["not_before"].as_str().unwrap());
    assert!(begin < end);
    assert_eq!(
        fs::read_to_string(place.path("jwks.json")).unwrap().trim(),
        place.say("keys public key.json").expect(0).stdout.trim()
    );
    assert_eq!((mode(&place.path("key.json")), place.path("key.json.new").exists()), (0o600, false));

    // The one that is about to end signs now, the other one once its time has come; the published set verifies both.
    let mut document = order("o", None);
    document["deadline"] = json!("2999-01-01T00:00:00Z");
    place.write_json("o.json", &document);
    for (now, kid) in [("", &keys[0]["kid"]), ("2998-12-31T00:00:00Z", &keys[1]["kid"])] {
        let now = if now.is_empty() { String::new() } else { format!(" --now {now}") };
        let pass = place.say(&format!("pass issue o.json --key key.json --issuer {DESK}{now}")).expect(0);
        place.write("o.jwt", pass.stdout);
        assert_eq!(&place.say("pass inspect o.jwt").expect(0).json()["header"]["kid"], kid);
        place.say(&format!("pass verify o.jwt --keys jwks.json{now}")).expect(0);
    }
}

#[test]
fn a_pass_that_counts_is_told_from_one_that_does_not() {
    let place = place_with_passes();
    let verify = |more: &str| place.say(&format!("pass verify sub.jwt --keys jwks.json --now {NOW} --json{more}"));
    let good = verify(&format!(" --issuer {DESK} --worker agent:clerk --order sub --parent root.jwt")).expect(0).json();
    let members: Vec<&String> = good.as_object().unwrap().keys().collect();
    assert_eq!(members, ["ok", "code", "link", "claims", "findings"]);
    assert_eq!((&good["ok"], &good["code"], &good["link"]), (&json!(true), &Value::Null, &json!(1)));
    assert_eq!((&good["claims"]["order"], &good["findings"]), (&json!("sub"), &json!([])));
    for (more, code, link) in [
        (" --issuer https://other.example", "WRONG_ISSUER", 0),
        (" --worker agent:other", "WRONG_WORKER", 0),
        (" --order root", "WRONG_ORDER", 0),
        (" --parent sub.jwt", "WRONG_PARENT", 1),
        (" --parent root.jwt --parent root.jwt", "WRONG_PARENT", 1),
    ] {
        let bad = verify(more).expect(1).json();
        assert_eq!((&bad["ok"], &bad["code"], &bad["link"]), (&json!(false), &json!(code), &json!(link)), "{more}");
        assert_eq!((&bad["claims"], &bad["findings"]), (&Value::Null, &json!([])));
    }
    let late = place.say("pass verify sub.jwt --keys jwks.json --now 2026-03-02T08:20:00Z").expect(1);
    assert!(late.stdout.contains("EXPIRED") && late.stderr.is_empty(), "{late:?}");
    place.say("pass verify sub.jwt --keys jwks.json --now 2026-03-02T08:20:00Z --leeway-seconds 1").expect(0);
}

#[test]
fn a_wider_pass_is_refused_with_what_is_wider() {
    let place = place_with_passes();
    let mut wider = order("sub", Some("root"));
    wider["tools"] = json!(["*"]);
    place.write_json("sub.json", &wider);
    let pass = place.say(&format!("pass issue sub.json --key key.json --issuer {DESK} --now {NOW}")).expect(0);
    let run = place.run_with(
        ["pass", "verify", "-", "--parent", "root.jwt", "--keys", "jwks.json", "--now", NOW, "--json"],
        &pass.stdout,
    );
    let refused = run.expect(1).json();
    assert_eq!((&refused["code"], &refused["link"]), (&json!("WIDER_THAN_PARENT"), &json!(1)));
    assert_eq!((&refused["findings"][0]["rule"], &refused["findings"][0]["path"]), (&json!("C2"), &json!("/tools/0")));
    assert!(refused["message"].as_str().unwrap().contains("`*`"));
}

#[test]
fn what_cannot_be_read_is_no_verdict() {
    let place = place_with_passes();
    place.write("empty.json", "{}");
    for (line, message) in [
        ("pass verify root.jwt", "missing `--keys <JWKS-FILE>`"),
        ("pass verify none.jwt --keys jwks.json", "`none.jwt` cannot be read: no such file or directory"),
        ("pass verify root.jwt --keys none.json", "`none.json` cannot be read"),
        ("pass verify - --keys - --now 2026-03-02T08:05:00Z", "standard input (`-`) can be read only once"),
        ("pass verify root.jwt --keys jwks.json --now tomorrow", "`--now` is `tomorrow`"),
        ("pass verify root.jwt --keys jwks.json --leeway-seconds 31", "`--leeway-seconds <N>` is `31`"),
        ("pass issue empty.json --key key.json --issuer x", "`empty.json` is no valid order"),
        ("pass issue root.json --key jwks.json --issuer x", "has no private member `d`"),
        ("pass inspect none.jwt", "`none.jwt` cannot be read"),
    ] {
        let run = place.say(line).expect(2);
        assert!(run.stderr.contains(message) && run.stdout.is_empty(), "{line}: {run:?}");
    }
    // What is no token, or no order that a pass could be for, is an answer: no.
    place.write("note.jwt", "hello");
    let run = place.say("pass verify note.jwt --keys jwks.json --json").expect(1);
    assert_eq!(run.json()["code"], "MALFORMED");
    place.say("pass inspect note.jwt").expect(1);
    let run = place.say("pass issue root.json --key key.json --issuer x --now 2027-01-01T00:00:00Z").expect(1);
    assert!(run.stderr.contains("leaves no time for a pass") && run.stdout.is_empty(), "{run:?}");
}

#[test]
fn a_pass_may_be_bound_when_it_is_issued() {
    let place = place_with_passes();
    let holder = place.say("keys new holder.json --algorithm ed25519").expect(0).json()["keys"][0].clone();
    place.write_json("holder-public.json", &holder);
    let issue = format!(
        "pass issue root.json --key key.json --issuer {DESK} --now {NOW} --ttl-seconds 60 --audience a --audience b --holder holder-public.json"
    );
    place.write("bound.jwt", place.say(&issue).expect(0).stdout);
    let claims = place.say("pass inspect bound.jwt").expect(0).json()["claims"].clone();
    assert_eq!((&claims["aud"], &claims["cnf"]), (&json!(["a", "b"]), &json!({"jkt": holder["kid"]})));
    assert_eq!(claims["exp"].as_i64().unwrap() - claims["iat"].as_i64().unwrap(), 60);
    let verify = format!("pass verify bound.jwt --keys jwks.json --now {NOW} --json");
    assert_eq!(place.say(&verify).expect(1).json()["code"], "WRONG_AUDIENCE");
    place.say(&format!("{verify} --audience b")).expect(0);
    let private = place.say(&issue.replace("holder-public.json", "holder.json")).expect(2);
    assert!(private.stderr.contains("private member `d`"), "{}", private.stderr);
}

/// A desk that signs, with an order of `agent:manager` for `agent:worker`, accepted.
fn signing_server(place: &Place) -> Server {
    place.write("keys.json", r#"{"keys": {"key-of-manager": "agent:manager", "key-of-worker": "agent:worker"}}"#);
    place.say("keys new desk-key.json").expect(0);
    let line = format!("serve --port 0 --keys keys.json --store desk.db --pass-key desk-key.json --issuer {DESK}");
    let server = Server::start(place, &line);
    let body = common::order("wo_1").to_string();
    assert_eq!(server.request("POST", "/api/v1/orders", Some("key-of-manager"), &body).0, 201);
    assert_eq!(server.request("POST", "/api/v1/orders/wo_1/accept", Some("key-of-worker"), "").0, 200);
    server
}

fn fetch(place: &Place, server: &Server, path: &str, name: &str) -> String {
    let (status, body) = server.request("GET", path, None, "");
    assert_eq!(status, 200, "{path}: {body}");
    place.write(name, &body);
    body
}

#[test]
fn a_pass_of_a_server_is_verified_without_it_until_the_order_is_called_off() {
    let place = Place::new();
    let server = signing_server(&place);
    let (status, started) = server.request("POST", "/api/v1/orders/wo_1/start", Some("key-of-worker"), "");
    let started: Value = serde_json::from_str(&started).unwrap();
    assert_eq!((status, &started["state"]), (200, &json!("working")));
    place.write("pass.jwt", started["pass"].as_str().unwrap());
    fetch(&place, &server, "/.well-known/jwks.json", "jwks.json");
    fetch(&place, &server, "/.well-known/bailiwick-revocations", "before.jwt");
    assert_eq!(server.request("POST", "/api/v1/orders/wo_1/cancel", Some("key-of-manager"), "").0, 200);
    server.until(|server| {
        let list = fetch(&place, server, "/.well-known/bailiwick-revocations", "after.jwt");
        list != fs::read_to_string(place.path("before.jwt")).unwrap()
    });
    let (status, _) = server.request("POST", "/api/v1/orders/wo_1/pass", Some("key-of-worker"), "");
    assert_eq!(status, 409);
    server.stop();

    let verify =
        format!("pass verify pass.jwt --keys jwks.json --issuer {DESK} --worker agent:worker --order wo_1 --json");
    place.say(&verify).expect(0);
    place.say(&format!("{verify} --revocations before.jwt")).expect(0);
    let revoked = place.say(&format!("{verify} --revocations after.jwt")).expect(1).json();
    assert_eq!((&revoked["code"], &revoked["link"]), (&json!("REVOKED"), &json!(0)));
    // A list by somebody else's key is no list.
    place.say("keys new other.json").expect(0);
    let forged = place.say("keys public other.json").expect(0);
    place.write("other-jwks.json", forged.stdout);
    let run = place.say("pass verify pass.jwt --keys other-jwks.json --revocations after.jwt --json").expect(1);
    assert_eq!(run.json()["code"], "BAD_SIGNATURE");
    place.say("journal verify --store desk.db").expect(0);
}

#[test]
fn a_hangup_publishes_the_next_key_before_it_signs() {
    let place = Place::new();
    let server = signing_server(&place);
    let published = |server: &Server| -> Value {
        serde_json::from_str(&server.request("GET", "/.well-known/jwks.json", None, "").1).unwrap()
    };
    let first = published(&server)["keys"][0]["kid"].clone();
    place.say("keys rotate desk-key.json").expect(0);
    server.signal("-HUP");
    server.until(|server| published(server)["keys"].as_array().unwrap().len() == 2);
    let (_, started) = server.request("POST", "/api/v1/orders/wo_1/start", Some("key-of-worker"), "");
    place.write("pass.jwt", serde_json::from_str::<Value>(&started).unwrap()["pass"].as_str().unwrap());
    assert_eq!(place.say("pass inspect pass.jwt").expect(0).json()["header"]["kid"], first);

    // What is faulty changes nothing: not a file that others can read, not one without a key in use.
    let key = fs::read_to_string(place.path("desk-key.json")).unwrap();
    fs::set_permissions(place.path("desk-key.json"), fs::Permissions::from_mode(0o644)).unwrap();
    server.signal("-HUP");
    std::thread::sleep(std::time::Duration::from_millis(300));
    fs::set_permissions(place.path("desk-key.json"), fs::Permissions::from_mode(0o600)).unwrap();
    fs::write(place.path("desk-key.json"), key.replace("not_after\": \"2", "not_after\": \"1")).unwrap();
    server.signal("-HUP");
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert_eq!(published(&server)["keys"].as_array().unwrap().len(), 2);
    assert_eq!(server.request("POST", "/api/v1/orders/wo_1/pass", Some("key-of-worker"), "").0, 200);
    let log = server.stop();
    assert!(log.contains("2 keys to sign passes with"), "{log}");
    assert!(log.contains("the keys that sign passes stay: `desk-key.json` has mode 644"), "{log}");
    assert!(log.contains("`desk-key.json` has no key that may sign now"), "{log}");
}

#[test]
fn passes_and_keys_reach_neither_log_nor_store() {
    let place = Place::new();
    place.write("keys.json", r#"{"keys": {"key-of-manager": "agent:manager", "key-of-worker": "agent:worker"}}"#);
    place.say("keys new desk-key.json").expect(0);
    let line =
        format!("serve --port 0 --keys keys.json --store store/desk.db --pass-key desk-key.json --issuer {DESK}");
    fs::create_dir(place.path("store")).unwrap();
    let server = Server::start_with(&place, &line, &[("BAILIWICK_LOG", "trace")]);
    let call = |path: &str, key: &str, body: &str| server.request("POST", path, Some(key), body);
    call("/api/v1/orders", "key-of-manager", &common::order("wo_1").to_string());
    call("/api/v1/orders/wo_1/accept", "key-of-worker", "");
    let mut passes = Vec::new();
    for path in ["start", "pass", "pass"] {
        let (status, body) = call(&format!("/api/v1/orders/wo_1/{path}"), "key-of-worker", "");
        assert_eq!(status, 200, "{body}");
        passes.push(serde_json::from_str::<Value>(&body).unwrap()["pass"].as_str().unwrap().to_owned());
    }
    server.request("GET", "/.well-known/bailiwick-revocations", None, "");
    let key: Value = serde_json::from_str(&fs::read_to_string(place.path("desk-key.json")).unwrap()).unwrap();
    let files = || {
        let files = fs::read_dir(place.path("store")).unwrap();
        files.flat_map(|file| fs::read(file.unwrap().path()).unwrap()).collect::<Vec<u8>>()
    };
    let mut kept = files();
    let log = server.stop();
    kept.extend(files());
    let holds = |bytes: &[u8], text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
    assert!(
        log.contains("/api/v1/orders/{id}/pass") && holds(&kept, "File the ticket"),
        "the search finds what is there"
    );
    let secret = key["d"].as_str().unwrap().to_owned();
    for never in passes.iter().flat_map(|pass| pass.split('.')).chain([secret.as_str()]) {
        assert!(!log.contains(never) && !holds(&kept, never), "{never}");
    }
}

#[test]
fn a_start_that_could_not_sign_is_explained() {
    let place = Place::new();
    place.say("keys new key.json").expect(0);
    place.say("keys new open.json").expect(0);
    fs::set_permissions(place.path("open.json"), fs::Permissions::from_mode(0o644)).unwrap();
    let public = place.say("keys public key.json").expect(0);
    for (name, text) in [
        ("public.json", public.stdout.as_str()),
        ("text.json", "no key"),
        ("twice.json", r#"{"kty": "EC", "kty": "EC"}"#),
    ] {
        place.write(name, text);
        fs::set_permissions(place.path(name), fs::Permissions::from_mode(0o600)).unwrap();
    }
    for (options, message) in [
        ("--pass-key key.json", "`--pass-key` needs the name by which verifiers know this desk"),
        ("--issuer https://x", "`--issuer` is about passes, and there is no key to sign them with"),
        ("--pass-ttl 60", "`--pass-ttl` is about passes"),
        ("--pass-key key.json --issuer https://x --pass-ttl 0", "`--pass-ttl <SECONDS>` is `0`"),
        ("--pass-key key.json --issuer https://x --pass-ttl 86401", "`--pass-ttl <SECONDS>` is `86401`"),
        ("--pass-key none.json --issuer https://x", "`none.json` cannot be read: no such file or directory"),
        (
            "--pass-key open.json --issuer https://x",
            "`open.json` has mode 644: others can read or change the key; run `chmod 600 open.json`",
        ),
        ("--pass-key public.json --issuer https://x", "has no private member `d`"),
        ("--pass-key text.json --issuer https://x", "`text.json`"),
        ("--pass-key twice.json --issuer https://x", "`twice.json`"),
    ] {
        for command in ["serve --port 0", "mcp --as agent:worker"] {
            let run = place.say(&format!("{command} --store desk.db {options}")).expect(2);
            assert!(run.stderr.contains(message) && run.stdout.is_empty(), "{command} {options}: {}", run.stderr);
        }
    }
    let blank = place.run(["serve", "--port", "0", "--pass-key", "key.json", "--issuer", " "]).expect(2);
    assert!(blank.stderr.contains("`--issuer` is blank"), "{}", blank.stderr);
    assert!(!place.path("desk.db").exists(), "nothing was made");
}

#[test]
fn the_configuration_may_say_what_signs() {
    let place = Place::new();
    place.say("keys new desk-key.json").expect(0);
    let text = format!("server:\n  port: 0\n  pass_key: desk-key.json\n  issuer: {DESK}\nstorage:\n  path: desk.db\n");
    place.write("bailiwick.yaml", &text);
    let server = Server::start(&place, "serve --config bailiwick.yaml");
    fetch(&place, &server, "/.well-known/jwks.json", "jwks.json");
    assert!(server.stop().contains("OPEN MODE"));
    place.write("bailiwick.yaml", text.replace("pass_key", "# pass_key"));
    let run = place.say("serve --config bailiwick.yaml").expect(2);
    assert!(run.stderr.contains("`--issuer` is about passes"), "{}", run.stderr);
}

#[test]
fn a_desk_over_stdio_signs_too() {
    let place = Place::new();
    place.say("keys new key.json").expect(0);
    place.write("jwks.json", place.say("keys public key.json").expect(0).stdout);
    place.write_json("order.json", &common::order("wo_1"));
    place.say("order create order.json --as agent:manager --store desk.db").expect(0);
    place.say("order accept wo_1 --as agent:worker --store desk.db").expect(0);
    let message = |id: u64, name: &str| {
        let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}});
        let params = json!({"name": name, "arguments": {"id": "wo_1"}, "_meta": meta});
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string()
    };
    let line = format!("mcp --as agent:worker --store desk.db --pass-key key.json --issuer {DESK} --pass-ttl 120");
    for (id, tool) in [(1, "start_work_order"), (2, "renew_work_pass")] {
        let answers = place.run_with(line.split(' '), message(id, tool) + "\n").expect(0).json_lines();
        let answer = &answers[0];
        place.write("pass.jwt", answer["result"]["structuredContent"]["pass"].as_str().unwrap());
        let verified = place
            .say(&format!("pass verify pass.jwt --keys jwks.json --issuer {DESK} --order wo_1 --json"))
            .expect(0)
            .json();
        let claims = &verified["claims"];
        assert_eq!(claims["exp"].as_i64().unwrap() - claims["iat"].as_i64().unwrap(), 120);
    }
}
