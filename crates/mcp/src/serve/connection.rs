//! The subscriptions of a client on a pipe.

use std::collections::BTreeSet;

use callgate_json::quote;

use super::Reaction;
use super::subscription::{Subscription, updated};
use super::writer::ResponseWriter;
use crate::answers::REFUSED;
use crate::message::Id;

/// Maximum number of subscriptions per client. There are three resources. More are refused.
const MAX_SUBSCRIPTIONS: usize = 32;

/// The subscriptions of a client on a pipe.
#[derive(Debug, Default)]
pub(crate) struct PipeSubscriptions {
    /// Those of the older revisions.
    subscribed: BTreeSet<&'static str>,
    subscriptions: Vec<Subscription>,
}

impl PipeSubscriptions {
    /// Applies a reply, and returns the message for the client.
    pub(crate) fn take(&mut self, reply: Reaction) -> Option<String> {
        match reply {
            Reaction::Nothing => None,
            Reaction::Answer(answer, _) => Some(answer),
            Reaction::Subscribe(answer, uri) => {
                self.subscribed.insert(uri);
                Some(answer)
            }
            Reaction::Unsubscribe(answer, uri) => {
                self.subscribed.remove(uri);
                Some(answer)
            }
            Reaction::Listen(subscription) => Some(self.listen(subscription)),
            Reaction::Cancelled(id) => {
                self.subscriptions.retain(|subscription| *subscription.id() != id);
                None
            }
        }
    }

    fn listen(&mut self, subscription: Subscription) -> String {
        let id: &Id = subscription.id();
        if self.subscriptions.iter().any(|other| other.id() == id) {
            return ResponseWriter::error(
                id,
                -32600,
                "a request with this id is open already",
                None,
            );
        }
        if self.subscriptions.len() >= MAX_SUBSCRIPTIONS {
            let text = format!("{MAX_SUBSCRIPTIONS} subscriptions are open; cancel one of them");
            return ResponseWriter::error(id, REFUSED, &text, None);
        }
        let first = subscription.acknowledged();
        self.subscriptions.push(subscription);
        first
    }

    /// The notifications for changed resources.
    pub(crate) fn changed(&self, uris: &[&'static str]) -> Vec<String> {
        let plain = self.subscribed.iter().filter(|uri| uris.contains(uri));
        let plain = plain.map(|uri| updated(&format!(r#""uri":{}"#, quote(uri))));
        plain
            .chain(self.subscriptions.iter().flat_map(|subscription| subscription.changed(uris)))
            .collect()
    }

    /// The last messages to the client.
    pub(crate) fn ended(&self) -> Vec<String> {
        self.subscriptions.iter().map(Subscription::ended).collect()
    }
}
