//! A rule's conditions, each with its outcome and what it looked at.

use callgate_call::json::{Value, quote};

use crate::condition::{Condition, Scene, Test, context};
use crate::denial::cut;
use crate::finding::{FindingTest, Findings, describe};
use crate::judgement::Matched;
use crate::operator::Scalar;
use crate::path::{Path, PathItem};
use crate::secret::SecretTest;
use crate::tri::Tri;
use crate::wrapper;

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
    /// The values that stand there, as JSON, each cut to [`Matched::MAX_CHARS`] characters. Those
    /// that the operator holds for come first, then those that it cannot compare.
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
            Condition::Test(test) => ConditionKind::Test(TestExplanation::of(test, scene)),
            Condition::Secret(test) => ConditionKind::Test(TestExplanation::of_secret(test, scene)),
            Condition::Finding(test) => {
                ConditionKind::Test(TestExplanation::of_finding(test, scene))
            }
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
    /// Kinds are told, never what was found.
    fn of_secret(test: &SecretTest, scene: &Scene<'_>) -> Self {
        let kinds = test.kinds(&scene.call.arguments).unwrap_or_default();
        let unseen = kinds.len().saturating_sub(MAX_SEEN);
        let operand = test.names().iter().map(|name| quote(name)).collect::<Vec<_>>().join(",");
        Self {
            path: "secret".to_owned(),
            operator: "in",
            operand: format!("[{operand}]"),
            seen: kinds.iter().take(MAX_SEEN).map(|kind| quote(kind)).collect(),
            unseen,
        }
    }

    fn of_finding(test: &FindingTest, scene: &Scene<'_>) -> Self {
        let found = match scene.findings {
            Findings::Of(list) => list,
            Findings::NotInspected => &[],
        };
        let shown = found.iter().take(MAX_SEEN);
        Self {
            path: "finding".to_owned(),
            operator: "in",
            operand: test.written(),
            seen: shown.map(|it| quote(&cut(&describe(it), Matched::MAX_CHARS))).collect(),
            unseen: found.len().saturating_sub(MAX_SEEN),
        }
    }

    fn of(test: &Test, scene: &Scene<'_>) -> Self {
        let mut seen = seen(test, scene);
        seen.sort_by_key(|(holds, _)| match holds {
            Tri::True => 0,
            Tri::Unknown => 1,
            Tri::False => 2,
        });
        let unseen = seen.len().saturating_sub(MAX_SEEN);
        let shown = seen.iter().take(MAX_SEEN);
        Self {
            path: test.written.clone(),
            operator: test.name.as_str(),
            operand: test.operand.clone(),
            seen: shown.map(|(_, value)| cut(&value.json(), Matched::MAX_CHARS)).collect(),
            unseen,
        }
    }
}

/// Something a test looked at.
enum Seen<'c> {
    Argument(&'c Value),
    Key(&'c str),
    Context(Scalar<'c>),
}

impl Seen<'_> {
    /// As JSON, so that `1` and `"1"` are told apart.
    fn json(&self) -> String {
        match self {
            Self::Context(Scalar::Number(text)) => (*text).to_owned(),
            Self::Context(Scalar::Bool(value)) => value.to_string(),
            Self::Context(Scalar::Text(text)) | Self::Key(text) => quote(text),
            Self::Argument(value) => {
                let mut text = String::new();
                wrapper::write(value, &mut text);
                text
            }
        }
    }
}

/// Every value at a test's path, and whether the operator, but for its `not_`, holds for it.
fn seen<'c>(test: &Test, scene: &Scene<'c>) -> Vec<(Tri, Seen<'c>)> {
    if let Path::Context(field) = test.path {
        let scalar = context(field, scene).into_iter();
        return scalar.map(|it| (test.operator.holds_scalar(it), Seen::Context(it))).collect();
    }
    let mut seen = Vec::new();
    if let Ok(root) = scene.call.arguments.value() {
        test.path.each(root, &mut |found| {
            match found {
                PathItem::Value(value) => {
                    seen.push((test.operator.holds(value), Seen::Argument(value)));
                }
                // Keys that do not matter would only hide the values.
                PathItem::Key(key) if test.operator.holds_key(key) == Tri::True => {
                    seen.push((Tri::True, Seen::Key(key)));
                }
                PathItem::Key(_) | PathItem::WrongType => {}
            }
        });
    }
    seen
}
