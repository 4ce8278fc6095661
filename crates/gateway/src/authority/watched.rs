//! Files that are read again when they have changed.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

/// A file whose content stands for a value.
pub(super) struct Watched<T> {
    path: PathBuf,
    most_bytes: usize,
    seen: Mutex<Option<Seen<T>>>,
}

struct Seen<T> {
    changed: Option<SystemTime>,
    length: u64,
    value: T,
}

impl<T: Clone> Watched<T> {
    /// A file of so many bytes at most.
    pub(super) const fn new(path: PathBuf, most_bytes: usize) -> Self {
        Self { path, most_bytes, seen: Mutex::new(None) }
    }

    /// What the file stands for now. `read` makes it from the text and from what it stood for before.
    ///
    /// # Errors
    ///
    /// What keeps the file from being read, or what `read` says; then the next call tries again.
    pub(super) fn value(&self, read: impl FnOnce(&[u8], Option<&T>) -> Result<T, String>) -> Result<T, String> {
        let named = |why: String| format!("`{}`: {why}", self.path.display());
        let about = fs::metadata(&self.path).map_err(|error| named(error.to_string()))?;
        let (changed, length) = (about.modified().ok(), about.len());
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(seen) = seen.as_ref().filter(|seen| seen.changed == changed && seen.length == length)
            && changed.is_some_and(is_settled)
        {
            return Ok(seen.value.clone());
        }
        let text = read_file(&self.path, self.most_bytes).map_err(named)?;
        let value = read(&text, seen.as_ref().map(|seen| &seen.value)).map_err(named)?;
        *seen = Some(Seen { changed, length, value: value.clone() });
        Ok(value)
    }
}

/// A file that was written a moment ago can be written again without its time showing it.
fn is_settled(changed: SystemTime) -> bool {
    changed.elapsed().is_ok_and(|age| age.as_secs() >= 2)
}

/// Reads a file of so many bytes at most.
pub(super) fn read_file(path: &Path, most_bytes: usize) -> Result<Vec<u8>, String> {
    let mut text = Vec::new();
    let most = u64::try_from(most_bytes).unwrap_or(u64::MAX);
    let file = fs::File::open(path).map_err(|error| error.to_string())?;
    file.take(most.saturating_add(1)).read_to_end(&mut text).map_err(|error| error.to_string())?;
    match text.len() > most_bytes {
        true => Err(format!("it has more than {most_bytes} bytes")),
        false => Ok(text),
    }
}
