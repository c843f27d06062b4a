//! One kind of secret: how it is found.

use std::ops::Range;

/// How one kind of secret is found.
pub(crate) struct Detector {
    /// The word that replaces the secret, as in `[REDACTED:word]`.
    pub(crate) name: &'static str,
    /// What it is, in a few words for people.
    pub(crate) what: &'static str,
    pub(crate) group: Group,
    /// What must stand in the text before the pattern is tried, in lower case; case is ignored
    /// here, the pattern may insist on it. Every match of the pattern begins with one of these.
    pub(crate) keywords: &'static [&'static str],
    /// For a secret without a keyword: how the word begins at which the pattern is tried, `A` for
    /// a letter, `9` for a digit, anything else for itself.
    pub(crate) heads: &'static [&'static str],
    /// What stands before the secret, from the first byte of the keyword on; empty if the secret
    /// begins there.
    pub(crate) lead: &'static str,
    /// What a match looks like from its first byte on, where `lead` and `pattern` do not say it:
    /// too much is no harm. `KEYWORD` stands for any keyword.
    pub(crate) form: Option<&'static str>,
    /// The form of the secret. Two patterns and no groups: groups would cost ten times as much.
    pub(crate) pattern: &'static str,
    /// What must not stand beside a match.
    pub(crate) edge: Edge,
    /// The last word: where the secret stands, or that there is none.
    pub(crate) check: fn(&Candidate<'_>) -> Option<Range<usize>>,
    /// For a secret that may go on behind all that its pattern looks at: whether it has ended.
    pub(crate) open: Option<fn(&Candidate<'_>) -> Open>,
    /// Texts with the secret. At least one.
    #[cfg(test)]
    pub(crate) hits: &'static [Sample],
    /// Texts that look similar and hold no secret. At least one.
    #[cfg(test)]
    pub(crate) misses: &'static [&'static [&'static str]],
}

/// What a detector of secrets is, unless it says otherwise.
pub(crate) const SECRET: Detector = Detector {
    name: "",
    what: "",
    group: Group::Secret,
    keywords: &[],
    heads: &[],
    lead: "",
    form: None,
    pattern: "",
    edge: Edge::Word,
    check: |_| None,
    open: None,
    #[cfg(test)]
    hits: &[],
    #[cfg(test)]
    misses: &[],
};

/// What a detector of personal data is, unless it says otherwise.
pub(crate) const PERSONAL: Detector = Detector { group: Group::Personal, ..SECRET };

/// What a detector is that no group has, unless it says otherwise.
pub(crate) const ALONE: Detector = Detector { group: Group::Alone, ..SECRET };

/// Whether more text could change what a detector says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Open {
    /// It could not.
    Settled,
    /// It is not certain yet whether this is a secret.
    Waiting,
    /// It is one, and the text ends inside of it.
    Inside,
}

impl std::fmt::Debug for Detector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// What a rule may ask for with one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// Whoever has it may act as somebody else.
    Secret,
    /// It tells who a person is.
    Personal,
    /// Found only where a rule names it: too common to be asked for by a group.
    Alone,
}

/// A text with a secret, in pieces, so that this file holds no whole key itself.
#[cfg(test)]
pub(crate) struct Sample {
    pub(crate) before: &'static str,
    pub(crate) secret: &'static [&'static str],
    pub(crate) after: &'static str,
}

/// What must not stand beside a match, so that a piece of a longer word or blob is no token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Edge {
    /// Anything may.
    Free,
    /// No letter and no digit.
    Word,
    /// No letter, no digit, no `_` and no `-`. For patterns that read to the end of a run of
    /// these: each run is then read once, however many keywords it holds.
    Run,
}

impl Edge {
    /// Whether the neighbours of `span` let it be a match.
    pub(crate) fn allows(self, text: &str, span: &Range<usize>) -> bool {
        let behind = text.as_bytes().get(span.end);
        self.allows_before(text, span.start) && behind.is_none_or(|&byte| !self.joins(byte))
    }

    /// Whether a match may begin at `start`.
    pub(crate) fn allows_before(self, text: &str, start: usize) -> bool {
        let before = text.as_bytes().get(..start).unwrap_or(&[]);
        match before.last() {
            Some(&byte) => !self.joins(byte) || ends_with_escape(before),
            None => true,
        }
    }

    fn joins(self, byte: u8) -> bool {
        match self {
            Self::Free => false,
            Self::Word => byte.is_ascii_alphanumeric(),
            Self::Run => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
        }
    }
}

/// Whether the text ends with `\n`, `\t` and the like, or with a `%20`: the letter or digit there
/// belongs to an escape and not to what follows.
fn ends_with_escape(before: &[u8]) -> bool {
    match before {
        [.., b'\\', b'n' | b'r' | b't' | b'b' | b'f'] => true,
        [.., b'%', high, low] => high.is_ascii_hexdigit() && low.is_ascii_hexdigit(),
        _ => false,
    }
}

/// A place where the pattern of a detector matched.
pub(crate) struct Candidate<'t> {
    /// All of the text.
    pub(crate) text: &'t str,
    /// The match.
    pub(crate) whole: Range<usize>,
    /// The part of it that would be the secret.
    pub(crate) secret: Range<usize>,
    /// The match may go on behind its end: only so much of the text was looked at.
    pub(crate) cut: bool,
}

impl<'t> Candidate<'t> {
    /// The text that would be the secret.
    pub(crate) fn secret(&self) -> &'t str {
        self.text.get(self.secret.clone()).unwrap_or("")
    }

    /// The secret, if `holds`.
    pub(crate) fn when(&self, holds: bool) -> Option<Range<usize>> {
        holds.then(|| self.secret.clone())
    }

    /// The byte behind the secret.
    pub(crate) fn behind(&self) -> Option<u8> {
        self.text.as_bytes().get(self.secret.end).copied()
    }
}
