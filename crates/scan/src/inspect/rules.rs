//! The phrases that are looked for, as data, and the machine that looks.
//!
//! One automaton finds the first words of all rules; where one stands, the pattern of its rule is
//! tried at that place, and only so far. So time is linear in the text, whatever the text is.

mod directive;
mod exfiltration;
mod foreign;
mod path;
mod secrecy;

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use regex::bytes::{Regex, RegexBuilder};
use unicode_normalization::UnicodeNormalization;

use super::class::{Class, Severity};

pub(super) use path::handling;

/// A phrase, and what it means to find it.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) class: Class,
    /// In what a server says itself: definitions, instructions, prompts, requests.
    pub(super) told: Option<Severity>,
    /// In what it hands on: results, resources, progress. There anybody may speak.
    pub(super) data: Option<Severity>,
    /// What it is, for the detail.
    pub(super) what: &'static str,
    /// How it begins. Each is looked for in folded text.
    pub(super) first: &'static [&'static str],
    /// All of it, from there. A space stands for whatever is not a letter or a digit, up to some
    /// characters of it: `ignore -- *previous*` is one phrase. Empty: the first words are all.
    pub(super) pattern: &'static str,
}

/// A phrase in a folded text.
#[derive(Debug)]
pub(super) struct Hit {
    pub(super) rule: &'static Rule,
    pub(super) span: Range<usize>,
}

/// How far a phrase reaches. The longest rules allow some gaps of 80 bytes.
const WINDOW: usize = 420;

/// What a space in a pattern stands for. Bytes, so that other scripts' punctuation fits as well;
/// brackets and the like are left to code, whose names are full of such words.
const GAP: &str = "[^a-z0-9(){};=]{1,12}";
const OPTIONAL_GAP: &str = "[^a-z0-9(){};=]{0,12}";

struct Machine {
    finder: AhoCorasick,
    /// For each first word, its rule.
    rules: Vec<(&'static Rule, usize)>,
    patterns: Vec<Option<Regex>>,
}

static MACHINE: LazyLock<Machine> = LazyLock::new(Machine::new);

fn all() -> impl Iterator<Item = &'static Rule> {
    [directive::RULES, secrecy::RULES, exfiltration::RULES, foreign::RULES].into_iter().flatten()
}

impl Machine {
    #[expect(clippy::expect_used, reason = "the phrases are fixed, and a test builds them")]
    fn new() -> Self {
        let mut words: Vec<String> = Vec::new();
        let mut rules = Vec::new();
        let mut patterns = Vec::new();
        for (place, rule) in all().enumerate() {
            for first in rule.first {
                words.push(folded(first));
                rules.push((rule, place));
            }
            patterns.push((!rule.pattern.is_empty()).then(|| compile(rule.pattern)));
        }
        let finder = AhoCorasick::builder()
            .kind(Some(AhoCorasickKind::DFA))
            .build(&words)
            .expect("the first words make an automaton");
        Self { finder, rules, patterns }
    }
}

/// Phrases are written as people write them, and compared as texts are.
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

/// The pattern with its spaces replaced, except inside a class, where one is itself.
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
pub(super) fn each(folded: &str, report: &mut dyn FnMut(Hit)) {
    let machine = &*MACHINE;
    let bytes = folded.as_bytes();
    // For each rule, where its last match ended: what is inside of it is not tried again.
    let mut done = vec![0; machine.patterns.len()];
    for hit in machine.finder.find_overlapping_iter(folded) {
        let Some(&(rule, place)) = machine.rules.get(hit.pattern().as_usize()) else { continue };
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
            report(Hit { rule, span: hit.start()..hit.start() + length });
        }
    }
}

/// A letter or digit of Latin script must not stand before one.
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
        for rule in all() {
            assert!(rule.told.is_some() || rule.data.is_some(), "{}", rule.what);
            assert!(!rule.first.is_empty(), "{}", rule.what);
            let pattern = (!rule.pattern.is_empty()).then(|| compile(rule.pattern));
            for first in rule.first {
                assert!(first.len() >= 2, "{first} is everywhere");
                assert_eq!(*first, first.to_lowercase());
                // Each first word can begin its pattern: a match of it needs some text behind.
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
