//! The budgets of the design that apply so far, measured: `cargo xtask bench`.
//!
//! Each line says what was measured, the budget, and their ratio: 1.00 is the budget itself, less is better. What
//! depends on the disk or the machine is a ratio between two measurements on the same one.

use std::error::Error;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use bailiwick_core::hash::sha256;
use bailiwick_core::jose::{Algorithm, Compact, KeySet, SigningKey};
use bailiwick_core::journal::export::{Header, Journal, write_entry_line};
use bailiwick_core::journal::{Draft, Head, Label, verify_export};
use bailiwick_core::json::{Limits, Object, parse};
use bailiwick_core::time::instant;
use bailiwick_core::work::pass::{Check, Terms, issue, verify_chain};
use bailiwick_core::work::{NoEngine, validate_order};
use serde_json::json;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use sqlx::{ConnectOptions as _, Connection as _};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// The argument by which this program is an MCP server.
const UPSTREAM: &str = "upstream";

const FAR: &str = "2100-01-01T00:00:00Z";

fn main() -> Outcome<()> {
    if std::env::args().nth(1).as_deref() == Some(UPSTREAM) {
        return upstream();
    }
    println!("{:<58} {:>14} {:>14} {:>7}", "what", "measured", "budget", "ratio");
    validate()?;
    passes()?;
    verify()?;
    let folder = tempfile::tempdir()?;
    durable(folder.path())?;
    gateway(folder.path())?;
    start(folder.path())?;
    wake(&format!("sqlite:{}", folder.path().join("wake.db").display()), "two stdio processes on one SQLite file")?;
    match std::env::var("BAILIWICK_POSTGRES_URL") {
        Ok(url) => wake(&url, "two processes on one PostgreSQL")?,
        Err(_) => println!("skipped on PostgreSQL: BAILIWICK_POSTGRES_URL is not set"),
    }
    Ok(())
}

/// A line of the table, for what should be small.
fn at_most(what: &str, measured: f64, budget: f64, unit: &str) {
    line(what, measured, budget, measured / budget, unit);
}

/// A line of the table, for what should be large.
fn at_least(what: &str, measured: f64, budget: f64, unit: &str) {
    line(what, measured, budget, budget / measured, unit);
}

fn line(what: &str, measured: f64, budget: f64, ratio: f64, unit: &str) {
    let number = |value: f64| format!("{value:.2} {unit}");
    let mark = if ratio > 1.0 { "  over" } else { "" };
    println!("{what:<58} {:>14} {:>14} {ratio:>7.2}{mark}", number(measured), number(budget));
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// The fastest of several rounds: what the code costs when nothing else runs.
fn best(rounds: usize, mut round: impl FnMut() -> Duration) -> Duration {
    (0..rounds).map(|_| round()).min().unwrap_or_default()
}

fn validate() -> Outcome<()> {
    let criteria: Vec<_> = (0..8)
        .map(|n| json!({"id": format!("criterion-{n}"), "text": "States the figure, where it was read, and how far it may be off"}))
        .collect();
    let context: Vec<_> = (0..6)
        .map(|n| json!({"uri": format!("https://files.example/reports/2026/quarter-{n}.pdf"), "note": "Read the notes to the accounts first"}))
        .collect();
    let order = json!({
        "spec": "awl/work-order@0.4", "id": "wo_0123456789abcdef", "created_at": "2026-01-01T09:00:00.000Z",
        "from": "agent:manager", "to": "agent:worker", "goal": "Summarise what changed between the two filings ".repeat(4),
        "criteria": criteria, "budget": {"usd": 2.5, "tokens": 200_000, "tool_calls": 40, "seconds": 3600},
        "deadline": "2026-01-01T17:00:00.000Z", "tools": ["filings/*", "calc/ratio", "mail/send"], "staged": ["mail/send"],
        "context": context, "inputs": {"companies": ["a", "b", "c"], "years": [2023, 2024, 2025]},
        "handoff": {"summary": "The first half is done", "decisions": [{"text": "Use restated figures", "why": "They are audited"}]},
    })
    .to_string();
    let per_order = |validated: bool| {
        best(20, || {
            const TIMES: u32 = 500;
            let began = Instant::now();
            for _ in 0..TIMES {
                let value = parse(std::hint::black_box(order.as_bytes()), &Limits::DOCUMENT);
                if let (true, Ok(value)) = (validated, &value) {
                    assert!(validate_order(value, &NoEngine).findings.is_empty());
                }
                std::hint::black_box(&value);
            }
            began.elapsed() / TIMES
        })
    };
    let what = format!("validate an order of {} bytes, parse included", order.len());
    at_most(&what, per_order(true).as_secs_f64() * 1e6, 10.0, "µs");
    Ok(())
}

/// Chains against the bare signature checks that they cannot do without, in turns, so that both see the same machine.
fn passes() -> Outcome<()> {
    let now = instant("2026-03-02T08:00:00Z").ok_or("no instant")?;
    for algorithm in [Algorithm::Es256, Algorithm::Ed25519] {
        let key = SigningKey::from_secret(algorithm, &[7; 32])?;
        let keys = KeySet::of(key.public().clone());
        let tokens = (0..8).map(|link| issue_link(link, &key, now)).collect::<Outcome<Vec<_>>>()?;
        let tokens: Vec<&str> = tokens.iter().map(String::as_str).collect();
        for chain in [1, 2, 8].map(|links| tokens.get(..links).unwrap_or_default()) {
            let signed = chain.iter().map(|token| Compact::parse(token, token.len())).collect::<Result<Vec<_>, _>>()?;
            let check_bare = || {
                let verifies =
                    |token: &Compact<'_>| key.public().verifies(token.signing_input().as_bytes(), token.signature());
                assert!(signed.iter().all(verifies));
            };
            let check_whole = || assert!(verify_chain(std::hint::black_box(chain), &keys, &Check::at(now)).is_ok());
            let (mut bare, mut whole) = (Duration::MAX, Duration::MAX);
            for depth in (0..64).flat_map(|depth| [depth; 20]) {
                bare = bare.min(at_depth(depth, &check_bare));
                whole = whole.min(at_depth(depth, &check_whole));
            }
            let what = format!("verify {} pass(es), {}, of the bare check", chain.len(), algorithm.as_str());
            at_most(&what, whole.as_secs_f64() / bare.as_secs_f64(), 1.15, "×");
        }
        refuse_misshapen(&tokens, &keys, now)?;
    }
    Ok(())
}

/// Times a call from deeper in the stack. The vector code of curve arithmetic is up to a fifth slower where its
/// variables happen to lie badly, so what is compared is tried at many places.
#[inline(never)]
fn at_depth(depth: usize, call: &dyn Fn()) -> Duration {
    let room = std::hint::black_box([0_u64; 4]);
    let time = match depth.checked_sub(1) {
        Some(depth) => at_depth(depth, call),
        None => {
            let began = Instant::now();
            call();
            began.elapsed()
        }
    };
    std::hint::black_box(&room);
    time
}

/// A pass as a desk issues it for an order with a dozen tools.
fn issue_link(link: usize, key: &SigningKey, now: bailiwick_core::time::Millis) -> Outcome<String> {
    let tools: Vec<_> = (0..12).map(|n| format!("server{n}/tool_name")).collect();
    let order = json!({
        "id": format!("wo_{link}"), "to": "https://agents.example/clerk", "parent_id": format!("wo_{}", link.wrapping_sub(1)),
        "budget": {"usd": 2.5, "tokens": 200_000, "tool_calls": 40, "seconds": 3600}, "deadline": "2026-03-02T17:00:00.000Z",
        "tools": tools,
    });
    let order = parse(order.to_string().as_bytes(), &Limits::DOCUMENT)?;
    let jti = format!("pass_00000000-0000-4000-8000-00000000000{link}");
    let terms =
        Terms { issuer: "https://desk.example", jti: &jti, now, ttl_seconds: 900, audiences: &[], holder: None };
    Ok(issue(&order, &terms, key)?.token)
}

/// What has not the form of a pass costs nothing worth an attacker's while.
fn refuse_misshapen(tokens: &[&str], keys: &KeySet, now: bailiwick_core::time::Millis) -> Outcome<()> {
    const TIMES: u32 = 500;
    let token = tokens.first().ok_or("no pass")?;
    let (header, rest) = token.split_once('.').ok_or("no header")?;
    let misshapen = [format!("{token}.x"), format!("{token}="), format!("{header}=.{rest}"), format!("W10.{rest}")];
    let slowest = misshapen.iter().map(|token| {
        best(100, || {
            let began = Instant::now();
            for _ in 0..TIMES {
                assert!(verify_chain(&[std::hint::black_box(token.as_str())], keys, &Check::at(now)).is_err());
            }
            began.elapsed() / TIMES
        })
    });
    at_most("refuse what is no pass", slowest.max().unwrap_or_default().as_secs_f64() * 1e6, 1.0, "µs");
    Ok(())
}

fn verify() -> Outcome<()> {
    const EVENTS: u64 = 100_000;
    let mut head = Head::GENESIS;
    let (mut lines, mut preimage) = (Vec::new(), Vec::new());
    for number in 0..EVENTS {
        let draft = Draft {
            protocol: Label::Journal1,
            workspace_id: "desk".into(),
            epoch_id: "epoch_00000000-0000-4000-8000-000000000000".into(),
            id: format!("event_{number:036}"),
            kind: "work.progress".into(),
            entity_id: "wo_0123456789abcdef".into(),
            actor: "agent:worker".into(),
            session_id: None,
            occurred_at: "2026-01-01T09:00:00.000Z".into(),
            payload: Object::new().with("n", number).with("note", "x".repeat(60)),
        };
        head = draft.seal_into(&head, &mut preimage)?.head();
        write_entry_line(&preimage, &head.hash, &mut lines);
    }
    let mut export = Vec::new();
    let head_hash = bailiwick_core::hash::hex(&head.hash);
    Header { workspace_id: "desk".into(), journal: Journal::Decisions, head_sequence: EVENTS, head_hash }
        .write_line(&mut export);
    export.extend_from_slice(&lines);
    let time = best(5, || {
        let began = Instant::now();
        let report = verify_export(&export);
        assert!(report.is_ok_and(|report| report.chain.ok));
        began.elapsed()
    });
    #[allow(clippy::cast_precision_loss)]
    let rate = EVENTS as f64 / time.as_secs_f64();
    let what = format!("verify a journal, events of {} bytes", lines.len() / usize::try_from(EVENTS)?);
    at_least(&what, rate / 1000.0, 500.0, "k/s");
    Ok(())
}

/// The program under test.
fn program() -> Command {
    Command::new(std::env::var_os("BAILIWICK_BIN").unwrap_or_else(|| env!("CARGO_BIN_EXE_bailiwick").into()))
}

/// An MCP server on stdio, spoken to line by line.
struct Agent {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    next: u64,
}

impl Agent {
    fn start(actor: &str, store: &str) -> Outcome<Self> {
        Self::spawn(program().args(["mcp", "--as", actor, "--store", store]))
    }

    fn spawn(command: &mut Command) -> Outcome<Self> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let stdin = child.stdin.take().ok_or("no stdin")?;
        let stdout = BufReader::new(child.stdout.take().ok_or("no stdout")?);
        let mut agent = Self { child, stdin, stdout, next: 0 };
        agent.request("initialize", &json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}))?;
        writeln!(agent.stdin, "{}", json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        Ok(agent)
    }

    fn send(&mut self, method: &str, params: &serde_json::Value) -> Outcome<u64> {
        self.next += 1;
        writeln!(self.stdin, "{}", json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params}))?;
        Ok(self.next)
    }

    fn receive(&mut self) -> Outcome<serde_json::Value> {
        let mut line = String::new();
        self.stdout.read_line(&mut line)?;
        Ok(serde_json::from_str(&line)?)
    }

    fn request(&mut self, method: &str, params: &serde_json::Value) -> Outcome<serde_json::Value> {
        let id = self.send(method, params)?;
        loop {
            let answer = self.receive()?;
            if answer["id"] == id {
                return Ok(answer["result"].clone());
            }
        }
    }

    fn call(&mut self, name: &str, arguments: serde_json::Value) -> Outcome<serde_json::Value> {
        let result = self.request("tools/call", &json!({"name": name, "arguments": arguments}))?;
        if result["isError"] == true {
            return Err(format!("{name}: {}", result["content"][0]["text"]).into());
        }
        Ok(result["structuredContent"].clone())
    }

    fn resident_mb(&self) -> Outcome<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no VmRSS")?;
        Ok(line.trim().trim_end_matches(" kB").trim().parse::<f64>()? / 1024.0)
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An order in work, for the agent called `agent:worker`.
fn work(manager: &mut Agent, worker: &mut Agent, id: &str) -> Outcome<()> {
    manager.call(
        "create_work_order",
        json!({"id": id, "to": "agent:worker", "goal": "G", "criteria": [{"id": "c", "text": "C"}], "budget": {"usd": 1}, "deadline": FAR, "tools": []}),
    )?;
    worker.call("accept_work_order", json!({"id": id}))?;
    worker.call("start_work_order", json!({"id": id}))?;
    Ok(())
}

fn durable(folder: &Path) -> Outcome<()> {
    const TIMES: usize = 300;
    const CLIENTS: usize = 32;
    let store = format!("sqlite:{}", folder.join("durable.db").display());
    let (mut manager, mut worker) = (Agent::start("agent:manager", &store)?, Agent::start("agent:worker", &store)?);
    for client in 0..CLIENTS {
        work(&mut manager, &mut worker, &format!("o{client}"))?;
    }
    let progress =
        |order: usize| json!({"name": "report_progress", "arguments": {"id": format!("o{order}"), "note": "half"}});
    let one_by_one = (0..TIMES)
        .map(|number| {
            let began = Instant::now();
            worker.request("tools/call", &progress(number % CLIENTS))?;
            Ok(began.elapsed())
        })
        .collect::<Outcome<Vec<_>>>()?;
    let bare = bare(folder, TIMES)?;
    let (one, alone) = (median(one_by_one.clone()), median(bare));
    at_most("a durable command over MCP stdio, in bare commits", one.as_secs_f64() / alone.as_secs_f64(), 1.5, "×");
    let one_rate = TIMES as f64 / one_by_one.iter().sum::<Duration>().as_secs_f64();
    let began = Instant::now();
    for client in 0..CLIENTS {
        worker.send("tools/call", &progress(client))?;
    }
    let rounds = TIMES * 4;
    for number in 0..rounds {
        worker.receive()?;
        worker.send("tools/call", &progress(number % CLIENTS))?;
    }
    let rate = rounds as f64 / began.elapsed().as_secs_f64();
    at_least("commands a second, 32 clients waiting to one", rate / one_rate, 5.0, "×");
    println!("  (one by one {one_rate:.0}/s at p50 {one:?}; bare commit p50 {alone:?}; 32 waiting {rate:.0}/s)");
    Ok(())
}

/// Commits of the rows that a progress note leaves, by SQLite alone.
fn bare(folder: &Path, times: usize) -> Outcome<Vec<Duration>> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
        let options = SqliteConnectOptions::new()
            .filename(folder.join("bare.db"))
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full);
        let mut connection = options.connect().await?;
        for table in [
            "CREATE TABLE entry (sequence INTEGER PRIMARY KEY, id BLOB UNIQUE, body BLOB, hash BLOB)",
            "CREATE TABLE head (id INTEGER PRIMARY KEY, sequence INTEGER, hash BLOB)",
            "CREATE TABLE document (id BLOB PRIMARY KEY, version INTEGER, body BLOB)",
            "CREATE TABLE blob (digest BLOB PRIMARY KEY, salt BLOB, bytes BLOB)",
            "INSERT INTO head VALUES (1, 0, x'')",
        ] {
            sqlx::query(table).execute(&mut connection).await?;
        }
        let mut taken = Vec::with_capacity(times);
        for number in 0..times {
            let digest = sha256(&[&number.to_be_bytes()]).to_vec();
            let began = Instant::now();
            let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
            let sequence = i64::try_from(number)?;
            sqlx::query("INSERT INTO entry VALUES ($1, $2, $3, $4)")
                .bind(sequence).bind(digest.clone()).bind(vec![b'x'; 1000]).bind(digest.clone())
                .execute(&mut *transaction).await?;
            sqlx::query("UPDATE head SET sequence = $1, hash = $2").bind(sequence).bind(digest.clone())
                .execute(&mut *transaction).await?;
            for document in ["order", "track_record"] {
                sqlx::query("INSERT INTO document VALUES ($1, $2, $3) ON CONFLICT (id) DO UPDATE SET version = excluded.version, body = excluded.body")
                    .bind(document).bind(sequence).bind(vec![b'x'; 1200])
                    .execute(&mut *transaction).await?;
            }
            sqlx::query("INSERT INTO blob VALUES ($1, $2, $3)").bind(digest).bind(vec![0; 16]).bind(vec![b'x'; 6])
                .execute(&mut *transaction).await?;
            transaction.commit().await?;
            taken.push(began.elapsed());
        }
        Ok(taken)
    })
}

/// What a gateway adds to a call: the same server asked directly and through it, in turns.
fn gateway(folder: &Path) -> Outcome<()> {
    const TIMES: usize = 400;
    let store = format!("sqlite:{}", folder.join("gateway.db").display());
    let (mut manager, mut worker) = (Agent::start("agent:manager", &store)?, Agent::start("agent:worker", &store)?);
    manager.call(
        "create_work_order",
        json!({"id": "g", "to": "agent:worker", "goal": "G", "criteria": [{"id": "c", "text": "C"}], "budget": {"tool_calls": 100_000}, "deadline": FAR, "tools": ["up/*"]}),
    )?;
    worker.call("accept_work_order", json!({"id": "g"}))?;
    worker.call("start_work_order", json!({"id": "g"}))?;
    let this = std::env::current_exe()?;
    let config = folder.join("upstream.json");
    std::fs::write(&config, json!({"mcpServers": {"up": {"command": this, "args": [UPSTREAM]}}}).to_string())?;
    let mut direct = Agent::spawn(Command::new(&this).arg(UPSTREAM))?;
    let mut through =
        Agent::spawn(program().args(["gateway", "--order", "g", "--store", &store, "--config"]).arg(&config))?;
    let (mut alone, mut guarded) = (Vec::with_capacity(TIMES), Vec::with_capacity(TIMES));
    let time = |agent: &mut Agent, name: &str| {
        let began = Instant::now();
        let result = agent.request("tools/call", &json!({"name": name, "arguments": {"text": "hello"}}))?;
        match result["content"][0]["text"] == "hello" {
            true => Ok(began.elapsed()),
            false => Err(Box::<dyn Error>::from(format!("{name} answered {result}"))),
        }
    };
    for _ in 0..TIMES {
        alone.push(time(&mut direct, "echo")?);
        guarded.push(time(&mut through, "up__echo")?);
        // An agent thinks between calls; meanwhile how the last one went is noted.
        std::thread::sleep(Duration::from_millis(5));
    }
    let (alone, guarded) = (median(alone), median(guarded));
    let added = guarded.saturating_sub(alone);
    at_most("what `bailiwick gateway` adds to a call", added.as_secs_f64() * 1000.0, 1.0, "ms");
    println!("  (p50 {alone:?} directly, {guarded:?} through it, each call durable before it is forwarded)");
    Ok(())
}

/// An MCP server whose one tool answers what it is told.
fn upstream() -> Outcome<()> {
    for line in std::io::stdin().lock().lines() {
        let message: serde_json::Value = serde_json::from_str(&line?)?;
        let result = match message["method"].as_str() {
            Some("initialize") => {
                json!({"protocolVersion": message["params"]["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": {"name": "up", "version": "1"}})
            }
            Some("tools/list") => json!({"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]}),
            Some("tools/call") => {
                json!({"content": [{"type": "text", "text": message["params"]["arguments"]["text"]}]})
            }
            _ => continue,
        };
        println!("{}", json!({"jsonrpc": "2.0", "id": message["id"], "result": result}));
    }
    Ok(())
}

fn start(folder: &Path) -> Outcome<()> {
    let store = format!("sqlite:{}", folder.join("durable.db").display());
    let mut taken = Vec::new();
    let mut resident = 0.0_f64;
    let mut list = serde_json::Value::Null;
    for _ in 0..11 {
        let began = Instant::now();
        let mut agent = Agent::start("agent:worker", &store)?;
        list = agent.request("tools/list", &json!({}))?;
        taken.push(began.elapsed());
        resident = resident.max(agent.resident_mb()?);
    }
    at_most("`bailiwick mcp` until the first tools/list answer", median(taken).as_secs_f64() * 1000.0, 30.0, "ms");
    at_most("resident memory of `bailiwick mcp`", resident, 40.0, "MB");
    // A token is about four characters of JSON.
    let tokens = u32::try_from(list["tools"].to_string().len() / 4)?;
    at_most("tools/list of toolset `work`", f64::from(tokens), 8000.0, "tokens");
    Ok(())
}

/// How long a waiting call of one process takes to answer after another process acted.
fn wake(store: &str, what: &str) -> Outcome<()> {
    let (mut manager, mut worker) = (Agent::start("agent:manager", store)?, Agent::start("agent:worker", store)?);
    let id = format!("wake-{}", std::process::id());
    work(&mut manager, &mut worker, &id)?;
    let mut taken = Vec::new();
    for seq in 3..33 {
        manager.send("tools/call", &json!({"name": "wait_for_update", "arguments": {"id": id, "since_seq": seq}}))?;
        std::thread::sleep(Duration::from_millis(60));
        worker.call("report_progress", json!({"id": id, "note": "half"}))?;
        let acted = Instant::now();
        manager.receive()?;
        taken.push(acted.elapsed());
    }
    let slowest = taken.iter().max().copied().unwrap_or_default();
    at_most(&format!("waking: {what}"), median(taken).as_secs_f64() * 1000.0, 50.0, "ms");
    println!("  (slowest of 30: {slowest:?})");
    Ok(())
}
