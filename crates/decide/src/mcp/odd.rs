//! What a door does not hand on, and what it learns on the way.

use callgate_audit::{Action, Code, Kind};

use super::session::McpSession;
use crate::record;

impl McpSession {
    /// The server says that its tools are others now: whoever holds the session asks for them again
    /// before the next call.
    pub fn tools_changed(&self) {
        self.listing.lock().forget();
    }

    /// A message that was not handed on, whose it was and why.
    pub fn withheld(&self, whose: &str, why: &str) {
        if self.budgets.odd.has_room() {
            tracing::warn!(server = self.server, whose, why, "a message was not forwarded");
        }
        let mut record = record::begin(Kind::ToolCallWarning, &self.context, &self.context.origin);
        record.verdict = Some(record::without_rule(Action::Deny, Code::Unreadable, why));
        record.mcp = Some(self.facts(&self.settings()));
        record.detail = Some(format!("withheld: a message of {whose} ({}): {why}", self.server));
        self.write_within(&self.budgets.odd, record);
    }
}
