//! How far long work is, on a terminal.

use std::io::{IsTerminal, Write, stderr};
use std::time::{Duration, Instant};

/// Says how far the work is, now and then, if standard error is a terminal.
pub(super) struct Progress {
    next: Option<Instant>,
    shown: bool,
}

const INTERVAL: Duration = Duration::from_millis(200);

impl Progress {
    pub(super) fn new() -> Self {
        let next = stderr().is_terminal().then(|| Instant::now() + INTERVAL);
        Self { next, shown: false }
    }

    /// So much is done.
    pub(super) fn at(&mut self, done: u64, all: u64, noun: &str) {
        let Some(next) = self.next else { return };
        let now = Instant::now();
        if now >= next {
            self.next = Some(now + INTERVAL);
            self.shown = true;
            // Nothing depends on whether it is seen.
            let _ = write!(stderr(), "\r\x1b[K{done} of {all} {noun}");
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.shown {
            let _ = write!(stderr(), "\r\x1b[K");
        }
    }
}
