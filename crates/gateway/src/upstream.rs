//! One of the worker's MCP servers: connected when it is needed, and again when the connection has ended.

use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::process::{Child, Command};
use tokio::sync::{Mutex, mpsc};

use crate::config::{Address, Program, Server, Upstreams};
use crate::connection::{Connection, Fault, Http, Progress};
use crate::http::HttpClient;

/// The revision that upstream servers are spoken to in: the last one with `initialize`, which every server in use knows.
const PROTOCOL_VERSION: &str = "2025-11-25";
/// How long a server has to start and introduce itself.
const START_TIME: Duration = Duration::from_secs(30);
/// How long a server that could not be started is left alone, doubled each time.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// The longest that it is left alone.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// How long a server that gave no answer in time has to say that it is alive.
const PING_TIME: Duration = Duration::from_secs(5);
/// The most pages of a list.
const MOST_PAGES: usize = 100;

/// Secrets of ours that no upstream server needs.
const OURS: [&str; 4] = ["BAILIWICK_KEY", "BAILIWICK_STORE", "AWL_PASS", "AWL_PASS_FILE"];

/// Why an upstream server gave no answer; for the agent to read.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum UpstreamError {
    /// The server answered with an error of the protocol: the error object
    Answered(Value),
    /// It could not be started or reached, so it was not asked; says why
    Unasked(String),
    /// It gave no answer, so what it did is not known; says why
    Failed(String),
}

/// A server, and the connection to it while there is one.
pub(crate) struct Upstream {
    pub(crate) name: String,
    place: Place,
    time: Duration,
    notified: mpsc::Sender<(String, Value)>,
    state: Mutex<State>,
}

enum Place {
    Program(Program),
    Address(Box<HttpClient>, Address),
}

#[derive(Default)]
struct State {
    live: Option<Arc<Live>>,
    pause: Duration,
    not_before: Option<Instant>,
    last_error: String,
}

/// A server that is connected.
struct Live {
    connection: Connection,
    capabilities: Value,
    // Of a program: killed when it is dropped.
    _child: Option<Child>,
}

/// The servers of a configuration, none of them connected yet. What they tell goes to `notified` with their name.
///
/// # Errors
///
/// What keeps servers from being reached at all.
pub(crate) fn all(
    upstreams: &Upstreams,
    time: Duration,
    notified: &mpsc::Sender<(String, Value)>,
) -> Result<Vec<Upstream>, String> {
    let mut client = None;
    let mut all = Vec::with_capacity(upstreams.0.len());
    for (name, server) in &upstreams.0 {
        let place = match server {
            Server::Program(program) => Place::Program(program.clone()),
            Server::Address(address) => {
                let client = match &client {
                    Some(client) => HttpClient::clone(client),
                    // Reading the machine's certificates takes a while, so once, and only where it is needed.
                    None => client.insert(HttpClient::new()?).clone(),
                };
                Place::Address(Box::new(client), address.clone())
            }
        };
        let (name, notified) = (name.clone(), notified.clone());
        all.push(Upstream { name, place, time, notified, state: Mutex::default() });
    }
    Ok(all)
}

impl Upstream {
    /// What the server can do, as it said itself.
    pub(crate) async fn capabilities(&self) -> Result<Value, UpstreamError> {
        Ok(self.live().await?.capabilities.clone())
    }

    /// Asks the server.
    pub(crate) async fn request(&self, method: &str, params: Value) -> Result<Value, UpstreamError> {
        self.ask(method, params, None).await
    }

    /// Asks the server; how it gets on goes to `progress`.
    pub(crate) async fn ask(
        &self,
        method: &str,
        params: Value,
        progress: Option<Progress>,
    ) -> Result<Value, UpstreamError> {
        let mut live = self.live().await?;
        let mut asked = self.ask_once(&live, method, params.clone(), progress.clone()).await;
        if let Some(Err(Fault::Unsent(_))) = &asked {
            // The server knows nothing of it: its session has ended, or it died just now.
            live = self.live().await?;
            asked = self.ask_once(&live, method, params, progress).await;
        }
        match asked {
            Some(Ok(result)) => Ok(result),
            Some(Err(Fault::Answered(error))) => Err(UpstreamError::Answered(error)),
            Some(Err(Fault::Nonsense(what))) => Err(self.failed(format!("answered nonsense: {what}"))),
            Some(Err(Fault::Unsent(why))) => Err(UpstreamError::Unasked(format!("server `{}` {why}", self.name))),
            Some(Err(Fault::Closed)) => Err(self.failed("ended before it answered".into())),
            None => {
                tokio::spawn(end_unless_alive(live));
                Err(self.failed(format!("did not answer within {} s", self.time.as_secs_f64())))
            }
        }
    }

    /// `None` if the time was up.
    async fn ask_once(
        &self,
        live: &Live,
        method: &str,
        params: Value,
        progress: Option<Progress>,
    ) -> Option<Result<Value, Fault>> {
        tokio::time::timeout(self.time, live.connection.request(method, params, progress)).await.ok()
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
            return Err(UpstreamError::Unasked(state.last_error.clone()));
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
                Err(UpstreamError::Unasked(state.last_error.clone()))
            }
        }
    }

    async fn start(&self) -> Result<Live, String> {
        let (notified, mut notifications) = mpsc::channel::<Value>(64);
        let (name, to) = (self.name.clone(), self.notified.clone());
        tokio::spawn(async move {
            while let Some(message) = notifications.recv().await {
                if to.send((name.clone(), message)).await.is_err() {
                    break;
                }
            }
        });
        let (connection, child) = match &self.place {
            Place::Program(program) => {
                let (connection, child) = run(program, notified)?;
                (connection, Some(child))
            }
            Place::Address(client, Address { url, headers }) => {
                (Connection::by(Http::open(HttpClient::clone(client), url.clone(), headers.clone(), notified)), None)
            }
        };
        let capabilities = introduce(&connection).await?;
        Ok(Live { connection, capabilities, _child: child })
    }
}

/// Starts a server and speaks to it over its standard input and output.
fn run(program: &Program, notified: mpsc::Sender<Value>) -> Result<(Connection, Child), String> {
    let mut command = Command::new(&program.command);
    command.args(&program.arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
    for name in OURS {
        command.env_remove(name);
    }
    command.envs(&program.environment);
    if let Some(folder) = &program.folder {
        command.current_dir(folder);
    }
    let mut child = command.spawn().map_err(|error| format!("cannot be started: {error}"))?;
    let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
        return Err("has no standard input and output".into());
    };
    Ok((Connection::over(stdout, stdin, notified), child))
}

/// Gets to know a server; gives what it can do.
async fn introduce(connection: &Connection) -> Result<Value, String> {
    let introduction = json!({
        "protocolVersion": PROTOCOL_VERSION,
        "capabilities": {},
        "clientInfo": {"name": "bailiwick-gateway", "version": env!("CARGO_PKG_VERSION")},
    });
    let mut answer = connection.request("initialize", introduction, None).await.map_err(|fault| match fault {
        Fault::Answered(error) => format!("refused to begin: {error}"),
        Fault::Nonsense(what) => format!("answered nonsense: {what}"),
        Fault::Unsent(why) => why,
        Fault::Closed => "ended before it introduced itself".into(),
    })?;
    let version = answer["protocolVersion"].as_str().unwrap_or(PROTOCOL_VERSION).to_owned();
    connection.introduced(&version).await;
    Ok(answer.get_mut("capabilities").map_or(Value::Null, Value::take))
}

/// Ends a connection whose server gave no answer in time, unless the server is alive: then that one request takes long.
async fn end_unless_alive(live: Arc<Live>) {
    let asked = tokio::time::timeout(PING_TIME, live.connection.request("ping", json!({}), None)).await;
    // Whatever it answers, it answers.
    if !matches!(asked, Ok(Ok(_) | Err(Fault::Answered(_)))) {
        live.connection.close();
    }
}
