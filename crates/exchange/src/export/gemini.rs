//! Rules of Gemini CLI's policy engine. Its regular expressions may not repeat a group, so none does.

use callgate_json::quote;

use super::native::{Native, RuleSubject, TextPosition};
use crate::draft::DraftVerdict;

pub(super) const TOOLS: &[(&str, &[&str])] = &[
    ("@shell", &["run_shell_command"]),
    ("@read", &["read_file", "read_many_files", "list_directory"]),
    ("@write", &["write_file"]),
    ("@edit", &["replace"]),
    ("@fetch", &["web_fetch"]),
    ("@search", &["glob", "grep_search", "google_web_search"]),
    ("@agent", &["invoke_agent"]),
];

/// Rules that deny decide first.
const DENY: u16 = 950;
const ASK: u16 = 900;

pub(super) fn accepts(native: &Native) -> Result<(), &'static str> {
    match &native.subject {
        RuleSubject::Reads(glob) | RuleSubject::Changes(glob) => regex(glob).map(|_| ()),
        RuleSubject::Host(_) => {
            Err("hosts have no counterpart: web_fetch takes a text with addresses in it")
        }
        RuleSubject::ServerTool { server, tool } if is_wild(server) || is_wild(tool) => {
            Err("wildcards in names of servers and tools have no counterpart")
        }
        RuleSubject::CommandText { text, .. }
            if text.contains(['"', '\\']) || text.chars().any(char::is_control) =>
        {
            Err("text with quotes or backslashes has no counterpart")
        }
        _ => Ok(()),
    }
}

fn is_wild(name: &str) -> bool {
    name != "*" && name.contains(['*', '?', '%'])
}

pub(super) fn text(natives: &[Native]) -> String {
    let mut out = String::from("# Rules of callgate's policies, as a second line of defence.\n");
    for native in natives {
        for lines in conditions(&native.subject) {
            let (decision, priority) = match native.decision {
                DraftVerdict::Deny => ("deny", DENY),
                _ => ("ask_user", ASK),
            };
            out.push_str(&format!(
                "\n[[rule]]\n{lines}decision = \"{decision}\"\npriority = {priority}\n"
            ));
            if let Some(reason) =
                native.reason.as_deref().filter(|_| native.decision == DraftVerdict::Deny)
            {
                out.push_str(&format!("denyMessage = {}\n", basic(reason)));
            }
        }
    }
    out
}

fn conditions(subject: &RuleSubject) -> Vec<String> {
    let one = |lines: String| vec![lines];
    match subject {
        RuleSubject::Tool(tool) => one(format!("toolName = {}\n", basic(tool))),
        RuleSubject::ServerTool { server, tool } => {
            one(format!("mcpName = {}\ntoolName = {}\n", basic(server), basic(tool)))
        }
        RuleSubject::Command(words) => one(shell("commandPrefix", &words.join(" "))),
        RuleSubject::CommandText { text, part } => {
            let text = escaped(text);
            one(match part {
                TextPosition::Whole => shell("commandRegex", &format!("{text}\"")),
                TextPosition::Start => shell("commandRegex", &text),
                TextPosition::Anywhere => shell("commandRegex", &format!(".*{text}")),
            })
        }
        RuleSubject::Reads(glob) => files(glob, &["read_file"]),
        RuleSubject::Changes(glob) => files(glob, &["write_file", "replace"]),
        RuleSubject::Host(_) => Vec::new(),
    }
}

fn shell(key: &str, value: &str) -> String {
    format!("toolName = \"run_shell_command\"\n{key} = {}\n", basic(value))
}

fn files(glob: &str, tools: &[&str]) -> Vec<String> {
    let Ok(regex) = regex(glob) else { return Vec::new() };
    let tools: Vec<String> = tools.iter().map(|tool| basic(tool)).collect();
    vec![format!("toolName = [{}]\nargsPattern = {}\n", tools.join(", "), basic(&regex))]
}

/// A regular expression for the argument with the path, in JSON.
fn regex(glob: &str) -> Result<String, &'static str> {
    if glob.contains(['[', '\\', '"']) {
        return Err("globs with `[` or `\\` have no counterpart");
    }
    let rest = match (glob.strip_prefix("**/"), glob.starts_with('/')) {
        (Some(rest), _) => rest,
        (None, true) => glob,
        (None, false) => {
            return Err(
                "paths in the home folder or the project have no counterpart: Gemini CLI compares text",
            );
        }
    };
    let mut regex = String::from("\"file_path\":\"");
    if rest != glob {
        regex.push_str("(|[^\"]*/)");
    }
    let mut letters = rest.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '*' if letters.peek() == Some(&'*') => {
                letters.next();
                regex.push_str("[^\"]*");
            }
            '*' => regex.push_str("[^\"/]*"),
            '?' => regex.push_str("[^\"/]"),
            _ => regex.push_str(&escaped(&letter.to_string())),
        }
    }
    regex.push('"');
    Ok(regex)
}

/// What JavaScript takes literally in a regular expression.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for letter in text.chars() {
        if r".*+?^${}()|[]\/".contains(letter) {
            out.push('\\');
        }
        out.push(letter);
    }
    out
}

/// A TOML string. JSON escapes all that TOML does not accept, except for DEL.
fn basic(text: &str) -> String {
    let plain: String = text.chars().map(|it| if it == '\u{7f}' { ' ' } else { it }).collect();
    quote(&plain)
}
