//! Verifying a workspace from its own store: the chain, every decision, every document.

use std::collections::HashMap;

use bailiwick_core::hash::{Hash, hex};
use bailiwick_core::heart::replay::{Replay, ReplayReport};
use bailiwick_core::heart::{BlobReader, Key, Memory, Stored, blob_references};
use bailiwick_core::journal::export::blob_digest;
use bailiwick_core::journal::{Entry, Report, StoredHead, Verifier};
use bailiwick_core::time;
use bailiwick_store::{JournalHead, Snapshot, StoredEntry, found_by};

use crate::desk::Shared;
use crate::tail::PAGE;
use crate::{Desk, DeskError, renewal, sign_in};

/// What verification of a workspace found.
#[derive(Debug, Clone)]
pub struct Verification {
    /// The hash chain
    pub chain: Report,
    /// The decisions, made again
    pub decisions: ReplayReport,
    /// Whether what the store says of the journal beside its entries, the epoch and the time of the last one, is what
    /// the entries say
    pub head: HeadCheck,
    /// Blobs that are not what the entries' digests say
    pub false_blobs: u64,
    /// The first document that is not what the journal gives; `None` in it when all are
    pub first_document_difference: Option<Key>,
    /// How many documents were compared
    pub documents: u64,
}

/// Whether a journal's head is told as its entries tell it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeadCheck {
    /// It is
    Same,
    /// The store names another epoch
    OtherEpoch,
    /// The store names another time for the last entry
    OtherTime,
}

impl Verification {
    /// Whether nothing is wrong.
    pub fn is_ok(&self) -> bool {
        self.chain.ok
            && self.decisions.first_difference.is_none()
            && self.false_blobs == 0
            && self.head == HeadCheck::Same
            && self.first_document_difference.is_none()
    }
}

impl Desk {
    /// Verifies the whole workspace in one consistent view: recomputes every hash, makes every decision again, and
    /// compares every document with what the journal gives. `progress` is told how many entries are done.
    ///
    /// # Errors
    ///
    /// [`DeskError`] if the store fails.
    pub async fn verify(&self, mut progress: impl FnMut(u64)) -> Result<Verification, DeskError> {
        let (shared, mut snapshot) = (self.shared(), self.shared().store.snapshot().await?);
        let snapshot = &mut *snapshot;
        let stored = snapshot.head(&shared.workspace, Shared::JOURNAL).await?;
        let head = stored.head;
        let mut last_entry = None;
        let (mut chain, mut replay) = (Verifier::new(), Replay::new(&*shared.schemas));
        let (mut after, mut false_blobs) = (0, 0);
        loop {
            let entries = snapshot.entries(&shared.workspace, Shared::JOURNAL, after, PAGE).await?;
            let Some(last) = entries.last() else { break };
            after = last.sequence;
            last_entry = Entry::read_preimage(&last.preimage, last.hash).ok();
            false_blobs += replay_page(shared, snapshot, &entries, &mut chain, &mut replay).await?;
            progress(after);
        }
        let stored_hash = hex(&head.hash);
        let chain = chain.finish(Some(&StoredHead { sequence: head.sequence, hash: &stored_hash }));
        let (decisions, memory) = replay.finish();
        let (first_document_difference, documents) = compare(shared, snapshot, &memory).await?;
        let head = check_head(&stored, last_entry.as_ref());
        Ok(Verification { chain, decisions, head, false_blobs, first_document_difference, documents })
    }
}

fn check_head(stored: &JournalHead, last: Option<&Entry>) -> HeadCheck {
    match last {
        Some(last) if last.epoch_id != stored.epoch_id => HeadCheck::OtherEpoch,
        Some(last) if time::instant(&last.occurred_at) != stored.last_at => HeadCheck::OtherTime,
        _ => HeadCheck::Same,
    }
}

/// Verifies and replays a page of entries; answers how many of their blobs are false.
async fn replay_page(
    shared: &Shared,
    snapshot: &mut (dyn Snapshot + '_),
    entries: &[StoredEntry],
    chain: &mut Verifier,
    replay: &mut Replay<'_>,
) -> Result<u64, DeskError> {
    let parsed: Vec<Option<Entry>> =
        entries.iter().map(|entry| Entry::read_preimage(&entry.preimage, entry.hash).ok()).collect();
    let digests: Vec<Hash> = parsed.iter().flatten().flat_map(|entry| blob_references(&entry.payload)).collect();
    let found = snapshot.blobs(&shared.workspace, &digests).await?;
    let mut false_blobs = 0;
    let mut blobs = HashMap::new();
    for blob in found.into_iter().flatten() {
        if blob_digest(&blob.salt, &blob.bytes) == blob.digest {
            blobs.insert(hex(&blob.digest), blob.bytes);
        } else {
            false_blobs += 1;
        }
    }
    let find = |digest: &str| blobs.get(digest).cloned();
    for (stored, entry) in entries.iter().zip(&parsed) {
        // A failure is in the report; what follows it is not looked at.
        if chain.push_preimage(&stored.preimage, &stored.hash).is_err() {
            break;
        }
        if let Some(entry) = entry {
            replay.push(entry, &BlobReader::new(&find));
        }
    }
    Ok(false_blobs)
}

/// Compares every journaled document, and how it can be found, with the journal's; answers the first that differs, and
/// how many there are. Durable documents are no part of what the journal proves.
async fn compare(
    shared: &Shared,
    snapshot: &mut (dyn Snapshot + '_),
    memory: &Memory,
) -> Result<(Option<Key>, u64), DeskError> {
    let mut index = memory.index();
    let mut expected = memory.documents().peekable();
    let mut after: Option<Key> = None;
    let mut compared = 0;
    loop {
        let page = snapshot.all_documents(&shared.workspace, after.as_ref(), PAGE).await?;
        let Some(last) = page.last() else { break };
        after = Some(last.key.clone());
        for stored in page.iter().filter(|stored| !is_durable(&stored.key)) {
            compared += 1;
            match expected.next() {
                Some(wanted) if wanted == stored => {
                    let mut found = snapshot.index_of(&shared.workspace, &stored.key).await?;
                    found.sort();
                    let wanted = index.remove(&stored.key).unwrap_or_default().into_iter();
                    let kept = |(name, value, sort): (_, String, _)| (name, found_by(&value), sort);
                    let mut wanted: Vec<_> = wanted.map(kept).collect();
                    wanted.sort();
                    if found != wanted {
                        return Ok((Some(stored.key.clone()), compared));
                    }
                }
                wanted => return Ok((Some(first_of(wanted, stored)), compared)),
            }
        }
    }
    Ok((expected.next().map(|missing| missing.key.clone()), compared))
}

fn is_durable(key: &Key) -> bool {
    key.kind == renewal::KIND || sign_in::KINDS.contains(&key.kind.as_str())
}

fn first_of(wanted: Option<&Stored>, stored: &Stored) -> Key {
    match wanted {
        Some(wanted) if wanted.key < stored.key => wanted.key.clone(),
        _ => stored.key.clone(),
    }
}
