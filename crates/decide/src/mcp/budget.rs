//! Limits how many records a session may cause without anyone waiting for them.
//!
//! A hostile peer could send a faulty message every time and push all other records out of the
//! store. Records over the budget are only counted. One record announces that, and another one at
//! the end has the total.

use std::sync::atomic::{AtomicU64, Ordering};

use callgate_audit::{Record, RecordKind};

use super::session::McpSessionState;
use crate::new_record;

/// The maximum number of records of one kind.
#[derive(Debug)]
pub(crate) struct RecordBudget {
    /// What the records are about, for messages.
    what: &'static str,
    max: u64,
    /// How many records were requested so far.
    requested: AtomicU64,
}

/// All record budgets of a session.
#[derive(Debug)]
pub(crate) struct RecordBudgets {
    pub(crate) withheld: RecordBudget,
    pub(crate) findings: RecordBudget,
    pub(crate) server_requests: RecordBudget,
    pub(crate) sent: RecordBudget,
    pub(crate) definitions: RecordBudget,
    pub(crate) unpinnable: RecordBudget,
}

impl Default for RecordBudgets {
    fn default() -> Self {
        let budget = |what, max| RecordBudget { what, max, requested: AtomicU64::new(0) };
        Self {
            // Enough to see what a peer does.
            withheld: budget("messages that were not forwarded", 64),
            findings: budget("findings in text from the server", 1024),
            server_requests: budget("requests from the server", 1024),
            sent: budget("client messages that matched a rule", 1024),
            // Twice the number of pins per server.
            definitions: budget("definitions", 20_000),
            unpinnable: budget("ambiguous definitions", 256),
        }
    }
}

impl RecordBudget {
    /// Whether another record would be written.
    pub(crate) fn has_room(&self) -> bool {
        self.requested.load(Ordering::Relaxed) < self.max
    }

    /// How many records were not written.
    fn left_out(&self) -> u64 {
        self.requested.load(Ordering::Relaxed).saturating_sub(self.max)
    }
}

impl McpSessionState {
    /// Writes a record unless its budget is used up.
    pub(crate) fn write_within(&self, budget: &RecordBudget, record: Record) {
        let before = budget.requested.fetch_add(1, Ordering::Relaxed);
        if before < budget.max {
            self.inner.write(record);
        } else if before == budget.max {
            let RecordBudget { what, max, .. } = budget;
            self.record_budget(&format!("{max} {what} are recorded; more are only counted"));
        }
    }

    fn record_budget(&self, detail: &str) {
        let mut record =
            new_record::begin(RecordKind::ToolCallWarning, &self.context, &self.context.origin);
        record.mcp = Some(self.facts(&self.settings()));
        record.detail = Some(format!("{}: {detail}", self.server));
        self.inner.write(record);
    }
}

/// With the last handle of the session: each call has handles of its own.
impl Drop for McpSessionState {
    fn drop(&mut self) {
        let RecordBudgets { withheld, findings, server_requests, sent, definitions, unpinnable } =
            &self.budgets;
        for budget in [withheld, findings, server_requests, sent, definitions, unpinnable] {
            if budget.left_out() > 0 {
                self.record_budget(&format!(
                    "{} {} were only counted",
                    budget.left_out(),
                    budget.what
                ));
            }
        }
    }
}
