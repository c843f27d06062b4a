//! The arguments that carry a role: `arg: "@command"` is `command` of Claude Code's shell tool, `cmd`
//! of Codex', and the words of a list, joined.

use callgate_call::ToolCall;
use callgate_call::{Arguments, EmbeddedJson};
use callgate_effects::{Entry, Kind, Role};
use callgate_json::Value;

use crate::effects::CatalogueMatch;
use crate::names::CallName;
use crate::path::{ArgumentPath, ValuePosition};

/// An argument that carries a role.
#[derive(Debug)]
pub(crate) struct RoleArgument {
    /// Its path in the call: `cmd`, `edits[0].path`.
    pub(crate) argument: String,
    place: ValuePosition,
    /// What it says as a command, if that is not simply its text.
    pub(crate) command: Option<CommandText>,
    /// The command in a text that some programs parse as a list of words.
    pub(crate) embedded: Option<CommandText>,
}

/// The words of a command as one text.
#[derive(Debug)]
pub(crate) struct CommandText {
    /// All words, with spaces between them.
    pub(crate) joined: String,
    /// The text that a shell would run, if the words are a shell with one: `["bash", "-lc", text]`.
    pub(crate) script: Option<String>,
}

impl RoleArgument {
    /// Its value. The root must be that of the same call.
    pub(crate) fn value<'v>(&self, root: &'v Value) -> Option<&'v Value> {
        self.place.value(root)
    }

    /// Whether every program reads it under the key that the catalogue names.
    pub(crate) fn is_certain(&self) -> bool {
        self.place.unclear_key.is_none()
    }

    /// The key that only some programs take for the one in the catalogue.
    pub(crate) fn unclear_key(&self) -> Option<&str> {
        self.place.unclear_key.as_deref()
    }

    /// Every text of a command in it.
    pub(crate) fn commands(&self) -> impl Iterator<Item = &str> {
        let texts = self.command.iter().chain(&self.embedded);
        texts.flat_map(|it| std::iter::once(it.joined.as_str()).chain(it.script.as_deref()))
    }
}

/// The arguments of a call that carry a role.
///
/// A tool of the catalogue has its own names for them. If it has no such argument, or if the tool is not
/// known, the names count that tools usually give it.
pub(crate) fn carriers(
    role: Role,
    name: &CallName<'_>,
    most: usize,
    call: &ToolCall,
) -> Vec<RoleArgument> {
    let Ok(root) = call.arguments.value() else { return Vec::new() };
    let mut places = Vec::new();
    let usual = role.usual_arguments().iter().copied();
    match name.tool(most) {
        CatalogueMatch::Known(entry) => {
            add_places(entry.roles_of(role), root, &mut places);
            if places.is_empty() && may_carry(entry, role) {
                add_places(usual, root, &mut places);
            }
        }
        CatalogueMatch::Unknown(entries) => {
            let known = entries.iter().flat_map(|entry| entry.roles_of(role));
            add_places(known.chain(usual), root, &mut places);
        }
    }
    if role != Role::Command {
        places = places.into_iter().flat_map(|place| place.elements(root)).collect();
    }
    let make = |place: ValuePosition| carrier(role, place, root, &call.arguments);
    unique(places).into_iter().map(make).collect()
}

/// Whether a tool of the catalogue can have an argument of this role.
pub(crate) fn may_carry(entry: &Entry, role: Role) -> bool {
    let is_shell = role == Role::Command && entry.kinds.contains(&Kind::Shell);
    is_shell || entry.roles_of(role).next().is_some()
}

fn add_places<'p>(
    paths: impl Iterator<Item = &'p str>,
    root: &Value,
    places: &mut Vec<ValuePosition>,
) {
    for path in paths.filter_map(|path| ArgumentPath::parse(path).ok()) {
        path.places(root, places);
    }
}

/// Each place once. Where several names lead to one place, the one that fits exactly counts.
fn unique(mut places: Vec<ValuePosition>) -> Vec<ValuePosition> {
    let key = |place: &ValuePosition| (place.steps.clone(), place.unclear_key.is_some());
    places.sort_by_key(key);
    places.dedup_by(|later, earlier| later.steps == earlier.steps);
    places
}

fn carrier(role: Role, place: ValuePosition, root: &Value, arguments: &Arguments) -> RoleArgument {
    let argument = place.path(root);
    let (mut command, mut embedded) = (None, None);
    if let (Role::Command, Some(value)) = (role, place.value(root)) {
        command = match value {
            Value::String(program) => separate_arguments(root).map(|words| {
                CommandText::of(&std::iter::once(program.as_str()).chain(words).collect::<Vec<_>>())
            }),
            list => words(list).map(|words| CommandText::of(&words)),
        };
        embedded = match arguments.embedded_json(value) {
            Some((_, EmbeddedJson::Value(list))) => words(list).map(|it| CommandText::of(&it)),
            _ => None,
        };
    }
    RoleArgument { argument, place, command, embedded }
}

/// `args` next to a `command` that is only the program.
fn separate_arguments(root: &Value) -> Option<Vec<&str>> {
    words(root.get("args").or_else(|| root.get("arguments"))?)
}

fn words(value: &Value) -> Option<Vec<&str>> {
    match value {
        Value::Array(items) => items.iter().map(Value::as_str).collect(),
        _ => None,
    }
}

impl CommandText {
    fn of(words: &[&str]) -> Self {
        let script = match words {
            [shell, flag, script] if is_shell(shell) && is_script_flag(flag) => {
                Some((*script).to_owned())
            }
            _ => None,
        };
        Self { joined: words.join(" "), script }
    }
}

fn is_shell(program: &str) -> bool {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program).to_ascii_lowercase();
    let name = name.strip_suffix(".exe").unwrap_or(&name);
    matches!(name, "sh" | "bash" | "zsh" | "dash" | "ksh" | "fish" | "pwsh" | "powershell" | "cmd")
}

fn is_script_flag(flag: &str) -> bool {
    let is_short = flag.strip_prefix('-').is_some_and(|letters| {
        letters.ends_with('c') && letters.bytes().all(|byte| byte.is_ascii_lowercase())
    });
    is_short || flag.eq_ignore_ascii_case("-command") || flag.eq_ignore_ascii_case("/c")
}
