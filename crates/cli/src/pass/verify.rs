//! `bailiwick pass verify`: does a pass count, here and now?

use std::path::PathBuf;

use bailiwick_core::jose::KeySet;
use bailiwick_core::json::{Object, Value, write_compact};
use bailiwick_core::time;
use bailiwick_core::work::Finding;
use bailiwick_core::work::pass::{
    Check, MOST_LEEWAY_SECONDS, MOST_LIST_BYTES, Pass, Refusal, RevocationList, verify_chain,
};

use super::{read_pass, read_token};
use crate::clock::now_or;
use crate::failure::{Answer, Failure};
use crate::input::{Input, check_standard_once};
use crate::keys::read_keys;
use crate::output::{Mark, Output};
use crate::text::visible;

const EXAMPLES: &str = "\
Examples:
  bailiwick pass verify pass.jwt --keys jwks.json --issuer https://desk.example
  bailiwick pass verify sub.jwt --parent root.jwt --keys jwks.json --order wo_7 --json
  curl -sO https://desk.example/.well-known/jwks.json
  curl -s https://desk.example/.well-known/bailiwick-revocations > revoked.jwt
  bailiwick pass verify pass.jwt --keys jwks.json --revocations revoked.jwt

What no option names is not checked, except that a pass for certain audiences needs --audience.
With several --parent, the root comes first. A pass that is bound to a holder verifies here; whoever
guards a tool also asks for a proof with each call.

Exit status: 0 the pass counts, 1 it does not, 2 a file cannot be read.";

/// Verify a pass, within the passes above it
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The pass; `-` is standard input
    #[arg(value_name = "PASS-FILE")]
    pass: PathBuf,
    /// The issuer's public keys: a JWK or a JWK set
    #[arg(long, value_name = "JWKS-FILE")]
    keys: PathBuf,
    /// Who must have issued it
    #[arg(long)]
    issuer: Option<String>,
    /// Whom it must be for
    #[arg(long)]
    worker: Option<String>,
    /// The order that it must be for
    #[arg(long)]
    order: Option<String>,
    /// Who is verifying, as the pass would name it
    #[arg(long)]
    audience: Option<String>,
    /// A pass above it; may be repeated, the root first
    #[arg(long, value_name = "PASS-FILE")]
    parent: Vec<PathBuf>,
    /// The issuer's newest list of revoked passes
    #[arg(long, value_name = "FILE")]
    revocations: Option<PathBuf>,
    /// How far the issuer's clock may be off
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(..=i64::from(MOST_LEEWAY_SECONDS)))]
    leeway_seconds: u32,
    /// The time to go by instead of the clock's
    #[arg(long, value_name = "TIMESTAMP")]
    now: Option<String>,
    /// Print {"ok", "code", "link", "claims", "findings"}
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    let files = arguments.parent.iter().chain([&arguments.pass, &arguments.keys]).chain(&arguments.revocations);
    let inputs: Vec<Input> = files.cloned().map(Input::from).collect();
    check_standard_once(&inputs)?;
    let verdict = verify(arguments)?;
    let mut output = Output::new();
    if arguments.json {
        output.json(&to_value(&verdict))?;
    } else {
        print(&verdict, &mut output)?;
    }
    output.flush()?;
    Ok(Answer::when(verdict.is_ok()))
}

/// Every file is read first: what can't be read is no verdict.
fn verify(arguments: &Arguments) -> Result<Result<Vec<Pass>, Refusal>, Failure> {
    let now = now_or(arguments.now.as_deref())?;
    let keys = read_keys(&Input::from(arguments.keys.clone()))?;
    let passes = arguments.parent.iter().chain([&arguments.pass]);
    let tokens = passes.map(|path| read_pass(path)).collect::<Result<Vec<_>, _>>()?;
    let list = arguments.revocations.as_ref().map(|path| read_token(path, MOST_LIST_BYTES)).transpose()?;
    let verified = || {
        let keys = KeySet::parse(&keys)?;
        let list = list.map(|token| RevocationList::verify(&token, &keys, now, None)).transpose()?;
        let check = Check {
            leeway_seconds: arguments.leeway_seconds,
            issuer: arguments.issuer.as_deref(),
            worker: arguments.worker.as_deref(),
            order: arguments.order.as_deref(),
            audience: arguments.audience.as_deref(),
            revocations: list.as_slice(),
            ..Check::at(now)
        };
        let tokens: Vec<&str> = tokens.iter().map(String::as_str).collect();
        verify_chain(&tokens, &keys, &check)
    };
    Ok(verified())
}

fn to_value(verdict: &Result<Vec<Pass>, Refusal>) -> Value {
    let link = |link: usize| u64::try_from(link).unwrap_or(u64::MAX);
    let nothing = Value::Array(Vec::new());
    match verdict {
        Ok(passes) => {
            let last = passes.last();
            Object::new()
                .with("ok", true)
                .with("code", Value::Null)
                .with("link", link(last.map_or(0, Pass::link)))
                .with("claims", last.map_or(Value::Null, |pass| pass.claims().clone()))
                .with("findings", nothing)
                .into()
        }
        Err(refusal) => {
            let findings: Value = refusal.findings.iter().map(Finding::to_value).collect();
            Object::new()
                .with("ok", false)
                .with("code", refusal.code.as_str())
                .with("link", link(refusal.link))
                .with("claims", Value::Null)
                .with("findings", findings)
                .with("message", &refusal.message)
                .into()
        }
    }
}

fn print(verdict: &Result<Vec<Pass>, Refusal>, output: &mut Output) -> Result<(), Failure> {
    let style = output.style();
    match verdict {
        Ok(passes) => {
            for pass in passes {
                let (order, worker) = (visible(pass.order()), visible(pass.worker()));
                output.line(format!("{} order {order} for {worker}", style.mark(Mark::Good)))?;
                for name in ["tools", "staged", "budget"] {
                    if let Some(value) = pass.claims().get(name) {
                        output.line(format!("  {name:<9} {}", visible(&write_compact(value))))?;
                    }
                }
                output.line(format!("  {:<9} {}", "deadline", time::format(pass.deadline())))?;
                output.line(format!("  {:<9} {}", "ends", time::format(pass.expires_at())))?;
            }
        }
        Err(refusal) => {
            output.line(format!("{} {}", style.mark(Mark::Bad), refusal.code.as_str()))?;
            output.line(format!("  pass {}: {}", refusal.link, visible(&refusal.message)))?;
            for finding in &refusal.findings {
                let (rule, path) = (finding.rule, visible(&finding.path));
                output.line(format!("  {rule:<4} {path}  {}", visible(&finding.message)))?;
            }
        }
    }
    Ok(())
}
