//! What the policies say about one call, and why.

use std::sync::Arc;

use callgate_call::ToolCall;

use crate::denial::{Denial, Scope, cut};
use crate::limit::LimitKey;
use crate::permit::{CallFingerprint, NameFingerprint, NamePermit, Permit};
use crate::sanitize::Cleaner;
use crate::terms::Terms;
use crate::ticket::Ticket;
use crate::verdict::{Course, Verdict};

/// The judgement of one call. Only this crate makes one, nobody can change it, and it is used up when
/// the call is [settled](Self::settle). What it says is read through [`JudgementDetails`].
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
    /// The call this judgement is about: a permit is only made for that one.
    pub(crate) fingerprint: CallFingerprint,
    /// What the sanitizers replace.
    pub(crate) cleaners: Vec<Arc<Cleaner>>,
    /// The arguments as sanitizers left them, if they changed anything.
    pub(crate) rewritten: Option<String>,
    /// The same of each thing that goes along with the call.
    pub(crate) extra: Vec<Option<String>>,
}

/// What the policies say about one call, and why.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct JudgementDetails {
    /// What becomes of the call.
    pub verdict: Verdict,
    /// The policy that decided, or whose default did. `None` where no policy applies.
    pub policy: Option<String>,
    /// The rule that decided; `None` where a default did.
    pub rule: Option<String>,
    /// Why, for a person and for the model.
    pub reason: String,
    /// What to do instead.
    pub hint: Option<String>,
    /// The kind of action that the rule blocks, as it states it.
    pub blocks: Option<String>,
    /// How much is blocked, if the call does not pass.
    pub scope: Scope,
    /// How the call waits, if it does.
    pub terms: Option<Arc<Terms>>,
    /// No rule decided: the default did.
    pub uncovered: bool,
    /// Every rule that decided in its own policy, strictest first.
    pub deciding: Vec<RuleHit>,
    /// Rules that rewrite the arguments. They never decide.
    pub sanitizers: Vec<RuleHit>,
    /// What sanitizers replaced in the arguments: the names of the detectors that found it.
    pub replaced: Vec<String>,
    /// Audit rules that matched. They never decide.
    pub audits: Vec<RuleHit>,
    /// What rules and policies in shadow mode would have done. Their reason says so.
    pub shadows: Vec<RuleHit>,
    /// Rules that met a condition they could not evaluate. Each counted against the call.
    pub errors: Vec<RuleError>,
    /// Every rule that matched, whatever came of it.
    pub rules: Vec<RuleName>,
    /// The argument that made the deciding rule match.
    pub matched: Option<Matched>,
    /// Limits whose other conditions hold. Whoever keeps the buckets takes a token from each and
    /// judges once more.
    pub limits: Vec<LimitKey>,
}

impl std::ops::Deref for Judgement {
    type Target = JudgementDetails;

    fn deref(&self) -> &JudgementDetails {
        &self.details
    }
}

/// A rule by its name.
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
    /// What it says.
    pub verdict: Verdict,
    /// Its reason; for a shadow prefixed with `[shadow] would deny: `.
    pub reason: String,
    /// Its hint.
    pub hint: Option<String>,
    /// The kind of action that it blocks, as it states it.
    pub blocks: Option<String>,
    /// It matched because its limit was used up.
    pub limited: bool,
    /// It matched only because a condition could not be evaluated.
    pub unknown: bool,
    /// How a call waits that it decides, if it does.
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
    /// Where it stands, as the rule says it.
    pub path: String,
    /// Its value as text, secrets redacted, cut to [`Matched::MAX_CHARS`] characters.
    pub value: String,
}

impl Matched {
    /// Enough to recognise a command, too little to copy a file into a notice.
    pub const MAX_CHARS: usize = 120;

    pub(crate) fn new(path: &str, value: &str) -> Self {
        // Redacted before it is cut: half a secret is not recognised. What stands behind the
        // window is not shown, so a secret need not be found there.
        let window = value.get(..value.floor_char_boundary(Self::WINDOW)).unwrap_or(value);
        let shown = callgate_scan::redact(window);
        Self { path: path.to_owned(), value: cut(&shown, Self::MAX_CHARS) }
    }

    /// Longer than any secret that begins among the first characters.
    const WINDOW: usize = 8 * 1024;
}

/// The answer to a question that was asked by name alone.
#[derive(Debug)]
pub enum NameJudgement {
    /// No arguments could change this: the call may stream through.
    Allow(NamePermit, Judgement),
    /// No arguments could change this: the call is refused.
    Deny(Judgement),
    /// A rule still wants to see the arguments.
    NeedArguments,
}

/// What a judgement comes to.
#[derive(Debug)]
pub enum Settled {
    /// The call may run.
    Pass(Permit),
    /// It may run once somebody grants the ticket.
    Wait(Ticket),
    /// It may not run.
    Stop(Denial),
}

impl Judgement {
    /// What becomes of this call. A judgement of another call stops it.
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

    /// The denial of this call, if this judgement does not let it pass.
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

    /// The arguments with which the call passes, if sanitizers changed them.
    pub fn rewritten(&self) -> Option<&str> {
        self.rewritten.as_deref().filter(|_| !self.details.verdict.stops())
    }

    /// What goes along with the call, each as sanitizers left it if they changed it.
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
