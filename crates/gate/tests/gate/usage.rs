//! The usage that a response reports, and the arguments of calls that were denied by name.

use callgate_dialect::Dialect;
use callgate_gate::{Close, Decision, Ending, Gate, NameDecision, Note, OnDeny, Step, Usage};
use callgate_policy::{Denial, Policies};
use callgate_testkit::corpus;
use callgate_testkit::drive::{self, Run};
use serde_json::{Value, json};

const CHAT: Dialect = Dialect::OpenAiChat;
const MESSAGES: Dialect = Dialect::Anthropic;

fn run(dialect: Dialect, policies: &Policies, body: &[u8]) -> (Run, Gate) {
    let mut gate = Gate::new(dialect, drive::settings(OnDeny::Explain));
    let ending = Ending::Error("never ended".into());
    let mut run = Run { out: Vec::new(), judged: Vec::new(), notes: Vec::new(), ending };
    gate.push(body);
    drive::steps(&mut gate, policies, &mut run);
    gate.close(Close::End);
    drive::steps(&mut gate, policies, &mut run);
    (run, gate)
}

fn usage_of(dialect: Dialect, body: &str) -> Usage {
    run(dialect, &drive::allow_all(), body.as_bytes()).1.usage()
}

fn chunks(chunks: &[Value]) -> String {
    chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect()
}

fn events(events: &[Value]) -> String {
    let event =
        |data: &Value| format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap());
    events.iter().map(event).collect()
}

fn counts(usage: &Usage) -> (Option<u64>, Option<u64>, Option<&str>, u32) {
    (usage.input, usage.output, usage.stop_reason.as_deref(), usage.calls)
}

#[test]
fn recordings_tell_their_tokens() {
    let told = [
        ("anthropic/tool-single", (Some(819), Some(75), Some("tool_use"), 1)),
        ("anthropic/memory-tool", (Some(1614), Some(69), Some("tool_use"), 1)),
        (
            "anthropic/programmatic-turn2-call-in-message-start",
            (Some(0), Some(0), Some("tool_use"), 1),
        ),
        ("openai-chat/groq-gptoss-tool", (Some(304), Some(49), Some("tool_calls"), 1)),
        ("openai-chat/openai-function-call-legacy", (Some(82), Some(16), Some("function_call"), 1)),
        ("openai-chat/mistral-tool", (Some(159), Some(28), Some("tool_calls"), 1)),
        ("ollama/tool-stream-docs", (Some(169), Some(15), Some("stop"), 1)),
        ("ollama/generate-gemma3", (Some(16), Some(51), Some("stop"), 0)),
        ("openai-chat/openai-n2-choices", (Some(26), Some(104), Some("stop"), 0)),
    ];
    for case in corpus::all() {
        let Some((_, want)) = told.iter().find(|(name, _)| *name == case.name) else { continue };
        for policies in [drive::allow_all(), drive::allow_all_held(), drive::deny_names(&["*"])] {
            let (_, gate) = run(case.dialect, &policies, &case.body);
            assert_eq!(counts(&gate.usage()), *want, "{}", case.name);
            assert!(gate.model().is_some(), "{}", case.name);
        }
    }
}

#[test]
fn messages_include_the_cache_and_the_last_count_wins() {
    let usage = json!({ "input_tokens": 3, "cache_creation_input_tokens": 20,
        "cache_read_input_tokens": 100, "output_tokens": 1 });
    let start = json!({ "type": "message_start", "message": { "content": [], "usage": usage } });
    let delta = |output: Value, reason: Value| json!({ "type": "message_delta", "delta": { "stop_reason": reason }, "usage": { "output_tokens": output } });
    let stream = [start, delta(json!(7), json!(null)), delta(json!(12), json!("max_tokens"))];
    let usage = usage_of(MESSAGES, &events(&stream));
    assert_eq!(counts(&usage), (Some(123), Some(12), Some("max_tokens"), 0));
}

#[test]
fn chat_counts_wherever_they_come() {
    let text = |words: &str, usage: Value| {
        let choice = json!({ "index": 0, "delta": { "content": words }, "finish_reason": null });
        json!({ "object": "chat.completion.chunk", "choices": [choice], "usage": usage })
    };
    let tokens = |output: u32| json!({ "prompt_tokens": 9, "completion_tokens": output });
    // In every chunk except the last.
    let every: Vec<Value> =
        (1..30).map(|n| text("x", tokens(n))).chain([text("x", Value::Null)]).collect();
    assert_eq!(counts(&usage_of(CHAT, &chunks(&every))), (Some(9), Some(29), None, 0));
    // At the end, with two reasons.
    let end = |reason: &str| {
        let choice = json!({ "index": 0, "delta": {}, "finish_reason": reason });
        json!({ "choices": [choice], "usage": null })
    };
    let last = json!({ "choices": [], "usage": tokens(5) });
    let stream = [text("x", Value::Null), end("length"), end("stop"), last];
    assert_eq!(counts(&usage_of(CHAT, &chunks(&stream))), (Some(9), Some(5), Some("length"), 0));
}

/// Cached tokens are part of the input, and reasoning tokens part of the output, whatever an API
/// calls them.
#[test]
fn every_api_reports_cached_and_reasoning_tokens() {
    let chat = |usage: Value| json!({ "choices": [], "usage": usage }).to_string();
    let output = json!({ "text": "x" });
    let told = [
        (
            CHAT,
            chat(json!({ "prompt_tokens": 9, "completion_tokens": 5,
            "prompt_tokens_details": { "cached_tokens": 4 },
            "completion_tokens_details": { "reasoning_tokens": 3 } })),
            Some(3),
        ),
        (
            CHAT,
            chat(json!({ "prompt_tokens": 9, "completion_tokens": 5,
            "prompt_cache_hit_tokens": 4 })),
            None,
        ),
        (
            MESSAGES,
            json!({ "type": "message", "content": [], "usage": { "input_tokens": 5,
            "cache_read_input_tokens": 4, "output_tokens": 5,
            "output_tokens_details": { "thinking_tokens": 3 } } })
            .to_string(),
            Some(3),
        ),
        (
            Dialect::Responses,
            json!({ "object": "response", "status": "completed", "output": [],
            "usage": { "input_tokens": 9, "input_tokens_details": { "cached_tokens": 4 },
            "output_tokens": 5, "output_tokens_details": { "reasoning_tokens": 3 } } })
            .to_string(),
            Some(3),
        ),
        (
            Dialect::Gemini,
            json!({ "candidates": [{ "content": { "parts": [output] } }],
            "usageMetadata": { "promptTokenCount": 9, "candidatesTokenCount": 2,
            "thoughtsTokenCount": 3, "cachedContentTokenCount": 4 } })
            .to_string(),
            Some(3),
        ),
        (
            Dialect::Interactions,
            json!({ "object": "interaction", "id": "i", "status": "completed",
            "steps": [], "usage": { "total_input_tokens": 9, "total_output_tokens": 2,
            "total_thought_tokens": 3, "total_cached_tokens": 4 } })
            .to_string(),
            Some(3),
        ),
        (
            Dialect::Cohere,
            json!({ "id": "c", "finish_reason": "COMPLETE",
            "message": { "role": "assistant", "content": [] }, "usage": { "cached_tokens": 4,
            "tokens": { "input_tokens": 9, "output_tokens": 5 } } })
            .to_string(),
            None,
        ),
        (
            Dialect::Converse,
            json!({ "output": { "message": { "role": "assistant", "content": [] } },
            "stopReason": "end_turn", "usage": { "inputTokens": 5, "cacheReadInputTokens": 4,
            "outputTokens": 5 } })
            .to_string(),
            None,
        ),
    ];
    for (dialect, body, reasoning) in told {
        let usage = usage_of(dialect, &body);
        let found = (usage.input, usage.cached, usage.output, usage.reasoning);
        assert_eq!(found, (Some(9), Some(4), Some(5), reasoning), "{dialect:?} {body}");
    }
}

/// Nothing about usage is ever a reason to refuse.
#[test]
fn odd_usage_is_left_alone() {
    for usage in [
        r#"{"prompt_tokens":"9","completion_tokens":-1}"#,
        r#"{"prompt_tokens":{},"prompt_tokens":[],"Prompt_Tokens":1}"#,
        r#"{"input_tokens":1.5,"output_tokens":null,"output_tokens":"x"}"#,
        r#""many""#,
        "[1]",
        "null",
    ] {
        let chat = format!(
            "{{\"choices\":[{{\"index\":0,\"message\":{{\"content\":\"x\"}}}}],\"usage\":{usage}}}"
        );
        let message = format!("{{\"type\":\"message\",\"content\":[],\"usage\":{usage}}}");
        for (dialect, body) in [(CHAT, chat), (MESSAGES, message)] {
            let (run, gate) = run(dialect, &drive::allow_all(), body.as_bytes());
            assert_eq!((run.text(), run.ending), (body, Ending::Clean));
            assert_eq!(gate.usage(), Usage::default(), "{usage}");
        }
    }
}

#[test]
fn calls_of_the_client_are_counted_whatever_becomes_of_them() {
    let block =
        |kind: &str, name: &str| json!({ "type": kind, "id": "t", "name": name, "input": {} });
    let content = [block("tool_use", "a"), block("server_tool_use", "b"), block("tool_use", "c")];
    let body = json!({ "type": "message", "content": content, "stop_reason": "tool_use" });
    for policies in [drive::allow_all(), drive::deny_names(&["*"])] {
        let (_, gate) = run(MESSAGES, &policies, body.to_string().as_bytes());
        assert_eq!(counts(&gate.usage()), (None, None, Some("tool_use"), 2));
    }
}

fn completed(run: &Run) -> Vec<(String, String, String)> {
    let told = |note: &Note| match note {
        Note::Completed { call, .. } => Some((
            call.name.raw().to_owned(),
            call.id.as_str().to_owned(),
            call.arguments.raw().to_owned(),
        )),
        _ => None,
    };
    run.notes.iter().filter_map(told).collect()
}

fn entry(index: u32, name: Option<&str>, arguments: &str) -> Value {
    let mut entry = json!({ "index": index, "function": { "arguments": arguments } });
    if let Some(name) = name {
        entry["id"] = json!(format!("call_{index}"));
        entry["function"]["name"] = json!(name);
    }
    let choice = json!({ "index": 0, "delta": { "tool_calls": [entry] } });
    json!({ "object": "chat.completion.chunk", "choices": [choice] })
}

fn owned(list: &[(&str, &str, &str)]) -> Vec<(String, String, String)> {
    list.iter().map(|(a, b, c)| ((*a).into(), (*b).into(), (*c).into())).collect()
}

#[test]
fn a_call_denied_by_name_is_completed_at_its_end() {
    let finish = json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "tool_calls" }] });
    let stream = [
        entry(0, Some("evil"), "{\"a\""),
        entry(0, None, ":1}"),
        entry(1, Some("safe"), "{\"b\":1}"),
        entry(2, Some("evil"), "[2"),
        entry(2, None, "]"),
        finish.clone(),
    ];
    let want = owned(&[("evil", "call_0", "{\"a\":1}"), ("evil", "call_2", "[2]")]);
    let policies = drive::deny_names(&["evil"]);
    let (run, _) = run(CHAT, &policies, (chunks(&stream) + "data: [DONE]\n\n").as_bytes());
    assert_eq!(completed(&run), want);

    // The response ends inside it, without an end or with an error.
    for end in ["", "data: {\"error\":{\"message\":\"boom\"}}\n\n", "data: {\n\n"] {
        let stream = chunks(&stream[..1]) + end;
        let (run, _) = self::run(CHAT, &policies, stream.as_bytes());
        assert_eq!(completed(&run), owned(&[("evil", "call_0", "{\"a\"")]), "{end}");
    }
    // A different name that comes later is not the denied one.
    let grown = [entry(0, Some("evil"), "{"), entry(0, Some("x\u{1}"), "}"), finish];
    let (run, _) = self::run(CHAT, &policies, chunks(&grown).as_bytes());
    assert_eq!(completed(&run), owned(&[("evil", "call_0", "{}")]));
}

#[test]
fn a_block_denied_by_name_is_completed_at_its_stop() {
    let block = json!({ "type": "tool_use", "id": "t", "name": "evil", "input": {} });
    let piece = json!({ "type": "input_json_delta", "partial_json": "{\"a\":1}" });
    let stream = [
        json!({ "type": "message_start", "message": { "content": [] } }),
        json!({ "type": "content_block_start", "index": 0, "content_block": block }),
        json!({ "type": "content_block_delta", "index": 0, "delta": piece }),
        json!({ "type": "content_block_stop", "index": 0 }),
        json!({ "type": "message_delta", "delta": { "stop_reason": "tool_use" } }),
        json!({ "type": "message_stop" }),
    ];
    let want = owned(&[("evil", "t", "{\"a\":1}")]);
    for end in 3..=stream.len() {
        let policies = drive::deny_names(&["evil"]);
        let (run, _) = run(MESSAGES, &policies, events(&stream[..end]).as_bytes());
        assert_eq!(completed(&run), want, "{end} events");
    }
}

/// Every call of the corpus that is denied by name is completed exactly once; one that is judged
/// whole never is.
#[test]
fn each_denied_name_is_completed_once() {
    for case in corpus::all() {
        let mut gate = Gate::new(case.dialect, drive::settings(OnDeny::Explain));
        let (mut denied, mut told, mut out) = (Vec::new(), Vec::new(), Vec::new());
        gate.push(&case.body);
        gate.close(Close::End);
        loop {
            match gate.step(&mut out) {
                Step::Name(question) => {
                    denied.push((question.slot, question.call.name.raw().to_owned()));
                    let denial = Denial::refused(question.call.name.raw(), "no");
                    gate.answer_name(question.slot, NameDecision::Deny(denial));
                }
                Step::Judge(question) => {
                    let denial = Denial::refused(question.call.name.raw(), "no");
                    gate.answer(question.slot, Decision::Deny(denial));
                }
                Step::Note(Note::Completed { slot, call }) => {
                    told.push((slot, call.name.raw().to_owned()));
                }
                Step::OnlyDenied(_) => gate.conclude(),
                Step::Note(_) => {}
                Step::Ended(_) => break,
                Step::NeedMore | Step::Waiting => panic!("{}: it does not end", case.name),
            }
        }
        told.sort();
        assert_eq!(told, denied, "{}", case.name);
        let (run, _) = run(case.dialect, &drive::deny_all_by_arguments(), &case.body);
        assert_eq!(completed(&run), [], "{}", case.name);
    }
}
