//! The strict reader: RFC 8259 and nothing beyond it, within limits.
//!
//! One reader serves both kinds of text. It goes down by recursion, so [`Limits::depth`] is never more than
//! [`DEEPEST`]. Names and values are collected on stacks shared by the whole text until their array or object is
//! complete, so each array and object is allocated once, in its final size.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::scan;
use super::text::Build;
use super::{LosslessText, Number, Object, ReadError, ReadErrorKind, Tree, Value};

/// The deepest nesting that any limit can allow: the reader, the writers and dropping a value recurse.
pub const DEEPEST: usize = 512;

/// What a text may cost, and what happens to a name that occurs twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the whole text
    pub bytes: usize,
    /// Objects and arrays inside each other; at most [`DEEPEST`], whatever is written here
    pub depth: usize,
    /// Bytes of one string or name, escapes resolved
    pub string_bytes: usize,
    /// Members of one object, items of one array
    pub members: usize,
    /// What a repeated name in an object means
    pub duplicates: Duplicates,
}

/// What a repeated name in an object means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Duplicates {
    /// The text is refused
    Refuse,
    /// The last value counts and stands where the name stood first, as in JavaScript and Python
    LastWins,
}

impl Limits {
    /// For documents: orders, reports, arguments of tools (`spec work-orders §6.5`).
    pub const DOCUMENT: Self =
        Self { bytes: 4 << 20, depth: 128, string_bytes: 4 << 20, members: 100_000, duplicates: Duplicates::LastWins };

    /// For one entry of a journal, ours or an old one (`spec coordination §5.3`).
    pub const JOURNAL: Self = Self {
        bytes: 16 << 20,
        depth: DEEPEST,
        string_bytes: 16 << 20,
        members: 100_000,
        duplicates: Duplicates::LastWins,
    };

    /// For what Bailiwick wrote itself from texts that were within [`Limits::DOCUMENT`].
    pub const STORED: Self = Self {
        bytes: 64 << 20,
        depth: DEEPEST,
        string_bytes: 16 << 20,
        members: 1_000_000,
        duplicates: Duplicates::LastWins,
    };

    /// The same limits with another meaning of repeated names.
    #[must_use]
    pub const fn with_duplicates(self, duplicates: Duplicates) -> Self {
        Self { duplicates, ..self }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::DOCUMENT
    }
}

/// Reads one JSON text strictly.
///
/// Takes RFC 8259 in UTF-8 without byte order mark, nothing before or after but white space. Integers that fit 128
/// bits are exact, any other number is the nearest double.
///
/// # Errors
///
/// Anything else, and whatever is over the limits. Strings can't hold unpaired surrogates: their escapes are refused.
pub fn parse(text: &[u8], limits: &Limits) -> Result<Value, ReadError> {
    read(text, limits)
}

/// Reads one JSON text strictly, but keeps unpaired surrogates (`spec coordination §5.2`).
///
/// # Errors
///
/// As [`parse`], except that escapes of unpaired surrogates are taken.
pub fn parse_lossless(text: &[u8], limits: &Limits) -> Result<Tree<LosslessText>, ReadError> {
    read(text, limits)
}

fn read<S: Build>(text: &[u8], limits: &Limits) -> Result<Tree<S>, ReadError> {
    let text = check_encoding(text, limits)?;
    let mut reader = Reader::new(text, limits);
    reader.document().map_err(|fault| ReadError::at(text.as_bytes(), reader.at, *fault))
}

/// The text as UTF-8 within its limit, and no byte order mark.
pub(super) fn check_encoding<'a>(text: &'a [u8], limits: &Limits) -> Result<&'a str, ReadError> {
    if text.len() > limits.bytes {
        return Err(ReadError::at(&[], 0, ReadErrorKind::TooLong { bytes: text.len(), limit: limits.bytes }));
    }
    let checked = core::str::from_utf8(text).map_err(|error| {
        let offset = error.valid_up_to();
        let byte = text.get(offset).copied().unwrap_or_default();
        ReadError::at(text, offset, ReadErrorKind::InvalidUtf8 { byte })
    })?;
    if checked.starts_with('\u{FEFF}') {
        return Err(ReadError::at(text, 0, ReadErrorKind::ByteOrderMark));
    }
    Ok(checked)
}

/// Why reading stopped; the place is where the reader stands. Boxed to keep results as small as values.
pub(super) type Fault = Box<ReadErrorKind>;

const A_VALUE: &str = "a value: `{`, `[`, a string, a number, `true`, `false` or `null`";
const A_NAME: &str = "a member's name in double quotes";
const A_CLOSING_QUOTE: &str = "a closing `\"`";

/// What every text runs through is inlined: that reads an order about a seventh faster.
pub(super) struct Reader<'a, S> {
    text: &'a str,
    pub(super) at: usize,
    limits: &'a Limits,
    /// Values whose array or object is still being read, outer ones first
    pub(super) values: Vec<Tree<S>>,
    /// Names of the members of the objects that are being read, outer ones first
    names: Vec<Name<S>>,
}

/// The name of a member, and where it stands.
struct Name<S> {
    text: S,
    offset: usize,
}

impl<'a, S: Build> Reader<'a, S> {
    pub(super) fn new(text: &'a str, limits: &'a Limits) -> Self {
        // As much as most orders and reports need, so that the stacks seldom move.
        const USUAL: usize = 32;
        Self { text, at: 0, limits, values: Vec::with_capacity(USUAL), names: Vec::with_capacity(USUAL) }
    }

    fn document(&mut self) -> Result<Tree<S>, Fault> {
        self.skip_space();
        self.value(0)?;
        self.skip_space();
        if self.at < self.text.len() {
            return Err(Box::new(ReadErrorKind::TrailingText { found: self.found() }));
        }
        self.values.pop().ok_or_else(|| self.unexpected(A_VALUE))
    }

    /// Reads a value inside `depth` objects and arrays onto `values`. The reader stands at its first byte.
    pub(super) fn value(&mut self, depth: usize) -> Result<(), Fault> {
        let value = match self.peek() {
            Some(b'"') => Tree::String(self.string()?),
            Some(b'{') => return self.object(depth),
            Some(b'[') => return self.array(depth),
            Some(b'-' | b'0'..=b'9') => Tree::Number(self.number()?),
            Some(b't') => self.word("true", Tree::Bool(true))?,
            Some(b'f') => self.word("false", Tree::Bool(false))?,
            Some(b'n') => self.word("null", Tree::Null)?,
            _ => return Err(self.unexpected(A_VALUE)),
        };
        self.values.push(value);
        Ok(())
    }

    fn word(&mut self, word: &str, value: Tree<S>) -> Result<Tree<S>, Fault> {
        if !self.rest().starts_with(word.as_bytes()) {
            return Err(self.unexpected(A_VALUE));
        }
        self.advance(word.len());
        Ok(value)
    }

    fn array(&mut self, depth: usize) -> Result<(), Fault> {
        let depth = self.enter(depth)?;
        let base = self.values.len();
        let mut more = !self.take(b']');
        while more {
            self.check_room(self.values.len(), base)?;
            self.value(depth)?;
            more = self.comma_or(b']', "`,` or `]`")?;
        }
        let items = self.values.drain(base..).collect();
        self.values.push(Tree::Array(items));
        Ok(())
    }

    fn object(&mut self, depth: usize) -> Result<(), Fault> {
        let depth = self.enter(depth)?;
        let base = self.names.len();
        let mut more = !self.take(b'}');
        while more {
            self.check_room(self.names.len(), base)?;
            self.name()?;
            self.value(depth)?;
            more = self.comma_or(b'}', "`,` or `}`")?;
        }
        let object = self.collect_object(base)?;
        self.values.push(Tree::Object(object));
        Ok(())
    }

    /// Reads a name onto `names`, and its colon.
    #[inline(always)]
    fn name(&mut self) -> Result<(), Fault> {
        let offset = self.at;
        let text = self.name_text()?;
        self.names.push(Name { text, offset });
        self.colon()
    }

    #[inline(always)]
    pub(super) fn name_text(&mut self) -> Result<S, Fault> {
        if self.peek() == Some(b'"') { self.string() } else { Err(self.unexpected(A_NAME)) }
    }

    /// Takes the colon after a name, and the white space around it.
    #[inline(always)]
    pub(super) fn colon(&mut self) -> Result<(), Fault> {
        self.skip_space();
        if !self.take(b':') {
            return Err(self.unexpected("`:`"));
        }
        self.skip_space();
        Ok(())
    }

    /// Whether another item follows; if not, the closing bracket is taken.
    #[inline(always)]
    pub(super) fn comma_or(&mut self, closing: u8, expected: &'static str) -> Result<bool, Fault> {
        self.skip_space();
        if self.take(closing) {
            return Ok(false);
        }
        if !self.take(b',') {
            return Err(self.unexpected(expected));
        }
        self.skip_space();
        Ok(true)
    }

    /// Makes an object of the names from `base` on and of as many values.
    fn collect_object(&mut self, base: usize) -> Result<Object<S>, Fault> {
        let names = self.names.get(base..).unwrap_or_default();
        let repeated = repeated_names(names);
        if let (Some(name), Duplicates::Refuse) = (repeated.first(), self.limits.duplicates)
            && let Some(name) = names.get(name.again)
        {
            self.at = name.offset;
            let name = shorten(&String::from_utf8_lossy(name.text.as_ref()));
            return Err(Box::new(ReadErrorKind::DuplicateName { name }));
        }
        let values_base = self.values.len().saturating_sub(names.len());
        let names = self.names.drain(base..).map(|name| name.text);
        let members = names.zip(self.values.drain(values_base..)).collect();
        Ok(Object::from_unique_members(if repeated.is_empty() { members } else { last_wins(members, &repeated) }))
    }

    /// Steps into an object or array at `depth` and up to its first item.
    pub(super) fn enter(&mut self, depth: usize) -> Result<usize, Fault> {
        let limit = self.limits.depth.min(DEEPEST);
        if depth >= limit {
            return Err(Box::new(ReadErrorKind::TooDeep { limit }));
        }
        self.advance(1);
        self.skip_space();
        Ok(depth.saturating_add(1))
    }

    /// Whether one more fits: `len` are on the stack, those below `base` belong to outer ones.
    fn check_room(&self, len: usize, base: usize) -> Result<(), Fault> {
        let limit = self.limits.members;
        if len.saturating_sub(base) < limit { Ok(()) } else { Err(Box::new(ReadErrorKind::TooManyMembers { limit })) }
    }

    /// A string. The reader stands at its opening quote.
    #[inline(always)]
    fn string(&mut self) -> Result<S, Fault> {
        let start = self.at;
        self.advance(1);
        let plain = self.plain_part();
        let text = if self.take(b'"') { S::from_plain(plain) } else { self.escaped_string(plain)? };
        let limit = self.limits.string_bytes;
        if text.as_ref().len() > limit {
            self.at = start;
            return Err(Box::new(ReadErrorKind::StringTooLong { limit }));
        }
        Ok(text)
    }

    /// The rest of a string after its first part without escapes.
    #[cold]
    fn escaped_string(&mut self, plain: &str) -> Result<S, Fault> {
        let mut text = S::from_plain(plain);
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.advance(1);
                    return Ok(text);
                }
                Some(b'\\') => self.escape(&mut text)?,
                Some(character) => return Err(Box::new(ReadErrorKind::ControlCharacter { character })),
                None => return Err(self.unexpected(A_CLOSING_QUOTE)),
            }
            text.push_str(self.plain_part());
        }
    }

    /// Text up to a quote, a backslash, a control character or the end.
    #[inline(always)]
    fn plain_part(&mut self) -> &'a str {
        let start = self.at;
        self.advance(scan::plain_len(self.rest()));
        self.text.get(start..self.at).unwrap_or_default()
    }

    /// One escape, or the two of a pair of surrogates. The reader stands at the backslash.
    fn escape(&mut self, text: &mut S) -> Result<(), Fault> {
        let plain = match self.rest().get(1) {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode_escape(text),
            None => return Err(Box::new(ReadErrorKind::UnexpectedEnd { expected: A_CLOSING_QUOTE })),
            Some(_) => return Err(self.invalid_escape()),
        };
        text.push(plain);
        self.advance(2);
        Ok(())
    }

    fn unicode_escape(&mut self, text: &mut S) -> Result<(), Fault> {
        let Some(unit) = escaped_unit(self.rest()) else { return Err(self.invalid_escape()) };
        let next = self.rest().get(6..).and_then(escaped_unit);
        if let (0xD800..=0xDBFF, Some(low @ 0xDC00..=0xDFFF)) = (unit, next) {
            let c = char::decode_utf16([unit, low]).find_map(Result::ok);
            text.push(c.unwrap_or(char::REPLACEMENT_CHARACTER));
            self.advance(12);
            return Ok(());
        }
        match char::from_u32(unit.into()) {
            Some(c) => text.push(c),
            None if text.push_unpaired(unit) => {}
            None => return Err(Box::new(ReadErrorKind::UnpairedSurrogate { unit })),
        }
        self.advance(6);
        Ok(())
    }

    fn invalid_escape(&self) -> Fault {
        let len = if self.rest().get(1) == Some(&b'u') { 6 } else { 2 };
        let found = self.text.get(self.at..).unwrap_or_default().chars().take(len).map(visible).collect();
        Box::new(ReadErrorKind::InvalidEscape { found })
    }

    /// A number. The reader stands at its first byte.
    fn number(&mut self) -> Result<Number, Fault> {
        let start = self.at;
        let negative = self.take(b'-');
        let (digits, magnitude) = self.whole_part(start)?;
        if !matches!(self.peek(), Some(b'.' | b'e' | b'E')) {
            // 19 digits fit 64 bits.
            if digits <= 19 {
                let magnitude = i128::from(magnitude);
                return Ok(Number::Integer(if negative { magnitude.wrapping_neg() } else { magnitude }));
            }
            if let Ok(integer) = self.since(start).parse() {
                return Ok(Number::Integer(integer));
            }
        }
        if self.take(b'.') {
            self.digits(start)?;
        }
        if self.take(b'e') || self.take(b'E') {
            let _signed = self.take(b'+') || self.take(b'-');
            self.digits(start)?;
        }
        match self.since(start).parse() {
            Ok(float) if f64::is_finite(float) => Ok(Number::Float(float)),
            _ => {
                let found = shorten(self.since(start));
                self.at = start;
                Err(Box::new(ReadErrorKind::NumberOutOfRange { found }))
            }
        }
    }

    /// The digits before point and exponent: how many, and their value as far as 64 bits hold it.
    fn whole_part(&mut self, start: usize) -> Result<(usize, u64), Fault> {
        let mut magnitude: u64 = 0;
        let mut len: usize = 0;
        for byte in self.rest().iter().take_while(|byte| byte.is_ascii_digit()) {
            magnitude = magnitude.wrapping_mul(10).wrapping_add(u64::from(byte & 15));
            len = len.wrapping_add(1);
        }
        if len == 0 {
            return Err(self.invalid_number(start, "a digit"));
        }
        if len > 1 && self.peek() == Some(b'0') {
            self.advance(1);
            return Err(self.invalid_number(start, "no digit after a leading zero"));
        }
        self.advance(len);
        Ok((len, magnitude))
    }

    /// One digit or more.
    fn digits(&mut self, start: usize) -> Result<(), Fault> {
        match self.rest().iter().take_while(|byte| byte.is_ascii_digit()).count() {
            0 => Err(self.invalid_number(start, "a digit")),
            len => {
                self.advance(len);
                Ok(())
            }
        }
    }

    fn invalid_number(&self, start: usize, expected: &'static str) -> Fault {
        Box::new(ReadErrorKind::InvalidNumber { found: shorten(self.since(start)), expected })
    }

    fn unexpected(&self, expected: &'static str) -> Fault {
        Box::new(if self.at < self.text.len() {
            ReadErrorKind::Unexpected { found: self.found(), expected }
        } else {
            ReadErrorKind::UnexpectedEnd { expected }
        })
    }

    /// The word or character at the reader's place, for a message.
    fn found(&self) -> String {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let word = rest.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        match rest.chars().next() {
            Some(first) if word.is_empty() => visible(first),
            _ => shorten(word),
        }
    }

    fn since(&self, start: usize) -> &'a str {
        self.text.get(start..self.at).unwrap_or_default()
    }

    fn rest(&self) -> &'a [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    pub(super) fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        if found {
            self.advance(1);
        }
        found
    }

    fn advance(&mut self, bytes: usize) {
        self.at = self.at.wrapping_add(bytes);
    }

    pub(super) fn skip_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.advance(1);
        }
    }
}

/// The UTF-16 code unit of an escape `\uXXXX` at the start.
fn escaped_unit(bytes: &[u8]) -> Option<u16> {
    let [b'\\', b'u', digits @ ..] = bytes.first_chunk::<6>()? else { return None };
    digits.iter().try_fold(0, |unit: u16, digit| {
        let digit = char::from(*digit).to_digit(16)?;
        Some((unit << 4) | u16::try_from(digit).ok()?)
    })
}

/// A name that occurs twice in an object: the positions of two of its members.
struct Repeated {
    first: usize,
    again: usize,
}

/// Which names repeat an earlier one, in order.
fn repeated_names<S: Build>(names: &[Name<S>]) -> Vec<Repeated> {
    const FEW: usize = 16;
    let mut repeated = Vec::new();
    if names.len() <= FEW {
        for (again, name) in names.iter().enumerate() {
            let is_same = |other: &Name<S>| other.text.as_ref() == name.text.as_ref();
            if let Some(first) = names.iter().take(again).position(is_same) {
                repeated.push(Repeated { first, again });
            }
        }
        return repeated;
    }
    let mut by_name: Vec<(&S, usize)> = names.iter().enumerate().map(|(at, name)| (&name.text, at)).collect();
    by_name.sort_unstable();
    for run in by_name.chunk_by(|(a, _), (b, _)| a == b) {
        if let [(_, first), again @ ..] = run {
            repeated.extend(again.iter().map(|(_, again)| Repeated { first: *first, again: *again }));
        }
    }
    repeated.sort_unstable_by_key(|repeated| repeated.again);
    repeated
}

/// Moves the last value of each repeated name to where the name stands first.
fn last_wins<S>(mut members: Vec<(S, Tree<S>)>, repeated: &[Repeated]) -> Vec<(S, Tree<S>)> {
    for Repeated { first, again } in repeated {
        let value = members.get_mut(*again).map(|(_, value)| core::mem::replace(value, Tree::Null));
        if let (Some((_, place)), Some(value)) = (members.get_mut(*first), value) {
            *place = value;
        }
    }
    let mut gone = repeated.iter().map(|repeated| repeated.again).peekable();
    let mut at: usize = 0;
    members.retain(|_| {
        let keep = gone.next_if_eq(&at).is_none();
        at = at.wrapping_add(1);
        keep
    });
    members
}

/// At most 40 characters, for a message.
fn shorten(text: &str) -> String {
    const LONGEST: usize = 40;
    let mut short: String = text.chars().take(LONGEST).map(visible).collect();
    if text.chars().nth(LONGEST).is_some() {
        short.push('…');
    }
    short
}

/// A character as a message can show it.
fn visible(c: char) -> String {
    if c == ' ' || c.is_ascii_graphic() || c.is_alphanumeric() { c.into() } else { format!("U+{:04X}", u32::from(c)) }
}

#[cfg(test)]
mod tests;
