//! Policies and a call in, an answer out. `filter` and `check` share it.

use std::sync::Arc;

use callgate_call::{Origin, ToolCall};
use callgate_control::judging;
use callgate_decide::{Buckets, NO_APPROVER, now};
use callgate_gate::Decision;
use callgate_policy::{
    Direction, EffectReport, Judgement, Moment, NameJudgement, Policies, Recorded, RuleExplanation,
    Settled, TextGuard,
};

use crate::args;
use crate::disk::AgentDisk;
use crate::given_call::GivenCall;

/// The policies of this run, and the buckets of their limits.
#[derive(Debug)]
pub(crate) struct Judge {
    policies: Policies,
    buckets: Buckets,
    /// The time that rules see; `None` for the time of each judgement.
    moment: Option<Moment>,
}

impl Judge {
    pub(crate) fn new(policies: Policies) -> Self {
        Self { policies, buckets: Buckets::default(), moment: None }
    }

    /// A judge on the agent's machine, which looks at its files unless it must not.
    pub(crate) fn on_disk(policies: Policies, call: &args::CallArgs) -> Self {
        let policies = match call.no_disk {
            true => policies,
            false => policies.with_disk(Arc::new(AgentDisk)),
        };
        Self { moment: call.at, ..Self::new(policies) }
    }

    /// A judge for this call: at its time if it has one, and with a look at the disk unless it is a
    /// call of another time.
    pub(crate) fn for_call(policies: Policies, given: &GivenCall, flags: &args::CallArgs) -> Self {
        match given.moment {
            Some(moment) => Self { moment: flags.at.or(Some(moment)), ..Self::new(policies) },
            None => Self::on_disk(policies, flags),
        }
    }

    fn moment(&self) -> Moment {
        self.moment.unwrap_or_else(now)
    }

    /// The text rules for the response.
    pub(crate) fn text_guard(&self, origin: &Origin) -> Option<TextGuard> {
        self.policies.text_guard(Direction::Response, origin)
    }

    /// Judges by name alone.
    pub(crate) fn name(&self, call: &ToolCall) -> NameJudgement {
        judging::by_name(&self.policies, call)
    }

    /// Judges a whole call and counts it.
    pub(crate) fn whole(&mut self, call: &ToolCall) -> Judgement {
        self.buckets.judge(&self.policies, call, self.dry(call))
    }

    /// Judges a whole call and counts nothing.
    pub(crate) fn dry(&self, call: &ToolCall) -> Judgement {
        judging::dry_at(&self.policies, call, &self.moment())
    }

    /// What a call would do.
    pub(crate) fn effects(&self, call: &ToolCall) -> EffectReport {
        self.policies.effects(call, &self.moment())
    }

    /// The same, with the result of every rule.
    pub(crate) fn explained(&self, call: &ToolCall) -> (Judgement, Vec<RuleExplanation>) {
        judging::explained_at(&self.policies, call, &self.moment())
    }
}

/// What `filter` answers the gate, which writes no records.
pub(crate) fn unrecorded(judgement: Judgement, call: &ToolCall) -> Decision {
    match judgement.settle(call) {
        Settled::Pass(permit) => Decision::Allow(Recorded::without_a_store(permit)),
        Settled::Wait(ticket) => Decision::Deny(ticket.refuse(NO_APPROVER)),
        Settled::Stop(denial) => Decision::Deny(denial),
    }
}
