//! Carrying out what was approved (`spec work-orders §15.7`).

use std::time::Duration;

use bailiwick_core::hash::hex;
use bailiwick_core::json::{Object, Value};
use bailiwick_core::work::gateway::{MOST_RESULT_BYTES, arguments_digest};
use serde_json::json;
use tokio::sync::mpsc;

use crate::authority::{Authority, Failure};
use crate::config::Upstreams;
use crate::message::{to_core, to_wire};
use crate::upstream::{self, Upstream, UpstreamError};

/// An approved effect, and how it stands now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Carried {
    /// `server/tool#n`
    pub reference: String,
    /// How it stands
    pub outcome: Outcome,
    /// Why, where there is something to say
    pub message: Option<String>,
}

/// How an effect stands after a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It was done, now or before
    Done,
    /// It failed, now or before
    Failed,
    /// It uses the result of one that is not done
    Skipped,
    /// It was begun before, and nobody knows whether it ran
    Unknown,
    /// What was approved is not what was held
    Refused,
}

impl Outcome {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
            Self::Unknown => "unknown",
            Self::Refused => "refused",
        }
    }
}

/// Carries out the effects of an approved order that are still `approved`, in the report's order. Each is claimed before it
/// runs, so that it runs at most once, however often and by however many gateways this is called.
///
/// `each` is told of each effect as soon as it is known how it stands.
///
/// # Errors
///
/// Refused with `INVALID_TRANSITION` unless the order is approved; whatever the authority says.
pub async fn commit(
    authority: &dyn Authority,
    upstreams: &Upstreams,
    call_time: Duration,
    each: &mut dyn FnMut(&Carried),
) -> Result<Vec<Carried>, Failure> {
    let order = authority.order().await?;
    if order.get("state").and_then(Value::as_str) != Some("approved") {
        let state = order.get("state").and_then(Value::as_str).unwrap_or_default();
        let message = format!("the order is {state}; what it holds is carried out once it is approved");
        return Err(Failure::Refused(bailiwick_core::heart::Refusal::new("INVALID_TRANSITION", message)));
    }
    let status = authority.status().await?;
    let held = status.get("held").and_then(Value::as_array).unwrap_or_default();
    // Nobody listens to what servers tell meanwhile.
    let (notified, mut told) = mpsc::channel(64);
    tokio::spawn(async move { while told.recv().await.is_some() {} });
    let servers = upstream::all(upstreams, call_time, &notified).map_err(Failure::Unreachable)?;
    let mut all = Vec::new();
    for effect in order.get("effects").and_then(Value::as_array).unwrap_or_default() {
        let carried = carry_out(authority, &servers, held, effect).await?;
        each(&carried);
        all.push(carried);
    }
    Ok(all)
}

async fn carry_out(
    authority: &dyn Authority,
    servers: &[Upstream],
    held: &[Value],
    effect: &Value,
) -> Result<Carried, Failure> {
    let text = |name| effect.get(name).and_then(Value::as_str);
    let reference = text("ref").unwrap_or_default();
    let known = |outcome, message: Option<&str>| {
        Ok(Carried { reference: reference.into(), outcome, message: message.map(Into::into) })
    };
    match text("status") {
        Some("done") => return known(Outcome::Done, None),
        Some("failed") => return known(Outcome::Failed, text("error")),
        Some("started") => return known(Outcome::Unknown, Some("it was begun, and nobody knows whether it ran")),
        _ => {}
    }
    let Some(record) = held.iter().find(|held| held.get("ref") == effect.get("ref")) else {
        return known(Outcome::Refused, Some("no such call is held"));
    };
    let tool = record.get("tool").and_then(Value::as_str).unwrap_or_default();
    let digest = record.get("arguments").map(arguments_digest).unwrap_or_default();
    let claim = Object::new().with("ref", reference).with("tool", tool).with("arguments_digest", hex(&digest));
    let begun = match authority.effect("begin_effect", claim).await {
        Ok(begun) => begun,
        Err(Failure::Refused(refusal)) => {
            let outcome = match refusal.code {
                "FORBIDDEN" => Outcome::Refused,
                _ => Outcome::Skipped,
            };
            return known(outcome, Some(&refusal.message));
        }
        Err(unreachable) => return Err(unreachable),
    };
    if begun.get("status").and_then(Value::as_str) == Some("failed") {
        return known(Outcome::Failed, begun.get("error").and_then(Value::as_str));
    }
    let arguments = begun.get("arguments").map(to_wire).unwrap_or_else(|| json!({}));
    match call(servers, tool, arguments).await {
        Ok(result) => {
            let kept = to_core(&result).ok().filter(|_| result.to_string().len() <= MOST_RESULT_BYTES);
            let message = kept.is_none().then_some("its result is too large to be used by other effects");
            let outcome = Object::new().with("ref", reference).with("outcome", "done").with_some("result", kept);
            authority.effect("finish_effect", outcome).await?;
            known(Outcome::Done, message)
        }
        Err(Ended::Unknown(why)) => known(Outcome::Unknown, Some(&why)),
        Err(Ended::Failed(error)) => {
            let outcome = Object::new().with("ref", reference).with("outcome", "failed").with("error", &*error);
            authority.effect("finish_effect", outcome).await?;
            known(Outcome::Failed, Some(&error))
        }
    }
}

/// How a call ends that gives no result.
enum Ended {
    /// It failed; why
    Failed(String),
    /// Nobody knows whether it ran; why
    Unknown(String),
}

/// Calls a tool for its result.
async fn call(servers: &[Upstream], tool: &str, arguments: serde_json::Value) -> Result<serde_json::Value, Ended> {
    let (server, name) = tool.split_once('/').unwrap_or((tool, ""));
    let Some(server) = servers.iter().find(|upstream| upstream.name == server) else {
        return Err(Ended::Failed(format!("the configuration has no server `{server}`")));
    };
    match server.request("tools/call", json!({"name": name, "arguments": arguments})).await {
        Ok(result) if result["isError"] == true => Err(Ended::Failed(first_text(&result))),
        Ok(result) => Ok(result),
        Err(UpstreamError::Answered(error)) => Err(Ended::Failed(shortened(&error["message"].to_string()))),
        Err(UpstreamError::Unasked(what)) => Err(Ended::Failed(what)),
        // It may have run all the same, so it is not settled: running it again is for the manager to allow.
        Err(UpstreamError::Failed(what)) => Err(Ended::Unknown(what)),
    }
}

/// What a tool's error says.
fn first_text(result: &serde_json::Value) -> String {
    let text = result["content"].as_array().into_iter().flatten().find_map(|item| item["text"].as_str());
    shortened(text.filter(|text| !text.trim().is_empty()).unwrap_or("the tool answered with an error"))
}

fn shortened(text: &str) -> String {
    text.chars().take(1_000).collect()
}
