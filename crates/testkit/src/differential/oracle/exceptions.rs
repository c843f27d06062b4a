//! Calls that a client hands over in a form that was never judged, and that are accepted.
//!
//! This is the only place for such exceptions. Each is for named clients and asks for as much as can
//! be asked for: a tool that is denied by its name is never excepted.

use callgate_policy::Policies;
use serde_json::Value;

use super::super::gated::Gated;
use super::{ViolationKind, is_named, kind, same, value_of};

/// An accepted difference.
#[derive(Debug)]
pub struct Exception {
    /// A short name, for the totals.
    pub name: &'static str,
    /// Why it is accepted.
    pub why: &'static str,
    pub(super) holds: fn(&UnjudgedCall<'_>) -> bool,
}

/// A call that no judged one is equal to.
pub(super) struct UnjudgedCall<'a> {
    pub(super) client: &'a str,
    /// Name, arguments, and `invalid` if the client says so.
    pub(super) call: &'a Value,
    pub(super) name: &'a str,
    /// All that the client reported.
    pub(super) result: &'a Value,
    pub(super) gated: &'a Gated,
    pub(super) policies: &'a Policies,
}

/// All of them.
pub const EXCEPTIONS: [Exception; 10] = [
    Exception {
        name: "no name",
        why: "an entry without name and arguments is nothing that a program can run",
        holds: |look| look.name.is_empty() && look.is_empty(),
    },
    Exception {
        name: "flagged invalid",
        why: "the Vercel AI SDK marks a call whose arguments it cannot parse as invalid, and runs none",
        holds: |look| look.call[2] == "invalid" && !is_json(&look.call[1]) && look.may_pass(),
    },
    Exception {
        name: "single fragment",
        why: "`openai-python chat create(stream)` reports the fragment that has the name, and the program joins the rest",
        holds: |look| look.client.contains("chat create(stream)") && look.is_beginning(),
    },
    Exception {
        name: "announced before its end",
        why: "the OpenAI helpers announce arguments as done when another call follows; listed as open in docs/bypasses.md",
        holds: |look| {
            let announces =
                look.client.starts_with("openai-") && look.client.contains("chat stream()");
            announces && !look.is_final() && look.is_beginning()
        },
    },
    Exception {
        name: "piece of Gemini",
        why: "Google's clients hand out the parts of a call in pieces (`partialArgs`, `willContinue`) one by one",
        holds: |look| {
            let google =
                look.client.starts_with("google-genai") && !look.client.contains("interactions");
            let nothing =
                value_of(&look.call[1]).as_object().is_some_and(serde_json::Map::is_empty);
            google && nothing && (look.name.is_empty() || look.may_pass())
        },
    },
    Exception {
        name: "cut off",
        why: "a call that its name allows streams; if the response is cut off, a client may have an error and the beginning of it",
        holds: |look| {
            let ended_early = look.failed() || !is_json(&look.call[1]);
            ended_early && look.is_incomplete() && look.was_streamed() && look.is_harmless()
        },
    },
    Exception {
        name: "joined by hand",
        why: "where the program joins the pieces itself and the client fails in the middle, the program has the beginning and the error; Mistral's and Google's clients fail on events they do not know",
        holds: |look| {
            let by_hand = JOINED_BY_HAND.iter().any(|client| look.client.contains(client));
            by_hand && look.failed() && look.is_incomplete() && look.is_beginning_of_allowed()
        },
    },
    Exception {
        name: "repaired",
        why: "arguments that are not JSON, of a call that its name allows: some clients take what can be read of them",
        holds: |look| look.was_streamed() && look.is_harmless() && look.is_part_of_unreadable(),
    },
    Exception {
        name: "unknown item",
        why: "an item of Responses whose type is not known is judged with all its members; what a client has is one of them, or nothing",
        holds: |look| look.client.contains("responses") && look.is_member_of_judged(),
    },
    Exception {
        name: "built-in tool",
        why: "each client hands over another part of a built-in call of Responses, so that arguments cannot be compared",
        holds: |look| BUILT_IN.contains(&look.name) && look.is_allowed(),
    },
];

/// Clients that hand over events, of which the program makes calls.
const JOINED_BY_HAND: [&str; 6] = [
    "mistralai-python chat.stream()",
    "interactions.create(stream)",
    "cohere-python chat_stream()",
    "boto3 converse_stream()",
    "boto3 invoke_model_with_response_stream()",
    "openai-python chat create(stream)",
];

/// Tools of Responses that have a type of their own, and two that nobody knows yet.
const BUILT_IN: [&str; 7] =
    ["apply_patch", "browser", "computer", "handoff", "local_shell", "shell", "tool_search"];

impl UnjudgedCall<'_> {
    /// Whether a call of this tool was judged and allowed.
    fn is_allowed(&self) -> bool {
        self.gated.judged.iter().any(|judged| judged.allowed && is_named(&judged.name, self.name))
    }

    fn was_streamed(&self) -> bool {
        self.gated.streamed.iter().any(|name| is_named(name, self.name))
    }

    /// Whether a call of this tool was allowed, by its name or whole.
    fn may_pass(&self) -> bool {
        self.is_allowed() || self.was_streamed()
    }

    /// Whether the client ended with an error.
    fn failed(&self) -> bool {
        // Cohere's API reports an error as the reason why the message ended.
        !self.result["error"].is_null() || self.result["stop"] == "ERROR"
    }

    /// Whether there are no arguments, or not enough to read them.
    fn is_incomplete(&self) -> bool {
        !is_json(&self.call[1]) || self.is_empty()
    }

    fn is_empty(&self) -> bool {
        value_of(&self.call[1]).as_object().is_some_and(serde_json::Map::is_empty)
    }

    /// Whether the arguments are the beginning of those that were allowed.
    fn is_beginning_of_allowed(&self) -> bool {
        let text = self.call[1].as_str().unwrap_or_default();
        self.gated.judged.iter().any(|judged| {
            judged.allowed
                && is_named(&judged.name, self.name)
                && judged.arguments.starts_with(text)
        }) || self.was_streamed()
    }

    /// The same, and if they can be read, the policy allows them.
    fn is_beginning(&self) -> bool {
        self.is_beginning_of_allowed() && (!is_json(&self.call[1]) || self.is_harmless())
    }

    /// Whether the policy allows the call as the client has it.
    fn is_harmless(&self) -> bool {
        kind(self.policies, self.call) == ViolationKind::Unjudged
    }

    /// Whether a call of this tool was allowed with arguments that are not JSON, and these consist
    /// of keys and texts of those.
    fn is_part_of_unreadable(&self) -> bool {
        let mut words = Vec::new();
        words_of(&value_of(&self.call[1]), &mut words);
        self.gated.judged.iter().any(|judged| {
            judged.allowed
                && is_named(&judged.name, self.name)
                && serde_json::from_str::<Value>(&judged.arguments).is_err()
                && words.iter().all(|word| judged.arguments.contains(word))
        })
    }

    /// Whether the arguments are a member of those of an allowed call, or none of its members.
    fn is_member_of_judged(&self) -> bool {
        self.gated.judged.iter().any(|judged| {
            let whole: Value = serde_json::from_str(&judged.arguments).unwrap_or_default();
            let members = ["arguments", "input", "action"].into_iter();
            let mut members = members.filter_map(|key| whole.get(key));
            judged.allowed
                && is_named(&judged.name, self.name)
                && (self.call[1].is_null()
                    || members.any(|member| same(&value_of(member), &value_of(&self.call[1]))))
        })
    }

    /// Whether the call is in a final message.
    fn is_final(&self) -> bool {
        let calls = self.result["calls"].as_array();
        self.result["error"].is_null() && calls.is_some_and(|calls| calls.contains(self.call))
    }
}

/// Whether arguments can be read: they are a value, or text that is JSON.
fn is_json(arguments: &Value) -> bool {
    match arguments {
        Value::String(text) => serde_json::from_str::<Value>(text).is_ok(),
        _ => true,
    }
}

/// The keys and texts in a value.
fn words_of(value: &Value, words: &mut Vec<String>) {
    match value {
        Value::String(text) => words.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| words_of(item, words)),
        Value::Object(members) => members.iter().for_each(|(key, item)| {
            words.push(key.clone());
            words_of(item, words);
        }),
        _ => {}
    }
}
