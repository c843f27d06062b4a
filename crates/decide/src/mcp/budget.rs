//! How many records a session may cause that nobody waits for.
//!
//! A hostile peer could be odd in every message, and push everything else out of the store. What is
//! beyond the bound is counted, and that it is counted is said once; how many it were, at the end.

use std::sync::atomic::{AtomicU64, Ordering};

use callgate_audit::{Kind, Record};

use super::session::McpSession;
use crate::record;

/// So many records of one sort.
#[derive(Debug)]
pub(crate) struct Budget {
    /// What they tell of.
    what: &'static str,
    most: u64,
    /// So many were to be written.
    wanted: AtomicU64,
}

/// All budgets of a session.
#[derive(Debug)]
pub(crate) struct Budgets {
    pub(crate) odd: Budget,
    pub(crate) findings: Budget,
    pub(crate) asked: Budget,
    pub(crate) sent: Budget,
    pub(crate) definitions: Budget,
    pub(crate) unpinnable: Budget,
}

impl Default for Budgets {
    fn default() -> Self {
        let budget = |what, most| Budget { what, most, wanted: AtomicU64::new(0) };
        Self {
            // Enough to see what a peer does.
            odd: budget("messages that were not handed on", 64),
            findings: budget("findings in what the server says", 1024),
            asked: budget("requests of the server", 1024),
            sent: budget("messages of the client that rules had something to say to", 1024),
            // Twice as many as are pinned of one server.
            definitions: budget("definitions", 20_000),
            unpinnable: budget("definitions without one reading", 256),
        }
    }
}

impl Budget {
    /// Whether one more would be written.
    pub(crate) fn has_room(&self) -> bool {
        self.wanted.load(Ordering::Relaxed) < self.most
    }

    /// So many were not written.
    fn left_out(&self) -> u64 {
        self.wanted.load(Ordering::Relaxed).saturating_sub(self.most)
    }
}

impl McpSession {
    /// Writes a record within a budget.
    pub(crate) fn write_within(&self, budget: &Budget, record: Record) {
        let before = budget.wanted.fetch_add(1, Ordering::Relaxed);
        if before < budget.most {
            self.inner.write(record);
        } else if before == budget.most {
            let Budget { what, most, .. } = budget;
            self.tell_budget(&format!("{most} {what} are recorded; more are only counted"));
        }
    }

    fn tell_budget(&self, detail: &str) {
        let mut record = record::begin(Kind::ToolCallWarning, &self.context, &self.context.origin);
        record.mcp = Some(self.facts(&self.settings()));
        record.detail = Some(format!("{}: {detail}", self.server));
        self.inner.write(record);
    }
}

impl Drop for McpSession {
    fn drop(&mut self) {
        let Budgets { odd, findings, asked, sent, definitions, unpinnable } = &self.budgets;
        for budget in [odd, findings, asked, sent, definitions, unpinnable] {
            if budget.left_out() > 0 {
                self.tell_budget(&format!(
                    "{} {} were only counted",
                    budget.left_out(),
                    budget.what
                ));
            }
        }
    }
}
