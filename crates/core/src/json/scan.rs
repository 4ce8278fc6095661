//! How far a string's text runs before something needs a closer look, eight bytes at a time.

const QUOTES: u64 = u64::from_ne_bytes([b'"'; 8]);
const BACKSLASHES: u64 = u64::from_ne_bytes([b'\\'; 8]);
const SPACES: u64 = u64::from_ne_bytes([b' '; 8]);
const SURROGATE_LEADS: u64 = u64::from_ne_bytes([SURROGATE_LEAD; 8]);
const ONES: u64 = u64::from_ne_bytes([0x01; 8]);
const TOPS: u64 = u64::from_ne_bytes([0x80; 8]);

/// The first byte of a surrogate in WTF-8. U+D000 to U+D7FF have it too.
pub(super) const SURROGATE_LEAD: u8 = 0xED;

/// How many bytes come before a quote, a backslash, a control character or the end.
#[inline]
pub(super) fn plain_len(bytes: &[u8]) -> usize {
    len_before(bytes, plain_stops, |byte| matches!(byte, b'"' | b'\\' | 0..0x20))
}

/// How many bytes come before any of those, before what may be a surrogate, or before the end.
#[inline]
pub(super) fn verbatim_len(bytes: &[u8]) -> usize {
    let stops = |word| plain_stops(word) | (zero_bytes(word ^ SURROGATE_LEADS) & TOPS);
    len_before(bytes, stops, |byte| matches!(byte, b'"' | b'\\' | 0..0x20 | SURROGATE_LEAD))
}

/// `stops` marks the bytes to stop at by their top bits. Marks above the lowest one may be wrong.
#[inline]
fn len_before(bytes: &[u8], stops: impl Fn(u64) -> u64, is_stop: impl Fn(u8) -> bool) -> usize {
    let (words, rest) = bytes.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let stops = stops(u64::from_le_bytes(*word));
        if stops != 0 {
            return index.wrapping_mul(8).wrapping_add((stops.trailing_zeros() / 8) as usize);
        }
    }
    let in_rest = rest.iter().position(|byte| is_stop(*byte)).unwrap_or(rest.len());
    words.len().wrapping_mul(8).wrapping_add(in_rest)
}

#[inline]
const fn plain_stops(word: u64) -> u64 {
    let control = word.wrapping_sub(SPACES) & !word;
    (zero_bytes(word ^ QUOTES) | zero_bytes(word ^ BACKSLASHES) | control) & TOPS
}

/// Sets the top bit of each byte that is zero. Above the lowest one the subtraction may have borrowed.
#[inline]
const fn zero_bytes(word: u64) -> u64 {
    word.wrapping_sub(ONES) & !word
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec;

    #[test]
    fn every_byte_at_every_place_is_seen() {
        for byte in 0..=u8::MAX {
            for len in 1..20 {
                for at in 0..len {
                    for filling in [b'a', 0x7F, 0x80, 0xFF, b'!', b'#', b' '] {
                        let mut text = vec![filling; len];
                        text[at] = byte;
                        let plain = matches!(byte, 0..0x20 | b'"' | b'\\');
                        assert_eq!(plain_len(&text), if plain { at } else { len }, "{byte:#x} at {at} of {len}");
                        let verbatim = plain || byte == 0xED;
                        assert_eq!(verbatim_len(&text), if verbatim { at } else { len }, "{byte:#x} at {at} of {len}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_first_stop_counts() {
        assert_eq!(plain_len(b"ab\"\"\\cdefgh"), 2);
        assert_eq!(plain_len(b"abcdefghi\x01\x00\"\\klmnop"), 9);
        assert_eq!(plain_len(b""), 0);
    }
}
