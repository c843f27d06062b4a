//! Judges a call hypothetically: nothing is recorded, and no limit is used.

use callgate_call::ToolCall;
use callgate_decide::now;
use callgate_policy::{Judgement, Moment, NameJudgement, Policies, RuleExplanation, SpentLimits};

/// Judges a complete call.
pub fn dry(policies: &Policies, call: &ToolCall) -> Judgement {
    dry_at(policies, call, &now())
}

/// The same at another time.
pub fn dry_at(policies: &Policies, call: &ToolCall, moment: &Moment) -> Judgement {
    policies.judge(call, moment, &SpentLimits::none())
}

/// The call that is judged most strictly, of the same call in several places.
pub fn strictest(
    calls: Vec<ToolCall>,
    judge: impl Fn(&ToolCall) -> Judgement,
) -> Option<(ToolCall, Judgement)> {
    let judged = calls.into_iter().map(|call| {
        let judgement = judge(&call);
        (call, judgement)
    });
    judged.reduce(|first, other| match other.1.verdict > first.1.verdict {
        true => other,
        false => first,
    })
}

/// Judges a call by its name alone. A call with a limit needs its arguments too, because it must be
/// counted only once.
pub fn by_name(policies: &Policies, call: &ToolCall) -> NameJudgement {
    match policies.judge_name(call, &now(), &SpentLimits::none()) {
        NameJudgement::Allow(_, judgement) if !judgement.limits.is_empty() => {
            NameJudgement::NeedArguments
        }
        other => other,
    }
}

/// Judges a complete call, and explains every rule about it.
pub fn explained(policies: &Policies, call: &ToolCall) -> (Judgement, Vec<RuleExplanation>) {
    explained_at(policies, call, &now())
}

/// The same at another time.
pub fn explained_at(
    policies: &Policies,
    call: &ToolCall,
    moment: &Moment,
) -> (Judgement, Vec<RuleExplanation>) {
    let limits = SpentLimits::none();
    (policies.judge(call, moment, &limits), policies.explain(call, moment, &limits))
}
