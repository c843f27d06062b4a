//! Writes a server's messages, in the format of each family of revisions.

use callgate_json::quote;

use super::host::{CallResult, Resource, ServerInfo};
use crate::answers::Era;
use crate::message::Id;

/// The supported newer revisions.
pub(crate) const MODERN: [&str; 1] = ["2026-07-28"];

/// The supported older ones, newest first.
pub(crate) const LEGACY: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// The part of a request that is at fault, which determines the HTTP status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FaultyPart {
    /// The message or its metadata.
    Request,
    /// The method does not exist, in the newer revisions.
    Method,
    /// The requested thing. The request itself is valid.
    Target,
}

/// How long a client may cache an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CacheFor {
    /// An hour, for answers that are the same for everyone until callgate itself changes.
    Long,
    /// Not at all, for answers that are true only now and for this client.
    Never,
}

impl CacheFor {
    fn members(self) -> &'static str {
        match self {
            Self::Long => r#""ttlMs":3600000,"cacheScope":"public""#,
            Self::Never => r#""ttlMs":0,"cacheScope":"private""#,
        }
    }
}

/// Writes the answer to one request.
#[derive(Debug)]
pub(crate) struct ResponseWriter<'a> {
    about: &'a ServerInfo,
    pub(crate) era: Era,
}

impl<'a> ResponseWriter<'a> {
    pub(crate) fn new(about: &'a ServerInfo, era: Era) -> Self {
        Self { about, era }
    }

    /// A result with these members.
    pub(crate) fn result(&self, id: &Id, members: &[&str]) -> String {
        let own = match self.era {
            Era::Legacy => String::new(),
            Era::Modern => format!(
                r#""resultType":"complete","_meta":{{"io.modelcontextprotocol/serverInfo":{}}}"#,
                self.server()
            ),
        };
        envelope(id, &own, members)
    }

    /// A result that a client may cache. Only the newer revisions support that.
    pub(crate) fn cacheable_result(&self, id: &Id, members: &str, keep: CacheFor) -> String {
        match self.era {
            Era::Legacy => self.result(id, &[members]),
            Era::Modern => self.result(id, &[members, keep.members()]),
        }
    }

    /// The result of a call.
    pub(crate) fn called(&self, id: &Id, called: &CallResult) -> String {
        let content = |text| format!(r#""content":[{{"type":"text","text":{}}}]"#, quote(text));
        match called {
            CallResult::Done { structured, text } => {
                let structured = format!(r#""structuredContent":{structured}"#);
                self.result(id, &[&content(text), &structured, r#""isError":false"#])
            }
            CallResult::Failed(why) => self.result(id, &[&content(why), r#""isError":true"#]),
        }
    }

    /// An error; `data` is JSON.
    pub(crate) fn error(id: &Id, code: i32, message: &str, data: Option<&str>) -> String {
        let (id, message) = (id.json(), quote(message));
        let data = data.map(|data| format!(r#","data":{data}"#)).unwrap_or_default();
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":{message}{data}}}}}"#
        )
    }

    /// The name and version of the server.
    pub(crate) fn server(&self) -> String {
        let ServerInfo { name, title, version, .. } = self.about;
        format!(
            r#"{{"name":{},"title":{},"version":{}}}"#,
            quote(name),
            quote(title),
            quote(version)
        )
    }

    pub(crate) fn instructions(&self) -> String {
        format!(r#""instructions":{}"#, quote(self.about.instructions))
    }
}

/// The result that ends a subscription when the server stops.
pub(crate) fn subscription_ended(id: &Id) -> String {
    let own = format!(
        r#""resultType":"complete","_meta":{{"io.modelcontextprotocol/subscriptionId":{}}}"#,
        id.json()
    );
    envelope(id, &own, &[])
}

/// A resource as an entry of a list.
pub(crate) fn listed(resource: &Resource) -> String {
    let Resource { uri, name, title, description, mime_type } = resource;
    format!(
        r#"{{"uri":{},"name":{},"title":{},"description":{},"mimeType":{}}}"#,
        quote(uri),
        quote(name),
        quote(title),
        quote(description),
        quote(mime_type)
    )
}

fn envelope(id: &Id, own: &str, members: &[&str]) -> String {
    let all: Vec<&str> =
        [own].iter().chain(members).copied().filter(|part| !part.is_empty()).collect();
    format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{{}}}}}"#, id.json(), all.join(","))
}
