use super::*;

fn found(body: &str) -> Vec<&str> {
    texts(body).unwrap().into_iter().map(|span| span.of(body)).collect()
}

#[test]
fn messages_say_what_is_text() {
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
fn chat_says_what_is_text() {
    let body = r#"{"messages":[{"role":"developer","content":"A"},{"role":"user","content":[{"type":"text","text":"B"},
        {"type":"image_url","image_url":{"url":"data:no"}}]},
        {"role":"assistant","content":null,"reasoning_content":"no","tool_calls":[{"id":"no","function":{"name":"no","arguments":"{\"text\":\"no\"}"}}]},
        {"role":"tool","tool_call_id":"no","content":"C"}],"user":"no"}"#;
    assert_eq!(found(body), ["A", "B", "C"]);
}

#[test]
fn responses_say_what_is_text() {
    let body = r#"{"instructions":"A","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"B"}]},
        {"role":"user","content":"C"},{"type":"reasoning","id":"no","summary":[{"text":"no"}],"encrypted_content":"no"},
        {"type":"function_call","call_id":"no","name":"no","arguments":"no"},
        {"type":"function_call_output","call_id":"no","output":"D"},
        {"type":"custom_tool_call_output","call_id":"no","output":[{"type":"input_text","text":"E"}]}],"text":{"format":{"type":"text"}}}"#;
    assert_eq!(found(body), ["A", "B", "C", "D", "E"]);
    assert_eq!(found(r#"{"input":"A"}"#), ["A"]);
}

#[test]
fn gemini_says_what_is_text() {
    let body = r#"{"systemInstruction":{"parts":[{"text":"A"}]},"contents":[{"role":"user","parts":[{"text":"B"},
        {"inlineData":{"mimeType":"image/png","data":"no"}}]},
        {"role":"model","parts":[{"text":"no","thought":true},{"text":"C","thoughtSignature":"no"},{"functionCall":{"name":"no","args":{"text":"no"}}}]},
        {"role":"user","parts":[{"functionResponse":{"id":"no","name":"no","response":{"output":"D","deep":[{"any":"E"}]}}}]}]}"#;
    assert_eq!(found(body), ["A", "B", "C", "D", "E"]);
    let snake = r#"{"request":{"system_instruction":{"parts":{"text":"A"}},"contents":[{"parts":[{"function_response":{"response":{"x":"B"}}}]}]}}"#;
    assert_eq!(found(snake), ["A", "B"]);
}

#[test]
fn the_others_say_what_is_text() {
    let ollama = r#"{"messages":[{"role":"user","content":"A","images":["no"]},{"role":"assistant","content":"B","thinking":"no"},{"role":"tool","content":"C"}]}"#;
    assert_eq!(found(ollama), ["A", "B", "C"]);
    let cohere = r#"{"messages":[{"role":"tool","tool_call_id":"no","content":[{"type":"document","document":{"data":"A"}}]}],"documents":[{"data":{"snippet":"B"}},"C"]}"#;
    assert_eq!(found(cohere), ["A", "B", "C"]);
    let converse = r#"{"system":[{"text":"A"}],"messages":[{"role":"user","content":[{"text":"B"},{"toolResult":{"toolUseId":"no","content":[{"text":"C"},{"json":{"x":"D"}}],"status":"error"}},{"reasoningContent":{"reasoningText":{"text":"no","signature":"no"}}}]}]}"#;
    assert_eq!(found(converse), ["A", "B", "C", "D"]);
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
    let changes = vec![(texts(body).unwrap()[0], "x".to_owned())];
    assert_eq!(
        with_texts(body, changes),
        r#"{ "messages" : [ {"content":"x"} , {"content":"c"} ] }"#
    );
}
