//! The condition `sets`: settings that make a later command run something else.

use callgate_call::fold;
use callgate_document::{At, Mapping, Problems, did_you_mean};
use callgate_effects::{Action, EffectKind, Meaning, Reach, Setting, meaning};

use super::Scene;
use super::effect::{EffectCondition, FoundEffect};
use super::effect_lists::{Sense, value, words};
use crate::pattern::Wildcard;
use crate::tri::Tri;

/// Settings that a call changes.
#[derive(Debug, Clone)]
pub(crate) struct SetsCondition {
    sense: Sense,
    names: Vec<SettingName>,
    /// Empty for both.
    reach: Vec<Reach>,
    written: String,
}

#[derive(Debug, Clone)]
enum SettingName {
    Glob(Wildcard),
    Group(SettingGroup),
}

/// Settings by what their value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SettingGroup {
    Code,
    Hosts,
    Guards,
}

const GROUPS: &[(&str, SettingGroup)] = &[
    ("@code", SettingGroup::Code),
    ("@hosts", SettingGroup::Hosts),
    ("@guards", SettingGroup::Guards),
];

const REACH: &[(&str, Reach)] = &[("command", Reach::Command), ("lasting", Reach::Lasting)];

impl EffectCondition for SetsCondition {
    const KEY: &'static str = "sets";

    const MEANING: &'static str = "names of [settings](#settings): the call changes one of them; \
        `reach`: `command` (for one command), `lasting` (until it is changed again); without it \
        both";

    const KIND: EffectKind = EffectKind::Sets;

    fn read(fields: &Mapping<'_>, problems: &mut Problems<'_>) -> Option<Self> {
        let node = fields.get(Self::KEY)?;
        let value = value(node, Self::KEY, "names", "reach", problems)?;
        let reach = words(&value.words, "reach", REACH, problems);
        let names: Vec<Option<SettingName>> =
            value.items.iter().map(|item| name(item, problems)).collect();
        let names = names.into_iter().collect::<Option<Vec<SettingName>>>()?;
        Some(Self { sense: value.sense, names, reach, written: node.to_json() })
    }

    fn fits(&self, found: FoundEffect<'_>, _: &Scene<'_>) -> Option<Tri> {
        match found.action() {
            Action::Sets(it) if self.reach.is_empty() || self.reach.contains(&it.reach) => {
                Some(self.sense.of(Tri::any(self.names.iter().map(|name| name.matches(it)))))
            }
            _ => None,
        }
    }

    fn operand(&self) -> &str {
        &self.written
    }
}

impl SettingName {
    fn matches(&self, setting: &Setting) -> Tri {
        let Some(name) = setting.name.text() else { return Tri::Unknown };
        match self {
            Self::Glob(glob) => glob.matches(&fold(name)).into(),
            Self::Group(group) => group.has(name).into(),
        }
    }
}

impl SettingGroup {
    fn has(self, name: &str) -> bool {
        let group = match meaning(name) {
            Some(Meaning::Command | Meaning::Code(_) | Meaning::Loads) => Self::Code,
            Some(Meaning::Host) => Self::Hosts,
            Some(Meaning::Guard) => Self::Guards,
            None => return false,
        };
        group == self
    }
}

fn name(item: &At<String>, problems: &mut Problems<'_>) -> Option<SettingName> {
    let text = item.value.trim();
    if let Some((_, group)) = GROUPS.iter().find(|(word, _)| *word == text) {
        return Some(SettingName::Group(*group));
    }
    if text.starts_with('@') {
        let words = GROUPS.iter().map(|(word, _)| *word);
        let hint = did_you_mean(text, words.clone())
            .unwrap_or_else(|| format!("one of: {}", words.collect::<Vec<_>>().join(", ")));
        problems.add(item.span, format!("unknown set of settings `{text}`")).hint(hint);
        return None;
    }
    if !text.contains([':', '*']) {
        problems
            .add(item.span, format!("`{text}` does not say what kind of setting it is"))
            .hint(format!("write `env:{text}`, `git:{text}`, `npm:{text}` or `*:{text}`"));
        return None;
    }
    Some(SettingName::Glob(Wildcard::new(&fold(text))))
}
