//! Credentials: secrets that a desk makes for whoever may have them, and the list of those that no longer count.
//!
//! They are made when asked for and kept nowhere: not in the journal, not in a document, not in a receipt, not in a log.
//! Who may have one is for [`bailiwick_core`] to say.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use bailiwick_core::heart::{Context, Credential, Fresh, Refusal, View, capability};
use bailiwick_core::jose::{Issuer, SigningKeys};
use bailiwick_core::json::Value;
use bailiwick_core::principal::Principal;
use bailiwick_core::time::Millis;

use crate::desk::Shared;
use crate::load::with_view;
use crate::{Desk, DeskError, Failure};

/// How old a signed list may become while it would say the same: whoever verifies may want one that is fresh.
const LIST_TIME: Duration = Duration::from_secs(10);
/// How many times longer than making it took a list is handed out whatever happened since, so that asking for it again
/// and again can't keep a desk busy.
const LIST_PAUSE: u32 = 4;

/// What a desk signs credentials with. Cloning gives another handle on the same keys, so whoever keeps one can put others
/// in their place.
#[derive(Clone)]
pub struct Signer {
    held: Arc<Held>,
}

struct Held {
    issuer: String,
    ttl_seconds: u64,
    keys: RwLock<Arc<SigningKeys>>,
}

impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signer").field("issuer", &self.held.issuer).finish_non_exhaustive()
    }
}

impl Signer {
    /// Signs as `issuer`, the name that verifiers expect; what it signs counts for `ttl_seconds`.
    pub fn new(keys: SigningKeys, issuer: impl Into<String>, ttl_seconds: u64) -> Self {
        Self { held: Arc::new(Held { issuer: issuer.into(), ttl_seconds, keys: RwLock::new(Arc::new(keys)) }) }
    }

    /// Puts other keys in force, for every handle and from the next credential on.
    pub fn replace_keys(&self, keys: SigningKeys) {
        *self.held.keys.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(keys);
    }

    /// By what name it signs.
    pub fn issuer(&self) -> &str {
        &self.held.issuer
    }

    fn keys(&self) -> Arc<SigningKeys> {
        Arc::clone(&self.held.keys.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn at<'a>(&'a self, keys: &'a SigningKeys, now: Millis) -> Result<Issuer<'a>, DeskError> {
        let key = keys.at(now).ok_or(DeskError::NoSigningKey)?;
        Ok(Issuer { name: &self.held.issuer, key, ttl_seconds: self.held.ttl_seconds })
    }
}

/// A list that was signed a moment ago.
pub(crate) struct KeptList {
    text: Arc<str>,
    /// The sequence of the journal's head, and the key that signed
    of: (u64, Option<String>),
    made: Instant,
    took: Duration,
}

impl KeptList {
    /// Whether it will do for a head and a key.
    fn serves(&self, of: &(u64, Option<String>)) -> bool {
        let age = self.made.elapsed();
        let pause = self.took.saturating_mul(LIST_PAUSE).min(LIST_TIME);
        age < pause || (self.of == *of && age < LIST_TIME)
    }
}

impl Desk {
    /// What the desk signs credentials with; `None` if it makes none.
    pub fn signer(&self) -> Option<&Signer> {
        self.shared().signer.as_ref()
    }

    /// Makes a credential for whoever acts. What is overdue is expired first.
    ///
    /// # Errors
    ///
    /// [`Failure::Refused`] if they may not have it, `BAD_REQUEST` if the desk makes none at all.
    pub async fn mint(&self, principal: &Principal, credential: &Credential) -> Result<Value, Failure> {
        let signer = self.needed_signer()?;
        let shared = &**self.shared();
        let (mut snapshot, now) = shared.look(Some(credential.about())).await?;
        let keys = signer.keys();
        let issuer = signer.at(&keys, now)?;
        let context = Context { now, principal, fresh: Fresh(shared.entropy.draw()?), schemas: &*shared.schemas };
        let mut view = View::new();
        let mint = |view: &View| capability::mint(view, credential, &issuer, &context);
        Ok(with_view(&mut *snapshot, &shared.workspace, &mut view, mint).await??)
    }

    /// A reply with the credential that comes with it, made anew however often it is repeated. The command has taken effect
    /// either way: where there is no credential, for example because the work has ended meanwhile, the reply is without.
    pub(crate) async fn with_credential(
        &self,
        principal: &Principal,
        credential: Option<Credential>,
        reply: Value,
    ) -> Value {
        let Some(credential) = credential.filter(|_| self.signer().is_some()) else { return reply };
        match (self.mint(principal, &credential).await, reply) {
            (Ok(Value::Object(minted)), Value::Object(mut reply)) => {
                for (name, value) in minted.iter() {
                    reply.insert(name.clone(), value.clone());
                }
                reply.into()
            }
            (Ok(_) | Err(Failure::Refused(_)), reply) => reply,
            (Err(Failure::Failed(error)), reply) => {
                tracing::warn!(code = error.code(), %error, "a reply goes without its credential");
                reply
            }
        }
    }

    /// The public keys by which credentials are verified, as a JWK set: those to come included, those over left out.
    ///
    /// # Errors
    ///
    /// `BAD_REQUEST` if the desk makes no credentials; [`Failure::Failed`] if the store fails.
    pub async fn published_keys(&self) -> Result<Value, Failure> {
        let signer = self.needed_signer()?;
        let now = self.shared().store.snapshot().await?.now().await?;
        Ok(signer.keys().published(now))
    }

    /// The signed list of credentials that no longer count. Its version is the sequence of the journal's head, so it never
    /// falls, and lists of one version revoke the same, whichever process signed them.
    ///
    /// # Errors
    ///
    /// As [`Desk::published_keys`]; `UNAVAILABLE` if there are more than a list holds.
    pub async fn revocations(&self) -> Result<Arc<str>, Failure> {
        let signer = self.needed_signer()?;
        let shared = &**self.shared();
        // Held until the list is there, so that no two are made at once.
        let mut kept = shared.revocations.lock().await;
        let made = Instant::now();
        let mut snapshot = shared.store.snapshot().await?;
        let head = snapshot.head(&shared.workspace, Shared::JOURNAL).await?;
        let now = snapshot.now().await?;
        let keys = signer.keys();
        let issuer = signer.at(&keys, now)?;
        let of = (head.head.sequence, issuer.key.public().kid().map(Into::into));
        if let Some(kept) = kept.as_ref().filter(|kept| kept.serves(&of)) {
            return Ok(Arc::clone(&kept.text));
        }
        let as_of = (head.head.sequence, head.last_at.unwrap_or(Millis::FIRST));
        let mut view = View::new();
        let sign = |view: &View| capability::sign_revocations(view, as_of, &issuer, now);
        let list = with_view(&mut *snapshot, &shared.workspace, &mut view, sign).await??;
        let text = Arc::from(list);
        *kept = Some(KeptList { text: Arc::clone(&text), of, made: Instant::now(), took: made.elapsed() });
        Ok(text)
    }

    fn needed_signer(&self) -> Result<&Signer, Failure> {
        let message = "this desk makes no passes: it was started without a key to sign them with";
        let refused = || Refusal::new("BAD_REQUEST", message).with("findings", Vec::<Value>::new());
        Ok(self.signer().ok_or_else(refused)?)
    }
}
