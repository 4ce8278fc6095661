//! An MCP server of one's own on standard input and output: a desk in a file, open for one agent.
//!
//! ```text
//! cargo run --package bailiwick-mcp --example stdio -- desk.db agent:worker
//! ```

use std::error::Error;
use std::process::exit;

use bailiwick_core::principal::Principal;
use bailiwick_desk::Desk;
use bailiwick_mcp::{Identity, Toolsets, serve_stdio};
use tokio_util::sync::CancellationToken;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, agent] = arguments.as_slice() else {
        return Err("give a file and an agent, such as `desk.db agent:worker`".into());
    };
    let store = bailiwick_store::open(file, bailiwick_store::Options::default()).await?;
    let desk = Desk::open(store, bailiwick_desk::Options::default()).await?;
    let shutdown = CancellationToken::new();
    tokio::spawn({
        let shutdown = shutdown.clone();
        async move {
            if tokio::signal::ctrl_c().await.is_ok() {
                shutdown.cancel();
            }
        }
    });
    let identity = Identity::Bound(Principal::claimed(agent.as_str()));
    serve_stdio(desk.clone(), identity, &Toolsets::default(), shutdown).await?;
    desk.close().await;
    // A read of standard input may still be pending, and returning would wait for it.
    exit(0)
}
