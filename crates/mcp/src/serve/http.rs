//! A server over HTTP: each request gets one answer. The answer to a subscription is a stream.

mod stream;

use std::sync::Arc;

use bytes::Bytes;
use http::header::{ACCEPT, ALLOW, CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use tokio::sync::Semaphore;

use super::headers;
use super::subscription::Subscription;
use super::writer::{FaultyPart, ResponseWriter};
use super::{
    Changes, ClientChannel, MAX_MESSAGE, Reaction, ServerContent, Service, broken_reply,
    unfit_reply,
};
use crate::answers::{self, REFUSED};
use crate::http::read::{self, BodyReadError};
use crate::http::{PATH, ReplyBody, reply};
use crate::message::{RpcMessage, RpcMessageKind};

/// How many requests are answered at the same time; others wait. Each may read the whole store.
const MAX_BUSY: usize = 4;

/// Maximum number of open subscriptions; more are refused.
const MAX_STREAMS: usize = 256;

/// The code for a header that contradicts the body.
const HEADER_MISMATCH: i32 = -32020;

/// Answers requests to one path.
#[derive(Debug)]
pub struct Http<H> {
    service: Arc<Service<H>>,
    changes: Changes,
    busy: Semaphore,
    streams: Arc<Semaphore>,
}

impl<H: ServerContent> Http<H> {
    /// A server that notifies its subscribers of these changes.
    pub fn new(service: Arc<Service<H>>, changes: Changes) -> Self {
        let streams = Arc::new(Semaphore::new(MAX_STREAMS));
        Self { service, changes, busy: Semaphore::new(MAX_BUSY), streams }
    }

    /// Answers any request. Access was checked before.
    pub async fn answer<B>(&self, request: Request<B>) -> Response<ReplyBody>
    where
        B: http_body::Body<Data = Bytes> + Unpin + Send,
    {
        let (head, body) = request.into_parts();
        if let Some(refused) = refused(&head) {
            return refused;
        }
        let body = match read::whole(&head.headers, body, MAX_MESSAGE, read::CLIENT).await {
            Ok(body) => body,
            Err(why) => return unread(&why),
        };
        match self.reply(head.headers.clone(), body.into()).await {
            Reaction::Listen(subscription) => self.listen(&head.headers, subscription),
            Reaction::Answer(text, fault) => json(status(fault), text),
            // Nobody waits for an answer. Subscriptions of a pipe do not exist here.
            Reaction::Nothing
            | Reaction::Cancelled(_)
            | Reaction::Subscribe(..)
            | Reaction::Unsubscribe(..) => reply::status(StatusCode::ACCEPTED),
        }
    }

    /// Runs on a blocking thread, because reading a store waits for its disk.
    async fn reply(&self, headers: HeaderMap, body: Bytes) -> Reaction {
        let permit = self.busy.acquire().await;
        let (service, posted) = (Arc::clone(&self.service), body.clone());
        let replied = tokio::task::spawn_blocking(move || service.posted(&headers, &posted)).await;
        drop(permit);
        replied.unwrap_or_else(|error| {
            tracing::error!(%error, "a request could not be answered");
            broken_reply(&body)
        })
    }

    /// A stream that lasts until either side ends it.
    fn listen(&self, headers: &HeaderMap, subscription: Subscription) -> Response<ReplyBody> {
        if !accepts(headers, "text/event-stream") {
            return plain(StatusCode::NOT_ACCEPTABLE, "accept text/event-stream");
        }
        let Ok(place) = Arc::clone(&self.streams).try_acquire_owned() else {
            let text = format!("{MAX_STREAMS} subscriptions are open; try again later");
            let error = ResponseWriter::error(subscription.id(), REFUSED, &text, None);
            return json(StatusCode::SERVICE_UNAVAILABLE, error);
        };
        let (events, mut response) = reply::stream();
        response.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
        let (change_listener, all) = (self.changes.listen(), self.service.all_uris());
        tokio::spawn(async move {
            stream::send_notifications(subscription, change_listener, all, events).await;
            // Released when the client is gone.
            drop(place);
        });
        response
    }
}

impl<H: ServerContent> Service<H> {
    /// Handles a posted message.
    fn posted(&self, headers: &HeaderMap, body: &[u8]) -> Reaction {
        let message = match RpcMessage::read(body) {
            Ok(Some(message)) => message,
            Ok(None) => {
                let error = answers::error(None, -32700, "the body is empty; send a message");
                return Reaction::Answer(error, Some(FaultyPart::Request));
            }
            Err(unfit) => return unfit_reply(&unfit),
        };
        match &message.kind {
            RpcMessageKind::Request { id, method, params } => {
                let repeated =
                    headers::RepeatedParts { method, text: message.text, params: *params };
                if let Err(why) = headers::check(headers, &repeated) {
                    let error = ResponseWriter::error(id, HEADER_MISMATCH, &why, None);
                    return Reaction::Answer(error, Some(FaultyPart::Request));
                }
            }
            RpcMessageKind::Notification { .. } => return Reaction::Nothing,
            RpcMessageKind::Answer { id, .. } => {
                let why = "this server sends no requests, so it expects no answers";
                let error = answers::error(id.as_ref(), -32600, why);
                return Reaction::Answer(error, Some(FaultyPart::Request));
            }
        }
        let revision = headers::revision(headers);
        self.message(message, ClientChannel::Http { revision: revision.as_deref() })
    }
}

fn status(fault: Option<FaultyPart>) -> StatusCode {
    match fault {
        None | Some(FaultyPart::Target) => StatusCode::OK,
        Some(FaultyPart::Request) => StatusCode::BAD_REQUEST,
        Some(FaultyPart::Method) => StatusCode::NOT_FOUND,
    }
}

/// A page of another site can post plain text without a preflight, but not JSON.
fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    kind.eq_ignore_ascii_case("application/json")
}

/// Whether a client accepts this type. Without an `Accept` header it accepts everything.
fn accepts(headers: &HeaderMap, kind: &str) -> bool {
    let mut repeated = headers.get_all(ACCEPT).iter().peekable();
    if repeated.peek().is_none() {
        return true;
    }
    let family = kind.split('/').next().unwrap_or_default();
    let fits = |range: &str| {
        let range = range.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        range == "*/*" || range == kind || range.strip_suffix("/*") == Some(family)
    };
    repeated.filter_map(|value| value.to_str().ok()).any(|value| value.split(',').any(fits))
}

/// A short text for clients that do not speak the protocol.
fn plain(status: StatusCode, text: &str) -> Response<ReplyBody> {
    let mut response = Response::new(reply::whole(format!("callgate: {text}\n").into()));
    *response.status_mut() = status;
    let kind = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

/// A message.
fn json(status: StatusCode, text: String) -> Response<ReplyBody> {
    let mut response = reply::message(status, text);
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// The refusal of a request whose headers are wrong.
fn refused(head: &http::request::Parts) -> Option<Response<ReplyBody>> {
    if head.uri.path() != PATH {
        let text = format!("there is nothing at this path; the MCP server is at {PATH}");
        return Some(plain(StatusCode::NOT_FOUND, &text));
    }
    if head.method != Method::POST {
        // There is no stream to get, and no session to delete.
        let mut response = plain(StatusCode::METHOD_NOT_ALLOWED, "send a POST");
        response.headers_mut().insert(ALLOW, HeaderValue::from_static("POST"));
        return Some(response);
    }
    if !is_json(&head.headers) {
        return Some(plain(StatusCode::UNSUPPORTED_MEDIA_TYPE, "send application/json"));
    }
    let takes = accepts(&head.headers, "application/json");
    (!takes).then(|| plain(StatusCode::NOT_ACCEPTABLE, "accept application/json"))
}

/// The refusal of an unreadable body.
fn unread(why: &BodyReadError) -> Response<ReplyBody> {
    let status = why.status();
    json(status, answers::error(None, -32600, &format!("callgate cannot read this body: {why}")))
}
