//! Lines of input, none held that is too long.

use std::io;

use bailiwick_core::json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

use super::overlong::Overlong;

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
#[derive(Debug, PartialEq)]
pub(super) enum Line {
    /// A line, without its line feed
    Text(Vec<u8>),
    /// A line over the limit, skipped; with its `id`, if it was a message that has one
    TooLong(Option<Value>),
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
        let mut overlong: Option<Overlong> = None;
        loop {
            let bytes = match self.reader.fill_buf().await {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                bytes => bytes?,
            };
            if bytes.is_empty() {
                return Ok(match overlong {
                    Some(overlong) => Line::TooLong(overlong.into_id()),
                    None if line.is_empty() => Line::End,
                    None => Line::Text(line),
                });
            }
            let (part, ends) = match bytes.iter().position(|byte| *byte == b'\n') {
                Some(at) => (bytes.get(..at).unwrap_or_default(), true),
                None => (bytes, false),
            };
            if overlong.is_none() && line.len().saturating_add(part.len()) > self.limit {
                overlong.get_or_insert_default().pass(&std::mem::take(&mut line));
            }
            match &mut overlong {
                Some(overlong) => overlong.pass(part),
                None => line.extend_from_slice(part),
            }
            let read = part.len().saturating_add(usize::from(ends));
            self.reader.consume(read);
            if ends {
                return Ok(match overlong {
                    Some(overlong) => Line::TooLong(overlong.into_id()),
                    None => Line::Text(line),
                });
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
                [text("abc"), text(""), text("abcd"), Line::TooLong(None), Line::TooLong(None), text("x")],
                "{chunk}"
            );
            assert_eq!(lines(b"ab\nabcdef", 4, chunk).await, [text("ab"), Line::TooLong(None)], "{chunk}");
            assert_eq!(lines(b"", 4, chunk).await, [], "{chunk}");
        }
    }
}
