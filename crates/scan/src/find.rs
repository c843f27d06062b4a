//! From keywords to findings.

use std::ops::Range;
use std::sync::OnceLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use regex::bytes::{Regex, RegexBuilder};

use crate::detector::{Candidate, Detector, Edge};
use crate::detectors;

/// A secret in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What kind of secret it is, as one word: it stands in the text that replaces the secret.
    pub detector: &'static str,
    /// The bytes of the secret.
    pub span: Range<usize>,
}

/// The secrets in a text, in order, not overlapping.
///
/// Where two detectors see overlapping secrets, the finding covers both and has the name of the
/// more special one.
pub fn secrets(text: &str) -> Vec<Finding> {
    let machine = machine();
    let mut found = Vec::new();
    // For each detector, where its last match ended: keywords inside of it are not tried again.
    // Most texts are short and have no keyword, so it is made when there is one.
    let mut done: Vec<usize> = Vec::new();
    for hit in machine.keywords.find_overlapping_iter(text) {
        let Some(ranks) = machine.of_keyword.get(hit.pattern().as_usize()) else { continue };
        done.resize(machine.detectors.len(), 0);
        for &rank in ranks {
            let Some(done) = done.get_mut(rank).filter(|done| **done <= hit.start()) else {
                continue;
            };
            let Some(loaded) = machine.detectors.get(rank) else { continue };
            let Some(candidate) = loaded.candidate(text, hit.start()) else { continue };
            match (loaded.detector.check)(&candidate) {
                Some(mut span) => {
                    if candidate.cut && span.end == candidate.whole.end {
                        span.end = end_of_run(text, span.end);
                    }
                    let span = whole_chars(text, span);
                    *done = span.end.max(candidate.whole.end);
                    found.push((rank, span));
                }
                // No part of a refused token is a token, but what follows a refused name may
                // hold another name: `token: password=...`.
                None if loaded.detector.edge != Edge::Free => *done = candidate.whole.end,
                None => {}
            }
        }
    }
    merge(found, machine)
}

/// Joins what overlaps. The detectors are ordered from special to general.
fn merge(mut found: Vec<(usize, Range<usize>)>, machine: &Machine) -> Vec<Finding> {
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
            Some(Finding { detector, span })
        })
        .collect()
}

/// A pattern sees bytes; a finding must not cut a character.
fn whole_chars(text: &str, span: Range<usize>) -> Range<usize> {
    text.floor_char_boundary(span.start)..text.ceil_char_boundary(span.end)
}

/// How far behind its keyword a pattern is tried. Longer than every key with a known length; a
/// secret that reaches the end of it goes on to the end of its run (see [`end_of_run`]). This is
/// what makes the time linear: refused matches may overlap, but none is longer than this.
const WINDOW: usize = 512;

/// A detector and its patterns, which are compiled when they are first needed.
struct Loaded {
    detector: &'static Detector,
    lead: OnceLock<Regex>,
    pattern: OnceLock<Regex>,
}

impl Loaded {
    fn new(detector: &'static Detector) -> Self {
        Self { detector, lead: OnceLock::new(), pattern: OnceLock::new() }
    }

    /// What the patterns make of the text from `start`, where a keyword stands.
    fn candidate<'t>(&self, text: &'t str, start: usize) -> Option<Candidate<'t>> {
        // Most keywords in ordinary text fall away here, before a pattern is tried.
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
        let cut = whole.end == limit && limit < text.len();
        let allowed = cut || self.detector.edge.allows(text, &whole);
        allowed.then_some(Candidate { text, whole, secret, cut })
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

/// Where the run that holds `from` ends: before a space, a quote or a backslash.
fn end_of_run(text: &str, from: usize) -> usize {
    let ends = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'\\');
    let rest = text.as_bytes().get(from..).unwrap_or(&[]);
    from + rest.iter().position(ends).unwrap_or(rest.len())
}

/// All detectors, ready to look.
struct Machine {
    keywords: AhoCorasick,
    /// For each keyword of the automaton, the detectors that have it.
    of_keyword: Vec<Vec<usize>>,
    detectors: Vec<Loaded>,
}

fn machine() -> &'static Machine {
    static MACHINE: OnceLock<Machine> = OnceLock::new();
    MACHINE.get_or_init(build)
}

#[expect(clippy::expect_used, reason = "the keywords are fixed, and every test builds them")]
fn build() -> Machine {
    let mut words: Vec<&str> = Vec::new();
    let mut of_keyword: Vec<Vec<usize>> = Vec::new();
    for (rank, detector) in detectors::all().enumerate() {
        for keyword in detector.keywords {
            match words.iter().position(|word| word == keyword) {
                Some(at) => of_keyword.get_mut(at).into_iter().for_each(|of| of.push(rank)),
                None => {
                    words.push(keyword);
                    of_keyword.push(vec![rank]);
                }
            }
        }
    }
    // Keywords may overlap (`secret` and `secret_token`), so every one is reported. Some thousand
    // states: small enough for the form that costs one step for each byte.
    let keywords = AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .kind(Some(AhoCorasickKind::DFA))
        .build(&words)
        .expect("the keywords of the list make an automaton");
    let detectors = detectors::all().map(Loaded::new).collect();
    Machine { keywords, of_keyword, detectors }
}

#[cfg(test)]
mod tests;
