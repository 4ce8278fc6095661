//! The tail of the journal: wakes whoever waits for a document or follows the entries.
//!
//! It is there while somebody listens. Entries of other processes are read by sequence, like one's own, so nobody
//! misses any.

use std::sync::{Arc, Weak};

use bailiwick_store::StoredEntry;
use tokio::sync::{broadcast, watch};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::DeskError;
use crate::desk::Shared;

/// How many entries are read at a time.
pub(crate) const PAGE: u32 = 256;

/// The running tail. It ends when the last holder lets go.
pub(crate) struct Tail {
    /// The id of what each new entry is about
    entities: broadcast::Sender<Arc<str>>,
    /// The sequence of the last entry seen
    head: watch::Receiver<u64>,
    _stop: DropGuard,
}

impl Tail {
    pub(crate) fn entities(&self) -> broadcast::Receiver<Arc<str>> {
        self.entities.subscribe()
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
        let (entities, _) = broadcast::channel(4096);
        let (head, head_seen) = watch::channel(seen);
        let stop = CancellationToken::new();
        let task = run(Arc::downgrade(shared), changes, entities.clone(), head, stop.clone());
        tokio::spawn(task);
        let tail = Arc::new(Self { entities, head: head_seen, _stop: stop.drop_guard() });
        *running = Arc::downgrade(&tail);
        Ok(tail)
    }
}

async fn run(
    shared: Weak<Shared>,
    mut changes: watch::Receiver<u64>,
    entities: broadcast::Sender<Arc<str>>,
    head: watch::Sender<u64>,
    stop: CancellationToken,
) {
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            changed = changes.changed() => if changed.is_err() { return },
        }
        let Some(shared) = shared.upgrade() else { return };
        if let Err(error) = catch_up(&shared, &entities, &head).await {
            // The next change, or the listeners' own look now and then, makes up for it.
            tracing::warn!(code = error.code(), "could not read new journal entries");
        }
    }
}

async fn catch_up(
    shared: &Shared,
    entities: &broadcast::Sender<Arc<str>>,
    head: &watch::Sender<u64>,
) -> Result<(), DeskError> {
    loop {
        let after = *head.borrow();
        let entries = shared.entries(after, PAGE).await?;
        let Some(last) = entries.last().map(|entry| entry.sequence) else { return Ok(()) };
        for entry in &entries {
            if let Some(entity) = entity_of(entry) {
                // Nobody listening is fine.
                let _ = entities.send(entity);
            }
        }
        head.send_replace(last);
        if entries.len() < usize::try_from(PAGE).unwrap_or(usize::MAX) {
            return Ok(());
        }
    }
}

fn entity_of(entry: &StoredEntry) -> Option<Arc<str>> {
    use bailiwick_core::json::{Limits, parse};
    parse(&entry.preimage, &Limits::STORED).ok()?.get("entity_id")?.as_str().map(Arc::from)
}
