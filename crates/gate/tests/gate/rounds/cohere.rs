//! Turns of Cohere: events, and bodies. A plan goes on like the text.

use callgate_dialect::Dialect;
use callgate_dialect::request::TextDigest;
use callgate_gate::{Close, Ending, Notice, OnDeny};
use callgate_policy::Policies;
use callgate_testkit::drive;
use serde_json::{Value, json};

use super::{Next, Seen, policies, turn_in};

const COHERE: Dialect = Dialect::Cohere;
const SPENT: &str = r#"{"tokens":{"input_tokens":100,"output_tokens":10}}"#;
const LINE: &str =
    "callgate blocked the tool call `rm` (rule no-such-tool (policy names)). Record: r-c1";

/// What an answer says: its plan, its text and its calls.
#[derive(Default)]
struct Said<'a> {
    plan: &'a str,
    text: &'a str,
    calls: &'a [(&'a str, &'a str)],
}

const DENIED: Said<'_> = Said { plan: "I clean.", text: "Let me see.", calls: &[("c1", "rm")] };
const OTHER_WAY: Said<'_> = Said { plan: "I look.", text: "Another way.", calls: &[("c2", "ls")] };

fn function((id, name): &(&str, &str), arguments: &str) -> Value {
    json!({ "id": id, "type": "function", "function": { "name": name, "arguments": arguments } })
}

fn usage(tokens: u64) -> Value {
    json!({ "tokens": { "input_tokens": tokens, "output_tokens": 10 } })
}

fn stream(said: &Said<'_>, reason: &str, tokens: u64) -> String {
    let mut out = String::new();
    let mut event = |kind: &str, index: Option<usize>, delta: Value| {
        let mut data = json!({ "type": kind, "delta": delta });
        if let Some(index) = index {
            data["index"] = index.into();
        }
        out += &format!("event: {kind}\ndata: {data}\n\n");
    };
    let message = |key: &str, value: Value| json!({ "message": { key: value } });
    event("message-start", None, message("role", "assistant".into()));
    for word in said.plan.split_inclusive(' ') {
        event("tool-plan-delta", None, message("tool_plan", word.into()));
    }
    if !said.text.is_empty() {
        let content = json!({ "type": "text", "text": "" });
        event("content-start", Some(0), message("content", content));
        for word in said.text.split_inclusive(' ') {
            event("content-delta", Some(0), message("content", json!({ "text": word })));
        }
        event("content-end", Some(0), json!({}));
    }
    for (index, call) in said.calls.iter().enumerate() {
        event("tool-call-start", Some(index), message("tool_calls", function(call, "")));
        for piece in ["{\"path\"", ":\"/\"}"] {
            let piece = json!({ "function": { "arguments": piece } });
            event("tool-call-delta", Some(index), message("tool_calls", piece));
        }
        event("tool-call-end", Some(index), json!({}));
    }
    event("message-end", None, json!({ "finish_reason": reason, "usage": usage(tokens) }));
    out + "data: [DONE]\n\n"
}

fn body(said: &Said<'_>, reason: &str, tokens: u64) -> String {
    let calls: Vec<Value> =
        said.calls.iter().map(|call| function(call, "{\"path\":\"/\"}")).collect();
    let content = json!([{ "type": "text", "text": said.text }]);
    json!({ "id": format!("c{tokens}"), "finish_reason": reason, "usage": usage(tokens),
        "message": { "role": "assistant", "tool_plan": said.plan, "content": content,
            "tool_calls": calls } })
    .to_string()
}

#[derive(Debug, Default, PartialEq)]
struct Read {
    plan: String,
    texts: Vec<String>,
    calls: Vec<Value>,
    ends: Vec<Value>,
    usage: Value,
}

/// What a client makes of an answer: strict about order and indices.
fn read(out: &str) -> Read {
    let mut read = Read::default();
    if out.starts_with('{') {
        let body: Value = serde_json::from_str(out).expect(out);
        let said = &body["message"];
        read.plan = said["tool_plan"].as_str().unwrap_or_default().to_owned();
        let parts = said["content"].as_array().into_iter().flatten();
        read.texts = parts.map(|part| part["text"].as_str().unwrap().to_owned()).collect();
        read.calls = said["tool_calls"].as_array().cloned().unwrap_or_default();
        (read.ends, read.usage) = (vec![body["finish_reason"].clone()], body["usage"].clone());
        return read;
    }
    let (mut starts, mut open, mut is_over) = (0, 0, false);
    for data in out.lines().filter_map(|line| line.strip_prefix("data: ")) {
        assert!(!is_over, "an event behind the end: {out}");
        if data == "[DONE]" {
            is_over = true;
            continue;
        }
        let event: Value = serde_json::from_str(data).expect(out);
        let said = &event["delta"]["message"];
        let index = || event["index"].as_u64().unwrap() as usize;
        match event["type"].as_str().unwrap() {
            "message-start" => starts += 1,
            "tool-plan-delta" => read.plan += said["tool_plan"].as_str().unwrap(),
            "content-start" => {
                assert_eq!((index(), open), (read.texts.len(), 0), "{out}");
                (open, _) = (open + 1, read.texts.push(String::new()));
            }
            "content-delta" => read.texts[index()] += said["content"]["text"].as_str().unwrap(),
            "tool-call-start" => {
                assert_eq!((index(), open), (read.calls.len(), 0), "{out}");
                (open, _) = (open + 1, read.calls.push(said["tool_calls"].clone()));
            }
            "tool-call-delta" => {
                let arguments = &mut read.calls[index()]["function"]["arguments"];
                let piece = said["tool_calls"]["function"]["arguments"].as_str().unwrap();
                *arguments = (arguments.as_str().unwrap().to_owned() + piece).into();
            }
            "content-end" | "tool-call-end" => open -= 1,
            "message-end" => {
                read.ends.push(event["delta"]["finish_reason"].clone());
                read.usage = event["delta"]["usage"].clone();
            }
            other => panic!("{other}: {out}"),
        }
    }
    assert_eq!((starts, open, is_over), (1, 0, true), "{out}");
    read
}

fn turn(policies: &Policies, notice: Notice, first: (&str, usize), then: Vec<Next<'_>>) -> Seen {
    turn_in(COHERE, policies, (SPENT, notice), (first.0.as_bytes(), first.1), then)
}

fn digest(texts: &[String]) -> Option<[u8; 32]> {
    let mut digest = TextDigest::new();
    texts.iter().for_each(|text| digest.add(text));
    digest.finish()
}

#[test]
fn two_answers_are_one_at_every_cut() {
    let (one, two) = (stream(&DENIED, "TOOL_CALL", 100), stream(&OTHER_WAY, "TOOL_CALL", 120));
    let cuts = (0..one.len()).map(|cut| (cut, 0)).chain((0..two.len()).map(|cut| (0, cut)));
    let mut first: Option<String> = None;
    for (a, b) in cuts {
        let next = Next::Answer(two.as_bytes(), Close::End, b);
        let seen = turn(&policies(), Notice::Line, (&one, a), vec![next]);
        let out = seen.text();
        assert_eq!(*first.get_or_insert_with(|| out.clone()), out, "{a}, {b}");
        if a > 0 || b > 0 {
            continue;
        }
        let read = read(&out);
        assert_eq!(read.texts, ["Let me see.", LINE, "Another way."]);
        assert_eq!(read.plan, "I clean.\n\nI look.");
        assert_eq!(read.calls, [function(&("c2", "ls"), "{\"path\":\"/\"}")]);
        let tokens = json!({ "tokens": { "input_tokens": 220, "output_tokens": 20 } });
        assert_eq!((read.ends, read.usage), (vec!["TOOL_CALL".into()], tokens));
        assert_eq!(seen.ending, Some(Ending::Clean));
        let [kept] = seen.removed.as_slice() else { panic!("{:?}", seen.removed) };
        let client = kept.client.as_ref().unwrap();
        assert_eq!((client.text, client.calls.len()), (digest(&read.texts), 1));
        assert_eq!(client.plan, digest(&[read.plan]));
    }
}

/// A turn that is not continued says what `explain` says.
#[test]
fn a_turn_that_ends_here_is_explained() {
    let several = Said { text: "a", calls: &[("c1", "rm"), ("c2", "rm")], ..Said::default() };
    let mixed = Said { text: "a", calls: &[("c1", "rm"), ("c2", "ls")], ..Said::default() };
    let alone = Said { calls: &[("c1", "rm")], ..Said::default() };
    for said in [DENIED, several, mixed, alone, OTHER_WAY] {
        for reason in ["TOOL_CALL", "MAX_TOKENS"] {
            for answer in [stream(&said, reason, 100), body(&said, reason, 100)] {
                let run = |on_deny| {
                    drive::run(COHERE, drive::settings(on_deny), &policies(), [answer.as_bytes()])
                };
                let (explained, continued) = (run(OnDeny::Explain), run(OnDeny::Continue));
                assert_eq!(read(&explained.text()), read(&continued.text()), "{answer}");
                assert_eq!(continued.ending, explained.ending);
            }
        }
    }
    for answer in [stream(&OTHER_WAY, "TOOL_CALL", 1), body(&OTHER_WAY, "TOOL_CALL", 1)] {
        let settings = drive::settings(OnDeny::Continue);
        let seen = drive::run(COHERE, settings, &policies(), [answer.as_bytes()]);
        assert_eq!(seen.text(), answer, "nothing was denied");
    }
}

/// Nothing of the first answer is left.
#[test]
fn an_answer_may_lose_everything() {
    let call = function(&("c1", "rm"), "{}");
    let message = json!({ "role": "assistant", "tool_calls": [call] });
    let one = json!({ "finish_reason": "TOOL_CALL", "message": message }).to_string();
    let two = body(&Said { text: "Fine.", ..Said::default() }, "COMPLETE", 120);
    let next = Next::Answer(two.as_bytes(), Close::End, 0);
    let seen = turn(&policies(), Notice::None, (&one, 0), vec![next]);
    assert_eq!(read(&seen.text()).texts, ["Fine."], "{one} {}", seen.text());
}

#[test]
fn three_answers_are_one_and_a_notice_can_be_left_out() {
    let again = Said { text: "Again.", calls: &[("c9", "rm")], ..Said::default() };
    let end = Said { text: "I give up.", ..Said::default() };
    for answers in [
        [
            stream(&DENIED, "TOOL_CALL", 100),
            stream(&again, "TOOL_CALL", 100),
            stream(&end, "COMPLETE", 100),
        ],
        [
            body(&DENIED, "TOOL_CALL", 100),
            body(&again, "TOOL_CALL", 100),
            body(&end, "COMPLETE", 100),
        ],
    ] {
        let [one, two, three] = &answers;
        for (notice, count) in [(Notice::Line, 2), (Notice::None, 0)] {
            let then = vec![
                Next::Answer(two.as_bytes(), Close::End, 7),
                Next::Answer(three.as_bytes(), Close::End, 9),
            ];
            let seen = turn(&policies(), notice, (one, 0), then);
            let read = read(&seen.text());
            let said = read.texts.join(" ");
            assert_eq!(said.matches("callgate blocked").count(), count, "{said}");
            assert!(said.starts_with("Let me see.") && said.ends_with("I give up."), "{said}");
            assert_eq!((read.calls.len(), read.ends), (0, vec!["COMPLETE".into()]));
            assert_eq!(seen.removed[0].client.as_ref().unwrap().text, digest(&read.texts));
        }
    }
}

/// The next answer is cut off at every byte: what the client has is complete, and no call of it is
/// cut.
#[test]
fn a_later_answer_that_fails_leaves_a_complete_turn() {
    let held = drive::policies(
        "policy: p\nrules:\n  - { id: no-rm, tool: rm, verdict: deny, reason: not here }\n  \
         - { id: look, tool: ls, when: { arg: x, equals: y }, verdict: deny, reason: never }\n",
    );
    let (one, two) = (stream(&DENIED, "TOOL_CALL", 100), stream(&OTHER_WAY, "TOOL_CALL", 120));
    let next = Next::Answer(two.as_bytes(), Close::End, 0);
    let complete = read(&turn(&held, Notice::Line, (&one, 0), vec![next]).text());
    for cut in 0..two.len() {
        for how in [Close::End, Close::Failed] {
            let part = two.as_bytes().get(..cut).unwrap();
            let seen = turn(&held, Notice::Line, (&one, 0), vec![Next::Answer(part, how, 0)]);
            let read = read(&seen.text());
            if read == complete {
                continue;
            }
            assert_eq!(seen.ending, Some(Ending::Clean), "{cut} {how:?}");
            assert_eq!(read.ends.len(), 1, "{cut}");
            assert!(read.texts.iter().any(|text| text.contains("callgate blocked")), "{cut}");
            let whole = function(&("c2", "ls"), "{\"path\":\"/\"}");
            assert!(read.calls.iter().all(|call| *call == whole), "{cut}: {:?}", read.calls);
            let [kept] = seen.removed.as_slice() else { panic!("{cut}: {:?}", seen.removed) };
            assert_eq!(kept.client.as_ref().unwrap().text, digest(&read.texts), "{cut}");
        }
    }
    for answer in [
        "event: message-end\ndata: {\"type\":\"message-end\",\"delta\":{\"finish_reason\":\"ERROR\"}}\n\n",
        "<html>",
    ] {
        let next = vec![Next::Answer(answer.as_bytes(), Close::End, 0)];
        let seen = turn(&policies(), Notice::Line, (&one, 0), next);
        assert_eq!((read(&seen.text()).ends.len(), seen.failed.len()), (1, 1), "{answer}");
    }
}
