//! A message that is too long to hold: only its `id` is picked out as it goes by, so that whoever sent it is answered
//! rather than left waiting.

use bailiwick_core::json::{Limits, Value, parse};

/// The most bytes that an id may have to be found.
const MOST_ID_BYTES: usize = 256;

/// Looks for the member `id` of the outermost object, byte by byte.
#[derive(Debug, Default)]
pub(super) struct Overlong {
    depth: usize,
    in_string: bool,
    escaped: bool,
    /// The bytes of the member of the outermost object that is going by: its name, then its value
    member: Vec<u8>,
    /// Where the value begins in `member`, once the colon went by
    value_at: Option<usize>,
    id: Option<Value>,
}

impl Overlong {
    /// Lets a part of the message go by.
    pub(super) fn pass(&mut self, part: &[u8]) {
        for byte in part {
            self.step(*byte);
        }
    }

    /// The id, if the message had one before it ended.
    pub(super) fn into_id(self) -> Option<Value> {
        self.id
    }

    fn step(&mut self, byte: u8) {
        if self.in_string {
            self.keep(byte);
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_string = false,
                _ => {}
            }
            return;
        }
        match byte {
            b'{' | b'[' => {
                self.depth = self.depth.saturating_add(1);
                self.keep(byte);
            }
            b'}' | b']' => {
                if self.depth == 1 {
                    self.end_member();
                }
                self.depth = self.depth.saturating_sub(1);
                self.keep(byte);
            }
            b',' if self.depth == 1 => self.end_member(),
            b':' if self.depth == 1 => self.value_at = Some(self.member.len()),
            byte => {
                self.in_string = byte == b'"';
                self.keep(byte);
            }
        }
    }

    /// Keeps a byte of a member of the outermost object, as long as the member may be the id.
    fn keep(&mut self, byte: u8) {
        let of_outermost = self.depth == 1 && !matches!(byte, b'{' | b'}' | b'[' | b']');
        if of_outermost && self.member.len() <= MOST_ID_BYTES {
            self.member.push(byte);
        }
    }

    fn end_member(&mut self) {
        let member = std::mem::take(&mut self.member);
        let Some((name, value)) = self.value_at.take().and_then(|at| member.split_at_checked(at)) else { return };
        if name.trim_ascii() == b"\"id\"" && member.len() <= MOST_ID_BYTES {
            self.id = parse(value, &Limits::DOCUMENT).ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bailiwick_core::json::write_compact;

    #[test]
    fn the_id_is_found_wherever_it_stands() {
        let cases = [
            (r#"{"jsonrpc":"2.0","id":5,"method":"x","params":{"id":7,"a":["id",{"id":8}]}}"#, "5"),
            (r#"{"params":{"id":7},"method":"x", "id" : "a\"b" }"#, r#""a\"b""#),
            (r#"{"params":{"text":"\"id\":9,"},"id":10}"#, "10"),
            (r#"{"method":"x","params":{"id":7}}"#, "none"),
            (r#"{"id":1,"id":2}"#, "2"),
            (r#"[{"id":1}]"#, "none"),
            (r#"{"id":"#, "none"),
            ("}}]],,::", "none"),
        ];
        for (message, id) in cases {
            for chunk in [1, 3, 1000] {
                let mut overlong = Overlong::default();
                for part in message.as_bytes().chunks(chunk) {
                    overlong.pass(part);
                }
                let found = overlong.into_id().map_or_else(|| "none".into(), |id| write_compact(&id));
                assert_eq!(found, id, "{message}");
            }
        }
    }
}
