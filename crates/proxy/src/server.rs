//! Listening, accepting, and stopping without cutting anybody off.

mod silence;

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use callgate_decide::Decider;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

use crate::access::Trust;
use crate::gateway::{Gateway, Inner};
use crate::metrics::Metrics;
use crate::route::Routes;
use crate::settings::Settings;
use crate::upstream::{Timeouts, Tls, Upstreams};

/// A gateway that has its address and can serve.
pub struct Server {
    listener: TcpListener,
    gateway: Gateway,
    connections: Arc<Semaphore>,
    builder: Builder<TokioExecutor>,
    /// How long a client may take for its first request.
    patience: Duration,
    shutdown: Duration,
}

/// Why a gateway cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The address is taken or not ours.
    #[error("cannot listen on `{address}`: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system says.
        source: io::Error,
    },
    /// A provider's address cannot be used.
    #[error("provider `{provider}`: {why}")]
    Provider {
        /// The provider.
        provider: String,
        /// What is wrong.
        why: String,
    },
    /// There are no certificates to trust.
    #[error("TLS cannot be set up: {0}")]
    Tls(String),
}

impl Server {
    /// Takes the address. Must be called inside a runtime.
    pub async fn start(settings: Settings, decider: Decider) -> Result<Self, StartError> {
        let address = settings.listen;
        let routes = Routes::new(&settings).map_err(|(provider, error)| StartError::Provider {
            provider,
            why: error.to_string(),
        })?;
        let tls = Tls::system().map_err(|error| StartError::Tls(error.to_string()))?;
        let listener = TcpListener::bind(address)
            .await
            .map_err(|source| StartError::Listen { address, source })?;
        let upstreams = Upstreams::new(waits(&settings), tls);
        let (connections, shutdown) = (settings.max_connections, settings.timeouts.shutdown);
        let patience = settings.timeouts.client_head;
        let builder = builder(patience);
        let inner = Inner {
            trust: Trust::of(address),
            settings,
            routes,
            upstreams,
            decider,
            metrics: Metrics::new(),
        };
        Ok(Self {
            listener,
            gateway: Gateway::new(inner),
            connections: Arc::new(Semaphore::new(connections)),
            builder,
            patience,
            shutdown,
        })
    }

    /// Where it listens: the port, if the settings left it open.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until `stop`; then lets streams finish for as long as the settings say.
    pub async fn serve(self, stop: impl Future<Output = ()>) {
        let graceful = GracefulShutdown::new();
        tokio::pin!(stop);
        loop {
            let accepted = tokio::select! {
                () = &mut stop => break,
                accepted = self.accept() => accepted,
            };
            let Some((stream, permit)) = accepted else { continue };
            let gateway = self.gateway.clone();
            let (speaks, heard) = silence::watch();
            let service = service_fn(move |request| {
                speaks.note();
                let gateway = gateway.clone();
                // In a box, for hyper keeps room for it as long as the connection lasts.
                Box::pin(async move { Ok::<_, Infallible>(gateway.answer(request).await) })
            });
            let connection = self.builder.serve_connection(TokioIo::new(stream), service);
            let connection = graceful.watch(connection.into_owned());
            let connection = heard.or_cut(connection, self.patience);
            tokio::spawn(async move {
                if let Some(Err(error)) = connection.await {
                    tracing::debug!(error, "a connection broke off");
                }
                drop(permit);
            });
        }
        drop(self.listener);
        if tokio::time::timeout(self.shutdown, graceful.shutdown()).await.is_err() {
            tracing::warn!("streams that had not finished were cut off");
        }
    }

    /// The next client, once there is room for it.
    async fn accept(&self) -> Option<(TcpStream, tokio::sync::OwnedSemaphorePermit)> {
        let permit = Arc::clone(&self.connections).acquire_owned().await.ok()?;
        match self.listener.accept().await {
            Ok((stream, _)) => {
                // Frames are small and must not wait for each other.
                stream.set_nodelay(true).ok();
                Some((stream, permit))
            }
            Err(error) => {
                // Out of file descriptors, most often: others must end first.
                tracing::warn!(%error, "cannot accept a connection");
                tokio::time::sleep(Duration::from_millis(50)).await;
                None
            }
        }
    }
}

fn waits(settings: &Settings) -> Timeouts {
    let timeouts = &settings.timeouts;
    Timeouts { connect: timeouts.connect, head: timeouts.head, idle: timeouts.idle }
}

fn builder(head: Duration) -> Builder<TokioExecutor> {
    let mut builder = Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(head)
        .max_buf_size(MAX_HEAD)
        .keep_alive(true);
    builder.http2().timer(TokioTimer::new()).max_concurrent_streams(MAX_STREAMS);
    builder
}

/// The most a request's head may take, and what is read of a body at once.
const MAX_HEAD: usize = 64 * 1024;
/// Streams of one HTTP/2 connection at once.
const MAX_STREAMS: u32 = 250;
