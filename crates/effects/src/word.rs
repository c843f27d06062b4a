//! Text of which parts may be unknown: `"$DIR"/build`, `*.txt`.

use std::fmt;

use crate::text::Text;

/// A word of a command line, a path or a host. Usually all of it is known.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Word {
    text: Text,
    /// In the order of the text. Empty for most words.
    gaps: Vec<Gap>,
}

/// A place in a [`Word`] where text is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Gap {
    /// The byte of the known text in front of which it is.
    pub at: usize,
    /// What may be there.
    pub fill: Fill,
}

/// What may be in a gap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fill {
    /// Any text, also none: the value is not in the call.
    Anything,
    /// `*` of the shell: any text without `/`, also none.
    Name,
    /// `?` or `[…]` of the shell: one character other than `/`.
    Character,
}

/// A word with more gaps is as good as unknown. Without a bound, a value that is made of itself grows
/// without end, though no text is known about it.
const MAX_GAPS: usize = 256;

impl Word {
    /// A word that is known.
    pub fn known(text: impl Into<String>) -> Self {
        Self::of(Text::Owned(text.into()))
    }

    /// A word that is a text.
    pub(crate) fn of(text: Text) -> Self {
        Self { text, gaps: Vec::new() }
    }

    /// What is known about the text, to be kept.
    pub(crate) fn content(&self) -> Text {
        self.text.clone()
    }

    /// The same word, so that copies share its text.
    #[must_use]
    pub(crate) fn shared(self) -> Self {
        Self { text: self.text.shared(), gaps: self.gaps }
    }

    /// A word of which nothing is known.
    pub fn unknown() -> Self {
        Self { text: Text::default(), gaps: vec![Gap { at: 0, fill: Fill::Anything }] }
    }

    /// The whole text, if it is known.
    #[inline]
    pub fn text(&self) -> Option<&str> {
        self.gaps.is_empty().then(|| self.text.as_str())
    }

    /// What is known about the text, with nothing in the gaps.
    #[inline]
    pub fn known_part(&self) -> &str {
        &self.text
    }

    /// The known text in front of the first gap.
    #[inline]
    pub fn known_start(&self) -> &str {
        match self.gaps.first() {
            None => self.text.as_str(),
            Some(gap) => self.text.as_str().get(..gap.at).unwrap_or_default(),
        }
    }

    /// The gaps, in the order of the text.
    pub fn gaps(&self) -> &[Gap] {
        &self.gaps
    }

    /// Whether all of the text is known.
    #[inline]
    pub fn is_known(&self) -> bool {
        self.gaps.is_empty()
    }

    /// Whether nothing of the text is known.
    pub fn is_unknown(&self) -> bool {
        self.text.is_empty() && self.gaps.iter().any(|gap| gap.fill == Fill::Anything)
    }

    /// Whether a value is missing. `*.txt` misses none: the shell finds the names.
    pub fn misses_value(&self) -> bool {
        self.gaps.iter().any(|gap| gap.fill == Fill::Anything)
    }

    /// Adds known text.
    pub fn push_str(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Adds a known text, which is shared if the word is empty.
    pub(crate) fn push_text(&mut self, text: &Text) {
        if self.text.is_empty() {
            self.text = text.clone();
        } else {
            self.text.push_str(text);
        }
    }

    /// Adds a known character.
    pub fn push(&mut self, character: char) {
        self.text.push(character);
    }

    /// Adds a gap. Two equal gaps in a row mean the same as one, unless each is one character.
    pub fn push_gap(&mut self, fill: Fill) {
        self.add_gap(Gap { at: self.text.len(), fill });
    }

    fn add_gap(&mut self, gap: Gap) {
        if gap.fill == Fill::Character || self.gaps.last() != Some(&gap) {
            self.gaps.push(gap);
        }
        if self.gaps.len() > MAX_GAPS {
            *self = Self::unknown();
        }
    }

    /// Adds another word.
    pub fn push_word(&mut self, other: &Self) {
        if self.gaps.is_empty() && other.gaps.is_empty() && self.text.is_empty() {
            self.text = other.text.clone();
            return;
        }
        let base = self.text.len();
        self.text.push_str(&other.text);
        for gap in &other.gaps {
            // Too many gaps have made the whole word unknown.
            if self.text.len() < base + gap.at {
                return;
            }
            self.add_gap(Gap { at: base + gap.at, ..*gap });
        }
    }

    /// The part from that byte of the known text on, with a gap that is exactly there.
    pub fn from(&self, at: usize) -> Self {
        let text = self.text.get(at, self.text.len()).unwrap_or_default();
        if self.gaps.is_empty() {
            return Self::of(text);
        }
        let is_after = |gap: &&Gap| gap.at >= at;
        let gaps = self.gaps.iter().filter(is_after).map(|gap| Gap { at: gap.at - at, ..*gap });
        Self { text, gaps: gaps.collect() }
    }

    /// The part in front of that byte of the known text, with a gap that is exactly there.
    pub(crate) fn without_end(&self, at: usize) -> Self {
        let mut word = self.until(at);
        let is_there = |gap: &&Gap| gap.at == at;
        word.gaps.extend(self.gaps.iter().filter(is_there));
        word
    }

    /// The parts between blanks of the known text, as `xargs` reads them.
    pub(crate) fn split_blanks(&self) -> Vec<Self> {
        let mut parts = vec![Self::default()];
        let mut gaps = self.gaps.iter().peekable();
        for (at, letter) in self.text.char_indices() {
            while let Some(gap) = gaps.next_if(|gap| gap.at <= at) {
                parts.last_mut().into_iter().for_each(|part| part.push_gap(gap.fill));
            }
            if letter.is_whitespace() || letter == '\0' {
                parts.push(Self::default());
            } else {
                parts.last_mut().into_iter().for_each(|part| part.push(letter));
            }
        }
        for gap in gaps {
            parts.last_mut().into_iter().for_each(|part| part.push_gap(gap.fill));
        }
        parts.retain(|part| !part.text.is_empty() || !part.gaps.is_empty());
        parts
    }

    /// The part in front of that byte of the known text.
    pub fn until(&self, at: usize) -> Self {
        let text = self.text.get(0, at).unwrap_or_else(|| self.text.clone());
        let gaps = self.gaps.iter().filter(|gap| gap.at < at).copied().collect();
        Self { text, gaps }
    }
}

impl From<&str> for Word {
    fn from(text: &str) -> Self {
        Self::known(text)
    }
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut from = 0;
        for gap in &self.gaps {
            f.write_str(self.text.as_str().get(from..gap.at).unwrap_or_default())?;
            f.write_str(match gap.fill {
                Fill::Anything => "…",
                Fill::Name => "*",
                Fill::Character => "?",
            })?;
            from = gap.at;
        }
        f.write_str(self.text.as_str().get(from..).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn home_and_rest() -> Word {
        let mut word = Word::known("a/");
        word.push_gap(Fill::Anything);
        word.push_str("/c");
        word
    }

    #[test]
    fn a_word_shows_its_gaps() {
        assert_eq!(home_and_rest().to_string(), "a/…/c");
        assert_eq!(home_and_rest().known_start(), "a/");
        assert_eq!(home_and_rest().known_part(), "a//c");
        assert!(Word::unknown().is_unknown());
        assert!(!home_and_rest().is_unknown());
    }

    #[test]
    fn gaps_do_not_pile_up() {
        let mut word = Word::unknown();
        for _ in 0..100 {
            let copy = word.clone();
            word.push_word(&copy);
        }
        assert_eq!(word, Word::unknown());
        let mut many = Word::known("a");
        for _ in 0..1000 {
            many.push_gap(Fill::Character);
            many.push('x');
        }
        assert!(many.gaps().len() <= MAX_GAPS + 1, "{}", many.gaps().len());
        assert!(many.misses_value());
    }

    #[test]
    fn a_word_is_split_at_its_blanks() {
        let mut word = Word::known("a/");
        word.push_gap(Fill::Name);
        word.push_str("\0b  ");
        word.push_gap(Fill::Anything);
        let parts: Vec<String> = word.split_blanks().iter().map(Word::to_string).collect();
        assert_eq!(parts, ["a/*", "b", "…"]);
    }

    #[test]
    fn a_word_is_split_with_its_gaps() {
        assert_eq!(home_and_rest().from(1).to_string(), "/…/c");
        assert_eq!(home_and_rest().until(2).to_string(), "a/");
        assert_eq!(home_and_rest().from(3).to_string(), "c");
        let mut joined = Word::known("x=");
        joined.push_word(&home_and_rest());
        assert_eq!(joined.to_string(), "x=a/…/c");
    }
}
