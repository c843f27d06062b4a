//! Adds what earlier calls of the session have written. The policy computes the effects of a call when
//! a rule needs them, and a script that this call runs may come from an earlier one.

use std::sync::Arc;

use super::Resolved;
use crate::decider::Inner;
use crate::mcp::session_key;

/// A call with the files that its session has written.
#[derive(Debug)]
pub(crate) struct Analysed {
    pub(crate) resolved: Resolved,
}

pub(crate) fn analyse(inner: &Inner, mut resolved: Resolved) -> Analysed {
    let files = inner.audit.session_files(&session_key(&resolved.subject.call.origin));
    if files.is_some() {
        let subject = Arc::make_mut(&mut resolved.subject);
        let others = subject.readings.iter_mut().map(|other| &mut other.call);
        for call in std::iter::once(&mut subject.call).chain(others) {
            call.origin = call.origin.clone().with_session_files(files.clone());
        }
    }
    Analysed { resolved }
}
