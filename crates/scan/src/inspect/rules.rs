//! The search for phrases. The phrases are data: the files in the folder of this name.
//!
//! One automaton finds the first words of all rules; where one is found, the pattern of its rule is
//! tried at that place, and only for a limited length. So time is linear in the text, whatever the
//! text is.

mod path;

use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use regex::bytes::{Regex, RegexBuilder};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use unicode_normalization::UnicodeNormalization;

use super::class::{FindingClass, Severity};

pub(super) use path::handling;

/// A phrase, and its meaning.
#[derive(Debug)]
pub(super) struct PhraseRule {
    pub(super) class: FindingClass,
    /// The severity in texts that the server itself wrote: definitions, instructions, prompts,
    /// requests.
    pub(super) own_text: Option<Severity>,
    /// The severity in texts that it passes on: results, resources, progress. Their author may be
    /// anyone.
    pub(super) data: Option<Severity>,
    /// A description for the detail.
    pub(super) what: String,
    /// The first words. Each is searched for in folded text.
    pub(super) first: Vec<String>,
    /// The whole phrase, from the first words on. A space matches a few characters that are not
    /// letters or digits: `ignore -- *previous*` is one phrase. If empty, the first words are the
    /// whole phrase.
    pub(super) pattern: String,
}

/// A phrase in a folded text.
#[derive(Debug)]
pub(super) struct PhraseHit {
    pub(super) rule: &'static PhraseRule,
    pub(super) span: Range<usize>,
}

/// How long a phrase may be. The longest rules allow some gaps of 80 bytes.
const WINDOW: usize = 420;

/// What a space in a pattern matches. Bytes, so that punctuation of other scripts matches as well;
/// not brackets and similar characters, because names in code are full of such words.
const GAP: &str = "[^a-z0-9(){};=]{1,12}";
const OPTIONAL_GAP: &str = "[^a-z0-9(){};=]{0,12}";

/// Every file of phrases. Hits in the same place are reported in this order.
const FILES: [&str; 4] = [
    include_str!("rules/directive.toml"),
    include_str!("rules/secrecy.toml"),
    include_str!("rules/exfiltration.toml"),
    include_str!("rules/foreign.toml"),
];

/// A file of phrases.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PhraseFile {
    class: FindingClass,
    /// Lists of first words that several phrases share: `@name` stands for one.
    #[serde(default)]
    words: HashMap<String, Vec<String>>,
    phrase: Vec<Phrase>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Phrase {
    what: String,
    own_text: Option<Severity>,
    data: Option<Severity>,
    first: Vec<String>,
    #[serde(default)]
    pattern: String,
}

/// Reads a data file of this folder.
#[expect(clippy::expect_used, reason = "the files are fixed, and every test of rules reads them")]
fn data<T: DeserializeOwned>(text: &str) -> T {
    toml::from_str(text).expect("a data file has the right form")
}

impl PhraseFile {
    fn rules(self) -> impl Iterator<Item = PhraseRule> {
        let Self { class, words, phrase } = self;
        phrase.into_iter().map(move |phrase| {
            let Phrase { what, own_text, data, first, pattern } = phrase;
            let shared = first.first().and_then(|first| words.get(first.strip_prefix('@')?));
            let first = shared.cloned().unwrap_or(first);
            PhraseRule { class, own_text, data, what, first, pattern }
        })
    }
}

struct PhraseFinder {
    finder: AhoCorasick,
    rules: Vec<PhraseRule>,
    /// For each first word, the place of its rule.
    places: Vec<usize>,
    /// For each rule, its pattern.
    patterns: Vec<Option<Regex>>,
}

static MACHINE: LazyLock<PhraseFinder> = LazyLock::new(PhraseFinder::new);

impl PhraseFinder {
    #[expect(clippy::expect_used, reason = "the phrases are fixed, and a test builds them")]
    fn new() -> Self {
        let files = FILES.into_iter().map(data::<PhraseFile>);
        let rules: Vec<PhraseRule> = files.flat_map(PhraseFile::rules).collect();
        let compiled =
            |rule: &PhraseRule| (!rule.pattern.is_empty()).then(|| compile(&rule.pattern));
        let patterns = rules.iter().map(compiled).collect();
        let (mut words, mut places) = (Vec::new(), Vec::new());
        for (place, rule) in rules.iter().enumerate() {
            words.extend(rule.first.iter().map(|first| folded(first)));
            places.resize(words.len(), place);
        }
        let finder = AhoCorasick::builder()
            .kind(Some(AhoCorasickKind::DFA))
            .build(&words)
            .expect("the first words make an automaton");
        Self { finder, rules, places, patterns }
    }
}

/// Folds a phrase, in the same way as texts are folded.
fn folded(phrase: &str) -> String {
    phrase.nfkd().filter(|c| !matches!(c, '\u{300}'..='\u{36F}')).collect()
}

#[expect(clippy::expect_used, reason = "the patterns are fixed, and a test compiles each")]
fn compile(pattern: &str) -> Regex {
    RegexBuilder::new(&format!("^(?:{})", gapped(&folded(pattern))))
        .unicode(false)
        .dot_matches_new_line(true)
        .build()
        .expect("a pattern of the list compiles")
}

/// The pattern with its spaces replaced, except inside a character class.
fn gapped(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len() * 3);
    let mut signs = pattern.chars().peekable();
    let mut in_class = false;
    while let Some(sign) = signs.next() {
        match sign {
            '\\' => {
                out.push(sign);
                out.extend(signs.next());
                continue;
            }
            '[' => in_class = true,
            ']' => in_class = false,
            ' ' if !in_class => {
                let optional = signs.next_if_eq(&'?').is_some();
                out.push_str(if optional { OPTIONAL_GAP } else { GAP });
                continue;
            }
            _ => {}
        }
        out.push(sign);
    }
    out
}

/// Every phrase in a folded text.
pub(super) fn each(folded: &str, report: &mut dyn FnMut(PhraseHit)) {
    let machine = &*MACHINE;
    let bytes = folded.as_bytes();
    // For each rule, where its last match ended: nothing inside of it is tried again.
    let mut done = vec![0; machine.patterns.len()];
    for hit in machine.finder.find_overlapping_iter(folded) {
        let Some(&place) = machine.places.get(hit.pattern().as_usize()) else { continue };
        let Some(rule) = machine.rules.get(place) else { continue };
        let Some(done) = done.get_mut(place).filter(|done| **done <= hit.start()) else { continue };
        if !begins_word(bytes, hit.start()) {
            continue;
        }
        let length = match machine.patterns.get(place).and_then(Option::as_ref) {
            None => Some(hit.end() - hit.start()),
            Some(pattern) => {
                let limit = bytes.len().min(hit.start() + WINDOW);
                let window = bytes.get(hit.start()..limit).unwrap_or(&[]);
                pattern.find(window).map(|found| found.end())
            }
        };
        if let Some(length) = length {
            *done = hit.start() + length;
            report(PhraseHit { rule, span: hit.start()..hit.start() + length });
        }
    }
}

/// Whether there is no Latin letter or digit before it.
fn begins_word(bytes: &[u8], at: usize) -> bool {
    let first = bytes.get(at).is_some_and(u8::is_ascii_alphanumeric);
    let before = at.checked_sub(1).and_then(|at| bytes.get(at));
    !(first && before.is_some_and(u8::is_ascii_alphanumeric))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_well_formed() {
        for rule in &MACHINE.rules {
            assert!(rule.own_text.is_some() || rule.data.is_some(), "{}", rule.what);
            assert!(!rule.first.is_empty(), "{}", rule.what);
            let pattern = (!rule.pattern.is_empty()).then(|| compile(&rule.pattern));
            for first in &rule.first {
                assert!(first.len() >= 2, "{first} is everywhere");
                assert_eq!(*first, first.to_lowercase());
                assert!(!first.starts_with('@'), "{first} is not in `words`");
                // Each first word can begin its pattern: a match of it needs some text after it.
                let known = pattern.as_ref().is_none_or(|pattern| {
                    !pattern.is_match(b"") && pattern.as_str().len() > first.len()
                });
                assert!(known, "{first}");
            }
        }
    }

    #[test]
    fn time_does_not_depend_on_the_text() {
        // Each phrase begins everywhere and ends nowhere.
        let text = "ignore all of the previous send the read do not ".repeat(4000);
        let mut hits = 0;
        each(&text, &mut |_| hits += 1);
        assert!(hits < 16_001);
    }
}
