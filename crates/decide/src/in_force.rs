//! The policies and settings that calls are judged by.

use std::sync::Arc;

use callgate_policy::Policies;

use crate::mcp::McpSettings;
use crate::settings::Settings;

/// The policies and settings that calls are judged by. They are replaced together, and a call is
/// judged by those that were in force when it began.
#[derive(Debug, Clone)]
pub struct InForce {
    /// The policies. `None` means that nothing is judged, which is not the same as policies that
    /// allow everything.
    pub policies: Option<Arc<Policies>>,
    /// How to decide where no rule applies.
    pub settings: Settings,
    /// The settings about MCP servers.
    pub mcp: Arc<McpSettings>,
}

impl InForce {
    /// The policies, or an empty set of rules.
    pub(crate) fn rules(&self) -> Arc<Policies> {
        self.policies.clone().unwrap_or_default()
    }

    /// Whether there is anything to judge by. Settings about MCP servers apply without rules too.
    pub(crate) fn judges(&self) -> bool {
        self.policies.is_some() || self.mcp.restricts_names()
    }
}
