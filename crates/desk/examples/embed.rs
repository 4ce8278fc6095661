//! A desk inside another program: in memory, with its own clock and ids, and a listener that hears every stored
//! entry.
//!
//! `cargo run -p bailiwick-desk --example embed`

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bailiwick_core::hash::sha256;
use bailiwick_core::heart::{Command, Query};
use bailiwick_core::json::{Limits, Object, Value, parse, write_pretty};
use bailiwick_core::principal::Principal;
use bailiwick_core::time::{Millis, instant};
use bailiwick_core::work;
use bailiwick_desk::{Desk, DeskError, Entropy, Options};
use bailiwick_store::Clock;
use tokio_stream::StreamExt as _;

/// A clock that goes on a second whenever it is read.
struct Ticking(AtomicU64);

impl Clock for Ticking {
    fn now(&self) -> Millis {
        let start = instant("2026-01-01T09:00:00Z").map_or(0, |start| start.0);
        let seconds = self.0.fetch_add(1, Ordering::Relaxed);
        Millis(start + i64::try_from(seconds).unwrap_or(0) * 1000)
    }
}

/// The same ids on every run.
#[derive(Default)]
struct Counting(AtomicU64);

impl Entropy for Counting {
    fn draw(&self) -> Result<[u8; 32], DeskError> {
        Ok(sha256(&[&self.0.fetch_add(1, Ordering::Relaxed).to_be_bytes()]))
    }
}

fn arguments(text: &str) -> Object {
    match parse(text.as_bytes(), &Limits::DOCUMENT) {
        Ok(Value::Object(object)) => object,
        _ => Object::new(),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let clock = Arc::new(Ticking(AtomicU64::new(0)));
    let options = bailiwick_store::Options { clock: Some(clock), ..Default::default() };
    let store = bailiwick_store::open("sqlite::memory:", options).await?;
    let options = Options { entropy: Arc::new(Counting::default()), ..Options::default() };
    let desk = Desk::open(store, options).await?;

    // The listener hears each entry after it is stored, in order, from the first.
    let mut entries = Box::pin(desk.follow(0));
    let listener = tokio::spawn(async move {
        for _ in 0..5 {
            if let Some(Ok(entry)) = entries.next().await {
                println!("heard entry {}", entry.sequence);
            }
        }
    });

    let (manager, worker) = (Principal::claimed("human:ada"), Principal::claimed("agent:clerk"));
    let order = r#"{"id": "wo_1", "to": "agent:clerk", "goal": "Add up the receipts",
        "criteria": [{"id": "sum", "text": "The sum is stated"}], "budget": {"usd": 1},
        "deadline": "2026-01-01T17:00:00Z", "tools": ["files/read"]}"#;
    let report = r#"{"id": "wo_1", "status": "done", "result": {"summary": "42.50"},
        "evidence": [{"criterion": "sum", "type": "artifact", "ref": "file:///sum.txt"}],
        "cost": {"usd": 0.1}, "tools_used": ["files/read"]}"#;
    let steps = [
        (&manager, "create", order),
        (&worker, "accept", r#"{"id": "wo_1"}"#),
        (&worker, "start", r#"{"id": "wo_1"}"#),
        (&worker, "report", report),
        (&manager, "review", r#"{"id": "wo_1", "decision": "approve"}"#),
    ];
    for (principal, name, text) in steps {
        let command = work::Command::parse(name, arguments(text)).map_err(bailiwick_desk::Failure::from)?;
        let reply = desk.run(principal, Command::Work(command)).await?;
        println!("{} {name}: {}", principal.id, reply.get("state").and_then(Value::as_str).unwrap_or("?"));
    }

    let record = Query::Work(work::Query::TrackRecord { agent: worker.id.clone() });
    println!("{}", write_pretty(&desk.ask(&manager, record).await?));
    tokio::time::timeout(Duration::from_secs(5), listener).await??;
    let verification = desk.verify(|_| ()).await?;
    println!("{} entries verified and decided again: {}", verification.chain.checked_events, verification.is_ok());
    desk.close().await;
    Ok(())
}
