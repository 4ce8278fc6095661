//! Standard base64 with padding (RFC 4648 §4).

use alloc::string::String;
use alloc::vec::Vec;

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Writes bytes as base64.
pub(super) fn encode(bytes: &[u8]) -> String {
    let digit = |bits: u32, shift: u32| {
        let at = usize::try_from((bits >> shift) & 63).unwrap_or_default();
        char::from(DIGITS.get(at).copied().unwrap_or_default())
    };
    let mut text = String::with_capacity(bytes.len().div_ceil(3).saturating_mul(4));
    for chunk in bytes.chunks(3) {
        let (bits, length) = match chunk {
            [a, b, c] => (u32::from_be_bytes([0, *a, *b, *c]), 4),
            [a, b] => (u32::from_be_bytes([0, *a, *b, 0]), 3),
            [a] => (u32::from_be_bytes([0, *a, 0, 0]), 2),
            _ => continue,
        };
        let digits = [digit(bits, 18), digit(bits, 12), digit(bits, 6), digit(bits, 0)];
        text.extend(digits.iter().take(length));
        text.extend(core::iter::repeat_n('=', 4_usize.saturating_sub(length)));
    }
    text
}

/// Reads base64. Each value has one spelling: padding must be there, and unused bits must be zero.
pub(super) fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let (groups, []) = text.as_chunks::<4>() else { return None };
    let mut bytes = Vec::with_capacity(groups.len().saturating_mul(3));
    for (index, group) in groups.iter().enumerate() {
        let (length, digits) = match group {
            [a, b, b'=', b'='] => (1, [*a, *b, b'A', b'A']),
            [a, b, c, b'='] => (2, [*a, *b, *c, b'A']),
            all => (3, *all),
        };
        if length < 3 && index.saturating_add(1) < groups.len() {
            return None;
        }
        let mut bits: u32 = 0;
        for digit in digits {
            bits = (bits << 6) | value(digit)?;
        }
        let [_, triple @ ..] = bits.to_be_bytes();
        let (kept, unused) = triple.split_at_checked(length)?;
        if unused.iter().any(|byte| *byte != 0) {
            return None;
        }
        bytes.extend_from_slice(kept);
    }
    Some(bytes)
}

fn value(digit: u8) -> Option<u32> {
    let place = |first: u8, base: u8| Some(u32::from(digit.wrapping_sub(first).wrapping_add(base)));
    match digit {
        b'A'..=b'Z' => place(b'A', 0),
        b'a'..=b'z' => place(b'a', 26),
        b'0'..=b'9' => place(b'0', 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_vectors_of_rfc_4648_hold_both_ways() {
        let vectors = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ];
        for (bytes, text) in vectors {
            assert_eq!(encode(bytes.as_bytes()), text);
            assert_eq!(decode(text.as_bytes()).as_deref(), Some(bytes.as_bytes()));
        }
        assert_eq!(encode(&[0xFB, 0xFF, 0xFE]), "+//+");
        assert_eq!(decode(b"+//+"), Some(Vec::from([0xFB, 0xFF, 0xFE])));
    }

    #[test]
    fn every_other_spelling_is_refused() {
        for text in ["Zg", "Zg=", "Zh==", "Zm9=", "Zg==Zg==", "Z===", "====", "Zm 9", "Zm9v\n", "Zm-_", "Z"] {
            assert_eq!(decode(text.as_bytes()), None, "{text}");
        }
    }
}
