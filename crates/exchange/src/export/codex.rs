//! Rules of Codex: commands by their first words, and hosts.

use super::native::{Native, RuleSubject};
use crate::draft::DraftVerdict;

/// Codex has no rules about whole tools.
pub(super) const TOOLS: &[(&str, &[&str])] = &[];

pub(super) fn accepts(native: &Native) -> Result<(), &'static str> {
    match &native.subject {
        RuleSubject::Command(_) => Ok(()),
        RuleSubject::Host(host) if host.contains('*') => {
            Err("wildcards for hosts have no counterpart")
        }
        RuleSubject::Host(_) if native.decision == DraftVerdict::Ask => {
            Err("hosts can only be denied")
        }
        RuleSubject::Host(_) => Ok(()),
        RuleSubject::CommandText { .. } => Err("the text of commands has no counterpart"),
        RuleSubject::Reads(_) | RuleSubject::Changes(_) => {
            Err("files have no counterpart: they belong to the sandbox")
        }
        RuleSubject::Tool(_) | RuleSubject::ServerTool { .. } => {
            Err("whole tools have no counterpart")
        }
    }
}

pub(super) fn text(natives: &[Native]) -> String {
    let mut out = String::from("# Rules of callgate's policies, as a second line of defence.\n");
    for native in natives {
        let reason = native.reason.as_deref().filter(|reason| !reason.trim().is_empty());
        let reason = reason
            .map_or(String::new(), |reason| format!("    justification = {},\n", literal(reason)));
        match &native.subject {
            RuleSubject::Command(words) => {
                let words: Vec<String> = words.iter().map(|word| literal(word)).collect();
                let decision =
                    if native.decision == DraftVerdict::Deny { "forbidden" } else { "prompt" };
                out.push_str(&format!(
                    "\nprefix_rule(\n    pattern = [{}],\n    decision = \"{decision}\",\n{reason})\n",
                    words.join(", ")
                ));
            }
            RuleSubject::Host(host) => {
                for protocol in ["http", "https"] {
                    out.push_str(&format!(
                        "\nnetwork_rule(\n    host = {},\n    protocol = \"{protocol}\",\n    decision = \"deny\",\n{reason})\n",
                        literal(host)
                    ));
                }
            }
            _ => {}
        }
    }
    out
}

/// A text in quotes. Only what has to be escaped is; line ends of any kind become spaces.
fn literal(text: &str) -> String {
    let mut out = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            '\u{2028}' | '\u{2029}' => out.push(' '),
            _ if letter.is_control() => out.push(' '),
            _ => out.push(letter),
        }
    }
    out.push('"');
    out
}
