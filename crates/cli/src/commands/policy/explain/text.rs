//! An explanation for people: a block for each rule, each line with its answer in front.

use callgate_policy::{
    ConditionExplanation, ConditionKind, Contribution, Holds, LimitExplanation, RuleExplanation,
    RuleMismatch, RuleResult, TestExplanation,
};

use crate::render::{printable, rule_name};

/// A block for every rule that applies to the call; then one line for each other rule, unless
/// `all` get a block.
pub(crate) fn rules(rules: &[RuleExplanation], all: bool) -> String {
    let is_told = |rule: &&RuleExplanation| all || rule.mismatch.is_none();
    let mut text: String = rules.iter().filter(is_told).map(block).collect();
    let others = rules.iter().filter(|rule| !is_told(rule));
    let others: Vec<_> =
        others.filter_map(|rule| Some((title(rule), rule.mismatch.as_ref()?))).collect();
    if others.is_empty() {
        return text;
    }
    let width = others.iter().map(|(title, _)| title.chars().count()).max().unwrap_or_default();
    text.push_str("not about this call:\n");
    for (title, misfit) in others {
        text.push_str(&format!("  {title:<width$}  {}\n", misfit_line(misfit)));
    }
    text.push('\n');
    text
}

/// One rule, with its conditions and what it did.
pub(crate) fn block(rule: &RuleExplanation) -> String {
    let shadow = if rule.shadow { ", shadow" } else { "" };
    let mut text =
        format!("{}: {}, priority {}{shadow}\n", title(rule), rule.verdict, rule.priority);
    if let Some(mismatch) = &rule.mismatch {
        line(&mut text, "no", 0, &misfit_line(mismatch));
    }
    if let Some(why) = &rule.unknown {
        line(&mut text, "unknown", 0, &printable(why));
    }
    if let Some(when) = &rule.when {
        condition(&mut text, when, 0);
    }
    if let Some(limit) = &rule.limit {
        let answer = if limit.exceeded { "yes" } else { "no" };
        line(&mut text, answer, 0, &limit_line(limit));
    }
    text.push_str(&format!("  {}\n\n", conclusion(rule)));
    text
}

fn title(rule: &RuleExplanation) -> String {
    let name = rule_name(Some(&rule.policy), Some(&rule.rule));
    match &rule.inside {
        Some(inside) => format!("{name} (inside: {})", printable(inside)),
        None => name,
    }
}

/// One answer, with what was asked: deeper in the tree is further to the right.
fn line(text: &mut String, answer: &str, depth: usize, asked: &str) {
    text.push_str(&format!("  {answer:<7}  {}{asked}\n", "  ".repeat(depth)));
}

/// Depth is bounded by the reader of policies.
fn condition(text: &mut String, explanation: &ConditionExplanation, depth: usize) {
    let answer = explanation.holds.as_str();
    let (word, parts) = match &explanation.kind {
        ConditionKind::Test(test) => {
            return line(text, answer, depth, &test_line(test, &explanation.holds));
        }
        ConditionKind::Any(parts) => ("any of", parts.as_slice()),
        ConditionKind::All(parts) => ("all of", parts.as_slice()),
        ConditionKind::Not(part) => ("not", std::slice::from_ref(part.as_ref())),
    };
    line(text, answer, depth, word);
    for part in parts {
        condition(text, part, depth + 1);
    }
}

fn test_line(test: &TestExplanation, holds: &Holds) -> String {
    let mut saw = match test.seen.as_slice() {
        [] => "saw nothing".to_owned(),
        seen => format!("saw {}", seen.join(", ")),
    };
    if test.unseen > 0 {
        saw.push_str(&format!(" and {} more", test.unseen));
    }
    if let Holds::Unknown { why } = holds {
        saw.push_str(&format!("; {why}"));
    }
    printable(&format!("{} {} {}  ({saw})", test.path, test.operator, written(&test.operand)))
}

/// A value as a policy may write it: JSON doubles each backslash, and no regular expression is
/// readable like that.
fn written(json: &str) -> String {
    match serde_json::from_str::<String>(json) {
        Ok(text) if json.contains('\\') => format!("'{}'", text.replace('\'', "''")),
        _ => json.to_owned(),
    }
}

fn misfit_line(misfit: &RuleMismatch) -> String {
    let has = match &misfit.has {
        Some(has) => format!("has {has}"),
        None => "has none".to_owned(),
    };
    printable(&format!("{}: wants {}, {has}", misfit.what, misfit.wants))
}

fn limit_line(limit: &LimitExplanation) -> String {
    let (rate, bucket) = (limit.key.rate, &limit.key.bucket);
    let by: Vec<_> = bucket.iter().map(|(by, _)| by.as_str()).collect();
    let state = if limit.exceeded { "used up" } else { "not counted here" };
    let (calls, seconds, by) = (rate.calls, rate.seconds, by.join(" and "));
    let plural = if calls == 1 { "" } else { "s" };
    format!("above {calls} call{plural} per {seconds} s by {by}  ({state})")
}

fn conclusion(rule: &RuleExplanation) -> String {
    let result = match rule.result {
        RuleResult::Match => "matches",
        RuleResult::NoMatch => "does not match",
        RuleResult::UnknownMatch => "unknown counts as a match, because the rule restricts",
        RuleResult::UnknownNoMatch => "unknown counts as no match, because the rule allows",
    };
    match &rule.contribution {
        Contribution::Nothing => result.to_owned(),
        Contribution::Decided => format!("{result}: decided"),
        Contribution::Recorded => format!("{result}: recorded"),
        Contribution::Sanitized => format!("{result}: sanitizes the arguments"),
        Contribution::Shadowed => format!("{result}: in shadow mode, without effect"),
        Contribution::Outranked { policy, rule } => {
            format!("{result}: outranked by {}", rule_name(Some(policy), rule.as_deref()))
        }
    }
}
