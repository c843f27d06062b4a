//! The calls of one response before the policies it began with.

use std::sync::Arc;
use std::time::Instant;

use callgate_audit::{Action, Code, Kind, Record, RecordId, Tokens, Tool};
use callgate_call::ToolCall;
use callgate_policy::{
    Denial, Direction, NameJudgement, NamePermit, Policies, SpentLimits, TextGuard, TextHit,
    may_wrap_calls,
};
use callgate_store::TurnCount;

use crate::clock::now;
use crate::decider::{Context, Inner};
use crate::in_force::InForce;
use crate::mcp::{Meant, now_micros};
use crate::pending::Pending;
use crate::pipeline::{self, Seen, Subject};
use crate::record::{self, Input};

/// One response. Its calls are judged by the policies and settings that were in force when it began.
#[derive(Debug)]
pub struct Hearing {
    inner: Arc<Inner>,
    in_force: Arc<InForce>,
    policies: Arc<Policies>,
    context: Context,
    begun: Instant,
    /// Calls that were denied by their name: their input comes later.
    denied: Vec<(CallNumber, RecordId)>,
    /// Calls and oddities recorded.
    recorded: u64,
    /// Oddities seen.
    odd: u64,
    /// What rules about text found.
    hits: u64,
}

/// Tells the calls of one response apart: ids may be missing, or lie.
pub type CallNumber = u32;

/// The answer to a name.
#[derive(Debug)]
pub enum ByName {
    /// The call may stream; what completes it waits for [`Hearing::whole`].
    Stream(NamePermit),
    /// It is denied, whatever its arguments.
    Deny(Denial),
    /// A rule needs the arguments.
    NeedArguments,
}

/// Something about a response that is not a judged call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Oddity {
    /// A frame could not be read and was withheld.
    Withheld,
    /// A call left in another shape than it came in.
    Normalised,
    /// A call was refused whatever the policies say.
    Refused,
    /// The response ended inside a call.
    Dropped,
}

impl Oddity {
    fn word(self) -> &'static str {
        match self {
            Self::Withheld => "withheld",
            Self::Normalised => "normalised",
            Self::Refused => "refused",
            Self::Dropped => "dropped",
        }
    }
}

/// What the end of a response told.
#[derive(Debug, Clone, Default)]
pub struct TurnEnd {
    /// The model, if the response named it.
    pub model: Option<String>,
    /// What it cost.
    pub tokens: Tokens,
    /// Why the model stopped, in the provider's word.
    pub stop_reason: Option<String>,
    /// Calls the client was meant to run.
    pub calls: u64,
    /// What ended it before its time.
    pub failure: Option<String>,
}

impl Hearing {
    pub(crate) fn new(inner: Arc<Inner>, in_force: Arc<InForce>, context: Context) -> Self {
        Self {
            inner,
            policies: in_force.rules(),
            in_force,
            context,
            begun: Instant::now(),
            denied: Vec::new(),
            recorded: 0,
            odd: 0,
            hits: 0,
        }
    }

    /// Judges by the name alone, from what is in memory. A call that a limit counts is asked about
    /// again, whole: it must be counted once.
    pub fn by_name(&mut self, number: CallNumber, call: &ToolCall) -> ByName {
        let begun = Instant::now();
        let settings = &*self.in_force.mcp;
        let meant = self.inner.meant(settings, &call.name);
        if self.inner.may_be_news(&call.name, &meant, self.begun) {
            // So that the call, once it is whole, seldom has to wait for it.
            self.inner.ask_to_refresh();
            // Where there are no lists of servers and tools, it is early enough to know with the arguments.
            if settings.restricts_names() {
                return ByName::NeedArguments;
            }
        }
        let call = &meant.read(call.clone());
        let objections = self.inner.check_meant(settings, &call.name, &meant);
        if objections.stops().next().is_some() {
            let judgement = self.policies.judge_waived(call, &now(), &SpentLimits::none());
            let denial = objections.denial(call.name.raw(), judgement.denial(call));
            let verdict = objections.verdict(&judgement);
            return self.denied_by_name(number, call, &meant, (verdict, denial), begun);
        }
        match self.policies.judge_name(call, &now(), &SpentLimits::none()) {
            // Lists of servers and tools have a say about what a call carries.
            NameJudgement::Allow(permit, judgement)
                if judgement.limits.is_empty()
                    && !may_wrap_calls(&call.name)
                    && !meant.is_rated(settings) =>
            {
                ByName::Stream(permit)
            }
            NameJudgement::Allow(..) | NameJudgement::NeedArguments => ByName::NeedArguments,
            NameJudgement::Deny(judgement) => {
                let told = (record::verdict(&judgement), judgement.denial(call));
                self.denied_by_name(number, call, &meant, told, begun)
            }
        }
    }

    /// Recorded at once; its input follows in a record of its own.
    fn denied_by_name(
        &mut self,
        number: CallNumber,
        call: &ToolCall,
        meant: &Meant,
        (verdict, denial): (callgate_audit::Verdict, Option<Denial>),
        begun: Instant,
    ) -> ByName {
        let Some(mut denial) = denial else { return ByName::NeedArguments };
        let mut record = record::call(meant.kind(), &self.context, call, Input::Pending);
        meant.tell(&mut record);
        let digest = Some(self.policies.digest().to_owned()).filter(|digest| !digest.is_empty());
        record.verdict = Some(callgate_audit::Verdict { policy_digest: digest, ..verdict });
        record.timing.judged_us = Some(micros(begun));
        denial.record = Some(record.id.to_string());
        self.denied.push((number, record.id));
        self.write_later(record);
        ByName::Deny(denial)
    }

    /// The input of a call that was denied by its name.
    pub fn completed(&mut self, number: CallNumber, call: &ToolCall) {
        let Some(place) = self.denied.iter().position(|(denied, _)| *denied == number) else {
            return;
        };
        let (_, completes) = self.denied.swap_remove(place);
        let kind = self.inner.meant(&self.in_force.mcp, &call.name).kind();
        let mut record = record::call(kind, &self.context, call, Input::Known);
        record.completes = Some(completes);
        self.inner.write(record);
    }

    /// Judges a whole call, counts it and records it. The answer comes when the record is durable.
    pub fn whole(&mut self, call: ToolCall) -> Pending {
        self.recorded += 1;
        let subject = Subject {
            context: self.context.clone(),
            policies: Arc::clone(&self.policies),
            in_force: Arc::clone(&self.in_force),
            readings: Vec::new(),
            along: Vec::new(),
            seen: Seen::InAnswer { begun: self.begun },
            record: RecordId::new(),
            at: now_micros(),
            begun: Instant::now(),
            call,
        };
        let decided = pipeline::decide(Arc::clone(&self.inner), subject);
        Pending::new(async { decided.await.decision })
    }

    /// A call the provider has run itself.
    pub fn observed(&mut self, call: &ToolCall) {
        let mut record = record::call(Kind::ToolCall, &self.context, call, Input::Known);
        record.verdict = Some(record::without_rule(
            Action::Unjudged,
            Code::Unjudged,
            "run by the provider itself",
        ));
        self.write_later(record);
    }

    /// Something odd about the response; `tool` is the call it is about.
    pub fn odd(&mut self, oddity: Oddity, tool: Option<&str>, why: &str) {
        self.odd += 1;
        if self.odd > MAX_ODD {
            return;
        }
        let mut record = record::begin(Kind::ToolCallWarning, &self.context, &self.context.origin);
        record.tool = tool.map(|name| Tool { name: name.to_owned(), ..Tool::default() });
        let dropped = matches!(oddity, Oddity::Refused | Oddity::Dropped | Oddity::Withheld);
        if dropped {
            record.verdict = Some(record::without_rule(Action::Deny, Code::Unreadable, why));
        }
        record.detail = Some(format!("{}: {why}", oddity.word()));
        self.write_later(record);
    }

    /// What the policies say about what the response says; `None` if nothing.
    pub fn text_guard(&self) -> Option<TextGuard> {
        self.policies.text_guard(Direction::Response, &self.context.origin)
    }

    /// A rule about text found something in the response.
    pub fn guardrail(&mut self, hit: &TextHit) {
        self.hits += 1;
        if self.hits <= MAX_ODD {
            let record = record::guardrail(&self.context, Direction::Response, hit);
            self.write_later(record);
        }
    }

    /// The response has ended, one way or the other.
    pub fn end(self, end: TurnEnd) {
        let tokens = end.tokens;
        let facts = &self.context.origin;
        if self.recorded == 0 && end.calls == 0 && end.failure.is_none() {
            let provider = facts.provider.clone().unwrap_or_default();
            let who = record::principal(facts);
            let turn = TurnCount { provider, model: end.model, who, tokens };
            return self.inner.audit.count_turn(turn);
        }
        let mut record = record::begin(Kind::Turn, &self.context, facts);
        record.model = end.model.or(record.model);
        record.tokens = tokens;
        record.stop_reason = end.stop_reason;
        record.calls = Some(end.calls);
        record.timing.total_ms = Some(millis(self.begun));
        let more = |seen: u64| seen.saturating_sub(MAX_ODD);
        record.detail = match (more(self.odd), more(self.hits)) {
            (0, 0) => end.failure,
            (odd, 0) => Some(format!("{}{odd} more oddities are not recorded", said(end.failure))),
            (odd, hits) => Some(format!(
                "{}{odd} more oddities and {hits} more hits of text rules are not recorded",
                said(end.failure)
            )),
        };
        self.inner.write(record);
    }

    fn write_later(&mut self, record: Record) {
        self.recorded += 1;
        self.inner.write(record);
    }
}

/// A hostile response could be odd in every frame, and push everything else out of the store.
const MAX_ODD: u64 = 64;

fn said(failure: Option<String>) -> String {
    failure.map_or_else(String::new, |failure| format!("{failure}; "))
}

fn micros(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_micros()).unwrap_or(u64::MAX)
}

fn millis(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}
