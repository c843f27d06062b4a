//! Which tools a rule speaks of. A rule that restricts reads a name in every way it may be meant,
//! a rule that allows in no way but a certain one.

use std::collections::HashSet;
use std::sync::Arc;

use callgate_call::{Reading, fold, split};
use callgate_facts::{Catalogue, Kind};

use crate::pattern::Wildcard;
use crate::whole::Whole;

/// The tools and servers a rule names.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names {
    /// `None` is every tool.
    pub(crate) tools: Option<Tools>,
    /// `None` is every server, and none.
    pub(crate) servers: Option<Vec<Wildcard>>,
}

/// What stands under `tool`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tools {
    /// Whole names without wildcard and server part.
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

/// A call's name with its readings.
#[derive(Debug)]
pub(crate) struct Name<'c> {
    pub(crate) folded: &'c str,
    pub(crate) readings: Vec<Reading<'c>>,
    /// Set if this is no tool but all that a server has.
    pub(crate) whole: Option<&'c Whole>,
}

impl Tools {
    /// Adds a pattern as written.
    pub(crate) fn add(&mut self, written: &str) {
        let whole = Wildcard::new(&fold(written.trim()));
        let parts = parts(whole.text());
        if whole.is_literal() && parts.is_empty() {
            self.literals.insert(whole.text().to_owned());
        } else {
            self.patterns.push(ToolPattern { whole, parts });
        }
    }

    /// Every tool of a kind.
    pub(crate) fn of_kind(kind: Kind, catalogue: &Catalogue) -> Self {
        let mut tools = Self { any_server: kind == Kind::Mcp, ..Self::default() };
        for name in catalogue.tools_of(kind) {
            tools.add(name);
        }
        tools
    }

    /// What the rule names itself, and then each kind.
    pub(crate) fn parts(&self) -> impl Iterator<Item = &Self> {
        std::iter::once(self).chain(self.kinds.iter().map(|(_, tools)| tools.as_ref()))
    }

    fn restrict(&self, folded: &str, reading: Option<&Reading<'_>>) -> bool {
        self.parts().any(|tools| {
            tools.literals.contains(folded)
                || reading.is_some_and(|reading| tools.literals.contains(reading.tool))
                || (tools.any_server && reading.is_some())
                || tools.patterns.iter().any(|pattern| pattern.restricts(folded, reading))
        })
    }

    /// For a rule that allows, and a name without a server.
    fn allow_bare(&self, folded: &str) -> bool {
        let bare = |pattern: &ToolPattern| {
            pattern.is_exactly(folded)
                || (pattern.parts.is_empty() && pattern.whole.matches(folded))
        };
        self.parts().any(|tools| tools.literals.contains(folded) || tools.patterns.iter().any(bare))
    }

    /// For a rule that allows, and a name with one reading. Without a `server` in the rule, only
    /// a pattern with a server part of its own will do.
    fn allow_reading(&self, folded: &str, reading: &Reading<'_>, server_named: bool) -> bool {
        let fits = |pattern: &ToolPattern| match pattern.parts.as_slice() {
            _ if pattern.is_exactly(folded) => true,
            // The rule says which server: then a tool may hold what looks like another one.
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
}

impl ToolPattern {
    fn restricts(&self, folded: &str, reading: Option<&Reading<'_>>) -> bool {
        self.whole.matches(folded)
            || reading
                .is_some_and(|reading| self.whole.matches(reading.tool) || self.reads(reading))
    }

    fn reads(&self, reading: &Reading<'_>) -> bool {
        self.parts
            .iter()
            .any(|(server, tool)| server.matches(reading.server) && tool.matches(reading.tool))
    }

    fn is_exactly(&self, folded: &str) -> bool {
        self.whole.is_literal() && self.whole.text() == folded
    }
}

impl Names {
    /// Whether a rule that restricts speaks of this name: in any reading.
    pub(crate) fn restrict(&self, name: &Name<'_>) -> bool {
        if let Some(whole) = name.whole {
            return self.may_restrict(name, whole);
        }
        let reading_fits = |reading: &Reading<'_>| {
            self.server_fits(reading.server)
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

    /// Whether a rule that allows speaks of this name: without a server part only tools without
    /// a server; with one only the single reading of a name, or the very same name.
    pub(crate) fn allow(&self, name: &Name<'_>) -> bool {
        if name.whole.is_some() {
            return self.allow_whole(name);
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

    pub(crate) fn server_fits(&self, server: &str) -> bool {
        let Some(servers) = &self.servers else { return true };
        servers.iter().any(|pattern| pattern.matches(server))
    }

    /// `server: "*"` widens a rule that allows to tools with and without a server.
    pub(crate) fn widened(&self) -> bool {
        self.servers.iter().flatten().any(Wildcard::is_any)
    }
}

/// Every way a pattern splits into server and tool. `mcp__git*` means all tools of those servers.
fn parts(pattern: &str) -> Vec<(Wildcard, Wildcard)> {
    let readings = split(pattern);
    if readings.is_empty()
        && let Some(server) = pattern.strip_prefix("mcp__").or(pattern.strip_prefix("mcp_"))
        && server.ends_with('*')
    {
        return vec![(Wildcard::new(server), Wildcard::new("*"))];
    }
    let part = |reading: &Reading<'_>| (Wildcard::new(reading.server), Wildcard::new(reading.tool));
    readings.iter().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use callgate_call::ToolName;

    fn names(tools: &[&str], servers: &[&str]) -> Names {
        let mut of_rule = Tools::default();
        for tool in tools {
            match tool.strip_prefix('@') {
                Some(kind) => {
                    let kind = Kind::from_word(kind).unwrap();
                    let tools = Arc::new(Tools::of_kind(kind, &Catalogue::builtin()));
                    of_rule.kinds.push((kind, tools));
                }
                None => of_rule.add(tool),
            }
        }
        let servers: Vec<_> = servers.iter().map(|server| Wildcard::new(server)).collect();
        Names {
            tools: (!tools.is_empty()).then_some(of_rule),
            servers: (!servers.is_empty()).then_some(servers),
        }
    }

    fn both(tools: &[&str], servers: &[&str], name: &str) -> (bool, bool) {
        both_of(tools, servers, &ToolName::parse(name).unwrap())
    }

    fn both_of(tools: &[&str], servers: &[&str], parsed: &ToolName) -> (bool, bool) {
        let name = Name { folded: parsed.folded(), readings: parsed.readings(), whole: None };
        let names = names(tools, servers);
        (names.restrict(&name), names.allow(&name))
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
        // What the name alone would also allow to read is not meant.
        let name = ToolName::on("a", "b__c").unwrap();
        assert_eq!(both_of(&["c"], &["a__b"], &name), (false, false));
        assert_eq!(both_of(&["c"], &[], &name), (false, false));
    }
}
