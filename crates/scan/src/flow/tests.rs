//! Pieces, and what may pass when.

use crate::{Flow, FlowOutput, Replace, Set};

fn set(detectors: &[&str], patterns: &[&str], words: &[&str]) -> Set {
    let mut builder = Set::builder();
    for name in detectors {
        builder.detector(0, name).unwrap();
    }
    for pattern in patterns {
        builder.regex(1, "pattern", pattern).unwrap();
    }
    for word in words {
        builder.word(2, "word", word).unwrap();
    }
    builder.build().unwrap()
}

/// The output for each piece, and at the end.
fn leaves(set: &Set, pieces: &[&str]) -> Vec<String> {
    let mut flow = set.flow();
    let mut left: Vec<String> = pieces
        .iter()
        .map(|piece| flow.push(piece).text.unwrap_or_else(|| (*piece).to_owned()))
        .collect();
    left.push(flow.finish().text.unwrap_or_default());
    left
}

#[test]
fn only_possible_matches_are_held_back() {
    let words = set(&[], &[], &["falcon"]);
    assert_eq!(
        leaves(&words, &["the fal", "l of", " fa", "lcon!"]),
        ["the ", "fall of", " ", "[REDACTED:word]!", ""]
    );
    // No match begins inside of a word.
    assert_eq!(leaves(&words, &["alfa", "lcon"]), ["alfa", "lcon", ""]);
    let key = ["gh", "p_16C7e42F292c6912E7710c838347Ae178B4a"].concat();
    let secrets = set(&["secret"], &[], &[]);
    assert_eq!(
        leaves(&secrets, &["a g", "h", "ost and ", &key[..20], &key[20..], " !"]),
        ["a ", "", "ghost and ", "", "", "[REDACTED:github_token] !", ""]
    );
}

#[test]
fn a_piece_that_leaves_as_it_came_is_not_copied() {
    let secrets = set(&["secret"], &[], &[]);
    let mut flow = secrets.flow();
    assert_eq!(flow.push("plain text, "), FlowOutput::default());
    assert_eq!(flow.push("more of it. "), FlowOutput::default());
}

#[test]
fn a_private_key_is_replaced_as_soon_as_it_is_certain() {
    let secrets = set(&["secret"], &[], &[]);
    let line = "MIIEpAIBAAKCAQEA7x0vYqz1vJ8mQyZrK3nT5wLdS2hGfPcXeUbR9oVt";
    let (begin, end) = (["-----BEGIN RSA PRIV", "ATE KEY-----\n"].concat(), "-----END RSA");
    let pieces =
        ["key:\n", &begin, line, "\n", line, "\n-----E", &end[6..], " PRIVATE KEY--", "---\nbye "];
    let left = leaves(&secrets, &pieces);
    assert_eq!(left, ["key:\n", "", "[REDACTED:private_key]", "", "", "", "", "", "\nbye ", ""]);
}

#[test]
fn a_token_without_an_end_is_not_kept() {
    let secrets = set(&["secret"], &[], &[]);
    let random = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF";
    let mut flow = secrets.flow();
    let mut left = flow.push(&format!("x c{}", "g_")).text.unwrap();
    for _ in 0..1000 {
        left.push_str(&flow.push(random).text.unwrap());
        assert!(flow.text.len() < 4096);
    }
    // It has ended before this piece, which leaves unchanged.
    assert_eq!(flow.push("\" y ").text, None);
    assert_eq!(left, "x [REDACTED:callgate_key]");
}

#[test]
fn text_held_back_for_too_long_is_replaced() {
    let patterns = set(&[], &["BEGIN.*END"], &[]);
    let mut flow = patterns.flow();
    let mut left = flow.push("a BEGIN").text.unwrap();
    for _ in 0..2000 {
        left.push_str(&flow.push(" secret").text.unwrap());
        assert!(flow.text.len() < 2 * Flow::MAX_HELD);
    }
    left.push_str(&flow.push(" END\n of it ").text.unwrap());
    left.push_str(&flow.finish().text.unwrap());
    assert_eq!(left, "a [REDACTED:pattern]\n of it ");
}

#[test]
fn nothing_leaves_after_a_stop() {
    let mut builder = Set::builder();
    builder.word(0, "word", "stop").unwrap();
    builder.replace(0, Replace::Stop);
    let set = builder.build().unwrap();
    assert_eq!(leaves(&set, &["a sto", "p now", "b "]), ["a ", "", "", ""]);
    let mut flow = set.flow();
    let hits = [flow.push("é stop "), flow.push("b")].map(|flowed| flowed.hits);
    let spans: Vec<_> = hits[0].iter().map(|hit| (hit.span.start, hit.span.end)).collect();
    assert_eq!(spans, [(3, 7)]);
    assert!(hits[1].is_empty());
}
