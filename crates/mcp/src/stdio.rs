//! A server on standard input and output: one message a line, and nothing else on standard output.
//!
//! The protocol library has a transport for this. Ours differs where a client misbehaves: it answers what it can't
//! read with the error that JSON-RPC names for it, it skips a line that is too long without holding it, it takes
//! only so many requests at a time, and no message ends the session.
//!
//! ```text
//! stdin ─▶ lines ─▶ message ─▶ in-flight limit ─▶ library ─▶ Server
//!              └───────┴─ error ─▶ writer ─▶ stdout ◀────────┘
//! ```

mod flight;
mod lines;
mod message;
mod overlong;

use std::io;
use std::sync::Arc;

use bailiwick_desk::Desk;
use rmcp::model::ServerJsonRpcMessage;
use rmcp::service::{QuitReason, RxJsonRpcMessage, ServerInitializeError, TxJsonRpcMessage, serve_server_with_ct};
use rmcp::transport::Transport;
use rmcp::{RoleServer, transport};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::{Mutex, mpsc};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use self::flight::Flight;
use self::lines::{Line, Lines};
use self::message::{Fault, Lifecycle};
use crate::{Identity, Server, Toolsets};

pub use self::lines::MOST_MESSAGE_BYTES;

/// Why a session over standard input and output ended before its time.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StdioError {
    /// No session came about
    #[error("the session could not be opened: {0}")]
    Open(String),
    /// The task that serves the session was lost
    #[error("the session was lost: {0}")]
    Lost(String),
}

/// Serves one session on standard input and output, until input ends or `shutdown` is cancelled. What is under way
/// then is finished and answered first, and calls that wait answer as things stand.
///
/// Standard input may be left with a read pending that only its end stops, so a program that returns from here on
/// `shutdown` should exit without waiting for its runtime.
///
/// # Errors
///
/// [`StdioError`]; nothing that a client sends leads to one.
pub async fn serve_stdio(
    desk: Desk,
    identity: Identity,
    toolsets: &Toolsets,
    shutdown: CancellationToken,
) -> Result<(), StdioError> {
    serve_streams(desk, identity, toolsets, transport::stdio_pipes(), shutdown).await
}

/// Serves one session on a pair of streams, as [`serve_stdio`] does.
///
/// # Errors
///
/// As [`serve_stdio`].
pub async fn serve_streams<R, W>(
    desk: Desk,
    identity: Identity,
    toolsets: &Toolsets,
    (reader, writer): (R, W),
    shutdown: CancellationToken,
) -> Result<(), StdioError>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    // Cancelled at the end of input too, so that waiting calls don't hold up the end.
    let closing = shutdown.child_token();
    let server = Server::new(desk, identity, toolsets, closing.clone());
    let transport = Session::open(reader, writer, closing);
    match serve_server_with_ct(server, transport, shutdown).await {
        Ok(running) => match running.waiting().await {
            Ok(QuitReason::JoinError(error)) | Err(error) => Err(StdioError::Lost(error.to_string())),
            Ok(_) => Ok(()),
        },
        // Input ended, or the program does, before the client opened a session: nothing is amiss.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => Ok(()),
        Err(error) => Err(StdioError::Open(error.to_string())),
    }
}

/// The two streams, as the library takes them.
struct Session<W> {
    incoming: mpsc::Receiver<RxJsonRpcMessage<RoleServer>>,
    writer: Writer<W>,
    flight: Arc<Flight>,
    _reading: AbortOnDropHandle<()>,
}

impl<W: AsyncWrite + Send + Unpin + 'static> Session<W> {
    /// Starts reading. `closing` is cancelled when input ends or nobody reads the output any more.
    fn open(reader: impl AsyncRead + Send + Unpin + 'static, writer: W, closing: CancellationToken) -> Self {
        let (outgoing, incoming) = mpsc::channel(1);
        let flight = Arc::new(Flight::new());
        let writer = Writer { stream: Arc::new(Mutex::new(writer)), gone: CancellationToken::new() };
        let reading = read(Lines::new(reader), outgoing, writer.clone(), Arc::clone(&flight));
        let gone = writer.gone.clone();
        let reading = tokio::spawn(async move {
            tokio::select! {
                () = reading => {}
                () = gone.cancelled() => {}
            }
            closing.cancel();
        });
        Self { incoming, writer, flight, _reading: AbortOnDropHandle::new(reading) }
    }
}

/// Reads messages until input ends, and answers what is none.
async fn read<R: AsyncRead + Unpin, W: AsyncWrite + Send + Unpin>(
    mut lines: Lines<R>,
    outgoing: mpsc::Sender<RxJsonRpcMessage<RoleServer>>,
    writer: Writer<W>,
    flight: Arc<Flight>,
) {
    let mut lifecycle = Lifecycle::default();
    loop {
        let message = match lines.next().await {
            Ok(Line::Text(line)) => message::parse(&line),
            Ok(Line::TooLong(id)) => Err(Fault::too_long(id.as_ref())),
            Ok(Line::End) => return,
            Err(error) => {
                tracing::warn!(%error, "can't read input");
                return;
            }
        };
        match message {
            Ok(Some(message)) if lifecycle.admits(&message) => {
                flight.take_off(&message).await;
                if outgoing.send(message).await.is_err() {
                    return;
                }
            }
            Ok(_) => {}
            Err(fault) => {
                tracing::debug!(?fault, "can't take a message");
                if writer.write(&fault.into_message()).await.is_err() {
                    return;
                }
            }
        }
    }
}

impl<W: AsyncWrite + Send + Unpin + 'static> Transport<RoleServer> for Session<W> {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let (writer, flight) = (self.writer.clone(), Arc::clone(&self.flight));
        async move {
            let sent = writer.write(&message).await;
            flight.land(&message);
            sent
        }
    }

    // Safe to drop half-way: whatever was read waits in the channel.
    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        self.incoming.recv().await
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.writer.stream.lock().await.shutdown().await
    }
}

/// Writes one message a line, from any task.
struct Writer<W> {
    stream: Arc<Mutex<W>>,
    /// Nobody reads any more
    gone: CancellationToken,
}

impl<W> Clone for Writer<W> {
    fn clone(&self) -> Self {
        Self { stream: Arc::clone(&self.stream), gone: self.gone.clone() }
    }
}

impl<W: AsyncWrite + Send + Unpin> Writer<W> {
    async fn write(&self, message: &ServerJsonRpcMessage) -> io::Result<()> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        let mut stream = self.stream.lock().await;
        let written = async {
            stream.write_all(&line).await?;
            stream.flush().await
        };
        let written = written.await;
        if written.is_err() {
            self.gone.cancel();
        }
        written
    }
}
