//! Builds responses to clients.

use std::convert::Infallible;
use std::error::Error;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderName, HeaderValue, Response, StatusCode};
use http_body::{Body as HttpBody, Frame};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Empty, Full};
use tokio::sync::mpsc;

use crate::answers;
use crate::message::{Id, Unfit};

/// The body of a response to a client.
pub type ReplyBody = UnsyncBoxBody<Bytes, Box<dyn Error + Send + Sync>>;

/// A complete message.
pub(crate) fn message(status: StatusCode, text: impl Into<Bytes>) -> Response<ReplyBody> {
    let mut response = Response::new(whole(text.into()));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// A response without a body.
pub(crate) fn status(status: StatusCode) -> Response<ReplyBody> {
    let body = Empty::new().map_err(|never: Infallible| match never {}).boxed_unsync();
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response
}

/// An error for a request, or for none in particular.
pub(super) fn error(
    status: StatusCode,
    id: Option<&Id>,
    code: i32,
    text: &str,
) -> Response<ReplyBody> {
    let body = match id {
        Some(_) => answers::error(id, code, text),
        None => answers::transport_error(code, text),
    };
    message(status, body)
}

/// An error for a message that cannot be forwarded.
pub(super) fn unfit(unfit: &Unfit) -> Response<ReplyBody> {
    let text = format!("callgate did not forward this message: {}", unfit.why);
    error(StatusCode::BAD_REQUEST, unfit.id.as_ref(), unfit.why.code(), &text)
}

/// An error for a header that contradicts the body.
pub(super) fn mismatch(id: Option<&Id>, header: &HeaderName) -> Response<ReplyBody> {
    let text = format!(
        "callgate did not forward this request: the header `{header}` contradicts the body"
    );
    let body = answers::header_mismatch(id, header.as_str(), &text);
    message(StatusCode::BAD_REQUEST, body)
}

/// A response with a stream of events, and the sender for them.
pub(crate) fn stream() -> (mpsc::Sender<Bytes>, Response<ReplyBody>) {
    let (sender, receiver) = mpsc::channel(MAX_WAITING_CHUNKS);
    let mut response = Response::new(ChannelBody(receiver).boxed_unsync());
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform"));
    (sender, response)
}

/// How many chunks of a stream may wait for a slow client. Beyond that the server waits too.
const MAX_WAITING_CHUNKS: usize = 16;

pub(crate) fn whole(bytes: Bytes) -> ReplyBody {
    Full::new(bytes).map_err(|never: Infallible| match never {}).boxed_unsync()
}

/// A body that is fed through a channel.
struct ChannelBody(mpsc::Receiver<Bytes>);

impl HttpBody for ChannelBody {
    type Data = Bytes;
    type Error = Box<dyn Error + Send + Sync>;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        self.0.poll_recv(cx).map(|next| next.map(|bytes| Ok(Frame::data(bytes))))
    }
}
