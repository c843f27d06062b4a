//! The body of a response, which carries its connection with it.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;

use super::error::{Stage, UpstreamError, Which};
use super::h1::Line;
use super::h2::Seat;
use super::quiet::Quiet;
use super::site::Site;

/// What a provider sends, as it comes.
///
/// Nothing is read ahead of the reader, save one read buffer: if nobody polls, the provider has to wait. When the body
/// was read to its end, its connection serves the next request; when it is dropped before, the connection is closed (or
/// the HTTP/2 stream reset), so that the provider stops working. Trailers are dropped: no model API sends any.
///
/// Bytes of a body may go up (the request) only while it is polled.
pub(crate) struct UpstreamBody {
    incoming: Incoming,
    carrier: Carrier,
    quiet: Quiet,
    at: Arc<str>,
}

/// What the body comes over.
pub(super) enum Carrier {
    H1 {
        line: Box<Line>,
        site: Arc<Site>,
    },
    /// Kept only to be dropped with the body.
    H2 {
        _seat: Seat,
    },
    /// Given back, or closed after an error.
    Gone,
}

/// What `poll_ready_chunks` has to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// Bytes were handed over; ask again for more.
    More,
    /// The body is complete. Its last bytes may have been handed over in the same call.
    End,
}

impl UpstreamBody {
    pub(super) fn new(incoming: Incoming, carrier: Carrier, quiet: Quiet, at: Arc<str>) -> Self {
        let mut body = Self { incoming, carrier, quiet, at };
        if body.incoming.is_end_stream() {
            body.release();
        }
        body
    }

    /// Hands over everything that is there already, piece by piece, so that the caller can make one write of it. One
    /// call hands over about `MAX_READY` bytes at most: a fast provider must not keep the task to itself.
    ///
    /// Pending means that nothing was handed over. With an error, what was handed over before stays valid.
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

    /// The next bytes, never none.
    fn poll_data(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, UpstreamError>>> {
        loop {
            let polled = match &mut self.carrier {
                Carrier::Gone => Poll::Ready(None),
                Carrier::H2 { .. } => Pin::new(&mut self.incoming).poll_frame(cx),
                // Then the silence was looked at, too.
                Carrier::H1 { line, .. } if line.rests(cx) => return Poll::Pending,
                Carrier::H1 { line, .. } => {
                    line.poll_until(cx, |inner| Pin::new(&mut self.incoming).poll_frame(inner))
                }
            };
            match polled {
                Poll::Pending => return self.poll_quiet(cx),
                Poll::Ready(None) => {
                    self.release();
                    return Poll::Ready(None);
                }
                Poll::Ready(Some(Err(error))) => {
                    let error = UpstreamError::from_hyper(&error, &self.at, Stage::Body);
                    return Poll::Ready(Some(Err(self.fail(error))));
                }
                Poll::Ready(Some(Ok(frame))) => {
                    self.quiet.broken();
                    match frame.into_data() {
                        Ok(bytes) if !bytes.is_empty() => return Poll::Ready(Some(Ok(bytes))),
                        Ok(_) | Err(_) => {}
                    }
                }
            }
        }
    }

    /// Nothing is there now: an error once that has lasted too long.
    fn poll_quiet(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, UpstreamError>>> {
        let too_long = match &self.carrier {
            // The waker that `poll_until` listens to; with another, it would take the alarm for nothing.
            Carrier::H1 { line, .. } => {
                self.quiet.poll_too_long(&mut Context::from_waker(line.waker()))
            }
            Carrier::H2 { .. } | Carrier::Gone => self.quiet.poll_too_long(cx),
        };
        too_long.map(|()| {
            let (at, limit) = (Arc::clone(&self.at), self.quiet.limit());
            Some(Err(self.fail(UpstreamError::Timeout { at, which: Which::Idle, limit })))
        })
    }

    /// Closes the connection; after an error nothing more comes.
    fn fail(&mut self, error: UpstreamError) -> UpstreamError {
        self.carrier = Carrier::Gone;
        error
    }

    /// The body is complete: the connection may serve others.
    fn release(&mut self) {
        match std::mem::replace(&mut self.carrier, Carrier::Gone) {
            Carrier::H1 { line, site } => site.put_back(line),
            Carrier::H2 { .. } | Carrier::Gone => {}
        }
    }
}

impl Drop for UpstreamBody {
    /// A reader that knows the length does not ask again after the last byte.
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
        matches!(self.carrier, Carrier::Gone) || self.incoming.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.incoming.size_hint()
    }
}

/// What one call of `poll_ready_chunks` hands over, give or take one read buffer. A client that reads nothing makes its
/// stream hold a few times this; larger writes save no time.
const MAX_READY: usize = 64 << 10;
