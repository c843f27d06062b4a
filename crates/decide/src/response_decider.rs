//! Decides the calls of one response by the policies that were in force when it began.

use std::sync::Arc;
use std::time::Instant;

use callgate_audit::{CallOutcome, ReasonCode, Record, RecordId, RecordKind, RecordedTool, Tokens};
use callgate_call::ToolCall;
use callgate_policy::{
    Denial, Direction, NameDecision, NameJudgement, Policies, SpentLimits, TextGuard, TextHit,
    may_wrap_calls,
};
use callgate_store::TurnCount;
use tokio::sync::oneshot;

use crate::clock::{now, now_micros};
use crate::decider::{DeciderState, RequestContext};
use crate::in_force::InForce;
use crate::mcp::ResolvedTool;
use crate::new_record::{self, ArgumentsState};
use crate::past;
use crate::pending::PendingDecision;
use crate::pipeline::{self, CallSource, Subject};
use crate::session_steps::KeyedStep;

/// Decides the calls of one response by the policies and settings that were in force when it began.
#[derive(Debug)]
pub struct ResponseDecider {
    inner: Arc<DeciderState>,
    in_force: Arc<InForce>,
    policies: Arc<Policies>,
    context: RequestContext,
    begun: Instant,
    /// Calls that were denied by name, with their records. Their input arrives later.
    denied: Vec<(CallNumber, RecordId)>,
    /// Number of records so far: calls, oddities and text matches.
    recorded: u64,
    /// Number of oddities.
    oddities: u64,
    /// Number of matches of text rules.
    hits: u64,
    /// Why the turn did not continue after a denial.
    not_continued: Option<String>,
    /// What the next call waits for: each resolves when a call before it is judged and has left
    /// what later calls depend on.
    previous_done: Vec<oneshot::Receiver<()>>,
}

/// Identifies a call within one response, whose turn may have several answers. Ids of providers may
/// be missing or repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallNumber {
    /// The number of the answer, from 0.
    pub answer: u32,
    /// The number of the call in that answer.
    pub call: u32,
}

/// A problem with a response that is not about a judged call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Oddity {
    /// A frame was unreadable and was withheld.
    Withheld,
    /// A frame or a body was unreadable and was forwarded unread: the operator lets it pass.
    PassedUnread,
    /// A call was forwarded in another shape than it arrived in.
    Normalised,
    /// A call was refused, whatever the policies allow.
    Refused,
    /// A call was dropped: the response ended or failed inside it, or a text rule stopped it.
    Dropped,
}

impl Oddity {
    /// What the record says was decided; `None` if the call has a record of its own.
    fn verdict(self, why: &str) -> Option<callgate_audit::RecordedVerdict> {
        let (action, code) = match self {
            Self::Withheld | Self::Refused | Self::Dropped => {
                (CallOutcome::Deny, ReasonCode::Unreadable)
            }
            Self::PassedUnread => (CallOutcome::Unjudged, ReasonCode::Unreadable),
            Self::Normalised => return None,
        };
        Some(new_record::without_rule(action, code, why))
    }

    fn word(self) -> &'static str {
        match self {
            Self::Withheld => "withheld",
            Self::PassedUnread => "unread",
            Self::Normalised => "normalised",
            Self::Refused => "refused",
            Self::Dropped => "dropped",
        }
    }
}

/// What the end of a response reported.
#[derive(Debug, Clone, Default)]
pub struct TurnEnd {
    /// The model, if the response named it.
    pub model: Option<String>,
    /// The tokens that it used.
    pub tokens: Tokens,
    /// Why the model stopped, in the provider's words.
    pub stop_reason: Option<String>,
    /// Number of calls that the client was meant to run.
    pub calls: u64,
    /// Why the response ended early, if it did.
    pub failure: Option<String>,
}

impl ResponseDecider {
    pub(crate) fn new(
        inner: Arc<DeciderState>,
        in_force: Arc<InForce>,
        context: RequestContext,
    ) -> Self {
        Self {
            inner,
            policies: in_force.rules(),
            in_force,
            context,
            begun: Instant::now(),
            denied: Vec::new(),
            recorded: 0,
            oddities: 0,
            hits: 0,
            not_continued: None,
            previous_done: Vec::new(),
        }
    }

    /// Judges a call by its name alone, without reading the store. A call with a limit needs its
    /// arguments too, because it must be counted only once.
    pub fn decide_by_name(&mut self, number: CallNumber, call: &ToolCall) -> NameDecision {
        let begun = Instant::now();
        let settings = &*self.in_force.mcp;
        let resolved_tool = self.inner.resolve_tool(settings, &call.name);
        if self.inner.may_be_outdated(&call.name, &resolved_tool, self.begun) {
            // Then the complete call rarely has to wait for the refresh.
            self.inner.request_refresh();
            // Without lists of servers and tools, the complete call is early enough for this check.
            if settings.restricts_names() {
                return NameDecision::NeedArguments;
            }
        }
        let call = &resolved_tool.read(call.clone());
        let failures = self.inner.check_resolved_tool(settings, &call.name, &resolved_tool);
        if failures.blocking().next().is_some() {
            let judgement = self.policies.judge_waived(call, &now(), &SpentLimits::none());
            let denial = failures.denial(call.name.raw(), judgement.denial(call));
            let outcome = (failures.verdict(&judgement), denial);
            return self.denied_by_name(number, call, &resolved_tool, outcome, begun);
        }
        match self.policies.judge_name(call, &now(), &SpentLimits::none()) {
            // Lists of servers and tools also apply to the calls inside a wrapper call.
            NameJudgement::Allow(permit, judgement)
                if judgement.limits.is_empty()
                    && !may_wrap_calls(&call.name)
                    && !resolved_tool.is_rated(settings) =>
            {
                NameDecision::Stream(permit)
            }
            NameJudgement::Allow(..) | NameJudgement::NeedArguments => NameDecision::NeedArguments,
            NameJudgement::Deny(judgement) => {
                let outcome = (new_record::verdict(&judgement), judgement.denial(call));
                self.denied_by_name(number, call, &resolved_tool, outcome, begun)
            }
        }
    }

    /// Writes the record immediately. The input follows in a record of its own.
    fn denied_by_name(
        &mut self,
        number: CallNumber,
        call: &ToolCall,
        resolved_tool: &ResolvedTool,
        (verdict, denial): (callgate_audit::RecordedVerdict, Option<Denial>),
        begun: Instant,
    ) -> NameDecision {
        // What stops a call does so even if nobody can say why.
        let mut denial =
            denial.unwrap_or_else(|| Denial::refused(call.name.raw(), "its name alone is refused"));
        let mut record =
            new_record::call(resolved_tool.kind(), &self.context, call, ArgumentsState::Pending);
        resolved_tool.add_server_facts(&mut record);
        let digest = Some(self.policies.digest().to_owned()).filter(|digest| !digest.is_empty());
        record.verdict = Some(callgate_audit::RecordedVerdict { policy_digest: digest, ..verdict });
        record.timing.judged_us = Some(micros(begun));
        denial.record = Some(record.id.to_string());
        self.denied.push((number, record.id));
        self.recorded += 1;
        let events = self.denial_events(call, &record);
        let (turn, done) = oneshot::channel();
        self.previous_done.push(done);
        self.inner.write_denial(record, events, Some(turn));
        NameDecision::Deny(denial)
    }

    /// The denial of a rule, for later calls of the session.
    fn denial_events(&self, call: &ToolCall, record: &Record) -> Vec<KeyedStep> {
        let verdict = record.verdict.as_ref();
        let rule = verdict.and_then(|it| Some((it.policy.as_ref()?, it.rule.as_ref()?)));
        match rule.filter(|_| self.policies.looks_at_history()) {
            Some((policy, rule)) => {
                let event = format!("denied {policy}/{rule}");
                past::steps(&call.origin, now_micros(), record.id, &[event])
            }
            None => Vec::new(),
        }
    }

    /// Records the input of a call that was denied by name.
    pub fn record_input(&mut self, number: CallNumber, call: &ToolCall) {
        let Some(place) = self.denied.iter().position(|(denied, _)| *denied == number) else {
            return;
        };
        let (_, completes) = self.denied.swap_remove(place);
        let kind = self.inner.resolve_tool(&self.in_force.mcp, &call.name).kind();
        let mut record = new_record::call(kind, &self.context, call, ArgumentsState::Known);
        record.completes = Some(completes);
        self.inner.write(record);
    }

    /// Judges a complete call, counts it and records it. The future resolves when the record is
    /// durable. A call that may depend on an earlier one of the response waits for that.
    pub fn decide(&mut self, call: ToolCall) -> PendingDecision {
        self.recorded += 1;
        let (turn, done) = oneshot::channel();
        let previous_done = std::mem::replace(&mut self.previous_done, vec![done]);
        let mut subject = Subject {
            context: self.context.clone(),
            policies: Arc::clone(&self.policies),
            in_force: Arc::clone(&self.in_force),
            readings: Vec::new(),
            extra_inputs: Vec::new(),
            source: CallSource::InResponse { begun: self.begun },
            record: RecordId::new(),
            seen_at: now_micros(),
            begun: Instant::now(),
            call,
        };
        let inner = Arc::clone(&self.inner);
        PendingDecision::new(async move {
            for previous in previous_done {
                // Nothing is ever sent: the other call drops its turn.
                previous.await.ok();
                (subject.seen_at, subject.begun) = (now_micros(), Instant::now());
            }
            pipeline::decide_in_turn(inner, subject, turn).await.decision
        })
    }

    /// Records a call that the provider ran itself.
    pub fn record_provider_call(&mut self, call: &ToolCall) {
        let mut record =
            new_record::call(RecordKind::ToolCall, &self.context, call, ArgumentsState::Known);
        record.verdict = Some(new_record::without_rule(
            CallOutcome::Unjudged,
            ReasonCode::Unjudged,
            "run by the provider itself",
        ));
        self.write_later(record);
    }

    /// Records an oddity of the response. `tool` is the call it concerns.
    pub fn record_oddity(&mut self, oddity: Oddity, tool: Option<&str>, why: &str) {
        self.oddities += 1;
        if self.oddities > MAX_ODDITIES {
            return;
        }
        let mut record =
            new_record::begin(RecordKind::ToolCallWarning, &self.context, &self.context.origin);
        record.tool =
            tool.map(|name| RecordedTool { name: name.to_owned(), ..RecordedTool::default() });
        record.verdict = oddity.verdict(why);
        record.detail = Some(format!("{}: {why}", oddity.word()));
        self.write_later(record);
    }

    /// The text rules that apply to this response, if any.
    pub fn text_guard(&self) -> Option<TextGuard> {
        self.policies.text_guard(Direction::Response, &self.context.origin)
    }

    /// Records a match of a text rule in the response.
    pub fn record_text_hit(&mut self, hit: &TextHit) {
        self.hits += 1;
        if self.hits <= MAX_ODDITIES {
            let record = new_record::guardrail(&self.context, Direction::Response, hit);
            self.write_later(record);
        }
    }

    /// Records another answer of the turn, which the provider gave after a denial.
    pub fn record_continued(&mut self, answer: TurnEnd) {
        let mut record =
            new_record::begin(RecordKind::Continued, &self.context, &self.context.origin);
        record.model = answer.model.or(record.model);
        record.tokens = answer.tokens;
        record.stop_reason = answer.stop_reason;
        record.calls = Some(answer.calls);
        record.detail = answer.failure;
        self.write_later(record);
    }

    /// Notes why the turn did not continue after a denial, for the summary.
    pub fn note_not_continued(&mut self, why: &str) {
        self.not_continued = Some(why.to_owned());
    }

    /// Writes the summary of the response, which ended normally or not.
    pub fn end(self, end: TurnEnd) {
        let tokens = end.tokens;
        let facts = &self.context.origin;
        if self.recorded == 0 && end.calls == 0 && end.failure.is_none() {
            let provider = facts.provider.clone().unwrap_or_default();
            let who = new_record::principal(facts);
            let turn = TurnCount { provider, model: end.model, who, tokens };
            return self.inner.audit.count_turn(turn);
        }
        let mut record = new_record::begin(RecordKind::Turn, &self.context, facts);
        record.model = end.model.or(record.model);
        record.tokens = tokens;
        record.stop_reason = end.stop_reason;
        record.calls = Some(end.calls);
        record.timing.total_ms = Some(millis(self.begun));
        let more = |source: u64| source.saturating_sub(MAX_ODDITIES);
        record.detail = match (more(self.oddities), more(self.hits)) {
            (0, 0) => match (end.failure, self.not_continued) {
                (Some(failure), _) => Some(failure),
                (None, why) => why.map(|why| format!("not continued: {why}")),
            },
            (oddities, 0) => Some(format!(
                "{}{oddities} more oddities are not recorded",
                failure_prefix(end.failure)
            )),
            (oddities, hits) => Some(format!(
                "{}{oddities} more oddities and {hits} more hits of text rules are not recorded",
                failure_prefix(end.failure)
            )),
        };
        self.inner.write(record);
    }

    fn write_later(&mut self, record: Record) {
        self.recorded += 1;
        self.inner.write(record);
    }
}

/// A hostile response could contain an oddity in every frame and push all other records out of the
/// store.
const MAX_ODDITIES: u64 = 64;

fn failure_prefix(failure: Option<String>) -> String {
    failure.map_or_else(String::new, |failure| format!("{failure}; "))
}

fn micros(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_micros()).unwrap_or(u64::MAX)
}

fn millis(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}
