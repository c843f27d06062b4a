//! Decides what a client sees of a server's lists. Lists and calls go through the same checks: what
//! could not be called is not shown.

use std::collections::HashSet;

use callgate_audit::{CallOutcome, McpFacts, ReasonCode, RecordKind};
use callgate_call::{Arguments, CallId, ToolCall, ToolName};
use callgate_policy::{Denial, Findings, NameJudgement, SpentLimits};
use callgate_registry::{Definition, ItemIdentity, ItemKind, PinStatus, Version};
use callgate_scan::inspect::{TextSource, strip_definition};

use super::flows::{self, NextCall, ToolRole};
use super::observe::{DefinitionChange, ObservedDefinition};
use super::session::McpSession;
use super::settings::McpSettings;
use super::shown_lists::ShownItems;
use super::state::{RegistryCache, ToolSnapshot};
use super::{admission, pins, server_records};
use crate::checks::{CheckFailure, CheckFailures, CodedDenial};
use crate::clock::now;
use crate::new_record;

/// What to do with one entry of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListAction {
    /// Leave it unchanged.
    Keep,
    /// Replace it with this JSON.
    Replace(String),
    /// Remove it.
    Hide {
        /// The reason, for the log.
        why: String,
    },
}

/// The position of a page in its list. Long lists come in several pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListPage {
    /// There is no page before it.
    pub first: bool,
    /// There is no page after it.
    pub last: bool,
}

impl ListPage {
    /// A list with a single page.
    pub const ONLY: Self = Self { first: true, last: true };
}

/// The tools and prompts that this session has seen, and how complete they are.
#[derive(Debug, Default)]
pub(crate) struct SessionLists {
    /// The first page has been seen.
    begun: bool,
    /// All pages have been seen, in order.
    whole: bool,
    /// The tools that the server of this session has shown.
    tools: ShownItems,
    /// The prompts that it has shown.
    prompts: ShownItems,
}

/// Reads an entry of a page. A name must not occur twice on a page.
fn read(raw: &str, names: &mut HashSet<String>) -> Result<Definition, String> {
    let definition = Definition::read(ItemKind::Tool, raw).map_err(|why| why.to_string())?;
    let name = definition.name().to_owned();
    match names.insert(name.clone()) {
        true => Ok(definition),
        false => Err(format!("the list has a second tool `{name}`")),
    }
}

impl SessionLists {
    /// Notes a page. The list is complete only if the first page came first: a client may ask for
    /// the last page alone.
    fn add_page(&mut self, page: ListPage) {
        self.begun |= page.first;
        self.whole |= self.begun && page.last;
    }

    /// Whether the server has shown exactly this tool.
    pub(crate) fn shows(&self, tool: &str) -> bool {
        self.tools.get(tool).is_some()
    }

    /// Whether the complete list was seen.
    pub(crate) fn is_whole(&self) -> bool {
        self.whole
    }

    /// The names of the shown tools.
    pub(crate) fn names(&self) -> HashSet<String> {
        self.tools.names().map(str::to_owned).collect()
    }

    /// Forgets the list, because it has changed.
    pub(crate) fn forget(&mut self) {
        (self.begun, self.whole) = (false, false);
    }
}

impl McpSession {
    /// A tool as the server of this session shows it, otherwise as it was last seen.
    pub(crate) fn known_tool(&self, cache: &mut RegistryCache, tool: &str) -> Option<ToolSnapshot> {
        let shown = self.listing.lock().tools.get(tool);
        match shown {
            Some(version) => cache.tool_as(&self.server, tool, &version),
            None => cache.tool(&self.server, tool),
        }
    }

    /// The definition of a tool as canonical JSON: as this session has seen it, otherwise as it was
    /// last seen.
    pub fn definition(&self, tool: &str) -> Option<String> {
        if let Some(version) = self.listing.lock().tools.get(tool) {
            return Some(version.definition.clone());
        }
        let cache = self.cache();
        let pin = cache.registry.get(&ItemIdentity::tool(&self.server, tool))?;
        Some(pin.seen().definition.clone())
    }

    /// Pins the tools of a page that no client gets, and records them like [`Self::judge_tools`].
    pub fn pin_tools(&self, raw: &[&str], page: ListPage) {
        self.judge_tools(raw, page);
    }

    /// Whether this session has seen the complete list of tools. If not, the caller requests the
    /// list before the first call, so that pins never depend on the client.
    pub fn knows_tools(&self) -> bool {
        self.listing.lock().whole
    }

    /// Judges each definition of one page of the list of tools, in order, and pins those that are
    /// new. What is new, changed or hidden is recorded.
    pub fn judge_tools(&self, raw: &[&str], page: ListPage) -> Vec<ListAction> {
        let settings = self.settings();
        let mut names = HashSet::new();
        let seen: Vec<ObservedDefinition> =
            raw.iter().map(|raw| ObservedDefinition::new(read(raw, &mut names))).collect();
        let shown = seen.iter().filter_map(|seen| Some(self.shown(seen.definition()?))).collect();
        let mut listing = self.listing.lock();
        listing.tools = self.inner.mcp_state.shown_lists.add(&listing.tools, shown);
        listing.add_page(page);
        drop(listing);
        let seen = self.observe(&settings, seen);
        seen.into_iter().zip(raw).map(|(seen, raw)| self.tool(&settings, seen, raw)).collect()
    }

    fn tool(&self, settings: &McpSettings, seen: ObservedDefinition, raw: &str) -> ListAction {
        let (definition, pinned) = match seen {
            ObservedDefinition::Read { definition, pinned } => (definition, pinned),
            ObservedDefinition::Unreadable(why) => {
                return self.unpinnable(settings, "tools/list", &why);
            }
        };
        let name = definition.name();
        let mut failures = CheckFailures::default();
        let change = pinned.unwrap_or_else(|failure| {
            failures.add([failure]);
            None
        });
        let mut cache = self.cache();
        cache.inspect_listed(&self.server, definition.whole().as_str(), raw);
        let known = self.known_tool(&mut cache, name);
        let owner = cache.first_owner(&self.server, name);
        drop(cache);
        self.check_tool(settings, name, known.as_ref(), &mut failures);
        let (server, first_owner) = (self.server.as_str(), owner.as_deref());
        let next = NextCall { at: 0, server, tool: name, role: ToolRole::default(), first_owner };
        failures.add(flows::take_over(&settings.flows, &[], next));
        if !settings.enforce {
            failures.downgrade_to_alerts();
        }
        let found = known.map(|known| known.inspection).unwrap_or_default();
        let by_rules = self.denied_by_name(name, Findings::Of(&found.findings));
        let denial = failures.coded_denial(name, by_rules);
        let (place, findings) = ("tools/list", found.findings.as_slice());
        self.record_definition(
            settings,
            &definition,
            DefinitionReport { place, change, findings, denial: denial.as_ref() },
        );
        finish(denial.map(|it| it.denial), || {
            settings.inspect.strip.then(|| strip_definition(raw)).flatten()
        })
    }

    /// Judges one page of the list of prompts. Prompts are pinned like tools.
    pub fn judge_prompts(&self, raw: &[&str]) -> Vec<ListAction> {
        let (settings, mut shown) = (self.settings(), Vec::new());
        let prompt = |raw: &&str| self.pinned(&settings, ItemKind::Prompt, raw, &mut shown);
        let items = raw.iter().map(prompt).collect();
        let mut listing = self.listing.lock();
        listing.prompts = self.inner.mcp_state.shown_lists.add(&listing.prompts, shown);
        items
    }

    /// A definition as the server of this session shows it.
    fn shown(&self, definition: &Definition) -> (String, Version) {
        (definition.name().to_owned(), Version::new(&self.launch, definition))
    }

    /// Judges the instructions of the server, a JSON string.
    pub fn judge_instructions(&self, raw: &str) -> ListAction {
        // The shown instructions need not be remembered, because they are sent only once.
        self.pinned(&self.settings(), ItemKind::Instructions, raw, &mut Vec::new())
    }

    /// Judges one page of a list of resources or resource templates.
    pub fn judge_resources(&self, raw: &[&str]) -> Vec<ListAction> {
        raw.iter()
            .map(|raw| match self.inspect_text(TextSource::Resource, "resources/list", raw) {
                (None, None) => ListAction::Keep,
                (None, Some(stripped)) => ListAction::Replace(stripped),
                (Some(denial), _) => ListAction::Hide { why: denial.reason },
            })
            .collect()
    }

    /// Decides a prompt or instructions. If it is shown, adds it to `shown`.
    fn pinned(
        &self,
        settings: &McpSettings,
        kind: ItemKind,
        raw: &str,
        shown: &mut Vec<(String, Version)>,
    ) -> ListAction {
        let (place, method) = match kind {
            ItemKind::Instructions => (TextSource::Instructions, "instructions"),
            ItemKind::Prompt | ItemKind::Tool => (TextSource::Prompt, "prompts/list"),
        };
        let read = Definition::read(kind, raw).map_err(|why| why.to_string());
        let seen = self.observe(settings, vec![ObservedDefinition::new(read)]);
        let (definition, pinned) = match seen.into_iter().next() {
            Some(ObservedDefinition::Read { definition, pinned }) => (definition, pinned),
            Some(ObservedDefinition::Unreadable(why)) => {
                return self.unpinnable(settings, method, &why);
            }
            None => return self.unpinnable(settings, method, "nothing was read"),
        };
        let mut failures = CheckFailures::default();
        let change = pinned.unwrap_or_else(|failure| {
            failures.add([failure]);
            None
        });
        failures.add(admission::server(settings, &self.server));
        let identity = ItemIdentity::of(self.server.as_str(), &definition);
        let (name, version) = self.shown(&definition);
        let state = self.cache().status_as(&identity, &version);
        shown.push((name, version));
        failures.add(pins::check(settings, &identity, state));
        if !settings.enforce {
            failures.downgrade_to_alerts();
        }
        let denial = failures.coded_denial(method, None);
        let report =
            DefinitionReport { place: method, change, findings: &[], denial: denial.as_ref() };
        self.record_definition(settings, &definition, report);
        if let Some(CodedDenial { denial, .. }) = denial {
            return ListAction::Hide { why: denial.reason };
        }
        let (blocked, stripped) = self.inspect_text(place, method, raw);
        finish(blocked.map(|denial| *denial), || stripped)
    }

    pub(crate) fn check_prompt(&self, settings: &McpSettings, name: &str) -> Option<CheckFailure> {
        let (server, name) = (self.server.clone(), name.to_owned());
        let identity = ItemIdentity { server, kind: ItemKind::Prompt, name };
        let cache = self.fresh_cache();
        let state = match self.listing.lock().prompts.get(&identity.name) {
            Some(shown) => cache.status_as(&identity, &shown),
            None => cache.registry.status_of(&identity),
        };
        pins::check(settings, &identity, state)
    }

    /// Checks a tool against lists, pins and findings.
    pub(crate) fn check_tool(
        &self,
        settings: &McpSettings,
        tool: &str,
        known: Option<&ToolSnapshot>,
        failures: &mut CheckFailures,
    ) {
        let hash = known.map(|known| known.hash.as_str());
        let subject = admission::ListedTool { server: &self.server, tool, hash };
        failures.add(admission::server(settings, &self.server));
        failures.add(admission::tool(settings, subject));
        let identity = ItemIdentity::tool(self.server.as_str(), tool);
        let state = known.map_or(PinStatus::Unseen, |known| known.state);
        failures.add(pins::check(settings, &identity, state));
        failures.add(known.and_then(|it| pins::findings(settings, tool, &it.inspection)));
    }

    fn denied_by_name(&self, tool: &str, findings: Findings<'_>) -> Option<CodedDenial> {
        let name = match ToolName::on(&self.server, tool) {
            Ok(name) => name,
            Err(why) => {
                let denial = Denial::refused(tool, &why.to_string());
                return Some(CodedDenial { denial, code: ReasonCode::BadName });
            }
        };
        let (id, arguments) = (CallId::default(), Arguments::pending());
        let call =
            ToolCall { id, name, arguments, origin: self.context.origin.clone(), caller: None };
        match self.policies().judge_name_with(&call, &now(), &SpentLimits::none(), findings) {
            NameJudgement::Deny(judgement) => CodedDenial::by_rules(&judgement, &call),
            NameJudgement::Allow(..) | NameJudgement::NeedArguments => None,
        }
    }

    /// Decides a definition that cannot be read unambiguously, and so cannot be pinned.
    fn unpinnable(&self, settings: &McpSettings, place: &str, why: &str) -> ListAction {
        let mut record = self.record(RecordKind::McpToolSeen, &self.context.origin, "");
        let reason = format!("a definition is left out: {why}");
        record.verdict =
            Some(new_record::without_rule(CallOutcome::Deny, ReasonCode::Unreadable, &reason));
        record.mcp = Some(McpFacts { place: Some(place.to_owned()), ..self.facts(settings) });
        self.write_within(&self.budgets.unpinnable, record);
        ListAction::Hide { why: why.to_owned() }
    }

    /// Records a definition when it is new or changed, and when it is first hidden for a reason.
    fn record_definition(
        &self,
        settings: &McpSettings,
        definition: &Definition,
        report: DefinitionReport<'_>,
    ) {
        let mut cache = self.cache();
        let hidden = report
            .denial
            .map(|CodedDenial { denial, .. }| (&denial.rule, &denial.policy, &denial.reason));
        let hash = definition.hash().as_str();
        let what = (&self.server, report.place, definition.name(), hash, hidden);
        let newly_hidden = report.denial.is_some() && cache.recently_recorded.is_new_of(&what);
        if report.change.is_none() && !newly_hidden {
            return;
        }
        let kind = match &report.change {
            Some(
                DefinitionChange::Changed(_)
                | DefinitionChange::Reverted
                | DefinitionChange::MetadataChanged,
            ) => RecordKind::McpToolChanged,
            Some(DefinitionChange::New) | None => RecordKind::McpToolSeen,
        };
        let name = match definition.kind() {
            ItemKind::Tool => definition.name(),
            ItemKind::Prompt => &format!("prompt:{}", definition.name()),
            ItemKind::Instructions => "instructions",
        };
        let mut record = self.record(kind, &self.context.origin, name);
        if let Some(tool) = &mut record.tool {
            tool.definition_hash = Some(hash.to_owned());
        }
        record.detail = report.change.as_ref().and_then(DefinitionChange::detail);
        record.verdict = Some(match report.denial {
            None => {
                new_record::without_rule(CallOutcome::Allow, ReasonCode::Default, "it is shown")
            }
            Some(denial) => denial.verdict(),
        });
        let state = cache.registry.status_of(&ItemIdentity::of(&self.server, definition));
        record.mcp = Some(McpFacts {
            place: Some(report.place.to_owned()),
            pin: Some(state.as_str().to_owned()),
            findings: server_records::facts(report.findings),
            ..self.facts(settings)
        });
        self.write_within(&self.budgets.definitions, record);
    }
}

/// What to record about a definition.
struct DefinitionReport<'a> {
    place: &'a str,
    change: Option<DefinitionChange>,
    findings: &'a [callgate_scan::inspect::Finding],
    denial: Option<&'a CodedDenial>,
}

fn finish(denial: Option<Denial>, stripped: impl FnOnce() -> Option<String>) -> ListAction {
    match denial {
        Some(denial) => ListAction::Hide { why: denial.reason },
        None => stripped().map_or(ListAction::Keep, ListAction::Replace),
    }
}
