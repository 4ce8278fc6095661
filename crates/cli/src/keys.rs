//! `bailiwick keys`: the keys that sign passes and the public ones that verify them.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use bailiwick_core::jose::{Algorithm, KeySet, MOST_KEYS, PublicKey, SigningKey, SigningKeys};
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
  bailiwick keys rotate desk-key.json                       another key takes over in ten minutes";

const NEW_EXAMPLES: &str = "\
Examples:
  bailiwick keys new desk-key.json
  bailiwick keys new worker-key.json --algorithm ed25519

Whoever can read the file can sign passes. An existing file is left as it is.";

const PUBLIC_EXAMPLES: &str = "\
Examples:
  bailiwick keys public desk-key.json > jwks.json

Keys that take over later are among them, keys that are over are not. A server that signs passes
shows the same at /.well-known/jwks.json.";

const ROTATE_EXAMPLES: &str = "\
Examples:
  bailiwick keys rotate desk-key.json && kill -HUP SERVER-PID
  bailiwick keys rotate desk-key.json --keys jwks.json --lead-seconds 86400

The file holds both keys from now on. The old one signs until the lead is over, while verifiers get
to know the new one. Then the new one signs, and the old one verifies until the overlap is over:
choose one that is longer than passes live. `bailiwick serve` reads the file again at SIGHUP.";

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
        /// The private key or keys; `-` is standard input
        key: PathBuf,
    },
    /// Have another private key take over from the one in use
    #[command(after_help = ROTATE_EXAMPLES)]
    Rotate {
        /// The file of the private key or keys
        key: PathBuf,
        /// A file of public keys to bring up to date as well
        #[arg(long, value_name = "JWKS-FILE")]
        keys: Option<PathBuf>,
        /// How long the new key is published before it signs
        #[arg(long, value_name = "N", default_value_t = 600)]
        lead_seconds: u32,
        /// How long the old key verifies after that
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
            if key.exists() {
                let next = "take another name, or `bailiwick keys rotate` to have a new key take over";
                return Err(Failure::usage(format!("`{}` exists and is left as it is; {next}", key.display())));
            }
            let made = make(algorithm)?;
            write_new(key, &made.to_private_jwk().into())?;
            print_json(&set_of([made.public()]))?;
        }
        Command::Public { key } => print_json(&read_signing_keys(&Input::from(key.clone()))?.published(clock::now()))?,
        Command::Rotate { key, keys, lead_seconds, overlap_seconds } => {
            let turn = clock::now().saturating_add_seconds((*lead_seconds).into());
            rotate(key, keys.as_deref(), turn, turn.saturating_add_seconds((*overlap_seconds).into()))?;
        }
    }
    Ok(Answer::Yes)
}

/// Reads a private key or a set of them. Messages never show what it holds.
pub(crate) fn read_signing_keys(input: &Input) -> Result<SigningKeys, Failure> {
    SigningKeys::parse(&read_keys(input)?).map_err(|fault| Failure::usage(format!("`{input}`: {fault}")))
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
fn rotate(key: &Path, keys: Option<&Path>, turn: Millis, end: Millis) -> Result<(), Failure> {
    let (input, now) = (Input::File(key.to_owned()), clock::now());
    let old = read_signing_keys(&input)?;
    let in_use = old.at(now).map(SigningKey::public).or_else(|| old.public_keys().last());
    let algorithm = in_use.map_or(Algorithm::Es256, PublicKey::algorithm);
    let both = old
        .rotated(make(algorithm)?, now, turn, end)
        .map_err(|fault| Failure::usage(format!("`{input}`: {fault}; rotate less often or with a shorter overlap")))?;
    if let Some(keys) = keys {
        let input = Input::File(keys.to_owned());
        let known =
            KeySet::parse(&read_keys(&input)?).map_err(|fault| Failure::usage(format!("`{input}`: {fault}")))?;
        let known = with_keys_of(&known, &both, now);
        if known.len() > MOST_KEYS {
            let message = format!("`{input}` would have {} keys, at most {MOST_KEYS} are accepted", known.len());
            return Err(Failure::usage(format!("{message}; rotate less often or with a shorter overlap")));
        }
        replace(keys, &set_of(&known))?;
    }
    replace(key, &both.to_private_value())?;
    print_json(&both.published(now))
}

/// A set of public keys brought up to date; keys that are over are left out.
fn with_keys_of(known: &KeySet, own: &SigningKeys, now: Millis) -> Vec<PublicKey> {
    let is_own = |key: &&PublicKey| own.public_keys().any(|own| own.thumbprint() == key.thumbprint());
    let others = known.keys().filter(|key| !is_own(key));
    others.chain(own.public_keys()).filter(|key| !key.has_ended(now)).cloned().collect()
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
