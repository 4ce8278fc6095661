//! Sessions with agents: the protocol, on either revision.

use std::sync::{Arc, OnceLock, Weak};

use rmcp::model::{
    ClientRequest, CustomNotification, CustomResult, DiscoverResult, ErrorData, Implementation, JsonObject,
    ProtocolVersion, ServerCapabilities, ServerConfig, ServerNotification, ServerResult, SubscriptionFilter,
};
use rmcp::service::{
    NotificationContext, QuitReason, RequestContext, Service, SubscriptionContext, serve_server_with_ct,
};
use rmcp::{Peer, RoleServer, ServerHandler};
use serde_json::{Value, json};
use tokio::sync::{broadcast, mpsc};
use tokio_util::sync::CancellationToken;

use super::{Gateway, GatewayError, Told};
use crate::upstream::Upstream;

/// What a model is told about the gateway as a whole.
const INSTRUCTIONS: &str = "\
These tools are limited to one work order: what it allows, until its deadline, within its budget. Some calls are held until \
the report is approved; their answer is `pending:<ref>`. awl__status says what is left and what is held. A refusal is an \
error object {code, message}: its message says what would be accepted.";

/// An agent's session with a gateway, over whatever transport. Cloning gives another handle on the same gateway.
#[derive(Clone)]
pub struct Session {
    gateway: Gateway,
    agent: Option<Arc<OnceLock<Peer<RoleServer>>>>,
}

impl Session {
    /// A session of which each request stands by itself: what servers tell goes to whoever asked to hear it.
    pub fn of_requests(gateway: Gateway) -> Self {
        Self { gateway, agent: None }
    }

    /// A session with one agent, who hears all that servers tell.
    fn with_agent(gateway: Gateway) -> Self {
        let agent = Arc::new(OnceLock::new());
        tokio::spawn(tell_all(gateway.shared.told.subscribe(), Arc::downgrade(&agent)));
        Self { gateway, agent: Some(agent) }
    }
}

/// Serves a gateway to an agent on standard input and output, until input ends or `shutdown` is cancelled; then waits until
/// the outcome of every call is noted.
///
/// # Errors
///
/// [`GatewayError::Session`] if no session came about.
pub async fn serve_stdio(gateway: Gateway, shutdown: CancellationToken) -> Result<(), GatewayError> {
    let lost = |error: &dyn std::fmt::Display| GatewayError::Session(error.to_string());
    let session = Session::with_agent(gateway.clone());
    let served = match serve_server_with_ct(session, rmcp::transport::stdio(), shutdown.clone()).await {
        Ok(running) => match running.waiting().await {
            Ok(QuitReason::JoinError(error)) | Err(error) => Err(lost(&error)),
            Ok(_) => Ok(()),
        },
        // An agent that goes away before it begins, or a shutdown, is no failure.
        Err(error)
            if shutdown.is_cancelled()
                || matches!(error, rmcp::service::ServerInitializeError::ConnectionClosed(_)) =>
        {
            Ok(())
        }
        Err(error) => Err(lost(&error)),
    };
    gateway.settle().await;
    served
}

/// Hands on what servers tell: log messages, changes of lists and resources.
pub(super) async fn pass_on(mut notifications: mpsc::Receiver<(String, Value)>, told: broadcast::Sender<Told>) {
    while let Some((_, mut message)) = notifications.recv().await {
        let Some(method) = message["method"].as_str().map(Arc::from) else { continue };
        // About a request of the server's, and it makes none here.
        if &*method != "notifications/cancelled" {
            // Where nobody listens there is nobody to tell.
            let _ = told.send(Told { method, params: message.get_mut("params").map(Value::take) });
        }
    }
}

/// Tells an agent all that servers tell, once it has made itself known.
async fn tell_all(mut told: broadcast::Receiver<Told>, agent: Weak<OnceLock<Peer<RoleServer>>>) {
    loop {
        let Told { method, params } = match told.recv().await {
            Ok(told) => told,
            // An agent that does not keep up misses something; it can still ask.
            Err(broadcast::error::RecvError::Lagged(_)) => continue,
            Err(broadcast::error::RecvError::Closed) => break,
        };
        let Some(agent) = agent.upgrade() else { break };
        if let Some(agent) = agent.get() {
            tell(agent, &method, params).await;
        }
    }
}

/// Tells an agent something as it came.
pub(super) async fn tell(agent: &Peer<RoleServer>, method: &str, params: Option<Value>) {
    let notification = ServerNotification::CustomNotification(CustomNotification::new(method.to_owned(), params));
    // An agent that is gone misses nothing.
    let _ = agent.send_notification(notification).await;
}

/// What does not need to pass through untouched.
struct Introduction(Session);

impl ServerHandler for Introduction {
    // Deprecated for servers of one's own; here what the older revision's servers log is handed on.
    #[allow(deprecated)]
    fn get_info(&self) -> ServerConfig {
        let mut capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_resources()
            .enable_resources_list_changed()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_completions()
            .build();
        if self.0.agent.is_some() {
            // Where one agent hears all, it may say what it wants to hear.
            capabilities.logging = Some(JsonObject::new());
            if let Some(resources) = &mut capabilities.resources {
                resources.subscribe = Some(true);
            }
        }
        ServerConfig::new(capabilities)
            .with_server_info(
                Implementation::new("bailiwick-gateway", env!("CARGO_PKG_VERSION")).with_title("Bailiwick gateway"),
            )
            .with_instructions(INSTRUCTIONS)
    }

    async fn discover(&self, _context: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let versions = ServerHandler::supported_protocol_versions(self).into_owned();
        Ok(DiscoverResult::from_server_info(versions, ServerHandler::get_info(self)))
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        // Of single resources nothing is told here: which server would have to be asked is not known before.
        let mut accepted = requested.clone();
        accepted.resource_subscriptions = None;
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut told = self.0.gateway.shared.told.subscribe();
        loop {
            let told = tokio::select! {
                told = told.recv() => told,
                () = context.cancelled() => return Ok(()),
            };
            let method = match told {
                Ok(Told { method, .. }) => method,
                Err(broadcast::error::RecvError::Lagged(_)) => continue,
                Err(broadcast::error::RecvError::Closed) => return Ok(()),
            };
            let sink = context.sink();
            let sent = match &*method {
                "notifications/tools/list_changed" => sink.notify_tool_list_changed().await,
                "notifications/prompts/list_changed" => sink.notify_prompt_list_changed().await,
                "notifications/resources/list_changed" => sink.notify_resource_list_changed().await,
                _ => continue,
            };
            if let Err(error) = sent {
                // What was not asked for is not told.
                tracing::debug!(%error, "a change was not told");
            }
        }
    }
}

impl Service<RoleServer> for Session {
    async fn handle_request(
        &self,
        request: ClientRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        if let Some(agent) = &self.agent {
            agent.get_or_init(|| context.peer.clone());
        }
        check_version(&request, &context)?;
        let is_newer = context.protocol_version().is_some_and(|version| !version.has_initialize());
        let mut result = match self.answer(request, &context, is_newer).await {
            Answered::Result(result) => result?,
            Answered::NotHere(request) => {
                return Introduction(self.clone()).handle_request(*request, context).await;
            }
        };
        if is_newer && let Some(members) = result.as_object_mut() {
            members.entry("resultType").or_insert_with(|| "complete".into());
        }
        Ok(ServerResult::CustomResult(CustomResult(result)))
    }

    async fn handle_notification(
        &self,
        notification: rmcp::model::ClientNotification,
        context: NotificationContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Introduction(self.clone()).handle_notification(notification, context).await
    }

    fn get_info(&self) -> ServerConfig {
        ServerHandler::get_info(&Introduction(self.clone()))
    }
}

/// The newer revision has each request say for itself how it is meant.
fn check_version(request: &ClientRequest, context: &RequestContext<RoleServer>) -> Result<(), ErrorData> {
    let stated = context.meta.protocol_version().filter(|_| !matches!(request, ClientRequest::InitializeRequest(_)));
    let Some(stated) = stated else { return Ok(()) };
    if !ProtocolVersion::KNOWN_VERSIONS.contains(&stated) {
        return Err(ErrorData::unsupported_protocol_version(stated, ProtocolVersion::KNOWN_VERSIONS));
    }
    let missing = context.meta.missing_required_keys(&stated);
    match missing.is_empty() {
        true => Ok(()),
        false => Err(ErrorData::invalid_params(format!("`_meta` lacks {}", missing.join(", ")), None)),
    }
}

/// What became of a request.
enum Answered {
    Result(Result<Value, ErrorData>),
    /// It is none of those that pass through untouched
    NotHere(Box<ClientRequest>),
}

impl Session {
    async fn answer(&self, request: ClientRequest, context: &RequestContext<RoleServer>, is_newer: bool) -> Answered {
        let gateway = &self.gateway;
        let listed = |member: &str, items: Vec<Value>| {
            let mut list = json!({member: items});
            if is_newer {
                list["ttlMs"] = json!(0);
                list["cacheScope"] = json!("private");
            }
            Ok(list)
        };
        let only = |found: Vec<(&Upstream, Value)>| found.into_iter().map(|(_, item)| item).collect();
        let hears = self.agent.is_some() && !is_newer;
        Answered::Result(match request {
            ClientRequest::CallToolRequest(request) => gateway.call(request.params, context).await,
            ClientRequest::ListToolsRequest(_) => listed("tools", gateway.tools().await),
            ClientRequest::ListPromptsRequest(_) => listed("prompts", gateway.prompts().await),
            ClientRequest::ListResourcesRequest(_) => {
                listed("resources", only(gateway.all("resources", "resources/list", "resources").await))
            }
            ClientRequest::ListResourceTemplatesRequest(_) => {
                let method = "resources/templates/list";
                listed("resourceTemplates", only(gateway.all("resources", method, "resourceTemplates").await))
            }
            ClientRequest::GetPromptRequest(request) => gateway.prompt(params(&request.params)).await,
            ClientRequest::CompleteRequest(request) => gateway.completion(params(&request.params)).await,
            ClientRequest::ReadResourceRequest(request) => {
                gateway.about_resource("resources/read", params(&request.params)).await
            }
            ClientRequest::SubscribeRequest(request) if hears => {
                gateway.about_resource("resources/subscribe", params(&request.params)).await
            }
            ClientRequest::UnsubscribeRequest(request) if hears => {
                gateway.about_resource("resources/unsubscribe", params(&request.params)).await
            }
            ClientRequest::SetLevelRequest(request) if hears => {
                gateway.tell_servers("logging", "logging/setLevel", params(&request.params)).await
            }
            other => return Answered::NotHere(Box::new(other)),
        })
    }
}

/// A request's parameters as they go on: without what speaks of the connection to us.
fn params(params: &impl serde::Serialize) -> Value {
    let mut params = serde_json::to_value(params).unwrap_or_else(|_| json!({}));
    if let Some(Value::Object(meta)) = params.get_mut("_meta") {
        meta.retain(|name, _| !name.starts_with("io.modelcontextprotocol/"));
    }
    params
}
