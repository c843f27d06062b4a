//! The condition `deletes`: which files a call would remove, and how much that is.

use callgate_document::{Mapping, Node, Problems, Yaml, boolean, integer, text};
use callgate_effects::{Action, EffectKind, Extent, Scope};

use super::Scene;
use super::effect::{EffectCondition, FoundEffect, all};
use super::effect_lists::{Paths, value_with, words};
use crate::tri::Tri;

/// Files that are removed.
#[derive(Debug, Clone)]
pub(crate) struct DeletesCondition {
    paths: Paths,
    /// Empty for every scope.
    how: Vec<Scope>,
    radius: Radius,
    written: String,
}

/// How much all deletions together must touch. What is not set is not asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Radius {
    files_over: Option<u64>,
    bytes_over: Option<u64>,
    untracked: bool,
    crosses_mounts: bool,
}

const HOW: &[(&str, Scope)] = &[("one", Scope::One), ("tree", Scope::Tree)];

const RADIUS: &[&str] = &["files_over", "bytes_over", "untracked", "crosses_mounts"];

impl EffectCondition for DeletesCondition {
    const KEY: &'static str = "deletes";

    const MEANING: &'static str = "[files](#files): the call removes one of these files; `how`: \
        `one` (a file), `tree` (a folder with everything below it); without it both. Removing \
        `dir/*` counts as removing `dir`, too. `files_over`, `bytes_over`, `untracked` and \
        `crosses_mounts` ask [how much](#how-much-is-deleted) that is";

    const KIND: EffectKind = EffectKind::Deletes;

    fn read(fields: &Mapping<'_>, problems: &mut Problems<'_>) -> Option<Self> {
        let node = fields.get(Self::KEY)?;
        let before = problems.len();
        let value = value_with(node, Self::KEY, ("paths", "how"), RADIUS, problems)?;
        let how = words(&value.words, "way to delete", HOW, problems);
        let paths = Paths::new(value.sense, &value.items, problems);
        let radius = match &node.value {
            Yaml::Map(_) => Radius::read(&Mapping::of(node, "`deletes`", problems)?, problems),
            _ => Radius::default(),
        };
        let is_right = problems.len() == before;
        is_right.then_some(Self { paths: paths?, how, radius, written: node.to_json() })
    }

    fn fits(&self, found: FoundEffect<'_>, scene: &Scene<'_>) -> Option<Tri> {
        match found.action() {
            Action::Deletes(path, scope) if self.how.is_empty() || self.how.contains(scope) => {
                Some(self.paths.matches(found, path, scene))
            }
            _ => None,
        }
    }

    fn total(&self, scene: &Scene<'_>) -> Tri {
        match self.asks_how_much() {
            true => self.radius.is_exceeded_by(self.extent(scene)),
            false => Tri::True,
        }
    }

    fn why_total_unknown(&self, scene: &Scene<'_>) -> Option<String> {
        let extent = self.extent(scene);
        Some(format!("how much it deletes is not known in full: {extent}"))
    }

    fn note(&self, found: FoundEffect<'_>, scene: &Scene<'_>) -> Option<String> {
        self.asks_how_much().then(|| extent_of(found, scene).map(|extent| extent.to_string()))?
    }

    fn operand(&self) -> &str {
        &self.written
    }
}

impl DeletesCondition {
    /// Whether it depends on what is on the disk.
    pub(crate) fn asks_how_much(&self) -> bool {
        self.radius != Radius::default()
    }

    /// What its deletions touch together. If there are several ways to read the call, it is the
    /// largest: what is unknown about one of them counts for all.
    fn extent(&self, scene: &Scene<'_>) -> Extent {
        let mut readings: Vec<(*const callgate_effects::Effects, Extent, Vec<String>)> = Vec::new();
        for found in all(scene) {
            let fits = self.fits(found, scene);
            let (Some(Tri::True | Tri::Unknown), Action::Deletes(path, _)) = (fits, found.action())
            else {
                continue;
            };
            let list = std::ptr::from_ref(found.list);
            let known = readings.iter().position(|(of, ..)| *of == list);
            let at = known.unwrap_or_else(|| {
                readings.push((list, Extent::NOTHING, Vec::new()));
                readings.len() - 1
            });
            let Some((_, total, seen)) = readings.get_mut(at) else { continue };
            let path = path.resolved.to_string();
            if seen.contains(&path) {
                continue;
            }
            seen.push(path);
            let extent = extent_of(found, scene).unwrap_or(Extent::UNKNOWN);
            *total = *total + if fits == Some(Tri::True) { extent } else { extent.part() };
        }
        let totals = readings.into_iter().map(|(_, total, _)| total);
        totals.reduce(Extent::larger).unwrap_or(Extent::NOTHING)
    }
}

fn extent_of(found: FoundEffect<'_>, scene: &Scene<'_>) -> Option<Extent> {
    match found.action() {
        Action::Deletes(path, scope) => Some(scene.effects.extent(found.at, path, *scope)),
        _ => None,
    }
}

impl Radius {
    fn read(fields: &Mapping<'_>, problems: &mut Problems<'_>) -> Self {
        let number = |node: &Node, problems: &mut Problems<'_>| {
            let number = integer(node, "`files_over`", 0..=MAX_FILES, problems)?;
            u64::try_from(number).ok()
        };
        let mut set = |key: &str| match fields.get(key).map(|node| (node, &node.value)) {
            None => false,
            Some((node, Yaml::Bool(false))) => {
                problems.add(node.span, format!("`{key}` cannot be `false`")).hint(format!(
                    "leave it out, or write `not: {{ deletes: {{ {key}: true }} }}`"
                ));
                false
            }
            Some((node, _)) => boolean(node, &format!("`{key}`"), problems).unwrap_or_default(),
        };
        let (untracked, crosses_mounts) = (set("untracked"), set("crosses_mounts"));
        Self {
            files_over: fields.get("files_over").and_then(|node| number(node, problems)),
            bytes_over: fields.get("bytes_over").and_then(|node| bytes(node, problems)),
            untracked,
            crosses_mounts,
        }
    }

    /// Whether everything that is asked holds.
    fn is_exceeded_by(self, extent: Extent) -> Tri {
        let asked = [
            self.files_over.map(|limit| extent.files.exceeds(limit)),
            self.bytes_over.map(|limit| extent.bytes.exceeds(limit)),
            self.untracked.then(|| extent.untracked.exceeds(0)),
            self.crosses_mounts.then_some(extent.crosses_mounts),
        ];
        Tri::all(asked.into_iter().flatten().map(Tri::from))
    }
}

/// No disk has more.
const MAX_FILES: i64 = 1_000_000_000;

/// Units of sizes.
const UNITS: [(&str, u64); 7] = [
    ("kb", 1_000),
    ("mb", 1_000_000),
    ("gb", 1_000_000_000),
    ("kib", 1 << 10),
    ("mib", 1 << 20),
    ("gib", 1 << 30),
    ("b", 1),
];

/// Reads a size: `100 MB`, `64MiB`, or a number of bytes.
fn bytes(node: &Node, problems: &mut Problems<'_>) -> Option<u64> {
    let written = text(node, "`bytes_over`", problems)?.value;
    let digits = written.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = written.split_at_checked(digits)?;
    let unit = unit.trim().to_ascii_lowercase();
    let unit = match unit.is_empty() {
        true => Some(1),
        false => UNITS.iter().find(|(name, _)| *name == unit).map(|(_, bytes)| *bytes),
    };
    let size = number.parse::<u64>().ok().zip(unit).and_then(|(n, unit)| n.checked_mul(unit));
    if size.is_none() {
        problems
            .add(node.span, format!("`{written}` is not a size"))
            .hint("write a number of bytes, or a number and a unit, like `100 MB` or `64 MiB`");
    }
    size
}
