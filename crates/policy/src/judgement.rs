//! What the policies decided about one call, and why.

use std::sync::Arc;

use callgate_call::{FileWrite, FoundOrigin, ToolCall};

use crate::condition::denial_event;
use crate::denial::{Denial, DenialScope, cut};
use crate::limit::LimitKey;
use crate::permit::{CallFingerprint, NameFingerprint, NamePermit, Permit};
use crate::sanitize::Sanitizer;
use crate::terms::Terms;
use crate::ticket::Ticket;
use crate::verdict::{Course, Verdict};

/// The judgement of one call. Only this crate creates one, other crates cannot change it, and it is
/// consumed when the call is [settled](Self::settle). Its content is read through
/// [`JudgementDetails`].
///
/// ```compile_fail
/// fn forge(mut judgement: callgate_policy::Judgement) {
///     judgement.verdict = callgate_policy::Verdict::Allow;
/// }
/// ```
///
/// ```compile_fail
/// fn twice(judgement: callgate_policy::Judgement, call: &callgate_call::ToolCall) {
///     judgement.settle(call);
///     judgement.settle(call);
/// }
/// ```
#[derive(Debug, PartialEq)]
pub struct Judgement {
    pub(crate) details: JudgementDetails,
    /// Identifies the judged call: a permit is only created for that one.
    pub(crate) fingerprint: CallFingerprint,
    /// What the matching sanitize rules replace.
    pub(crate) cleaners: Vec<Arc<Sanitizer>>,
    /// The sanitized arguments, if anything changed.
    pub(crate) rewritten: Option<String>,
    /// The sanitized extra inputs, in order; `None` for each that did not change.
    pub(crate) extra: Vec<Option<String>>,
}

/// What the policies decided about one call, and why.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct JudgementDetails {
    /// The verdict.
    pub verdict: Verdict,
    /// The policy whose rule or default decided. `None` if no policy applies.
    pub policy: Option<String>,
    /// The rule that decided; `None` if a default did.
    pub rule: Option<String>,
    /// Why, for a person and for the model.
    pub reason: String,
    /// What to do instead.
    pub hint: Option<String>,
    /// The kind of action that the rule blocks, in its own words.
    pub blocks: Option<String>,
    /// How much is blocked, if the call does not pass.
    pub scope: DenialScope,
    /// How the call waits; `None` unless the verdict is ask or review.
    pub terms: Option<Arc<Terms>>,
    /// Whether a default decided, and no rule.
    pub uncovered: bool,
    /// Every rule that decided in its own policy, strictest first.
    pub deciding: Vec<RuleHit>,
    /// Rules that rewrite the arguments. They never decide.
    pub sanitizers: Vec<RuleHit>,
    /// The detectors that found what was replaced in the arguments.
    pub replaced: Vec<String>,
    /// Audit rules that matched. They never decide.
    pub audits: Vec<RuleHit>,
    /// What rules and policies in shadow mode would have done. Their reasons begin with `[shadow]`.
    pub shadows: Vec<RuleHit>,
    /// Rules with a condition that could not be evaluated. Each counts against the call.
    pub errors: Vec<RuleError>,
    /// Every rule that matched, whether it decided or not.
    pub rules: Vec<RuleName>,
    /// The argument that made the deciding rule match.
    pub matched: Option<Matched>,
    /// The limits of rules whose other conditions hold. The caller takes a token from each of these
    /// buckets and judges again.
    pub limits: Vec<LimitKey>,
    /// What the call writes into files, if a rule may depend on it when a later call runs them.
    pub files: Vec<FileWrite>,
    /// What later calls may ask about this one: see [`PastEvent::what`](callgate_call::PastEvent).
    pub events: Vec<String>,
    /// Where values of the call came from, as far as rules ask.
    pub origins: Vec<FoundOrigin>,
}

impl Judgement {
    /// What later calls may ask about this one: what it does if it passes, the rule if it is denied.
    pub fn later_events(&self) -> Vec<String> {
        match self.details.verdict.passes() {
            true => self.details.events.clone(),
            false => denial_event(&self.details).into_iter().collect(),
        }
    }
}

impl std::ops::Deref for Judgement {
    type Target = JudgementDetails;

    fn deref(&self) -> &JudgementDetails {
        &self.details
    }
}

/// The name of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleName {
    /// The rule's policy.
    pub policy: String,
    /// The rule's id.
    pub rule: String,
}

/// One rule that matched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleHit {
    /// The rule's policy.
    pub policy: String,
    /// The rule's id; `None` for the policy's default.
    pub rule: Option<String>,
    /// Its verdict.
    pub verdict: Verdict,
    /// Its reason, with a prefix such as `[shadow] would deny: ` in shadow mode.
    pub reason: String,
    /// Its hint.
    pub hint: Option<String>,
    /// The kind of action that it blocks, as it states it.
    pub blocks: Option<String>,
    /// Whether it matched because its limit is used up.
    pub limited: bool,
    /// Whether it matched only because a condition could not be evaluated.
    pub unknown: bool,
    /// How a call waits that this rule decides; `None` unless the verdict is ask or review.
    pub terms: Option<Arc<Terms>>,
}

/// A rule with a condition that could not be evaluated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleError {
    /// The rule's policy.
    pub policy: String,
    /// The rule's id.
    pub rule: String,
    /// Why.
    pub why: String,
}

/// The argument that made a rule match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Matched {
    /// The argument's path as written in the rule, the argument that carries the role in the rule, or
    /// the kind of condition.
    pub path: String,
    /// Its value as text, with secrets redacted, truncated to [`Matched::MAX_CHARS`] characters.
    pub value: String,
}

impl Matched {
    /// Enough to recognise a command, too little to copy a file into a notice.
    pub const MAX_CHARS: usize = 120;

    pub(crate) fn new(path: &str, value: &str) -> Self {
        // Redacted before it is truncated: half a secret would not be recognised. Text after the
        // window is never shown, so it need not be searched.
        let window = value.get(..value.floor_char_boundary(Self::WINDOW)).unwrap_or(value);
        let shown = callgate_scan::redact(window);
        Self { path: path.to_owned(), value: cut(&shown, Self::MAX_CHARS) }
    }

    /// Longer than any secret that begins in the part that is shown.
    const WINDOW: usize = 8 * 1024;
}

/// The judgement of a call by its name alone.
#[derive(Debug)]
pub enum NameJudgement {
    /// The call may stream through: no arguments could change that.
    Allow(NamePermit, Judgement),
    /// The call is denied: no arguments could change that.
    Deny(Judgement),
    /// A rule needs the arguments.
    NeedArguments,
}

/// What to do with a judged call.
#[derive(Debug)]
pub enum Settled {
    /// The call may run.
    Pass(Permit),
    /// It may run once the ticket is granted.
    Wait(Ticket),
    /// It may not run.
    Stop(Denial),
}

impl Judgement {
    /// Turns the judgement into a permit, a ticket or a denial. A judgement of another call is a
    /// denial.
    pub fn settle(self, call: &ToolCall) -> Settled {
        let fingerprint = CallFingerprint::of(call);
        if self.fingerprint != fingerprint {
            return Settled::Stop(Denial::refused(call.name.raw(), "another call was judged"));
        }
        let denial = self.denied(call);
        let permit = Permit { fingerprint, rewritten: self.rewritten };
        match self.details.verdict.course() {
            Course::Passes => Settled::Pass(permit),
            Course::Waits => Settled::Wait(Ticket::new(permit, denial, self.details.terms)),
            Course::Stops => Settled::Stop(denial),
        }
    }

    /// The denial of this call, unless this judgement lets it pass.
    pub fn denial(&self, call: &ToolCall) -> Option<Denial> {
        (!self.details.verdict.passes()).then(|| self.denied(call))
    }

    fn denied(&self, call: &ToolCall) -> Denial {
        Denial {
            tool: call.name.raw().trim().to_owned(),
            policy: self.policy.clone(),
            rule: self.rule.clone(),
            reason: self.reason.clone(),
            hint: self.hint.clone(),
            argument: self.matched.as_ref().map(|matched| matched.value.clone()),
            blocks: self.blocks.clone(),
            scope: self.scope,
            record: None,
        }
    }

    /// The sanitized arguments with which the call passes, if they changed.
    pub fn rewritten(&self) -> Option<&str> {
        self.rewritten.as_deref().filter(|_| !self.details.verdict.stops())
    }

    /// The sanitized extra inputs, in order; `None` for each that did not change.
    pub fn rewritten_extra(&self) -> &[Option<String>] {
        if self.details.verdict.stops() { &[] } else { &self.extra }
    }

    /// Whether sanitizers changed anything.
    pub fn is_rewritten(&self) -> bool {
        self.rewritten().is_some() || self.rewritten_extra().iter().any(Option::is_some)
    }

    pub(crate) fn name_permit(&self, call: &ToolCall) -> NamePermit {
        NamePermit { fingerprint: NameFingerprint::of(&call.id, &call.name) }
    }
}
