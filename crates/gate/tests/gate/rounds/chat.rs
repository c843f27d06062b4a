//! Chat turns that continue after a denial: what the client gets is one valid answer, wherever the
//! answers are cut.

use callgate_dialect::Dialect;
use callgate_dialect::request::TextDigest;
use callgate_gate::{Close, Ending, Notice, OnDeny};
use callgate_policy::Policies;
use callgate_testkit::drive;
use serde_json::{Value, json};

use super::{Next, Seen, turn_in};

const CHAT: Dialect = Dialect::OpenAiChat;

/// What an answer consists of.
#[derive(Clone, Copy)]
struct Said<'a> {
    text: &'a str,
    reasoning: &'a str,
    /// Ids and names.
    calls: &'a [(&'a str, &'a str)],
}

const DENIED: Said<'_> = Said { text: "Let me see.", reasoning: "Hm.", calls: &[("c1", "rm")] };
const OTHER_WAY: Said<'_> = Said { text: "Another way.", reasoning: "So.", calls: &[("c2", "ls")] };

fn said<'a>(text: &'a str, calls: &'a [(&'a str, &'a str)]) -> Said<'a> {
    Said { text, reasoning: "", calls }
}

fn usage(tokens: u64) -> Value {
    json!({ "prompt_tokens": tokens, "completion_tokens": 10, "total_tokens": tokens + 10,
        "prompt_tokens_details": { "cached_tokens": 4 } })
}

/// An answer as a stream.
fn stream(said: Said<'_>, reason: &str, tokens: u64) -> String {
    let mut out = String::new();
    let mut chunk = |choices: Value, usage: Value| {
        let data = json!({ "id": format!("chatcmpl-{tokens}"), "object": "chat.completion.chunk",
            "created": tokens, "model": "m", "choices": choices, "usage": usage });
        out.push_str(&format!("data: {data}\n\n"));
    };
    let choice = |delta: Value, finish: Value| json!([{ "index": 0, "delta": delta, "logprobs": null, "finish_reason": finish }]);
    chunk(choice(json!({ "role": "assistant", "content": "" }), Value::Null), Value::Null);
    if !said.reasoning.is_empty() {
        let details = json!([{ "type": "reasoning.text", "text": said.reasoning, "index": 0 }]);
        let delta = json!({ "reasoning": said.reasoning, "reasoning_details": details });
        chunk(choice(delta, Value::Null), Value::Null);
    }
    for word in said.text.split_inclusive(' ') {
        chunk(choice(json!({ "content": word }), Value::Null), Value::Null);
    }
    for (index, (id, name)) in said.calls.iter().enumerate() {
        let call = json!({ "index": index, "id": id, "type": "function",
            "function": { "name": name, "arguments": "" } });
        chunk(choice(json!({ "tool_calls": [call] }), Value::Null), Value::Null);
        for piece in ["{\"path\"", ":\"/\"}"] {
            let call = json!({ "index": index, "function": { "arguments": piece } });
            chunk(choice(json!({ "tool_calls": [call] }), Value::Null), Value::Null);
        }
    }
    chunk(choice(json!({}), reason.into()), Value::Null);
    chunk(json!([]), usage(tokens));
    out + "data: [DONE]\n\n"
}

fn body(said: Said<'_>, reason: &str, tokens: u64) -> String {
    let call = |(id, name): &(&str, &str)| json!({ "id": id, "type": "function", "function": { "name": name, "arguments": "{\"path\":\"/\"}" } });
    let calls: Vec<Value> = said.calls.iter().map(call).collect();
    let mut message = json!({ "role": "assistant", "content": said.text, "refusal": null });
    if said.text.is_empty() {
        message["content"] = Value::Null;
    }
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    json!({ "id": format!("chatcmpl-{tokens}"), "object": "chat.completion", "created": tokens,
        "model": "m", "usage": usage(tokens),
        "choices": [{ "index": 0, "message": message, "logprobs": null, "finish_reason": reason }] })
    .to_string()
}

/// What a client makes of a stream, as strictly as the strictest of them: strings are added up,
/// whatever they are, except the id.
fn read(out: &str) -> Value {
    let mut whole =
        json!({ "content": "", "role": "", "reasoning": "", "details": [], "calls": [] });
    let mut over = false;
    for frame in out.split("\n\n").filter(|frame| !frame.is_empty() && !frame.starts_with(':')) {
        let data = frame.trim_end().strip_prefix("data: ").unwrap_or_else(|| panic!("{frame}"));
        assert!(!over, "something behind the end: {out}");
        if data == "[DONE]" {
            over = true;
            continue;
        }
        let chunk: Value = serde_json::from_str(data).unwrap_or_else(|_| panic!("{out}"));
        let id = json!([chunk["id"], chunk["created"]]);
        assert!(whole["id"].is_null() || whole["id"] == id, "another id: {out}");
        whole["id"] = id;
        if !chunk["usage"].is_null() {
            assert!(whole["usage"].is_null(), "a second usage: {out}");
            whole["usage"] = chunk["usage"].clone();
        }
        for choice in chunk["choices"].as_array().unwrap() {
            let delta = &choice["delta"];
            for key in ["content", "role", "reasoning"] {
                let more = delta[key].as_str().unwrap_or_default();
                whole[key] = (whole[key].as_str().unwrap().to_owned() + more).into();
            }
            let details = delta["reasoning_details"].as_array().cloned().unwrap_or_default();
            whole["details"].as_array_mut().unwrap().extend(details);
            for call in delta["tool_calls"].as_array().unwrap_or(&Vec::new()) {
                let calls = whole["calls"].as_array_mut().unwrap();
                let index = call["index"].as_u64().unwrap() as usize;
                if index == calls.len() {
                    calls.push(call.clone());
                    continue;
                }
                let arguments = &mut calls[index]["function"]["arguments"];
                let more = call["function"]["arguments"].as_str().unwrap();
                *arguments = (arguments.as_str().unwrap().to_owned() + more).into();
            }
            if !choice["finish_reason"].is_null() {
                assert!(whole["finish"].is_null(), "a second end: {out}");
                whole["finish"] = choice["finish_reason"].clone();
            }
        }
    }
    assert!(over, "it does not end: {out}");
    assert_eq!(whole["role"], "assistant");
    whole
}

fn turn(policies: &Policies, notice: Notice, first: (&str, usize), then: Vec<Next<'_>>) -> Seen {
    let spent = usage(100).to_string();
    turn_in(CHAT, policies, (&spent, notice), (first.0.as_bytes(), first.1), then)
}

fn policies() -> Policies {
    drive::deny_names(&["rm"])
}

/// The digest of everything that the client has as text.
fn digest(whole: &Value) -> Option<[u8; 32]> {
    let mut digest = TextDigest::new();
    digest.add(whole["content"].as_str().unwrap());
    digest.finish()
}

const LINE: &str =
    "callgate blocked the tool call `rm` (rule no-such-tool (policy names)). Record: r-c1";

#[test]
fn two_answers_are_one_at_every_cut() {
    let (one, two) = (stream(DENIED, "tool_calls", 100), stream(OTHER_WAY, "tool_calls", 120));
    let cuts = (0..one.len()).map(|cut| (cut, 0)).chain((0..two.len()).map(|cut| (0, cut)));
    let mut first: Option<String> = None;
    for (a, b) in cuts {
        let answer = Next::Answer(two.as_bytes(), Close::End, b);
        let seen = turn(&policies(), Notice::Line, (&one, a), vec![answer]);
        let out = seen.text();
        assert_eq!(*first.get_or_insert_with(|| out.clone()), out, "cut at {a}, {b}");
        if a > 0 || b > 0 {
            continue;
        }
        let whole = read(&out);
        assert_eq!(whole["id"], json!(["chatcmpl-100", 100]));
        assert_eq!(whole["finish"], "tool_calls");
        let sum = json!({ "prompt_tokens": 220, "completion_tokens": 20, "total_tokens": 240,
            "prompt_tokens_details": { "cached_tokens": 8 } });
        assert_eq!(whole["usage"], sum);
        assert_eq!(whole["content"], format!("Let me see.\n\n{LINE}\n\nAnother way."));
        assert_eq!(whole["reasoning"], "Hm.So.");
        assert_eq!(whole["details"].as_array().unwrap().len(), 1, "signed thinking: {out}");
        assert_eq!((&whole["calls"][0]["id"], &whole["calls"][1]), (&json!("c2"), &Value::Null));
        assert_eq!(whole["calls"][0]["function"]["arguments"], "{\"path\":\"/\"}");
        assert_eq!(seen.ending, Some(Ending::Clean));
        let [offer] = seen.offers.as_slice() else { panic!("{:?}", seen.offers) };
        assert_eq!((offer.calls.len(), &*offer.calls[0].name), (1, "rm"));
        let [kept] = seen.removed.as_slice() else { panic!("{:?}", seen.removed) };
        let client = kept.client.as_ref().unwrap();
        assert_eq!((client.text, client.calls.len()), (digest(&whole), 1));
        assert!(kept.calls.is_empty());
    }
}

/// A turn that is not continued says what `explain` says, in the same order.
#[test]
fn a_turn_that_ends_here_is_explained() {
    let several = said("a", &[("c1", "rm"), ("c2", "rm")]);
    let mixed = said("a", &[("c1", "rm"), ("c2", "ls")]);
    let other = said("a", &[("c1", "ls"), ("c2", "rm")]);
    for content in [DENIED, several, mixed, other, OTHER_WAY, said("", &[("c1", "rm")])] {
        for reason in ["tool_calls", "length", "stop"] {
            for answer in [stream(content, reason, 100), body(content, reason, 100)] {
                let run = |on_deny| {
                    let settings = drive::settings(on_deny);
                    drive::run(CHAT, settings, &policies(), [answer.as_bytes()])
                };
                let (explained, continued) = (run(OnDeny::Explain), run(OnDeny::Continue));
                match answer.starts_with('{') {
                    true => assert_eq!(continued.text(), explained.text()),
                    false => assert_eq!(read(&continued.text()), read(&explained.text())),
                }
                assert_eq!(format!("{:?}", continued.notes), format!("{:?}", explained.notes));
                assert_eq!(continued.ending, explained.ending);
            }
        }
    }
}

#[test]
fn a_turn_is_offered_only_if_no_call_is_left() {
    let offers =
        |answer: &str| turn(&policies(), Notice::Line, (answer, 0), Vec::new()).offers.len();
    for (content, reason, want) in [
        (DENIED, "tool_calls", 1),
        // Some servers end every turn like this.
        (DENIED, "stop", 1),
        (DENIED, "length", 0),
        (DENIED, "content_filter", 0),
        (OTHER_WAY, "tool_calls", 0),
        (said("", &[("c1", "rm"), ("c2", "ls")]), "tool_calls", 0),
        (said("That is all.", &[]), "stop", 0),
    ] {
        assert_eq!(offers(&stream(content, reason, 1)), want, "{reason}");
        assert_eq!(offers(&body(content, reason, 1)), want, "{reason}");
    }
    let two = stream(DENIED, "tool_calls", 1);
    let other = stream(said("So.", &[]), "stop", 1).replace("\"index\":0", "\"index\":1");
    let other: String = other.split_inclusive("\n\n").take(3).collect();
    assert_eq!(offers(&(other + &two)), 0, "several choices");
}

#[test]
fn without_a_notice_only_the_answers_are_left() {
    let (one, two) = (stream(DENIED, "tool_calls", 1), stream(said("Done.", &[]), "stop", 1));
    let answer = Next::Answer(two.as_bytes(), Close::End, 0);
    let whole = read(&turn(&policies(), Notice::None, (&one, 0), vec![answer]).text());
    assert_eq!(
        (&whole["content"], &whole["finish"]),
        (&json!("Let me see.\n\nDone."), &json!("stop"))
    );
    let one = stream(said("", &[("c1", "rm")]), "tool_calls", 1);
    let answer = Next::Answer(two.as_bytes(), Close::End, 0);
    let whole = read(&turn(&policies(), Notice::None, (&one, 0), vec![answer]).text());
    assert_eq!(whole["content"], "Done.");
}

#[test]
fn three_answers_are_one() {
    let one = stream(DENIED, "tool_calls", 100);
    let two = stream(said("Again.", &[("c9", "rm")]), "tool_calls", 110);
    let three = stream(said("I give up.", &[]), "stop", 120);
    let then = vec![
        Next::Answer(two.as_bytes(), Close::End, 7),
        Next::Answer(three.as_bytes(), Close::End, 9),
    ];
    let seen = turn(&policies(), Notice::Line, (&one, 0), then);
    let whole = read(&seen.text());
    let second = LINE.replace("r-c1", "r-c9");
    let text = format!("Let me see.\n\n{LINE}\n\nAgain.\n\n{second}\n\nI give up.");
    assert_eq!((&whole["content"], &whole["finish"]), (&json!(text), &json!("stop")));
    assert_eq!(whole["id"], json!(["chatcmpl-100", 100]));
    assert_eq!((seen.offers.len(), seen.removed.len()), (2, 1));
    assert_eq!(seen.removed[0].client.as_ref().unwrap().text, digest(&whole));
}

/// The next answer is cut off at every byte: what the client has is complete, and no call of it is
/// cut.
#[test]
fn a_later_answer_that_fails_leaves_a_complete_turn() {
    let held = drive::policies(
        "policy: p\nrules:\n  - { id: no-rm, tool: rm, verdict: deny, reason: not here }\n  \
         - { id: look, tool: ls, when: { arg: x, equals: y }, verdict: deny, reason: never }\n",
    );
    let one = stream(DENIED, "tool_calls", 100);
    let two = stream(OTHER_WAY, "tool_calls", 120);
    for cut in 0..two.len() {
        for how in [Close::End, Close::Failed] {
            let part = two.as_bytes().get(..cut).unwrap();
            let seen = turn(&held, Notice::Line, (&one, 0), vec![Next::Answer(part, how, 0)]);
            let whole = read(&seen.text());
            let has_call = whole["calls"].as_array().unwrap().len() == 1;
            let finish = if has_call { "tool_calls" } else { "stop" };
            assert_eq!(whole["finish"], finish, "{cut} {how:?}");
            let prompt = whole["usage"]["prompt_tokens"].as_u64().unwrap();
            assert!([100, 220].contains(&prompt), "{cut} {how:?}: {}", whole["usage"]);
            let [kept] = seen.removed.as_slice() else { panic!("{cut}: {:?}", seen.removed) };
            assert_eq!(kept.client.as_ref().unwrap().text, digest(&whole), "{cut}");
            assert_eq!(kept.client.as_ref().unwrap().calls.is_empty(), !has_call, "{cut}");
        }
    }
    let seen = turn(&held, Notice::Line, (&one, 0), vec![Next::Answer(b"", Close::End, 0)]);
    let alone = turn(&held, Notice::Line, (&one, 0), Vec::new());
    let (empty, alone) = (read(&seen.text()), read(&alone.text()));
    assert_eq!(empty["content"], alone["content"], "nothing came: it is explained");
}

/// An error inside a later answer, or an answer of another form, is no part of the turn.
#[test]
fn a_later_answer_that_is_not_valid_leaves_a_complete_turn() {
    let one = stream(DENIED, "tool_calls", 100);
    let error = "data: {\"error\":{\"message\":\"overloaded\",\"type\":\"server_error\"}}\n\n";
    let start = stream(said("So.", &[]), "stop", 1);
    let start = start.split("data: {\"choices\":[{\"delta\":{},").next().unwrap();
    for answer in [
        error.to_owned(),
        format!("{start}{error}"),
        body(OTHER_WAY, "tool_calls", 1),
        "<html>".into(),
    ] {
        let then = vec![Next::Answer(answer.as_bytes(), Close::End, 3)];
        let seen = turn(&policies(), Notice::Line, (&one, 0), then);
        assert_eq!(read(&seen.text())["finish"], "stop", "{answer}");
        assert_eq!(seen.failed.len(), 1, "{answer}");
    }
}

#[test]
fn two_bodies_are_one() {
    let (one, two) = (body(DENIED, "tool_calls", 100), body(OTHER_WAY, "tool_calls", 120));
    for cut in [0, 1, two.len() / 2, two.len()] {
        let answer = Next::Answer(two.as_bytes(), Close::End, cut);
        let seen = turn(&policies(), Notice::Line, (&one, 5), vec![answer]);
        let whole: Value = serde_json::from_str(&seen.text()).unwrap();
        let choice = &whole["choices"][0];
        assert_eq!(
            (&whole["id"], &choice["finish_reason"]),
            (&json!("chatcmpl-100"), &json!("tool_calls"))
        );
        assert_eq!(whole["usage"]["total_tokens"], 240);
        let message = &choice["message"];
        assert_eq!(message["content"], format!("Let me see.\n\n{LINE}\n\nAnother way."));
        assert_eq!(message["tool_calls"][0]["id"], "c2");
        let [kept] = seen.removed.as_slice() else { panic!("{:?}", seen.removed) };
        let client = kept.client.as_ref().unwrap();
        assert_eq!((client.text, client.calls.len()), (digest(message), 1));
    }
}

#[test]
fn a_later_body_that_fails_leaves_the_first_one_explained() {
    let one = body(DENIED, "tool_calls", 100);
    let alone = turn(&policies(), Notice::Line, (&one, 0), Vec::new());
    for answer in ["", "{", r#"{"error":{"message":"x"}}"#, "[1]"] {
        for how in [Close::End, Close::Failed] {
            let then = vec![Next::Answer(answer.as_bytes(), how, 0)];
            let seen = turn(&policies(), Notice::Line, (&one, 0), then);
            assert_eq!(seen.text(), alone.text(), "{answer}");
            assert_eq!(seen.failed.len(), 1, "{answer}");
        }
    }
}
