//! Signals: stop, and read the configuration again.

use tokio_util::sync::CancellationToken;

use crate::failure::Failure;

/// Cancelled by the first SIGTERM or SIGINT. A second one ends the program at once.
pub(crate) fn shutdown() -> Result<CancellationToken, Failure> {
    let token = CancellationToken::new();
    let cancelled = token.clone();
    let mut stop = Stop::new()?;
    tokio::spawn(async move {
        stop.next().await;
        cancelled.cancel();
        stop.next().await;
        std::process::exit(130);
    });
    Ok(token)
}

#[cfg(unix)]
struct Stop {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Stop {
    fn new() -> Result<Self, Failure> {
        use tokio::signal::unix::SignalKind;
        Ok(Self { terminate: listen(SignalKind::terminate())?, interrupt: listen(SignalKind::interrupt())? })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

#[cfg(unix)]
fn listen(kind: tokio::signal::unix::SignalKind) -> Result<tokio::signal::unix::Signal, Failure> {
    tokio::signal::unix::signal(kind).map_err(|error| Failure::unable(format!("signals cannot be heard: {error}")))
}

/// Hears SIGHUP.
#[cfg(unix)]
pub(crate) struct Reload(tokio::signal::unix::Signal);

#[cfg(unix)]
impl Reload {
    pub(crate) fn new() -> Result<Self, Failure> {
        listen(tokio::signal::unix::SignalKind::hangup()).map(Self)
    }

    /// Returns when somebody asks for it.
    pub(crate) async fn next(&mut self) {
        if self.0.recv().await.is_none() {
            std::future::pending::<()>().await;
        }
    }
}

#[cfg(not(unix))]
struct Stop;

#[cfg(not(unix))]
impl Stop {
    fn new() -> Result<Self, Failure> {
        Ok(Self)
    }

    async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// There is no such signal here.
#[cfg(not(unix))]
pub(crate) struct Reload;

#[cfg(not(unix))]
impl Reload {
    pub(crate) fn new() -> Result<Self, Failure> {
        Ok(Self)
    }

    pub(crate) async fn next(&mut self) {
        std::future::pending::<()>().await;
    }
}
