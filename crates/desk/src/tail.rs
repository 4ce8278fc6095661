//! The tail of the journal: wakes whoever waits for a document or follows the entries.
//!
//! It is there while somebody listens. Entries of other processes are read by sequence, like one's own, so nobody
//! misses any.

use std::sync::{Arc, Weak};

use bailiwick_core::heart::{Key, capability};
use bailiwick_core::journal::Entry;
use bailiwick_store::StoredEntry;
use tokio::sync::{broadcast, watch};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::DeskError;
use crate::desk::Shared;

/// How many entries are read at a time.
pub(crate) const PAGE: u32 = 256;

/// The running tail. It ends when the last holder lets go.
pub(crate) struct Tail {
    /// What each new entry changes
    touched: broadcast::Sender<Touched>,
    /// The sequence of the last entry seen
    head: watch::Receiver<u64>,
    _stop: DropGuard,
}

/// What an entry changes.
#[derive(Debug, Clone)]
pub(crate) enum Touched {
    /// This document, and maybe others that are announced too
    Document(Arc<Key>),
    /// It does not say what
    Any,
}

impl Tail {
    pub(crate) fn touched(&self) -> broadcast::Receiver<Touched> {
        self.touched.subscribe()
    }

    pub(crate) fn head(&self) -> watch::Receiver<u64> {
        self.head.clone()
    }

    /// The running tail, or a new one.
    pub(crate) async fn of(shared: &Arc<Shared>) -> Result<Arc<Self>, DeskError> {
        let mut running = shared.tail.lock().await;
        if let Some(tail) = running.upgrade() {
            return Ok(tail);
        }
        // The watch begins before the head is read, so that no commit falls between.
        let changes = shared.store.watch();
        let seen = shared.head().await?.head.sequence;
        let (touched, _) = broadcast::channel(4096);
        let (head, head_seen) = watch::channel(seen);
        let stop = CancellationToken::new();
        let task = run(Arc::downgrade(shared), changes, touched.clone(), head, stop.clone());
        tokio::spawn(task);
        let tail = Arc::new(Self { touched, head: head_seen, _stop: stop.drop_guard() });
        *running = Arc::downgrade(&tail);
        Ok(tail)
    }
}

async fn run(
    shared: Weak<Shared>,
    mut changes: watch::Receiver<u64>,
    touched: broadcast::Sender<Touched>,
    head: watch::Sender<u64>,
    stop: CancellationToken,
) {
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            changed = changes.changed() => if changed.is_err() { return },
        }
        let Some(shared) = shared.upgrade() else { return };
        if let Err(error) = catch_up(&shared, &touched, &head).await {
            // The next change, or the listeners' own look now and then, makes up for it.
            tracing::warn!(code = error.code(), "could not read new journal entries");
        }
    }
}

async fn catch_up(
    shared: &Shared,
    touched: &broadcast::Sender<Touched>,
    head: &watch::Sender<u64>,
) -> Result<(), DeskError> {
    loop {
        let after = *head.borrow();
        let entries = shared.entries(after, PAGE).await?;
        let Some(last) = entries.last().map(|entry| entry.sequence) else { return Ok(()) };
        for entry in &entries {
            for touched_by_entry in touched_by(entry) {
                // Nobody listening is fine.
                let _ = touched.send(touched_by_entry);
            }
        }
        head.send_replace(last);
        if entries.len() < usize::try_from(PAGE).unwrap_or(usize::MAX) {
            return Ok(());
        }
    }
}

fn touched_by(entry: &StoredEntry) -> Vec<Touched> {
    let entry = Entry::read_preimage(&entry.preimage, entry.hash).ok();
    match entry.as_ref().and_then(capability::touched) {
        Some(keys) => keys.into_iter().map(|key| Touched::Document(Arc::new(key))).collect(),
        None => vec![Touched::Any],
    }
}
