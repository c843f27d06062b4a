//! callgate as an MCP server: what it knows, for agents to ask.
//!
//! No I/O happens here: a message comes in, a [`Reply`] comes out. What is known is the [`Host`]'s; this is
//! the protocol around it, in both families of revisions. A request whose metadata name a revision
//! is answered by that one, any other as up to 2025-11-25.
//!
//! ```text
//! client ── Service::line ──► Reply ──► Connection (one channel for all), or the answer of one POST
//! client ◄── Listening::changed ◄── Changes ◄── Host
//! ```

mod changes;
mod connection;
mod envelope;
mod handlers;
mod headers;
mod host;
mod http;
mod listening;
mod pipe;
#[cfg(test)]
mod tests;
mod words;

use std::sync::Arc;

use callgate_call::json::Span;

pub use changes::{Changes, Changing};
pub use host::{About, Called, Host, Resource, Tool};
pub use http::Http;
pub use pipe::serve_pipe;

use self::envelope::Envelope;
use self::handlers::Asked;
use self::listening::Listening;
use self::words::{Fault, Words};
use crate::message::{Id, Kind, Message, Unfit};

/// The largest message that is read. Far above the largest arguments that are judged at all (1 MiB),
/// which JSON escapes may inflate. A larger one is refused.
const MAX_MESSAGE: usize = 16 << 20;

/// A server, as far as it is the same for every client.
#[derive(Debug)]
pub struct Service<H> {
    host: Arc<H>,
}

/// How a client is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Channel<'a> {
    /// Lines, both ways: it can be told something at any time.
    Pipe,
    /// One answer to each request, whose head may name a revision.
    Http { revision: Option<&'a str> },
}

impl<'a> Channel<'a> {
    /// The revision that is named beside the message.
    fn revision(self) -> Option<&'a str> {
        match self {
            Self::Pipe => None,
            Self::Http { revision } => revision,
        }
    }
}

/// What comes of a message.
#[derive(Debug)]
pub(crate) enum Reply {
    /// Nothing: it wants no answer.
    Silence,
    /// An answer; what is wrong, if it is an error.
    Answer(String, Option<Fault>),
    /// An answer, and from now on changes of this resource are told (older revisions).
    Subscribe(String, &'static str),
    /// An answer, and they are not told any more.
    Unsubscribe(String, &'static str),
    /// What is listened for is told until it is called off.
    Listen(Listening),
    /// The client does not want this request answered any more.
    CalledOff(Id),
}

impl<H: Host> Service<H> {
    /// A server that answers with what the host knows.
    pub fn new(host: Arc<H>) -> Self {
        Self { host }
    }

    /// Everything that can be read.
    fn all_uris(&self) -> Vec<&'static str> {
        self.host.resources().iter().map(|resource| resource.uri).collect()
    }

    /// A line of a client.
    fn line(&self, line: &[u8]) -> Reply {
        match Message::read(line) {
            Ok(None) => Reply::Silence,
            Ok(Some(message)) => self.message(message, Channel::Pipe),
            Err(unfit) => unfit_reply(&unfit),
        }
    }

    fn message(&self, message: Message<'_>, channel: Channel<'_>) -> Reply {
        let text = message.text;
        match message.kind {
            Kind::Request { id, method, params } => {
                self.request(id, &method, text, params, channel)
            }
            Kind::Notification { method, params } => called_off(&method, text, params),
            // Nothing is ever asked of a client.
            Kind::Answer { .. } => Reply::Silence,
        }
    }

    fn request(
        &self,
        id: Id,
        method: &str,
        text: &str,
        params: Option<Span>,
        channel: Channel<'_>,
    ) -> Reply {
        match Envelope::read(method, text, params, channel.revision()) {
            Ok(envelope) => {
                let words = Words::new(self.host.about(), envelope.era);
                Asked { host: &*self.host, words, id, text, params }.answer(method, channel)
            }
            Err(refused) => Reply::Answer(refused.answer(&id), Some(Fault::Request)),
        }
    }
}

/// What to say to a message that two peers would read differently.
pub(crate) fn unfit_reply(unfit: &Unfit) -> Reply {
    let text = format!("callgate cannot read this message: {}", unfit.why);
    let answer = crate::answers::error(unfit.id.as_ref(), unfit.why.code(), &text);
    Reply::Answer(answer, Some(Fault::Request))
}

/// What to say if the answer to a message could not be made.
pub(crate) fn broken_reply(line: &[u8]) -> Reply {
    let id = crate::message::id_of(&String::from_utf8_lossy(line));
    let text = "callgate could not answer this; see its log on standard error";
    Reply::Answer(crate::answers::error(id.as_ref(), -32603, text), Some(Fault::Asked))
}

/// The one notification that matters.
fn called_off(method: &str, text: &str, params: Option<Span>) -> Reply {
    let off = params.filter(|_| method == "notifications/cancelled");
    let id = off
        .and_then(|params| Id::at(text, callgate_call::json::member(text, params, "requestId")?));
    id.map_or(Reply::Silence, Reply::CalledOff)
}
