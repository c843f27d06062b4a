//! What a server offers, on its way to the client. A list and a call are decided by the same
//! checks: what could not be called is not shown.

use std::collections::HashSet;

use callgate_audit::{Action, Code, Kind, McpFacts};
use callgate_call::{Arguments, CallId, ToolCall, ToolName};
use callgate_policy::{Denial, Findings, NameJudgement, SpentLimits};
use callgate_registry::{Definition, ItemIdentity, ItemKind, PinStatus, Version};
use callgate_scan::inspect::{Place, strip_definition};

use super::check::{Objection, Objections, code_of};
use super::desk::{Books, KnownTool};
use super::flows::{self, Next, Role};
use super::observe::{News, Seen};
use super::session::McpSession;
use super::settings::McpSettings;
use super::shown::Shown;
use super::{admission, pins, record as records};
use crate::clock::now;
use crate::record;

/// What becomes of one entry of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// It stays as it is.
    Keep,
    /// This takes its place: JSON, as the entry was.
    Replace(String),
    /// It is left out.
    Hide {
        /// Why, for the log.
        why: String,
    },
}

/// Which part of a list an answer is. Long lists come in several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListPage {
    /// Nothing came before it.
    pub first: bool,
    /// Nothing comes behind it.
    pub last: bool,
}

impl ListPage {
    /// A list in one answer.
    pub const ONLY: Self = Self { first: true, last: true };
}

/// How far a session's list of tools has come.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    /// The first page has been seen.
    begun: bool,
    /// And the last one.
    whole: bool,
    /// The tools that this conversation's server has shown.
    tools: Shown,
    /// The same of its prompts.
    prompts: Shown,
}

/// Reads an entry of a page, on which each name stands once.
fn read(raw: &str, names: &mut HashSet<String>) -> Result<Definition, String> {
    let definition = Definition::read(ItemKind::Tool, raw).map_err(|why| why.to_string())?;
    let name = definition.name().to_owned();
    match names.insert(name.clone()) {
        true => Ok(definition),
        false => Err(format!("the list has a second tool `{name}`")),
    }
}

impl Listing {
    /// A page was seen. Only pages from the first one on are a list: whoever asks for the last one
    /// alone has not seen the others.
    fn took(&mut self, page: ListPage) {
        self.begun |= page.first;
        self.whole |= self.begun && page.last;
    }

    /// Whether the server has shown this very tool.
    pub(crate) fn shows(&self, tool: &str) -> bool {
        self.tools.get(tool).is_some()
    }

    /// Whether all of the list was seen.
    pub(crate) fn is_whole(&self) -> bool {
        self.whole
    }

    /// The tools that it has shown.
    pub(crate) fn names(&self) -> HashSet<String> {
        self.tools.names().map(str::to_owned).collect()
    }

    /// The list is not what it was any more.
    pub(crate) fn forget(&mut self) {
        (self.begun, self.whole) = (false, false);
    }
}

impl McpSession {
    /// A tool as this conversation's server shows it, else as it was seen last.
    pub(crate) fn known_tool(&self, books: &mut Books, tool: &str) -> Option<KnownTool> {
        let shown = self.listing.lock().tools.get(tool);
        match shown {
            Some(version) => books.tool_as(&self.server, tool, &version),
            None => books.tool(&self.server, tool),
        }
    }

    /// What the server says of a tool, as canonical JSON: as this conversation has seen it, else as it
    /// was seen last.
    pub fn definition(&self, tool: &str) -> Option<String> {
        if let Some(version) = self.listing.lock().tools.get(tool) {
            return Some(version.definition.clone());
        }
        let books = self.known_books();
        let pin = books.registry.get(&ItemIdentity::tool(&self.server, tool))?;
        Some(pin.seen().definition.clone())
    }

    /// Whether the whole list of tools has been seen in this session. If not, whoever holds the
    /// session asks for it before the first call, so that pins never depend on the client.
    pub fn knows_tools(&self) -> bool {
        self.listing.lock().whole
    }

    /// One page of the list of tools: what becomes of each definition, in their order.
    pub fn tools(&self, raw: &[&str], page: ListPage) -> Vec<Item> {
        let settings = self.settings();
        let mut names = HashSet::new();
        let seen: Vec<Seen> =
            raw.iter().map(|raw| Ok((read(raw, &mut names)?, Ok(None)))).collect();
        let shown = seen.iter().flatten().map(|(definition, _)| self.shown(definition)).collect();
        let mut listing = self.listing.lock();
        listing.tools = self.inner.desk.shelf.add(&listing.tools, shown);
        listing.took(page);
        drop(listing);
        let seen = self.observe(&settings, seen);
        seen.into_iter().zip(raw).map(|(seen, raw)| self.tool(&settings, seen, raw)).collect()
    }

    fn tool(&self, settings: &McpSettings, seen: Seen, raw: &str) -> Item {
        let (definition, observed) = match seen {
            Ok(seen) => seen,
            Err(why) => return self.unpinnable(settings, "tools/list", &why),
        };
        let name = definition.name();
        let mut objections = Objections::default();
        let news = observed.unwrap_or_else(|objection| {
            objections.add([objection]);
            None
        });
        let mut books = self.known_books();
        books.look_at(&self.server, definition.whole().as_str(), raw);
        let known = self.known_tool(&mut books, name);
        let owner = books.first_owner(&self.server, name);
        drop(books);
        self.check_tool(settings, name, known.as_ref(), &mut objections);
        let (server, first_owner) = (self.server.as_str(), owner.as_deref());
        let next = Next { at: 0, server, tool: name, role: Role::default(), first_owner };
        objections.add(flows::take_over(&settings.flows, &[], next));
        if !settings.enforce {
            objections.soften();
        }
        let found = known.map(|known| known.inspection).unwrap_or_default();
        let by_rules = self.denied_by_name(name, Findings::Of(&found.findings));
        let denial = objections.denial(name, by_rules);
        let (place, findings) = ("tools/list", found.findings.as_slice());
        self.tell(settings, &definition, Told { place, news, findings, denial: denial.as_ref() });
        finish(denial, || settings.inspect.strip.then(|| strip_definition(raw)).flatten())
    }

    /// One page of the list of prompts. They are pinned as tools are.
    pub fn prompts(&self, raw: &[&str]) -> Vec<Item> {
        let (settings, mut shown) = (self.settings(), Vec::new());
        let prompt = |raw: &&str| self.pinned(&settings, ItemKind::Prompt, raw, &mut shown);
        let items = raw.iter().map(prompt).collect();
        let mut listing = self.listing.lock();
        listing.prompts = self.inner.desk.shelf.add(&listing.prompts, shown);
        items
    }

    /// A definition as this conversation's server shows it.
    fn shown(&self, definition: &Definition) -> (String, Version) {
        (definition.name().to_owned(), Version::new(&self.launch, definition))
    }

    /// What the server tells the model about itself: a JSON string.
    pub fn instructions(&self, raw: &str) -> Item {
        // Nobody asks for them again.
        self.pinned(&self.settings(), ItemKind::Instructions, raw, &mut Vec::new())
    }

    /// One page of a list of resources or of their templates.
    pub fn resources(&self, raw: &[&str]) -> Vec<Item> {
        raw.iter()
            .map(|raw| match self.look(Place::Resource, "resources/list", raw) {
                (None, None) => Item::Keep,
                (None, Some(stripped)) => Item::Replace(stripped),
                (Some(denial), _) => Item::Hide { why: denial.reason },
            })
            .collect()
    }

    /// What becomes of a prompt or of instructions. As they are shown, they are added to `shown`.
    fn pinned(
        &self,
        settings: &McpSettings,
        kind: ItemKind,
        raw: &str,
        shown: &mut Vec<(String, Version)>,
    ) -> Item {
        let (place, method) = match kind {
            ItemKind::Instructions => (Place::Instructions, "instructions"),
            ItemKind::Prompt | ItemKind::Tool => (Place::Prompt, "prompts/list"),
        };
        let read = Definition::read(kind, raw).map_err(|why| why.to_string());
        let seen = self.observe(settings, vec![read.map(|definition| (definition, Ok(None)))]);
        let (definition, observed) = match seen.into_iter().next() {
            Some(Ok(seen)) => seen,
            Some(Err(why)) => return self.unpinnable(settings, method, &why),
            None => return self.unpinnable(settings, method, "nothing was read"),
        };
        let mut objections = Objections::default();
        let news = observed.unwrap_or_else(|objection| {
            objections.add([objection]);
            None
        });
        objections.add(admission::server(settings, &self.server));
        let identity = ItemIdentity::of(self.server.as_str(), &definition);
        let (name, version) = self.shown(&definition);
        let state = self.known_books().state_as(&identity, &version);
        shown.push((name, version));
        objections.add(pins::check(settings, &identity, state));
        if !settings.enforce {
            objections.soften();
        }
        let denial = objections.denial(method, None);
        let told = Told { place: method, news, findings: &[], denial: denial.as_ref() };
        self.tell(settings, &definition, told);
        if let Some(denial) = denial {
            return Item::Hide { why: denial.reason };
        }
        let (blocked, stripped) = self.look(place, method, raw);
        finish(blocked.map(|denial| *denial), || stripped)
    }

    pub(crate) fn check_prompt(&self, settings: &McpSettings, name: &str) -> Option<Objection> {
        let (server, name) = (self.server.clone(), name.to_owned());
        let identity = ItemIdentity { server, kind: ItemKind::Prompt, name };
        let books = self.books();
        let state = match self.listing.lock().prompts.get(&identity.name) {
            Some(shown) => books.state_as(&identity, &shown),
            None => books.registry.state_of(&identity),
        };
        pins::check(settings, &identity, state)
    }

    /// What lists, pins and findings have against a tool.
    pub(crate) fn check_tool(
        &self,
        settings: &McpSettings,
        tool: &str,
        known: Option<&KnownTool>,
        objections: &mut Objections,
    ) {
        let hash = known.map(|known| known.hash.as_str());
        let subject = admission::Subject { server: &self.server, tool, hash };
        objections.add(admission::server(settings, &self.server));
        objections.add(admission::tool(settings, subject));
        let identity = ItemIdentity::tool(self.server.as_str(), tool);
        let state = known.map_or(PinStatus::Unseen, |known| known.state);
        objections.add(pins::check(settings, &identity, state));
        objections.add(known.and_then(|it| pins::findings(settings, tool, &it.inspection)));
    }

    fn denied_by_name(&self, tool: &str, findings: Findings<'_>) -> Option<Denial> {
        let name = match ToolName::on(&self.server, tool) {
            Ok(name) => name,
            Err(why) => return Some(Denial::refused(tool, &why.to_string())),
        };
        let (id, arguments) = (CallId::default(), Arguments::pending());
        let call =
            ToolCall { id, name, arguments, origin: self.context.origin.clone(), caller: None };
        match self.policies().judge_name_with(&call, &now(), &SpentLimits::none(), findings) {
            NameJudgement::Deny(judgement) => judgement.denial(&call),
            NameJudgement::Allow(..) | NameJudgement::NeedArguments => None,
        }
    }

    /// A definition of which there is not one reading: nothing can be held to it.
    fn unpinnable(&self, settings: &McpSettings, place: &str, why: &str) -> Item {
        let mut record = self.record(Kind::McpToolSeen, &self.context.origin, "");
        let reason = format!("a definition is left out: {why}");
        record.verdict = Some(record::without_rule(Action::Deny, Code::Unreadable, &reason));
        record.mcp = Some(McpFacts { place: Some(place.to_owned()), ..self.facts(settings) });
        self.write_within(&self.budgets.unpinnable, record);
        Item::Hide { why: why.to_owned() }
    }

    /// Records a definition: when it is news, and when it is first hidden for a reason.
    fn tell(&self, settings: &McpSettings, definition: &Definition, told: Told<'_>) {
        let mut books = self.known_books();
        let hidden = told.denial.map(|denial| (&denial.rule, &denial.policy, &denial.reason));
        let hash = definition.hash().as_str();
        let what = (&self.server, told.place, definition.name(), hash, hidden);
        let newly_hidden = told.denial.is_some() && books.told.is_new_of(&what);
        if told.news.is_none() && !newly_hidden {
            return;
        }
        let kind = match &told.news {
            Some(News::Changed(_) | News::Reverted | News::MetaMoved) => Kind::McpToolChanged,
            Some(News::New) | None => Kind::McpToolSeen,
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
        record.detail = told.news.as_ref().and_then(News::detail);
        record.verdict = Some(match told.denial {
            None => record::without_rule(Action::Allow, Code::Default, "it is shown"),
            Some(denial) => {
                let mut verdict =
                    record::without_rule(Action::Deny, code_of(denial), &denial.reason);
                verdict.rule.clone_from(&denial.rule);
                verdict.policy.clone_from(&denial.policy);
                verdict.hint.clone_from(&denial.hint);
                verdict
            }
        });
        let state = books.registry.state_of(&ItemIdentity::of(&self.server, definition));
        record.mcp = Some(McpFacts {
            place: Some(told.place.to_owned()),
            pin: Some(state.as_str().to_owned()),
            findings: records::facts(told.findings),
            ..self.facts(settings)
        });
        self.write_within(&self.budgets.definitions, record);
    }
}

/// What is to be told of a definition.
struct Told<'a> {
    place: &'a str,
    news: Option<News>,
    findings: &'a [callgate_scan::inspect::Finding],
    denial: Option<&'a Denial>,
}

fn finish(denial: Option<Denial>, stripped: impl FnOnce() -> Option<String>) -> Item {
    match denial {
        Some(denial) => Item::Hide { why: denial.reason },
        None => stripped().map_or(Item::Keep, Item::Replace),
    }
}
