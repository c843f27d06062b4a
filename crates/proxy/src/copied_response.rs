//! A response that is copied byte for byte, without reading it.

use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use http_body::{Body, SizeHint};

use crate::metrics::OpenStream;
use crate::upstream::{Progress, UpstreamBody, UpstreamError};

/// The provider's bytes. Everything that has arrived is sent in one write.
pub(crate) struct CopiedResponse {
    upstream: UpstreamBody,
    ended: bool,
    _open: OpenStream,
}

impl CopiedResponse {
    pub(crate) fn new(upstream: UpstreamBody, open: OpenStream) -> Self {
        Self { upstream, ended: false, _open: open }
    }

    pub(crate) fn poll_chunk(
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
        self.ended || self.upstream.is_end_stream()
    }

    pub(crate) fn size_hint(&self) -> SizeHint {
        self.upstream.size_hint()
    }
}
