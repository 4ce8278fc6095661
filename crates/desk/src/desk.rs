//! The desk.

use std::collections::HashSet;
use std::sync::{Arc, Weak};
use std::time::Duration;

use bailiwick_core::hash::Hash;
use bailiwick_core::heart::configuration::Adopt;
use bailiwick_core::heart::{Blob, Command, Context, Credential, Fresh, IndexEntry, Key, Query, View, ask};
use bailiwick_core::json::{Object, Value};
use bailiwick_core::principal::Principal;
use bailiwick_core::time::{self, Millis};
use bailiwick_core::work::OutputSchemas;
use bailiwick_store::{JournalHead, NewJournal, NewWorkspace, Snapshot, Store, StoredEntry};
use tokio::sync::{Mutex, broadcast, mpsc, oneshot};
use tokio::time::Instant;
use tokio_stream::Stream;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::credential::{KeptList, Signer};
use crate::load::with_view;
use crate::tail::{PAGE, Tail, Touched};
use crate::writer::{self, DueWork, Job};
use crate::{DeskError, Entropy, Failure, OsEntropy, renewal, timer};

/// How many commands may wait for the writer before callers wait for room.
const MOST_WAITING: usize = 1024;
/// How long a waiting call goes without looking by itself, should a wake-up get lost. The tail wakes it for every entry about
/// what it waits for; long, because hundreds may wait.
const LOOK: Duration = Duration::from_secs(10);

/// One workspace of a store, open for commands and queries. Cloning gives another handle on the same desk.
#[derive(Clone)]
pub struct Desk {
    shared: Arc<Shared>,
    _timer: Arc<DropGuard>,
}

/// What a desk is opened with.
#[derive(Clone)]
pub struct Options {
    /// The workspace; created if it does not exist
    pub workspace: String,
    /// The JSON Schema engine that judges output schemas
    pub schemas: Arc<dyn OutputSchemas + Send>,
    /// Where fresh ids come from
    pub entropy: Arc<dyn Entropy>,
    /// What credentials are signed with; without it none are made
    pub signer: Option<Signer>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            workspace: "desk".into(),
            schemas: Arc::new(bailiwick_schema::Engine),
            entropy: Arc::new(OsEntropy),
            signer: None,
        }
    }
}

/// What the handles and tasks of one desk share.
pub(crate) struct Shared {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) workspace: String,
    pub(crate) schemas: Arc<dyn OutputSchemas + Send>,
    pub(crate) entropy: Arc<dyn Entropy>,
    pub(crate) signer: Option<Signer>,
    pub(crate) revocations: Mutex<Option<KeptList>>,
    pub(crate) tail: Mutex<Weak<Tail>>,
    /// Documents whose due work could not be done
    pub(crate) undone: std::sync::Mutex<HashSet<Key>>,
    jobs: mpsc::Sender<Job>,
}

impl Shared {
    /// The name of the journal of decision records.
    pub(crate) const JOURNAL: &'static str = "decisions";

    pub(crate) async fn head(&self) -> Result<JournalHead, DeskError> {
        Ok(self.store.snapshot().await?.head(&self.workspace, Self::JOURNAL).await?)
    }

    pub(crate) async fn entries(&self, after: u64, limit: u32) -> Result<Vec<StoredEntry>, DeskError> {
        Ok(self.store.snapshot().await?.entries(&self.workspace, Self::JOURNAL, after, limit).await?)
    }

    /// Does what has fallen due, of one document or of all.
    pub(crate) async fn expire_due(&self, of: DueWork) -> Result<(), DeskError> {
        let (reply, answer) = oneshot::channel();
        self.jobs.send(Job::Expire { of, reply }).await.map_err(|_| DeskError::Closed)?;
        answer.await.map_err(|_| DeskError::Closed)?
    }

    /// A consistent view and its time, for an answer that shows one document or more than one. What is overdue is expired
    /// first, as far as the answer can show it.
    pub(crate) async fn look(&self, about: Option<Key>) -> Result<(Box<dyn Snapshot>, Millis), DeskError> {
        let mut snapshot = self.store.snapshot().await?;
        let mut now = snapshot.now().await?;
        if let Some(due) = self.due_for(&mut *snapshot, about, now).await? {
            drop(snapshot);
            self.expire_due(due).await?;
            snapshot = self.store.snapshot().await?;
            now = snapshot.now().await?;
        }
        Ok((snapshot, now))
    }

    /// What has to be done before an answer: nothing may be shown as open that is overdue.
    async fn due_for(
        &self,
        snapshot: &mut dyn Snapshot,
        about: Option<Key>,
        now: Millis,
    ) -> Result<Option<DueWork>, DeskError> {
        let now = time::format(now);
        let Some(key) = about else {
            let due = snapshot.due(&self.workspace, &now, None, 1).await?;
            return Ok((!due.is_empty()).then_some(DueWork::All));
        };
        let index = snapshot.index_of(&self.workspace, &key).await?;
        let is_due = index.iter().any(|(name, _, sort)| name == IndexEntry::DUE && *sort < now);
        Ok(is_due.then_some(DueWork::Of(key)))
    }

    async fn submit(&self, principal: &Principal, command: Command, key: Option<String>) -> Result<Value, Failure> {
        let (reply, answer) = oneshot::channel();
        let job = Job::Run { principal: principal.clone(), command, key, reply };
        self.jobs.send(job).await.map_err(|_| DeskError::Closed)?;
        answer.await.map_err(|_| DeskError::Closed)?
    }
}

impl Desk {
    /// Opens a desk, and creates its workspace if there is none. Documents that an older Bailiwick wrote are brought to
    /// the form of the rules, once.
    ///
    /// # Errors
    ///
    /// [`DeskError`] if the store fails.
    pub async fn open(store: Arc<dyn Store>, options: Options) -> Result<Self, DeskError> {
        let epoch = Fresh(options.entropy.draw()?).uuid("epoch");
        store
            .open_workspace(&NewWorkspace {
                id: options.workspace.clone(),
                group: options.workspace.clone(),
                journals: vec![NewJournal { name: Shared::JOURNAL.into(), epoch_id: format!("epoch_{epoch}") }],
            })
            .await?;
        let (jobs, waiting) = mpsc::channel(MOST_WAITING);
        let shared = Arc::new(Shared {
            store,
            workspace: options.workspace,
            schemas: options.schemas,
            entropy: options.entropy,
            signer: options.signer,
            revocations: Mutex::default(),
            tail: Mutex::new(Weak::new()),
            undone: std::sync::Mutex::default(),
            jobs,
        });
        renewal::renew(&shared).await?;
        tokio::spawn(writer::write(Arc::downgrade(&shared), waiting));
        let stop = CancellationToken::new();
        tokio::spawn(timer::run(Arc::downgrade(&shared), stop.clone()));
        Ok(Self { shared, _timer: Arc::new(stop.drop_guard()) })
    }

    /// Runs a command. It has been answered only when it is durable.
    ///
    /// # Errors
    ///
    /// [`Failure::Refused`] if the rules say no, [`Failure::Failed`] if something broke.
    pub async fn run(&self, principal: &Principal, command: Command) -> Result<Value, Failure> {
        self.settle(principal, command, None).await
    }

    /// Runs a command once for a key that the client chose: repeated, it does nothing and answers the same.
    ///
    /// # Errors
    ///
    /// As [`Desk::run`]; `CONFLICT` if the principal used the key for another command.
    pub async fn run_once(&self, principal: &Principal, command: Command, key: &str) -> Result<Value, Failure> {
        self.settle(principal, command, Some(key.into())).await
    }

    async fn settle(&self, principal: &Principal, command: Command, key: Option<String>) -> Result<Value, Failure> {
        let credential = Credential::of(&command);
        let reply = self.shared.submit(principal, command, key).await?;
        Ok(self.with_credential(principal, credential, reply).await)
    }

    /// Answers a query. What is overdue is expired first, as far as the answer can show it.
    ///
    /// # Errors
    ///
    /// As [`Desk::run`].
    pub async fn ask(&self, principal: &Principal, query: Query) -> Result<Value, Failure> {
        let shared = &*self.shared;
        let (mut snapshot, now) = shared.look(query.about()).await?;
        let fresh = Fresh(shared.entropy.draw()?);
        let context = Context { now, principal, fresh, schemas: &*shared.schemas };
        let mut view = View::new();
        let reply = with_view(&mut *snapshot, &shared.workspace, &mut view, |view| ask(view, &query, &context)).await?;
        Ok(reply?)
    }

    /// Answers a query as soon as a document has a version above the given one, or at the timeout as things stand.
    /// Drop the future to stop waiting.
    ///
    /// # Errors
    ///
    /// As [`Desk::ask`], at once if the query is refused as things stand.
    pub async fn wait(
        &self,
        principal: &Principal,
        query: Query,
        key: &Key,
        after_version: u64,
        timeout: Duration,
    ) -> Result<Value, Failure> {
        let deadline = Instant::now() + timeout;
        // Listening begins before the first look, so that no change falls between.
        let tail = Tail::of(&self.shared).await?;
        let mut touched = tail.touched();
        // What is refused as things stand is refused at once.
        self.ask(principal, query.clone()).await?;
        loop {
            // The version before the answer, so that the answer is never older than what it was waited for.
            let is_changed = self.version(key).await? > after_version;
            if is_changed || Instant::now() >= deadline {
                return self.ask(principal, query).await;
            }
            let look = deadline.min(Instant::now() + LOOK);
            loop {
                match tokio::time::timeout_at(look, touched.recv()).await {
                    Ok(Ok(Touched::Document(other))) if *other != *key => {}
                    Ok(Err(broadcast::error::RecvError::Closed)) => return Err(DeskError::Closed.into()),
                    // An entry that changes it, too many entries to have heard of each, or time to look.
                    Ok(Ok(_) | Err(broadcast::error::RecvError::Lagged(_))) | Err(_) => break,
                }
            }
        }
    }

    async fn version(&self, key: &Key) -> Result<u64, DeskError> {
        let mut snapshot = self.shared.store.snapshot().await?;
        let found = snapshot.documents(&self.shared.workspace, std::slice::from_ref(key)).await?;
        Ok(found.into_iter().flatten().next().map_or(0, |stored| stored.version))
    }

    /// Puts settings in force, if they are not already. Later commands are decided under them.
    ///
    /// # Errors
    ///
    /// `BAD_REQUEST` naming the setting at fault; the old ones stay in force.
    pub async fn adopt(&self, settings: Object) -> Result<Value, Failure> {
        self.run(&Principal::desk(), Command::Configuration(Adopt { settings })).await
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Where the journal ends.
    ///
    /// # Errors
    ///
    /// [`DeskError`] if the store fails.
    pub async fn head(&self) -> Result<JournalHead, DeskError> {
        self.shared.head().await
    }

    /// Journal entries after a sequence, in order.
    ///
    /// # Errors
    ///
    /// [`DeskError`] if the store fails.
    pub async fn entries(&self, after: u64, limit: u32) -> Result<Vec<StoredEntry>, DeskError> {
        self.shared.entries(after, limit).await
    }

    /// Every journal entry after a sequence, now and as they come, also those of other processes. Ends with the
    /// first error.
    pub fn follow(&self, after: u64) -> impl Stream<Item = Result<StoredEntry, DeskError>> + Send + use<> {
        let shared = Arc::clone(&self.shared);
        async_stream::try_stream! {
            let tail = Tail::of(&shared).await?;
            let mut head = tail.head();
            let mut after = after;
            loop {
                // Marked as seen before reading, so that whatever comes while reading wakes again.
                head.mark_unchanged();
                let entries = shared.entries(after, PAGE).await?;
                if entries.is_empty() {
                    // An error only if the tail ended; looking now and then covers a lost wake-up.
                    let _ = tokio::time::timeout(LOOK, head.changed()).await;
                }
                for entry in entries {
                    after = entry.sequence;
                    yield entry;
                }
            }
        }
    }

    /// Blobs by digest, in the order asked for; `None` for those erased or never there.
    ///
    /// # Errors
    ///
    /// [`DeskError`] if the store fails.
    pub async fn blobs(&self, digests: &[Hash]) -> Result<Vec<Option<Blob>>, DeskError> {
        Ok(self.shared.store.snapshot().await?.blobs(&self.shared.workspace, digests).await?)
    }

    /// The store that the desk is on, for checks and exports.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.shared.store
    }

    /// The workspace's id.
    pub fn workspace(&self) -> &str {
        &self.shared.workspace
    }

    /// The name of the workspace's journal of decision records.
    pub fn journal(&self) -> &'static str {
        Shared::JOURNAL
    }

    /// What kind of store this is and where, without secrets.
    pub fn describe(&self) -> String {
        self.shared.store.describe()
    }

    /// Whether the desk can work: the store answers.
    ///
    /// # Errors
    ///
    /// [`DeskError`] if it doesn't.
    pub async fn check(&self) -> Result<(), DeskError> {
        self.head().await.map(|_| ())
    }

    /// Finishes what is under way and lets go of the store. Commands sent later fail.
    pub async fn close(&self) {
        let (reply, done) = oneshot::channel();
        if self.shared.jobs.send(Job::Stop { reply }).await.is_ok() {
            let _ = done.await;
        }
        self.shared.store.close().await;
    }
}
