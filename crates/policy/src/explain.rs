//! Why a call gets its judgement: every rule, every condition, and what each of them saw.
//!
//! Nothing here judges. Conditions, rules and policies are asked what they said, by the functions
//! that judge, so an explanation cannot tell another story than the judgement.

mod mismatch;
mod when;

use callgate_call::ToolCall;

use crate::judgement::Judgement;
use crate::limit::{LimitKey, SpentLimits};
use crate::moment::Moment;
use crate::policies::Policies;
use crate::policy::{Outcome, Policy};
use crate::rule::{Match, NameCheck, Question, Rule, RuleRole, not_known};
use crate::verdict::Verdict;
use crate::wrapper;

pub use mismatch::RuleMismatch;
pub use when::{ConditionExplanation, ConditionKind, Holds, TestExplanation};

/// What one rule had to say about a call, and what came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleExplanation {
    /// The rule's policy.
    pub policy: String,
    /// The rule's id.
    pub rule: String,
    /// What it says.
    pub verdict: Verdict,
    /// The lowest number decides.
    pub priority: i64,
    /// Whether the rule, or its whole policy, is only recorded.
    pub shadow: bool,
    /// The call it was asked about, where that one came inside the call.
    pub inside: Option<String>,
    /// Why the rule is not about this call: the first thing that does not fit.
    pub mismatch: Option<RuleMismatch>,
    /// Why the rule as a whole is unknown, whatever its conditions say.
    pub unknown: Option<String>,
    /// Its conditions, told even where the rule is not about the call.
    pub when: Option<ConditionExplanation>,
    /// Its limit, which is one more condition.
    pub limit: Option<LimitExplanation>,
    /// What all of this comes to.
    pub result: RuleResult,
    /// What the rule had to do with the judgement.
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

/// What a rule comes to.
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

/// What a rule had to do with the judgement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Contribution {
    /// Nothing.
    Nothing,
    /// It decided. Others may have said the same.
    Decided,
    /// It matched, and another was before it or stricter.
    Outranked {
        /// The policy of the other.
        policy: String,
        /// The other rule; `None` for the policy's default.
        rule: Option<String>,
    },
    /// It matched beside the decision, as audit rules do.
    Recorded,
    /// It matched beside the decision and replaces something in the arguments.
    Sanitized,
    /// It matched, and being in shadow mode it had no effect.
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
    /// What every rule of every policy says about a call, in the order of the files; then the same
    /// for each call that it carries. It agrees with [`Policies::judge`] of the same call, which
    /// is many times faster.
    pub fn explain(
        &self,
        call: &ToolCall,
        moment: &Moment,
        limits: &SpentLimits,
    ) -> Vec<RuleExplanation> {
        let judgement = self.judge(call, moment, limits);
        let mut explained =
            self.explain_one(&Question::new(call, moment, limits, self.servers()), &judgement);
        if !wrapper::is_wrapper(&call.name) {
            return explained;
        }
        match wrapper::inner(call) {
            Ok(inner) => {
                for inner in inner.iter().flat_map(|it| it.calls.iter().chain(&it.others)) {
                    let rules = self.explain_one(
                        &Question::new(inner, moment, limits, self.servers()),
                        &judgement,
                    );
                    let inside = Some(inner.name.raw().trim().to_owned());
                    explained.extend(rules.into_iter().map(|rule| rule.inside(inside.clone())));
                }
            }
            Err(_)
                if self.judge_one(&Question::new(call, moment, limits, self.servers())).verdict
                    != judgement.verdict =>
            {
                let decided = explained.iter_mut().find(|rule| rule.is_named_by(&judgement));
                decided.into_iter().for_each(|rule| rule.refuse(&judgement.reason));
            }
            Err(_) => {}
        }
        explained
    }

    /// The same of a call by itself, with the judgement that it is contribution of.
    fn explain_one(&self, question: &Question<'_>, judgement: &Judgement) -> Vec<RuleExplanation> {
        let of_policy = |policy: &Policy| -> Vec<RuleExplanation> {
            let outcome = policy.judge(question);
            let explainer = PolicyExplainer { policy, outcome: &outcome, judgement };
            policy.rules.iter().map(|rule| explainer.explain(rule, question)).collect()
        };
        self.policies().iter().flat_map(of_policy).collect()
    }
}

/// What is known of a rule's surroundings when it is explained.
struct PolicyExplainer<'p> {
    policy: &'p Policy,
    outcome: &'p Outcome<'p>,
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

    /// Why it is unknown whether the policy is about this call: then it is.
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

    /// This rule refuses a wrapper of which nobody can tell what it carries.
    fn refuse(&mut self, why: &str) {
        self.mismatch = None;
        self.unknown = Some(why.to_owned());
        self.result = RuleResult::UnknownMatch;
        self.contribution = Contribution::Decided;
    }
}
