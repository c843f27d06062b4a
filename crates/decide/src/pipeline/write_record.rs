//! Writes the record, which is durable before the caller gets the decision.

use std::time::Duration;

use callgate_audit::{CallOutcome, McpFacts, ReasonCode, Record, RecordId, RecordKind};
use callgate_call::ToolCall;
use callgate_policy::{Decision, Denial, DenialScope, Permit, Recorded, WriteProof};
use callgate_store::Receipt;
use tokio::sync::oneshot;

use super::resolve::CallTarget;
use super::wait::Answered;
use super::{CallSource, Resolved, Subject};
use crate::decider::DeciderState;
use crate::mcp::{alias_note, finding_facts};
use crate::new_record::{self, ArgumentsState};
use crate::session_steps::{KeyedStep, session_key};
use crate::settings::{OnFailure, Settings};
use crate::{observer, origins, past};

/// The end of the pipeline.
#[derive(Debug)]
pub(crate) struct Decided {
    pub(crate) decision: Decision,
    /// For each extra input of the call, its replacement if a rule changed it.
    pub(crate) extra_replacements: Vec<Option<String>>,
    /// Set if the call is allowed and no model was seen to make it.
    pub(crate) uncorrelated: Option<Box<Record>>,
}

/// Records the decision. `turn` is dropped when the call is recorded or, if it is denied, when later
/// calls can find the denial.
pub(crate) async fn record(
    inner: &DeciderState,
    answered: Answered,
    turn: Option<oneshot::Sender<()>>,
) -> Decided {
    let record = build_record(&answered);
    let Answered { resolved, answer, extra_replacements, mut steps, files, events, .. } = answered;
    let found = answered.origins;
    let Subject { call, seen_at, record: id, .. } = &*resolved.subject;
    let events = past::steps(&call.origin, *seen_at, *id, &events);
    let permit = match answer {
        Ok(permit) => permit,
        Err(denial) => return refused(inner, record, denial, events, turn),
    };
    steps.extend(events);
    steps.extend(origins::steps(&call.origin.who, *seen_at, *id, &found));
    let is_uncorrelated = resolved.target_tool().is_some() && resolved.joined().is_none();
    let uncorrelated = is_uncorrelated.then(|| Box::new(new_record::uncorrelated(&record)));
    let seen = inner.observer.copy(&record);
    let session = || session_key(&call.origin);
    let files = files.into_iter().map(|write| (session(), write));
    let receipt = inner.audit.append_together(steps, files, record);
    let settings = &resolved.subject.in_force.settings;
    let written = durable(receipt, settings.record_timeout).await;
    let decision = recorded(settings, (call, *id), permit, written);
    if let Decision::Allow(_) = &decision {
        resolved.executed();
    }
    if let Some(seen) = seen {
        inner.observer.see(&match &decision {
            Decision::Allow(_) => seen,
            Decision::Deny(denial) => observer::refused(seen, &denial.reason),
        });
    }
    Decided { decision, extra_replacements, uncorrelated }
}

/// The permit, if its record is written or the operator allows calls without one.
fn recorded(
    settings: &Settings,
    (call, id): (&ToolCall, RecordId),
    permit: Permit,
    written: Result<Option<WriteProof>, String>,
) -> Decision {
    let tool = call.name.raw();
    let why = match written {
        Ok(Some(written)) => match Recorded::new(permit, id.as_number(), &written) {
            Some(permit) => return Decision::Allow(permit),
            None => return Decision::Deny(unrecorded(tool)),
        },
        Ok(None) => return Decision::Deny(unrecorded(tool)),
        Err(why) => why,
    };
    tracing::error!(tool, why, "the record of a call could not be written");
    match settings.on_failure {
        OnFailure::Allow => Decision::Allow(Recorded::although_the_store_failed(permit)),
        OnFailure::Deny => Decision::Deny(unrecorded(tool)),
    }
}

/// Waits for the store. A disk that hangs counts as one that fails.
pub(crate) async fn durable(
    receipt: Receipt,
    timeout: Duration,
) -> Result<Option<WriteProof>, String> {
    match tokio::time::timeout(timeout, receipt).await {
        Ok(written) => written.map_err(|error| error.to_string()),
        Err(_) => Err(format!("it was not written within {} s", timeout.as_secs())),
    }
}

/// Writes the record of a denial without waiting: a lost record does not make a denial unsafe.
fn refused(
    inner: &DeciderState,
    record: Record,
    mut denial: Denial,
    events: Vec<KeyedStep>,
    turn: Option<oneshot::Sender<()>>,
) -> Decided {
    denial.record = Some(record.id.to_string());
    inner.write_denial(record, events, turn);
    Decided { decision: Decision::Deny(denial), extra_replacements: Vec::new(), uncorrelated: None }
}

/// Denies a call because the store did not answer a query.
pub(crate) fn refuse(inner: &DeciderState, subject: &Subject) -> Decided {
    let denial = store_unavailable(subject.call.name.raw());
    let kind = match subject.source {
        CallSource::InResponse { .. } => RecordKind::ToolCall,
        CallSource::ToServer(_) => RecordKind::McpToolCalled,
    };
    let mut record = new_record::call_as(
        subject.record,
        kind,
        &subject.context,
        &subject.call,
        ArgumentsState::Known,
    );
    let mut verdict =
        new_record::without_rule(CallOutcome::Deny, ReasonCode::StoreFailed, &denial.reason);
    verdict.rule.clone_from(&denial.rule);
    record.verdict = Some(verdict);
    refused(inner, record, denial, Vec::new(), None)
}

fn build_record(answered: &Answered) -> Record {
    let resolved = &answered.resolved;
    let Subject { context, call, record: id, .. } = &*resolved.subject;
    let mut record = new_record::call_as(*id, kind(resolved), context, call, ArgumentsState::Known);
    match &resolved.target {
        CallTarget::Named(resolved_tool) => resolved_tool.add_server_facts(&mut record),
        CallTarget::Server(_) => add_server_facts(resolved, &mut record),
    }
    if resolved.waived {
        let note = "its arguments are larger than the limit and were not judged".to_owned();
        record.detail = match record.detail.take() {
            Some(detail) => Some(format!("{detail}; {note}")),
            None => Some(note),
        };
    }
    let mut verdict = answered.verdict.clone();
    verdict.policy_digest = resolved.subject.digest();
    record.verdict = Some(verdict);
    record.origins = answered.origins.iter().map(new_record::origin).collect();
    record.timing.judged_us = u64::try_from(answered.judged_in.as_micros()).ok();
    record.timing.waited_ms =
        answered.waited.and_then(|waited| u64::try_from(waited.as_millis()).ok());
    // What sanitizers removed from the arguments does not belong in the record either.
    if let (Some(rewritten), Some(tool)) = (&answered.rewritten, &mut record.tool) {
        tool.input = Some(rewritten.clone());
    }
    record
}

fn kind(resolved: &Resolved) -> RecordKind {
    match &resolved.target {
        CallTarget::Server(_) => RecordKind::McpToolCalled,
        CallTarget::Named(_) if resolved.waived => RecordKind::ToolCallWarning,
        CallTarget::Named(resolved_tool) => resolved_tool.kind(),
    }
}

fn add_server_facts(resolved: &Resolved, record: &mut Record) {
    let Some(server_call) = resolved.subject.server_call() else { return };
    let known = resolved.known();
    record.detail = alias_note(&server_call.aliases);
    record.mcp = Some(McpFacts {
        joined: resolved.joined(),
        pin: known.map(|known| known.state.as_str().to_owned()),
        earlier: resolved.failures.earlier(),
        findings: known.map(|it| finding_facts(&it.inspection.findings)).unwrap_or_default(),
        ..resolved.facts().unwrap_or_default()
    });
    if let Some(tool) = &mut record.tool {
        tool.name.clone_from(&server_call.tool);
        tool.rpc_id.clone_from(&server_call.rpc_id);
        tool.server = Some(server_call.session.server().to_owned());
        tool.definition_hash = known.map(|known| known.hash.clone());
    }
}

/// Used in place of a rule when the store failed.
pub(crate) const STORE: &str = "audit.store";

/// The cause may contain file names: it goes to the operator's log, not to the model.
fn unrecorded(tool: &str) -> Denial {
    let hint = "Tell the operator: callgate's audit store cannot write records.";
    of_store(tool, "The record of this call could not be written.", hint)
}

fn store_unavailable(tool: &str) -> Denial {
    let hint = "Tell the operator: callgate's audit store does not answer.";
    of_store(tool, "The data that is needed to judge this call could not be read.", hint)
}

fn of_store(tool: &str, reason: &str, hint: &str) -> Denial {
    Denial {
        rule: Some(STORE.to_owned()),
        hint: Some(hint.to_owned()),
        scope: DenialScope::Outage,
        ..Denial::refused(tool, reason)
    }
}
