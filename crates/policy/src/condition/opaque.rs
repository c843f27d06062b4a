//! The condition `opaque`: parts of a call that cannot be read and could do something.

use callgate_document::{Mapping, Problems, Yaml, texts};
use callgate_effects::{Action, Bound, EffectKind, Why};

use super::Scene;
use super::effect::{EffectCondition, FoundEffect};
use super::effect_lists::words;
use crate::tri::Tri;

/// Parts that cannot be read.
#[derive(Debug, Clone)]
pub(crate) struct OpaqueCondition {
    /// Empty for every reason.
    why: Vec<Why>,
    written: String,
}

const WHY: &[(&str, Why)] = &[
    ("program", Why::Program),
    ("code", Why::Code),
    ("network-code", Why::NetworkCode),
    ("script", Why::Script),
    ("language", Why::Language),
    ("value", Why::Value),
    ("target", Why::Target),
    ("syntax", Why::Syntax),
    ("size", Why::Size),
    ("arguments", Why::Arguments),
];

impl EffectCondition for OpaqueCondition {
    const KEY: &'static str = "opaque";

    const MEANING: &'static str = "`true`, or a list of [reasons](#opaque-calls): a part of the call \
        cannot be read and could write, delete, connect, run or set something";

    const KIND: EffectKind = EffectKind::Opaque;

    fn read(fields: &Mapping<'_>, problems: &mut Problems<'_>) -> Option<Self> {
        let node = fields.get(Self::KEY)?;
        let written = node.to_json();
        match &node.value {
            Yaml::Bool(true) => Some(Self { why: Vec::new(), written }),
            Yaml::Bool(false) => {
                problems
                    .add(node.span, "`opaque` cannot be `false`")
                    .hint("write `not: { opaque: true }`");
                None
            }
            _ => {
                let before = problems.len();
                let why = texts(node, "`opaque`", problems);
                let why = words(&why, "reason", WHY, problems);
                (problems.len() == before).then_some(Self { why, written })
            }
        }
    }

    fn needs(&self) -> Bound {
        Bound::CHANGES
    }

    /// Every part that could change something counts. One is enough, whatever the others are.
    fn fits(&self, found: FoundEffect<'_>, _: &Scene<'_>) -> Option<Tri> {
        match found.action() {
            Action::Opaque(it) if !it.could.and(Bound::CHANGES).is_empty() => {
                (self.why.is_empty() || self.why.contains(&it.why)).then_some(Tri::True)
            }
            _ => None,
        }
    }

    fn operand(&self) -> &str {
        &self.written
    }
}
