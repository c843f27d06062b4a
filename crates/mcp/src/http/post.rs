//! A message of the client, in a request of its own.

use std::sync::Arc;

use callgate_call::json::Span;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderName, Method, Request, Response, StatusCode};
use hyper::body::Incoming;
use url::Url;

use super::mirror::{self, Repeated};
use super::old::Channel;
use super::site::{self, Conversation, SESSION, Site};
use super::{Body, HttpSettings, Visitor, down, list, read, reply};
use crate::answers;
use crate::message::{Id, Kind, Message};
use crate::params::{self, NameKey, Named};
use crate::session::{Session, Step};

/// One request of a client, from its message to its answer.
pub(super) struct Exchange {
    pub(super) site: Arc<Site>,
    pub(super) visitor: Visitor,
    pub(super) conversation: Arc<Conversation>,
    pub(super) session: Arc<tokio::sync::Mutex<Session>>,
    /// The client's head, as it goes to the server.
    pub(super) headers: HeaderMap,
    /// Where it goes.
    pub(super) to: Url,
    /// The request that waits for an answer, if it is one.
    pub(super) id: Option<Id>,
    /// The session waits for the answer, and not because of another request with the same id.
    pub(super) waits: bool,
    /// It begins a conversation.
    pub(super) begins: bool,
    /// Its answer is a stream that ends only when somebody ends it.
    pub(super) listens: bool,
    /// The stream on which answers come, where there is one for all.
    pub(super) channel: Option<Arc<Channel>>,
}

/// What becomes of a message.
pub(super) enum Outcome {
    /// It goes to the server, as it came or with other arguments.
    Forward(Vec<u8>),
    /// It is answered here.
    Answer(Vec<u8>),
    /// It goes nowhere, and nobody waits.
    Nothing,
}

/// What a client says: a body, and its head.
pub(super) struct Told {
    pub(super) headers: HeaderMap,
    body: Vec<u8>,
}

impl Told {
    /// Takes it in, or says why it cannot be handed on.
    pub(super) async fn read(
        site: &Site,
        conversation: &Conversation,
        request: Request<Incoming>,
    ) -> Result<Self, Response<Body>> {
        let (head, body) = request.into_parts();
        if !is_json(&head.headers) {
            return Err(reply::status(StatusCode::UNSUPPORTED_MEDIA_TYPE));
        }
        let HttpSettings { max_message, client_body, .. } = site.settings;
        let body = read::whole(&head.headers, body, max_message, client_body).await;
        let body = body.map_err(|error| {
            conversation.desk.withheld("the client", &error.to_string());
            let text = format!("callgate did not forward this message: {error}");
            reply::error(error.status(), None, -32600, &text)
        })?;
        Ok(Self { headers: site::upward(head.headers), body })
    }

    /// The message that it is, or why it cannot be handed on.
    pub(super) fn message(
        &self,
        conversation: &Conversation,
    ) -> Result<Message<'_>, Box<Response<Body>>> {
        let message = Message::of_body(&self.body).map_err(|unfit| {
            conversation.desk.withheld("the client", &unfit.why.to_string());
            Box::new(reply::unfit(&unfit))
        })?;
        match mirror::disagreement(&self.headers, &message) {
            None => Ok(message),
            Some(header) => Err(Box::new(reply::mismatch(id_of(&message).as_ref(), &header))),
        }
    }
}

/// Answers a client's message.
pub(super) async fn answer(
    site: Arc<Site>,
    visitor: Visitor,
    request: Request<Incoming>,
) -> Response<Body> {
    let named = session_of(request.headers());
    let Some(conversation) = site.conversation(&visitor, named.as_deref()) else {
        return reply::status(StatusCode::NOT_FOUND);
    };
    let told = match Told::read(&site, &conversation, request).await {
        Ok(told) => told,
        Err(response) => return response,
    };
    let message = match told.message(&conversation) {
        Ok(message) => message,
        Err(response) => return *response,
    };
    let begins = begins(&message);
    let conversation = if begins { site.begin(&visitor, true) } else { conversation };
    let mut exchange = Exchange::new(site, visitor, conversation, told.headers.clone());
    exchange.begins = begins;
    exchange.run(message).await
}

impl Exchange {
    /// A request whose message is not read yet.
    pub(super) fn new(
        site: Arc<Site>,
        visitor: Visitor,
        conversation: Arc<Conversation>,
        headers: HeaderMap,
    ) -> Self {
        Self {
            session: conversation.session(),
            to: site.url.clone(),
            site,
            visitor,
            conversation,
            headers,
            id: None,
            waits: false,
            begins: false,
            listens: false,
            channel: None,
        }
    }

    /// Where the server is spoken to: on the oldest transport, where its stream has said.
    pub(super) fn place(&self) -> Url {
        let said = self.channel.as_ref().and_then(|channel| channel.place());
        said.unwrap_or(&self.to).clone()
    }

    async fn run(mut self, message: Message<'_>) -> Response<Body> {
        match self.outcome(message).await {
            Err(response) => response,
            Ok(Outcome::Answer(answer)) => reply::message(StatusCode::OK, answer),
            Ok(Outcome::Nothing) => reply::status(StatusCode::ACCEPTED),
            Ok(Outcome::Forward(body)) => {
                let sent =
                    self.site.upstream.send(Method::POST, &self.to, &self.headers, body.into());
                match sent.await {
                    Ok(response) => down::answer(self, response).await,
                    Err(error) => {
                        self.forget().await;
                        down::unreachable(&self.site, self.id.as_ref(), &error)
                    }
                }
            }
        }
    }

    /// What becomes of a message, once that is decided; or the answer to one that does not fit.
    pub(super) async fn outcome(
        &mut self,
        message: Message<'_>,
    ) -> Result<Outcome, Response<Body>> {
        self.id = id_of(&message);
        if let Some(refused) = self.conversation.refused() {
            return Err(refused_server(self.id.as_ref(), &refused));
        }
        let (text, called) = (message.text, Called::read(&message));
        if let Some(called) = &called {
            list::before_call(self, called.meta.clone()).await;
            if let Some(header) = called.disagreement(&self.conversation, &self.headers, text) {
                return Err(reply::mismatch(self.id.as_ref(), &header));
            }
        }
        // Where requests do not belong together, nobody knows what a server asked in another one.
        let is_answer = matches!(message.kind, Kind::Answer { .. });
        if is_answer && !self.conversation.is_named() {
            let step = self.with_session(|session| session.answers_unasked(&message)).await;
            return Ok(self.settle(step.into_iter().collect()).await);
        }
        self.listens = matches!(
            &message.kind,
            Kind::Request { method, .. } if method == "subscriptions/listen"
        );
        let steps = self.client_said(message).await;
        let is_on_its_way = |step: &Step| matches!(step, Step::ToServer(_) | Step::Judge(_));
        self.waits = self.id.is_some() && steps.iter().any(is_on_its_way);
        let outcome = self.settle(steps).await;
        if let (Some(called), Outcome::Forward(body)) = (&called, &outcome)
            && body != text.as_bytes()
        {
            called.repeat(&self.conversation, &mut self.headers, body);
        }
        Ok(outcome)
    }

    /// Works on the session. It is in use for long only while something large is looked at, and no
    /// thread that serves others may wait for that.
    pub(super) async fn with_session<T>(&self, work: impl FnOnce(&mut Session) -> T) -> T {
        work(&mut *self.session.lock().await)
    }

    /// Nobody will answer the request.
    pub(super) async fn forget(&self) {
        if let Some(id) = &self.id {
            self.with_session(|session| session.forget(id)).await;
        }
    }

    /// What is to be done with a message of the client. One that the store may have to be asked about,
    /// beside calls, which wait for it by themselves, is looked at by a thread of its own.
    async fn client_said(&self, message: Message<'_>) -> Vec<Step> {
        let asks_store = matches!(
            &message.kind,
            Kind::Request { method, .. } if !FROM_MEMORY.contains(&&**method)
        );
        if !asks_store {
            return self.with_session(|session| session.client_says(message)).await;
        }
        let (session, text) = (Arc::clone(&self.session), message.text.to_owned());
        let looked_at = tokio::task::spawn_blocking(move || {
            // It was read before, so it can be read again.
            let message = Message::of_body(text.as_bytes());
            message.map(|message| session.blocking_lock().client_says(message)).unwrap_or_default()
        });
        looked_at.await.unwrap_or_default()
    }

    /// What is to be done with a message of the server. A large one is looked at by a thread of its own,
    /// and so is what has to be kept in the store.
    pub(super) async fn server_said(&self, data: &[u8]) -> Vec<Step> {
        if data.len() < LARGE && !may_be_pinned(data) {
            return self.with_session(|session| said(session, data)).await;
        }
        let (session, data) = (Arc::clone(&self.session), data.to_vec());
        let looked_at =
            tokio::task::spawn_blocking(move || said(&mut session.blocking_lock(), &data));
        looked_at.await.unwrap_or_default()
    }

    /// Waits for the verdict, where there is one to wait for.
    async fn settle(&self, mut steps: Vec<Step>) -> Outcome {
        // One message of the client is one step, or none.
        while let Some(step) = steps.pop() {
            match step {
                Step::ToServer(text) => return Outcome::Forward(without_line_end(text)),
                Step::ToClient(text) => return Outcome::Answer(without_line_end(text)),
                Step::Judge(mut question) => {
                    let decision =
                        question.ask(&self.conversation.desk, Some(&self.visitor.request)).await;
                    let decided = |session: &mut Session| session.decided(*question, decision);
                    steps = self.with_session(decided).await;
                }
                Step::Listing(_) => {}
            }
        }
        Outcome::Nothing
    }
}

/// What is to be done with a message of the server.
pub(crate) fn said(session: &mut Session, data: &[u8]) -> Vec<Step> {
    match Message::of_body(data) {
        Ok(message) => session.server_says(message),
        Err(unfit) => session.withhold(&unfit, data),
    }
}

/// Whether a message may hold definitions, whose pins are written to the store. One that hides them
/// behind escapes is only looked at elsewhere.
fn may_be_pinned(data: &[u8]) -> bool {
    [&b"\"tools\""[..], b"\"prompts\"", b"\"instructions\""]
        .iter()
        .any(|key| memchr::memmem::find(data, key).is_some())
}

/// Requests that are answered from memory, or whose verdict is waited for.
const FROM_MEMORY: [&str; 15] = [
    "tools/call",
    "tools/list",
    "resources/read",
    "resources/list",
    "resources/templates/list",
    "prompts/list",
    "initialize",
    "server/discover",
    "ping",
    "tasks/list",
    "tasks/get",
    "tasks/result",
    "tasks/update",
    "tasks/cancel",
    "subscriptions/listen",
];

/// Messages from this size on take so long to look at that others would notice.
const LARGE: usize = 32 * 1024;

/// However it ends, also when the client goes away: nothing waits for ever.
impl Drop for Exchange {
    fn drop(&mut self) {
        // On the oldest transport the answer comes elsewhere, when this is over.
        let Some(id) = self.id.take().filter(|_| self.waits && self.channel.is_none()) else {
            return;
        };
        let in_use = match self.session.try_lock() {
            Ok(mut session) => return session.let_go(&id),
            Err(_) => Arc::clone(&self.session),
        };
        // A thread that serves others must not wait here. When all of them stop, nobody asks any more.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move { in_use.lock().await.let_go(&id) });
        }
    }
}

/// The server may not be spoken to. Whoever waits is told; a notification is nobody's.
fn refused_server(id: Option<&Id>, text: &str) -> Response<Body> {
    match id {
        Some(_) => reply::error(StatusCode::OK, id, answers::REFUSED, text),
        None => reply::status(StatusCode::ACCEPTED),
    }
}

/// What must be known of a call before it is judged.
struct Called {
    tool: String,
    arguments: Option<Span>,
    /// What a request of our own must say to be taken for one of the same client.
    meta: Option<String>,
}

impl Called {
    fn read(message: &Message<'_>) -> Option<Self> {
        let Kind::Request { method, params, .. } = &message.kind else { return None };
        let params = (*params).filter(|_| method == "tools/call")?;
        let named = Named::read(message.text, params, NameKey::Name).ok()?;
        let meta = params::own_meta(message.text, named.meta);
        Some(Self { tool: named.name.into_owned(), arguments: named.arguments, meta })
    }

    fn repeated(&self, conversation: &Conversation) -> Option<Repeated> {
        Some(Repeated::of(&conversation.desk.definition(&self.tool)?))
    }

    fn disagreement(
        &self,
        conversation: &Conversation,
        headers: &HeaderMap,
        text: &str,
    ) -> Option<HeaderName> {
        if !headers.keys().any(|name| name.as_str().starts_with("mcp-param-")) {
            return None;
        }
        let arguments = self.arguments.map_or("{}", |span| span.of(text));
        self.repeated(conversation)?.disagreement(headers, arguments)
    }

    /// The arguments are others now: what repeats them must say so.
    fn repeat(&self, conversation: &Conversation, headers: &mut HeaderMap, body: &[u8]) {
        let Ok(message) = Message::of_body(body) else { return };
        let arguments = Self::read(&message).and_then(|called| called.arguments);
        let arguments = arguments.map_or("{}", |span| span.of(message.text));
        self.repeated(conversation).unwrap_or_default().rewrite(headers, arguments);
    }
}

pub(super) fn session_of(headers: &HeaderMap) -> Option<String> {
    Some(headers.get(SESSION)?.to_str().ok()?.to_owned())
}

/// Whether the head names no conversation, or one for certain: of two names every server takes
/// another one.
pub(super) fn has_fit_session(headers: &HeaderMap) -> bool {
    let mut names = headers.get_all(SESSION).iter();
    let is_fit = names.next().is_none_or(|name| name.len() <= MAX_SESSION && name.to_str().is_ok());
    is_fit && names.next().is_none()
}

/// Names of conversations are UUIDs or tokens. A longer one is refused: it would be kept.
const MAX_SESSION: usize = 4096;

fn begins(message: &Message<'_>) -> bool {
    matches!(&message.kind, Kind::Request { method, .. } if method == "initialize")
}

fn id_of(message: &Message<'_>) -> Option<Id> {
    match &message.kind {
        Kind::Request { id, .. } => Some(id.clone()),
        _ => None,
    }
}

pub(crate) fn without_line_end(mut text: Vec<u8>) -> Vec<u8> {
    if text.last() == Some(&b'\n') {
        text.pop();
    }
    text
}

fn is_json(headers: &HeaderMap) -> bool {
    let mut values = headers.get_all(CONTENT_TYPE).iter();
    let value = values.next().and_then(|value| value.to_str().ok());
    // Of two values every reader takes another one.
    values.next().is_none()
        && value.is_some_and(|value| {
            let mut parts = value.split(';').map(|part| part.trim().to_ascii_lowercase());
            let is_json = parts.next().is_some_and(|kind| kind == "application/json");
            // In another character set the server would read another message.
            is_json && parts.all(|part| part.is_empty() || part.replace('"', "") == "charset=utf-8")
        })
}
