//! A text in pieces gives the same result as the whole text, however it is split, and nothing of a
//! secret leaves early.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a panic is a failed test"
)]

use std::sync::OnceLock;

use callgate_scan::{Replace, Set};
use proptest::prelude::*;
use support::{border, noise, secret};

mod support;

/// Everything at once: detectors, patterns that may end in several ways, words of several scripts.
fn everything() -> &'static Set {
    static SET: OnceLock<Set> = OnceLock::new();
    SET.get_or_init(build_everything)
}

fn build_everything() -> Set {
    let mut builder = Set::builder();
    builder.detector(0, "secret").unwrap();
    builder.detector(1, "personal").unwrap();
    for pattern in [
        r"\bpass\w+\b",
        r"a+b|ab+c?",
        r"(?m)^key.*$",
        r"[[:upper:]]{3,9}-\d{2}",
        r"é{2,}x?",
        r"://[a-z]+$",
    ] {
        builder.regex(2, "pattern", pattern).unwrap();
    }
    for word in ["bearer", "a b", "Ärger", "c++", "begin private", "x"] {
        builder.word(3, "word", word).unwrap();
    }
    builder.replace(1, Replace::Mask);
    builder.replace(2, Replace::Drop);
    builder.build().unwrap()
}

fn secrets() -> &'static Set {
    static SET: OnceLock<Set> = OnceLock::new();
    SET.get_or_init(build_secrets)
}

fn build_secrets() -> Set {
    let mut builder = Set::builder();
    builder.detector(0, "secret").unwrap();
    builder.build().unwrap()
}

/// The output when the text is split there.
fn flow(set: &Set, text: &str, cuts: &[usize]) -> String {
    let mut places: Vec<usize> = cuts.iter().map(|cut| cut % (text.len() + 1)).collect();
    places.extend([0, text.len()]);
    let mut places: Vec<usize> =
        places.into_iter().map(|at| text.floor_char_boundary(at)).collect();
    places.sort_unstable();
    let mut flow = set.flow();
    let mut out = String::new();
    for pair in places.windows(2) {
        let piece = &text[pair[0]..pair[1]];
        out.push_str(flow.push(piece).text.as_deref().unwrap_or(piece));
    }
    out.push_str(&flow.finish().text.unwrap());
    out
}

fn one_by_one(set: &Set, text: &str) -> String {
    flow(set, text, &(0..text.len()).collect::<Vec<_>>())
}

/// More beginnings of the patterns and words above.
fn tricky() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        noise(),
        "[ab c+é-]{0,12}",
        "(aa|ab|abc|KEY-12|key |passé|Ärger|ÄRGER|c\\+\\+|a b|x|begin private| |\n){0,8}",
        "[0-9 .+-]{0,30}",
        "[a-z.]{1,8}@[a-z]{1,8}\\.(de|org|x)[a-z. ]{0,3}",
        Just("4111 1111 1111 1111".to_owned()),
        Just("DE89 3704 0044 0532 0130 00".to_owned()),
        Just("+49 30 901820".to_owned()),
        Just("078-05-1120".to_owned()),
    ];
    prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 400,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn pieces_give_the_same_result_as_the_whole(
        text in tricky(), cuts in prop::collection::vec(any::<usize>(), 0..12),
    ) {
        let set = everything();
        let whole = set.clean(&text);
        prop_assert_eq!(flow(set, &text, &cuts), whole.as_ref(), "cut at {:?}", cuts);
        prop_assert_eq!(one_by_one(set, &text), whole.as_ref());
    }

    #[test]
    fn nothing_of_a_planted_secret_leaves(
        before in noise(), left in border(), secret in secret(), right in border(), after in noise(),
        cuts in prop::collection::vec(any::<usize>(), 0..12),
    ) {
        let set = secrets();
        let text = format!("{before} {left}{secret}{right} {after}");
        let out = flow(set, &text, &cuts);
        prop_assert_eq!(&out, &set.clean(&text).into_owned());
        prop_assert_eq!(&out, &one_by_one(set, &text));
        let middle = &secret[secret.len() / 2..secret.len() / 2 + 8];
        prop_assert!(!out.contains(middle), "{} of {}", middle, secret);
    }

    #[test]
    fn a_long_token_leaves_nothing_whatever_the_cuts(
        length in 480..1200usize, cuts in prop::collection::vec(any::<usize>(), 0..12),
    ) {
        let set = secrets();
        let body = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF".repeat(40);
        for text in [
            format!("Authorization: Bearer c{}{} and more", "g_", &body[..length]),
            format!("password='{}', token=\"{}\"", &body[..length], &body[..length]),
        ] {
            let out = flow(set, &text, &cuts);
            prop_assert_eq!(&out, &set.clean(&text).into_owned());
            prop_assert!(!out.contains("aB3dE6gH9"), "{}", out);
        }
    }
}

/// The same property for recorded text: nothing is found in it, and it leaves unchanged.
#[test]
fn plain_text_is_never_delayed_for_long() {
    let set = secrets();
    let text = "The quick brown fox jumps over the lazy dog, then types `ls -la` and waits. ";
    let mut flow = set.flow();
    let mut longest = 0;
    let mut held = 0usize;
    for letter in text.repeat(20).chars() {
        let mut buffer = [0; 4];
        let piece = letter.encode_utf8(&mut buffer);
        held += piece.len();
        held -= flow.push(piece).text.map_or(piece.len(), |text| text.len());
        longest = longest.max(held);
    }
    assert!(longest <= 4, "{longest} bytes of plain text were held back");
}
