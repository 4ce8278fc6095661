//! The journal as a file (`bailiwick.journal-export/1`), written as it is read: memory does not grow with it.

use bailiwick_core::hash::{Hash, hex};
use bailiwick_core::heart::blob_references;
use bailiwick_core::journal::export::{write_blob_line, write_entry_line};
use bailiwick_core::journal::{Entry, Header, Journal};
use bailiwick_store::{StoreError, StoredEntry};
use tokio_stream::Stream;

use crate::desk::Shared;
use crate::{Desk, DeskError};

/// How many entries have their blobs held at once: few, as a blob may be large.
const AT_ONCE: u32 = 16;

/// A piece of an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportPart {
    /// Whole lines
    pub bytes: Vec<u8>,
    /// How many entries are written with this piece
    pub done: u64,
    /// How many entries the export will have
    pub of: u64,
}

impl Desk {
    /// The journal as it stands when the first piece is asked for; entries that come meanwhile are left for the next
    /// export. Erased blobs are left out; damage is exported as it is, for a verifier to find. Ends with the first
    /// error, and is then shorter than its header says.
    pub fn export(&self) -> impl Stream<Item = Result<ExportPart, DeskError>> + Send + use<> {
        let shared = std::sync::Arc::clone(self.shared());
        async_stream::try_stream! {
            let head = shared.head().await?.head;
            let of = head.sequence;
            let mut bytes = Vec::new();
            let header = Header {
                workspace_id: shared.workspace.clone(),
                journal: Journal::Decisions,
                head_sequence: of,
                head_hash: hex(&head.hash),
            };
            header.write_line(&mut bytes);
            let mut done = 0;
            yield ExportPart { bytes, done, of };
            while done < of {
                let entries = shared.entries(done, AT_ONCE).await?;
                let entries: Vec<_> = entries.into_iter().filter(|entry| entry.sequence <= of).collect();
                done = match entries.last() {
                    Some(last) => last.sequence,
                    None => Err(StoreError::Damaged(format!("the journal ends after entry {done}, its head says {of}")))?,
                };
                let bytes = lines(&shared, &entries).await?;
                yield ExportPart { bytes, done, of };
            }
        }
    }
}

/// The lines of some entries, each after its blobs.
async fn lines(shared: &Shared, entries: &[StoredEntry]) -> Result<Vec<u8>, DeskError> {
    let named: Vec<Vec<Hash>> = entries.iter().map(blobs_of).collect();
    let mut found = shared.store.snapshot().await?.blobs(&shared.workspace, &named.concat()).await?.into_iter();
    let mut bytes = Vec::new();
    for (entry, named) in entries.iter().zip(named) {
        for blob in found.by_ref().take(named.len()).flatten() {
            write_blob_line(&blob.digest, &blob.salt, &blob.bytes, &mut bytes);
        }
        write_entry_line(&entry.preimage, &entry.hash, &mut bytes);
    }
    Ok(bytes)
}

/// The blobs that an entry names; none of an entry that can't be read.
fn blobs_of(entry: &StoredEntry) -> Vec<Hash> {
    Entry::read_preimage(&entry.preimage, entry.hash)
        .map_or_else(|_| Vec::new(), |entry| blob_references(&entry.payload))
}
