//! One compiled policy, and its own result for a call.

use callgate_call::{OriginFields, Surface};

use crate::actors::Actors;
use crate::condition::{AfterCondition, Condition};
use crate::index::{RuleCandidate, RuleIndex};
use crate::judgement::RuleHit;
use crate::rule::{Match, NameCheck, NameMatch, Question, Rule, RuleRole};
use crate::sketch::PolicySketch;
use crate::tri::Tri;
use crate::verdict::{Course, Verdict};

/// A policy that can judge.
#[derive(Debug)]
pub(crate) struct Policy {
    pub(crate) name: String,
    /// The callers that it applies to.
    pub(crate) audience: Actors,
    /// The whole policy is in shadow mode: it is recorded and has no effect.
    pub(crate) shadow: bool,
    pub(crate) rules: Vec<Rule>,
    /// Hashes of the policy as written, to compare it with another version.
    pub(crate) sketch: PolicySketch,
    /// The verdict for calls that no rule decides, by surface.
    pub(crate) defaults: [(Surface, Verdict); 5],
    /// Surfaces with the same rules share one index.
    indexes: Vec<RuleIndex>,
    by_surface: Vec<(Surface, usize)>,
    /// Whether any rule sanitizes. Most policies have no such rule, and skip the search for one.
    sanitizes: bool,
    pub(crate) looks_at: PolicyEvidence,
    /// What its rules want to know about earlier calls.
    pub(crate) on_earlier_calls: Vec<AfterCondition>,
    /// The positions of the rules that ask where values come from.
    on_origins: Vec<usize>,
}

/// What the rules of a policy look at, in addition to names and single arguments.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PolicyEvidence {
    /// The whole input. Only then does extra input matter.
    pub(crate) whole_input: bool,
    /// What a call would do.
    pub(crate) effects: bool,
    /// What earlier calls did.
    pub(crate) history: bool,
}

/// Everything in a policy except its rules.
#[derive(Debug)]
pub(crate) struct PolicyHeader {
    pub(crate) name: String,
    pub(crate) audience: Actors,
    pub(crate) shadow: bool,
    pub(crate) defaults: [(Surface, Verdict); 5],
    pub(crate) sketch: PolicySketch,
}

/// The result of one policy for a call.
#[derive(Debug)]
pub(crate) struct PolicyOutcome<'p> {
    pub(crate) verdict: Verdict,
    /// The rules that decided: those with the deciding priority and verdict. Empty if the default
    /// decided.
    pub(crate) deciding: Vec<(&'p Rule, Match)>,
    /// Rules that matched but did not decide, because others have a lower priority number or are
    /// stricter.
    pub(crate) outranked: Vec<&'p Rule>,
    /// Every match of a rule that never decides: audit, sanitize and shadow rules.
    pub(crate) side_matches: Vec<(&'p Rule, Match)>,
    /// Rules with a condition that could not be evaluated.
    pub(crate) unknown: Vec<&'p Rule>,
    /// Rules with a limit whose other conditions hold.
    pub(crate) limited: Vec<&'p Rule>,
}

/// What one policy may decide about a name once the arguments are known.
#[derive(Debug, Default)]
pub(crate) struct NameOutcome<'p> {
    /// The possible courses of the call.
    may: Vec<Course>,
    /// A rule that matches whatever the arguments are.
    pub(crate) certain: Option<&'p Rule>,
    /// Whether a rule may replace something in the arguments.
    pub(crate) may_sanitize: bool,
}

fn conditions(rules: &[Rule]) -> impl Iterator<Item = &Condition> {
    rules.iter().filter_map(|rule| rule.when.as_ref())
}

/// The positions of the rules that ask where values come from.
fn rules_on_origins(rules: &[Rule]) -> Vec<usize> {
    let asks = |rule: &Rule| rule.when.as_ref().is_some_and(Condition::looks_at_conversation);
    (0..).zip(rules).filter(|(_, rule)| asks(rule)).map(|(at, _)| at).collect()
}

impl Policy {
    /// The rules that ask where values come from.
    pub(crate) fn on_origins(&self) -> impl Iterator<Item = &Rule> {
        self.on_origins.iter().filter_map(|at| self.rules.get(*at))
    }

    /// Whether a rule asks how much a deletion touches.
    pub(crate) fn asks_how_much(&self) -> bool {
        conditions(&self.rules).any(Condition::asks_how_much)
    }

    pub(crate) fn new(head: PolicyHeader, rules: Vec<Rule>) -> Self {
        let PolicyHeader { name, audience, shadow, defaults, sketch } = head;
        let history = conditions(&rules).any(Condition::looks_at_history);
        let on_earlier_calls =
            conditions(&rules).flat_map(Condition::on_earlier_calls).cloned().collect();
        let mut policy = Self {
            sketch,
            name,
            audience,
            shadow,
            sanitizes: rules.iter().any(|rule| rule.role == RuleRole::Sanitize),
            looks_at: PolicyEvidence {
                whole_input: rules.iter().any(Rule::looks_at_whole_input),
                effects: rules.iter().any(Rule::looks_at_effects),
                history,
            },
            on_earlier_calls,
            on_origins: rules_on_origins(&rules),
            rules,
            defaults,
            indexes: Vec::new(),
            by_surface: Vec::new(),
        };
        let mut lists: Vec<Vec<u32>> = Vec::new();
        for surface in Surface::ALL {
            let list: Vec<u32> = policy.at(surface).map(|(at, _)| at).collect();
            let known = lists.iter().position(|known| *known == list);
            policy.by_surface.push((surface, known.unwrap_or(lists.len())));
            if known.is_none() {
                let rules: Vec<_> = policy.at(surface).collect();
                let index = RuleIndex::new(&rules);
                policy.indexes.push(index);
                lists.push(list);
            }
        }
        policy
    }

    /// Whether it applies to the caller. A policy can only restrict, so it applies if that is
    /// unknown.
    pub(crate) fn applies_to(&self, facts: &OriginFields) -> bool {
        self.audience.include(facts) != Tri::False
    }

    /// The rules that apply on a surface, each with its position.
    pub(crate) fn at(&self, surface: Surface) -> impl Iterator<Item = (u32, &Rule)> {
        (0..).zip(&self.rules).filter(move |(_, rule)| rule.applies_at(surface))
    }

    pub(crate) fn default_at(&self, surface: Surface) -> Verdict {
        let own = self.defaults.iter().find(|(named, _)| *named == surface);
        own.map_or(Verdict::Allow, |(_, verdict)| *verdict)
    }

    /// The policy's result for a complete call.
    pub(crate) fn outcome(&self, question: &Question<'_>) -> PolicyOutcome<'_> {
        let surface = question.call.origin.surface;
        if question.name.offer.is_some() {
            // The index finds rules by names of tools, and this is a whole server.
            return self.outcome_among(question, &every_candidate(self, surface));
        }
        let candidates = self
            .index(surface)
            .map(|index| index.find(&question.name).candidates(question))
            .unwrap_or_default();
        self.outcome_among(question, &candidates)
    }

    /// The policy's result for something with several names. Of the results for the other names,
    /// only restrictions count.
    pub(crate) fn outcome_with_names(
        &self,
        question: &Question<'_>,
        others: &[Question<'_>],
    ) -> PolicyOutcome<'_> {
        let mut outcome = self.outcome(question);
        for other in others {
            outcome.add_restriction(self.outcome(other));
        }
        outcome
    }

    /// The policy's result for a server's text: only rules on findings can stop it.
    pub(crate) fn outcome_of_text(&self, question: &Question<'_>) -> PolicyOutcome<'_> {
        self.outcome_of_counting(question, Rule::needs_findings)
    }

    /// The policy's result for a client's message that is not a call: only its content can stop it.
    /// A rule that would match without the content, because it expects something in every call,
    /// does not count.
    pub(crate) fn outcome_of_sent(&self, question: &Question<'_>) -> PolicyOutcome<'_> {
        let without = question.alone();
        let is_by_it = |rule: &Rule| {
            let how = rule.matches(&without, NameCheck::Needed);
            rule.cleaner.is_some() || matches!(how, Match::No | Match::Disregarded)
        };
        self.outcome_of_counting(question, |rule| rule.looks_at_whole_input() && is_by_it(rule))
    }

    /// The result of the rules, without the default.
    pub(crate) fn outcome_of_rules(&self, question: &Question<'_>) -> PolicyOutcome<'_> {
        self.outcome_of_counting(question, |_| true)
    }

    /// The result for something that is not a call: of the rules that restrict only some count, and
    /// no default does.
    fn outcome_of_counting(
        &self,
        question: &Question<'_>,
        counts: impl Fn(&Rule) -> bool,
    ) -> PolicyOutcome<'_> {
        let surface = question.call.origin.surface;
        let counts = |rule: &Rule| !rule.restricts() || counts(rule);
        let found = self.index(surface).map(|index| index.find(&question.name));
        let candidates = found.map(|it| it.candidates(question));
        let mut candidates = candidates.unwrap_or_default();
        candidates.retain(|candidate| self.rule(candidate.rule).is_some_and(counts));
        let mut outcome = self.outcome_among(question, &candidates);
        if outcome.deciding.is_empty() {
            outcome.verdict = Verdict::Allow;
        }
        outcome
    }

    /// The result of these rules.
    pub(crate) fn outcome_among(
        &self,
        question: &Question<'_>,
        candidates: &[RuleCandidate],
    ) -> PolicyOutcome<'_> {
        let mut outcome = PolicyOutcome {
            verdict: self.default_at(question.call.origin.surface),
            deciding: Vec::new(),
            outranked: Vec::new(),
            side_matches: Vec::new(),
            unknown: Vec::new(),
            limited: Vec::new(),
        };
        for candidate in candidates {
            if let Some(rule) = self.rule(candidate.rule) {
                outcome.add(rule, rule.matches(question, candidate.name_check), question);
            }
        }
        if let Some((rule, _)) = outcome.deciding.first() {
            outcome.verdict = rule.verdict;
        }
        outcome
    }

    /// What the policy may decide about a name. Stops as soon as the call may both pass and be
    /// stopped.
    pub(crate) fn name_outcome(&self, question: &Question<'_>) -> NameOutcome<'_> {
        let mut outcome = NameOutcome::default();
        let surface = question.call.origin.surface;
        let found = self.index(surface).map(|index| index.find(&question.name));
        let ask = |candidate: &RuleCandidate| {
            let rule = self.rule(candidate.rule).filter(|rule| rule.role == RuleRole::Decide)?;
            match rule.matches_name(question, candidate.name_check) {
                NameMatch::Never => None,
                how => Some((rule, how)),
            }
        };
        let sanitizes = |candidate: &RuleCandidate| {
            let rule = self.rule(candidate.rule).filter(|rule| rule.role == RuleRole::Sanitize);
            let matches = rule.map(|rule| rule.matches_name(question, candidate.name_check));
            matches.is_some_and(|how| how != NameMatch::Never)
        };
        outcome.may_sanitize = self.sanitizes
            && found.as_ref().is_some_and(|found| {
                found.plain().iter().any(sanitizes) || found.hinted().any(|it| sanitizes(&it))
            });
        let plain = found.as_ref().map(|found| found.plain()).unwrap_or_default();
        let plain: Vec<_> = plain.iter().filter_map(ask).collect();
        outcome.certain = plain
            .iter()
            .filter(|(_, how)| *how == NameMatch::Always)
            .map(|(rule, _)| *rule)
            .min_by_key(|rule| rule.rank());
        outcome.add(outcome.certain.map_or(self.default_at(surface), |rule| rule.verdict));
        for (rule, _) in plain {
            outcome.add_possible(rule);
        }
        let hinted = found.iter().flat_map(|found| found.hinted());
        for candidate in hinted {
            if outcome.is_open() {
                break;
            }
            // The rank is cheap to compare, and enough for most rules.
            let matters =
                self.rule(candidate.rule).is_some_and(|rule| outcome.may_change_course(rule));
            if matters && let Some((rule, _)) = ask(&candidate) {
                outcome.add_possible(rule);
            }
        }
        outcome
    }

    /// The strictest verdict in this policy that could keep a call from passing on a surface, and
    /// its rule; `None` for the default. A rule that sanitizes denies what it cannot read.
    pub(crate) fn first_restriction(&self, surface: Surface) -> Option<(Verdict, Option<&Rule>)> {
        self.first_restriction_of(surface, |_| true)
    }

    /// Like [`Self::first_restriction`], of some of the rules.
    pub(crate) fn first_restriction_of(
        &self,
        surface: Surface,
        counts: fn(&Rule) -> bool,
    ) -> Option<(Verdict, Option<&Rule>)> {
        let restricts = |rule: &'_ Rule| match rule.role {
            RuleRole::Decide => (!rule.verdict.passes()).then_some(rule.verdict),
            RuleRole::Sanitize => Some(Verdict::Deny),
            RuleRole::Audit | RuleRole::Shadow => None,
        };
        let rules = self.at(surface).map(|(_, rule)| rule).filter(|rule| counts(rule));
        let rules = rules.filter_map(|rule| Some((restricts(rule)?, Some(rule))));
        let default = self.default_at(surface);
        let default = (!default.passes()).then_some((default, None));
        rules.chain(default).min_by_key(|(verdict, _)| std::cmp::Reverse(*verdict))
    }

    /// The hit to record if the default decided.
    pub(crate) fn default_hit(&self, verdict: Verdict) -> RuleHit {
        let reason = match verdict {
            Verdict::Allow | Verdict::Sanitize => "no rule matched".to_owned(),
            Verdict::Audit => "no rule matched; what no rule covers is audited".to_owned(),
            Verdict::Review | Verdict::Ask | Verdict::Deny => "no rule allows this call".to_owned(),
        };
        let policy = self.name.clone();
        RuleHit {
            policy,
            rule: None,
            verdict,
            reason,
            hint: None,
            blocks: None,
            limited: false,
            unknown: false,
            terms: None,
        }
    }

    fn index(&self, surface: Surface) -> Option<&RuleIndex> {
        let (_, at) = self.by_surface.iter().find(|(named, _)| *named == surface)?;
        self.indexes.get(*at)
    }

    fn rule(&self, at: u32) -> Option<&Rule> {
        self.rules.get(usize::try_from(at).ok()?)
    }
}

impl Rule {
    /// Whether the rule applies on a surface. Tools in a request have no arguments yet.
    pub(crate) fn applies_at(&self, surface: Surface) -> bool {
        let answerable = surface != Surface::Inbound
            || !self.when.as_ref().is_some_and(crate::condition::Condition::needs_arguments);
        self.surfaces.contains(&surface) && answerable
    }

    /// Whether it is about certain tools or servers, by their names.
    pub(crate) fn names_tools(&self) -> bool {
        let tools = self.names.tools.as_ref();
        let by_name =
            |tools: &crate::names::Tools| !tools.literals.is_empty() || !tools.patterns.is_empty();
        self.names.servers.is_some() || tools.is_some_and(by_name)
    }

    /// Whether it has a condition on findings.
    pub(crate) fn needs_findings(&self) -> bool {
        self.when.as_ref().is_some_and(crate::condition::Condition::needs_findings)
    }

    /// Whether it depends on what a call would do.
    pub(crate) fn looks_at_effects(&self) -> bool {
        self.when.as_ref().is_some_and(crate::condition::Condition::looks_at_effects)
    }

    /// Whether it looks at the whole input, or sanitizes the whole input.
    pub(crate) fn looks_at_whole_input(&self) -> bool {
        self.cleaner.is_some()
            || self.when.as_ref().is_some_and(crate::condition::Condition::looks_at_whole_input)
    }

    /// The order in which rules decide: by the lowest priority number, then by the strictest
    /// verdict.
    pub(crate) fn rank(&self) -> (i64, std::cmp::Reverse<Verdict>) {
        (self.priority, std::cmp::Reverse(self.verdict))
    }
}

impl<'p> PolicyOutcome<'p> {
    /// Adds the result for another name of the same tool: restrictions count, and everything is
    /// recorded.
    fn add_restriction(&mut self, other: Self) {
        for (rule, how) in other.side_matches {
            if !self.side_matches.iter().any(|(known, _)| std::ptr::eq(*known, rule)) {
                self.side_matches.push((rule, how));
            }
        }
        let before = self.deciding.first().map(|(rule, _)| rule.rank());
        let first = other.deciding.first().map(|(rule, _)| rule.rank());
        let is_before = first.is_some_and(|first| before.is_none_or(|before| first <= before));
        self.outranked.extend(other.outranked);
        if is_before && !other.verdict.passes() {
            self.verdict = other.verdict;
            let before = std::mem::replace(&mut self.deciding, other.deciding);
            self.outranked.extend(before.into_iter().map(|(rule, _)| rule));
        } else {
            self.outranked.extend(other.deciding.into_iter().map(|(rule, _)| rule));
        }
        self.unknown.extend(other.unknown);
    }

    fn add(&mut self, rule: &'p Rule, how: Match, question: &Question<'_>) {
        if matches!(how, Match::Unknown | Match::Disregarded) {
            self.unknown.push(rule);
        }
        if matches!(how, Match::No | Match::Disregarded) {
            return;
        }
        if let Some(key) = rule.limit_key(question) {
            self.limited.push(rule);
            if !question.limits.is_exceeded(&key) {
                return;
            }
        }
        if rule.role != RuleRole::Decide {
            return self.side_matches.push((rule, how));
        }
        match self.deciding.first().map(|(best, _)| rule.rank().cmp(&best.rank())) {
            Some(std::cmp::Ordering::Greater) => self.outranked.push(rule),
            Some(std::cmp::Ordering::Equal) => self.deciding.push((rule, how)),
            Some(std::cmp::Ordering::Less) | None => {
                let before = std::mem::replace(&mut self.deciding, vec![(rule, how)]);
                self.outranked.extend(before.into_iter().map(|(rule, _)| rule));
            }
        }
    }
}

impl NameOutcome<'_> {
    fn add(&mut self, verdict: Verdict) {
        if !self.may(verdict.course()) {
            self.may.push(verdict.course());
        }
    }

    fn may(&self, course: Course) -> bool {
        self.may.contains(&course)
    }

    /// A rule that may match counts unless the one that certainly matches outranks it.
    fn add_possible(&mut self, rule: &Rule) {
        if self.may_change_course(rule) {
            self.add(rule.verdict);
        }
    }

    fn may_change_course(&self, rule: &Rule) -> bool {
        self.certain.is_none_or(|certain| rule.rank() <= certain.rank())
            && !self.may(rule.verdict.course())
    }

    /// Whether it may stop the call, or make it wait for an answer.
    pub(crate) fn may_restrict(&self) -> bool {
        self.may(Course::Waits) || self.may(Course::Stops)
    }

    fn is_open(&self) -> bool {
        self.may(Course::Passes) && self.may_restrict()
    }

    /// Whether it stops the call whatever the arguments are. A call that may have to wait for an
    /// answer is held instead, so that the question shows its arguments.
    pub(crate) fn is_denied(&self) -> bool {
        self.never_passes() && !self.may(Course::Waits)
    }

    /// Whether it stops the call or makes it wait, whatever the arguments are.
    pub(crate) fn never_passes(&self) -> bool {
        !self.may(Course::Passes)
    }
}

/// All rules of a surface as candidates. The index must find every one of them that matches.
pub(crate) fn every_candidate(policy: &Policy, surface: Surface) -> Vec<RuleCandidate> {
    policy
        .at(surface)
        .map(|(rule, _)| RuleCandidate { rule, name_check: NameCheck::Needed })
        .collect()
}
