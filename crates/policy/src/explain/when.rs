//! A rule's conditions, each with its outcome and what it looked at.

use crate::condition::{Condition, Scene};
use crate::tri::Tri;

/// More values than this are only counted: `$` may stand for thousands.
const MAX_SEEN: usize = 4;

/// A condition and what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConditionExplanation {
    /// Whether it holds.
    pub holds: Holds,
    /// What it asks.
    pub kind: ConditionKind,
}

/// Whether a condition holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Holds {
    /// It does.
    Yes,
    /// It does not.
    No,
    /// That cannot be told.
    Unknown {
        /// Why not.
        why: String,
    },
}

/// What a condition asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConditionKind {
    /// That one of these holds.
    Any(Vec<ConditionExplanation>),
    /// That all of these hold.
    All(Vec<ConditionExplanation>),
    /// That this one does not.
    Not(Box<ConditionExplanation>),
    /// Something about one argument.
    Test(TestExplanation),
}

/// One argument with one operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestExplanation {
    /// The path, as the rule says it.
    pub path: String,
    /// The operator's word.
    pub operator: &'static str,
    /// What it compares with, as JSON.
    pub operand: String,
    /// The values that it looked at, as JSON, each cut to
    /// [`Matched::MAX_CHARS`](crate::Matched::MAX_CHARS) characters.
    pub seen: Vec<String>,
    /// How many more there are.
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
    /// Depth is bounded by the reader of rule files.
    pub(super) fn of(condition: &Condition, scene: &Scene<'_>) -> Self {
        let every = |parts: &[Condition]| parts.iter().map(|part| Self::of(part, scene)).collect();
        let kind = match condition {
            Condition::Any(parts) => ConditionKind::Any(every(parts)),
            Condition::All(parts) => ConditionKind::All(every(parts)),
            Condition::Not(part) => ConditionKind::Not(Box::new(Self::of(part, scene))),
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
