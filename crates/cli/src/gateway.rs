//! `bailiwick gateway`: an order's limits, enforced in front of the worker's MCP servers (`spec work-orders §15`).

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bailiwick_core::json::Limits;
use bailiwick_core::principal::{GATEWAY, Principal};
use bailiwick_core::work::quoted;
use bailiwick_gateway::{
    Authority, Carried, Gateway, LocalDesk, Naming, Options, Outcome, Upstreams, commit, serve_stdio,
};
use tracing::level_filters::LevelFilter;

use crate::failure::{Answer, Failure};
use crate::input::Input;
use crate::logging::{self, LogForm};
use crate::output::Output;
use crate::place::StoreArguments;
use crate::signals;
use crate::text::visible;

const EXAMPLES: &str = "\
Examples:
  claude mcp add work -- bailiwick gateway --order wo_7 --config upstream.json --store /path/to/desk.db
  bailiwick gateway --order wo_7 --config upstream.json --commit

upstream.json lists the worker's MCP servers in the form that MCP clients use:
  {\"mcpServers\": {\"mail\": {\"command\": \"npx\", \"args\": [\"-y\", \"some-mail-server\"]}}}

Each call is asked for at the desk before it is forwarded: the order must be `working`, the tool among its
`tools`, the budget not used up, the deadline not passed, the work not paused. Calls of `staged` tools are
held; once a report that lists them is approved, --commit carries them out, each at most once.

With --commit each approved effect gives a line: its ref and `done`, `failed`, `skipped`, `unknown` or
`refused`. Exit status then: 0 all are done, 1 some are not, 2 usage or file error.";

/// Serve an order's tools to its worker, within the order's limits (MCP)
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The order
    #[arg(long, value_name = "ORDER")]
    order: String,
    /// The worker's MCP servers; `-` is standard input, with --commit only
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// Who the worker is, to be sure that it is this order's
    #[arg(long = "as", visible_alias = "actor", value_name = "AGENT", env = "AWL_ACTOR")]
    actor: Option<String>,
    /// The store: a file, a folder with a `bailiwick.db`, `sqlite:FILE` or `postgres://…`
    ///
    /// Without it as for every command: BAILIWICK_STORE, AWL_STORE, AGENTOOL_COLLAB_DB, the configuration, the user's folder.
    #[arg(long, value_name = "STORE")]
    store: Option<String>,
    /// Carry out what was approved, and end
    #[arg(long)]
    commit: bool,
    /// Name tools `server/tool`, as orders do, instead of `server__tool`
    #[arg(long)]
    slash: bool,
    /// How long a server may take for an answer
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = clap::value_parser!(u64).range(1..=3600))]
    call_timeout: u64,
    /// How log lines look
    #[arg(long, value_enum, value_name = "FORM", default_value = "text")]
    log: LogForm,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    logging::start(LevelFilter::WARN, arguments.log);
    let input = Input::from(arguments.config.clone());
    let upstreams = Upstreams::parse(&input.read(Limits::DOCUMENT.bytes)?)
        .map_err(|error| Failure::usage(format!("`{}`: {error}", arguments.config.display())))?;
    // `--config` names the servers here, so the desk's own configuration is where it usually is.
    let store = StoreArguments { store: arguments.store.clone(), ..StoreArguments::default() };
    let (_, place) = store.read()?;
    place.check_exists()?;
    crate::block_on(async {
        let shutdown = signals::shutdown()?;
        let desk = place.open_desk().await?;
        let authority = LocalDesk::new(desk.clone(), Principal::claimed(GATEWAY), &arguments.order);
        let call_time = Duration::from_secs(arguments.call_timeout);
        let answer = if arguments.commit {
            carry_out(&authority, &upstreams, call_time).await
        } else {
            let naming = if arguments.slash { Naming::Slash } else { Naming::Underscores };
            serve(authority, arguments.actor.as_deref(), &upstreams, Options { naming, call_time }, shutdown).await
        };
        desk.close().await;
        answer
    })
}

async fn serve(
    authority: LocalDesk,
    actor: Option<&str>,
    upstreams: &Upstreams,
    options: Options,
    shutdown: tokio_util::sync::CancellationToken,
) -> Result<Answer, Failure> {
    let gateway = Gateway::open(Arc::new(authority), upstreams, options)
        .await
        .map_err(|error| Failure::usage(error.to_string()))?;
    if let Some(actor) = actor.filter(|actor| *actor != gateway.worker()) {
        let worker = quoted(gateway.worker());
        return Err(Failure::usage(format!("the order is for {worker}, not for {}", quoted(actor))));
    }
    serve_stdio(gateway, shutdown).await.map(|()| Answer::Yes).map_err(Failure::unable)
}

async fn carry_out(authority: &dyn Authority, upstreams: &Upstreams, call_time: Duration) -> Result<Answer, Failure> {
    let mut output = Output::new();
    let mut broken = None;
    let mut say = |carried: &Carried| {
        let message = carried.message.as_deref().map_or_else(String::new, |message| format!(": {}", visible(message)));
        let line = format!("{} {}{message}", visible(&carried.reference), carried.outcome.as_str());
        // Said at once: the next one may take long.
        if let Err(failure) = output.line(line).and_then(|()| output.flush()) {
            broken.get_or_insert(failure);
        }
    };
    let carried = commit(authority, upstreams, call_time, &mut say).await;
    match carried {
        Ok(_) if broken.is_some() => broken.map_or(Ok(Answer::No), Err),
        Ok(carried) => Ok(Answer::when(carried.iter().all(|carried| carried.outcome == Outcome::Done))),
        Err(bailiwick_gateway::Failure::Refused(refusal)) => {
            eprintln!("bailiwick: {}", visible(&refusal.message));
            Ok(Answer::No)
        }
        Err(bailiwick_gateway::Failure::Unreachable(why)) => Err(Failure::unable(why)),
    }
}
