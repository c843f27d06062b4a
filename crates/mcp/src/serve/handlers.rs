//! Handles each method.

use callgate_json::{Kind, Reader, Span, elements, member, quote};

use super::envelope::INVALID_PARAMS;
use super::host::ServerContent;
use super::subscription::Subscription;
use super::writer::{CacheFor, FaultyPart, LEGACY, MODERN, ResponseWriter, listed};
use super::{ClientChannel, Reaction};
use crate::answers::Era;
use crate::message::Id;
use crate::params::{NameKey, NamedParams, text_member};

/// A request to answer.
#[derive(Debug)]
pub(crate) struct RequestHandler<'a, H> {
    pub(crate) host: &'a H,
    pub(crate) writer: ResponseWriter<'a>,
    pub(crate) id: Id,
    /// The message.
    pub(crate) text: &'a str,
    pub(crate) params: Option<Span>,
}

impl<H: ServerContent> RequestHandler<'_, H> {
    pub(crate) fn answer(&self, method: &str, channel: ClientChannel<'_>) -> Reaction {
        match (method, self.writer.era) {
            ("tools/list", _) => self.tools(),
            ("tools/call", _) => self.call(),
            ("resources/list", _) => self.resources(),
            ("resources/read", _) => self.read(),
            // There are no templates. Clients request them anyway, and would treat an error as a
            // fault.
            ("resources/templates/list", _) => self.list("resourceTemplates", &[]),
            ("prompts/list", _) => self.list("prompts", &[]),
            ("prompts/get", _) => self.no_prompt(),
            ("server/discover", Era::Modern) => self.discover(),
            ("subscriptions/listen", Era::Modern) => self.listen(),
            ("initialize", Era::Legacy) => self.initialize(channel),
            ("ping", Era::Legacy) => self.done(self.writer.result(&self.id, &[])),
            ("resources/subscribe", Era::Legacy) if channel == ClientChannel::Pipe => {
                self.subscription(Reaction::Subscribe)
            }
            ("resources/unsubscribe", Era::Legacy) if channel == ClientChannel::Pipe => {
                self.subscription(Reaction::Unsubscribe)
            }
            _ => self.no_method(method, channel),
        }
    }

    fn done(&self, answer: String) -> Reaction {
        Reaction::Answer(answer, None)
    }

    fn wrong(&self, code: i32, text: &str, data: Option<&str>) -> Reaction {
        Reaction::Answer(
            ResponseWriter::error(&self.id, code, text, data),
            Some(FaultyPart::Target),
        )
    }

    fn no_method(&self, method: &str, channel: ClientChannel<'_>) -> Reaction {
        let shown: String = method.chars().take(MAX_ECHO).collect();
        let text = match (channel, method) {
            (ClientChannel::Http { .. }, "resources/subscribe" | "resources/unsubscribe") => {
                "over HTTP, changes are only announced through `subscriptions/listen`, in revision 2026-07-28"
                    .to_owned()
            }
            _ => format!("there is no method `{shown}` here"),
        };
        let fault = match self.writer.era {
            Era::Legacy => FaultyPart::Target,
            Era::Modern => FaultyPart::Method,
        };
        Reaction::Answer(ResponseWriter::error(&self.id, -32601, &text, None), Some(fault))
    }

    fn initialize(&self, channel: ClientChannel<'_>) -> Reaction {
        let requested = self.params.and_then(|at| text_member(self.text, at, "protocolVersion"));
        let Some(requested) = requested else {
            return self.wrong(INVALID_PARAMS, "`params.protocolVersion` is missing", None);
        };
        let [newest, ..] = LEGACY;
        let revision = LEGACY.into_iter().find(|one| *one == requested).unwrap_or(newest);
        let version = format!(r#""protocolVersion":{}"#, quote(revision));
        let server = format!(r#""serverInfo":{}"#, self.writer.server());
        let can = format!(r#""capabilities":{}"#, capabilities(channel, Era::Legacy));
        let members = [version.as_str(), &can, &server, &self.writer.instructions()];
        self.done(self.writer.result(&self.id, &members))
    }

    fn discover(&self) -> Reaction {
        let versions = MODERN.map(quote).join(",");
        let can = capabilities(ClientChannel::Pipe, Era::Modern);
        let members = format!(
            r#""supportedVersions":[{versions}],"capabilities":{can},{}"#,
            self.writer.instructions()
        );
        self.done(self.writer.cacheable_result(&self.id, &members, CacheFor::Long))
    }

    fn tools(&self) -> Reaction {
        let tools: Vec<&str> =
            self.host.tools().iter().map(|tool| tool.definition.as_str()).collect();
        self.list("tools", &tools)
    }

    fn resources(&self) -> Reaction {
        let resources: Vec<String> = self.host.resources().iter().map(listed).collect();
        self.list("resources", &resources.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// A list with a single page.
    fn list(&self, name: &str, items: &[&str]) -> Reaction {
        let cursor = self.params.and_then(|at| member(self.text, at, "cursor"));
        if cursor.is_some_and(|cursor| cursor.of(self.text) != "null") {
            let text = "there is no such page: each list has one page, without a cursor";
            return self.wrong(INVALID_PARAMS, text, None);
        }
        let members = format!(r#""{name}":[{}]"#, items.join(","));
        self.done(self.writer.cacheable_result(&self.id, &members, CacheFor::Long))
    }

    fn no_prompt(&self) -> Reaction {
        self.wrong(INVALID_PARAMS, "there is no such prompt; callgate offers no prompts", None)
    }

    fn named(&self, key: NameKey) -> Result<NamedParams<'_>, Reaction> {
        let params = self.params.unwrap_or_default();
        NamedParams::read(self.text, params, key).map_err(|error| {
            let text = format!("the parameters cannot be read: {error}");
            self.wrong(INVALID_PARAMS, &text, None)
        })
    }

    fn call(&self) -> Reaction {
        let named = match self.named(NameKey::Name) {
            Ok(named) => named,
            Err(reply) => return reply,
        };
        let Some(tool) = self.host.tools().iter().find(|tool| tool.name == named.name) else {
            let known: Vec<&str> = self.host.tools().iter().map(|tool| tool.name).collect();
            let text = format!("there is no such tool; the tools are {}", known.join(", "));
            return self.wrong(INVALID_PARAMS, &text, None);
        };
        let arguments = match named.arguments {
            None => "{}",
            Some(at) if Reader::at(self.text, at).kind() == Ok(Kind::Object) => at.of(self.text),
            Some(_) => {
                return self.wrong(INVALID_PARAMS, "`arguments` is not an object", None);
            }
        };
        let called = self.host.call(tool.name, arguments);
        self.done(self.writer.called(&self.id, &called))
    }

    fn read(&self) -> Reaction {
        let resource = match self.resource() {
            Ok(resource) => resource,
            Err(reply) => return reply,
        };
        match self.host.read(resource.uri) {
            Ok(text) if text.len() > MAX_TEXT => {
                let text =
                    format!("the result is larger than {} MiB and is not shown", MAX_TEXT >> 20);
                self.wrong(INTERNAL, &text, None)
            }
            Ok(text) => {
                let (uri, mime, text) =
                    (quote(resource.uri), quote(resource.mime_type), quote(&text));
                let members =
                    format!(r#""contents":[{{"uri":{uri},"mimeType":{mime},"text":{text}}}]"#);
                self.done(self.writer.cacheable_result(&self.id, &members, CacheFor::Never))
            }
            Err(why) => self.wrong(INTERNAL, &why, None),
        }
    }

    /// The resource in the parameters.
    fn resource(&self) -> Result<super::Resource, Reaction> {
        let named = self.named(NameKey::Uri)?;
        let resources = self.host.resources();
        resources.iter().find(|resource| resource.uri == named.name).copied().ok_or_else(|| {
            let known: Vec<&str> = resources.iter().map(|resource| resource.uri).collect();
            let text = format!("there is no such resource; the resources are {}", known.join(", "));
            let shown: String = named.name.chars().take(MAX_ECHO).collect();
            let data = format!(r#"{{"uri":{}}}"#, quote(&shown));
            let code = match self.writer.era {
                Era::Legacy => NO_RESOURCE,
                Era::Modern => INVALID_PARAMS,
            };
            self.wrong(code, &text, Some(&data))
        })
    }

    fn subscription(&self, reply: fn(String, &'static str) -> Reaction) -> Reaction {
        match self.resource() {
            Ok(resource) => reply(self.writer.result(&self.id, &[]), resource.uri),
            Err(refused) => refused,
        }
    }

    fn listen(&self) -> Reaction {
        let requested = self.params.and_then(|at| member(self.text, at, "notifications"));
        let is_object = |at: &Span| Reader::at(self.text, *at).kind() == Ok(Kind::Object);
        let Some(requested) = requested.filter(is_object) else {
            return self.wrong(INVALID_PARAMS, "`params.notifications` is not an object", None);
        };
        // Lists never change, so notifications about them are not offered.
        let uris = member(self.text, requested, "resourceSubscriptions");
        let named: Vec<String> = uris.map_or(Vec::new(), |list| {
            let texts = elements(self.text, list).into_iter();
            texts.filter_map(|at| crate::params::string(self.text, at)).collect()
        });
        let known = self.host.resources().iter().map(|resource| resource.uri);
        let subscribed = known.filter(|uri| named.iter().any(|name| name == uri)).collect();
        Reaction::Listen(Subscription::new(self.id.clone(), subscribed, uris.is_some()))
    }
}

/// The capabilities of the server. A client of the older revisions over HTTP has no stream for
/// notifications.
fn capabilities(channel: ClientChannel<'_>, era: Era) -> &'static str {
    match (channel, era) {
        (ClientChannel::Http { .. }, Era::Legacy) => r#"{"tools":{},"resources":{},"prompts":{}}"#,
        _ => r#"{"tools":{},"resources":{"subscribe":true},"prompts":{}}"#,
    }
}

/// The code of the older revisions for a missing resource.
const NO_RESOURCE: i32 = -32002;

/// An internal error.
const INTERNAL: i32 = -32603;

/// The maximum size of a text. Escapes may inflate it, and it must still fit into a message.
const MAX_TEXT: usize = 4 << 20;

/// Longer than any method or address here. Longer ones are truncated when echoed.
const MAX_ECHO: usize = 256;
