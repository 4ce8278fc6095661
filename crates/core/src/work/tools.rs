//! Tool names and patterns, and the three relations between them (`spec work-orders §2.3`).
//!
//! All are case-sensitive tests on ASCII text: no folding, no globbing beyond `*` and `SERVER/*`, dots literal.

use alloc::vec::Vec;

use crate::json::Value;

/// Whether the text is a tool pattern: `*`, `SERVER/TOOL` or `SERVER/*`.
pub fn is_pattern(text: &str) -> bool {
    text == "*" || text.split_once('/').is_some_and(|(server, tool)| is_part(server) && (tool == "*" || is_part(tool)))
}

/// Whether the text is a tool name: `SERVER/TOOL`, no wildcard.
pub fn is_name(text: &str) -> bool {
    text.split_once('/').is_some_and(|(server, tool)| is_part(server) && is_part(tool))
}

/// Whether the text is a legal server or tool part: one or more of `A–Z a–z 0–9 _ . -`.
pub fn is_part(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-'))
}

/// Whether some pattern allows this tool name. Builds a [`ToolSet`]; keep one to ask more often.
pub fn tool_allowed<'a>(name: &str, patterns: impl IntoIterator<Item = &'a str>) -> bool {
    patterns.into_iter().collect::<ToolSet<'_>>().allows(name)
}

/// Whether everything that `pattern` allows is allowed by `patterns`. Listing every tool of a server does not
/// cover the server's wildcard.
pub fn pattern_covered<'a>(pattern: &str, patterns: impl IntoIterator<Item = &'a str>) -> bool {
    patterns.into_iter().collect::<ToolSet<'_>>().covers(pattern)
}

/// Whether some tool matches both patterns.
pub fn patterns_overlap(a: &str, b: &str) -> bool {
    core::iter::once(b).collect::<ToolSet<'_>>().overlaps(a)
}

/// Tool patterns, sorted: each question takes logarithmic time however many patterns there are.
#[derive(Debug, Clone, Default)]
pub struct ToolSet<'a> {
    everything: bool,
    /// The patterns other than `*`, by server and tool; without a tool if there is no `/`
    patterns: Vec<(&'a str, Option<&'a str>)>,
}

impl<'a> ToolSet<'a> {
    /// The patterns in a document's `tools` or `staged` member; what is not a string is left out, and an absent
    /// member is the empty set.
    pub fn of(list: Option<&'a Value>) -> Self {
        list.and_then(Value::as_array).unwrap_or_default().iter().filter_map(Value::as_str).collect()
    }

    /// Whether there are no patterns.
    pub fn is_empty(&self) -> bool {
        !self.everything && self.patterns.is_empty()
    }

    /// Whether a tool of this name is allowed (relation 1).
    pub fn allows(&self, name: &str) -> bool {
        let (server, tool) = split(name);
        self.everything || self.lists(server, tool) || tool.is_some() && self.lists(server, WHOLE_SERVER)
    }

    /// Whether everything that `pattern` allows is allowed here (relation 2).
    pub fn covers(&self, pattern: &str) -> bool {
        match split(pattern) {
            _ if self.everything => true,
            (_, None) => false,
            (server, WHOLE_SERVER) => self.lists(server, WHOLE_SERVER),
            (_, Some(_)) => self.allows(pattern),
        }
    }

    /// Whether some tool matches both `pattern` and a pattern of this set (relation 3).
    pub fn overlaps(&self, pattern: &str) -> bool {
        if self.is_empty() {
            return false;
        }
        match split(pattern) {
            _ if self.everything || pattern == "*" => true,
            (server, None) => self.lists(server, None),
            (server, WHOLE_SERVER) => self.lists_server(server),
            (server, tool) => self.lists(server, tool) || self.lists(server, WHOLE_SERVER),
        }
    }

    /// Whether this very pattern is there.
    fn lists(&self, server: &str, tool: Option<&str>) -> bool {
        self.patterns.binary_search(&(server, tool)).is_ok()
    }

    /// Whether there is a pattern for the server, whatever its tool.
    fn lists_server(&self, server: &str) -> bool {
        // `None` sorts before every tool, and no tool is the empty text.
        let first = self.patterns.partition_point(|pattern| *pattern < (server, Some("")));
        self.patterns.get(first).is_some_and(|(listed, _)| *listed == server)
    }
}

impl<'a> FromIterator<&'a str> for ToolSet<'a> {
    fn from_iter<I: IntoIterator<Item = &'a str>>(patterns: I) -> Self {
        let mut set = Self::default();
        for pattern in patterns {
            if pattern == "*" {
                set.everything = true;
            } else {
                set.patterns.push(split(pattern));
            }
        }
        set.patterns.sort_unstable();
        set
    }
}

/// The tool part of a pattern for a whole server.
const WHOLE_SERVER: Option<&str> = Some("*");

/// The server and the tool part, which is absent where there is no `/`.
fn split(pattern: &str) -> (&str, Option<&str>) {
    pattern.split_once('/').map_or((pattern, None), |(server, tool)| (server, Some(tool)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_and_names() {
        for good in ["*", "a/b", "a/*", "../..", "-/-", "a.b/c.d", "A_1/z-9"] {
            assert!(is_pattern(good), "{good}");
        }
        for bad in
            ["", "**", "*/x", "*/*", "a/b*", "a/b/c", "a/*/b", "a/", "/b", "a", "a/b\n", " a/b", "é/b", "a/٣", "a/b#1"]
        {
            assert!(!is_pattern(bad), "{bad}");
            assert!(!is_name(bad), "{bad}");
        }
        assert!(!is_name("a/*"));
        assert!(!is_name("*"));
    }

    #[test]
    fn allowed() {
        assert!(tool_allowed("a/b", ["*"]));
        assert!(tool_allowed("a/b", ["x/y", "a/b"]));
        assert!(tool_allowed("a/b", ["a/*"]));
        assert!(!tool_allowed("a/b", ["A/*"]));
        assert!(!tool_allowed("a/b", ["aa/*", "a/c"]));
        assert!(!tool_allowed("a/b", []));
    }

    #[test]
    fn covered() {
        assert!(pattern_covered("*", ["*"]));
        assert!(!pattern_covered("*", ["a/*", "b/*"]));
        assert!(pattern_covered("a/*", ["a/*"]));
        assert!(pattern_covered("a/*", ["*"]));
        assert!(!pattern_covered("a/*", ["a/b", "a/c"]));
        assert!(pattern_covered("a/b", ["a/*"]));
        assert!(pattern_covered("a/b", ["a/b"]));
    }

    #[test]
    fn overlap_goes_both_ways() {
        for (a, b, overlap) in [
            ("*", "a/b", true),
            ("*", "*", true),
            ("a/*", "a/b", true),
            ("a/*", "a/*", true),
            ("a/b", "a/b", true),
            ("a/b", "a/c", false),
            ("a/*", "b/*", false),
            ("A/b", "a/b", false),
        ] {
            assert_eq!(patterns_overlap(a, b), overlap, "{a} {b}");
            assert_eq!(patterns_overlap(b, a), overlap, "{b} {a}");
        }
    }
}
