//! The body of a client's request, with a limit on pauses.

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

use super::idle_timer::IdleTimer;
use crate::kept_body::{BodyRoom, KeptBody};
use crate::settings::Timeouts;

/// A body as the client sends it. It ends with an error after a pause longer than the limit, or
/// when all pauses together exceed a budget that grows with the received bytes. Otherwise one byte
/// now and then would keep a connection to the provider open forever.
///
/// Time counts only while the reader waits for the client: a provider that does not read is not the
/// client's fault.
pub(crate) struct ClientBody {
    incoming: Incoming,
    /// The first frame, which was awaited before contacting a provider.
    first: Option<Frame<Bytes>>,
    idle_timer: IdleTimer,
    /// The remaining time for the body.
    left: Duration,
    stalled: Stalled,
    /// Keeps what is sent.
    kept: Option<KeptBody>,
}

/// The number of bytes that extend the time by one second: slow for a network, and far more than it
/// costs to hold a connection open.
const BYTES_PER_SECOND: u32 = 16 * 1024;

/// Whether the client paused for too long. A connection to a provider reports a failed upload in
/// several ways, and sometimes only as a reset.
#[derive(Debug, Clone)]
pub(crate) struct Stalled {
    /// The longest pause.
    limit: Duration,
    stalled: Arc<AtomicBool>,
}

/// Why a body ended early.
#[derive(Debug)]
pub(crate) enum ClientBodyError {
    /// The client paused for longer than this.
    Stalled(Duration),
    /// It was interrupted, or is not valid HTTP.
    Broken(hyper::Error),
    /// It is longer or shorter than its head says.
    WrongLength,
}

impl ClientBody {
    pub(crate) fn new(incoming: Incoming, timeouts: &Timeouts) -> Self {
        let Timeouts { client_body: pause, client_body_total: left, .. } = *timeouts;
        let stalled = Stalled { limit: pause, stalled: Arc::default() };
        let idle_timer = IdleTimer::new(pause.min(left));
        Self { incoming, first: None, idle_timer, left, stalled, kept: None }
    }

    /// Keeps the body while it is sent.
    pub(crate) fn kept(self, room: &BodyRoom) -> Self {
        Self { kept: Some(KeptBody::arriving(room)), ..self }
    }

    /// What is kept of it.
    pub(crate) fn copy(&self) -> Option<KeptBody> {
        self.kept.clone()
    }

    /// Keeps a frame that is sent.
    fn keep(&self, frame: &Poll<Option<Result<Frame<Bytes>, ClientBodyError>>>) {
        let Some(kept) = &self.kept else { return };
        match frame {
            Poll::Ready(Some(Ok(frame))) => {
                frame.data_ref().into_iter().for_each(|data| kept.add(data));
                if self.incoming.is_end_stream() {
                    kept.complete();
                }
            }
            Poll::Ready(None) => kept.complete(),
            Poll::Ready(Some(Err(_))) | Poll::Pending => {}
        }
    }

    /// Waits for the first byte; `None` if the body is empty.
    pub(crate) async fn after_first_byte(mut self) -> Result<Option<Self>, ClientBodyError> {
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
            Poll::Pending if self.idle_timer.poll_expired(cx).is_ready() => {
                let limit = self.stalled.note();
                return Poll::Ready(Some(Err(ClientBodyError::Stalled(limit))));
            }
            Poll::Pending => return Poll::Pending,
        };
        // Empty HTTP/2 frames do not count.
        if !matches!(&frame, Some(Ok(frame)) if is_empty(frame)) {
            self.count(&frame);
        }
        Poll::Ready(frame.map(|frame| frame.map_err(ClientBodyError::Broken)))
    }
}

impl ClientBody {
    /// Subtracts the pause before a frame from the remaining time, and adds the time for its bytes.
    fn count(&mut self, frame: &Option<Result<Frame<Bytes>, hyper::Error>>) {
        let paused = self.idle_timer.reset();
        let data = frame.as_ref().and_then(|frame| frame.as_ref().ok()?.data_ref());
        let length = u32::try_from(data.map_or(0, Bytes::len)).unwrap_or(u32::MAX);
        let worth = Duration::from_secs(length.into()) / BYTES_PER_SECOND;
        self.left = self.left.saturating_sub(paused).saturating_add(worth);
        self.idle_timer.set_limit(self.stalled.limit.min(self.left));
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
        let frame = match this.first.take() {
            Some(first) => Poll::Ready(Some(Ok(first))),
            None => this.poll_incoming(cx),
        };
        this.keep(&frame);
        frame
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
            Self::Stalled(limit) => {
                write!(
                    f,
                    "the body did not arrive in time (a pause of {limit:?}, or too many pauses)"
                )
            }
            Self::Broken(error) => error.fmt(f),
            Self::WrongLength => f.write_str("the body does not have the length that it announced"),
        }
    }
}

impl std::error::Error for ClientBodyError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Stalled(_) | Self::WrongLength => None,
            Self::Broken(error) => error.source(),
        }
    }
}
