//! The proxy: what the agent sees, and what happens at each call (`spec work-orders §15.2`–`§15.4`).

mod lists;
mod session;
mod settling;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bailiwick_core::heart::Refusal;
use bailiwick_core::json::{self, Object, write_compact, write_pretty};
use bailiwick_core::work::{ToolSet, effect_references, is_name, quoted};
use rmcp::model::{CallToolRequestParams, ErrorData, RequestMetaObject};
use rmcp::service::RequestContext;
use rmcp::{Peer, RoleServer};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_util::task::TaskTracker;

use self::settling::Settling;
use crate::authority::{Authority, Failure};
use crate::config::Upstreams;
use crate::message::{to_core, to_wire};
use crate::names::Naming;
use crate::upstream::{Upstream, UpstreamError};

pub use self::session::serve_stdio;

/// The tool by which an agent learns what it has used and what is held.
const STATUS: &str = "awl__status";
/// The member of a result's `_meta` that names the call (`spec §15.3`).
const REF: &str = "awl/ref";
/// The member of a result's `_meta` by which an upstream server says what the call cost.
const COST: &str = "awl/cost";

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
    order: json::Value,
    options: Options,
    upstreams: Vec<Upstream>,
    settling: Settling,
    tasks: TaskTracker,
    /// Whom to tell what servers tell, once there was a request
    agent: OnceLock<Peer<RoleServer>>,
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
        let view = authority.order().await.map_err(|failure| GatewayError::Order(said(&failure).message))?;
        let order = view.get("order").cloned().unwrap_or(json::Value::Null);
        let (notified, told) = mpsc::channel(64);
        let upstreams = upstreams
            .0
            .iter()
            .map(|(name, program)| Upstream::new(name.clone(), program.clone(), options.call_time, notified.clone()))
            .collect();
        let tasks = TaskTracker::new();
        let settling = Settling::start(Arc::clone(&authority), &tasks);
        let gateway = Self {
            shared: Arc::new(Shared { authority, order, options, upstreams, settling, tasks, agent: OnceLock::new() }),
        };
        tokio::spawn(session::pass_on(Arc::downgrade(&gateway.shared), told));
        Ok(gateway)
    }

    /// Who does the order's work.
    pub fn worker(&self) -> &str {
        self.shared.order.get("to").and_then(json::Value::as_str).unwrap_or_default()
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

    fn patterns(&self, member: &str) -> ToolSet<'_> {
        ToolSet::of(self.shared.order.get(member))
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
        let arguments = Value::Object(params.arguments.unwrap_or_default());
        let begun = match self.begin(&tool, &arguments).await {
            Ok(begun) => begun,
            Err(failure) => return Ok(refused(&said(&failure))),
        };
        let reference = begun.get("ref").and_then(json::Value::as_str).unwrap_or_default().to_owned();
        if begun.get("staged").and_then(json::Value::as_bool) == Some(true) {
            return Ok(json!({
                "content": [{"type": "text", "text": format!("pending:{reference}")}],
                "_meta": {REF: reference},
            }));
        }
        let n = begun.get("n").and_then(json::Value::as_number).and_then(|n| n.to_u64()).unwrap_or_default();
        let forward = json!({"name": name, "arguments": arguments, "_meta": forwarded_meta(&context.meta)});
        // Settled whatever happens to this request: an agent that goes away leaves a call that failed.
        let unsettled = self.shared.settling.unsettled(n);
        let answer = tokio::select! {
            answer = upstream.request("tools/call", forward) => answer,
            () = context.ct.cancelled() => {
                unsettled.failed("the agent took the call back");
                return Err(ErrorData::internal_error("the call was taken back", None));
            }
        };
        match answer {
            Ok(mut result) => {
                unsettled.done(&result);
                name_call(&mut result, &reference);
                Ok(result)
            }
            Err(UpstreamError::Answered(error)) => {
                unsettled.failed(&error["message"].to_string());
                Err(serde_json::from_value(error)
                    .unwrap_or_else(|_| ErrorData::internal_error("the server failed", None)))
            }
            Err(UpstreamError::Unstarted(what)) => {
                unsettled.returned(&what);
                Ok(refused(&Refusal::new("UPSTREAM_FAILED", what)))
            }
            Err(UpstreamError::Failed(what)) => {
                unsettled.failed(&what);
                let mut result = refused(&Refusal::new("UPSTREAM_FAILED", what));
                name_call(&mut result, &reference);
                Ok(result)
            }
        }
    }

    async fn begin(&self, tool: &str, arguments: &Value) -> Result<json::Value, Failure> {
        let bad = |message: String| Failure::Refused(Refusal::new("BAD_REQUEST", message));
        if !is_name(tool) {
            return Err(bad(format!("{} is no tool name that an order can allow", quoted(tool))));
        }
        let arguments =
            to_core(arguments).map_err(|error| bad(format!("the arguments are refused: {}", error.kind)))?;
        let asked = Object::new().with("tool", tool);
        let asked = if self.patterns("staged").allows(tool) {
            asked.with("arguments", arguments)
        } else {
            let names = effect_references(&arguments).into_iter().map(|reference| reference.effect.into());
            let names: Vec<json::Value> = names.collect();
            if names.is_empty() { asked } else { asked.with("references", names) }
        };
        self.shared.authority.act("begin_call", asked).await
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

/// What of a request's `_meta` is for the server: everything but what speaks of the connection to us, and of passes.
fn forwarded_meta(meta: &RequestMetaObject) -> Value {
    let Ok(Value::Object(members)) = serde_json::to_value(meta) else { return json!({}) };
    let is_for_us = |name: &str| name.starts_with("io.modelcontextprotocol/") || name == "awl/pass";
    members.into_iter().filter(|(name, _)| !is_for_us(name)).collect()
}
