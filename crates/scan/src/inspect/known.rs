//! The tools of other servers.

use std::collections::HashSet;

use aho_corasick::{AhoCorasick, MatchKind};

/// The names of other servers' tools, to notice when a server refers to a tool of another one.
#[derive(Debug, Clone, Default)]
pub struct OtherTools {
    names: Vec<String>,
    /// `None` if there are no names to search for.
    finder: Option<AhoCorasick>,
    /// Names of these tools that the server also has itself.
    own: HashSet<String>,
}

/// How many names are searched for: clients stop offering tools long before. Further names are not
/// found in texts.
const MAX_NAMES: usize = 10_000;

/// Shorter names are ordinary words: `get`, `add`, `time`.
const MIN_NAME: usize = 4;

impl OtherTools {
    /// From the names of the tools of all other servers.
    pub fn new(names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let mut names: Vec<String> = names.into_iter().map(Into::into).collect();
        names.retain(|name| name.len() >= MIN_NAME);
        names.sort();
        names.dedup();
        names.truncate(MAX_NAMES);
        let lower = names.iter().map(|name| name.to_lowercase());
        // If there are too many names for one automaton, they are not searched for in texts; they
        // are still compared as names.
        let finder = (!names.is_empty())
            .then(|| {
                AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(lower).ok()
            })
            .flatten();
        Self { names, finder, own: HashSet::new() }
    }

    /// Sets the names of tools that the server has itself: it is unknown which one it refers to.
    #[must_use]
    pub fn with_own(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.own = names.into_iter().map(Into::into).collect();
        self
    }

    pub(super) fn is_own(&self, name: &str) -> bool {
        self.own.contains(name)
    }

    /// The names.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Every name in a lower-case text that is a separate word, with its span.
    pub(super) fn find<'k>(
        &'k self,
        folded: &'k str,
    ) -> impl Iterator<Item = (&'k str, std::ops::Range<usize>)> {
        let hits = self.finder.iter().flat_map(move |finder| finder.find_iter(folded));
        hits.filter_map(move |hit| {
            let name = self.names.get(hit.pattern().as_usize())?;
            let part = |byte: Option<&u8>| {
                byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
            };
            let bytes = folded.as_bytes();
            let before = hit.start().checked_sub(1).and_then(|at| bytes.get(at));
            let whole = !part(before) && !part(bytes.get(hit.end()));
            whole.then_some((name.as_str(), hit.start()..hit.end()))
        })
    }
}

/// Whether a name cannot be an ordinary word.
pub(super) fn is_distinctive(name: &str) -> bool {
    let inner = name.trim_matches(|c: char| !c.is_alphanumeric());
    inner.contains(['_', '-', '.', '/', ':'])
        || inner.chars().skip(1).any(|c| c.is_uppercase())
        || inner.chars().any(|c| c.is_ascii_digit())
}
