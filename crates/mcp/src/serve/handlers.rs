//! What is answered to each method.

use callgate_call::json::{Kind, Reader, Span, elements, member, quote};

use super::envelope::INVALID_PARAMS;
use super::host::Host;
use super::listening::Listening;
use super::words::{Fault, Keep, LEGACY, MODERN, Words, listed};
use super::{Channel, Reply};
use crate::answers::Era;
use crate::message::Id;
use crate::params::{NameKey, Named, text_member};

/// A request that is to be answered.
#[derive(Debug)]
pub(crate) struct Asked<'a, H> {
    pub(crate) host: &'a H,
    pub(crate) words: Words<'a>,
    pub(crate) id: Id,
    /// The message.
    pub(crate) text: &'a str,
    pub(crate) params: Option<Span>,
}

impl<H: Host> Asked<'_, H> {
    pub(crate) fn answer(&self, method: &str, channel: Channel<'_>) -> Reply {
        match (method, self.words.era) {
            ("tools/list", _) => self.tools(),
            ("tools/call", _) => self.call(),
            ("resources/list", _) => self.resources(),
            ("resources/read", _) => self.read(),
            // There are none. Clients ask all the same, and take an error for a fault.
            ("resources/templates/list", _) => self.list("resourceTemplates", &[]),
            ("prompts/list", _) => self.list("prompts", &[]),
            ("prompts/get", _) => self.no_prompt(),
            ("server/discover", Era::Modern) => self.discover(),
            ("subscriptions/listen", Era::Modern) => self.listen(),
            ("initialize", Era::Legacy) => self.initialize(channel),
            ("ping", Era::Legacy) => self.done(self.words.result(&self.id, &[])),
            ("resources/subscribe", Era::Legacy) if channel == Channel::Pipe => {
                self.subscription(Reply::Subscribe)
            }
            ("resources/unsubscribe", Era::Legacy) if channel == Channel::Pipe => {
                self.subscription(Reply::Unsubscribe)
            }
            _ => self.no_method(method, channel),
        }
    }

    fn done(&self, answer: String) -> Reply {
        Reply::Answer(answer, None)
    }

    fn wrong(&self, code: i32, text: &str, data: Option<&str>) -> Reply {
        Reply::Answer(Words::error(&self.id, code, text, data), Some(Fault::Asked))
    }

    fn no_method(&self, method: &str, channel: Channel<'_>) -> Reply {
        let shown: String = method.chars().take(MAX_ECHO).collect();
        let text = match (channel, method) {
            (Channel::Http { .. }, "resources/subscribe" | "resources/unsubscribe") => {
                "over HTTP, changes are only announced by `subscriptions/listen` of 2026-07-28"
                    .to_owned()
            }
            _ => format!("there is no method `{shown}` here"),
        };
        let fault = match self.words.era {
            Era::Legacy => Fault::Asked,
            Era::Modern => Fault::Method,
        };
        Reply::Answer(Words::error(&self.id, -32601, &text, None), Some(fault))
    }

    fn initialize(&self, channel: Channel<'_>) -> Reply {
        let wanted = self.params.and_then(|at| text_member(self.text, at, "protocolVersion"));
        let Some(wanted) = wanted else {
            return self.wrong(INVALID_PARAMS, "`params.protocolVersion` is not there", None);
        };
        let [newest, ..] = LEGACY;
        let spoken = LEGACY.into_iter().find(|one| *one == wanted).unwrap_or(newest);
        let version = format!(r#""protocolVersion":{}"#, quote(spoken));
        let server = format!(r#""serverInfo":{}"#, self.words.server());
        let can = format!(r#""capabilities":{}"#, capabilities(channel, Era::Legacy));
        let members = [version.as_str(), &can, &server, &self.words.instructions()];
        self.done(self.words.result(&self.id, &members))
    }

    fn discover(&self) -> Reply {
        let versions = MODERN.map(quote).join(",");
        let can = capabilities(Channel::Pipe, Era::Modern);
        let members = format!(
            r#""supportedVersions":[{versions}],"capabilities":{can},{}"#,
            self.words.instructions()
        );
        self.done(self.words.kept_result(&self.id, &members, Keep::Long))
    }

    fn tools(&self) -> Reply {
        let tools: Vec<&str> =
            self.host.tools().iter().map(|tool| tool.definition.as_str()).collect();
        self.list("tools", &tools)
    }

    fn resources(&self) -> Reply {
        let resources: Vec<String> = self.host.resources().iter().map(listed).collect();
        self.list("resources", &resources.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// A list on one page.
    fn list(&self, name: &str, items: &[&str]) -> Reply {
        let cursor = self.params.and_then(|at| member(self.text, at, "cursor"));
        if cursor.is_some_and(|cursor| cursor.of(self.text) != "null") {
            let text = "there is no such page: each list has one page, without a cursor";
            return self.wrong(INVALID_PARAMS, text, None);
        }
        let members = format!(r#""{name}":[{}]"#, items.join(","));
        self.done(self.words.kept_result(&self.id, &members, Keep::Long))
    }

    fn no_prompt(&self) -> Reply {
        self.wrong(INVALID_PARAMS, "there is no such prompt; callgate offers no prompts", None)
    }

    fn named(&self, key: NameKey) -> Result<Named<'_>, Reply> {
        let params = self.params.unwrap_or_default();
        Named::read(self.text, params, key).map_err(|error| {
            let text = format!("the parameters cannot be read: {error}");
            self.wrong(INVALID_PARAMS, &text, None)
        })
    }

    fn call(&self) -> Reply {
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
        self.done(self.words.called(&self.id, &called))
    }

    fn read(&self) -> Reply {
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
                self.done(self.words.kept_result(&self.id, &members, Keep::Never))
            }
            Err(why) => self.wrong(INTERNAL, &why, None),
        }
    }

    /// The resource that the parameters name.
    fn resource(&self) -> Result<super::Resource, Reply> {
        let named = self.named(NameKey::Uri)?;
        let resources = self.host.resources();
        resources.iter().find(|resource| resource.uri == named.name).copied().ok_or_else(|| {
            let known: Vec<&str> = resources.iter().map(|resource| resource.uri).collect();
            let text = format!("there is no such resource; the resources are {}", known.join(", "));
            let shown: String = named.name.chars().take(MAX_ECHO).collect();
            let data = format!(r#"{{"uri":{}}}"#, quote(&shown));
            let code = match self.words.era {
                Era::Legacy => NO_RESOURCE,
                Era::Modern => INVALID_PARAMS,
            };
            self.wrong(code, &text, Some(&data))
        })
    }

    fn subscription(&self, reply: fn(String, &'static str) -> Reply) -> Reply {
        match self.resource() {
            Ok(resource) => reply(self.words.result(&self.id, &[]), resource.uri),
            Err(refused) => refused,
        }
    }

    fn listen(&self) -> Reply {
        let wanted = self.params.and_then(|at| member(self.text, at, "notifications"));
        let is_object = |at: &Span| Reader::at(self.text, *at).kind() == Ok(Kind::Object);
        let Some(wanted) = wanted.filter(is_object) else {
            return self.wrong(INVALID_PARAMS, "`params.notifications` is not an object", None);
        };
        // Lists never change: word of that is not promised.
        let uris = member(self.text, wanted, "resourceSubscriptions");
        let named: Vec<String> = uris.map_or(Vec::new(), |list| {
            let texts = elements(self.text, list).into_iter();
            texts.filter_map(|at| crate::params::string(self.text, at)).collect()
        });
        let known = self.host.resources().iter().map(|resource| resource.uri);
        let heard = known.filter(|uri| named.iter().any(|name| name == uri)).collect();
        Reply::Listen(Listening::new(self.id.clone(), heard, uris.is_some()))
    }
}

/// What the server can do. A client of the older revisions that speaks HTTP has no channel on
/// which it could be told of changes.
fn capabilities(channel: Channel<'_>, era: Era) -> &'static str {
    match (channel, era) {
        (Channel::Http { .. }, Era::Legacy) => r#"{"tools":{},"resources":{},"prompts":{}}"#,
        _ => r#"{"tools":{},"resources":{"subscribe":true},"prompts":{}}"#,
    }
}

/// The code of the older revisions for a resource that is not there.
const NO_RESOURCE: i32 = -32002;

/// Something does not work here.
const INTERNAL: i32 = -32603;

/// The largest text that is told. Escapes may inflate it; it must still fit into a message.
const MAX_TEXT: usize = 4 << 20;

/// What is longer than any method or address here is not said again whole.
const MAX_ECHO: usize = 256;
