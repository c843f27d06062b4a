//! Sends a request: its head, then its body as it becomes available.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use http::Request;
use http::request::Parts;
use http_body::Body;
use tokio::io::AsyncWrite;

use super::super::client_body::ClientBodyError;
use super::super::request_body::RequestBody;
use super::super::stream::Stream;
use super::head::{self, SentFraming};

/// A request on its way.
pub(super) enum Upload {
    /// Some of it is left to send.
    Sending(Box<Sending>),
    /// Everything is with the operating system.
    Sent,
    /// The provider stopped reading. It may have answered before, so this alone is not an error; but
    /// the connection cannot be used again.
    Abandoned,
}

pub(super) struct Sending {
    /// The head as the caller gave it, until the first byte is written.
    unsent: Option<Parts>,
    body: RequestBody,
    framing: SentFraming,
    /// Bytes before the piece: the head, or the size of a chunk.
    before: Vec<u8>,
    piece: Bytes,
    /// Bytes after the piece, which end a chunk or the body.
    after: &'static [u8],
    body_state: BodyState,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum BodyState {
    More,
    Complete,
}

impl Upload {
    pub(super) fn new(request: Request<RequestBody>) -> Self {
        let mut before = Vec::with_capacity(HEAD_CAPACITY);
        let framing = head::write_request(&request, &mut before);
        let body_state = match framing {
            SentFraming::Length(0) => BodyState::Complete,
            _ => BodyState::More,
        };
        let (parts, body) = request.into_parts();
        Self::Sending(Box::new(Sending {
            unsent: Some(parts),
            body,
            framing,
            before,
            piece: Bytes::new(),
            after: b"",
            body_state,
        }))
    }

    /// Sends what it can.
    pub(super) fn poll(
        &mut self,
        stream: &mut Stream,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), UploadError>> {
        let Self::Sending(sending) = self else { return Poll::Ready(Ok(())) };
        let (next, result) = match ready!(sending.poll(stream, cx)) {
            Ok(()) => (Self::Sent, Ok(())),
            Err(SendError::Client(error)) => (Self::Abandoned, Err(UploadError::Client(error))),
            Err(SendError::Provider(error)) => {
                tracing::debug!(%error, "a provider stopped reading the request");
                let unsent = sending.take_unsent();
                let result = unsent.map_or(Ok(()), |it| Err(UploadError::Unsent(it, error)));
                (Self::Abandoned, result)
            }
        };
        *self = next;
        Poll::Ready(result)
    }

    pub(super) fn is_sent(&self) -> bool {
        matches!(self, Self::Sent)
    }
}

/// Why the request was not sent. If the provider stops reading it, that is not an error yet: its
/// answer may be waiting to be read.
pub(super) enum UploadError {
    /// The client did not send all of its body.
    Client(ClientBodyError),
    /// Nothing of it was written.
    Unsent(Box<Request<RequestBody>>, io::Error),
}

enum SendError {
    Client(ClientBodyError),
    Provider(io::Error),
}

impl From<io::Error> for SendError {
    fn from(error: io::Error) -> Self {
        Self::Provider(error)
    }
}

impl Sending {
    fn poll(&mut self, stream: &mut Stream, cx: &mut Context<'_>) -> Poll<Result<(), SendError>> {
        loop {
            // The first piece of the body leaves with the head.
            if self.piece.is_empty() && self.after.is_empty() && self.body_state == BodyState::More
            {
                let waiting = self.poll_piece(cx)?.is_pending();
                if waiting && self.before.is_empty() {
                    ready!(Pin::new(&mut *stream).poll_flush(cx))?;
                    return Poll::Pending;
                }
            }
            if self.is_written() {
                ready!(Pin::new(&mut *stream).poll_flush(cx))?;
                if self.body_state == BodyState::Complete {
                    return Poll::Ready(Ok(()));
                }
                continue;
            }
            ready!(self.poll_write(stream, cx))?;
        }
    }

    fn is_written(&self) -> bool {
        self.before.is_empty() && self.piece.is_empty() && self.after.is_empty()
    }

    /// Takes the next piece of the body.
    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), SendError>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        let data = match frame {
            None => return Poll::Ready(self.complete()),
            Some(Err(error)) => return Poll::Ready(Err(SendError::Client(error))),
            Some(Ok(frame)) => frame.into_data().unwrap_or_default(),
        };
        if data.is_empty() {
            return Poll::Ready(Ok(()));
        }
        match &mut self.framing {
            SentFraming::Length(left) => {
                *left = left
                    .checked_sub(data.len() as u64)
                    .ok_or(SendError::Client(ClientBodyError::WrongLength))?;
                if *left == 0 {
                    self.body_state = BodyState::Complete;
                }
            }
            SentFraming::Chunked => {
                self.before.extend_from_slice(format!("{:x}\r\n", data.len()).as_bytes());
                self.after = b"\r\n";
            }
        }
        self.piece = data;
        Poll::Ready(Ok(()))
    }

    fn complete(&mut self) -> Result<(), SendError> {
        self.body_state = BodyState::Complete;
        match self.framing {
            SentFraming::Length(0) => Ok(()),
            SentFraming::Length(_) => Err(SendError::Client(ClientBodyError::WrongLength)),
            SentFraming::Chunked => {
                self.after = b"0\r\n\r\n";
                Ok(())
            }
        }
    }

    fn poll_write(&mut self, stream: &mut Stream, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let slices =
            [IoSlice::new(&self.before), IoSlice::new(&self.piece), IoSlice::new(self.after)];
        let written = ready!(Pin::new(stream).poll_write_vectored(cx, &slices))?;
        if written == 0 {
            return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
        }
        self.advance(written);
        Poll::Ready(Ok(()))
    }

    /// The request, if nothing of it was written. A piece that was taken from the client cannot be
    /// returned, so such a request is lost.
    fn take_unsent(&mut self) -> Option<Box<Request<RequestBody>>> {
        let parts = self.unsent.take()?;
        let piece = std::mem::take(&mut self.piece);
        let body = match std::mem::replace(&mut self.body, RequestBody::Empty) {
            RequestBody::Streamed(_) if !piece.is_empty() => return None,
            RequestBody::Empty if !piece.is_empty() => RequestBody::Whole(piece),
            body => body,
        };
        Some(Box::new(Request::from_parts(parts, body)))
    }

    fn advance(&mut self, written: usize) {
        self.unsent = None;
        let from_before = written.min(self.before.len());
        self.before.drain(..from_before);
        let from_piece = (written - from_before).min(self.piece.len());
        self.piece.advance(from_piece);
        let from_after = written - from_before - from_piece;
        self.after = self.after.get(from_after..).unwrap_or_default();
    }
}

/// Most heads are shorter. What is no longer than this is allocated from a cache of the thread.
const HEAD_CAPACITY: usize = 1000;
