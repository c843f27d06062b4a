//! The catalogue of known tools: what each one is, and which argument carries what.

use std::collections::HashMap;
use std::fmt;

use callgate_call::fold;

use crate::bound::{Bound, EffectKind};
use crate::known::{KNOWN, USUAL};
use crate::known_arguments::OTHERS;

/// What a tool does, in the words of policies: `@shell`, `@read` and so on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Runs commands.
    Shell,
    /// Reads files or lists folders.
    Read,
    /// Creates or overwrites files.
    Write,
    /// Changes files in place.
    Edit,
    /// Removes files.
    Delete,
    /// Loads a URL.
    Fetch,
    /// Searches files or the web.
    Search,
    /// Runs database statements.
    Sql,
    /// Starts or steers another agent.
    Agent,
    /// Belongs to an MCP server. No entry has this kind: the name's server part tells.
    Mcp,
    /// Leaves the sandbox of its agent. No entry has this kind: the arguments of a call decide.
    Escalate,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 11] = [
        Self::Shell,
        Self::Read,
        Self::Write,
        Self::Edit,
        Self::Delete,
        Self::Fetch,
        Self::Search,
        Self::Sql,
        Self::Agent,
        Self::Mcp,
        Self::Escalate,
    ];

    /// The word policies use, without the `@`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Shell => "shell",
            Self::Read => "read",
            Self::Write => "write",
            Self::Edit => "edit",
            Self::Delete => "delete",
            Self::Fetch => "fetch",
            Self::Search => "search",
            Self::Sql => "sql",
            Self::Agent => "agent",
            Self::Mcp => "mcp",
            Self::Escalate => "escalate",
        }
    }

    /// The roles of the arguments that show what a tool of this kind does.
    fn roles(self) -> &'static [Role] {
        match self {
            Self::Shell => &[Role::Command],
            Self::Read | Self::Delete | Self::Search => &[Role::Path],
            Self::Write | Self::Edit => &[Role::Path, Role::Content],
            Self::Fetch => &[Role::Url],
            Self::Sql => &[Role::Query],
            Self::Agent | Self::Mcp | Self::Escalate => &[],
        }
    }

    /// The kind of that word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "@{}", self.as_str())
    }
}

/// What an argument carries. Policies write it with an `@`: `@command`, `@path` and so on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Role {
    /// A command line, or a list of its words.
    Command,
    /// A file or folder.
    Path,
    /// An address to load.
    Url,
    /// Words to search for, or a database statement.
    Query,
    /// A regular expression or glob to search with.
    Pattern,
    /// Text that is written somewhere.
    Content,
}

impl Role {
    /// Every role.
    pub const ALL: [Self; 6] =
        [Self::Command, Self::Path, Self::Url, Self::Query, Self::Pattern, Self::Content];

    /// The word policies use, without the `@`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Command => "command",
            Self::Path => "path",
            Self::Url => "url",
            Self::Query => "query",
            Self::Pattern => "pattern",
            Self::Content => "content",
        }
    }

    /// The role of that word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.as_str() == word)
    }

    /// The names that tools in general give to such an argument. They count where the catalogue does
    /// not know the tool.
    pub fn usual_arguments(self) -> &'static [&'static str] {
        USUAL.iter().find(|(role, _)| *role == self).map_or(&[], |(_, names)| names)
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "@{}", self.as_str())
    }
}

/// One known tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its name, folded.
    pub name: String,
    /// What it is. Some tools are several things; one without a kind has no effects.
    pub kinds: Vec<Kind>,
    /// Which argument carries what; `$` is the free text of a custom tool.
    pub roles: Vec<(String, Role)>,
    /// Its other arguments; `None` if they are not known.
    pub others: Option<Vec<String>>,
    /// What it can do in addition to what its kinds say.
    pub effects: Bound,
}

impl Entry {
    /// An entry of that name and those kinds, with no roles yet.
    pub fn new(name: &str, kinds: &[Kind]) -> Self {
        Self {
            name: fold(name.trim()),
            kinds: kinds.to_vec(),
            roles: Vec::new(),
            others: None,
            effects: Bound::NONE,
        }
    }

    /// The names of all its arguments; `None` if only some of them are known, or if it takes free text.
    pub fn arguments(&self) -> Option<Vec<&str>> {
        let others = self.others.as_ref()?;
        let outer = |path| str::split(path, ['.', '[']).next().unwrap_or(path);
        let mut names: Vec<&str> = Vec::new();
        for name in
            self.roles.iter().map(|(path, _)| outer(path)).chain(others.iter().map(|it| &**it))
        {
            if name == "$" {
                return None;
            }
            if !names.contains(&name) {
                names.push(name);
            }
        }
        Some(names)
    }

    /// The same entry, with the usual names for the arguments that its kinds need and that it does not
    /// name: a shell without a command would show no effects.
    #[must_use]
    pub fn with_usual_roles(mut self) -> Self {
        let needed = self.kinds.iter().flat_map(|kind| kind.roles()).copied();
        for role in needed.collect::<Vec<_>>() {
            if !self.roles.iter().any(|(_, known)| *known == role) {
                let usual = role.usual_arguments().iter();
                self.roles.extend(usual.map(|argument| ((*argument).to_owned(), role)));
            }
        }
        self
    }

    /// The same entry, with kinds for everything that it can do: its arguments then show it.
    pub(crate) fn acting(&self) -> Self {
        let kinds = [
            (EffectKind::Runs, Kind::Shell),
            (EffectKind::Reads, Kind::Read),
            (EffectKind::Writes, Kind::Write),
            (EffectKind::Deletes, Kind::Delete),
            (EffectKind::Connects, Kind::Fetch),
            (EffectKind::Sql, Kind::Sql),
        ];
        let more = kinds.iter().filter(|(effect, _)| self.effects.contains(*effect));
        let mut entry = self.clone();
        extend_new(&mut entry.kinds, more.map(|(_, kind)| *kind).collect());
        entry.with_usual_roles()
    }

    /// The same entry, with one more argument known.
    pub fn role(mut self, argument: &str, role: Role) -> Self {
        self.roles.push((argument.to_owned(), role));
        self
    }
}

/// Known tools by folded name. Several agents may use one name: their kinds and roles add up.
#[derive(Debug, Clone, Default)]
pub struct Catalogue {
    entries: Vec<Entry>,
    by_name: HashMap<String, usize>,
    /// The entries that were added to the built-in ones.
    extra: Vec<Entry>,
}

impl Catalogue {
    /// The tools callgate knows by itself.
    pub fn builtin() -> Self {
        let mut catalogue = Self::default();
        for (names, kinds, roles) in KNOWN {
            for name in *names {
                let roles = roles.iter().map(|(argument, role)| ((*argument).to_owned(), *role));
                catalogue.add(Entry { roles: roles.collect(), ..Entry::new(name, kinds) });
            }
        }
        for (names, others) in OTHERS {
            for name in *names {
                let others = others.iter().map(|other| (*other).to_owned()).collect();
                catalogue.add(Entry { others: Some(others), ..Entry::new(name, &[]) });
            }
        }
        catalogue
    }

    /// The same catalogue with more tools.
    pub fn with(mut self, extra: impl IntoIterator<Item = Entry>) -> Self {
        for entry in extra {
            self.extra.push(entry.clone());
            self.add(entry);
        }
        self
    }

    /// The entries that were added to the built-in ones.
    pub fn extra(&self) -> &[Entry] {
        &self.extra
    }

    /// What a tool is; empty for an unknown one. The name must be folded.
    pub fn kinds(&self, folded_name: &str) -> &[Kind] {
        self.entry(folded_name).map_or(&[], |entry| &entry.kinds)
    }

    /// What is known about a tool. The name must be folded.
    pub fn entry(&self, folded_name: &str) -> Option<&Entry> {
        self.by_name.get(folded_name).and_then(|at| self.entries.get(*at))
    }

    /// All tools.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter()
    }

    /// The folded names of the tools of a kind, in the order of the catalogue.
    pub fn tools_of(&self, kind: Kind) -> impl Iterator<Item = &str> {
        let of_kind = move |entry: &&Entry| entry.kinds.contains(&kind);
        self.entries.iter().filter(of_kind).map(|entry| entry.name.as_str())
    }

    fn add(&mut self, entry: Entry) {
        let known = self.by_name.get(&entry.name).and_then(|at| self.entries.get_mut(*at));
        let Some(known) = known else {
            self.by_name.insert(entry.name.clone(), self.entries.len());
            return self.entries.push(entry);
        };
        extend_new(&mut known.kinds, entry.kinds);
        extend_new(&mut known.roles, entry.roles);
        known.effects = known.effects.or(entry.effects);
        if let Some(others) = entry.others {
            extend_new(known.others.get_or_insert_default(), others);
        }
    }
}

fn extend_new<T: PartialEq>(list: &mut Vec<T>, more: Vec<T>) {
    for item in more {
        if !list.contains(&item) {
            list.push(item);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_kind_covers_every_agent() {
        let catalogue = Catalogue::builtin();
        let names =
            ["bash", "exec_command", "shell", "local_shell", "run_shell_command", "monitor"];
        for name in names {
            assert!(catalogue.kinds(name).contains(&Kind::Shell), "{name}");
            assert!(catalogue.tools_of(Kind::Shell).any(|known| known == name), "{name}");
        }
        assert!(catalogue.kinds("no_such_tool").is_empty());
    }

    #[test]
    fn builtin_names_are_folded_and_tools_without_a_kind_carry_nothing() {
        for entry in Catalogue::builtin().entries {
            assert_eq!(entry.name, fold(&entry.name));
            assert!(!entry.kinds.is_empty() || entry.roles.is_empty(), "{}", entry.name);
            let is_of_calls = |kind: &Kind| matches!(kind, Kind::Mcp | Kind::Escalate);
            assert!(!entry.kinds.iter().any(is_of_calls), "{}", entry.name);
        }
    }

    #[test]
    fn arguments_are_listed_for_tools_that_exist() {
        let catalogue = Catalogue::builtin();
        for name in OTHERS.iter().flat_map(|(names, _)| *names) {
            let is_known = KNOWN.iter().any(|(names, ..)| names.contains(name));
            assert!(is_known, "{name}");
        }
        let bash = catalogue.entry("bash").unwrap().arguments().unwrap();
        assert_eq!(bash.first(), Some(&"command"));
        assert!(bash.contains(&"description") && !bash.contains(&"cmd"), "{bash:?}");
        assert_eq!(catalogue.entry("apply_patch").unwrap().arguments(), None);
    }

    #[test]
    fn one_name_of_two_agents_adds_up() {
        let extra = Entry::new("Bash", &[Kind::Sql]).role("statement", Role::Query);
        let catalogue = Catalogue::builtin().with([extra]);
        assert_eq!(catalogue.kinds("bash"), [Kind::Shell, Kind::Sql]);
        let roles = &catalogue.entry("bash").unwrap().roles;
        assert!(roles.contains(&("command".into(), Role::Command)));
        assert!(roles.contains(&("statement".into(), Role::Query)));
    }

    #[test]
    fn words_and_kinds_agree() {
        for kind in Kind::ALL {
            assert_eq!(Kind::from_word(kind.as_str()), Some(kind));
        }
        assert_eq!(Kind::from_word("Shell"), None);
        for role in Role::ALL {
            assert_eq!(Role::from_word(role.as_str()), Some(role));
            assert!(!role.usual_arguments().is_empty(), "{role}");
        }
    }
}
