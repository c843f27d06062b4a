//! Who brought which text into the conversation of a request: the user and the system, or a tool in
//! its result. What the model wrote is left out.
//!
//! Like [`texts`](super::texts), it goes by the names of members, which are the same in all APIs. It
//! only reads, so it also covers texts that must not be changed, such as the results of tools that
//! the provider runs.

use callgate_call::{HiddenConversation, PassageSource, Passages};
use callgate_json::{Kind, Reader, Span};

use super::texts::{CONVERSATION, ENVELOPES, folded};
use crate::json::{Member, document, elements, members};

/// The texts of a request, apart from those of the model.
pub fn passages(body: &str) -> Result<Passages, HiddenConversation> {
    let mut json = Reader::new(body);
    json.skip().and_then(|_| json.end()).map_err(|_| HiddenConversation::Unreadable)?;
    let mut found = Found { body, passages: Passages::default() };
    found.conversation(document(body))?;
    Ok(found.passages)
}

type Outcome = Result<(), HiddenConversation>;

/// Members that continue a conversation which the provider stores.
const STORED: [&str; 8] = [
    "previousresponseid",
    "previousinteractionid",
    "conversation",
    "conversationid",
    "cachedcontent",
    "thread",
    "threadid",
    "assistantid",
];

/// Members that are the result of a tool, in any turn.
const RESULTS: [&str; 5] =
    ["toolresult", "toolresults", "functionresponse", "functionresult", "codeexecutionresult"];

/// Members of a call that the provider ran itself which contain its result.
const RESULTS_OF_CALL: [&str; 7] =
    ["output", "outputs", "result", "results", "error", "stdout", "stderr"];

/// Members that are encoded, or nobody's text.
const NO_TEXT: [&str; 9] = [
    "signature",
    "thoughtsignature",
    "encryptedcontent",
    "encryptedindex",
    "inlinedata",
    "filedata",
    "b64json",
    "bytes",
    "cachecontrol",
];

/// Who wrote the text at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Author {
    Given,
    Model,
    /// A call that the provider runs itself: only its result is not the model's.
    ProviderCall,
    Tool,
}

struct Found<'b> {
    body: &'b str,
    passages: Passages,
}

impl Found<'_> {
    fn conversation(&mut self, object: Span) -> Outcome {
        for member in members(self.body, object) {
            let key = folded(&member);
            let kind = self.kind(member.value);
            match key.as_str() {
                key if STORED.contains(&key) && kind != Some(Kind::Null) => {
                    return Err(HiddenConversation::Stored);
                }
                // A prompt that the provider stores, with values for it.
                "prompt" if kind == Some(Kind::Object) => return Err(HiddenConversation::Stored),
                // A request in base64 whose tokens are counted.
                "invokemodel" => return Err(HiddenConversation::Unreadable),
                "input" if kind == Some(Kind::Object) => {
                    self.walk(member.value, Author::Given)?;
                    self.conversation(member.value)?;
                }
                key if RESULTS.contains(&key) => self.walk(member.value, Author::Tool)?,
                key if ENVELOPES.contains(&key) => self.conversation(member.value)?,
                key if CONVERSATION.contains(&key) => self.walk(member.value, Author::Given)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Recursion is bounded: the JSON reader limits the depth.
    fn walk(&mut self, value: Span, by: Author) -> Outcome {
        match self.kind(value) {
            Some(Kind::String) => match Reader::at(self.body, value).string() {
                Ok(text) => self.add(by, &text.decode().unwrap_or_default()),
                Err(_) => Err(HiddenConversation::Unreadable),
            },
            Some(Kind::Number) => self.add(by, value.of(self.body)),
            Some(Kind::Array) => {
                elements(self.body, value).into_iter().try_for_each(|it| self.walk(it, by))
            }
            Some(Kind::Object) => self.object(value, by),
            _ => Ok(()),
        }
    }

    fn object(&mut self, object: Span, by: Author) -> Outcome {
        let all = members(self.body, object);
        let types = self.words(&all, "type");
        if types.iter().any(|kind| kind == "base64") {
            return Ok(());
        }
        let by = match by {
            // Nothing in a result changes whose it is.
            Author::Tool => Author::Tool,
            by => {
                let by = self.words(&all, "role").iter().fold(by, |by, role| of_role(role, by));
                types.iter().try_fold(by, |by, kind| of_type(kind, by))?
            }
        };
        for member in &all {
            let key = folded(member);
            if NO_TEXT.contains(&key.as_str()) {
                continue;
            }
            let inner = match (by, key.as_str()) {
                // The call that a result of Cohere's repeats.
                (Author::Tool, "call") => continue,
                (Author::Given | Author::Model, key) if RESULTS.contains(&key) => Author::Tool,
                (Author::ProviderCall, key) if RESULTS_OF_CALL.contains(&key) => Author::Tool,
                (Author::Given, "role" | "type") => continue,
                (by, _) => by,
            };
            if by == Author::Tool {
                self.add(by, &member.key.decode().unwrap_or_default())?;
            }
            self.walk(member.value, inner)?;
        }
        Ok(())
    }

    fn add(&mut self, by: Author, text: &str) -> Outcome {
        let source = match by {
            Author::Given => PassageSource::Given,
            Author::Tool => PassageSource::ToolResult,
            Author::Model | Author::ProviderCall => return Ok(()),
        };
        match text.starts_with("data:") {
            true => Ok(()),
            false => self.passages.add(source, text),
        }
    }

    fn kind(&self, value: Span) -> Option<Kind> {
        Reader::at(self.body, value).kind().ok()
    }

    /// The strings under a key, of which there may be two.
    fn words(&self, all: &[Member<'_>], key: &str) -> Vec<String> {
        let values = all.iter().filter(|member| folded(member) == key).map(|member| member.value);
        let text = |value| Reader::at(self.body, value).string().ok()?.decode().ok();
        values.filter_map(|value| Some(text(value)?.to_ascii_lowercase())).collect()
    }
}

fn of_role(role: &str, by: Author) -> Author {
    match role {
        "assistant" | "model" | "chatbot" => Author::Model,
        "tool" | "function" => Author::Tool,
        "user" | "system" | "developer" => Author::Given,
        _ => by,
    }
}

/// Kinds of items and blocks. An unknown kind is its message's.
fn of_type(kind: &str, by: Author) -> Result<Author, HiddenConversation> {
    let is_result = kind.ends_with("tool_result")
        || kind.ends_with("call_output")
        || matches!(
            kind,
            "function_result" | "tool_search_output" | "tool_output" | "program_output"
        );
    Ok(match kind {
        // The earlier conversation in a form that only the provider can read, or an item that it has.
        "compaction" | "item_reference" => return Err(HiddenConversation::Stored),
        _ if is_result => Author::Tool,
        "user_input" => Author::Given,
        "model_output" | "reasoning" | "thinking" | "thought" | "mcp_list_tools" => Author::Model,
        _ if kind.ends_with("tool_use") => Author::Model,
        _ if kind.ends_with("_call") => Author::ProviderCall,
        _ => by,
    })
}

#[cfg(test)]
mod tests;
