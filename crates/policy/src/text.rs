//! Rules about text: what a user writes and what a model answers.

mod compile;
mod guard;
mod guards;

use callgate_scan::{Replace, Set};

use crate::actors::Actors;

pub use callgate_scan::Change as TextChange;
pub(crate) use compile::{detectors, examples, rules, warnings};
pub use guard::{TextFlow, TextGuard, TextHit, TextOutcome, TextSettled};
pub(crate) use guards::Guards;

/// Which way a text goes.
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

/// What becomes of a text in which a rule finds something, from the mildest to the strictest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TextAction {
    /// It passes, and the record says that something was found.
    Audit,
    /// What was found is replaced.
    Mask,
    /// It does not pass.
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

/// A compiled rule about text.
#[derive(Debug)]
pub(crate) struct TextRule {
    pub(crate) policy: String,
    pub(crate) id: String,
    /// Whom its policy applies to.
    pub(crate) audience: Actors,
    pub(crate) directions: Vec<Direction>,
    pub(crate) patterns: TextPatterns,
    pub(crate) action: TextAction,
    /// It is only recorded what the rule would have done.
    pub(crate) shadow: bool,
    pub(crate) replace: Replace,
    pub(crate) reason: String,
    pub(crate) hint: Option<String>,
    /// The rule by itself.
    pub(crate) set: Set,
}

/// What a rule looks for, as written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct TextPatterns {
    pub(crate) detect: Vec<String>,
    pub(crate) matches: Vec<String>,
    pub(crate) keywords: Vec<String>,
}

/// A rule about text, for people who list them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextRuleInfo {
    /// The rule's policy.
    pub policy: String,
    /// The rule's id.
    pub id: String,
    /// Whom the policy is for: each key with its globs. Nothing is everybody.
    pub audience: Vec<(&'static str, Vec<String>)>,
    /// What it says.
    pub action: TextAction,
    /// Whether the rule, or its whole policy, is only recorded.
    pub shadow: bool,
    /// Which texts it reads.
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
