use callgate_json::Reader;
use proptest::prelude::*;

use super::*;

fn digest(text: &str) -> Option<[u8; 32]> {
    let mut digest = TextDigest::new();
    digest.add(text);
    digest.finish()
}

fn digest_raw(pieces: &[&str]) -> Option<[u8; 32]> {
    let mut digest = TextDigest::new();
    pieces.iter().for_each(|piece| digest.add_raw(piece));
    digest.finish()
}

fn decoded<'a>(document: &'a str) -> Decoded<'a> {
    Decoded::new(&Reader::new(document).string().unwrap())
}

fn call(notice: &str) -> RemovedCall {
    RemovedCall {
        id: String::new(),
        original: String::new(),
        place: 0,
        notice: Some(notice.to_owned()),
        why: String::new(),
    }
}

#[test]
fn a_digest_is_that_of_the_decoded_text() {
    let known = Sha256::digest("a\"\u{1F600}");
    assert_eq!(digest("a\"\u{1F600}\n"), Some(known.into()));
    for pieces in [
        &[r#"a\"\ud83d\ude00\n"#][..],
        &[r#"a\u0022\ud83d"#, r"\ude00\n"],
        &["a", r#"\""#, r"\ud83d", "", r"\ude00", r"\u000a"],
        &["a\\\"\u{1F600}", r"\n"],
    ] {
        assert_eq!(digest_raw(pieces), digest("a\"\u{1F600}\n"), "{pieces:?}");
    }
    assert_ne!(digest("a"), digest("b"));
}

/// Clients trim texts, join them with a line end or a blank, and drop empty ones.
#[test]
fn white_space_makes_no_difference() {
    let pieces: [&[&str]; 5] = [
        &["One, two. ", "Three."],
        &["One, two.", " ", "Three.", "\u{A0}"],
        &["\u{FEFF}One,\r\ntwo.\n\nThree.\t"],
        &[r"One, two.\n", r"\u2028Three.\u000b"],
        &["", "One,two.", "", "Three."],
    ];
    for pieces in pieces {
        assert_eq!(digest_raw(pieces), digest("One, two.\n\nThree."), "{pieces:?}");
    }
    assert_ne!(digest("One, two."), digest("One two."));
    for nothing in ["", " ", "\n\t\u{FEFF}"] {
        assert_eq!(digest(nothing), None);
    }
}

#[test]
fn half_a_pair_counts_as_lost() {
    for (pieces, text) in [
        (&[r"x\ud83d"][..], "x\u{FFFD}"),
        (&[r"x\ud83d", "y"], "x\u{FFFD}y"),
        (&[r"\ude00\ud83d\n"], "\u{FFFD}\u{FFFD}\n"),
        (&[r"\ud83d\ud83d\ude00"], "\u{FFFD}\u{1F600}"),
        (&[r"\ud83d", r"\u0041"], "\u{FFFD}A"),
    ] {
        assert_eq!(digest_raw(pieces), digest(text), "{pieces:?}");
    }
    let mut mixed = TextDigest::new();
    mixed.add_raw(r"\ud83d");
    mixed.add("x");
    assert_eq!(mixed.finish(), digest("\u{FFFD}x"));
    assert_eq!(mixed.finish(), digest("\u{FFFD}x"), "finish may be asked twice");
}

/// A notice that names its record is found even if a client has joined it to other text.
#[test]
fn a_notice_with_its_record_may_stand_anywhere_once() {
    let notice = "no\nRecord: 0199e3a0-0000-7000-8000-000000000001";
    for (text, left) in [
        ("A. NOTICE", "A. "),
        ("A.NOTICE", "A."),
        ("A.\nNOTICE\nB.", "A.\nB."),
        ("A.\n\nNOTICE\n\nB.", "A.\n\nB."),
        // As a paragraph it is the notice; twice in other text it is ambiguous.
        ("A. NOTICE\n\nNOTICE", "A. NOTICE"),
        ("A. NOTICE B. NOTICE", "A. NOTICE B. NOTICE"),
    ] {
        let (text, left) = (text.replace("NOTICE", notice), left.replace("NOTICE", notice));
        let document = serde_json::to_string(&text).unwrap();
        let texts = [(0, decoded(&document))];
        assert_eq!(rest(&text, &shown(&texts, &[&call(notice)])[0]), left, "{text:?}");
    }
}

/// The rest of a text after the notices `N1` and `N2` are removed, and which of them lead.
#[test]
fn notices_are_removed_with_their_separator() {
    for (text, left, leads) in [
        ("N1", "", &[true][..]),
        ("A\n\nN1", "A", &[false]),
        ("N1\n\nB", "B", &[true]),
        ("A\n\nN1\n\nB", "A\n\nB", &[false]),
        ("N1\n\nN2", "", &[true, true]),
        ("N1\n\nN2\n\nB", "B", &[true, true]),
        ("A\n\nN1\n\nN2\n\nB", "A\n\nB", &[false, false]),
        ("N1\n\nB\n\nN2", "B", &[true, false]),
        ("N1\n\nB\n\nN2\n\nC", "B\n\nC", &[true, false]),
        ("\n\nN1", "", &[true]),
        ("\n\n\nN1\n\n", "\n\n\n", &[false]),
        ("N2\n\nN1", "", &[true, true]),
        // Not as separate paragraphs.
        ("N1 B", "N1 B", &[]),
        ("A N1", "A N1", &[]),
        ("A\nN1", "A\nN1", &[]),
        ("N1\nB", "N1\nB", &[]),
        ("n1", "n1", &[]),
        ("N1N1", "N1N1", &[]),
        // Equal notices: each call has its own.
        ("N1\n\nN1", "N1", &[true]),
        ("A N1\n\nN1", "A N1", &[false]),
    ] {
        for document in [serde_json::to_string(text).unwrap(), escaped(text)] {
            let texts = [(0, decoded(&document))];
            assert_eq!(texts[0].1.text, text);
            let (one, two) = (call("N1"), call("N2"));
            let shown = &shown(&texts, &[&one, &two])[0];
            assert_eq!(rest(text, shown), left, "{text:?}");
            let found: Vec<bool> = shown.iter().map(|shown| shown.leads).collect();
            assert_eq!(found, leads, "{text:?}");
            // The same removal in the document.
            let mut spliced = document.clone();
            for shown in shown.iter().rev() {
                let span = texts[0].1.span(&shown.cut);
                spliced.replace_range(span.start..span.end, "");
            }
            assert_eq!(serde_json::from_str::<String>(&spliced).unwrap(), left, "{document}");
        }
    }
}

#[test]
fn equal_notices_go_to_their_calls_in_order() {
    let document = r#""N1\n\nN1""#;
    let (one, two) = (call("N1"), call("N1"));
    let shown = shown(&[(0, decoded(document))], &[&one, &two]);
    let found: Vec<_> = shown[0].iter().map(|shown| (shown.call, shown.cut.clone())).collect();
    assert_eq!(found, [(0, 0..4), (1, 4..6)]);
}

fn escaped(text: &str) -> String {
    let units: String = text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
    format!("\"{units}\"")
}

proptest! {
    #[test]
    fn every_part_is_found_in_the_document(
        parts in prop::collection::vec(("[a\"\\\\\n\u{e9}\u{1F600}]{0,3}", any::<bool>()), 0..6),
    ) {
        let mut document = String::from(" \"");
        let mut text = String::new();
        for (part, escape) in &parts {
            text.push_str(part);
            let quoted = if *escape { escaped(part) } else { serde_json::to_string(part).unwrap() };
            document.push_str(&quoted[1..quoted.len() - 1]);
        }
        document.push('"');
        let decoded = decoded(&document);
        prop_assert_eq!(&decoded.text, &text);
        let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        for (i, start) in ends.iter().enumerate() {
            for end in &ends[i..] {
                let span = decoded.span(&(*start..*end));
                let inside = format!("\"{}\"", span.of(&document));
                prop_assert_eq!(
                    serde_json::from_str::<String>(&inside).unwrap(),
                    &text[*start..*end]
                );
            }
        }
    }
}
