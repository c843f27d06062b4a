//! Detectors, patterns and words that a caller chose, searched for together.

mod build;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use aho_corasick::AhoCorasick;
use regex::Regex;

use crate::find::Machine;
use crate::flow::Flow;
use crate::replace::{Replace, replace};
pub use build::{Builder, Unusable};

/// What a caller wants to find. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Set(pub(crate) Arc<Inner>);

#[derive(Debug)]
pub(crate) struct Inner {
    /// The known detectors that somebody asked for.
    pub(crate) machine: Machine,
    /// For each of them, what it is called in hits and who asked.
    pub(crate) asked: Vec<(Arc<str>, Vec<usize>)>,
    pub(crate) patterns: Vec<Pattern>,
    pub(crate) words: Option<Words>,
    /// What becomes of the hits of each source; nothing said is [`Replace::Typed`].
    pub(crate) replaces: Vec<Replace>,
}

/// A pattern of the caller's.
#[derive(Debug)]
pub(crate) struct Pattern {
    pub(crate) source: usize,
    pub(crate) kind: Arc<str>,
    pub(crate) regex: Regex,
}

/// All words of the caller's, in one automaton.
#[derive(Debug)]
pub(crate) struct Words {
    pub(crate) automaton: AhoCorasick,
    /// For each word of it.
    pub(crate) of: Vec<(usize, Arc<str>)>,
}

/// Something that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// Who asked for it, in the caller's numbering.
    pub source: usize,
    /// What it is: the detector's name, or what the caller calls the pattern or the words.
    pub kind: Arc<str>,
    /// Where it stands, in bytes.
    pub span: Range<usize>,
}

impl Set {
    /// Nothing yet.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// Everything in `text` that was asked for, by where it begins. Hits of one detector, pattern
    /// or list of words never overlap, those of two may.
    pub fn find(&self, text: &str) -> Vec<Hit> {
        self.0.find(text, 0)
    }

    /// Whether there is anything of it in `text`.
    pub fn matches(&self, text: &str) -> bool {
        !self.find(text).is_empty()
    }

    /// The text with every hit replaced as its source wants it. Hits that overlap are replaced as
    /// one, as the first of them wants it.
    pub fn clean<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let hits = self.find(text);
        if hits.is_empty() {
            return Cow::Borrowed(text);
        }
        Cow::Owned(self.replace(text, &hits))
    }

    /// The same for hits that [`Set::find`] has found in this very text.
    pub fn replace(&self, text: &str, hits: &[Hit]) -> String {
        let mut out = String::with_capacity(text.len());
        replace(text, 0..text.len(), hits, &self.0, &mut out);
        out
    }

    /// The same for a text that comes in pieces.
    pub fn flow(&self) -> Flow {
        Flow::new(Arc::clone(&self.0))
    }
}

impl Inner {
    pub(crate) fn replace_of(&self, source: usize) -> Replace {
        self.replaces.get(source).copied().unwrap_or_default()
    }

    /// Everything from the byte `from` on. What stands before is only looked at.
    pub(crate) fn find(&self, text: &str, from: usize) -> Vec<Hit> {
        let mut hits = Vec::new();
        self.machine.each(text, from, &mut |tried| {
            if let (Some(span), Some((kind, sources))) = (tried.span, self.asked.get(tried.rank)) {
                hits.extend(sources.iter().map(|source| Hit {
                    source: *source,
                    kind: Arc::clone(kind),
                    span: span.clone(),
                }));
            }
        });
        for pattern in &self.patterns {
            pattern.each(text, from, &mut |span| hits.push(pattern.hit(span)));
        }
        if let Some(words) = &self.words {
            words.each(text, from, &mut |hit| hits.push(hit));
        }
        // Stable: of two at the same place the detector comes first, then as they were given.
        hits.sort_by_key(|hit| hit.span.start);
        hits
    }
}

impl Pattern {
    pub(crate) fn hit(&self, span: Range<usize>) -> Hit {
        Hit { source: self.source, kind: Arc::clone(&self.kind), span }
    }

    /// A match of nothing is none.
    pub(crate) fn each(&self, text: &str, from: usize, report: &mut dyn FnMut(Range<usize>)) {
        let mut at = from;
        while let Some(found) = self.regex.find_at(text, at) {
            if found.is_empty() {
                at = text.ceil_char_boundary(found.end() + 1);
            } else {
                report(found.range());
                at = found.end();
            }
            if at > text.len() || found.end() == text.len() {
                break;
            }
        }
    }
}

impl Words {
    pub(crate) fn each(&self, text: &str, from: usize, report: &mut dyn FnMut(Hit)) {
        let input = aho_corasick::Input::new(text).span(from..text.len());
        let mut ends: Vec<(usize, usize)> = Vec::new();
        for found in self.automaton.find_overlapping_iter(input) {
            let Some((source, kind)) = self.of.get(found.pattern().as_usize()) else { continue };
            let span = found.range();
            let again = ends.iter().any(|(of, end)| of == source && *end > span.start);
            if is_whole_word(text, &span) && !again {
                ends.retain(|(of, _)| of != source);
                ends.push((*source, span.end));
                report(Hit { source: *source, kind: Arc::clone(kind), span });
            }
        }
    }
}

/// Whether no letter or digit stands beside it, unless it ends with something else itself.
fn is_whole_word(text: &str, span: &Range<usize>) -> bool {
    let (before, rest) = text.split_at_checked(span.start).unwrap_or(("", text));
    let (word, behind) = rest.split_at_checked(span.len()).unwrap_or((rest, ""));
    let joins = |a: Option<char>, b: Option<char>| {
        a.is_some_and(char::is_alphanumeric) && b.is_some_and(char::is_alphanumeric)
    };
    !joins(before.chars().next_back(), word.chars().next())
        && !joins(word.chars().next_back(), behind.chars().next())
}

#[cfg(test)]
mod tests;
