//! Why a text is not JSON as the reader takes it.
//!
//! Messages name what is wrong and what would be accepted. They quote at most 40 characters of the text.

use alloc::string::String;
use core::fmt;

/// Why a text was not read, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadError {
    /// What is wrong
    pub kind: ReadErrorKind,
    /// Where: bytes from the start
    pub offset: usize,
    /// Where: the line, from 1
    pub line: usize,
    /// Where: the code point in the line, from 1
    pub column: usize,
}

/// What can be wrong with a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadErrorKind {
    /// More bytes than allowed
    TooLong {
        /// Bytes of the text
        bytes: usize,
        /// Bytes allowed
        limit: usize,
    },
    /// Bytes that are not UTF-8
    InvalidUtf8 {
        /// The first byte that fits nowhere
        byte: u8,
    },
    /// A byte order mark at the start
    ByteOrderMark,
    /// The text stops before its value is complete
    UnexpectedEnd {
        /// What could have followed
        expected: &'static str,
    },
    /// Something that can't stand here
    Unexpected {
        /// The word or character
        found: String,
        /// What could stand here
        expected: &'static str,
    },
    /// Something after the value
    TrailingText {
        /// The word or character
        found: String,
    },
    /// More objects and arrays inside each other than allowed
    TooDeep {
        /// Levels allowed
        limit: usize,
    },
    /// A raw control character in a string
    ControlCharacter {
        /// Below U+0020
        character: u8,
    },
    /// An escape that JSON does not have
    InvalidEscape {
        /// The escape, from its backslash
        found: String,
    },
    /// An escaped surrogate without its partner
    UnpairedSurrogate {
        /// The UTF-16 code unit
        unit: u16,
    },
    /// A number that is spelled wrongly
    InvalidNumber {
        /// The number as far as it was read
        found: String,
        /// What could have followed
        expected: &'static str,
    },
    /// A number beyond the range of a double
    NumberOutOfRange {
        /// The number, shortened if it is long
        found: String,
    },
    /// A string or name longer than allowed
    StringTooLong {
        /// Bytes allowed
        limit: usize,
    },
    /// An object or array with more members or items than allowed
    TooManyMembers {
        /// Members allowed
        limit: usize,
    },
    /// A name that occurs twice where that is refused
    DuplicateName {
        /// The name, shortened if it is long
        name: String,
    },
}

impl ReadErrorKind {
    /// The stable name.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::TooLong { .. } => "too_long",
            Self::InvalidUtf8 { .. } => "invalid_utf8",
            Self::ByteOrderMark => "byte_order_mark",
            Self::UnexpectedEnd { .. } => "unexpected_end",
            Self::Unexpected { .. } => "unexpected_text",
            Self::TrailingText { .. } => "trailing_text",
            Self::TooDeep { .. } => "too_deep",
            Self::ControlCharacter { .. } => "control_character",
            Self::InvalidEscape { .. } => "invalid_escape",
            Self::UnpairedSurrogate { .. } => "unpaired_surrogate",
            Self::InvalidNumber { .. } => "invalid_number",
            Self::NumberOutOfRange { .. } => "number_out_of_range",
            Self::StringTooLong { .. } => "string_too_long",
            Self::TooManyMembers { .. } => "too_many_members",
            Self::DuplicateName { .. } => "duplicate_name",
        }
    }
}

impl fmt::Display for ReadErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong { bytes, limit } => write!(f, "the text has `{bytes}` bytes, at most {limit} are accepted"),
            Self::InvalidUtf8 { byte } => write!(f, "byte `{byte:#04x}` is not UTF-8, which is all that is accepted"),
            Self::ByteOrderMark => f.write_str("`U+FEFF` at the start, a JSON text has no byte order mark"),
            Self::UnexpectedEnd { expected } => write!(f, "the text ends too early, expected {expected}"),
            Self::Unexpected { found, expected } => write!(f, "unexpected `{found}`, expected {expected}"),
            Self::TrailingText { found } => write!(f, "unexpected `{found}` after the value, expected the end"),
            Self::TooDeep { limit } => write!(f, "nested too deeply, at most {limit} levels are accepted"),
            Self::ControlCharacter { character } => {
                write!(f, "raw `U+{character:04X}` in a string, expected its escape `\\u{character:04x}`")
            }
            Self::InvalidEscape { found } => write!(
                f,
                "unknown escape `{found}`, expected a backslash and one of `\"\\/bfnrt`, or `\\u` and four hexadecimal digits"
            ),
            Self::UnpairedSurrogate { unit } => {
                write!(f, "unpaired surrogate `\\u{unit:04x}`, expected a character or a pair of surrogates")
            }
            Self::InvalidNumber { found, expected } => write!(f, "incomplete number `{found}`, expected {expected}"),
            Self::NumberOutOfRange { found } => {
                write!(f, "number `{found}` is too large, expected a magnitude below 1.8e308")
            }
            Self::StringTooLong { limit } => write!(f, "string too long, at most {limit} bytes are accepted"),
            Self::TooManyMembers { limit } => write!(f, "too many members, at most {limit} are accepted"),
            Self::DuplicateName { name } => write!(f, "member `{name}` occurs twice, expected each name once"),
        }
    }
}

impl ReadError {
    /// The stable name of what is wrong.
    pub const fn code(&self) -> &'static str {
        self.kind.code()
    }

    /// An error at so many bytes from the start of a text.
    pub(super) fn at(text: &[u8], offset: usize, kind: ReadErrorKind) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at.saturating_add(1));
        let line_so_far = before.get(line_start..).unwrap_or_default();
        Self {
            kind,
            offset,
            line: before.iter().filter(|byte| **byte == b'\n').count().saturating_add(1),
            column: line_so_far.iter().filter(|byte| !is_continuation(**byte)).count().saturating_add(1),
        }
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {} column {}: {}", self.line, self.column, self.kind)
    }
}

impl core::error::Error for ReadError {}

/// Whether a byte continues a UTF-8 sequence.
const fn is_continuation(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}
