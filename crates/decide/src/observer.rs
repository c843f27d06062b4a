//! Lets the program that runs a decider see each decision as it is made.

use std::fmt;
use std::sync::OnceLock;

use callgate_audit::{Action, Code, Record, Tool};

/// Sees decisions: the record of each, right after it was made.
type Observe = Box<dyn Fn(&Record) + Send + Sync>;

/// At most one observer, set once.
#[derive(Default)]
pub(crate) struct Observer(OnceLock<Observe>);

impl fmt::Debug for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Observer").field(&self.0.get().is_some()).finish()
    }
}

impl Observer {
    /// Sets the observer. A second one is ignored.
    pub(crate) fn set(&self, observe: impl Fn(&Record) + Send + Sync + 'static) {
        let _ = self.0.set(Box::new(observe));
    }

    /// Shows the observer a record, if it is one of a decision.
    pub(crate) fn see(&self, record: &Record) {
        // A record that completes another one brings only the input.
        let is_decision = record.verdict.is_some() && record.completes.is_none();
        if let (Some(observe), true) = (self.0.get(), is_decision) {
            observe(record);
        }
    }

    /// A copy of a record that is about to be written, to be seen once that is done. It has no
    /// input, which may be large and which an observer of calls that pass does not need.
    pub(crate) fn copy(&self, record: &Record) -> Option<Record> {
        self.0.get()?;
        let tool = record.tool.as_ref().map(|tool| Tool {
            name: tool.name.clone(),
            server: tool.server.clone(),
            call_id: tool.call_id.clone(),
            ..Tool::default()
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
        verdict.action = Action::Deny;
        verdict.code = Some(Code::StoreFailed);
        verdict.reason = Some(reason.to_owned());
        (verdict.policy, verdict.rule) = (None, None);
    }
    record
}
