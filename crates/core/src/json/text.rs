//! What strings are made of.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Debug};

use super::scan::SURROGATE_LEAD;

/// What a string is made of: `String` for everyday values, [`LosslessText`] for old journals, whose strings may
/// hold unpaired surrogates.
///
/// The bytes are UTF-8, or WTF-8 in the lossless case (an unpaired surrogate is its three-byte form).
pub trait Text: AsRef<[u8]> + Clone + Debug + Eq + Ord {
    /// The text as UTF-8, or `None` if it holds an unpaired surrogate.
    fn as_str(&self) -> Option<&str>;
}

impl Text for String {
    fn as_str(&self) -> Option<&str> {
        Some(self)
    }
}

/// A string that may hold unpaired surrogates, as JavaScript strings do (`spec coordination §5.2`).
///
/// Kept in WTF-8: UTF-8, where an unpaired surrogate takes its three-byte form. Two texts are equal when their
/// UTF-16 forms are. The order is that of code points, not the canonical one.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
// INVARIANT: well-formed WTF-8: a high surrogate is never followed by a low one, they would be one character.
pub struct LosslessText(Vec<u8>);

impl LosslessText {
    /// The text with every unpaired surrogate replaced by U+FFFD.
    pub fn to_string_lossy(&self) -> Cow<'_, str> {
        if let Some(text) = self.as_str() {
            return Cow::Borrowed(text);
        }
        let mut lossy = String::with_capacity(self.0.len());
        for chunk in self.0.utf8_chunks() {
            lossy.push_str(chunk.valid());
            // Three invalid chunks stand for one surrogate: only its first byte is a lead byte.
            if chunk.invalid().first() == Some(&SURROGATE_LEAD) {
                lossy.push(char::REPLACEMENT_CHARACTER);
            }
        }
        Cow::Owned(lossy)
    }
}

impl AsRef<[u8]> for LosslessText {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Text for LosslessText {
    fn as_str(&self) -> Option<&str> {
        core::str::from_utf8(&self.0).ok()
    }
}

impl Debug for LosslessText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Debug::fmt(&self.to_string_lossy(), f)
    }
}

impl From<&str> for LosslessText {
    fn from(text: &str) -> Self {
        Self(text.as_bytes().to_vec())
    }
}

impl From<String> for LosslessText {
    fn from(text: String) -> Self {
        Self(text.into_bytes())
    }
}

/// A text that the reader can put together.
pub(super) trait Build: Text {
    fn from_plain(text: &str) -> Self;
    fn push_str(&mut self, text: &str);
    fn push(&mut self, c: char);
    /// Adds a surrogate that has no partner, or says that this text can't hold it.
    ///
    /// The caller never adds a low surrogate right after a high one.
    #[must_use]
    fn push_unpaired(&mut self, surrogate: u16) -> bool;
}

impl Build for String {
    fn from_plain(text: &str) -> Self {
        text.into()
    }

    fn push_str(&mut self, text: &str) {
        self.push_str(text);
    }

    fn push(&mut self, c: char) {
        self.push(c);
    }

    fn push_unpaired(&mut self, _surrogate: u16) -> bool {
        false
    }
}

impl Build for LosslessText {
    fn from_plain(text: &str) -> Self {
        text.into()
    }

    fn push_str(&mut self, text: &str) {
        self.0.extend_from_slice(text.as_bytes());
    }

    fn push(&mut self, c: char) {
        self.0.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
    }

    fn push_unpaired(&mut self, surrogate: u16) -> bool {
        let [high, low] = surrogate.to_be_bytes();
        self.0.extend_from_slice(&[SURROGATE_LEAD, 0x80 | ((high & 0x0F) << 2) | (low >> 6), 0x80 | (low & 0x3F)]);
        true
    }
}
