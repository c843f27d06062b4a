//! One compiled policy, and what it alone says.

use callgate_call::{OriginFields, Surface};

use crate::actors::Actors;
use crate::index::{Candidate, Index};
use crate::judgement::RuleHit;
use crate::rule::{Match, NameCheck, NameMatch, Question, Rule, RuleRole};
use crate::sketch::PolicySketch;
use crate::tri::Tri;
use crate::verdict::{Course, Verdict};

/// A policy that can judge.
#[derive(Debug)]
pub(crate) struct Policy {
    pub(crate) name: String,
    /// Whom it applies to.
    pub(crate) audience: Actors,
    /// Nothing this policy says has an effect.
    pub(crate) shadow: bool,
    pub(crate) rules: Vec<Rule>,
    /// It as written, to be compared with others.
    pub(crate) sketch: PolicySketch,
    /// What becomes of a call that no rule decides.
    defaults: [(Surface, Verdict); 5],
    /// Surfaces with the same rules share one index.
    indexes: Vec<Index>,
    by_surface: Vec<(Surface, usize)>,
    /// Whether any rule sanitizes: most policies have none, and are not asked.
    sanitizes: bool,
    /// Whether any rule looks at all of a call's input: only those need to know what goes along.
    pub(crate) looks_at_whole_input: bool,
}

/// What a policy says side_matches its rules.
#[derive(Debug)]
pub(crate) struct PolicyHeader {
    pub(crate) name: String,
    pub(crate) audience: Actors,
    pub(crate) shadow: bool,
    pub(crate) defaults: [(Surface, Verdict); 5],
    pub(crate) sketch: PolicySketch,
}

/// What one policy says about a call.
#[derive(Debug)]
pub(crate) struct Outcome<'p> {
    pub(crate) verdict: Verdict,
    /// The rules that decided: all of the deciding priority that say so. None is the default.
    pub(crate) deciding: Vec<(&'p Rule, Match)>,
    /// Rules that would decide, were no other before them or stricter.
    pub(crate) outranked: Vec<&'p Rule>,
    /// Every match that does not decide.
    pub(crate) side_matches: Vec<(&'p Rule, Match)>,
    /// Rules with a condition that could not be evaluated.
    pub(crate) unknown: Vec<&'p Rule>,
    /// Rules with a limit whose other conditions hold.
    pub(crate) limited: Vec<&'p Rule>,
}

/// What one policy may say about a name, once the arguments are known.
#[derive(Debug, Default)]
pub(crate) struct NameOutcome<'p> {
    /// Where it may lead the call.
    may: Vec<Course>,
    /// A rule that decides whatever the arguments are.
    pub(crate) certain: Option<&'p Rule>,
    /// A rule may replace something in the arguments.
    pub(crate) may_sanitize: bool,
}

impl Policy {
    pub(crate) fn new(head: PolicyHeader, rules: Vec<Rule>) -> Self {
        let PolicyHeader { name, audience, shadow, defaults, sketch } = head;
        let mut policy = Self {
            sketch,
            name,
            audience,
            shadow,
            sanitizes: rules.iter().any(|rule| rule.role == RuleRole::Sanitize),
            looks_at_whole_input: rules.iter().any(Rule::looks_at_whole_input),
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
                let index = Index::new(&rules);
                policy.indexes.push(index);
                lists.push(list);
            }
        }
        policy
    }

    /// Whether it applies to whoever acts. A policy can only take away, so it applies where that is
    /// not known.
    pub(crate) fn applies_to(&self, facts: &OriginFields) -> bool {
        self.audience.include(facts) != Tri::False
    }

    /// The rules that apply on a surface, each with its place.
    pub(crate) fn at(&self, surface: Surface) -> impl Iterator<Item = (u32, &Rule)> {
        (0..).zip(&self.rules).filter(move |(_, rule)| rule.applies_at(surface))
    }

    pub(crate) fn default_at(&self, surface: Surface) -> Verdict {
        let own = self.defaults.iter().find(|(named, _)| *named == surface);
        own.map_or(Verdict::Allow, |(_, verdict)| *verdict)
    }

    /// The policy's judgement of a whole call.
    pub(crate) fn judge(&self, question: &Question<'_>) -> Outcome<'_> {
        let surface = question.call.origin.surface;
        if question.name.offer.is_some() {
            // The index knows rules by the names of tools.
            return self.judge_among(question, &every_candidate(self, surface));
        }
        let candidates = self
            .index(surface)
            .map(|index| index.find(&question.name).candidates(question.call, question.extra))
            .unwrap_or_default();
        self.judge_among(question, &candidates)
    }

    /// The policy's judgement of something with more than one name: of the others only what
    /// restricts counts.
    pub(crate) fn judge_also(
        &self,
        question: &Question<'_>,
        others: &[Question<'_>],
    ) -> Outcome<'_> {
        let mut outcome = self.judge(question);
        for other in others {
            outcome.add_restriction(self.judge(other));
        }
        outcome
    }

    /// What the policy says about a server's text: only findings count against it.
    pub(crate) fn judge_text(&self, question: &Question<'_>) -> Outcome<'_> {
        self.judge_by(question, Rule::needs_findings)
    }

    /// What the policy says about a client's message that is no call: only what it holds counts
    /// against it. A rule that wants something in every call would match without it as well.
    pub(crate) fn judge_sent(&self, question: &Question<'_>) -> Outcome<'_> {
        let without = question.alone();
        let is_by_it = |rule: &Rule| {
            let how = rule.matches(&without, NameCheck::Needed);
            rule.cleaner.is_some() || matches!(how, Match::No | Match::Disregarded)
        };
        self.judge_by(question, |rule| rule.looks_at_whole_input() && is_by_it(rule))
    }

    /// What the rules say, without the default.
    pub(crate) fn judge_rules(&self, question: &Question<'_>) -> Outcome<'_> {
        self.judge_by(question, |_| true)
    }

    /// What is no call: of the rules that restrict only some have a say, and no default.
    fn judge_by(&self, question: &Question<'_>, counts: impl Fn(&Rule) -> bool) -> Outcome<'_> {
        let surface = question.call.origin.surface;
        let counts = |rule: &Rule| !rule.restricts() || counts(rule);
        let found = self.index(surface).map(|index| index.find(&question.name));
        let candidates = found.map(|it| it.candidates(question.call, question.extra));
        let mut candidates = candidates.unwrap_or_default();
        candidates.retain(|candidate| self.rule(candidate.rule).is_some_and(counts));
        let mut outcome = self.judge_among(question, &candidates);
        if outcome.deciding.is_empty() {
            outcome.verdict = Verdict::Allow;
        }
        outcome
    }

    /// The judgement among these rules.
    pub(crate) fn judge_among(
        &self,
        question: &Question<'_>,
        candidates: &[Candidate],
    ) -> Outcome<'_> {
        let mut outcome = Outcome {
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

    /// What the policy may say about a name. It stops asking when it may say either.
    pub(crate) fn judge_name(&self, question: &Question<'_>) -> NameOutcome<'_> {
        let mut outcome = NameOutcome::default();
        let surface = question.call.origin.surface;
        let found = self.index(surface).map(|index| index.find(&question.name));
        let ask = |candidate: &Candidate| {
            let rule = self.rule(candidate.rule).filter(|rule| rule.role == RuleRole::Decide)?;
            match rule.matches_name(question, candidate.name_check) {
                NameMatch::Never => None,
                how => Some((rule, how)),
            }
        };
        let sanitizes = |candidate: &Candidate| {
            let rule = self.rule(candidate.rule).filter(|rule| rule.role == RuleRole::Sanitize);
            let matches = rule.map(|rule| rule.matches_name(question, candidate.name_check));
            matches.is_some_and(|how| how != NameMatch::Never)
        };
        outcome.may_sanitize = self.sanitizes
            && found.as_ref().is_some_and(|found| {
                found.plain().iter().any(sanitizes) || found.triggered().any(|it| sanitizes(&it))
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
        let triggered = found.iter().flat_map(|found| found.triggered());
        for candidate in triggered {
            if outcome.is_open() {
                break;
            }
            // The rank is cheap to compare: most rules of a crowd need no more.
            let matters =
                self.rule(candidate.rule).is_some_and(|rule| outcome.may_change_course(rule));
            if matters && let Some((rule, _)) = ask(&candidate) {
                outcome.add_possible(rule);
            }
        }
        outcome
    }

    /// The strictest thing in this policy that could keep a call from passing on a surface, and the
    /// rule behind it unless it is the default. A rule that sanitizes denies what it cannot read.
    pub(crate) fn first_restriction(&self, surface: Surface) -> Option<(Verdict, Option<&Rule>)> {
        let restricts = |rule: &'_ Rule| match rule.role {
            RuleRole::Decide => (!rule.verdict.passes()).then_some(rule.verdict),
            RuleRole::Sanitize => Some(Verdict::Deny),
            RuleRole::Audit | RuleRole::Shadow => None,
        };
        let rules = self.at(surface).filter_map(|(_, rule)| Some((restricts(rule)?, Some(rule))));
        let default = self.default_at(surface);
        let default = (!default.passes()).then_some((default, None));
        rules.chain(default).min_by_key(|(verdict, _)| std::cmp::Reverse(*verdict))
    }

    /// What the record says where the default decided.
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

    fn index(&self, surface: Surface) -> Option<&Index> {
        let (_, at) = self.by_surface.iter().find(|(named, _)| *named == surface)?;
        self.indexes.get(*at)
    }

    fn rule(&self, at: u32) -> Option<&Rule> {
        self.rules.get(usize::try_from(at).ok()?)
    }
}

impl Rule {
    /// Whether the rule is asked on a surface. Tools in a request have no arguments yet.
    pub(crate) fn applies_at(&self, surface: Surface) -> bool {
        let answerable = surface != Surface::Inbound
            || !self.when.as_ref().is_some_and(crate::condition::Condition::needs_arguments);
        self.surfaces.contains(&surface) && answerable
    }

    /// Whether it looks at what an inspection found.
    pub(crate) fn needs_findings(&self) -> bool {
        self.when.as_ref().is_some_and(crate::condition::Condition::needs_findings)
    }

    /// Whether it looks at all of a call's input, or replaces something in all of it.
    pub(crate) fn looks_at_whole_input(&self) -> bool {
        self.cleaner.is_some()
            || self.when.as_ref().is_some_and(crate::condition::Condition::looks_at_whole_input)
    }

    /// The order in which rules decide: the lowest number first, then the strictest.
    pub(crate) fn rank(&self) -> (i64, std::cmp::Reverse<Verdict>) {
        (self.priority, std::cmp::Reverse(self.verdict))
    }
}

impl<'p> Outcome<'p> {
    /// What is said of another name of the same thing: it counts if it restricts, and is recorded.
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

    /// A rule that may match counts if it would come before the one that certainly does.
    fn add_possible(&mut self, rule: &Rule) {
        if self.may_change_course(rule) {
            self.add(rule.verdict);
        }
    }

    fn may_change_course(&self, rule: &Rule) -> bool {
        self.certain.is_none_or(|certain| rule.rank() <= certain.rank())
            && !self.may(rule.verdict.course())
    }

    /// Whether it may stop the call, or have it wait for an answer.
    pub(crate) fn may_restrict(&self) -> bool {
        self.may(Course::Waits) || self.may(Course::Stops)
    }

    fn is_open(&self) -> bool {
        self.may(Course::Passes) && self.may_restrict()
    }

    /// Whether it stops the call whatever the arguments are. A call that may only have to wait for an
    /// answer is held, and asked about with its arguments.
    pub(crate) fn is_denied(&self) -> bool {
        self.never_passes() && !self.may(Course::Waits)
    }

    /// Whether it stops the call or has it wait, whatever the arguments are.
    pub(crate) fn never_passes(&self) -> bool {
        !self.may(Course::Passes)
    }
}

/// All rules of a surface as candidates: what the index must never fall short of.
pub(crate) fn every_candidate(policy: &Policy, surface: Surface) -> Vec<Candidate> {
    policy.at(surface).map(|(rule, _)| Candidate { rule, name_check: NameCheck::Needed }).collect()
}
