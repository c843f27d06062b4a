//! The policies that come with callgate.

use callgate_document::{Problems, Source};

/// The prefix of their names.
const PREFIX: &str = "builtin:";

const STARTER: &str = include_str!("packs/starter.yaml");

/// Every built-in policy: its name without the prefix, and its text.
const PACKS: &[(&str, &str)] = &[
    ("starter", STARTER),
    ("strict", include_str!("packs/strict.yaml")),
    ("read-only", include_str!("packs/read-only.yaml")),
    ("ci", include_str!("packs/ci.yaml")),
    ("data", include_str!("packs/data.yaml")),
    ("quiet", include_str!("packs/quiet.yaml")),
];

/// `builtin:starter`: a few rules on what calls would do. They stop what is plainly destructive, ask
/// about what a person should decide, and do not disturb daily work.
pub fn starter() -> Source {
    Source { name: format!("{PREFIX}starter"), text: STARTER.to_owned() }
}

/// A built-in policy by its whole name, such as `builtin:strict`.
pub fn builtin(name: &str) -> Option<Source> {
    let bare = name.strip_prefix(PREFIX)?;
    let (_, text) = PACKS.iter().find(|(known, _)| *known == bare)?;
    Some(Source { name: name.to_owned(), text: (*text).to_owned() })
}

/// Collects the problems of a policy file, which may be a built-in one, unchanged.
pub(crate) fn problems(source: &Source) -> Problems<'_> {
    let bare = source.name.strip_prefix(PREFIX);
    let is_builtin = PACKS.iter().any(|(name, text)| bare == Some(*name) && source.text == *text);
    if is_builtin { Problems::of_builtin(source) } else { Problems::new(source) }
}

/// The whole names of all built-in policies.
pub fn builtins() -> impl Iterator<Item = String> {
    PACKS.iter().map(|(name, _)| format!("{PREFIX}{name}"))
}
