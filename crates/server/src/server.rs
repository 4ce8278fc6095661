//! Listening, and stopping without cutting anybody off.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use bailiwick_desk::Desk;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream, lookup_host};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tower::Service;

use crate::admission::Admission;
use crate::app::{App, Exposure};
use crate::gateway::Gateways;
use crate::metrics::Metrics;
use crate::origin::{Arrived, Origins};
use crate::presence::Presence;
use crate::router::router;
use crate::session::Cookie;
use crate::watch::RequestIds;
use crate::{Auth, ServerError, ServerOptions};

/// How long a client may take to send the head of a request, and a connection may be idle between requests.
const HEAD_TIME: Duration = Duration::from_secs(60);
/// How long to pause when the system has no more file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(200);
/// How often measured latencies are summed up.
const TIDY: Duration = Duration::from_secs(10);

/// A server that has its address and serves once it is run.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    desk: Desk,
    options: ServerOptions,
}

/// Serves a desk until `shutdown` is cancelled; [`Server`] does the same in two steps.
///
/// # Errors
///
/// As [`Server::bind`] and [`Server::run`].
pub async fn serve(desk: Desk, options: ServerOptions, shutdown: CancellationToken) -> Result<(), ServerError> {
    Server::bind(desk, options).await?.run(shutdown).await
}

impl Server {
    /// Begins to listen. Connections wait until [`Server::run`].
    ///
    /// # Errors
    ///
    /// [`ServerError`] if the options contradict themselves or the address can't be listened on.
    pub async fn bind(desk: Desk, options: ServerOptions) -> Result<Self, ServerError> {
        let fault = |source| ServerError::Host { host: options.host.clone(), source };
        let addresses: Vec<SocketAddr> =
            lookup_host((options.host.as_str(), options.port)).await.map_err(fault)?.collect();
        if let (Auth::Open, Some(address)) =
            (&options.auth, addresses.iter().find(|address| !address.ip().is_loopback()))
        {
            return Err(ServerError::OpenBeyondLoopback { address: *address });
        }
        let listener = listen(&options.host, &addresses).await?;
        let address = listener.local_addr().map_err(fault)?;
        // Told now rather than by the first request.
        Origins::new(&options.allowed_hosts, &options.allowed_origins)?;
        Ok(Self { listener, address, desk, options })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `shutdown` is cancelled, then takes no more connections, answers what is running, lets waiting
    /// calls return early and ends event streams, all within [`crate::Limits::stop_time`].
    ///
    /// # Errors
    ///
    /// [`ServerError`] if it can't begin.
    pub async fn run(self, shutdown: CancellationToken) -> Result<(), ServerError> {
        let Self { listener, address, desk, options } = self;
        let store = desk.describe();
        let app = Arc::new(app(address, desk, &options, shutdown.clone())?);
        let gateways = options.gatekeeping.clone();
        let gateways = gateways.map(|gatekeeping| Arc::new(Gateways::new(Arc::clone(&app), gatekeeping)));
        let router = router(&app, &options.toolsets, gateways.as_ref());
        if matches!(options.auth, Auth::Open) {
            tracing::warn!(%address, "OPEN MODE: every request is believed to be whoever it says it is; for trying out only");
        }
        tracing::info!(%address, %store, "serving");
        let tidying = tokio::spawn(tidy(Arc::clone(&app.metrics)));
        let gateways_tidying = gateways.clone().map(|gateways| tokio::spawn(gateways.tidy()));
        let connections = accept(&listener, &app, &router, &shutdown).await;
        drop(listener);
        connections.finish(options.limits.stop_time).await;
        tidying.abort();
        if let Some(tidying) = gateways_tidying {
            tidying.abort();
        }
        if let Some(gateways) = gateways {
            gateways.finish().await;
        }
        tracing::info!("stopped");
        Ok(())
    }
}

async fn listen(host: &str, addresses: &[SocketAddr]) -> Result<TcpListener, ServerError> {
    let nothing = io::Error::new(io::ErrorKind::NotFound, "the name resolves to nothing");
    let mut failure = ServerError::Host { host: host.into(), source: nothing };
    for address in addresses {
        match TcpListener::bind(address).await {
            Ok(listener) => return Ok(listener),
            Err(source) => failure = ServerError::Bind { address: *address, source },
        }
    }
    Err(failure)
}

fn app(
    address: SocketAddr,
    desk: Desk,
    options: &ServerOptions,
    stopping: CancellationToken,
) -> Result<App, ServerError> {
    Ok(App {
        desk,
        auth: options.auth.clone(),
        access: options.toolsets.access(),
        auditors: options.auditors.clone(),
        limits: options.limits,
        origins: Origins::new(&options.allowed_hosts, &options.allowed_origins)?,
        cookie: Cookie::of_port(address.port()),
        admission: Admission::new(&options.limits),
        metrics: Arc::new(Metrics::new()),
        presence: Presence::default(),
        request_ids: RequestIds::new()?,
        exposure: if address.ip().is_loopback() { Exposure::Loopback } else { Exposure::Network },
        stopping,
    })
}

async fn tidy(metrics: Arc<Metrics>) {
    let mut ticks = tokio::time::interval(TIDY);
    loop {
        ticks.tick().await;
        metrics.tidy();
    }
}

/// Connections under way.
struct Connections {
    tasks: JoinSet<()>,
    graceful: GracefulShutdown,
}

/// Takes connections until the server is asked to stop.
async fn accept(listener: &TcpListener, app: &Arc<App>, router: &Router, shutdown: &CancellationToken) -> Connections {
    let room = Arc::new(Semaphore::new(app.limits.connections.min(Semaphore::MAX_PERMITS)));
    let mut connections = Connections { tasks: JoinSet::new(), graceful: GracefulShutdown::new() };
    loop {
        let accepted = async {
            let permit = Arc::clone(&room).acquire_owned().await;
            (permit, listener.accept().await)
        };
        tokio::select! {
            () = shutdown.cancelled() => return connections,
            Some(_) = connections.tasks.join_next() => {}
            (permit, accepted) = accepted => match accepted {
                Ok((stream, peer)) => {
                    let counted = app.metrics.connection();
                    let connection = connections.serve(stream, peer, router.clone());
                    connections.tasks.spawn(async move {
                        connection.await;
                        drop((permit, counted));
                    });
                }
                Err(error) => {
                    tracing::warn!(%error, "a connection was not accepted");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            },
        }
    }
}

impl Connections {
    /// One connection, from its first request to its last.
    fn serve(&self, stream: TcpStream, peer: SocketAddr, router: Router) -> impl Future<Output = ()> + Send + use<> {
        // Answers are small and somebody waits for them.
        let _ = stream.set_nodelay(true);
        let arrived = stream.local_addr().ok().map(|address| Arrived(address.ip()));
        let service = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(ConnectInfo(peer));
            arrived.map(|arrived| request.extensions_mut().insert(arrived));
            router.clone().call(request.map(Body::new))
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_TIME)
            .serve_connection(TokioIo::new(stream), service);
        let watched = self.graceful.watch(connection);
        async move {
            // A client that went away is no news.
            if let Err(error) = watched.await {
                tracing::debug!(%error, "a connection ended");
            }
        }
    }

    /// Lets connections finish what is running; cuts off those that take too long.
    async fn finish(mut self, time: Duration) {
        let all = async {
            self.graceful.shutdown().await;
            while self.tasks.join_next().await.is_some() {}
        };
        if tokio::time::timeout(time, all).await.is_err() {
            tracing::warn!(seconds = time.as_secs(), "cutting off connections that did not finish in time");
        }
    }
}
