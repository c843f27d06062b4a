//! Languages that are compiled: C, C++, Go, Rust, Java, C#, Swift. Only calls that start a program,
//! or that open a file or a connection, are read, with the literals that they get.

use crate::bound::{Bound, EffectKind};
use crate::effect::{Access, Action, Change, Purpose, Scope};
use crate::shell::eval::Shell;
use crate::shell::expand::Field;
use crate::shell::simple::is_shell;
use crate::word::Word;

/// Calls of one text that are looked at.
const MAX_CALLS: usize = 32;
/// Text behind a call in which its literals are.
const MAX_CALL: usize = 1024;

/// Calls that start a program.
const CALLS: &[&str] = &[
    "system(",
    "popen(",
    "execl(",
    "execlp(",
    "execv(",
    "execvp(",
    "exec.Command(",
    "exec.CommandContext(",
    "syscall.Exec(",
    "Command::new(",
    ".exec(",
    "ProcessBuilder(",
    "Process.Start(",
    "ProcessStartInfo(",
    "launchPath",
    "executableURL",
];

/// Calls whose first literal is a file or an address.
const TOUCHES: &[(&str, Touch)] = &[
    ("os.ReadFile(", Touch::Reads),
    ("ioutil.ReadFile(", Touch::Reads),
    ("os.Open(", Touch::Reads),
    ("File::open(", Touch::Reads),
    ("read_to_string(", Touch::Reads),
    ("ifstream(", Touch::Reads),
    ("Files.readString(", Touch::Reads),
    ("File.ReadAllText(", Touch::Reads),
    ("fopen(", Touch::Opens),
    ("os.OpenFile(", Touch::Writes),
    ("os.WriteFile(", Touch::Writes),
    ("ioutil.WriteFile(", Touch::Writes),
    ("os.Create(", Touch::Writes),
    ("File::create(", Touch::Writes),
    ("fs::write(", Touch::Writes),
    ("ofstream(", Touch::Writes),
    ("File.WriteAllText(", Touch::Writes),
    ("os.Remove(", Touch::Deletes(Scope::One)),
    ("fs::remove_file(", Touch::Deletes(Scope::One)),
    ("unlink(", Touch::Deletes(Scope::One)),
    ("os.RemoveAll(", Touch::Deletes(Scope::Tree)),
    ("fs::remove_dir_all(", Touch::Deletes(Scope::Tree)),
    ("http.Get(", Touch::Connects(Purpose::Fetch)),
    ("http.Post(", Touch::Connects(Purpose::Send)),
    ("TcpStream::connect(", Touch::Connects(Purpose::Tunnel)),
];

/// What such a call does.
#[derive(Clone, Copy)]
enum Touch {
    Reads,
    Writes,
    /// The second literal says which: `fopen(FILE, "w")`.
    Opens,
    Deletes(Scope),
    Connects(Purpose),
}

/// Files and hosts that literals name.
fn touches(shell: &mut Shell<'_, '_>, text: &str, field: &Field) {
    for (call, touch) in TOUCHES {
        for (at, _) in text.match_indices(call).take(MAX_CALLS) {
            let rest = text.get(at + call.len()..).unwrap_or_default();
            let rest = rest.get(..rest.floor_char_boundary(MAX_CALL)).unwrap_or(rest);
            // Only a literal that comes first is the file.
            if !rest.trim_start().starts_with(['"', '`']) {
                continue;
            }
            let words = literals(statement(rest));
            let Some(first) = words.first() else { continue };
            let file = Field::new(Word::known(first.as_str()), field.span.clone());
            let writes = words.get(1).is_some_and(|mode| mode.starts_with(['w', 'a']));
            match touch {
                Touch::Opens if writes => shell.write_file(&file, Change::Content),
                Touch::Reads | Touch::Opens => shell.read_file(&file, Access::Content),
                Touch::Writes => shell.write_file(&file, Change::Content),
                Touch::Deletes(scope) => {
                    let could = Bound::just(EffectKind::Deletes);
                    shell.path_effect(&file, could, |path| Action::Deletes(path, *scope));
                }
                Touch::Connects(purpose) => shell.connects(&file, *purpose, ""),
            }
        }
    }
}

pub(super) fn scan(shell: &mut Shell<'_, '_>, text: &str, field: &Field) {
    touches(shell, text, field);
    let mut found =
        CALLS.iter().flat_map(|call| text.match_indices(call).map(|(at, sign)| at + sign.len()));
    for at in found.by_ref().take(MAX_CALLS) {
        let rest = text.get(at..).unwrap_or_default();
        let rest = rest.get(..rest.floor_char_boundary(MAX_CALL)).unwrap_or(rest);
        let words = literals(statement(rest));
        let Some(first) = words.first() else { continue };
        let name = first.rsplit('/').next().unwrap_or(first);
        let is_text = words.len() == 1 && first.contains(' ');
        let at = |word: &String| Field::new(Word::known(word.as_str()), field.span.clone());
        if is_text {
            shell.word_text(&at(first));
        } else if is_shell(name) && words.get(1).is_some_and(|flag| flag.ends_with('c')) {
            // `execl("/bin/sh", "sh", "-c", TEXT)` and `Command::new("sh").arg("-c").arg(TEXT)`
            words.iter().skip(2).take(1).for_each(|text| drop(shell.word_text(&at(text))));
        } else if words.get(1).is_some_and(|own| own == name) {
            let fields: Vec<Field> = words.iter().skip(1).map(at).collect();
            drop(shell.run(&fields, None));
        } else {
            let fields: Vec<Field> = words.iter().map(at).collect();
            drop(shell.run(&fields, None));
        }
    }
}

/// The text up to the end of the statement: a semicolon, or in Go and Swift the end of the line.
fn statement(text: &str) -> &str {
    let (mut quote, mut escaped) = (None, false);
    for (at, letter) in text.char_indices() {
        match (quote, letter) {
            _ if escaped => escaped = false,
            (Some('"'), '\\') => escaped = true,
            (Some(open), close) if open == close => quote = None,
            (None, '"' | '`') => quote = Some(letter),
            (None, ';') => return text.get(..at).unwrap_or(text),
            // A chain of methods goes on in the next line.
            (None, '\n') => {
                let next = text.get(at..).unwrap_or_default().trim_start();
                let before = text.get(..at).unwrap_or_default().trim_end();
                if !next.starts_with(['.', '"', ')']) && !before.ends_with([',', '(', '{']) {
                    return before;
                }
            }
            _ => {}
        }
    }
    text
}

fn literals(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        if letter != '"' && letter != '`' {
            continue;
        }
        let mut literal = String::new();
        while let Some(next) = letters.next() {
            match next {
                '\\' if letter == '"' => literal.extend(letters.next().map(|next| match next {
                    'n' => '\n',
                    't' => '\t',
                    other => other,
                })),
                next if next == letter => break,
                next => literal.push(next),
            }
        }
        found.push(literal);
        if found.len() > 16 {
            break;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_of_a_call_are_found() {
        let found = |text: &str| literals(statement(text));
        assert_eq!(found("\"rm -rf ~\"); return 0;"), ["rm -rf ~"]);
        assert_eq!(found("\"sh\", \"-c\", `id`)\nx(\"a\")"), ["sh", "-c", "id"]);
        assert_eq!(
            found("\"sh\")\n    .arg(\"-c\")\n    .arg(\"a \\\"b\\\"\")\n;"),
            ["sh", "-c", "a \"b\""]
        );
        assert!(found("name);").is_empty());
    }
}
