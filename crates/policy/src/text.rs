//! Text rules: rules on what a user writes and what a model answers.

mod compile;
mod guard;
mod guards;

use callgate_scan::{Replace, Set};

use crate::actors::Actors;

pub use callgate_scan::TextChange;
pub(crate) use compile::{detectors, examples, rules, warnings};
pub use guard::{TextFlow, TextGuard, TextHit, TextOutcome, TextSettled};
pub(crate) use guards::Guards;

/// The direction of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// To the model.
    Request,
    /// From the model.
    Response,
}

impl Direction {
    /// The word used in policies.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Response => "response",
        }
    }
}

/// What a rule does to a text in which it finds something, from the mildest to the strictest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TextAction {
    /// The text passes, and the finding is recorded.
    Audit,
    /// The match is replaced.
    Mask,
    /// The text does not pass.
    Block,
}

impl TextAction {
    /// The word used in policies and records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Audit => "audit",
            Self::Mask => "mask",
            Self::Block => "block",
        }
    }
}

/// A compiled text rule.
#[derive(Debug)]
pub(crate) struct TextRule {
    pub(crate) policy: String,
    pub(crate) id: String,
    /// The callers that its policy applies to.
    pub(crate) audience: Actors,
    pub(crate) directions: Vec<Direction>,
    pub(crate) patterns: TextPatterns,
    pub(crate) action: TextAction,
    /// Whether the rule, or its whole policy, is in shadow mode.
    pub(crate) shadow: bool,
    pub(crate) replace: Replace,
    pub(crate) reason: String,
    pub(crate) hint: Option<String>,
    /// The patterns of this rule alone, for its examples.
    pub(crate) set: Set,
}

/// What a text rule looks for, as written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct TextPatterns {
    pub(crate) detect: Vec<String>,
    pub(crate) matches: Vec<String>,
    pub(crate) keywords: Vec<String>,
}

/// A text rule, for lists of rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextRuleInfo {
    /// The rule's policy.
    pub policy: String,
    /// The rule's id.
    pub id: String,
    /// The callers that the policy applies to: each key with its globs. Empty for every caller.
    pub audience: Vec<(&'static str, Vec<String>)>,
    /// What it does to a match.
    pub action: TextAction,
    /// Whether the rule, or its whole policy, is only recorded.
    pub shadow: bool,
    /// The directions in which it applies.
    pub directions: Vec<Direction>,
    /// What it looks for: detectors, patterns and keywords.
    pub patterns: Vec<String>,
    /// Why.
    pub reason: String,
    /// What to do instead.
    pub hint: Option<String>,
}

impl TextRule {
    pub(crate) fn info(&self) -> TextRuleInfo {
        let TextPatterns { detect, matches, keywords } = &self.patterns;
        TextRuleInfo {
            policy: self.policy.clone(),
            id: self.id.clone(),
            audience: self.audience.written(),
            action: self.action,
            shadow: self.shadow,
            directions: self.directions.clone(),
            patterns: detect.iter().chain(matches).chain(keywords).cloned().collect(),
            reason: self.reason.clone(),
            hint: self.hint.clone(),
        }
    }
}
