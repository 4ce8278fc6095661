//! The server: who calls which tool, on either revision of the protocol.

use std::sync::Arc;
use std::time::Instant;

use bailiwick_core::work::quoted;
use bailiwick_desk::{Desk, Failure};
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, CustomRequest, CustomResult, DiscoverResult,
    ErrorCode, ErrorData, Implementation, JsonObject, ListToolsResult, MetaObject, PaginatedRequestParams,
    ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use tokio_util::sync::CancellationToken;

use crate::answer::error_result;
use crate::call::{Call, Stop};
use crate::identity::Identity;
use crate::tool::Entry;
use crate::toolset::Toolsets;

/// The name by which the server introduces itself (`spec work-orders §14.1`).
pub const SERVER_NAME: &str = "awl-work-desk";

/// How long clients may keep the list of tools, in milliseconds: it changes only with the server's version and with
/// whether it signs passes.
pub const TOOLS_TTL_MS: u64 = 600_000;

/// What a model is told about the tools as a whole.
pub const INSTRUCTIONS: &str = "\
Bailiwick keeps work orders: who may do what, up to which cost and when, and how the result is proved.
As a worker: list_work_orders with to=<you> and state=offered, read one, accept_work_order, start_work_order, call only \
the tools that the order lists, report_progress now and then, submit_work_report with evidence for every criterion. \
Blocked? Report status=blocked with questions, then wait_for_update.
As a manager: create_work_order, wait_for_update with the last_seq you saw, answer_question when it is blocked, \
review_work_report when it is submitted.
A refusal is an error object {code, message, findings}: its message says what would be accepted.";

/// A member of the `_meta` of results by which a server says what it is.
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// An MCP server on a desk. Cloning gives another handle on the same server, so one can be given to each session
/// or request.
#[derive(Clone)]
pub struct Server {
    shared: Arc<Shared>,
}

struct Shared {
    desk: Desk,
    identity: Identity,
    entries: Vec<Entry>,
    config: ServerConfig,
    shutdown: CancellationToken,
}

impl Server {
    /// A server that offers some toolsets. Once `shutdown` is cancelled, calls that wait answer at once, as things
    /// stand.
    pub fn new(desk: Desk, identity: Identity, toolsets: &Toolsets, shutdown: CancellationToken) -> Self {
        let implementation = Implementation::new(SERVER_NAME, env!("CARGO_PKG_VERSION")).with_title("Bailiwick");
        let config = ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(implementation)
            .with_instructions(INSTRUCTIONS);
        let signs = desk.signer().is_some();
        let entries = toolsets.tools().into_iter().filter(|entry| signs || !entry.needs_signer()).collect();
        Self { shared: Arc::new(Shared { desk, identity, entries, config, shutdown }) }
    }

    /// The tools offered, in the order in which they are listed.
    pub fn tools(&self) -> Vec<Tool> {
        self.shared.entries.iter().map(|entry| entry.tool.clone()).collect()
    }

    fn entry(&self, name: &str) -> Option<&Entry> {
        self.shared.entries.iter().find(|entry| entry.name() == name)
    }

    async fn call(
        &self,
        entry: &Entry,
        arguments: &JsonObject,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResult, ErrorData> {
        let Some(caller) = self.shared.identity.caller(&context.extensions) else {
            // The layer in front let a request through without saying whose it is.
            return Err(ErrorData::internal_error("nobody was established as the caller of this request", None));
        };
        let stop = Stop { request: context.ct.clone(), server: self.shared.shutdown.clone() };
        let desk = self.shared.desk.clone();
        let call = Call::new(desk, caller, arguments, &entry.tool.input_schema, &context.meta, stop);
        let answer = match call {
            Ok(call) => entry.run(call).await,
            Err(refusal) => Err(Failure::Refused(refusal)),
        };
        Ok(match answer {
            Ok(answer) => answer.into_result(),
            Err(failure) => {
                tracing::debug!(tool = entry.name(), code = failure.code(), "not done");
                error_result(&failure)
            }
        })
    }

    /// The newer revision has no handshake, so each result says who gave it.
    fn signature(&self, context: &RequestContext<RoleServer>) -> Option<MetaObject> {
        let info = serde_json::to_value(&self.shared.config.server_info).ok().filter(|_| is_newer(context))?;
        Some(MetaObject([(SERVER_INFO.to_owned(), info)].into_iter().collect()))
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        self.shared.config.clone()
    }

    async fn discover(&self, _context: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let versions = self.supported_protocol_versions().into_owned();
        Ok(DiscoverResult::from_server_info(versions, self.get_info())
            .with_ttl_ms(TOOLS_TTL_MS)
            .with_cache_scope(CacheScope::Public))
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        if request.and_then(|request| request.cursor).is_some() {
            return Err(ErrorData::invalid_params(
                "`cursor` is none that was given out: all tools are on one page",
                None,
            ));
        }
        let mut list = ListToolsResult::with_all_items(self.tools());
        list.meta = self.signature(&context);
        if list.meta.is_none() {
            return Ok(list);
        }
        // Public: the list is the same whoever asks.
        Ok(list.with_ttl_ms(TOOLS_TTL_MS).with_cache_scope(CacheScope::Public))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.entry(name).map(|entry| entry.tool.clone())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(entry) = self.entry(&request.name) else {
            let names: Vec<String> = self.shared.entries.iter().map(|entry| format!("`{}`", entry.name())).collect();
            let message = format!("unknown tool {}; this server offers {}", quoted(&request.name), names.join(", "));
            return Err(ErrorData::invalid_params(message, None));
        };
        let began = Instant::now();
        let mut result = self.call(entry, &request.arguments.unwrap_or_default(), &context).await?;
        tracing::debug!(tool = entry.name(), elapsed = ?began.elapsed(), "called");
        result.meta = self.signature(&context);
        Ok(result.into())
    }

    /// The library hands over as custom whatever does not have the form of the request that its method names.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        const SERVED: [&str; 3] = ["server/discover", "tools/list", "tools/call"];
        // The newer revision has no handshake and no ping.
        const SERVED_OLDER: [&str; 2] = ["initialize", "ping"];
        let method = request.method;
        let served_older = !is_newer(&context) && SERVED_OLDER.contains(&method.as_str());
        if served_older || SERVED.contains(&method.as_str()) {
            let message = format!("the params of `{method}` are missing or not of the form that the protocol states");
            return Err(ErrorData::invalid_params(message, None));
        }
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("unknown method {}", quoted(&method)), None))
    }
}

/// Whether a request speaks a revision without a handshake.
fn is_newer(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| !version.has_initialize())
}
