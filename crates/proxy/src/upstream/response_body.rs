//! The body of a response, which owns its connection.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::{Bytes, BytesMut};
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;

use super::error::{Stage, TimeoutKind, UpstreamError};
use super::h1::H1Connection;
use super::h2::H2Slot;
use super::idle_timer::IdleTimer;
use super::pool::ConnectionPool;

/// The provider's bytes as they arrive.
///
/// Nothing is read ahead of the reader except one read buffer: if the body is not polled, the
/// provider has to wait. When the body was read to its end, its connection serves the next request.
/// When it is dropped earlier, the connection is closed (or the HTTP/2 stream reset), so that the
/// provider stops working. Trailers are dropped: no model API sends any.
///
/// Bytes of the request body are sent only while this body is polled.
pub(crate) struct UpstreamBody {
    source: BodySource,
    idle_timer: IdleTimer,
    at: Arc<str>,
}

/// Where the bytes come from.
pub(super) enum BodySource {
    H1 {
        connection: Box<H1Connection>,
        pool: Arc<ConnectionPool>,
    },
    H2 {
        incoming: Incoming,
        /// Kept only to be dropped with the body.
        _slot: H2Slot,
    },
    /// The next poll reports this.
    Failed(UpstreamError),
    /// Nothing follows: the body is complete, or its error was reported.
    Ended,
}

/// The result of `poll_ready_chunks`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// Bytes were passed on; poll again for more.
    More,
    /// Bytes were passed on, all that have arrived; the next ones wake the task.
    Drained,
    /// The body is complete. Its last bytes may have been passed on in the same call.
    End,
}

impl UpstreamBody {
    pub(super) fn new(source: BodySource, idle_timer: IdleTimer, at: Arc<str>) -> Self {
        let mut body = Self { source, idle_timer, at };
        body.release_if_ended();
        body
    }

    /// Passes on everything that has arrived, piece by piece, so that the caller can send it in one
    /// write. One call passes on about `MAX_READY` bytes at most: a fast provider must not
    /// monopolize the task.
    ///
    /// Pending, or an error, means that nothing was passed on.
    pub(crate) fn poll_ready_chunks(
        &mut self,
        cx: &mut Context<'_>,
        take: &mut impl FnMut(&[u8]),
    ) -> Poll<Result<Progress, UpstreamError>> {
        let mut taken = 0_usize;
        loop {
            let before = taken;
            let polled = self.source.poll(cx, &self.at, &mut |bytes: &[u8]| {
                taken = taken.saturating_add(bytes.len());
                take(bytes);
            });
            if taken > before {
                self.idle_timer.reset();
            }
            match polled {
                Poll::Ready(Ok(Progress::More)) if taken < MAX_READY => {}
                Poll::Ready(Ok(Progress::End)) => {
                    self.release();
                    return Poll::Ready(Ok(Progress::End));
                }
                Poll::Pending if taken == 0 => return self.poll_idle(cx),
                Poll::Ready(Ok(_)) => return Poll::Ready(Ok(Progress::More)),
                Poll::Pending => return Poll::Ready(Ok(self.drained(cx))),
                Poll::Ready(Err(error)) if taken > 0 => {
                    self.source = BodySource::Failed(error);
                    return Poll::Ready(Ok(Progress::More));
                }
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
            }
        }
    }

    /// Everything that has arrived was passed on. The silence that begins now is timed, because the caller
    /// may wait for the next bytes without another poll.
    fn drained(&mut self, cx: &mut Context<'_>) -> Progress {
        match self.idle_timer.poll_expired(cx) {
            Poll::Pending => Progress::Drained,
            Poll::Ready(()) => Progress::More,
        }
    }

    /// No bytes now: an error once that has lasted too long.
    fn poll_idle(&mut self, cx: &mut Context<'_>) -> Poll<Result<Progress, UpstreamError>> {
        ready!(self.idle_timer.poll_expired(cx));
        self.source = BodySource::Ended;
        let (at, limit) = (Arc::clone(&self.at), self.idle_timer.limit());
        Poll::Ready(Err(UpstreamError::Timeout { at, which: TimeoutKind::Idle, limit }))
    }

    /// Returns the connection to the pool, because the body is complete.
    fn release(&mut self) {
        match std::mem::replace(&mut self.source, BodySource::Ended) {
            BodySource::H1 { connection, pool } => pool.put_back(connection),
            BodySource::H2 { .. } | BodySource::Failed(_) | BodySource::Ended => {}
        }
    }

    fn release_if_ended(&mut self) {
        if self.source.is_ended() {
            self.release();
        }
    }
}

impl BodySource {
    /// Passes on what one read brings. An error ends the source.
    fn poll(
        &mut self,
        cx: &mut Context<'_>,
        at: &Arc<str>,
        take: &mut impl FnMut(&[u8]),
    ) -> Poll<Result<Progress, UpstreamError>> {
        let error = match self {
            Self::H1 { connection, .. } => match ready!(connection.poll_body(cx, take)) {
                Ok(progress) => return Poll::Ready(Ok(progress)),
                Err(error) => UpstreamError::from_h1(error, at, Stage::Body),
            },
            Self::H2 { incoming, .. } => match ready!(poll_incoming(incoming, cx, take)) {
                Ok(progress) => return Poll::Ready(Ok(progress)),
                Err(error) => UpstreamError::from_hyper(&error, at, Stage::Body),
            },
            Self::Failed(_) | Self::Ended => match std::mem::replace(self, Self::Ended) {
                Self::Failed(error) => error,
                _ => return Poll::Ready(Ok(Progress::End)),
            },
        };
        *self = Self::Ended;
        Poll::Ready(Err(error))
    }

    fn is_ended(&self) -> bool {
        match self {
            Self::H1 { connection, .. } => connection.is_body_ended(),
            Self::H2 { incoming, .. } => incoming.is_end_stream(),
            Self::Failed(_) => false,
            Self::Ended => true,
        }
    }
}

fn poll_incoming(
    incoming: &mut Incoming,
    cx: &mut Context<'_>,
    take: &mut impl FnMut(&[u8]),
) -> Poll<Result<Progress, hyper::Error>> {
    Poll::Ready(match ready!(Pin::new(incoming).poll_frame(cx)) {
        None => Ok(Progress::End),
        Some(Err(error)) => Err(error),
        Some(Ok(frame)) => {
            frame.data_ref().into_iter().for_each(|data| take(data));
            Ok(Progress::More)
        }
    })
}

impl Drop for UpstreamBody {
    /// A reader that knows the length does not poll again after the last byte.
    fn drop(&mut self) {
        self.release_if_ended();
    }
}

impl Body for UpstreamBody {
    type Data = Bytes;
    type Error = UpstreamError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, UpstreamError>>> {
        let this = self.get_mut();
        let mut bytes = BytesMut::new();
        loop {
            let polled = this.poll_ready_chunks(cx, &mut |piece| bytes.extend_from_slice(piece));
            return Poll::Ready(match ready!(polled) {
                Ok(_) if !bytes.is_empty() => Some(Ok(Frame::data(bytes.freeze()))),
                Ok(Progress::More | Progress::Drained) => continue,
                Ok(Progress::End) => None,
                Err(error) => Some(Err(error)),
            });
        }
    }

    fn is_end_stream(&self) -> bool {
        self.source.is_ended()
    }

    fn size_hint(&self) -> SizeHint {
        match &self.source {
            BodySource::H1 { connection, .. } => {
                connection.remaining().map(SizeHint::with_exact).unwrap_or_default()
            }
            BodySource::H2 { incoming, .. } => incoming.size_hint(),
            BodySource::Failed(_) => SizeHint::default(),
            BodySource::Ended => SizeHint::with_exact(0),
        }
    }
}

/// How much one call of `poll_ready_chunks` passes on, plus or minus one read buffer. A client that
/// reads nothing makes its stream hold a few times this; larger writes save no time.
const MAX_READY: usize = 64 << 10;
