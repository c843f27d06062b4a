//! Why something was decided as it was, in words for programs.

use serde::{Deserialize, Serialize};

/// One word per reason: the enum and its words from a single list.
macro_rules! codes {
    ($($(#[$doc:meta])* $code:ident $word:literal;)*) => {
        /// What kind of reason decided. The words stay the same from version to version; new ones may
        /// come.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[non_exhaustive]
        pub enum Code { $($(#[$doc])* #[serde(rename = $word)] $code,)* }

        impl Code {
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
    /// A rule that could not be checked, which counts against the call.
    RuleUnknown "rule_unknown";
    /// A rule asks for approval, and nobody could give it.
    ApprovalMissing "approval_missing";
    /// The lists of MCP servers.
    ServerDenied "server_denied";
    /// The lists of MCP tools.
    ToolDenied "tool_denied";
    /// A tool that its server does not list.
    UnknownTool "unknown_tool";
    /// A definition that is not the one that was trusted.
    PinChanged "pin_changed";
    /// A definition or a server that nobody has trusted yet.
    PinUntrusted "pin_untrusted";
    /// More calls than `mcp.rate` lets through.
    RateLimit "rate_limit";
    /// Arguments, or what goes along with a call, that cannot be taken whatever they say.
    BadArguments "bad_arguments";
    /// A name that no rule can be compared with.
    BadName "bad_name";
    /// Something that was found in what an MCP server says.
    Finding "finding";
    /// Something that a server asks of its client, and that is not let through.
    RequestDenied "request_denied";
    /// What was called before in the same session.
    Flow "flow";
    /// A rule about text.
    TextRule "text_rule";
    /// The response could not be read for certain, or ended inside the call.
    Unreadable "unreadable";
    /// The store could not be asked, or did not take the record.
    StoreFailed "store_failed";
    /// Nobody judged it: the provider ran it, or judging is off.
    Unjudged "unjudged";
}
