//! Base64url without padding (RFC 4648 §5, RFC 7515 §2).

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// What stands for a byte that is no digit: above every value of one, so that the bits of all digits can be checked
/// together.
const NO_DIGIT: u8 = 0xFF;

/// The value of each byte. A pass has a thousand of them: a table reads them several times faster than comparing.
const VALUES: [u8; 256] = values();

#[allow(clippy::indexing_slicing)] // evaluated by the compiler, which refuses an index out of range
const fn values() -> [u8; 256] {
    let mut values = [NO_DIGIT; 256];
    let mut value: u8 = 0;
    while value < 64 {
        values[DIGITS[value as usize] as usize] = value;
        value = value.wrapping_add(1);
    }
    values
}

/// Writes bytes as base64url.
pub fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3).saturating_mul(4));
    for chunk in bytes.chunks(3) {
        let (bits, length) = match chunk {
            [a, b, c] => (u32::from_be_bytes([0, *a, *b, *c]), 4),
            [a, b] => (u32::from_be_bytes([0, *a, *b, 0]), 3),
            [a] => (u32::from_be_bytes([0, *a, 0, 0]), 2),
            _ => continue,
        };
        let digits = [digit(bits >> 18), digit(bits >> 12), digit(bits >> 6), digit(bits)];
        text.extend(digits.iter().take(length));
    }
    text
}

/// The digit for the lowest six bits.
fn digit(bits: u32) -> char {
    let [.., low] = bits.to_be_bytes();
    DIGITS.get(usize::from(low & 63)).copied().map_or('A', char::from)
}

/// Reads base64url. Each value has one spelling: no padding, no white space, no digit of the standard alphabet, and
/// unused bits are zero.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let (groups, rest) = text.as_bytes().as_chunks::<4>();
    let mut bytes = vec![0; groups.len().saturating_mul(3)];
    // Whatever is no digit leaves its highest bit here.
    let mut seen = 0;
    for (triple, [a, b, c, d]) in bytes.as_chunks_mut::<3>().0.iter_mut().zip(groups) {
        let (a, b, c, d) = (value(*a), value(*b), value(*c), value(*d));
        seen |= a | b | c | d;
        *triple = [(a << 2) | (b >> 4), (b << 4) | (c >> 2), (c << 6) | d];
    }
    match *rest {
        [] => {}
        [a, b] => {
            let (a, b) = (value(a), value(b));
            seen |= a | b | unused(b, 0x0F);
            bytes.push((a << 2) | (b >> 4));
        }
        [a, b, c] => {
            let (a, b, c) = (value(a), value(b), value(c));
            seen |= a | b | c | unused(c, 0x03);
            bytes.extend_from_slice(&[(a << 2) | (b >> 4), (b << 4) | (c >> 2)]);
        }
        _ => return None,
    }
    (seen < 64).then_some(bytes)
}

/// Reads base64url of exactly `N` bytes.
pub fn decode_array<const N: usize>(text: &str) -> Option<[u8; N]> {
    decode(text)?.try_into().ok()
}

fn value(byte: u8) -> u8 {
    VALUES.get(usize::from(byte)).copied().unwrap_or(NO_DIGIT)
}

/// The mark of no digit, if any of the masked bits is set.
const fn unused(value: u8, mask: u8) -> u8 {
    if value & mask == 0 { 0 } else { NO_DIGIT }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_vectors_of_rfc_4648_hold_both_ways() {
        let vectors = [("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("fooba", "Zm9vYmE")];
        for (bytes, text) in vectors {
            assert_eq!(encode(bytes.as_bytes()), text);
            assert_eq!(decode(text).as_deref(), Some(bytes.as_bytes()));
        }
        assert_eq!(encode(&[0xFB, 0xFF, 0xFE]), "-__-");
        assert_eq!(decode("-__-"), Some(Vec::from([0xFB, 0xFF, 0xFE])));
    }

    #[test]
    fn every_other_spelling_is_refused() {
        let wrong = [
            "Zg==", "Zg=", "Zm8=", "Zh", "Zm9", "Z", "Zm9vY", "Zm9+", "Zm9/", " Zm9v", "Zm9v ", "Zm9v\n", "Zm 9",
            "Zm9v====", "Zm9é", "Zm9v.", "Zm9\0",
        ];
        for text in wrong {
            assert_eq!(decode(text), None, "{text:?}");
        }
    }

    #[test]
    fn no_two_texts_give_the_same_bytes() {
        // Every text of two and three characters over the digits and their neighbours.
        let characters = b"AQgwZ_-+/=. z09";
        let mut seen = alloc::collections::BTreeMap::new();
        for a in characters {
            for b in characters {
                let pairs = core::iter::once(Vec::from([*a, *b]));
                for text in pairs.chain(characters.iter().map(|c| Vec::from([*a, *b, *c]))) {
                    let text = String::from_utf8(text).unwrap();
                    let Some(bytes) = decode(&text) else { continue };
                    assert_eq!(encode(&bytes), text);
                    assert_eq!(seen.insert(bytes, text.clone()), None, "{text:?}");
                }
            }
        }
        assert!(seen.len() > 10);
    }

    #[test]
    fn arrays_have_their_length() {
        assert_eq!(decode_array::<3>("Zm9v"), Some(*b"foo"));
        assert_eq!(decode_array::<2>("Zm9v"), None);
        assert_eq!(decode_array::<4>("Zm9v"), None);
    }
}
