//! `bailiwick mcp`: a desk for one agent, over standard input and output (`spec work-orders §14.3`).

use bailiwick_core::principal::Principal;
use bailiwick_mcp::{Access, Identity, Toolsets, serve_stdio};
use tracing::level_filters::LevelFilter;

use crate::failure::{Answer, Failure};
use crate::logging::{self, LogForm};
use crate::place::StoreArguments;
use crate::signals;
use crate::signer::SignerArguments;

const EXAMPLES: &str = "\
Examples:
  claude mcp add desk -- bailiwick mcp --as agent:worker --store /path/to/desk.db
  codex mcp add desk -- bailiwick mcp --as agent:worker --store /path/to/desk.db
  bailiwick mcp --as agent:auditor --read-only
  bailiwick mcp --as agent:worker --pass-key desk-key.json --issuer https://desk.example

Each agent runs its own process; all of them share the store. On stdio an identity is only claimed,
and the journal says so: where agents must prove who they are, run `bailiwick serve` with keys.
Without --as every call must name its actor.
BAILIWICK_LOG=debug logs to standard error.";

/// Serve an agent over stdio (MCP)
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Who the agent is, like agent:worker
    #[arg(long = "as", visible_alias = "actor", value_name = "AGENT", env = "AWL_ACTOR")]
    actor: Option<String>,
    #[command(flatten)]
    store: StoreArguments,
    /// Which tools to offer: names separated by commas, or `all`
    #[arg(long, value_name = "NAMES", default_value = "work")]
    toolsets: Toolsets,
    /// Offer only tools that change nothing
    #[arg(long)]
    read_only: bool,
    #[command(flatten)]
    signer: SignerArguments,
    /// How log lines look
    #[arg(long, value_enum, value_name = "FORM", default_value = "text")]
    log: LogForm,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    logging::start(LevelFilter::WARN, arguments.log);
    let identity = match &arguments.actor {
        // Falling back to "anybody" here would give an agent more than was meant.
        Some(actor) if actor.trim().is_empty() => {
            return Err(Failure::usage("`--as` is blank; it must name the agent, like `agent:worker`"));
        }
        Some(actor) => Identity::Bound(Principal::claimed(actor)),
        None => Identity::Unbound,
    };
    let access = if arguments.read_only { Access::ReadOnly } else { Access::Full };
    let toolsets = arguments.toolsets.clone().with_access(access);
    let (configuration, place) = arguments.store.read()?;
    let section = configuration.as_ref().map(|configuration| configuration.server.clone()).unwrap_or_default();
    let signer = arguments.signer.read(&section)?.map(|file| file.signer);
    place.warn_of_orders_to_import();
    crate::block_on(async {
        let shutdown = signals::shutdown()?;
        let desk = place.open_signing_desk(signer).await?;
        if let Some(configuration) = configuration {
            configuration.adopt(&desk).await?;
        }
        let served = serve_stdio(desk.clone(), identity, &toolsets, shutdown).await;
        desk.close().await;
        served.map(|()| Answer::Yes).map_err(Failure::unable)
    })
}
