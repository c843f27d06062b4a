//! The body of a response, which owns its connection.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;

use super::error::{Stage, TimeoutKind, UpstreamError};
use super::h1::H1Connection;
use super::h2::H2Slot;
use super::idle_timer::IdleTimer;
use super::pool::Pool;

/// The provider's bytes as they arrive.
///
/// Nothing is read ahead of the reader except one read buffer: if the body is not polled, the
/// provider has to wait. When the body was read to its end, its connection serves the next request.
/// When it is dropped earlier, the connection is closed (or the HTTP/2 stream reset), so that the
/// provider stops working. Trailers are dropped: no model API sends any.
///
/// Bytes of the request body are sent only while this body is polled.
pub(crate) struct UpstreamBody {
    incoming: Incoming,
    connection: ResponseConnection,
    idle_timer: IdleTimer,
    at: Arc<str>,
}

/// The connection that the body arrives on.
pub(super) enum ResponseConnection {
    H1 {
        connection: Box<H1Connection>,
        pool: Arc<Pool>,
    },
    /// Kept only to be dropped with the body.
    H2 {
        _slot: H2Slot,
    },
    /// Returned to the pool, or closed after an error.
    Gone,
}

/// The result of `poll_ready_chunks`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// Bytes were passed on; poll again for more.
    More,
    /// The body is complete. Its last bytes may have been passed on in the same call.
    End,
}

impl UpstreamBody {
    pub(super) fn new(
        incoming: Incoming,
        connection: ResponseConnection,
        idle_timer: IdleTimer,
        at: Arc<str>,
    ) -> Self {
        let mut body = Self { incoming, connection, idle_timer, at };
        if body.incoming.is_end_stream() {
            body.release();
        }
        body
    }

    /// Passes on everything that has arrived, piece by piece, so that the caller can send it in one
    /// write. One call passes on about `MAX_READY` bytes at most: a fast provider must not
    /// monopolize the task.
    ///
    /// Pending means that nothing was passed on. After an error, what was passed on before stays
    /// valid.
    pub(crate) fn poll_ready_chunks(
        &mut self,
        cx: &mut Context<'_>,
        take: &mut impl FnMut(&[u8]),
    ) -> Poll<Result<Progress, UpstreamError>> {
        let mut taken = 0_usize;
        loop {
            match self.poll_data(cx) {
                Poll::Ready(Some(Ok(bytes))) => {
                    taken = taken.saturating_add(bytes.len());
                    take(&bytes);
                    if taken >= MAX_READY {
                        return Poll::Ready(Ok(Progress::More));
                    }
                }
                Poll::Ready(Some(Err(error))) => return Poll::Ready(Err(error)),
                Poll::Ready(None) => return Poll::Ready(Ok(Progress::End)),
                Poll::Pending if taken > 0 => return Poll::Ready(Ok(Progress::More)),
                Poll::Pending => return Poll::Pending,
            }
        }
    }

    /// The next bytes, never empty.
    fn poll_data(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, UpstreamError>>> {
        loop {
            let polled = match &mut self.connection {
                ResponseConnection::Gone => Poll::Ready(None),
                ResponseConnection::H2 { .. } => Pin::new(&mut self.incoming).poll_frame(cx),
                // The silence was checked in that poll too.
                ResponseConnection::H1 { connection, .. } if connection.is_idle(cx) => {
                    return Poll::Pending;
                }
                ResponseConnection::H1 { connection, .. } => connection
                    .poll_until(cx, |inner| Pin::new(&mut self.incoming).poll_frame(inner)),
            };
            match polled {
                Poll::Pending => return self.poll_idle(cx),
                Poll::Ready(None) => {
                    self.release();
                    return Poll::Ready(None);
                }
                Poll::Ready(Some(Err(error))) => {
                    let error = UpstreamError::from_hyper(&error, &self.at, Stage::Body);
                    return Poll::Ready(Some(Err(self.fail(error))));
                }
                Poll::Ready(Some(Ok(frame))) => {
                    self.idle_timer.reset();
                    match frame.into_data() {
                        Ok(bytes) if !bytes.is_empty() => return Poll::Ready(Some(Ok(bytes))),
                        Ok(_) | Err(_) => {}
                    }
                }
            }
        }
    }

    /// No bytes now: an error once that has lasted too long.
    fn poll_idle(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, UpstreamError>>> {
        let too_long = match &self.connection {
            // The waker that `poll_until` uses. With another one, it would ignore the timer.
            ResponseConnection::H1 { connection, .. } => {
                self.idle_timer.poll_expired(&mut Context::from_waker(connection.waker()))
            }
            ResponseConnection::H2 { .. } | ResponseConnection::Gone => {
                self.idle_timer.poll_expired(cx)
            }
        };
        too_long.map(|()| {
            let (at, limit) = (Arc::clone(&self.at), self.idle_timer.limit());
            Some(Err(self.fail(UpstreamError::Timeout { at, which: TimeoutKind::Idle, limit })))
        })
    }

    /// Closes the connection; nothing follows an error.
    fn fail(&mut self, error: UpstreamError) -> UpstreamError {
        self.connection = ResponseConnection::Gone;
        error
    }

    /// Returns the connection to the pool, because the body is complete.
    fn release(&mut self) {
        match std::mem::replace(&mut self.connection, ResponseConnection::Gone) {
            ResponseConnection::H1 { connection, pool } => pool.put_back(connection),
            ResponseConnection::H2 { .. } | ResponseConnection::Gone => {}
        }
    }
}

impl Drop for UpstreamBody {
    /// A reader that knows the length does not poll again after the last byte.
    fn drop(&mut self) {
        if self.incoming.is_end_stream() {
            self.release();
        }
    }
}

impl Body for UpstreamBody {
    type Data = Bytes;
    type Error = UpstreamError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, UpstreamError>>> {
        self.get_mut().poll_data(cx).map(|next| next.map(|result| result.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        matches!(self.connection, ResponseConnection::Gone) || self.incoming.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.incoming.size_hint()
    }
}

/// How much one call of `poll_ready_chunks` passes on, plus or minus one read buffer. A client that
/// reads nothing makes its stream hold a few times this; larger writes save no time.
const MAX_READY: usize = 64 << 10;
