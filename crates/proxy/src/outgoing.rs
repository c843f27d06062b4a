//! The body of a response to the client: our own bytes, a copy, or a judged response.

use std::error::Error;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

use crate::copied_response::CopiedResponse;
use crate::judged_response::JudgedResponse;
use crate::mount::MountBody;

/// The body of a response to a client.
pub(crate) enum Outgoing {
    /// Complete.
    Whole(Option<Bytes>),
    /// The provider's bytes, not inspected.
    Copied(Box<CopiedResponse>),
    /// The provider's bytes, judged as they arrive.
    Judged(Box<JudgedResponse>),
    /// The response of another door.
    Mounted(MountBody),
}

impl Outgoing {
    pub(crate) fn whole(bytes: Bytes) -> Self {
        Self::Whole(Some(bytes).filter(|bytes| !bytes.is_empty()))
    }
}

impl Body for Outgoing {
    type Data = Bytes;
    type Error = Box<dyn Error + Send + Sync>;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        match self.get_mut() {
            Self::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Self::Copied(body) => body
                .poll_chunk(cx)
                .map(|next| next.map(|read| read.map(Frame::data).map_err(Into::into))),
            Self::Judged(body) => {
                body.poll_chunk(cx).map(|next| next.map(|bytes| Ok(Frame::data(bytes))))
            }
            Self::Mounted(body) => Pin::new(body).poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Whole(bytes) => bytes.is_none(),
            Self::Copied(body) => body.is_end(),
            Self::Judged(_) => false,
            Self::Mounted(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
            Self::Copied(body) => body.size_hint(),
            Self::Judged(_) => SizeHint::default(),
            Self::Mounted(body) => body.size_hint(),
        }
    }
}
