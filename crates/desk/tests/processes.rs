//! Several processes on one database: a random run whose journal gives every document again, and clients that are
//! killed without losing what was answered.
//!
//! The processes are this test program, started again with [`ROLE`] set.
// A test fails by panicking, its helpers too.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use bailiwick_core::json::Value;
use common::{FAR, addresses, ask, open, order, run};

const ROLE: &str = "BAILIWICK_TEST_ROLE";
const ADDRESS: &str = "BAILIWICK_TEST_ADDRESS";
const SEED: &str = "BAILIWICK_TEST_SEED";

const PROCESSES: u64 = 4;
const CLIENTS: u64 = 5;
const COMMANDS: u64 = 500;

/// A small generator, so that a seed gives the same run (SplitMix64).
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % end
    }
}

fn start(role: &str, address: &str, seed: u64) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "role", "--nocapture"])
        .env(ROLE, role)
        .env(ADDRESS, address)
        .env(SEED, seed.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap()
}

/// What a started process does; does nothing when the test program runs by itself.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn role() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let address = std::env::var(ADDRESS).unwrap();
    let seed: u64 = std::env::var(SEED).unwrap().parse().unwrap();
    let desk = open(&address).await;
    match role.as_str() {
        "random" => {
            let clients: Vec<_> = (0..CLIENTS)
                .map(|client| {
                    let desk = desk.clone();
                    tokio::spawn(async move { random_client(&desk, Random(seed * 1000 + client)).await })
                })
                .collect();
            for client in clients {
                client.await.unwrap();
            }
        }
        "endless" => {
            let clients: Vec<_> = (0..8)
                .map(|client| {
                    let desk = desk.clone();
                    tokio::spawn(async move {
                        for number in 0_u64.. {
                            let id = format!("o-{seed}-{client}-{number}");
                            if run(&desk, "m", "create", &order(&id, "w", FAR)).await.is_ok() {
                                // One write, so that lines don't mix and a killed process leaves none half.
                                std::io::stdout().write_all(format!("\nanswered {id}\n").as_bytes()).unwrap();
                            }
                        }
                    })
                })
                .collect();
            for client in clients {
                client.await.unwrap();
            }
        }
        other => panic!("unknown role {other}"),
    }
    desk.close().await;
}

async fn random_client(desk: &bailiwick_desk::Desk, mut random: Random) {
    let actors = ["human:m", "w", "v"];
    for _ in 0..COMMANDS {
        let actor = actors[usize::try_from(random.below(3)).unwrap()];
        let id = format!("o{}", random.below(1000));
        let (to, other, cost) =
            (actors[usize::try_from(random.below(3)).unwrap()], random.below(1000), random.below(130));
        let of = |rest: &str| format!(r#"{{"id": "{id}"{rest}}}"#);
        let report = |rest: &str| {
            of(&format!(
                r#", "result": {{"summary": "S"}}, "evidence": [{{"criterion": "c", "type": "note"}}], "cost": {{"usd": {}}}, "tools_used": ["a/b"]{rest}"#,
                f64::from(u32::try_from(cost).unwrap()) / 100.0
            ))
        };
        let create = |more: &str| order(&id, to, FAR).replace(r#""goal""#, &format!(r#"{more}"goal""#));
        let (name, arguments) = match random.below(14) {
            0..=2 => ("create", create("")),
            3 => ("create", create(&format!(r#""parent_id": "o{other}", "#))),
            4 => ("create", create(&format!(r#""continues": "o{other}", "#))),
            5 => ("accept", of("")),
            6 => ("start", of("")),
            7 => ("decline", of(r#", "reason": "no""#)),
            8 => ("progress", of(r#", "note": "half", "percent": 50"#)),
            9 => ("report", report(r#", "status": "done""#)),
            10 => ("report", report(r#", "status": "blocked", "questions": ["Which?"]"#)),
            11 => ("answer", of(r#", "answer": "This""#)),
            12 => ("review", of(r#", "decision": "rework", "reason": "again""#)),
            _ => ("review", of(r#", "decision": "approve""#)),
        };
        if let Err(bailiwick_desk::Failure::Failed(error)) = run(desk, actor, name, &arguments).await {
            panic!("{name}: {error}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_thousand_random_commands_replay_to_the_stored_documents() {
    let folder = tempfile::tempdir().unwrap();
    for address in addresses(folder.path()).await {
        let seed = 7;
        let children: Vec<Child> = (0..PROCESSES).map(|process| start("random", &address, seed + process)).collect();
        for child in children {
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        }
        let desk = open(&address).await;
        let found = desk.verify(|_| ()).await.unwrap();
        println!(
            "{}: {} commands by {} clients in {PROCESSES} processes left {} entries and {} documents",
            desk.describe(),
            PROCESSES * CLIENTS * COMMANDS,
            PROCESSES * CLIENTS,
            found.chain.checked_events,
            found.documents
        );
        assert!(found.is_ok(), "{found:?}");
        assert_eq!(found.decisions.decided, found.chain.checked_events);
        assert!(found.chain.checked_events > 1000, "the run must have done something");
        desk.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_answered_survives_kill_9() {
    let folder = tempfile::tempdir().unwrap();
    for address in addresses(folder.path()).await {
        let mut answered: Vec<String> = Vec::new();
        for round in 0..8_u64 {
            let mut children = [start("endless", &address, round * 2), start("endless", &address, round * 2 + 1)];
            tokio::time::sleep(Duration::from_millis(700 + 97 * round)).await;
            for child in &mut children {
                child.kill().unwrap();
                child.wait().unwrap();
                let lines = BufReader::new(child.stdout.take().unwrap()).lines();
                let lines = lines.map_while(Result::ok);
                answered.extend(lines.filter_map(|line| line.strip_prefix("answered ").map(String::from)));
            }
            let desk = open(&address).await;
            let found = desk.verify(|_| ()).await.unwrap();
            assert!(found.is_ok(), "after round {round}: {found:?}");
            desk.close().await;
        }
        assert!(answered.len() > 50, "the clients must have been at work when they were killed: {}", answered.len());
        let desk = open(&address).await;
        for id in &answered {
            let view = ask(&desk, "get", &format!(r#"{{"id": "{id}"}}"#)).await;
            assert!(view.is_ok(), "{id} was answered and is gone");
            assert_eq!(view.unwrap().get("id").and_then(Value::as_str), Some(id.as_str()));
        }
        println!("{}: {} answered commands survived 16 kills", desk.describe(), answered.len());
        desk.close().await;
    }
}
