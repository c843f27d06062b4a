//! Small languages: sed, awk, AppleScript and Vim commands.

use crate::bound::Bound;
use crate::effect::{Access, Change, Why};
use crate::marks::Mark;
use crate::model::Language;
use crate::shell::eval::Shell;
use crate::shell::expand::Field;
use crate::word::{Fill, Word};

/// sed: `w file`, `r file`, `e command`, and the flags `w` and `e` of `s`.
pub(super) fn sed(shell: &mut Shell<'_, '_>, text: &str, field: &Field) {
    let mut rest = text;
    let mut commands = 0;
    while let Some(start) =
        rest.find(|c: char| !c.is_whitespace() && c != ';' && c != '{' && c != '}')
    {
        commands += 1;
        rest = rest.get(start..).unwrap_or_default();
        rest = rest.trim_start_matches(|c: char| {
            c.is_ascii_digit() || matches!(c, ',' | '$' | '!' | '~' | '+' | ' ')
        });
        let Some(letter) = rest.chars().next() else { return };
        let after = rest.get(letter.len_utf8()..).unwrap_or_default();
        let line_end = after.find('\n').unwrap_or(after.len());
        match letter {
            '/' | '\\' => rest = behind(after, if letter == '/' { '/' } else { '\n' }),
            's' | 'y' => rest = substitution(shell, after, field),
            'w' | 'W' => {
                file(shell, after.get(..line_end), field, |shell, field| {
                    shell.write_file(field, Change::Content)
                });
                rest = after.get(line_end..).unwrap_or_default();
            }
            'r' | 'R' => {
                file(shell, after.get(..line_end), field, |shell, field| {
                    shell.read_file(field, Access::Content)
                });
                rest = after.get(line_end..).unwrap_or_default();
            }
            'e' => {
                let command = after.get(..line_end).unwrap_or_default().trim();
                match command.is_empty() {
                    true => shell.hidden_code(field),
                    false => {
                        drop(shell.word_text(&Field::new(Word::known(command), field.span.clone())))
                    }
                }
                rest = after.get(line_end..).unwrap_or_default();
            }
            // Text to insert, labels.
            'a' | 'i' | 'c' | 'b' | 't' | ':' | '#' => {
                rest = after.get(line_end..).unwrap_or_default()
            }
            _ => rest = after,
        }
        if commands > 256 {
            return shell.opaque(Why::Size, Bound::ALL, field.span.clone());
        }
    }
}

fn file(
    shell: &mut Shell<'_, '_>,
    name: Option<&str>,
    field: &Field,
    act: impl FnOnce(&mut Shell<'_, '_>, &Field),
) {
    let name = name.unwrap_or_default().trim().trim_end_matches('}').trim();
    if !name.is_empty() {
        act(shell, &Field::new(Word::known(name), field.span.clone()));
    }
}

/// What follows the next delimiter that is not escaped.
fn behind(text: &str, delimiter: char) -> &str {
    let mut escaped = false;
    for (at, character) in text.char_indices() {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == delimiter => return text.get(at + c.len_utf8()..).unwrap_or_default(),
            _ => {}
        }
    }
    ""
}

fn substitution<'t>(shell: &mut Shell<'_, '_>, text: &'t str, field: &Field) -> &'t str {
    let Some(delimiter) = text.chars().next() else { return "" };
    let pattern = text.get(delimiter.len_utf8()..).unwrap_or_default();
    let flags = behind(behind(pattern, delimiter), delimiter);
    let length = flags.bytes().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    let own = flags.get(..length).unwrap_or_default();
    if let Some(at) = own.find('w') {
        let line_end = flags.find('\n').unwrap_or(flags.len());
        file(shell, flags.get(at + 1..line_end), field, |shell, field| {
            shell.write_file(field, Change::Content)
        });
        return flags.get(line_end..).unwrap_or_default();
    }
    if own.contains('e') {
        shell.hidden_code(field);
    }
    flags.get(length..).unwrap_or_default()
}

/// awk: `system("…")`, pipes to and from commands, redirections to files.
pub(super) fn awk(shell: &mut Shell<'_, '_>, text: &str, field: &Field) {
    let field_of = |text: &str| Field::new(Word::known(text), field.span.clone());
    let mut rest = text;
    let mut before = String::new();
    let mut is_explained = 0;
    while let Some(open) = rest.find('"') {
        before.push_str(rest.get(..open).unwrap_or_default());
        let after = rest.get(open + 1..).unwrap_or_default();
        let end = literal_end(after);
        let literal = crate::shell::ansi::unescape(after.get(..end).unwrap_or_default());
        let behind = after.get(end + 1..).unwrap_or_default();
        let lead = before.trim_end().to_owned();
        let lead = lead.as_str();
        let tail = behind.trim_start();
        let is_whole = tail.starts_with([')', '|', ';', '}', '\n']) || tail.is_empty();
        if lead.ends_with("system(") {
            is_explained += usize::from(is_whole);
            drop(shell.word_text(&field_of(&literal)));
            if !is_whole {
                shell.hidden_code(field);
            }
        } else if lead.ends_with('|') && !lead.ends_with("||") && is_interpreter(&literal) {
            // What is printed there is code.
            shell.hidden_code(field);
        } else if tail.starts_with('|') && !tail.starts_with("||")
            || lead.ends_with('|') && !lead.ends_with("||")
        {
            drop(shell.word_text(&field_of(&literal)));
            // What is printed there is code, and awk makes it of what it reads.
            if lead.ends_with('|') && starts_shell(&literal) {
                shell.hidden_code(field);
            }
        } else if lead.ends_with(">>") {
            shell.write_file(&field_of(&literal), Change::Append);
        } else if lead.ends_with('>') && before.contains("print") {
            shell.write_file(&field_of(&literal), Change::Content);
        } else if lead.ends_with('<') && before.contains("getline") {
            shell.read_file(&field_of(&literal), Access::Content);
        }
        if literal.starts_with("/inet") {
            let host = literal.splitn(5, '/').nth(4).unwrap_or_default().to_owned();
            shell.socket(&Word::known(host), field.span.clone());
        }
        before.clear();
        before.push_str(if lead_keeps_print(lead) { "print" } else { "" });
        rest = behind;
    }
    if text.contains("in ENVIRON") && text.contains("print") {
        shell.mark_parent(Mark::Credentials);
    }
    let systems = text.matches("system(").count();
    let constants = awk_constants(shell, text);
    let is_constant = |before: &str| {
        let name = before.trim_end().rsplit(|c: char| !c.is_alphanumeric() && c != '_').next();
        name.is_some_and(|name| constants.iter().any(|(known, _)| *known == name))
    };
    // Right behind a literal, the command is that literal.
    let is_unknown = |before: &str| !before.trim().is_empty() && !is_constant(before);
    let reads_unknown = ["| getline", "|getline"]
        .iter()
        .any(|sign| rest.split_once(sign).is_some_and(|(before, _)| is_unknown(before)));
    let runs_unknown = systems > is_explained || reads_unknown;
    if runs_unknown {
        shell.hidden_code(field);
    } else {
        awk_files(shell, text, field);
    }
}

/// Whether a command line is a shell that reads its input.
fn starts_shell(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let name = words.next().unwrap_or_default();
    let name = name.rsplit('/').next().unwrap_or(name);
    crate::shell::simple::is_shell(name) && words.all(|word| word.starts_with('-'))
}

/// Files whose names awk puts together: `getline x < f`, `print > ("out/" $2)`.
fn awk_files(shell: &mut Shell<'_, '_>, text: &str, field: &Field) {
    let constants = awk_constants(shell, text);
    for (name, value) in constants.iter().take(16) {
        let runs =
            [format!("{name}|"), format!("{name} |"), format!("| {name}"), format!("|{name}")]
                .iter()
                .any(|form| text.contains(form.as_str()));
        if runs {
            drop(shell.word_text(&Field::new(value.clone(), field.span.clone())));
        }
    }
    let of = |word: Word| Field::new(word, field.span.clone());
    for after in text.split("getline").skip(1).take(32) {
        let Some((name, source)) = after.split_once('<') else { continue };
        let is_target = name.trim().chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '$'));
        if is_target && !source.trim_start().starts_with('"') {
            shell.read_file(&of(awk_word(shell, source, &constants)), Access::Content);
        }
    }
    for after in text.split("print").skip(1).take(64) {
        let statement = after.split([';', '}', '\n']).next().unwrap_or_default();
        let Some((_, target)) = statement.split_once('>') else { continue };
        let target = target.trim_start_matches('>').trim_start();
        let is_name = constants.iter().any(|(name, _)| awk_name(target) == *name);
        if target.starts_with(['$', '(']) || target.starts_with("ENVIRON") || is_name {
            shell.write_file(&of(awk_word(shell, target, &constants)), Change::Content);
        }
    }
}

/// Variables that get their value from literals: `f = ENVIRON["HOME"] "/x"`.
fn awk_constants<'t>(shell: &Shell<'_, '_>, text: &'t str) -> Vec<(&'t str, Word)> {
    let mut constants = Vec::new();
    for (at, _) in text.match_indices('=').take(64) {
        let before = text.get(..at).unwrap_or_default().trim_end();
        let start = before.rfind(|c: char| !c.is_alphanumeric() && c != '_').map_or(0, |at| at + 1);
        let name = before.get(start..).unwrap_or_default();
        let after = text.get(at + 1..).unwrap_or_default().trim_start();
        if !name.is_empty() && after.starts_with(['"', 'E']) {
            constants.push((name, awk_word(shell, after, &constants)));
        }
    }
    constants
}

/// Whether a command runs what it reads.
fn is_interpreter(command: &str) -> bool {
    let mut words = command.split_whitespace();
    let name = words.next().unwrap_or_default();
    let name = name.rsplit('/').next().unwrap_or(name);
    let is_one = matches!(
        name,
        "sh" | "bash" | "zsh" | "dash" | "ksh" | "python" | "python3" | "perl" | "ruby" | "node"
    );
    is_one && words.all(|word| word.starts_with('-'))
}

fn awk_name(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    text.get(..end).unwrap_or_default()
}

/// Literals, variables and fields that are written one after the other are one text.
fn awk_word(shell: &Shell<'_, '_>, text: &str, constants: &[(&str, Word)]) -> Word {
    let mut word = Word::default();
    let mut rest = text.trim_start().trim_start_matches('(');
    loop {
        rest = rest.trim_start();
        if let Some(literal) = rest.strip_prefix('"') {
            let end = literal_end(literal);
            word.push_str(&crate::shell::ansi::unescape(literal.get(..end).unwrap_or_default()));
            rest = literal.get(end + 1..).unwrap_or_default();
        } else if let Some(after) = rest.strip_prefix("ENVIRON[\"") {
            match after.starts_with("HOME") {
                true => word.push_str(shell.home()),
                false => word.push_gap(Fill::Anything),
            }
            rest = after.split_once(']').map_or("", |(_, rest)| rest);
        } else if rest.starts_with(|c: char| c.is_alphabetic() || c == '_' || c == '$') {
            let bare = rest.trim_start_matches('$');
            let name = awk_name(bare);
            let is_field = bare.len() < rest.len();
            match constants.iter().rev().find(|(known, _)| *known == name && !is_field) {
                Some((_, value)) => word.push_word(value),
                // A value with no text in front of it can be any file.
                None if word.known_part().is_empty() => word.push_gap(Fill::Anything),
                None => word.push_gap(Fill::Name),
            }
            rest = bare.get(name.len()..).unwrap_or_default();
            if name.is_empty() {
                return word;
            }
        } else {
            return word;
        }
    }
}

fn lead_keeps_print(lead: &str) -> bool {
    lead.contains("print") && !lead.ends_with(';')
}

fn literal_end(text: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at,
            _ => {}
        }
    }
    text.len()
}

/// AppleScript: `do shell script "…"`.
pub(super) fn apple_script(shell: &mut Shell<'_, '_>, text: &str, field: &Field) {
    let lower = text.to_lowercase();
    let mut found = 0;
    for verb in ["do shell script", "do script", "doshellscript(", "doscript("] {
        for (at, _) in lower.match_indices(verb) {
            found += 1;
            let after = text.get(at + verb.len()..).unwrap_or_default().trim_start();
            let Some(literal) = after.strip_prefix('"') else {
                shell.hidden_code(field);
                continue;
            };
            let end = literal_end(literal);
            let command = crate::shell::ansi::unescape(literal.get(..end).unwrap_or_default());
            drop(shell.word_text(&Field::new(Word::known(command), field.span.clone())));
            let tail = literal.get(end + 1..).unwrap_or_default().trim_start();
            if tail.starts_with('&') {
                shell.hidden_code(field);
            }
        }
    }
    let sends = lower.contains("send") && lower.contains("message");
    if lower.contains("read") || lower.contains("attachment") || sends {
        for (at, sign) in lower.match_indices("posix file \"").take(8) {
            let literal = text.get(at + sign.len()..).unwrap_or_default();
            let name = literal.get(..literal_end(literal)).unwrap_or_default();
            let file = Field::new(Word::known(name), field.span.clone());
            shell.read_file(&file, Access::Content);
        }
    }
    // Mail and Messages send in the name of the user.
    if sends
        && (lower.contains("application \"mail\"") || lower.contains("application \"messages\""))
    {
        let address = lower.find('@').and_then(|at| lower.get(at + 1..));
        let host = address.and_then(|rest| rest.split(['"', '>', ' ', '}']).next());
        let host = Word::known(host.unwrap_or("mail"));
        let address = crate::host::parse_host(&host, "");
        shell.connect(address, crate::effect::Purpose::Send, None, field.span.clone());
    }
    let acts = [
        "keystroke",
        "key code",
        "delete",
        "run script",
        "load script",
        "set the clipboard",
        "the clipboard",
        "system events",
        "login item",
        "open location",
        "do javascript",
        "current application",
        // JavaScript for Automation.
        "objc.",
        "$.ns",
        "$.system",
        ".keystroke(",
        "eval(",
        // A question that hides what is typed asks for a password.
        "hidden answer",
    ];
    if ["duplicate", "read", "move", "copy"].iter().any(|verb| lower.contains(verb)) {
        finder_files(shell, text, field);
    }
    if acts.iter().any(|act| lower.contains(act)) || found > 64 {
        shell.opaque(Why::Language, Bound::ALL, field.span.clone());
    }
}

/// Files that the Finder reads: names with a point, and `folder:folder:` below the home folder.
fn finder_files(shell: &mut Shell<'_, '_>, text: &str, field: &Field) {
    let folder = match text.contains("path to library folder") {
        true => "~/Library",
        false => "~",
    };
    for literal in text.split('"').skip(1).step_by(2).take(32) {
        let is_file = literal.contains(':') || literal.contains('.');
        if is_file && !literal.contains('/') {
            let path = format!("{folder}/{}", literal.replace(':', "/"));
            shell.read_file(&Field::new(Word::known(path), field.span.clone()), Access::Content);
        }
    }
}

/// gdb and lldb: `shell command`; commands that only look are known, the rest is opaque.
pub(super) fn gdb(shell: &mut Shell<'_, '_>, text: &str, field: &Field) {
    for command in text.lines().take(256) {
        let command = command.trim();
        let (verb, rest) = command.split_once([' ', '/']).unwrap_or((command, ""));
        let shell_text = match verb {
            "shell" | "!" | "make" => Some(rest),
            _ => command.strip_prefix('!'),
        };
        if let Some(text) = shell_text {
            drop(shell.word_text(&Field::new(Word::known(text.trim()), field.span.clone())));
            continue;
        }
        // `print system("…")` calls a function of the program.
        let calls = matches!(verb, "p" | "print" | "x" | "display" | "output" | "expr" | "po")
            && rest.contains('(');
        if calls || !(command.starts_with('#') || LOOKS.contains(&verb)) {
            return shell.opaque(Why::Language, Bound::ALL, field.span.clone());
        }
    }
}

/// Commands of debuggers that only look at the program, or let it run.
const LOOKS: &[&str] = &[
    "",
    "r",
    "run",
    "start",
    "c",
    "continue",
    "bt",
    "backtrace",
    "where",
    "info",
    "i",
    "frame",
    "f",
    "up",
    "down",
    "p",
    "print",
    "x",
    "display",
    "list",
    "l",
    "b",
    "break",
    "tbreak",
    "watch",
    "delete",
    "thread",
    "threads",
    "next",
    "n",
    "step",
    "s",
    "finish",
    "until",
    "quit",
    "q",
    "kill",
    "set",
    "show",
    "handle",
    "catch",
    "directory",
    "disassemble",
    "disas",
    "ptype",
    "whatis",
    "help",
    "expr",
    "po",
    "register",
    "image",
    "target",
    "breakpoint",
    "process",
    "memory",
    "exit",
    "echo",
    "output",
    "file",
    "core-file",
    "sharedlibrary",
    "detach",
    "stepi",
    "nexti",
    "si",
    "ni",
];

/// Words in front of a command of vim that change how it runs, not what it does.
fn without_modifiers(command: &str) -> &str {
    const MODIFIERS: &[&str] = &[
        "silent",
        "sil",
        "silen",
        "noautocmd",
        "noa",
        "verbose",
        "verb",
        "keepalt",
        "keepjumps",
        "keepmarks",
        "keeppatterns",
        "lockmarks",
        "noswapfile",
        "hide",
        "unsilent",
        "sandbox",
        "confirm",
        "tab",
        "topleft",
        "botright",
        "vertical",
        "vert",
        "bufdo",
        "argdo",
        "windo",
        "tabdo",
        "aboveleft",
        "belowright",
        "legacy",
        "vim9cmd",
    ];
    let mut rest = command;
    for _ in 0..8 {
        let trimmed = rest.trim_start_matches([' ', ':']);
        let letters = trimmed.bytes().take_while(u8::is_ascii_alphanumeric).count();
        let (word, after) = trimmed.split_at_checked(letters).unwrap_or((trimmed, ""));
        let bare = after.strip_prefix('!').unwrap_or(after);
        if !MODIFIERS.contains(&word) || !bare.starts_with(' ') {
            return trimmed;
        }
        rest = bare;
    }
    rest
}

/// Vim: `:!command`, `:w file`, `:r file`, and languages inside of it.
pub(super) fn vim(shell: &mut Shell<'_, '_>, text: &str, field: &Field) {
    for command in text.split(['\n', '|']).take(64) {
        let command = command
            .trim()
            .trim_start_matches(':')
            .trim_start_matches(|c: char| matches!(c, '%' | '.' | '$' | ',') || c.is_ascii_digit());
        let command = without_modifiers(command);
        let field_of = |text: &str| Field::new(Word::known(text.trim()), field.span.clone());
        let is_escape = |(before, after): &(&str, &str)| {
            let verb = before.trim();
            let runs = match verb {
                // `:w! FILE` writes a file, `:w !COMMAND` runs a command.
                "w" | "write" => before.ends_with(char::is_whitespace),
                "" | "r" | "read" | "silent" | "sil" | "exe" | "term" => true,
                _ => false,
            };
            runs && !after.trim().is_empty()
        };
        if let Some((_, shell_text)) = command.split_once('!').filter(is_escape) {
            // Everything after `!` is one shell text, pipes included.
            let from = text.find(shell_text).unwrap_or(0);
            drop(shell.word_text(&field_of(text.get(from..).unwrap_or(shell_text))));
            return;
        }
        let (verb, rest) = command.split_once(' ').unwrap_or((command, ""));
        match verb.trim_end_matches('!') {
            "w" | "write" | "sav" | "saveas" | "wq" if !rest.trim().is_empty() => {
                shell.write_file(&field_of(rest), Change::Content)
            }
            "r" | "read" | "e" | "edit" | "sp" | "vs" | "tabe" if !rest.trim().is_empty() => {
                shell.read_file(&field_of(rest), Access::Content)
            }
            "sh" | "shell" => {
                drop(shell.word_text(&Field::new(Word::known("sh"), field.span.clone())));
            }
            "redir" if rest.contains('>') => {
                let name = rest.rsplit('>').next().unwrap_or_default();
                shell.write_file(&field_of(name), Change::Content);
            }
            "so" | "source" | "py" | "py3" | "python" | "python3" | "pyx" | "lua" | "luafile"
            | "ruby" | "perl" | "tcl" | "exe" | "execute" | "call" | "terminal" | "term"
            | "make" => {
                shell.opaque(Why::Language, Bound::ALL, field.span.clone());
            }
            _ => {}
        }
    }
}

/// The shell of MongoDB: JavaScript with methods that drop or change data.
pub(super) fn mongo(shell: &mut Shell<'_, '_>, text: &str, field: &Field) {
    let drops = [
        ".drop(",
        "dropDatabase",
        "dropCollection",
        "deleteMany",
        ".remove(",
        "dropIndex",
        "dropUser",
        "dropRole",
        "renameCollection",
        "shutdownServer",
        "$out",
        "updateMany({},",
        "update({},",
        "[\"drop\"]",
        "['drop']",
        "{delete:",
        "{ delete:",
        "deletes:[{q:{}",
        "bulkWrite([{deleteMany",
    ];
    if drops.iter().any(|verb| text.contains(verb)) {
        shell.mark_parent(Mark::Database);
    }
    if text.contains("system.users") {
        shell.mark_parent(Mark::Credentials);
    }
    let grants = ["createUser", "grantRoles", "updateUser", "changeUserPassword"];
    if grants.iter().any(|verb| text.contains(verb)) {
        shell.mark_parent(Mark::Accounts);
    }
    let runs = ["runProgram", "load(", "cat(", "passwordPrompt", "$function", "$where"];
    if runs.iter().any(|verb| text.contains(verb)) {
        shell.opaque(Why::Language, Bound::ALL, field.span.clone());
    }
    super::scan_calls(shell, Language::JavaScript, text, field);
}
