//! `bailiwick pass issue`: a pass for an order.

use std::path::{Path, PathBuf};

use bailiwick_core::hash::{Hash, hex};
use bailiwick_core::jose::PublicKey;
use bailiwick_core::work::pass::{DEFAULT_TTL_SECONDS, Terms, issue};
use bailiwick_core::work::{NoEngine, validate_order};

use crate::clock::now_or;
use crate::failure::{Answer, Failure};
use crate::input::{Input, check_standard_once};
use crate::keys::{read_keys, read_signing_keys};
use crate::output::Output;

const EXAMPLES: &str = "\
Examples:
  bailiwick pass issue order.json --key desk-key.json --issuer https://desk.example > pass.jwt
  bailiwick pass issue order.json --key desk-key.json --issuer https://desk.example --holder worker-public.json

A desk issues passes by itself when work begins; this is for trying out and for desks of other makes.
Exit status: 0 issued, 1 there can be no pass for this order, 2 a file cannot be read.";

/// Issue a pass for an order
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The order; `-` is standard input
    order: PathBuf,
    /// The private key or keys; the one in use signs
    #[arg(long, value_name = "KEY-FILE")]
    key: PathBuf,
    /// Who issues it, by the name that verifiers expect
    #[arg(long)]
    issuer: String,
    /// How long it lives, unless the deadline comes first
    #[arg(long, value_name = "N", default_value_t = DEFAULT_TTL_SECONDS)]
    ttl_seconds: u64,
    /// Who may accept it; may be repeated. Nobody named means anybody
    #[arg(long)]
    audience: Vec<String>,
    /// The public key, a JWK, of the only one who may use it
    #[arg(long, value_name = "JWK-FILE")]
    holder: Option<PathBuf>,
    /// The time to go by instead of the clock's
    #[arg(long, value_name = "TIMESTAMP")]
    now: Option<String>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    let input = Input::from(arguments.order.clone());
    check_standard_once(&[input.clone(), Input::from(arguments.key.clone())])?;
    let order = input.read_document()?;
    if let Some(finding) = validate_order(&order, &NoEngine).findings.first() {
        return Err(Failure::usage(format!("`{input}` is no valid order: {} {}", finding.path, finding.message)));
    }
    let audiences: Vec<&str> = arguments.audience.iter().map(String::as_str).collect();
    let mut random = [0; 16];
    getrandom::fill(&mut random).map_err(Failure::unable)?;
    let terms = Terms {
        issuer: &arguments.issuer,
        jti: &format!("pass_{}", hex(&random)),
        now: now_or(arguments.now.as_deref())?,
        ttl_seconds: arguments.ttl_seconds,
        audiences: &audiences,
        holder: arguments.holder.as_deref().map(read_holder).transpose()?,
    };
    let keys = Input::from(arguments.key.clone());
    let read = read_signing_keys(&keys)?;
    let Some(key) = read.at(terms.now) else {
        let why = "before its `not_before` or after its `not_after`";
        return Err(Failure::usage(format!("`{keys}` has no key that may sign now: each is {why}")));
    };
    match issue(&order, &terms, key) {
        Ok(issued) => {
            let mut output = Output::new();
            output.line(&issued.token)?;
            output.flush()?;
            Ok(Answer::Yes)
        }
        Err(error) => {
            eprintln!("bailiwick: {error}");
            Ok(Answer::No)
        }
    }
}

fn read_holder(path: &Path) -> Result<Hash, Failure> {
    let input = Input::from(path.to_owned());
    let key = PublicKey::parse(&read_keys(&input)?);
    key.map(|key| key.thumbprint()).map_err(|fault| Failure::usage(format!("`{input}`: {fault}")))
}
