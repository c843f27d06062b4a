//! The checks beside the rules, and what they come to together.
//!
//! Every check is made; the strictest result wins. Which of several reasons is told first is
//! decided by the order of [`Check`].

use callgate_audit::{Action, Code, Hit, RecordId, Verdict};
use callgate_policy::{Denial, Judgement, Scope};

use super::settings::Watch;
use crate::pipeline::STORE;
use crate::record;

/// What was checked, in the order in which reasons are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Check {
    Server,
    Tool,
    Pin,
    Rate,
    /// The arguments, whatever they say.
    Arguments,
    /// What was found in the definition. It is told with the rules.
    Finding,
    Rules,
    Flow,
    /// What has to be kept or read to decide cannot be.
    Store,
}

impl Check {
    const ALL: [Self; 9] = [
        Self::Server,
        Self::Tool,
        Self::Pin,
        Self::Rate,
        Self::Arguments,
        Self::Finding,
        Self::Rules,
        Self::Flow,
        Self::Store,
    ];

    /// What records call it for programs, unless an objection knows better.
    fn code(self) -> Code {
        match self {
            Self::Server => Code::ServerDenied,
            Self::Tool => Code::ToolDenied,
            Self::Pin => Code::PinUntrusted,
            Self::Rate => Code::RateLimit,
            Self::Arguments => Code::BadArguments,
            Self::Finding => Code::Finding,
            Self::Rules => Code::Rule,
            Self::Flow => Code::Flow,
            Self::Store => Code::StoreFailed,
        }
    }

    /// How denials and records call it: the setting that decides it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Server => "mcp.servers",
            Self::Tool => "mcp.tools",
            Self::Pin => "mcp.pins",
            Self::Rate => "mcp.rate",
            Self::Arguments => "arguments",
            Self::Finding => "mcp.inspect",
            Self::Rules => "rules",
            Self::Flow => "mcp.flows",
            Self::Store => STORE,
        }
    }
}

impl Check {
    /// How much it blocks.
    fn scope(self) -> Scope {
        match self {
            Self::Server | Self::Tool | Self::Pin | Self::Finding => Scope::Tool,
            Self::Rate => Scope::Rate,
            Self::Arguments | Self::Rules | Self::Flow => Scope::Use,
            Self::Store => Scope::Outage,
        }
    }
}

/// What a check has against a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Objection {
    pub(crate) check: Check,
    pub(crate) code: Code,
    pub(crate) watch: Watch,
    pub(crate) reason: String,
    /// What to do instead.
    pub(crate) hint: Option<String>,
    /// Earlier calls that it is about.
    pub(crate) earlier: Vec<RecordId>,
}

impl Objection {
    pub(crate) fn new(check: Check, watch: Watch, reason: String, hint: &str) -> Self {
        let hint = Some(hint.to_owned());
        Self { check, code: check.code(), watch, reason, hint, earlier: Vec::new() }
    }

    pub(crate) fn block(check: Check, reason: String, hint: &str) -> Self {
        Self::new(check, Watch::Block, reason, hint)
    }

    /// The same, where records can say more than what was checked.
    pub(crate) fn coded(self, code: Code) -> Self {
        Self { code, ..self }
    }
}

/// What all checks together have against a call.
#[derive(Debug, Default)]
pub(crate) struct Objections(Vec<Objection>);

impl Objections {
    pub(crate) fn add(&mut self, objections: impl IntoIterator<Item = Objection>) {
        let heard = objections.into_iter().filter(|it| it.watch != Watch::Allow);
        self.0.extend(heard);
        self.0.sort_by_key(|it| it.check);
    }

    /// Adds what is said of another call that counts for the same one.
    pub(crate) fn join(&mut self, other: Self) {
        self.add(other.0);
    }

    /// Lets everything pass that would be stopped, and tells of it.
    pub(crate) fn soften(&mut self) {
        self.0.iter_mut().for_each(|it| it.watch = it.watch.min(Watch::Alert));
    }

    /// What stops the call, in the order in which it is told.
    pub(crate) fn stops(&self) -> impl Iterator<Item = &Objection> {
        self.0.iter().filter(|it| it.watch == Watch::Block)
    }

    /// What is only told.
    fn alerts(&self) -> impl Iterator<Item = &Objection> {
        self.0.iter().filter(|it| it.watch == Watch::Alert)
    }

    pub(crate) fn earlier(&self) -> Vec<RecordId> {
        self.0.iter().flat_map(|it| it.earlier.iter().copied()).collect()
    }

    /// The verdict of the record: rules and checks in one.
    pub(crate) fn verdict(&self, judgement: &Judgement) -> Verdict {
        let mut verdict = record::verdict(judgement);
        let rules = verdict.clone();
        let denied = verdict.action == Action::Deny;
        let first = self.stops().next().filter(|it| !denied || it.check < Check::Rules);
        if let Some(first) = first {
            verdict.action = Action::Deny;
            verdict.code = Some(first.code);
            verdict.policy = None;
            verdict.rule = Some(first.check.word().to_owned());
            verdict.reason = Some(first.reason.clone());
            verdict.hint.clone_from(&first.hint);
            verdict.uncovered = false;
        } else if !denied && self.alerts().next().is_some() {
            verdict.action = Action::Audit;
        }
        let beside = self.0.iter().filter(|it| Some(*it) != first).map(hit);
        verdict.audits.extend(beside);
        if first.is_some() && denied {
            verdict.audits.push(also_denied(&rules));
        }
        verdict
    }

    /// Why the call is stopped, as the model is told; `None` if it is not.
    pub(crate) fn denial(&self, tool: &str, by_rules: Option<Denial>) -> Option<Denial> {
        let first = self.stops().next().filter(|it| by_rules.is_none() || it.check < Check::Rules);
        match first {
            Some(first) => Some(Denial {
                rule: Some(first.check.word().to_owned()),
                hint: first.hint.clone(),
                scope: first.check.scope(),
                ..Denial::refused(tool, &first.reason)
            }),
            None => by_rules,
        }
    }
}

fn hit(objection: &Objection) -> Hit {
    let rule = Some(objection.check.word().to_owned());
    Hit { policy: POLICY.to_owned(), rule, reason: objection.reason.clone() }
}

fn also_denied(rules: &Verdict) -> Hit {
    Hit {
        policy: rules.policy.clone().unwrap_or_default(),
        rule: rules.rule.clone(),
        reason: rules.reason.clone().unwrap_or_default(),
    }
}

/// What records call the reason of a denial for programs.
pub(crate) fn code_of(denial: &Denial) -> Code {
    let word = denial.rule.as_deref();
    let check = Check::ALL.into_iter().find(|check| Some(check.word()) == word);
    match (&denial.policy, word, check) {
        (None, _, Some(check)) => check.code(),
        (None, None, None) => Code::BadName,
        (Some(_), None, _) => Code::Default,
        (_, Some(_), _) => Code::Rule,
    }
}

/// In the place of a policy's name: what the settings say.
pub(crate) const POLICY: &str = "mcp";
