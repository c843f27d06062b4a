//! Verdicts, and what they mean for a call.

use std::fmt;

/// What a rule decides about a call, from the mildest to the strictest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Verdict {
    /// It passes.
    Allow,
    /// It passes, and the match is recorded.
    Audit,
    /// It passes with some of its arguments replaced. Only rules have this verdict: they match in
    /// addition to the decision and never decide.
    Sanitize,
    /// A second model is asked before it passes.
    Review,
    /// A person is asked before it passes.
    Ask,
    /// It does not pass.
    Deny,
}

/// What a verdict means for a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Course {
    /// It may run.
    Passes,
    /// It may run once a person or a second model has agreed.
    Waits,
    /// It may not run.
    Stops,
}

impl Verdict {
    /// The word used in policies and records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Audit => "audit",
            Self::Sanitize => "sanitize",
            Self::Review => "review",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }

    /// What it means for a call.
    pub fn course(self) -> Course {
        match self {
            Self::Allow | Self::Audit | Self::Sanitize => Course::Passes,
            Self::Review | Self::Ask => Course::Waits,
            Self::Deny => Course::Stops,
        }
    }

    /// Whether a call with this verdict may run without waiting for an answer.
    pub fn passes(self) -> bool {
        self.course() == Course::Passes
    }

    /// Whether a call with this verdict can never run.
    pub fn stops(self) -> bool {
        self.course() == Course::Stops
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
