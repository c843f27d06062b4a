//! The list of all kinds of conditions. `CONTRIBUTING.md` says how to add one.

use callgate_document::{Mapping, Problems};

use crate::explain::TestExplanation;
use crate::judgement::Matched;
use crate::tri::{Possible, Tri};

use super::Scene;
use super::leaf::{Evidence, IndexHint, KeyDoc, LeafCondition};

/// Makes an enum of all kinds, so that judging neither allocates nor calls through a pointer.
macro_rules! kinds {
    ($($kind:ident($condition:ty)),+ $(,)?) => {
        /// A condition that is not made of others.
        #[derive(Debug, Clone)]
        pub(crate) enum Leaf {
            $($kind($condition)),+
        }

        /// Every kind, in the order of the reference.
        pub(super) const KINDS: &[ConditionParser] = &[$(ConditionParser {
            heads: <$condition>::HEADS,
            keys: <$condition>::KEYS,
            compile: |fields, problems| {
                <$condition>::compile(fields, problems).map(Leaf::$kind)
            },
        }),+];

        impl Leaf {
            pub(super) fn evidence(&self) -> Evidence {
                match self { $(Self::$kind(leaf) => leaf.evidence()),+ }
            }

            pub(super) fn holds(&self, scene: &Scene<'_>) -> Tri {
                match self { $(Self::$kind(leaf) => leaf.holds(scene)),+ }
            }

            pub(super) fn possible(&self, scene: &Scene<'_>) -> Possible {
                match self { $(Self::$kind(leaf) => leaf.possible(scene)),+ }
            }

            pub(super) fn matched(&self, scene: &Scene<'_>) -> Option<Matched> {
                match self { $(Self::$kind(leaf) => leaf.matched(scene)),+ }
            }

            pub(super) fn why_unknown(&self, scene: &Scene<'_>) -> Option<String> {
                match self { $(Self::$kind(leaf) => leaf.why_unknown(scene)),+ }
            }

            pub(crate) fn explain(&self, scene: &Scene<'_>) -> TestExplanation {
                match self { $(Self::$kind(leaf) => leaf.explain(scene)),+ }
            }

            pub(super) fn index_hint(&self) -> Option<IndexHint<'_>> {
                match self { $(Self::$kind(leaf) => leaf.index_hint()),+ }
            }

            pub(super) fn canonical(&self) -> String {
                match self { $(Self::$kind(leaf) => leaf.canonical()),+ }
            }
        }
    };
}

kinds! {
    Argument(super::argument::ArgumentCondition),
    Secret(super::secret::SecretCondition),
    Finding(super::finding::FindingCondition),
    Runs(super::runs::RunsCondition),
    Reads(super::reads::ReadsCondition),
    Writes(super::writes::WritesCondition),
    Deletes(super::deletes::DeletesCondition),
    Connects(super::connects::ConnectsCondition),
    Sets(super::sets::SetsCondition),
    Sql(super::sql::SqlCondition),
    Marked(super::marked::MarkedCondition),
    Opaque(super::opaque::OpaqueCondition),
    Escalates(super::escalates::EscalatesCondition),
    Time(super::time::TimeCondition),
    After(super::after::AfterCondition),
    Denied(super::denied::DeniedCondition),
    Origin(super::origin::OriginCondition),
}

/// A kind of condition, while a rule file is read.
pub(super) struct ConditionParser {
    pub(super) heads: &'static [&'static str],
    pub(super) keys: &'static [KeyDoc],
    pub(super) compile: fn(&Mapping<'_>, &mut Problems<'_>) -> Option<Leaf>,
}

impl ConditionParser {
    /// Whether this kind knows the key.
    pub(super) fn has(&self, key: &str) -> bool {
        self.keys.iter().any(|row| row.keys.contains(&key))
    }
}
