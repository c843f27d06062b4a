//! Reads the values of conditions on effects: lists of globs, `{ not: [...] }`, named sets, words.

use callgate_document::{At, Mapping, Node, Problems, Yaml, did_you_mean, texts};
use callgate_effects::{HostSet, Path, PathSet, PreparedPath, Purpose, Stance, sets};
use std::sync::OnceLock;

use super::effect::FoundEffect;
use super::{Claims, Scene};
use crate::tri::Tri;

/// Whether a list names the values that match or those that do not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sense {
    In,
    NotIn,
}

impl Sense {
    pub(super) fn of(self, found: Tri) -> Tri {
        match self {
            Self::In => found,
            Self::NotIn => !found,
        }
    }
}

/// The value of a condition: a list, and the words that narrow it.
pub(super) struct ListValue {
    pub(super) sense: Sense,
    pub(super) items: Vec<At<String>>,
    /// The words under the extra key.
    pub(super) words: Vec<At<String>>,
}

/// Reads a text, a list, or a mapping with `list` or `not`, and `extra` in addition.
pub(super) fn value(
    node: &Node,
    key: &str,
    list: &str,
    extra: &str,
    problems: &mut Problems<'_>,
) -> Option<ListValue> {
    value_with(node, key, (list, extra), &[], problems)
}

/// Like [`value`], with more keys that narrow it and are read elsewhere.
pub(super) fn value_with(
    node: &Node,
    key: &str,
    (list, extra): (&str, &str),
    more: &[&str],
    problems: &mut Problems<'_>,
) -> Option<ListValue> {
    let what = format!("`{key}`");
    let Yaml::Map(_) = &node.value else {
        let items = texts(node, &what, problems);
        return Some(ListValue { sense: Sense::In, items, words: Vec::new() });
    };
    let fields = Mapping::of(node, &what, problems)?;
    let before = problems.len();
    fields.check(&[&[list, "not", extra], more].concat(), &[], problems);
    let is_narrowed = more.iter().any(|key| fields.get(key).is_some());
    let read = |name: &str, problems: &mut Problems<'_>| {
        let node = fields.get(name)?;
        Some(texts(node, &format!("`{name}`"), problems))
    };
    let (named, not) = (read(list, problems), read("not", problems));
    let words = read(extra, problems).unwrap_or_default();
    let (sense, items) = match (named, not) {
        (Some(items), None) => (Sense::In, items),
        (None, Some(items)) => (Sense::NotIn, items),
        (None, None) if is_narrowed || !words.is_empty() => (Sense::NotIn, Vec::new()),
        (None, None) => {
            problems
                .add(node.span, format!("{what} names nothing"))
                .hint(format!("write a list, `{{ {list}: [...] }}` or `{{ not: [...] }}`"));
            return None;
        }
        (Some(_), Some(_)) => {
            problems
                .add(node.span, format!("{what} has both `{list}` and `not`"))
                .hint("leave one out; an item that begins with `!` is an exception to the list");
            return None;
        }
    };
    (problems.len() == before).then_some(ListValue { sense, items, words })
}

/// Reads words of a fixed list.
pub(super) fn words<T: Copy>(
    written: &[At<String>],
    what: &str,
    known: &[(&str, T)],
    problems: &mut Problems<'_>,
) -> Vec<T> {
    let read = |text: &At<String>| callgate_document::word(text, what, known, &[], problems);
    written.iter().filter_map(read).map(|at| at.value).collect()
}

/// Paths that a rule names. The patterns are compiled when a call first needs them.
#[derive(Debug, Clone)]
pub(super) struct Paths {
    sense: Sense,
    globs: Vec<String>,
    set: OnceLock<Box<PathSet>>,
}

impl Paths {
    pub(super) fn new(
        sense: Sense,
        items: &[At<String>],
        problems: &mut Problems<'_>,
    ) -> Option<Self> {
        let before = problems.len();
        for item in items {
            check_path(item, problems);
        }
        let globs = items.iter().map(|item| within(sense, item.value.trim()).to_owned()).collect();
        (problems.len() == before).then_some(Self { sense, globs, set: OnceLock::new() })
    }

    /// Whether the path of an effect matches. `dir/*` stands for everything in `dir` and counts as
    /// `dir`, too.
    pub(super) fn matches(&self, found: FoundEffect<'_>, path: &Path, scene: &Scene<'_>) -> Tri {
        let stance = match scene.claims {
            Claims::Believed => Stance::Restricts,
            Claims::Unknown => Stance::Allows,
        };
        let matches =
            |path: &PreparedPath| self.sense.of(self.set().matches_prepared(path, stance).into());
        let Some(forms) = scene.effects.path(found.at, path) else { return Tri::Unknown };
        match &forms.folder {
            Some(folder) => matches(&forms.own).or(matches(folder)),
            None => matches(&forms.own),
        }
    }

    fn set(&self) -> &PathSet {
        self.set.get_or_init(|| {
            Box::new(PathSet::new(self.globs.iter().flat_map(|glob| expand_path(glob))))
        })
    }
}

/// `not: [workspace]` means: outside of the project. Elsewhere `workspace` is the folder itself.
fn within(sense: Sense, glob: &str) -> &str {
    if sense == Sense::NotIn && glob == "workspace" { "workspace/**" } else { glob }
}

fn expand_path(glob: &str) -> Vec<&str> {
    match glob.strip_prefix('@').and_then(sets::path_globs) {
        Some(globs) => globs.to_vec(),
        None => vec![glob],
    }
}

fn check_path(item: &At<String>, problems: &mut Problems<'_>) {
    let text = item.value.trim();
    if let Some(name) = text.strip_prefix('@') {
        let known = sets::PATHS.iter().map(|(name, _)| *name);
        if sets::path_globs(name).is_none() {
            unknown_set(item, "paths", known, problems);
        }
    } else if text.contains('[') {
        problems.add(item.span, format!("cannot read the path `{text}`")).hint(
            "`*` stops at `/`, `**` does not; `?` matches one character, `{a,b}` either text",
        );
    }
}

fn unknown_set<'k>(
    item: &At<String>,
    what: &str,
    known: impl Iterator<Item = &'k str> + Clone,
    problems: &mut Problems<'_>,
) {
    let names: Vec<String> = known.map(|name| format!("@{name}")).collect();
    let hint = did_you_mean(&item.value, names.iter().map(String::as_str))
        .unwrap_or_else(|| format!("one of: {}", names.join(", ")));
    problems.add(item.span, format!("unknown set of {what} `{}`", item.value)).hint(hint);
}

/// Hosts that a rule names, compiled when a call first needs them.
#[derive(Debug, Clone)]
pub(super) struct Hosts {
    sense: Sense,
    patterns: Vec<String>,
    set: OnceLock<Box<HostSet>>,
}

impl Hosts {
    pub(super) fn new(
        sense: Sense,
        items: &[At<String>],
        problems: &mut Problems<'_>,
    ) -> Option<Self> {
        let before = problems.len();
        for item in items {
            check_host(item, problems);
        }
        let patterns = items.iter().map(|item| item.value.trim().to_owned()).collect();
        (problems.len() == before).then_some(Self { sense, patterns, set: OnceLock::new() })
    }

    pub(super) fn matches(&self, connection: &callgate_effects::Connection) -> Tri {
        let found: Tri = self.set().matches(connection).into();
        // A host that is not in the text at all is no evidence that it is one of a list. What the call
        // hides is found by `opaque`.
        let is_plain = matches!(connection.purpose, Purpose::Fetch | Purpose::Remote);
        let is_open = connection.host.is_unknown() && is_plain;
        if is_open && self.sense == Sense::In && found == Tri::Unknown {
            return Tri::False;
        }
        self.sense.of(found)
    }

    fn set(&self) -> &HostSet {
        self.set.get_or_init(|| {
            Box::new(HostSet::new(self.patterns.iter().flat_map(|it| expand_host(it))))
        })
    }
}

fn expand_host(pattern: &str) -> Vec<&str> {
    match pattern.strip_prefix('@').and_then(sets::host_patterns) {
        Some(patterns) => patterns.to_vec(),
        None => vec![pattern],
    }
}

fn check_host(item: &At<String>, problems: &mut Problems<'_>) {
    let text = item.value.trim();
    if let Some(name) = text.strip_prefix('@') {
        let known = sets::HOSTS.iter().map(|(name, _)| *name);
        if sets::host_patterns(name).is_none() {
            unknown_set(item, "hosts", known, problems);
        }
    } else if text.contains("://") || text.contains(char::is_whitespace) {
        problems
            .add(item.span, format!("`{text}` is not a host"))
            .hint("write the host alone, like `*.example.com`, `10.0.0.0/8` or `*:22`");
    } else if let Some((address, bits)) = text.trim_start_matches('!').split_once('/')
        && (callgate_effects::host::ip(address).is_none() || bits.parse::<u8>().is_err())
    {
        problems
            .add(item.span, format!("`{text}` is not a host"))
            .hint("a network is an address and a number of bits, like `10.0.0.0/8`");
    }
}
