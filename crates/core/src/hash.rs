//! SHA-256, HMAC-SHA-256 and hexadecimal text.

use alloc::string::String;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

/// A SHA-256 digest.
pub type Hash = [u8; 32];

/// SHA-256 over the parts, one after the other.
pub fn sha256(parts: &[&[u8]]) -> Hash {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update(part);
    }
    hasher.finalize().into()
}

/// HMAC-SHA-256 (RFC 2104) over the parts, one after the other.
pub fn hmac_sha256(key: &[u8; 32], parts: &[&[u8]]) -> Hash {
    // HMAC fills a key up with zeros to the block of its hash, 64 bytes for SHA-256.
    let mut block = [0; 64];
    for (byte, filled) in block.iter_mut().zip(key) {
        *byte = *filled;
    }
    let mut mac = <Hmac<Sha256> as KeyInit>::new(&block.into());
    for part in parts {
        mac.update(part);
    }
    mac.finalize().into_bytes().into()
}

/// Lower-case hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: [char; 16] = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'];
    let digit = |nibble: u8| DIGITS.get(usize::from(nibble & 15)).copied().unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(*byte)]).collect()
}

/// Reads lower-case hexadecimal of exactly `N` bytes.
pub fn from_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let nibble = |c: u8| match c {
        b'0'..=b'9' => Some(c & 15),
        b'a'..=b'f' => Some((c & 15).wrapping_add(9)),
        _ => None,
    };
    let (pairs, []) = text.as_bytes().as_chunks::<2>() else { return None };
    if pairs.len() != N {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
        *byte = (nibble(*high)? << 4) | nibble(*low)?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hexadecimal_reads_what_it_writes() {
        assert_eq!(hex(&[0, 1, 0xab, 0xff]), "0001abff");
        assert_eq!(from_hex::<4>("0001abff"), Some([0, 1, 0xab, 0xff]));
        assert_eq!(from_hex::<4>("0001ABFF"), None);
        assert_eq!(from_hex::<4>("0001abf"), None);
        assert_eq!(from_hex::<2>("0001abff"), None);
    }

    #[test]
    fn hmac_answers_rfc_4231_case_2_like_key() {
        // The empty-padded key of RFC 4231 case 2: a short key is padded with zeros, so the 32-byte form is the same key.
        let mut key = [0; 32];
        key[..4].copy_from_slice(b"Jefe");
        assert_eq!(
            hex(&hmac_sha256(&key, &[b"what do ya want ", b"for nothing?"])),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
    }
}
