//! Telling whoever watches that something was committed, and looking for it only while somebody watches.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::time::timeout;

/// Rings after commits.
pub(crate) struct Bell {
    rings: watch::Sender<u64>,
    /// Wakes the one task that listens to the database
    listener: Notify,
    closed: AtomicBool,
}

impl Bell {
    pub(crate) fn new() -> Self {
        Self { rings: watch::Sender::new(0), listener: Notify::new(), closed: AtomicBool::new(false) }
    }

    /// Tells everybody that something was committed.
    pub(crate) fn ring(&self) {
        self.rings.send_modify(|rings| *rings += 1);
    }

    /// Somebody who wants to be told.
    pub(crate) fn subscribe(&self) -> watch::Receiver<u64> {
        let receiver = self.rings.subscribe();
        self.listener.notify_one();
        receiver
    }

    /// Whether anybody wants to be told.
    pub(crate) fn is_wanted(&self) -> bool {
        self.rings.receiver_count() > 0 && !self.closed.load(Ordering::Acquire)
    }

    /// Waits until somebody wants to be told: `true`. Or until the store is closed: `false`.
    pub(crate) async fn wanted(&self) -> bool {
        loop {
            if self.closed.load(Ordering::Acquire) {
                return false;
            }
            if self.rings.receiver_count() > 0 {
                return true;
            }
            self.listener.notified().await;
        }
    }

    /// Waits for a while, or less when the store is closed or somebody begins to watch.
    pub(crate) async fn pause(&self, duration: Duration) {
        let _ = timeout(duration, self.listener.notified()).await;
    }

    /// Lets the listening task end.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::Release);
        self.listener.notify_one();
    }
}
