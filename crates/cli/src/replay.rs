//! Recorded calls, judged again in their order: each with what its session wrote and did before, as a
//! gateway with these policies would have known it.

use std::ops::ControlFlow;

use anyhow::Result;
use callgate_audit::{CallOutcome, Filter, RecordKind, RecordOrder, StoredRecord};
use callgate_policy::{Judgement, Policies};
use callgate_store::{FlowStep, RecordReader};
use jiff::SignedDuration;

use crate::recorded_call::{NotReplayable, RecordedCall, RuleDecision};
use crate::sessions::Sessions;

/// Policies, and what the calls that they have judged so far did.
pub(crate) struct Replay<'p> {
    policies: &'p Policies,
    sessions: Sessions,
}

impl<'p> Replay<'p> {
    pub(crate) fn new(policies: &'p Policies) -> Self {
        Self { policies, sessions: Sessions::default() }
    }

    /// The same after the calls that came before this one in its session.
    pub(crate) fn up_to(
        policies: &'p Policies,
        stored: &StoredRecord,
        reader: &RecordReader,
    ) -> Result<Self> {
        let mut replay = Self::new(policies);
        if !policies.look_at_earlier_calls() {
            return Ok(replay);
        }
        let filter = Filter {
            session: stored.record.who.session.clone(),
            since: stored.record.time.checked_sub(reach()).ok(),
            order: RecordOrder::OldestFirst,
            ..calls()
        };
        reader.for_each(&filter, |earlier| {
            if earlier.seq >= stored.seq {
                return Ok(ControlFlow::Break(()));
            }
            replay
                .judge_next(&earlier, RecordedCall::of(&earlier).as_ref().map_err(|why| *why))
                .ok();
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(replay)
    }

    /// Whether the verdict on a call may depend on the calls before it.
    pub(crate) fn needs_earlier_calls(&self) -> bool {
        self.policies.look_at_earlier_calls()
    }

    /// The call, with what its session did before.
    pub(crate) fn with_past(&self, stored: &StoredRecord, recorded: &RecordedCall) -> RecordedCall {
        let mut recorded = recorded.clone();
        self.sessions.add_past(&mut recorded.call, stored.record.time);
        recorded
    }

    /// Judges the next call, and keeps what later calls may depend on.
    pub(crate) fn judge_next(
        &mut self,
        stored: &StoredRecord,
        recorded: Result<&RecordedCall, NotReplayable>,
    ) -> Result<Judgement, NotReplayable> {
        if !self.needs_earlier_calls() {
            return Ok(recorded?.judge(self.policies));
        }
        let (time, recorded) = (stored.record.time, recorded.inspect_err(|_| self.lose(stored))?);
        let recorded = self.with_past(stored, recorded);
        let judgement = recorded.judge(self.policies);
        if !was_stopped_otherwise(stored) {
            self.sessions.keep(&recorded.call, &judgement, time);
        }
        Ok(judgement)
    }

    /// The decision about the next call; an error if a limit decided the call on record.
    pub(crate) fn decide_next(
        &mut self,
        stored: &StoredRecord,
        recorded: Result<&RecordedCall, NotReplayable>,
    ) -> Result<RuleDecision, NotReplayable> {
        let judgement = self.judge_next(stored, recorded)?;
        let decided = stored.record.verdict.as_ref().filter(|it| it.action == CallOutcome::Deny);
        let rule = decided.and_then(|verdict| verdict.rule.as_ref());
        match rule.is_some_and(|rule| judgement.limits.iter().any(|limit| limit.rule == *rule)) {
            true => Err(NotReplayable::Limited),
            false => Ok(RuleDecision::of(&judgement)),
        }
    }

    /// Whether a call before this one in its session could not be judged again.
    pub(crate) fn is_incomplete(&self, stored: &StoredRecord, recorded: &RecordedCall) -> bool {
        self.sessions.is_incomplete(&recorded.call.origin, stored.record.time)
    }

    /// A call that cannot be judged may have written files and done things, if it passed.
    fn lose(&mut self, stored: &StoredRecord) {
        let passed = stored.record.verdict.as_ref().is_none_or(|it| it.action != CallOutcome::Deny);
        if passed {
            self.sessions.lose(&RecordedCall::origin_of(stored), stored.record.time);
        }
    }
}

/// Whether something other than a policy stopped the call: then it did nothing, whatever the policies
/// say.
fn was_stopped_otherwise(stored: &StoredRecord) -> bool {
    let denied = stored.record.verdict.as_ref().is_some_and(|it| it.action == CallOutcome::Deny);
    denied && RuleDecision::recorded(stored).is_err()
}

/// How long before a call something can have happened that its judgement depends on.
pub(crate) fn reach() -> SignedDuration {
    SignedDuration::from_hours(FlowStep::MAX_HOURS)
}

/// Every recorded call.
pub(crate) fn calls() -> Filter {
    let kinds = RecordKind::ALL.iter().copied().filter(|kind| kind.is_call()).collect();
    Filter { kinds, ..Filter::default() }
}
