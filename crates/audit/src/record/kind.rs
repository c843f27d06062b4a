//! The kinds of records.

use std::fmt;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Generates the enum, its words and its categories from one list.
macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident $word:literal $category:literal;)*) => {
        /// The kind of a record.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum RecordKind { $($(#[$doc])* $kind,)* }

        impl RecordKind {
            /// Every kind.
            pub const ALL: &[Self] = &[$(Self::$kind,)*];

            /// The word used in records and filters.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$kind => $word,)* }
            }

            /// The group of kinds it belongs to, named `event_category` in records.
            pub fn category(self) -> &'static str {
                match self { $(Self::$kind => $category,)* }
            }
        }
    };
}

kinds! {
    /// A call that a model made, and the decision.
    ToolCall "tool_call" "tool";
    /// Something was wrong: with a call that passed, was refused or was dropped, with a part of a
    /// response, or with calls that could not be put back into a request. Some have no call.
    ToolCallWarning "tool_call_warning" "tool";
    /// A tool of an MCP server, seen for the first time.
    McpToolSeen "mcp_tool_seen" "mcp";
    /// A tool of an MCP server whose definition has changed.
    McpToolChanged "mcp_tool_changed" "mcp";
    /// A call of an MCP server's tool in a model's response, and the decision.
    McpToolCallIntercepted "mcp_tool_call_intercepted" "mcp";
    /// A call to an MCP server, and the decision.
    McpToolCalled "mcp_tool_called" "mcp";
    /// A connection that an MCP server made.
    McpNetworkConnection "mcp_network_connection" "network";
    /// A connection that an agent made.
    NetworkConnection "network_connection" "network";
    /// A tool that a request offers to the model.
    ToolAdvertised "tool_advertised" "tool";
    /// Text that a text rule blocked or changed.
    Guardrail "guardrail" "guardrail";
    /// An approval was requested.
    ApprovalRequested "approval_requested" "approval";
    /// An approval was given or refused.
    ApprovalDecided "approval_decided" "approval";
    /// A model reviewed a call.
    Review "review" "approval";
    /// A policy took effect.
    PolicyLoaded "policy_loaded" "policy";
    /// A policy was rejected, and the last valid one stays in effect.
    PolicyRejected "policy_rejected" "policy";
    /// The policies that took effect block less than the previous ones, or may.
    Weakened "weakened" "policy";
    /// Something ran without a matching judged call of a model. The execution has its own record.
    UncorrelatedExecution "uncorrelated_execution" "tool";
    /// An agent's session started.
    SessionStarted "session_started" "session";
    /// An agent's session ended.
    SessionEnded "session_ended" "session";
    /// A response that contained calls, or was not judged: its tokens, its stop reason, its calls.
    Turn "turn" "turn";
    /// Another answer in the turn of a response, because all calls of the one before were denied:
    /// its tokens, its stop reason, its calls.
    Continued "continued" "turn";
    /// A person changed what callgate trusts (a gateway key, a pin), or marked a call.
    Change "change" "change";
}

impl RecordKind {
    /// The kind with this name.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.as_str() == word)
    }

    /// Whether it is about a call: `callgate calls` lists these.
    pub fn is_call(self) -> bool {
        matches!(
            self,
            Self::ToolCall
                | Self::ToolCallWarning
                | Self::McpToolCallIntercepted
                | Self::McpToolCalled
        )
    }
}

impl fmt::Display for RecordKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for RecordKind {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for RecordKind {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let word = std::borrow::Cow::<'de, str>::deserialize(from)?;
        Self::from_word(&word)
            .ok_or_else(|| D::Error::custom(format!("unknown record type `{word}`")))
    }
}
