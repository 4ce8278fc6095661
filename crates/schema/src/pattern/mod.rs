//! Regular expressions as ECMAScript means them, run within bounds (`spec work-orders §6.4`).
//!
//! A pattern comes from one party and runs on another's text, so it must not be able to hang anybody. Patterns
//! without back-references are matched in time proportional to pattern times text. Those with back-references, or with
//! counted repeats too large to write out, are searched by trial and error. Every step of either costs fuel.
//!
//! The grammar is that of ECMAScript 2025 with the `u` flag, and two liberties of its Annex B: a backslash before
//! any character that is neither a letter nor a digit is that character, and a lone `{`, `}` or `]` is itself. What
//! has one meaning elsewhere and another here is refused rather than misread: `\A`, `\Z`, `(?P<…>…)`, `(?i)`, `a++`.

mod backtrack;
mod parse;
mod program;
mod run;

use std::fmt;

pub(crate) use run::Fuel;

use program::Program;

/// A compiled pattern.
#[derive(Debug)]
pub(crate) struct Pattern {
    source: String,
    program: Program,
}

/// What the patterns of one schema may take together: characters, ranges of their classes, steps of their programs.
#[derive(Debug)]
pub(crate) struct Room(usize);

impl Default for Room {
    fn default() -> Self {
        Self(200_000)
    }
}

impl Room {
    /// Takes some; false when there is not enough left.
    fn take(&mut self, size: usize) -> bool {
        let left = self.0.checked_sub(size);
        self.0 = left.unwrap_or(0);
        left.is_some()
    }
}

impl Pattern {
    /// Compiles a pattern, within the room that its schema has left.
    pub(crate) fn parse(source: &str, room: &mut Room) -> Result<Self, PatternError> {
        Ok(Self { source: source.into(), program: Program::compile(&parse::parse(source, room)?, room) })
    }

    /// Whether a text is a pattern.
    pub(crate) fn is_valid(source: &str) -> bool {
        parse::parse(source, &mut Room::default()).is_ok()
    }

    /// The text of the pattern.
    pub(crate) fn source(&self) -> &str {
        &self.source
    }

    /// Whether the pattern matches anywhere in the text; `None` when the fuel ran out first.
    pub(crate) fn is_match(&self, text: &str, fuel: &mut Fuel) -> Option<bool> {
        run::search(&self.program, text, fuel)
    }
}

/// Why a text is not a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PatternError {
    /// What is wrong
    what: &'static str,
    /// Where, in code points from the start
    at: usize,
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at character {}", self.what, self.at.saturating_add(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_match(pattern: &str, text: &str) -> bool {
        Pattern::parse(pattern, &mut Room::default()).unwrap().is_match(text, &mut Fuel::new(1_000_000)).unwrap()
    }

    #[test]
    fn matches() {
        for (pattern, text) in [
            ("", "x"),
            ("b", "abc"),
            ("^a$", "a"),
            ("^.$", "😀"),
            ("^(?:a|b)*c$", "abbac"),
            ("^a{2,3}$", "aaa"),
            ("^a{2,}?$", "aaaaa"),
            ("^[^a-c]$", "d"),
            ("^[^]$", "\n"),
            ("^[\\d\\-x]+$", "1-x"),
            ("\\bé", "aé"),
            ("^\\S$", "é"),
            ("^\\s$", "\u{feff}"),
            ("^\\u0061\\u{62}\\x63$", "abc"),
            ("^\\ud83d\\ude00$", "😀"),
            ("^[\\ud83d\\ude00]$", "😀"),
            ("^\\cA\\0\\t$", "\u{1}\0\t"),
            ("^(a)\\1$", "aa"),
            ("^(?<x>a)\\k<x>$", "aa"),
            ("^\\k<x>(?<x>a)$", "a"),
            ("^(?:(a)|b)*\\1$", "ab"),
            ("^(?=.*\\d)(?=.*[a-z]).{4,}$", "ab1c"),
            ("(?<=a)b", "ab"),
            ("(?<!a)b", "cb"),
            ("(?<=\\1(a))b", "aab"),
            ("^(?!.*x)", "abc"),
            ("^\\p{L}\\P{L}\\p{Script=Greek}$", "é1λ"),
            ("^[\\p{Lu}_]+$", "A_B"),
            ("]", "]"),
            ("}", "}"),
            ("^a{,2}$", "a{,2}"),
            ("^a{1$", "a{1"),
            ("^\\-\\/\\ $", "-/ "),
            ("^(?:)*$", ""),
            ("^(?:a?)*?$", "aa"),
            ("^(a*)*$", "aaa"),
            ("^(?:a*)*\\1?(b)$", "aab"),
            ("^x{0}$", ""),
            ("^(?=a)*a$", "a"),
        ] {
            assert!(is_match(pattern, text), "{pattern} {text:?}");
        }
    }

    #[test]
    fn matches_not() {
        for (pattern, text) in [
            ("^a$", "a\n"),
            ("^.$", "\u{2028}"),
            ("^a{2,3}$", "aaaa"),
            ("[]", "x"),
            ("^\\d$", "٣"),
            ("^\\w$", "é"),
            ("\\bé", "é"),
            ("^[^a-c]$", "b"),
            ("^(a)\\1$", "ab"),
            ("(?<!a)b", "ab"),
            ("^(?=a)b", "ab"),
            ("^\\ud83d", "😀"),
            ("^(?:a|ab)$", "abc"),
            ("^(a+)+$", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"),
            ("x{1000000}", "x"),
        ] {
            assert!(!is_match(pattern, text), "{pattern} {text:?}");
        }
    }

    #[test]
    fn refused() {
        for pattern in [
            "(",
            ")",
            "[a",
            "a**",
            "a{2,1}",
            "[b-a]",
            "\\",
            "*",
            "^*",
            "a|*",
            "(?P<n>a)",
            "(?i)a",
            "a++",
            "(?>a)",
            "(?#c)",
            "\\A",
            "\\Z",
            "\\e",
            "\\1",
            "\\8",
            "\\k<a>",
            "(?<a>x)(?<a>y)",
            "(?<1>x)",
            "[\\w-z]",
            "\\u{110000}",
            "\\u12",
            "\\xg1",
            "\\c1",
            "\\p{Nope}",
            "\\p",
            "(?<=a)*",
            "\\00",
            "\\q",
        ] {
            assert!(!Pattern::is_valid(pattern), "{pattern}");
        }
    }

    #[test]
    fn no_pattern_hangs() {
        let text = "a".repeat(5000) + "b";
        for pattern in ["^(a+)+$", "^(a|a)*$", "^(a|aa)+$", "(x+x+)+y", "^(?:(?=(?:a|a)*$)a)*$", "(?<=(?:a+)+)c"] {
            let pattern = Pattern::parse(pattern, &mut Room::default()).unwrap();
            assert_ne!(pattern.is_match(&text, &mut Fuel::new(20_000_000)), Some(true));
        }
        let pattern = Pattern::parse("^(a*)*\\1$", &mut Room::default()).unwrap();
        assert_eq!(pattern.is_match(&text, &mut Fuel::new(1_000_000)), None);
        let nested = "(".repeat(10_000);
        assert!(!Pattern::is_valid(&nested));
    }

    #[test]
    fn patterns_of_a_schema_share_their_room() {
        let mut room = Room::default();
        // Written out while there is room, counted afterwards, refused in the end.
        let count = (0..100_000).take_while(|_| Pattern::parse("^\\p{L}{9999}$", &mut room).is_ok()).count();
        assert!((100..3000).contains(&count), "{count}");
        let mut room = Room::default();
        let count = (0..100_000).take_while(|_| Pattern::parse("^a{9999}$", &mut room).is_ok()).count();
        assert!((5000..25_000).contains(&count), "{count}");
    }
}
