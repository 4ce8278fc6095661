//! The session of a browser: its cookie, and which requests may use it.
//!
//! A browser sends a cookie whoever made it ask, so a request that rests on one is taken only from the dashboard's
//! own page. Cookies count for REST alone.
//!
//! | Request | What must hold |
//! |---|---|
//! | any | the cookie is there once; `Sec-Fetch-Site`, if sent, is `same-origin` |
//! | `GET`, `HEAD` | as above, or `Sec-Fetch-Site` is `none`: a person typed the address |
//! | others | as above, and `Origin` is the host and port that the request is addressed to |
//!
//! Cookies do not tell ports apart, so the cookie's name holds the port: two servers on one machine keep a session each.

use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Uri, header};

use crate::origin::Origins;
use crate::problem::{Code, Problem};

const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// How long a browser keeps the cookie: the longest that browsers take. The desk ends the session earlier.
const COOKIE_SECONDS: u32 = 400 * 24 * 60 * 60;

/// The characters of a session's secret, all of them hexadecimal digits.
const SECRET_LENGTH: usize = 64;

/// The cookie by which this server knows a session.
#[derive(Debug)]
pub(crate) struct Cookie {
    name: String,
}

/// Whether the browser may send a cookie over plain HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Transport {
    /// It may: nothing says that people come by HTTPS
    Plain,
    /// It may not
    Secure,
}

impl Cookie {
    /// The cookie of a server that listens on a port.
    pub(crate) fn of_port(port: u16) -> Self {
        Self { name: format!("bailiwick_{port}") }
    }

    /// The secret that a request presents, if it presents any.
    ///
    /// # Errors
    ///
    /// `UNAUTHENTICATED` for a cookie of another form, or several: a page on another port of this machine can add
    /// one, and which of them is ours can't be told.
    pub(crate) fn presented<'a>(&self, headers: &'a HeaderMap) -> Result<Option<&'a str>, Problem> {
        let texts = headers.get_all(header::COOKIE).iter().filter_map(|cookies| cookies.to_str().ok());
        let pairs = texts.flat_map(|cookies| cookies.split(';')).filter_map(|pair| pair.trim().split_once('='));
        let mut ours = pairs.filter(|(name, _)| *name == self.name).map(|(_, secret)| secret);
        match (ours.next(), ours.next()) {
            (None, _) => Ok(None),
            (Some(secret), None) if is_secret(secret) => Ok(Some(secret)),
            _ => Err(Problem::new(Code::Unauthenticated, "the session's cookie is not as it was given out")),
        }
    }

    /// Gives a browser a session.
    pub(crate) fn set(&self, secret: &str, transport: Transport) -> Option<HeaderValue> {
        self.header(secret, COOKIE_SECONDS, transport)
    }

    /// Makes a browser forget its session.
    pub(crate) fn forget(&self) -> Option<HeaderValue> {
        self.header("", 0, Transport::Plain)
    }

    fn header(&self, secret: &str, seconds: u32, transport: Transport) -> Option<HeaderValue> {
        let secure = match transport {
            Transport::Plain => "",
            Transport::Secure => "; Secure",
        };
        let text = format!("{}={secret}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}", self.name);
        let mut value = HeaderValue::from_str(&text).ok()?;
        value.set_sensitive(true);
        Some(value)
    }
}

fn is_secret(text: &str) -> bool {
    text.len() == SECRET_LENGTH && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Refuses a request that rests on a cookie and may come from another page than the dashboard's own.
///
/// # Errors
///
/// `FORBIDDEN`.
pub(crate) fn check_own_page(
    origins: &Origins,
    method: &Method,
    uri: &Uri,
    headers: &HeaderMap,
) -> Result<(), Problem> {
    let reads = matches!(*method, Method::GET | Method::HEAD);
    let site_is_own = headers.get_all(FETCH_SITE).iter().all(|site| match site.as_bytes() {
        b"same-origin" => true,
        b"none" => reads,
        _ => false,
    });
    if !site_is_own {
        return Err(Problem::new(Code::Forbidden, "a session may be used by the pages of this server only"));
    }
    if reads || origins.is_own_page(uri, headers) {
        return Ok(());
    }
    Err(Problem::new(
        Code::Forbidden,
        "whoever changes something with a session must send the `Origin` of this server's own page",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(HeaderName::from_static(name), HeaderValue::from_str(value).unwrap());
        }
        headers
    }

    fn origins() -> Origins {
        Origins::new(&["desk.example.com".into()], &["https://desk.example.com".into()]).unwrap()
    }

    #[track_caller]
    fn check(method: Method, sent: &[(&'static str, &str)], is_taken: bool) {
        let sent = headers(&[sent, &[("host", "localhost:8787")]].concat());
        let checked = check_own_page(&origins(), &method, &Uri::from_static("/"), &sent);
        assert_eq!(checked.is_ok(), is_taken, "{method} {sent:?}");
    }

    #[test]
    fn what_changes_something_comes_from_the_own_page() {
        let own = ("origin", "http://localhost:8787");
        for method in [Method::POST, Method::DELETE, Method::PUT, Method::OPTIONS] {
            check(method.clone(), &[own], true);
            check(method.clone(), &[own, ("sec-fetch-site", "same-origin")], true);
            check(method.clone(), &[], false);
            for site in ["none", "same-site", "cross-site", "", "SAME-ORIGIN"] {
                check(method.clone(), &[own, ("sec-fetch-site", site)], false);
            }
            for origin in [
                "http://localhost:8788",
                "http://localhost",
                "http://127.0.0.1:8787",
                "https://desk.example.com",
                "http://localhost:8787.evil.example",
                "null",
                "",
            ] {
                check(method.clone(), &[("origin", origin)], false);
            }
            check(method.clone(), &[own, own], false);
        }
    }

    #[test]
    fn reading_is_for_the_own_page_and_for_typed_addresses() {
        for method in [Method::GET, Method::HEAD] {
            check(method.clone(), &[], true);
            check(method.clone(), &[("sec-fetch-site", "same-origin")], true);
            check(method.clone(), &[("sec-fetch-site", "none")], true);
            check(method.clone(), &[("sec-fetch-site", "same-site")], false);
            check(method.clone(), &[("sec-fetch-site", "cross-site")], false);
            check(method.clone(), &[("sec-fetch-site", "same-origin"), ("sec-fetch-site", "cross-site")], false);
        }
    }

    #[test]
    fn a_cookie_is_found_among_others_and_counts_once() {
        let (cookie, secret) = (Cookie::of_port(8787), "0f".repeat(32));
        let sent = headers(&[("cookie", &format!("a=b; bailiwick_8787={secret}; bailiwick_8788=x"))]);
        assert_eq!(cookie.presented(&sent).unwrap(), Some(secret.as_str()));
        assert_eq!(cookie.presented(&headers(&[("cookie", "a=b; bailiwick_878=x")])).unwrap(), None);
        assert_eq!(cookie.presented(&HeaderMap::new()).unwrap(), None);
        let twice = format!("bailiwick_8787={secret}");
        for wrong in [format!("{twice}; {twice}"), "bailiwick_8787=".into(), format!("{twice}0")] {
            assert!(cookie.presented(&headers(&[("cookie", &wrong)])).is_err(), "{wrong}");
        }
        assert!(cookie.presented(&headers(&[("cookie", &twice), ("cookie", &twice)])).is_err());
    }

    #[test]
    fn cookies_are_kept_from_scripts_and_other_sites() {
        let cookie = Cookie::of_port(8787);
        let plain = cookie.set("s", Transport::Plain).unwrap();
        assert_eq!(plain, "bailiwick_8787=s; Path=/; Max-Age=34560000; HttpOnly; SameSite=Strict");
        assert!(plain.is_sensitive());
        assert!(cookie.set("s", Transport::Secure).unwrap().to_str().unwrap().ends_with("; Secure"));
        assert!(cookie.forget().unwrap().to_str().unwrap().starts_with("bailiwick_8787=; Path=/; Max-Age=0;"));
    }
}
