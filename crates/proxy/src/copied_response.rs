//! A response that is copied byte for byte, without reading it.

use std::future::Future as _;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Bytes, BytesMut};
use callgate_decide::{Decider, RemovedEntry, Storing};
use http_body::{Body, SizeHint};

use crate::metrics::OpenStream;
use crate::upstream::{Progress, UpstreamBody, UpstreamError};

/// The provider's bytes. Everything that has arrived is sent in one write.
pub(crate) struct CopiedResponse {
    upstream: UpstreamBody,
    ended: bool,
    once_complete: OnceComplete,
    _open: OpenStream,
}

/// What is left to do once all of a response has come.
pub(crate) enum OnceComplete {
    Nothing,
    /// The calls that its request has answered are to be stored.
    Store(Decider, RemovedEntry),
    /// They are being stored. The client may send its next request as soon as it has the end of the
    /// response, so the end waits.
    Storing(Storing, Option<Bytes>),
}

impl CopiedResponse {
    pub(crate) fn new(
        upstream: UpstreamBody,
        once_complete: OnceComplete,
        open: OpenStream,
    ) -> Self {
        Self { upstream, ended: false, once_complete, _open: open }
    }

    pub(crate) fn poll_chunk(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, UpstreamError>>> {
        if let OnceComplete::Nothing = self.once_complete {
            return self.poll_upstream(cx);
        }
        if let OnceComplete::Store(..) = self.once_complete {
            let chunk = match ready!(self.poll_upstream(cx)) {
                Some(Ok(chunk)) if !self.is_upstream_end() => return Poll::Ready(Some(Ok(chunk))),
                Some(Ok(chunk)) => Some(chunk),
                None => None,
                Some(Err(error)) => {
                    self.once_complete = OnceComplete::Nothing;
                    return Poll::Ready(Some(Err(error)));
                }
            };
            self.once_complete = match mem::replace(&mut self.once_complete, OnceComplete::Nothing)
            {
                OnceComplete::Store(decider, answered) => {
                    OnceComplete::Storing(decider.keep_removed(answered), chunk)
                }
                other => other,
            };
        }
        let OnceComplete::Storing(storing, chunk) = &mut self.once_complete else {
            return self.poll_upstream(cx);
        };
        ready!(Pin::new(storing).poll(cx));
        let chunk = chunk.take();
        self.once_complete = OnceComplete::Nothing;
        Poll::Ready(chunk.map(Ok))
    }

    fn poll_upstream(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, UpstreamError>>> {
        if self.ended {
            return Poll::Ready(None);
        }
        let mut chunk = BytesMut::new();
        let polled =
            self.upstream.poll_ready_chunks(cx, &mut |bytes: &[u8]| chunk.extend_from_slice(bytes));
        match polled {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(Ok(Progress::More | Progress::Drained)) => {}
            Poll::Ready(Ok(Progress::End)) => self.ended = true,
            Poll::Ready(Err(error)) => {
                self.ended = true;
                return Poll::Ready(Some(Err(error)));
            }
        }
        if chunk.is_empty() { Poll::Ready(None) } else { Poll::Ready(Some(Ok(chunk.freeze()))) }
    }

    pub(crate) fn is_end(&self) -> bool {
        matches!(self.once_complete, OnceComplete::Nothing) && self.is_upstream_end()
    }

    fn is_upstream_end(&self) -> bool {
        self.ended || self.upstream.is_end_stream()
    }

    pub(crate) fn size_hint(&self) -> SizeHint {
        self.upstream.size_hint()
    }
}
