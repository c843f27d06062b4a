use super::*;

/// The text of each channel: `~` marks thinking, `=` whole texts.
fn found(data: &str, names: TextNames) -> Vec<String> {
    let show = |side_text: SideText| {
        let is_thinking = if side_text.is_thinking { "~" } else { "" };
        let whole = if side_text.delivery == Delivery::Whole { "=" } else { "" };
        format!("{is_thinking}{whole}{}", side_text.at.of(data))
    };
    side_texts(data, names).into_iter().map(show).collect()
}

#[test]
fn places_are_found_whatever_their_spelling() {
    for key in ["cited_text", "citedText", "CITED_TEXT", "cited\\u005ftext"] {
        let data = format!(r#"{{"x":[{{"{key}":"A"}}]}}"#);
        assert_eq!(found(&data, TextNames::Usual), ["=A"], "{key}");
    }
    assert!(found(r#"{"a_key_that_is_longer_than_any_of_ours":"A"}"#, TextNames::Usual).is_empty());
}

#[test]
fn arguments_of_calls_are_not_looked_into() {
    let data = r#"{"content":[{"type":"tool_use","input":{"cited_text":"no","thinking":"no"}}],
        "tool_calls":[{"refusal":"no"}],"functionCall":{"args":{"segment":{"text":"no"}}}}"#;
    assert!(found(data, TextNames::Usual).is_empty());
}

#[test]
fn thinking_is_distinguished_from_text() {
    let gemini = r#"{"candidates":[{"content":{"parts":[{"text":"no"},{"text":"A","thought":true},{"thought":false,"text":"no"}]}}]}"#;
    assert_eq!(found(gemini, TextNames::Usual), ["~A"]);
    let step = r#"{"delta":{"content":{"text":"A"},"type":"thought_summary"}}"#;
    assert_eq!(found(step, TextNames::Usual), ["~A"]);
    let item = r#"{"item":{"type":"reasoning","summary":[{"text":"A"}],"content":[{"type":"reasoning_text","text":"B"}]}}"#;
    assert_eq!(found(item, TextNames::Responses), ["=A", "~B"]);
}

/// Each choice and each part has its own channel, wherever its number is.
#[test]
fn channels_are_distinguished() {
    let data =
        r#"{"choices":[{"index":1,"delta":{"refusal":"A"}},{"delta":{"refusal":"B"},"index":0}]}"#;
    let lanes: Vec<Lane> =
        side_texts(data, TextNames::Usual).iter().map(|side_text| side_text.lane).collect();
    assert_eq!(lanes, [crate::Lane(1), crate::Lane(0)]);
    let event = |content: u32| {
        let data = format!(
            r#"{{"type":"response.output_text.delta","delta":"A","content_index":{content}}}"#
        );
        side_texts(&data, TextNames::Responses)[0].channel
    };
    assert_eq!(event(0), event(0));
    assert_ne!(event(0), event(1));
}
