//! What the server answers: nothing, a message, or events.

use std::sync::Arc;

use bytes::Bytes;
use callgate_call::json::quote;
use callgate_decide::mcp::{Inspected, Place};
use http::header::{CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode};
use hyper::body::Incoming;

use super::post::{Exchange, session_of, without_line_end};
use super::site::{self, SESSION, Site};
use super::upstream::UpstreamError;
use super::{Body, Visitor, events, read, reply};
use crate::answers;
use crate::message::{Id, Kind, Message, Outcome};
use crate::session::{Session, Step};

/// A stream on which the server says what it likes (`GET`), also what a client has missed.
pub(super) async fn get(
    site: Arc<Site>,
    visitor: Visitor,
    request: Request<Incoming>,
) -> Response<Body> {
    let headers = site::upward(request.into_parts().0.headers);
    let named = session_of(&headers);
    let Some(conversation) = site.conversation(&visitor, named.as_deref()) else {
        return reply::status(StatusCode::NOT_FOUND);
    };
    if conversation.refused().is_some() {
        return reply::status(StatusCode::FORBIDDEN);
    }
    match site.upstream.send(Method::GET, &site.url, &headers, Bytes::new()).await {
        Err(error) => unreachable(&site, None, &error),
        Ok(response) => {
            let mut exchange = Exchange::new(site, visitor, conversation, headers);
            exchange.listens = true;
            if exchange.headers.contains_key("last-event-id") {
                exchange.with_session(Session::resumes).await;
            }
            answer(exchange, response).await
        }
    }
}

/// The client ends the conversation.
pub(super) async fn delete(
    site: Arc<Site>,
    visitor: Visitor,
    request: Request<Incoming>,
) -> Response<Body> {
    let headers = site::upward(request.into_parts().0.headers);
    match site.conversation(&visitor, session_of(&headers).as_deref()) {
        None => return reply::status(StatusCode::NOT_FOUND),
        Some(it) if it.refused().is_some() => return reply::status(StatusCode::FORBIDDEN),
        Some(_) => {}
    }
    match site.upstream.send(Method::DELETE, &site.url, &headers, Bytes::new()).await {
        Err(error) => unreachable(&site, None, &error),
        Ok(response) => {
            if let (true, Some(named)) = (response.status().is_success(), session_of(&headers)) {
                site.forget(&visitor, &named);
            }
            // On 401 a client would look for a place to sign in, and find none here.
            reply::status(match response.status() {
                StatusCode::UNAUTHORIZED => StatusCode::BAD_GATEWAY,
                status => status,
            })
        }
    }
}

/// Hands the server's answer on, as far as it may be.
pub(super) async fn answer(exchange: Exchange, response: Response<Incoming>) -> Response<Body> {
    let (head, body) = response.into_parts();
    if exchange.begins
        && let Some(named) = session_of(&head.headers)
    {
        let begun = Arc::clone(&exchange.conversation);
        exchange.site.name(&exchange.visitor, &named, begun);
    }
    exchange.went_on(head.status);
    if head.status == StatusCode::UNAUTHORIZED {
        return unauthorized(&exchange, &head.headers).await;
    }
    if head.status.is_informational() {
        return unreadable(&exchange, "it wants to speak another protocol").await;
    }
    let mut answer = match kind(&head.headers) {
        Some(Said::Events) if head.status.is_success() => {
            let (sender, stream) = reply::stream();
            events::carry(exchange, &head.headers, body, sender);
            stream
        }
        said => {
            let limit = exchange.site.settings.max_message;
            let patience = exchange.site.settings.head;
            let read = read::whole(&head.headers, body, limit, patience).await;
            match (read, said) {
                (Err(error), _) => unreadable(&exchange, &error.to_string()).await,
                (Ok(body), Some(Said::Message)) => exchange.message(&body, head.status).await,
                (Ok(body), _) if head.status.is_success() => {
                    exchange.silence(&body, head.status).await
                }
                (Ok(body), _) => exchange.failure(&body, head.status).await,
            }
        }
    };
    copy_headers(&head.headers, answer.headers_mut());
    answer
}

/// The server has taken a message, whose answer comes on the stream; or it has not.
pub(super) async fn taken(exchange: Exchange, response: Response<Incoming>) -> Response<Body> {
    match response.status().is_success() {
        true => reply::status(response.status()),
        false => answer(exchange, response).await,
    }
}

/// Opens the stream of the oldest transport, if the server does.
pub(super) async fn channel(
    mut exchange: Exchange,
    response: Response<Incoming>,
    mut stream: Response<Body>,
) -> Response<Body> {
    let (head, body) = response.into_parts();
    let channel = exchange.channel.clone();
    match (channel, kind(&head.headers)) {
        (Some(channel), Some(Said::Events)) if head.status.is_success() => {
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

/// Whether the head says that events follow.
pub(super) fn is_stream(headers: &HeaderMap) -> bool {
    matches!(kind(headers), Some(Said::Events))
}

/// What the head says of the body.
enum Said {
    Message,
    Events,
}

fn kind(headers: &HeaderMap) -> Option<Said> {
    let value = headers.get(CONTENT_TYPE)?.to_str().ok()?;
    match value.split(';').next()?.trim().to_ascii_lowercase().as_str() {
        "application/json" => Some(Said::Message),
        "text/event-stream" => Some(Said::Events),
        _ => None,
    }
}

impl Exchange {
    /// The server has taken a request of a conversation.
    fn went_on(&self, status: StatusCode) {
        let named = session_of(&self.headers).filter(|_| !self.begins && self.channel.is_none());
        if let (Some(named), true) = (named, status.is_success()) {
            self.site.continues(&self.visitor, &named, &self.conversation);
        }
    }

    /// A message, whole.
    async fn message(&self, body: &[u8], status: StatusCode) -> Response<Body> {
        if self.id.is_none() && status.is_success() {
            // Nobody asked: whatever it is, nobody waits for it.
            return reply::status(status);
        }
        let steps = match Message::of_body(body) {
            _ if status.is_success() => self.server_said(body).await,
            Err(_) => return self.failure(body, status).await,
            Ok(message) => {
                let message = self.of_status(message, status);
                self.with_session(|session| session.server_says(message)).await
            }
        };
        let mut said = None;
        for step in steps {
            match step {
                Step::ToClient(text) => said = Some(without_line_end(text)),
                Step::ToServer(text) => events::tell_server(self, text),
                Step::Judge(_) | Step::Listing(_) => {}
            }
        }
        if !status.is_success() {
            self.forget().await;
            said = said.and_then(|said| self.shown_with_all(&said));
        }
        match said {
            Some(said) => reply::message(status, said),
            None if status.is_success() => {
                unreadable(self, "it is not an answer to what was asked").await
            }
            // The status itself tells a client what to do: to begin anew, or to come back later.
            None => reply::error(status, self.id.as_ref(), answers::REFUSED, WITHHELD),
        }
    }

    /// Of an error of the transport clients show all to the model, not just the members they know.
    fn shown_with_all(&self, said: &[u8]) -> Option<Vec<u8>> {
        let text = String::from_utf8_lossy(said);
        match self.conversation.desk.text(Place::Result, &text) {
            Inspected::Pass => Some(said.to_vec()),
            Inspected::Replace(other) => Some(other.into_bytes()),
            Inspected::Block(_) => None,
        }
    }

    /// In an error of the transport some servers name a request that nobody made.
    fn of_status<'a>(&self, message: Message<'a>, status: StatusCode) -> Message<'a> {
        let Message { text, kind } = message;
        let kind = match kind {
            Kind::Answer { id, outcome: outcome @ Outcome::Error(_) }
                if !status.is_success() && id != self.id =>
            {
                Kind::Answer { id: None, outcome }
            }
            kind => kind,
        };
        Message { text, kind }
    }

    /// No message at all. A request must not be left without an answer.
    async fn silence(&self, body: &[u8], status: StatusCode) -> Response<Body> {
        match (&self.id, body.is_empty()) {
            (None, _) => reply::status(status),
            (Some(_), true) => reply::status(status),
            (Some(_), false) => unreadable(self, "it is neither JSON nor a stream of events").await,
        }
    }

    /// An error of the transport. Clients show its text to the model.
    async fn failure(&self, body: &[u8], status: StatusCode) -> Response<Body> {
        let text = String::from_utf8_lossy(body.get(..MAX_FAILURE).unwrap_or(body));
        self.forget().await;
        let shown = match self.conversation.desk.text(Place::Result, &quote(&text)) {
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

/// What stands in the place of a text that is not shown.
const WITHHELD: &str = "callgate withheld the server's text";

/// What is shown of the text of an error.
const MAX_FAILURE: usize = 64 * 1024;

/// The server wants somebody to sign in. A client would look for the place here, and find none: what
/// it says of itself would name another origin. So that it does not, it is told what does work.
async fn unauthorized(exchange: &Exchange, headers: &HeaderMap) -> Response<Body> {
    let wants = headers.get(WWW_AUTHENTICATE).and_then(|value| value.to_str().ok());
    let by_oauth = wants.is_some_and(|wants| wants.contains("resource_metadata"));
    let server = &exchange.site.id;
    let how = match by_oauth {
        true => "It wants a sign-in by OAuth, which does not go through callgate.",
        false => "It takes no token that was sent, or none was.",
    };
    let text = format!(
        "callgate: the server `{server}` answered 401. {how} The operator can give it a fixed token \
         with `bearer_env` under `mcp.servers`, or the client can send one as `Authorization`."
    );
    exchange.forget().await;
    tracing::warn!(server, by_oauth, "the server wants a token");
    match &exchange.id {
        Some(id) => reply::error(StatusCode::OK, Some(id), UNAUTHORIZED, &text),
        None => reply::error(StatusCode::BAD_GATEWAY, None, UNAUTHORIZED, &text),
    }
}

/// Codes of our own lie outside the range that the protocol reserves.
const UNAUTHORIZED: i32 = 1401;
const UNREACHABLE: i32 = 1502;

/// There is no answer of the server.
pub(super) fn unreachable(site: &Site, id: Option<&Id>, error: &UpstreamError) -> Response<Body> {
    let server = &site.id;
    tracing::warn!(server, %error, "the server gave no answer");
    let text = format!("callgate: the server `{server}` gave no answer: {error}");
    reply::error(StatusCode::BAD_GATEWAY, id, UNREACHABLE, &text)
}

/// There is one that cannot be handed on.
async fn unreadable(exchange: &Exchange, why: &str) -> Response<Body> {
    exchange.conversation.desk.withheld("the server", why);
    let text = format!("callgate withheld the server's answer: {why}");
    exchange.forget().await;
    reply::error(StatusCode::BAD_GATEWAY, exchange.id.as_ref(), UNREACHABLE, &text)
}

/// What a client must know of the answer beside its body.
fn copy_headers(from: &HeaderMap, to: &mut HeaderMap) {
    for name in KEPT.into_iter().chain([SESSION]) {
        for value in from.get_all(&name) {
            to.append(name.clone(), value.clone());
        }
    }
}

const KEPT: [HeaderName; 4] = [
    HeaderName::from_static("mcp-protocol-version"),
    HeaderName::from_static("x-accel-buffering"),
    HeaderName::from_static("retry-after"),
    http::header::ALLOW,
];
