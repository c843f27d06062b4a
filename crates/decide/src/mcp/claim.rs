//! Who executes a model call: one model call permits one execution, even if several arrive at once.

use std::collections::VecDeque;
use std::sync::Arc;

use callgate_audit::RecordId;
use parking_lot::Mutex;

use super::join::MatchedIntent;

/// Model calls whose execution has begun. The store learns of each a moment later.
#[derive(Debug, Default)]
pub(crate) struct ClaimedIntents(Mutex<VecDeque<RecordId>>);

impl ClaimedIntents {
    /// More than can begin before the store has the first.
    const MAX: usize = 4096;

    /// Claims an intent for one execution; `None` if another one has it.
    pub(crate) fn claim(self: &Arc<Self>, intent: MatchedIntent) -> Option<IntentClaim> {
        let mut claimed = self.0.lock();
        if claimed.contains(&intent.record) {
            return None;
        }
        if claimed.len() >= Self::MAX {
            claimed.pop_front();
        }
        claimed.push_back(intent.record);
        Some(IntentClaim { intent, undecided: Some(Arc::clone(self)) })
    }
}

/// The intent of an execution. Unless the execution is allowed, the intent is free again when this is
/// dropped.
#[derive(Debug)]
pub(crate) struct IntentClaim {
    pub(crate) intent: MatchedIntent,
    /// Where the intent is claimed, as long as the execution is not allowed.
    undecided: Option<Arc<ClaimedIntents>>,
}

impl IntentClaim {
    /// Keeps the intent claimed, because the execution is allowed.
    pub(crate) fn executed(mut self) {
        self.undecided = None;
    }
}

impl Drop for IntentClaim {
    fn drop(&mut self) {
        if let Some(claimed) = &self.undecided {
            claimed.0.lock().retain(|record| *record != self.intent.record);
        }
    }
}
