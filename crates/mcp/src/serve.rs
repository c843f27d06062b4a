//! callgate as an MCP server, so that agents can query it.
//!
//! No I/O happens here: a message comes in, a [`Reaction`] comes out. [`ServerContent`] is what the
//! server offers; this is the protocol around it, in both families of revisions. A request with a
//! revision in its metadata is answered in that revision, any other as up to 2025-11-25.
//!
//! ```text
//! client ── Service::line ──► Reaction ──► PipeSubscriptions (all answers), or the answer of one POST
//! client ◄── Subscription::changed ◄── Changes ◄── ServerContent
//! ```

mod changes;
mod connection;
mod envelope;
mod handlers;
mod headers;
mod host;
mod http;
mod pipe;
mod subscription;
#[cfg(test)]
mod tests;
mod writer;

use std::sync::Arc;

use callgate_json::Span;

pub use changes::{ChangeListener, Changes};
pub use host::{CallResult, Resource, ServedTool, ServerContent, ServerInfo};
pub use http::Http;
pub use pipe::serve_pipe;

use self::envelope::RequestEnvelope;
use self::handlers::RequestHandler;
use self::subscription::Subscription;
use self::writer::{FaultyPart, ResponseWriter};
use crate::message::{Id, RpcMessage, RpcMessageKind, Unfit};

/// The maximum size of a message. Far above the largest arguments that are judged at all (1 MiB),
/// which JSON escapes may inflate. A larger one is refused.
const MAX_MESSAGE: usize = 16 << 20;

/// A server, with everything that is the same for all clients.
#[derive(Debug)]
pub struct Service<H> {
    host: Arc<H>,
}

/// The connection to a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClientChannel<'a> {
    /// Lines, both ways: the server can send messages at any time.
    Pipe,
    /// One answer to each request, whose headers may name a revision.
    Http { revision: Option<&'a str> },
}

impl<'a> ClientChannel<'a> {
    /// The revision in the headers.
    fn revision(self) -> Option<&'a str> {
        match self {
            Self::Pipe => None,
            Self::Http { revision } => revision,
        }
    }
}

/// The reaction to a message.
#[derive(Debug)]
pub(crate) enum Reaction {
    /// Nothing: it needs no answer.
    Nothing,
    /// An answer, with the fault if it is an error.
    Answer(String, Option<FaultyPart>),
    /// An answer, and from now on notifications about this resource (older revisions).
    Subscribe(String, &'static str),
    /// An answer, and no more notifications about it.
    Unsubscribe(String, &'static str),
    /// Notifications until the client cancels the subscription.
    Listen(Subscription),
    /// The client cancelled this request.
    Cancelled(Id),
}

impl<H: ServerContent> Service<H> {
    /// A server that answers with the host's content.
    pub fn new(host: Arc<H>) -> Self {
        Self { host }
    }

    /// The URIs of all resources.
    fn all_uris(&self) -> Vec<&'static str> {
        self.host.resources().iter().map(|resource| resource.uri).collect()
    }

    /// Handles a line of a client.
    fn line(&self, line: &[u8]) -> Reaction {
        match RpcMessage::read(line) {
            Ok(None) => Reaction::Nothing,
            Ok(Some(message)) => self.message(message, ClientChannel::Pipe),
            Err(unfit) => unfit_reply(&unfit),
        }
    }

    fn message(&self, message: RpcMessage<'_>, channel: ClientChannel<'_>) -> Reaction {
        let text = message.text;
        match message.kind {
            RpcMessageKind::Request { id, method, params } => {
                self.request(id, &method, text, params, channel)
            }
            RpcMessageKind::Notification { method, params } => cancelled(&method, text, params),
            // This server never sends requests to its clients.
            RpcMessageKind::Answer { .. } => Reaction::Nothing,
        }
    }

    fn request(
        &self,
        id: Id,
        method: &str,
        text: &str,
        params: Option<Span>,
        channel: ClientChannel<'_>,
    ) -> Reaction {
        match RequestEnvelope::read(method, text, params, channel.revision()) {
            Ok(envelope) => {
                let writer = ResponseWriter::new(self.host.about(), envelope.era);
                RequestHandler { host: &*self.host, writer, id, text, params }
                    .answer(method, channel)
            }
            Err(refused) => Reaction::Answer(refused.answer(&id), Some(FaultyPart::Request)),
        }
    }
}

/// The reply to a message that two peers would read differently.
pub(crate) fn unfit_reply(unfit: &Unfit) -> Reaction {
    let text = format!("callgate cannot read this message: {}", unfit.why);
    let answer = crate::answers::error(unfit.id.as_ref(), unfit.why.code(), &text);
    Reaction::Answer(answer, Some(FaultyPart::Request))
}

/// The reply if answering a message failed.
pub(crate) fn broken_reply(line: &[u8]) -> Reaction {
    let id = crate::message::id_of(&String::from_utf8_lossy(line));
    let text = "callgate could not answer this; see its log on standard error";
    Reaction::Answer(crate::answers::error(id.as_ref(), -32603, text), Some(FaultyPart::Target))
}

/// Handles the only notification that matters.
fn cancelled(method: &str, text: &str, params: Option<Span>) -> Reaction {
    let off = params.filter(|_| method == "notifications/cancelled");
    let id = off.and_then(|params| Id::at(text, callgate_json::member(text, params, "requestId")?));
    id.map_or(Reaction::Nothing, Reaction::Cancelled)
}
