//! URI references: resolving one against a base (RFC 3986 §5.2), and telling whether a text is one (RFC 3986 §3, §4).

use std::net::Ipv6Addr;

/// The parts of a URI reference (RFC 3986 appendix B). Any text has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Parts<'a> {
    scheme: Option<&'a str>,
    authority: Option<&'a str>,
    path: &'a str,
    query: Option<&'a str>,
    fragment: Option<&'a str>,
}

impl<'a> Parts<'a> {
    fn of(text: &'a str) -> Self {
        let (rest, fragment) = cut(text, '#');
        let (rest, query) = cut(rest, '?');
        let (scheme, rest) = match rest.split_once(':') {
            Some((scheme, rest)) if is_scheme(scheme) => (Some(scheme), rest),
            _ => (None, rest),
        };
        let (authority, path) = match rest.strip_prefix("//") {
            Some(rest) => {
                let end = rest.find('/').unwrap_or(rest.len());
                let (authority, path) = rest.split_at(end);
                (Some(authority), path)
            }
            None => (None, rest),
        };
        Self { scheme, authority, path, query, fragment }
    }

    fn write(&self) -> String {
        let mut text = String::new();
        if let Some(scheme) = self.scheme {
            text.push_str(scheme);
            text.push(':');
        }
        if let Some(authority) = self.authority {
            text.push_str("//");
            text.push_str(authority);
        }
        text.push_str(self.path);
        if let Some(query) = self.query {
            text.push('?');
            text.push_str(query);
        }
        text
    }
}

/// The text before and after the first `at`.
fn cut(text: &str, at: char) -> (&str, Option<&str>) {
    text.split_once(at).map_or((text, None), |(before, after)| (before, Some(after)))
}

/// Resolves a reference against a base without fragment; gives the target without its fragment, and the fragment
/// (empty if there is none).
pub(crate) fn resolve<'a>(base: &str, reference: &'a str) -> (String, &'a str) {
    let given = Parts::of(reference);
    let fragment = given.fragment.unwrap_or_default();
    let without_fragment = reference.split('#').next().unwrap_or_default();
    if without_fragment.is_empty() {
        return (base.into(), fragment);
    }
    let base = Parts::of(base);
    let path;
    let target = if given.scheme.is_some() {
        path = without_dots(given.path);
        Parts { path: &path, ..given }
    } else if given.authority.is_some() {
        path = without_dots(given.path);
        Parts { scheme: base.scheme, path: &path, ..given }
    } else if given.path.is_empty() {
        Parts { query: given.query.or(base.query), ..base }
    } else {
        path = without_dots(&merged(&base, given.path));
        Parts { path: &path, query: given.query, ..base }
    };
    (target.write(), fragment)
}

/// A relative path put in the place of the base's last segment.
fn merged(base: &Parts<'_>, path: &str) -> String {
    if path.starts_with('/') {
        return path.into();
    }
    if base.authority.is_some() && base.path.is_empty() {
        return format!("/{path}");
    }
    let folder = base.path.rfind('/').map_or("", |slash| base.path.get(..=slash).unwrap_or_default());
    format!("{folder}{path}")
}

/// A path without `.` and `..` segments (RFC 3986 §5.2.4).
fn without_dots(path: &str) -> String {
    if !path.split('/').any(|segment| matches!(segment, "." | "..")) {
        return path.into();
    }
    let rooted = path.starts_with('/');
    let mut kept: Vec<&str> = Vec::new();
    let mut segments = path.split('/').skip(usize::from(rooted)).peekable();
    while let Some(segment) = segments.next() {
        let is_last = segments.peek().is_none();
        match segment {
            "." if is_last => kept.push(""),
            "." => {}
            ".." => {
                kept.pop();
                if is_last {
                    kept.push("");
                }
            }
            segment => kept.push(segment),
        }
    }
    let root = if rooted { "/" } else { "" };
    format!("{root}{}", kept.join("/"))
}

/// A fragment with its percent escapes undone; a malformed escape stays as it is. `None` when the result is not UTF-8.
pub(crate) fn decode_percent(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        match (first, after) {
            (b'%', [high, low, after @ ..]) if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                bytes.push(hex_digit(*high) << 4 | hex_digit(*low));
                rest = after;
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).ok()
}

fn hex_digit(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        _ => (digit | 0x20) - b'a' + 10,
    }
}

/// Whether the text is a URI: one with a scheme.
pub(crate) fn is_uri(text: &str) -> bool {
    Parts::of(text).scheme.is_some() && is_uri_reference(text)
}

/// Whether the text is a URI or a relative reference.
pub(crate) fn is_uri_reference(text: &str) -> bool {
    let parts = Parts::of(text);
    let colon_in_first_segment = || parts.path.split('/').next().is_some_and(|segment| segment.contains(':'));
    let path_fits = match (parts.scheme, parts.authority) {
        // A path after an authority is empty or starts with a slash by construction.
        (_, Some(_)) => true,
        (Some(_), None) => true,
        (None, None) => !colon_in_first_segment(),
    };
    path_fits
        && parts.authority.is_none_or(is_authority)
        && has_only(parts.path, ":@/")
        && parts.query.is_none_or(|query| has_only(query, ":@/?"))
        && parts.fragment.is_none_or(|fragment| has_only(fragment, ":@/?"))
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'))
}

fn is_authority(text: &str) -> bool {
    let (user, place) = match text.rsplit_once('@') {
        Some((user, place)) => (user, place),
        None => ("", text),
    };
    let (host, port) = match place.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, port),
        _ => (place, ""),
    };
    let host_fits = match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        Some(address) => address.parse::<Ipv6Addr>().is_ok() || is_future_address(address),
        None => has_only(host, ""),
    };
    has_only(user, ":") && host_fits && port.bytes().all(|b| b.is_ascii_digit())
}

/// `v<hex>.<address>`
fn is_future_address(text: &str) -> bool {
    text.strip_prefix(['v', 'V']).and_then(|rest| rest.split_once('.')).is_some_and(|(version, address)| {
        !version.is_empty()
            && version.bytes().all(|b| b.is_ascii_hexdigit())
            && !address.is_empty()
            && !address.contains('%')
            && has_only(address, ":")
    })
}

/// Whether the text has only unreserved characters, sub-delimiters, well-formed percent escapes, and `more`.
fn has_only(text: &str, more: &str) -> bool {
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = match (first, after) {
            (b'%', [high, low, after @ ..]) if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => after,
            (c, after)
                if c.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=".contains(c) || more.as_bytes().contains(c) =>
            {
                after
            }
            _ => return false,
        };
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_resolve() {
        let base = "http://a/b/c/d;p?q";
        for (reference, target) in [
            ("g:h", "g:h"),
            ("g", "http://a/b/c/g"),
            ("./g", "http://a/b/c/g"),
            ("g/", "http://a/b/c/g/"),
            ("/g", "http://a/g"),
            ("//g", "http://g"),
            ("?y", "http://a/b/c/d;p?y"),
            ("g?y", "http://a/b/c/g?y"),
            ("#s", "http://a/b/c/d;p?q"),
            (";x", "http://a/b/c/;x"),
            ("", "http://a/b/c/d;p?q"),
            (".", "http://a/b/c/"),
            ("..", "http://a/b/"),
            ("../g", "http://a/b/g"),
            ("../../../g", "http://a/g"),
            ("/./g", "http://a/g"),
            ("g.", "http://a/b/c/g."),
            ("./g/.", "http://a/b/c/g/"),
            ("g/../h", "http://a/b/c/h"),
        ] {
            assert_eq!(resolve(base, reference).0, target, "{reference}");
        }
        assert_eq!(resolve("", "foo#x"), ("foo".into(), "x"));
        assert_eq!(resolve("urn:x:y", "#/a"), ("urn:x:y".into(), "/a"));
        assert_eq!(resolve("http://x", "y"), ("http://x/y".into(), ""));
    }

    #[test]
    fn uris() {
        for good in [
            "http://foo.bar/?baz=qux#quux",
            "http://foo.bar/?q=Test%20URL",
            "http://xn--nw2a.xn--j6w193g/",
            "mailto:a@b",
            "urn:oasis:x",
            "http://[::1]:80/",
            "file:///etc",
            "tel:+1-816",
        ] {
            assert!(is_uri(good), "{good}");
        }
        for bad in [
            "//foo.bar/",
            "/abc",
            "\\\\x",
            "abc",
            "http:// shouldfail.com",
            "bar,baz:foo",
            "http://a/<b>",
            "http://a/%4",
            "http://[::1",
        ] {
            assert!(!is_uri(bad), "{bad}");
        }
        for good in ["//foo.bar/", "/abc", "abc", "#f", "", "./this:that"] {
            assert!(is_uri_reference(good), "{good}");
        }
        for bad in ["\\\\x", "#frag\\ment", "1:2", "a b"] {
            assert!(!is_uri_reference(bad), "{bad}");
        }
    }

    #[test]
    fn percent_escapes() {
        assert_eq!(decode_percent("%24defs/a%25b%").as_deref(), Some("$defs/a%b%"));
        assert_eq!(decode_percent("%C3%A9").as_deref(), Some("é"));
        assert_eq!(decode_percent("%ff"), None);
    }
}
