//! One HTTP/1.1 connection, polled by the task that waits for it.
//!
//! There is no second task and no channel between the socket and the reader of a body: a poll reads what the
//! socket has, finds the body in it (`framing`), and passes it on from the buffer of the thread. So an idle
//! connection has no buffer, and chunks that arrived together are read together.
//!
//! ```text
//!   exchange:   Upload ──► socket ──► head (interim answers are skipped) ──► Response
//!   poll_body:  Upload ──► socket ──► BodyReader ──► the reader's bytes
//! ```

mod framing;
mod head;
mod upload;

#[cfg(test)]
mod tests;

use std::cell::Cell;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};

use bytes::{Buf as _, BytesMut};
use http::{Method, Request, Response, StatusCode};
use tokio::io::{AsyncRead, ReadBuf};

use self::framing::BodyReader;
use self::head::{ConnectionReuse, InvalidHead, ResponseHead};
use self::upload::{Upload, UploadError};
use super::client_body::ClientBodyError;
use super::request_body::RequestBody;
use super::response_body::Progress;
use super::stream::Stream;

/// A connection that carries one exchange at a time.
pub(super) struct H1Connection {
    stream: Stream,
    upload: Upload,
    body: BodyReader,
    /// What arrived and nobody has read yet: an incomplete head, or the beginning of a body.
    unread: BytesMut,
    reuse: ConnectionReuse,
}

/// Why an exchange failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum H1Error {
    /// The client did not send all of its body.
    #[error("{0}")]
    Client(ClientBodyError),
    /// The response is not valid HTTP.
    #[error("{0}")]
    Head(#[from] InvalidHead),
    #[error("{0}")]
    Body(&'static str),
    #[error("the response ended early")]
    EndOfFile,
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// Why there is no head.
pub(super) enum ExchangeError {
    /// Nothing was sent, so the request can be sent on another connection.
    Unsent(Box<Request<RequestBody>>, H1Error),
    Failed(H1Error),
}

impl H1Connection {
    pub(super) fn new(stream: Stream) -> Self {
        Self {
            stream,
            upload: Upload::Sent,
            body: BodyReader::empty(),
            unread: BytesMut::new(),
            reuse: ConnectionReuse::Possible,
        }
    }

    /// Sends the request and waits for the head of its response. The rest of the request is sent while
    /// the body is polled. Not an `async fn`: its future would be as large as the request.
    pub(super) fn exchange(
        &mut self,
        request: Request<RequestBody>,
    ) -> impl Future<Output = Result<Response<()>, ExchangeError>> {
        let method = request.method().clone();
        self.upload = Upload::new(request);
        poll_fn(move |cx| {
            if let Poll::Ready(Err(error)) = self.upload.poll(&mut self.stream, cx) {
                return Poll::Ready(Err(error.into()));
            }
            self.poll_head(&method, cx).map_err(ExchangeError::Failed)
        })
    }

    fn poll_head(
        &mut self,
        method: &Method,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Response<()>, H1Error>> {
        loop {
            if let Some(response) = self.take_head(method)? {
                return Poll::Ready(Ok(response));
            }
            let Self { stream, unread, .. } = self;
            let count = ready!(poll_read(stream, cx, |bytes| unread.extend_from_slice(bytes)))?;
            if count == 0 {
                return Poll::Ready(Err(H1Error::EndOfFile));
            }
        }
    }

    /// The head, if all of it has arrived. Interim answers are dropped, except one that switches
    /// protocols, which the caller refuses.
    fn take_head(&mut self, method: &Method) -> Result<Option<Response<()>>, H1Error> {
        while let Some(head) = head::read_response(&self.unread, method)? {
            let ResponseHead { response, body, reuse, length } = head;
            self.unread.advance(length);
            let status = response.status();
            if status.is_informational() && status != StatusCode::SWITCHING_PROTOCOLS {
                continue;
            }
            self.body = body;
            self.reuse = reuse;
            return Ok(Some(response));
        }
        Ok(None)
    }

    /// Passes on the next bytes of the body, as many as one read of the socket brings.
    pub(super) fn poll_body(
        &mut self,
        cx: &mut Context<'_>,
        take: &mut impl FnMut(&[u8]),
    ) -> Poll<Result<Progress, H1Error>> {
        if let Poll::Ready(Err(error)) = self.upload.poll(&mut self.stream, cx) {
            return Poll::Ready(Err(error.into()));
        }
        // Reports what was wrong with the bytes before.
        self.body.read(&mut []).map_err(H1Error::Body)?;
        if self.body.is_ended() {
            return Poll::Ready(Ok(Progress::End));
        }
        let Self { stream, body, unread, reuse, .. } = self;
        let mut feed = |bytes: &mut [u8]| {
            let taken = body.read(bytes).map_err(H1Error::Body)?;
            if taken.read < bytes.len() && body.is_ended() {
                // Bytes that nobody asked for: the next response would begin with them.
                *reuse = ConnectionReuse::Closes;
            }
            take(bytes.get(..taken.body).unwrap_or_default());
            Ok(if body.is_ended() { Progress::End } else { Progress::More })
        };
        if !unread.is_empty() {
            return Poll::Ready(feed(&mut std::mem::take(unread)));
        }
        let mut fed = Ok(Progress::More);
        let count = ready!(poll_read(stream, cx, |bytes| fed = feed(bytes)))?;
        Poll::Ready(match count {
            0 if body.close() => Ok(Progress::End),
            0 => Err(H1Error::EndOfFile),
            _ => fed,
        })
    }

    /// Whether the body is complete and read.
    pub(super) fn is_body_ended(&self) -> bool {
        self.body.is_ended()
    }

    /// The rest of the body's length, if the head named one.
    pub(super) fn remaining(&self) -> Option<u64> {
        self.body.remaining()
    }

    /// Whether another exchange can follow. Checked at the end of an exchange and before the next: the
    /// peer may have closed the connection or sent unsolicited bytes. No task is woken for it.
    pub(super) fn is_free(&mut self) -> bool {
        self.reuse == ConnectionReuse::Possible
            && self.body.is_ended()
            && self.upload.is_sent()
            && self.unread.is_empty()
            && self.is_quiet()
    }

    fn is_quiet(&mut self) -> bool {
        let mut cx = Context::from_waker(Waker::noop());
        let mut byte = [0];
        Pin::new(&mut self.stream).poll_read(&mut cx, &mut ReadBuf::new(&mut byte)).is_pending()
    }
}

/// Reads once into the buffer of this thread, and passes on what was read. Returns the number of
/// bytes: zero at the end of the stream.
fn poll_read(
    stream: &mut Stream,
    cx: &mut Context<'_>,
    take: impl FnOnce(&mut [u8]),
) -> Poll<io::Result<usize>> {
    // Taken out, so that whatever `take` does cannot meet a buffer in use.
    let mut bytes = READ_BUFFER.take();
    bytes.resize(READ_SIZE, 0);
    let mut buffer = ReadBuf::new(&mut bytes);
    let polled = Pin::new(stream).poll_read(cx, &mut buffer);
    let count = buffer.filled().len();
    if count > 0 {
        take(buffer.filled_mut());
    }
    READ_BUFFER.set(bytes);
    polled.map_ok(|()| count)
}

thread_local! {
    /// One read at a time happens on a thread, so its streams share the buffer.
    static READ_BUFFER: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

impl From<UploadError> for ExchangeError {
    fn from(error: UploadError) -> Self {
        match error {
            UploadError::Client(error) => Self::Failed(H1Error::Client(error)),
            UploadError::Unsent(request, error) => Self::Unsent(request, H1Error::Io(error)),
        }
    }
}

impl From<UploadError> for H1Error {
    fn from(error: UploadError) -> Self {
        match error {
            UploadError::Client(error) => Self::Client(error),
            UploadError::Unsent(_, error) => Self::Io(error),
        }
    }
}

/// How much one read takes at most. Larger reads bring no further gain.
const READ_SIZE: usize = 64 << 10;
