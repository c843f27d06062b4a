//! What the rules of agents can be about.

use crate::draft::DraftVerdict;

/// One rule for an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Native {
    pub(super) decision: DraftVerdict,
    pub(super) subject: RuleSubject,
    pub(super) reason: Option<String>,
}

/// What a rule is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RuleSubject {
    /// Every call of a tool, by the agent's name for it.
    Tool(String),
    /// The tools of an MCP server; `*` for all of them.
    ServerTool { server: String, tool: String },
    /// Commands that begin with these words.
    Command(Vec<String>),
    /// Commands with this text.
    CommandText { text: String, part: TextPosition },
    /// Reading files.
    Reads(String),
    /// Changing files.
    Changes(String),
    /// Connecting to a host.
    Host(String),
}

/// Which part of a command a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextPosition {
    Whole,
    Start,
    Anywhere,
}
