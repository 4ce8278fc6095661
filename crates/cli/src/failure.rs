//! How a command ends: with an answer, or not at all.

use std::fmt;
use std::io;

/// What a command that could do its work answers; becomes the exit status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Fine: exit status 0
    Yes,
    /// The answer is no, a document is not valid, something was refused: exit status 1
    No,
}

impl Answer {
    /// Yes exactly when `fine`.
    pub(crate) fn when(fine: bool) -> Self {
        if fine { Self::Yes } else { Self::No }
    }
}

/// Why a command could not do its work: exit status 2.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command line, or a file that it names, is not usable; reported with the command's usage
    Usage(String),
    /// The command line is fine, its surroundings are not; says what to do
    Unable(String),
    /// Nobody reads the output any more: not worth a word, and no failure of ours
    NobodyReads,
}

impl Failure {
    /// A [`Failure::Usage`].
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::Usage(message.into())
    }

    /// A [`Failure::Unable`] for an error as it is.
    pub(crate) fn unable(error: impl fmt::Display) -> Self {
        Self::Unable(error.to_string())
    }

    /// Standard output could not be written.
    pub(crate) fn output(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::NobodyReads,
            _ => Self::Unable(format!("standard output cannot be written: {}", cause(error))),
        }
    }
}

/// What the system says, without the number that it puts behind.
pub(crate) fn cause(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.rsplit_once(" (os error").map_or(text.as_str(), |(text, _)| text);
    // Messages start in lower case; "I/O error" and the like keep their capitals.
    let mut characters = text.chars();
    match (characters.next(), characters.clone().next()) {
        (Some(first), Some(second)) if first.is_uppercase() && second.is_lowercase() => {
            first.to_lowercase().chain(characters).collect()
        }
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_read_like_our_messages() {
        assert_eq!(cause(&io::Error::from_raw_os_error(2)), "no such file or directory");
        assert_eq!(cause(&io::Error::other("I/O is down")), "I/O is down");
        assert_eq!(cause(&io::Error::other("")), "");
    }
}
