use proptest::prelude::*;

use super::super::Value;
use super::*;

fn skip(text: &str) -> Result<Span, Error> {
    let mut reader = Reader::new(text);
    let span = reader.skip()?;
    reader.end()?;
    Ok(span)
}

#[test]
fn reads_what_rfc_8259_allows() {
    for text in [
        "{}",
        "[]",
        " [ ] ",
        "null",
        "true",
        "false",
        "0",
        "-0",
        "1.5e+10",
        "1E9",
        "\"\"",
        r#"{"a":[1,{"b":null}],"c":"\u00e9\n"}"#,
        r#"[[],[[]],{}]"#,
        r#""\ud800""#,
        "123456789012345678901234567890",
    ] {
        assert!(skip(text).is_ok(), "{text}");
    }
}

#[test]
fn refuses_what_it_does_not() {
    for text in [
        "",
        " ",
        "{",
        "[",
        "\"",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "[1,]",
        "[,1]",
        "[1 2]",
        "01",
        "1.",
        ".5",
        "1e",
        "+1",
        "-",
        "NaN",
        "Infinity",
        "tru",
        "nul",
        "'a'",
        "{a:1}",
        "\"\\x\"",
        "\"\\u12g4\"",
        "\"\n\"",
        "\"\u{1}\"",
        "{}{}",
        "[]x",
        "{\"a\":1 \"b\":2}",
        "{]",
        "[}",
        "/**/{}",
        "\u{feff}{}",
    ] {
        assert!(skip(text).is_err(), "{text:?}");
    }
}

#[test]
fn depth_is_bounded() {
    let nested = |n: usize| "[".repeat(n) + &"]".repeat(n);
    assert!(skip(&nested(96)).is_ok());
    assert_eq!(skip(&nested(97)).unwrap_err().what, Problem::TooDeep);
    assert!(Value::parse(&nested(96)).is_ok());
    assert!(Value::parse(&nested(97)).is_err());
}

#[test]
fn escaped_keys_are_the_keys_they_stand_for() {
    let mut reader = Reader::new(r#"{"tool\u005fcalls":1}"#);
    let mut members = reader.object().unwrap();
    assert!(members.next(&mut reader).unwrap().unwrap().is("tool_calls"));
}

#[test]
fn control_characters_are_found_at_every_offset() {
    for bad in ["\u{0}", "\u{1f}", "\n", "\t"] {
        for before in 0..20 {
            for after in 0..20 {
                let inside = "é".repeat(before / 2) + &"x".repeat(before % 2);
                let text = format!("\"{inside}{bad}{}\"", "y".repeat(after));
                assert!(skip(&text).is_err(), "{text:?}");
                let clean = format!("\"{inside}\u{7f}\u{80}\u{20}{}\"", "y".repeat(after));
                assert!(skip(&clean).is_ok(), "{clean:?}");
            }
        }
    }
}

/// JSON-like text with a good chance of being valid.
fn soup() -> impl Strategy<Value = String> {
    let token = prop_oneof![
        Just("{".to_owned()),
        Just("}".to_owned()),
        Just("[".to_owned()),
        Just("]".to_owned()),
        Just(",".to_owned()),
        Just(":".to_owned()),
        Just("\"a\"".to_owned()),
        Just("\"\\u0061\"".to_owned()),
        Just("\"\\ud83d\\ude00\"".to_owned()),
        Just("1".to_owned()),
        Just("-0.5e3".to_owned()),
        Just("null".to_owned()),
        Just(" ".to_owned()),
        Just("{}".to_owned()),
        Just("{\"b\":2}".to_owned()),
        "[ -~]{0,4}",
    ];
    proptest::collection::vec(token, 0..12).prop_map(|tokens| tokens.concat())
}

proptest! {
    #[test]
    fn agrees_with_serde_json(text in soup()) {
        let ours = skip(&text).is_ok();
        let theirs = serde_json::from_str::<serde_json::Value>(&text);
        // serde_json refuses numbers beyond f64 and lone surrogates; neither is in the soup.
        prop_assert_eq!(ours, theirs.is_ok(), "{}", text);
        if let (Ok(tree), Ok(theirs)) = (Value::parse(&text), theirs) {
            prop_assert_eq!(serde_json::from_str::<serde_json::Value>(&render(&tree)).unwrap(), theirs);
        }
    }
}

fn render(value: &Value) -> String {
    let list = |items: Vec<String>| items.join(",");
    match value {
        Value::Null => "null".into(),
        Value::Bool(b) => b.to_string(),
        Value::Number(text) => text.clone(),
        Value::String(text) => super::super::quote(text),
        Value::Array(items) => format!("[{}]", list(items.iter().map(render).collect())),
        Value::Object(members) => {
            let member =
                |(k, v): &(String, Value)| format!("{}:{}", super::super::quote(k), render(v));
            format!("{{{}}}", list(members.iter().map(member).collect()))
        }
    }
}
