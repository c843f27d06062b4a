//! Rules that nearly matched.

use callgate_policy::{
    ConditionExplanation, ConditionKind, Holds, RuleExplanation, RuleResult, TestExplanation,
};

/// Whether a rule would have matched if one single answer had been another: one condition of several,
/// a limit, or something outside of its conditions, such as the caller.
pub(crate) fn nearly_matched(rule: &RuleExplanation) -> bool {
    if rule.result.matches() {
        return false;
    }
    let when = rule.when.as_ref();
    let holds = when.is_some_and(|when| when.holds == Holds::Yes);
    match (&rule.mismatch, rule.result) {
        (Some(_), _) => holds,
        (None, RuleResult::UnknownNoMatch) => true,
        (None, _) if rule.limit.is_some() => when.is_none_or(|when| when.holds == Holds::Yes),
        (None, _) => when.is_some_and(|when| to_hold(when) == 1 && held(when) > 0),
    }
}

/// How many answers would have to be others for the condition to hold.
fn to_hold(condition: &ConditionExplanation) -> usize {
    match &condition.kind {
        _ if condition.holds == Holds::Yes => 0,
        ConditionKind::Test(_) => 1,
        ConditionKind::Any(parts) => parts.iter().map(to_hold).min().unwrap_or(1),
        ConditionKind::All(parts) => parts.iter().map(to_hold).sum(),
        ConditionKind::Not(part) => to_fail(part),
    }
}

/// How many answers would have to be others for the condition not to hold.
fn to_fail(condition: &ConditionExplanation) -> usize {
    match &condition.kind {
        _ if condition.holds == Holds::No => 0,
        ConditionKind::Test(_) => 1,
        ConditionKind::Any(parts) => parts.iter().map(to_fail).sum(),
        ConditionKind::All(parts) => parts.iter().map(to_fail).min().unwrap_or(1),
        ConditionKind::Not(part) => to_hold(part),
    }
}

/// How many tests hold that say something about the call, on the way that is nearest to a match. That
/// something is absent says little: it holds for most calls.
fn held(condition: &ConditionExplanation) -> usize {
    match &condition.kind {
        ConditionKind::Test(test) => {
            let says_little = matches!(test.operand.as_str(), r#""*""# | "false");
            usize::from(condition.holds == Holds::Yes && !says_little)
        }
        ConditionKind::Not(_) => 0,
        ConditionKind::All(parts) => parts.iter().map(held).sum(),
        ConditionKind::Any(parts) => nearest(parts).map_or(0, held),
    }
}

fn nearest(parts: &[ConditionExplanation]) -> Option<&ConditionExplanation> {
    parts.iter().min_by_key(|part| (to_hold(part), std::cmp::Reverse(held(part))))
}

/// The rule with only those of its conditions that explain why it matched, or nearly did.
pub(crate) fn in_short(rule: &RuleExplanation) -> RuleExplanation {
    RuleExplanation { when: rule.when.as_ref().map(shortened), ..rule.clone() }
}

fn shortened(condition: &ConditionExplanation) -> ConditionExplanation {
    let kind = match &condition.kind {
        ConditionKind::Any(parts) if condition.holds == Holds::Yes => {
            let holding = parts.iter().filter(|part| part.holds == Holds::Yes);
            ConditionKind::Any(holding.map(shortened).collect())
        }
        ConditionKind::Any(parts) => match nearest(parts) {
            Some(part) => return shortened(part),
            None => ConditionKind::Any(Vec::new()),
        },
        ConditionKind::All(parts) => ConditionKind::All(parts.iter().map(shortened).collect()),
        ConditionKind::Not(part) => ConditionKind::Not(part.clone()),
        ConditionKind::Test(test) => {
            ConditionKind::Test(TestExplanation { operand: cut(&test.operand), ..test.clone() })
        }
    };
    match kind {
        ConditionKind::Any(mut parts) if parts.len() == 1 => match parts.pop() {
            Some(only) => only,
            None => condition.clone(),
        },
        kind => ConditionExplanation { holds: condition.holds.clone(), kind },
    }
}

/// A long list is cut: `callgate policy explain` shows all of it.
fn cut(operand: &str) -> String {
    match operand.char_indices().nth(MAX_OPERAND) {
        Some((at, _)) => format!("{}…", operand.get(..at).unwrap_or_default()),
        None => operand.to_owned(),
    }
}

const MAX_OPERAND: usize = 100;
