//! Arguments with which a call leaves the sandbox of its agent, or skips the question to the user.
//! They are data: adding one is adding a line.
//!
//! Flags of agents that a command starts (`claude --dangerously-skip-permissions`) are in the models
//! of these programs, as [`Mark::Escalates`](crate::Mark::Escalates).

use callgate_json::Value;

use crate::tools::find_argument;

/// The argument that makes a call leave its agent's sandbox, as the catalogue spells it.
///
/// Keys are compared without regard to case. A value that cannot be `true` or one of the known words
/// does not escalate: agents refuse it.
pub fn escalating_argument(arguments: &Value) -> Option<&'static str> {
    let gives = |escape: &&Escape| {
        find_argument(arguments, escape.argument).iter().any(|value| escape.values.fit(value))
    };
    ESCAPES.iter().find(gives).map(|escape| escape.argument)
}

/// An argument and the values of it that escalate.
struct Escape {
    argument: &'static str,
    values: EscalatingValues,
}

/// Values of an argument.
enum EscalatingValues {
    /// `true`, also as text or number.
    Yes,
    /// One of these words, or a list with one of them.
    Words(&'static [&'static str]),
    /// Anything that is not empty.
    Any,
}

impl EscalatingValues {
    fn fit(&self, value: &Value) -> bool {
        match (self, value) {
            (_, Value::Null) => false,
            (Self::Yes, Value::Bool(yes)) => *yes,
            (Self::Yes, Value::Number(number)) => number != "0",
            (Self::Yes, Value::String(text)) => text.trim().eq_ignore_ascii_case("true"),
            (Self::Words(_), Value::Array(items)) => items.iter().any(|item| self.is_word(item)),
            (Self::Words(_), item) => self.is_word(item),
            (Self::Any, Value::String(text)) => !text.is_empty(),
            (Self::Any, Value::Array(items)) => !items.is_empty(),
            (Self::Any, Value::Object(members)) => !members.is_empty(),
            _ => false,
        }
    }

    fn is_word(&self, value: &Value) -> bool {
        match (self, value.as_str()) {
            (Self::Words(words), Some(text)) => {
                words.iter().any(|word| text.trim().eq_ignore_ascii_case(word))
            }
            _ => false,
        }
    }
}

const ESCAPES: &[Escape] = &[
    // Claude Code: the command runs outside of the sandbox.
    Escape { argument: "dangerouslyDisableSandbox", values: EscalatingValues::Yes },
    // Claude Code: a sub-agent without questions.
    Escape {
        argument: "permissionMode",
        values: EscalatingValues::Words(&["bypassPermissions", "dontAsk"]),
    },
    Escape { argument: "mode", values: EscalatingValues::Words(&["bypassPermissions", "dontAsk"]) },
    // Codex, in the order of its versions.
    Escape { argument: "with_escalated_permissions", values: EscalatingValues::Yes },
    Escape {
        argument: "sandbox_permissions",
        values: EscalatingValues::Words(&["require_escalated", "with_additional_permissions"]),
    },
    Escape { argument: "additional_permissions", values: EscalatingValues::Any },
    // Codex as an MCP server.
    Escape { argument: "sandbox", values: EscalatingValues::Words(&["danger-full-access"]) },
    Escape { argument: "approval-policy", values: EscalatingValues::Words(&["never"]) },
    // Cursor: `network` and `git_write` widen the sandbox, `all` switches it off.
    Escape { argument: "required_permissions", values: EscalatingValues::Words(&["all"]) },
];

#[cfg(test)]
mod tests {
    use callgate_call::Arguments;

    use super::*;

    fn escalates(json: &str) -> Option<&'static str> {
        escalating_argument(Arguments::json(json).value().unwrap())
    }

    #[test]
    fn every_agents_way_out_is_found() {
        for (json, argument) in [
            (r#"{"command":"ls","dangerouslyDisableSandbox":true}"#, "dangerouslyDisableSandbox"),
            (
                r#"{"command":["ls"],"with_escalated_permissions":true}"#,
                "with_escalated_permissions",
            ),
            (r#"{"cmd":"ls","sandbox_permissions":"require_escalated"}"#, "sandbox_permissions"),
            (r#"{"prompt":"x","sandbox":"danger-full-access"}"#, "sandbox"),
            (r#"{"command":"ls","required_permissions":["all"]}"#, "required_permissions"),
        ] {
            assert_eq!(escalates(json), Some(argument), "{json}");
        }
    }

    #[test]
    fn keys_in_another_case_and_true_as_text_count() {
        assert!(escalates(r#"{"DangerouslyDisableSandbox":true}"#).is_some());
        assert!(escalates(r#"{"dangerouslyDisableSandbox":"True"}"#).is_some());
    }

    #[test]
    fn values_that_stay_in_the_sandbox_are_left_alone() {
        for json in [
            "{}",
            r#"{"command":"ls","dangerouslyDisableSandbox":false}"#,
            r#"{"cmd":"ls","sandbox_permissions":"use_default"}"#,
            r#"{"command":"ls","with_escalated_permissions":null}"#,
            r#"{"command":"ls","required_permissions":["network"]}"#,
        ] {
            assert_eq!(escalates(json), None, "{json}");
        }
    }
}
