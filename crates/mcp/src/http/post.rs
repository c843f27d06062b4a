//! Handles a message of the client in its own HTTP request.

use std::sync::Arc;

use callgate_call::ClientInfo;
use callgate_json::Span;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderName, Method, Request, Response, StatusCode};
use hyper::body::Incoming;
use url::Url;

use super::legacy_sse::LegacyStream;
use super::mirror::{self, MirroredArguments};
use super::site::{self, HttpConversation, SESSION, Site};
use super::{HttpSettings, ReplyBody, list, read, reply, response};
use crate::answers;
use crate::message::{Id, RpcMessage, RpcMessageKind};
use crate::params::{self, NameKey, NamedParams};
use crate::session::{OutgoingLine, RpcSession, SessionStep};

/// One request of a client, from its message to its answer.
pub(super) struct ClientRequest {
    pub(super) site: Arc<Site>,
    pub(super) client: ClientInfo,
    pub(super) conversation: Arc<HttpConversation>,
    pub(super) session: Arc<tokio::sync::Mutex<RpcSession>>,
    /// The client's headers, as they are sent to the server.
    pub(super) headers: HeaderMap,
    /// The address that it is sent to.
    pub(super) to: Url,
    /// The id that waits for an answer, if the message is a request.
    pub(super) id: Option<Id>,
    /// The session waits for this answer, and not for another request with the same id.
    pub(super) waits: bool,
    /// It starts a conversation.
    pub(super) begins: bool,
    /// Its answer is a stream that only ends when one side ends it.
    pub(super) listens: bool,
    /// The stream for all answers, on the oldest transport.
    pub(super) channel: Option<Arc<LegacyStream>>,
}

/// The decision about a message.
pub(super) enum MessageOutcome {
    /// Forward it, unchanged or with other arguments.
    Forward(Vec<u8>),
    /// Answer it here.
    Answer(Vec<u8>),
    /// Drop it. Nobody waits for an answer.
    Nothing,
}

impl MessageOutcome {
    fn of(message: OutgoingLine) -> Self {
        match message {
            OutgoingLine::ToServer(text) => Self::Forward(without_line_end(text)),
            OutgoingLine::ToClient(text) => Self::Answer(without_line_end(text)),
        }
    }
}

/// The body and headers of a client's POST.
pub(super) struct ClientPost {
    pub(super) headers: HeaderMap,
    body: Vec<u8>,
}

impl ClientPost {
    /// Reads it, or returns why it cannot be forwarded.
    pub(super) async fn read(
        site: &Site,
        conversation: &HttpConversation,
        request: Request<Incoming>,
    ) -> Result<Self, Response<ReplyBody>> {
        let (head, body) = request.into_parts();
        if !is_json(&head.headers) {
            return Err(reply::status(StatusCode::UNSUPPORTED_MEDIA_TYPE));
        }
        let HttpSettings { max_message, client_body, .. } = site.settings;
        let body = read::whole(&head.headers, body, max_message, client_body).await;
        let body = body.map_err(|error| {
            conversation.mcp_session.record_withheld("the client", &error.to_string());
            let text = format!("callgate did not forward this message: {error}");
            reply::error(error.status(), None, -32600, &text)
        })?;
        Ok(Self { headers: site::forwarded_headers(head.headers), body })
    }

    /// Parses the message, or returns why it cannot be forwarded.
    pub(super) fn message(
        &self,
        conversation: &HttpConversation,
    ) -> Result<RpcMessage<'_>, Box<Response<ReplyBody>>> {
        let message = RpcMessage::of_body(&self.body).map_err(|unfit| {
            conversation.mcp_session.record_withheld("the client", &unfit.why.to_string());
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
    client: ClientInfo,
    request: Request<Incoming>,
) -> Response<ReplyBody> {
    let named = session_of(request.headers());
    let Some(conversation) = site.conversation(&client, named.as_deref()) else {
        return reply::status(StatusCode::NOT_FOUND);
    };
    let post = match ClientPost::read(&site, &conversation, request).await {
        Ok(post) => post,
        Err(response) => return response,
    };
    let message = match post.message(&conversation) {
        Ok(message) => message,
        Err(response) => return *response,
    };
    let begins = begins(&message);
    let conversation = if begins { site.begin(&client, true) } else { conversation };
    let mut exchange = ClientRequest::new(site, client, conversation, post.headers.clone());
    exchange.begins = begins;
    exchange.run(message).await
}

impl ClientRequest {
    /// A request whose message has not been read yet.
    pub(super) fn new(
        site: Arc<Site>,
        client: ClientInfo,
        conversation: Arc<HttpConversation>,
        headers: HeaderMap,
    ) -> Self {
        Self {
            session: conversation.session(),
            to: site.url.clone(),
            site,
            client,
            conversation,
            headers,
            id: None,
            waits: false,
            begins: false,
            listens: false,
            channel: None,
        }
    }

    /// The address of the server; on the oldest transport, the one that its stream has named.
    pub(super) fn place(&self) -> Url {
        let named = self.channel.as_ref().and_then(|channel| channel.place());
        named.unwrap_or(&self.to).clone()
    }

    async fn run(mut self, message: RpcMessage<'_>) -> Response<ReplyBody> {
        match self.outcome(message).await {
            Err(response) => response,
            Ok(MessageOutcome::Answer(answer)) => reply::message(StatusCode::OK, answer),
            Ok(MessageOutcome::Nothing) => reply::status(StatusCode::ACCEPTED),
            Ok(MessageOutcome::Forward(body)) => {
                let sent =
                    self.site.upstream.send(Method::POST, &self.to, &self.headers, body.into());
                match sent.await {
                    Ok(response) => response::answer(self, response).await,
                    Err(error) => {
                        self.forget().await;
                        response::unreachable(&self.site, self.id.as_ref(), &error)
                    }
                }
            }
        }
    }

    /// The decision about a message, or the response to an invalid one.
    pub(super) async fn outcome(
        &mut self,
        message: RpcMessage<'_>,
    ) -> Result<MessageOutcome, Response<ReplyBody>> {
        self.id = id_of(&message);
        if let Some(refused) = self.conversation.refused() {
            return Err(refused_server(self.id.as_ref(), &refused));
        }
        let (text, called) = (message.text, CallParams::read(&message));
        if let Some(called) = &called {
            list::before_call(self, called.meta.clone()).await;
            if let Some(header) = called.disagreement(&self.conversation, &self.headers, text) {
                return Err(reply::mismatch(self.id.as_ref(), &header));
            }
        }
        // If requests are independent, the server's questions in other requests are unknown.
        let is_answer = matches!(message.kind, RpcMessageKind::Answer { .. });
        if is_answer && !self.conversation.is_named() {
            let step = self.with_session(|session| session.judge_unmatched_answer(&message)).await;
            return Ok(self.await_verdict(step.into_iter().collect()).await);
        }
        self.listens = matches!(
            &message.kind,
            RpcMessageKind::Request { method, .. } if method == "subscriptions/listen"
        );
        let steps = self.client_steps(message).await;
        let is_on_its_way = |step: &SessionStep| {
            matches!(step, SessionStep::Send(OutgoingLine::ToServer(_)) | SessionStep::Judge(_))
        };
        self.waits = self.id.is_some() && steps.iter().any(is_on_its_way);
        let outcome = self.await_verdict(steps).await;
        if let (Some(called), MessageOutcome::Forward(body)) = (&called, &outcome)
            && body != text.as_bytes()
        {
            called.repeat(&self.conversation, &mut self.headers, body);
        }
        Ok(outcome)
    }

    /// Locks the session for some work. Large messages take long, and no thread that serves others
    /// may wait for that.
    pub(super) async fn with_session<T>(&self, work: impl FnOnce(&mut RpcSession) -> T) -> T {
        work(&mut *self.session.lock().await)
    }

    /// Forgets the request, because it will get no answer.
    pub(super) async fn forget(&self) {
        if let Some(id) = &self.id {
            self.with_session(|session| session.forget(id)).await;
        }
    }

    /// The steps for a message of the client. Messages other than calls may need the store, so they
    /// are handled on a blocking thread. Calls wait for the store by themselves.
    async fn client_steps(&self, message: RpcMessage<'_>) -> Vec<SessionStep> {
        let asks_store = matches!(
            &message.kind,
            RpcMessageKind::Request { method, .. } if !FROM_MEMORY.contains(&&**method)
        );
        if !asks_store {
            return self.with_session(|session| session.client_message(message)).await;
        }
        let (session, text) = (Arc::clone(&self.session), message.text.to_owned());
        let looked_at = tokio::task::spawn_blocking(move || {
            // It was parsed before, so parsing it again succeeds.
            let message = RpcMessage::of_body(text.as_bytes());
            message
                .map(|message| session.blocking_lock().client_message(message))
                .unwrap_or_default()
        });
        looked_at.await.unwrap_or_default()
    }

    /// The steps for a message of the server. Large messages, and those that write to the store,
    /// are handled on a blocking thread.
    pub(super) async fn server_steps(&self, data: &[u8]) -> Vec<SessionStep> {
        if data.len() < LARGE && !may_be_pinned(data) {
            return self.with_session(|session| steps_for(session, data)).await;
        }
        let (session, data) = (Arc::clone(&self.session), data.to_vec());
        let looked_at =
            tokio::task::spawn_blocking(move || steps_for(&mut session.blocking_lock(), &data));
        looked_at.await.unwrap_or_default()
    }

    /// Waits for the verdict, if there is one to wait for.
    async fn await_verdict(&self, mut steps: Vec<SessionStep>) -> MessageOutcome {
        // A client message results in at most one step.
        while let Some(step) = steps.pop() {
            match step {
                SessionStep::Send(message) => return MessageOutcome::of(message),
                SessionStep::Judge(mut question) => {
                    let decision = question
                        .ask(&self.conversation.mcp_session, Some(&self.client.request))
                        .await;
                    let decided = |session: &mut RpcSession| session.decided(*question, decision);
                    let message = self.with_session(decided).await.pop();
                    return message.map_or(MessageOutcome::Nothing, MessageOutcome::of);
                }
                // Only sessions on a pipe list tools themselves.
                SessionStep::Listing(_) => {}
            }
        }
        MessageOutcome::Nothing
    }
}

/// The steps for a message of the server.
pub(crate) fn steps_for(session: &mut RpcSession, data: &[u8]) -> Vec<SessionStep> {
    match RpcMessage::of_body(data) {
        Ok(message) => session.server_message(message),
        Err(unfit) => session.withhold(&unfit, data),
    }
}

/// Whether a message may contain definitions, whose pins are written to the store. If it hides them
/// behind escapes, it is only handled on another thread.
fn may_be_pinned(data: &[u8]) -> bool {
    [&b"\"tools\""[..], b"\"prompts\"", b"\"instructions\""]
        .iter()
        .any(|key| memchr::memmem::find(data, key).is_some())
}

/// Requests that are answered from memory, or whose verdict is awaited.
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

/// Messages of this size take so long to inspect that other requests would notice.
const LARGE: usize = 32 * 1024;

/// However it ends, also when the client disconnects: nothing waits forever.
impl Drop for ClientRequest {
    fn drop(&mut self) {
        // On the oldest transport the answer comes later, on the stream.
        let Some(id) = self.id.take().filter(|_| self.waits && self.channel.is_none()) else {
            return;
        };
        let in_use = match self.session.try_lock() {
            Ok(mut session) => return session.request_ended(&id),
            Err(_) => Arc::clone(&self.session),
        };
        // A thread that serves others must not wait here. Once all of them stop, it no longer
        // matters.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move { in_use.lock().await.request_ended(&id) });
        }
    }
}

/// The server may not be used. A request gets an error; a notification gets nothing.
fn refused_server(id: Option<&Id>, text: &str) -> Response<ReplyBody> {
    match id {
        Some(_) => reply::error(StatusCode::OK, id, answers::REFUSED, text),
        None => reply::status(StatusCode::ACCEPTED),
    }
}

/// What must be known about a call before it is judged.
struct CallParams {
    tool: String,
    arguments: Option<Span>,
    /// The metadata that makes our own request look like one of the same client.
    meta: Option<String>,
}

impl CallParams {
    fn read(message: &RpcMessage<'_>) -> Option<Self> {
        let RpcMessageKind::Request { method, params, .. } = &message.kind else { return None };
        let params = (*params).filter(|_| method == "tools/call")?;
        let named = NamedParams::read(message.text, params, NameKey::Name).ok()?;
        let meta = params::own_meta(message.text, named.meta);
        Some(Self { tool: named.name.into_owned(), arguments: named.arguments, meta })
    }

    fn repeated(&self, conversation: &HttpConversation) -> Option<MirroredArguments> {
        Some(MirroredArguments::of(&conversation.mcp_session.definition(&self.tool)?))
    }

    fn disagreement(
        &self,
        conversation: &HttpConversation,
        headers: &HeaderMap,
        text: &str,
    ) -> Option<HeaderName> {
        if !headers.keys().any(|name| name.as_str().starts_with("mcp-param-")) {
            return None;
        }
        let arguments = self.arguments.map_or("{}", |span| span.of(text));
        self.repeated(conversation)?.disagreement(headers, arguments)
    }

    /// Updates the headers that repeat arguments, because the arguments have changed.
    fn repeat(&self, conversation: &HttpConversation, headers: &mut HeaderMap, body: &[u8]) {
        let Ok(message) = RpcMessage::of_body(body) else { return };
        let arguments = Self::read(&message).and_then(|called| called.arguments);
        let arguments = arguments.map_or("{}", |span| span.of(message.text));
        self.repeated(conversation).unwrap_or_default().rewrite(headers, arguments);
    }
}

pub(super) fn session_of(headers: &HeaderMap) -> Option<String> {
    Some(headers.get(SESSION)?.to_str().ok()?.to_owned())
}

/// Whether the headers name no conversation, or exactly one: with two names, servers differ in
/// which one they use.
pub(super) fn has_fit_session(headers: &HeaderMap) -> bool {
    let mut names = headers.get_all(SESSION).iter();
    let is_fit = names.next().is_none_or(|name| name.len() <= MAX_SESSION && name.to_str().is_ok());
    is_fit && names.next().is_none()
}

/// Names of conversations are UUIDs or tokens. Longer ones are refused, because they would have to
/// be stored.
const MAX_SESSION: usize = 4096;

fn begins(message: &RpcMessage<'_>) -> bool {
    matches!(&message.kind, RpcMessageKind::Request { method, .. } if method == "initialize")
}

fn id_of(message: &RpcMessage<'_>) -> Option<Id> {
    match &message.kind {
        RpcMessageKind::Request { id, .. } => Some(id.clone()),
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
    // With two values, readers differ in which one they use.
    values.next().is_none()
        && value.is_some_and(|value| {
            let mut parts = value.split(';').map(|part| part.trim().to_ascii_lowercase());
            let is_json = parts.next().is_some_and(|kind| kind == "application/json");
            // In another character set the server would read a different message.
            is_json && parts.all(|part| part.is_empty() || part.replace('"', "") == "charset=utf-8")
        })
}
