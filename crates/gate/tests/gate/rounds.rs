//! Turns that continue after a denial: what the client gets is one valid answer, wherever the
//! answers are cut.

use callgate_dialect::Dialect;
use callgate_dialect::request::TextDigest;
use callgate_gate::{
    Close, Decision, Ending, Gate, NameDecision, Note, Notice, OnDeny, OnlyDenied, RemovedTurn,
    Step,
};
use callgate_policy::{NameJudgement, Policies, SpentLimits};
use callgate_testkit::drive;
use serde_json::{Value, json};

mod chat;
mod cohere;
mod converse;
mod gemini;
mod ollama;
mod responses;

const MESSAGES: Dialect = Dialect::Anthropic;

fn event(data: &Value) -> String {
    format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap())
}

fn thinking(signature: &str) -> Value {
    json!({ "type": "thinking", "thinking": "Hm.", "signature": signature })
}

fn text(words: &str) -> Value {
    json!({ "type": "text", "text": words })
}

fn call(id: &str, name: &str) -> Value {
    json!({ "type": "tool_use", "id": id, "name": name, "input": { "path": "/" } })
}

/// An answer as a stream.
fn stream(blocks: &[Value], reason: &str, tokens: u64) -> String {
    let usage = json!({ "input_tokens": tokens, "output_tokens": 1 });
    let message = json!({ "id": format!("msg_{tokens}"), "content": [], "usage": usage });
    let mut out = event(&json!({ "type": "message_start", "message": message }));
    for (index, block) in blocks.iter().enumerate() {
        let (mut start, mut deltas) = (block.clone(), Vec::new());
        match block["type"].as_str().unwrap() {
            "text" => {
                start["text"] = "".into();
                deltas.push(json!({ "type": "text_delta", "text": block["text"] }));
            }
            "thinking" => {
                start["thinking"] = "".into();
                start["signature"] = "".into();
                deltas.push(json!({ "type": "thinking_delta", "thinking": block["thinking"] }));
                deltas.push(json!({ "type": "signature_delta", "signature": block["signature"] }));
            }
            _ => {
                start["input"] = json!({});
                let input = block["input"].to_string();
                deltas.push(json!({ "type": "input_json_delta", "partial_json": input }));
            }
        }
        out += &event(
            &json!({ "type": "content_block_start", "index": index, "content_block": start }),
        );
        for delta in deltas {
            out +=
                &event(&json!({ "type": "content_block_delta", "index": index, "delta": delta }));
        }
        out += &event(&json!({ "type": "content_block_stop", "index": index }));
    }
    out += &event(&json!({ "type": "message_delta",
        "delta": { "stop_reason": reason, "stop_sequence": null }, "usage": { "output_tokens": 10 } }));
    out + &event(&json!({ "type": "message_stop" }))
}

fn body(blocks: &[Value], reason: &str, tokens: u64) -> String {
    json!({ "id": format!("msg_{tokens}"), "type": "message", "role": "assistant", "model": "m",
        "content": blocks, "stop_reason": reason, "stop_sequence": null,
        "usage": { "input_tokens": tokens, "output_tokens": 10 } })
    .to_string()
}

/// What a client makes of a stream: strict about the order of events, and about indices.
fn read(out: &str) -> Value {
    let mut message = Value::Null;
    let mut open: Option<usize> = None;
    let mut over = false;
    for frame in out.split("\n\n").filter(|frame| !frame.is_empty() && !frame.starts_with(':')) {
        // An event without data is not one of them.
        let Some(data) = frame.lines().find_map(|line| line.strip_prefix("data: ")) else {
            continue;
        };
        let event: Value = serde_json::from_str(data).unwrap();
        assert!(!over, "an event behind the end: {event}");
        match event["type"].as_str().unwrap() {
            "message_start" => {
                assert_eq!(message, Value::Null, "a second start");
                message = event["message"].clone();
            }
            "content_block_start" => {
                assert_eq!(open, None, "{out}");
                let blocks = message["content"].as_array_mut().unwrap();
                assert_eq!(event["index"], blocks.len());
                open = Some(blocks.len());
                let mut block = event["content_block"].clone();
                if block["type"] == "tool_use" {
                    block["input"] = "".into();
                }
                blocks.push(block);
            }
            "content_block_delta" => {
                assert_eq!(Some(event["index"].as_u64().unwrap() as usize), open);
                let block = message["content"].as_array_mut().unwrap().last_mut().unwrap();
                let (key, piece) = match event["delta"]["type"].as_str().unwrap() {
                    "text_delta" => ("text", &event["delta"]["text"]),
                    "thinking_delta" => ("thinking", &event["delta"]["thinking"]),
                    "signature_delta" => ("signature", &event["delta"]["signature"]),
                    _ => ("input", &event["delta"]["partial_json"]),
                };
                let longer = block[key].as_str().unwrap().to_owned() + piece.as_str().unwrap();
                block[key] = longer.into();
            }
            "content_block_stop" => {
                assert_eq!(Some(event["index"].as_u64().unwrap() as usize), open);
                open = None;
                let block = message["content"].as_array_mut().unwrap().last_mut().unwrap();
                if block["type"] == "tool_use" {
                    block["input"] =
                        serde_json::from_str(block["input"].as_str().unwrap()).unwrap();
                }
            }
            "message_delta" => {
                assert_eq!(open, None);
                message["stop_reason"] = event["delta"]["stop_reason"].clone();
                for (key, count) in event["usage"].as_object().unwrap() {
                    message["usage"][key] = count.clone();
                }
            }
            "message_stop" => over = true,
            "ping" => {}
            other => panic!("{other}: {out}"),
        }
    }
    assert!(over, "it does not end: {out}");
    message
}

/// What the driver does when all calls of an answer were denied.
enum Next<'a> {
    Conclude,
    Answer(&'a [u8], Close, usize),
}

#[derive(Default)]
struct Seen {
    out: Vec<u8>,
    offers: Vec<OnlyDenied>,
    removed: Vec<RemovedTurn>,
    /// The answers before the last one, as they left.
    shown: Vec<String>,
    failed: Vec<String>,
    ending: Option<Ending>,
}

impl Seen {
    fn text(&self) -> String {
        String::from_utf8(self.out.clone()).unwrap()
    }

    fn texts(&self, message: &Value) -> Vec<String> {
        let blocks = message["content"].as_array().unwrap().iter();
        blocks.filter_map(|block| block["text"].as_str().map(str::to_owned)).collect()
    }
}

/// Runs the first answer, then the others, each pushed in two pieces.
fn turn(policies: &Policies, notice: Notice, first: (&str, usize), then: Vec<Next<'_>>) -> Seen {
    let spent = r#"{"input_tokens":100,"output_tokens":10}"#;
    let (first, spent) = ((first.0.as_bytes(), first.1), (spent, notice));
    turn_in(MESSAGES, policies, spent, first, then)
}

/// The same in any dialect. `spent` is the usage of the earlier answers.
fn turn_in(
    dialect: Dialect,
    policies: &Policies,
    (spent, notice): (&str, Notice),
    first: (&[u8], usize),
    then: Vec<Next<'_>>,
) -> Seen {
    let mut gate = Gate::new(dialect, drive::settings(OnDeny::Continue));
    let mut then = then.into_iter();
    let mut seen = Seen::default();
    let mut pushes: Vec<Vec<u8>> = {
        let (head, tail) = first.0.split_at(first.1);
        vec![head.to_vec(), tail.to_vec()]
    };
    let mut close = Close::End;
    loop {
        for bytes in std::mem::take(&mut pushes) {
            gate.push(&bytes);
            if let Some(offer) = steps(&mut gate, policies, &mut seen) {
                panic!("offered before the end: {offer:?}");
            }
        }
        gate.close(close);
        let Some(offer) = steps(&mut gate, policies, &mut seen) else { break };
        seen.offers.push(offer);
        match then.next().unwrap_or(Next::Conclude) {
            Next::Conclude => {
                gate.conclude();
                assert!(steps(&mut gate, policies, &mut seen).is_none());
                break;
            }
            Next::Answer(bytes, how, cut) => {
                gate.next_answer(spent, notice);
                let (head, tail) = bytes.split_at(cut.min(bytes.len()));
                pushes = vec![head.to_vec(), tail.to_vec()];
                close = how;
            }
        }
    }
    seen
}

fn steps(gate: &mut Gate, policies: &Policies, seen: &mut Seen) -> Option<OnlyDenied> {
    let (moment, limits) = (drive::moment(), SpentLimits::default());
    loop {
        match gate.step(&mut seen.out) {
            Step::Name(question) => {
                let answer = match policies.judge_name(&question.call, &moment, &limits) {
                    NameJudgement::Allow(permit, _) => NameDecision::Stream(permit),
                    NameJudgement::Deny(judgement) => {
                        let mut denial = judgement.denial(&question.call).unwrap();
                        denial.record = Some(format!("r-{}", question.call.id.as_str()));
                        NameDecision::Deny(denial)
                    }
                    NameJudgement::NeedArguments => NameDecision::NeedArguments,
                };
                gate.answer_name(question.slot, answer);
            }
            Step::Judge(question) => {
                let call = &question.call;
                let mut answer = drive::answer(policies.judge(call, &moment, &limits), call);
                if let Decision::Deny(denial) = &mut answer {
                    denial.record = Some(format!("r-{}", call.id.as_str()));
                }
                gate.answer(question.slot, answer);
            }
            Step::OnlyDenied(offer) => return Some(offer),
            Step::Note(Note::Removed(turn)) => {
                seen.removed.push(turn);
                seen.shown = gate.shown_answers();
            }
            Step::Note(Note::AnswerFailed { why }) => seen.failed.push(why),
            Step::Note(_) => {}
            Step::NeedMore | Step::Waiting => return None,
            Step::Ended(ending) => {
                seen.ending = Some(ending);
                return None;
            }
        }
    }
}

fn policies() -> Policies {
    drive::deny_names(&["rm"])
}

fn denied() -> Vec<Value> {
    vec![thinking("s1"), text("Let me see."), call("c1", "rm")]
}

fn other_way() -> Vec<Value> {
    vec![thinking("s2"), text("Another way."), call("c2", "ls")]
}

/// The digest of everything that the client has as text.
fn digest(message: &Value) -> Option<[u8; 32]> {
    let mut digest = TextDigest::new();
    let blocks = message["content"].as_array().unwrap().iter();
    blocks.filter_map(|block| block["text"].as_str()).for_each(|text| digest.add(text));
    digest.finish()
}

#[test]
fn two_answers_are_one_at_every_cut() {
    let (one, two) = (stream(&denied(), "tool_use", 100), stream(&other_way(), "tool_use", 120));
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
        let message = read(&out);
        assert_eq!(message["id"], "msg_100");
        assert_eq!(message["stop_reason"], "tool_use");
        assert_eq!(message["usage"], json!({ "input_tokens": 220, "output_tokens": 20 }));
        let kinds: Vec<&Value> =
            message["content"].as_array().unwrap().iter().map(|block| &block["type"]).collect();
        assert_eq!(kinds, ["thinking", "text", "text", "text", "tool_use"]);
        let texts = seen.texts(&message);
        let line =
            "callgate blocked the tool call `rm` (rule no-such-tool (policy names)). Record: r-c1";
        assert_eq!(texts, ["Let me see.", line, "Another way."]);
        assert_eq!(message["content"][4], call("c2", "ls"));
        assert_eq!(seen.ending, Some(Ending::Clean));
        let [offer] = seen.offers.as_slice() else { panic!("{:?}", seen.offers) };
        assert_eq!((offer.calls.len(), &*offer.calls[0].name), (1, "rm"));
        assert!(offer.calls[0].call.why.contains("Reason: not here"), "{offer:?}");
        let [kept] = seen.removed.as_slice() else { panic!("{:?}", seen.removed) };
        let client = kept.client.as_ref().unwrap();
        assert_eq!(client.text, digest(&message));
        assert_eq!((client.calls.len(), client.signatures.len()), (1, 1));
        assert!(kept.calls.is_empty());
    }
}

/// A turn that is not continued is the one that `explain` makes, to the byte.
#[test]
fn a_turn_that_ends_here_is_explained() {
    let several = vec![text("a"), call("c1", "rm"), call("c2", "rm")];
    let mixed = vec![text("a"), call("c1", "rm"), call("c2", "ls")];
    let behind = vec![call("c1", "rm"), text("a")];
    for blocks in [denied(), several, mixed, behind, other_way()] {
        for reason in ["tool_use", "max_tokens", "pause_turn"] {
            for answer in [stream(&blocks, reason, 100), body(&blocks, reason, 100)] {
                let explained = drive::run(
                    MESSAGES,
                    drive::settings(OnDeny::Explain),
                    &policies(),
                    [answer.as_bytes()],
                );
                let continued = drive::run(
                    MESSAGES,
                    drive::settings(OnDeny::Continue),
                    &policies(),
                    [answer.as_bytes()],
                );
                assert_eq!(continued.text(), explained.text());
                assert_eq!(format!("{:?}", continued.notes), format!("{:?}", explained.notes));
                assert_eq!(continued.ending, explained.ending);
            }
        }
    }
}

#[test]
fn a_turn_is_offered_only_if_no_call_is_left() {
    let offers = |blocks: &[Value], reason| {
        let seen = turn(&policies(), Notice::Line, (&stream(blocks, reason, 1), 0), Vec::new());
        seen.offers.len()
    };
    assert_eq!(offers(&denied(), "tool_use"), 1);
    assert_eq!(offers(&denied(), "max_tokens"), 0);
    assert_eq!(offers(&other_way(), "tool_use"), 0);
    assert_eq!(offers(&[call("c1", "rm"), call("c2", "ls")], "tool_use"), 0);
    let searches =
        json!({ "type": "server_tool_use", "id": "s", "name": "web_search", "input": {} });
    assert_eq!(offers(&[searches, call("c1", "rm")], "tool_use"), 1);
}

#[test]
fn without_a_notice_only_the_answers_are_left() {
    let (one, two) = (stream(&denied(), "tool_use", 1), stream(&[text("Done.")], "end_turn", 1));
    let answer = Next::Answer(two.as_bytes(), Close::End, 0);
    let seen = turn(&policies(), Notice::None, (&one, 0), vec![answer]);
    let message = read(&seen.text());
    assert_eq!(seen.texts(&message), ["Let me see.", "Done."]);
    assert_eq!(message["stop_reason"], "end_turn");
}

#[test]
fn three_answers_are_one() {
    let one = stream(&denied(), "tool_use", 100);
    let two = stream(&[text("Again."), call("c9", "rm")], "tool_use", 100);
    let three = stream(&[text("I give up.")], "end_turn", 100);
    let then = vec![
        Next::Answer(two.as_bytes(), Close::End, 7),
        Next::Answer(three.as_bytes(), Close::End, 9),
    ];
    let seen = turn(&policies(), Notice::Line, (&one, 0), then);
    let message = read(&seen.text());
    assert_eq!(message["content"].as_array().unwrap().len(), 6);
    assert_eq!(message["stop_reason"], "end_turn");
    assert_eq!(seen.offers.len(), 2);
    assert_eq!(seen.removed.len(), 1);
    assert_eq!(seen.removed[0].client.as_ref().unwrap().text, digest(&message));
}

/// The next answer is cut off at every byte: what the client has is complete, and no call of it is
/// cut.
#[test]
fn a_later_answer_that_fails_leaves_a_complete_turn() {
    let held = drive::policies(
        "policy: p\nrules:\n  - { id: no-rm, tool: rm, verdict: deny, reason: not here }\n  \
         - { id: look, tool: ls, when: { arg: x, equals: y }, verdict: deny, reason: never }\n",
    );
    let one = stream(&denied(), "tool_use", 100);
    let two = stream(&other_way(), "tool_use", 120);
    let whole =
        turn(&held, Notice::Line, (&one, 0), vec![Next::Answer(two.as_bytes(), Close::End, 0)]);
    let whole = read(&whole.text());
    for cut in 0..two.len() {
        for how in [Close::End, Close::Failed] {
            let part = two.as_bytes().get(..cut).unwrap();
            let seen = turn(&held, Notice::Line, (&one, 0), vec![Next::Answer(part, how, 0)]);
            let message = read(&seen.text());
            if message == whole {
                continue;
            }
            assert_eq!(seen.ending, Some(Ending::Clean), "{cut} {how:?}");
            assert_eq!(seen.failed.len(), 1, "{cut} {how:?}: {}", seen.text());
            let has_call = seen.text().contains("c2");
            assert_eq!(message["stop_reason"], if has_call { "tool_use" } else { "end_turn" });
            let [kept] = seen.removed.as_slice() else { panic!("{cut}: {:?}", seen.removed) };
            assert_eq!(kept.client.as_ref().unwrap().text, digest(&message), "{cut}");
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
    let one = stream(&denied(), "tool_use", 100);
    let error = "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"x\"}}\n\n";
    let start = stream(&[text("So.")], "end_turn", 1);
    let start = start.split("event: message_delta").next().unwrap();
    for answer in [
        error.to_owned(),
        format!("{start}{error}"),
        body(&other_way(), "tool_use", 1),
        "<html>".into(),
    ] {
        let then = vec![Next::Answer(answer.as_bytes(), Close::End, 3)];
        let seen = turn(&policies(), Notice::Line, (&one, 0), then);
        let message = read(&seen.text());
        assert_eq!(message["stop_reason"], "end_turn", "{answer}");
        assert_eq!(seen.failed.len(), 1, "{answer}");
    }
}

#[test]
fn two_bodies_are_one() {
    let (one, two) = (body(&denied(), "tool_use", 100), body(&other_way(), "tool_use", 120));
    for cut in [0, 1, two.len() / 2, two.len()] {
        let answer = Next::Answer(two.as_bytes(), Close::End, cut);
        let seen = turn(&policies(), Notice::Line, (&one, 5), vec![answer]);
        let message: Value = serde_json::from_str(&seen.text()).unwrap();
        assert_eq!(message["id"], "msg_100");
        assert_eq!(message["stop_reason"], "tool_use");
        assert_eq!(message["usage"], json!({ "input_tokens": 220, "output_tokens": 20 }));
        let kinds: Vec<&Value> =
            message["content"].as_array().unwrap().iter().map(|block| &block["type"]).collect();
        assert_eq!(kinds, ["thinking", "text", "text", "text", "tool_use"]);
        let [kept] = seen.removed.as_slice() else { panic!("{:?}", seen.removed) };
        let client = kept.client.as_ref().unwrap();
        assert_eq!(client.text, digest(&message));
        assert_eq!((client.calls.len(), client.signatures.len()), (1, 1));
    }
}

#[test]
fn a_later_body_that_fails_leaves_the_first_one_explained() {
    let one = body(&denied(), "tool_use", 100);
    let alone = turn(&policies(), Notice::Line, (&one, 0), Vec::new());
    for answer in ["", "{", r#"{"type":"error","error":{"type":"api_error","message":"x"}}"#, "[1]"]
    {
        for how in [Close::End, Close::Failed] {
            let then = vec![Next::Answer(answer.as_bytes(), how, 0)];
            let seen = turn(&policies(), Notice::Line, (&one, 0), then);
            assert_eq!(seen.text(), alone.text(), "{answer}");
            assert_eq!(seen.failed.len(), 1, "{answer}");
            let [kept] = seen.removed.as_slice() else { panic!("{:?}", seen.removed) };
            let [other] = alone.removed.as_slice() else { panic!("{:?}", alone.removed) };
            assert_eq!(kept.client, other.client);
        }
    }
}
