//! `bailiwick serve`: a desk for several agents and people, over HTTP (`spec work-orders §14.4`).

use std::io::Write as _;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use bailiwick_core::json::{Object, Value};
use bailiwick_desk::{Desk, Signer};
use bailiwick_gateway::Options as GatewayOptions;
use bailiwick_mcp::{Access, Toolsets};
use bailiwick_server::{Auth, Gatekeeping, KeyRing, Server, ServerOptions};
use tracing::level_filters::LevelFilter;
use tracing::{error, info, warn};

use crate::configuration::{Configuration, ServerSection};
use crate::failure::{Answer, Failure, cause};
use crate::gateway;
use crate::logging::{self, LogForm};
use crate::output::{Mark, Output, Style};
use crate::place::StoreArguments;
use crate::sign_in;
use crate::signals::{self, Reload};
use crate::signer::{SignerArguments, SignerFile};

const EXAMPLES: &str = "\
Examples:
  bailiwick serve                                         open, for trying out on this machine
  bailiwick serve --keys keys.json                        closed: every request needs a key
  bailiwick serve --keys keys.json --host 0.0.0.0 --store postgres://desk@db/desk
  bailiwick serve --keys keys.json --pass-key desk-key.json --issuer https://desk.example
  claude mcp add --transport http bailiwick http://127.0.0.1:8787/mcp \\
    --header \"Authorization: Bearer <key>\"

keys.json is {\"keys\": {\"<long random key>\": \"agent:worker\", \"<another>\": \"human:ada\"}}.
desk-key.json is what `bailiwick keys new desk-key.json` makes; verifiers of passes fetch its public
part at /.well-known/jwks.json.
With --gateway-config upstream.json a worker reaches its order's tools, within their limits, at
/gateway/<order>/mcp; `bailiwick gateway --help` says what upstream.json is.
SIGHUP reads keys and configuration again; SIGTERM answers what is running and stops.";

/// The most bytes of a keys file.
const KEYS_BYTES: usize = 4 << 20;

/// Serve agents, people and scripts over HTTP (MCP and REST)
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    store: StoreArguments,
    /// The address to listen on [default: 127.0.0.1]
    #[arg(long)]
    host: Option<String>,
    /// The port to listen on; 0 lets the system choose [default: 8787]
    #[arg(long)]
    port: Option<u16>,
    /// The keys file: who may come in, and as whom
    #[arg(long, value_name = "FILE")]
    keys: Option<PathBuf>,
    /// Believe everybody; on loopback only
    #[arg(long, conflicts_with = "keys")]
    open: bool,
    /// Whom the sign-in link is for that is printed at the start [default: human:operator]
    #[arg(long, value_name = "PERSON")]
    operator: Option<String>,
    /// Which tools to offer: names separated by commas, or `all`
    #[arg(long, value_name = "NAMES", default_value = "work")]
    toolsets: Toolsets,
    /// Offer only what changes nothing
    #[arg(long)]
    read_only: bool,
    #[command(flatten)]
    signer: SignerArguments,
    /// Offer each order's tools to its worker at `/gateway/ORDER/mcp`: the MCP servers behind, as for `bailiwick gateway`
    #[arg(long, value_name = "FILE", conflicts_with = "read_only")]
    gateway_config: Option<PathBuf>,
    /// How log lines look
    #[arg(long, value_enum, value_name = "FORM", default_value = "text")]
    log: LogForm,
    /// Print {"address", "mode", "store", "sign_in", "issuer"} on one line instead of words
    #[arg(long)]
    json: bool,
}

/// A keys file and the ring made of it.
struct Keys {
    file: PathBuf,
    ring: KeyRing,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    logging::start(LevelFilter::INFO, arguments.log);
    let (configuration, place) = arguments.store.read()?;
    let section = configuration.as_ref().map(|configuration| configuration.server.clone()).unwrap_or_default();
    let host = arguments.host.clone().or_else(|| section.host.clone());
    let host = host.unwrap_or_else(|| "127.0.0.1".to_owned());
    let keys = keys(arguments, &section, &host)?;
    let operator = arguments.operator.clone().or_else(|| section.operator.clone());
    let operator = operator.unwrap_or_else(|| sign_in::OPERATOR.to_owned());
    let signer = arguments.signer.read(&section)?;
    let mut options = options(arguments, &section, host, keys.as_ref());
    options.gatekeeping = arguments
        .gateway_config
        .as_deref()
        .map(gateway::read_upstreams)
        .transpose()?
        .map(|upstreams| Gatekeeping { upstreams, options: GatewayOptions::default() });
    place.warn_of_orders_to_import();
    warn_of_unread_configuration(arguments);
    crate::block_on_many(async {
        let shutdown = signals::shutdown()?;
        let reload = Reload::new()?;
        let desk = place.open_signing_desk(signer.as_ref().map(|file| file.signer.clone())).await?;
        if let Some(configuration) = &configuration {
            configuration.adopt(&desk).await?;
        }
        let server = Server::bind(desk.clone(), options).await.map_err(Failure::unable)?;
        let address = sign_in::reachable(&server.address().ip().to_string(), server.address().port());
        let link = sign_in::link(&desk, &operator, &address).await?;
        announce(&address, &link, &desk, keys.as_ref(), arguments)?;
        let configuration = arguments.store.configuration.file().zip(configuration);
        tokio::spawn(Files { configuration, keys, signer }.read_again_when_told(reload, desk.clone()));
        let ran = server.run(shutdown).await.map_err(Failure::unable);
        desk.close().await;
        ran.map(|()| Answer::Yes)
    })
}

/// The keys to let people in with; `None` for open mode, which must be asked for unless nobody else can come.
fn keys(arguments: &Arguments, section: &ServerSection, host: &str) -> Result<Option<Keys>, Failure> {
    let file = match (&arguments.keys, &section.keys, arguments.open) {
        (Some(file), _, _) | (None, Some(file), false) => file.clone(),
        (None, Some(file), true) => {
            let file = file.display();
            return Err(Failure::usage(format!("`--open` cannot be used with the keys `{file}` of the configuration")));
        }
        (None, None, true) => return Ok(None),
        (None, None, false) if is_loopback(host) => return Ok(None),
        (None, None, false) => {
            return Err(Failure::usage(format!(
                "others can reach `{host}`, so give a keys file: `--keys keys.json`, which holds \
                 {{\"keys\": {{\"<long random key>\": \"agent:worker\"}}}}"
            )));
        }
    };
    let ring = KeyRing::from_json(&read_keys(&file).map_err(Failure::Usage)?);
    let ring = ring.map_err(|error| Failure::usage(format!("`{}`: {error}", file.display())))?;
    if ring.is_empty() {
        warn!("`{}` holds no keys: nobody can come in", file.display());
    }
    Ok(Some(Keys { file, ring }))
}

fn read_keys(file: &Path) -> Result<Vec<u8>, String> {
    let unreadable = |error| format!("`{}` cannot be read: {}", file.display(), cause(&error));
    let bytes = std::fs::read(file).map_err(unreadable)?;
    match bytes.len() {
        length if length > KEYS_BYTES => {
            Err(format!("`{}` has {length} bytes, at most {KEYS_BYTES} are accepted", file.display()))
        }
        _ => Ok(bytes),
    }
}

fn is_loopback(host: &str) -> bool {
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

fn options(arguments: &Arguments, section: &ServerSection, host: String, keys: Option<&Keys>) -> ServerOptions {
    let auth = keys.map_or(Auth::Open, |keys| Auth::Keys(keys.ring.clone()));
    let access = if arguments.read_only { Access::ReadOnly } else { Access::Full };
    ServerOptions {
        host,
        port: arguments.port.or(section.port).unwrap_or(ServerOptions::DEFAULT_PORT),
        allowed_hosts: section.allowed_hosts.clone(),
        allowed_origins: section.allowed_origins.clone(),
        auditors: section.auditors.clone(),
        toolsets: arguments.toolsets.clone().with_access(access),
        ..ServerOptions::new(auth)
    }
}

/// A file that looks as if it were meant, and is not read (see [`crate::configuration`]).
fn warn_of_unread_configuration(arguments: &Arguments) {
    let here = Path::new("bailiwick.yaml");
    if arguments.store.configuration.file().is_none() && here.is_file() {
        warn!("`bailiwick.yaml` in this folder is not read; give it with `--config bailiwick.yaml`");
    }
}

/// Says where the server is and how to reach it.
fn announce(address: &str, link: &str, desk: &Desk, keys: Option<&Keys>, arguments: &Arguments) -> Result<(), Failure> {
    if keys.is_none() {
        warn_of_open_mode();
    }
    let mut output = Output::new();
    if arguments.json {
        let mode = if keys.is_some() { "keys" } else { "open" };
        let ready = Object::new().with("address", address).with("mode", mode).with("store", desk.describe());
        let ready = ready.with("sign_in", link).with_some("issuer", desk.signer().map(Signer::issuer));
        output.json_line(&Value::Object(ready))?;
    } else {
        let header = if keys.is_some() { " --header \"Authorization: Bearer <key>\"" } else { "" };
        let strong = output.style().strong(address);
        output.line(format!("Bailiwick serves {strong} from {}", desk.describe()))?;
        output.line(format!("  sign in      {link}"))?;
        output.line("               once, within 15 minutes; `bailiwick sign-in` prints another")?;
        output.line(format!("  Claude Code  claude mcp add --transport http bailiwick {address}/mcp{header}"))?;
        output.line(format!("  other agents MCP over streamable HTTP at {address}/mcp"))?;
        if arguments.gateway_config.is_some() {
            output.line(format!("  order tools  {address}/gateway/<order>/mcp, for the order's worker"))?;
        }
        output.line(format!("  REST         {address}/api/v1/docs"))?;
        if let Some(signer) = desk.signer() {
            output.line(format!("  passes       by {}, keys at {address}/.well-known/jwks.json", signer.issuer()))?;
        }
        output.line("  stop         Ctrl-C")?;
    }
    output.flush()
}

fn warn_of_open_mode() {
    let style = Style::of(&std::io::stderr());
    let mark = style.mark(Mark::Bad);
    let title = style.strong("OPEN MODE: whoever reaches this server may act as anybody.");
    let text = format!(
        "{mark} {title}\n  It listens on this machine only, and the journal records every name as merely claimed.\n  \
         To close it, write keys.json with {{\"keys\": {{\"<long random key>\": \"agent:worker\"}}}}\n  \
         and run `bailiwick serve --keys keys.json`.\n"
    );
    // If standard error is gone there is nobody left to warn.
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// What a server was started with and reads again at each SIGHUP.
struct Files {
    configuration: Option<(PathBuf, Configuration)>,
    keys: Option<Keys>,
    signer: Option<SignerFile>,
}

impl Files {
    /// What is faulty changes nothing.
    async fn read_again_when_told(self, mut reload: Reload, desk: Desk) {
        loop {
            reload.next().await;
            if let Some((file, at_start)) = &self.configuration {
                match adopt_again(&desk, file, at_start).await {
                    Ok(()) => info!("`{}` was read again", file.display()),
                    Err(why) => error!("the rules in force stay: {why}"),
                }
            }
            if let Some(Keys { file, ring }) = &self.keys {
                let reloaded = read_keys(file)
                    .and_then(|text| ring.reload(&text).map_err(|error| format!("`{}`: {error}", file.display())));
                match reloaded {
                    Ok(count) => info!("`{}` was read again: {count} keys", file.display()),
                    Err(why) => error!("the keys in force stay: {why}"),
                }
            }
            if let Some(file) = &self.signer {
                match file.reload() {
                    Ok(count) => info!("`{}` was read again: {count} keys to sign passes with", file.file().display()),
                    Err(why) => error!("the keys that sign passes stay: {why}"),
                }
            }
        }
    }
}

async fn adopt_again(desk: &Desk, file: &Path, at_start: &Configuration) -> Result<(), String> {
    let configuration = Configuration::read(file).map_err(|error| error.to_string())?;
    if configuration.server != at_start.server || configuration.storage_path != at_start.storage_path {
        warn!("`{}`: changes of `server` and `storage` take effect at the next start", file.display());
    }
    configuration.adopt(desk).await.map_err(|failure| match failure {
        Failure::Usage(why) | Failure::Unable(why) => why,
        Failure::NobodyReads => String::new(),
    })
}
