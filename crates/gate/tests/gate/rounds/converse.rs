//! Turns of Converse: events in binary frames, and bodies.

use callgate_dialect::Dialect;
use callgate_dialect::request::TextDigest;
use callgate_gate::{Close, Ending, Notice, OnDeny};
use callgate_policy::Policies;
use callgate_testkit::{drive, made};
use callgate_wire::{Framing, Splitter};
use serde_json::{Value, json};

use super::{Next, Seen, policies, turn_in};

const CONVERSE: Dialect = Dialect::Converse;
const SPENT: &str = r#"{"inputTokens":100,"outputTokens":10}"#;
const LINE: &str =
    "callgate blocked the tool call `rm` (rule no-such-tool (policy names)). Record: r-c1";

fn thinking(signature: &str) -> Value {
    json!({ "reasoningContent": { "reasoningText": { "text": "Hm.", "signature": signature } } })
}

fn text(words: &str) -> Value {
    json!({ "text": words })
}

fn call(id: &str, name: &str) -> Value {
    json!({ "toolUse": { "toolUseId": id, "name": name, "input": { "path": "/" } } })
}

fn usage(tokens: u64) -> Value {
    json!({ "inputTokens": tokens, "outputTokens": 10 })
}

fn stream(blocks: &[Value], reason: &str, tokens: u64) -> Vec<u8> {
    let mut events = vec![("messageStart", json!({ "role": "assistant", "p": "ab" }))];
    for (index, block) in blocks.iter().enumerate() {
        let mut delta = |delta: Value| {
            events.push((
                "contentBlockDelta",
                json!({ "contentBlockIndex": index, "delta": delta, "p": "abc" }),
            ));
        };
        if let Some(words) = block["text"].as_str() {
            words.split_inclusive(' ').for_each(|word| delta(json!({ "text": word })));
        } else if let Some(thought) = block["reasoningContent"].get("reasoningText") {
            for key in ["text", "signature"] {
                delta(json!({ "reasoningContent": { key: thought[key] } }));
            }
        } else {
            let call = &block["toolUse"];
            let start =
                json!({ "toolUse": { "toolUseId": call["toolUseId"], "name": call["name"] } });
            events.push((
                "contentBlockStart",
                json!({ "contentBlockIndex": index, "start": start, "p": "a" }),
            ));
            for piece in ["{\"path\"", ":\"/\"}"] {
                let delta = json!({ "toolUse": { "input": piece } });
                events.push((
                    "contentBlockDelta",
                    json!({ "contentBlockIndex": index, "delta": delta }),
                ));
            }
        }
        events.push(("contentBlockStop", json!({ "contentBlockIndex": index })));
    }
    events.push(("messageStop", json!({ "stopReason": reason })));
    events.push(("metadata", json!({ "usage": usage(tokens), "metrics": { "latencyMs": 1 } })));
    let events = events.into_iter().map(|(name, data)| (name.to_owned(), data));
    made::events(CONVERSE, events.collect())
}

fn body(blocks: &[Value], reason: &str, tokens: u64) -> Vec<u8> {
    let message = json!({ "role": "assistant", "content": blocks });
    json!({ "output": { "message": message }, "stopReason": reason, "usage": usage(tokens) })
        .to_string()
        .into_bytes()
}

#[derive(Debug, Default, PartialEq)]
struct Read {
    blocks: Vec<Value>,
    ends: Vec<Value>,
    usage: Value,
}

impl Read {
    fn texts(&self) -> Vec<&str> {
        self.blocks.iter().filter_map(|block| block["text"].as_str()).collect()
    }

    fn calls(&self) -> Vec<&Value> {
        self.blocks.iter().filter(|block| block.get("toolUse").is_some()).collect()
    }

    fn digest(&self) -> Option<[u8; 32]> {
        let mut digest = TextDigest::new();
        self.texts().iter().for_each(|text| digest.add(text));
        digest.finish()
    }
}

/// What a client makes of an answer: strict about order and indices.
fn read(out: &[u8]) -> Read {
    let mut read = Read::default();
    if out.starts_with(b"{") {
        let body: Value = serde_json::from_slice(out).unwrap();
        read.blocks = body["output"]["message"]["content"].as_array().unwrap().clone();
        (read.ends, read.usage) = (vec![body["stopReason"].clone()], body["usage"].clone());
        return read;
    }
    let mut splitter = Splitter::new(Framing::EventStream, out.len() + 1);
    splitter.push(out);
    let (mut starts, mut open): (usize, Option<u64>) = (0, None);
    while let Some(frame) = splitter.next_frame().unwrap() {
        let name = std::str::from_utf8(frame.event().unwrap()).unwrap().to_owned();
        let data: Value = serde_json::from_slice(frame.data().unwrap()).unwrap();
        let index = data["contentBlockIndex"].as_u64();
        match name.as_str() {
            "messageStart" => starts += 1,
            "contentBlockStart" => {
                assert_eq!((open, index), (None, Some(read.blocks.len() as u64)));
                let mut call = data["start"].clone();
                call["toolUse"]["input"] = "".into();
                (open, _) = (index, read.blocks.push(call));
            }
            "contentBlockDelta" => {
                if open.is_none() {
                    assert_eq!(index, Some(read.blocks.len() as u64));
                    let block = match data["delta"].get("text") {
                        Some(_) => text(""),
                        None => json!({ "reasoningContent": { "reasoningText":
                            { "text": "", "signature": "" } } }),
                    };
                    (open, _) = (index, read.blocks.push(block));
                }
                assert_eq!(index, open, "{data}");
                add(read.blocks.last_mut().unwrap(), &data["delta"]);
            }
            "contentBlockStop" => {
                assert_eq!((index, index.is_some()), (open, true), "{data}");
                open = None;
                let block = read.blocks.last_mut().unwrap();
                if let Some(input) = block["toolUse"]["input"].as_str() {
                    block["toolUse"]["input"] = serde_json::from_str(input).unwrap();
                }
            }
            "messageStop" => read.ends.push(data["stopReason"].clone()),
            "metadata" => read.usage = data["usage"].clone(),
            other => panic!("{other} {data}"),
        }
    }
    assert_eq!((starts, open), (1, None));
    read
}

fn add(block: &mut Value, delta: &Value) {
    let mut longer = |at: &str, piece: &Value| {
        if let (Some(text), Some(piece)) = (block.pointer_mut(at), piece.as_str()) {
            *text = (text.as_str().unwrap().to_owned() + piece).into();
        }
    };
    longer("/text", &delta["text"]);
    longer("/toolUse/input", &delta["toolUse"]["input"]);
    for key in ["text", "signature"] {
        let at = format!("/reasoningContent/reasoningText/{key}");
        longer(&at, &delta["reasoningContent"][key]);
    }
}

fn turn(policies: &Policies, notice: Notice, first: (&[u8], usize), then: Vec<Next<'_>>) -> Seen {
    turn_in(CONVERSE, policies, (SPENT, notice), first, then)
}

fn denied() -> Vec<Value> {
    vec![thinking("s1"), text("Let me see."), call("c1", "rm")]
}

fn other_way() -> Vec<Value> {
    vec![thinking("s2"), text("Another way."), call("c2", "ls")]
}

#[test]
fn two_answers_are_one_at_every_cut() {
    let (one, two) = (stream(&denied(), "tool_use", 100), stream(&other_way(), "tool_use", 120));
    let cuts = (0..one.len()).map(|cut| (cut, 0)).chain((0..two.len()).map(|cut| (0, cut)));
    let mut first: Option<Vec<u8>> = None;
    for (a, b) in cuts {
        let next = Next::Answer(&two, Close::End, b);
        let seen = turn(&policies(), Notice::Line, (&one, a), vec![next]);
        assert_eq!(*first.get_or_insert_with(|| seen.out.clone()), seen.out, "{a}, {b}");
        if a > 0 || b > 0 {
            continue;
        }
        let read = read(&seen.out);
        // Thinking is valid only in the turn that produced it.
        let want = [
            thinking("s1"),
            text("Let me see."),
            text(LINE),
            text("Another way."),
            call("c2", "ls"),
        ];
        assert_eq!(read.blocks, want);
        let tokens = json!({ "inputTokens": 220, "outputTokens": 20 });
        assert_eq!((&read.ends, &read.usage), (&vec!["tool_use".into()], &tokens));
        assert_eq!(seen.ending, Some(Ending::Clean));
        let [kept] = seen.removed.as_slice() else { panic!("{:?}", seen.removed) };
        let client = kept.client.as_ref().unwrap();
        assert_eq!((client.text, client.calls.len()), (read.digest(), 1));
        assert_eq!(client.signatures.len(), 1);
    }
}

/// A turn that is not continued says what `explain` says.
#[test]
fn a_turn_that_ends_here_is_explained() {
    let several = vec![text("a"), call("c1", "rm"), call("c2", "rm")];
    let mixed = vec![text("a"), call("c1", "rm"), call("c2", "ls")];
    for blocks in [denied(), several, mixed, vec![call("c1", "rm")], other_way()] {
        for reason in ["tool_use", "max_tokens"] {
            for answer in [stream(&blocks, reason, 100), body(&blocks, reason, 100)] {
                let run = |on_deny| {
                    drive::run(CONVERSE, drive::settings(on_deny), &policies(), [&answer[..]])
                };
                let (explained, continued) = (run(OnDeny::Explain), run(OnDeny::Continue));
                assert_eq!(read(&explained.out), read(&continued.out), "{blocks:?}");
                assert_eq!(continued.ending, explained.ending);
            }
        }
    }
    for answer in [stream(&other_way(), "tool_use", 1), body(&other_way(), "tool_use", 1)] {
        let settings = drive::settings(OnDeny::Continue);
        let seen = drive::run(CONVERSE, settings, &policies(), [&answer[..]]);
        assert_eq!(seen.out, answer, "nothing was denied");
    }
}

#[test]
fn three_answers_are_one_and_a_notice_can_be_left_out() {
    let (again, end) = (vec![text("Again."), call("c9", "rm")], vec![text("I give up.")]);
    for form in [stream, body] {
        let one = form(&denied(), "tool_use", 100);
        let (two, three) = (form(&again, "tool_use", 100), form(&end, "end_turn", 100));
        for (notice, count) in [(Notice::Line, 2), (Notice::None, 0)] {
            let then = vec![Next::Answer(&two, Close::End, 7), Next::Answer(&three, Close::End, 9)];
            let seen = turn(&policies(), notice, (&one, 0), then);
            let read = read(&seen.out);
            let said = read.texts().join(" ");
            assert_eq!(said.matches("callgate blocked").count(), count, "{said}");
            assert!(said.starts_with("Let me see.") && said.ends_with("I give up."), "{said}");
            assert_eq!((read.calls().len(), &read.ends), (0, &vec!["end_turn".into()]));
            assert_eq!(seen.removed[0].client.as_ref().unwrap().text, read.digest());
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
    let (one, two) = (stream(&denied(), "tool_use", 100), stream(&other_way(), "tool_use", 120));
    let next = Next::Answer(&two, Close::End, 0);
    let complete = read(&turn(&held, Notice::Line, (&one, 0), vec![next]).out);
    for cut in 0..two.len() {
        for how in [Close::End, Close::Failed] {
            let next = Next::Answer(two.get(..cut).unwrap(), how, 0);
            let seen = turn(&held, Notice::Line, (&one, 0), vec![next]);
            let read = read(&seen.out);
            // Only the counts are missing, which come behind the end.
            if (&read.blocks, &read.ends) == (&complete.blocks, &complete.ends) {
                continue;
            }
            assert_eq!(seen.ending, Some(Ending::Clean), "{cut} {how:?}");
            assert_eq!(read.ends.len(), 1, "{cut}");
            assert!(read.texts().iter().any(|text| text.contains("callgate blocked")), "{cut}");
            assert!(read.calls().iter().all(|found| **found == call("c2", "ls")), "{cut}");
            let [kept] = seen.removed.as_slice() else { panic!("{cut}: {:?}", seen.removed) };
            assert_eq!(kept.client.as_ref().unwrap().text, read.digest(), "{cut}");
        }
    }
    let exception = ("internalServerException".to_owned(), json!({ "message": "x" }));
    for answer in [made::events(CONVERSE, vec![exception]), b"<html>".to_vec()] {
        let next = vec![Next::Answer(&answer, Close::End, 0)];
        let seen = turn(&policies(), Notice::Line, (&one, 0), next);
        assert_eq!((read(&seen.out).ends.len(), seen.failed.len()), (1, 1));
    }
}
