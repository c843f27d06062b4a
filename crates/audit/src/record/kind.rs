//! What kinds of things are recorded.

use std::fmt;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// One word per kind: the enum, its words and its categories from a single list.
macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident $word:literal $category:literal;)*) => {
        /// What kind of thing a record tells of.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Kind { $($(#[$doc])* $kind,)* }

        impl Kind {
            /// Every kind.
            pub const ALL: &[Self] = &[$(Self::$kind,)*];

            /// The word used in records and filters.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$kind => $word,)* }
            }

            /// The group of kinds it belongs to, as records call it (`event_category`).
            pub fn category(self) -> &'static str {
                match self { $(Self::$kind => $category,)* }
            }
        }
    };
}

kinds! {
    /// A call that a model made, and what was decided about it.
    ToolCall "tool_call" "tool";
    /// A call that passed although something about it was amiss.
    ToolCallWarning "tool_call_warning" "tool";
    /// A tool of an MCP server, seen for the first time.
    McpToolSeen "mcp_tool_seen" "mcp";
    /// A tool of an MCP server whose definition is no longer the one that was seen.
    McpToolChanged "mcp_tool_changed" "mcp";
    /// A call of an MCP server's tool in a model's answer, and what was decided about it.
    McpToolCallIntercepted "mcp_tool_call_intercepted" "mcp";
    /// A call on its way to an MCP server, and what was decided about it.
    McpToolCalled "mcp_tool_called" "mcp";
    /// A connection that an MCP server made.
    McpNetworkConnection "mcp_network_connection" "network";
    /// A connection that an agent made.
    NetworkConnection "network_connection" "network";
    /// A tool that a request offers to the model.
    ToolAdvertised "tool_advertised" "tool";
    /// Text that a guardrail stopped or changed.
    Guardrail "guardrail" "guardrail";
    /// Somebody was asked.
    ApprovalRequested "approval_requested" "approval";
    /// Somebody answered.
    ApprovalDecided "approval_decided" "approval";
    /// A model reviewed a call.
    Review "review" "approval";
    /// A policy is in force.
    PolicyLoaded "policy_loaded" "policy";
    /// A policy was not taken, and the last good one stays.
    PolicyRejected "policy_rejected" "policy";
    /// Policies came into force that stop less than those before, or may.
    Weakened "weakened" "policy";
    /// Something ran of which no judged call of a model is known. What ran has a record of its own.
    UncorrelatedExecution "uncorrelated_execution" "tool";
    /// An agent's session began.
    SessionStarted "session_started" "session";
    /// An agent's session ended.
    SessionEnded "session_ended" "session";
    /// A response that held calls, or was not judged: its tokens, its stop reason, its calls.
    Turn "turn" "turn";
    /// Somebody changed what callgate trusts: a gateway key or a pin.
    Change "change" "change";
}

impl Kind {
    /// The kind of that word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.as_str() == word)
    }

    /// Whether it tells of a call: what `callgate calls` lists.
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

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Kind {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Kind {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let word = std::borrow::Cow::<'de, str>::deserialize(from)?;
        Self::from_word(&word)
            .ok_or_else(|| D::Error::custom(format!("unknown record type `{word}`")))
    }
}
