//! What went wrong and what to do about it, in two sentences for the person at the terminal.

use std::fmt;

/// A step that did not work out.
#[derive(Debug)]
pub(crate) struct Failure {
    what: String,
    next: Option<String>,
}

impl Failure {
    /// `what` says what failed, naming the command or file at fault.
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self { what: what.into(), next: None }
    }

    /// Adds what the reader can do now.
    pub(crate) fn next(mut self, next: impl Into<String>) -> Self {
        self.next = Some(next.into());
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.what)?;
        match &self.next {
            Some(next) => write!(f, "\n       next: {next}"),
            None => Ok(()),
        }
    }
}
