//! The explanation of a judgement for programs: the output of `check --json`, and every rule.

use callgate_call::ToolCall;
use callgate_policy::{
    ConditionExplanation, ConditionKind, Contribution, EffectReport, Holds, Judgement,
    LimitExplanation, RuleExplanation, RuleMismatch, RuleResult, TestExplanation,
};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::judgement_output::CheckOutput;

/// A line of `policy explain --json`, and the answer of `explain` about a call.
#[derive(Debug, Serialize)]
pub struct ExplanationOutput<'a> {
    #[serde(flatten)]
    checked: CheckOutput<'a>,
    rules: Vec<RuleOutput<'a>>,
}

#[derive(Debug, Serialize)]
struct RuleOutput<'a> {
    policy: &'a str,
    rule: &'a str,
    verdict: &'static str,
    priority: i64,
    shadow: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    inside: Option<&'a str>,
    applies: bool,
    misfit: Option<MismatchOutput<'a>>,
    unknown: Option<&'a str>,
    when: Option<ConditionOutput<'a>>,
    limit: Option<LimitOutput>,
    result: &'static str,
    part: &'static str,
    outranked_by: Option<OutrankingOutput<'a>>,
}

#[derive(Debug, Serialize)]
struct MismatchOutput<'a> {
    what: &'a str,
    wants: &'a str,
    has: Option<&'a str>,
}

#[derive(Debug, Serialize)]
struct ConditionOutput<'a> {
    holds: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'a str>,
    #[serde(flatten)]
    shape: ConditionShape<'a>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
enum ConditionShape<'a> {
    Any(Vec<ConditionOutput<'a>>),
    All(Vec<ConditionOutput<'a>>),
    Not(Box<ConditionOutput<'a>>),
    Test(TestOutput<'a>),
}

#[derive(Debug, Serialize)]
struct TestOutput<'a> {
    arg: &'a str,
    operator: &'static str,
    value: Option<Box<RawValue>>,
    /// JSON texts, possibly truncated.
    saw: &'a [String],
    more: usize,
}

#[derive(Debug, Serialize)]
struct LimitOutput {
    calls: u32,
    seconds: u32,
    by: Vec<&'static str>,
    exceeded: bool,
}

#[derive(Debug, Serialize)]
struct OutrankingOutput<'a> {
    policy: &'a str,
    rule: Option<&'a str>,
}

impl<'a> ExplanationOutput<'a> {
    /// The explanation of this judgement with these rules.
    pub fn of(call: &'a ToolCall, judgement: &'a Judgement, rules: &'a [RuleExplanation]) -> Self {
        Self {
            checked: CheckOutput::of(call, judgement),
            rules: rules.iter().map(RuleOutput::of).collect(),
        }
    }

    /// The same with what the call would do.
    pub fn with_effects(self, report: &'a EffectReport) -> Self {
        Self { checked: self.checked.with_effects(report), ..self }
    }
}

impl<'a> RuleOutput<'a> {
    fn of(rule: &'a RuleExplanation) -> Self {
        Self {
            policy: &rule.policy,
            rule: &rule.rule,
            verdict: rule.verdict.as_str(),
            priority: rule.priority,
            shadow: rule.shadow,
            inside: rule.inside.as_deref(),
            applies: rule.mismatch.is_none(),
            misfit: rule.mismatch.as_ref().map(MismatchOutput::of),
            unknown: rule.unknown.as_deref(),
            when: rule.when.as_ref().map(ConditionOutput::of),
            limit: rule.limit.as_ref().map(LimitOutput::of),
            result: result(rule.result),
            part: part(&rule.contribution),
            outranked_by: OutrankingOutput::of(&rule.contribution),
        }
    }
}

impl<'a> MismatchOutput<'a> {
    fn of(misfit: &'a RuleMismatch) -> Self {
        Self { what: &misfit.what, wants: &misfit.wants, has: misfit.has.as_deref() }
    }
}

impl<'a> ConditionOutput<'a> {
    /// The reader of policies bounds the depth.
    fn of(condition: &'a ConditionExplanation) -> Self {
        let every = |parts: &'a [ConditionExplanation]| parts.iter().map(Self::of).collect();
        let why = match &condition.holds {
            Holds::Unknown { why } => Some(why.as_str()),
            Holds::Yes | Holds::No => None,
        };
        let shape = match &condition.kind {
            ConditionKind::Any(parts) => ConditionShape::Any(every(parts)),
            ConditionKind::All(parts) => ConditionShape::All(every(parts)),
            ConditionKind::Not(part) => ConditionShape::Not(Box::new(Self::of(part))),
            ConditionKind::Test(test) => ConditionShape::Test(TestOutput::of(test)),
        };
        Self { holds: condition.holds.as_str(), why, shape }
    }
}

impl<'a> TestOutput<'a> {
    fn of(test: &'a TestExplanation) -> Self {
        Self {
            arg: &test.path,
            operator: test.operator,
            value: RawValue::from_string(test.operand.clone()).ok(),
            saw: &test.seen,
            more: test.unseen,
        }
    }
}

impl LimitOutput {
    fn of(limit: &LimitExplanation) -> Self {
        let rate = limit.key.rate;
        Self {
            calls: rate.calls,
            seconds: rate.seconds,
            by: limit.key.bucket.iter().map(|(by, _)| by.as_str()).collect(),
            exceeded: limit.exceeded,
        }
    }
}

impl<'a> OutrankingOutput<'a> {
    fn of(part: &'a Contribution) -> Option<Self> {
        match part {
            Contribution::Outranked { policy, rule } => {
                Some(Self { policy, rule: rule.as_deref() })
            }
            Contribution::Nothing
            | Contribution::Decided
            | Contribution::Recorded
            | Contribution::Sanitized
            | Contribution::Shadowed => None,
        }
    }
}

fn result(result: RuleResult) -> &'static str {
    match result {
        RuleResult::Match => "match",
        RuleResult::NoMatch => "no_match",
        RuleResult::UnknownMatch => "unknown_match",
        RuleResult::UnknownNoMatch => "unknown_no_match",
    }
}

fn part(part: &Contribution) -> &'static str {
    match part {
        Contribution::Nothing => "nothing",
        Contribution::Decided => "decided",
        Contribution::Outranked { .. } => "outranked",
        Contribution::Recorded => "recorded",
        Contribution::Sanitized => "sanitized",
        Contribution::Shadowed => "shadowed",
    }
}
