//! What is selected is found, with its source.

use super::{Set, Unusable};
use crate::replace::Replace;

fn named(set: &Set, text: &str) -> Vec<(usize, String, String)> {
    let hits = set.find(text).into_iter();
    hits.map(|hit| (hit.source, hit.kind.to_string(), text[hit.span].to_owned())).collect()
}

#[test]
fn words_are_whole_and_of_any_case() {
    let mut builder = Set::builder();
    builder.word(3, "project", "Project Falcon").unwrap();
    builder.word(3, "project", "c++").unwrap();
    let set = builder.build().unwrap();
    let text = "project falcons, PROJECT FALCON! c++x, C++ é";
    let found: Vec<_> = named(&set, text).into_iter().map(|(_, _, text)| text).collect();
    assert_eq!(found, ["PROJECT FALCON", "c++", "C++"]);
}

#[test]
fn a_group_and_a_name_of_it() {
    let key = ["AKI", "AIOSFODNN7ABCDEFG"].concat();
    let mut builder = Set::builder();
    builder.detector(0, "secret").unwrap();
    builder.detector(1, "aws_access_key_id").unwrap();
    builder.regex(2, "hex", "[A-Z0-9]{20}").unwrap();
    builder.replace(0, Replace::Mask);
    let set = builder.build().unwrap();
    let found = named(&set, &format!("a {key} b"));
    let expected = [(0, "aws_access_key_id"), (1, "aws_access_key_id"), (2, "hex")];
    assert_eq!(found, expected.map(|(source, kind)| (source, kind.to_owned(), key.clone())));
    assert_eq!(set.clean(&format!("a {key} b")), "a AK****************FG b");
}

#[test]
fn what_cannot_be_searched_for() {
    let mut builder = Set::builder();
    let near = |name: &str, near| Unusable::UnknownDetector { name: name.to_owned(), near };
    assert_eq!(
        builder.detector(0, "githubtoken").unwrap_err(),
        near("githubtoken", Some("github_token"))
    );
    assert_eq!(builder.detector(0, "xyzzyplugh").unwrap_err(), near("xyzzyplugh", None));
    assert!(matches!(builder.regex(0, "x", "(").unwrap_err(), Unusable::Pattern(_)));
    assert_eq!(builder.regex(0, "x", "a*").unwrap_err(), Unusable::MatchesNothing);
    assert_eq!(builder.regex(0, "x", r"\w{5000}").unwrap_err(), Unusable::TooLarge);
    assert_eq!(builder.word(0, "x", " ").unwrap_err(), Unusable::EmptyWord);
    assert!(builder.is_empty());
}
