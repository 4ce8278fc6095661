//! Verifying the journal of a store: the chain, every decision, and that the documents are what the journal makes
//! of them.

use bailiwick_desk::{Desk, DeskError};

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
    verdict.take_replay(found.decisions);
    if let Some(key) = found.first_document_difference {
        let message = format!("the document `{}` of kind `{}` is not what the journal makes of it", key.id, key.kind);
        verdict.fail(Wrong::new("document_differs", None, message));
    }
    verdict.documents = Some(found.documents);
    Ok(verdict)
}
