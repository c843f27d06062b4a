//! A compiled rule, and whether it matches.

use std::sync::Arc;

use callgate_call::{Surface, ToolCall};

use crate::actors::Actors;
use crate::condition::{Claims, Condition, Scene};
use crate::extra::ExtraInput;
use crate::finding::Findings;
use crate::judgement::{RuleError, RuleHit, RuleName};
use crate::limit::{LimitBy, LimitKey, Rate, SpentLimits};
use crate::moment::Moment;
use crate::names::{Name, Names};
use crate::sanitize::Cleaner;
use crate::server_offer::ServerOffer;
use crate::spelling::Servers;
use crate::terms::Terms;
use crate::tri::{Possible, Tri};
use crate::verdict::Verdict;

/// One rule, with nothing left to check.
#[derive(Debug, Clone)]
pub(crate) struct Rule {
    pub(crate) id: String,
    pub(crate) policy: String,
    pub(crate) surfaces: Vec<Surface>,
    pub(crate) names: Names,
    /// What stands under `tool`, as written. Nothing is every tool.
    pub(crate) tools: Vec<String>,
    pub(crate) actors: Actors,
    pub(crate) when: Option<Condition>,
    pub(crate) limit: Option<Limit>,
    pub(crate) verdict: Verdict,
    pub(crate) priority: i64,
    pub(crate) role: RuleRole,
    /// What it replaces, if it sanitizes.
    pub(crate) cleaner: Option<Arc<Cleaner>>,
    /// How a call waits that it decides, if it does.
    pub(crate) terms: Option<Arc<Terms>>,
    pub(crate) reason: String,
    pub(crate) hint: Option<String>,
    /// The kind of action that it blocks, for the model.
    pub(crate) blocks: Option<String>,
}

/// What a match of a rule does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RuleRole {
    /// It decides, if no other is before it or stricter.
    Decide,
    /// It is recorded.
    Audit,
    /// It replaces something in the arguments.
    Sanitize,
    /// It is recorded with what it would have done.
    Shadow,
}

/// A rate and what its buckets are kept by.
#[derive(Debug, Clone)]
pub(crate) struct Limit {
    pub(crate) rate: Rate,
    pub(crate) by: Vec<LimitBy>,
}

/// All that a judgement looks at.
#[derive(Debug)]
pub(crate) struct Question<'c> {
    pub(crate) call: &'c ToolCall,
    pub(crate) name: Name<'c>,
    pub(crate) moment: &'c Moment,
    pub(crate) limits: &'c SpentLimits,
    pub(crate) findings: Findings<'c>,
    /// What goes along with the call.
    pub(crate) extra: &'c [ExtraInput],
}

/// What a rule says to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Match {
    No,
    Yes,
    /// A condition was unknown, and this rule restricts: it counts as a match.
    Unknown,
    /// A condition was unknown, and this rule allows: it counts as no match.
    Disregarded,
}

/// What a rule says to a name.
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
        let name = Name::new(&call.name, servers);
        Self { call, name, moment, limits, findings: Findings::NotInspected, extra: &[] }
    }

    /// The same question with what an inspection found.
    pub(crate) fn with(self, findings: Findings<'c>) -> Self {
        Self { findings, ..self }
    }

    /// The same question with what goes along with the call.
    pub(crate) fn with_extra(self, extra: &'c [ExtraInput]) -> Self {
        Self { extra, ..self }
    }

    /// The same question without what goes along with the call.
    pub(crate) fn alone(&self) -> Self {
        let Self { call, moment, limits, findings, .. } = *self;
        Self { call, name: self.name.clone(), moment, limits, findings, extra: &[] }
    }

    /// The question about all that a server has.
    pub(crate) fn with_offer(mut self, offer: Option<&'c ServerOffer>) -> Self {
        self.name.offer = offer;
        self
    }
}

impl Rule {
    /// Whether the rule matches, but for its limit, with unknown conditions settled. A rule that
    /// allows does not match on something unknown, every other rule does.
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

    /// Whether the rule matches whatever the arguments are, the limit included.
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

    /// Every verdict but allow takes something away.
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

    /// Whether the rule is for whoever acts.
    fn actor(&self, question: &Question<'_>) -> Tri {
        let holds = self.actors.include(&question.call.origin);
        if holds == Tri::True && self.is_claimed(question) { Tri::Unknown } else { holds }
    }

    /// Whether the rule hangs on a name that the agent only gives itself. That is not enough for a rule
    /// that allows.
    fn is_claimed(&self, question: &Question<'_>) -> bool {
        let claims = !question.call.origin.agent_proven && !self.restricts();
        claims && self.actors.names_agents()
    }

    /// Why it is unknown whether the rule is for whoever acts, if it is.
    pub(crate) fn why_unknown_actor(&self, question: &Question<'_>) -> Option<String> {
        if self.actor(question) != Tri::Unknown {
            return None;
        }
        let missing = self.actors.missing(&question.call.origin);
        Some(missing.map_or_else(|| "the agent's name is only claimed".to_owned(), not_known))
    }

    pub(crate) fn scene<'c>(&self, question: &Question<'c>) -> Scene<'c> {
        let claims = if self.restricts() { Claims::Believed } else { Claims::Unknown };
        let Question { call, moment, findings, extra, .. } = *question;
        Scene { call, moment, claims, findings, extra, plain_texts: question.name.plain_texts() }
    }

    /// The bucket this call takes a token from.
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

/// What is already certain about a rule's name condition when it is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum NameCheck {
    /// The index found the very name.
    Passed,
    /// The index found something like it.
    Needed,
}

/// What is said of a field of the actor that nobody knows.
pub(crate) fn not_known(field: &'static str) -> String {
    match field {
        "agent" => "it is not known which agent makes the call".to_owned(),
        field => format!("the caller's {field} is not known"),
    }
}

/// What a call is counted by. A rule may count a whole team or organisation; in every other case
/// the principal is part of the key, so that nobody can use up the tokens of somebody else by
/// claiming their session, or by claiming none.
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
    let said = match by {
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
    said.map(str::to_owned)
}
