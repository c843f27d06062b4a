//! Calls in a model's answer that are for an MCP server.

use std::sync::Arc;
use std::time::Instant;

use callgate_audit::{Code, Kind, McpFacts, Record, RecordId};
use callgate_call::{Arguments, Certainty, ToolCall, ToolName};
use callgate_policy::{LimitKey, wrapped_calls};
use callgate_registry::ItemIdentity;

use super::admission::{self, Subject as Listed};
use super::check::{Check, Objection, Objections};
use super::desk::{KnownTool, now_micros};
use super::join::{self, Intent, KeyedStep};
use super::pins;
use super::resolve::rate_key;
use super::settings::{McpSettings, ServerKind};
use crate::clerk::NoAnswer;
use crate::decider::{Decider, Inner};
use crate::pipeline::{Resolved, Seen, Subject, Target};

/// The tool of a server that a name means.
#[derive(Debug, Clone)]
pub struct NamedTool {
    /// The server, by its name in the configuration.
    pub server: String,
    /// The tool, as the server names it.
    pub tool: String,
    /// How the server is spoken to, if it is declared.
    pub kind: Option<ServerKind>,
    /// The program or the URL behind its name.
    pub address: Option<String>,
    /// The hash of the tool's definition.
    pub hash: Option<String>,
    /// What is known of it.
    known: Option<KnownTool>,
    /// Whether the name may mean a tool that is not known.
    certainty: Certainty,
}

/// What a name in a model's answer may mean.
#[derive(Debug)]
pub(crate) enum Meant {
    /// A tool that no server has, as far as is known.
    Other,
    /// This tool.
    One(Box<NamedTool>),
    /// One of these: the name alone does not tell.
    Several(Vec<NamedTool>),
}

impl Decider {
    /// The tool of an MCP server that a name in a model's answer means, if it is one and no more.
    /// It reads the store.
    pub fn resolve_name(&self, name: &ToolName) -> Option<NamedTool> {
        self.inner().refresh_books();
        match self.inner().meant(&self.mcp_settings(), name) {
            Meant::One(resolved) => Some(*resolved),
            Meant::Other | Meant::Several(_) => None,
        }
    }
}

impl Inner {
    /// Every tool that a name may mean, from what is in memory. The name of an agent's own tool never
    /// means a server's tool, even if a server has one of the same name.
    pub(crate) fn meant(&self, settings: &McpSettings, name: &ToolName) -> Meant {
        if self.is_agents_own(name) {
            return Meant::Other;
        }
        let mut books = self.desk.books.lock();
        let found = books.meant_by(name.raw());
        let certainty = match books.registry.names().is_spelled(name.raw()) {
            true => Certainty::Certain,
            false => Certainty::Likely,
        };
        let mut named: Vec<NamedTool> = Vec::with_capacity(found.len());
        for (server, tool) in found {
            let known = books.tool(&server, &tool);
            let hash = known.as_ref().map(|known| known.hash.clone());
            let entry = settings.server(&server);
            let kind = entry.map(|entry| entry.kind);
            let address = entry.map(|entry| entry.address.clone());
            named.push(NamedTool { server, tool, kind, address, hash, known, certainty });
        }
        match named.len() {
            0 => Meant::Other,
            1 => named.pop().map_or(Meant::Other, |one| Meant::One(Box::new(one))),
            _ => Meant::Several(named),
        }
    }

    fn is_agents_own(&self, name: &ToolName) -> bool {
        !is_spelled_mcp(name) && self.desk.catalogue.entry(name.folded()).is_some()
    }

    /// Whether what is in memory may not be all there is to know of a name: an agent asks its model as
    /// soon as its servers have listed their tools, perhaps to another process.
    pub(crate) fn may_be_news(&self, name: &ToolName, meant: &Meant, begun: Instant) -> bool {
        let may_be = !meant.is_known() && !self.is_agents_own(name);
        may_be && !self.desk.books.lock().is_fresh_since(begun)
    }

    /// What a call in a model's answer names, and what lists, pins and rates have against it.
    pub(crate) async fn resolve_named(
        self: &Arc<Self>,
        subject: Arc<Subject>,
    ) -> Result<Resolved, NoAnswer> {
        let settings = Arc::clone(&subject.in_force.mcp);
        let mut meant = self.meant(&settings, &subject.call.name);
        let begun = match subject.seen {
            Seen::InAnswer { begun } => begun,
            Seen::AtServer(_) => subject.begun,
        };
        if self.may_be_news(&subject.call.name, &meant, begun) {
            // Without an answer, what is known stays.
            self.ask(move |inner| inner.refresh_books_since(begun)).await.ok();
            meant = self.meant(&settings, &subject.call.name);
        }
        let subject = match &meant {
            Meant::One(_) => {
                let call = meant.read(subject.call.clone());
                Arc::new(Subject { call, ..(*subject).clone() })
            }
            Meant::Other | Meant::Several(_) => subject,
        };
        let objections = self.check_call(&settings, &subject.call, &meant);
        let who = &subject.call.origin.who;
        let mut rate: Vec<LimitKey> = Vec::new();
        for tool in meant.tools() {
            let key = settings.rate(&tool.server).map(|rate| rate_key(who, &tool.server, rate));
            rate.extend(key.filter(|key| !rate.contains(key)));
        }
        let enforce = settings.enforce;
        let target = Target::Named(meant);
        Ok(Resolved { subject, target, objections, rate, enforce, waived: false })
    }

    /// What lists and `fail_closed` have against a call in a model's answer.
    pub(crate) fn check_meant(
        &self,
        settings: &McpSettings,
        name: &ToolName,
        meant: &Meant,
    ) -> Objections {
        let mut objections = Objections::default();
        match meant {
            Meant::One(tool) => objections.add(known(settings, tool)),
            // It may be any of them, so it is refused if one is.
            Meant::Several(tools) => {
                objections.add(tools.iter().flat_map(|tool| known(settings, tool)));
            }
            Meant::Other => objections.add(self.unknown(settings, name)),
        }
        if !settings.enforce {
            objections.soften();
        }
        objections
    }

    /// The same against a call and all that it carries.
    pub(crate) fn check_call(
        &self,
        settings: &McpSettings,
        call: &ToolCall,
        meant: &Meant,
    ) -> Objections {
        let mut objections = self.check_meant(settings, &call.name, meant);
        match wrapped_calls(call) {
            Ok(calls) => {
                calls.iter().for_each(|it| objections.join(self.check_carried(settings, it)));
            }
            Err(why) => objections.join(unreadable(settings, &why)),
        }
        objections
    }

    /// A call that is carried has one of several names, so one of them that is allowed is enough, unless
    /// another is denied.
    fn check_carried(&self, settings: &McpSettings, names: &[ToolCall]) -> Objections {
        let check = |call: &ToolCall| {
            self.check_meant(settings, &call.name, &self.meant(settings, &call.name))
        };
        let mut checked: Vec<Objections> = names.iter().map(check).collect();
        if checked.iter().all(|it| it.stops().next().is_some()) {
            return checked.drain(..).next().unwrap_or_default();
        }
        let denied =
            |call: &ToolCall| admission::denied_name(settings, &self.desk.names.read(&call.name));
        let mut objections = Objections::default();
        objections.add(names.iter().find_map(denied));
        if !settings.enforce {
            objections.soften();
        }
        objections
    }

    /// A name that no known server has.
    fn unknown(&self, settings: &McpSettings, name: &ToolName) -> Vec<Objection> {
        let spelled = is_spelled_mcp(name);
        if settings.fail_closed && (spelled || self.desk.catalogue.entry(name.folded()).is_none()) {
            return vec![Objection::block(
                Check::Tool,
                format!(
                    "No agent and no declared server is known to have a tool `{}`, and `mcp.fail_closed` is on.",
                    name.raw().trim()
                ),
                "Use a tool that is known, or ask the operator to declare its server under `mcp.servers`.",
            )
            .coded(Code::UnknownTool)];
        }
        let denies = !settings.deny_servers.is_empty() || !settings.deny_tools.is_empty();
        if denies
            && let Some(denied) = admission::denied_name(settings, &self.desk.names.read(name))
        {
            return vec![denied];
        }
        if !spelled {
            return Vec::new();
        }
        let readings = name.readings();
        let subject = |at: usize| {
            let reading = readings.get(at)?;
            Some(Listed { server: reading.server, tool: reading.tool, hash: None })
        };
        let subjects: Vec<Listed<'_>> = (0..readings.len()).filter_map(subject).collect();
        // It is read in one way only, so one way that is allowed is enough.
        let against = |it: &Listed<'_>| {
            admission::server(settings, it.server).or_else(|| admission::tool(settings, *it))
        };
        let against: Option<Vec<Objection>> = subjects.iter().map(against).collect();
        against.unwrap_or_default().into_iter().take(1).collect()
    }
}

/// Nobody can tell whether the lists have something against it.
fn unreadable(settings: &McpSettings, why: &str) -> Objections {
    let mut objections = Objections::default();
    if settings.restricts_names() {
        let reason = format!("The calls inside of this one cannot be read: {why}.");
        objections.add([Objection::block(Check::Tool, reason, "Make the calls one by one.")]);
    }
    if !settings.enforce {
        objections.soften();
    }
    objections
}

/// What lists, pins and findings have against a tool that is known.
fn known(settings: &McpSettings, tool: &NamedTool) -> Vec<Objection> {
    let listed = Listed { server: &tool.server, tool: &tool.tool, hash: tool.hash.as_deref() };
    let identity = ItemIdentity::tool(tool.server.as_str(), &tool.tool);
    let known = tool.known.as_ref();
    let checks = [
        admission::server(settings, &tool.server),
        admission::tool(settings, listed),
        known.and_then(|known| pins::check(settings, &identity, known.state)),
        known.and_then(|known| pins::findings(settings, &tool.tool, &known.inspection)),
    ];
    checks.into_iter().flatten().collect()
}

/// Whether a name is spelled as agents spell tools of servers, and nothing else.
fn is_spelled_mcp(name: &ToolName) -> bool {
    name.folded().starts_with("mcp_")
}

impl Meant {
    /// The call as rules are to read it: with the one meaning of its name, if it has one.
    pub(crate) fn read(&self, mut call: ToolCall) -> ToolCall {
        if let Self::One(tool) = self
            && let Ok(name) = call.name.clone().meaning(&tool.server, &tool.tool, tool.certainty)
        {
            call.name = name;
        }
        call
    }

    pub(crate) fn is_known(&self) -> bool {
        !matches!(self, Self::Other)
    }

    /// What the record says of the server.
    pub(crate) fn tell(&self, record: &mut Record) {
        match self {
            Self::Other => {}
            Self::One(tool) => {
                record.mcp = Some(McpFacts {
                    server_type: tool.kind.map(|kind| kind.as_str().to_owned()),
                    address: tool.address.clone(),
                    ..McpFacts::default()
                });
                if let Some(facts) = &mut record.tool {
                    facts.server = Some(tool.server.clone());
                    facts.definition_hash.clone_from(&tool.hash);
                }
            }
            Self::Several(tools) => {
                let named: Vec<String> = tools
                    .iter()
                    .map(|tool| format!("`{}` of `{}`", tool.tool, tool.server))
                    .collect();
                record.mcp = Some(McpFacts::default());
                record.detail = Some(format!("the name may mean {}", named.join(" or ")));
            }
        }
    }

    /// What is to be kept of the call, so that its execution is known for what it is: with the
    /// arguments with which it is let through.
    pub(crate) fn intended(
        &self,
        inner: &Inner,
        call: &ToolCall,
        arguments: &Arguments,
        record: RecordId,
    ) -> Vec<KeyedStep> {
        let arguments = join::hash(arguments);
        let intent = |target| Intent {
            at: now_micros(),
            call_id: call.id.as_str(),
            who: &call.origin.who,
            session: call.origin.session.as_deref(),
            target,
            arguments,
            record,
        };
        if matches!(self, Self::Other) {
            // An agent's own tool is not executed by a server.
            let own = inner.desk.catalogue.entry(call.name.folded()).is_some();
            return if own { Vec::new() } else { join::intended(intent(None)) };
        }
        let targets = self.tools().map(|tool| (tool.server.as_str(), tool.tool.as_str()));
        targets.flat_map(|target| join::intended(intent(Some(target)))).collect()
    }

    /// The tools that it may be.
    fn tools(&self) -> impl Iterator<Item = &NamedTool> {
        let (one, several) = match self {
            Self::Other => (None, &[][..]),
            Self::One(tool) => (Some(&**tool), &[][..]),
            Self::Several(tools) => (None, tools.as_slice()),
        };
        one.into_iter().chain(several)
    }

    /// Whether a rate counts calls of it: then it is counted with its arguments.
    pub(crate) fn is_rated(&self, settings: &McpSettings) -> bool {
        self.tools().any(|tool| settings.rate(&tool.server).is_some())
    }

    /// How records call the call.
    pub(crate) fn kind(&self) -> Kind {
        if self.is_known() { Kind::McpToolCallIntercepted } else { Kind::ToolCall }
    }
}
