//! A client on one channel: what it listens for.

use std::collections::BTreeSet;

use callgate_call::json::quote;

use super::Reply;
use super::listening::{Listening, updated};
use super::words::Words;
use crate::answers::REFUSED;
use crate::message::Id;

/// Subscriptions that a client may have at once. There are three resources; what is beyond is
/// refused.
const MAX_LISTENING: usize = 32;

/// What a client on a pipe listens for.
#[derive(Debug, Default)]
pub(crate) struct Connection {
    /// In the words of the older revisions.
    subscribed: BTreeSet<&'static str>,
    listening: Vec<Listening>,
}

impl Connection {
    /// Takes what came of a message, and gives what the client is told.
    pub(crate) fn take(&mut self, reply: Reply) -> Option<String> {
        match reply {
            Reply::Silence => None,
            Reply::Answer(answer, _) => Some(answer),
            Reply::Subscribe(answer, uri) => {
                self.subscribed.insert(uri);
                Some(answer)
            }
            Reply::Unsubscribe(answer, uri) => {
                self.subscribed.remove(uri);
                Some(answer)
            }
            Reply::Listen(listening) => Some(self.listen(listening)),
            Reply::CalledOff(id) => {
                self.listening.retain(|listening| *listening.id() != id);
                None
            }
        }
    }

    fn listen(&mut self, listening: Listening) -> String {
        let id: &Id = listening.id();
        if self.listening.iter().any(|other| other.id() == id) {
            return Words::error(id, -32600, "a request with this id is open already", None);
        }
        if self.listening.len() >= MAX_LISTENING {
            let text = format!("{MAX_LISTENING} subscriptions are open; call one of them off");
            return Words::error(id, REFUSED, &text, None);
        }
        let first = listening.acknowledged();
        self.listening.push(listening);
        first
    }

    /// What the client is told when these resources have changed.
    pub(crate) fn changed(&self, uris: &[&'static str]) -> Vec<String> {
        let plain = self.subscribed.iter().filter(|uri| uris.contains(uri));
        let plain = plain.map(|uri| updated(&format!(r#""uri":{}"#, quote(uri))));
        plain.chain(self.listening.iter().flat_map(|listening| listening.changed(uris))).collect()
    }

    /// What it is told last.
    pub(crate) fn ended(&self) -> Vec<String> {
        self.listening.iter().map(Listening::ended).collect()
    }
}
