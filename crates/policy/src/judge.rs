//! Judges a call by several policies: each on its own, and the strictest result counts.

use std::sync::Arc;

use callgate_call::{FoundOrigin, OriginFields, ToolCall};

use crate::condition::Condition;
use crate::denial::DenialScope;
use crate::finding::Findings;
use crate::judgement::{Judgement, JudgementDetails, NameJudgement, RuleHit};
use crate::limit::SpentLimits;
use crate::moment::Moment;
use crate::permit::CallFingerprint;
use crate::policies::Policies;
use crate::policy::{Policy, PolicyOutcome};
use crate::rule::{Question, Rule, RuleRole};
use crate::server_offer::ServerOffer;
use crate::verdict::Verdict;
use crate::wrapper;

impl Policies {
    /// Judges a call by its name alone. Gives a verdict only if no arguments could change it. Audit
    /// and shadow rules never change the verdict, so they are evaluated when the call is complete.
    pub fn judge_name(
        &self,
        call: &ToolCall,
        moment: &Moment,
        limits: &SpentLimits,
    ) -> NameJudgement {
        self.judge_name_with(call, moment, limits, Findings::NotInspected)
    }

    /// Like [`Self::judge_name`], with the findings in the tool's definition.
    pub fn judge_name_with(
        &self,
        call: &ToolCall,
        moment: &Moment,
        limits: &SpentLimits,
        findings: Findings<'_>,
    ) -> NameJudgement {
        let question = self.question(call, moment, limits).with(findings);
        let surface = call.origin.surface;
        let mut judgement = Judgement::empty(call);
        let mut open = wrapper::is_wrapper(&call.name)
            && self
                .enforcing(&call.origin)
                .any(|policy| policy.first_restriction(surface).is_some());
        for policy in self.enforcing(&call.origin) {
            let outcome = policy.name_outcome(&question);
            let verdict = match outcome.certain {
                Some(rule) => rule.verdict,
                None => policy.default_at(surface),
            };
            if outcome.is_denied() {
                let hit = certain_hit(policy, outcome.certain, verdict);
                judgement.decide(hit);
                judgement.details.scope = DenialScope::Tool;
                return NameJudgement::Deny(judgement);
            }
            open |= outcome.may_restrict() || outcome.may_sanitize;
            if judgement.is_outranked_by(verdict, outcome.certain) {
                let hit = certain_hit(policy, outcome.certain, verdict);
                judgement.decide(hit);
            }
        }
        if open {
            return NameJudgement::NeedArguments;
        }
        NameJudgement::Allow(judgement.name_permit(call), judgement)
    }

    /// Judges a complete call. The judgement lists every rule that matched.
    pub fn judge(&self, call: &ToolCall, moment: &Moment, limits: &SpentLimits) -> Judgement {
        self.judge_with(call, moment, limits, Findings::NotInspected)
    }

    /// Like [`Self::judge`], with the findings in the server's texts.
    pub fn judge_with(
        &self,
        call: &ToolCall,
        moment: &Moment,
        limits: &SpentLimits,
        findings: Findings<'_>,
    ) -> Judgement {
        let question = self.question(call, moment, limits).with(findings);
        self.judge_with_inner_calls(&question).sanitized(call)
    }

    /// Judges a call and every call in it, before anything is sanitized.
    pub(crate) fn judge_with_inner_calls(&self, question: &Question<'_>) -> Judgement {
        let outer = self.judge_alone(question);
        if wrapper::is_wrapper(&question.call.name) {
            return wrapper::judge(self, outer, question);
        }
        let mut judgement = outer;
        if !judgement.verdict.passes() && self.blocks_tool(question) {
            judgement.details.scope = DenialScope::Tool;
        }
        judgement
    }

    /// Whether no call of this name passes, whatever its arguments.
    fn blocks_tool(&self, question: &Question<'_>) -> bool {
        self.enforcing(&question.call.origin)
            .any(|policy| policy.name_outcome(question).never_passes())
    }

    /// Judges a server's text that is neither a call nor the result of one. Of the rules that
    /// restrict, only those on findings apply. No default applies: a policy that denies unknown
    /// calls does not mean texts.
    pub fn judge_text(
        &self,
        text: &ToolCall,
        moment: &Moment,
        findings: Findings<'_>,
    ) -> Judgement {
        let limits = SpentLimits::none();
        let question = self.question(text, moment, &limits).with(findings);
        self.combine_outcomes(&question, Policy::outcome_of_text)
    }

    /// Judges something that may be a call, by the rules alone. Defaults are meant for actual
    /// calls.
    pub fn judge_by_rules(
        &self,
        call: &ToolCall,
        moment: &Moment,
        limits: &SpentLimits,
        findings: Findings<'_>,
    ) -> Judgement {
        let question = self.question(call, moment, limits).with(findings);
        self.combine_outcomes(&question, Policy::outcome_of_rules).sanitized(call)
    }

    /// Judges a tool that a request advertises: a call without arguments on the surface `inbound`.
    /// Only rules apply that name this surface and need no arguments, and only a default that is
    /// given for `inbound`. Limits are not counted, because nothing is called yet.
    ///
    /// `mcp__server__*` stands for every tool of a server except those in `except`. A rule that
    /// restricts applies if it may apply to one of them, a rule that allows if it applies to all of
    /// them.
    pub fn judge_advertised(
        &self,
        tool: &ToolCall,
        except: &[String],
        moment: &Moment,
    ) -> Judgement {
        self.judge_offer(tool, &[], except, moment)
    }

    /// Like [`Self::judge_advertised`], for a tool that also has the names `also`, such as
    /// `web_search` for every search that a provider runs. A rule that restricts one of these names
    /// applies, a rule that allows one does not: a tool of the client may have the same name.
    pub fn judge_offer(
        &self,
        tool: &ToolCall,
        also: &[ToolCall],
        except: &[String],
        moment: &Moment,
    ) -> Judgement {
        let (limits, offer) = (SpentLimits::none(), ServerOffer::of(tool, except));
        let ask = |call| self.question(call, moment, &limits);
        let question = ask(tool).with_offer(offer.as_ref());
        let others: Vec<Question<'_>> = also.iter().map(ask).collect();
        self.combine(&question, |policy, question| policy.outcome_with_names(question, &others))
    }

    /// Judges a call with arguments that are too large to be read, if the operator allows such
    /// calls: only its name can stop it.
    pub fn judge_waived(
        &self,
        call: &ToolCall,
        moment: &Moment,
        limits: &SpentLimits,
    ) -> Judgement {
        match self.judge_name(call, moment, limits) {
            NameJudgement::Allow(_, judgement) | NameJudgement::Deny(judgement) => judgement,
            NameJudgement::NeedArguments => self.judge_unread(call, moment, limits),
        }
    }

    /// Judges by name a call whose arguments are not read. It is asked about if every verdict for
    /// the name would be to ask, and passes otherwise.
    fn judge_unread(&self, call: &ToolCall, moment: &Moment, limits: &SpentLimits) -> Judgement {
        let question = self.question(call, moment, limits);
        let mut judgement = Judgement::empty(call);
        judgement.details.reason = "its arguments were not judged".to_owned();
        for policy in self.enforcing(&call.origin) {
            let outcome = policy.name_outcome(&question);
            let verdict = match outcome.certain {
                Some(rule) => rule.verdict,
                None => policy.default_at(call.origin.surface),
            };
            if outcome.never_passes() && verdict > judgement.verdict {
                let hit = certain_hit(policy, outcome.certain, verdict);
                judgement.decide(hit);
                judgement.details.scope = DenialScope::Tool;
            }
        }
        judgement
    }

    /// Judges a call by itself, without the calls in it.
    pub(crate) fn judge_alone(&self, question: &Question<'_>) -> Judgement {
        self.combine_outcomes(question, Policy::outcome)
    }

    /// Judges a call by every policy, each as `ask` does.
    pub(crate) fn combine_outcomes<'p>(
        &'p self,
        question: &Question<'_>,
        ask: impl Fn(&'p Policy, &Question<'_>) -> PolicyOutcome<'p>,
    ) -> Judgement {
        match ServerOffer::of(question.call, &[]) {
            None => self.combine(question, ask),
            Some(offer) => {
                let Question { call, moment, limits, findings, extra, .. } = *question;
                let question = self.question(call, moment, limits).with(findings).with_extra(extra);
                self.combine(&question.with_offer(Some(&offer)), ask)
            }
        }
    }

    fn combine<'p>(
        &'p self,
        question: &Question<'_>,
        ask: impl Fn(&'p Policy, &Question<'_>) -> PolicyOutcome<'p>,
    ) -> Judgement {
        let mut judgement = Judgement::empty(question.call);
        for policy in self.policies_for(&question.call.origin) {
            let outcome = ask(policy, question);
            judgement.record_outcome(policy, &outcome, question);
            if policy.shadow {
                judgement.record_shadow(policy, &outcome);
            } else {
                judgement.apply_outcome(policy, &outcome, question);
            }
        }
        judgement.details.deciding.sort_by_key(|hit| std::cmp::Reverse(hit.verdict));
        let mut policies = self.policies_for(&question.call.origin);
        if policies.any(|policy| policy.looks_at.effects) {
            judgement.details.files = question.effects.files(&question.name);
        }
        judgement.details.events = self.events(question);
        judgement.details.origins = self.origins(question);
        judgement
    }

    /// What later calls may ask about this one, if it is allowed.
    fn events(&self, question: &Question<'_>) -> Vec<String> {
        let policies = self.policies_for(&question.call.origin);
        let asked = policies.flat_map(|policy| &policy.on_earlier_calls);
        let mut events: Vec<String> = Vec::new();
        for event in asked.filter_map(|after| after.event_of(&question.scene())) {
            if !events.iter().any(|known| known == event) {
                events.push(event.to_owned());
            }
        }
        events
    }

    /// What rules ask about the origin of values, on any surface: what is found here also counts
    /// where the call is executed.
    fn origins(&self, question: &Question<'_>) -> Vec<FoundOrigin> {
        let policies = self.policies_for(&question.call.origin);
        let rules = policies.flat_map(Policy::on_origins).filter(|rule| rule.names(question));
        let asked = rules.filter_map(|rule| rule.when.as_ref()).flat_map(Condition::on_origins);
        let mut found: Vec<FoundOrigin> = Vec::new();
        for origin in asked.filter_map(|condition| condition.found(&question.scene())) {
            if !found.iter().any(|known| known.condition == origin.condition) {
                found.push(origin);
            }
        }
        found
    }

    /// Whether a rule asks about the conversation before a call.
    pub fn looks_at_conversation(&self) -> bool {
        self.policies().iter().any(|policy| policy.on_origins().next().is_some())
    }

    /// Whether a rule asks about earlier calls.
    pub fn looks_at_history(&self) -> bool {
        self.policies().iter().any(|policy| policy.looks_at.history)
    }

    /// Whether the verdict on a call may depend on earlier calls of its session: on what they did, or
    /// on the files that they have written.
    pub fn look_at_earlier_calls(&self) -> bool {
        self.policies().iter().any(|policy| policy.looks_at.history || policy.looks_at.effects)
    }

    /// The events that rules ask about, apart from denials.
    pub fn events_asked_for(&self) -> Vec<String> {
        let asked = self.policies().iter().flat_map(|policy| &policy.on_earlier_calls);
        asked.map(|after| after.event().to_owned()).collect()
    }

    /// The policies that apply to this caller and are not in shadow mode.
    pub(crate) fn enforcing(&self, actor: &OriginFields) -> impl Iterator<Item = &Policy> {
        self.policies_for(actor).filter(|policy| !policy.shadow)
    }
}

fn certain_hit(policy: &Policy, rule: Option<&Rule>, verdict: Verdict) -> RuleHit {
    rule.map_or_else(|| policy.default_hit(verdict), |rule| rule.hit(crate::rule::Match::Yes))
}

impl Judgement {
    /// The judgement before any policy was evaluated: the call passes.
    pub(crate) fn empty(call: &ToolCall) -> Self {
        Self {
            details: JudgementDetails {
                verdict: Verdict::Allow,
                policy: None,
                rule: None,
                reason: "no policy applies".to_owned(),
                hint: None,
                blocks: None,
                scope: DenialScope::Use,
                terms: None,
                uncovered: true,
                deciding: Vec::new(),
                sanitizers: Vec::new(),
                replaced: Vec::new(),
                audits: Vec::new(),
                shadows: Vec::new(),
                errors: Vec::new(),
                rules: Vec::new(),
                matched: None,
                limits: Vec::new(),
                files: Vec::new(),
                events: Vec::new(),
                origins: Vec::new(),
            },
            fingerprint: CallFingerprint::of(call),
            cleaners: Vec::new(),
            rewritten: None,
            extra: Vec::new(),
        }
    }

    /// Adds everything that one policy puts on record, apart from the decision.
    fn record_outcome(
        &mut self,
        policy: &Policy,
        outcome: &PolicyOutcome<'_>,
        question: &Question<'_>,
    ) {
        let deciding = outcome.deciding.iter().map(|(rule, _)| *rule);
        let side_matches = outcome.side_matches.iter().map(|(rule, _)| *rule);
        let all = deciding.chain(outcome.outranked.iter().copied()).chain(side_matches);
        self.details.rules.extend(all.map(Rule::named));
        self.details.errors.extend(outcome.unknown.iter().map(|rule| rule.error(question)));
        for (rule, how) in &outcome.side_matches {
            let hit = rule.hit(*how);
            if policy.shadow || rule.role == RuleRole::Shadow {
                self.details.shadows.push(hit.in_shadow());
            } else if let Some(cleaner) = &rule.cleaner {
                self.details.sanitizers.push(hit);
                self.cleaners.push(Arc::clone(cleaner));
            } else {
                self.details.audits.push(hit);
            }
        }
        let counted = |rule: &&&Rule| !policy.shadow && rule.role != RuleRole::Shadow;
        let limited = outcome.limited.iter().filter(counted);
        self.details.limits.extend(limited.filter_map(|rule| rule.limit_key(question)));
    }

    /// Adds what a policy in shadow mode would have done, unless it would have let the call pass.
    fn record_shadow(&mut self, policy: &Policy, outcome: &PolicyOutcome<'_>) {
        if outcome.verdict.passes() {
            return;
        }
        if outcome.deciding.is_empty() {
            self.details.shadows.push(policy.default_hit(outcome.verdict).in_shadow());
        }
        let hits = outcome.deciding.iter().map(|(rule, how)| rule.hit(*how).in_shadow());
        self.details.shadows.extend(hits);
    }

    /// Takes over the result of one policy if it is stricter than the strictest so far.
    fn apply_outcome(
        &mut self,
        policy: &Policy,
        outcome: &PolicyOutcome<'_>,
        question: &Question<'_>,
    ) {
        self.details.deciding.extend(outcome.deciding.iter().map(|(rule, how)| rule.hit(*how)));
        let first = outcome.deciding.first();
        if !self.is_outranked_by(outcome.verdict, first.map(|(rule, _)| *rule)) {
            return;
        }
        match first {
            None => self.decide(policy.default_hit(outcome.verdict)),
            Some((rule, how)) => {
                self.decide(rule.hit(*how));
                let scene = rule.scene(question);
                self.details.matched = rule.when.as_ref().and_then(|when| when.matched(&scene));
            }
        }
    }

    /// A stricter result counts. Between equal results, a rule explains more than a default.
    fn is_outranked_by(&self, verdict: Verdict, rule: Option<&Rule>) -> bool {
        self.policy.is_none()
            || verdict > self.verdict
            || (verdict == self.verdict && rule.is_some() && self.uncovered)
    }

    /// Takes over a result. A default covers no call.
    pub(crate) fn decide(&mut self, hit: RuleHit) {
        self.details.verdict = hit.verdict;
        self.details.policy = Some(hit.policy);
        self.details.uncovered = hit.rule.is_none();
        self.details.rule = hit.rule;
        self.details.reason = hit.reason;
        self.details.hint = hit.hint;
        self.details.blocks = hit.blocks;
        self.details.scope = if hit.limited { DenialScope::Rate } else { DenialScope::Use };
        self.details.terms = hit.terms;
        self.details.matched = None;
    }
}

impl RuleHit {
    fn in_shadow(mut self) -> Self {
        self.reason = format!("[shadow] would {}: {}", self.verdict, self.reason);
        self
    }
}
