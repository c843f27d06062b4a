//! A model that follows a script, and checks histories as strictly as providers do.
//!
//! A conversation names its script and itself in the first user message: `[script two-calls #7]`;
//! `{n}` in the script is that number, for ids and signatures are never the same twice. A request
//! with no turn of the assistant gets the first turn of the script, one with one turn the second, and
//! so on; after the last comes a plain farewell. The turns that a request carries back must be
//! those that were given: every block, every call with its very bytes, every signature, in place,
//! and every call with its result directly after. Anything else is answered with status 400, in
//! the words of the provider.

mod anthropic;
mod cohere;
mod converse;
mod gemini;
mod interactions;
mod ollama;
mod openai_chat;
mod responses;
mod scripts;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use serde_json::json;

use crate::upstream::{Answer, Request};

pub use scripts::{POLICY, SCRIPTS, Scripted, TOOLS};

/// One part of a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TurnPart {
    /// What the model thought, signed. Not in Chat.
    Thinking {
        /// The thought.
        text: String,
        /// Its proof.
        signature: String,
    },
    /// A thought nobody may read. Not in Chat.
    Redacted(String),
    /// What it said.
    Text(String),
    /// A call.
    Call {
        /// Its id.
        id: String,
        /// The tool.
        name: String,
        /// The arguments as JSON text, to the byte.
        input: String,
    },
}

impl TurnPart {
    /// A thought.
    pub fn thinking(text: &str, signature: &str) -> Self {
        Self::Thinking { text: text.into(), signature: signature.into() }
    }

    /// A text.
    pub fn text(text: &str) -> Self {
        Self::Text(text.into())
    }

    /// The block in one conversation.
    fn numbered(&self, number: &str) -> Self {
        let fill = |text: &String| text.replace("{n}", number);
        match self {
            Self::Thinking { text, signature } => {
                Self::Thinking { text: fill(text), signature: fill(signature) }
            }
            Self::Redacted(data) => Self::Redacted(fill(data)),
            Self::Text(text) => Self::Text(fill(text)),
            Self::Call { id, name, input } => {
                Self::Call { id: fill(id), name: fill(name), input: fill(input) }
            }
        }
    }

    /// A call.
    pub fn call(id: &str, name: &str, input: &str) -> Self {
        Self::Call { id: id.into(), name: name.into(), input: input.into() }
    }
}

/// What one turn of the model holds.
pub type ScriptedTurn = Vec<TurnPart>;

/// A model with its scripts.
#[derive(Debug, Clone, Default)]
pub struct Provider {
    scripts: BTreeMap<String, Vec<ScriptedTurn>>,
    /// What the API of OpenAI keeps; one for all clones.
    state: Arc<Mutex<responses::State>>,
    /// What Gemini's keeps, likewise.
    interactions: Arc<Mutex<interactions::StoredInteractions>>,
}

/// What a provider says about a request it does not take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProviderRefusal(pub(crate) String);

impl Provider {
    /// With one more script.
    pub fn script(mut self, name: &str, turns: Vec<ScriptedTurn>) -> Self {
        self.scripts.insert(name.to_owned(), turns);
        self
    }

    /// The answer to a request, by its path.
    pub fn answer(&self, request: &Request) -> Answer {
        let path = request.path.split('?').next().unwrap_or_default();
        let kept = ["/responses", "/conversations"].iter().find_map(|at| request.path.find(at));
        let given = if let Some(rest) = kept.and_then(|at| request.path.get(at..)) {
            responses::answer(self, request, rest)
        } else if let Some(at) = request.path.find("/interactions") {
            interactions::answer(self, request, request.path.get(at..).unwrap_or_default())
        } else if path.ends_with("/chat/completions") {
            openai_chat::answer(self, &request.body)
        } else if path.ends_with("/messages") {
            anthropic::answer(self, &request.body)
        } else if path.ends_with("/api/chat") {
            return ollama::answer(self, &request.body);
        } else if path.ends_with("/v2/chat") {
            cohere::answer(self, &request.body)
        } else if path.ends_with("/converse") {
            converse::answer(self, &request.json(), converse::Form::Body)
        } else if path.ends_with("/converse-stream") {
            converse::answer(self, &request.json(), converse::Form::Stream)
        } else if path.ends_with(":generateContent") {
            gemini::answer(self, &request.body, gemini::Form::Body)
        } else if path.ends_with(":streamGenerateContent") {
            let is_list = request.path.contains("alt=json");
            let form = if is_list { gemini::Form::List } else { gemini::Form::Events };
            gemini::answer(self, &request.body, form)
        } else if path.ends_with("/count_tokens") {
            anthropic::count(self, &request.body)
        } else {
            return Answer::json(404, r#"{"error":{"message":"no such path"}}"#);
        };
        given.unwrap_or_else(|ProviderRefusal(message)| {
            let error = json!({ "type": "invalid_request_error", "message": message });
            Answer::json(400, json!({ "type": "error", "error": error }).to_string())
        })
    }

    /// The turns of the script that a first message names.
    fn turns(&self, first: &str) -> Result<Vec<ScriptedTurn>, ProviderRefusal> {
        let named = first.split("[script ").nth(1).and_then(|rest| rest.split(']').next());
        let (name, number) = named.unwrap_or_default().split_once(" #").unwrap_or_default();
        let turns =
            self.scripts.get(name).ok_or_else(|| ProviderRefusal("no such script".into()))?;
        let turn = |turn: &ScriptedTurn| turn.iter().map(|block| block.numbered(number)).collect();
        Ok(turns.iter().map(turn).collect())
    }
}

/// What the model says when its script is over.
fn farewell() -> ScriptedTurn {
    vec![TurnPart::text("That was all.")]
}

/// JSON text in a few pieces, as models write it.
fn pieces(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let size = chars.len().div_ceil(3).max(1);
    chars.chunks(size).map(|piece| piece.iter().collect()).collect()
}

#[cfg(test)]
mod tests;
