//! The record, durable before anybody hears of the answer.

use std::time::Duration;

use callgate_audit::{Action, Code, Kind, McpFacts, Record};
use callgate_call::ToolCall;
use callgate_policy::{Denial, Permit, Recorded, Scope, Written};
use callgate_store::Receipt;

use super::resolve::Target;
use super::wait::Answered;
use super::{Resolved, Seen, Subject};
use crate::decider::Inner;
use crate::mcp::{finding_facts, told_aliases};
use crate::observer;
use crate::record::{self, Input};
use crate::settings::{OnFailure, Settings};

/// What becomes of a call.
#[derive(Debug)]
pub enum Decision {
    /// It may leave.
    Allow(Recorded<Permit>),
    /// It may not.
    Deny(Denial),
}

/// The end of the pipeline.
#[derive(Debug)]
pub(crate) struct Decided {
    pub(crate) decision: Decision,
    /// What goes along with the call, each with what takes its place, if anything does.
    pub(crate) along: Vec<Option<String>>,
    /// Set if the call may pass and no model was seen to make it.
    pub(crate) stray: Option<Box<Record>>,
}

pub(crate) async fn record(inner: &Inner, answered: Answered) -> Decided {
    let record = written_down(&answered);
    let Answered { resolved, answer, along, steps, .. } = answered;
    let call = &resolved.subject.call;
    let permit = match answer {
        Ok(permit) => permit,
        Err(denial) => return refused(inner, record, denial),
    };
    let is_stray = resolved.at_tool().is_some() && resolved.joined().is_none();
    let stray = is_stray.then(|| Box::new(record::stray(&record)));
    let seen = inner.observer.copy(&record);
    let receipt = inner.audit.append_together(steps, record);
    let settings = &resolved.subject.in_force.settings;
    let written = durable(receipt, settings.record_timeout).await;
    let decision = recorded(settings, call, permit, written);
    if let Some(seen) = seen {
        inner.observer.see(&match &decision {
            Decision::Allow(_) => seen,
            Decision::Deny(denial) => observer::refused(seen, &denial.reason),
        });
    }
    Decided { decision, along, stray }
}

/// The permit, if its record is written or the operator can do without.
fn recorded(
    settings: &Settings,
    call: &ToolCall,
    permit: Permit,
    written: Result<Written, String>,
) -> Decision {
    let why = match written {
        Ok(written) => return Decision::Allow(Recorded::new(permit, written)),
        Err(why) => why,
    };
    let tool = call.name.raw();
    tracing::error!(tool, why, "the record of a call could not be written");
    match settings.on_failure {
        OnFailure::Allow => Decision::Allow(Recorded::although_the_store_failed(permit)),
        OnFailure::Deny => Decision::Deny(unrecorded(tool)),
    }
}

/// Waits for the store. A disk that hangs counts as one that fails.
async fn durable(receipt: Receipt, timeout: Duration) -> Result<Written, String> {
    match tokio::time::timeout(timeout, receipt).await {
        Ok(written) => written.map_err(|error| error.to_string()),
        Err(_) => Err(format!("it was not written within {} s", timeout.as_secs())),
    }
}

/// A denial loses nothing if its record does, so nobody waits for that.
fn refused(inner: &Inner, record: Record, mut denial: Denial) -> Decided {
    denial.record = Some(record.id.to_string());
    inner.write(record);
    Decided { decision: Decision::Deny(denial), along: Vec::new(), stray: None }
}

/// The store did not say what has to be known to decide.
pub(crate) fn refuse(inner: &Inner, subject: &Subject) -> Decided {
    let denial = unasked(subject.call.name.raw());
    let kind = match subject.seen {
        Seen::InAnswer { .. } => Kind::ToolCall,
        Seen::AtServer(_) => Kind::McpToolCalled,
    };
    let mut record =
        record::call_as(subject.record, kind, &subject.context, &subject.call, Input::Known);
    let mut verdict = record::without_rule(Action::Deny, Code::StoreFailed, &denial.reason);
    verdict.rule.clone_from(&denial.rule);
    record.verdict = Some(verdict);
    refused(inner, record, denial)
}

fn written_down(answered: &Answered) -> Record {
    let resolved = &answered.resolved;
    let Subject { context, call, record: id, .. } = &*resolved.subject;
    let mut record = record::call_as(*id, kind(resolved), context, call, Input::Known);
    match &resolved.target {
        Target::Named(meant) => meant.tell(&mut record),
        Target::Server(_) => tell_server(resolved, &mut record),
    }
    if resolved.waived {
        let told = "its arguments are larger than the limit and were not judged".to_owned();
        record.detail = match record.detail.take() {
            Some(detail) => Some(format!("{detail}; {told}")),
            None => Some(told),
        };
    }
    let mut verdict = answered.verdict.clone();
    verdict.policy_digest = resolved.subject.digest();
    record.verdict = Some(verdict);
    record.timing.judged_us = u64::try_from(answered.judged_in.as_micros()).ok();
    record.timing.waited_ms =
        answered.waited.and_then(|waited| u64::try_from(waited.as_millis()).ok());
    // What sanitizers took out of the arguments does not belong into the record either.
    if let (Some(rewritten), Some(tool)) = (&answered.rewritten, &mut record.tool) {
        tool.input = Some(rewritten.clone());
    }
    record
}

fn kind(resolved: &Resolved) -> Kind {
    match &resolved.target {
        Target::Server(_) => Kind::McpToolCalled,
        Target::Named(_) if resolved.waived => Kind::ToolCallWarning,
        Target::Named(meant) => meant.kind(),
    }
}

fn tell_server(resolved: &Resolved, record: &mut Record) {
    let Some(at) = resolved.subject.at_server() else { return };
    let known = resolved.known();
    record.detail = told_aliases(&at.aliases);
    record.mcp = Some(McpFacts {
        joined: resolved.joined(),
        pin: known.map(|known| known.state.as_str().to_owned()),
        earlier: resolved.objections.earlier(),
        findings: known.map(|it| finding_facts(&it.inspection.findings)).unwrap_or_default(),
        ..resolved.facts().unwrap_or_default()
    });
    if let Some(facts) = &mut record.tool {
        facts.name.clone_from(&at.tool);
        facts.rpc_id.clone_from(&at.rpc_id);
        facts.server = Some(at.session.server().to_owned());
        facts.definition_hash = known.map(|known| known.hash.clone());
    }
}

/// In the place of a rule: the store, without which nothing is decided.
pub(crate) const STORE: &str = "audit.store";

/// The cause may name files: it is for the operator's log, not for the model.
fn unrecorded(tool: &str) -> Denial {
    let hint = "Tell the operator: callgate's store does not take records.";
    of_store(tool, "The record of this call could not be written.", hint)
}

fn unasked(tool: &str) -> Denial {
    let hint = "Tell the operator: callgate's store does not answer.";
    of_store(tool, "What this call is judged by could not be read.", hint)
}

fn of_store(tool: &str, reason: &str, hint: &str) -> Denial {
    Denial {
        rule: Some(STORE.to_owned()),
        hint: Some(hint.to_owned()),
        scope: Scope::Outage,
        ..Denial::refused(tool, reason)
    }
}
