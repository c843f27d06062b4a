//! Tools of the catalogue.

use callgate_call::EmbeddedJson;
use callgate_json::Value;

use crate::analysis::Analysis;
use crate::bound::{Bound, EffectKind};
use crate::catalogue::{Entry, Kind, Role};
use crate::code_mode::Script;
use crate::effect::{
    Access, Action, Change, Connection, Knowledge, Purpose, Run, Scope, SubCommand, Why,
};
use crate::host;
use crate::marks::Marks;
use crate::model::Language;
use crate::patch::{self, Touch};
use crate::path::{Path, working_folder};
use crate::shell::eval::{Locator, Shell};
use crate::shell::expand::Field;
use crate::tools::arguments::{elements, find};
use crate::tools::{Call, whole, written};
use crate::word::Word;

pub(super) fn analyse(analysis: &mut Analysis<'_>, call: &Call<'_>, entry: &Entry) {
    if entry.is(Kind::Shell) {
        let folder = folder(analysis, call, entry);
        let mut has_command = false;
        for path in entry.roles_of(Role::Command) {
            for (path, value) in find(call.value, path) {
                has_command = true;
                run(analysis, call, &path, value, &folder);
            }
        }
        // A server with a tool of that name may call the argument something else.
        for path in OTHER_COMMANDS.iter().filter(|_| !has_command) {
            for (path, value) in find(call.value, path) {
                run(analysis, call, &path, value, &folder);
            }
        }
        // A tool of the same name may call its argument something else.
        let has_role = entry.roles_of(Role::Command).any(|path| !find(call.value, path).is_empty());
        if !has_role {
            for key in ["command", "cmd", "commandline", "script"] {
                for (path, value) in find(call.value, key) {
                    run(analysis, call, &path, value, &folder);
                }
            }
        }
    } else {
        for path in entry.roles_of(Role::Path) {
            for (path, value) in find(call.value, path) {
                for (path, value) in elements(&path, value) {
                    use_path(analysis, call, entry, &path, value);
                }
            }
        }
    }
    if entry.is(Kind::Read) && !entry.is(Kind::Search) {
        for path in entry.roles_of(Role::Pattern).filter(|path| !path.contains("exclude")) {
            for (path, value) in find(call.value, path) {
                for (path, value) in elements(&path, value) {
                    read_pattern(analysis, &path, value);
                }
            }
        }
    }
    if entry.is(Kind::Search) {
        let folder = call.text("path").or_else(|| call.text("dir_path")).unwrap_or_default();
        for key in ["include_pattern", "include", "glob", "includePattern", "file_pattern"] {
            for (path, value) in find(call.value, key) {
                read_found(analysis, &path, value, folder);
            }
        }
    }
    // Gemini CLI's tool finds its URLs in the prompt.
    if entry.is(Kind::Fetch) && find(call.value, "url").is_empty() {
        for (path, value) in find(call.value, "prompt") {
            let text = value.as_str().unwrap_or_default();
            let schemes = ["http://", "https://", "file://"];
            let is_url = |word: &&str| schemes.iter().any(|scheme| word.starts_with(scheme));
            for url in text.split_whitespace().filter(is_url).take(32) {
                let url = url.trim_end_matches(['.', ',', ')', '>', '"', '\'']);
                fetch(analysis, call, &path, url);
            }
        }
    }
    for path in entry.roles_of(Role::Url) {
        for (path, value) in find(call.value, path) {
            for (path, value) in elements(&path, value) {
                if let Some(text) = value.as_str() {
                    fetch(analysis, call, &path, text);
                }
            }
        }
    }
    if entry.is(Kind::Edit) || entry.is(Kind::Write) {
        for path in entry.roles_of(Role::Content) {
            for (path, value) in find(call.value, path) {
                if let Some(text) = value.as_str() {
                    apply_patch(analysis, &path, text);
                }
            }
        }
    }
    if entry.is(Kind::Edit) || entry.is(Kind::Write) {
        written::keep(analysis, call, entry);
        package_hooks(analysis, call, entry);
    }
    if entry.is(Kind::Sql) {
        for path in entry.roles_of(Role::Query) {
            for (path, value) in find(call.value, path) {
                if let Some(text) = value.as_str() {
                    query(analysis, call, &path, text);
                }
            }
        }
    }
}

/// Scripts that a changed `package.json` runs with the next installation.
fn package_hooks(analysis: &mut Analysis<'_>, call: &Call<'_>, entry: &Entry) {
    let is_package = |text: &str| text.contains("package.json");
    let paths = || entry.roles_of(Role::Path).flat_map(|path| find(call.value, path));
    let by_path = paths().any(|(_, value)| value.as_str().is_some_and(is_package));
    for path in entry.roles_of(Role::Content) {
        for (path, value) in find(call.value, path) {
            let Some(text) = value.as_str() else { continue };
            let is_old = path.contains("old");
            if is_old || !(by_path || is_package(text)) || !text.contains("\"") {
                continue;
            }
            analysis.argument(&path, text);
            let added: String = match text.contains("*** Begin Patch") {
                true => {
                    text.lines().filter(|line| line.starts_with('+')).collect::<Vec<_>>().join("\n")
                }
                false => text.to_owned(),
            };
            let folder = working_folder(analysis.ground);
            let mut shell = Shell::new(analysis, folder);
            crate::code::hooks_of_packages(&mut shell, &added, &whole(text));
        }
    }
}

/// A query, with what it does outside of the database.
pub(super) fn query(analysis: &mut Analysis<'_>, call: &Call<'_>, path: &str, text: &str) {
    analysis.argument(path, text);
    let folder = working_folder(analysis.ground);
    let command = scratch_database(call).map(|name| {
        let program = Word::known(call.name.as_str());
        let parts = SubCommand { program: program.clone(), span: 0..0, parent: None };
        let command = analysis.command(parts);
        let run = Run {
            words: vec![program.clone(), Word::known(name)],
            program,
            sub_command: String::new(),
            flags: Vec::new(),
            marks: Marks::NONE,
            knowledge: Knowledge::Unmodelled,
        };
        analysis.push_run(run, 0..0, Some(command));
        command
    });
    let mut shell = Shell::new(analysis, folder);
    shell.parent = command;
    shell.sql(&whole(text));
}

/// The database that the call names, if it is one for tests.
pub(super) fn scratch_database<'c>(call: &'c Call<'_>) -> Option<&'c str> {
    let keys =
        ["database", "db", "databaseName", "dbname", "params.databaseName", "params.database"];
    let values = keys.iter().flat_map(|key| find(call.value, key));
    let name = values.into_iter().find_map(|(_, value)| value.as_str())?;
    name.split(|letter: char| !letter.is_ascii_alphanumeric())
        .any(|part| matches!(part, "test" | "tests" | "tmp" | "temp" | "scratch"))
        .then_some(name)
}

/// Usual names of an argument that carries a command.
const OTHER_COMMANDS: &[&str] = &[
    "command",
    "cmd",
    "argv",
    "program",
    "executable",
    "script",
    "commands[*]",
    "cmdString",
    "commandString",
    "cmd_string",
    "shellCommand",
    "line",
    "script_content",
];

/// The folder that a shell tool runs in.
fn folder(analysis: &Analysis<'_>, call: &Call<'_>, entry: &Entry) -> Word {
    let base = working_folder(analysis.ground);
    let paths = entry.roles_of(Role::Path).chain([
        "cwd",
        "workdir",
        "working_directory",
        "working_dir",
        "directory",
    ]);
    let given = paths.into_iter().find_map(|path| call.text(path)).filter(|text| !text.is_empty());
    match given {
        Some(text) => Path::resolve(&Word::known(text), &base, analysis.ground).resolved,
        None => base,
    }
}

/// A command: text, a list of words, or a list as JSON text.
pub(super) fn run(
    analysis: &mut Analysis<'_>,
    call: &Call<'_>,
    path: &str,
    value: &Value,
    folder: &Word,
) {
    match value {
        Value::String(text) => {
            if let Some((_, EmbeddedJson::Value(list @ Value::Array(_)))) =
                call.arguments.embedded_json(value)
            {
                return run(analysis, call, path, list, folder);
            }
            if let Some(words) = separate_arguments(call) {
                let words: Vec<&str> = std::iter::once(text.as_str()).chain(words).collect();
                return run_words(analysis, path, &words, folder);
            }
            analysis.argument(path, text);
            run_text(analysis, call, path, text, folder);
        }
        Value::Array(items) => {
            let words: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
            let Some(words) = words else {
                analysis.argument(path, "");
                return analysis.push(opaque_command(), 0..0, None);
            };
            run_words(analysis, path, &words, folder);
        }
        Value::Null => {}
        _ => {
            analysis.argument(path, "");
            analysis.push(opaque_command(), 0..0, None);
        }
    }
}

/// `args` next to a `command` that is only the program.
fn separate_arguments<'c>(call: &'c Call<'_>) -> Option<Vec<&'c str>> {
    match call.value.get("args").or_else(|| call.value.get("arguments"))? {
        Value::Array(items) => items.iter().map(Value::as_str).collect(),
        _ => None,
    }
}

fn opaque_command() -> Action {
    Action::Opaque(crate::effect::Opaque { why: Why::Arguments, could: Bound::ALL })
}

/// The words of a command as one text, so that spans have something to point at.
pub(super) fn run_words(analysis: &mut Analysis<'_>, path: &str, words: &[&str], folder: &Word) {
    analysis.argument(path, &words.join(" "));
    let mut at = 0;
    let mut fields = Vec::with_capacity(words.len());
    for word in words {
        fields.push(Field::new(Word::known(*word), at..at + word.len()));
        at += word.len() + 1;
    }
    let mut shell = Shell::new(analysis, folder.clone());
    shell.run(&fields, None);
    // Some tools join the words and give them to a shell.
    if let [only] = words
        && only.contains(' ')
    {
        shell.text(only, Locator::At(0));
    }
}

/// Whether a text is SQL, and no other statement than SQL has.
fn is_query(text: &str) -> bool {
    let is_comment = |line: &&str| line.is_empty() || line.starts_with("--");
    let mut lines = text.lines().map(str::trim).skip_while(is_comment);
    let first = lines.next().and_then(|line| line.split_whitespace().next()).unwrap_or_default();
    let first = first.to_ascii_lowercase();
    let is_first = matches!(
        first.as_str(),
        "select"
            | "with"
            | "explain"
            | "show"
            | "describe"
            | "insert"
            | "update"
            | "delete"
            | "values"
            | "copy"
    );
    is_first
        && !text.contains("/*")
        && crate::statements::statements(text).is_some_and(|found| !found.is_empty())
}

/// The language of a console that a text is typed into, by how the text begins.
fn console(text: &str) -> Option<Language> {
    let text = text.trim_start();
    let starts = |words: &[&str]| words.iter().any(|word| text.starts_with(word));
    // `User.count`, `Order::Item.last`
    let name = text.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    let (name, rest) = text.split_at(name.unwrap_or(0));
    let is_class = name.starts_with(|letter: char| letter.is_ascii_uppercase())
        && name.contains(|letter: char| letter.is_ascii_lowercase())
        && (rest.starts_with("::") || rest.starts_with('.'))
        && !rest.starts_with(".exe");
    if starts(&["db."]) {
        Some(Language::Mongo)
    } else if starts(&["const ", "let ", "var ", "await ", "process.", "console.", "require("]) {
        Some(Language::JavaScript)
    } else if is_class {
        Some(Language::Ruby)
    } else {
        None
    }
}

fn run_text(analysis: &mut Analysis<'_>, call: &Call<'_>, path: &str, text: &str, folder: &Word) {
    let dialect = || crate::shell::windows::dialect(text);
    let foreign = crate::shell::windows::is_windows(analysis.ground).then(dialect).flatten();
    let types = call.name_has(&["interact", "stdin", "send_input", "repl"]);
    // What is typed into the client of a database. A shell would run nothing of it.
    if types && is_query(text) {
        return query(analysis, call, path, text);
    }
    let mut shell = Shell::new(analysis, folder.clone());
    match language(call) {
        Language::Shell if types && console(text).is_some() => {
            shell.code(console(text).unwrap_or(Language::Other), &whole(text));
        }
        // What is typed into an interpreter that runs already.
        Language::Shell if types && super::unknown::is_python(text.trim()) => {
            shell.code(Language::Python, &whole(text));
        }
        Language::Shell => match foreign {
            Some(dialect) => shell.code(dialect, &whole(text)),
            None => drop(shell.text(text, Locator::At(0))),
        },
        Language::JavaScript if call.is_free_text() => code_mode(&mut shell, text),
        Language::Python if text.lines().any(|line| line.trim_start().starts_with(['!', '%'])) => {
            super::naming::cell(&mut shell, text, true);
        }
        language => shell.code(language, &whole(text)),
    }
}

/// The language of a tool that runs code.
fn language(call: &Call<'_>) -> Language {
    let word = call.text("language").or_else(|| call.text("runtime")).map(str::to_ascii_lowercase);
    let word = word.as_deref().unwrap_or(&call.name);
    let is_code = call.name_has(&["python", "code", "javascript", "repl", "exec"]);
    let is_script = matches!(call.name.as_str(), "exec" | "functions.exec") && call.is_free_text();
    if word.contains("powershell") || word.contains("pwsh") {
        Language::PowerShell
    } else if word.contains("python") || call.name == "code_interpreter" {
        Language::Python
    } else if is_script
        || ["javascript", "node", "typescript"].iter().any(|name| word.contains(name))
    {
        Language::JavaScript
    } else if word.contains("ruby") {
        Language::Ruby
    } else if is_code
        && call.name_has(&["code"])
        && !call.name_has(&["bash"])
        && call.text("command").is_none()
    {
        Language::Python
    } else {
        Language::Shell
    }
}

/// A script that calls tools itself. If it does not write out every name and argument, it is opaque; the
/// commands that it shows are analysed, too. Its other calls are judged like calls of their own.
fn code_mode(shell: &mut Shell<'_, '_>, text: &str) {
    if !Script::read(text).is_known() {
        shell.opaque(Why::Language, Bound::ALL, 0..text.len());
    }
    for key in ["cmd", "command"] {
        for (at, _) in text.match_indices(key).take(64) {
            let rest = text.get(at + key.len()..).unwrap_or_default();
            let rest = rest.trim_start_matches(['"', '\'', ' ']);
            let Some(value) = rest.strip_prefix(':').map(str::trim_start) else { continue };
            let Some(quote) =
                value.chars().next().filter(|quote| matches!(quote, '"' | '\'' | '`'))
            else {
                continue;
            };
            let inner = value.get(1..).unwrap_or_default();
            let end = literal_end(inner, quote);
            let command = crate::shell::ansi::unescape(inner.get(..end).unwrap_or_default());
            let start = text.len() - inner.len();
            shell.word_text(&Field::new(Word::known(command), start..start + end));
        }
    }
}

fn literal_end(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, character) in text.char_indices() {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return at,
            _ => {}
        }
    }
    text.len()
}

/// A path of a tool for files.
fn use_path(
    analysis: &mut Analysis<'_>,
    call: &Call<'_>,
    entry: &Entry,
    path: &str,
    value: &Value,
) {
    let Some(text) = value.as_str().filter(|text| !text.is_empty()) else { return };
    analysis.argument(path, text);
    let resolve = |analysis: &Analysis<'_>| {
        Path::resolve(&Word::known(text), &working_folder(analysis.ground), analysis.ground)
    };
    let span = 0..text.len();
    for action in actions(call, entry, path) {
        let file = resolve(analysis);
        analysis.push(action.on(file), span.clone(), None);
    }
}

/// A glob of files that a tool reads.
fn read_pattern(analysis: &mut Analysis<'_>, path: &str, value: &Value) {
    let Some(text) = value.as_str().filter(|text| !text.is_empty()) else { return };
    analysis.argument(path, text);
    let word = crate::shell::glob_word(text);
    let file = Path::resolve(&word, &working_folder(analysis.ground), analysis.ground);
    analysis.push(Action::Reads(file, Access::Content), 0..text.len(), None);
}

/// A glob of files below a folder that a tool searches: `fish_history` in `~/.local/share/fish`.
fn read_found(analysis: &mut Analysis<'_>, path: &str, value: &Value, folder: &str) {
    let Some(text) = value.as_str().filter(|text| !text.is_empty()) else { return };
    // `!*.lock` leaves something out.
    if text.starts_with('!') {
        return;
    }
    analysis.argument(path, text);
    let base = working_folder(analysis.ground);
    let base = match folder {
        "" => base,
        folder => Path::resolve(&Word::known(folder), &base, analysis.ground).resolved,
    };
    let file = Path::resolve(&crate::shell::glob_word(text), &base, analysis.ground);
    analysis.push(Action::Reads(file, Access::Content), 0..text.len(), None);
}

/// What is done with a path.
#[derive(Debug, Clone, Copy)]
pub(super) enum PathUse {
    Reads(Access),
    Writes(Change),
    Deletes(Scope),
}

impl PathUse {
    pub(super) fn on(self, path: Path) -> Action {
        match self {
            Self::Reads(access) => Action::Reads(path, access),
            Self::Writes(change) => Action::Writes(path, change),
            Self::Deletes(scope) => Action::Deletes(path, scope),
        }
    }
}

fn actions(call: &Call<'_>, entry: &Entry, path: &str) -> Vec<PathUse> {
    use PathUse::{Deletes, Reads, Writes};
    let key = path.rsplit('.').next().unwrap_or(path).to_ascii_lowercase();
    let is_source = matches!(key.as_str(), "source" | "src" | "from" | "old_path");
    let is_target = matches!(key.as_str(), "destination" | "dest" | "to" | "new_path");
    if entry.is(Kind::Write) && (is_source || is_target) {
        return match (is_target, entry.is(Kind::Delete)) {
            (true, _) => vec![Writes(Change::Content)],
            (false, true) => vec![Reads(Access::Tree), Deletes(Scope::Tree)],
            (false, false) => vec![Reads(Access::Tree)],
        };
    }
    // Editors with several commands say which one it is.
    let is_editor = entry.is(Kind::Read) && entry.is(Kind::Write);
    match call.text("command").filter(|_| is_editor) {
        Some("view") => return vec![Reads(Access::Content)],
        Some("create" | "str_replace" | "insert" | "undo_edit") => {
            return vec![Writes(Change::Content)];
        }
        Some("delete") => return vec![Deletes(Scope::Tree)],
        _ => {}
    }
    let mut uses = Vec::new();
    if entry.is(Kind::Read) || entry.is(Kind::Search) {
        uses.push(Reads(access(call, entry)));
    }
    if entry.is(Kind::Write) || entry.is(Kind::Edit) {
        let is_folder = call.name_has(&["directory", "mkdir", "folder"]);
        uses.push(Writes(match is_folder {
            true => Change::Folder,
            false if leaves_nothing(call, entry) => Change::Empty,
            false => Change::Content,
        }));
    }
    if entry.is(Kind::Delete) {
        let is_folder = call.name_has(&["directory", "folder", "dir"]);
        uses.push(Deletes(if is_folder { Scope::Tree } else { Scope::One }));
    }
    uses
}

/// Whether a tool that writes a whole file gets nothing to write.
fn leaves_nothing(call: &Call<'_>, entry: &Entry) -> bool {
    let contents = entry.roles_of(Role::Content).flat_map(|path| find(call.value, path));
    let texts: Vec<_> = contents.map(|(_, value)| value.as_str()).collect();
    !entry.is(Kind::Edit) && !texts.is_empty() && texts.iter().all(|text| *text == Some(""))
}

fn access(call: &Call<'_>, entry: &Entry) -> Access {
    if call.name_has(&["list", "ls", "dir", "tree", "info", "stat", "glob"])
        || !entry.is(Kind::Read)
    {
        Access::Names
    } else if entry.is(Kind::Search) {
        Access::Tree
    } else {
        Access::Content
    }
}

/// A URL that a tool loads.
pub(super) fn fetch(analysis: &mut Analysis<'_>, call: &Call<'_>, path: &str, text: &str) {
    analysis.argument(path, text);
    // A browser shows the source of another address.
    let text = text.trim();
    let text = text.strip_prefix("view-source:").unwrap_or(text);
    if text.get(..11).is_some_and(|start| start.eq_ignore_ascii_case("javascript:")) {
        let could = Bound::just(EffectKind::Connects);
        let opaque = crate::effect::Opaque { why: Why::Code, could };
        return analysis.push(Action::Opaque(opaque), 0..text.len(), None);
    }
    let word = Word::known(text);
    let span = 0..text.len();
    if text.trim().get(..5).is_some_and(|start| start.eq_ignore_ascii_case("file:")) {
        let file = Path::resolve(&word, &working_folder(analysis.ground), analysis.ground);
        return analysis.push(Action::Reads(file, Access::Content), span, None);
    }
    // `http://localhost:9222/json/new?file:///etc/shadow`
    if let Some(at) = text.find("file:///").filter(|at| *at > 0) {
        let inner = text.get(at..).unwrap_or_default().split(['&', ' ']).next();
        let inner = Word::known(inner.unwrap_or_default());
        let file = Path::resolve(&inner, &working_folder(analysis.ground), analysis.ground);
        analysis.push(Action::Reads(file, Access::Content), span.clone(), None);
    }
    let address = host::parse_host(&word, "https");
    let method = call.text("method").unwrap_or("GET").to_ascii_uppercase();
    let sends = !matches!(method.as_str(), "GET" | "HEAD" | "OPTIONS")
        || call.text("body").is_some()
        || call.text("data").is_some()
        || host::carries_secret(&word);
    let connection = Connection {
        host: address.host,
        port: address.port,
        scheme: address.scheme,
        purpose: if sends { Purpose::Send } else { Purpose::Fetch },
        url: Some(word),
    };
    analysis.push(Action::Connects(connection), span, None);
}

/// The files of a patch, if the text is one.
pub(super) fn apply_patch(analysis: &mut Analysis<'_>, path: &str, text: &str) {
    let targets = patch::targets(text);
    if targets.is_empty() {
        return;
    }
    analysis.argument(path, text);
    if targets.len() >= patch::MAX_TARGETS {
        let could = Bound::of(&[EffectKind::Writes, EffectKind::Deletes]);
        let opaque = crate::effect::Opaque { why: Why::Size, could };
        analysis.push(Action::Opaque(opaque), 0..text.len(), None);
    }
    let folder = working_folder(analysis.ground);
    for (touch, name, span) in targets {
        let file = Path::resolve(&Word::known(name), &folder, analysis.ground);
        let action = match touch {
            Touch::Writes => Action::Writes(file, Change::Content),
            Touch::Deletes => Action::Deletes(file, Scope::One),
            Touch::Moves => {
                analysis.push(Action::Reads(file.clone(), Access::Content), span.clone(), None);
                analysis.push(Action::Writes(file.clone(), Change::Content), span.clone(), None);
                Action::Deletes(file, Scope::One)
            }
        };
        analysis.push(action, span, None);
    }
}
