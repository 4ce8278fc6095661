//! One of the worker's MCP servers: started when it is needed, started again when it has died.

use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::process::{Child, Command};
use tokio::sync::{Mutex, mpsc};

use crate::config::Program;
use crate::connection::{Connection, Fault};

/// The revision that upstream servers are spoken to in: the last one with `initialize`, which every server in use knows.
const PROTOCOL_VERSION: &str = "2025-11-25";
/// How long a server has to start and introduce itself.
const START_TIME: Duration = Duration::from_secs(30);
/// How long a server that could not be started is left alone, doubled each time.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// The longest that it is left alone.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// The most pages of a list.
const MOST_PAGES: usize = 100;

/// Secrets of ours that no upstream server needs.
const OURS: [&str; 4] = ["BAILIWICK_KEY", "BAILIWICK_STORE", "AWL_PASS", "AWL_PASS_FILE"];

/// Why an upstream server gave no answer; for the agent to read.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum UpstreamError {
    /// The server answered with an error of the protocol: the error object
    Answered(Value),
    /// It could not be started, so it was not asked; says why
    Unstarted(String),
    /// It gave no answer, so what it did is not known; says why
    Failed(String),
}

/// A server, and the connection to it while there is one.
pub(crate) struct Upstream {
    pub(crate) name: String,
    program: Program,
    time: Duration,
    notified: mpsc::Sender<(String, Value)>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    live: Option<Arc<Live>>,
    pause: Duration,
    not_before: Option<Instant>,
    last_error: String,
}

/// A server that runs.
struct Live {
    connection: Connection,
    capabilities: Value,
    // Killed when it is dropped.
    _child: Child,
}

impl Upstream {
    /// A server that is not started yet. What it tells goes to `notified` with its name.
    pub(crate) fn new(name: String, program: Program, time: Duration, notified: mpsc::Sender<(String, Value)>) -> Self {
        Self { name, program, time, notified, state: Mutex::default() }
    }

    /// What the server can do, as it said itself.
    pub(crate) async fn capabilities(&self) -> Result<Value, UpstreamError> {
        Ok(self.live().await?.capabilities.clone())
    }

    /// Asks the server.
    pub(crate) async fn request(&self, method: &str, params: Value) -> Result<Value, UpstreamError> {
        let live = self.live().await?;
        let asked = tokio::time::timeout(self.time, live.connection.request(method, params)).await;
        match asked {
            Ok(Ok(result)) => Ok(result),
            Ok(Err(Fault::Answered(error))) => Err(UpstreamError::Answered(error)),
            Ok(Err(Fault::Nonsense(what))) => Err(self.failed(format!("answered nonsense: {what}"))),
            Ok(Err(Fault::Closed)) => Err(self.failed("ended before it answered".into())),
            Err(_) => Err(self.failed(format!("did not answer within {} s", self.time.as_secs_f64()))),
        }
    }

    /// Everything on a list, page by page.
    pub(crate) async fn list(&self, method: &str, member: &str) -> Result<Vec<Value>, UpstreamError> {
        let mut items = Vec::new();
        let mut params = json!({});
        for _ in 0..MOST_PAGES {
            let mut page = self.request(method, params).await?;
            match page.get_mut(member).map(Value::take) {
                Some(Value::Array(found)) => items.extend(found),
                _ => return Err(self.failed(format!("answered `{method}` without `{member}`"))),
            }
            match page.get_mut("nextCursor").map(Value::take) {
                Some(cursor) if cursor.is_string() => params = json!({"cursor": cursor}),
                _ => return Ok(items),
            }
        }
        Err(self.failed(format!("answered `{method}` in more than {MOST_PAGES} pages")))
    }

    fn failed(&self, what: String) -> UpstreamError {
        UpstreamError::Failed(format!("server `{}` {what}", self.name))
    }

    /// The running server; started if it does not run.
    async fn live(&self) -> Result<Arc<Live>, UpstreamError> {
        let mut state = self.state.lock().await;
        if let Some(live) = state.live.as_ref().filter(|live| !live.connection.is_closed()) {
            return Ok(Arc::clone(live));
        }
        state.live = None;
        if state.not_before.is_some_and(|not_before| Instant::now() < not_before) {
            return Err(UpstreamError::Unstarted(state.last_error.clone()));
        }
        match tokio::time::timeout(START_TIME.min(self.time), self.start()).await {
            Ok(Ok(live)) => {
                let live = Arc::new(live);
                *state = State { live: Some(Arc::clone(&live)), ..State::default() };
                Ok(live)
            }
            failed => {
                let what = match failed {
                    Ok(Err(what)) => what,
                    _ => "did not introduce itself in time".into(),
                };
                state.pause = (state.pause * 2).clamp(FIRST_PAUSE, LONGEST_PAUSE);
                state.not_before = Some(Instant::now() + state.pause);
                state.last_error = format!("server `{}` {what}", self.name);
                tracing::warn!(server = self.name, what, "an upstream server could not be started");
                Err(UpstreamError::Unstarted(state.last_error.clone()))
            }
        }
    }

    async fn start(&self) -> Result<Live, String> {
        let mut command = Command::new(&self.program.command);
        command.args(&self.program.arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        for name in OURS {
            command.env_remove(name);
        }
        command.envs(&self.program.environment);
        if let Some(folder) = &self.program.folder {
            command.current_dir(folder);
        }
        let mut child = command.spawn().map_err(|error| format!("cannot be started: {error}"))?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("has no standard input and output".into());
        };
        let (notified, mut notifications) = mpsc::channel::<Value>(64);
        let (name, to) = (self.name.clone(), self.notified.clone());
        tokio::spawn(async move {
            while let Some(message) = notifications.recv().await {
                if to.send((name.clone(), message)).await.is_err() {
                    break;
                }
            }
        });
        let connection = Connection::open(stdout, stdin, notified);
        let introduction = json!({
            "protocolVersion": PROTOCOL_VERSION,
            "capabilities": {},
            "clientInfo": {"name": "bailiwick-gateway", "version": env!("CARGO_PKG_VERSION")},
        });
        let mut answer = match connection.request("initialize", introduction).await {
            Ok(answer) => answer,
            Err(Fault::Answered(error)) => return Err(format!("refused to begin: {error}")),
            Err(Fault::Nonsense(what)) => return Err(format!("answered nonsense: {what}")),
            Err(Fault::Closed) => return Err("ended before it introduced itself".into()),
        };
        connection.notify("notifications/initialized", None).await;
        let capabilities = answer.get_mut("capabilities").map_or(Value::Null, Value::take);
        Ok(Live { connection, capabilities, _child: child })
    }
}
