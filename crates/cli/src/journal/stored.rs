//! Verifying the journal of a store: the chain, every decision, and that the documents are what the journal makes
//! of them.

use bailiwick_desk::{Desk, DeskError, HeadCheck};

use super::progress::Progress;
use super::verdict::{Verdict, Wrong};

/// Verifies everything that a desk keeps.
pub(crate) async fn verify_desk(desk: &Desk) -> Result<Verdict, DeskError> {
    let all = desk.head().await?.head.sequence;
    let mut progress = Progress::new();
    let found = desk.verify(|done| progress.at(done, all, "entries")).await?;
    let mut verdict = Verdict::of_chain(&found.chain);
    verdict.workspace = Some(desk.workspace().to_owned());
    if found.false_blobs > 0 {
        let message =
            format!("{} of the texts beside the journal hold something else than was written", found.false_blobs);
        verdict.fail(Wrong::new("blob_mismatch", None, message));
    }
    let head = match found.head {
        HeadCheck::Same => None,
        HeadCheck::OtherEpoch => Some("the store names another epoch for the journal than its entries carry"),
        HeadCheck::OtherTime => Some("the store names another time for the last entry than the entry itself"),
    };
    if let Some(message) = head {
        verdict.fail(Wrong::new("head_mismatch", None, message));
    }
    verdict.take_replay(found.decisions);
    if let Some(key) = found.first_document_difference {
        let message = format!(
            "the document `{}` of kind `{}` or its index entries are not what the journal makes of them",
            key.id, key.kind
        );
        verdict.fail(Wrong::new("document_differs", None, message));
    }
    verdict.documents = Some(found.documents);
    Ok(verdict)
}
