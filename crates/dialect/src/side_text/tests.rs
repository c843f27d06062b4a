use super::*;

/// Text, voice by voice: `~` marks what is thought, `=` what stands whole.
fn found(data: &str, names: Names) -> Vec<String> {
    let show = |aside: Aside| {
        let thought = if aside.thought { "~" } else { "" };
        let whole = if aside.comes == Comes::Whole { "=" } else { "" };
        format!("{thought}{whole}{}", aside.at.of(data))
    };
    asides(data, names).into_iter().map(show).collect()
}

#[test]
fn places_are_found_whatever_their_spelling() {
    for key in ["cited_text", "citedText", "CITED_TEXT", "cited\\u005ftext"] {
        let data = format!(r#"{{"x":[{{"{key}":"A"}}]}}"#);
        assert_eq!(found(&data, Names::Usual), ["=A"], "{key}");
    }
    assert!(found(r#"{"a_key_that_is_longer_than_any_of_ours":"A"}"#, Names::Usual).is_empty());
}

#[test]
fn arguments_of_calls_are_not_looked_into() {
    let data = r#"{"content":[{"type":"tool_use","input":{"cited_text":"no","thinking":"no"}}],
        "tool_calls":[{"refusal":"no"}],"functionCall":{"args":{"segment":{"text":"no"}}}}"#;
    assert!(found(data, Names::Usual).is_empty());
}

#[test]
fn what_is_thought_is_told_from_what_is_said() {
    let gemini = r#"{"candidates":[{"content":{"parts":[{"text":"no"},{"text":"A","thought":true},{"thought":false,"text":"no"}]}}]}"#;
    assert_eq!(found(gemini, Names::Usual), ["~A"]);
    let step = r#"{"delta":{"content":{"text":"A"},"type":"thought_summary"}}"#;
    assert_eq!(found(step, Names::Usual), ["~A"]);
    let item = r#"{"item":{"type":"reasoning","summary":[{"text":"A"}],"content":[{"type":"reasoning_text","text":"B"}]}}"#;
    assert_eq!(found(item, Names::Responses), ["=A", "~B"]);
}

/// Each choice and each part has its own voice, wherever its number stands.
#[test]
fn voices_are_told_apart() {
    let data =
        r#"{"choices":[{"index":1,"delta":{"refusal":"A"}},{"delta":{"refusal":"B"},"index":0}]}"#;
    let lanes: Vec<Lane> = asides(data, Names::Usual).iter().map(|aside| aside.lane).collect();
    assert_eq!(lanes, [1, 0]);
    let event = |content: u32| {
        let data = format!(
            r#"{{"type":"response.output_text.delta","delta":"A","content_index":{content}}}"#
        );
        asides(&data, Names::Responses)[0].voice
    };
    assert_eq!(event(0), event(0));
    assert_ne!(event(0), event(1));
}
