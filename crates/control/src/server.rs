//! The API on its socket: HTTP/1.1, for programs of the same user.

mod answer;

use std::convert::Infallible;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use callgate_store::RecordReader;
use http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use rustix::process::geteuid;
use tokio::net::UnixStream;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, watch};

use self::answer::Answers;
use crate::evaluate::Rules;
use crate::feed::FeedTiming;
use crate::health::GatewayHealth;
use crate::journal::RecordPages;
use crate::owned_socket::OwnedSocket;
use crate::problem::HintedError;

/// The gateway behind the API.
pub trait ApiHost: Send + Sync + 'static {
    /// Its health, without the number of feeds.
    fn health(&self) -> GatewayHealth;

    /// The current policies and settings.
    fn rules(&self) -> Rules;

    /// A reader of its records.
    fn reader(&self) -> Result<RecordReader, HintedError>;

    /// A reader of its records by sequence number, for feeds.
    fn journal(&self) -> Result<Box<dyn RecordPages>, HintedError> {
        Ok(Box::new(self.reader()?))
    }
}

/// An API with its socket.
pub struct ApiServer {
    socket: OwnedSocket,
    answers: Arc<Answers>,
    stop: watch::Sender<bool>,
}

impl ApiServer {
    /// An API for this host on this socket.
    pub fn new(socket: OwnedSocket, host: Arc<dyn ApiHost>) -> Self {
        Self::with_timing(socket, host, FeedTiming::default())
    }

    /// The same with other timeouts.
    pub(crate) fn with_timing(
        socket: OwnedSocket,
        host: Arc<dyn ApiHost>,
        timing: FeedTiming,
    ) -> Self {
        let (stop, stopping) = watch::channel(false);
        Self { socket, answers: Arc::new(Answers::new(host, timing, stopping)), stop }
    }

    /// Serves until `stop` resolves. Then feeds get a last event, requests may finish, and the
    /// socket is removed.
    pub async fn serve(self, stop: impl Future<Output = ()>) {
        let Self { socket, answers, stop: stopping } = self;
        let graceful = GracefulShutdown::new();
        let room = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        tokio::pin!(stop);
        loop {
            let accepted = tokio::select! {
                () = &mut stop => break,
                accepted = accept(&socket, &room) => accepted,
            };
            let Some((stream, permit)) = accepted else { continue };
            let connection = ClientConnection { answers: Arc::clone(&answers), permit };
            tokio::spawn(connection.serve(stream, graceful.watcher()));
        }
        stopping.send_replace(true);
        let _ = tokio::time::timeout(FINISH, graceful.shutdown()).await;
    }
}

/// Accepts the next connection, once there is room for it.
async fn accept(
    socket: &OwnedSocket,
    room: &Arc<Semaphore>,
) -> Option<(UnixStream, OwnedSemaphorePermit)> {
    let permit = Arc::clone(room).acquire_owned().await.ok()?;
    match socket.listener.accept().await {
        Ok((stream, _)) => Some((stream, permit)),
        Err(error) => {
            // Usually out of file descriptors: other connections must end first.
            tracing::warn!(%error, "cannot accept a connection to the API");
            tokio::time::sleep(Duration::from_millis(50)).await;
            None
        }
    }
}

/// One client's connection.
struct ClientConnection {
    answers: Arc<Answers>,
    /// Held as long as the connection lasts.
    permit: OwnedSemaphorePermit,
}

impl ClientConnection {
    async fn serve(self, stream: UnixStream, watcher: hyper_util::server::graceful::Watcher) {
        let Self { answers, permit } = self;
        let is_own = is_own_user(&stream);
        let cut = Arc::new(Notify::new());
        let cutting = Arc::clone(&cut);
        let service = service_fn(move |request: Request<Incoming>| {
            let (answers, cut) = (Arc::clone(&answers), Arc::clone(&cutting));
            async move {
                let answer = match is_own {
                    true => answers.answer(request, cut).await,
                    false => answer::to_another_user(),
                };
                Ok::<_, Infallible>(answer)
            }
        });
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(HEAD).max_buf_size(MAX_HEAD);
        let served = watcher.watch(http.serve_connection(TokioIo::new(stream), service));
        tokio::select! {
            served = served => if let Err(error) = served {
                tracing::debug!(%error, "a connection to the API was interrupted");
            },
            () = cut.notified() => tracing::debug!("a client of the API did not read and was disconnected"),
        }
        drop(permit);
    }
}

/// Whether the process on the other side runs as this user, according to the operating system.
fn is_own_user(stream: &UnixStream) -> bool {
    stream.peer_cred().is_ok_and(|peer| peer.uid() == geteuid().as_raw())
}

/// Maximum number of concurrent clients; more wait.
const MAX_CONNECTIONS: usize = 64;
/// How long a client may take to send the head of its request.
const HEAD: Duration = Duration::from_secs(30);
/// The maximum size of a request head.
const MAX_HEAD: usize = 64 * 1024;
/// How long requests may take to finish once the gateway stops.
const FINISH: Duration = Duration::from_millis(500);
