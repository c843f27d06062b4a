//! The way to the providers: connections, requests up, responses down.
//!
//! ```text
//! Upstreams::send ─► Site (connections of one target)
//!                      ├─ h1::Line    idle list; one exchange each; polled inside the body it feeds
//!                      └─ h2::Trunk   shared; a task of its own
//!                   ─► Response<UpstreamBody>   gives its connection back at its end, or closes it
//! ```
//!
//! Which of the two protocols is spoken over TLS is agreed in the handshake (ALPN). Plain text is always HTTP/1.1.

mod client_body;
mod connect;
mod drive;
mod error;
mod h1;
mod h2;
mod prepare;
mod quiet;
mod request_body;
mod response_body;
mod site;
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
pub(crate) use self::error::{Stage, UpstreamError, Which};
pub(crate) use self::request_body::RequestBody;
pub(crate) use self::response_body::{Progress, UpstreamBody};
pub(crate) use self::target::{Target, TargetError};
pub(crate) use self::tls::Tls;
pub use self::tls::system_roots;

use self::connect::Protocol;
use self::h1::{Answer, Line};
use self::h2::{Seat, Trunk};
use self::quiet::Quiet;
use self::response_body::Carrier;
use self::site::Site;

/// How long each step may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timeouts {
    /// Address, TCP and TLS together.
    pub(crate) connect: Duration,
    /// From sending the request to the head of the answer.
    pub(crate) head: Duration,
    /// Between two pieces of the body. A stream that keeps sending is never cut.
    pub(crate) idle: Duration,
}

/// All connections to all providers. Cheap to copy, shared by all workers.
#[derive(Clone)]
pub(crate) struct Upstreams {
    shared: Arc<Shared>,
}

struct Shared {
    timeouts: Timeouts,
    tls: Tls,
    sites: Mutex<Sites>,
}

/// By origin. As many as there are providers in the settings.
struct Sites {
    by_origin: HashMap<Arc<str>, Arc<Site>>,
    swept: Instant,
}

/// A connection for one exchange.
enum Way {
    Line(Box<Line>),
    Seat(Seat),
}

/// Whether a connection that has been used may be taken.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reuse {
    Yes,
    No,
}

/// Why an exchange has no answer.
enum Failure {
    /// Nothing of the request was sent: it can go another way.
    Unsent(Box<Request<RequestBody>>, UpstreamError),
    Final(UpstreamError),
}

impl Upstreams {
    pub(crate) fn new(timeouts: Timeouts, tls: Tls) -> Self {
        let sites = Sites { by_origin: HashMap::new(), swept: Instant::now() };
        Self { shared: Arc::new(Shared { timeouts, tls, sites: Mutex::new(sites) }) }
    }

    /// Sends `request` and answers with the head as soon as it is there.
    ///
    /// The request has a path and no hop-by-hop headers; `Host` and the length are set here. A request of which nothing
    /// was sent, because the connection turned out to be closed, is sent once more on a new one; no other is repeated.
    /// An answer that comes before the request was sent wholly is an answer.
    pub(crate) async fn send(
        &self,
        target: &Target,
        request: Request<RequestBody>,
    ) -> Result<Response<UpstreamBody>, UpstreamError> {
        let site = self.site(target);
        match self.attempt(&site, target, request, Reuse::Yes).await {
            Ok(response) => Ok(response),
            Err(Failure::Final(error)) => Err(error),
            Err(Failure::Unsent(request, error)) => {
                tracing::debug!(%error, "sent again on a new connection");
                let again = self.attempt(&site, target, *request, Reuse::No).await;
                again.map_err(Failure::into_error)
            }
        }
    }

    async fn attempt(
        &self,
        site: &Arc<Site>,
        target: &Target,
        request: Request<RequestBody>,
        reuse: Reuse,
    ) -> Result<Response<UpstreamBody>, Failure> {
        let way = self.way(site, target, reuse).await.map_err(Failure::Final)?;
        match way {
            Way::Line(line) => self.send_on_line(site, target, request, line).await,
            Way::Seat(seat) => self.send_on_seat(site, target, request, seat).await,
        }
    }

    async fn send_on_line(
        &self,
        site: &Arc<Site>,
        target: &Target,
        request: Request<RequestBody>,
        mut line: Box<Line>,
    ) -> Result<Response<UpstreamBody>, Failure> {
        let request = prepare::for_h1(request, target);
        let answer = self.in_time(target, line.exchange(request)).await?;
        let carrier = Carrier::H1 { line, site: Arc::clone(site) };
        self.response(target, answer, carrier)
    }

    async fn send_on_seat(
        &self,
        site: &Arc<Site>,
        target: &Target,
        request: Request<RequestBody>,
        mut seat: Seat,
    ) -> Result<Response<UpstreamBody>, Failure> {
        let request = prepare::for_h2(request, target).map_err(Failure::Final)?;
        let answer = self.in_time(target, seat.exchange(request)).await?;
        if answer.as_ref().is_err_and(|failed| failed.message().is_some()) {
            site.retire(&seat);
        }
        self.response(target, answer, Carrier::H2 { _seat: seat })
    }

    async fn in_time(
        &self,
        target: &Target,
        answer: impl Future<Output = Answer>,
    ) -> Result<Answer, Failure> {
        let limit = self.shared.timeouts.head;
        let at = || Arc::clone(target.origin());
        timeout(limit, answer).await.map_err(|_elapsed| {
            Failure::Final(UpstreamError::Timeout { at: at(), which: Which::Head, limit })
        })
    }

    fn response(
        &self,
        target: &Target,
        answer: Answer,
        carrier: Carrier,
    ) -> Result<Response<UpstreamBody>, Failure> {
        let at = target.origin();
        match answer {
            Ok(response) => {
                // Before the connection can be given back: a head that is refused closes it.
                prepare::check(&response, at).map_err(Failure::Final)?;
                Ok(response.map(|incoming| {
                    let quiet = Quiet::new(self.shared.timeouts.idle);
                    UpstreamBody::new(incoming, carrier, quiet, Arc::clone(at))
                }))
            }
            Err(mut failed) => {
                let error = UpstreamError::from_hyper(failed.error(), at, Stage::Head);
                Err(match failed.take_message() {
                    Some(request) => Failure::Unsent(Box::new(request), error),
                    None => Failure::Final(error),
                })
            }
        }
    }

    /// A connection: one that is there, or a new one.
    async fn way(
        &self,
        site: &Arc<Site>,
        target: &Target,
        reuse: Reuse,
    ) -> Result<Way, UpstreamError> {
        if reuse == Reuse::Yes
            && let Some(way) = ready_way(site)
        {
            return Ok(way);
        }
        let limit = self.shared.timeouts.connect;
        match timeout(limit, self.dial(site, target)).await {
            Ok(dialed) => dialed,
            Err(_elapsed) => {
                let at = Arc::clone(target.origin());
                Err(UpstreamError::Timeout { at, which: Which::Connect, limit })
            }
        }
    }

    /// Opens a connection. Where it may turn out to be one that many can share, only one is opened at a time, and those
    /// who waited look first whether there is one now.
    async fn dial(&self, site: &Arc<Site>, target: &Target) -> Result<Way, UpstreamError> {
        let may_share = || target.server_name().is_some() && site.spoken() != Some(Protocol::H1);
        let turn = if may_share() { Some(site.dialing.lock().await) } else { None };
        if turn.is_some()
            && let Some(seat) = site.seat()
        {
            return Ok(Way::Seat(seat));
        }
        let turn = turn.filter(|_| may_share());
        let opened = connect::open(target, &self.shared.tls).await?;
        site.note_spoken(opened.protocol);
        let failed = |error| UpstreamError::from_hyper(&error, target.origin(), Stage::Head);
        let way = match opened.protocol {
            Protocol::H1 => Way::Line(Box::new(Line::new(opened.stream).await.map_err(failed)?)),
            Protocol::H2 => {
                let trunk = Trunk::new(opened.stream).await.map_err(failed)?;
                Way::Seat(site.add_trunk(trunk))
            }
        };
        drop(turn);
        Ok(way)
    }

    /// Drops the idle connections to all other providers: they have left the settings.
    pub(crate) fn keep_only<'t>(&self, targets: impl Iterator<Item = &'t Target>) {
        let kept: HashSet<&Arc<str>> = targets.map(Target::origin).collect();
        self.shared.sites.lock().by_origin.retain(|origin, _| kept.contains(origin));
    }

    fn site(&self, target: &Target) -> Arc<Site> {
        let mut sites = self.shared.sites.lock();
        if sites.swept.elapsed() > SWEEP_INTERVAL {
            sites.swept = Instant::now();
            sites.by_origin.values().for_each(|site| site.sweep());
        }
        if let Some(site) = sites.by_origin.get(target.origin()) {
            return Arc::clone(site);
        }
        let site = Arc::new(Site::new());
        sites.by_origin.insert(Arc::clone(target.origin()), Arc::clone(&site));
        site
    }
}

fn ready_way(site: &Site) -> Option<Way> {
    match site.spoken()? {
        Protocol::H1 => site.take_idle().map(Way::Line),
        Protocol::H2 => site.seat().map(Way::Seat),
    }
}

impl Failure {
    fn into_error(self) -> UpstreamError {
        match self {
            Self::Unsent(_, error) | Self::Final(error) => error,
        }
    }
}

/// How often connections that nobody asks for are looked at.
const SWEEP_INTERVAL: Duration = Duration::from_secs(10);
