//! Finds the server and the tool for a name that an agent uses.
//!
//! One agent calls a tool `mcp__srv__tool`, another calls it `srv-tool`, and a name does not show
//! where the server part ends. So names are never split: each tool is entered under every spelling,
//! and a name is looked up among them.

use std::collections::{HashMap, HashSet};

use callgate_call::{fold, spell};
use callgate_scan::inspect::plain_name;

/// Every spelling of every known tool.
#[derive(Debug, Default)]
pub struct NameMap {
    tools: Vec<KnownTool>,
    known: HashSet<KnownTool>,
    by_spelling: HashMap<String, Vec<usize>>,
    /// Like `by_spelling`, ignoring look-alike letters and dashes.
    by_plain: HashMap<String, Vec<usize>>,
    /// Long spellings by their prefix, for names that an agent has shortened.
    by_beginning: HashMap<String, Vec<usize>>,
}

/// A tool and its server, by their exact names.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KnownTool {
    /// The server, by its name in the configuration.
    pub server: String,
    /// The tool.
    pub tool: String,
}

/// The tools that a name may mean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NameLookup<'a> {
    /// No known tool.
    Nothing,
    /// Exactly this tool.
    One(&'a KnownTool),
    /// Several tools, sorted. The name is ambiguous, so the strictest decision for any of them
    /// counts.
    Ambiguous(Vec<&'a KnownTool>),
}

impl<'a> NameLookup<'a> {
    /// All of these tools.
    pub fn all(&self) -> Vec<&'a KnownTool> {
        match self {
            Self::Nothing => Vec::new(),
            Self::One(tool) => vec![*tool],
            Self::Ambiguous(tools) => tools.clone(),
        }
    }
}

impl NameMap {
    /// A map of these tools.
    pub fn new(tools: impl IntoIterator<Item = KnownTool>) -> Self {
        let mut map = Self::default();
        for tool in tools {
            map.add(tool);
        }
        map
    }

    /// Adds a tool, if it is not known yet.
    pub fn add(&mut self, tool: KnownTool) {
        if !self.known.insert(tool.clone()) {
            return;
        }
        let at = self.tools.len();
        for spelling in spell::spellings(&tool.server, &tool.tool) {
            if let Some(beginning) = spell::beginning(&spelling) {
                insert(&mut self.by_beginning, beginning, at);
            }
            insert(&mut self.by_plain, &plain_name(&spelling), at);
            insert(&mut self.by_spelling, &spelling, at);
        }
        self.tools.push(tool);
    }

    /// The tools that a name may mean. It is compared as rules compare names: ignoring case,
    /// composition and surrounding white space.
    pub fn find(&self, name: &str) -> NameLookup<'_> {
        let folded = fold(name.trim());
        match self.by_spelling.get(&folded) {
            Some(found) => self.found(found),
            None => {
                let mut found = self.shortened(&folded);
                found.extend(self.alike(&plain_name(&folded)));
                self.found(&found)
            }
        }
    }

    /// Whether a name is exactly one of the spellings of a known tool. If not, [`Self::find`] may
    /// return a tool that was not meant.
    pub fn is_spelled(&self, name: &str) -> bool {
        self.by_spelling.contains_key(&fold(name.trim()))
    }

    /// The tools that a name may mean if it has look-alike letters, a plugin before the server, or
    /// the namespace of all tools.
    fn alike(&self, plain: &str) -> Vec<usize> {
        let inner = spell::without_namespace(plain).unwrap_or(plain);
        let mut found = self.of_a_plugin(inner);
        found.extend(self.by_plain.get(inner).into_iter().flatten());
        found
    }

    /// The tools that a name with a plugin before the server may mean.
    fn of_a_plugin(&self, folded: &str) -> Vec<usize> {
        let places = spell::without_plugin(folded).filter_map(|name| self.by_plain.get(&name));
        places.flatten().copied().collect()
    }

    /// The tools that a name in a namespace may mean. Some agents send the two separately, as `srv`
    /// or `mcp__srv` and the tool.
    pub fn find_in(&self, namespace: &str, name: &str) -> NameLookup<'_> {
        let (namespace, name) = (fold(namespace.trim()), fold(name.trim()));
        let mut found = Vec::new();
        for server in spell::servers_of(&namespace) {
            let places = self.by_spelling.get(&format!("{server}__{name}"));
            // The same text, split elsewhere, may be a tool of another server.
            found.extend(places.into_iter().flatten().filter(|at| {
                self.tools.get(**at).is_some_and(|known| {
                    spell::part(&known.server).iter().any(|it| it == server)
                        && spell::part(&known.tool).contains(&name)
                })
            }));
        }
        self.found(&found)
    }

    /// The tools whose long spelling an agent may have shortened to this.
    fn shortened(&self, folded: &str) -> Vec<usize> {
        let Some(beginning) = spell::beginning_of_shortened(folded) else { return Vec::new() };
        let candidates = self.by_beginning.get(beginning).cloned().unwrap_or_default();
        let is_shortened = |spelling: &String| spell::is_shortened(spelling, folded);
        let fits = |at: &usize| {
            self.tools.get(*at).is_some_and(|tool| {
                spell::spellings(&tool.server, &tool.tool).iter().any(is_shortened)
            })
        };
        candidates.into_iter().filter(fits).collect()
    }

    fn found(&self, places: &[usize]) -> NameLookup<'_> {
        let mut tools: Vec<&KnownTool> =
            places.iter().filter_map(|at| self.tools.get(*at)).collect();
        tools.sort();
        tools.dedup();
        match tools.as_slice() {
            [] => NameLookup::Nothing,
            [tool] => NameLookup::One(tool),
            _ => NameLookup::Ambiguous(tools),
        }
    }
}

impl Extend<KnownTool> for NameMap {
    fn extend<T: IntoIterator<Item = KnownTool>>(&mut self, tools: T) {
        tools.into_iter().for_each(|tool| self.add(tool));
    }
}

fn insert(map: &mut HashMap<String, Vec<usize>>, key: &str, at: usize) {
    match map.get_mut(key) {
        Some(places) if places.last() == Some(&at) => {}
        Some(places) => places.push(at),
        None => {
            map.insert(key.to_owned(), vec![at]);
        }
    }
}
