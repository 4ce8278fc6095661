//! The formats that are asserted (`spec work-orders §6.4`). Any other name is only an annotation.

use std::net::{Ipv4Addr, Ipv6Addr};

use bailiwick_core::time;

use crate::pattern::Pattern;
use crate::uri;

/// A format with a meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    DateTime,
    Date,
    Time,
    Duration,
    Email,
    IdnEmail,
    Hostname,
    Ipv4,
    Ipv6,
    Uri,
    UriReference,
    UriTemplate,
    Uuid,
    JsonPointer,
    RelativeJsonPointer,
    Regex,
}

impl Format {
    const ALL: [(Self, &'static str); 16] = [
        (Self::DateTime, "date-time"),
        (Self::Date, "date"),
        (Self::Time, "time"),
        (Self::Duration, "duration"),
        (Self::Email, "email"),
        (Self::IdnEmail, "idn-email"),
        (Self::Hostname, "hostname"),
        (Self::Ipv4, "ipv4"),
        (Self::Ipv6, "ipv6"),
        (Self::Uri, "uri"),
        (Self::UriReference, "uri-reference"),
        (Self::UriTemplate, "uri-template"),
        (Self::Uuid, "uuid"),
        (Self::JsonPointer, "json-pointer"),
        (Self::RelativeJsonPointer, "relative-json-pointer"),
        (Self::Regex, "regex"),
    ];

    /// The format of this name.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(_, known)| *known == name).map(|(format, _)| format)
    }

    /// The name.
    pub(crate) fn as_str(self) -> &'static str {
        Self::ALL.into_iter().find(|(format, _)| *format == self).map_or("", |(_, name)| name)
    }

    /// What eight bytes of text cost, roughly; Unicode properties in a pattern are the dearest.
    pub(crate) fn cost(self) -> usize {
        if self == Self::Regex { 1600 } else { 1 }
    }

    /// Whether the text is of this format.
    pub(crate) fn fits(self, text: &str) -> bool {
        match self {
            Self::DateTime => time::is_timestamp(text),
            Self::Date => time::is_date(text),
            // A time of day is what makes any date a timestamp.
            Self::Time => time::is_timestamp(&format!("1970-01-01T{text}")),
            Self::Duration => is_duration(text),
            Self::Email => text.is_ascii() && is_email(text),
            Self::IdnEmail => is_email(text),
            Self::Hostname => is_hostname(text),
            Self::Ipv4 => text.parse::<Ipv4Addr>().is_ok(),
            Self::Ipv6 => text.parse::<Ipv6Addr>().is_ok(),
            Self::Uri => uri::is_uri(text),
            Self::UriReference => uri::is_uri_reference(text),
            Self::UriTemplate => is_uri_template(text),
            Self::Uuid => is_uuid(text),
            Self::JsonPointer => is_json_pointer(text),
            Self::RelativeJsonPointer => is_relative_json_pointer(text),
            Self::Regex => Pattern::is_valid(text),
        }
    }
}

/// `P3Y6M4DT12H30M5S` or `P4W` (RFC 3339 appendix A): units in order, none skipped between two that are there.
fn is_duration(text: &str) -> bool {
    let Some(rest) = text.strip_prefix('P') else { return false };
    let (date, clock) = match rest.split_once('T') {
        Some((date, clock)) => (date, Some(clock)),
        None => (rest, None),
    };
    if clock.is_none() && has_units(date, "W") {
        return true;
    }
    let date_fits = if date.is_empty() { clock.is_some() } else { has_units(date, "YMD") };
    date_fits && clock.is_none_or(|clock| has_units(clock, "HMS"))
}

/// Whether the text is digits and unit, once or more, with the units a run of those in `units`.
fn has_units(text: &str, units: &str) -> bool {
    let mut found = String::new();
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let mut after = rest.get(digits..).unwrap_or_default().chars();
        match after.next() {
            Some(unit) if digits > 0 => found.push(unit),
            _ => return false,
        }
        rest = after.as_str();
    }
    !found.is_empty() && units.contains(&found)
}

/// A mailbox (RFC 5321 §4.1.2), characters beyond ASCII allowed (RFC 6531).
fn is_email(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else { return false };
    let is_atom = |atom: &str| {
        !atom.is_empty()
            && atom.chars().all(|c| c.is_ascii_alphanumeric() || !c.is_ascii() || "!#$%&'*+-/=?^_`{|}~".contains(c))
    };
    let local_fits = match local.strip_prefix('"').and_then(|local| local.strip_suffix('"')) {
        Some(quoted) => is_quoted(quoted),
        None => local.split('.').all(is_atom),
    };
    let domain_fits = match domain.strip_prefix('[').and_then(|domain| domain.strip_suffix(']')) {
        Some(address) => match address.strip_prefix("IPv6:") {
            Some(address) => address.parse::<Ipv6Addr>().is_ok(),
            None => address.parse::<Ipv4Addr>().is_ok(),
        },
        None => has_labels(domain, |c| c.is_ascii_alphanumeric() || !c.is_ascii()),
    };
    local_fits && domain_fits && local.len() <= 64
}

/// The inside of a quoted local part.
fn is_quoted(text: &str) -> bool {
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        let fits = match c {
            '\\' => chars.next().is_some_and(|c| matches!(c, ' '..='~')),
            '"' => false,
            c => !c.is_ascii_control(),
        };
        if !fits {
            return false;
        }
    }
    true
}

/// A host name (RFC 1123 §2.1).
fn is_hostname(text: &str) -> bool {
    has_labels(text, |c| c.is_ascii_alphanumeric())
}

/// Labels of up to 63 bytes, divided by dots, hyphens only inside, 253 bytes in all.
fn has_labels(text: &str, is_letter: impl Fn(char) -> bool) -> bool {
    let is_label = |label: &str| {
        !label.is_empty()
            && label.len() <= 63
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.chars().all(|c| c == '-' || is_letter(c))
    };
    text.len() <= 253 && text.split('.').all(is_label)
}

/// A URI template (RFC 6570 §2).
fn is_uri_template(text: &str) -> bool {
    let mut rest = text;
    loop {
        let Some((literal, after)) = rest.split_once('{') else { return is_literal(rest) };
        let Some((expression, after)) = after.split_once('}') else { return false };
        if !is_literal(literal) || !is_expression(expression) {
            return false;
        }
        rest = after;
    }
}

/// What stands outside of expressions.
fn is_literal(text: &str) -> bool {
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        let fits = match c {
            '%' => {
                rest.next().is_some_and(|c| c.is_ascii_hexdigit()) && rest.next().is_some_and(|c| c.is_ascii_hexdigit())
            }
            c => !c.is_control() && !" \"'<>\\^`{|}".contains(c),
        };
        if !fits {
            return false;
        }
    }
    true
}

/// What stands between braces: an operator perhaps, and variables.
fn is_expression(text: &str) -> bool {
    let variables = text.strip_prefix(['+', '#', '.', '/', ';', '?', '&', '=', ',', '!', '@', '|']).unwrap_or(text);
    variables.split(',').all(|variable| {
        let name = match variable.strip_suffix('*') {
            Some(name) => name,
            None => match variable.split_once(':') {
                Some((name, length)) if is_prefix_length(length) => name,
                Some(_) => return false,
                None => variable,
            },
        };
        name.split('.').all(is_variable_part)
    })
}

fn is_prefix_length(text: &str) -> bool {
    (1..=4).contains(&text.len()) && !text.starts_with('0') && text.bytes().all(|b| b.is_ascii_digit())
}

fn is_variable_part(text: &str) -> bool {
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = match (first, after) {
            (b'%', [high, low, after @ ..]) if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => after,
            (c, after) if c.is_ascii_alphanumeric() || *c == b'_' => after,
            _ => return false,
        };
    }
    !text.is_empty()
}

/// Hexadecimal digits in groups of 8, 4, 4, 4 and 12 (RFC 9562 §4).
fn is_uuid(text: &str) -> bool {
    let is_group =
        |(group, length): (&str, usize)| group.len() == length && group.bytes().all(|b| b.is_ascii_hexdigit());
    text.split('-').count() == 5 && text.split('-').zip([8, 4, 4, 4, 12]).all(is_group)
}

/// A JSON Pointer (RFC 6901 §3).
fn is_json_pointer(text: &str) -> bool {
    (text.is_empty() || text.starts_with('/')) && text.split('~').skip(1).all(|after| after.starts_with(['0', '1']))
}

/// A relative JSON Pointer: how far up, then `#` or a pointer.
fn is_relative_json_pointer(text: &str) -> bool {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (up, rest) = text.split_at(digits);
    !up.is_empty() && (up == "0" || !up.starts_with('0')) && (rest == "#" || is_json_pointer(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(format: &str, good: &[&str], bad: &[&str]) {
        let format = Format::parse(format).unwrap();
        for text in good {
            assert!(format.fits(text), "{} {text:?}", format.as_str());
        }
        for text in bad {
            assert!(!format.fits(text), "{} {text:?}", format.as_str());
        }
    }

    #[test]
    fn times() {
        check(
            "date-time",
            &["2026-01-01T00:00:00Z", "2026-01-01 00:00:00+01:00"],
            &["2026-01-01", "2026-01-01T00:00Z"],
        );
        check("date", &["2024-02-29"], &["2026-02-29", "2026-1-1", "2026-01-01\n"]);
        check(
            "time",
            &["08:30:06Z", "08:30:06.283185+01:00", "23:59:60Z"],
            &["08:30:06", "24:00:00Z", "T08:30:06Z", " 08:30:06Z", "8:30:06Z"],
        );
        check(
            "duration",
            &["P4DT12H30M5S", "P1Y", "PT0S", "P1YT1S", "P2W", "P1Y2M"],
            &["P", "PT", "P1Y2D", "P1W2D", "4DT", "P1H", "PT1D", "P1YT", "P२Y", "P2D1Y"],
        );
    }

    #[test]
    fn addresses() {
        check(
            "email",
            &["joe@example.com", "\"joe b\"@example.com", "a@[127.0.0.1]", "te.s~t@x"],
            &["2962", ".t@x.y", "t.@x.y", "a@", "@b", "a b@c", "é@x.y", "a@-x"],
        );
        check("idn-email", &["실례@실례.테스트"], &["2962"]);
        check(
            "hostname",
            &["www.example.com", "a", "xn--4gbwdl", &"a".repeat(63)],
            &["-a", "a-", "a_b", "", "a..b", "a.", "é", &"a".repeat(64)],
        );
        check("ipv4", &["192.168.0.1"], &["256.0.0.1", "1.2.3", "01.2.3.4", "0x7f.0.0.1"]);
        check("ipv6", &["::1", "::ffff:1.2.3.4", "1:2:3:4:5:6:7:8"], &["12345::", ":::1", "::1%eth0", "1:2"]);
        check(
            "uuid",
            &["2EB8AA08-AA98-11EA-B4AA-73B441D16380"],
            &["2eb8aa08aa9811eab4aa73b441d16380", "2eb8aa08-aa98-11ea-b4aa73b441d16380", ""],
        );
    }

    #[test]
    fn pointers_and_templates() {
        check("json-pointer", &["", "/a/~0~1", "/"], &["a", "/~", "/~2", "#/a"]);
        check("relative-json-pointer", &["1", "0/a", "12#"], &["01", "-1", "/a", "1a", ""]);
        check("uri-template", &["http://x/{a}/{?b*,c:3}", "x"], &["{", "}", "{a", "{a b}", "{}", "{a:0}"]);
        check("regex", &["^a"], &["("]);
    }
}
