//! Signing in: a link that works once gives a browser a session.
//!
//! Both are *durable* documents: they are kept beside the journal, leave no entry in it, and are no part of what it
//! proves. What is kept of a secret is its SHA-256, which is also the name it is looked up by: a secret of 256 random
//! bits can't be guessed piece by piece. A link is taken and its session made in one transaction under the lock, so it
//! gives one session however many ask at once, in whichever process.

use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use bailiwick_core::hash::{hex, sha256};
use bailiwick_core::heart::{
    Change, Document, Draft, IndexEntry, Key, Order, Refusal, Scope, Select, Stored, View, ViewError,
};
use bailiwick_core::json::{Object, Value};
use bailiwick_core::principal::{MOST_CHARACTERS, Principal, is_person};
use bailiwick_core::time::{self, Millis};
use bailiwick_store::{Commit, Snapshot};

use crate::{Desk, DeskError, Failure};

/// How long a link waits to be followed.
pub const LINK_TIME: Duration = Duration::from_secs(15 * 60);
/// How long a session lives after it was last used.
pub const SESSION_TIME: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// How stale the note of a session's last use may become, so that not every use is a write.
const RENEWAL_TIME: Duration = Duration::from_secs(24 * 60 * 60);
/// How many expired links or sessions are cleared away when a new one is made.
const MOST_CLEARED: u32 = 64;

/// The kinds of documents that this room keeps.
pub(crate) const KINDS: [&str; 2] = [Link::KIND, Session::KIND];

/// A secret as it is handed out: 64 hexadecimal digits. It is kept nowhere, and shown by [`Secret::reveal`] only.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// The secret itself.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// What tells the two kinds of credential apart.
trait Use {
    const KIND: &'static str;
}

/// A link that waits to be followed.
struct OfLink;
/// A session of a browser.
struct OfSession;

impl Use for OfLink {
    const KIND: &'static str = "sign_in_link";
}

impl Use for OfSession {
    const KIND: &'static str = "session";
}

type Link = Credential<OfLink>;
type Session = Credential<OfSession>;

/// Something that a secret stands for: durable.
struct Credential<U> {
    /// SHA-256 of the secret, in hexadecimal
    digest: String,
    person: String,
    /// The last moment at which it counts
    until: Millis,
    kind: PhantomData<U>,
}

impl<U: Use> Credential<U> {
    /// By the last moment at which it counts.
    const UNTIL: &'static str = "until";

    fn new(secret: &str, person: &str, now: Millis, time: Duration) -> Self {
        Self { digest: digest(secret), person: person.into(), until: after(now, time), kind: PhantomData }
    }

    fn counts(&self, now: Millis) -> bool {
        now <= self.until
    }
}

impl<U: Use> Document for Credential<U> {
    const KIND: &'static str = U::KIND;

    fn id(&self) -> String {
        self.digest.clone()
    }

    /// It changes only by living longer.
    fn version(&self) -> u64 {
        u64::try_from(self.until.0).unwrap_or_default()
    }

    fn to_value(&self) -> Value {
        Object::new()
            .with("digest", &self.digest)
            .with("person", &self.person)
            .with("until", time::format(self.until))
            .into()
    }

    fn from_value(value: Value) -> Option<Self> {
        Some(Self {
            digest: value.get("digest")?.as_str()?.into(),
            person: value.get("person")?.as_str()?.into(),
            until: time::instant(value.get("until")?.as_str()?)?,
            kind: PhantomData,
        })
    }

    fn index(&self) -> Vec<IndexEntry> {
        vec![IndexEntry::new(Self::UNTIL, "", time::format(self.until))]
    }
}

impl Desk {
    /// Makes a link for a person (`human:…`); answers its secret. It counts once, for [`LINK_TIME`].
    ///
    /// # Errors
    ///
    /// `BAD_REQUEST` if `person` names no person; [`Failure::Failed`] if the store fails.
    pub async fn issue_link(&self, person: &str) -> Result<Secret, Failure> {
        check_person(person)?;
        let secret = self.secret()?;
        let (workspace, mut transaction) = (self.workspace(), self.store().begin(self.workspace()).await?);
        let now = transaction.now().await?;
        let link = Link::new(&secret.0, person, now, LINK_TIME);
        let mut view = View::new();
        view.load(Key::of::<Link>(link.id()), None);
        let expired = expired::<OfLink>(&mut *transaction, workspace, now, &mut view).await?;
        let changes = changes(&view, |draft| {
            expired.iter().try_for_each(|id| draft.remove::<Link>(id))?;
            draft.put(&link)
        })?;
        transaction.write(workspace, &Commit { changes, ..Commit::default() }).await?;
        transaction.commit().await?;
        Ok(secret)
    }

    /// Takes a link and makes its session; answers the session's secret, and who signed in. `None` for a link that was
    /// taken, has expired, or never was.
    ///
    /// # Errors
    ///
    /// [`DeskError`] if the store fails; the link may then be gone.
    pub async fn redeem_link(&self, secret: &str) -> Result<Option<(Secret, Principal)>, DeskError> {
        let key = Key::of::<Link>(digest(secret));
        // Whoever guesses does not get at the lock.
        if find(&mut *self.store().snapshot().await?, self.workspace(), &key).await?.is_none() {
            return Ok(None);
        }
        let (workspace, mut transaction) = (self.workspace(), self.store().begin(self.workspace()).await?);
        let now = transaction.now().await?;
        let Some(stored) = find(&mut *transaction, workspace, &key).await? else { return Ok(None) };
        let link = stored.read::<Link>().map_err(DeskError::Corrupt)?;
        if !link.counts(now) {
            return Ok(None);
        }
        let secret = self.secret()?;
        let session = Session::new(&secret.0, &link.person, now, SESSION_TIME);
        let mut view = View::new();
        view.load(key, Some(stored));
        view.load(Key::of::<Session>(session.id()), None);
        let expired = expired::<OfSession>(&mut *transaction, workspace, now, &mut view).await?;
        let changes = changes(&view, |draft| {
            expired.iter().try_for_each(|id| draft.remove::<Session>(id))?;
            draft.remove::<Link>(&link.digest)?;
            draft.put(&session)
        })?;
        transaction.write(workspace, &Commit { changes, ..Commit::default() }).await?;
        transaction.commit().await?;
        Ok(Some((secret, Principal::by_sign_in(link.person))))
    }

    /// Whose session a secret stands for, and notes that it was used. `None` for one that has ended or never was.
    ///
    /// # Errors
    ///
    /// [`DeskError`] if the store fails.
    pub async fn session(&self, secret: &str) -> Result<Option<Principal>, DeskError> {
        let key = Key::of::<Session>(digest(secret));
        let mut snapshot = self.store().snapshot().await?;
        let now = snapshot.now().await?;
        let Some(stored) = find(&mut *snapshot, self.workspace(), &key).await? else { return Ok(None) };
        drop(snapshot);
        let session = stored.read::<Session>().map_err(DeskError::Corrupt)?;
        if !session.counts(now) {
            return Ok(None);
        }
        let is_stale = after(session.until, RENEWAL_TIME) <= after(now, SESSION_TIME);
        if is_stale && let Err(error) = self.renew(&key).await {
            // It counts all the same; the next use tries again.
            tracing::warn!(code = error.code(), "could not note that a session was used");
        }
        Ok(Some(Principal::by_sign_in(session.person)))
    }

    /// Ends a session, if it is there.
    ///
    /// # Errors
    ///
    /// [`DeskError`] if the store fails.
    pub async fn end_session(&self, secret: &str) -> Result<(), DeskError> {
        let key = Key::of::<Session>(digest(secret));
        self.change_session(&key, |draft, session| draft.remove::<Session>(&session.digest)).await
    }

    async fn renew(&self, key: &Key) -> Result<(), DeskError> {
        let now = self.store().snapshot().await?.now().await?;
        self.change_session(key, |draft, session| draft.put(&Session { until: after(now, SESSION_TIME), ..session }))
            .await
    }

    /// Changes a session under the lock; does nothing if it is gone.
    async fn change_session(
        &self,
        key: &Key,
        change: impl FnOnce(&mut Draft<'_>, Session) -> Result<(), ViewError>,
    ) -> Result<(), DeskError> {
        let (workspace, mut transaction) = (self.workspace(), self.store().begin(self.workspace()).await?);
        let Some(stored) = find(&mut *transaction, workspace, key).await? else { return Ok(()) };
        let session = stored.read::<Session>().map_err(DeskError::Corrupt)?;
        let mut view = View::new();
        view.load(key.clone(), Some(stored));
        let changes = changes(&view, |draft| change(draft, session))?;
        transaction.write(workspace, &Commit { changes, ..Commit::default() }).await?;
        Ok(transaction.commit().await?)
    }

    fn secret(&self) -> Result<Secret, DeskError> {
        Ok(Secret(hex(&self.shared().entropy.draw()?)))
    }
}

/// # Errors
///
/// `BAD_REQUEST` unless the reference names a person.
fn check_person(person: &str) -> Result<(), Refusal> {
    let name = person.strip_prefix("human:").unwrap_or_default();
    if is_person(person) && !name.trim().is_empty() && person.chars().count() <= MOST_CHARACTERS {
        return Ok(());
    }
    let shown: String = person.chars().take(80).flat_map(char::escape_debug).collect();
    let message =
        format!("`{shown}` is no person; accepted: `human:` and a name, {MOST_CHARACTERS} characters at most");
    Err(Refusal::new("BAD_REQUEST", message).with("findings", Vec::<Value>::new()))
}

fn digest(secret: &str) -> String {
    hex(&sha256(&[secret.as_bytes()]))
}

fn after(now: Millis, time: Duration) -> Millis {
    Millis(now.0.saturating_add(i64::try_from(time.as_millis()).unwrap_or(i64::MAX)))
}

async fn find(snapshot: &mut (dyn Snapshot + '_), workspace: &str, key: &Key) -> Result<Option<Stored>, DeskError> {
    let found = snapshot.documents(workspace, std::slice::from_ref(key)).await?;
    Ok(found.into_iter().flatten().next())
}

/// Loads some of those that no longer count into the view; answers their ids.
async fn expired<U: Use>(
    snapshot: &mut (dyn Snapshot + '_),
    workspace: &str,
    now: Millis,
    view: &mut View,
) -> Result<Vec<String>, DeskError> {
    let select = Select {
        kind: U::KIND,
        scope: Scope::Workspace,
        index: Credential::<U>::UNTIL,
        value: String::new(),
        also: Vec::new(),
        order: Order::Ascending,
        after: None,
        limit: MOST_CLEARED,
    };
    let mut ids = Vec::new();
    for stored in snapshot.select(workspace, &select).await? {
        // The earliest come first.
        if stored.read::<Credential<U>>().map_err(DeskError::Corrupt)?.counts(now) {
            break;
        }
        ids.push(stored.key.id.clone());
        view.load(stored.key.clone(), Some(stored));
    }
    Ok(ids)
}

fn changes(view: &View, draw: impl FnOnce(&mut Draft<'_>) -> Result<(), ViewError>) -> Result<Vec<Change>, DeskError> {
    let mut draft = Draft::new(view);
    draw(&mut draft).map_err(|error| match error {
        ViewError::Corrupt(corrupt) => DeskError::Corrupt(corrupt),
        // INVARIANT: every document that is drawn was loaded before.
        ViewError::NotLoaded(_) => DeskError::TooMuchToLoad,
    })?;
    Ok(draft.into_changes())
}
