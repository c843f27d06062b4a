//! What a judgement says, and the two proofs that can be made from it: a permit or a denial.

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};

use std::sync::Arc;

use callgate_call::{Arguments, CallId, Form, ToolCall, ToolName};

use crate::limit::LimitKey;
use crate::sanitize::Cleaner;

/// What becomes of a call, from the mildest to the strictest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Verdict {
    /// It passes.
    Allow,
    /// It passes, and the record says that somebody wanted to see it.
    Audit,
    /// It passes with some of its arguments replaced. No call is judged so: it is what a rule says
    /// beside the decision.
    Sanitize,
    /// It does not pass.
    Deny,
}

impl Verdict {
    /// The word used in policies and records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Audit => "audit",
            Self::Sanitize => "sanitize",
            Self::Deny => "deny",
        }
    }

    /// Whether a call of this verdict may run.
    pub fn passes(self) -> bool {
        match self {
            Self::Allow | Self::Audit | Self::Sanitize => true,
            Self::Deny => false,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What the policies say about one call, and why. Only this crate makes one.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Judgement {
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
    /// The argument that made the deciding rule match.
    pub matched: Option<Matched>,
    /// Limits whose other conditions hold. Whoever keeps the buckets takes a token from each and
    /// judges once more.
    pub limits: Vec<LimitKey>,
    /// The call this judgement is about: a permit is only made for that one.
    pub(crate) subject: Subject,
    /// The verdict once more, where nobody outside can change it: permits are made from this one.
    pub(crate) sealed: Verdict,
    /// What the sanitizers replace.
    pub(crate) cleaners: Vec<Arc<Cleaner>>,
    /// The arguments as sanitizers left them, if they changed anything.
    pub(crate) rewritten: Option<String>,
    /// The same of each thing that goes along with the call.
    pub(crate) along: Vec<Option<String>>,
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
    /// It matched only because a condition could not be evaluated.
    pub unknown: bool,
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

impl Judgement {
    /// The permit of this call, if this judgement lets it pass and is about this very call.
    pub fn permit(&self, call: &ToolCall) -> Option<Permit> {
        let subject = Subject::of(call);
        let passes = self.sealed.passes() && self.subject == subject;
        passes.then(|| Permit { subject, rewritten: self.rewritten.clone() })
    }

    /// The denial of this call, if this judgement refuses it.
    pub fn denial(&self, call: &ToolCall) -> Option<Denial> {
        if self.sealed.passes() {
            return None;
        }
        Some(Denial {
            tool: call.name.raw().trim().to_owned(),
            policy: self.policy.clone(),
            rule: self.rule.clone(),
            reason: self.reason.clone(),
            hint: self.hint.clone(),
            argument: self.matched.as_ref().map(|matched| matched.value.clone()),
            record: None,
        })
    }

    /// The arguments with which the call passes, if sanitizers changed them.
    pub fn rewritten(&self) -> Option<&str> {
        self.rewritten.as_deref().filter(|_| self.sealed.passes())
    }

    /// What goes along with the call, each as sanitizers left it if they changed it.
    pub fn along(&self) -> &[Option<String>] {
        if self.sealed.passes() { &self.along } else { &[] }
    }

    /// Whether sanitizers changed anything.
    pub fn is_rewritten(&self) -> bool {
        self.rewritten().is_some() || self.along().iter().any(Option::is_some)
    }

    pub(crate) fn name_permit(&self, call: &ToolCall) -> NamePermit {
        NamePermit { subject: NameSubject::of(&call.id, &call.name) }
    }
}

/// The proof that one call may run: its id, its name and its arguments were judged. Nothing but a
/// passing [`Judgement`] makes one, and it cannot be copied.
///
/// ```compile_fail
/// fn twice(permit: callgate_policy::Permit) -> callgate_policy::Permit {
///     permit.clone()
/// }
/// ```
#[derive(Debug)]
pub struct Permit {
    subject: Subject,
    rewritten: Option<String>,
}

impl Permit {
    /// Whether this permit is for that call.
    pub fn covers(&self, call: &ToolCall) -> bool {
        self.subject == Subject::of(call)
    }

    /// The arguments with which the call may run, if not with its own: sanitizers changed them.
    /// The permit covers the call as it came.
    pub fn rewritten(&self) -> Option<&str> {
        self.rewritten.as_deref()
    }
}

/// The proof that a call of this id and name may run whatever its arguments are.
#[derive(Debug)]
pub struct NamePermit {
    subject: NameSubject,
}

impl NamePermit {
    /// Whether this permit is for a call of that id and name.
    pub fn covers(&self, id: &CallId, name: &ToolName) -> bool {
        self.subject == NameSubject::of(id, name)
    }
}

/// A refused call, as it is told to the model and the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denial {
    /// The tool, as the model named it.
    pub tool: String,
    /// The policy that refused it.
    pub policy: Option<String>,
    /// The rule that refused it.
    pub rule: Option<String>,
    /// Why.
    pub reason: String,
    /// What to do instead.
    pub hint: Option<String>,
    /// The argument that made the rule match, cut short.
    pub argument: Option<String>,
    /// The id of the record.
    pub record: Option<String>,
}

impl Denial {
    /// A refusal without a rule: a call in a shape that nobody can read for certain.
    pub fn refused(tool: &str, reason: &str) -> Self {
        Self {
            tool: tool.to_owned(),
            policy: None,
            rule: None,
            reason: reason.to_owned(),
            hint: None,
            argument: None,
            record: None,
        }
    }

    /// A few plain lines for the model and the user.
    pub fn notice(&self) -> String {
        let mut lines = vec![format!("callgate blocked the tool call `{}`.", one_line(&self.tool))];
        match (&self.rule, &self.policy) {
            (Some(rule), Some(policy)) => lines.push(format!("Rule: {rule} (policy {policy})")),
            (Some(rule), None) => lines.push(format!("Rule: {rule}")),
            (None, Some(policy)) => lines.push(format!("Policy: {policy} (default)")),
            (None, None) => {}
        }
        lines.push(format!("Reason: {}", self.reason));
        let rest = [("Hint", &self.hint), ("Argument", &self.argument), ("Record", &self.record)];
        for (label, value) in rest {
            if let Some(value) = value {
                lines.push(format!("{label}: {}", one_line(value)));
            }
        }
        lines.join("\n")
    }
}

/// The call a judgement or a permit is about. Arguments can be a megabyte, so they are bound by
/// hash; it never leaves the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Subject {
    name: NameSubject,
    arguments: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct NameSubject(u64);

impl Subject {
    pub(crate) fn of(call: &ToolCall) -> Self {
        let name = NameSubject::of(&call.id, &call.name);
        Self { name, arguments: arguments_hash(&call.arguments) }
    }
}

impl NameSubject {
    fn of(id: &CallId, name: &ToolName) -> Self {
        let mut hasher = DefaultHasher::new();
        id.as_str().hash(&mut hasher);
        name.raw().hash(&mut hasher);
        Self(hasher.finish())
    }
}

/// The form counts: the text `{}` of a custom tool is not the empty object.
fn arguments_hash(arguments: &Arguments) -> u64 {
    let mut hasher = DefaultHasher::new();
    let form: u8 = match arguments.form() {
        Form::Json(_) => 0,
        Form::Text(_) => 1,
        Form::Oversize(_) => 2,
        Form::Pending => 3,
    };
    form.hash(&mut hasher);
    arguments.raw().hash(&mut hasher);
    hasher.finish()
}

/// The first `max` characters, with an ellipsis for what is missing.
pub(crate) fn cut(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        None => text.to_owned(),
        Some(_) => text.chars().take(max.saturating_sub(1)).chain(['…']).collect(),
    }
}

/// A model's text inside a notice must not start lines of its own.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
