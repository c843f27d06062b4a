//! The part of a record that describes an MCP server.

use serde::{Deserialize, Serialize};

use super::RecordId;

/// The server of a call, a definition or a text, and the findings there.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct McpFacts {
    /// The transport: `stdio`, `http` or `sse`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_type: Option<String>,
    /// The program or the URL of the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// The state of the definition's pin: `unseen`, `trusted`, `changed` or `quarantined`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pin: Option<String>,
    /// The record of the same call as made by a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub joined: Option<RecordId>,
    /// Where in the MCP session it was found: `tools/list`, `result`, `progress`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// Earlier calls that the decision depends on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<RecordId>,
    /// The findings of the inspection.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<FindingFact>,
}

/// One finding, never the text itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindingFact {
    /// Its class, as used in rules.
    pub class: String,
    /// Its severity.
    pub severity: String,
    /// The path of the string it was found in.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub path: String,
    /// What was found, in one line.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
}
