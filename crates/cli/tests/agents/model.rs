//! A model that follows a script, whichever API it is asked by.

mod chat;
mod gemini;
mod messages;
mod responses;

use callgate_testkit::upstream::{Answer, Request, Upstream};
use serde_json::Value;

use crate::agent::{Agent, Spelled};

/// What it says when its script is over.
pub(crate) const FAREWELL: &str = "That was all.";

/// One thing that a model says.
pub(crate) enum Said {
    Text(&'static str),
    /// A thought, with what proves it.
    Thought(&'static str),
    Call {
        id: &'static str,
        tool: Spelled,
        input: Value,
    },
    /// It looks for tools by what is said of them. Only Codex has it do that.
    Search {
        id: &'static str,
        query: &'static str,
    },
    /// It writes a program that calls tools. Likewise.
    Program {
        id: &'static str,
        text: String,
    },
}

/// A model with its script, turn by turn.
pub(crate) struct Model {
    pub(crate) agent: Agent,
    pub(crate) script: Vec<Vec<Said>>,
}

impl Said {
    /// A call of a server's tool.
    pub(crate) fn call(agent: Agent, id: &'static str, at: (&str, &str), text: &str) -> Self {
        let input = serde_json::json!({ "text": text });
        Self::Call { id, tool: agent.tool(at.0, at.1), input }
    }

    /// A command for the agent's shell.
    pub(crate) fn command(agent: Agent, id: &'static str, command: &str) -> Self {
        let (tool, input) = agent.shell(command);
        Self::Call { id, tool, input }
    }

    fn id(&self) -> Option<&'static str> {
        match self {
            Self::Text(_) | Self::Thought(_) => None,
            Self::Call { id, .. } | Self::Search { id, .. } | Self::Program { id, .. } => Some(id),
        }
    }
}

impl Model {
    pub(crate) fn start(self) -> Upstream {
        Upstream::start(move |request| self.answer(request))
    }

    fn answer(&self, request: &Request) -> Answer {
        let turn = self.next(&String::from_utf8_lossy(&request.body));
        let path = request.path.split('?').next().unwrap_or_default();
        match self.agent {
            Agent::ClaudeCode if path.ends_with("/messages") => messages::stream(turn),
            Agent::Codex | Agent::CodexPrograms if path.ends_with("/responses") => {
                responses::stream(turn)
            }
            Agent::OpenCode if path.ends_with("/chat/completions") => chat::stream(turn),
            Agent::Gemini if path.ends_with(":streamGenerateContent") => gemini::stream(turn),
            _ => Answer::json(404, r#"{"error":{"message":"no such path"}}"#),
        }
    }

    /// The first turn of which the request does not tell yet: a question that is asked again gets
    /// the same answer.
    fn next(&self, body: &str) -> &[Said] {
        let is_shown = |turn: &&Vec<Said>| {
            turn.iter().filter_map(Said::id).any(|id| body.contains(&format!("\"{id}\"")))
        };
        self.script
            .iter()
            .find(|turn| !is_shown(turn))
            .map_or(&[Said::Text(FAREWELL)], Vec::as_slice)
    }
}
