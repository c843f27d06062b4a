use super::*;

fn found(body: &str) -> Vec<&str> {
    texts(body).unwrap().into_iter().map(|said| said.at.of(body)).collect()
}

#[test]
fn texts_of_messages_are_found() {
    let body = r#"{"model":"m","system":[{"type":"text","text":"S","cache_control":{"type":"ephemeral"}}],
        "tools":[{"name":"Bash","description":"no","input_schema":{"type":"object"}}],
        "messages":[{"role":"user","content":"A"},
        {"role":"assistant","content":[{"type":"thinking","thinking":"no","signature":"no"},{"type":"text","text":"B"},
        {"type":"tool_use","id":"no","name":"no","input":{"text":"no"}},
        {"type":"web_search_tool_result","content":[{"encrypted_content":"no","title":"no"}]}]},
        {"role":"user","content":[{"type":"tool_result","tool_use_id":"no","content":"C"},
        {"type":"tool_result","tool_use_id":"no","content":[{"type":"text","text":"D"},{"type":"image","source":{"type":"base64","data":"no"}}]},
        {"type":"document","title":"E","source":{"type":"text","media_type":"text/plain","data":"F"}},
        {"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"no"}}]}],
        "metadata":{"user_id":"no"}}"#;
    assert_eq!(found(body), ["S", "A", "B", "C", "D", "E", "F"]);
}

#[test]
fn texts_of_chat_are_found() {
    let body = r#"{"messages":[{"role":"developer","content":"A"},{"role":"user","content":[{"type":"text","text":"B"},
        {"type":"image_url","image_url":{"url":"data:no"}}]},
        {"role":"assistant","content":null,"reasoning_content":"no","tool_calls":[{"id":"no","function":{"name":"no","arguments":"{\"text\":\"no\"}"}}]},
        {"role":"tool","tool_call_id":"no","content":"C"}],"user":"no"}"#;
    assert_eq!(found(body), ["A", "B", "C"]);
}

#[test]
fn texts_of_responses_are_found() {
    let body = r#"{"instructions":"A","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"B"}]},
        {"role":"user","content":"C"},{"type":"reasoning","id":"no","summary":[{"text":"no"}],"encrypted_content":"no"},
        {"type":"function_call","call_id":"no","name":"no","arguments":"no"},
        {"type":"function_call_output","call_id":"no","output":"D"},
        {"type":"custom_tool_call_output","call_id":"no","output":[{"type":"input_text","text":"E"}]}],"text":{"format":{"type":"text"}}}"#;
    assert_eq!(found(body), ["A", "B", "C", "D", "E"]);
    assert_eq!(found(r#"{"input":"A"}"#), ["A"]);
}

#[test]
fn texts_of_gemini_are_found() {
    let body = r#"{"systemInstruction":{"parts":[{"text":"A"}]},"contents":[{"role":"user","parts":[{"text":"B"},
        {"inlineData":{"mimeType":"image/png","data":"no"}}]},
        {"role":"model","parts":[{"text":"no","thought":true},{"text":"C","thoughtSignature":"no"},{"functionCall":{"name":"no","args":{"text":"no"}}}]},
        {"role":"user","parts":[{"functionResponse":{"id":"no","name":"no","response":{"output":"D","deep":[{"any":"E"}]}}}]}]}"#;
    assert_eq!(found(body), ["A", "B", "C", "response", "output", "D", "deep", "any", "E"]);
    let snake = r#"{"request":{"system_instruction":{"parts":{"text":"A"}},"contents":[{"parts":[{"function_response":{"response":{"x":"B"}}}]}]}}"#;
    assert_eq!(found(snake), ["A", "response", "x", "B"]);
}

#[test]
fn texts_of_the_other_apis_are_found() {
    let ollama = r#"{"messages":[{"role":"user","content":"A","images":["no"]},{"role":"assistant","content":"B","thinking":"no"},{"role":"tool","content":"C"}]}"#;
    assert_eq!(found(ollama), ["A", "B", "C"]);
    let cohere = r#"{"messages":[{"role":"tool","tool_call_id":"no","content":[{"type":"document","document":{"data":"A"}}]}],"documents":[{"data":{"snippet":"B"}},"C"]}"#;
    assert_eq!(found(cohere), ["A", "snippet", "B", "C"]);
    let converse = r#"{"system":[{"text":"A"}],"messages":[{"role":"user","content":[{"text":"B"},{"toolResult":{"toolUseId":"no","content":[{"text":"C"},{"json":{"x":"D"}}],"status":"error"}},{"reasoningContent":{"reasoningText":{"text":"no","signature":"no"}}}]}]}"#;
    // Thinking in a message of the user is text.
    assert_eq!(found(converse), ["A", "B", "C", "x", "D", "reasoningText", "text", "no"]);
}

#[test]
fn escaped_and_doubled_names_are_found() {
    assert_eq!(
        found(r#"{"m\u0065ssages":[{"content":"A","content":"B"}],"Messages":[{"Text":"C"}]}"#),
        ["A", "B", "C"]
    );
    for body in ["", "no", "[", r#"{"messages":[]} x"#] {
        assert!(texts(body).is_err(), "{body}");
    }
}

#[test]
fn only_what_changes_is_spliced() {
    let body = r#"{ "messages" : [ {"content":"a\u0062"} , {"content":"c"} ] }"#;
    let changes = vec![texts(body).unwrap()[0].changed("x")];
    assert_eq!(
        with_texts(body, changes),
        r#"{ "messages" : [ {"content":"x"} , {"content":"c"} ] }"#
    );
}

#[test]
fn keys_and_numbers_of_results_are_texts() {
    let body = r#"{"messages":[{"role":"user","content":[{"toolResult":{"toolUseId":"no","content":[{"json":{"k\u0065y":[4111111111111111,{"n":-1.5e3,"b":true,"z":null}]}}]}}]}]}"#;
    assert_eq!(found(body), ["k\\u0065y", "4111111111111111", "n", "-1.5e3", "b", "z"]);
    let all = texts(body).unwrap();
    assert_eq!(all[0].text(body), "key");
    let changed = with_texts(body, vec![all[0].changed("a\"b"), all[1].changed("[card]")]);
    assert!(changed.contains(r#"{"a\"b":["[card]",{"n":-1.5e3"#), "{changed}");
}

#[test]
fn variables_and_documents_are_texts() {
    let prompt = r#"{"prompt":{"id":"no","variables":{"a":"A","b":{"type":"input_text","text":"B"},"c":{"type":"input_image","image_url":"no"}}},"input":"C"}"#;
    assert_eq!(found(prompt), ["A", "B", "C"]);
    let document = r#"{"messages":[{"role":"user","content":[{"document":{"format":"txt","name":"A","source":{"text":"B"},"context":"C"}},
        {"document":{"name":"D","source":{"content":[{"text":"E"}]}}},{"document":{"name":"F","source":{"bytes":"no"}}},
        {"searchResult":{"source":"no","title":"G","content":[{"text":"H"}]}}]}]}"#;
    assert_eq!(found(document), ["A", "B", "C", "D", "E", "F", "G", "H"]);
    let block = r#"{"messages":[{"role":"user","content":[{"type":"document","title":"A","context":"B","source":{"type":"text","data":"C"}},
        {"type":"document","source":{"type":"content","content":[{"type":"text","text":"D"}]}}]}]}"#;
    assert_eq!(found(block), ["A", "B", "C", "D"]);
}

/// Only the model thinks, and an item must have one type.
#[test]
fn text_in_other_clothes_is_text() {
    let said = |role: &str, part: &str| {
        let body = format!(r#"{{"messages":[{{"role":"{role}","content":[{part}]}}]}}"#);
        let all = texts(&body).unwrap();
        all.iter().any(|said| said.text(&body) == "X")
    };
    for part in [
        r#"{"type":"thinking","thinking":"X"}"#,
        r#"{"type":"thinking","text":"X"}"#,
        r#"{"text":"X","thought":true}"#,
        r#"{"reasoningContent":{"reasoningText":{"text":"X"}}}"#,
        r#"{"type":"web_search_tool_result","content":[{"type":"text","text":"X"}]}"#,
    ] {
        assert!(said("user", part) && said("tool", part), "{part}");
        assert!(!said("assistant", part) && !said("model", part), "{part}");
    }
    for part in [
        r#"{"type":"text","type":"thinking","text":"X"}"#,
        r#"{"type":"thinking","type":"text","text":"X"}"#,
        r#"{"type":"image","text":"X","type":null}"#,
        r#"{"text":"X","thought":true,"thought":false}"#,
    ] {
        assert!(said("user", part) && said("assistant", part), "{part}");
    }
    assert!(said(r#"assistant","role":"user"#, r#"{"type":"thinking","thinking":"X"}"#));
    assert!(!said("user", r#"{"type":"redacted_thinking","data":"X"}"#));
}

/// Bedrock counts the tokens of a request in an envelope. One in base64 cannot be read.
#[test]
fn requests_in_envelopes_are_read() {
    let body = r#"{"input":{"converse":{"system":[{"text":"A"}],"messages":[{"role":"user","content":[{"text":"B"}]}]}}}"#;
    assert_eq!(found(body), ["A", "B"]);
    assert!(texts(r#"{"input":{"invokeModel":{"body":"eyJ9"}}}"#).is_err());
}

/// For an unknown kind every string is read, except for known members that are not text.
#[test]
fn blocks_of_unknown_kinds_are_read() {
    let body = r#"{"messages":[{"role":"user","name":"A","content":[{"type":"memo","id":"no","cache_control":{"type":"no"},"head":"B","lines":["C",{"url":"no","more":"D"}],"input":"E"}]},
        {"role":"assistant","content":[{"type":"new_use","name":"no","input":{"x":"no"},"note":"F"}]},{"role":"tool","name":"no","content":"G"}],"stop":"H"}"#;
    assert_eq!(found(body), ["A", "B", "C", "D", "E", "F", "G", "H"]);
}

/// Also if they have a role; their names are text unless the model made them.
#[test]
fn blocks_of_unknown_kinds_with_a_role_or_a_name_are_read() {
    let body = r#"{"input":[{"type":"memo","role":"user","id":"no","note":"A","name":"B"},{"type":"memo","filename":"C"},
        {"type":"message","role":"user","content":"D","note":"no"},{"type":"memo","role":"assistant","note":"E"},
        {"role":"assistant","reasoning_content":"no","content":"F","tool_calls":[{"function":{"arguments":"no"}}]}]}"#;
    assert_eq!(found(body), ["A", "B", "C", "D", "E", "F"]);
}

#[test]
fn models_that_embed_and_draw_are_read() {
    for (body, said) in [
        (
            r#"{"taskType":"INPAINTING","inPaintingParams":{"text":"A","negativeText":"B","image":"no","maskPrompt":"C"},"imageGenerationConfig":{"width":1}}"#,
            vec!["A", "B", "C"],
        ),
        (
            r#"{"taskType":"SINGLE_EMBEDDING","singleEmbeddingParams":{"text":{"value":"A"}}}"#,
            vec!["A"],
        ),
        // A conversation is read as one nevertheless.
        (
            r#"{"taskType":"x","messages":[{"role":"tool","content":[{"json":{"k":1}}]},{"role":"user","name":"A","content":"B"}]}"#,
            vec!["k", "1", "A", "B"],
        ),
        (r#"{"prompt":"A","negative_prompt":"B","output_format":"no"}"#, vec!["A", "B"]),
        (r#"{"inputType":"text","text":{"inputText":"A"}}"#, vec!["A"]),
        (r#"{"input":"A","text":{"format":{"type":"json_schema","name":"no"}}}"#, vec!["A"]),
        (r#"{"promptVariables":{"a":{"text":"A"}}}"#, vec!["A"]),
    ] {
        assert_eq!(found(body), said, "{body}");
    }
}

#[test]
fn other_bodies_and_templates_are_read() {
    let extra = r#"{"messages":[{"role":"user","content":"A"}],"extra_body":{"messages":[{"role":"user","content":"B"}],"user":"no"}}"#;
    assert_eq!(found(extra), ["A", "B"]);
    assert_eq!(
        found(r#"{"model":"no","prompt":"A","template":"B {{ .Prompt }}"}"#),
        ["A", "B {{ .Prompt }}"]
    );
}

#[test]
fn requests_that_are_no_conversation_say_every_string() {
    let plain = |body| -> Vec<&str> {
        plain_texts(body).unwrap().into_iter().map(|said| said.at.of(body)).collect()
    };
    assert_eq!(plain(r#"{"model":"no","input":["A","B"],"user":"no","dimensions":3}"#), ["A", "B"]);
    assert_eq!(plain(r#"{"requests":[{"model":"no","content":{"parts":[{"text":"A"}]}}]}"#), ["A"]);
    assert_eq!(plain(r#"{"query":"A","documents":[{"id":"no","k":"B"}]}"#), ["A", "k", "B"]);
    assert_eq!(plain(r#"["A"]"#), ["A"]);
    assert!(plain_texts("{").is_err());
}
