//! `Host` and `Origin`: is the request addressed to this server, and does it come from a page that may use it?
//!
//! A web page can make the name of its own server point at 127.0.0.1 and so reach a desk that trusts its neighbours
//! (DNS rebinding). Its requests then carry that name as `Host`, and its own origin as `Origin`; neither is ours. A
//! `Host` that is an address rather than a name can't be rebound; the one at which a request arrives is ours.

use std::net::IpAddr;

use axum::http::uri::Authority;
use axum::http::{HeaderMap, Uri, header};

use crate::ServerError;
use crate::problem::{Code, Problem};
use crate::session::Transport;

/// By which names the server is addressed, and which pages may use it.
#[derive(Debug, Clone)]
pub(crate) struct Origins {
    hosts: Vec<Place>,
    origins: Vec<Origin>,
}

/// The address of ours at which a request arrived.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arrived(pub(crate) IpAddr);

/// A host in lower case, without brackets, and a port if one is named.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    host: String,
    port: Option<u16>,
}

/// Where a page comes from (RFC 6454).
#[derive(Debug, Clone, PartialEq, Eq)]
struct Origin {
    scheme: Scheme,
    place: Place,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scheme {
    Http,
    Https,
}

impl Origins {
    /// # Errors
    ///
    /// [`ServerError::AllowedHost`] or [`ServerError::AllowedOrigin`] naming the entry that is none.
    pub(crate) fn new(hosts: &[String], origins: &[String]) -> Result<Self, ServerError> {
        let host =
            |entry: &String| Place::parse(entry).ok_or_else(|| ServerError::AllowedHost { entry: entry.clone() });
        let origin =
            |entry: &String| Origin::parse(entry).ok_or_else(|| ServerError::AllowedOrigin { entry: entry.clone() });
        Ok(Self {
            hosts: hosts.iter().map(host).collect::<Result<_, _>>()?,
            origins: origins.iter().map(origin).collect::<Result<_, _>>()?,
        })
    }

    /// Checks where a request goes, which arrived `at` an address of ours, and where it comes from.
    ///
    /// # Errors
    ///
    /// A problem with status 400 or 403.
    pub(crate) fn check(&self, uri: &Uri, headers: &HeaderMap, at: Option<IpAddr>) -> Result<(), Problem> {
        let host = addressed(uri, headers)?;
        if !self.is_ours(&host, at) {
            return Err(Problem::new(
                Code::Forbidden,
                "the `Host` of the request is not one of this server; `server.allowed_hosts` names more",
            ));
        }
        if headers.get_all(header::ORIGIN).iter().all(|origin| self.may_come_from(origin.as_bytes(), &host)) {
            return Ok(());
        }
        Err(Problem::new(
            Code::Forbidden,
            "web pages of this `Origin` may not use this server; `server.allowed_origins` names more",
        ))
    }

    /// Whether a request comes from a page of the very host and port that it is addressed to, and says so once.
    pub(crate) fn is_own_page(&self, uri: &Uri, headers: &HeaderMap) -> bool {
        let mut given = headers.get_all(header::ORIGIN).iter();
        let (Some(origin), None, Ok(host)) = (given.next(), given.next(), addressed(uri, headers)) else {
            return false;
        };
        Origin::read(origin.as_bytes()).is_some_and(|origin| origin.is_at(&host))
    }

    /// Whether people reach the server by HTTPS, at a proxy in front of it: the request comes from such a page, or a
    /// configured origin at the host that it is addressed to is one.
    pub(crate) fn transport(&self, uri: &Uri, headers: &HeaderMap) -> Transport {
        let Ok(host) = addressed(uri, headers) else { return Transport::Plain };
        let given = headers.get_all(header::ORIGIN).iter().filter_map(|origin| Origin::read(origin.as_bytes()));
        let is_secure = |origin: &Origin| origin.scheme == Scheme::Https && origin.is_at(&host);
        let secure = given.chain(self.origins.iter().cloned()).any(|origin| is_secure(&origin));
        if secure { Transport::Secure } else { Transport::Plain }
    }

    fn is_ours(&self, host: &Place, at: Option<IpAddr>) -> bool {
        is_loopback(&host.host)
            || host.host.parse::<IpAddr>().is_ok_and(|address| Some(address) == at.map(|at| at.to_canonical()))
            || self.hosts.iter().any(|allowed| allowed.covers(host))
    }

    fn may_come_from(&self, origin: &[u8], host: &Place) -> bool {
        let Some(origin) = Origin::read(origin) else { return false };
        origin.is_at(host)
            || is_loopback(&origin.place.host)
            || self.origins.iter().any(|allowed| allowed.is_same(&origin))
    }
}

/// The host that a request is addressed to.
fn addressed(uri: &Uri, headers: &HeaderMap) -> Result<Place, Problem> {
    let mut hosts = headers.get_all(header::HOST).iter();
    let place = match (hosts.next(), hosts.next()) {
        (Some(host), None) => host.to_str().ok().and_then(Place::parse),
        (None, _) => uri.authority().and_then(|authority| Place::parse(authority.as_str())),
        (Some(_), Some(_)) => None,
    };
    place.ok_or_else(|| {
        Problem::new(Code::BadRequest, "the request must have one `Host`, a name or address with a port or without")
    })
}

fn is_loopback(host: &str) -> bool {
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

impl Place {
    fn parse(text: &str) -> Option<Self> {
        let authority: Authority = text.parse().ok()?;
        let port = match authority.as_str().strip_prefix(authority.host()) {
            Some("") => None,
            Some(port) => Some(port.strip_prefix(':')?.parse().ok()?),
            // User and password stand before the host.
            None => return None,
        };
        let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
        (!host.is_empty()).then_some(Self { host, port })
    }

    /// Whether an allowed host covers another: without a port it covers every one.
    fn covers(&self, other: &Self) -> bool {
        self.host == other.host && self.port.is_none_or(|port| other.port == Some(port))
    }
}

impl Origin {
    fn read(header: &[u8]) -> Option<Self> {
        std::str::from_utf8(header).ok().and_then(Self::parse)
    }

    /// Whether pages from here are those of a host. Behind a proxy that ends TLS, they come by `https` to a server that
    /// speaks `http`.
    fn is_at(&self, host: &Place) -> bool {
        self.place.host == host.host
            && [Scheme::Http, Scheme::Https].iter().any(|scheme| self.port() == scheme.port_of(host))
    }

    fn parse(text: &str) -> Option<Self> {
        let (scheme, place) = text.split_once("://")?;
        let scheme = match scheme.to_ascii_lowercase().as_str() {
            "http" => Scheme::Http,
            "https" => Scheme::Https,
            _ => return None,
        };
        Some(Self { scheme, place: Place::parse(place)? })
    }

    fn port(&self) -> u16 {
        self.scheme.port_of(&self.place)
    }

    fn is_same(&self, other: &Self) -> bool {
        self.scheme == other.scheme && self.place.host == other.place.host && self.port() == other.port()
    }
}

impl Scheme {
    fn port_of(self, place: &Place) -> u16 {
        place.port.unwrap_or(match self {
            Self::Http => 80,
            Self::Https => 443,
        })
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn origins() -> Origins {
        let hosts = ["desk.example.com".to_string(), "other.example.com:8443".to_string()];
        Origins::new(&hosts, &["https://page.example.com".to_string()]).unwrap()
    }

    fn check(at: &str, host: &str, origin: Option<&str>) -> Result<(), u16> {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, HeaderValue::from_str(host).unwrap());
        if let Some(origin) = origin {
            headers.insert(header::ORIGIN, HeaderValue::from_str(origin).unwrap());
        }
        origins()
            .check(&Uri::from_static("/"), &headers, Some(at.parse().unwrap()))
            .map_err(|problem| problem.status().as_u16())
    }

    #[test]
    fn hosts_are_loopback_names_the_own_address_and_those_configured() {
        let local = "127.0.0.1";
        for host in ["localhost", "LOCALHOST:1", "127.0.0.1:8787", "127.9.9.9", "[::1]:8787", "desk.example.com:99"] {
            assert_eq!(check(local, host, None), Ok(()), "{host}");
        }
        assert_eq!(check(local, "other.example.com:8443", None), Ok(()));
        assert_eq!(check("192.0.2.1", "192.0.2.1:8787", None), Ok(()));
        assert_eq!(check("::ffff:192.0.2.1", "192.0.2.1", None), Ok(()));
        for host in ["evil.example", "other.example.com", "192.0.2.1", "0.0.0.0", "localhost.evil.example"] {
            assert_eq!(check(local, host, None), Err(403), "{host}");
        }
        for host in ["", "a b", "user@localhost", "localhost:port", ":80"] {
            assert_eq!(check(local, host, None), Err(400), "{host}");
        }
    }

    #[test]
    fn a_request_has_one_host() {
        let origins = origins();
        let mut both = HeaderMap::new();
        both.append(header::HOST, HeaderValue::from_static("localhost"));
        both.append(header::HOST, HeaderValue::from_static("localhost"));
        assert!(origins.check(&Uri::from_static("/"), &both, None).is_err());
        assert!(origins.check(&Uri::from_static("/"), &HeaderMap::new(), None).is_err());
        assert!(origins.check(&Uri::from_static("http://localhost/"), &HeaderMap::new(), None).is_ok());
    }

    #[test]
    fn origins_are_the_own_one_loopback_and_those_configured() {
        let local = "127.0.0.1";
        assert_eq!(check(local, "localhost:8787", Some("http://localhost:3000")), Ok(()));
        assert_eq!(check(local, "desk.example.com", Some("https://desk.example.com")), Ok(()));
        assert_eq!(check(local, "desk.example.com", Some("https://page.example.com:443")), Ok(()));
        for origin in
            ["http://page.example.com", "https://evil.example", "https://desk.example.com:8080", "null", "x", ""]
        {
            assert_eq!(check(local, "desk.example.com", Some(origin)), Err(403), "{origin}");
        }
    }

    #[test]
    fn entries_that_are_none_are_named() {
        let error = Origins::new(&["http://x".to_string()], &[]).unwrap_err();
        assert_eq!(error.code(), "server_allowed_hosts");
        assert!(error.to_string().contains("`http://x`"));
        let error = Origins::new(&[], &["desk.example.com".to_string()]).unwrap_err();
        assert_eq!(error.code(), "server_allowed_origins");
    }
}
