//! How a store is opened.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bailiwick_core::time::Millis;

/// How a store is opened.
#[derive(Clone)]
pub struct Options {
    /// The store's clock; `None` for the system's on SQLite, the server's on PostgreSQL. For tests.
    pub clock: Option<Arc<dyn Clock>>,
    /// How long to wait for a lock that another process holds. When processes start together, three times as long.
    pub lock_timeout: Duration,
    /// How large a SQLite file may grow, in bytes; `None` for as large as the disk allows
    pub size_limit_bytes: Option<u64>,
}

/// Tells the time.
pub trait Clock: Send + Sync + 'static {
    /// Now.
    fn now(&self) -> Millis;
}

/// The system's clock.
#[derive(Debug, Clone, Copy)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Millis {
        let since = |elapsed: Duration| i64::try_from(elapsed.as_millis()).unwrap_or(i64::MAX);
        Millis(match SystemTime::now().duration_since(SystemTime::UNIX_EPOCH) {
            Ok(elapsed) => since(elapsed),
            Err(before) => -since(before.duration()),
        })
    }
}

impl Default for Options {
    fn default() -> Self {
        Self { clock: None, lock_timeout: Duration::from_secs(5), size_limit_bytes: None }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("clock", &self.clock.as_ref().map(|_| "given"))
            .field("lock_timeout", &self.lock_timeout)
            .field("size_limit_bytes", &self.size_limit_bytes)
            .finish()
    }
}
