//! Keeps calls in the history of their session.

use super::flows::{self, PastCall};
use super::join;
use super::resolve::{TargetTool, unread_flows};
use super::settings::CheckAction;
use crate::checks::CheckFailure;
use crate::decider::DeciderState;
use crate::pipeline::{HistoryEntry, ServerCall, Subject};
use crate::session_steps::KeyedStep;

/// Checks the history again and adds the call to it, in one transaction. `None` if it need not be in
/// the history before it is allowed.
pub(crate) fn add_to_history(
    inner: &DeciderState,
    subject: &Subject,
    server_call: &ServerCall,
    tool: &TargetTool,
) -> Option<Result<(), Vec<CheckFailure>>> {
    let (flows, since) = (&tool.settings.flows, tool.history_since?);
    let against = |past: &[PastCall]| {
        let found = flows::check(flows, past, tool.next(subject, server_call));
        let found = found.into_iter().filter(|it| it.action == CheckAction::Block);
        Some(found.collect::<Vec<_>>()).filter(|found| !found.is_empty())
    };
    let step = remembered(subject, server_call, tool);
    Some(match join::remember_unless(&inner.audit, step, since, against) {
        Ok(None) => Ok(()),
        Ok(Some(found)) => Err(found),
        Err(error) => Err(vec![unread_flows(flows, &error)]),
    })
}

/// What to store about a call that is allowed.
pub(crate) fn remembered_steps(
    subject: &Subject,
    server_call: &ServerCall,
    tool: &TargetTool,
    history_entry: HistoryEntry,
) -> Vec<KeyedStep> {
    let execution = server_call.execution(subject);
    let intent = tool.intent();
    let mut steps = intent.map_or_else(Vec::new, |intent| join::done(intent, execution));
    let is_new = server_call.continues.is_none() && history_entry == HistoryEntry::NotKept;
    if is_new && flows::is_remembered(&tool.settings.flows, tool.role) {
        steps.push(remembered(subject, server_call, tool));
    }
    steps
}

/// Removes a call from the history, because it was stopped.
pub(crate) fn remove_from_history(inner: &DeciderState, subject: &Subject) {
    if let Err(error) = join::forget(&inner.audit, &subject.call.origin, subject.record) {
        tracing::error!(%error, "a stopped call could not be removed from the history of its session");
    }
}

fn remembered(subject: &Subject, server_call: &ServerCall, tool: &TargetTool) -> KeyedStep {
    let (server, name) = (server_call.session.server().to_owned(), server_call.tool.clone());
    let past = PastCall {
        at: subject.seen_at,
        server,
        tool: name,
        role: tool.role,
        record: subject.record,
    };
    join::remembered(&subject.call.origin, &past, server_call.arguments)
}
