//! What leaves to the client: bytes of our own, a copy, or a judged response.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

use crate::copied::Copied;
use crate::judged::Judged;
use crate::upstream::UpstreamError;

/// The body of an answer to a client.
pub(crate) enum Outgoing {
    /// Known to the last byte.
    Whole(Option<Bytes>),
    /// The provider's bytes, unread.
    Copied(Box<Copied>),
    /// The provider's bytes, judged on their way.
    Judged(Box<Judged>),
}

impl Outgoing {
    pub(crate) fn whole(bytes: Bytes) -> Self {
        Self::Whole(Some(bytes).filter(|bytes| !bytes.is_empty()))
    }
}

impl Body for Outgoing {
    type Data = Bytes;
    type Error = UpstreamError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, UpstreamError>>> {
        match self.get_mut() {
            Self::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Self::Copied(body) => body.poll_chunk(cx).map(|next| next.map(|r| r.map(Frame::data))),
            Self::Judged(body) => {
                body.poll_chunk(cx).map(|next| next.map(|bytes| Ok(Frame::data(bytes))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Whole(bytes) => bytes.is_none(),
            Self::Copied(body) => body.is_end(),
            Self::Judged(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
            Self::Copied(body) => body.size_hint(),
            Self::Judged(_) => SizeHint::default(),
        }
    }
}
