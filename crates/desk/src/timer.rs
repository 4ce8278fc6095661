//! Due work gets done by itself: expiry and whatever else falls due by the clock.
//!
//! Every process has a timer; the first to come does the work, and for the others it is no longer due.

use std::sync::Weak;
use std::time::Duration;

use bailiwick_core::time;
use tokio_util::sync::CancellationToken;

use crate::DeskError;
use crate::desk::Shared;
use crate::writer::DueWork;

/// How often to look.
const PERIOD: Duration = Duration::from_secs(1);

pub(crate) async fn run(shared: Weak<Shared>, stop: CancellationToken) {
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(PERIOD) => {}
        }
        let Some(shared) = shared.upgrade() else { return };
        if let Err(error) = look(&shared).await {
            tracing::warn!(code = error.code(), "could not do due work; trying again");
        }
    }
}

async fn look(shared: &Shared) -> Result<(), DeskError> {
    let mut snapshot = shared.store.snapshot().await?;
    let now = time::format(snapshot.now().await?);
    let due = snapshot.due(&shared.workspace, &now, None, 1).await?;
    drop(snapshot);
    if due.is_empty() { Ok(()) } else { shared.expire_due(DueWork::All).await }
}
