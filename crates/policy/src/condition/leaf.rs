//! What every kind of condition provides.

use callgate_document::{Mapping, Problems};

use crate::explain::TestExplanation;
use crate::judgement::Matched;
use crate::operator::Operator;
use crate::path::ArgumentPath;
use crate::tri::{Possible, Tri};

use super::Scene;

/// A kind of condition: one question that a rule can ask about a call. A kind is one file in this
/// folder and one entry in `list.rs`; nothing else in the crate names it.
pub(crate) trait LeafCondition: Sized {
    /// The keys that begin a condition of this kind. A condition has exactly one such key.
    const HEADS: &'static [&'static str];

    /// Every key of this kind, heads included, as `docs/reference/policy.md` lists them.
    const KEYS: &'static [KeyDoc];

    /// Compiles the condition, or reports what is wrong with it. `fields` has exactly one of the
    /// heads, and no key of another kind.
    fn compile(fields: &Mapping<'_>, problems: &mut Problems<'_>) -> Option<Self>;

    /// What decides whether it holds.
    fn evidence(&self) -> Evidence;

    /// Whether it holds. What cannot be determined is unknown, never false. Runs for every call of
    /// the rule's tools, so it should be cheap.
    fn holds(&self, scene: &Scene<'_>) -> Tri;

    /// What it can still come to when only the call's name is known. The set may be too large,
    /// never too small: the gate lets a call stream if no member of it could stop the call.
    fn possible(&self, scene: &Scene<'_>) -> Possible {
        match self.evidence().needs_arguments() {
            true => Possible::OPEN,
            false => Possible::only(self.holds(scene)),
        }
    }

    /// What made it hold, for the denial and the record. Never the secret itself.
    fn matched(&self, scene: &Scene<'_>) -> Option<Matched>;

    /// Why it is unknown, for the record; `None` if it is not unknown.
    fn why_unknown(&self, scene: &Scene<'_>) -> Option<String>;

    /// The comparison and the values it saw, for `explain`.
    fn explain(&self, scene: &Scene<'_>) -> TestExplanation;

    /// How the index can find the rule without evaluating the condition. Without a hint the rule is
    /// evaluated for every call of its tools.
    fn index_hint(&self) -> Option<IndexHint<'_>> {
        None
    }

    /// A text that is the same for the same condition, to find rules that repeat each other.
    fn canonical(&self) -> String;
}

/// What decides whether a condition holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Evidence {
    /// The origin and the time of the call, which are known together with the name.
    Context,
    /// Some of the arguments.
    Arguments,
    /// The whole input: the arguments, and the input that is sent in addition to them.
    WholeInput,
    /// What the inspection of a server's texts found: known together with the name.
    Findings,
    /// What the call would do. The name bounds it, the arguments decide.
    Effects,
    /// What earlier calls did. It is looked up when the call is complete.
    History,
    /// The arguments, and where they came from: the conversation before the call.
    Conversation,
}

impl Evidence {
    pub(crate) fn needs_arguments(self) -> bool {
        match self {
            Self::Arguments
            | Self::WholeInput
            | Self::Effects
            | Self::History
            | Self::Conversation => true,
            Self::Context | Self::Findings => false,
        }
    }
}

/// A condition can hold, or be unknown, only if this operator holds, or is unknown, for a value at
/// this path.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IndexHint<'a> {
    pub(crate) path: &'a ArgumentPath,
    pub(crate) operator: &'a Operator,
}

/// Keys of a condition and what they mean: one row of the table in `docs/reference/policy.md`.
#[derive(Debug, Clone, Copy)]
pub struct KeyDoc {
    /// The keys.
    pub keys: &'static [&'static str],
    /// What they mean, in Markdown.
    pub meaning: &'static str,
}
