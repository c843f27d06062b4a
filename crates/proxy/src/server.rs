//! Listens, accepts connections, and stops without interrupting clients.

mod client;
mod first_request;
mod owner;

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use callgate_decide::Decider;
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use self::client::Serving;
use crate::access::Trust;
use crate::gateway::{Gateway, LoadedGateway};
use crate::kept_body::BodyRoom;
use crate::metrics::Metrics;
use crate::mount::Mounts;
use crate::reload::GatewayReloader;
use crate::route::Routes;
use crate::settings::Settings;
use crate::upstream::{Tls, UpstreamTimeouts, Upstreams};

/// A gateway that is bound to its address and can serve.
pub struct BoundGateway {
    listener: TcpListener,
    gateway: Gateway,
    connections: Arc<Semaphore>,
    serving: Serving,
    shutdown: Duration,
    stop_all: watch::Sender<bool>,
}

/// Why a gateway cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The address is in use or not available.
    #[error("cannot listen on `{address}`: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The address of a provider is unusable.
    #[error("provider `{provider}`: {why}")]
    Provider {
        /// The provider.
        provider: String,
        /// What is wrong.
        why: String,
    },
    /// There are no trusted certificates.
    #[error("TLS cannot be set up: {0}")]
    Tls(String),
}

impl BoundGateway {
    /// Binds the address. Call it inside a Tokio runtime.
    pub async fn start(
        settings: Settings,
        decider: Decider,
        mounts: Mounts,
    ) -> Result<Self, StartError> {
        let address = settings.listen;
        let routes = routes(&settings)?;
        let tls = Tls::system().map_err(|error| StartError::Tls(error.to_string()))?;
        let listener = TcpListener::bind(address)
            .await
            .map_err(|source| StartError::Listen { address, source })?;
        let upstreams = Upstreams::new(upstream_timeouts(&settings), tls);
        let (connections, shutdown) = (settings.max_connections, settings.timeouts.shutdown);
        let serving = Serving::new(settings.timeouts.client_head);
        let (stop_all, stopping) = watch::channel(false);
        let inner = LoadedGateway {
            trust: Trust::of(address),
            body_room: BodyRoom::default(),
            stopping,
            settings,
            routes,
            restart_needed: Vec::new(),
            mounts,
            upstreams,
            decider,
            metrics: Metrics::new(),
        };
        Ok(Self {
            listener,
            gateway: Gateway::new(inner),
            connections: Arc::new(Semaphore::new(connections)),
            serving,
            shutdown,
            stop_all,
        })
    }

    /// The address that it listens on, with the actual port if the settings left it open.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// A handle to change its settings while it serves.
    pub fn reloader(&self) -> GatewayReloader {
        GatewayReloader::new(self.gateway.clone())
    }

    /// Serves until `stop` resolves, then lets streams finish for the configured time.
    pub async fn serve(self, stop: impl Future<Output = ()>) {
        let graceful = GracefulShutdown::new();
        let stopping = self.stop_all.subscribe();
        tokio::pin!(stop);
        loop {
            let accepted = tokio::select! {
                () = &mut stop => break,
                accepted = self.accept() => accepted,
            };
            let Some((stream, permit)) = accepted else { continue };
            let stop_signals =
                client::StopSignals { stopping: stopping.clone(), watcher: graceful.watcher() };
            let served = self.serving.clone().serve(stream, self.gateway.clone(), stop_signals);
            tokio::spawn(async move {
                served.await;
                drop(permit);
            });
        }
        self.stop_all.send_replace(true);
        drop(self.listener);
        if tokio::time::timeout(self.shutdown, graceful.shutdown()).await.is_err() {
            tracing::warn!("running streams were cut off");
        }
    }

    /// Accepts the next connection, once there is room for it.
    async fn accept(&self) -> Option<(TcpStream, OwnedSemaphorePermit)> {
        let permit = Arc::clone(&self.connections).acquire_owned().await.ok()?;
        match self.listener.accept().await {
            Ok((stream, _)) => {
                // Frames are small and must not wait for each other.
                stream.set_nodelay(true).ok();
                Some((stream, permit))
            }
            Err(error) => {
                // Usually out of file descriptors: other connections must end first.
                tracing::warn!(%error, "cannot accept a connection");
                tokio::time::sleep(Duration::from_millis(50)).await;
                None
            }
        }
    }
}

/// The routes to the providers, if all their addresses are usable.
pub(crate) fn routes(settings: &Settings) -> Result<Routes, StartError> {
    Routes::new(settings)
        .map_err(|(provider, error)| StartError::Provider { provider, why: error.to_string() })
}

fn upstream_timeouts(settings: &Settings) -> UpstreamTimeouts {
    let timeouts = &settings.timeouts;
    UpstreamTimeouts { connect: timeouts.connect, head: timeouts.head, idle: timeouts.idle }
}
