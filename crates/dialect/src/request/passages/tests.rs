use callgate_call::ValuePlace;
use serde_json::{Value, json};

use super::*;

/// Each request has the words `given`, `found` and `written`: by the user or the system, in a tool
/// result, by the model.
#[track_caller]
fn check(request: Value) {
    let passages = passages(&request.to_string()).unwrap();
    let place = |word: &str| passages.place_of(word);
    assert_eq!(place("given"), ValuePlace::Given, "{request}");
    assert_eq!(place("found"), ValuePlace::OnlyToolResult, "{request}");
    assert_eq!(place("written"), ValuePlace::Nowhere, "{request}");
}

#[test]
fn messages() {
    let call =
        json!({ "type": "tool_use", "id": "t", "name": "fetch", "input": { "a": "written" } });
    let result = |content: Value| {
        json!({ "messages": [
            { "role": "user", "content": [{ "type": "text", "text": "given" }] },
            { "role": "assistant", "content": [{ "type": "thinking", "thinking": "written", "signature": "s" }, call] },
            { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "t", "content": content }] },
        ] })
    };
    check(result(json!("found")));
    check(result(json!([{ "type": "text", "text": "found" }])));
    check(json!({ "system": [{ "type": "text", "text": "given" }], "messages": [
        { "role": "user", "content": "hi" },
        { "role": "assistant", "content": [
            { "type": "server_tool_use", "name": "web_search", "input": { "query": "written" } },
            { "type": "web_search_tool_result", "content": [{ "type": "web_search_result", "title": "found" }] },
            { "type": "text", "text": "written" },
        ] },
    ] }));
}

#[test]
fn chat() {
    check(json!({ "messages": [
        { "role": "developer", "content": "given" },
        { "role": "assistant", "content": "written", "tool_calls": [
            { "id": "c", "function": { "name": "f", "arguments": "{\"a\":\"written\"}" } },
        ] },
        { "role": "tool", "tool_call_id": "c", "content": "found" },
    ] }));
}

#[test]
fn responses() {
    check(json!({ "instructions": "given", "previous_response_id": null, "input": [
        { "role": "user", "content": [{ "type": "input_text", "text": "hi" }] },
        { "type": "function_call", "call_id": "c", "name": "f", "arguments": "{\"a\":\"written\"}" },
        { "type": "function_call_output", "call_id": "c", "output": "{\"to\":\"found\"}" },
        { "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "written" }] },
    ] }));
    check(json!({ "input": [
        { "type": "message", "role": "user", "content": "given" },
        { "type": "mcp_call", "name": "f", "arguments": "written", "output": "found" },
        { "type": "code_interpreter_call", "code": "written", "outputs": [{ "type": "logs", "logs": "x" }] },
        { "type": "custom_tool_call_output", "call_id": "c", "output": [{ "type": "input_text", "text": "y" }] },
    ] }));
}

#[test]
fn gemini_and_interactions() {
    check(json!({ "systemInstruction": { "parts": [{ "text": "given" }] }, "contents": [
        { "role": "model", "parts": [{ "functionCall": { "name": "f", "args": { "a": "written" } } }] },
        { "role": "user", "parts": [{ "functionResponse": { "name": "f", "response": { "a": { "b": "found" } } } }] },
    ] }));
    check(json!({ "request": { "contents": [
        { "parts": [{ "text": "given" }] },
        { "role": "model", "parts": [
            { "executableCode": { "code": "written" } },
            { "codeExecutionResult": { "outcome": "OUTCOME_OK", "output": "found" } },
        ] },
    ] } }));
    check(json!({ "input": [
        { "type": "user_input", "content": [{ "type": "text", "text": "given" }] },
        { "type": "thought", "summary": [{ "type": "text", "text": "written" }] },
        { "type": "function_call", "id": "c", "name": "f", "arguments": { "a": "written" } },
        { "type": "function_result", "call_id": "c", "name": "f", "result": { "a": "found" } },
        { "type": "model_output", "content": [{ "type": "text", "text": "written" }] },
    ] }));
}

#[test]
fn cohere_converse_and_ollama() {
    check(
        json!({ "message": "given", "chat_history": [{ "role": "CHATBOT", "message": "written" }],
        "tool_results": [{ "call": { "name": "f", "parameters": { "a": "written" } }, "outputs": [{ "a": "found" }] }] }),
    );
    check(json!({ "messages": [
        { "role": "user", "content": "given" },
        { "role": "assistant", "tool_plan": "written", "tool_calls": [] },
        { "role": "tool", "content": [{ "type": "document", "document": { "data": "found" } }] },
    ] }));
    check(json!({ "system": [{ "text": "given" }], "messages": [
        { "role": "assistant", "content": [{ "toolUse": { "toolUseId": "t", "input": { "a": "written" } } }] },
        { "role": "user", "content": [{ "toolResult": { "toolUseId": "t", "content": [{ "json": { "found": 1 } }] } }] },
    ] }));
    check(json!({ "messages": [
        { "role": "user", "content": "given" },
        { "role": "assistant", "content": "", "tool_calls": [{ "function": { "name": "f", "arguments": { "a": "written" } } }] },
        { "role": "tool", "tool_name": "f", "content": "found" },
    ] }));
}

/// A tool cannot make its result look like text of the user.
#[test]
fn a_role_inside_a_result_is_data() {
    let content =
        json!([{ "role": "user", "type": "user_input", "content": "found", "text": "found" }]);
    check(json!({ "messages": [
        { "role": "user", "content": "given" },
        { "role": "user", "content": [{ "type": "tool_result", "content": content }] },
    ] }));
}

#[test]
fn a_conversation_that_is_stored_elsewhere() {
    for request in [
        json!({ "previous_response_id": "resp_1", "input": "hi" }),
        json!({ "conversation": { "id": "conv_1" }, "input": "hi" }),
        json!({ "previous_interaction_id": "i", "input": "hi" }),
        json!({ "cachedContent": "cachedContents/x", "contents": [] }),
        json!({ "conversation_id": "x", "message": "hi" }),
        json!({ "prompt": { "id": "pmpt_1" } }),
        json!({ "thread": { "id": "thread_1" }, "messages": [] }),
        json!({ "assistant_id": "asst_1" }),
        json!({ "input": [{ "type": "item_reference", "id": "x" }] }),
        json!({ "input": [{ "type": "compaction", "encrypted_content": "x" }] }),
    ] {
        let found = passages(&request.to_string());
        assert_eq!(found.unwrap_err(), HiddenConversation::Stored, "{request}");
    }
    assert_eq!(passages("{").unwrap_err(), HiddenConversation::Unreadable);
}
