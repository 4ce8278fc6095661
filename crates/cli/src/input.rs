//! Files and standard input.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use bailiwick_core::json::{Limits, Value, parse};

use crate::failure::{Failure, cause};

/// Something to read: a file, or standard input for `-`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Input {
    Standard,
    File(PathBuf),
}

impl From<PathBuf> for Input {
    fn from(path: PathBuf) -> Self {
        if path == Path::new("-") { Self::Standard } else { Self::File(path) }
    }
}

impl fmt::Display for Input {
    /// As on the command line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Standard => f.write_str("-"),
            Self::File(path) => path.display().fmt(f),
        }
    }
}

impl Input {
    /// Opens it for reading piece by piece.
    pub(crate) fn open(&self) -> Result<Box<dyn Read>, Failure> {
        match self {
            Self::Standard => Ok(Box::new(io::stdin().lock())),
            Self::File(path) => match File::open(path) {
                Ok(file) => Ok(Box::new(file)),
                Err(error) => Err(self.unreadable(&error)),
            },
        }
    }

    /// Reads all of it, `most` bytes at most.
    pub(crate) fn read(&self, most: usize) -> Result<Vec<u8>, Failure> {
        let mut bytes = Vec::new();
        // One byte more than allowed tells that there is more.
        let limit = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
        let read = self.open()?.take(limit).read_to_end(&mut bytes);
        read.map_err(|error| self.unreadable(&error))?;
        if bytes.len() > most {
            return Err(Failure::usage(format!("`{self}` is too long, at most {most} bytes are accepted")));
        }
        Ok(bytes)
    }

    /// Reads a document as the rules read it (`spec work-orders §6.5`).
    pub(crate) fn read_document(&self) -> Result<Value, Failure> {
        self.read_json(&Limits::DOCUMENT)
    }

    /// Reads one JSON text.
    pub(crate) fn read_json(&self, limits: &Limits) -> Result<Value, Failure> {
        parse(&self.read(limits.bytes)?, limits).map_err(|error| Failure::usage(format!("`{self}` {error}")))
    }

    /// The failure to report when reading stops.
    pub(crate) fn unreadable(&self, error: &io::Error) -> Failure {
        match self {
            Self::Standard => Failure::usage(format!("standard input cannot be read: {}", cause(error))),
            Self::File(path) => Failure::usage(format!("`{}` cannot be read: {}", path.display(), cause(error))),
        }
    }
}

/// Refuses to read standard input twice.
pub(crate) fn check_standard_once<'a>(inputs: impl IntoIterator<Item = &'a Input>) -> Result<(), Failure> {
    match inputs.into_iter().filter(|input| **input == Input::Standard).count() {
        0 | 1 => Ok(()),
        _ => Err(Failure::usage("standard input (`-`) can be read only once")),
    }
}
