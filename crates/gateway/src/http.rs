//! HTTP as a client: one request, one answer, within bounds.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::{Request, Response, Uri};
use hyper_rustls::builderstates::WantsSchemes;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::{Client, Error};
use hyper_util::rt::TokioExecutor;
use rustls::crypto::ring::default_provider;
use rustls::{ClientConfig, RootCertStore};

/// How long a connection may take to come about.
const CONNECT_TIME: Duration = Duration::from_secs(5);
/// How long a connection that nobody uses is kept.
const IDLE_TIME: Duration = Duration::from_secs(30);

/// A client with a pool of connections. Cloning gives another handle on the same pool.
#[derive(Clone)]
pub(crate) struct HttpClient(Client<HttpsConnector<HttpConnector>, Full<Bytes>>);

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unanswered {
    /// The other side was not reached, so it knows nothing of the request; says why
    Unreached(String),
    /// The connection broke while the other side may have been at work; says why
    Broken(String),
}

impl fmt::Display for Unanswered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreached(why) | Self::Broken(why) => f.write_str(why),
        }
    }
}

impl HttpClient {
    /// A client that believes the certificates that this machine does.
    ///
    /// # Errors
    ///
    /// What is wrong with the machine's TLS.
    pub(crate) fn new() -> Result<Self, String> {
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(CONNECT_TIME));
        let https = tls()?.https_or_http().enable_http1().wrap_connector(tcp);
        Ok(Self(Client::builder(TokioExecutor::new()).pool_idle_timeout(IDLE_TIME).build(https)))
    }

    /// Sends a request and waits for the head of the answer.
    pub(crate) async fn send(&self, request: Request<Full<Bytes>>) -> Result<Response<Incoming>, Unanswered> {
        self.0.request(request).await.map_err(|error: Error| match error.is_connect() {
            true => Unanswered::Unreached(said(&error)),
            false => Unanswered::Broken(said(&error)),
        })
    }
}

/// Where the machine has no certificates to believe, none is believed, and plain HTTP goes on working.
fn tls() -> Result<HttpsConnectorBuilder<WantsSchemes>, String> {
    let builder = HttpsConnectorBuilder::new();
    if let Ok(builder) = builder.with_provider_and_native_roots(default_provider()) {
        return Ok(builder);
    }
    let config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| format!("TLS cannot be set up: {error}"))?
        .with_root_certificates(RootCertStore::empty())
        .with_no_client_auth();
    Ok(HttpsConnectorBuilder::new().with_tls_config(config))
}

/// Reads a body that is not longer than `most_bytes`.
pub(crate) async fn read(body: Incoming, most_bytes: usize) -> Result<Bytes, Unanswered> {
    match Limited::new(body, most_bytes).collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) => Err(Unanswered::Broken(format!("the answer broke off: {error}"))),
    }
}

/// An address that can be asked.
pub(crate) fn parse_address(text: &str) -> Option<Uri> {
    let uri: Uri = text.parse().ok()?;
    let is_web = matches!(uri.scheme_str(), Some("http" | "https"));
    (is_web && uri.host().is_some_and(|host| !host.is_empty())).then_some(uri)
}

/// The error and what caused it, in one line.
fn said(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}
