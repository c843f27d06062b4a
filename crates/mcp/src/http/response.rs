//! Forwards the server's response: nothing, a message, or events.

use std::sync::Arc;

use bytes::Bytes;
use callgate_call::ClientInfo;
use callgate_decide::mcp::{Inspected, TextSource};
use callgate_json::quote;
use http::header::{CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode};
use hyper::body::Incoming;

use super::post::{ClientRequest, session_of, without_line_end};
use super::site::{self, SESSION, Site};
use super::upstream::ServerClientError;
use super::{ReplyBody, events, read, reply};
use crate::answers;
use crate::message::{AnswerContent, Id, RpcMessage, RpcMessageKind};
use crate::session::{OutgoingLine, RpcSession, messages_over_http};

/// Opens a stream for messages that the server sends by itself (`GET`), including those that a
/// client has missed.
pub(super) async fn get(
    site: Arc<Site>,
    client: ClientInfo,
    request: Request<Incoming>,
) -> Response<ReplyBody> {
    let headers = site::forwarded_headers(request.into_parts().0.headers);
    let named = session_of(&headers);
    let Some(conversation) = site.conversation(&client, named.as_deref()) else {
        return reply::status(StatusCode::NOT_FOUND);
    };
    if conversation.refused().is_some() {
        return reply::status(StatusCode::FORBIDDEN);
    }
    match site.upstream.send(Method::GET, &site.url, &headers, Bytes::new()).await {
        Err(error) => unreachable(&site, None, &error),
        Ok(response) => {
            let mut exchange = ClientRequest::new(site, client, conversation, headers);
            exchange.listens = true;
            if exchange.headers.contains_key("last-event-id") {
                exchange.with_session(RpcSession::note_resumption).await;
            }
            answer(exchange, response).await
        }
    }
}

/// The client ends the conversation.
pub(super) async fn delete(
    site: Arc<Site>,
    client: ClientInfo,
    request: Request<Incoming>,
) -> Response<ReplyBody> {
    let headers = site::forwarded_headers(request.into_parts().0.headers);
    match site.conversation(&client, session_of(&headers).as_deref()) {
        None => return reply::status(StatusCode::NOT_FOUND),
        Some(it) if it.refused().is_some() => return reply::status(StatusCode::FORBIDDEN),
        Some(_) => {}
    }
    match site.upstream.send(Method::DELETE, &site.url, &headers, Bytes::new()).await {
        Err(error) => unreachable(&site, None, &error),
        Ok(response) => {
            if let (true, Some(named)) = (response.status().is_success(), session_of(&headers)) {
                site.forget(&client, &named);
            }
            // On 401 a client would start a login, which is not possible here.
            reply::status(match response.status() {
                StatusCode::UNAUTHORIZED => StatusCode::BAD_GATEWAY,
                status => status,
            })
        }
    }
}

/// Forwards the server's response, as far as it is allowed.
pub(super) async fn answer(
    exchange: ClientRequest,
    response: Response<Incoming>,
) -> Response<ReplyBody> {
    let (head, body) = response.into_parts();
    if exchange.begins
        && let Some(named) = session_of(&head.headers)
    {
        let begun = Arc::clone(&exchange.conversation);
        exchange.site.name(&exchange.client, &named, begun);
    }
    exchange.note_accepted(head.status);
    if head.status == StatusCode::UNAUTHORIZED {
        return unauthorized(&exchange, &head.headers).await;
    }
    if head.status.is_informational() {
        return unreadable(&exchange, "it wants to switch to another protocol").await;
    }
    let mut answer = match kind(&head.headers) {
        Some(BodyKind::Events) if head.status.is_success() => {
            let (sender, stream) = reply::stream();
            events::carry(exchange, &head.headers, body, sender);
            stream
        }
        content => {
            let limit = exchange.site.settings.max_message;
            let timeout = exchange.site.settings.head;
            let read = read::whole(&head.headers, body, limit, timeout).await;
            match (read, content) {
                (Err(error), _) => unreadable(&exchange, &error.to_string()).await,
                (Ok(body), Some(BodyKind::Message)) => exchange.message(&body, head.status).await,
                (Ok(body), _) if head.status.is_success() => {
                    exchange.no_message(&body, head.status).await
                }
                (Ok(body), _) => exchange.failure(&body, head.status).await,
            }
        }
    };
    copy_headers(&head.headers, answer.headers_mut());
    answer
}

/// Forwards whether the server accepted a message. The answer comes on the stream.
pub(super) async fn taken(
    exchange: ClientRequest,
    response: Response<Incoming>,
) -> Response<ReplyBody> {
    match response.status().is_success() {
        true => reply::status(response.status()),
        false => answer(exchange, response).await,
    }
}

/// Opens the stream of the oldest transport, if the server does.
pub(super) async fn channel(
    mut exchange: ClientRequest,
    response: Response<Incoming>,
    mut stream: Response<ReplyBody>,
) -> Response<ReplyBody> {
    let (head, body) = response.into_parts();
    let channel = exchange.channel.clone();
    match (channel, kind(&head.headers)) {
        (Some(channel), Some(BodyKind::Events)) if head.status.is_success() => {
            events::carry(exchange, &head.headers, body, channel.sender().clone());
            copy_headers(&head.headers, stream.headers_mut());
            stream
        }
        (channel, _) => {
            if let Some(channel) = channel {
                exchange.site.channels.close(&channel);
            }
            exchange.channel = None;
            answer(exchange, Response::from_parts(head, body)).await
        }
    }
}

/// Whether the headers announce events.
pub(super) fn is_stream(headers: &HeaderMap) -> bool {
    matches!(kind(headers), Some(BodyKind::Events))
}

/// The kind of body that the headers announce.
enum BodyKind {
    Message,
    Events,
}

fn kind(headers: &HeaderMap) -> Option<BodyKind> {
    let value = headers.get(CONTENT_TYPE)?.to_str().ok()?;
    match value.split(';').next()?.trim().to_ascii_lowercase().as_str() {
        "application/json" => Some(BodyKind::Message),
        "text/event-stream" => Some(BodyKind::Events),
        _ => None,
    }
}

impl ClientRequest {
    /// Notes that the server accepted a request of a conversation.
    fn note_accepted(&self, status: StatusCode) {
        let named = session_of(&self.headers).filter(|_| !self.begins && self.channel.is_none());
        if let (Some(named), true) = (named, status.is_success()) {
            self.site.adopt(&self.client, &named, &self.conversation);
        }
    }

    /// Forwards a complete message.
    async fn message(&self, body: &[u8], status: StatusCode) -> Response<ReplyBody> {
        if self.id.is_none() && status.is_success() {
            // It answers no request, so nobody waits for it.
            return reply::status(status);
        }
        let steps = match RpcMessage::of_body(body) {
            _ if status.is_success() => self.server_steps(body).await,
            Err(_) => return self.failure(body, status).await,
            Ok(message) => {
                let message = self.of_status(message, status);
                self.with_session(|session| session.server_message(message)).await
            }
        };
        let mut content = None;
        for message in messages_over_http(steps) {
            match message {
                OutgoingLine::ToClient(text) => content = Some(without_line_end(text)),
                OutgoingLine::ToServer(text) => events::send_to_server(self, text),
            }
        }
        if !status.is_success() {
            self.forget().await;
            content = content.and_then(|content| self.shown_with_all(&content));
        }
        match content {
            Some(content) => reply::message(status, content),
            None if status.is_success() => {
                unreadable(self, "it is not a response to the request").await
            }
            // The status itself instructs the client: to start again, or to retry later.
            None => reply::error(status, self.id.as_ref(), answers::REFUSED, WITHHELD),
        }
    }

    /// Inspects a transport error as a whole: clients show all of it to the model, not just the
    /// members they know.
    fn shown_with_all(&self, content: &[u8]) -> Option<Vec<u8>> {
        let text = String::from_utf8_lossy(content);
        match self.conversation.mcp_session.judge_text(TextSource::Result, &text) {
            Inspected::Pass => Some(content.to_vec()),
            Inspected::Replace(other) => Some(other.into_bytes()),
            Inspected::Block(_) => None,
        }
    }

    /// In transport errors some servers use an id that no request has.
    fn of_status<'a>(&self, message: RpcMessage<'a>, status: StatusCode) -> RpcMessage<'a> {
        let RpcMessage { text, kind } = message;
        let kind = match kind {
            RpcMessageKind::Answer { id, outcome: outcome @ AnswerContent::Error(_) }
                if !status.is_success() && id != self.id =>
            {
                RpcMessageKind::Answer { id: None, outcome }
            }
            kind => kind,
        };
        RpcMessage { text, kind }
    }

    /// The response has no message. A request must still get an answer.
    async fn no_message(&self, body: &[u8], status: StatusCode) -> Response<ReplyBody> {
        match (&self.id, body.is_empty()) {
            (None, _) => reply::status(status),
            (Some(_), true) => reply::status(status),
            (Some(_), false) => unreadable(self, "it is neither JSON nor a stream of events").await,
        }
    }

    /// Forwards a transport error. Clients show its text to the model.
    async fn failure(&self, body: &[u8], status: StatusCode) -> Response<ReplyBody> {
        let text = String::from_utf8_lossy(body.get(..MAX_FAILURE).unwrap_or(body));
        self.forget().await;
        let shown =
            match self.conversation.mcp_session.judge_text(TextSource::Result, &quote(&text)) {
                Inspected::Pass => Some(text.into_owned()),
                Inspected::Replace(_) | Inspected::Block(_) => None,
            };
        let shown = shown.unwrap_or_else(|| WITHHELD.to_owned());
        let mut response = Response::new(reply::whole(shown.into()));
        *response.status_mut() = status;
        response
            .headers_mut()
            .insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
        response
    }
}

/// Replaces a text that is not shown.
const WITHHELD: &str = "callgate withheld the server's text";

/// How much of an error text is shown.
const MAX_FAILURE: usize = 64 * 1024;

/// The server requires a login. A client would look for the login page here, where there is none:
/// the server's metadata would name another origin. So the response explains what works instead.
async fn unauthorized(exchange: &ClientRequest, headers: &HeaderMap) -> Response<ReplyBody> {
    let wants = headers.get(WWW_AUTHENTICATE).and_then(|value| value.to_str().ok());
    let by_oauth = wants.is_some_and(|wants| wants.contains("resource_metadata"));
    let server = &exchange.site.id;
    let how = match by_oauth {
        true => "It requires an OAuth sign-in, which does not work through callgate.",
        false => "It rejected the token, or no token was sent.",
    };
    let text = format!(
        "callgate: the server `{server}` answered 401. {how} The operator can give it a fixed token \
         with `bearer_env` under `mcp.servers`, or the client can send one as `Authorization`."
    );
    exchange.forget().await;
    tracing::warn!(server, by_oauth, "the server requires a token");
    match &exchange.id {
        Some(id) => reply::error(StatusCode::OK, Some(id), UNAUTHORIZED, &text),
        None => reply::error(StatusCode::BAD_GATEWAY, None, UNAUTHORIZED, &text),
    }
}

/// Our own codes are outside the range that the protocol reserves.
const UNAUTHORIZED: i32 = 1401;
const UNREACHABLE: i32 = 1502;

/// The server did not respond.
pub(super) fn unreachable(
    site: &Site,
    id: Option<&Id>,
    error: &ServerClientError,
) -> Response<ReplyBody> {
    let server = &site.id;
    tracing::warn!(server, %error, "the server did not answer");
    let text = format!("callgate: the server `{server}` did not answer: {error}");
    reply::error(StatusCode::BAD_GATEWAY, id, UNREACHABLE, &text)
}

/// The response cannot be forwarded.
async fn unreadable(exchange: &ClientRequest, why: &str) -> Response<ReplyBody> {
    exchange.conversation.mcp_session.record_withheld("the server", why);
    let text = format!("callgate withheld the server's response: {why}");
    exchange.forget().await;
    reply::error(StatusCode::BAD_GATEWAY, exchange.id.as_ref(), UNREACHABLE, &text)
}

/// Copies the headers that a client needs.
fn copy_headers(from: &HeaderMap, to: &mut HeaderMap) {
    for name in FORWARDED_HEADERS.into_iter().chain([SESSION]) {
        for value in from.get_all(&name) {
            to.append(name.clone(), value.clone());
        }
    }
}

const FORWARDED_HEADERS: [HeaderName; 4] = [
    HeaderName::from_static("mcp-protocol-version"),
    HeaderName::from_static("x-accel-buffering"),
    HeaderName::from_static("retry-after"),
    http::header::ALLOW,
];
