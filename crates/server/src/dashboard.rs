//! The dashboard: the files that `cargo xtask web` builds, embedded in the program, compressed beforehand.
//!
//! A file whose name carries a digest of its content never changes, so browsers keep it for ever. Pages and whatever
//! else has a name of its own is asked for again, and answered with 304 while it is the same.

use std::borrow::Cow;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use bailiwick_core::hash::{Hash, hex};
use rust_embed::Embed;

use crate::problem::{Code, Problem};

/// What the page of the dashboard may do: nothing but what this server gives it.
const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data:; \
    font-src 'self'; connect-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'self'; form-action 'self'; \
    frame-ancestors 'none'";

/// Headers of every answer with a page or a file.
const HEADERS: [(HeaderName, &str); 5] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("permissions-policy"), "camera=(), geolocation=(), microphone=()"),
];

/// The paths that are pages of the dashboard: its own code shows the right one.
const PAGES: [&str; 8] = ["/", "/orders", "/orders/{id}", "/new", "/agents", "/journal", "/verify", "/verify/"];

/// The page that all of them are.
const PAGE: &str = "index.html";

/// Shown when the program was built without a dashboard.
const NOT_BUILT: &str = include_str!("dashboard/not_built.html");

/// For ever, as far as a browser is concerned.
const IMMUTABLE: &str = "public, max-age=31536000, immutable";

/// How many hexadecimal digits of a digest make a name one that never stands for anything else.
const DIGEST_DIGITS: usize = 8;

/// The files, as built.
#[derive(Embed)]
#[folder = "../../web/dist"]
#[allow_missing = true]
struct Built;

/// A file: what is in it, and the SHA-256 of that, which was computed when it was embedded.
struct File {
    content: Cow<'static, [u8]>,
    digest: Hash,
}

/// Where files come from.
trait Files {
    /// A file, by its path without the first slash.
    fn find(path: &str) -> Option<File>;
}

impl Files for Built {
    fn find(path: &str) -> Option<File> {
        Self::get(path).map(|file| File { digest: file.metadata.sha256_hash(), content: file.data })
    }
}

/// The routes of the dashboard's pages. They hold nothing of the desk and need no session.
pub(crate) fn routes() -> Router {
    PAGES.into_iter().fold(Router::new(), |router, path| router.route(path, get(page)))
}

/// Answers what no route takes: a file of the dashboard, or that there is none.
pub(crate) async fn file_or_nothing(request: Request) -> Response {
    let found = match *request.method() {
        Method::GET | Method::HEAD => answer::<Built>(file_of(request.uri()), request.headers()),
        _ => None,
    };
    found.unwrap_or_else(|| Problem::new(Code::NotFound, "no such path; `/api/v1/docs` lists them").into_response())
}

async fn page(headers: HeaderMap) -> Response {
    answer::<Built>(PAGE, &headers).unwrap_or_else(not_built)
}

fn not_built() -> Response {
    let mut response = (StatusCode::NOT_FOUND, NOT_BUILT).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    protect(headers);
    response
}

/// The file that a path names. The compressed form has no name of its own.
fn file_of(uri: &Uri) -> &str {
    uri.path().trim_start_matches('/')
}

/// A file, compressed if the client takes that; `None` if there is no such file.
fn answer<F: Files>(path: &str, asked: &HeaderMap) -> Option<Response> {
    if path.ends_with(".br") {
        return None;
    }
    let plain = F::find(path)?;
    let compressed = if takes_brotli(asked) { F::find(&format!("{path}.br")) } else { None };
    let is_compressed = compressed.is_some();
    let File { content, digest } = compressed.unwrap_or(plain);
    let tag = format!("\"{}\"", hex(&digest));
    let mut response = if has_already(asked, &tag) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        Response::new(match content {
            Cow::Borrowed(bytes) => Body::from(bytes),
            Cow::Owned(bytes) => Body::from(bytes),
        })
    };
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind(path)));
    headers.insert(header::VARY, HeaderValue::from_static("Accept-Encoding"));
    if is_compressed {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("br"));
    }
    let caching = if is_named_by_content(path) { IMMUTABLE } else { "no-cache" };
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(caching));
    if let Ok(tag) = HeaderValue::try_from(tag) {
        headers.insert(header::ETAG, tag);
    }
    protect(headers);
    Some(response)
}

/// Adds [`HEADERS`].
fn protect(headers: &mut HeaderMap) {
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
}

/// Whether `Accept-Encoding` lists Brotli with a weight other than 0 (RFC 9110 §12.5.3).
fn takes_brotli(asked: &HeaderMap) -> bool {
    let lists = asked.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    lists.flat_map(|list| list.split(',')).any(|coding| {
        let mut parts = coding.split(';').map(str::trim);
        let is_brotli = parts.next().is_some_and(|name| name.eq_ignore_ascii_case("br"));
        let weight = parts.find_map(|part| part.strip_prefix("q=")).and_then(|weight| weight.parse::<f32>().ok());
        is_brotli && weight.is_none_or(|weight| weight > 0.0)
    })
}

/// Whether `If-None-Match` names this tag (RFC 9110 §13.1.2).
fn has_already(asked: &HeaderMap, tag: &str) -> bool {
    let lists = asked.get_all(header::IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    lists.flat_map(|list| list.split(',')).map(str::trim).any(|one| one == "*" || one.trim_start_matches("W/") == tag)
}

/// Whether some part of a path ends in `-DIGEST`, before the ending of a file if it has one.
fn is_named_by_content(path: &str) -> bool {
    path.split('/').any(|part| {
        let stem = part.split('.').next().unwrap_or_default();
        let digest = stem.trim_end_matches("_bg").rsplit_once('-').map(|(_, digest)| digest).unwrap_or_default();
        digest.len() >= DIGEST_DIGITS && digest.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

/// The media type of a file, by its ending.
fn kind(path: &str) -> &'static str {
    match path.rsplit_once('.').map(|(_, ending)| ending).unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "wasm" => "application/wasm",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "json" => "application/json",
        "webmanifest" => "application/manifest+json",
        "txt" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use bailiwick_core::hash::sha256;

    use super::*;

    /// Stands for what `cargo xtask web` builds.
    struct Fixture;

    impl Files for Fixture {
        fn find(path: &str) -> Option<File> {
            let content: &[u8] = match path {
                "index.html" => b"<!doctype html>",
                "index.html.br" => b"compressed",
                "web-0123456789abcdef_bg.wasm" => b"\0asm",
                "engine-0123abcd/worker.js" => b"import",
                "icon.svg" => b"<svg/>",
                _ => return None,
            };
            Some(File { content: Cow::Borrowed(content), digest: sha256(&[content]) })
        }
    }

    fn ask(path: &str, asked: &[(HeaderName, &str)]) -> Option<Response> {
        let headers = asked.iter().map(|(name, value)| (name.clone(), HeaderValue::from_str(value).unwrap())).collect();
        answer::<Fixture>(path, &headers)
    }

    fn header_of(response: &Response, name: HeaderName) -> &str {
        response.headers().get(name).map_or("", |value| value.to_str().unwrap())
    }

    #[test]
    fn files_are_compressed_for_whoever_takes_that() {
        for (accepts, expected) in
            [("br", "br"), ("gzip, BR;q=0.5", "br"), ("gzip", ""), ("br;q=0", ""), ("broken", ""), ("", "")]
        {
            let response = ask("index.html", &[(header::ACCEPT_ENCODING, accepts)]).unwrap();
            assert_eq!(header_of(&response, header::CONTENT_ENCODING), expected, "{accepts}");
            assert_eq!(header_of(&response, header::VARY), "Accept-Encoding");
            assert_eq!(header_of(&response, header::CONTENT_TYPE), "text/html; charset=utf-8");
        }
        let plain = ask("icon.svg", &[(header::ACCEPT_ENCODING, "br")]).unwrap();
        assert_eq!(header_of(&plain, header::CONTENT_ENCODING), "", "there is no compressed form of it");
    }

    #[test]
    fn only_names_that_carry_a_digest_are_kept_for_ever() {
        for (path, expected) in [
            ("web-0123456789abcdef_bg.wasm", IMMUTABLE),
            ("engine-0123abcd/worker.js", IMMUTABLE),
            ("index.html", "no-cache"),
            ("icon.svg", "no-cache"),
        ] {
            assert_eq!(header_of(&ask(path, &[]).unwrap(), header::CACHE_CONTROL), expected, "{path}");
        }
        for path in ["web-component.js", "a-0123456.js", "engine-0123abcg/worker.js", "0123456789abcdef.js"] {
            assert!(!is_named_by_content(path), "{path}");
        }
    }

    #[test]
    fn what_a_browser_has_is_not_sent_again() {
        let first = ask("index.html", &[]).unwrap();
        let tag = header_of(&first, header::ETAG).to_owned();
        for known in [tag.clone(), format!("W/{tag}"), format!("\"other\", {tag}"), "*".into()] {
            let again = ask("index.html", &[(header::IF_NONE_MATCH, &known)]).unwrap();
            assert_eq!(again.status(), StatusCode::NOT_MODIFIED, "{known}");
        }
        let compressed = ask("index.html", &[(header::ACCEPT_ENCODING, "br"), (header::IF_NONE_MATCH, &tag)]).unwrap();
        assert_eq!(compressed.status(), StatusCode::OK, "the other form has another tag");
    }

    #[test]
    fn every_file_comes_under_the_policy() {
        let response = ask("engine-0123abcd/worker.js", &[]).unwrap();
        for (name, value) in HEADERS {
            assert_eq!(header_of(&response, name.clone()), value, "{name}");
        }
        assert!(!POLICY.contains("unsafe-inline") && !POLICY.contains("'unsafe-eval'"));
    }

    #[test]
    fn what_is_not_there_is_not_answered() {
        for path in ["", "nothing.js", "../Cargo.toml", "index.html.br", "engine-0123abcd"] {
            assert!(ask(path, &[]).is_none(), "{path}");
        }
    }
}
