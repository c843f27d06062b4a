//! The oldest transport: one stream of events (`GET`) for everything that the server sends, and a
//! separate address for the client's messages (`POST`), which the first event names.
//!
//! The client gets an address of ours instead. Refusals are also sent on the stream.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use callgate_call::ClientInfo;
use callgate_decide::mcp::McpSession;
use callgate_wire::Frame;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use hyper::body::Incoming;
use parking_lot::Mutex;
use tokio::sync::{mpsc, oneshot};
use url::Url;

use super::post::{ClientPost, ClientRequest, MessageOutcome};
use super::site::{self, HttpConversation, Site};
use super::{PATH, ReplyBody, events, hex, reply, response};
use crate::message::{Id, RpcMessage, RpcMessageKind};

/// Maximum number of concurrent streams per server.
const MAX_CHANNELS: usize = 4096;

/// The streams of one server, by random names that cannot be guessed.
#[derive(Default)]
pub(super) struct LegacyStreams(Mutex<HashMap<String, Arc<LegacyStream>>>);

/// One stream.
pub(super) struct LegacyStream {
    token: String,
    client: ClientInfo,
    conversation: Arc<HttpConversation>,
    /// The address for messages to the server, once the server has named it.
    place: OnceLock<Url>,
    to_client: mpsc::Sender<Bytes>,
    /// Our own requests that wait for an answer.
    own: Mutex<HashMap<Id, oneshot::Sender<Vec<u8>>>>,
}

impl LegacyStreams {
    pub(super) fn close(&self, channel: &LegacyStream) {
        self.0.lock().remove(&channel.token);
    }

    /// Adds a stream. Returns `false` if there are too many.
    fn open(&self, channel: Arc<LegacyStream>) -> bool {
        let mut all = self.0.lock();
        let has_room = all.len() < MAX_CHANNELS;
        if has_room {
            all.insert(channel.token.clone(), channel);
        }
        has_room
    }
}

/// Opens a stream for a client.
pub(super) async fn open(
    site: Arc<Site>,
    client: ClientInfo,
    request: Request<Incoming>,
) -> Response<ReplyBody> {
    let headers = site::forwarded_headers(request.into_parts().0.headers);
    match connect(site, client, headers).await {
        Ok((_, stream)) | Err(stream) => stream,
    }
}

/// Opens a stream to the server, or returns the response to send instead. Until the server opens
/// the stream, its address for messages is unknown.
pub(super) async fn connect(
    site: Arc<Site>,
    client: ClientInfo,
    headers: HeaderMap,
) -> Result<(Arc<LegacyStream>, Response<ReplyBody>), Response<ReplyBody>> {
    let conversation = site.begin(&client, true);
    if conversation.refused().is_some() {
        return Err(reply::status(StatusCode::FORBIDDEN));
    }
    let mut random = [0; 16];
    if getrandom::fill(&mut random).is_err() {
        return Err(reply::status(StatusCode::SERVICE_UNAVAILABLE));
    }
    let response = site.upstream.send(Method::GET, &site.url, &headers, Bytes::new()).await;
    let response = response.map_err(|error| response::unreachable(&site, None, &error))?;
    let (to_client, stream) = reply::stream();
    let channel = Arc::new(LegacyStream {
        token: hex(&random),
        client: client.clone(),
        conversation: Arc::clone(&conversation),
        place: OnceLock::new(),
        to_client,
        own: Mutex::default(),
    });
    if !site.channels.open(Arc::clone(&channel)) {
        return Err(reply::status(StatusCode::SERVICE_UNAVAILABLE));
    }
    let mut exchange = ClientRequest::new(site, client, conversation, headers);
    exchange.listens = true;
    exchange.channel = Some(Arc::clone(&channel));
    Ok((channel, response::channel(exchange, response, stream).await))
}

/// Handles a message of the client.
pub(super) async fn post(
    site: Arc<Site>,
    client: ClientInfo,
    token: &str,
    request: Request<Incoming>,
) -> Response<ReplyBody> {
    let channel = site.channels.0.lock().get(token).map(Arc::clone);
    let channel = channel.filter(|channel| channel.client.who == client.who);
    let Some((channel, place)) =
        channel.and_then(|it| Some((Arc::clone(&it), it.place.get()?.clone())))
    else {
        return reply::status(StatusCode::NOT_FOUND);
    };
    let post = match ClientPost::read(&site, &channel.conversation, request).await {
        Ok(post) => post,
        Err(response) => return response,
    };
    let message = match post.message(&channel.conversation) {
        Ok(message) => message,
        Err(response) => return *response,
    };
    let (conversation, headers) = (Arc::clone(&channel.conversation), post.headers.clone());
    let mut exchange = ClientRequest::new(site, client, conversation, headers);
    exchange.to = place;
    exchange.channel = Some(Arc::clone(&channel));
    exchange.post_on_channel(message, &channel).await
}

impl ClientRequest {
    async fn post_on_channel(
        mut self,
        message: RpcMessage<'_>,
        channel: &LegacyStream,
    ) -> Response<ReplyBody> {
        match self.outcome(message).await {
            Err(response) => response,
            Ok(MessageOutcome::Nothing) => reply::status(StatusCode::ACCEPTED),
            Ok(MessageOutcome::Answer(answer)) => {
                channel.send_text(&events::without_separators(&answer)).await;
                reply::status(StatusCode::ACCEPTED)
            }
            Ok(MessageOutcome::Forward(body)) => {
                let (site, headers) = (&self.site, &self.headers);
                match site.upstream.send(Method::POST, &self.to, headers, body.into()).await {
                    Ok(response) => response::taken(self, response).await,
                    Err(error) => {
                        self.forget().await;
                        response::unreachable(site, self.id.as_ref(), &error)
                    }
                }
            }
        }
    }
}

impl LegacyStream {
    async fn send_text(&self, text: &str) {
        let event = format!("event: message\ndata: {text}\n\n");
        self.to_client.send(event.into()).await.ok();
    }

    /// The address for messages to the server, once the server has named it.
    pub(super) fn place(&self) -> Option<&Url> {
        self.place.get()
    }

    /// Decides for this conversation.
    pub(super) fn mcp_session(&self) -> &McpSession {
        &self.conversation.mcp_session
    }

    pub(super) fn sender(&self) -> &mpsc::Sender<Bytes> {
        &self.to_client
    }

    /// Waits for the answer to our own request.
    pub(super) fn expect(&self, id: &Id) -> oneshot::Receiver<Vec<u8>> {
        let (sender, receiver) = oneshot::channel();
        self.own.lock().insert(id.clone(), sender);
        receiver
    }

    /// Consumes an event that is not for the client: the one that names the address, or an answer
    /// to us.
    pub(super) fn takes(
        &self,
        site: &Site,
        frame: &Frame<'_>,
        data: &[u8],
        out: &mut Vec<u8>,
    ) -> bool {
        if frame.event() == Some(b"endpoint") {
            self.accept_place(site, frame, data, out);
            return true;
        }
        let answer = RpcMessage::of_body(data).ok().map(|message| message.kind);
        let Some(RpcMessageKind::Answer { id: Some(id), .. }) = answer else { return false };
        match self.own.lock().remove(&id) {
            None => false,
            Some(waits) => {
                waits.send(data.to_vec()).ok();
                true
            }
        }
    }

    /// Accepts an address only on the server itself: tokens would be sent to any other.
    fn accept_place(&self, site: &Site, frame: &Frame<'_>, data: &[u8], out: &mut Vec<u8>) {
        let place =
            std::str::from_utf8(data).ok().and_then(|address| site.url.join(address.trim()).ok());
        let place = place.filter(|place| place.origin() == site.url.origin());
        match place.and_then(|place| self.place.set(place).ok()) {
            Some(()) => {
                let ours = format!("{PATH}/{}/{}", site.id, self.token);
                frame.rewrite(None, ours.as_bytes(), out);
            }
            None => {
                let why = "it names an address on another origin";
                self.conversation.mcp_session.record_withheld("the server", why);
            }
        }
    }
}
