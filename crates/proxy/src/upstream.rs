//! Connections to the providers: sends requests and receives responses.
//!
//! ```text
//! Upstreams::send ─► ConnectionPool (for one target)
//!                      ├─ H1Connection   idle list; one exchange each; polled inside its response body
//!                      └─ H2Connection   shared; has a task of its own
//!                   ─► Response<UpstreamBody>   returns its connection at its end, or closes it
//! ```
//!
//! For TLS the protocol is negotiated in the handshake (ALPN). Plain text is always HTTP/1.1.

mod client_body;
mod connect;
mod error;
mod h1;
mod h2;
mod idle_timer;
mod pool;
mod prepare;
mod request_body;
mod response_body;
mod stream;
mod target;
mod tls;

#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use http::{Request, Response};
use parking_lot::Mutex;
use tokio::time::{Instant, timeout};

pub(crate) use self::client_body::{ClientBody, ClientBodyError};
pub(crate) use self::error::{Stage, TimeoutKind, UpstreamError};
pub(crate) use self::request_body::RequestBody;
pub(crate) use self::response_body::{Progress, UpstreamBody};
pub(crate) use self::target::{TargetError, UpstreamTarget};
pub(crate) use self::tls::Tls;
pub use self::tls::system_roots;

use self::connect::Protocol;
use self::h1::{ExchangeError, H1Connection};
use self::h2::{H2Connection, H2Slot};
use self::idle_timer::IdleTimer;
use self::pool::ConnectionPool;
use self::response_body::BodySource;

/// How long each step may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UpstreamTimeouts {
    /// Resolving, TCP and TLS together.
    pub(crate) connect: Duration,
    /// From sending the request to the head of the response.
    pub(crate) head: Duration,
    /// Between two pieces of the body. A stream that keeps sending is never interrupted.
    pub(crate) idle: Duration,
}

/// All connections to all providers. Cheap to clone, shared by all workers.
#[derive(Clone)]
pub(crate) struct Upstreams {
    shared: Arc<AllConnections>,
}

struct AllConnections {
    timeouts: UpstreamTimeouts,
    tls: Tls,
    pools: Mutex<Pools>,
}

/// By origin. There are as many as configured providers.
struct Pools {
    by_origin: HashMap<Arc<str>, Arc<ConnectionPool>>,
    swept: Instant,
}

/// A connection for one exchange.
enum PooledConnection {
    H1(Box<H1Connection>),
    H2(H2Slot),
}

/// Whether a used connection may be taken.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reuse {
    Yes,
    No,
}

/// Why an exchange got no response.
enum ExchangeFailure {
    /// Nothing was sent, so the request can be retried on another connection.
    Unsent(Box<Request<RequestBody>>, UpstreamError),
    Final(UpstreamError),
}

impl Upstreams {
    pub(crate) fn new(timeouts: UpstreamTimeouts, tls: Tls) -> Self {
        let pools = Pools { by_origin: HashMap::new(), swept: Instant::now() };
        Self { shared: Arc::new(AllConnections { timeouts, tls, pools: Mutex::new(pools) }) }
    }

    /// Sends `request` and returns as soon as the head of the response has arrived.
    ///
    /// The request has a path and no hop-by-hop headers; `Host` and the length are set here. If
    /// nothing was sent because the connection turned out to be closed, the request is sent once
    /// more on a new connection. No other request is repeated. A response that arrives before the
    /// request was sent completely is valid.
    pub(crate) async fn send(
        &self,
        target: &UpstreamTarget,
        request: Request<RequestBody>,
    ) -> Result<Response<UpstreamBody>, UpstreamError> {
        let pool = self.pool(target);
        match self.attempt(&pool, target, request, Reuse::Yes).await {
            Ok(response) => Ok(response),
            Err(ExchangeFailure::Final(error)) => Err(error),
            Err(ExchangeFailure::Unsent(request, error)) => {
                tracing::debug!(%error, "retrying the request on a new connection");
                let again = self.attempt(&pool, target, *request, Reuse::No).await;
                again.map_err(ExchangeFailure::into_error)
            }
        }
    }

    async fn attempt(
        &self,
        pool: &Arc<ConnectionPool>,
        target: &UpstreamTarget,
        request: Request<RequestBody>,
        reuse: Reuse,
    ) -> Result<Response<UpstreamBody>, ExchangeFailure> {
        let connection =
            self.connection(pool, target, reuse).await.map_err(ExchangeFailure::Final)?;
        match connection {
            PooledConnection::H1(connection) => {
                self.send_on_h1(pool, target, request, connection).await
            }
            PooledConnection::H2(slot) => self.send_on_h2(pool, target, request, slot).await,
        }
    }

    async fn send_on_h1(
        &self,
        pool: &Arc<ConnectionPool>,
        target: &UpstreamTarget,
        request: Request<RequestBody>,
        mut connection: Box<H1Connection>,
    ) -> Result<Response<UpstreamBody>, ExchangeFailure> {
        let request = prepare::for_h1(request, target);
        let at = target.origin();
        let answer = self.in_time(target, connection.exchange(request)).await?;
        let response = answer.map_err(|failed| {
            let error = |error| UpstreamError::from_h1(error, at, Stage::Head);
            match failed {
                ExchangeError::Unsent(request, it) => ExchangeFailure::Unsent(request, error(it)),
                ExchangeError::Failed(it) => ExchangeFailure::Final(error(it)),
            }
        })?;
        let (head, ()) = response.into_parts();
        let source = BodySource::H1 { connection, pool: Arc::clone(pool) };
        self.response(target, Response::from_parts(head, source))
    }

    async fn send_on_h2(
        &self,
        pool: &Arc<ConnectionPool>,
        target: &UpstreamTarget,
        request: Request<RequestBody>,
        mut slot: H2Slot,
    ) -> Result<Response<UpstreamBody>, ExchangeFailure> {
        let request = prepare::for_h2(request, target).map_err(ExchangeFailure::Final)?;
        let answer = self.in_time(target, slot.exchange(request)).await?;
        let response = answer.map_err(|mut failed| {
            let error = UpstreamError::from_hyper(failed.error(), target.origin(), Stage::Head);
            match failed.take_message() {
                Some(request) => {
                    pool.retire(&slot);
                    ExchangeFailure::Unsent(Box::new(request), error)
                }
                None => ExchangeFailure::Final(error),
            }
        })?;
        self.response(target, response.map(|incoming| BodySource::H2 { incoming, _slot: slot }))
    }

    async fn in_time<T>(
        &self,
        target: &UpstreamTarget,
        answer: impl Future<Output = T>,
    ) -> Result<T, ExchangeFailure> {
        let limit = self.shared.timeouts.head;
        let at = || Arc::clone(target.origin());
        timeout(limit, answer).await.map_err(|_elapsed| {
            ExchangeFailure::Final(UpstreamError::Timeout {
                at: at(),
                which: TimeoutKind::Head,
                limit,
            })
        })
    }

    fn response(
        &self,
        target: &UpstreamTarget,
        response: Response<BodySource>,
    ) -> Result<Response<UpstreamBody>, ExchangeFailure> {
        let at = target.origin();
        // Before the connection is returned to the pool: a refused head closes it.
        prepare::check(&response, at).map_err(ExchangeFailure::Final)?;
        Ok(response.map(|source| {
            let idle_timer = IdleTimer::new(self.shared.timeouts.idle);
            UpstreamBody::new(source, idle_timer, Arc::clone(at))
        }))
    }

    /// An existing connection, or a new one.
    async fn connection(
        &self,
        pool: &Arc<ConnectionPool>,
        target: &UpstreamTarget,
        reuse: Reuse,
    ) -> Result<PooledConnection, UpstreamError> {
        if reuse == Reuse::Yes
            && let Some(connection) = ready_connection(pool)
        {
            return Ok(connection);
        }
        let limit = self.shared.timeouts.connect;
        // Boxed, because most exchanges find a connection and need no room for this.
        match Box::pin(timeout(limit, self.dial(pool, target))).await {
            Ok(dialed) => dialed,
            Err(_elapsed) => {
                let at = Arc::clone(target.origin());
                Err(UpstreamError::Timeout { at, which: TimeoutKind::Connect, limit })
            }
        }
    }

    /// Opens a connection. If it may be one that many exchanges can share, only one is opened at a
    /// time, and those who waited first check for it again.
    async fn dial(
        &self,
        pool: &Arc<ConnectionPool>,
        target: &UpstreamTarget,
    ) -> Result<PooledConnection, UpstreamError> {
        let may_share = || target.server_name().is_some() && pool.protocol() != Some(Protocol::H1);
        let turn = if may_share() { Some(pool.dialing.lock().await) } else { None };
        if turn.is_some()
            && let Some(slot) = pool.slot()
        {
            return Ok(PooledConnection::H2(slot));
        }
        let turn = turn.filter(|_| may_share());
        let opened = connect::open(target, &self.shared.tls).await?;
        pool.set_protocol(opened.protocol);
        let failed = |error| UpstreamError::from_hyper(&error, target.origin(), Stage::Head);
        let connection = match opened.protocol {
            Protocol::H1 => PooledConnection::H1(Box::new(H1Connection::new(opened.stream))),
            Protocol::H2 => {
                let connection = H2Connection::new(opened.stream).await.map_err(failed)?;
                PooledConnection::H2(pool.add_h2_connection(connection))
            }
        };
        drop(turn);
        Ok(connection)
    }

    /// Closes idle connections to all other providers, which were removed from the settings.
    pub(crate) fn keep_only<'t>(&self, targets: impl Iterator<Item = &'t UpstreamTarget>) {
        let kept: HashSet<&Arc<str>> = targets.map(UpstreamTarget::origin).collect();
        self.shared.pools.lock().by_origin.retain(|origin, _| kept.contains(origin));
    }

    fn pool(&self, target: &UpstreamTarget) -> Arc<ConnectionPool> {
        let mut pools = self.shared.pools.lock();
        if pools.swept.elapsed() > SWEEP_INTERVAL {
            pools.swept = Instant::now();
            pools.by_origin.values().for_each(|pool| pool.sweep());
        }
        if let Some(pool) = pools.by_origin.get(target.origin()) {
            return Arc::clone(pool);
        }
        let pool = Arc::new(ConnectionPool::new());
        pools.by_origin.insert(Arc::clone(target.origin()), Arc::clone(&pool));
        pool
    }
}

fn ready_connection(pool: &ConnectionPool) -> Option<PooledConnection> {
    match pool.protocol()? {
        Protocol::H1 => pool.take_idle().map(PooledConnection::H1),
        Protocol::H2 => pool.slot().map(PooledConnection::H2),
    }
}

impl ExchangeFailure {
    fn into_error(self) -> UpstreamError {
        match self {
            Self::Unsent(_, error) | Self::Final(error) => error,
        }
    }
}

/// How often idle connections are swept.
const SWEEP_INTERVAL: Duration = Duration::from_secs(10);
