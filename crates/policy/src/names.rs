//! Which tools a rule applies to. A rule that restricts reads a name in every possible way, a rule
//! that allows only in a way that is certain.

use std::collections::HashSet;
use std::sync::Arc;

use callgate_call::{Certainty, NameReading, ToolName, fold, spell, split};
use callgate_effects::{Catalogue, Entry, Kind};
use callgate_scan::inspect::plain_name;

use crate::effects::CatalogueMatch;
use crate::pattern::Wildcard;
use crate::server_offer::ServerOffer;
use crate::spelling::{NameSplit, Servers, Spellings, SplitTrust, other_patterns};

/// The tools and servers of a rule.
#[derive(Debug, Clone, Default)]
pub(crate) struct RuleNames {
    /// `None` for every tool.
    pub(crate) tools: Option<Tools>,
    /// `None` for every server, and for tools without one.
    pub(crate) servers: Option<Vec<Wildcard>>,
    /// The same servers in other spellings, for a rule that restricts.
    pub(crate) spelled_servers: Vec<Wildcard>,
    /// Spellings of single tools that agents would shorten, for a rule that restricts.
    pub(crate) long: Vec<String>,
}

/// How the patterns of a rule are compared with names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Compare {
    /// As written: for a rule that allows.
    Exactly,
    /// In every spelling: for a rule that restricts.
    Spellings,
}

/// The value of `tool`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tools {
    /// Whole names, without a wildcard or a server part.
    pub(crate) literals: HashSet<String>,
    /// All other patterns.
    pub(crate) patterns: Vec<ToolPattern>,
    /// `@mcp`: every tool that has a server.
    pub(crate) any_server: bool,
    /// The tools of each `@kind`, shared by all rules that name it.
    pub(crate) kinds: Vec<(Kind, Arc<Tools>)>,
}

/// A pattern with a wildcard or a server part.
#[derive(Debug, Clone)]
pub(crate) struct ToolPattern {
    pub(crate) whole: Wildcard,
    /// Every way the pattern splits into server and tool.
    pub(crate) parts: Vec<(Wildcard, Wildcard)>,
}

/// The name of a call, with every way to read it.
#[derive(Debug, Clone)]
pub(crate) struct CallName<'c> {
    pub(crate) folded: &'c str,
    pub(crate) readings: Vec<NameReading<'c>>,
    /// Other spellings in which it may be read.
    pub(crate) spellings: Spellings,
    /// Set if this is not one tool but an offer of all tools of a server.
    pub(crate) offer: Option<&'c ServerOffer>,
    servers: &'c Servers,
    is_certain: bool,
}

impl<'c> CallName<'c> {
    pub(crate) fn new(name: &'c ToolName, servers: &'c Servers) -> Self {
        let (folded, readings) = (name.folded(), name.readings());
        let is_certain = name.certainty() == Some(Certainty::Certain);
        let spellings = servers.read(name);
        Self { folded, readings, spellings, offer: None, servers, is_certain }
    }

    /// The names of the arguments that are plain text (file contents), which no program parses.
    pub(crate) fn plain_texts(&self) -> &'c [String] {
        self.servers.plain_texts_of(self.folded, &self.readings)
    }

    /// What the catalogue knows about the tool. Only an agent's own tool and the tool of a server
    /// in the config are held to it: any server can call a tool `read_file`.
    pub(crate) fn tool(&self, most: usize) -> CatalogueMatch<'c> {
        let certain = match self.readings.as_slice() {
            [] => self.servers.entry(self.folded),
            [reading] if self.servers.declare(reading.server) => self.servers.entry(reading.tool),
            _ if self.is_certain => None,
            // `container.exec` looks like the tool of a server and is an agent's own.
            _ => self.servers.entry(self.folded),
        };
        if let Some(entry) = certain.filter(|_| !self.spellings.is_unclear) {
            return CatalogueMatch::Known(entry);
        }
        let Spellings { texts, splits, .. } = &self.spellings;
        let written = self.readings.iter().map(|reading| reading.tool);
        let splits = splits.iter().filter(|split| split.trust == SplitTrust::Spelled);
        let others = texts.iter().chain(splits.map(|split| &split.tool)).map(String::as_str);
        let mut entries: Vec<&'c Entry> = Vec::new();
        for name in std::iter::once(self.folded).chain(written).chain(others) {
            if let Some(entry) = self.servers.entry(name)
                && entries.len() < most
                && !entries.iter().any(|known| known.name == entry.name)
            {
                entries.push(entry);
            }
        }
        CatalogueMatch::Unknown(entries)
    }

    /// Whether this is the tool with which an agent starts another.
    pub(crate) fn is_agent_tool(&self) -> bool {
        let entry = self.servers.entry(self.own());
        entry.is_some_and(|entry| entry.kinds.contains(&Kind::Agent))
    }

    /// The tool's name without its server, as far as that is known.
    pub(crate) fn own(&self) -> &'c str {
        match self.readings.as_slice() {
            [reading] => reading.tool,
            _ => self.folded,
        }
    }

    /// The server and tool by which a call is counted: the same pair for all spellings that are
    /// known to mean the same tool.
    pub(crate) fn counted(&self) -> (Option<String>, String) {
        let plain = plain_name(self.folded);
        let bare = spell::without_namespaces(&plain);
        let written = match self.is_certain {
            true => self.readings.clone(),
            false => split(bare),
        };
        let spelled =
            self.spellings.splits.iter().filter(|split| split.trust == SplitTrust::Spelled);
        let all = || written.iter().copied().chain(spelled.clone().map(NameSplit::reading));
        let known = all().filter(|it| !self.is_certain && self.servers.know(it.server));
        match known.min_by_key(|it| (it.server.len(), it.tool.len())).or(written.first().copied()) {
            Some(NameReading { server, tool }) => (Some(as_counted(server)), as_counted(tool)),
            None => (None, as_counted(bare)),
        }
    }
}

/// A part of a name, without the differences between spellings.
fn as_counted(part: &str) -> String {
    plain_name(part).chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect()
}

impl Tools {
    /// Adds a pattern as written.
    pub(crate) fn add(&mut self, written: &str) {
        let whole = Wildcard::new(&fold(written.trim()));
        let parts = parts(whole.text());
        self.push(whole, parts);
    }

    /// Adds a pattern in every spelling.
    pub(crate) fn add_spellings(&mut self, written: &str) {
        let whole = Wildcard::new(&fold(written.trim()));
        let parts = spelled_parts(&whole);
        // With a server part, `web.*` names the server `web`, and not `web_search`.
        let others = match parts.is_empty() || whole.is_literal() {
            true => other_patterns(&whole),
            false => Vec::new(),
        };
        self.push(whole, parts);
        others.into_iter().for_each(|other| self.push(other, Vec::new()));
    }

    fn push(&mut self, whole: Wildcard, parts: Vec<(Wildcard, Wildcard)>) {
        if whole.is_literal() && parts.is_empty() {
            self.literals.insert(whole.text().to_owned());
        } else {
            self.patterns.push(ToolPattern { whole, parts });
        }
    }

    /// Every tool of a kind.
    pub(crate) fn of_kind(kind: Kind, catalogue: &Catalogue, compare: Compare) -> Self {
        let mut tools = Self { any_server: kind == Kind::Mcp, ..Self::default() };
        for name in catalogue.tools_of(kind) {
            match compare {
                Compare::Exactly => tools.add(name),
                Compare::Spellings => tools.add_spellings(name),
            }
        }
        tools
    }

    /// The names and patterns without a server part that the rule itself lists.
    pub(crate) fn bare(&self) -> impl Iterator<Item = &str> {
        let patterns = self.patterns.iter().filter(|pattern| pattern.parts.is_empty());
        let patterns = patterns.map(|pattern| pattern.whole.text());
        self.literals.iter().map(String::as_str).chain(patterns)
    }

    /// The names that the rule itself lists, then those of each kind.
    pub(crate) fn parts(&self) -> impl Iterator<Item = &Self> {
        std::iter::once(self).chain(self.kinds.iter().map(|(_, tools)| tools.as_ref()))
    }

    fn restrict(&self, folded: &str, reading: Option<&NameReading<'_>>) -> bool {
        self.parts().any(|tools| {
            tools.literals.contains(folded)
                || reading.is_some_and(|reading| tools.literals.contains(reading.tool))
                || (tools.any_server && reading.is_some())
                || tools.patterns.iter().any(|pattern| pattern.restricts(folded, reading))
        })
    }

    /// Whether a split of a name is one of these tools, on any server.
    fn restrict_split(&self, reading: &NameReading<'_>) -> bool {
        self.parts().any(|tools| {
            tools.any_server
                || tools.literals.contains(reading.tool)
                || tools
                    .patterns
                    .iter()
                    .any(|pattern| pattern.whole.matches(reading.tool) || pattern.reads(reading))
        })
    }

    /// How precisely these name a tool, for a rule that names the server separately.
    fn precision(&self, tool: &str) -> Option<Precision> {
        let of = |tools: &Self| {
            let patterns = tools.patterns.iter().map(|pattern| &pattern.whole);
            let literal = tools.literals.contains(tool).then_some(Precision::Exact);
            let any = tools.any_server.then_some(Precision::Any);
            let fits = patterns.filter(|whole| whole.matches(tool)).map(Precision::of).max();
            literal.max(fits).max(any)
        };
        self.parts().filter_map(of).max()
    }

    /// For a rule that allows, and a name without a server.
    fn allow_bare(&self, folded: &str) -> bool {
        let bare = |pattern: &ToolPattern| {
            pattern.is_exactly(folded)
                || (pattern.parts.is_empty() && pattern.whole.matches(folded))
        };
        self.parts().any(|tools| tools.literals.contains(folded) || tools.patterns.iter().any(bare))
    }

    /// For a rule that allows, and a name with one reading. If the rule has no `server`, only a
    /// pattern with its own server part matches.
    fn allow_reading(&self, folded: &str, reading: &NameReading<'_>, server_named: bool) -> bool {
        let fits = |pattern: &ToolPattern| match pattern.parts.as_slice() {
            _ if pattern.is_exactly(folded) => true,
            // The rule names the server, so the tool's name may contain what looks like another
            // server.
            _ if server_named && pattern.whole.matches(reading.tool) => true,
            [_] => pattern.reads(reading),
            _ => false,
        };
        self.parts().any(|tools| {
            (server_named && tools.literals.contains(reading.tool))
                || tools.any_server
                || tools.patterns.iter().any(fits)
        })
    }

    /// For a rule that allows, and a name that may be read in several ways.
    fn allow_exactly(&self, folded: &str) -> bool {
        self.parts().flat_map(|tools| &tools.patterns).any(|pattern| pattern.is_exactly(folded))
    }

    /// Like [`Self::allow_exactly`], if one of the ways is a tool without a server.
    fn allow_literal(&self, folded: &str) -> bool {
        self.allow_exactly(folded) || self.parts().any(|tools| tools.literals.contains(folded))
    }
}

/// How much of a name a pattern determines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Precision {
    /// None of it: the pattern matches every name.
    Any,
    /// Part of it.
    Part,
    /// All of it.
    Exact,
}

impl Precision {
    pub(crate) fn of(pattern: &Wildcard) -> Self {
        match pattern.is_literal() {
            true => Self::Exact,
            false if pattern.has_letters() => Self::Part,
            false => Self::Any,
        }
    }
}

/// Whether these patterns are precise enough for a split of this trust, which they match.
pub(crate) fn suffices(trust: SplitTrust, server: &Wildcard, tool: Precision) -> bool {
    match trust {
        SplitTrust::Spelled => true,
        // `*-prod` and `g*` are too vague for a name whose server part is a guess.
        SplitTrust::Guessed => {
            server.determines_start() || (server.has_letters() && tool > Precision::Any)
        }
        SplitTrust::OwnTool => server.is_literal() && tool == Precision::Exact,
    }
}

impl ToolPattern {
    fn restricts(&self, folded: &str, reading: Option<&NameReading<'_>>) -> bool {
        self.whole.matches(folded)
            || reading
                .is_some_and(|reading| self.whole.matches(reading.tool) || self.reads(reading))
    }

    fn reads(&self, reading: &NameReading<'_>) -> bool {
        self.parts
            .iter()
            .any(|(server, tool)| server.matches(reading.server) && tool.matches(reading.tool))
    }

    fn is_exactly(&self, folded: &str) -> bool {
        self.whole.is_literal() && self.whole.text() == folded
    }
}

impl RuleNames {
    /// Whether a rule that restricts applies to this name, in any reading.
    pub(crate) fn restrict(&self, name: &CallName<'_>) -> bool {
        if let Some(offer) = name.offer {
            return self.may_restrict(name, offer);
        }
        self.restrict_as_written(name) || self.restrict_spellings(name)
    }

    fn restrict_as_written(&self, name: &CallName<'_>) -> bool {
        let reading_fits = |reading: &NameReading<'_>| {
            self.server_restricts(reading.server)
                && self
                    .tools
                    .as_ref()
                    .is_none_or(|tools| tools.restrict(name.folded, Some(reading)))
        };
        if self.servers.is_some() {
            return name.readings.iter().any(reading_fits);
        }
        let Some(tools) = &self.tools else { return true };
        tools.restrict(name.folded, None) || name.readings.iter().any(reading_fits)
    }

    /// Whether a rule that restricts applies to another spelling of this name.
    fn restrict_spellings(&self, name: &CallName<'_>) -> bool {
        let Spellings { texts, splits, .. } = &name.spellings;
        let bare = self.tools.as_ref().filter(|_| self.servers.is_none());
        texts.iter().any(|text| bare.is_some_and(|tools| tools.restrict(text, None)))
            || splits.iter().any(|split| self.restrict_split(split))
            || (!self.long.is_empty() && self.is_shortened(name))
    }

    fn restrict_split(&self, split: &NameSplit) -> bool {
        let (reading, trust) = (split.reading(), split.trust);
        if trust == SplitTrust::Spelled {
            let tools = self.tools.as_ref();
            return self.server_restricts(reading.server)
                && tools.is_none_or(|tools| tools.restrict_split(&reading));
        }
        let precision = match &self.tools {
            None => Some(Precision::Any),
            Some(tools) => tools.precision(reading.tool),
        };
        let by_server = precision.is_some_and(|tool| {
            let named = self.all_servers().filter(|server| server.matches(reading.server));
            { named }.any(|server| suffices(trust, server, tool))
        });
        let in_one = |(server, tool): &(Wildcard, Wildcard)| {
            server.matches(reading.server)
                && tool.matches(reading.tool)
                && suffices(trust, server, Precision::of(tool))
        };
        by_server || (self.server_restricts(reading.server) && self.pairs().any(in_one))
    }

    /// Whether an agent may have shortened a tool of this rule to this name.
    fn is_shortened(&self, name: &CallName<'_>) -> bool {
        let texts = name.spellings.texts.iter().map(String::as_str);
        let is_one = |text: &str| self.long.iter().any(|long| spell::is_shortened(long, text));
        std::iter::once(name.folded).chain(texts).any(is_one)
    }

    /// The pairs of a server and a tool in `tool`.
    fn pairs(&self) -> impl Iterator<Item = &(Wildcard, Wildcard)> {
        let tools = self.tools.iter().flat_map(Tools::parts);
        tools.flat_map(|tools| &tools.patterns).flat_map(|pattern| &pattern.parts)
    }

    /// The servers of the rule in every spelling.
    pub(crate) fn all_servers(&self) -> impl Iterator<Item = &Wildcard> {
        self.servers.iter().flatten().chain(&self.spelled_servers)
    }

    /// The servers that the rule itself names, including those in names of tools.
    pub(crate) fn named_servers(&self) -> impl Iterator<Item = &Wildcard> {
        let patterns = self.tools.iter().flat_map(|tools| &tools.patterns);
        let parts = patterns.flat_map(|pattern| &pattern.parts);
        self.all_servers().chain(parts.map(|(server, _)| server))
    }

    /// Adds other spellings of its names, for a rule that restricts.
    pub(crate) fn with_spellings(mut self) -> Self {
        let written = self.servers.iter().flatten();
        self.spelled_servers = written.flat_map(other_patterns).collect();
        let named: Vec<&Wildcard> = self.all_servers().filter(|it| it.is_literal()).collect();
        let mut long = Vec::new();
        for tool in self.tools.iter().flat_map(|tools| &tools.literals) {
            named.iter().for_each(|server| add_long(&mut long, server.text(), tool));
        }
        for (server, tool) in
            self.tools.iter().flat_map(|tools| &tools.patterns).flat_map(|it| &it.parts)
        {
            if server.is_literal() && tool.is_literal() {
                add_long(&mut long, server.text(), tool.text());
            }
        }
        self.long = long;
        self
    }

    /// Whether a rule that allows applies to this name. Without a server part it applies only to
    /// tools without a server; with one, only to a name with a single reading, or to exactly the
    /// same name.
    pub(crate) fn allow(&self, name: &CallName<'_>) -> bool {
        if name.offer.is_some() {
            return self.allow_offer(name);
        }
        if name.spellings.is_unclear {
            return self.allow_unclear(name);
        }
        match (name.readings.as_slice(), &self.tools) {
            ([], None) => self.servers.is_none() || self.widened(),
            ([], Some(tools)) => {
                (self.servers.is_none() || self.widened()) && tools.allow_bare(name.folded)
            }
            ([reading], None) => self.server_fits(reading.server),
            ([reading], Some(tools)) => {
                let server_named = self.servers.is_some();
                self.server_fits(reading.server)
                    && tools.allow_reading(name.folded, reading, server_named)
            }
            (_, None) => self.servers.is_none(),
            (readings, Some(tools)) => {
                tools.allow_exactly(name.folded)
                    && readings.iter().all(|reading| self.server_fits(reading.server))
            }
        }
    }

    /// For a name that may or may not be the tool of a server.
    fn allow_unclear(&self, name: &CallName<'_>) -> bool {
        let fits = |reading: &NameReading<'_>| self.server_fits(reading.server);
        match &self.tools {
            None => self.servers.is_none() || self.widened(),
            Some(tools) => {
                let bare = name.readings.is_empty() && (self.servers.is_none() || self.widened());
                let split = !name.readings.is_empty() && name.readings.iter().all(fits);
                (bare || split) && tools.allow_literal(name.folded)
            }
        }
    }

    /// Whether the server is one of this rule's, for a rule that restricts.
    pub(crate) fn server_restricts(&self, server: &str) -> bool {
        self.servers.is_none() || self.all_servers().any(|pattern| pattern.matches(server))
    }

    pub(crate) fn server_fits(&self, server: &str) -> bool {
        let Some(servers) = &self.servers else { return true };
        servers.iter().any(|pattern| pattern.matches(server))
    }

    /// `server: "*"` widens a rule that allows to tools with and without a server.
    pub(crate) fn widened(&self) -> bool {
        self.servers.iter().flatten().any(Wildcard::is_any)
    }
}

/// Every way a pattern splits into server and tool. `mcp__git*` stands for all tools of matching
/// servers.
fn parts(pattern: &str) -> Vec<(Wildcard, Wildcard)> {
    let readings = split(pattern);
    if readings.is_empty()
        && let Some(server) = pattern.strip_prefix("mcp__").or(pattern.strip_prefix("mcp_"))
        && server.ends_with('*')
    {
        return vec![(Wildcard::new(server), Wildcard::new("*"))];
    }
    readings.iter().map(part).collect()
}

fn part(reading: &NameReading<'_>) -> (Wildcard, Wildcard) {
    (Wildcard::new(reading.server), Wildcard::new(reading.tool))
}

/// The same for a rule that restricts, with every spelling of server and tool.
fn spelled_parts(whole: &Wildcard) -> Vec<(Wildcard, Wildcard)> {
    let plain = plain_name(whole.text());
    let mut written = parts(whole.text());
    for text in [whole.text(), &*plain] {
        let inner = spell::without_namespace(text).unwrap_or(text);
        written.extend(parts(inner));
        written.extend(spell::marked_splits(inner).iter().map(part));
    }
    let mut all = Vec::new();
    for (server, tool) in written {
        for server in other_patterns(&server).into_iter().chain([server]) {
            for tool in other_patterns(&tool).into_iter().chain([tool.clone()]) {
                let part = (server.clone(), tool);
                if !all.contains(&part) {
                    all.push(part);
                }
            }
        }
    }
    all
}

/// Adds the spellings of a tool that agents shorten because they are too long.
fn add_long(long: &mut Vec<String>, server: &str, tool: &str) {
    if server.len() + tool.len() < MIN_LONG {
        return;
    }
    let spellings = spell::spellings(server, tool);
    long.extend(spellings.into_iter().filter(|it| spell::beginning(it).is_some()));
}

/// With fewer letters no spelling is too long for any agent.
const MIN_LONG: usize = 48;

#[cfg(test)]
mod tests {
    use super::*;
    use callgate_call::ToolName;

    fn names(tools: &[&str], servers: &[&str], compare: Compare) -> RuleNames {
        let mut of_rule = Tools::default();
        for tool in tools {
            match (tool.strip_prefix('@'), compare) {
                (Some(kind), _) => {
                    let kind = Kind::from_word(kind).unwrap();
                    let tools = Arc::new(Tools::of_kind(kind, &Catalogue::builtin(), compare));
                    of_rule.kinds.push((kind, tools));
                }
                (None, Compare::Exactly) => of_rule.add(tool),
                (None, Compare::Spellings) => of_rule.add_spellings(tool),
            }
        }
        let servers: Vec<_> = servers.iter().map(|server| Wildcard::new(server)).collect();
        let names = RuleNames {
            tools: (!tools.is_empty()).then_some(of_rule),
            servers: (!servers.is_empty()).then_some(servers),
            ..RuleNames::default()
        };
        match compare {
            Compare::Exactly => names,
            Compare::Spellings => names.with_spellings(),
        }
    }

    fn both(tools: &[&str], servers: &[&str], name: &str) -> (bool, bool) {
        both_of(tools, servers, &ToolName::parse(name).unwrap())
    }

    fn both_of(tools: &[&str], servers: &[&str], parsed: &ToolName) -> (bool, bool) {
        let restricting = names(tools, servers, Compare::Spellings);
        let mut known = Servers::new(&Catalogue::builtin());
        known.add_rule(&restricting);
        let name = CallName::new(parsed, &known);
        (restricting.restrict(&name), names(tools, servers, Compare::Exactly).allow(&name))
    }

    #[test]
    fn a_restricting_rule_matches_any_reading_an_allowing_one_only_a_certain_one() {
        let one = "mcp__github__create_issue";
        let two = "mcp__a__b__c";
        for (tools, servers, name, expected) in [
            (&["bash"][..], &[][..], "Bash", (true, true)),
            (&["BASH"], &[], " bash ", (true, true)),
            (&["bash"], &[], "mcp__x__bash", (true, false)),
            (&["bash"], &["*"], "mcp__x__bash", (true, true)),
            (&["bash"], &["*"], "bash", (false, true)),
            (&["create_*"], &[], one, (true, false)),
            (&["github.create_*"], &[], one, (true, true)),
            (&["mcp__github__*"], &[], "github/create_issue", (true, true)),
            (&["mcp__*"], &[], one, (true, true)),
            (&["mcp__git*"], &[], one, (true, true)),
            (&["gitlab.*"], &[], one, (false, false)),
            (&["create_issue"], &["github"], one, (true, true)),
            (&["create_issue"], &["gitlab"], one, (false, false)),
            (&[], &["github"], one, (true, true)),
            (&[], &["github"], "bash", (false, false)),
            (&[], &[], one, (true, true)),
            (&[], &[], two, (true, true)),
            (&["*"], &[], one, (true, false)),
            (&["*"], &[], "bash", (true, true)),
            (&["c"], &[], two, (true, false)),
            (&["c"], &["a__b"], two, (true, false)),
            (&["mcp__a__b__*"], &[], two, (true, false)),
            (&["mcp__a__b__c"], &[], two, (true, true)),
            (&["@mcp"], &[], one, (true, true)),
            (&["@mcp"], &[], two, (true, false)),
            (&["@mcp"], &[], "bash", (false, false)),
            (&["@shell"], &[], "run_shell_command", (true, true)),
            (&["@shell"], &[], "mcp__x__bash", (true, false)),
            (&["@read"], &[], "mcp__filesystem__read_file", (true, false)),
            (&["@shell"], &[], "container.exec", (true, true)),
        ] {
            assert_eq!(both(tools, servers, name), expected, "{tools:?} {servers:?} {name}");
        }
    }

    #[test]
    fn one_or_two_letters_are_too_vague_for_a_name_that_may_be_split() {
        for (servers, name, restricts) in [
            (["g*"], "get_weather", false),
            (["ge*"], "get_weather", false),
            (["g?*"], "git_push", false),
            (["git*"], "github_push", true),
            (["gh"], "gh_push", true),
            (["g*"], "mcp__github__push", true),
            (["g*"], "github.push", true),
        ] {
            assert_eq!(both(&[], &servers, name).0, restricts, "{servers:?} {name}");
        }
    }

    #[test]
    fn a_tool_on_a_known_server_is_found_whatever_its_name_holds() {
        for (server, tool) in [
            ("fs", "read__file"),
            ("fs", "read.file"),
            ("fs", "read/file:now"),
            ("my__server", "a__b__c"),
            ("my.server", "a.b"),
            ("fs", "mcp__other__tool"),
        ] {
            let name = ToolName::on(server, tool).unwrap();
            let yes = (true, true);
            assert_eq!(both_of(&[tool], &[server], &name), yes, "{server} {tool}");
            assert_eq!(both_of(&[], &[server], &name), yes, "{server} {tool}");
            assert_eq!(both_of(&[&format!("{}*", &tool[..3])], &[server], &name), yes, "{tool}");
            assert_eq!(both_of(&[name.raw()], &[], &name), yes, "{server} {tool}");
            assert_eq!(both_of(&["@mcp"], &[], &name), yes, "{server} {tool}");
            assert_eq!(both_of(&[tool], &[], &name), (true, false), "no server is named: {tool}");
            assert_eq!(both_of(&[tool], &["other"], &name), (false, false), "{server} {tool}");
            assert_eq!(both_of(&["other"], &[server], &name), (false, false), "{server} {tool}");
        }
        // Readings that only the name would suggest do not count.
        let name = ToolName::on("a", "b__c").unwrap();
        assert_eq!(both_of(&["c"], &["a__b"], &name), (false, false));
        assert_eq!(both_of(&["c"], &[], &name), (false, false));
    }
}
