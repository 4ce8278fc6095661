//! Sessions with agents: the protocol, on either revision.

use std::sync::Weak;

use rmcp::model::{
    ClientRequest, CustomNotification, CustomResult, DiscoverResult, ErrorData, Implementation, ProtocolVersion,
    ServerCapabilities, ServerConfig, ServerNotification, ServerResult,
};
use rmcp::service::{NotificationContext, QuitReason, RequestContext, Service, serve_server_with_ct};
use rmcp::{RoleServer, ServerHandler};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{Gateway, GatewayError, Shared};

/// What a model is told about the gateway as a whole.
const INSTRUCTIONS: &str = "\
These tools are limited to one work order: what it allows, until its deadline, within its budget. Some calls are held until \
the report is approved; their answer is `pending:<ref>`. awl__status says what is left and what is held. A refusal is an \
error object {code, message}: its message says what would be accepted.";

/// Serves a gateway to an agent on standard input and output, until input ends or `shutdown` is cancelled; then waits until
/// the outcome of every call is noted.
///
/// # Errors
///
/// [`GatewayError::Session`] if no session came about.
pub async fn serve_stdio(gateway: Gateway, shutdown: CancellationToken) -> Result<(), GatewayError> {
    let lost = |error: &dyn std::fmt::Display| GatewayError::Session(error.to_string());
    let served = match serve_server_with_ct(gateway.clone(), rmcp::transport::stdio(), shutdown.clone()).await {
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

/// Hands on what servers tell: log messages, changes of lists and resources, progress.
pub(super) async fn pass_on(shared: Weak<Shared>, mut told: mpsc::Receiver<(String, Value)>) {
    while let Some((_, mut message)) = told.recv().await {
        let Some(shared) = shared.upgrade() else { break };
        let Some(method) = message["method"].as_str().map(str::to_owned) else { continue };
        if method == "notifications/cancelled" {
            // About a request of the server's, and it makes none here.
            continue;
        }
        let params = message.get_mut("params").map(Value::take);
        if let Some(agent) = shared.agent.get() {
            let notification = CustomNotification::new(method, params);
            // An agent that is gone misses nothing.
            let _ = agent.send_notification(ServerNotification::CustomNotification(notification)).await;
        }
    }
}

/// What does not need to pass through untouched.
struct Introduction;

impl ServerHandler for Introduction {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_resources()
            .enable_resources_list_changed()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_completions()
            .build();
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
}

impl Service<RoleServer> for Gateway {
    async fn handle_request(
        &self,
        request: ClientRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        self.shared.agent.get_or_init(|| context.peer.clone());
        let is_newer = context
            .protocol_version()
            .is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str());
        let listed = |member: &str, items: Vec<Value>| {
            let mut list = json!({member: items});
            if is_newer {
                list["ttlMs"] = json!(0);
                list["cacheScope"] = json!("private");
            }
            Ok(list)
        };
        let only = |found: Vec<(&crate::upstream::Upstream, Value)>| found.into_iter().map(|(_, item)| item).collect();
        let result = match request {
            ClientRequest::CallToolRequest(request) => self.call(request.params, &context).await,
            ClientRequest::ListToolsRequest(_) => listed("tools", self.tools().await),
            ClientRequest::ListPromptsRequest(_) => listed("prompts", self.prompts().await),
            ClientRequest::ListResourcesRequest(_) => {
                listed("resources", only(self.all("resources", "resources/list", "resources").await))
            }
            ClientRequest::ListResourceTemplatesRequest(_) => {
                let method = "resources/templates/list";
                listed("resourceTemplates", only(self.all("resources", method, "resourceTemplates").await))
            }
            ClientRequest::GetPromptRequest(request) => self.prompt(params(&request.params)).await,
            ClientRequest::CompleteRequest(request) => self.completion(params(&request.params)).await,
            ClientRequest::ReadResourceRequest(request) => {
                self.about_resource("resources/read", params(&request.params)).await
            }
            other => return Introduction.handle_request(other, context).await,
        };
        let mut result = result?;
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
        Introduction.handle_notification(notification, context).await
    }

    fn get_info(&self) -> ServerConfig {
        ServerHandler::get_info(&Introduction)
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
