//! Languages that are compiled: C, C++, Go, Rust, Java, C#, Swift. Only calls that start a program are
//! read, with the literals that they get.

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

pub(super) fn scan(shell: &mut Shell<'_, '_>, text: &str, field: &Field) {
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
