//! A subscription of the newer revisions: one request, answered by notifications.

use callgate_json::quote;

use super::writer;
use crate::message::Id;

/// The subscription of one `subscriptions/listen` request.
#[derive(Debug)]
pub(crate) struct Subscription {
    id: Id,
    /// The resources, as the host lists them.
    uris: Vec<&'static str>,
    /// Whether the request named resources at all. If so, the acknowledgement lists those that
    /// exist.
    names_resources: bool,
}

impl Subscription {
    pub(crate) fn new(id: Id, uris: Vec<&'static str>, names_resources: bool) -> Self {
        Self { id, uris, names_resources }
    }

    pub(crate) fn id(&self) -> &Id {
        &self.id
    }

    /// The first message: the resources of this subscription. Unknown ones are left out.
    pub(crate) fn acknowledged(&self) -> String {
        let uris = self.uris.iter().map(|uri| quote(uri)).collect::<Vec<_>>().join(",");
        let resources = match self.names_resources {
            true => format!(r#""resourceSubscriptions":[{uris}]"#),
            false => String::new(),
        };
        let meta = self.meta();
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{{{meta},"notifications":{{{resources}}}}}}}"#
        )
    }

    /// The notifications for changed resources.
    pub(crate) fn changed(&self, uris: &[&'static str]) -> Vec<String> {
        let meta = self.meta();
        let resources = self.uris.iter().filter(|uri| uris.contains(uri));
        resources.map(|uri| updated(&format!(r#"{meta},"uri":{}"#, quote(uri)))).collect()
    }

    /// The last message, if the server stops first.
    pub(crate) fn ended(&self) -> String {
        writer::subscription_ended(&self.id)
    }

    fn meta(&self) -> String {
        format!(r#""_meta":{{"io.modelcontextprotocol/subscriptionId":{}}}"#, self.id.json())
    }
}

/// A notification that something changed, with these parameters.
pub(crate) fn updated(params: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{{{params}}}}}"#
    )
}
