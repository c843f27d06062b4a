//! The words of verdicts.

use std::fmt;

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
    /// A second model is asked before it passes.
    Review,
    /// A person is asked before it passes.
    Ask,
    /// It does not pass.
    Deny,
}

/// Where a verdict leads a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Course {
    /// It may run.
    Passes,
    /// It may run once somebody has said so.
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

    /// Where it leads a call.
    pub fn course(self) -> Course {
        match self {
            Self::Allow | Self::Audit | Self::Sanitize => Course::Passes,
            Self::Review | Self::Ask => Course::Waits,
            Self::Deny => Course::Stops,
        }
    }

    /// Whether a call of this verdict may run without asking anybody.
    pub fn passes(self) -> bool {
        self.course() == Course::Passes
    }

    /// Whether nobody can let a call of this verdict run.
    pub fn stops(self) -> bool {
        self.course() == Course::Stops
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
