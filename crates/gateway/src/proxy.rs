//! The proxy: what the agent sees, and what happens at each call (`spec work-orders §15.2`–`§15.4`).

mod lists;
mod session;
mod settling;

use std::pin::pin;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use bailiwick_core::heart::Refusal;
use bailiwick_core::json::{self, write_compact, write_pretty};
use bailiwick_core::work::{is_name, quoted};
use rmcp::model::{CallToolRequestParams, ErrorData, RequestMetaObject};
use rmcp::service::RequestContext;
use rmcp::{Peer, RoleServer};
use serde_json::{Map, Value, json};
use tokio::sync::{broadcast, mpsc};
use tokio_util::task::TaskTracker;

use self::settling::Settling;
use crate::authority::{AskedCall, Authority, Begun, Failure, Terms};
use crate::config::Upstreams;
use crate::message::{to_core, to_wire};
use crate::names::Naming;
use crate::upstream::{self, Upstream, UpstreamError};

pub use self::session::{Session, serve_stdio};

/// The tool by which an agent learns what it has used and what is held.
const STATUS: &str = "awl__status";
/// The member of a result's `_meta` that names the call (`spec §15.3`).
const REF: &str = "awl/ref";
/// The member of a result's `_meta` by which an upstream server says what the call cost.
const COST: &str = "awl/cost";
/// The member of a call's `_meta` by which its agent shows a pass (`spec §15.6`), and the proof that it is the pass's holder.
const PASS: &str = "awl/pass";
const PROOF: &str = "awl/proof";
/// How many notifications wait for an agent that does not keep up; of progress, and of everything else.
const STEPS: usize = 256;
const TOLD: usize = 256;

/// How a gateway behaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// How tools are called towards the agent
    pub naming: Naming,
    /// How long an upstream server may take for an answer
    pub call_time: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self { naming: Naming::default(), call_time: Duration::from_secs(60) }
    }
}

/// Why a gateway cannot begin.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GatewayError {
    /// Two servers' tools could have the same name
    #[error("tools of the servers `{0}` and `{1}` could have the same name; rename one, or name tools with `/`")]
    Collision(String, String),
    /// The order cannot be read
    #[error("{0}")]
    Order(String),
    /// Servers cannot be reached at all
    #[error("{0}")]
    Upstreams(String),
    /// The session with the agent broke
    #[error("the session with the agent ended: {0}")]
    Session(String),
}

/// A gateway for one order. Cloning gives another handle on the same one.
#[derive(Clone)]
pub struct Gateway {
    shared: Arc<Shared>,
}

struct Shared {
    authority: Arc<dyn Authority>,
    /// What the order allows, once that is known
    terms: RwLock<Option<Arc<Terms>>>,
    options: Options,
    upstreams: Vec<Upstream>,
    settling: Settling,
    tasks: TaskTracker,
    /// What servers tell outside of answers: method and params
    told: broadcast::Sender<Told>,
}

/// What a server told.
#[derive(Debug, Clone)]
struct Told {
    method: Arc<str>,
    params: Option<Value>,
}

impl Gateway {
    /// A gateway for the order that an authority answers for. Servers are started when they are needed.
    ///
    /// # Errors
    ///
    /// [`GatewayError::Order`] if the order cannot be read, [`GatewayError::Collision`] for names that could be mistaken.
    pub async fn open(
        authority: Arc<dyn Authority>,
        upstreams: &Upstreams,
        options: Options,
    ) -> Result<Self, GatewayError> {
        let names: Vec<&str> = upstreams.0.keys().map(String::as_str).collect();
        if let Some((a, b)) = options.naming.can_collide(&names) {
            return Err(GatewayError::Collision(a, b));
        }
        let terms = authority.terms().await.map_err(|failure| GatewayError::Order(said(&failure).message))?;
        let terms = RwLock::new(terms.map(Arc::new));
        let (notified, notifications) = mpsc::channel(64);
        let (told, _) = broadcast::channel(TOLD);
        let upstreams = upstream::all(upstreams, options.call_time, &notified).map_err(GatewayError::Upstreams)?;
        let tasks = TaskTracker::new();
        let settling = Settling::start(Arc::clone(&authority), &tasks);
        let gateway = Self {
            shared: Arc::new(Shared { authority, terms, options, upstreams, settling, tasks, told: told.clone() }),
        };
        tokio::spawn(session::pass_on(notifications, told));
        Ok(gateway)
    }

    /// Who does the order's work; `None` while that is not known.
    pub async fn worker(&self) -> Option<String> {
        self.terms().await.map(|terms| terms.worker.clone())
    }

    /// What the order allows. Of an order that was issued it never changes, so it is asked for until there is an answer.
    async fn terms(&self) -> Option<Arc<Terms>> {
        let known = self.shared.terms.read().unwrap_or_else(PoisonError::into_inner).clone();
        if known.is_some() {
            return known;
        }
        let asked = self.shared.authority.terms().await.ok().flatten().map(Arc::new)?;
        *self.shared.terms.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&asked));
        Some(asked)
    }

    /// Waits until the outcome of every call is noted.
    pub async fn settle(&self) {
        self.shared.settling.close();
        self.shared.tasks.close();
        self.shared.tasks.wait().await;
    }

    fn upstream(&self, name: &str) -> Option<&Upstream> {
        self.shared.upstreams.iter().find(|upstream| upstream.name == name)
    }

    /// The server and the tool behind a name towards the agent.
    fn resolve<'a>(&'a self, name: &'a str) -> Option<(&'a Upstream, &'a str)> {
        let servers = self.shared.upstreams.iter().map(|upstream| upstream.name.as_str());
        let (server, tool) = self.shared.options.naming.split(name, servers)?;
        Some((self.upstream(server)?, tool))
    }

    /// A call: asked for, numbered, and then forwarded or held.
    async fn call(
        &self,
        params: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<Value, ErrorData> {
        if params.name == STATUS {
            return Ok(self.status().await);
        }
        let Some((upstream, name)) = self.resolve(&params.name) else {
            let message = format!("no tool {}; tools/list names those there are", quoted(&params.name));
            return Err(ErrorData::invalid_params(message, None));
        };
        let tool = format!("{}/{name}", upstream.name);
        let (meta, arguments) = (meta_of(&context.meta), Value::Object(params.arguments.unwrap_or_default()));
        let begun = match self.begin(&tool, &arguments, &meta).await {
            Ok(begun) => begun,
            Err(failure) => return Ok(refused(&said(&failure))),
        };
        let reference = begun.reference.as_str();
        if begun.staged {
            return Ok(json!({
                "content": [{"type": "text", "text": format!("pending:{reference}")}],
                "_meta": {REF: reference},
            }));
        }
        // Settled whatever happens to this request: an agent that goes away leaves a call that failed.
        let unsettled = self.shared.settling.unsettled(&begun);
        let forward = json!({"name": name, "arguments": arguments, "_meta": forwarded(&meta)});
        let answer = tokio::select! {
            answer = forward_with_progress(upstream, forward, meta.get("progressToken"), &context.peer) => answer,
            () = context.ct.cancelled() => {
                unsettled.failed("the agent took the call back");
                return Err(ErrorData::internal_error("the call was taken back", None));
            }
        };
        match answer {
            Ok(mut result) => {
                unsettled.done(&result);
                name_call(&mut result, reference);
                Ok(result)
            }
            Err(UpstreamError::Answered(error)) => {
                unsettled.failed(&error["message"].to_string());
                Err(serde_json::from_value(error)
                    .unwrap_or_else(|_| ErrorData::internal_error("the server failed", None)))
            }
            Err(UpstreamError::Unasked(what)) => {
                unsettled.returned(&what);
                Ok(refused(&Refusal::new("UPSTREAM_FAILED", what)))
            }
            Err(UpstreamError::Failed(what)) => {
                unsettled.failed(&what);
                let mut result = refused(&Refusal::new("UPSTREAM_FAILED", what));
                name_call(&mut result, reference);
                Ok(result)
            }
        }
    }

    async fn begin(&self, tool: &str, arguments: &Value, meta: &Map<String, Value>) -> Result<Begun, Failure> {
        let bad = |message: String| Failure::Refused(Refusal::new("BAD_REQUEST", message));
        if !is_name(tool) {
            return Err(bad(format!("{} is no tool name that an order can allow", quoted(tool))));
        }
        let arguments =
            to_core(arguments).map_err(|error| bad(format!("the arguments are refused: {}", error.kind)))?;
        let shown = |name: &str| meta.get(name).and_then(Value::as_str).map(Into::into);
        let call = AskedCall { tool: tool.into(), arguments, pass: shown(PASS), proof: shown(PROOF) };
        self.shared.authority.begin_call(&call).await
    }

    /// What was used and what is held, as the worker needs it for its report.
    async fn status(&self) -> Value {
        match self.shared.authority.status().await {
            Ok(status) => json!({
                "content": [{"type": "text", "text": write_pretty(&status)}],
                "structuredContent": to_wire(&status),
            }),
            Err(failure) => refused(&said(&failure)),
        }
    }
}

/// What is said about a failure.
fn said(failure: &Failure) -> Refusal {
    match failure {
        Failure::Refused(refusal) => refusal.clone(),
        Failure::Unreachable(why) => {
            Refusal::new("UNAVAILABLE", format!("the desk cannot be asked ({why}), so nothing may be called"))
        }
    }
}

/// A refusal as an agent reads it (`spec §15.4`).
fn refused(refusal: &Refusal) -> Value {
    let mut error = refusal.to_value();
    if let json::Value::Object(members) = &mut error {
        members.remove("findings");
    }
    json!({"content": [{"type": "text", "text": write_compact(&error)}], "isError": true})
}

/// Adds the ref of a call to its result, which is otherwise as it came.
fn name_call(result: &mut Value, reference: &str) {
    let Some(members) = result.as_object_mut() else { return };
    let meta = members.entry("_meta").or_insert_with(|| json!({}));
    if let Some(meta) = meta.as_object_mut() {
        meta.insert(REF.into(), reference.into());
    }
}

fn meta_of(meta: &RequestMetaObject) -> Map<String, Value> {
    match serde_json::to_value(meta) {
        Ok(Value::Object(members)) => members,
        _ => Map::new(),
    }
}

/// What of a request's `_meta` is for the server: everything but what speaks of the connection to us, and of passes.
fn forwarded(meta: &Map<String, Value>) -> Value {
    let is_for_us =
        |name: &str| name.starts_with("io.modelcontextprotocol/") || [PASS, PROOF, "progressToken"].contains(&name);
    let members = meta.iter().filter(|(name, _)| !is_for_us(name));
    members.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Forwards a call. How it gets on goes to the agent under its own token, and all of it before the answer.
async fn forward_with_progress(
    upstream: &Upstream,
    call: Value,
    token: Option<&Value>,
    agent: &Peer<RoleServer>,
) -> Result<Value, UpstreamError> {
    let Some(token) = token else { return upstream.request("tools/call", call).await };
    let (progress, mut steps) = mpsc::channel(STEPS);
    let mut asked = pin!(upstream.ask("tools/call", call, Some(progress)));
    let tell = async |mut step: Value| {
        step["params"]["progressToken"] = token.clone();
        session::tell(agent, "notifications/progress", step.get_mut("params").map(Value::take)).await;
    };
    let answer = loop {
        tokio::select! {
            biased;
            Some(step) = steps.recv() => tell(step).await,
            answer = &mut asked => break answer,
        }
    };
    while let Ok(step) = steps.try_recv() {
        tell(step).await;
    }
    answer
}
