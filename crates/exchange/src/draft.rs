//! A policy while it is put together, and its text.

mod names;
mod write;

pub(crate) use names::Ids;
pub(crate) use write::quoted;

/// A file with one policy or several.
#[derive(Debug, Default)]
pub(crate) struct PolicyDraft {
    pub(crate) policies: Vec<DraftPolicy>,
}

/// One policy.
#[derive(Debug, Default)]
pub(crate) struct DraftPolicy {
    pub(crate) name: String,
    /// Lines above it.
    pub(crate) about: Vec<String>,
    pub(crate) default: Option<&'static str>,
    pub(crate) rules: Vec<DraftRule>,
}

/// One rule.
#[derive(Debug, Clone, Default)]
pub(crate) struct DraftRule {
    pub(crate) id: String,
    /// Lines above it: where it comes from.
    pub(crate) about: Vec<String>,
    pub(crate) tools: Vec<String>,
    pub(crate) servers: Vec<String>,
    pub(crate) agents: Vec<String>,
    /// Keys of `who`, each with its glob.
    pub(crate) who: Vec<(&'static str, String)>,
    pub(crate) when: Option<When>,
    pub(crate) verdict: DraftVerdict,
    pub(crate) priority: Option<i64>,
    pub(crate) reason: Option<String>,
    pub(crate) hint: Option<String>,
    /// What a second model should look for.
    pub(crate) guidance: Option<String>,
    /// Commands that it must match.
    pub(crate) matching: Vec<String>,
    /// Commands that it must not match.
    pub(crate) not_matching: Vec<String>,
}

/// The verdicts that imported rules have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum DraftVerdict {
    Allow,
    Audit,
    Review,
    Ask,
    #[default]
    Deny,
}

/// A condition.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum When {
    Any(Vec<When>),
    All(Vec<When>),
    Not(Box<When>),
    /// `reads`, `writes`, `deletes`, `connects` or `runs` with a list.
    Effect(&'static str, Vec<String>),
    /// The same for everything that is not in the list.
    EffectNot(&'static str, Vec<String>),
    /// `arg` with an operator.
    Arg {
        path: String,
        operator: &'static str,
        value: Operand,
    },
}

/// What an operator compares with.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Operand {
    Text(String),
    /// JSON text of a number or a boolean.
    Json(String),
    List(Vec<String>),
}

impl DraftVerdict {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Audit => "audit",
            Self::Review => "review",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }

    /// Whether it lets a call pass only because of the rule.
    pub(crate) fn allows(self) -> bool {
        self == Self::Allow
    }
}

impl When {
    pub(crate) fn text(path: &str, operator: &'static str, value: impl Into<String>) -> Self {
        Self::Arg { path: path.to_owned(), operator, value: Operand::Text(value.into()) }
    }

    /// One of these; the condition itself if there is only one.
    pub(crate) fn any(mut list: Vec<Self>) -> Option<Self> {
        if list.len() > 1 { Some(Self::Any(list)) } else { list.pop() }
    }

    /// All of these; the condition itself if there is only one.
    pub(crate) fn all(mut list: Vec<Self>) -> Option<Self> {
        if list.len() > 1 { Some(Self::All(list)) } else { list.pop() }
    }

    pub(crate) fn negated(self) -> Self {
        Self::Not(Box::new(self))
    }
}

impl PolicyDraft {
    /// The number of rules.
    pub(crate) fn rules(&self) -> usize {
        self.policies.iter().map(|policy| policy.rules.len()).sum()
    }
}

/// Numbers rules that are in the order in which the first match wins. Rules that follow each other
/// and have the same verdict share a number, because their order does not matter.
pub(crate) fn number_in_order(rules: &mut [DraftRule]) {
    let (mut number, mut before) = (FIRST, None);
    for rule in rules {
        if rule.verdict == DraftVerdict::Audit {
            continue;
        }
        if before.is_some_and(|before| before != rule.verdict) {
            number += STEP;
        }
        before = Some(rule.verdict);
        rule.priority = Some(number);
    }
}

/// The number of the rules that decide first.
const FIRST: i64 = 10;

/// Leaves room for rules of the user's own.
const STEP: i64 = 10;
