//! `bailiwick keys`: the keys that sign passes and the public ones that verify them.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use bailiwick_core::jose::{Algorithm, KeySet, MOST_KEYS, PublicKey, SigningKey};
use bailiwick_core::json::{Duplicates, Limits, Object, Value, write_pretty};
use bailiwick_core::time::Millis;

use crate::clock;
use crate::failure::{Answer, Failure, cause};
use crate::input::Input;
use crate::output::print_json;

const EXAMPLES: &str = "\
Examples:
  bailiwick keys new desk-key.json                          a new private key
  bailiwick keys public desk-key.json > jwks.json           what verifiers get
  bailiwick keys rotate desk-key.json --keys jwks.json      another key; the old one verifies for an hour";

const NEW_EXAMPLES: &str = "\
Examples:
  bailiwick keys new desk-key.json
  bailiwick keys new worker-key.json --algorithm ed25519

Whoever can read the file can sign passes. An existing file is left as it is.";

const PUBLIC_EXAMPLES: &str = "\
Examples:
  bailiwick keys public desk-key.json > jwks.json";

const ROTATE_EXAMPLES: &str = "\
Examples:
  bailiwick keys rotate desk-key.json --keys jwks.json
  bailiwick keys rotate desk-key.json --keys jwks.json --overlap-seconds 86400

The new key verifies from now on, the old one until the overlap is over: longer than any pass that it
signed lives. Verifiers must get the public keys before the desk starts to sign with the new one.";

/// Make, show and rotate the keys that sign passes
#[derive(clap::Args)]
#[command(after_help = EXAMPLES, arg_required_else_help = false)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Make a private key, a JWK, in a file that only its owner can read
    #[command(after_help = NEW_EXAMPLES)]
    New {
        /// Where to write it
        key: PathBuf,
        /// What it signs with
        #[arg(long, value_enum, default_value_t = Kind::Es256)]
        algorithm: Kind,
    },
    /// Print the public key as a JWK set
    #[command(after_help = PUBLIC_EXAMPLES)]
    Public {
        /// The private key; `-` is standard input
        key: PathBuf,
    },
    /// Replace a private key, and let the public one verify for a while
    #[command(after_help = ROTATE_EXAMPLES)]
    Rotate {
        /// The private key to replace
        key: PathBuf,
        /// The set of public keys to bring up to date
        #[arg(long, value_name = "JWKS-FILE")]
        keys: PathBuf,
        /// How long the old key verifies
        #[arg(long, value_name = "N", default_value_t = 3600)]
        overlap_seconds: u32,
    },
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Kind {
    /// ECDSA with P-256
    Es256,
    /// EdDSA with Curve25519
    Ed25519,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    match &arguments.command {
        Command::New { key, algorithm } => {
            let algorithm = match algorithm {
                Kind::Es256 => Algorithm::Es256,
                Kind::Ed25519 => Algorithm::Ed25519,
            };
            let made = make(algorithm)?;
            write_new(key, &made.to_private_jwk().into())?;
            print_json(&set_of([made.public()]))?;
        }
        Command::Public { key } => print_json(&set_of([read_signing_key(key)?.public()]))?,
        Command::Rotate { key, keys, overlap_seconds } => rotate(key, keys, *overlap_seconds)?,
    }
    Ok(Answer::Yes)
}

/// Reads a private key. Messages never show what it holds.
pub(crate) fn read_signing_key(path: &Path) -> Result<SigningKey, Failure> {
    let input = Input::from(path.to_owned());
    SigningKey::parse(&read_keys(&input)?).map_err(|fault| Failure::usage(format!("`{input}`: {fault}")))
}

/// Reads a file of keys as strictly as a token.
pub(crate) fn read_keys(input: &Input) -> Result<Value, Failure> {
    input.read_json(&Limits::DOCUMENT.with_duplicates(Duplicates::Refuse))
}

fn make(algorithm: Algorithm) -> Result<SigningKey, Failure> {
    loop {
        let mut secret = [0; 32];
        getrandom::fill(&mut secret).map_err(Failure::unable)?;
        // One in 2^32 is no key of P-256.
        if let Ok(key) = SigningKey::from_secret(algorithm, &secret) {
            return Ok(key);
        }
    }
}

/// The public keys first: whoever sees the new private key at work must be able to find its public part.
fn rotate(key: &Path, keys: &Path, overlap_seconds: u32) -> Result<(), Failure> {
    let input = Input::from(keys.to_owned());
    let (old, now) = (read_signing_key(key)?, clock::now());
    let set = KeySet::parse(&read_keys(&input)?).map_err(|fault| Failure::usage(format!("`{input}`: {fault}")))?;
    let new = make(old.public().algorithm())?;
    let end = now.saturating_add_seconds(overlap_seconds.into());
    let set = rotated(&set, old.public(), new.public(), now, end);
    if set.len() > MOST_KEYS {
        let message = format!("`{input}` would have {} keys, at most {MOST_KEYS} are accepted", set.len());
        return Err(Failure::usage(format!("{message}; rotate less often or with a shorter overlap")));
    }
    let set = set_of(&set);
    replace(keys, &set)?;
    replace(key, &new.to_private_jwk().into())?;
    print_json(&set)
}

/// The set with the old key ending and the new one beginning; keys that have ended are left out.
fn rotated(set: &KeySet, old: &PublicKey, new: &PublicKey, now: Millis, end: Millis) -> Vec<PublicKey> {
    let is_old = |key: &&PublicKey| key.thumbprint() == old.thumbprint();
    let others = set.keys().filter(|key| !is_old(key) && !key.has_ended(now)).cloned();
    let old = set.keys().find(is_old).unwrap_or(old).clone().ending(end);
    let new = new.clone().between(Some(now), None);
    others.chain([old, new]).collect()
}

fn set_of<'a>(keys: impl IntoIterator<Item = &'a PublicKey>) -> Value {
    let keys: Value = keys.into_iter().map(|key| Value::from(key.to_jwk())).collect();
    Object::new().with("keys", keys).into()
}

/// Writes a file that is not there yet, for its owner alone.
fn write_new(path: &Path, value: &Value) -> Result<(), Failure> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(path).and_then(|mut file| {
        file.write_all(write_pretty(value).as_bytes())?;
        file.write_all(b"\n")?;
        file.sync_all()
    });
    written.map_err(|error| Failure::usage(format!("`{}` cannot be written: {}", path.display(), cause(&error))))
}

/// Replaces a file in one step, with its permissions.
fn replace(path: &Path, value: &Value) -> Result<(), Failure> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".new");
    let beside = PathBuf::from(beside);
    write_new(&beside, value)?;
    let moved = fs::metadata(path)
        .and_then(|found| fs::set_permissions(&beside, found.permissions()))
        .and_then(|()| fs::rename(&beside, path));
    moved.map_err(|error| Failure::usage(format!("`{}` cannot be replaced: {}", path.display(), cause(&error))))
}
