//! Server-sent events as they come in, piece by piece (WHATWG HTML §9.2.6).

use super::MOST_MESSAGE_BYTES;

/// An event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Event {
    /// Its text
    pub(super) data: String,
    /// The last id that was named up to here
    pub(super) id: Option<String>,
}

/// Takes pieces and gives events. An event of more than 16 MiB is none.
#[derive(Default)]
pub(super) struct Events {
    line: Vec<u8>,
    data: String,
    id: Option<String>,
    retry_ms: Option<u64>,
    is_after_return: bool,
}

/// An event was too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooLong;

impl Events {
    /// The id by which the stream can be taken up again.
    pub(super) fn last_id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// How long the server wants us to wait before that.
    pub(super) const fn retry_ms(&self) -> Option<u64> {
        self.retry_ms
    }

    /// Takes a piece and gives the events that it ends.
    pub(super) fn push(&mut self, piece: &[u8]) -> Result<Vec<Event>, TooLong> {
        let mut events = Vec::new();
        for &byte in piece {
            let was_after_return = std::mem::take(&mut self.is_after_return);
            match byte {
                b'\n' if was_after_return => {}
                b'\n' | b'\r' => {
                    self.is_after_return = byte == b'\r';
                    events.extend(self.end_line());
                }
                byte => self.line.push(byte),
            }
            if self.line.len() + self.data.len() > MOST_MESSAGE_BYTES {
                return Err(TooLong);
            }
        }
        Ok(events)
    }

    fn end_line(&mut self) -> Option<Event> {
        let line = std::mem::take(&mut self.line);
        let line = String::from_utf8_lossy(&line);
        if line.is_empty() {
            let data = std::mem::take(&mut self.data);
            let data = data.strip_suffix('\n').unwrap_or(&data).to_owned();
            return (!data.is_empty()).then(|| Event { data, id: self.id.clone() });
        }
        let (name, value) = line.split_once(':').unwrap_or((&line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "data" => {
                self.data.push_str(value);
                self.data.push('\n');
            }
            "id" if !value.contains('\0') => self.id = Some(value.to_owned()).filter(|id| !id.is_empty()),
            "retry" if value.bytes().all(|byte| byte.is_ascii_digit()) => self.retry_ms = value.parse().ok(),
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pieces: &[&str]) -> (Vec<(String, Option<String>)>, Events) {
        let mut events = Events::default();
        let found = pieces.iter().flat_map(|piece| events.push(piece.as_bytes()).unwrap()).collect::<Vec<_>>();
        (found.into_iter().map(|event| (event.data, event.id)).collect(), events)
    }

    #[test]
    fn events_come_in_pieces_and_with_any_line_end() {
        let one = |data: &str| vec![(data.to_owned(), None)];
        assert_eq!(read(&["data: {\"a\"", ":1}\n", "\n"]).0, one("{\"a\":1}"));
        assert_eq!(read(&["data:a\r\ndata: b\r", "\n\r\n"]).0, one("a\nb"));
        assert_eq!(read(&["data: a\r\r"]).0, one("a"));
        assert_eq!(read(&[": nothing\n\ndata\n\nevent: x\n\n"]).0, []);
        assert_eq!(read(&["data: unfinished\n"]).0, []);
    }

    #[test]
    fn ids_and_pauses_are_kept() {
        let (found, events) = read(&["id: 7\nretry: 50\ndata: a\n\ndata: b\n\nretry: x\nid: 8\n\n"]);
        let seven = Some("7".to_owned());
        assert_eq!(found, [("a".to_owned(), seven.clone()), ("b".to_owned(), seven)]);
        assert_eq!((events.last_id(), events.retry_ms()), (Some("8"), Some(50)));
    }

    #[test]
    fn endless_events_are_refused() {
        let mut events = Events::default();
        let piece = vec![b'x'; MOST_MESSAGE_BYTES];
        assert_eq!(events.push(&piece), Ok(Vec::new()));
        assert_eq!(events.push(b"y"), Err(TooLong));
    }
}
