//! Tests of every detector.

use std::collections::HashSet;

use super::all;
use crate::{DetectorGroup, Set};

/// A set of one detector, or of all in its group.
fn set(name: &str) -> Set {
    let mut builder = Set::builder();
    builder.detector(0, name).unwrap();
    builder.build().unwrap()
}

#[test]
fn each_finds_its_samples_and_nothing_more() {
    let mut wrong = Vec::new();
    let groups =
        [(DetectorGroup::Secret, set("secret")), (DetectorGroup::Personal, set("personal"))];
    for detector in all() {
        assert!(!detector.hits.is_empty(), "{}: no sample", detector.name);
        let group = groups.iter().find(|(group, _)| *group == detector.group);
        let alone = set(detector.name);
        let set = group.map_or(&alone, |(_, set)| set);
        for sample in detector.hits {
            let secret = sample.secret.concat();
            let text = format!("{}{secret}{}", sample.before, sample.after);
            let expected = format!("{}[REDACTED:{}]{}", sample.before, detector.name, sample.after);
            let got = set.clean(&text);
            assert_eq!(set.clean(&got), got, "the replacement of a secret is not a secret");
            if got != expected {
                wrong.push(format!("{text}\n  became   {got}\n  expected {expected}"));
            }
            // On its own it finds it too.
            assert!(alone.clean(&text).contains("[REDACTED:"), "{text}");
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_detector_refuses_similar_texts() {
    let mut wrong = Vec::new();
    let secrets = set("secret");
    for detector in all() {
        assert!(!detector.misses.is_empty(), "{}: no look-alike", detector.name);
        let alone = set(detector.name);
        let set = if detector.group == DetectorGroup::Secret { &secrets } else { &alone };
        for pieces in detector.misses {
            let text = pieces.concat();
            let found = set.find(&text);
            if !found.is_empty() {
                wrong.push(format!("{}: {text}: {found:?}", detector.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn names_are_words_and_unique() {
    let mut seen = HashSet::new();
    for detector in all() {
        assert!(seen.insert(detector.name), "{} is listed twice", detector.name);
        let word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        assert!(detector.name.chars().all(word), "{}", detector.name);
    }
}

#[test]
fn keywords_are_lower_case() {
    for detector in all() {
        assert_ne!(detector.keywords.is_empty(), detector.heads.is_empty(), "{detector:?}");
        for keyword in detector.keywords {
            assert_eq!(*keyword, keyword.to_ascii_lowercase());
            let common = keyword.len() < 2 && detector.group == DetectorGroup::Secret;
            assert!(!common, "{keyword} stands everywhere");
        }
    }
}
