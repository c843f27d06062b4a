//! The API on its socket: HTTP/1.1, for programs of the same user.

mod answer;

use std::convert::Infallible;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use callgate_store::Reader;
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
use crate::feed::Pace;
use crate::health::Health;
use crate::hold::Held;
use crate::journal::Journal;
use crate::problem::Problem;

/// What the API tells of: a gateway that runs.
pub trait Host: Send + Sync + 'static {
    /// What it says of itself; the feeds are counted elsewhere.
    fn health(&self) -> Health;

    /// What calls are judged by now.
    fn rules(&self) -> Rules;

    /// Its records.
    fn reader(&self) -> Result<Reader, Problem>;

    /// The same in the order of their numbers, for feeds.
    fn journal(&self) -> Result<Box<dyn Journal>, Problem> {
        Ok(Box::new(self.reader()?))
    }
}

/// An API that has its socket.
pub struct Server {
    held: Held,
    answers: Arc<Answers>,
    stop: watch::Sender<bool>,
}

impl Server {
    /// An API of this host on this socket.
    pub fn new(held: Held, host: Arc<dyn Host>) -> Self {
        Self::paced(held, host, Pace::default())
    }

    /// The same, with other waits.
    pub(crate) fn paced(held: Held, host: Arc<dyn Host>, pace: Pace) -> Self {
        let (stop, stopping) = watch::channel(false);
        Self { held, answers: Arc::new(Answers::new(host, pace, stopping)), stop }
    }

    /// Serves until `stop`. Then feeds are told, requests may finish, and the socket is removed.
    pub async fn serve(self, stop: impl Future<Output = ()>) {
        let Self { held, answers, stop: stopping } = self;
        let graceful = GracefulShutdown::new();
        let room = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        tokio::pin!(stop);
        loop {
            let accepted = tokio::select! {
                () = &mut stop => break,
                accepted = accept(&held, &room) => accepted,
            };
            let Some((stream, permit)) = accepted else { continue };
            let connection = Connection { answers: Arc::clone(&answers), permit };
            tokio::spawn(connection.serve(stream, graceful.watcher()));
        }
        stopping.send_replace(true);
        let _ = tokio::time::timeout(FINISH, graceful.shutdown()).await;
    }
}

/// The next client, once there is room for it.
async fn accept(held: &Held, room: &Arc<Semaphore>) -> Option<(UnixStream, OwnedSemaphorePermit)> {
    let permit = Arc::clone(room).acquire_owned().await.ok()?;
    match held.listener.accept().await {
        Ok((stream, _)) => Some((stream, permit)),
        Err(error) => {
            // Out of file descriptors, most often: others must end first.
            tracing::warn!(%error, "cannot accept a connection to the API");
            tokio::time::sleep(Duration::from_millis(50)).await;
            None
        }
    }
}

/// One client's connection.
struct Connection {
    answers: Arc<Answers>,
    /// Held as long as the connection lasts.
    permit: OwnedSemaphorePermit,
}

impl Connection {
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
                    false => answer::to_a_stranger(),
                };
                Ok::<_, Infallible>(answer)
            }
        });
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(HEAD).max_buf_size(MAX_HEAD);
        let served = watcher.watch(http.serve_connection(TokioIo::new(stream), service));
        tokio::select! {
            served = served => if let Err(error) = served {
                tracing::debug!(%error, "a connection to the API broke off");
            },
            () = cut.notified() => tracing::debug!("a reader of the API took nothing and was cut off"),
        }
        drop(permit);
    }
}

/// Whether the process on the other side runs as this user. The system says so, not the process.
fn is_own_user(stream: &UnixStream) -> bool {
    stream.peer_cred().is_ok_and(|peer| peer.uid() == geteuid().as_raw())
}

/// Programs of one user that ask at once; more wait.
const MAX_CONNECTIONS: usize = 64;
/// How long a client may take for the head of its request.
const HEAD: Duration = Duration::from_secs(30);
/// The most a request's head may take.
const MAX_HEAD: usize = 64 * 1024;
/// How long requests may finish once the gateway stops.
const FINISH: Duration = Duration::from_millis(500);
