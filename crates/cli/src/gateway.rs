//! `bailiwick gateway`: an order's limits, enforced in front of the worker's MCP servers (`spec work-orders §15`).

use std::env;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bailiwick_core::json::Limits;
use bailiwick_core::principal::{GATEWAY, Principal};
use bailiwick_core::work::quoted;
use bailiwick_desk::Desk;
use bailiwick_gateway::{
    AloneOptions, Authority, Carried, Fallback, Gateway, LocalDesk, Naming, Options, Outcome, PassSource, RemoteDesk,
    Upstreams, WithPass, commit, serve_stdio,
};
use tokio_util::sync::CancellationToken;
use tracing::level_filters::LevelFilter;
use tracing::warn;

use crate::configuration::user_folder;
use crate::failure::{Answer, Failure};
use crate::input::Input;
use crate::logging::{self, LogForm};
use crate::output::Output;
use crate::place::StoreArguments;
use crate::signals;
use crate::text::visible;

const EXAMPLES: &str = "\
Examples:
  claude mcp add work -- bailiwick gateway --order wo_7 --config upstream.json --store desk.db
  bailiwick gateway --order wo_7 --config upstream.json --commit
  bailiwick gateway --order wo_7 --config upstream.json --desk https://desk.example \\
    --key-file gateway.key --pass-keys jwks.json

upstream.json lists the worker's MCP servers in the form that MCP clients use:
  {\"mcpServers\": {
    \"mail\": {\"command\": \"npx\", \"args\": [\"-y\", \"some-mail-server\"]},
    \"files\": {\"url\": \"https://tools.example/mcp\", \"headers\": {\"Authorization\": \"Bearer …\"}}}}

Each call is asked for at the desk before it is forwarded: the order must be `working`, the tool
among its `tools`, the budget not used up, the deadline not passed, the work not paused. Calls of
`staged` tools are held; once a report that lists them is approved, --commit carries them out, each
at most once.

With --desk the desk is a server (`bailiwick serve --keys`) whose keys file has this gateway's key,
for `gateway:<name>`. With --pass-keys, calls are checked by the order's pass while the desk cannot
be asked: the one in the call's `_meta[\"awl/pass\"]`, else in the file that AWL_PASS_FILE names, else
in AWL_PASS. A pass that is bound to a holder needs a proof with each call, in `_meta[\"awl/proof\"]`.
The gateway then counts by itself, in a file for each order: that bounds this gateway, and not the
sum of several.

With --commit each approved effect gives a line: its ref and `done`, `failed`, `skipped`, `unknown`
or `refused`. Exit status then: 0 all are done, 1 some are not, 2 usage or file error.";

/// The most bytes of a file with a key.
const MOST_KEY_BYTES: usize = 64 << 10;

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
    #[arg(long, value_name = "STORE", conflicts_with = "desk")]
    store: Option<String>,
    /// A desk elsewhere: the address of its server, with `https://` or `http://`
    #[arg(long, value_name = "URL")]
    desk: Option<String>,
    /// The file with this gateway's key at that desk; without it BAILIWICK_KEY has the key
    #[arg(long, value_name = "FILE", requires = "desk")]
    key_file: Option<PathBuf>,
    /// How long that desk may take for an answer, asked again meanwhile where the connection breaks
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = clap::value_parser!(u64).range(1..=300))]
    desk_timeout: u64,
    #[command(flatten)]
    passes: PassArguments,
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

/// What to go by while the desk cannot be asked.
#[derive(clap::Args)]
struct PassArguments {
    /// Go by passes while the desk cannot be asked: the issuer's public keys, a JWK or a JWK set
    #[arg(long, value_name = "JWKS-FILE")]
    pass_keys: Option<PathBuf>,
    /// Who must have issued the pass
    #[arg(long, value_name = "URL", requires = "pass_keys")]
    issuer: Option<String>,
    /// This gateway, as passes and holders' proofs name it
    #[arg(long, value_name = "NAME", requires = "pass_keys")]
    audience: Option<String>,
    /// The issuer's newest list of revoked passes, read again when it changes
    #[arg(long, value_name = "FILE", requires = "pass_keys")]
    revocations: Option<PathBuf>,
    /// The folder of what this gateway counts by itself [default: `bailiwick/gateway` in the user's data folder]
    #[arg(long, value_name = "FOLDER", requires = "pass_keys")]
    state: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    logging::start(LevelFilter::WARN, arguments.log);
    if arguments.config == Path::new("-") && !arguments.commit {
        return Err(Failure::usage("the agent speaks on standard input, so `--config` must name a file"));
    }
    let upstreams = read_upstreams(&arguments.config)?;
    let call_time = Duration::from_secs(arguments.call_timeout);
    let alone = arguments.alone()?;
    let remote = arguments.remote()?;
    crate::block_on(async {
        let shutdown = signals::shutdown()?;
        let Behind { authority, desk } = match remote {
            Some(remote) => Behind { authority: Some(Box::new(remote)), desk: None },
            None => arguments.open(alone.as_ref()).await?,
        };
        let answer = match (authority, alone) {
            (Some(desk), _) if arguments.commit => carry_out(&*desk, &upstreams, call_time).await,
            (Some(desk), Some(alone)) => {
                serve(Arc::new(Fallback::new(desk, alone)), arguments, &upstreams, call_time, shutdown).await
            }
            (Some(desk), None) => serve(Arc::from(desk), arguments, &upstreams, call_time, shutdown).await,
            (None, Some(alone)) => serve(Arc::new(alone), arguments, &upstreams, call_time, shutdown).await,
            (None, None) => Err(Failure::usage("there is neither a desk nor a pass")),
        };
        if let Some(desk) = desk {
            desk.close().await;
        }
        answer
    })
}

/// Reads which servers stand behind gateways.
pub(crate) fn read_upstreams(file: &Path) -> Result<Upstreams, Failure> {
    Upstreams::parse(&Input::from(file.to_owned()).read(Limits::DOCUMENT.bytes)?)
        .map_err(|error| Failure::usage(format!("`{}`: {error}", file.display())))
}

/// Who stands behind a gateway.
struct Behind {
    /// The desk as the gateway asks it, if there is one
    authority: Option<Box<dyn Authority>>,
    /// The same, if it is in this process
    desk: Option<Desk>,
}

impl Arguments {
    /// The desk of the store. There may be none where the gateway can go by passes.
    async fn open(&self, alone: Option<&WithPass>) -> Result<Behind, Failure> {
        // `--config` names the servers here, so the desk's own configuration is where it usually is.
        let store = StoreArguments { store: self.store.clone(), ..StoreArguments::default() };
        let (_, place) = store.read()?;
        if let Some(missing) = place.file.as_ref().filter(|file| !file.exists())
            && alone.is_some()
            && !self.commit
        {
            let missing = missing.display();
            warn!(
                "there is no store at `{missing}`: going by passes, which bounds this gateway and not the sum of several"
            );
            return Ok(Behind { authority: None, desk: None });
        }
        place.check_exists()?;
        let desk = place.open_desk().await?;
        let local = LocalDesk::new(desk.clone(), Principal::claimed(GATEWAY), &self.order);
        Ok(Behind { authority: Some(Box::new(local)), desk: Some(desk) })
    }

    /// The desk elsewhere, if one is named.
    fn remote(&self) -> Result<Option<RemoteDesk>, Failure> {
        let Some(address) = &self.desk else { return Ok(None) };
        let key = match (&self.key_file, env::var("BAILIWICK_KEY")) {
            (Some(file), _) => String::from_utf8(Input::from(file.clone()).read(MOST_KEY_BYTES)?)
                .map_err(|_| Failure::usage(format!("`{}`: a key is text", file.display())))?,
            (None, Ok(key)) => key,
            (None, Err(_)) => {
                let message = "which key? name its file with `--key-file`, or put it into BAILIWICK_KEY";
                return Err(Failure::usage(message));
            }
        };
        let remote = RemoteDesk::new(address, &key, &self.order, Duration::from_secs(self.desk_timeout));
        remote.map(Some).map_err(|error| Failure::usage(error.to_string()))
    }

    /// What to go by while the desk cannot be asked, if anything.
    fn alone(&self) -> Result<Option<WithPass>, Failure> {
        let passes = &self.passes;
        let Some(keys) = &passes.pass_keys else { return Ok(None) };
        let folder = passes.state.clone().or_else(|| {
            user_folder("XDG_DATA_HOME", ".local/share").map(|folder| folder.join("bailiwick").join("gateway"))
        });
        let folder = folder.ok_or_else(|| {
            Failure::usage("where to count? there is no home folder to do it in; name a folder with `--state`")
        })?;
        let variable = |name| env::var(name).ok().filter(|value| !value.is_empty());
        let file = variable("AWL_PASS_FILE").map(|path| PassSource::File(path.into()));
        let options = AloneOptions {
            order: self.order.clone(),
            keys: keys.clone(),
            worker: self.actor.clone(),
            issuer: passes.issuer.clone(),
            audience: passes.audience.clone(),
            revocations: passes.revocations.clone(),
            pass: file.or_else(|| variable("AWL_PASS").map(PassSource::Token)),
            folder,
        };
        WithPass::open(options).map(Some).map_err(|error| Failure::usage(error.to_string()))
    }
}

async fn serve(
    authority: Arc<dyn Authority>,
    arguments: &Arguments,
    upstreams: &Upstreams,
    call_time: Duration,
    shutdown: CancellationToken,
) -> Result<Answer, Failure> {
    let naming = if arguments.slash { Naming::Slash } else { Naming::Underscores };
    let gateway = Gateway::open(authority, upstreams, Options { naming, call_time })
        .await
        .map_err(|error| Failure::usage(error.to_string()))?;
    if let (Some(actor), Some(worker)) = (&arguments.actor, gateway.worker().await)
        && *actor != worker
    {
        return Err(Failure::usage(format!("the order is for {}, not for {}", quoted(&worker), quoted(actor))));
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
