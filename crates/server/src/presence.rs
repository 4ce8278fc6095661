//! Who was last seen when: *passing* state, kept in memory only.
//!
//! Somebody is seen by making a request here, by REST or MCP, or by acting anywhere on the same store, which the
//! journal tells. The journal is read when somebody asks, and no further back than a few thousand entries, so nothing
//! is kept running for it.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use bailiwick_core::journal::Entry;
use bailiwick_core::time::{self, Millis};
use bailiwick_desk::{Desk, DeskError};

/// How many are remembered; whoever was not seen for longest is forgotten first.
const MOST_SEEN: usize = 10_000;
/// How far back the journal is read.
const MOST_READ: u64 = 4_096;
/// How many entries are read at a time.
const PAGE: u32 = 256;

/// Who was last seen when.
#[derive(Default)]
pub(crate) struct Presence {
    seen: Mutex<HashMap<String, Millis>>,
    /// The sequence up to which the journal was read. Whoever reads on holds it.
    read: tokio::sync::Mutex<u64>,
}

impl Presence {
    /// Somebody makes a request, now.
    pub(crate) fn greet(&self, id: &str) {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        self.note(id, Millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX)));
    }

    /// When somebody was last seen.
    pub(crate) fn last_seen(&self, id: &str) -> Option<Millis> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).get(id).copied()
    }

    /// Takes note of who has acted since the journal was last read.
    ///
    /// # Errors
    ///
    /// [`DeskError`] if the store fails.
    pub(crate) async fn catch_up(&self, desk: &Desk) -> Result<(), DeskError> {
        let mut read = self.read.lock().await;
        let head = desk.head().await?.head.sequence;
        let mut after = head.saturating_sub(MOST_READ).max(*read);
        while after < head {
            let entries = desk.entries(after, PAGE).await?;
            let Some(last) = entries.last() else { break };
            after = last.sequence;
            for stored in &entries {
                // Damage is for verification to find.
                let entry = Entry::read_preimage(&stored.preimage, stored.hash).ok();
                if let Some((entry, at)) =
                    entry.and_then(|entry| time::instant(&entry.occurred_at).map(|at| (entry, at)))
                {
                    self.note(&entry.actor, at);
                }
            }
            *read = after;
        }
        Ok(())
    }

    fn note(&self, id: &str, at: Millis) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(last) = seen.get_mut(id) {
            *last = at.max(*last);
            return;
        }
        if seen.len() >= MOST_SEEN {
            let longest = seen.iter().min_by_key(|(_, at)| **at).map(|(id, _)| id.clone());
            longest.map(|id| seen.remove(&id));
        }
        seen.insert(id.into(), at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_counts_and_the_longest_unseen_are_forgotten() {
        let presence = Presence::default();
        presence.note("a", Millis(5));
        presence.note("a", Millis(3));
        assert_eq!(presence.last_seen("a"), Some(Millis(5)));
        for number in 0..10_000 {
            presence.note(&format!("b{number}"), Millis(10 + number));
        }
        assert_eq!((presence.last_seen("a"), presence.last_seen("b0")), (None, Some(Millis(10))));
        presence.greet("c");
        assert!(presence.last_seen("c") > Some(Millis(1_700_000_000_000)));
        assert_eq!(presence.last_seen("b0"), None);
    }
}
