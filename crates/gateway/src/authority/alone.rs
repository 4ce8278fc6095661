//! No desk: the order's pass says what it allows, and this gateway counts by itself (`spec work-orders §15.5`, `§15.6`).
//!
//! The count stands in one file for each order, written whole, flushed to the disk and put in place before a call is
//! forwarded; a lock beside it lets several processes share it. It bounds what goes through this file: gateways elsewhere know
//! nothing of it, so their sum is not bounded, and whoever asks for the status is told so. Holders' proofs that were used are
//! remembered by each process for itself.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use bailiwick_core::hash::{hex, sha256};
use bailiwick_core::heart::Refusal;
use bailiwick_core::jose::KeySet;
use bailiwick_core::json::{Limits, Object, Value, parse, write_pretty};
use bailiwick_core::time::Millis;
use bailiwick_core::work::Totals;
use bailiwick_core::work::gateway::{CallOutcome, Tally};
use bailiwick_core::work::pass::{
    Call, Check, MOST_LIST_BYTES, MOST_PASS_BYTES, Pass, ProofCheck, RecentProofs, RevocationList, check_holder, verify,
};

use super::watched::{Watched, read_file};
use super::{Answer, AskedCall, Authority, Begun, Failure, Place, Terms};

/// The most bytes of a keys file.
const MOST_KEYS_BYTES: usize = 1 << 20;
/// How far the issuer's and the holder's clock may be off.
const LEEWAY_SECONDS: u32 = 5;
/// How many proofs are remembered while they could be shown again.
const PROOFS: usize = 10_000;
/// The most bytes of a record: held calls up to their limit, and what stands around them.
const MOST_RECORD_BYTES: usize = 16 << 20;

/// What is said of a count that a gateway keeps by itself.
pub(super) const NOTE: &str = "the desk is not asked: this gateway counts by itself, within the pass. It bounds what goes through \
    this gateway; what goes through others under the same order is not known here, so their sum is not bounded";

/// What a gateway needs to go by passes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AloneOptions {
    /// The order
    pub order: String,
    /// The issuer's public keys: a JWK or a JWK set. Read again when it changes.
    pub keys: PathBuf,
    /// Whom the pass must be for
    pub worker: Option<String>,
    /// Who must have issued it
    pub issuer: Option<String>,
    /// The gateway as a pass or a proof names it
    pub audience: Option<String>,
    /// The issuer's newest list of revoked passes. Read again when it changes.
    pub revocations: Option<PathBuf>,
    /// Where the pass is, unless it comes with the call
    pub pass: Option<PassSource>,
    /// The folder of the records
    pub folder: PathBuf,
}

/// Where a pass is.
#[derive(Clone, PartialEq, Eq)]
pub enum PassSource {
    /// In a file, which is read for each call
    File(PathBuf),
    /// Here
    Token(String),
}

impl std::fmt::Debug for PassSource {
    /// Without the pass.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::File(path) => f.debug_tuple("File").field(path).finish(),
            Self::Token(_) => f.write_str("Token(…)"),
        }
    }
}

/// Why a gateway cannot go by passes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct AloneError(String);

/// Goes by passes. Cloning gives another handle on the same one.
#[derive(Clone)]
pub struct WithPass(Arc<Alone>);

struct Alone {
    options: AloneOptions,
    file: PathBuf,
    keys: Watched<Arc<KeySet>>,
    revocations: Option<Watched<Arc<RevocationList>>>,
    proofs: Mutex<RecentProofs>,
    /// The last pass that counted
    last: Mutex<Option<Pass>>,
}

impl WithPass {
    /// Begins to go by passes; the record is made with the first call.
    ///
    /// # Errors
    ///
    /// [`AloneError`] if the keys, the list or the record can't be read, or the folder can't be made.
    pub fn open(options: AloneOptions) -> Result<Self, AloneError> {
        make_folder(&options.folder)
            .map_err(|error| AloneError(format!("`{}` cannot be made: {error}", options.folder.display())))?;
        let alone = Alone {
            file: options.folder.join(file_name(&options.order)),
            keys: Watched::new(options.keys.clone(), MOST_KEYS_BYTES),
            revocations: options.revocations.clone().map(|path| Watched::new(path, MOST_LIST_BYTES)),
            proofs: Mutex::new(RecentProofs::with_room_for(PROOFS)),
            last: Mutex::new(None),
            options,
        };
        let keys = alone.read_keys().map_err(AloneError)?;
        alone.read_revocations(&keys, now()).map_err(AloneError)?;
        alone.read().map_err(AloneError)?;
        Ok(Self(Arc::new(alone)))
    }

    /// Takes note of what a desk was seen to count (`Tally::learn`).
    ///
    /// # Errors
    ///
    /// [`Failure::Unreachable`] if the record can't be written.
    pub(super) async fn learn(&self, last_n: u64, cost: Totals) -> Result<(), Failure> {
        self.change(move |tally| {
            tally.learn(last_n, &cost);
            Ok(())
        })
        .await
    }

    /// Changes the record, durably. What is refused changes nothing.
    async fn change<T: Send + 'static>(
        &self,
        change: impl FnOnce(&mut Tally) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Failure> {
        let alone = Arc::clone(&self.0);
        let changed = tokio::task::spawn_blocking(move || {
            let _lock = alone.lock().map_err(|error| format!("the record cannot be locked: {error}"))?;
            let mut tally = alone.read()?;
            let changed = change(&mut tally);
            if changed.is_ok() {
                alone.write(&tally).map_err(|error| format!("the record cannot be written: {error}"))?;
            }
            Ok(changed)
        });
        let changed: Result<Result<T, Refusal>, String> =
            changed.await.unwrap_or_else(|_| Err("the record was not written".into()));
        changed.map_err(Failure::Unreachable)?.map_err(Failure::Refused)
    }
}

impl Alone {
    fn read_keys(&self) -> Result<Arc<KeySet>, String> {
        self.keys.value(|text, _| {
            let value = parse(text, &Limits::DOCUMENT).map_err(|error| format!("it is not JSON: {}", error.kind))?;
            KeySet::parse(&value).map(Arc::new).map_err(|fault| fault.message().to_owned())
        })
    }

    /// The newest list: one that is older than the last one seen is refused.
    fn read_revocations(&self, keys: &KeySet, now: Millis) -> Result<Option<Arc<RevocationList>>, String> {
        let Some(file) = &self.revocations else { return Ok(None) };
        let list = file.value(|text, held| {
            let text = String::from_utf8_lossy(text);
            let list = RevocationList::verify(text.trim_end(), keys, now, held.map(|list| &**list));
            list.map(Arc::new).map_err(|refusal| format!("{}: {}", refusal.code.as_str(), refusal.message))
        });
        list.map(Some)
    }

    /// The pass that counts for a call: the one that came with it, or the one at hand.
    fn believe(&self, shown: Option<&str>, now: Millis) -> Result<Pass, Refusal> {
        let token = match (shown, &self.options.pass) {
            (Some(token), _) => token.to_owned(),
            (None, Some(PassSource::Token(token))) => token.clone(),
            (None, Some(PassSource::File(path))) => {
                let text = read_file(path, MOST_PASS_BYTES + 2)
                    .map_err(|why| unavailable(format!("the pass in `{}` cannot be read: {why}", path.display())))?;
                String::from_utf8_lossy(&text).trim_end().to_owned()
            }
            (None, None) => {
                let message = "the desk cannot be asked, and the call brings no pass in `_meta[\"awl/pass\"]`";
                return Err(unavailable(message.into()));
            }
        };
        let keys = self.read_keys().map_err(unavailable)?;
        let list = self.read_revocations(&keys, now).map_err(unavailable)?;
        let lists: Vec<RevocationList> = list.iter().map(|list| RevocationList::clone(list)).collect();
        let check = Check {
            leeway_seconds: LEEWAY_SECONDS,
            issuer: self.options.issuer.as_deref(),
            worker: self.options.worker.as_deref(),
            order: Some(&self.options.order),
            audience: self.options.audience.as_deref(),
            revocations: &lists,
            ..Check::at(now)
        };
        let pass = verify(&token, &keys, &check, None).map_err(refused)?;
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(pass.clone());
        Ok(pass)
    }

    fn check_shown_by_holder(&self, pass: &Pass, call: &AskedCall, now: Millis) -> Result<(), Refusal> {
        let audience = self.options.audience.as_deref().unwrap_or_default();
        let shown = Call { tool: &call.tool, arguments: &call.arguments, audience };
        let check = ProofCheck { leeway_seconds: LEEWAY_SECONDS, ..ProofCheck::at(now) };
        let mut proofs = self.proofs.lock().unwrap_or_else(PoisonError::into_inner);
        check_holder(pass, call.proof.as_deref(), &shown, &check, Some(&mut *proofs)).map_err(refused)
    }

    fn last(&self) -> Option<Pass> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn lock(&self) -> io::Result<File> {
        let file = private().write(true).create(true).truncate(false).open(self.file.with_extension("lock"))?;
        file.lock()?;
        Ok(file)
    }

    fn read(&self) -> Result<Tally, String> {
        let text = match fs::metadata(&self.file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Tally::unused(&self.options.order)),
            _ => read_file(&self.file, MOST_RECORD_BYTES),
        };
        let wrong = |why: &str| format!("the record `{}` cannot be used: {why}", self.file.display());
        let text = text.map_err(|why| wrong(&why))?;
        let value = parse(&text, &Limits { bytes: MOST_RECORD_BYTES, ..Limits::STORED });
        let tally = value.ok().and_then(|value| Tally::parse(&value));
        // Nothing is begun anew where there was something: that would give back what is spent.
        tally.filter(|tally| tally.order() == self.options.order).ok_or_else(|| wrong("it is none of this order"))
    }

    /// Writes the whole record beside the old one, waits for the disk, and puts it in its place.
    fn write(&self, tally: &Tally) -> io::Result<()> {
        let new = self.file.with_extension("new");
        let mut file = private().write(true).create(true).truncate(true).open(&new)?;
        file.write_all(write_pretty(&tally.to_value()).as_bytes())?;
        file.sync_all()?;
        fs::rename(&new, &self.file)?;
        File::open(&self.options.folder)?.sync_all()
    }
}

impl Authority for WithPass {
    fn terms(&self) -> Answer<'_, Option<Terms>> {
        Box::pin(async {
            // Without a pass at hand, or with one that does not count, what is allowed comes with each call.
            let pass = self.0.believe(None, now()).ok().or_else(|| self.0.last());
            Ok(pass.map(|pass| Terms::of(pass.claims(), "sub")))
        })
    }

    fn order(&self) -> Answer<'_> {
        Box::pin(async { Err(Failure::Unreachable("there is only a pass, and this needs the desk".into())) })
    }

    fn status(&self) -> Answer<'_> {
        Box::pin(async {
            let pass = self.0.believe(None, now()).ok().or_else(|| self.0.last());
            let tally = self.0.read().map_err(Failure::Unreachable)?;
            let status = tally.status(pass.as_ref(), now());
            Ok(status.with("counted_by", "this gateway").with("note", NOTE).into())
        })
    }

    fn begin_call<'a>(&'a self, call: &'a AskedCall) -> Answer<'a, Begun> {
        Box::pin(async move {
            let now = now();
            let pass = self.0.believe(call.pass.as_deref(), now).map_err(Failure::Refused)?;
            self.0.check_shown_by_holder(&pass, call, now).map_err(Failure::Refused)?;
            let (tool, arguments) = (call.tool.clone(), call.arguments.clone());
            let counted = self.change(move |tally| tally.begin(&pass, &tool, &arguments, now)).await?;
            Ok(Begun { n: counted.n, reference: counted.reference, staged: counted.staged, place: Place::Record })
        })
    }

    fn finish_call(&self, _: Place, outcome: Object) -> Answer<'_, ()> {
        Box::pin(async move {
            let n = outcome.get("n").and_then(Value::as_number).and_then(|n| n.to_u64()).unwrap_or_default();
            let ended = outcome.str("outcome").and_then(CallOutcome::parse).unwrap_or(CallOutcome::Failed);
            self.change(move |tally| {
                tally.finish(n, ended, outcome.get("cost"));
                Ok(())
            })
            .await
        })
    }

    fn effect(&self, _: &'static str, _: Object) -> Answer<'_> {
        self.order()
    }
}

fn refused(refusal: bailiwick_core::work::pass::Refusal) -> Refusal {
    Refusal::new(refusal.code.as_str(), refusal.message)
}

fn unavailable(message: String) -> Refusal {
    Refusal::new("UNAVAILABLE", message)
}

fn now() -> Millis {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// An order's file: its id where that makes a name everywhere, else a digest of it.
fn file_name(order: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-');
    match !order.is_empty() && order.len() <= 64 && order.bytes().all(is_plain) {
        true => format!("{order}.json"),
        // A dot is in no plain name, so that no order's id is another's digest.
        false => format!("sha256.{}.json", hex(&sha256(&[order.as_bytes()]))),
    }
}

fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

fn make_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}
