//! What happens inside, on standard error: standard output belongs to answers.

use std::io;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;

/// How log lines look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum LogForm {
    /// For people
    Text,
    /// For programs, one object a line
    Json,
}

/// Starts logging at a level, or as `BAILIWICK_LOG` says (`debug`, `bailiwick_server=debug,warn`, …).
pub(crate) fn start(level: LevelFilter, form: LogForm) {
    let filter =
        EnvFilter::builder().with_default_directive(level.into()).with_env_var("BAILIWICK_LOG").from_env_lossy();
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr);
    match form {
        LogForm::Text => {
            log.with_ansi(crate::output::Style::of(&io::stderr()) == crate::output::Style::Coloured).init()
        }
        LogForm::Json => log.json().init(),
    }
}
