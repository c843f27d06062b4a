//! A refused call, as it is told.

mod template;
mod text;

pub use template::{Template, TemplateError};
pub use text::{CALL_PLACES, CONTENT_PLACES, DenialText, DenialTextParts};

/// A refused call: what a [`DenialText`] tells the model and the user.
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
    /// The kind of action that the rule blocks, as it states it.
    pub blocks: Option<String>,
    /// How much is blocked.
    pub scope: Scope,
    /// The id of the record.
    pub record: Option<String>,
}

/// How much a denial blocks, so that a model neither tries another spelling nor gives up the whole tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The tool: no arguments could change this.
    Tool,
    /// This use of it: with other arguments it may be allowed.
    Use,
    /// This call at this time: a rate is used up.
    Rate,
    /// This call at this time: the store does not work.
    Outage,
    /// Nobody can say: the call cannot be read for certain, or it is no call of a tool.
    Unclear,
}

impl Scope {
    /// The word that programs read.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Use => "use",
            Self::Rate => "rate",
            Self::Outage => "outage",
            Self::Unclear => "unclear",
        }
    }

    /// The same for a model; nothing if there is nothing to say. `tool` is on one line.
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

    /// Whether the model should try again. If the rule states the kind of action, another spelling of it
    /// is of no use.
    fn retry(self, states_kind: bool) -> &'static str {
        match self {
            Self::Use if states_kind => "Do not retry it, nor in another spelling.",
            Self::Tool | Self::Use | Self::Unclear => "Do not retry it: the answer stays the same.",
            Self::Rate => "Do not retry it before then.",
            Self::Outage => "Retry it once the audit store is available again.",
        }
    }
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
            blocks: None,
            scope: Scope::Unclear,
            record: None,
        }
    }
}

/// The first `max` characters, with an ellipsis for what is missing.
pub(crate) fn cut(text: &str, max: usize) -> String {
    // A character is a byte at least.
    if text.len() <= max {
        return text.to_owned();
    }
    match text.char_indices().nth(max) {
        None => text.to_owned(),
        Some(_) => text.chars().take(max.saturating_sub(1)).chain(['…']).collect(),
    }
}
