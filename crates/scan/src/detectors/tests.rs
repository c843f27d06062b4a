//! Every detector, swept.

use std::collections::HashSet;

use super::all;
use crate::{redact, secrets};

#[test]
fn each_finds_its_samples_and_nothing_more() {
    let mut wrong = Vec::new();
    for detector in all() {
        assert!(!detector.hits.is_empty(), "{}: no sample", detector.name);
        for sample in detector.hits {
            let secret = sample.secret.concat();
            let text = format!("{}{secret}{}", sample.before, sample.after);
            let expected = format!("{}[REDACTED:{}]{}", sample.before, detector.name, sample.after);
            let got = redact(&text);
            assert_eq!(redact(&got), got, "what replaces a secret is none");
            if got != expected {
                wrong.push(format!("{text}\n  became   {got}\n  expected {expected}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_refuses_what_only_looks_alike() {
    let mut wrong = Vec::new();
    for detector in all() {
        assert!(!detector.misses.is_empty(), "{}: no look-alike", detector.name);
        for pieces in detector.misses {
            let text = pieces.concat();
            let found = secrets(&text);
            if !found.is_empty() {
                wrong.push(format!("{}: {text}: {found:?}", detector.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn names_are_words_and_each_stands_once() {
    let mut seen = HashSet::new();
    for detector in all() {
        assert!(seen.insert(detector.name), "{} stands twice", detector.name);
        let word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        assert!(detector.name.chars().all(word), "{}", detector.name);
    }
}

#[test]
fn keywords_are_lower_case() {
    for keyword in all().flat_map(|detector| detector.keywords) {
        assert_eq!(*keyword, keyword.to_ascii_lowercase());
        assert!(keyword.len() >= 2, "{keyword} stands everywhere");
    }
}
