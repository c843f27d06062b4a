//! `expect`: the programs that it starts, and what it types into a shell.

use crate::bound::Bound;
use crate::effect::Why;
use crate::shell::eval::Shell;
use crate::shell::expand::Field;
use crate::word::Word;

/// Statements of one text that are analysed.
const MAX_STATEMENTS: usize = 128;

/// Commands of Tcl that run, load or connect in ways that are not analysed.
const HIDING: &[&str] =
    &["eval", "uplevel", "socket", "source", "load", "package", "interp", "subst", "open", "file"];

/// Commands that start a program.
const STARTS: &[&str] = &["spawn ", "exec ", "system ", "exp_spawn "];

/// Programs that run what is typed into them.
const TYPED_INTO: &[&str] = &["ssh", "su", "sudo", "doas", "docker", "kubectl", "telnet", "screen"];

pub(super) fn scan(shell: &mut Shell<'_, '_>, text: &str, field: &Field) {
    let mut types_commands = false;
    for (number, statement) in statements(text).into_iter().enumerate() {
        if number >= MAX_STATEMENTS {
            return shell.opaque(Why::Size, Bound::ALL, field.span.clone());
        }
        let statement = statement.as_str();
        let (name, rest) = statement.split_once(char::is_whitespace).unwrap_or((statement, ""));
        match name {
            "spawn" | "exec" | "system" | "exp_spawn" => {
                let command = without_flags(rest);
                let program = command.split_whitespace().next().unwrap_or_default();
                let program = program.rsplit('/').next().unwrap_or(program);
                types_commands |=
                    crate::shell::simple::is_shell(program) || TYPED_INTO.contains(&program);
                drop(shell.word_text(&at(field, command)));
            }
            "send" | "exp_send" if types_commands => {
                let typed = without_flags(rest).trim_matches('"');
                // What is typed may be a password.
                let is_command = typed.trim_end_matches("\\r").trim().contains(' ');
                if is_command {
                    drop(shell.word_text(&at(field, typed.trim_end_matches("\\r"))));
                }
            }
            name if HIDING.contains(&name) => {
                shell.opaque(Why::Language, Bound::ALL, field.span.clone());
            }
            _ => {}
        }
    }
}

/// Statements, with those in blocks. Braces around a word of a command that starts a program are its
/// quotes.
fn statements(text: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    let mut depth = 0_usize;
    for letter in text.chars() {
        let Some(current) = found.last_mut() else { return found };
        let starts = STARTS.iter().any(|name| current.trim_start().starts_with(name));
        match letter {
            '{' if starts => {
                depth += 1;
                current.push('\'');
            }
            '}' if depth > 0 => {
                depth -= 1;
                current.push('\'');
            }
            '\n' | ';' | '{' | '}' | '[' | ']' if depth == 0 => {
                let trimmed = current.trim().to_owned();
                *current = trimmed;
                if found.len() > MAX_STATEMENTS {
                    return found;
                }
                found.push(String::new());
            }
            other => current.push(other),
        }
    }
    if let Some(last) = found.last_mut() {
        *last = last.trim().to_owned();
    }
    found
}

fn at(field: &Field, text: &str) -> Field {
    Field::new(Word::known(text), field.span.clone())
}

/// `-noecho bash` as `bash`; `--` ends the flags.
fn without_flags(text: &str) -> &str {
    let mut rest = text.trim();
    while rest.starts_with('-') {
        rest = rest.split_once(char::is_whitespace).map_or("", |(_, rest)| rest.trim_start());
    }
    rest
}
