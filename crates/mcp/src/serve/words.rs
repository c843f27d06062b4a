//! How a server says things, in the words of each family of revisions.

use callgate_call::json::quote;

use super::host::{About, Called, Resource};
use crate::answers::Era;
use crate::message::Id;

/// The newer revisions that are spoken.
pub(crate) const MODERN: [&str; 1] = ["2026-07-28"];

/// The older ones, the newest first.
pub(crate) const LEGACY: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// Which part of a request is at fault: over HTTP this is its status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The message or its metadata.
    Request,
    /// There is no such method, in the newer revisions.
    Method,
    /// What it asks for; the request as such is sound.
    Asked,
}

/// How long a client may keep an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keep {
    /// What is the same for everybody until callgate itself changes: an hour.
    Long,
    /// What is true now, and for this client.
    Never,
}

impl Keep {
    fn members(self) -> &'static str {
        match self {
            Self::Long => r#""ttlMs":3600000,"cacheScope":"public""#,
            Self::Never => r#""ttlMs":0,"cacheScope":"private""#,
        }
    }
}

/// What a server says to one request.
#[derive(Debug)]
pub(crate) struct Words<'a> {
    about: &'a About,
    pub(crate) era: Era,
}

impl<'a> Words<'a> {
    pub(crate) fn new(about: &'a About, era: Era) -> Self {
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

    /// A result that a client may keep for a while. Only the newer revisions say so.
    pub(crate) fn kept_result(&self, id: &Id, members: &str, keep: Keep) -> String {
        match self.era {
            Era::Legacy => self.result(id, &[members]),
            Era::Modern => self.result(id, &[members, keep.members()]),
        }
    }

    /// What came of a call.
    pub(crate) fn called(&self, id: &Id, called: &Called) -> String {
        let content = |text| format!(r#""content":[{{"type":"text","text":{}}}]"#, quote(text));
        match called {
            Called::Done { structured, text } => {
                let structured = format!(r#""structuredContent":{structured}"#);
                self.result(id, &[&content(text), &structured, r#""isError":false"#])
            }
            Called::Failed(why) => self.result(id, &[&content(why), r#""isError":true"#]),
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

    /// Who this is.
    pub(crate) fn server(&self) -> String {
        let About { name, title, version, .. } = self.about;
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

/// The result that ends a subscription when the server does.
pub(crate) fn listening_ended(id: &Id) -> String {
    let own = format!(
        r#""resultType":"complete","_meta":{{"io.modelcontextprotocol/subscriptionId":{}}}"#,
        id.json()
    );
    envelope(id, &own, &[])
}

/// A resource as lists have it.
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
