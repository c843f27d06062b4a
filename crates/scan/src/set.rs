//! Detectors, patterns and words that a caller selected, searched for together.

mod build;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use aho_corasick::AhoCorasick;
use regex::Regex;

use crate::detector::{Edge, Openness};
use crate::find::{Attempt, Blocks, Machine};
use crate::flow::Flow;
use crate::partial::PartialMatches;
use crate::replace::{Replace, replace};
pub use build::{SetBuilder, Unusable};

/// What a caller wants to find. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Set(pub(crate) Arc<CompiledSet>);

#[derive(Debug)]
pub(crate) struct CompiledSet {
    /// The selected detectors.
    pub(crate) machine: Machine,
    /// For each of them, its name in hits and the sources that selected it.
    pub(crate) selected: Vec<(Arc<str>, Vec<usize>)>,
    pub(crate) patterns: Vec<CallerPattern>,
    pub(crate) words: Option<Words>,
    /// The replacement for the hits of each source; the default is [`Replace::Typed`].
    pub(crate) replaces: Vec<Replace>,
    /// The beginnings of all of them, in the order of `begin`. Built when the first text in pieces
    /// comes: whole texts do not need it.
    pub(crate) partial: OnceLock<Option<PartialMatches>>,
    pub(crate) begin: Vec<Begin>,
}

/// What may begin, and where it may not.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Begin {
    Detector { rank: usize, edge: Edge },
    Pattern(usize),
    Word(usize),
}

/// A caller's pattern.
#[derive(Debug)]
pub(crate) struct CallerPattern {
    pub(crate) source: usize,
    pub(crate) kind: Arc<str>,
    pub(crate) regex: Regex,
}

/// The result of a search.
#[derive(Debug, Default)]
pub(crate) struct SearchResult {
    /// Sorted by where they begin.
    pub(crate) hits: Vec<Hit>,
    /// Places that were checked as a whole: a text in pieces must not be split there.
    pub(crate) whole: Vec<Range<usize>>,
    pub(crate) blocks: Blocks,
    /// The first place that is not decided yet.
    pub(crate) waiting: Option<WaitingPlace>,
    /// The text ends inside of this one.
    pub(crate) inside: Option<OpenSecret>,
}

/// A place that more text will decide.
#[derive(Debug, Clone)]
pub(crate) struct WaitingPlace {
    pub(crate) start: usize,
    /// The index of the detector in its machine.
    pub(crate) rank: usize,
}

/// A secret that continues after the end of the text.
#[derive(Debug, Clone)]
pub(crate) struct OpenSecret {
    pub(crate) start: usize,
    /// It is an armoured key, and not a long run.
    pub(crate) armour: bool,
}

/// All of the caller's words, in one automaton.
#[derive(Debug)]
pub(crate) struct Words {
    pub(crate) automaton: AhoCorasick,
    /// For each word, its source and kind.
    pub(crate) of: Vec<(usize, Arc<str>)>,
    pub(crate) texts: Vec<String>,
}

/// Something that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// The source that selected it, in the caller's numbering.
    pub source: usize,
    /// Its kind: the detector's name, or the caller's name for the pattern or the words.
    pub kind: Arc<str>,
    /// Its span in bytes.
    pub span: Range<usize>,
    /// From specific to general: the lowest names all overlapping hits.
    pub(crate) rank: usize,
}

/// After every detector.
const PATTERN: usize = usize::MAX - 1;
const WORD: usize = usize::MAX;

impl Set {
    /// An empty builder.
    pub fn builder() -> SetBuilder {
        SetBuilder::default()
    }

    /// All hits in `text`, sorted by where they begin. Hits of one detector, pattern or list of
    /// words never overlap, those of two may.
    pub fn find(&self, text: &str) -> Vec<Hit> {
        self.0.search(text, 0).hits
    }

    /// Whether there is a hit in `text`.
    pub fn matches(&self, text: &str) -> bool {
        !self.find(text).is_empty()
    }

    /// The text with every hit replaced as its source specifies. Overlapping hits are replaced as
    /// one, with the name of the most specific of them: detectors come before patterns and words.
    pub fn clean<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let hits = self.find(text);
        if hits.is_empty() {
            return Cow::Borrowed(text);
        }
        Cow::Owned(self.replace(text, &hits))
    }

    /// The same for hits that [`Set::find`] has found in exactly this text.
    pub fn replace(&self, text: &str, hits: &[Hit]) -> String {
        let mut out = String::with_capacity(text.len());
        replace(text, hits, &self.0, &mut out);
        out
    }

    /// Prepares for texts in pieces, which otherwise happens when the first one comes; an error
    /// means that the patterns are too large for it. Without it everything would be held back.
    pub fn prepare(&self) -> Result<(), Unusable> {
        self.0.partial().map(|_| ()).ok_or(Unusable::TooLarge)
    }

    /// The same for a text that comes in pieces.
    pub fn flow(&self) -> Flow {
        Flow::new(Arc::clone(&self.0))
    }
}

impl CompiledSet {
    pub(crate) fn replace_of(&self, source: usize) -> Replace {
        self.replaces.get(source).copied().unwrap_or_default()
    }

    /// All hits from the byte `from` on. The text before is only context.
    pub(crate) fn search(&self, text: &str, from: usize) -> SearchResult {
        let mut seen = SearchResult::default();
        let mut blocks = Blocks::default();
        self.machine.each(text, from, &mut blocks, &mut |tried| self.note(tried, &mut seen));
        for pattern in &self.patterns {
            pattern.each(text, from, &blocks, &mut |span| seen.hits.push(pattern.hit(span)));
        }
        if let Some(words) = &self.words {
            words.each(text, from, &blocks, &mut |hit| seen.hits.push(hit));
        }
        // A stable sort: of two at the same place the detector comes first, then in the given
        // order.
        seen.hits.sort_by_key(|hit| hit.span.start);
        seen.blocks = blocks;
        seen
    }

    /// The source and the kind of a text that was held back for too long.
    pub(crate) fn name_of(&self, begin: Option<Begin>, seen: &SearchResult) -> (usize, Arc<str>) {
        let rank = match begin {
            Some(Begin::Detector { rank, .. }) => Some(rank),
            _ => seen.waiting.as_ref().map(|waiting| waiting.rank),
        };
        let detector = rank.and_then(|rank| {
            let (kind, sources) = self.selected.get(rank)?;
            Some((*sources.first()?, Arc::clone(kind)))
        });
        let of_begin = match begin {
            Some(Begin::Pattern(at)) => {
                self.patterns.get(at).map(|it| (it.source, Arc::clone(&it.kind)))
            }
            Some(Begin::Word(at)) => self.words.as_ref().and_then(|it| it.of.get(at)).cloned(),
            _ => None,
        };
        let hit = seen.hits.first().map(|hit| (hit.source, Arc::clone(&hit.kind)));
        let first = || {
            let pattern = self.patterns.first().map(|it| (it.source, Arc::clone(&it.kind)));
            pattern.unwrap_or_else(|| (0, Arc::from("undecided")))
        };
        of_begin.or(detector).or(hit).unwrap_or_else(first)
    }

    fn note(&self, tried: Attempt, seen: &mut SearchResult) {
        let Attempt { rank, whole, span, open } = tried;
        let start = whole.start;
        match open {
            Openness::Settled => {}
            Openness::Waiting if seen.waiting.as_ref().is_some_and(|it| it.start <= start) => {}
            Openness::Waiting => seen.waiting = Some(WaitingPlace { start, rank }),
            Openness::Inside => {
                seen.inside = Some(OpenSecret { start, armour: self.machine.is_armour(rank) })
            }
        }
        seen.whole.push(whole);
        if let (Some(span), Some((kind, sources))) = (span, self.selected.get(rank)) {
            let hit = |source: &usize| Hit {
                source: *source,
                kind: Arc::clone(kind),
                span: span.clone(),
                rank,
            };
            seen.hits.extend(sources.iter().map(hit));
        }
    }
}

impl CallerPattern {
    pub(crate) fn hit(&self, span: Range<usize>) -> Hit {
        Hit { source: self.source, kind: Arc::clone(&self.kind), span, rank: PATTERN }
    }

    /// Reports the matches. An empty match does not count.
    fn each(&self, text: &str, from: usize, blocks: &Blocks, report: &mut dyn FnMut(Range<usize>)) {
        let mut at = from;
        while at <= text.len() {
            let Some(found) = self.regex.find_at(text, at) else { break };
            if found.is_empty() || blocks.hide(found.start()) {
                at = text.ceil_char_boundary(found.start() + 1).max(found.start() + 1);
            } else {
                report(found.range());
                at = found.end();
            }
        }
    }
}

impl Words {
    fn each(&self, text: &str, from: usize, blocks: &Blocks, report: &mut dyn FnMut(Hit)) {
        let input = aho_corasick::Input::new(text).span(from..text.len());
        let mut ends: Vec<(usize, usize)> = Vec::new();
        for found in self.automaton.find_overlapping_iter(input) {
            let Some((source, kind)) = self.of.get(found.pattern().as_usize()) else { continue };
            let span = found.range();
            let again = ends.iter().any(|(of, end)| of == source && *end > span.start);
            if is_whole_word(text, &span) && !again && !blocks.hide(span.start) {
                ends.retain(|(of, _)| of != source);
                ends.push((*source, span.end));
                report(Hit { source: *source, kind: Arc::clone(kind), span, rank: WORD });
            }
        }
    }
}

/// Whether no letter or digit is next to it, unless it ends with something else itself.
pub(crate) fn is_whole_word(text: &str, span: &Range<usize>) -> bool {
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
