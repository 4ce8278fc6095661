//! Pattern text to syntax tree.

use std::collections::BTreeMap;
use std::sync::Arc;

use regex_syntax::hir::{Class as HirClass, HirKind};

use super::{PatternError, Room};

/// Groups inside each other.
const DEEPEST: usize = 100;

/// A syntax tree.
#[derive(Debug)]
pub(super) enum Ast {
    Empty,
    Set(Arc<Set>),
    Start,
    End,
    /// A word boundary, or where none is
    Boundary {
        is: bool,
    },
    /// A group that captures, by number from 1
    Capture(usize, Box<Ast>),
    /// What a group captured
    BackReference(Reference),
    Concat(Vec<Ast>),
    Either(Vec<Ast>),
    Repeat(Box<Repeat>),
    Look(Box<Look>),
}

/// A group as a back-reference names it.
#[derive(Debug, Clone)]
pub(super) enum Reference {
    Number(usize),
    Name(String),
}

#[derive(Debug)]
pub(super) struct Repeat {
    pub(super) body: Ast,
    pub(super) least: u32,
    /// `u32::MAX` is without bound
    pub(super) most: u32,
    /// The groups inside, which each round starts afresh
    pub(super) captures: std::ops::Range<usize>,
}

#[derive(Debug)]
pub(super) struct Look {
    pub(super) body: Ast,
    pub(super) behind: bool,
    pub(super) negative: bool,
}

/// A set of characters: sorted ranges, both ends included.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Set(Vec<(u32, u32)>);

impl Set {
    fn of(ranges: &[(u32, u32)]) -> Self {
        let mut ranges = ranges.to_vec();
        ranges.sort_unstable();
        let mut merged: Vec<(u32, u32)> = Vec::with_capacity(ranges.len());
        for (from, to) in ranges {
            match merged.last_mut() {
                Some((_, end)) if from <= end.saturating_add(1) => *end = to.max(*end),
                _ => merged.push((from, to)),
            }
        }
        Self(merged)
    }

    fn single(c: u32) -> Self {
        Self(vec![(c, c)])
    }

    fn inverted(&self) -> Self {
        let mut next = 0;
        let mut ranges = Vec::with_capacity(self.0.len() + 1);
        for (from, to) in &self.0 {
            if next < *from {
                ranges.push((next, from - 1));
            }
            next = to + 1;
        }
        if next <= 0x10_FFFF {
            ranges.push((next, 0x10_FFFF));
        }
        Self(ranges)
    }

    /// Whether the set has this character.
    pub(super) fn contains(&self, c: char) -> bool {
        let c = u32::from(c);
        match self.0.as_slice() {
            [(from, to)] => (*from..=*to).contains(&c),
            ranges => {
                let after = ranges.partition_point(|(from, _)| *from <= c);
                after.checked_sub(1).and_then(|at| ranges.get(at)).is_some_and(|(_, to)| c <= *to)
            }
        }
    }
}

const DIGIT: &[(u32, u32)] = &[(0x30, 0x39)];
const WORD: &[(u32, u32)] = &[(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)];
const LINE_END: &[(u32, u32)] = &[(0x0A, 0x0A), (0x0D, 0x0D), (0x2028, 0x2029)];
/// White space and line ends of ECMAScript
const SPACE: &[(u32, u32)] = &[
    (0x09, 0x0D),
    (0x20, 0x20),
    (0xA0, 0xA0),
    (0x1680, 0x1680),
    (0x2000, 0x200A),
    (0x2028, 0x2029),
    (0x202F, 0x202F),
    (0x205F, 0x205F),
    (0x3000, 0x3000),
    (0xFEFF, 0xFEFF),
];

/// A parsed pattern.
#[derive(Debug)]
pub(super) struct Parsed {
    pub(super) ast: Ast,
    /// How many groups capture
    pub(super) groups: usize,
    /// Names of groups, with their numbers
    pub(super) names: BTreeMap<String, usize>,
    pub(super) has_references: bool,
}

/// Parses a pattern.
pub(super) fn parse(source: &str, room: &mut Room) -> Result<Parsed, PatternError> {
    let mut parser = Parser {
        chars: source.chars().collect(),
        at: 0,
        depth: 0,
        groups: 0,
        names: BTreeMap::new(),
        references: Vec::new(),
        room,
    };
    parser.take_room(parser.chars.len())?;
    let ast = parser.either()?;
    if parser.at < parser.chars.len() {
        return parser.fail("unmatched `)`");
    }
    parser.check_references()?;
    let has_references = !parser.references.is_empty();
    Ok(Parsed { ast, groups: parser.groups, names: parser.names, has_references })
}

struct Parser<'r> {
    chars: Vec<char>,
    at: usize,
    depth: usize,
    groups: usize,
    names: BTreeMap<String, usize>,
    /// What is referred to, with where: checked at the end, since groups may come later
    references: Vec<(Reference, usize)>,
    room: &'r mut Room,
}

/// An escape outside or inside a class.
enum Escape {
    Char(u32),
    Set(Set),
}

impl Parser<'_> {
    fn fail<T>(&self, what: &'static str) -> Result<T, PatternError> {
        Err(PatternError { what, at: self.at })
    }

    fn take_room(&mut self, size: usize) -> Result<(), PatternError> {
        if self.room.take(size) { Ok(()) } else { self.fail("no room left for so large a pattern") }
    }

    /// A set as a part of the pattern.
    fn set(&mut self, set: Set) -> Result<Ast, PatternError> {
        self.take_room(set.0.len() / 8)?;
        Ok(Ast::Set(Arc::new(set)))
    }

    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += 1;
        Some(c)
    }

    /// Takes `text` if it is next.
    fn eat(&mut self, text: &str) -> bool {
        let is_next = text.chars().enumerate().all(|(i, c)| self.chars.get(self.at + i) == Some(&c));
        if is_next {
            self.at += text.chars().count();
        }
        is_next
    }

    fn either(&mut self) -> Result<Ast, PatternError> {
        let mut branches = vec![self.concat()?];
        while self.eat("|") {
            branches.push(self.concat()?);
        }
        Ok(if branches.len() == 1 { branches.remove(0) } else { Ast::Either(branches) })
    }

    fn concat(&mut self) -> Result<Ast, PatternError> {
        let mut parts = Vec::new();
        while let Some(c) = self.peek() {
            if matches!(c, '|' | ')') {
                break;
            }
            parts.push(self.term()?);
        }
        Ok(match parts.len() {
            0 => Ast::Empty,
            1 => parts.remove(0),
            _ => Ast::Concat(parts),
        })
    }

    /// An atom or an assertion, and its quantifier.
    fn term(&mut self) -> Result<Ast, PatternError> {
        let first_group = self.groups + 1;
        let (ast, repeatable) = self.atom()?;
        let Some((least, most)) = self.quantifier()? else { return Ok(ast) };
        if !repeatable {
            return self.fail("nothing to repeat");
        }
        let captures = first_group..self.groups + 1;
        Ok(Ast::Repeat(Box::new(Repeat { body: ast, least, most, captures })))
    }

    /// An atom, and whether a quantifier may follow.
    fn atom(&mut self) -> Result<(Ast, bool), PatternError> {
        let Some(c) = self.next() else { return Ok((Ast::Empty, false)) };
        Ok(match c {
            '^' => (Ast::Start, false),
            '$' => (Ast::End, false),
            '.' => (self.set(Set::of(LINE_END).inverted())?, true),
            '(' => self.group()?,
            '[' => {
                let set = self.class()?;
                (self.set(set)?, true)
            }
            '\\' => return self.escaped_atom(),
            '*' | '+' | '?' => {
                self.at -= 1;
                return self.fail("nothing to repeat");
            }
            '{' if self.at_braces() => {
                self.at -= 1;
                return self.fail("nothing to repeat");
            }
            c => (self.set(Set::single(c.into()))?, true),
        })
    }

    fn group(&mut self) -> Result<(Ast, bool), PatternError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return self.fail("groups nested too deeply");
        }
        let look = |behind, negative| Some((behind, negative));
        let (assertion, capture) = if self.eat("?:") {
            (None, None)
        } else if self.eat("?=") {
            (look(false, false), None)
        } else if self.eat("?!") {
            (look(false, true), None)
        } else if self.eat("?<=") {
            (look(true, false), None)
        } else if self.eat("?<!") {
            (look(true, true), None)
        } else if self.eat("?<") {
            let name = self.group_name()?;
            self.groups += 1;
            if self.names.insert(name, self.groups).is_some() {
                return self.fail("a group name used twice");
            }
            (None, Some(self.groups))
        } else if self.peek() == Some('?') {
            return self.fail("unknown kind of group");
        } else {
            self.groups += 1;
            (None, Some(self.groups))
        };
        let body = self.either()?;
        if !self.eat(")") {
            return self.fail("a group without end");
        }
        self.depth -= 1;
        Ok(match (assertion, capture) {
            // Annex B lets a lookahead be repeated, not a lookbehind.
            (Some((behind, negative)), _) => (Ast::Look(Box::new(Look { body, behind, negative })), !behind),
            (None, Some(number)) => (Ast::Capture(number, Box::new(body)), true),
            (None, None) => (body, true),
        })
    }

    /// A name up to `>`.
    fn group_name(&mut self) -> Result<String, PatternError> {
        let mut name = String::new();
        loop {
            match self.next() {
                Some('>') if !name.is_empty() => return Ok(name),
                Some(c) if c == '_' || c == '$' || c.is_alphabetic() || (!name.is_empty() && c.is_alphanumeric()) => {
                    name.push(c)
                }
                _ => return self.fail("a bad group name"),
            }
        }
    }

    /// `*`, `+`, `?` or braces, lazy or not: laziness does not change whether something matches.
    fn quantifier(&mut self) -> Result<Option<(u32, u32)>, PatternError> {
        let bounds = match self.peek() {
            Some('*') => (0, u32::MAX),
            Some('+') => (1, u32::MAX),
            Some('?') => (0, 1),
            Some('{') => {
                let start = self.at;
                self.at += 1;
                let Some((least, most)) = self.braces() else {
                    // Not a quantifier: a lone brace is itself.
                    self.at = start;
                    return Ok(None);
                };
                if most < least {
                    return self.fail("a repeat whose upper bound is below its lower bound");
                }
                self.eat("?");
                return Ok(Some((least, most)));
            }
            _ => return Ok(None),
        };
        self.at += 1;
        self.eat("?");
        Ok(Some(bounds))
    }

    /// Whether a quantifier in braces stands here, after its `{`.
    fn at_braces(&mut self) -> bool {
        let start = self.at;
        let found = self.braces().is_some();
        self.at = start;
        found
    }

    /// The inside of `{n}`, `{n,}` or `{n,m}`, and its `}`.
    fn braces(&mut self) -> Option<(u32, u32)> {
        let least = self.decimal()?;
        let most = match (self.eat(","), self.peek()) {
            (false, _) => least,
            (true, Some('}')) => u32::MAX,
            (true, _) => self.decimal()?,
        };
        self.eat("}").then_some((least, most))
    }

    /// A decimal number, at most the largest `u32`.
    fn decimal(&mut self) -> Option<u32> {
        let mut value = None::<u32>;
        while let Some(digit) = self.peek().and_then(|c| c.to_digit(10)) {
            value = Some(value.unwrap_or(0).saturating_mul(10).saturating_add(digit));
            self.at += 1;
        }
        value
    }

    /// What follows a backslash outside a class.
    fn escaped_atom(&mut self) -> Result<(Ast, bool), PatternError> {
        let start = self.at;
        match self.peek() {
            Some('b') => {
                self.at += 1;
                Ok((Ast::Boundary { is: true }, false))
            }
            Some('B') => {
                self.at += 1;
                Ok((Ast::Boundary { is: false }, false))
            }
            Some('1'..='9') => {
                let number = self.decimal().and_then(|n| usize::try_from(n).ok()).unwrap_or(usize::MAX);
                Ok((self.reference(Reference::Number(number), start), true))
            }
            Some('k') => {
                self.at += 1;
                if !self.eat("<") {
                    return self.fail("`\\k` without a group name");
                }
                let name = self.group_name()?;
                Ok((self.reference(Reference::Name(name), start), true))
            }
            _ => {
                let set = match self.escape()? {
                    Escape::Char(c) => Set::single(c),
                    Escape::Set(set) => set,
                };
                Ok((self.set(set)?, true))
            }
        }
    }

    /// A back-reference, to be checked when all groups are known.
    fn reference(&mut self, reference: Reference, at: usize) -> Ast {
        self.references.push((reference.clone(), at));
        Ast::BackReference(reference)
    }

    /// What follows a backslash in either place.
    fn escape(&mut self) -> Result<Escape, PatternError> {
        let Some(c) = self.next() else { return self.fail("a backslash at the end") };
        let set = |ranges| Escape::Set(Set::of(ranges));
        let not = |ranges| Escape::Set(Set::of(ranges).inverted());
        Ok(match c {
            'd' => set(DIGIT),
            'D' => not(DIGIT),
            'w' => set(WORD),
            'W' => not(WORD),
            's' => set(SPACE),
            'S' => not(SPACE),
            't' => Escape::Char(0x09),
            'n' => Escape::Char(0x0A),
            'v' => Escape::Char(0x0B),
            'f' => Escape::Char(0x0C),
            'r' => Escape::Char(0x0D),
            '0' if !self.peek().is_some_and(|c| c.is_ascii_digit()) => Escape::Char(0),
            'c' => match self.next() {
                Some(c) if c.is_ascii_alphabetic() => Escape::Char(u32::from(c) % 32),
                _ => return self.fail("`\\c` without a letter"),
            },
            'x' => Escape::Char(self.hex(2)?),
            'u' => Escape::Char(self.unicode()?),
            'p' | 'P' => Escape::Set(self.property(c == 'P')?),
            c if c.is_ascii_alphanumeric() => return self.fail("an unknown escape"),
            c => Escape::Char(c.into()),
        })
    }

    /// Exactly `digits` hexadecimal digits.
    fn hex(&mut self, digits: u32) -> Result<u32, PatternError> {
        let mut value = 0;
        for _ in 0..digits {
            let Some(digit) = self.next().and_then(|c| c.to_digit(16)) else {
                return self.fail("a bad hexadecimal escape");
            };
            value = value * 16 + digit;
        }
        Ok(value)
    }

    /// `XXXX`, `XXXX\uXXXX` for a surrogate pair, or `{X…}`.
    fn unicode(&mut self) -> Result<u32, PatternError> {
        if self.eat("{") {
            let mut value = None::<u32>;
            while let Some(digit) = self.peek().and_then(|c| c.to_digit(16)) {
                value = Some(value.unwrap_or(0).saturating_mul(16).saturating_add(digit));
                self.at += 1;
            }
            return match value {
                Some(value) if value <= 0x10_FFFF && self.eat("}") => Ok(value),
                _ => self.fail("a bad code point escape"),
            };
        }
        let first = self.hex(4)?;
        let start = self.at;
        if (0xD800..0xDC00).contains(&first) && self.eat("\\u") {
            match self.hex(4) {
                Ok(second) if (0xDC00..0xE000).contains(&second) => {
                    return Ok(0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00));
                }
                _ => self.at = start,
            }
        }
        Ok(first)
    }

    /// `{Name}` or `{Name=Value}`.
    fn property(&mut self, negative: bool) -> Result<Set, PatternError> {
        let mut name = String::new();
        if !self.eat("{") {
            return self.fail("a property escape without braces");
        }
        loop {
            match self.next() {
                Some('}') => break,
                Some(c) if c.is_ascii_alphanumeric() || matches!(c, '_' | '=') => name.push(c),
                _ => return self.fail("a bad property escape"),
            }
        }
        let hir = regex_syntax::parse(&format!("\\p{{{name}}}"));
        let Some(HirKind::Class(HirClass::Unicode(class))) = hir.ok().map(|hir| hir.into_kind()) else {
            return self.fail("an unknown Unicode property");
        };
        let ranges: Vec<_> = class.iter().map(|range| (range.start().into(), range.end().into())).collect();
        self.take_room(ranges.len() / 8)?;
        let set = Set::of(&ranges);
        Ok(if negative { set.inverted() } else { set })
    }

    /// A class, after its `[`.
    fn class(&mut self) -> Result<Set, PatternError> {
        let negative = self.eat("^");
        let mut ranges = Vec::new();
        loop {
            if self.eat("]") {
                break;
            }
            let first = self.class_atom()?;
            if self.peek() == Some('-') && self.chars.get(self.at + 1).is_some_and(|c| *c != ']') {
                self.at += 1;
                let (Escape::Char(from), Escape::Char(to)) = (first, self.class_atom()?) else {
                    return self.fail("a range with a class as its end");
                };
                if to < from {
                    return self.fail("a range out of order");
                }
                ranges.push((from, to));
                continue;
            }
            match first {
                Escape::Char(c) => ranges.push((c, c)),
                Escape::Set(set) => ranges.extend(set.0),
            }
        }
        let set = Set::of(&ranges);
        Ok(if negative { set.inverted() } else { set })
    }

    fn class_atom(&mut self) -> Result<Escape, PatternError> {
        match self.next() {
            None => self.fail("a class without end"),
            Some('\\') if self.eat("b") => Ok(Escape::Char(0x08)),
            Some('\\') => self.escape(),
            Some(c) => Ok(Escape::Char(c.into())),
        }
    }

    /// Every reference must have its group.
    fn check_references(&mut self) -> Result<(), PatternError> {
        for (reference, at) in &self.references {
            let known = match reference {
                Reference::Number(number) => *number <= self.groups,
                Reference::Name(name) => self.names.contains_key(name),
            };
            if !known {
                return Err(PatternError { what: "a reference to a group that does not exist", at: *at });
            }
        }
        Ok(())
    }
}
