//! The body of a request to a provider.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

use super::client_body::{ClientBody, ClientBodyError, Stalled};

/// The body of a request to a provider.
#[derive(Debug)]
pub(crate) enum RequestBody {
    /// Empty, or already sent.
    Empty,
    /// Complete: callgate has read it.
    Whole(Bytes),
    /// Forwarded while the client sends it.
    Streamed(ClientBody),
}

impl RequestBody {
    /// A handle that later reports whether the client stopped sending.
    pub(crate) fn stalled(&self) -> Option<Stalled> {
        match self {
            Self::Empty | Self::Whole(_) => None,
            Self::Streamed(body) => Some(body.stalled()),
        }
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = ClientBodyError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, ClientBodyError>>> {
        let this = self.get_mut();
        match this {
            Self::Empty => Poll::Ready(None),
            Self::Whole(bytes) => {
                let bytes = std::mem::take(bytes);
                *this = Self::Empty;
                Poll::Ready(Some(Ok(Frame::data(bytes))))
            }
            Self::Streamed(body) => Pin::new(body).poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Empty => true,
            Self::Whole(bytes) => bytes.is_empty(),
            Self::Streamed(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Empty => SizeHint::with_exact(0),
            Self::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Self::Streamed(body) => body.size_hint(),
        }
    }
}
