//! Lines of input, none held that is too long.

use std::io;

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

/// The most bytes of one message, its line end not counted: as much as a document may have.
pub const MOST_MESSAGE_BYTES: usize = 4 << 20;

/// How much is read at a time, in bytes.
const READ_BYTES: usize = 64 << 10;

/// Reads lines that end with a line feed, or with the input.
pub(super) struct Lines<R> {
    reader: BufReader<R>,
    limit: usize,
}

/// What the next line is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// A line, without its line feed
    Text(Vec<u8>),
    /// A line over the limit, skipped
    TooLong,
    /// No line: the input has ended
    End,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(super) fn new(reader: R) -> Self {
        Self { reader: BufReader::with_capacity(READ_BYTES, reader), limit: MOST_MESSAGE_BYTES }
    }

    /// The next line. Not to be dropped half-way: a part of the line would be lost.
    pub(super) async fn next(&mut self) -> io::Result<Line> {
        let mut line = Vec::new();
        let mut fits = true;
        loop {
            let bytes = match self.reader.fill_buf().await {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                bytes => bytes?,
            };
            if bytes.is_empty() {
                return Ok(match fits {
                    false => Line::TooLong,
                    true if line.is_empty() => Line::End,
                    true => Line::Text(line),
                });
            }
            let (part, ends) = match bytes.iter().position(|byte| *byte == b'\n') {
                Some(at) => (bytes.get(..at).unwrap_or_default(), true),
                None => (bytes, false),
            };
            fits = fits && line.len().saturating_add(part.len()) <= self.limit;
            if fits {
                line.extend_from_slice(part);
            } else {
                line = Vec::new();
            }
            let read = part.len().saturating_add(usize::from(ends));
            self.reader.consume(read);
            if ends {
                return Ok(if fits { Line::Text(line) } else { Line::TooLong });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn lines(input: &[u8], limit: usize, chunk: usize) -> Vec<Line> {
        let mut lines = Lines { reader: BufReader::with_capacity(chunk, input), limit };
        let mut found = Vec::new();
        loop {
            match lines.next().await.unwrap() {
                Line::End => return found,
                line => found.push(line),
            }
        }
    }

    #[tokio::test]
    async fn lines_are_cut_and_long_ones_skipped() {
        let text = |line: &str| Line::Text(line.as_bytes().to_vec());
        for chunk in [1, 2, 3, 5, 100] {
            let found = lines(b"abc\n\nabcd\nabcde\nabcdefghij\nx", 4, chunk).await;
            assert_eq!(
                found,
                [text("abc"), text(""), text("abcd"), Line::TooLong, Line::TooLong, text("x")],
                "{chunk}"
            );
            assert_eq!(lines(b"ab\nabcdef", 4, chunk).await, [text("ab"), Line::TooLong], "{chunk}");
            assert_eq!(lines(b"", 4, chunk).await, [], "{chunk}");
        }
    }
}
