//! The condition `deletes`: which files a call would remove.

use callgate_document::{Fields, Problems};
use callgate_effects::{Action, EffectKind, Scope};

use super::Scene;
use super::effect::{EffectCondition, Found};
use super::effect_lists::{Paths, value, words};
use crate::tri::Tri;

/// Files that are removed.
#[derive(Debug, Clone)]
pub(crate) struct DeletesCondition {
    paths: Paths,
    /// Empty for every scope.
    how: Vec<Scope>,
    written: String,
}

const HOW: &[(&str, Scope)] = &[("one", Scope::One), ("tree", Scope::Tree)];

impl EffectCondition for DeletesCondition {
    const KEY: &'static str = "deletes";

    const MEANING: &'static str = "[files](#files): the call removes one of these files; `how`: \
        `one` (a file), `tree` (a folder with everything below it); without it both. Removing \
        `dir/*` counts as removing `dir`, too";

    const KIND: EffectKind = EffectKind::Deletes;

    fn read(fields: &Fields<'_>, problems: &mut Problems<'_>) -> Option<Self> {
        let node = fields.get(Self::KEY)?;
        let value = value(node, Self::KEY, "paths", "how", problems)?;
        let how = words(&value.words, "way to delete", HOW, problems);
        let paths = Paths::new(value.sense, &value.items, problems)?;
        Some(Self { paths, how, written: node.to_json() })
    }

    fn fits(&self, found: Found<'_>, scene: &Scene<'_>) -> Option<Tri> {
        match found.action() {
            Action::Deletes(path, scope) if self.how.is_empty() || self.how.contains(scope) => {
                Some(self.paths.matches(found, path, scene))
            }
            _ => None,
        }
    }

    fn operand(&self) -> &str {
        &self.written
    }
}
