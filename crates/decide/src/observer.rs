//! Lets the program that runs a decider see each decision as it is made.

use std::fmt;
use std::sync::OnceLock;

use callgate_audit::{CallOutcome, ReasonCode, Record, RecordedTool};

/// Which decisions an observer sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObservedDecisions {
    /// Every decision.
    All,
    /// Calls that are denied. A call that is denied because its record could not be written is
    /// not among them; the log has an error for it.
    Denied,
}

/// Sees decisions: the record of each, right after it was made.
type Observe = Box<dyn Fn(&Record) + Send + Sync>;

/// At most one observer, set once.
#[derive(Default)]
pub(crate) struct Observer(OnceLock<(ObservedDecisions, Observe)>);

impl fmt::Debug for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Observer").field(&self.0.get().is_some()).finish()
    }
}

impl Observer {
    /// Sets the observer. A second one is ignored.
    pub(crate) fn set(
        &self,
        decisions: ObservedDecisions,
        observe: impl Fn(&Record) + Send + Sync + 'static,
    ) {
        let _ = self.0.set((decisions, Box::new(observe)));
    }

    /// Shows the observer a record, if it is one of a decision that it wants to see.
    pub(crate) fn see(&self, record: &Record) {
        let (Some((decisions, observe)), Some(verdict)) = (self.0.get(), &record.verdict) else {
            return;
        };
        let is_wanted = *decisions == ObservedDecisions::All || verdict.action == CallOutcome::Deny;
        // A record that completes another one brings only the input.
        if is_wanted && record.completes.is_none() {
            observe(record);
        }
    }

    /// A copy of a record that is about to be written, to be seen once that is done. It has no
    /// input, which may be large and which an observer of calls that pass does not need. `None` if
    /// the observer does not see calls that pass.
    pub(crate) fn copy(&self, record: &Record) -> Option<Record> {
        self.0.get().filter(|(decisions, _)| *decisions == ObservedDecisions::All)?;
        let tool = record.tool.as_ref().map(|tool| RecordedTool {
            name: tool.name.clone(),
            server: tool.server.clone(),
            call_id: tool.call_id.clone(),
            ..RecordedTool::default()
        });
        Some(Record {
            id: record.id,
            time: record.time,
            surface: record.surface,
            who: record.who.clone(),
            request: record.request.clone(),
            provider: record.provider.clone(),
            model: record.model.clone(),
            tool,
            verdict: record.verdict.clone(),
            ..Record::new(record.kind)
        })
    }
}

/// The record of a call that was to pass and is refused after all, because its record is not
/// written.
pub(crate) fn refused(mut record: Record, reason: &str) -> Record {
    if let Some(verdict) = &mut record.verdict {
        verdict.action = CallOutcome::Deny;
        verdict.code = Some(ReasonCode::StoreFailed);
        verdict.reason = Some(reason.to_owned());
        (verdict.policy, verdict.rule) = (None, None);
    }
    record
}
