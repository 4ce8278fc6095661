//! Loading what a decision asks for.

use bailiwick_core::heart::{Need, View, ViewError};
use bailiwick_store::Snapshot;

use crate::DeskError;

/// How often one decision may ask for more.
const MOST_ROUNDS: usize = 256;

/// Calls until the view holds all that is needed.
pub(crate) async fn with_view<T>(
    snapshot: &mut (dyn Snapshot + '_),
    workspace: &str,
    view: &mut View,
    mut call: impl FnMut(&View) -> Result<T, ViewError>,
) -> Result<T, DeskError> {
    for _ in 0..MOST_ROUNDS {
        match call(view) {
            Ok(result) => return Ok(result),
            Err(ViewError::Corrupt(corrupt)) => return Err(DeskError::Corrupt(corrupt)),
            Err(ViewError::NotLoaded(need)) => load(snapshot, workspace, view, need).await?,
        }
    }
    Err(DeskError::TooMuchToLoad)
}

async fn load(
    snapshot: &mut (dyn Snapshot + '_),
    workspace: &str,
    view: &mut View,
    need: Need,
) -> Result<(), DeskError> {
    match need {
        Need::Documents(keys) => {
            let found = snapshot.documents(workspace, &keys).await?;
            for (key, stored) in keys.into_iter().zip(found) {
                view.load(key, stored);
            }
        }
        Need::Selection(select) => {
            let found = snapshot.select(workspace, &select).await?;
            view.load_selection(*select, found);
        }
        Need::Count(select) => {
            let count = snapshot.count(workspace, &select).await?;
            view.load_count(*select, count);
        }
    }
    Ok(())
}
