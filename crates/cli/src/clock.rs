//! The machine's clock.

use std::time::{SystemTime, UNIX_EPOCH};

use bailiwick_core::time::{self, Millis};

use crate::failure::Failure;

/// What it shows. Before 1970 or after the year 9999 it is moved to the nearest time that can be written.
pub(crate) fn now() -> Millis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX).min(Millis::LAST.0))
}

/// The time of `--now`, or what the clock shows.
pub(crate) fn now_or(given: Option<&str>) -> Result<Millis, Failure> {
    let Some(text) = given else { return Ok(now()) };
    time::instant(text).ok_or_else(|| {
        Failure::usage(format!("`--now` is `{text}`, accepted is a timestamp such as `2026-01-31T09:00:00Z`"))
    })
}
