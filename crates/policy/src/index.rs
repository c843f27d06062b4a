//! Finds the few rules that may match a call, without evaluating all of them.
//!
//! The index may return too many rules, never too few: every rule it returns is evaluated
//! afterwards. A name leads to buckets of rules. If a bucket has many rules that search the
//! arguments, one pass over the arguments finds those worth evaluating.

mod arguments;
mod names;

use callgate_call::Arguments;
use callgate_json::Value;

use crate::condition::Condition;
use crate::names::CallName;
use crate::rule::{NameCheck, Question, Rule};
use arguments::ArgumentIndex;
use names::NameIndex;

/// Up to this many rules are evaluated one by one: that costs less than a pass of the automata, and
/// a small policy builds none. Lower in tests, so that small policies use the index too.
const CROWD: usize = if cfg!(test) { 2 } else { 16 };

/// A rule that may match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RuleCandidate {
    /// The rule's position in its policy.
    pub(crate) rule: u32,
    /// Whether the rule must still compare the name.
    pub(crate) name_check: NameCheck,
}

impl RuleCandidate {
    /// The same candidate, which needs at least this check.
    fn with_check(self, name_check: NameCheck) -> Self {
        Self { name_check: self.name_check.max(name_check), ..self }
    }
}

/// Rules that share a piece of a name.
#[derive(Debug, Default)]
pub(crate) struct RuleBucket {
    /// Evaluated for every call that reaches this bucket.
    plain: Vec<RuleCandidate>,
    /// Evaluated only if the argument index finds them.
    hinted: Vec<RuleCandidate>,
}

/// The index of one surface.
#[derive(Debug)]
pub(crate) struct RuleIndex {
    names: NameIndex,
    arguments: Option<ArgumentIndex>,
}

/// The rules that a name leads to.
#[derive(Debug)]
pub(crate) struct NameHits<'i> {
    index: &'i RuleIndex,
    plain: Vec<RuleCandidate>,
    /// Buckets, each with the name check that its rules still need at least.
    hinted: Vec<(&'i [RuleCandidate], NameCheck)>,
}

impl RuleIndex {
    /// Indexes the rules that apply on a surface, each with its position in the policy.
    pub(crate) fn new(rules: &[(u32, &Rule)]) -> Self {
        let hints = |rule: &Rule| rule.when.as_ref().and_then(Condition::index_hints).is_some();
        let crowded = rules.iter().filter(|(_, rule)| hints(rule)).count() > CROWD;
        let mut names = NameIndex::default();
        for (at, rule) in rules {
            names.add(*at, rule, crowded && hints(rule));
        }
        names.finish();
        Self { names, arguments: crowded.then(|| ArgumentIndex::new(rules)) }
    }

    pub(crate) fn find(&self, name: &CallName<'_>) -> NameHits<'_> {
        let mut found = NameHits { index: self, plain: Vec::new(), hinted: Vec::new() };
        self.names.find(name, &mut |bucket, name_check| {
            found
                .plain
                .extend(bucket.plain.iter().map(|candidate| candidate.with_check(name_check)));
            if !bucket.hinted.is_empty() {
                found.hinted.push((&bucket.hinted, name_check));
            }
        });
        dedup(&mut found.plain);
        found
    }
}

impl NameHits<'_> {
    /// The rules to evaluate whatever the arguments are.
    pub(crate) fn plain(&self) -> &[RuleCandidate] {
        &self.plain
    }

    /// The rules that search the arguments. A rule may appear twice.
    pub(crate) fn hinted(&self) -> impl Iterator<Item = RuleCandidate> {
        self.hinted.iter().flat_map(|&(bucket, name_check)| {
            bucket.iter().map(move |candidate| candidate.with_check(name_check))
        })
    }

    /// The rules to evaluate for a whole call and its extra input, each once, in the order of the
    /// file.
    pub(crate) fn candidates(mut self, question: &Question<'_>) -> Vec<RuleCandidate> {
        let crowd: usize = self.hinted.iter().map(|(bucket, _)| bucket.len()).sum();
        if crowd == 0 {
            return self.plain;
        }
        let read = match (crowd > CROWD, &self.index.arguments) {
            (true, Some(arguments)) => {
                let inputs = std::iter::once(&question.call.arguments);
                let inputs = inputs.chain(question.extra.iter().map(|extra| &extra.input));
                let read = |input| Some((input, Arguments::value(input).ok()?));
                let roots: Option<Vec<(&Arguments, &Value)>> = inputs.map(read).collect();
                roots.map(|roots| (arguments, roots))
            }
            _ => None,
        };
        match read {
            // Arguments that cannot be read are unknown to every rule, so all are evaluated.
            None => {
                let hinted: Vec<_> = self.hinted().collect();
                self.plain.extend(hinted);
            }
            Some((arguments, roots)) => {
                let name_check = NameCheck::Needed;
                let find = |(input, root)| arguments.find(input, root, question);
                let hits = roots.into_iter().flat_map(find);
                self.plain.extend(hits.map(|rule| RuleCandidate { rule, name_check }));
            }
        }
        dedup(&mut self.plain);
        self.plain
    }
}

/// Sorts by rule, and keeps the candidate of each rule that needs the smaller name check.
fn dedup(candidates: &mut Vec<RuleCandidate>) {
    if candidates.len() > 1 {
        candidates.sort_unstable_by_key(|candidate| (candidate.rule, candidate.name_check));
        candidates.dedup_by_key(|candidate| candidate.rule);
    }
}
