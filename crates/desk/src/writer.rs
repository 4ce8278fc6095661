//! The writer: one task that commits what is waiting, many commands at a time.
//!
//! Correctness rests on the store's lock, which holds across processes; this task is there for speed.

use std::collections::VecDeque;
use std::sync::{PoisonError, Weak};
use std::time::{Duration, Instant};

use bailiwick_core::hash::Hash;
use bailiwick_core::heart::{Command, Context, Fresh, Key, Record, Refusal, View, capability, run};
use bailiwick_core::journal::{Entry, Head};
use bailiwick_core::json::{Limits, Value, parse, write_compact};
use bailiwick_core::principal::Principal;
use bailiwick_core::time::{self, Millis};
use bailiwick_store::{Commit, Due, JournalHead, Receipt, ReceiptKey, StoreError, Transaction};
use tokio::sync::{mpsc, oneshot};

use crate::desk::Shared;
use crate::load::with_view;
use crate::{DeskError, Failure};

/// How many commands one transaction holds.
const MOST_COMMANDS: usize = 64;
/// How long a transaction collects commands before it commits.
const MOST_TIME: Duration = Duration::from_millis(20);
/// How many bytes of documents are kept from one transaction to the next.
const MOST_KEPT_BYTES: usize = 4 << 20;
/// How long to look for a commit whose outcome the store did not tell.
const SETTLE_TIME: Duration = Duration::from_secs(10);

/// Something for the writer to do.
pub(crate) enum Job {
    /// A command
    Run { principal: Principal, command: Command, key: Option<String>, reply: oneshot::Sender<Result<Value, Failure>> },
    /// Whatever has fallen due
    Expire { of: DueWork, reply: oneshot::Sender<Result<(), DeskError>> },
    /// Nothing more
    Stop { reply: oneshot::Sender<()> },
}

/// Work that has fallen due by the clock.
#[derive(Debug, Clone)]
pub(crate) enum DueWork {
    /// Of this document
    Of(Key),
    /// Of every document
    All,
    /// Of every document after one, as far as it was due at a time: what one transaction left to the next
    Rest { before: String, after: Due },
}

/// Takes jobs until it is told to stop or every desk handle is gone.
pub(crate) async fn write(shared: Weak<Shared>, mut jobs: mpsc::Receiver<Job>) {
    let mut waiting = VecDeque::new();
    let mut known = None;
    loop {
        if waiting.is_empty() {
            match jobs.recv().await {
                Some(job) => waiting.push_back(job),
                None => return,
            }
        }
        while waiting.len() < MOST_COMMANDS
            && let Ok(job) = jobs.try_recv()
        {
            waiting.push_back(job);
        }
        if let Some(Job::Stop { .. }) = waiting.front() {
            jobs.close();
            if let Some(Job::Stop { reply }) = waiting.pop_front() {
                let _ = reply.send(());
            }
            return;
        }
        let Some(shared) = shared.upgrade() else { return };
        known = commit_some(&shared, &mut waiting, known).await;
    }
}

/// An answer that is held back until the commit.
enum Answer {
    Run(oneshot::Sender<Result<Value, Failure>>, Result<Value, Failure>),
    Expire(oneshot::Sender<Result<(), DeskError>>),
}

/// What was loaded and written as of a head. Journaled state changes only with an entry, so it holds for as long as the
/// head has not moved, whoever else writes.
struct Known {
    head: Head,
    last_at: Option<Millis>,
    view: View,
}

/// Runs waiting jobs in one transaction, commits, and only then answers. Takes what is known of the workspace, and
/// answers what is known of it afterwards.
async fn commit_some(shared: &Shared, waiting: &mut VecDeque<Job>, known: Option<Known>) -> Option<Known> {
    let mut turn = match Turn::begin(shared, known).await {
        Ok(turn) => turn,
        Err(error) => {
            for job in waiting.drain(..) {
                fail(job, &error);
            }
            return None;
        }
    };
    let started = Instant::now();
    let (mut answers, mut rest) = (Vec::new(), Vec::new());
    while let Some(job) = waiting.pop_front() {
        match job {
            Job::Run { principal, command, key, reply } => {
                // Whoever gave up waiting before the command began is taken at their word.
                if !reply.is_closed() {
                    let result = turn.run(&principal, command, key.as_deref()).await;
                    answers.push(Answer::Run(reply, result));
                }
            }
            Job::Expire { of, reply } => match turn.expire_due(of, started).await {
                Ok(None) => answers.push(Answer::Expire(reply)),
                Ok(Some(of)) => rest.push(Job::Expire { of, reply }),
                Err(error) => drop(reply.send(Err(error))),
            },
            stop @ Job::Stop { .. } => {
                waiting.push_front(stop);
                break;
            }
        }
        if started.elapsed() >= MOST_TIME {
            break;
        }
    }
    let (outcome, known) = match turn.commit().await {
        Ok(known) => (Ok(()), known),
        Err(error) => (Err(error), None),
    };
    for answer in answers {
        match (answer, &outcome) {
            (Answer::Run(reply, result), Ok(())) => drop(reply.send(result)),
            // Refusals too: what they rest on may have been decided in this transaction.
            (Answer::Run(reply, _), Err(error)) => drop(reply.send(Err(error.clone().into()))),
            (Answer::Expire(reply), outcome) => drop(reply.send(outcome.clone())),
        }
    }
    for job in rest {
        match &outcome {
            // Behind whatever waits, so that nobody waits for all of it.
            Ok(()) => waiting.push_back(job),
            Err(error) => fail(job, error),
        }
    }
    known
}

fn fail(job: Job, error: &DeskError) {
    match job {
        Job::Run { reply, .. } => drop(reply.send(Err(error.clone().into()))),
        Job::Expire { reply, .. } => drop(reply.send(Err(error.clone()))),
        Job::Stop { reply } => drop(reply.send(())),
    }
}

/// A transaction with what is known of the workspace while it holds the lock.
struct Turn<'a> {
    shared: &'a Shared,
    transaction: Box<dyn Transaction>,
    view: View,
    epoch_id: String,
    head: Head,
    last_at: Option<Millis>,
    now: Millis,
    /// The last entry appended, to find it again if the store does not say whether it committed
    appended: Option<Entry>,
}

impl<'a> Turn<'a> {
    async fn begin(shared: &'a Shared, known: Option<Known>) -> Result<Self, DeskError> {
        let mut transaction = shared.store.begin(&shared.workspace).await?;
        let JournalHead { epoch_id, head, .. } = transaction.head(&shared.workspace, Shared::JOURNAL).await?;
        let clock = transaction.now().await?;
        let known = known.filter(|known| known.head == head && known.view.bytes() <= MOST_KEPT_BYTES);
        let (last_at, view) = match known {
            Some(Known { last_at, mut view, .. }) => {
                // They may have looked into other workspaces, whose heads are not looked at here.
                view.forget_selections();
                (last_at, view)
            }
            None => (time_of_last(&mut *transaction, &shared.workspace, head).await?, View::new()),
        };
        // Time never runs backwards in a journal, whatever the clock does.
        let now = last_at.map_or(clock, |last| last.max(clock));
        Ok(Self { shared, transaction, view, epoch_id, head, last_at, now, appended: None })
    }

    async fn run(&mut self, principal: &Principal, command: Command, key: Option<&str>) -> Result<Value, Failure> {
        let receipt = match key {
            None => None,
            Some(key) => {
                let key = ReceiptKey {
                    principal: principal.id.clone(),
                    established: principal.established.name().into(),
                    key: key.into(),
                };
                let digest = command.digest();
                if let Some(earlier) = self.transaction.receipt(&self.shared.workspace, &key).await? {
                    return repeat(&earlier, digest, &key.key);
                }
                Some((key, digest))
            }
        };
        let fresh = Fresh(self.shared.entropy.draw()?);
        let context = Context { now: self.now, principal, fresh, schemas: &*self.shared.schemas };
        let step = with_view(&mut *self.transaction, &self.shared.workspace, &mut self.view, |view| {
            run(view, &command, &context)
        })
        .await?;
        let receipt = match (&step.outcome.reply, receipt) {
            (Ok(reply), Some((key, command))) => {
                Some((key, Receipt { command, reply: write_compact(reply).into(), at: self.now }))
            }
            _ => None,
        };
        if !step.outcome.facts.is_empty() || receipt.is_some() {
            let mut commit = Commit { receipt, ..Commit::default() };
            if !step.outcome.facts.is_empty() {
                let record = Record::of(command, &context, &step);
                let (draft, blobs) = record.write(&self.shared.workspace, &self.epoch_id, self.shared.entropy.draw()?);
                commit.entries.push((Shared::JOURNAL.into(), draft.seal(&self.head).map_err(DeskError::Entry)?));
                commit.blobs = blobs;
                commit.changes = step.changes;
            }
            self.transaction.write(&self.shared.workspace, &commit).await?;
            self.view.advance(&commit.changes);
            if let Some((_, entry)) = commit.entries.pop() {
                self.head = entry.head();
                self.last_at = Some(self.now);
                self.appended = Some(entry);
            }
        }
        step.outcome.reply.map_err(Failure::Refused)
    }

    /// Does due work for as long as a transaction may take; answers what is left. What cannot be done, because a document
    /// is not of its form for example, stays due and does not keep the rest from being done.
    async fn expire_due(&mut self, of: DueWork, started: Instant) -> Result<Option<DueWork>, DeskError> {
        let (before, mut after) = match of {
            DueWork::Of(key) => return self.expire(&key).await.map(|()| None),
            DueWork::All => (time::format(self.now), None),
            DueWork::Rest { before, after } => (before, Some(after)),
        };
        let limit = u32::try_from(MOST_COMMANDS).unwrap_or(u32::MAX);
        let due = self.transaction.due(&self.shared.workspace, &before, after.as_ref(), limit).await?;
        let is_all = due.len() < MOST_COMMANDS;
        let mut left = due.into_iter();
        for due in left.by_ref() {
            self.expire(&due.key).await?;
            after = Some(due);
            if started.elapsed() >= MOST_TIME {
                break;
            }
        }
        let is_done = is_all && left.next().is_none();
        Ok(after.filter(|_| !is_done).map(|after| DueWork::Rest { before, after }))
    }

    /// Does what has fallen due for a document. Only a failing store ends the round.
    async fn expire(&mut self, key: &Key) -> Result<(), DeskError> {
        let Some(command) = capability::expire_due(key) else { return Ok(()) };
        match self.run(&Principal::desk(), command, None).await {
            Ok(_) | Err(Failure::Refused(_)) => Ok(()),
            Err(Failure::Failed(error @ (DeskError::Corrupt(_) | DeskError::Entry(_) | DeskError::TooMuchToLoad))) => {
                let mut undone = self.shared.undone.lock().unwrap_or_else(PoisonError::into_inner);
                // It stays due and is met again and again; once is enough to say so.
                if undone.insert(key.clone()) {
                    tracing::warn!(kind = key.kind, id = key.id, %error, "work that has fallen due could not be done");
                }
                Ok(())
            }
            Err(Failure::Failed(error)) => Err(error),
        }
    }

    async fn commit(self) -> Result<Option<Known>, DeskError> {
        let Self { shared, transaction, view, head, last_at, appended, .. } = self;
        match (transaction.commit().await, appended) {
            (Ok(()), _) => Ok(Some(Known { head, last_at, view })),
            (Err(error), None) => Err(error.into()),
            (Err(error), Some(entry)) => settle(shared, &entry, error).await.map(|()| None),
        }
    }
}

/// The time of the last entry, from the entry itself: the chain covers that, and nothing beside it.
async fn time_of_last(
    transaction: &mut dyn Transaction,
    workspace: &str,
    head: Head,
) -> Result<Option<Millis>, DeskError> {
    let Some(before) = head.sequence.checked_sub(1) else { return Ok(None) };
    let last = transaction.entries(workspace, Shared::JOURNAL, before, 1).await?;
    let last = last.first().and_then(|last| Entry::read_preimage(&last.preimage, last.hash).ok());
    let time = last.and_then(|last| time::instant(&last.occurred_at));
    time.map(Some).ok_or_else(|| StoreError::Damaged(format!("entry {} can't be read", head.sequence)).into())
}

/// Finds out whether a commit took effect, by whether its last entry is there.
async fn settle(shared: &Shared, entry: &Entry, error: StoreError) -> Result<(), DeskError> {
    tracing::warn!(code = error.code(), "a commit failed; looking whether it took effect");
    let started = Instant::now();
    loop {
        match is_stored(shared, entry).await {
            Ok(true) => return Ok(()),
            Ok(false) => return Err(DeskError::NotCommitted),
            Err(_) if started.elapsed() < SETTLE_TIME => tokio::time::sleep(Duration::from_millis(250)).await,
            Err(_) => return Err(DeskError::Unsettled),
        }
    }
}

async fn is_stored(shared: &Shared, entry: &Entry) -> Result<bool, StoreError> {
    // Taking the lock makes sure that a commit under way elsewhere in the database has ended.
    let mut transaction = shared.store.begin(&shared.workspace).await?;
    let after = entry.sequence.saturating_sub(1);
    let found = transaction.entries(&shared.workspace, Shared::JOURNAL, after, 1).await?;
    Ok(found.first().is_some_and(|found| found.sequence == entry.sequence && found.hash == entry.hash))
}

/// The reply of an earlier command with the same key.
fn repeat(earlier: &Receipt, command: Hash, key: &str) -> Result<Value, Failure> {
    if earlier.command != command {
        let message = format!("the idempotency key `{key}` was used for another command; take a new key");
        return Err(Refusal::new("CONFLICT", message).with("findings", Vec::<Value>::new()).into());
    }
    parse(&earlier.reply, &Limits::STORED)
        .map_err(|_| StoreError::Damaged(format!("the receipt of key `{key}` is not JSON")).into())
}
