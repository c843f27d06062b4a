//! Judging a call that somebody only asks about: nothing is recorded, and no limit is used.

use callgate_call::ToolCall;
use callgate_decide::now;
use callgate_policy::{Judgement, NameJudgement, Policies, RuleExplanation, SpentLimits};

/// Judges a whole call.
pub fn dry(policies: &Policies, call: &ToolCall) -> Judgement {
    policies.judge(call, &now(), &SpentLimits::none())
}

/// Judges by name alone. A call that a limit counts is asked about again, whole: it must be counted
/// once.
pub fn by_name(policies: &Policies, call: &ToolCall) -> NameJudgement {
    match policies.judge_name(call, &now(), &SpentLimits::none()) {
        NameJudgement::Allow(_, judgement) if !judgement.limits.is_empty() => {
            NameJudgement::NeedArguments
        }
        other => other,
    }
}

/// Judges a whole call, with what every rule has to say about it.
pub fn explained(policies: &Policies, call: &ToolCall) -> (Judgement, Vec<RuleExplanation>) {
    let (now, limits) = (now(), SpentLimits::none());
    (policies.judge(call, &now, &limits), policies.explain(call, &now, &limits))
}
