//! A denied call, and how its denial is worded.

mod template;
mod text;

pub use template::{TemplateError, TextTemplate};
pub use text::{CALL_PLACES, CONTENT_PLACES, DenialText, DenialTextParts};

/// A denied call. [`DenialText`] turns it into the text that the model and the user read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denial {
    /// The tool, as the model named it.
    pub tool: String,
    /// The policy that denied it.
    pub policy: Option<String>,
    /// The rule that denied it.
    pub rule: Option<String>,
    /// Why.
    pub reason: String,
    /// What to do instead.
    pub hint: Option<String>,
    /// The argument that made the rule match, truncated.
    pub argument: Option<String>,
    /// The kind of action that the rule blocks, in its own words.
    pub blocks: Option<String>,
    /// How much is blocked.
    pub scope: DenialScope,
    /// The id of the record.
    pub record: Option<String>,
}

/// How much a denial blocks. The model needs to know, so that it neither tries another spelling nor
/// gives up on the whole tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DenialScope {
    /// Every call of the tool, whatever its arguments.
    Tool,
    /// This call: with other arguments the tool may be allowed.
    Use,
    /// This call for now: a rate limit is used up.
    Rate,
    /// This call for now: the audit store is not available.
    Outage,
    /// Not known: the call is ambiguous, or it is not a tool call.
    Unclear,
}

impl DenialScope {
    /// The word used in machine-readable output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Use => "use",
            Self::Rate => "rate",
            Self::Outage => "outage",
            Self::Unclear => "unclear",
        }
    }

    /// The sentence for the model; may be empty. `tool` has no line breaks.
    fn sentence(self, tool: &str) -> String {
        match self {
            Self::Tool => format!("The tool `{tool}` is blocked, whatever its arguments."),
            Self::Use => {
                format!("Only this use of `{tool}` is blocked; other uses may be allowed.")
            }
            Self::Rate => "The call itself is not the problem: it may be allowed later.".to_owned(),
            Self::Outage => "The call itself is not the problem.".to_owned(),
            Self::Unclear => String::new(),
        }
    }

    /// Whether the model should retry. If the rule states the kind of action it blocks, spelling
    /// the same action differently will not help either.
    fn retry(self, states_kind: bool) -> &'static str {
        match self {
            Self::Use if states_kind => "Do not retry it, in this or any other form.",
            Self::Tool | Self::Use | Self::Unclear => {
                "Do not retry it: the answer will be the same."
            }
            Self::Rate => "Wait before you retry it.",
            Self::Outage => "Retry it once the audit store is available again.",
        }
    }
}

impl Denial {
    /// A denial without a rule, of a call that is ambiguous.
    pub fn refused(tool: &str, reason: &str) -> Self {
        Self {
            tool: tool.to_owned(),
            policy: None,
            rule: None,
            reason: reason.to_owned(),
            hint: None,
            argument: None,
            blocks: None,
            scope: DenialScope::Unclear,
            record: None,
        }
    }
}

/// The first `max` characters. An ellipsis replaces the rest.
pub(crate) fn cut(text: &str, max: usize) -> String {
    // A character has at least one byte.
    if text.len() <= max {
        return text.to_owned();
    }
    match text.char_indices().nth(max) {
        None => text.to_owned(),
        Some(_) => text.chars().take(max.saturating_sub(1)).chain(['…']).collect(),
    }
}
