//! Keeps calls in the history of their session.

use callgate_call::Arguments;
use callgate_policy::Judgement;

use super::check::{CheckFailure, CheckFailures};
use super::flows::{self, PastCall};
use super::join::{self, KeyedStep};
use super::resolve::{TargetTool, unread_flows};
use super::settings::CheckAction;
use crate::decider::DeciderState;
use crate::pipeline::{CallTarget, Resolved, ServerCall, Subject};

/// Whether a call was added to the history of its session before it was allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HistoryEntry {
    NotKept,
    Kept,
}

impl Resolved {
    /// Adds failed checks, as alerts if checks are not enforced.
    pub(crate) fn add_failures(&mut self, found: impl IntoIterator<Item = CheckFailure>) {
        let mut failures = CheckFailures::default();
        failures.add(found);
        if !self.enforce {
            failures.downgrade_to_alerts();
        }
        self.failures.join(failures);
    }

    fn server_call(&self) -> Option<(&Subject, &ServerCall, &TargetTool)> {
        Some((&self.subject, self.subject.server_call()?, self.target_tool()?))
    }

    /// Checks the history again and adds the call to it, in one transaction.
    pub(crate) fn add_to_history(&mut self, inner: &DeciderState) -> HistoryEntry {
        let found = match self.server_call() {
            Some((subject, at, tool)) => note(inner, subject, at, tool),
            None => return HistoryEntry::NotKept,
        };
        match found {
            None => HistoryEntry::NotKept,
            Some(Ok(())) => HistoryEntry::Kept,
            Some(Err(found)) => {
                self.failures.add(found);
                HistoryEntry::NotKept
            }
        }
    }

    /// What to store about a call that is allowed.
    pub(crate) fn steps(
        &self,
        inner: &DeciderState,
        judgement: &Judgement,
        history_entry: HistoryEntry,
    ) -> Vec<KeyedStep> {
        let Subject { call, record, .. } = &*self.subject;
        match &self.target {
            CallTarget::Named(resolved_tool) => {
                let rewritten = judgement.rewritten().map(Arguments::json);
                let arguments = rewritten.as_ref().unwrap_or(&call.arguments);
                resolved_tool.intended(inner, call, arguments, *record)
            }
            CallTarget::Server(_) => match self.server_call() {
                Some((subject, at, tool)) => steps(subject, at, tool, history_entry),
                None => Vec::new(),
            },
        }
    }

    /// Removes the call from the history, because it was stopped.
    pub(crate) fn remove_from_history(&self, inner: &DeciderState, history_entry: HistoryEntry) {
        let Subject { call, record, .. } = &*self.subject;
        if history_entry == HistoryEntry::Kept
            && let Err(error) = join::forget(&inner.audit, &call.origin, *record)
        {
            tracing::error!(%error, "a stopped call could not be removed from the history of its session");
        }
    }
}

fn note(
    inner: &DeciderState,
    subject: &Subject,
    at: &ServerCall,
    tool: &TargetTool,
) -> Option<Result<(), Vec<CheckFailure>>> {
    let (flows, since) = (&tool.settings.flows, tool.history_since?);
    let against = |past: &[PastCall]| {
        let found = flows::check(flows, past, tool.next(subject, at));
        let found = found.into_iter().filter(|it| it.action == CheckAction::Block);
        Some(found.collect::<Vec<_>>()).filter(|found| !found.is_empty())
    };
    let step = remembered(subject, at, tool);
    Some(match join::remember_unless(&inner.audit, step, since, against) {
        Ok(None) => Ok(()),
        Ok(Some(found)) => Err(found),
        Err(error) => Err(vec![unread_flows(flows, &error)]),
    })
}

fn steps(
    subject: &Subject,
    at: &ServerCall,
    tool: &TargetTool,
    history_entry: HistoryEntry,
) -> Vec<KeyedStep> {
    let execution = at.execution(subject);
    let intent = tool.intent();
    let mut steps = intent.map_or_else(Vec::new, |intent| join::done(intent, execution));
    let is_new = at.continues.is_none() && history_entry == HistoryEntry::NotKept;
    if is_new && flows::is_remembered(&tool.settings.flows, tool.role) {
        steps.push(remembered(subject, at, tool));
    }
    steps
}

fn remembered(subject: &Subject, at: &ServerCall, tool: &TargetTool) -> KeyedStep {
    let (server, name) = (at.session.server().to_owned(), at.tool.clone());
    let past =
        PastCall { at: subject.at, server, tool: name, role: tool.role, record: subject.record };
    join::remembered(&subject.call.origin, &past, at.arguments)
}
