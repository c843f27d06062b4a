//! Other spellings in which a rule that restricts reads a name: look-alike letters, dashes, and
//! every spelling that agents use for a server's tool.
//!
//! A name alone does not show where its server part ends. So a split counts only if its server is
//! known: the config declares it, some rule names it, or the rule being evaluated names it.

use std::collections::{HashMap, HashSet};

use callgate_call::{Certainty, NameReading, ToolName, fold, spell, split};
use callgate_effects::{Catalogue, Entry, Role};
use callgate_scan::inspect::plain_name;

use crate::names::{Precision, RuleNames, suffices};
use crate::pattern::{Globs, Wildcard};

/// The servers that policies and the config name, and the agents' own tools.
#[derive(Debug, Default)]
pub(crate) struct Servers {
    known: HashSet<String>,
    /// The servers of the config. Their tools keep to the catalogue.
    declared: HashSet<String>,
    own_tools: HashMap<String, OwnTool>,
}

/// A tool of the catalogue.
#[derive(Debug)]
struct OwnTool {
    entry: Entry,
    /// The arguments that are plain text.
    plain_texts: Vec<String>,
}

/// Other ways to read a name.
#[derive(Debug, Clone, Default)]
pub(crate) struct Spellings {
    /// The whole name with look-alike letters replaced, and without the namespace of all tools.
    pub(crate) texts: Vec<String>,
    pub(crate) splits: Vec<NameSplit>,
    /// Whether it may be the tool of a known server without being spelled like one for certain.
    pub(crate) is_unclear: bool,
}

/// One way to split a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NameSplit {
    pub(crate) server: String,
    pub(crate) tool: String,
    pub(crate) trust: SplitTrust,
}

/// The rules for which a split counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SplitTrust {
    /// All rules: the spelling marks the server, or the server is known.
    Spelled,
    /// Only rules that name the server themselves.
    Guessed,
    /// Only rules that name exactly this server and tool: the name is also an agent's own tool.
    OwnTool,
}

impl Servers {
    pub(crate) fn new(catalogue: &Catalogue) -> Self {
        let mut own_tools: HashMap<String, OwnTool> = HashMap::new();
        for entry in catalogue.entries() {
            let contents = entry.roles.iter().filter(|(_, role)| *role == Role::Content);
            let contents = contents.map(|(argument, _)| argument.clone());
            let own = own_tools.entry(plain_name(&entry.name).into_owned());
            let own =
                own.or_insert_with(|| OwnTool { entry: entry.clone(), plain_texts: Vec::new() });
            own.plain_texts.extend(contents);
        }
        Self { known: HashSet::new(), declared: HashSet::new(), own_tools }
    }

    /// What the catalogue knows about a tool of that name.
    pub(crate) fn entry(&self, tool: &str) -> Option<&Entry> {
        self.own_tools.get(tool).map(|own| &own.entry)
    }

    /// Whether the config declares this server.
    pub(crate) fn declare(&self, server: &str) -> bool {
        self.declared.contains(server)
    }

    /// The arguments of a tool that are plain text; empty for an unknown tool.
    pub(crate) fn plain_texts_of(&self, folded: &str, readings: &[NameReading<'_>]) -> &[String] {
        let of = |tool: &str| self.own_tools.get(tool).map(|own| &own.plain_texts);
        let on_server = || match readings {
            [reading] => of(reading.tool),
            _ => None,
        };
        of(folded).or_else(on_server).map_or(&[], Vec::as_slice)
    }

    /// Adds a server in every spelling.
    pub(crate) fn add(&mut self, server: &str) {
        // `mcp_x` belongs to a server `x`, and not to a server called `mcp`.
        self.known.extend(variants(server).into_iter().filter(|server| server != "mcp"));
    }

    /// Adds a server of the config.
    pub(crate) fn add_declared(&mut self, server: &str) {
        self.add(server);
        self.declared.insert(fold(server));
    }

    /// Adds the servers that a rule names.
    pub(crate) fn add_rule(&mut self, names: &RuleNames) {
        for server in names.named_servers().filter(|server| server.is_literal()) {
            self.add(server.text());
        }
    }

    /// Whether the config or a rule names this server.
    pub(crate) fn know(&self, server: &str) -> bool {
        self.known.contains(server)
    }

    /// Every other way to read a name.
    pub(crate) fn read(&self, name: &ToolName) -> Spellings {
        let mut spellings = Spellings::default();
        let plain = plain_name(name.folded());
        if plain != name.folded() {
            spellings.texts.push(plain.clone().into_owned());
        }
        if let (Some(_), [reading]) = (name.certainty(), name.readings().as_slice()) {
            spellings.add_known(reading);
        }
        if name.certainty() != Some(Certainty::Certain) {
            self.read_text(&plain, name.folded(), &mut spellings);
        }
        spellings
    }

    fn read_text(&self, plain: &str, folded: &str, spellings: &mut Spellings) {
        self.split(plain, plain == folded, spellings);
        let mut inner = plain;
        for _ in 0..spell::MAX_NAMESPACES {
            let outer = spell::without_namespace(inner).or_else(|| self.without_mark(inner));
            let Some(rest) = outer else { break };
            spellings.texts.push(rest.to_owned());
            self.split(rest, false, spellings);
            inner = rest;
        }
    }

    /// A name without its mark, if an agent's own tool or a name with another mark follows.
    /// Otherwise the mark means that a server follows.
    fn without_mark<'n>(&self, text: &'n str) -> Option<&'n str> {
        let rest = spell::without_mark(text)?;
        (self.own_tools.contains_key(rest) || rest.starts_with("mcp_")).then_some(rest)
    }

    /// `is_written` says whether this is the name as written, whose splits are known already.
    fn split(&self, text: &str, is_written: bool, spellings: &mut Spellings) {
        let spelled = split(text);
        if !is_written {
            spelled.iter().for_each(|reading| spellings.add(reading, SplitTrust::Spelled));
        }
        let is_own = self.own_tools.contains_key(text);
        for reading in spell::splits(text).iter().filter(|it| !spelled.contains(it)) {
            let trust = match self.known.contains(reading.server) {
                _ if is_own => SplitTrust::OwnTool,
                true => SplitTrust::Spelled,
                false => SplitTrust::Guessed,
            };
            spellings.is_unclear |=
                trust == SplitTrust::Spelled && !is_cut_inside_a_separator(reading);
            spellings.add(reading, trust);
        }
        if let Some(reading) = spell::with_kind(text) {
            spellings.add(&reading, SplitTrust::Spelled);
        }
        for name in spell::without_plugin(text) {
            split(&name).iter().for_each(|reading| spellings.add(reading, SplitTrust::Spelled));
        }
    }
}

/// `github__push` is never the tool `_push` of `github`: no agent spells names like that.
fn is_cut_inside_a_separator(reading: &NameReading<'_>) -> bool {
    const SEPARATORS: [char; 5] = ['_', '-', '.', '/', ':'];
    reading.server.ends_with(SEPARATORS) || reading.tool.starts_with(SEPARATORS)
}

impl Spellings {
    /// Adds a tool whose server is known. Some servers strip their own name or a namespace from it.
    fn add_known(&mut self, known: &NameReading<'_>) {
        let (servers, tools) = (variants(known.server), variants(known.tool));
        let mut add =
            |server: &str, tool: &str| self.add(&NameReading { server, tool }, SplitTrust::Spelled);
        for tool in &tools {
            let bare = spell::without_namespace(tool).unwrap_or(tool);
            let own: Vec<&str> = spell::splits(bare)
                .iter()
                .filter(|it| servers.iter().any(|server| server == it.server))
                .map(|it| it.tool)
                .collect();
            for server in &servers {
                add(server, tool);
                add(server, bare);
                own.iter().for_each(|tool| add(server, tool));
            }
        }
    }

    fn add(&mut self, reading: &NameReading<'_>, trust: SplitTrust) {
        let (server, tool) = (reading.server.to_owned(), reading.tool.to_owned());
        let split = NameSplit { server, tool, trust };
        if !self.splits.contains(&split) {
            self.splits.push(split);
        }
    }
}

impl NameSplit {
    pub(crate) fn reading(&self) -> NameReading<'_> {
        NameReading { server: &self.server, tool: &self.tool }
    }
}

/// Reads names as rules that restrict do, for lists of servers and tools that restrict.
#[derive(Debug)]
pub struct NameReader(Servers);

/// Every way to read a name as a server's tool.
#[derive(Debug)]
pub struct NameReadings(Vec<NameSplit>);

impl NameReader {
    /// A reader that knows the agents' own tools.
    pub fn new(catalogue: &Catalogue) -> Self {
        Self(Servers::new(catalogue))
    }

    /// Every way to read this name.
    pub fn read(&self, name: &ToolName) -> NameReadings {
        let mut spellings = self.0.read(name);
        // For rules, `container.exec` is `exec` on any server. For lists of servers it is an
        // agent's own tool.
        let trust = match self.0.own_tools.contains_key(&*plain_name(name.folded())) {
            true => SplitTrust::OwnTool,
            false => SplitTrust::Spelled,
        };
        name.readings().iter().for_each(|reading| spellings.add(reading, trust));
        NameReadings(spellings.splits)
    }
}

impl NameReadings {
    /// A reading of the name that a list of these servers and tools covers. Without `tools`, the
    /// list covers every tool of the servers.
    pub fn find(&self, servers: &Globs, tools: Option<&Globs>) -> Option<NameReading<'_>> {
        let is_named = |split: &&NameSplit| {
            let precision = match tools {
                None => Some(Precision::Any),
                Some(tools) => tools.naming(&split.tool).map(Precision::of).max(),
            };
            precision.is_some_and(|tool| {
                servers.naming(&split.server).any(|server| suffices(split.trust, server, tool))
            })
        };
        self.0.iter().find(is_named).map(NameSplit::reading)
    }
}

/// Every spelling of a server, a tool or a pattern, for comparison with plain names.
pub(crate) fn variants(text: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for form in spell::part(&fold(text)) {
        let plain = plain_name(&form).into_owned();
        if !all.contains(&plain) {
            all.push(plain);
        }
    }
    all
}

/// Like [`variants`], for patterns and without the pattern as written.
pub(crate) fn other_patterns(pattern: &Wildcard) -> Vec<Wildcard> {
    let others = variants(pattern.text()).into_iter().filter(|text| text != pattern.text());
    others.map(|text| Wildcard::new(&text)).collect()
}
