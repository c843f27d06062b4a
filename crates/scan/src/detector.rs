//! The definition of a detector.

use std::ops::Range;

/// How one kind of secret is found.
pub(crate) struct Detector {
    /// The word that replaces the secret, as in `[REDACTED:word]`.
    pub(crate) name: &'static str,
    /// A short description for people.
    pub(crate) what: &'static str,
    pub(crate) group: DetectorGroup,
    /// What the text must contain before the pattern is tried, in lower case; case is ignored here,
    /// the pattern may require it. Every match of the pattern begins with one of these.
    pub(crate) keywords: &'static [&'static str],
    /// For a secret without a keyword: the beginnings of words at which the pattern is tried. `A`
    /// is a letter, `9` a digit, anything else itself.
    pub(crate) heads: &'static [&'static str],
    /// The part before the secret, starting at the first byte of the keyword; empty if the secret
    /// begins there.
    pub(crate) lead: &'static str,
    /// A pattern for a match from its first byte on, if `lead` and `pattern` do not describe it: it
    /// may match too much. `KEYWORD` is any keyword.
    pub(crate) form: Option<&'static str>,
    /// The form of the secret. Two patterns and no groups: groups would cost ten times as much.
    pub(crate) pattern: &'static str,
    /// What must not be next to a match.
    pub(crate) edge: Edge,
    /// The final check: the span of the secret, or `None` if it is not one.
    pub(crate) check: fn(&DetectorMatch<'_>) -> Option<Range<usize>>,
    /// For a secret that may continue beyond everything that its pattern looks at: whether it has
    /// ended.
    pub(crate) open: Option<fn(&DetectorMatch<'_>) -> Openness>,
    /// Texts with the secret. At least one.
    #[cfg(test)]
    pub(crate) hits: &'static [Sample],
    /// Similar texts without a secret. At least one.
    #[cfg(test)]
    pub(crate) misses: &'static [&'static [&'static str]],
}

/// The defaults for detectors of secrets.
pub(crate) const SECRET: Detector = Detector {
    name: "",
    what: "",
    group: DetectorGroup::Secret,
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

/// The defaults for detectors of personal data.
pub(crate) const PERSONAL: Detector = Detector { group: DetectorGroup::Personal, ..SECRET };

/// The defaults for detectors without a group.
pub(crate) const ALONE: Detector = Detector { group: DetectorGroup::Alone, ..SECRET };

/// Whether more text could change the result of a detector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Openness {
    /// It could not.
    Settled,
    /// It is not certain yet whether this is a secret.
    Waiting,
    /// It is a secret, and the text ends inside of it.
    Inside,
}

impl std::fmt::Debug for Detector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// A group of detectors, which a rule can select with one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DetectorGroup {
    /// Its holder may act as another person.
    Secret,
    /// It identifies a person.
    Personal,
    /// Found only if a rule names it: too common for a group.
    Alone,
}

/// A text with a secret, in pieces, so that this file does not contain a whole key.
#[cfg(test)]
pub(crate) struct Sample {
    pub(crate) before: &'static str,
    pub(crate) secret: &'static [&'static str],
    pub(crate) after: &'static str,
}

/// What must not be next to a match, so that a part of a longer word or blob is not taken for a
/// token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Edge {
    /// No restriction.
    Free,
    /// No letter and no digit.
    Word,
    /// No letter, no digit, no `_` and no `-`. For patterns that read to the end of a run of these:
    /// each run is then read once, however many keywords it contains.
    Run,
}

impl Edge {
    /// Whether the neighbours of `span` allow a match.
    pub(crate) fn allows(self, text: &str, span: &Range<usize>) -> bool {
        let next_byte = text.as_bytes().get(span.end);
        self.allows_before(text, span.start) && next_byte.is_none_or(|&byte| !self.joins(byte))
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

/// Whether the text ends with an escape such as `\n`, `\t` or `%20`: then the letter or digit there
/// is part of the escape and not of what follows.
fn ends_with_escape(before: &[u8]) -> bool {
    match before {
        [.., b'\\', b'n' | b'r' | b't' | b'b' | b'f'] => true,
        [.., b'%', high, low] => high.is_ascii_hexdigit() && low.is_ascii_hexdigit(),
        _ => false,
    }
}

/// A place where the pattern of a detector matched.
pub(crate) struct DetectorMatch<'t> {
    /// The whole text.
    pub(crate) text: &'t str,
    /// The match.
    pub(crate) whole: Range<usize>,
    /// The part of it that would be the secret.
    pub(crate) secret: Range<usize>,
    /// The match may continue after its end: only a part of the text was examined.
    pub(crate) truncated: bool,
}

impl<'t> DetectorMatch<'t> {
    /// The text that would be the secret.
    pub(crate) fn secret(&self) -> &'t str {
        self.text.get(self.secret.clone()).unwrap_or("")
    }

    /// The secret, if `holds`.
    pub(crate) fn when(&self, holds: bool) -> Option<Range<usize>> {
        holds.then(|| self.secret.clone())
    }

    /// The byte after the secret.
    pub(crate) fn next_byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.secret.end).copied()
    }
}
