//! Policies and a call in, an answer out. `filter` and `check` share it.

use callgate_call::{Origin, ToolCall};
use callgate_decide::{Buckets, NO_APPROVER, now};
use callgate_gate::Answer;
use callgate_policy::{
    Direction, Judgement, LimitFacts, NameJudgement, Policies, Recorded, RuleExplanation, Settled,
    TextGuard,
};

/// The policies of this run, and the buckets of their limits.
#[derive(Debug)]
pub(crate) struct Judge {
    policies: Policies,
    buckets: Buckets,
}

impl Judge {
    pub(crate) fn new(policies: Policies) -> Self {
        Self { policies, buckets: Buckets::default() }
    }

    /// The policies.
    pub(crate) fn policies(&self) -> &Policies {
        &self.policies
    }

    /// What the policies say about what a response says.
    pub(crate) fn text_guard(&self, origin: &Origin) -> Option<TextGuard> {
        self.policies.text_guard(Direction::Response, origin)
    }

    /// Judges by name alone. A call that a limit counts is asked about again, whole: it must be
    /// counted once.
    pub(crate) fn name(&self, call: &ToolCall) -> NameJudgement {
        match self.policies.judge_name(call, &now(), &LimitFacts::unasked()) {
            NameJudgement::Allow(_, judgement) if !judgement.limits.is_empty() => {
                NameJudgement::NeedArguments
            }
            other => other,
        }
    }

    /// Judges a whole call and counts it.
    pub(crate) fn whole(&mut self, call: &ToolCall) -> Judgement {
        self.buckets.judge(&self.policies, call, self.dry(call))
    }

    /// Judges a whole call and counts nothing.
    pub(crate) fn dry(&self, call: &ToolCall) -> Judgement {
        self.policies.judge(call, &now(), &LimitFacts::unasked())
    }

    /// The same, with what every rule has to say about it.
    pub(crate) fn explained(&self, call: &ToolCall) -> (Judgement, Vec<RuleExplanation>) {
        let (now, limits) = (now(), LimitFacts::unasked());
        let judgement = self.policies.judge(call, &now, &limits);
        (judgement, self.policies.explain(call, &now, &limits))
    }
}

/// What `filter` answers the gate, which writes no records.
pub(crate) fn unrecorded(judgement: Judgement, call: &ToolCall) -> Answer {
    match judgement.settle(call) {
        Settled::Pass(permit) => Answer::Allow(Recorded::without_a_store(permit)),
        Settled::Wait(ticket) => Answer::Deny(ticket.refuse(NO_APPROVER)),
        Settled::Stop(denial) => Answer::Deny(denial),
    }
}
