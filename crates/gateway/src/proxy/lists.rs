//! What several servers have to offer, as one list (`spec work-orders §15.2`).

use bailiwick_core::work::is_name;
use rmcp::model::ErrorData;
use serde_json::{Value, json};

use super::{Gateway, STATUS};
use crate::upstream::{Upstream, UpstreamError};

/// What a held tool's description says besides.
const HELD_NOTE: &str = "Calls of this tool are held: the answer is `pending:<ref>`. List the call in your report's `effects`; \
    it is carried out once the report is approved. Where its arguments need the result of a call that is held before it, put \
    {\"$ref\": \"<ref>\", \"pointer\": \"/...\"} in the value's place.";

impl Gateway {
    /// The tools that the order allows, server by server. Servers that cannot be asked are left out, and have nothing to offer.
    pub(super) async fn tools(&self) -> Vec<Value> {
        // Before the order is known everything is shown: each call is checked all the same.
        let terms = self.terms().await;
        let terms = terms.as_deref();
        let mut tools = Vec::new();
        for (upstream, tool) in self.all("tools", "tools/list", "tools").await {
            let Some(name) = tool["name"].as_str() else { continue };
            let full = format!("{}/{name}", upstream.name);
            if !is_name(&full) || terms.is_some_and(|terms| !terms.allows(&full)) {
                continue;
            }
            let shown = self.shared.options.naming.join(&upstream.name, name);
            let mut tool = tool;
            if let Some(members) = tool.as_object_mut() {
                members.insert("name".into(), shown.into());
                if terms.is_some_and(|terms| terms.stages(&full)) {
                    hold(members);
                }
            }
            tools.push(tool);
        }
        tools.push(status_tool());
        tools
    }

    /// Items of a list of every server that has such a capability.
    pub(super) async fn all(&self, capability: &str, method: &str, member: &str) -> Vec<(&Upstream, Value)> {
        let mut found = Vec::new();
        for upstream in &self.shared.upstreams {
            match upstream.capabilities().await {
                Ok(capabilities) if capabilities[capability].is_null() => continue,
                Ok(_) => {}
                Err(_) => continue,
            }
            match upstream.list(method, member).await {
                Ok(items) => found.extend(items.into_iter().map(|item| (upstream, item))),
                Err(error) => tracing::warn!(server = upstream.name, ?error, method, "a list could not be read"),
            }
        }
        found
    }

    /// The prompts of every server, named as tools are.
    pub(super) async fn prompts(&self) -> Vec<Value> {
        let mut prompts = Vec::new();
        for (upstream, mut prompt) in self.all("prompts", "prompts/list", "prompts").await {
            let Some(name) = prompt["name"].as_str() else { continue };
            prompt["name"] = self.shared.options.naming.join(&upstream.name, name).into();
            prompts.push(prompt);
        }
        prompts
    }

    /// A prompt, from the server that has it.
    pub(super) async fn prompt(&self, mut params: Value) -> Result<Value, ErrorData> {
        let name = params["name"].as_str().unwrap_or_default().to_owned();
        let Some((upstream, name)) = self.resolve(&name) else {
            return Err(ErrorData::invalid_params("there is no such prompt; prompts/list names those there are", None));
        };
        params["name"] = name.into();
        upstream.request("prompts/get", params).await.map_err(protocol_error)
    }

    /// A request about a resource, answered by the first server that knows it.
    pub(super) async fn about_resource(&self, method: &str, params: Value) -> Result<Value, ErrorData> {
        let mut last = ErrorData::invalid_params("no server has such a resource", None);
        for upstream in &self.shared.upstreams {
            match upstream.capabilities().await {
                Ok(capabilities) if !capabilities["resources"].is_null() => {}
                _ => continue,
            }
            match upstream.request(method, params.clone()).await {
                Ok(result) => return Ok(result),
                Err(error) => last = protocol_error(error),
            }
        }
        Err(last)
    }

    /// Tells every server that has such a capability; what one answers is of no interest.
    pub(super) async fn tell_servers(&self, capability: &str, method: &str, params: Value) -> Result<Value, ErrorData> {
        for upstream in &self.shared.upstreams {
            match upstream.capabilities().await {
                Ok(capabilities) if !capabilities[capability].is_null() => {}
                _ => continue,
            }
            if let Err(error) = upstream.request(method, params.clone()).await {
                tracing::warn!(server = upstream.name, ?error, method, "a server did not take what it was told");
            }
        }
        Ok(json!({}))
    }

    /// A completion, from the server whose prompt it is for; for a resource, from the first that answers.
    pub(super) async fn completion(&self, mut params: Value) -> Result<Value, ErrorData> {
        let prompt = params["ref"]["name"].as_str().map(str::to_owned);
        let Some(prompt) = prompt else { return self.about_resource("completion/complete", params).await };
        let Some((upstream, name)) = self.resolve(&prompt) else {
            return Err(ErrorData::invalid_params("there is no such prompt", None));
        };
        params["ref"]["name"] = name.into();
        upstream.request("completion/complete", params).await.map_err(protocol_error)
    }
}

/// An upstream server's error, handed on; or that there was no answer.
pub(super) fn protocol_error(error: UpstreamError) -> ErrorData {
    match error {
        UpstreamError::Answered(error) => {
            serde_json::from_value(error).unwrap_or_else(|_| ErrorData::internal_error("the server failed", None))
        }
        UpstreamError::Unasked(what) | UpstreamError::Failed(what) => {
            ErrorData::internal_error(format!("UPSTREAM_FAILED: {what}"), None)
        }
    }
}

/// A held call answers a placeholder, so what the tool says of its results does not hold.
fn hold(members: &mut serde_json::Map<String, Value>) {
    members.remove("outputSchema");
    let description = members.get("description").and_then(Value::as_str).unwrap_or_default();
    let description = format!("{description}\n\n{HELD_NOTE}");
    members.insert("description".into(), description.trim_start().into());
    // References may stand in for any value, so the input is for the server to check.
    members.insert("inputSchema".into(), json!({"type": "object"}));
}

fn status_tool() -> Value {
    json!({
        "name": STATUS,
        "title": "Status of this order",
        "description": "What you have used of this order's budget and what is left, which tools you called, and the calls that are \
            held: `held` is what your report's `effects` needs, `tools_used` what its `tools_used` needs. Costs nothing.",
        "inputSchema": {"type": "object", "properties": {}, "additionalProperties": false},
        "annotations": {"title": "Status of this order", "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false},
    })
}
