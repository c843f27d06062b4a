//! The oldest transport: one stream of events (`GET`) for everything the server says, and a place of
//! its own for what the client says (`POST`), which the first event names.
//!
//! The client is given a place of ours instead. What the server does not get is answered on the stream.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use callgate_decide::mcp::McpSession;
use callgate_wire::Frame;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use hyper::body::Incoming;
use parking_lot::Mutex;
use tokio::sync::{mpsc, oneshot};
use url::Url;

use super::post::{Exchange, Outcome, Told};
use super::site::{self, Conversation, Site};
use super::{Body, PATH, Visitor, down, events, hex, reply};
use crate::message::{Id, Kind, Message};

/// Streams of one server at once.
const MAX_CHANNELS: usize = 4096;

/// The streams of one server, by names that nobody guesses.
#[derive(Default)]
pub(super) struct Channels(Mutex<HashMap<String, Arc<Channel>>>);

/// One stream.
pub(super) struct Channel {
    token: String,
    visitor: Visitor,
    conversation: Arc<Conversation>,
    /// Where the server wants to be spoken to, once it has said so.
    place: OnceLock<Url>,
    to_client: mpsc::Sender<Bytes>,
    /// Requests of our own.
    own: Mutex<HashMap<Id, oneshot::Sender<Vec<u8>>>>,
}

impl Channels {
    pub(super) fn close(&self, channel: &Channel) {
        self.0.lock().remove(&channel.token);
    }

    /// Adds a stream, unless there are too many.
    fn open(&self, channel: Arc<Channel>) -> bool {
        let mut all = self.0.lock();
        let has_room = all.len() < MAX_CHANNELS;
        if has_room {
            all.insert(channel.token.clone(), channel);
        }
        has_room
    }
}

/// A client opens a stream.
pub(super) async fn open(
    site: Arc<Site>,
    visitor: Visitor,
    request: Request<Incoming>,
) -> Response<Body> {
    let headers = site::upward(request.into_parts().0.headers);
    match connect(site, visitor, headers).await {
        Ok((_, stream)) | Err(stream) => stream,
    }
}

/// Opens a stream of the server; or gives the answer in its place. Of a stream that the server does
/// not open the place stays unknown.
pub(super) async fn connect(
    site: Arc<Site>,
    visitor: Visitor,
    headers: HeaderMap,
) -> Result<(Arc<Channel>, Response<Body>), Response<Body>> {
    let conversation = site.begin(&visitor, true);
    if conversation.refused().is_some() {
        return Err(reply::status(StatusCode::FORBIDDEN));
    }
    let mut random = [0; 16];
    if getrandom::fill(&mut random).is_err() {
        return Err(reply::status(StatusCode::SERVICE_UNAVAILABLE));
    }
    let response = site.upstream.send(Method::GET, &site.url, &headers, Bytes::new()).await;
    let response = response.map_err(|error| down::unreachable(&site, None, &error))?;
    let (to_client, stream) = reply::stream();
    let channel = Arc::new(Channel {
        token: hex(&random),
        visitor: visitor.clone(),
        conversation: Arc::clone(&conversation),
        place: OnceLock::new(),
        to_client,
        own: Mutex::default(),
    });
    if !site.channels.open(Arc::clone(&channel)) {
        return Err(reply::status(StatusCode::SERVICE_UNAVAILABLE));
    }
    let mut exchange = Exchange::new(site, visitor, conversation, headers);
    exchange.listens = true;
    exchange.channel = Some(Arc::clone(&channel));
    Ok((channel, down::channel(exchange, response, stream).await))
}

/// A message of the client.
pub(super) async fn post(
    site: Arc<Site>,
    visitor: Visitor,
    token: &str,
    request: Request<Incoming>,
) -> Response<Body> {
    let channel = site.channels.0.lock().get(token).map(Arc::clone);
    let channel = channel.filter(|channel| channel.visitor.who == visitor.who);
    let Some((channel, place)) =
        channel.and_then(|it| Some((Arc::clone(&it), it.place.get()?.clone())))
    else {
        return reply::status(StatusCode::NOT_FOUND);
    };
    let told = match Told::read(&site, &channel.conversation, request).await {
        Ok(told) => told,
        Err(response) => return response,
    };
    let message = match told.message(&channel.conversation) {
        Ok(message) => message,
        Err(response) => return *response,
    };
    let (conversation, headers) = (Arc::clone(&channel.conversation), told.headers.clone());
    let mut exchange = Exchange::new(site, visitor, conversation, headers);
    exchange.to = place;
    exchange.channel = Some(Arc::clone(&channel));
    exchange.say(message, &channel).await
}

impl Exchange {
    async fn say(mut self, message: Message<'_>, channel: &Channel) -> Response<Body> {
        match self.outcome(message).await {
            Err(response) => response,
            Ok(Outcome::Nothing) => reply::status(StatusCode::ACCEPTED),
            Ok(Outcome::Answer(answer)) => {
                channel.say(&events::without_separators(&answer)).await;
                reply::status(StatusCode::ACCEPTED)
            }
            Ok(Outcome::Forward(body)) => {
                let (site, headers) = (&self.site, &self.headers);
                match site.upstream.send(Method::POST, &self.to, headers, body.into()).await {
                    Ok(response) => down::taken(self, response).await,
                    Err(error) => {
                        self.forget().await;
                        down::unreachable(site, self.id.as_ref(), &error)
                    }
                }
            }
        }
    }
}

impl Channel {
    async fn say(&self, text: &str) {
        let event = format!("event: message\ndata: {text}\n\n");
        self.to_client.send(event.into()).await.ok();
    }

    /// Where the server wants to be spoken to, once it has said so.
    pub(super) fn place(&self) -> Option<&Url> {
        self.place.get()
    }

    /// Where the conversation is judged.
    pub(super) fn desk(&self) -> &McpSession {
        &self.conversation.desk
    }

    pub(super) fn sender(&self) -> &mpsc::Sender<Bytes> {
        &self.to_client
    }

    /// Waits for the answer to a request of our own.
    pub(super) fn expect(&self, id: &Id) -> oneshot::Receiver<Vec<u8>> {
        let (sender, receiver) = oneshot::channel();
        self.own.lock().insert(id.clone(), sender);
        receiver
    }

    /// Takes an event that is not the client's: the one that names the place, or an answer to us.
    pub(super) fn takes(
        &self,
        site: &Site,
        frame: &Frame<'_>,
        data: &[u8],
        out: &mut Vec<u8>,
    ) -> bool {
        if frame.event() == Some(b"endpoint") {
            self.names_place(site, frame, data, out);
            return true;
        }
        let answer = Message::of_body(data).ok().map(|message| message.kind);
        let Some(Kind::Answer { id: Some(id), .. }) = answer else { return false };
        match self.own.lock().remove(&id) {
            None => false,
            Some(waits) => {
                waits.send(data.to_vec()).ok();
                true
            }
        }
    }

    /// A server may name a place of its own only: to another one, tokens would follow.
    fn names_place(&self, site: &Site, frame: &Frame<'_>, data: &[u8], out: &mut Vec<u8>) {
        let place = std::str::from_utf8(data).ok().and_then(|said| site.url.join(said.trim()).ok());
        let place = place.filter(|place| place.origin() == site.url.origin());
        match place.and_then(|place| self.place.set(place).ok()) {
            Some(()) => {
                let ours = format!("{PATH}/{}/{}", site.id, self.token);
                frame.rewrite(None, ours.as_bytes(), out);
            }
            None => {
                let why = "it names a place that is not its own";
                self.conversation.desk.withheld("the server", why);
            }
        }
    }
}
