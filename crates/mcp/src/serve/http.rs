//! A server over HTTP: each request has its answer, and a subscription is an answer that goes on.

mod said;
mod stream;

use std::sync::Arc;

use bytes::Bytes;
use http::header::{ACCEPT, ALLOW, CONTENT_TYPE};
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body::Body;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use tokio::sync::Semaphore;

pub use said::Said;

use super::headers;
use super::words::{Fault, Words};
use super::{
    Changes, Channel, Host, MAX_MESSAGE, Reply, Service, broken_reply, listening::Listening,
    unfit_reply,
};
use crate::answers::{self, REFUSED};
use crate::message::{Kind, Message, Why};

/// Requests that are answered at once; others wait. Each may read through the whole store.
const MAX_BUSY: usize = 4;

/// Subscriptions that are open at once; more are refused.
const MAX_STREAMS: usize = 256;

/// The header and the body do not say the same.
const HEADER_MISMATCH: i32 = -32020;

/// Answers requests to one path.
#[derive(Debug)]
pub struct Http<H> {
    service: Arc<Service<H>>,
    changes: Changes,
    busy: Semaphore,
    streams: Arc<Semaphore>,
}

impl<H: Host> Http<H> {
    /// A server that tells its subscribers of these changes.
    pub fn new(service: Arc<Service<H>>, changes: Changes) -> Self {
        let streams = Arc::new(Semaphore::new(MAX_STREAMS));
        Self { service, changes, busy: Semaphore::new(MAX_BUSY), streams }
    }

    /// Answers a request, whatever it is. Who may ask was checked before.
    pub async fn answer<B>(&self, request: Request<B>) -> Response<Said>
    where
        B: Body<Data = Bytes> + Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let (head, body) = request.into_parts();
        if head.method != Method::POST {
            // There is no stream to get, and no session to delete.
            let mut response = plain(StatusCode::METHOD_NOT_ALLOWED, "send a POST\n");
            response.headers_mut().insert(ALLOW, http::HeaderValue::from_static("POST"));
            return response;
        }
        if !is_json(&head.headers) {
            return plain(StatusCode::UNSUPPORTED_MEDIA_TYPE, "send application/json\n");
        }
        if !accepts(&head.headers, "application/json") {
            return plain(StatusCode::NOT_ACCEPTABLE, "accept application/json\n");
        }
        let body = match Limited::new(body, MAX_MESSAGE).collect().await {
            Ok(body) => body.to_bytes(),
            Err(error) if error.is::<LengthLimitError>() => {
                let why = Why::TooLarge { limit: MAX_MESSAGE };
                let error = answers::error(None, why.code(), &format!("callgate: {why}"));
                return json(StatusCode::PAYLOAD_TOO_LARGE, error);
            }
            Err(_) => return plain(StatusCode::BAD_REQUEST, "the body did not come whole\n"),
        };
        match self.reply(head.headers.clone(), body).await {
            Reply::Listen(listening) => self.listen(&head.headers, listening),
            Reply::Answer(text, fault) => json(status(fault), text),
            // Nobody waits for an answer. What a pipe is subscribed to is not told here.
            Reply::Silence
            | Reply::CalledOff(_)
            | Reply::Subscribe(..)
            | Reply::Unsubscribe(..) => accepted(),
        }
    }

    /// Asks in a thread of its own: reading a store waits for its disk.
    async fn reply(&self, headers: HeaderMap, body: Bytes) -> Reply {
        let permit = self.busy.acquire().await;
        let (service, asked) = (Arc::clone(&self.service), body.clone());
        let replied = tokio::task::spawn_blocking(move || service.posted(&headers, &asked)).await;
        drop(permit);
        replied.unwrap_or_else(|error| {
            tracing::error!(%error, "a request could not be answered");
            broken_reply(&body)
        })
    }

    /// An answer that goes on until one of both sides ends it.
    fn listen(&self, headers: &HeaderMap, listening: Listening) -> Response<Said> {
        if !accepts(headers, "text/event-stream") {
            return plain(StatusCode::NOT_ACCEPTABLE, "accept text/event-stream\n");
        }
        let Ok(permit) = Arc::clone(&self.streams).try_acquire_owned() else {
            let text = format!("{MAX_STREAMS} subscriptions are open; try again later");
            let error = Words::error(listening.id(), REFUSED, &text, None);
            return json(StatusCode::SERVICE_UNAVAILABLE, error);
        };
        let all = self.service.all_uris();
        let events = stream::start(listening, self.changes.listen(), all, permit);
        let mut response = respond(StatusCode::OK, "text/event-stream", Said::events(events));
        let headers = response.headers_mut();
        headers.insert("x-accel-buffering", http::HeaderValue::from_static("no"));
        response
    }
}

impl<H: Host> Service<H> {
    /// What was posted.
    fn posted(&self, headers: &HeaderMap, body: &[u8]) -> Reply {
        let message = match Message::read(body) {
            Ok(Some(message)) => message,
            Ok(None) => {
                let error = answers::error(None, -32700, "the body is empty; send a message");
                return Reply::Answer(error, Some(Fault::Request));
            }
            Err(unfit) => return unfit_reply(&unfit),
        };
        match &message.kind {
            Kind::Request { id, method, params } => {
                let said = headers::Body { method, text: message.text, params: *params };
                if let Err(why) = headers::check(headers, &said) {
                    let error = Words::error(id, HEADER_MISMATCH, &why, None);
                    return Reply::Answer(error, Some(Fault::Request));
                }
            }
            Kind::Notification { .. } => return Reply::Silence,
            Kind::Answer { id, .. } => {
                let why = "nothing was asked: this server asks its clients for nothing";
                let error = answers::error(id.as_ref(), -32600, why);
                return Reply::Answer(error, Some(Fault::Request));
            }
        }
        self.message(message, Channel::Http { revision: headers::revision(headers) })
    }
}

fn status(fault: Option<Fault>) -> StatusCode {
    match fault {
        None | Some(Fault::Asked) => StatusCode::OK,
        Some(Fault::Request) => StatusCode::BAD_REQUEST,
        Some(Fault::Method) => StatusCode::NOT_FOUND,
    }
}

/// A page of another site can post text without being asked for leave, but not JSON.
fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    kind.eq_ignore_ascii_case("application/json")
}

/// Whether a client takes this. One that does not say takes everything.
fn accepts(headers: &HeaderMap, kind: &str) -> bool {
    let mut said = headers.get_all(ACCEPT).iter().peekable();
    if said.peek().is_none() {
        return true;
    }
    let family = kind.split('/').next().unwrap_or_default();
    let fits = |range: &str| {
        let range = range.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        range == "*/*" || range == kind || range.strip_suffix("/*") == Some(family)
    };
    said.filter_map(|value| value.to_str().ok()).any(|value| value.split(',').any(fits))
}

/// A few words for whoever does not speak the protocol.
fn plain(status: StatusCode, text: &str) -> Response<Said> {
    respond(status, "text/plain; charset=utf-8", Said::whole(format!("callgate: {text}")))
}

/// A message.
fn json(status: StatusCode, text: String) -> Response<Said> {
    respond(status, "application/json", Said::whole(text))
}

/// A message was taken that wants no answer.
fn accepted() -> Response<Said> {
    let mut response = Response::new(Said::empty());
    *response.status_mut() = StatusCode::ACCEPTED;
    response
}

fn respond(status: StatusCode, kind: &'static str, body: Said) -> Response<Said> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, http::HeaderValue::from_static(kind));
    headers.insert(http::header::CACHE_CONTROL, http::HeaderValue::from_static("no-store"));
    response
}
