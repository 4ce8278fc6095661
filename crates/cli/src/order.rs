//! `bailiwick order`: work orders by hand, on a store, without a server.
//!
//! Whoever can open the store's file may say who they are, so principals are claimed here; the journal says so too.

mod show;
mod watch;

use std::path::{Path, PathBuf};

use bailiwick_core::heart;
use bailiwick_core::json::{Limits, Number, Object, Value, parse};
use bailiwick_core::principal::Principal;
use bailiwick_core::work;
use bailiwick_desk::Desk;

use crate::failure::{Answer, Failure};
use crate::input::Input;
use crate::output::Output;
use crate::place::StoreArguments;
use crate::text::{visible, with_article};

const EXAMPLES: &str = "\
Examples:
  bailiwick order create order.json --as agent:manager
  bailiwick order list --to agent:worker --state offered
  bailiwick order accept wo_7 --as agent:worker
  bailiwick order report wo_7 report.json --as agent:worker
  bailiwick order review wo_7 approve --as agent:manager
  bailiwick order watch wo_7

Exit status: 0 done, 1 refused, 2 a file or the store cannot be used.";

const CREATE_EXAMPLES: &str = "\
Examples:
  bailiwick new order | bailiwick order create - --as agent:manager
  bailiwick order create order.json --as agent:manager --idempotency-key job-17

The desk fills in `spec`, `created_at` and `from`, whatever the file says, and `id` if there is none.";

const REPORT_EXAMPLES: &str = "\
Examples:
  bailiwick order report wo_7 report.json --as agent:worker

The desk fills in `spec`, `order_id`, `from` and `attempt`, whatever the file says.";

const REVIEW_EXAMPLES: &str = "\
Examples:
  bailiwick order review wo_7 approve --as agent:manager
  bailiwick order review wo_7 approve --effect mail/send#3 --as agent:manager
  bailiwick order review wo_7 rework --reason \"the date is wrong\" --as agent:manager";

const RETRY_EXAMPLES: &str = "\
Examples:
  bailiwick order retry-effect wo_7 mail/send#4 --reason \"the mail server says it never came\" --as agent:manager";

/// Work on orders directly on a store
#[derive(clap::Args)]
#[command(after_help = EXAMPLES, arg_required_else_help = false)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    common: Common,
}

#[derive(clap::Args)]
struct Common {
    #[command(flatten)]
    store: StoreArguments,
    /// Who acts, like agent:worker or human:ada
    #[arg(long = "as", alias = "actor", value_name = "AGENT", env = "AWL_ACTOR", global = true)]
    actor: Option<String>,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
    /// Do nothing and answer the same if this key was used for the same command before
    #[arg(long, value_name = "KEY", global = true)]
    idempotency_key: Option<String>,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Issue an order
    #[command(after_help = CREATE_EXAMPLES)]
    Create {
        /// The order; `-` is standard input
        file: PathBuf,
    },
    /// List orders
    #[command(after_help = "Examples:\n  bailiwick order list --to agent:worker --state offered")]
    List(List),
    /// Show an order with its history
    #[command(after_help = "Examples:\n  bailiwick order show wo_7")]
    Show {
        /// The order
        id: String,
    },
    /// Take an order
    #[command(after_help = "Examples:\n  bailiwick order accept wo_7 --as agent:worker")]
    Accept {
        /// The order
        id: String,
    },
    /// Turn an order down
    #[command(after_help = "Examples:\n  bailiwick order decline wo_7 --reason \"no time\" --as agent:worker")]
    Decline {
        /// The order
        id: String,
        /// Why
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
    /// Begin the work
    #[command(after_help = "Examples:\n  bailiwick order start wo_7 --as agent:worker")]
    Start {
        /// The order
        id: String,
    },
    /// Say how far the work is
    #[command(after_help = "Examples:\n  bailiwick order progress wo_7 \"half way\" --percent 50 --as agent:worker")]
    Progress {
        /// The order
        id: String,
        /// What there is to say
        note: String,
        /// 0–100
        #[arg(long, value_name = "NUMBER", value_parser = number)]
        percent: Option<Number>,
    },
    /// Report
    #[command(after_help = REPORT_EXAMPLES)]
    Report {
        /// The order
        id: String,
        /// The report; `-` is standard input
        file: PathBuf,
    },
    /// Answer a blocked worker
    #[command(after_help = "Examples:\n  bailiwick order answer wo_7 \"the second one\" --as agent:manager")]
    Answer {
        /// The order
        id: String,
        /// The answer
        answer: String,
    },
    /// Decide on a report
    #[command(after_help = REVIEW_EXAMPLES)]
    Review {
        /// The order
        id: String,
        /// `approve` or `rework`
        #[arg(value_parser = ["approve", "rework"])]
        decision: String,
        /// Why; needed for rework
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
        /// Approve only these of the effects that the report lists
        #[arg(long = "effect", value_name = "REF")]
        effects: Vec<String>,
    },
    /// Let an effect be tried again that failed, or of which nobody knows whether it ran
    #[command(after_help = RETRY_EXAMPLES)]
    RetryEffect {
        /// The order
        id: String,
        /// The effect, like mail/send#4
        #[arg(value_name = "REF")]
        reference: String,
        /// Why
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
    /// Show what an order's gateways have spent and hold
    #[command(after_help = "Examples:\n  bailiwick order gateway wo_7")]
    Gateway {
        /// The order
        id: String,
    },
    /// Refuse an order's calls until it is resumed
    #[command(after_help = "Examples:\n  bailiwick order pause wo_7 --reason \"let me look\" --as human:ada")]
    Pause(Control),
    /// Let a paused or stopped order's calls go on
    #[command(after_help = "Examples:\n  bailiwick order resume wo_7 --as human:ada")]
    Resume(Control),
    /// Refuse an order's calls for good
    #[command(after_help = "Examples:\n  bailiwick order stop wo_7 --reason \"wrong customer\" --as human:ada")]
    Stop(Control),
    /// Call an order off
    #[command(after_help = "Examples:\n  bailiwick order cancel wo_7 --reason \"not needed\" --as agent:manager")]
    Cancel {
        /// The order
        id: String,
        /// Why
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
    /// Follow an order until it is finished
    Watch(watch::Arguments),
    /// Show what an agent has done so far
    #[command(after_help = "Examples:\n  bailiwick order track-record agent:worker")]
    TrackRecord {
        /// The agent
        agent: String,
    },
}

/// Whose gateways, and why.
#[derive(clap::Args)]
struct Control {
    /// The order
    id: String,
    /// Why; whoever is refused a call reads it
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

/// Which orders to list.
#[derive(clap::Args)]
struct List {
    /// Only those to this worker
    #[arg(long, value_name = "AGENT")]
    to: Option<String>,
    /// Only those from this manager
    #[arg(long, value_name = "AGENT")]
    from: Option<String>,
    /// Only those in this state
    #[arg(long)]
    state: Option<String>,
    /// Only sub-orders of this order
    #[arg(long, value_name = "ORDER")]
    parent: Option<String>,
    /// Only those that pick up from this order
    #[arg(long, value_name = "ORDER")]
    continues: Option<String>,
    /// The newest first; without it the oldest
    #[arg(long)]
    newest_first: bool,
    /// How many at most
    #[arg(long, value_name = "NUMBER")]
    limit: Option<u32>,
    /// After this place, as the list before said
    #[arg(long)]
    cursor: Option<String>,
}

/// What was asked for, ready for the desk.
enum Request {
    Run(work::Command),
    Ask(work::Query),
    Watch(watch::Request),
}

/// How an answer is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Line,
    Order,
    Table,
    Track,
    Gateway,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    let (_, place) = arguments.common.store.read()?;
    let (request, form) = match read(&arguments.command)? {
        Ok(read) => read,
        Err(refusal) => return refused(&refusal.to_value(), &arguments.common),
    };
    let principal = match (&request, &arguments.common.actor) {
        (_, Some(actor)) if !actor.trim().is_empty() => Principal::claimed(actor),
        (Request::Run(_), _) => {
            return Err(Failure::usage("who acts? say it with `--as`, like `--as human:ada`, or in AWL_ACTOR"));
        }
        _ => Principal::claimed(format!("human:{}", std::env::var("USER").unwrap_or_default())),
    };
    if !matches!(request, Request::Run(_)) {
        place.check_exists()?;
    }
    crate::block_on(async {
        let desk = place.open_desk().await?;
        let answer = answer(&desk, &principal, request, form, &arguments.common).await;
        desk.close().await;
        answer
    })
}

/// Turns the command line into a request; a refusal if the rules of arguments say no.
fn read(command: &Command) -> Result<Result<(Request, Form), heart::Refusal>, Failure> {
    let of = |id: &String| Object::new().with("id", id);
    let (name, arguments) = match command {
        Command::List(list) => return Ok(query("list", list.to_object(), Form::Table)),
        Command::Show { id } => return Ok(query("get", of(id), Form::Order)),
        Command::Gateway { id } => return Ok(query("gateway", of(id), Form::Gateway)),
        Command::Pause(held) => return Ok(control("paused", held)),
        Command::Resume(held) => return Ok(control("running", held)),
        Command::Stop(held) => return Ok(control("stopped", held)),
        Command::TrackRecord { agent } => {
            return Ok(query("track_record", Object::new().with("agent", agent), Form::Track));
        }
        Command::Watch(arguments) => {
            return Ok(arguments.request().map(|request| (Request::Watch(request), Form::Line)));
        }
        Command::Create { file } => ("create", document(file)?),
        Command::Report { id, file } => {
            let mut report = document(file)?;
            report.insert("id", id);
            ("report", report)
        }
        Command::Accept { id } => ("accept", of(id)),
        Command::Start { id } => ("start", of(id)),
        Command::Decline { id, reason } => ("decline", of(id).with_some("reason", reason.as_ref())),
        Command::Cancel { id, reason } => ("cancel", of(id).with_some("reason", reason.as_ref())),
        Command::Progress { id, note, percent } => {
            ("progress", of(id).with("note", note).with_some("percent", *percent))
        }
        Command::RetryEffect { id, reference, reason } => {
            ("allow_effect_retry", of(id).with("ref", reference).with_some("reason", reason.as_ref()))
        }
        Command::Answer { id, answer } => ("answer", of(id).with("answer", answer)),
        Command::Review { id, decision, reason, effects } => {
            let arguments = of(id).with("decision", decision).with_some("reason", reason.as_ref());
            let effects = (!effects.is_empty()).then(|| effects.clone());
            ("review", arguments.with_some("effects", effects))
        }
    };
    Ok(work::Command::parse(name, arguments).map(|command| (Request::Run(command), Form::Line)))
}

fn control(standing: &str, Control { id, reason }: &Control) -> Result<(Request, Form), heart::Refusal> {
    let arguments = Object::new().with("id", id).with("standing", standing).with_some("reason", reason.as_ref());
    work::Command::parse("control", arguments).map(|command| (Request::Run(command), Form::Gateway))
}

fn query(name: &str, arguments: Object, form: Form) -> Result<(Request, Form), heart::Refusal> {
    work::Query::parse(name, arguments).map(|query| (Request::Ask(query), form))
}

impl List {
    fn to_object(&self) -> Object {
        Object::new()
            .with_some("to", self.to.as_ref())
            .with_some("from", self.from.as_ref())
            .with_some("state", self.state.as_ref())
            .with_some("parent_id", self.parent.as_ref())
            .with_some("continues", self.continues.as_ref())
            .with_some("order", self.newest_first.then_some("newest_first"))
            .with_some("limit", self.limit)
            .with_some("cursor", self.cursor.as_ref())
    }
}

/// A number as JSON writes it, so that whole ones stay whole.
fn number(text: &str) -> Result<Number, String> {
    match parse(text.as_bytes(), &Limits::DOCUMENT) {
        Ok(Value::Number(number)) => Ok(number),
        _ => Err("it must be a number".into()),
    }
}

/// A document that must be an object.
fn document(file: &Path) -> Result<Object, Failure> {
    let input = Input::from(file.to_owned());
    match input.read_document()? {
        Value::Object(document) => Ok(document),
        other => Err(Failure::usage(format!("`{input}` is {}, must be an object", with_article(other.type_name())))),
    }
}

async fn answer(
    desk: &Desk,
    principal: &Principal,
    request: Request,
    form: Form,
    common: &Common,
) -> Result<Answer, Failure> {
    let reply = match request {
        Request::Watch(request) => return watch::run(desk, principal, &request, common).await,
        Request::Ask(query) => desk.ask(principal, heart::Query::Work(query)).await,
        Request::Run(command) => {
            let command = heart::Command::Work(command);
            match &common.idempotency_key {
                Some(key) => desk.run_once(principal, command, key).await,
                None => desk.run(principal, command).await,
            }
        }
    };
    match reply {
        Ok(reply) => {
            print(&reply, form, common)?;
            Ok(Answer::Yes)
        }
        Err(failure) => report(&failure, common),
    }
}

fn print(reply: &Value, form: Form, common: &Common) -> Result<(), Failure> {
    let mut output = Output::new();
    match form {
        _ if common.json => output.json(reply)?,
        Form::Line => show::line(reply, &mut output)?,
        Form::Order => show::order(reply, &mut output)?,
        Form::Table => show::table(reply, &mut output)?,
        Form::Track => show::track(reply, &mut output)?,
        Form::Gateway => show::gateway(reply, &mut output)?,
    }
    output.flush()
}

/// Reports why there is no reply.
fn report(failure: &bailiwick_desk::Failure, common: &Common) -> Result<Answer, Failure> {
    match failure {
        bailiwick_desk::Failure::Refused(refusal) => refused(&refusal.to_value(), common),
        bailiwick_desk::Failure::Failed(error) => Err(Failure::unable(error)),
    }
}

/// A refusal is an answer: with `--json` it goes where answers go.
fn refused(error: &Value, common: &Common) -> Result<Answer, Failure> {
    if common.json {
        crate::output::print_json(error)?;
        return Ok(Answer::No);
    }
    let text = |name: &str| error.get(name).and_then(Value::as_str).unwrap_or_default();
    let mut message = format!("{} ({})", visible(text("message")), text("code"));
    for finding in error.get("findings").and_then(Value::as_array).unwrap_or_default() {
        let part = |name: &str| visible(finding.get(name).and_then(Value::as_str).unwrap_or_default());
        message.push_str(&format!("\n  {:<4} {:<7} {}  {}", part("rule"), part("kind"), part("path"), part("message")));
    }
    crate::usage::complain(&message, None);
    Ok(Answer::No)
}
