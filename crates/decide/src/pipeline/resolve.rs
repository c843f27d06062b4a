//! Finds the tool of a call, and checks it against lists, pins and rates.

use std::sync::Arc;

use callgate_audit::{McpFacts, RecordId};
use callgate_call::{Arguments, ArgumentsForm, ToolCall};
use callgate_policy::{ExtraInput, Findings, Judgement, LimitKey};

use super::{ServerCall, Subject};
use crate::checks::{Check, CheckFailure, CheckFailures};
use crate::clock::now;
use crate::decider::DeciderState;
use crate::mcp::{
    ResolvedTool, TargetTool, ToolSnapshot, add_to_history, remembered_steps, remove_from_history,
};
use crate::session_steps::KeyedStep;
use crate::settings::{OddArguments, Oversize, Settings};
use crate::store_query::StoreUnavailable;

/// A call whose target is known.
#[derive(Debug)]
pub(crate) struct Resolved {
    pub(crate) subject: Arc<Subject>,
    pub(crate) target: CallTarget,
    pub(crate) failures: CheckFailures,
    /// The buckets of `mcp.rate` that count it.
    pub(crate) rate: Vec<LimitKey>,
    /// Whether failed checks of servers and tools block calls.
    pub(crate) enforce: bool,
    /// The call passes without an examination of its arguments.
    pub(crate) waived: bool,
}

/// What a call is for.
#[derive(Debug)]
pub(crate) enum CallTarget {
    /// The tool that a name in a model's response refers to.
    Named(ResolvedTool),
    /// The tool of the server that the call is sent to.
    Server(Box<TargetTool>),
}

/// Whether a call was added to the history of its session before it was allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HistoryEntry {
    NotKept,
    Kept,
}

impl Resolved {
    pub(crate) fn stops(&self) -> bool {
        self.failures.blocking().next().is_some()
    }

    pub(crate) fn findings(&self) -> Findings<'_> {
        match &self.target {
            CallTarget::Named(_) => Findings::NotInspected,
            CallTarget::Server(at) => {
                let known = at.known.as_ref();
                known.map(|known| Findings::Of(&known.inspection.findings)).unwrap_or_default()
            }
        }
    }

    pub(crate) fn target_tool(&self) -> Option<&TargetTool> {
        match &self.target {
            CallTarget::Named(_) => None,
            CallTarget::Server(at) => Some(at),
        }
    }

    pub(crate) fn known(&self) -> Option<&ToolSnapshot> {
        self.target_tool().and_then(|at| at.known.as_ref())
    }

    /// The record of the model call that it belongs to, or of the call that it continues.
    pub(crate) fn joined(&self) -> Option<RecordId> {
        let continues = self.subject.server_call().and_then(|at| at.continues.as_ref());
        let joined = || self.target_tool().and_then(TargetTool::intent).map(|it| it.record);
        continues.map(|first| first.record).or_else(joined)
    }

    /// Takes note that the call is allowed: no other execution gets its intent.
    pub(crate) fn executed(self) {
        if let CallTarget::Server(at) = self.target
            && let Some(intent) = at.intent
        {
            intent.executed();
        }
    }

    /// Facts about the server for records.
    pub(crate) fn facts(&self) -> Option<McpFacts> {
        self.target_tool().map(|at| at.facts.clone())
    }

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
            Some((subject, at, tool)) => add_to_history(inner, subject, at, tool),
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
                Some((subject, at, tool)) => remembered_steps(subject, at, tool, history_entry),
                None => Vec::new(),
            },
        }
    }

    /// Removes the call from the history, because it was stopped.
    pub(crate) fn remove_from_history(&self, inner: &DeciderState, history_entry: HistoryEntry) {
        if history_entry == HistoryEntry::Kept {
            remove_from_history(inner, &self.subject);
        }
    }
}

pub(crate) async fn resolve(
    inner: &Arc<DeciderState>,
    subject: Arc<Subject>,
) -> Result<Resolved, StoreUnavailable> {
    let mut resolved = match subject.server_call() {
        None => inner.resolve_named(subject).await?,
        Some(_) => {
            inner
                .query_store(move |_| match subject.server_call() {
                    Some(at) => Ok(at.session.resolve(&subject, at)),
                    None => Err(StoreUnavailable),
                })
                .await??
        }
    };
    let subject = Arc::clone(&resolved.subject);
    let settings = &subject.in_force.settings;
    resolved.waived = is_waived(settings, &subject.call);
    resolved.failures.add(unfit(settings, &subject.call));
    resolved.failures.add(unfit_extra_input(settings, &subject.extra_inputs));
    if resolved.waived {
        resolved.failures.add(unwaived_extra_input(&subject));
    }
    Ok(resolved)
}

/// Whether a call passes without an examination of its arguments.
fn is_waived(settings: &Settings, call: &ToolCall) -> bool {
    is_oversize(&call.arguments) && settings.oversize == Oversize::Allow
}

fn is_oversize(arguments: &Arguments) -> bool {
    matches!(arguments.form(), ArgumentsForm::Oversize(_))
}

/// Fails arguments that the operator never accepts.
fn unfit(settings: &Settings, call: &ToolCall) -> Option<CheckFailure> {
    let why = match is_oversize(&call.arguments) {
        true if settings.oversize == Oversize::Deny => "Its arguments are larger than the limit.",
        false if settings.arguments == OddArguments::Deny && call.arguments.value().is_err() => {
            "Its arguments are not one JSON object."
        }
        _ => return None,
    };
    Some(CheckFailure::block(Check::Arguments, why.to_owned(), "Call it with one JSON object."))
}

/// Fails extra inputs that the operator never accepts.
pub(crate) fn unfit_extra_input(
    settings: &Settings,
    extra_inputs: &[ExtraInput],
) -> Option<CheckFailure> {
    let refuses = settings.oversize == Oversize::Deny;
    let large = extra_inputs.iter().find(|extra| refuses && is_oversize(&extra.input))?;
    let reason = format!("Its `{}` is larger than the limit.", large.place);
    Some(CheckFailure::block(Check::Arguments, reason, "Send less."))
}

/// Checks the extra inputs of a call whose arguments are not examined. Such a call is not edited,
/// so it is refused if a rule would replace something.
fn unwaived_extra_input(subject: &Subject) -> Option<CheckFailure> {
    let bare = ToolCall { arguments: Arguments::json(""), ..subject.call.clone() };
    let judged =
        subject.policies.judge_sent(&bare, &subject.extra_inputs, &now(), Findings::Of(&[]));
    let stops = !judged.verdict.passes() || judged.is_rewritten();
    let reason = format!("The data sent with it is not allowed: {}", judged.reason);
    stops.then(|| CheckFailure::block(Check::Rules, reason, "Call it without that data."))
}
