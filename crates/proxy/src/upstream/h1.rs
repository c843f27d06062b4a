//! One HTTP/1.1 connection, polled by whoever waits for it.
//!
//! hyper gives a connection as two halves: a sender, and a future that does the work. The usual way is to spawn the
//! future; then every chunk of a response crosses from one task to another, which costs more than reading it. Here
//! the future stays with the exchange: it is polled while the head is awaited, then inside the body.

use std::future::Future;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use http::{Request, Response};
use hyper::body::Incoming;
use hyper::client::conn::TrySendError;
use hyper::client::conn::http1::{Builder, Connection, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::drive::Drive;
use super::request_body::RequestBody;
use super::stream::Stream;

/// A connection that carries one exchange at a time.
pub(super) struct Line {
    sender: SendRequest<RequestBody>,
    /// None once it has ended: dropping it is what tells the body and the sender.
    connection: Option<Connection<TokioIo<Wire>, RequestBody>>,
    drive: Arc<Drive>,
    waker: Waker,
}

/// What hyper answers to a request: the response, or an error with the request if nothing of it was sent.
pub(super) type Answer = Result<Response<Incoming>, TrySendError<Request<RequestBody>>>;

impl Line {
    pub(super) async fn new(stream: Stream) -> Result<Self, hyper::Error> {
        let io = TokioIo::new(Wire { stream, writing: Writing::Open });
        let (sender, connection) = Builder::new().max_buf_size(MAX_BUFFER).handshake(io).await?;
        let drive = Drive::new();
        let waker = Waker::from(Arc::clone(&drive));
        Ok(Self { sender, connection: Some(connection), drive, waker })
    }

    /// Sends the request and waits for the head, working on the connection meanwhile.
    pub(super) async fn exchange(&mut self, request: Request<RequestBody>) -> Answer {
        let answer = self.sender.try_send_request(request);
        let mut answer = std::pin::pin!(answer);
        std::future::poll_fn(|cx| {
            if self.rests(cx) {
                return Poll::Pending;
            }
            self.poll_until(cx, |inner| answer.as_mut().poll(inner))
        })
        .await
    }

    /// Whether nothing has moved since `poll_until` was last pending. The task that asks is the one to be woken.
    pub(super) fn rests(&self, cx: &Context<'_>) -> bool {
        self.drive.rests(cx.waker())
    }

    /// Polls the connection and `next`, which it feeds, in turn: until `next` has something, or neither can move. To be
    /// called unless it `rests`.
    pub(super) fn poll_until<T>(
        &mut self,
        cx: &Context<'_>,
        mut next: impl FnMut(&mut Context<'_>) -> Poll<T>,
    ) -> Poll<T> {
        // Only the connection feeds `next`, and it is polled right before: no need to be woken by it.
        let mut unheard = Context::from_waker(Waker::noop());
        for _ in 0..MAX_TURNS {
            self.poll_connection();
            let polled = next(&mut unheard);
            if polled.is_ready() || self.drive.settle() {
                return polled;
            }
        }
        // It keeps being woken without getting on: give others a turn.
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// The waker that `poll_until` listens to: for timers beside it.
    pub(super) fn waker(&self) -> &Waker {
        &self.waker
    }

    /// Whether another exchange can follow. Asked at the end of one, and before the next: the peer may have closed
    /// the connection or sent bytes nobody asked for.
    pub(super) fn is_free(&mut self) -> bool {
        self.poll_connection();
        self.connection.is_some() && self.sender.is_ready()
    }

    /// To be kept for later: nobody is to be woken for it.
    pub(super) fn rest(&self) {
        self.drive.forget();
    }

    fn poll_connection(&mut self) {
        let Some(connection) = &mut self.connection else { return };
        self.drive.begin();
        let mut cx = Context::from_waker(&self.waker);
        if let Poll::Ready(end) = Pin::new(connection).poll(&mut cx) {
            if let Err(error) = end {
                tracing::debug!(%error, "a connection to a provider ended");
            }
            self.connection = None;
        }
    }
}

/// The bound of the read buffer, and so of a response head. hyper begins with 8 KiB (its least) for reading and as much
/// for writing, and doubles while reads fill the buffer; a quiet stream stays at the least. 64 KiB is where larger
/// reads stop paying.
const MAX_BUFFER: usize = 64 << 10;
/// Turns without progress in one poll. One is usual; two if a wake came meanwhile.
const MAX_TURNS: usize = 4;

/// The stream as hyper sees it. A provider may answer, and close, before it has read the request: a write that fails
/// then must not hide the answer, which waits to be read. So the failure is kept from hyper, what is written
/// afterwards is dropped, and reading tells how it ended.
struct Wire {
    stream: Stream,
    writing: Writing,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Writing {
    Open,
    Failed,
}

impl Wire {
    fn written(&mut self, result: io::Result<usize>, offered: usize) -> io::Result<usize> {
        result.or_else(|error| {
            tracing::debug!(%error, "a provider stopped reading the request");
            self.writing = Writing::Failed;
            Ok(offered)
        })
    }
}

impl AsyncRead for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Wire {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.writing == Writing::Failed {
            return Poll::Ready(Ok(bytes.len()));
        }
        let polled = Pin::new(&mut self.stream).poll_write(cx, bytes);
        polled.map(|result| self.written(result, bytes.len()))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let offered = slices.iter().map(|slice| slice.len()).sum();
        if self.writing == Writing::Failed {
            return Poll::Ready(Ok(offered));
        }
        let polled = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        polled.map(|result| self.written(result, offered))
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.writing == Writing::Failed {
            return Poll::Ready(Ok(()));
        }
        let polled = Pin::new(&mut self.stream).poll_flush(cx);
        polled.map(|result| self.written(result.map(|()| 0), 0).map(|_| ()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
