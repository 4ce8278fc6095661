//! What a desk signs passes with, as the command line says it.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use bailiwick_core::jose::SigningKeys;
use bailiwick_core::json::{Duplicates, Limits, parse};
use bailiwick_core::work::pass::DEFAULT_TTL_SECONDS;
use bailiwick_desk::Signer;

use crate::clock;
use crate::configuration::ServerSection;
use crate::failure::{Failure, cause};

/// The most bytes of a file of private keys.
const KEY_BYTES: u64 = 1 << 20;

/// The longest life of a pass: a day. Nothing but a list that verifiers may not have ends one early.
pub(crate) const MOST_TTL_SECONDS: u64 = 86_400;

#[derive(clap::Args, Debug, Clone)]
pub(crate) struct SignerArguments {
    /// The private key or keys to sign passes with, as `bailiwick keys new` makes them; needs --issuer
    #[arg(long, value_name = "FILE")]
    pass_key: Option<PathBuf>,
    /// Who issues the passes, by the name that verifiers expect: mostly this server's own address
    #[arg(long, value_name = "URL")]
    issuer: Option<String>,
    /// How long a pass lives, unless the order's deadline comes first [default: 900]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=MOST_TTL_SECONDS))]
    pass_ttl: Option<u64>,
}

/// A file of private keys, and the signer made of it.
#[derive(Debug, Clone)]
pub(crate) struct SignerFile {
    file: PathBuf,
    pub(crate) signer: Signer,
}

impl SignerArguments {
    /// What to sign with, by the options and what the configuration says where they say nothing; `None` for a desk that
    /// signs nothing, which is what saying nothing at all means.
    pub(crate) fn read(&self, section: &ServerSection) -> Result<Option<SignerFile>, Failure> {
        let ttl_seconds = self.pass_ttl.or(section.pass_ttl_seconds);
        let (pass_key, issuer) =
            (self.pass_key.as_ref().or(section.pass_key.as_ref()), self.issuer.as_ref().or(section.issuer.as_ref()));
        let (file, issuer) = match (pass_key, issuer) {
            (Some(file), Some(issuer)) => (file, issuer),
            (Some(_), None) => {
                let example = "`--issuer https://desk.example`";
                return Err(Failure::usage(format!(
                    "`--pass-key` needs the name by which verifiers know this desk: {example}"
                )));
            }
            (None, Some(_)) => return Err(Failure::usage(needs_key("--issuer"))),
            (None, None) if ttl_seconds.is_some() => return Err(Failure::usage(needs_key("--pass-ttl"))),
            (None, None) => return Ok(None),
        };
        if issuer.trim().is_empty() || issuer.chars().any(|c| c.is_whitespace() || c.is_control()) {
            return Err(Failure::usage(
                "`--issuer` is blank or has spaces; it must be a name such as `https://desk.example`",
            ));
        }
        let keys = read(file).map_err(Failure::Usage)?;
        let signer = Signer::new(keys, issuer, ttl_seconds.unwrap_or(DEFAULT_TTL_SECONDS));
        Ok(Some(SignerFile { file: file.clone(), signer }))
    }
}

fn needs_key(option: &str) -> String {
    format!(
        "`{option}` is about passes, and there is no key to sign them with: give `--pass-key FILE`, which `bailiwick keys new FILE` makes"
    )
}

impl SignerFile {
    /// Reads the file again and signs with what is in it from now on; the keys in force stay if it is faulty. Answers how
    /// many there are.
    pub(crate) fn reload(&self) -> Result<usize, String> {
        let keys = read(&self.file)?;
        let count = keys.len();
        self.signer.replace_keys(keys);
        Ok(count)
    }

    pub(crate) fn file(&self) -> &Path {
        &self.file
    }
}

/// Reads private keys that nobody else can read, one of them in use. Messages never show what they are.
fn read(path: &Path) -> Result<SigningKeys, String> {
    let shown = path.display();
    let unreadable = |error| format!("`{shown}` cannot be read: {}", cause(&error));
    let file = File::open(path).map_err(unreadable)?;
    check_is_private(path, &file).map_err(unreadable)??;
    let mut text = Vec::new();
    file.take(KEY_BYTES + 1).read_to_end(&mut text).map_err(unreadable)?;
    if text.len() as u64 > KEY_BYTES {
        return Err(format!("`{shown}` is too long, at most {KEY_BYTES} bytes are accepted"));
    }
    let keys = parse(&text, &Limits::DOCUMENT.with_duplicates(Duplicates::Refuse));
    let keys = keys.map_err(|error| format!("`{shown}` {error}"))?;
    let keys =
        SigningKeys::parse(&keys).map_err(|fault| format!("`{shown}`: {fault}; `bailiwick keys new` makes a key"))?;
    match keys.at(clock::now()) {
        Some(_) => Ok(keys),
        None => Err(format!(
            "`{shown}` has no key that may sign now: each is before its `not_before` or after its `not_after`"
        )),
    }
}

/// Whoever can read the file can sign as the desk, and whoever can write it can have the desk sign with a key of theirs.
/// Reading by the file's group is for the owner to allow.
#[cfg(unix)]
fn check_is_private(path: &Path, file: &File) -> std::io::Result<Result<(), String>> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = file.metadata()?.permissions().mode() & 0o777;
    if mode & 0o027 == 0 {
        return Ok(Ok(()));
    }
    let file = path.display();
    Ok(Err(format!(
        "`{file}` has mode {mode:03o}: others can read or change the key; run `chmod 600 {file}`, and take a new key if they may have"
    )))
}

/// There are no such permissions here.
#[cfg(not(unix))]
fn check_is_private(_: &Path, _: &File) -> std::io::Result<Result<(), String>> {
    Ok(Ok(()))
}
