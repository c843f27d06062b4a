//! The body of a client's request, which must keep coming.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;

use super::quiet::Quiet;

/// A body as the client sends it. A pause that is longer than the limit ends it with an error.
///
/// Time counts only while somebody waits for the client: a provider that does not read holds nobody
/// to account but itself.
pub(crate) struct ClientBody {
    incoming: Incoming,
    /// The first frame, which was waited for before anything was sent to a provider.
    first: Option<Frame<Bytes>>,
    quiet: Quiet,
    stalled: Stalled,
}

/// Says whether the client paused for too long. A connection to a provider reports a failed upload
/// in several ways, and sometimes only as a reset.
#[derive(Debug, Clone)]
pub(crate) struct Stalled {
    limit: Duration,
    stalled: Arc<AtomicBool>,
}

/// Why there is no more of a body.
#[derive(Debug)]
pub(crate) enum ClientBodyError {
    /// The client paused for longer than this.
    Stalled(Duration),
    /// It broke off, or is not valid HTTP.
    Broken(hyper::Error),
}

impl ClientBody {
    pub(crate) fn new(incoming: Incoming, limit: Duration) -> Self {
        let stalled = Stalled { limit, stalled: Arc::default() };
        Self { incoming, first: None, quiet: Quiet::new(limit), stalled }
    }

    /// Waits for the first byte; `None` if the body ends without one.
    pub(crate) async fn begun(mut self) -> Result<Option<Self>, ClientBodyError> {
        loop {
            match poll_fn(|cx| self.poll_incoming(cx)).await {
                None => return Ok(None),
                Some(Err(error)) => return Err(error),
                Some(Ok(frame)) if is_empty(&frame) => {}
                Some(Ok(frame)) => {
                    self.first = Some(frame);
                    return Ok(Some(self));
                }
            }
        }
    }

    pub(crate) fn stalled(&self) -> Stalled {
        self.stalled.clone()
    }

    fn poll_incoming(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, ClientBodyError>>> {
        let frame = match Pin::new(&mut self.incoming).poll_frame(cx) {
            Poll::Ready(frame) => frame,
            Poll::Pending if self.quiet.poll_too_long(cx).is_ready() => {
                let limit = self.stalled.note();
                return Poll::Ready(Some(Err(ClientBodyError::Stalled(limit))));
            }
            Poll::Pending => return Poll::Pending,
        };
        // HTTP/2 has frames without a byte. They do not count.
        if !matches!(&frame, Some(Ok(frame)) if is_empty(frame)) {
            self.quiet.broken();
        }
        Poll::Ready(frame.map(|frame| frame.map_err(ClientBodyError::Broken)))
    }
}

impl Stalled {
    /// The limit, if the client has paused for longer.
    pub(crate) fn get(&self) -> Option<Duration> {
        self.stalled.load(Ordering::Acquire).then_some(self.limit)
    }

    fn note(&self) -> Duration {
        self.stalled.store(true, Ordering::Release);
        self.limit
    }
}

fn is_empty(frame: &Frame<Bytes>) -> bool {
    frame.data_ref().is_some_and(Bytes::is_empty)
}

impl Body for ClientBody {
    type Data = Bytes;
    type Error = ClientBodyError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, ClientBodyError>>> {
        let this = self.get_mut();
        match this.first.take() {
            Some(first) => Poll::Ready(Some(Ok(first))),
            None => this.poll_incoming(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.first.is_none() && self.incoming.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let first = self.first.as_ref().and_then(Frame::data_ref).map_or(0, Bytes::len) as u64;
        let rest = self.incoming.size_hint();
        let mut hint = SizeHint::new();
        hint.set_lower(rest.lower().saturating_add(first));
        if let Some(upper) = rest.upper() {
            hint.set_upper(upper.saturating_add(first));
        }
        hint
    }
}

impl fmt::Debug for ClientBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientBody").field("incoming", &self.incoming).finish_non_exhaustive()
    }
}

impl fmt::Display for ClientBodyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stalled(limit) => write!(f, "no byte of the body came within {limit:?}"),
            Self::Broken(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ClientBodyError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Stalled(_) => None,
            Self::Broken(error) => error.source(),
        }
    }
}
