//! Standard output: text for people, JSON for programs.

use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};

use bailiwick_core::json::{Value, write_compact, write_pretty};

use crate::failure::Failure;

/// Standard output, buffered, and how it may look.
pub(crate) struct Output {
    stdout: BufWriter<StdoutLock<'static>>,
    style: Style,
}

/// Whether colours may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    Plain,
    Coloured,
}

/// What stands before a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    /// `✓`
    Good,
    /// `!`
    Warning,
    /// `✗`
    Bad,
}

impl Style {
    /// Colours only on a terminal that can show them, and only if nobody asked for none (`NO_COLOR`).
    pub(crate) fn of(stream: &impl IsTerminal) -> Self {
        let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        if stream.is_terminal() && !set("NO_COLOR") && !dumb { Self::Coloured } else { Self::Plain }
    }

    /// The mark as it is printed.
    pub(crate) fn mark(self, mark: Mark) -> String {
        let (sign, colour) = match mark {
            Mark::Good => ("✓", 32),
            Mark::Warning => ("!", 33),
            Mark::Bad => ("✗", 31),
        };
        self.paint(sign, colour)
    }

    /// Text that stands out.
    pub(crate) fn strong(self, text: &str) -> String {
        self.paint(text, 1)
    }

    fn paint(self, text: &str, code: u8) -> String {
        match self {
            Self::Plain => text.to_owned(),
            Self::Coloured => format!("\x1b[{code}m{text}\x1b[0m"),
        }
    }
}

impl Output {
    /// Locks standard output.
    pub(crate) fn new() -> Self {
        let stdout = io::stdout().lock();
        Self { style: Style::of(&stdout), stdout: BufWriter::with_capacity(64 * 1024, stdout) }
    }

    /// How it may look.
    pub(crate) fn style(&self) -> Style {
        self.style
    }

    /// Prints one line.
    pub(crate) fn line(&mut self, line: impl AsRef<str>) -> Result<(), Failure> {
        self.bytes(line.as_ref().as_bytes())?;
        self.bytes(b"\n")
    }

    /// Prints bytes as they are.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.stdout.write_all(bytes).map_err(|error| Failure::output(&error))
    }

    /// Prints JSON over several lines, indented by two spaces.
    pub(crate) fn json(&mut self, value: &Value) -> Result<(), Failure> {
        self.line(write_pretty(value))
    }

    /// Prints JSON on one line.
    pub(crate) fn json_line(&mut self, value: &Value) -> Result<(), Failure> {
        self.line(write_compact(value))
    }

    /// Hands over what is buffered.
    pub(crate) fn flush(&mut self) -> Result<(), Failure> {
        self.stdout.flush().map_err(|error| Failure::output(&error))
    }
}

/// Prints one line and hands it over.
pub(crate) fn print(line: impl AsRef<str>) -> Result<(), Failure> {
    let mut output = Output::new();
    output.line(line)?;
    output.flush()
}

/// Prints JSON, indented, and hands it over.
pub(crate) fn print_json(value: &Value) -> Result<(), Failure> {
    print(write_pretty(value))
}
