//! A compiled rule, and whether it matches.

use std::sync::Arc;

use callgate_call::{Arguments, Surface, ToolCall};
use callgate_effects::Resolver;

use crate::actors::Actors;
use crate::condition::{Claims, Condition, EffectReading, Scene, SceneEffects};
use crate::effects::CallEffects;
use crate::extra::ExtraInput;
use crate::finding::Findings;
use crate::judgement::{RuleError, RuleHit, RuleName};
use crate::limit::{LimitBy, LimitKey, Rate, SpentLimits};
use crate::moment::Moment;
use crate::names::{CallName, RuleNames};
use crate::sanitize::Sanitizer;
use crate::server_offer::ServerOffer;
use crate::spelling::Servers;
use crate::terms::Terms;
use crate::tri::{Possible, Tri};
use crate::verdict::Verdict;

/// One rule, fully checked.
#[derive(Debug, Clone)]
pub(crate) struct Rule {
    pub(crate) id: String,
    pub(crate) policy: String,
    pub(crate) surfaces: Vec<Surface>,
    pub(crate) names: RuleNames,
    /// The value of `tool` as written; empty for every tool.
    pub(crate) tools: Vec<String>,
    pub(crate) actors: Actors,
    pub(crate) when: Option<Condition>,
    pub(crate) limit: Option<Limit>,
    pub(crate) verdict: Verdict,
    pub(crate) priority: i64,
    pub(crate) role: RuleRole,
    /// What it replaces, if it sanitizes.
    pub(crate) cleaner: Option<Arc<Sanitizer>>,
    /// How a call waits that this rule decides; `None` unless the verdict is ask or review.
    pub(crate) terms: Option<Arc<Terms>>,
    pub(crate) reason: String,
    pub(crate) hint: Option<String>,
    /// The kind of action that it blocks, as shown to the model.
    pub(crate) blocks: Option<String>,
    /// How many examples it has.
    pub(crate) examples: usize,
}

/// What happens when a rule matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RuleRole {
    /// It decides, unless another rule has a lower priority number or is stricter.
    Decide,
    /// It is recorded.
    Audit,
    /// It replaces something in the arguments.
    Sanitize,
    /// It is recorded together with what it would have done.
    Shadow,
}

/// A rate, and the fields that each have a bucket of their own.
#[derive(Debug, Clone)]
pub(crate) struct Limit {
    pub(crate) rate: Rate,
    pub(crate) by: Vec<LimitBy>,
}

/// Everything that a judgement looks at.
#[derive(Debug)]
pub(crate) struct Question<'c> {
    pub(crate) call: &'c ToolCall,
    pub(crate) name: CallName<'c>,
    pub(crate) moment: &'c Moment,
    pub(crate) limits: &'c SpentLimits,
    pub(crate) findings: Findings<'c>,
    /// Input that is sent in addition to the arguments.
    pub(crate) extra: &'c [ExtraInput],
    /// What the call would do.
    pub(crate) effects: CallEffects<'c>,
}

/// Whether a rule matches a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Match {
    No,
    Yes,
    /// A condition was unknown, and this rule restricts: it counts as a match.
    Unknown,
    /// A condition was unknown, and this rule allows: it counts as no match.
    Disregarded,
}

/// Whether a rule matches a name, whatever the arguments are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameMatch {
    Never,
    Depends,
    Always,
}

impl<'c> Question<'c> {
    pub(crate) fn new(
        call: &'c ToolCall,
        moment: &'c Moment,
        limits: &'c SpentLimits,
        servers: &'c Servers,
    ) -> Self {
        let name = CallName::new(&call.name, servers);
        let effects = CallEffects::new(call, None);
        Self { call, name, moment, limits, findings: Findings::NotInspected, extra: &[], effects }
    }

    /// The same question, with a look at the disk of the agent's machine.
    pub(crate) fn with_disk(self, disk: Option<&'c dyn Resolver>) -> Self {
        Self { effects: CallEffects::new(self.call, disk), ..self }
    }

    /// The same question, with the findings of an inspection.
    pub(crate) fn with(self, findings: Findings<'c>) -> Self {
        Self { findings, ..self }
    }

    /// The same question, with extra input.
    pub(crate) fn with_extra(self, extra: &'c [ExtraInput]) -> Self {
        Self { extra, ..self }
    }

    /// What the conditions of a rule that restricts look at.
    pub(crate) fn scene(&self) -> Scene<'_> {
        let Question { call, moment, findings, extra, .. } = *self;
        let (claims, reading) = (Claims::Believed, EffectReading::Some);
        let plain_texts = self.name.plain_texts();
        let effects = SceneEffects::new(&self.effects, &self.name);
        Scene { call, moment, claims, findings, extra, plain_texts, effects, reading }
    }

    /// The arguments of the call.
    pub(crate) fn input(&self) -> &'c Arguments {
        &self.call.arguments
    }

    /// The same question, without extra input.
    pub(crate) fn alone(&self) -> Self {
        let Self { call, moment, limits, findings, .. } = *self;
        let (name, effects) = (self.name.clone(), CallEffects::new(call, self.effects.disk));
        Self { call, name, moment, limits, findings, extra: &[], effects }
    }

    /// The same question about all tools that a server offers.
    pub(crate) fn with_offer(mut self, offer: Option<&'c ServerOffer>) -> Self {
        self.name.offer = offer;
        self
    }
}

impl Rule {
    /// Whether the rule matches, apart from its limit. If a condition is unknown, a rule that
    /// allows does not match, and every other rule does.
    pub(crate) fn matches(&self, question: &Question<'_>, name_check: NameCheck) -> Match {
        if name_check == NameCheck::Needed && !self.names(question) {
            return Match::No;
        }
        let mut holds = self.actor(question);
        if holds != Tri::False
            && let Some(when) = &self.when
        {
            holds = holds.and(when.holds(&self.scene(question)));
        }
        match holds {
            Tri::True => Match::Yes,
            Tri::Unknown if self.restricts() => Match::Unknown,
            Tri::Unknown => Match::Disregarded,
            Tri::False => Match::No,
        }
    }

    /// Whether the rule and its limit match whatever the arguments are.
    pub(crate) fn matches_name(&self, question: &Question<'_>, name_check: NameCheck) -> NameMatch {
        if name_check == NameCheck::Needed && !self.names(question) {
            return NameMatch::Never;
        }
        let mut possible = Possible::only(self.actor(question));
        if let Some(when) = &self.when {
            possible = possible.and(when.possible(&self.scene(question)));
        }
        let unknown = possible.contains(Tri::Unknown);
        let match_ = possible.contains(Tri::True) || (unknown && self.restricts());
        let miss = possible.contains(Tri::False) || (unknown && !self.restricts());
        match (match_, miss || self.limit.is_some()) {
            (false, _) => NameMatch::Never,
            (true, true) => NameMatch::Depends,
            (true, false) => NameMatch::Always,
        }
    }

    /// Every verdict except allow restricts.
    pub(crate) fn restricts(&self) -> bool {
        self.verdict != Verdict::Allow
    }

    pub(crate) fn names(&self, question: &Question<'_>) -> bool {
        if self.restricts() {
            self.names.restrict(&question.name)
        } else {
            self.names.allow(&question.name)
        }
    }

    /// Whether the rule applies to the caller.
    fn actor(&self, question: &Question<'_>) -> Tri {
        let holds = self.actors.include(&question.call.origin);
        if holds == Tri::True && self.is_claimed(question) { Tri::Unknown } else { holds }
    }

    /// Whether the rule names agents and the agent's name is only a claim. A claim is not enough
    /// for a rule that allows.
    fn is_claimed(&self, question: &Question<'_>) -> bool {
        let claims = !question.call.origin.agent_proven && !self.restricts();
        claims && self.actors.names_agents()
    }

    /// Why it is unknown whether the rule applies to the caller; `None` if it is known.
    pub(crate) fn why_unknown_actor(&self, question: &Question<'_>) -> Option<String> {
        if self.actor(question) != Tri::Unknown {
            return None;
        }
        let missing = self.actors.missing(&question.call.origin);
        Some(missing.map_or_else(|| "the agent's name is only claimed".to_owned(), not_known))
    }

    pub(crate) fn scene<'q>(&self, question: &'q Question<'_>) -> Scene<'q> {
        match self.restricts() {
            true => question.scene(),
            false => {
                let (claims, reading) = (Claims::Unknown, EffectReading::Every);
                Scene { claims, reading, ..question.scene() }
            }
        }
    }

    /// The bucket from which this call takes a token.
    pub(crate) fn limit_key(&self, question: &Question<'_>) -> Option<LimitKey> {
        let limit = self.limit.as_ref()?;
        let bucket = bucket(&limit.by, question);
        let (policy, rule) = (self.policy.clone(), self.id.clone());
        Some(LimitKey { policy, rule, bucket, rate: limit.rate })
    }

    pub(crate) fn named(&self) -> RuleName {
        RuleName { policy: self.policy.clone(), rule: self.id.clone() }
    }

    pub(crate) fn hit(&self, how: Match) -> RuleHit {
        RuleHit {
            policy: self.policy.clone(),
            rule: Some(self.id.clone()),
            verdict: self.verdict,
            reason: self.reason.clone(),
            hint: self.hint.clone(),
            blocks: self.blocks.clone(),
            limited: self.limit.is_some(),
            unknown: how == Match::Unknown,
            terms: self.terms.clone(),
        }
    }

    pub(crate) fn error(&self, question: &Question<'_>) -> RuleError {
        let scene = self.scene(question);
        let why = self.when.as_ref().and_then(|when| when.why_unknown(&scene));
        RuleError {
            policy: self.policy.clone(),
            rule: self.id.clone(),
            why: why.or_else(|| self.why_unknown_actor(question)).unwrap_or_default(),
        }
    }
}

/// Whether a rule's tool and server still have to be compared with the name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum NameCheck {
    /// The index has found the name itself: the rule applies to it.
    Passed,
    /// The index has found something similar: the rule must compare the name.
    Needed,
}

/// The reason for an unknown field of the caller.
pub(crate) fn not_known(field: &'static str) -> String {
    match field {
        "agent" => "it is not known which agent makes the call".to_owned(),
        field => format!("the caller's {field} is not known"),
    }
}

/// The fields and values by which a call is counted. A rule may count a whole team or organisation.
/// In every other case the principal is part of the key, so that no caller can use up the tokens of
/// another by claiming its session, or by claiming none.
fn bucket(by: &[LimitBy], question: &Question<'_>) -> Vec<(LimitBy, String)> {
    let value = |by: &LimitBy| (*by, bucket_value(*by, question).unwrap_or_default());
    let mut bucket: Vec<(LimitBy, String)> = by.iter().map(value).collect();
    let mut named = by.iter().filter(|by| by.is_established()).peekable();
    let names_owner =
        named.peek().is_some() && named.all(|by| bucket_value(*by, question).is_some());
    if !names_owner {
        let who = question.call.origin.who.identity();
        bucket.extend(who.map(LimitBy::principal).filter(|pair| !bucket.contains(pair)));
    }
    bucket
}

fn bucket_value(by: LimitBy, question: &Question<'_>) -> Option<String> {
    let origin = &question.call.origin;
    let value = match by {
        LimitBy::Session => origin.session.as_deref(),
        LimitBy::Agent => origin.agent.as_deref(),
        LimitBy::Org => origin.who.org.as_deref(),
        LimitBy::Team => origin.who.team.as_deref(),
        LimitBy::User => origin.who.user.as_deref(),
        LimitBy::Key => origin.who.key.as_deref(),
        LimitBy::Server => return question.name.counted().0,
        LimitBy::Tool => {
            let (server, tool) = question.name.counted();
            return Some(server.map_or_else(|| tool.clone(), |server| format!("{server}/{tool}")));
        }
    };
    value.map(str::to_owned)
}
