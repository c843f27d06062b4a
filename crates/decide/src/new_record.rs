//! Records about calls, oddities and turns.

use callgate_audit::{
    CallOutcome, InputExtent, MatchedRule, OriginFact, ReasonCode, Record, RecordId, RecordKind,
    RecordedCaller, RecordedPrincipal, RecordedTool, RecordedVerdict, RuleId, TextRuleMatch,
};
use callgate_call::{ArgumentsForm, FoundOrigin, OriginFields, ToolCall};
use callgate_policy::{
    Course, Direction, Judgement, RuleHit, RuleName, TextAction, TextHit, Verdict,
};

use crate::decider::RequestContext;

/// Starts a record with the context of the request.
pub(crate) fn begin(kind: RecordKind, context: &RequestContext, origin: &OriginFields) -> Record {
    begin_as(RecordId::new(), kind, context, origin)
}

fn begin_as(
    id: RecordId,
    kind: RecordKind,
    context: &RequestContext,
    origin: &OriginFields,
) -> Record {
    let mut record = Record::of(id, kind);
    record.surface = Some(origin.surface);
    record.who = principal(origin);
    record.cwd.clone_from(&origin.cwd);
    record.home.clone_from(&origin.home);
    record.request = context.request.as_deref().map(str::to_owned);
    record.provider.clone_from(&origin.provider);
    record.dialect = context.dialect.map(str::to_owned);
    record.model.clone_from(&origin.model);
    record
}

pub(crate) fn principal(origin: &OriginFields) -> RecordedPrincipal {
    RecordedPrincipal {
        org: origin.who.org.clone(),
        team: origin.who.team.clone(),
        user: origin.who.user.clone(),
        key: origin.who.key.clone(),
        agent: origin.agent.clone(),
        agent_proven: origin.agent_proven,
        session: origin.session.clone(),
    }
}

/// The record of a call. With [`ArgumentsState::Pending`] only its name is known so far.
pub(crate) fn call(
    kind: RecordKind,
    context: &RequestContext,
    call: &ToolCall,
    input: ArgumentsState,
) -> Record {
    call_as(RecordId::new(), kind, context, call, input)
}

/// Like [`call`], with an id that was chosen before.
pub(crate) fn call_as(
    id: RecordId,
    kind: RecordKind,
    context: &RequestContext,
    call: &ToolCall,
    input: ArgumentsState,
) -> Record {
    let mut record = begin_as(id, kind, context, &call.origin);
    record.tool = Some(RecordedTool {
        name: call.name.raw().to_owned(),
        server: server(call),
        call_id: call.id.as_str().to_owned(),
        input: match input {
            ArgumentsState::Known => Some(call.arguments.raw().to_owned()),
            ArgumentsState::Pending => None,
        },
        extent: match call.arguments.form() {
            ArgumentsForm::Oversize(_) => InputExtent::Beginning,
            ArgumentsForm::Json(_) | ArgumentsForm::Text(_) | ArgumentsForm::Pending => {
                InputExtent::Whole
            }
        },
        rpc_id: None,
        caller: call.caller.as_ref().map(caller),
        definition_hash: None,
    });
    record
}

fn caller(caller: &callgate_call::Caller) -> RecordedCaller {
    RecordedCaller { kind: caller.kind.clone(), id: caller.id.clone() }
}

/// Where a value came from, in the form of records.
pub(crate) fn origin(found: &FoundOrigin) -> OriginFact {
    OriginFact { arg: found.condition.clone(), only_tool_result: found.holds }
}

/// Whether the arguments have arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ArgumentsState {
    Known,
    Pending,
}

/// The verdict of the rules, in the form of records.
pub(crate) fn verdict(judgement: &Judgement) -> RecordedVerdict {
    RecordedVerdict {
        // By the course of the verdict, which also decides whether there is a permit.
        action: match (judgement.verdict.course(), judgement.verdict) {
            (Course::Passes, Verdict::Audit) => CallOutcome::Audit,
            (Course::Passes, _) => CallOutcome::Allow,
            (Course::Waits | Course::Stops, _) => CallOutcome::Deny,
        },
        code: Some(code(judgement)),
        policy_digest: None,
        policy: judgement.policy.clone(),
        rule: judgement.rule.clone(),
        reason: Some(judgement.reason.clone()),
        hint: judgement.hint.clone(),
        uncovered: judgement.uncovered,
        matched: judgement.rules.iter().map(rule_id).collect(),
        shadows: judgement.shadows.iter().map(note).collect(),
        audits: judgement.audits.iter().map(note).collect(),
        sanitized: sanitized(judgement).iter().map(note).collect(),
        replaced: judgement.replaced.clone(),
    }
}

/// The kind of reason that decided.
pub(crate) fn code(judgement: &Judgement) -> ReasonCode {
    let by_doubt = |hit: &RuleHit| hit.unknown && hit.rule == judgement.rule;
    match (&judgement.policy, &judgement.rule) {
        (_, Some(_)) if judgement.deciding.first().is_some_and(by_doubt) => ReasonCode::RuleUnknown,
        (_, Some(_)) => ReasonCode::Rule,
        (Some(_), None) => ReasonCode::Default,
        (None, None) => ReasonCode::NoPolicy,
    }
}

fn rule_id(name: &RuleName) -> RuleId {
    RuleId { policy: name.policy.clone(), rule: name.rule.clone() }
}

/// The rules that removed something from the arguments.
fn sanitized(judgement: &Judgement) -> &[RuleHit] {
    if judgement.is_rewritten() { &judgement.sanitizers } else { &[] }
}

/// The record of a match of a text rule.
pub(crate) fn guardrail(context: &RequestContext, direction: Direction, hit: &TextHit) -> Record {
    let mut record = begin(RecordKind::Guardrail, context, &context.origin);
    let action = match hit.action {
        TextAction::Block => CallOutcome::Deny,
        TextAction::Mask | TextAction::Audit => CallOutcome::Audit,
    };
    record.verdict = Some(RecordedVerdict {
        policy: Some(hit.policy.clone()),
        rule: Some(hit.rule.clone()),
        hint: hit.hint.clone(),
        ..without_rule(action, ReasonCode::TextRule, &hit.reason)
    });
    record.guardrail = Some(TextRuleMatch {
        action: hit.action.as_str().to_owned(),
        kind: hit.kind.clone(),
        direction: direction.as_str().to_owned(),
    });
    record
}

/// The record of a call that no model was seen to make. The call's own record has its arguments and
/// the reason why it was allowed.
pub(crate) fn uncorrelated(call: &Record) -> Record {
    let mut record = Record::new(RecordKind::UncorrelatedExecution);
    record.detail = Some(format!(
        "no matching call of a model was seen; the call itself is record {}",
        call.id
    ));
    record.surface = call.surface;
    record.who = call.who.clone();
    record.tool = call.tool.as_ref().map(|tool| RecordedTool {
        call_id: tool.call_id.clone(),
        name: tool.name.clone(),
        server: tool.server.clone(),
        ..RecordedTool::default()
    });
    record.verdict = call.verdict.as_ref().map(|verdict| RecordedVerdict::new(verdict.action));
    record
}

/// A verdict that did not come from a rule.
pub(crate) fn without_rule(action: CallOutcome, code: ReasonCode, reason: &str) -> RecordedVerdict {
    RecordedVerdict {
        code: Some(code),
        reason: Some(reason.to_owned()),
        ..RecordedVerdict::new(action)
    }
}

/// The server, if the name determines exactly one.
fn server(call: &ToolCall) -> Option<String> {
    match call.name.readings().as_slice() {
        [reading] => Some(reading.server.to_owned()),
        _ => None,
    }
}

fn note(hit: &RuleHit) -> MatchedRule {
    MatchedRule { policy: hit.policy.clone(), rule: hit.rule.clone(), reason: hit.reason.clone() }
}
