//! What SQLite's failures mean to a desk.

use std::path::Path;

use sqlx::Error;

use crate::StoreError;

/// The primary result codes (`sqlite.org/rescode.html`) that are told apart.
mod code {
    pub(super) const BUSY: i32 = 5;
    pub(super) const LOCKED: i32 = 6;
    pub(super) const READONLY: i32 = 8;
    pub(super) const IOERR: i32 = 10;
    pub(super) const CORRUPT: i32 = 11;
    pub(super) const FULL: i32 = 13;
    pub(super) const CANTOPEN: i32 = 14;
    pub(super) const CONSTRAINT: i32 = 19;
    pub(super) const NOTADB: i32 = 26;
    /// The extended code of a violated foreign key
    pub(super) const FOREIGN_KEY: i32 = 787;
}

/// SQLite's extended result code.
fn extended(error: &Error) -> Option<i32> {
    error.as_database_error()?.code()?.parse().ok()
}

fn primary(error: &Error) -> Option<i32> {
    extended(error).map(|code| code & 0xff)
}

/// Whether somebody else holds the lock.
pub(super) fn is_busy(error: &Error) -> bool {
    matches!(primary(error), Some(code::BUSY | code::LOCKED))
}

/// Whether the file contradicts itself.
pub(super) fn is_malformed(error: &Error) -> bool {
    primary(error) == Some(code::CORRUPT)
}

/// What a failure means.
pub(super) fn failure(path: &Path, error: Error) -> StoreError {
    let at = path.display();
    let said = said(&error);
    match primary(&error) {
        Some(code::BUSY | code::LOCKED) => StoreError::Unavailable(format!(
            "another process holds the lock of `{at}` ({said}); end it or wait, then try again"
        )),
        Some(code::READONLY) => StoreError::NotWritable(format!(
            "`{at}` or its folder is read-only ({said}); give this user write access to both"
        )),
        Some(code::CANTOPEN) => StoreError::NotWritable(format!(
            "`{at}` or a file beside it can't be opened ({said}); give this user write access to its folder"
        )),
        Some(code::FULL) => StoreError::NotWritable(format!(
            "there is no room left for `{at}` ({said}); free some space or raise the size limit"
        )),
        Some(code::IOERR) => StoreError::NotWritable(format!(
            "the system failed to read or write `{at}` ({said}); check the disk and the space left"
        )),
        Some(code::CORRUPT) => StoreError::Damaged(format!("`{at}` is malformed ({said}); restore a backup")),
        Some(code::NOTADB) => StoreError::Foreign(format!("`{at}` is not a SQLite database; name another file")),
        Some(code::CONSTRAINT) if extended(&error) == Some(code::FOREIGN_KEY) => {
            StoreError::Missing("workspace, journal or document that was referred to".into())
        }
        Some(code::CONSTRAINT) => StoreError::Conflict(format!("what is written exists already ({said})")),
        Some(_) => StoreError::Damaged(format!("`{at}` refused a statement ({said})")),
        None => connection(path, error),
    }
}

/// An error in SQLite's own words.
fn said(error: &Error) -> String {
    match (error.as_database_error(), extended(error)) {
        (Some(error), Some(code)) => format!("{}, code {code}", error.message()),
        _ => error.to_string(),
    }
}

/// A failure that is not SQLite's own.
fn connection(path: &Path, error: Error) -> StoreError {
    let at = path.display();
    match error {
        Error::PoolTimedOut => {
            StoreError::Unavailable(format!("every connection of this process to `{at}` is busy; try again later"))
        }
        Error::PoolClosed => StoreError::Unavailable(format!("`{at}` was closed")),
        error => StoreError::Unavailable(format!("the connection to `{at}` failed: {error}")),
    }
}

/// What a failed commit means: only some failures say that nothing was committed.
pub(super) fn commit_failure(path: &Path, error: Error) -> StoreError {
    match primary(&error) {
        Some(code::BUSY | code::LOCKED | code::READONLY | code::FULL | code::CONSTRAINT) => failure(path, error),
        _ => StoreError::CommitUnknown(format!("`{}`: {}", path.display(), said(&error))),
    }
}
