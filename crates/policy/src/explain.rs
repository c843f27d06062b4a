//! Why a call was judged as it was: every rule, every condition, and what each of them looked at.
//!
//! Nothing here judges. It calls the functions that judge and reports their results, so an
//! explanation cannot contradict the judgement.

mod mismatch;
mod when;

use callgate_call::ToolCall;

use crate::judgement::Judgement;
use crate::limit::{LimitKey, SpentLimits};
use crate::moment::Moment;
use crate::policies::Policies;
use crate::policy::{Policy, PolicyOutcome};
use crate::rule::{Match, NameCheck, Question, Rule, RuleRole, not_known};
use crate::verdict::Verdict;
use crate::wrapper;

pub use mismatch::RuleMismatch;
pub use when::{ConditionExplanation, ConditionKind, Holds, TestExplanation};

/// How one rule applied to a call, and how it affected the judgement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleExplanation {
    /// The rule's policy.
    pub policy: String,
    /// The rule's id.
    pub rule: String,
    /// The rule's verdict.
    pub verdict: Verdict,
    /// The rule with the lowest number decides.
    pub priority: i64,
    /// Whether the rule, or its whole policy, is only recorded.
    pub shadow: bool,
    /// The tool of the wrapped call that this is about; `None` for the call itself.
    pub inside: Option<String>,
    /// Why the rule does not apply to this call: the first key that does not match.
    pub mismatch: Option<RuleMismatch>,
    /// Why the rule as a whole is unknown, whatever its conditions say.
    pub unknown: Option<String>,
    /// Its conditions, also if the rule does not apply to the call.
    pub when: Option<ConditionExplanation>,
    /// Its limit, which is one more condition.
    pub limit: Option<LimitExplanation>,
    /// Whether the rule matches, all in all.
    pub result: RuleResult,
    /// How the rule affected the judgement.
    pub contribution: Contribution,
}

/// A rule's limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LimitExplanation {
    /// The bucket this call draws from.
    pub key: LimitKey,
    /// Whether it is known to be empty: only then the rule matches.
    pub exceeded: bool,
}

/// Whether a rule matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleResult {
    /// It matches.
    Match,
    /// It does not match.
    NoMatch,
    /// It is unknown, and the rule restricts: that counts as a match.
    UnknownMatch,
    /// It is unknown, and the rule allows: that counts as no match.
    UnknownNoMatch,
}

/// How a rule affected the judgement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Contribution {
    /// It did not match.
    Nothing,
    /// It decided, perhaps together with others of the same verdict.
    Decided,
    /// It matched, but another rule or default has a lower priority number or is stricter.
    Outranked {
        /// The policy of that rule or default.
        policy: String,
        /// That rule; `None` for the policy's default.
        rule: Option<String>,
    },
    /// It matched and was recorded; audit rules never decide.
    Recorded,
    /// It matched and replaces something in the arguments; such rules never decide.
    Sanitized,
    /// It matched, but had no effect because it is in shadow mode.
    Shadowed,
}

impl RuleResult {
    /// Whether the rule counts as one that matches.
    pub fn matches(self) -> bool {
        match self {
            Self::Match | Self::UnknownMatch => true,
            Self::NoMatch | Self::UnknownNoMatch => false,
        }
    }
}

impl Policies {
    /// Explains every rule of every policy for a call, in the order of the files, and then for each
    /// call that it wraps. The result agrees with [`Policies::judge`], which is many times faster.
    pub fn explain(
        &self,
        call: &ToolCall,
        moment: &Moment,
        limits: &SpentLimits,
    ) -> Vec<RuleExplanation> {
        let judgement = self.judge(call, moment, limits);
        let mut explained = self.explain_one(&self.question(call, moment, limits), &judgement);
        if !wrapper::is_wrapper(&call.name) {
            return explained;
        }
        match wrapper::inner(call) {
            Ok(inner) => {
                for inner in inner.calls.iter().flat_map(|it| it.calls.iter().chain(&it.others)) {
                    let rules = self.explain_one(&self.question(inner, moment, limits), &judgement);
                    let inside = Some(inner.name.raw().trim().to_owned());
                    explained.extend(rules.into_iter().map(|rule| rule.inside(inside.clone())));
                }
            }
            Err(_)
                if self.judge_alone(&self.question(call, moment, limits)).verdict
                    != judgement.verdict =>
            {
                let decided = explained.iter_mut().find(|rule| rule.is_named_by(&judgement));
                decided.into_iter().for_each(|rule| rule.refuse(&judgement.reason));
            }
            Err(_) => {}
        }
        explained
    }

    /// Like [`Self::explain`], for a single call, given the judgement that it contributes to.
    fn explain_one(&self, question: &Question<'_>, judgement: &Judgement) -> Vec<RuleExplanation> {
        let of_policy = |policy: &Policy| -> Vec<RuleExplanation> {
            let outcome = policy.outcome(question);
            let explainer = PolicyExplainer { policy, outcome: &outcome, judgement };
            policy.rules.iter().map(|rule| explainer.explain(rule, question)).collect()
        };
        self.policies().iter().flat_map(of_policy).collect()
    }
}

/// Explains the rules of one policy.
struct PolicyExplainer<'p> {
    policy: &'p Policy,
    outcome: &'p PolicyOutcome<'p>,
    judgement: &'p Judgement,
}

impl PolicyExplainer<'_> {
    fn explain(&self, rule: &Rule, question: &Question<'_>) -> RuleExplanation {
        let scene = rule.scene(question);
        let policy_mismatch = mismatch::policy_mismatch(self.policy, question);
        let result = match policy_mismatch {
            Some(_) => RuleResult::NoMatch,
            None => result(rule, question),
        };
        RuleExplanation {
            policy: rule.policy.clone(),
            rule: rule.id.clone(),
            verdict: rule.verdict,
            priority: rule.priority,
            shadow: self.is_shadow(rule),
            inside: None,
            mismatch: policy_mismatch.or_else(|| mismatch::mismatch(rule, question)),
            unknown: rule
                .why_unknown_actor(question)
                .or_else(|| self.why_unknown_audience(question)),
            when: rule.when.as_ref().map(|when| ConditionExplanation::of(when, &scene)),
            limit: rule
                .limit_key(question)
                .map(|key| LimitExplanation { exceeded: question.limits.is_exceeded(&key), key }),
            result,
            contribution: if result.matches() {
                self.contribution(rule)
            } else {
                Contribution::Nothing
            },
        }
    }

    /// Why it is unknown whether the policy applies to this caller. If it is unknown, the policy
    /// applies.
    fn why_unknown_audience(&self, question: &Question<'_>) -> Option<String> {
        let missing = self.policy.audience.missing(&question.call.origin)?;
        Some(format!("{}, so the policy applies", not_known(missing)))
    }

    fn is_shadow(&self, rule: &Rule) -> bool {
        self.policy.shadow || rule.role == RuleRole::Shadow
    }

    /// The contribution of a rule that matches.
    fn contribution(&self, rule: &Rule) -> Contribution {
        let deciding = &self.outcome.deciding;
        let first = deciding.first().filter(|_| rule.role == RuleRole::Decide);
        let decides = deciding.iter().any(|(decider, _)| std::ptr::eq(*decider, rule));
        match first {
            Some((first, _)) if !decides => Contribution::Outranked {
                policy: first.policy.clone(),
                rule: Some(first.id.clone()),
            },
            _ if self.is_shadow(rule) => Contribution::Shadowed,
            None if rule.role == RuleRole::Sanitize => Contribution::Sanitized,
            None => Contribution::Recorded,
            Some(_) if rule.verdict == self.judgement.verdict => Contribution::Decided,
            Some(_) => Contribution::Outranked {
                policy: self.judgement.policy.clone().unwrap_or_default(),
                rule: self.judgement.rule.clone(),
            },
        }
    }
}

fn result(rule: &Rule, question: &Question<'_>) -> RuleResult {
    if !rule.applies_at(question.call.origin.surface) {
        return RuleResult::NoMatch;
    }
    let result = match rule.matches(question, NameCheck::Needed) {
        Match::Yes => RuleResult::Match,
        Match::No => RuleResult::NoMatch,
        Match::Unknown => RuleResult::UnknownMatch,
        Match::Disregarded => RuleResult::UnknownNoMatch,
    };
    match rule.limit_key(question) {
        Some(key) if result.matches() && !question.limits.is_exceeded(&key) => RuleResult::NoMatch,
        _ => result,
    }
}

impl RuleExplanation {
    fn inside(self, inside: Option<String>) -> Self {
        Self { inside, ..self }
    }

    fn is_named_by(&self, judgement: &Judgement) -> bool {
        judgement.policy.as_ref() == Some(&self.policy)
            && judgement.rule.as_ref() == Some(&self.rule)
    }

    /// Marks this rule as the one that refuses a wrapper whose calls cannot be read.
    fn refuse(&mut self, why: &str) {
        self.mismatch = None;
        self.unknown = Some(why.to_owned());
        self.result = RuleResult::UnknownMatch;
        self.contribution = Contribution::Decided;
    }
}
