//! What a record says of an MCP server.

use serde::{Deserialize, Serialize};

use super::RecordId;

/// The server behind a call, a definition or a text, and what was found there.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct McpFacts {
    /// How the server is spoken to: `stdio`, `http` or `sse`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_type: Option<String>,
    /// The program or the URL behind its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// Where the pin of the definition stood: `unseen`, `trusted`, `changed` or `quarantined`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pin: Option<String>,
    /// The record of the same call where a model made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub joined: Option<RecordId>,
    /// Where in the conversation with the server it stood: `tools/list`, `result`, `progress`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// Earlier calls without which this one would mean nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<RecordId>,
    /// What an inspection found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<FindingFact>,
}

/// One finding, never the text itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindingFact {
    /// What it is, as rules call it.
    pub class: String,
    /// How bad it is.
    pub severity: String,
    /// The string it was found in.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub path: String,
    /// What was seen, in one line.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
}
