//! Reason codes: machine-readable reasons for a decision.

use serde::{Deserialize, Serialize};

/// Generates the enum and its words from one list.
macro_rules! codes {
    ($($(#[$doc:meta])* $code:ident $word:literal;)*) => {
        /// The reason for a decision. The words stay the same across versions; new ones may be
        /// added.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[non_exhaustive]
        pub enum ReasonCode { $($(#[$doc])* #[serde(rename = $word)] $code,)* }

        impl ReasonCode {
            /// Every code.
            pub const ALL: &[Self] = &[$(Self::$code,)*];

            /// The word used in records.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$code => $word,)* }
            }
        }
    };
}

codes! {
    /// A rule of a policy.
    Rule "rule";
    /// The default of a policy: no rule decided.
    Default "default";
    /// No policy applies.
    NoPolicy "no_policy";
    /// A rule that could not be evaluated, which counts against the call.
    RuleUnknown "rule_unknown";
    /// A rule requires approval, and no approver is available.
    ApprovalMissing "approval_missing";
    /// The allow and deny lists of MCP servers.
    ServerDenied "server_denied";
    /// The allow and deny lists of MCP tools.
    ToolDenied "tool_denied";
    /// A tool that its server does not list.
    UnknownTool "unknown_tool";
    /// A definition that differs from the trusted one.
    PinChanged "pin_changed";
    /// A definition or a server that is not trusted yet.
    PinUntrusted "pin_untrusted";
    /// More calls than `mcp.rate` allows.
    RateLimit "rate_limit";
    /// Invalid arguments, or invalid additional fields of a call.
    BadArguments "bad_arguments";
    /// A name that rules cannot be compared with.
    BadName "bad_name";
    /// A finding in the text of an MCP server.
    Finding "finding";
    /// A request of a server to its client that is not allowed.
    RequestDenied "request_denied";
    /// Earlier calls of the same session.
    Flow "flow";
    /// A text rule.
    TextRule "text_rule";
    /// The response could not be parsed reliably, or ended inside the call.
    Unreadable "unreadable";
    /// The store could not be queried, or did not accept the record.
    StoreFailed "store_failed";
    /// The call was not judged: the provider ran it, or judging is off.
    Unjudged "unjudged";
}
