//! A rule's conditions, each with its outcome and what it looked at.

use crate::condition::{Condition, Scene};
use crate::tri::Tri;

/// The most values shown. The rest are counted: `$` can lead to thousands.
const MAX_SEEN: usize = 4;

/// A condition and its result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConditionExplanation {
    /// Whether it holds.
    pub holds: Holds,
    /// What kind of condition it is.
    pub kind: ConditionKind,
}

/// Whether a condition holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Holds {
    /// It holds.
    Yes,
    /// It does not hold.
    No,
    /// It cannot be determined.
    Unknown {
        /// Why it cannot.
        why: String,
    },
}

/// A kind of condition, with its parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConditionKind {
    /// At least one of these holds.
    Any(Vec<ConditionExplanation>),
    /// All of these hold.
    All(Vec<ConditionExplanation>),
    /// This one does not hold.
    Not(Box<ConditionExplanation>),
    /// A single question about the call.
    Test(TestExplanation),
}

/// A single question about the call: what was compared, how and with what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestExplanation {
    /// The argument's path as written, or the kind of condition.
    pub path: String,
    /// The operator's word.
    pub operator: &'static str,
    /// The operand as written, as JSON.
    pub operand: String,
    /// The values that it looked at, as JSON, each cut to
    /// [`Matched::MAX_CHARS`](crate::Matched::MAX_CHARS) characters.
    pub seen: Vec<String>,
    /// The number of further values.
    pub unseen: usize,
}

impl Holds {
    /// `yes`, `no` or `unknown`.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::No => "no",
            Self::Unknown { .. } => "unknown",
        }
    }
}

impl ConditionExplanation {
    /// Recursion is bounded: the reader of rule files limits the depth.
    pub(super) fn of(condition: &Condition, scene: &Scene<'_>) -> Self {
        let every = |parts: &[Condition]| parts.iter().map(|part| Self::of(part, scene)).collect();
        let kind = match condition {
            Condition::Any(parts) => ConditionKind::Any(every(parts)),
            Condition::All(parts) => ConditionKind::All(every(parts)),
            Condition::Not(part) => ConditionKind::Not(Box::new(Self::of(part, &scene.negated()))),
            Condition::Leaf(leaf) => ConditionKind::Test(leaf.explain(scene)),
        };
        let holds = match condition.holds(scene) {
            Tri::True => Holds::Yes,
            Tri::False => Holds::No,
            Tri::Unknown => {
                Holds::Unknown { why: condition.why_unknown(scene).unwrap_or_default() }
            }
        };
        Self { holds, kind }
    }
}

impl TestExplanation {
    /// What a condition asked, and everything it looked at: the first few are shown.
    pub(crate) fn new(
        path: &str,
        operator: &'static str,
        operand: String,
        looked_at: impl ExactSizeIterator<Item = String>,
    ) -> Self {
        let unseen = looked_at.len().saturating_sub(MAX_SEEN);
        let seen = looked_at.take(MAX_SEEN).collect();
        Self { path: path.to_owned(), operator, operand, seen, unseen }
    }
}
