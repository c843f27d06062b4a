//! Text rules and sanitize rules in the gate: at every split, in streams and in bodies, and what
//! they leave unchanged.

use std::collections::BTreeMap;

use callgate_call::{OriginFields, Surface};
use callgate_dialect::Dialect;
use callgate_gate::{Ending, Note, OnDeny, Settings};
use callgate_policy::{Direction, Policies};
use callgate_testkit::drive::{self, Run};
use callgate_testkit::{clients, corpus};
use serde_json::{Value, json};

const SECRET: &str = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";

fn policies(text: &str, rules: &str) -> Policies {
    drive::policies(&format!("policy: p\nrules: [{rules}]\ntext: [{text}]\n"))
}

fn mask() -> Policies {
    policies("{ id: no-keys, detect: [secret], verdict: mask, reason: No keys. }", "")
}

fn block() -> Policies {
    policies("{ id: no-word, keywords: [xyzzy], verdict: block, reason: Not that word. }", "")
}

fn settings(policies: &Policies) -> Settings {
    let text = policies.text_guard(Direction::Response, &OriginFields::at(Surface::Response));
    Settings { text, ..drive::settings(OnDeny::Explain) }
}

fn run(dialect: Dialect, policies: &Policies, chunks: Vec<&[u8]>) -> Run {
    drive::run(dialect, settings(policies), policies, chunks)
}

/// The common result at every split. The text is the same; which frame has the end of a word
/// depends on whether the rest of it has arrived.
fn every_cut(dialect: Dialect, policies: &Policies, body: &str) -> Run {
    let whole = run(dialect, policies, vec![body.as_bytes()]);
    for chunks in drive::cuttings(body.as_bytes(), 0..body.len()) {
        let at = chunks[0].len();
        let other = run(dialect, policies, chunks);
        assert_eq!(said_apart(&other.text()), said_apart(&whole.text()), "cut at {at}");
        assert_eq!(unsaid(&other.text()), unsaid(&whole.text()), "cut at {at}");
        assert_eq!(other.ending, whole.ending, "cut at {at}");
    }
    whole
}

/// The data of every event that is JSON.
fn data(out: &str) -> Vec<Value> {
    out.lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .filter_map(|data| serde_json::from_str(data).ok())
        .collect()
}

fn messages(pieces: &[&str]) -> String {
    let mut frames = vec![
        json!({"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}),
        json!({"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}),
    ];
    frames.extend(pieces.iter().map(
        |text| json!({"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":text}}),
    ));
    frames.push(json!({"type":"content_block_stop","index":0}));
    frames.push(json!({"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":3}}));
    frames.push(json!({"type":"message_stop"}));
    events(&frames)
}

fn events(frames: &[Value]) -> String {
    let event =
        |frame: &Value| format!("event: {}\ndata: {frame}\n\n", frame["type"].as_str().unwrap());
    frames.iter().map(event).collect()
}

fn chunk(delta: &Value, finish: &Value) -> String {
    let chunk = json!({"id":"c","object":"chat.completion.chunk","created":1,"model":"m",
        "choices":[{"index":0,"delta":delta,"finish_reason":finish}]});
    format!("data: {chunk}\n\n")
}

fn chat(pieces: &[&str]) -> String {
    let said = pieces.iter().map(|text| chunk(&json!({"content":text}), &Value::Null));
    let end = [chunk(&json!({}), &json!("stop")), "data: [DONE]\n\n".to_owned()];
    said.chain(end).collect()
}

/// The text that a client reads from a stream, for either of the two APIs.
fn said(out: &str) -> String {
    data(out)
        .iter()
        .filter_map(|event| {
            event["delta"]["text"].as_str().or(event["choices"][0]["delta"]["content"].as_str())
        })
        .collect()
}

/// The same, separately for each block and choice.
fn said_apart(out: &str) -> BTreeMap<String, String> {
    let mut all: BTreeMap<String, String> = BTreeMap::new();
    for event in data(out) {
        for choice in event["choices"].as_array().into_iter().flatten() {
            let text = choice["delta"]["content"].as_str().unwrap_or_default();
            all.entry(choice["index"].to_string()).or_default().push_str(text);
        }
        let text = event["delta"]["text"].as_str().unwrap_or_default();
        all.entry(format!("block {}", event["index"])).or_default().push_str(text);
    }
    all
}

/// Everything else.
fn unsaid(out: &str) -> Vec<&str> {
    let is_text = |frame: &&str| {
        frame.contains(r#""type":"text_delta""#) || frame.contains(r#""delta":{"content":""#)
    };
    out.split("\n\n").filter(|frame| !is_text(frame)).collect()
}

fn kinds(run: &Run) -> Vec<&str> {
    run.notes
        .iter()
        .filter_map(|note| match note {
            Note::Guardrail(hit) => Some(hit.kind.as_str()),
            _ => None,
        })
        .collect()
}

/// Some ways to split a text into two or three pieces, near the edges: all ways would be thousands.
fn cuts(text: &str) -> Vec<Vec<&str>> {
    let mut all = vec![vec![text], text.split_inclusive("").filter(|it| !it.is_empty()).collect()];
    all.extend((1..text.len()).step_by(5).map(|at| vec![&text[..at], &text[at..]]));
    all
}

#[test]
fn a_secret_in_pieces_is_masked_and_all_else_stays() {
    let text = format!("The key is {SECRET}, keep it.");
    for pieces in cuts(&text) {
        for (dialect, body) in
            [(Dialect::Anthropic, messages(&pieces)), (Dialect::OpenAiChat, chat(&pieces))]
        {
            let run = run(dialect, &mask(), vec![body.as_bytes()]);
            let left = said(&run.text());
            assert!(!run.text().contains("ghp_abc"), "{pieces:?}: {}", run.text());
            assert!(left.starts_with("The key is ") && left.ends_with(", keep it."), "{left}");
            assert_eq!(run.ending, Ending::Clean);
            assert_eq!(kinds(&run).len(), 1, "{:?}", run.notes);
            // A client fails on an event that it cannot parse.
            assert!(run.text().lines().all(|line| {
                line.strip_prefix("data: ").is_none_or(|data| {
                    data == "[DONE]" || serde_json::from_str::<Value>(data).is_ok()
                })
            }));
        }
    }
}

#[test]
fn the_same_at_every_cut_of_the_bytes() {
    let text = format!("Key: {SECRET}\n\u{1F600} \"end\"");
    let pieces: Vec<&str> = vec![&text[..9], &text[9..30], &text[30..]];
    for (dialect, body) in
        [(Dialect::Anthropic, messages(&pieces)), (Dialect::OpenAiChat, chat(&pieces))]
    {
        let run = every_cut(dialect, &mask(), &body);
        assert!(!run.text().contains("ghp_a"), "{}", run.text());
        assert!(said(&run.text()).ends_with("\n\u{1F600} \"end\""), "{}", run.text());
    }
}

#[test]
fn text_without_a_match_leaves_byte_for_byte() {
    for (dialect, body) in [
        (Dialect::Anthropic, messages(&["Nothing ", "to see", " here. "])),
        (Dialect::OpenAiChat, chat(&["Nothing ", "to see", " here. "])),
    ] {
        assert_eq!(every_cut(dialect, &block(), &body).text(), body);
    }
}

/// Text in which every frame ends inside a word that could become an address: input that comes at
/// once leaves unchanged, and input that comes frame by frame is delayed by that word at most.
#[test]
fn a_burst_without_a_match_leaves_byte_for_byte() {
    let rule = "{ id: data, detect: [secret, personal], verdict: mask, reason: No. }";
    let personal = policies(rule, "");
    let pieces =
        ["the answ", "er is \"so\"\n and", " then it na", "mes the fi", "le é", "t"].repeat(200);
    for (dialect, body) in
        [(Dialect::Anthropic, messages(&pieces)), (Dialect::OpenAiChat, chat(&pieces))]
    {
        let whole = run(dialect, &personal, vec![body.as_bytes()]);
        let left = whole.text();
        let same = left.split("\n\n").filter(|frame| body.contains(frame)).count();
        // They are decided every few frames, so that their number stays bounded.
        assert!(same + 16 > body.split("\n\n").count(), "{same}");
        assert_eq!(said(&left), pieces.concat());
        let short = match dialect {
            Dialect::Anthropic => messages(&pieces[..100]),
            _ => chat(&pieces[..100]),
        };
        assert_eq!(run(dialect, &personal, vec![short.as_bytes()]).text(), short);
        let frames: Vec<&[u8]> = short.split_inclusive("\n\n").map(str::as_bytes).collect();
        let live = run(dialect, &personal, frames);
        assert_eq!(said(&live.text()), pieces[..100].concat());
    }
}

/// Thousands of texts in one body. The benchmark `frames many-masked` counts what each costs.
#[test]
fn thousands_of_texts_are_masked_each_in_its_place() {
    let list = |texts: usize| {
        let parts: Vec<Value> =
            (0..texts).map(|at| json!({"type":"text","text":format!("{at} {SECRET}")})).collect();
        json!({"id":"c","object":"chat.completion","created":1,"model":"m","choices":[
            {"index":0,"message":{"role":"assistant","content":parts},"finish_reason":"stop"}]})
        .to_string()
    };
    let body = list(20_000);
    let run = run(Dialect::OpenAiChat, &mask(), vec![body.as_bytes()]);
    assert!(!run.text().contains("ghp_a"));
    assert_eq!(run.text().matches("REDACTED").count(), 20_000);
    let left: Value = serde_json::from_str(&run.text()).unwrap();
    assert_eq!(
        left["choices"][0]["message"]["content"][19_999]["text"],
        "19999 [REDACTED:github_token]"
    );
}

#[test]
fn texts_do_not_count_as_calls() {
    let pieces = |text: &str| -> String {
        let piece = |index: u32| {
            let choice = json!({ "index": index, "delta": { "content": text } });
            format!("data: {}\n\n", json!({ "choices": [choice] }))
        };
        (0..4).map(piece).collect()
    };
    let stream = pieces("ghp_abcdefghij") + &pieces("klmnopqrstuvwxyz0123456789 x");
    let policies = mask();
    let mut settings = settings(&policies);
    settings.limits.calls = 3;
    let run = drive::run(Dialect::OpenAiChat, settings, &policies, [stream.as_bytes()]);
    assert_eq!(run.ending, Ending::Clean, "{}", run.text());
    assert!(!run.text().contains("klmnop"), "{}", run.text());
}

#[test]
fn half_a_pair_is_said_once() {
    let raw = chat(&["a \u{E000}", "\u{E001} b ghp_", &SECRET[4..]]);
    let body = raw.replace('\u{E000}', "\\ud83d").replace('\u{E001}', "\\ude00");
    let run = every_cut(Dialect::OpenAiChat, &mask(), &body);
    assert!(said(&run.text()).starts_with("a \u{1F600} b "), "{}", run.text());
}

/// Text that is held back at the end leaves in one more frame, before the end.
#[test]
fn held_back_text_leaves_before_the_end() {
    for (dialect, body) in [
        (Dialect::Anthropic, messages(&["so: ghp_abc"])),
        (Dialect::OpenAiChat, chat(&["so: ghp_abc"])),
    ] {
        let run = every_cut(dialect, &mask(), &body);
        assert_eq!(said(&run.text()), "so: ghp_abc");
        assert!(kinds(&run).is_empty());
    }
}

#[test]
fn a_held_call_keeps_its_place_next_to_masked_text() {
    let head = |text: &str| chunk(&json!({"content":text}), &Value::Null);
    let call = chunk(
        &json!({"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"Bash","arguments":"{}"}}]}),
        &Value::Null,
    );
    let end = chunk(&json!({}), &json!("tool_calls"));
    let body = [head("key gh"), head(&SECRET[2..]), call, end, "data: [DONE]\n\n".into()].concat();
    let run = every_cut(Dialect::OpenAiChat, &mask(), &body);
    let text = run.text();
    assert!(!text.contains(&SECRET[4..]), "{text}");
    let (mask, call) =
        (text.find("REDACTED").or(text.find('[')).unwrap(), text.find("tool_calls").unwrap());
    assert!(mask < call, "{text}");
    assert!(text.contains(r#""name":"Bash""#) && text.contains("[DONE]"), "{text}");
}

/// The tokens of the text would reveal what was masked.
#[test]
fn tokens_of_a_masked_text_go_with_it() {
    let frame = json!({"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,
        "delta":{"content":SECRET},"logprobs":{"content":[{"token":SECRET,"logprob":-1}]},"finish_reason":null}]});
    let body = format!("data: {frame}\n\n{}", chunk(&json!({}), &json!("stop")));
    let run = every_cut(Dialect::OpenAiChat, &mask(), &body);
    assert!(!run.text().contains("ghp_"), "{}", run.text());
}

#[test]
fn a_blocked_text_cuts_the_stream_in_its_own_form() {
    let body = messages(&["Say xy", "zzy now", " and go on"]);
    let run = every_cut(Dialect::Anthropic, &block(), &body);
    assert_eq!(run.ending, Ending::Blocked);
    let (text, events) = (run.text(), data(&run.text()));
    assert!(
        !text.contains("zzy") && !text.contains("go on") && !text.contains("no-word"),
        "{text}"
    );
    assert!(text.contains("stopped by a content policy"), "{text}");
    let last: Vec<&str> =
        events.iter().rev().take(2).map(|e| e["type"].as_str().unwrap()).collect();
    assert_eq!(last, ["message_stop", "message_delta"]);
    assert_eq!(events[events.len() - 2]["delta"]["stop_reason"], "refusal");
    let count = |kind: &str| events.iter().filter(|event| event["type"] == kind).count();
    assert_eq!(count("content_block_start"), count("content_block_stop"), "{text}");

    let run = every_cut(Dialect::OpenAiChat, &block(), &chat(&["Say xy", "zzy now", " and go on"]));
    let text = run.text();
    assert_eq!(run.ending, Ending::Blocked);
    assert!(!text.contains("zzy") && !text.contains("go on"), "{text}");
    assert!(text.ends_with("data: [DONE]\n\n"), "{text}");
    assert_eq!(data(&text).last().unwrap()["choices"][0]["finish_reason"], "content_filter");
}

/// A call that is held when the response is stopped does not leave, and is reported.
#[test]
fn stopping_discards_held_calls() {
    let call = json!({"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"Bash","arguments":"{\"a\":"}}]});
    let body = [
        chunk(&call, &Value::Null),
        chunk(&json!({"content":"xyzzy now"}), &Value::Null),
        chunk(&json!({"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]}), &Value::Null),
        chunk(&json!({}), &json!("tool_calls")),
    ]
    .concat();
    let policies = policies(
        "{ id: no-word, keywords: [xyzzy], verdict: block, reason: No. }",
        "{ id: never, when: { arg: absent, equals: x }, verdict: deny, reason: never }",
    );
    let run = every_cut(Dialect::OpenAiChat, &policies, &body);
    assert!(!run.text().contains("Bash"), "{}", run.text());
    assert!(
        run.notes.iter().any(|note| matches!(note, Note::Dropped { tool, .. } if tool == "Bash"))
    );
    assert_eq!(run.ending, Ending::Blocked);
}

/// A streaming call cannot be taken back: the stream ends with an error, so that no client takes
/// the call for complete.
#[test]
fn stopping_after_a_live_call_is_an_error() {
    let frames = [
        json!({"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"m","content":[]}}),
        json!({"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}),
        json!({"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t","name":"Bash","input":{}}}),
        json!({"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"a\":"}}),
        json!({"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"xyzzy"}}),
    ];
    let run = every_cut(Dialect::Anthropic, &block(), &events(&frames));
    assert!(matches!(&run.ending, Ending::Error(why) if why.contains("content policy")));
    assert!(run.text().contains("event: error") && !run.text().contains("xyzzy"), "{}", run.text());
}

fn message_body(text: &str) -> String {
    json!({"id":"m","type":"message","role":"assistant","model":"m","content":[
        {"type":"thinking","thinking":text,"signature":"s"},{"type":"text","text":text}],
        "stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":2}})
    .to_string()
}

fn completion_body(text: &str) -> String {
    json!({"id":"c","object":"chat.completion","created":1,"model":"m","choices":[
        {"index":0,"message":{"role":"assistant","content":text},"finish_reason":"stop"},
        {"index":1,"message":{"role":"assistant","content":[{"type":"text","text":text}]},"finish_reason":"stop"}]})
    .to_string()
}

#[test]
fn bodies_are_masked_and_thinking_is_not() {
    let text = format!("Key: {SECRET}.");
    let run = every_cut(Dialect::Anthropic, &mask(), &message_body(&text));
    let body: Value = serde_json::from_str(&run.text()).unwrap();
    assert_eq!(body["content"][0]["thinking"], text, "it is signed");
    let left = body["content"][1]["text"].as_str().unwrap();
    assert!(left.starts_with("Key: ") && left.ends_with('.') && !left.contains("ghp_"), "{left}");

    let run = every_cut(Dialect::OpenAiChat, &mask(), &completion_body(&text));
    assert!(!run.text().contains("ghp_"), "{}", run.text());
    assert_eq!(kinds(&run).len(), 2);
    let plain = completion_body("Nothing.");
    assert_eq!(every_cut(Dialect::OpenAiChat, &mask(), &plain).text(), plain);
}

#[test]
fn a_blocked_body_is_answered_in_its_own_form() {
    let run = every_cut(Dialect::Anthropic, &block(), &message_body("xyzzy"));
    let body: Value = serde_json::from_str(&run.text()).unwrap();
    assert_eq!((run.ending, &body["stop_reason"]), (Ending::Blocked, &json!("refusal")));
    let run = every_cut(Dialect::OpenAiChat, &block(), &completion_body("xyzzy"));
    let body: Value = serde_json::from_str(&run.text()).unwrap();
    assert_eq!(body["choices"][0]["finish_reason"], "content_filter");
    assert!(!run.text().contains("xyzzy"));
}

/// Rules that only audit change nothing.
#[test]
fn audited_text_leaves_as_it_came() {
    let audit = policies("{ id: see, detect: [secret], verdict: audit, reason: Seen. }", "");
    let body = messages(&["The key is ghp_", &SECRET[4..], ", keep it."]);
    let run = every_cut(Dialect::Anthropic, &audit, &body);
    assert_eq!(run.text(), body);
    assert_eq!(kinds(&run).len(), 1);
}

fn sanitize() -> Policies {
    policies(
        "",
        "{ id: clean, verdict: sanitize, sanitize: { detectors: [secret] }, reason: No keys. }",
    )
}

/// What a rule removes from the arguments is gone, however they came; the rest of the call stays.
#[test]
fn sanitized_arguments_leave_whole() {
    let input =
        json!({"deep":[{"token":format!("x {SECRET} \"y\"")}],"n":12345678901234567890_u64})
            .to_string();
    let escaped = input.replace("ghp_", "\\u0067hp_");
    for input in [&input, &escaped] {
        let mut frames = vec![
            json!({"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"m","content":[]}}),
            json!({"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t1","name":"Bash","input":{},"new":1}}),
        ];
        frames.extend(input.as_bytes().chunks(7).map(|piece| {
            let piece = std::str::from_utf8(piece).unwrap();
            json!({"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":piece}})
        }));
        frames.push(json!({"type":"content_block_stop","index":0}));
        frames.push(json!({"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":3}}));
        let run = every_cut(Dialect::Anthropic, &sanitize(), &events(&frames));
        let found = data(&run.text());
        assert!(!run.text().contains("hp_abc"), "{}", run.text());
        let starts: Vec<&Value> =
            found.iter().filter(|e| e["type"] == "content_block_start").collect();
        assert_eq!(starts, [&frames[1]]);
        let pieces: Vec<&str> =
            found.iter().filter_map(|event| event["delta"]["partial_json"].as_str()).collect();
        assert_eq!(pieces.len(), 1, "{}", run.text());
        assert!(pieces[0].contains("12345678901234567890"), "{pieces:?}");
        assert!(serde_json::from_str::<Value>(pieces[0]).is_ok());
        assert_eq!(found.iter().filter(|e| e["type"] == "content_block_stop").count(), 1);

        let first = json!({"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"Bash","arguments":""},"extra":{"signature":"s"}}]});
        let mut body = chunk(&first, &Value::Null);
        for piece in input.as_bytes().chunks(7) {
            let piece = std::str::from_utf8(piece).unwrap();
            body += &chunk(
                &json!({"tool_calls":[{"index":0,"function":{"arguments":piece}}]}),
                &Value::Null,
            );
        }
        body += &chunk(&json!({}), &json!("tool_calls"));
        let run = every_cut(Dialect::OpenAiChat, &sanitize(), &body);
        assert!(!run.text().contains("hp_abc"), "{}", run.text());
        assert!(run.text().contains(r#""extra":{"signature":"s"}"#), "{}", run.text());
        let found = data(&run.text());
        let calls: Vec<&Value> = found
            .iter()
            .map(|e| &e["choices"][0]["delta"]["tool_calls"][0])
            .filter(|c| !c.is_null())
            .collect();
        assert_eq!(calls.len(), 1, "{}", run.text());
        assert_eq!(calls[0]["id"], "c1");
    }
}

#[test]
fn sanitized_bodies_keep_the_rest() {
    let input = json!({"token":SECRET,"n":1});
    let message = json!({"id":"m","type":"message","role":"assistant","model":"m","content":[
        {"type":"tool_use","id":"t1","name":"Bash","input":input,"new":1}],"stop_reason":"tool_use"});
    let run = every_cut(Dialect::Anthropic, &sanitize(), &message.to_string());
    let mut left: Value = serde_json::from_str(&run.text()).unwrap();
    assert!(!run.text().contains("ghp_"), "{}", run.text());
    left["content"][0]["input"] = input.clone();
    assert_eq!(left, message, "nothing else changed");

    let completion = json!({"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,
        "message":{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","new":1,
        "function":{"name":"Bash","arguments":input.to_string()}}]},"finish_reason":"tool_calls"}]});
    let run = every_cut(Dialect::OpenAiChat, &sanitize(), &completion.to_string());
    let mut left: Value = serde_json::from_str(&run.text()).unwrap();
    assert!(!run.text().contains("ghp_"), "{}", run.text());
    left["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"] =
        input.to_string().into();
    assert_eq!(left, completion);
}

/// If nothing is found, the call leaves unchanged.
#[test]
fn a_sanitizer_that_finds_nothing_changes_nothing() {
    let body = chunk(
        &json!({"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"Bash","arguments":"{\"a\":1}"}}]}),
        &json!("tool_calls"),
    );
    assert_eq!(every_cut(Dialect::OpenAiChat, &sanitize(), &body).text(), body);
}

/// Every response of the corpus, of every API, with nearly every word masked: clients still find
/// the same calls in it, and it ends in the same way.
#[test]
fn calls_are_unchanged_next_to_masked_text() {
    let masked =
        policies("{ id: words, matches: '[A-Za-z]{3,}', verdict: mask, reason: Words. }", "");
    let mut changed = 0;
    for case in corpus::all() {
        let plain = drive::settings(OnDeny::Explain);
        let plain = drive::run(case.dialect, plain, &masked, [case.body.as_slice()]);
        let run = run(case.dialect, &masked, vec![&case.body]);
        let calls = |run: &Run| clients::readings(case.dialect, &run.out);
        assert_eq!(calls(&run), calls(&plain), "{}", case.name);
        assert_eq!(run.ending, plain.ending, "{}", case.name);
        assert!(broken(&run) <= broken(&plain), "{}: {}", case.name, run.text());
        changed += usize::from(run.out != plain.out);
    }
    assert!(changed > 50, "only {changed} had text");
}

/// How many events are not JSON.
fn broken(run: &Run) -> usize {
    let data = |line: &str| line.strip_prefix("data: {").map(|rest| format!("{{{rest}"));
    let is_broken = |data: &String| serde_json::from_str::<Value>(data).is_err();
    run.text().lines().filter_map(data).filter(is_broken).count()
}

/// An array that a text rule stops is still a valid array.
#[test]
fn a_cut_array_is_still_one() {
    let blocked = policies("{ id: any, matches: '[a-z]', verdict: block, reason: No. }", "");
    let mut cut = 0;
    for name in
        ["gemini/array-tool-gemini3", "gemini/array-tool-nested-args", "gemini/evasion-array"]
    {
        let all = corpus::all();
        let Some(case) = all.iter().find(|case| case.name == name) else { continue };
        let run = run(case.dialect, &blocked, vec![&case.body]);
        if run.ending == Ending::Blocked {
            cut += 1;
            let left: Value = serde_json::from_str(&run.text()).expect("an array");
            assert!(left.is_array(), "{left}");
        }
    }
    assert!(cut > 0, "nothing was cut");
}

/// The same with rules that find nothing: text that was held back is not lost.
#[test]
fn nothing_is_lost_where_nothing_is_found() {
    let watched = policies("{ id: no, matches: 'e [a-z]+ qqq', verdict: mask, reason: No. }", "");
    for case in corpus::all() {
        let plain = drive::settings(OnDeny::Explain);
        let plain = drive::run(case.dialect, plain, &watched, [case.body.as_slice()]);
        let run = run(case.dialect, &watched, vec![&case.body]);
        assert!(kinds(&run).is_empty(), "{}", case.name);
        assert_eq!(run.ending, plain.ending, "{}", case.name);
        if matches!(case.dialect, Dialect::Anthropic | Dialect::OpenAiChat) {
            assert_eq!(said_apart(&run.text()), said_apart(&plain.text()), "{}", case.name);
        }
    }
}
