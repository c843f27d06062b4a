//! A subscription of the newer revisions: one request, answered by notifications.

use callgate_call::json::quote;

use super::words;
use crate::message::Id;

/// What one `subscriptions/listen` is told of.
#[derive(Debug)]
pub(crate) struct Listening {
    id: Id,
    /// The resources, as the host lists them.
    uris: Vec<&'static str>,
    /// Whether it asked for resources at all: then it is told which of them exist.
    asked: bool,
}

impl Listening {
    pub(crate) fn new(id: Id, uris: Vec<&'static str>, asked: bool) -> Self {
        Self { id, uris, asked }
    }

    pub(crate) fn id(&self) -> &Id {
        &self.id
    }

    /// What it must hear first: what it will be told of. What there is not is left out.
    pub(crate) fn acknowledged(&self) -> String {
        let uris = self.uris.iter().map(|uri| quote(uri)).collect::<Vec<_>>().join(",");
        let heard = match self.asked {
            true => format!(r#""resourceSubscriptions":[{uris}]"#),
            false => String::new(),
        };
        let meta = self.meta();
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{{{meta},"notifications":{{{heard}}}}}}}"#
        )
    }

    /// What it hears when these resources have changed.
    pub(crate) fn changed(&self, uris: &[&'static str]) -> Vec<String> {
        let meta = self.meta();
        let heard = self.uris.iter().filter(|uri| uris.contains(uri));
        heard.map(|uri| updated(&format!(r#"{meta},"uri":{}"#, quote(uri)))).collect()
    }

    /// What it hears last, if the server ends first.
    pub(crate) fn ended(&self) -> String {
        words::listening_ended(&self.id)
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
