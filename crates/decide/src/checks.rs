//! The checks in addition to the rules, and their combined result.
//!
//! All checks run and the strictest result wins. The order of [`Check`] decides which of several
//! reasons comes first.

use callgate_audit::{CallOutcome, MatchedRule, ReasonCode, RecordId, RecordedVerdict};
use callgate_call::ToolCall;
use callgate_policy::{Denial, DenialScope, Judgement};

use crate::mcp::CheckAction;
use crate::new_record;
use crate::pipeline::STORE;

/// The checks, in the order of their reasons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Check {
    Server,
    Tool,
    Pin,
    Rate,
    /// The arguments themselves, such as their size.
    Arguments,
    /// Findings in the definition. Reported together with the rules.
    Finding,
    Rules,
    Flow,
    /// The store, which a decision needs and which failed.
    Store,
}

impl Check {
    /// The code in records, unless a failure sets a more specific one.
    fn code(self) -> ReasonCode {
        match self {
            Self::Server => ReasonCode::ServerDenied,
            Self::Tool => ReasonCode::ToolDenied,
            Self::Pin => ReasonCode::PinUntrusted,
            Self::Rate => ReasonCode::RateLimit,
            Self::Arguments => ReasonCode::BadArguments,
            Self::Finding => ReasonCode::Finding,
            Self::Rules => ReasonCode::Rule,
            Self::Flow => ReasonCode::Flow,
            Self::Store => ReasonCode::StoreFailed,
        }
    }

    /// The name in denials and records: the setting that configures the check.
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
    fn scope(self) -> DenialScope {
        match self {
            Self::Server | Self::Tool | Self::Pin | Self::Finding => DenialScope::Tool,
            Self::Rate => DenialScope::Rate,
            Self::Arguments | Self::Rules | Self::Flow => DenialScope::Use,
            Self::Store => DenialScope::Outage,
        }
    }
}

/// The reason why a check stops a call, or reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CheckFailure {
    pub(crate) check: Check,
    pub(crate) code: ReasonCode,
    pub(crate) action: CheckAction,
    pub(crate) reason: String,
    /// What to do instead.
    pub(crate) hint: Option<String>,
    /// Earlier calls that it refers to.
    pub(crate) earlier: Vec<RecordId>,
}

impl CheckFailure {
    pub(crate) fn new(check: Check, action: CheckAction, reason: String, hint: &str) -> Self {
        let hint = Some(hint.to_owned());
        Self { check, code: check.code(), action, reason, hint, earlier: Vec::new() }
    }

    pub(crate) fn block(check: Check, reason: String, hint: &str) -> Self {
        Self::new(check, CheckAction::Block, reason, hint)
    }

    /// Sets a more specific code for the record.
    pub(crate) fn with_code(self, code: ReasonCode) -> Self {
        Self { code, ..self }
    }
}

/// A denial with its reason code for records.
#[derive(Debug)]
pub(crate) struct CodedDenial {
    pub(crate) denial: Denial,
    pub(crate) code: ReasonCode,
}

impl CodedDenial {
    /// The denial of the rules; `None` if they let the call pass.
    pub(crate) fn by_rules(judgement: &Judgement, call: &ToolCall) -> Option<Self> {
        let denial = judgement.denial(call)?;
        Some(Self { denial, code: new_record::code(judgement) })
    }

    /// The verdict in the record.
    pub(crate) fn verdict(&self) -> RecordedVerdict {
        let Self { denial, code } = self;
        let mut verdict = new_record::without_rule(CallOutcome::Deny, *code, &denial.reason);
        verdict.policy.clone_from(&denial.policy);
        verdict.rule.clone_from(&denial.rule);
        verdict.hint.clone_from(&denial.hint);
        verdict
    }
}

/// The failures of all checks of a call.
#[derive(Debug, Default)]
pub(crate) struct CheckFailures(Vec<CheckFailure>);

impl CheckFailures {
    pub(crate) fn add(&mut self, failures: impl IntoIterator<Item = CheckFailure>) {
        let reported = failures.into_iter().filter(|it| it.action != CheckAction::Allow);
        self.0.extend(reported);
        self.0.sort_by_key(|it| it.check);
    }

    /// Adds the failures of another call, which count for this one too.
    pub(crate) fn join(&mut self, other: Self) {
        self.add(other.0);
    }

    /// Turns everything that would block into an alert.
    pub(crate) fn downgrade_to_alerts(&mut self) {
        self.0.iter_mut().for_each(|it| it.action = it.action.min(CheckAction::Alert));
    }

    /// The failures that block the call, in the order of their checks.
    pub(crate) fn blocking(&self) -> impl Iterator<Item = &CheckFailure> {
        self.0.iter().filter(|it| it.action == CheckAction::Block)
    }

    /// The failures that are only reported.
    fn alerts(&self) -> impl Iterator<Item = &CheckFailure> {
        self.0.iter().filter(|it| it.action == CheckAction::Alert)
    }

    pub(crate) fn earlier(&self) -> Vec<RecordId> {
        self.0.iter().flat_map(|it| it.earlier.iter().copied()).collect()
    }

    /// The verdict in the record, from rules and checks.
    pub(crate) fn verdict(&self, judgement: &Judgement) -> RecordedVerdict {
        let mut verdict = new_record::verdict(judgement);
        let rules = verdict.clone();
        let denied = verdict.action == CallOutcome::Deny;
        let first = self.blocking().next().filter(|it| !denied || it.check < Check::Rules);
        if let Some(first) = first {
            verdict.action = CallOutcome::Deny;
            verdict.code = Some(first.code);
            verdict.policy = None;
            verdict.rule = Some(first.check.word().to_owned());
            verdict.reason = Some(first.reason.clone());
            verdict.hint.clone_from(&first.hint);
            verdict.uncovered = false;
        } else if !denied && self.alerts().next().is_some() {
            verdict.action = CallOutcome::Audit;
        }
        let others = self.0.iter().filter(|it| Some(*it) != first).map(hit);
        verdict.audits.extend(others);
        if first.is_some() && denied {
            verdict.audits.push(also_denied(&rules));
        }
        verdict
    }

    /// The denial that the model reads; `None` if the call is not stopped.
    pub(crate) fn denial(&self, tool: &str, by_rules: Option<Denial>) -> Option<Denial> {
        let own = self.own_denial(tool, by_rules.as_ref());
        own.map(|own| own.denial).or(by_rules)
    }

    /// Like [`Self::denial`], for something of a server other than a call.
    pub(crate) fn coded_denial(
        &self,
        what: &str,
        by_rules: Option<CodedDenial>,
    ) -> Option<CodedDenial> {
        let own = self.own_denial(what, by_rules.as_ref().map(|it| &it.denial));
        own.or(by_rules)
    }

    /// The denial of the first check that comes before the rules, or of any if they deny nothing.
    fn own_denial(&self, tool: &str, by_rules: Option<&Denial>) -> Option<CodedDenial> {
        let mut blocking = self.blocking();
        let first = blocking.next().filter(|it| by_rules.is_none() || it.check < Check::Rules)?;
        let denial = Denial {
            rule: Some(first.check.word().to_owned()),
            hint: first.hint.clone(),
            scope: first.check.scope(),
            ..Denial::refused(tool, &first.reason)
        };
        Some(CodedDenial { denial, code: first.code })
    }
}

fn hit(failure: &CheckFailure) -> MatchedRule {
    let rule = Some(failure.check.word().to_owned());
    MatchedRule { policy: POLICY.to_owned(), rule, reason: failure.reason.clone() }
}

fn also_denied(rules: &RecordedVerdict) -> MatchedRule {
    MatchedRule {
        policy: rules.policy.clone().unwrap_or_default(),
        rule: rules.rule.clone(),
        reason: rules.reason.clone().unwrap_or_default(),
    }
}

/// Used in place of a policy name when a setting decided.
pub(crate) const POLICY: &str = "mcp";
