//! Desks for tests, on both databases.
// Each test program uses a part of it.
#![allow(dead_code, unreachable_pub)]
// A test fails by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use bailiwick_core::heart::{Command, Query};
use bailiwick_core::json::{Limits, Object, Value, parse};
use bailiwick_core::principal::Principal;
use bailiwick_core::time::{Millis, instant};
use bailiwick_core::work;
use bailiwick_desk::{Desk, Failure, Options};
use bailiwick_store::Clock;
use sqlx::Connection as _;

pub fn object(text: &str) -> Object {
    parse(text.as_bytes(), &Limits::DOCUMENT).unwrap().as_object().unwrap().clone()
}

pub async fn open(address: &str) -> Desk {
    let store = bailiwick_store::open(address, bailiwick_store::Options::default()).await.unwrap();
    Desk::open(store, Options::default()).await.unwrap()
}

/// An order from whoever creates it to `to`, with an hour to go.
pub fn order(id: &str, to: &str, deadline: &str) -> String {
    format!(
        r#"{{"id": "{id}", "to": "{to}", "goal": "G", "criteria": [{{"id": "c", "text": "C"}}], "budget": {{"usd": 1}}, "deadline": "{deadline}", "tools": ["a/*"]}}"#
    )
}

pub const FAR: &str = "2100-01-01T00:00:00Z";

pub async fn run(desk: &Desk, actor: &str, name: &str, arguments: &str) -> Result<Value, Failure> {
    let command = work::Command::parse(name, object(arguments))?;
    desk.run(&Principal::claimed(actor), Command::Work(command)).await
}

pub async fn ask(desk: &Desk, name: &str, arguments: &str) -> Result<Value, Failure> {
    let query = work::Query::parse(name, object(arguments))?;
    desk.ask(&Principal::claimed("reader"), Query::Work(query)).await
}

pub fn state(view: &Value) -> &str {
    view.get("state").and_then(Value::as_str).unwrap()
}

/// The databases to test on: a SQLite file in `folder`, and a new PostgreSQL database if there is a server.
pub async fn addresses(folder: &std::path::Path) -> Vec<String> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let mut addresses = vec![format!("sqlite:{}", folder.join("test.db").display())];
    match std::env::var("BAILIWICK_POSTGRES_URL") {
        Ok(url) => {
            let name = format!("desk_{}_{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
            let mut connection = sqlx::PgConnection::connect(&url).await.unwrap();
            let create = format!("CREATE DATABASE {name}");
            sqlx::raw_sql(sqlx::AssertSqlSafe(create)).execute(&mut connection).await.unwrap();
            let (server, _) = url.rsplit_once('/').filter(|(server, _)| !server.ends_with('/')).unwrap_or((&url, ""));
            addresses.push(format!("{server}/{name}"));
        }
        Err(_) => eprintln!("skipped on PostgreSQL: BAILIWICK_POSTGRES_URL is not set"),
    }
    addresses
}

/// A clock that goes only when told to.
pub struct Told(AtomicI64);

impl Told {
    pub fn new() -> Arc<Self> {
        Arc::new(Self(instant("2026-01-01T09:00:00Z").unwrap().0.into()))
    }

    pub fn pass(&self, time: Duration) {
        self.0.fetch_add(i64::try_from(time.as_millis()).unwrap(), Ordering::SeqCst);
    }
}

impl Clock for Told {
    fn now(&self) -> Millis {
        Millis(self.0.load(Ordering::SeqCst))
    }
}
