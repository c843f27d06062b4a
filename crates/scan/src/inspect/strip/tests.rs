use proptest::prelude::*;

use super::*;

fn stripped(text: &str) -> String {
    strip(text).unwrap_or_else(|| text.to_owned())
}

#[test]
fn control_sequences_are_removed_from_plain_text() {
    for (text, clean) in [
        ("a\u{202e}b", "ab"),
        ("a\u{e0041}\u{e0042}b", "ab"),
        ("\u{1b}[31mred\u{1b}[0m", "red"),
        ("see \u{1b}]8;;http://x\u{1b}\\here\u{1b}]8;;\u{1b}\\", "see here"),
        ("a\u{1b}\u{202e}[31mb", "a[31mb"),
        ("{\"a\": \u{202e}", "{\"a\": "),
        // Not a document before, one after, and then its escapes count.
        ("[\"a\u{1b}[1m\\u202eb\"]", "[\"ab\"]"),
    ] {
        assert_eq!(stripped(text), clean);
    }
}

#[test]
fn honest_text_stays() {
    for text in [
        "plain",
        "\u{1F469}\u{200d}\u{1F4BB} \u{2764}\u{fe0f}",
        "\u{1F3F4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}!",
        "שלום\u{200f}!",
        r#"{"a":"\ud83d\ude00","b":"\\u202e","c":1.0}"#,
    ] {
        assert_eq!(strip(text), None, "{text:?}");
    }
}

#[test]
fn escapes_are_read_in_documents() {
    for (text, clean) in [
        (r#"{"a":"x\u202ey", "b" : 1.0}"#, r#"{"a":"xy", "b" : 1.0}"#),
        (r#"["\udb40\udc41\uDB40\uDC42!"]"#, r#"["!"]"#),
        (r#"["\u001b[1mhi\u001b[0m\n"]"#, r#"["hi\n"]"#),
        (r#"["\u001b]52;c;aGk=\u0007x"]"#, r#"["x"]"#),
        (r#""\u001B\u005b31mx""#, r#""x""#),
        ("[\"a\u{202e}\\\"b\"]", "[\"a\\\"b\"]"),
        // An escaped flag stays, the same tags elsewhere are removed.
        (
            r#"["\ud83c\udff4\udb40\udc67\udb40\udc62\udb40\udc65\udb40\udc6e\udb40\udc67\udb40\udc7f\udb40\udc67"]"#,
            r#"["\ud83c\udff4\udb40\udc67\udb40\udc62\udb40\udc65\udb40\udc6e\udb40\udc67\udb40\udc7f"]"#,
        ),
    ] {
        assert_eq!(stripped(text), clean);
    }
}

#[test]
fn halves_do_not_meet() {
    assert_eq!(stripped(r#"["\udb40\u202e\udc41"]"#), r#"[""]"#);
    assert_eq!(stripped(r#"["\udb40\udb40\u202e\udc41\u202e\udc42x"]"#), r#"["x"]"#);
    assert_eq!(strip(r#"["\udb40x\udc41"]"#), None);
}

#[test]
fn keys_and_names_stay() {
    let keyed = "{\"a\u{202e}\":\"b\",\"a\":1}";
    assert_eq!(strip(keyed), None);
    let tool =
        "{\"name\":\"a\u{202e}\",\"description\":\"b\u{202e}\",\"required\":[\"c\u{202e}\"]}";
    let clean = "{\"name\":\"a\u{202e}\",\"description\":\"b\",\"required\":[\"c\u{202e}\"]}";
    assert_eq!(strip_definition(tool).as_deref(), Some(clean));
}

/// Pieces of hostile strings, as written in JSON.
fn piece() -> impl Strategy<Value = String> {
    let odd = prop::sample::select(vec![
        "\\u202e",
        "\u{202e}",
        "\\udb40",
        "\\udc41",
        "\\udb40\\udc41",
        "\u{e0041}",
        "\\u001b",
        "[",
        "31m",
        "]",
        "8;;",
        "\\u0007",
        "\\\\",
        "\\\"",
        "\\n",
        "\\u009b",
        "\u{9b}",
        "\u{9d}",
        "\\ud83c\\udff4",
        "\u{1F3F4}",
        "\\udb40\\udc67\\udb40\\udc62\\udb40\\udc65\\udb40\\udc6e",
        "\\udb40\\udc67\\udb40\\udc7f",
        "P",
        "\u{9c}",
        "é",
        "\u{2066}",
        "\\ud83d",
        "\\ude00",
        "(",
    ]);
    prop_oneof![odd.prop_map(str::to_owned), "[a-z ]{0,4}"]
}

proptest! {
    #[test]
    fn documents_stay_documents(pieces in prop::collection::vec(piece(), 0..40)) {
        let inside = pieces.concat();
        let json = format!("{{\"k\": [\"{inside}\", 1.0], \"z\":\"{inside}x\"}}");
        let clean = stripped(&json);
        let read = |text: &str| {
            let mut reader = Reader::new(text);
            reader.skip().and_then(|_| reader.end()).is_ok()
        };
        prop_assert!(read(&json) && read(&clean), "{json} became {clean}");
        prop_assert_eq!(strip(&clean), None, "{} became {}", json, clean);
    }

    #[test]
    fn text_is_stripped_once(pieces in prop::collection::vec(piece(), 0..40)) {
        let text = pieces.concat();
        let clean = stripped(&text);
        prop_assert_eq!(strip(&clean), None);
    }
}
