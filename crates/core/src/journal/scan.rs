//! Recognising entries that are already in canonical form, without building values.
//!
//! Most texts a verifier meets were written by a sealer, so they *are* the bytes that were hashed. This scanner
//! recognises a subset of canonical texts (`coordination §5.2`) in one pass; `None` means "not certainly
//! canonical", never "wrong": the caller then reads the text, writes it canonically and hashes that.

use super::entry::{HashMember, Label};

/// Longer texts are left to the reader and its limits.
const LONGEST: usize = 128 * 1024;

/// Deeper texts are left to the reader and its limits.
const DEEPEST: u32 = 64;

/// What an entry says about its place in the chain, and the bytes that its hash should cover.
pub(super) struct Link<'a> {
    pub(super) sequence: u64,
    pub(super) workspace_id: &'a [u8],
    pub(super) epoch_id: &'a [u8],
    pub(super) prev_hash: &'a [u8],
    /// Empty if the hash is not a member
    pub(super) hash: &'a [u8],
    /// The canonical text without the hash member, in two parts
    pub(super) preimage: [&'a [u8]; 2],
}

/// Scans the text of an entry.
pub(super) fn scan_entry(text: &[u8], hash_member: HashMember) -> Option<Link<'_>> {
    if text.len() > LONGEST {
        return None;
    }
    core::str::from_utf8(text).ok()?;
    let mut scan = Scan { rest: text };
    scan.member(b"{\"actor\":")?;
    scan.member(b",\"entity_id\":")?;
    let epoch_id = scan.plain_member(b",\"epoch_id\":")?;
    scan.literal(b",")?;
    let (before, after, hash) = match hash_member {
        HashMember::Inside => {
            let before = text.get(..text.len().checked_sub(scan.rest.len())?)?;
            let hash = scan.plain_member(b"\"hash\":")?;
            scan.literal(b",")?;
            (before, scan.rest, hash)
        }
        HashMember::Outside => (text, &[][..], &[][..]),
    };
    scan.member(b"\"id\":")?;
    scan.member(b",\"occurred_at\":")?;
    scan.literal(b",\"payload\":")?;
    scan.value(DEEPEST)?;
    let prev_hash = scan.plain_member(b",\"prev_hash\":")?;
    let protocol = scan.plain_member(b",\"protocol\":")?;
    scan.literal(b",\"sequence\":")?;
    let sequence = scan.natural()?;
    if protocol != Label::Collab01.as_str().as_bytes() {
        scan.literal(b",\"session_id\":")?;
        match scan.rest {
            [b'n', ..] => scan.literal(b"null")?,
            _ => scan.string().map(|_| ())?,
        }
    }
    scan.member(b",\"type\":")?;
    let workspace_id = scan.plain_member(b",\"workspace_id\":")?;
    if scan.rest != b"}" {
        return None;
    }
    Some(Link { sequence, workspace_id, epoch_id, prev_hash, hash, preimage: [before, after] })
}

/// Where the hash belongs into the canonical text of an entry that lacks it: what goes before, and what after.
pub(super) fn split_at_hash(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut scan = Scan { rest: text };
    scan.member(b"{\"actor\":")?;
    scan.member(b",\"entity_id\":")?;
    scan.member(b",\"epoch_id\":")?;
    scan.literal(b",")?;
    text.split_at_checked(text.len().checked_sub(scan.rest.len())?)
}

/// Whether a text is certainly a canonical JSON value.
pub(super) fn is_canonical(text: &str) -> bool {
    let mut scan = Scan { rest: text.as_bytes() };
    text.len() <= LONGEST && scan.value(DEEPEST).is_some() && scan.rest.is_empty()
}

/// The digits that every double keeps apart.
const LONGEST_NUMBER: usize = 15;

struct Scan<'a> {
    rest: &'a [u8],
}

impl<'a> Scan<'a> {
    fn literal(&mut self, expected: &[u8]) -> Option<()> {
        self.rest = self.rest.strip_prefix(expected)?;
        Some(())
    }

    /// A member whose value is any string.
    fn member(&mut self, name: &[u8]) -> Option<()> {
        self.literal(name)?;
        self.string().map(|_| ())
    }

    /// A member whose value is a string without escapes.
    fn plain_member(&mut self, name: &[u8]) -> Option<&'a [u8]> {
        self.literal(name)?;
        self.string().filter(|text| !text.contains(&b'\\'))
    }

    /// A string: what stands between its quotes.
    fn string(&mut self) -> Option<&'a [u8]> {
        let text = self.rest.strip_prefix(b"\"")?;
        let mut rest = text;
        loop {
            let special = rest.iter().position(|byte| matches!(byte, 0..0x20 | b'"' | b'\\'))?;
            match rest.get(special..)? {
                [b'"', after @ ..] => {
                    self.rest = after;
                    return text.get(..text.len().checked_sub(after.len())?.checked_sub(1)?);
                }
                [b'\\', escape @ ..] => rest = after_escape(escape)?,
                _ => return None,
            }
        }
    }

    fn value(&mut self, depth: u32) -> Option<()> {
        match self.rest.first()? {
            b'"' => self.string().map(|_| ()),
            b'{' => self.object(depth.checked_sub(1)?),
            b'[' => self.array(depth.checked_sub(1)?),
            b'n' => self.literal(b"null"),
            b't' => self.literal(b"true"),
            b'f' => self.literal(b"false"),
            _ => self.number(),
        }
    }

    fn object(&mut self, depth: u32) -> Option<()> {
        self.literal(b"{")?;
        if self.literal(b"}").is_some() {
            return Some(());
        }
        let mut previous: Option<&[u8]> = None;
        loop {
            let name = self.string()?;
            // Names that look like array indices, have escapes or leave ASCII are ordered by more than their bytes.
            let plain = name.iter().all(|byte| byte.is_ascii() && *byte != b'\\');
            if !plain
                || name.first().is_some_and(u8::is_ascii_digit)
                || previous.is_some_and(|previous| previous >= name)
            {
                return None;
            }
            previous = Some(name);
            self.literal(b":")?;
            self.value(depth)?;
            if self.literal(b",").is_none() {
                return self.literal(b"}");
            }
        }
    }

    fn array(&mut self, depth: u32) -> Option<()> {
        self.literal(b"[")?;
        if self.literal(b"]").is_some() {
            return Some(());
        }
        loop {
            self.value(depth)?;
            if self.literal(b",").is_none() {
                return self.literal(b"]");
            }
        }
    }

    /// A number of at most 15 digits without exponent.
    ///
    /// Two such numbers are never the same double, so JavaScript prints each as it stands: if it has no digit too
    /// many, and is not so small that it would get an exponent. An exponent fails wherever the caller goes on.
    fn number(&mut self) -> Option<()> {
        let is_negative = self.literal(b"-").is_some();
        let whole = self.digits()?;
        let fraction = match self.literal(b".") {
            Some(()) => self.digits()?,
            None => &[],
        };
        let has_digits_too_many = matches!(whole, [b'0', _, ..]) || fraction.last() == Some(&b'0');
        let is_tiny = whole == b"0" && (fraction.starts_with(b"000000") || (fraction.is_empty() && is_negative));
        let is_long = whole.len().checked_add(fraction.len())? > LONGEST_NUMBER;
        (!has_digits_too_many && !is_tiny && !is_long).then_some(())
    }

    /// An integer from 0 that every double holds exactly.
    fn natural(&mut self) -> Option<u64> {
        let digits = self.digits()?;
        if matches!(digits, [b'0', _, ..]) || digits.len() > LONGEST_NUMBER {
            return None;
        }
        Some(digits.iter().fold(0, |number: u64, digit| number.wrapping_mul(10).wrapping_add(u64::from(digit & 15))))
    }

    /// One digit or more.
    fn digits(&mut self) -> Option<&'a [u8]> {
        let length = self.rest.iter().position(|byte| !byte.is_ascii_digit())?;
        let (digits, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        (!digits.is_empty()).then_some(digits)
    }
}

/// What follows an escape, if the escape is the canonical one for its character. Begins after the backslash.
fn after_escape(escape: &[u8]) -> Option<&[u8]> {
    match escape {
        [b'"' | b'\\' | b'b' | b't' | b'n' | b'f' | b'r', after @ ..] => Some(after),
        [b'u', b'0', b'0', b'0', b'0'..=b'7' | b'b' | b'e' | b'f', after @ ..]
        | [b'u', b'0', b'0', b'1', b'0'..=b'9' | b'a'..=b'f', after @ ..] => Some(after),
        _ => None,
    }
}
