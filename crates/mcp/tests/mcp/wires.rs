//! The two revisions of the protocol.

use bailiwick_mcp::Toolsets;
use rmcp::model::{CallToolRequestParams, ClientCapabilities, ClientConfig, Implementation, ProtocolVersion};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt};
use serde_json::{Value, json};
use tokio::io::{duplex, split};
use tokio_util::sync::CancellationToken;

use crate::support::{Client, MANAGER, bound, memory_desk, order};

/// The `_meta` of a request that stands for itself.
fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "0"},
    })
}

#[tokio::test]
async fn the_older_revisions_begin_with_initialize() {
    let desk = memory_desk().await;
    let mut client = Client::connect(&desk, bound(MANAGER), Toolsets::default());
    let result = client.initialize().await;
    assert_eq!(result["protocolVersion"], "2025-11-25");
    assert_eq!(result["serverInfo"]["name"], "awl-work-desk");
    assert_eq!(result["serverInfo"]["title"], "Bailiwick");
    assert_eq!(result["serverInfo"]["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(result["capabilities"], json!({"tools": {}}));
    assert!(result["instructions"].as_str().unwrap().contains("accept_work_order"));
    let list = client.request("tools/list", json!({})).await["result"].clone();
    let members: Vec<&String> = list.as_object().unwrap().keys().collect();
    assert_eq!(members, ["tools"], "nothing that the older revision does not know");
    let result = client.call("create_work_order", order()).await;
    let members: Vec<&String> = result.as_object().unwrap().keys().collect();
    assert_eq!(members, ["content", "structuredContent", "isError"]);
    client.close().await;
}

#[tokio::test]
async fn an_older_and_an_unknown_revision_are_negotiated() {
    for (asked, answered) in [
        ("2025-06-18", "2025-06-18"),
        ("2024-11-05", "2024-11-05"),
        ("1999-01-01", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
    ] {
        let mut client = Client::connect(&memory_desk().await, bound(MANAGER), Toolsets::default());
        let params = json!({"protocolVersion": asked, "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}});
        let reply = client.request("initialize", params).await;
        assert_eq!(reply["result"]["protocolVersion"], answered);
        client.done("list_work_orders", json!({})).await;
    }
}

#[tokio::test]
async fn on_the_newer_revision_each_request_stands_for_itself() {
    let desk = memory_desk().await;
    let mut client = Client::connect(&desk, bound(MANAGER), Toolsets::default());
    let found = client.request("server/discover", json!({"_meta": meta()})).await["result"].clone();
    assert!(found["supportedVersions"].as_array().unwrap().contains(&json!("2026-07-28")), "{found}");
    assert_eq!((&found["cacheScope"], &found["ttlMs"]), (&json!("public"), &json!(600_000)));
    assert_eq!(found["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "awl-work-desk");

    let list = client.request("tools/list", json!({"_meta": meta()})).await["result"].clone();
    assert_eq!(
        (&list["cacheScope"], &list["ttlMs"], &list["resultType"]),
        (&json!("public"), &json!(600_000), &json!("complete"))
    );
    assert_eq!(list["_meta"]["io.modelcontextprotocol/serverInfo"]["title"], "Bailiwick");

    let call = json!({"name": "create_work_order", "arguments": order(), "_meta": meta()});
    let result = client.request("tools/call", call).await["result"].clone();
    assert_eq!((&result["resultType"], &result["structuredContent"]["state"]), (&json!("complete"), &json!("offered")));
    assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "awl-work-desk");
    let refused = json!({"name": "get_work_order", "arguments": {"id": "wo_none"}, "_meta": meta()});
    assert_eq!(client.request("tools/call", refused).await["result"]["isError"], true);

    let missing = client.request("tools/call", json!({"name": "list_work_orders"})).await;
    assert_eq!(missing["error"]["code"], -32602, "{missing}");
    let mut unknown = meta();
    unknown["io.modelcontextprotocol/protocolVersion"] = json!("2099-01-01");
    let unknown = client.request("tools/list", json!({"_meta": unknown})).await;
    assert_eq!(unknown["error"]["code"], -32022, "{unknown}");
    assert_eq!(client.request("ping", json!({"_meta": meta()})).await["error"]["code"], -32601);
    client.close().await;
}

#[tokio::test]
async fn a_key_works_on_the_newer_revision() {
    let desk = memory_desk().await;
    let mut client = Client::connect(&desk, bound(MANAGER), Toolsets::default());
    let mut keyed = meta();
    keyed["bailiwick/idempotency-key"] = json!("k");
    let call = json!({"name": "create_work_order", "arguments": order(), "_meta": keyed});
    let first = client.request("tools/call", call.clone()).await;
    let again = client.request("tools/call", call).await;
    assert!(first["result"]["structuredContent"]["id"].is_string(), "{first}");
    assert_eq!(first["result"]["structuredContent"]["id"], again["result"]["structuredContent"]["id"]);
}

#[tokio::test]
async fn the_library_s_own_client_gets_along_on_both() {
    let discover = ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] };
    for mode in [ClientLifecycleMode::Initialize, discover] {
        let desk = memory_desk().await;
        let (ours, theirs) = duplex(1 << 16);
        let (toolsets, stop) = (Toolsets::default(), CancellationToken::new());
        let serve = bailiwick_mcp::serve_streams(desk, bound(MANAGER), &toolsets, split(theirs), stop);
        let client = async {
            let config = ClientConfig::new(ClientCapabilities::default(), Implementation::new("test", "0"));
            let client = config.serve_with_lifecycle(ours, mode).await.unwrap();
            let tools = client.list_all_tools().await.unwrap();
            assert_eq!(tools.len(), 14);
            let arguments = order().as_object().unwrap().clone();
            let call = CallToolRequestParams::new("create_work_order").with_arguments(arguments);
            let result = client.call_tool(call).await.unwrap();
            assert_eq!(result.structured_content.unwrap()["state"], "offered");
            client.cancel().await.unwrap();
        };
        let (served, ()) = tokio::join!(serve, client);
        served.unwrap();
    }
}
