//! One HTTP/1.1 connection, polled by the task that waits for it.
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

use super::poll_waker::PollWaker;
use super::request_body::RequestBody;
use super::stream::Stream;

/// A connection that carries one exchange at a time.
pub(super) struct H1Connection {
    sender: SendRequest<RequestBody>,
    /// `None` once it has ended. Dropping it notifies the body and the sender.
    connection: Option<Connection<TokioIo<TolerantStream>, RequestBody>>,
    poll_waker: Arc<PollWaker>,
    waker: Waker,
}

/// hyper's answer to a request: the response, or an error with the request if nothing was sent.
pub(super) type Answer = Result<Response<Incoming>, TrySendError<Request<RequestBody>>>;

impl H1Connection {
    pub(super) async fn new(stream: Stream) -> Result<Self, hyper::Error> {
        let io = TokioIo::new(TolerantStream { stream, writing: Writing::Open });
        let (sender, connection) = Builder::new().max_buf_size(MAX_BUFFER).handshake(io).await?;
        let poll_waker = PollWaker::new();
        let waker = Waker::from(Arc::clone(&poll_waker));
        Ok(Self { sender, connection: Some(connection), poll_waker, waker })
    }

    /// Sends the request and waits for the head, while driving the connection.
    pub(super) async fn exchange(&mut self, request: Request<RequestBody>) -> Answer {
        let answer = self.sender.try_send_request(request);
        let mut answer = std::pin::pin!(answer);
        std::future::poll_fn(|cx| {
            if self.is_idle(cx) {
                return Poll::Pending;
            }
            self.poll_until(cx, |inner| answer.as_mut().poll(inner))
        })
        .await
    }

    /// Whether nothing has changed since `poll_until` was last pending. Registers the calling task
    /// to be woken.
    pub(super) fn is_idle(&self, cx: &Context<'_>) -> bool {
        self.poll_waker.is_idle(cx.waker())
    }

    /// Polls the connection and `next`, which it feeds, in turn: until `next` is ready, or neither
    /// makes progress. Call it unless `rests` returns true.
    pub(super) fn poll_until<T>(
        &mut self,
        cx: &Context<'_>,
        mut next: impl FnMut(&mut Context<'_>) -> Poll<T>,
    ) -> Poll<T> {
        // Only the connection feeds `next`, and it is polled right before, so `next` need not wake
        // the task.
        let mut no_wake = Context::from_waker(Waker::noop());
        for _ in 0..MAX_TURNS {
            self.poll_connection();
            let polled = next(&mut no_wake);
            if polled.is_ready() || self.poll_waker.finish() {
                return polled;
            }
        }
        // It keeps being woken without progress: let other tasks run.
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// The waker that `poll_until` uses, for timers.
    pub(super) fn waker(&self) -> &Waker {
        &self.waker
    }

    /// Whether another exchange can follow. Checked at the end of an exchange and before the next:
    /// the peer may have closed the connection or sent unsolicited bytes.
    pub(super) fn is_free(&mut self) -> bool {
        self.poll_connection();
        self.connection.is_some() && self.sender.is_ready()
    }

    /// Prepares it for the idle list: no task is woken for it.
    pub(super) fn detach_task(&self) {
        self.poll_waker.forget();
    }

    fn poll_connection(&mut self) {
        let Some(connection) = &mut self.connection else { return };
        self.poll_waker.begin();
        let mut cx = Context::from_waker(&self.waker);
        if let Poll::Ready(end) = Pin::new(connection).poll(&mut cx) {
            if let Err(error) = end {
                tracing::debug!(%error, "a connection to a provider ended");
            }
            self.connection = None;
        }
    }
}

/// The limit of the read buffer, and so of a response head. hyper starts with 8 KiB (its minimum)
/// for reading and the same for writing, and doubles it while reads fill the buffer; a quiet stream
/// stays at the minimum. Reads larger than 64 KiB bring no further gain.
const MAX_BUFFER: usize = 64 << 10;
/// Maximum rounds without progress in one poll. One is usual; two if a wake came in the meantime.
const MAX_TURNS: usize = 4;

/// The stream as hyper sees it. A provider may respond, and close, before it has read the request.
/// The write that then fails must not hide the response, which is waiting to be read. So the
/// failure is hidden from hyper, later writes are discarded, and reading reports how it ended.
struct TolerantStream {
    stream: Stream,
    writing: Writing,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Writing {
    Open,
    Failed,
}

impl TolerantStream {
    fn written(&mut self, result: io::Result<usize>, offered: usize) -> io::Result<usize> {
        result.or_else(|error| {
            tracing::debug!(%error, "a provider stopped reading the request");
            self.writing = Writing::Failed;
            Ok(offered)
        })
    }
}

impl AsyncRead for TolerantStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for TolerantStream {
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
