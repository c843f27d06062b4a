//! The condition `reads`: which files a call would read.

use callgate_document::{Mapping, Problems};
use callgate_effects::{Access, Action, EffectKind};

use super::Scene;
use super::effect::{EffectCondition, FoundEffect};
use super::effect_lists::{Paths, value, words};
use crate::tri::Tri;

/// Files that are read.
#[derive(Debug, Clone)]
pub(crate) struct ReadsCondition {
    paths: Paths,
    how: Vec<Access>,
    written: String,
}

const HOW: &[(&str, Access)] =
    &[("content", Access::Content), ("tree", Access::Tree), ("names", Access::Names)];

impl EffectCondition for ReadsCondition {
    const KEY: &'static str = "reads";

    const MEANING: &'static str = "[files](#files): the call reads one of these files; `how`: \
        `content`, `tree` (everything below a folder), `names` (only names, sizes or whether it \
        exists); without it `content` and `tree`";

    const KIND: EffectKind = EffectKind::Reads;

    fn read(fields: &Mapping<'_>, problems: &mut Problems<'_>) -> Option<Self> {
        let node = fields.get(Self::KEY)?;
        let value = value(node, Self::KEY, "paths", "how", problems)?;
        let mut how = words(&value.words, "way to read", HOW, problems);
        if value.words.is_empty() {
            how = vec![Access::Content, Access::Tree];
        }
        let paths = Paths::new(value.sense, &value.items, problems)?;
        Some(Self { paths, how, written: node.to_json() })
    }

    fn fits(&self, found: FoundEffect<'_>, scene: &Scene<'_>) -> Option<Tri> {
        match found.action() {
            Action::Reads(path, access) if self.how.contains(access) => {
                Some(self.paths.matches(found, path, scene))
            }
            _ => None,
        }
    }

    fn operand(&self) -> &str {
        &self.written
    }
}
