//! Finds the MCP tool that a call in a model's response refers to.

use std::sync::Arc;
use std::time::Instant;

use callgate_audit::{McpFacts, ReasonCode, Record, RecordId, RecordKind};
use callgate_call::{Arguments, Certainty, EffectHints, ToolCall, ToolName};
use callgate_policy::{LimitKey, wrapped_calls};
use callgate_registry::ItemIdentity;

use super::admission::{self, ListedTool};
use super::join::{self, Intent};
use super::pins;
use super::resolve::rate_key;
use super::settings::{McpSettings, ServerKind};
use super::state::ToolSnapshot;
use crate::checks::{Check, CheckFailure, CheckFailures};
use crate::clock::now_micros;
use crate::decider::{Decider, DeciderState};
use crate::pipeline::{CallSource, CallTarget, Resolved, Subject};
use crate::session_steps::KeyedStep;
use crate::store_query::StoreUnavailable;

/// The tool of a server that a name refers to.
#[derive(Debug, Clone)]
pub struct NamedTool {
    /// The server, by its name in the configuration.
    pub server: String,
    /// The tool, as the server names it.
    pub tool: String,
    /// The transport of the server, if it is declared.
    pub kind: Option<ServerKind>,
    /// The program or the URL of the server.
    pub address: Option<String>,
    /// The hash of the tool's definition.
    pub hash: Option<String>,
    /// The tool, if its definition has been seen.
    known: Option<ToolSnapshot>,
    /// Whether the name may also refer to an unknown tool.
    certainty: Certainty,
}

/// The tools that a name in a model's response may refer to.
#[derive(Debug)]
pub(crate) enum ResolvedTool {
    /// No known server has this tool.
    Unknown,
    /// Exactly this tool.
    One(Box<NamedTool>),
    /// One of these: the name is ambiguous.
    Ambiguous(Vec<NamedTool>),
}

impl Decider {
    /// The MCP tool that a name in a model's response refers to, if it is unambiguous. It reads the
    /// store.
    pub fn resolve_name(&self, name: &ToolName) -> Option<NamedTool> {
        self.inner().refresh_cache();
        match self.inner().resolve_tool(&self.mcp_settings(), name) {
            ResolvedTool::One(resolved) => Some(*resolved),
            ResolvedTool::Unknown | ResolvedTool::Ambiguous(_) => None,
        }
    }
}

impl DeciderState {
    /// All tools that a name may refer to, without reading the store. The name of an agent's own
    /// tool never refers to a server's tool, even if a server has one of the same name.
    pub(crate) fn resolve_tool(&self, settings: &McpSettings, name: &ToolName) -> ResolvedTool {
        if self.is_agents_own(name) {
            return ResolvedTool::Unknown;
        }
        let mut cache = self.mcp_state.cache.lock();
        let found = cache.tools_named(name.raw());
        let certainty = match cache.registry.names().is_spelled(name.raw()) {
            true => Certainty::Certain,
            false => Certainty::Likely,
        };
        let mut named: Vec<NamedTool> = Vec::with_capacity(found.len());
        for (server, tool) in found {
            let known = cache.tool(&server, &tool);
            let hash = known.as_ref().map(|known| known.hash.clone());
            let entry = settings.server(&server);
            let kind = entry.map(|entry| entry.kind);
            let address = entry.map(|entry| entry.address.clone());
            named.push(NamedTool { server, tool, kind, address, hash, known, certainty });
        }
        match named.len() {
            0 => ResolvedTool::Unknown,
            1 => named.pop().map_or(ResolvedTool::Unknown, |one| ResolvedTool::One(Box::new(one))),
            _ => ResolvedTool::Ambiguous(named),
        }
    }

    fn is_agents_own(&self, name: &ToolName) -> bool {
        !is_spelled_mcp(name) && self.mcp_state.catalogue.entry(name.folded()).is_some()
    }

    /// Whether another process may know more about a name: an agent calls its model as soon as its
    /// servers have listed their tools, perhaps to another process.
    pub(crate) fn may_be_outdated(
        &self,
        name: &ToolName,
        resolved_tool: &ResolvedTool,
        begun: Instant,
    ) -> bool {
        let may_be = !resolved_tool.is_known() && !self.is_agents_own(name);
        may_be && !self.mcp_state.cache.lock().is_fresh_since(begun)
    }

    /// Finds the tool of a call in a model's response, and checks it against lists, pins and rates.
    pub(crate) async fn resolve_named(
        self: &Arc<Self>,
        subject: Arc<Subject>,
    ) -> Result<Resolved, StoreUnavailable> {
        let settings = Arc::clone(&subject.in_force.mcp);
        let mut resolved_tool = self.resolve_tool(&settings, &subject.call.name);
        let begun = match subject.source {
            CallSource::InResponse { begun } => begun,
            CallSource::ToServer(_) => subject.begun,
        };
        if self.may_be_outdated(&subject.call.name, &resolved_tool, begun) {
            // If the store does not answer, use what is known.
            self.query_store(move |inner| inner.refresh_cache_since(begun)).await.ok();
            resolved_tool = self.resolve_tool(&settings, &subject.call.name);
        }
        let subject = match &resolved_tool {
            ResolvedTool::One(_) | ResolvedTool::Ambiguous(_) => {
                let call = resolved_tool.read(subject.call.clone());
                Arc::new(Subject { call, ..(*subject).clone() })
            }
            ResolvedTool::Unknown => subject,
        };
        let failures = self.check_call(&settings, &subject.call, &resolved_tool);
        let who = &subject.call.origin.who;
        let mut rate: Vec<LimitKey> = Vec::new();
        for tool in resolved_tool.tools() {
            let key = settings.rate(&tool.server).map(|rate| rate_key(who, &tool.server, rate));
            rate.extend(key.filter(|key| !rate.contains(key)));
        }
        let enforce = settings.enforce;
        let target = CallTarget::Named(resolved_tool);
        Ok(Resolved { subject, target, failures, rate, enforce, waived: false })
    }

    /// Checks a call in a model's response against lists and `fail_closed`.
    pub(crate) fn check_resolved_tool(
        &self,
        settings: &McpSettings,
        name: &ToolName,
        resolved_tool: &ResolvedTool,
    ) -> CheckFailures {
        let mut failures = CheckFailures::default();
        match resolved_tool {
            ResolvedTool::One(tool) => failures.add(known(settings, tool)),
            // It may be any of them, so one refused tool is enough to refuse it.
            ResolvedTool::Ambiguous(tools) => {
                failures.add(tools.iter().flat_map(|tool| known(settings, tool)));
            }
            ResolvedTool::Unknown => failures.add(self.unknown(settings, name)),
        }
        if !settings.enforce {
            failures.downgrade_to_alerts();
        }
        failures
    }

    /// Checks a call and all calls inside it.
    pub(crate) fn check_call(
        &self,
        settings: &McpSettings,
        call: &ToolCall,
        resolved_tool: &ResolvedTool,
    ) -> CheckFailures {
        let mut failures = self.check_resolved_tool(settings, &call.name, resolved_tool);
        match wrapped_calls(call) {
            Ok(calls) => {
                calls.iter().for_each(|it| failures.join(self.check_carried(settings, it)));
            }
            Err(why) => failures.join(unreadable(settings, &why)),
        }
        failures
    }

    /// A call inside another one has several possible names. One allowed name is enough, unless
    /// another one is denied.
    fn check_carried(&self, settings: &McpSettings, names: &[ToolCall]) -> CheckFailures {
        let check = |call: &ToolCall| {
            self.check_resolved_tool(settings, &call.name, &self.resolve_tool(settings, &call.name))
        };
        let mut checked: Vec<CheckFailures> = names.iter().map(check).collect();
        if checked.iter().all(|it| it.blocking().next().is_some()) {
            return checked.drain(..).next().unwrap_or_default();
        }
        let denied = |call: &ToolCall| {
            admission::denied_name(settings, &self.mcp_state.names.read(&call.name))
        };
        let mut failures = CheckFailures::default();
        failures.add(names.iter().find_map(denied));
        if !settings.enforce {
            failures.downgrade_to_alerts();
        }
        failures
    }

    /// Checks a name that no known server offers.
    fn unknown(&self, settings: &McpSettings, name: &ToolName) -> Vec<CheckFailure> {
        let spelled = is_spelled_mcp(name);
        if settings.fail_closed
            && (spelled || self.mcp_state.catalogue.entry(name.folded()).is_none())
        {
            return vec![CheckFailure::block(
                Check::Tool,
                format!(
                    "No agent and no declared server is known to have a tool `{}`, and `mcp.fail_closed` is on.",
                    name.raw().trim()
                ),
                "Use a tool that is known, or ask the operator to declare its server under `mcp.servers`.",
            )
            .with_code(ReasonCode::UnknownTool)];
        }
        let denies = !settings.deny_servers.is_empty() || !settings.deny_tools.is_empty();
        if denies
            && let Some(denied) = admission::denied_name(settings, &self.mcp_state.names.read(name))
        {
            return vec![denied];
        }
        if !spelled {
            return Vec::new();
        }
        let readings = name.readings();
        let subject = |at: usize| {
            let reading = readings.get(at)?;
            Some(ListedTool { server: reading.server, tool: reading.tool, hash: None })
        };
        let subjects: Vec<ListedTool<'_>> = (0..readings.len()).filter_map(subject).collect();
        // Only one reading is correct, so one allowed reading is enough.
        let against = |it: &ListedTool<'_>| {
            admission::server(settings, it.server).or_else(|| admission::tool(settings, *it))
        };
        let against: Option<Vec<CheckFailure>> = subjects.iter().map(against).collect();
        against.unwrap_or_default().into_iter().take(1).collect()
    }
}

/// Fails a call whose inner calls are unreadable, because the lists cannot be applied to them.
fn unreadable(settings: &McpSettings, why: &str) -> CheckFailures {
    let mut failures = CheckFailures::default();
    if settings.restricts_names() {
        let reason = format!("The calls inside this one cannot be read: {why}.");
        failures.add([CheckFailure::block(Check::Tool, reason, "Make the calls one by one.")]);
    }
    if !settings.enforce {
        failures.downgrade_to_alerts();
    }
    failures
}

/// Checks a known tool against lists, pins and findings.
fn known(settings: &McpSettings, tool: &NamedTool) -> Vec<CheckFailure> {
    let listed = ListedTool { server: &tool.server, tool: &tool.tool, hash: tool.hash.as_deref() };
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

/// Whether a name is spelled unambiguously like an MCP tool.
fn is_spelled_mcp(name: &ToolName) -> bool {
    name.folded().starts_with("mcp_")
}

impl ResolvedTool {
    /// The call with the server and tool that its name refers to, if there is exactly one, and with
    /// what servers say about the tool.
    pub(crate) fn read(&self, mut call: ToolCall) -> ToolCall {
        let known = self.tools().filter_map(|tool| tool.known.as_ref());
        let hints = known.map(|known| known.inspection.effects);
        let hints = hints.fold(call.origin.effect_hints, EffectHints::or);
        call.origin = call.origin.with_effect_hints(hints);
        if let Self::One(tool) = self
            && let Ok(name) = call.name.clone().meaning(&tool.server, &tool.tool, tool.certainty)
        {
            call.name = name;
        }
        call
    }

    pub(crate) fn is_known(&self) -> bool {
        !matches!(self, Self::Unknown)
    }

    /// Adds the server to a record.
    pub(crate) fn add_server_facts(&self, record: &mut Record) {
        match self {
            Self::Unknown => {}
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
            Self::Ambiguous(tools) => {
                let named: Vec<String> = tools
                    .iter()
                    .map(|tool| format!("`{}` of `{}`", tool.tool, tool.server))
                    .collect();
                record.mcp = Some(McpFacts::default());
                record.detail = Some(format!("the name may mean {}", named.join(" or ")));
            }
        }
    }

    /// The steps to store for the call, so that its execution can be matched with it. They contain
    /// the arguments that were allowed.
    pub(crate) fn intended(
        &self,
        inner: &DeciderState,
        call: &ToolCall,
        arguments: &Arguments,
        record: RecordId,
    ) -> Vec<KeyedStep> {
        // An agent's own tool is not executed by a server. This comes first, because most calls are
        // of such tools and the hash takes as long as a small judgement.
        if matches!(self, Self::Unknown)
            && inner.mcp_state.catalogue.entry(call.name.folded()).is_some()
        {
            return Vec::new();
        }
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
        if matches!(self, Self::Unknown) {
            return join::intended(intent(None));
        }
        let targets = self.tools().map(|tool| (tool.server.as_str(), tool.tool.as_str()));
        targets.flat_map(|target| join::intended(intent(Some(target)))).collect()
    }

    /// The tools that the name may refer to.
    fn tools(&self) -> impl Iterator<Item = &NamedTool> {
        let (one, several) = match self {
            Self::Unknown => (None, &[][..]),
            Self::One(tool) => (Some(&**tool), &[][..]),
            Self::Ambiguous(tools) => (None, tools.as_slice()),
        };
        one.into_iter().chain(several)
    }

    /// Whether a rate limit counts this call. Then it is counted together with its arguments.
    pub(crate) fn is_rated(&self, settings: &McpSettings) -> bool {
        self.tools().any(|tool| settings.rate(&tool.server).is_some())
    }

    /// The record kind of this call.
    pub(crate) fn kind(&self) -> RecordKind {
        if self.is_known() { RecordKind::McpToolCallIntercepted } else { RecordKind::ToolCall }
    }
}
