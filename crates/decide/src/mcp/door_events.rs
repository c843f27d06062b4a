//! Events that a door reports: changed tools and withheld messages.

use callgate_audit::{CallOutcome, ReasonCode, RecordKind};

use super::session::McpSession;
use crate::new_record;

impl McpSession {
    /// Forgets the list of tools, because the server announced a change. The caller requests the
    /// list again before the next call.
    pub fn tools_changed(&self) {
        self.listing.lock().forget();
    }

    /// Records a message that was not forwarded, with its sender and the reason.
    pub fn record_withheld(&self, whose: &str, why: &str) {
        if self.budgets.withheld.has_room() {
            tracing::warn!(server = self.server, whose, why, "a message was not forwarded");
        }
        let mut record =
            new_record::begin(RecordKind::ToolCallWarning, &self.context, &self.context.origin);
        record.verdict =
            Some(new_record::without_rule(CallOutcome::Deny, ReasonCode::Unreadable, why));
        record.mcp = Some(self.facts(&self.settings()));
        record.detail = Some(format!("withheld: a message of {whose} ({}): {why}", self.server));
        self.write_within(&self.budgets.withheld, record);
    }
}
