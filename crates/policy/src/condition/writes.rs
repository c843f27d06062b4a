//! The condition `writes`: which files a call would create or change.

use callgate_document::{Mapping, Problems};
use callgate_effects::{Action, Change, EffectKind};

use super::Scene;
use super::effect::{EffectCondition, FoundEffect};
use super::effect_lists::{Paths, value, words};
use crate::tri::Tri;

/// Files that are created or changed.
#[derive(Debug, Clone)]
pub(crate) struct WritesCondition {
    paths: Paths,
    /// Empty for every change.
    how: Vec<Change>,
    written: String,
}

const HOW: &[(&str, Change)] = &[
    ("content", Change::Content),
    ("append", Change::Append),
    ("empty", Change::Empty),
    ("folder", Change::Folder),
    ("attributes", Change::Attributes),
    ("link", Change::Link),
    ("planted", Change::Planted),
];

impl EffectCondition for WritesCondition {
    const KEY: &'static str = "writes";

    const MEANING: &'static str = "[files](#files): the call creates or changes one of these \
        files; `how`: `content`, `append`, `empty`, `folder`, `attributes`, `link`, `planted`; \
        without it every change";

    const KIND: EffectKind = EffectKind::Writes;

    fn read(fields: &Mapping<'_>, problems: &mut Problems<'_>) -> Option<Self> {
        let node = fields.get(Self::KEY)?;
        let value = value(node, Self::KEY, "paths", "how", problems)?;
        let how = words(&value.words, "way to write", HOW, problems);
        let paths = Paths::new(value.sense, &value.items, problems)?;
        Some(Self { paths, how, written: node.to_json() })
    }

    fn fits(&self, found: FoundEffect<'_>, scene: &Scene<'_>) -> Option<Tri> {
        match found.action() {
            Action::Writes(path, change) if self.how.is_empty() || self.how.contains(change) => {
                Some(self.paths.matches(found, path, scene))
            }
            _ => None,
        }
    }

    fn operand(&self) -> &str {
        &self.written
    }
}
