//! Finds secrets: from keywords to findings.

use std::ops::Range;
use std::sync::OnceLock;

use aho_corasick::Anchored;
use aho_corasick::automaton::Automaton;
use aho_corasick::dfa::DFA;
use regex::bytes::{Regex, RegexBuilder};

use crate::detector::{Detector, DetectorGroup, DetectorMatch, Edge, Openness};
use crate::detectors::{self, format};
use crate::sieve::Sieve;
use crate::word::Heads;

/// A secret in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DetectedSecret {
    /// The kind of secret, as one word, which also appears in the replacement.
    pub detector: &'static str,
    /// The bytes of the secret.
    pub span: Range<usize>,
}

/// The secrets in a text, in order, without overlaps.
///
/// If the secrets of two detectors overlap, the finding covers both and has the name of the more
/// specific one.
pub fn secrets(text: &str) -> Vec<DetectedSecret> {
    let machine = machine();
    let mut found = Vec::new();
    let mut report = |tried: Attempt| found.extend(tried.span.map(|span| (tried.rank, span)));
    machine.each(text, 0, &mut Blocks::default(), &mut report);
    merge(found, machine)
}

/// A place that a detector has checked.
pub(crate) struct Attempt {
    /// The index of the detector in its machine.
    pub(crate) rank: usize,
    /// Everything that its patterns matched, including the part before the secret.
    pub(crate) whole: Range<usize>,
    /// The secret; `None` if the check refused it and nothing inside of it is tried again.
    pub(crate) span: Option<Range<usize>>,
    /// Whether more text could change it.
    pub(crate) open: Openness,
}

/// Secrets so long that nothing inside of them is searched: armoured keys, and runs longer than the
/// window of a pattern. So a text in pieces need not keep them.
#[derive(Debug, Default)]
pub(crate) struct Blocks(Vec<Range<usize>>);

impl Blocks {
    fn add(&mut self, span: &Range<usize>) {
        self.0.push(span.clone());
    }

    /// Whether a match at `start` would begin inside of one. They are in the order of the text.
    pub(crate) fn hide(&self, start: usize) -> bool {
        self.around(start).is_some()
    }

    /// The block that contains `start`.
    fn around(&self, start: usize) -> Option<&Range<usize>> {
        let next = self.0.partition_point(|block| block.start < start);
        let before = next.checked_sub(1).and_then(|at| self.0.get(at));
        before.filter(|block| start < block.end)
    }
}

/// Joins overlapping findings. The detectors are ordered from specific to general.
fn merge(mut found: Vec<(usize, Range<usize>)>, machine: &Machine) -> Vec<DetectedSecret> {
    found.sort_by_key(|(rank, span)| (span.start, *rank));
    let mut joined: Vec<(usize, Range<usize>)> = Vec::with_capacity(found.len());
    for (rank, span) in found {
        match joined.last_mut() {
            Some((named, last)) if span.start < last.end => {
                *named = rank.min(*named);
                last.end = span.end.max(last.end);
            }
            _ => joined.push((rank, span)),
        }
    }
    joined
        .into_iter()
        .filter_map(|(rank, span)| {
            let detector = machine.detectors.get(rank)?.detector.name;
            Some(DetectedSecret { detector, span })
        })
        .collect()
}

/// Extends a span to whole characters: a pattern matches bytes.
fn whole_chars(text: &str, span: Range<usize>) -> Range<usize> {
    text.floor_char_boundary(span.start)..text.ceil_char_boundary(span.end)
}

/// How far after its keyword a pattern is tried. Longer than every key with a known length; a
/// secret that reaches the end of it continues to the end of its run (see [`end_of_run`]). This
/// makes the time linear: refused matches may overlap, but none is longer than this.
pub(crate) const WINDOW: usize = 512;

/// A detector and its patterns, which are compiled on first use.
#[derive(Debug)]
pub(crate) struct CompiledDetector {
    pub(crate) detector: &'static Detector,
    lead: OnceLock<Regex>,
    pattern: OnceLock<Regex>,
}

impl CompiledDetector {
    fn new(detector: &'static Detector) -> Self {
        Self { detector, lead: OnceLock::new(), pattern: OnceLock::new() }
    }

    /// Tries the patterns on the text from `start`, where a keyword is.
    fn candidate<'t>(&self, text: &'t str, start: usize) -> Option<DetectorMatch<'t>> {
        // Most keywords in ordinary text are rejected here, before a pattern is tried.
        if !self.detector.edge.allows(text, &(start..text.len())) {
            return None;
        }
        let limit = text.len().min(start + WINDOW);
        let window = text.as_bytes().get(start..limit)?;
        let lead = match self.detector.lead.is_empty() {
            true => 0,
            false => self.lead().find(window)?.end(),
        };
        let length = self.pattern().find(window.get(lead..)?)?.end();
        let secret = start + lead..start + lead + length;
        let whole = start..secret.end;
        let truncated = whole.end == limit && limit < text.len();
        let allowed = truncated || self.detector.edge.allows(text, &whole);
        allowed.then_some(DetectorMatch { text, whole, secret, truncated })
    }

    /// A pattern for a match from its first byte on.
    pub(crate) fn form(&self) -> String {
        let Detector { lead, pattern, form, keywords, .. } = self.detector;
        match form {
            None => format!("(?:{lead})(?:{pattern})"),
            Some(form) => form.replace("KEYWORD", &format!("(?:{})", keywords.join("|"))),
        }
    }

    fn lead(&self) -> &Regex {
        self.lead.get_or_init(|| compile(self.detector.lead))
    }

    fn pattern(&self) -> &Regex {
        self.pattern.get_or_init(|| compile(self.detector.pattern))
    }
}

#[expect(clippy::expect_used, reason = "the patterns are fixed, and a test compiles each")]
fn compile(pattern: &str) -> Regex {
    RegexBuilder::new(&format!("^(?:{pattern})"))
        .unicode(false)
        .build()
        .expect("a pattern of the list compiles")
}

/// Where the run that contains `from` ends: before a space, a quote or a backslash.
pub(crate) fn end_of_run(text: &str, from: usize) -> usize {
    let ends = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'\\');
    let rest = text.as_bytes().get(from..).unwrap_or(&[]);
    from + rest.iter().position(ends).unwrap_or(rest.len())
}

/// Some detectors, ready to search.
#[derive(Debug)]
pub(crate) struct Machine {
    /// `None` if no detector has keywords.
    keywords: Option<Keywords>,
    /// For each keyword of the automaton, its detectors.
    of_keyword: Vec<Vec<usize>>,
    /// Detectors that are tried where a word begins, by how it begins.
    heads: Heads,
    detectors: Vec<&'static CompiledDetector>,
}

/// All keywords, to be searched for together.
#[derive(Debug)]
struct Keywords {
    /// Finds the places where there may be one.
    sieve: Sieve,
    automaton: DFA,
}

fn machine() -> &'static Machine {
    static MACHINE: OnceLock<Machine> = OnceLock::new();
    MACHINE.get_or_init(|| Machine::new(&|detector| detector.group == DetectorGroup::Secret))
}

/// Every detector, with its patterns, once for the whole process.
fn loaded() -> &'static [CompiledDetector] {
    static LOADED: OnceLock<Vec<CompiledDetector>> = OnceLock::new();
    LOADED.get_or_init(|| detectors::all().map(CompiledDetector::new).collect())
}

impl Machine {
    /// The selected detectors, in the order of the list.
    #[expect(clippy::expect_used, reason = "the keywords are fixed, and every test builds them")]
    pub(crate) fn new(wanted: &dyn Fn(&Detector) -> bool) -> Self {
        let detectors: Vec<&'static CompiledDetector> =
            loaded().iter().filter(|loaded| wanted(loaded.detector)).collect();
        let (words, of_keyword) = keywords(&detectors);
        // Keywords may overlap (`secret` and `secret_token`), so every one is reported. There are
        // some thousand states: small enough for an automaton that takes one step per byte.
        let keywords = (!words.is_empty()).then(|| {
            let automaton = DFA::builder()
                .ascii_case_insensitive(true)
                .prefilter(false)
                .build(&words)
                .expect("the keywords of the list make an automaton");
            Keywords { sieve: Sieve::new(&words), automaton }
        });
        let ranked = (0..).zip(&detectors);
        let heads = ranked
            .flat_map(|(rank, loaded)| loaded.detector.heads.iter().map(move |head| (rank, *head)));
        let heads = Heads::new(heads);
        Self { keywords, of_keyword, heads, detectors }
    }

    pub(crate) fn detectors(&self) -> &[&'static CompiledDetector] {
        &self.detectors
    }

    pub(crate) fn is_armour(&self, rank: usize) -> bool {
        self.detectors.get(rank).is_some_and(|it| it.detector.keywords == format::ARMOUR)
    }

    /// Tries every detector wherever it may match in `text` from the byte `from` on; the text
    /// before is only context.
    pub(crate) fn each(
        &self,
        text: &str,
        from: usize,
        blocks: &mut Blocks,
        report: &mut dyn FnMut(Attempt),
    ) {
        let mut search = Search { machine: self, text, from, done: Vec::new(), blocks, report };
        search.keywords();
        if !self.heads.is_empty() {
            search.words();
        }
    }
}

/// One search through one text.
struct Search<'s> {
    machine: &'s Machine,
    text: &'s str,
    from: usize,
    /// Where the last match of a detector ended: keywords inside of it are not tried again. Most
    /// texts are short and have no match, so only detectors with one have an entry.
    done: Vec<(usize, usize)>,
    blocks: &'s mut Blocks,
    report: &'s mut dyn FnMut(Attempt),
}

impl Search<'_> {
    fn keywords(&mut self) {
        let Some(Keywords { sieve, automaton }) = &self.machine.keywords else { return };
        sieve.each(self.text.as_bytes(), self.from, |range| self.keywords_in(automaton, range));
    }

    fn keywords_in(&mut self, automaton: &DFA, range: Range<usize>) {
        let Ok(mut state) = automaton.start_state(Anchored::No) else { return };
        let bytes = self.text.as_bytes().get(range.clone()).unwrap_or(&[]);
        for (end, byte) in (range.start + 1..).zip(bytes) {
            state = automaton.next_state(Anchored::No, state, *byte);
            if automaton.is_special(state) && automaton.is_match(state) {
                for index in 0..automaton.match_len(state) {
                    let keyword = automaton.match_pattern(state, index);
                    let start = end - automaton.pattern_len(keyword);
                    let ranks = self.machine.of_keyword.get(keyword.as_usize());
                    for &rank in ranks.into_iter().flatten() {
                        self.attempt(start, rank);
                    }
                }
            }
        }
    }

    fn words(&mut self) {
        let bytes = self.text.as_bytes();
        let heads = &self.machine.heads;
        heads.each(bytes, self.from, |start, found| {
            heads.owners(found).for_each(|rank| self.attempt(start, rank));
        });
    }

    /// Where the last match of a detector ended.
    fn done(&self, rank: usize) -> usize {
        self.done.iter().find(|(of, _)| *of == rank).map_or(0, |(_, end)| *end)
    }

    fn set_done(&mut self, rank: usize, end: usize) {
        match self.done.iter_mut().find(|(of, _)| *of == rank) {
            Some((_, done)) => *done = end,
            None => self.done.push((rank, end)),
        }
    }

    /// Tries one detector at one place.
    fn attempt(&mut self, start: usize, rank: usize) {
        if self.blocks.hide(start) {
            return;
        }
        if self.done(rank) > start {
            return;
        }
        let Some(loaded) = self.machine.detectors.get(rank) else { return };
        let Some(candidate) = loaded.candidate(self.text, start) else { return };
        let open = loaded.detector.open.map_or(Openness::Settled, |open| open(&candidate));
        match (loaded.detector.check)(&candidate) {
            Some(span) => self.found(rank, &candidate, span, open),
            // No part of a refused token is a token, but a refused name may be followed by another
            // name: `token: password=...`.
            None if loaded.detector.edge != Edge::Free || open == Openness::Waiting => {
                self.set_done(rank, candidate.whole.end);
                (self.report)(Attempt { rank, whole: candidate.whole, span: None, open });
            }
            None => {}
        }
    }

    fn found(
        &mut self,
        rank: usize,
        candidate: &DetectorMatch<'_>,
        mut span: Range<usize>,
        mut open: Openness,
    ) {
        let long = candidate.truncated && span.end == candidate.whole.end;
        if long {
            span.end = end_of_run(self.text, span.end);
            open = if span.end == self.text.len() { Openness::Inside } else { Openness::Settled };
        }
        // A match that begins before its keyword may overlap an earlier one.
        let begin = self.blocks.around(span.start).map_or(span.start, |block| block.end);
        let span = whole_chars(self.text, begin.max(self.from)..span.end);
        if long || self.machine.is_armour(rank) {
            self.blocks.add(&span);
        }
        let end = span.end.max(candidate.whole.end);
        self.set_done(rank, end);
        let whole = span.start.min(candidate.whole.start)..end;
        (self.report)(Attempt { rank, whole, span: Some(span), open });
    }
}

/// The keywords of all detectors, without duplicates, with their detectors.
fn keywords(detectors: &[&'static CompiledDetector]) -> (Vec<&'static str>, Vec<Vec<usize>>) {
    let mut words: Vec<&str> = Vec::new();
    let mut of_keyword: Vec<Vec<usize>> = Vec::new();
    for (rank, loaded) in detectors.iter().enumerate() {
        for keyword in loaded.detector.keywords {
            match words.iter().position(|word| word == keyword) {
                Some(at) => of_keyword.get_mut(at).into_iter().for_each(|of| of.push(rank)),
                None => {
                    words.push(keyword);
                    of_keyword.push(vec![rank]);
                }
            }
        }
    }
    (words, of_keyword)
}

#[cfg(test)]
mod tests;
