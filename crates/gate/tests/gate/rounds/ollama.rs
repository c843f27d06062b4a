//! Turns of Ollama: lines, and bodies.

use callgate_dialect::Dialect;
use callgate_dialect::request::TextDigest;
use callgate_gate::{Close, Ending, Notice, OnDeny};
use callgate_testkit::drive;
use serde_json::{Value, json};

use super::{Next, Seen, policies, turn_in};

const OLLAMA: Dialect = Dialect::Ollama;
const SPENT: &str = r#"{"prompt_eval_count":100,"eval_count":10}"#;
const LINE: &str =
    "callgate blocked the tool call `rm` (rule no-such-tool (policy names)). Record: r-c1";

fn text(words: &str) -> Value {
    json!({ "role": "assistant", "content": words })
}

fn call(words: &str, id: &str, name: &str) -> Value {
    let call = json!({ "id": id, "function": { "name": name, "arguments": { "path": "/" } } });
    json!({ "role": "assistant", "content": words, "tool_calls": [call] })
}

/// An answer with a line for each message; the last one ends it.
fn answer(messages: &[Value], reason: &str, tokens: u64) -> String {
    let mut out = String::new();
    for (place, message) in messages.iter().enumerate() {
        let mut line = json!({ "model": "m", "message": message, "done": false });
        if place + 1 == messages.len() {
            line["done"] = true.into();
            line["done_reason"] = reason.into();
            line["prompt_eval_count"] = tokens.into();
            line["eval_count"] = 10.into();
        }
        out += &format!("{line}\n");
    }
    out
}

#[derive(Debug, Default, PartialEq)]
struct Read {
    said: String,
    calls: Vec<Value>,
    ends: Vec<Value>,
    usage: (Value, Value),
}

fn read(out: &str) -> Read {
    let mut read = Read::default();
    for line in out.lines() {
        let line: Value = serde_json::from_str(line).expect(out);
        assert!(read.ends.is_empty(), "a line behind the end: {out}");
        read.said += line["message"]["content"].as_str().unwrap();
        read.calls.extend(line["message"]["tool_calls"].as_array().into_iter().flatten().cloned());
        if line["done"] == true {
            read.ends.push(line["done_reason"].clone());
            read.usage = (line["prompt_eval_count"].clone(), line["eval_count"].clone());
        }
    }
    read
}

fn turn(notice: Notice, (first, cut): (&str, usize), then: Vec<Next<'_>>) -> Seen {
    turn_in(OLLAMA, &policies(), (SPENT, notice), (first.as_bytes(), cut), then)
}

fn denied() -> Vec<Value> {
    vec![text("Let me "), call("see.", "c1", "rm"), text("")]
}

/// The call comes with the end, and with text before it.
fn denied_at_the_end() -> Vec<Value> {
    vec![text("Let me "), call("see.", "c1", "rm")]
}

fn other_way() -> Vec<Value> {
    vec![text("Another "), text("way."), call("", "c2", "ls"), text("")]
}

fn digest(text: &str) -> Option<[u8; 32]> {
    let mut digest = TextDigest::new();
    digest.add(text);
    digest.finish()
}

#[test]
fn two_answers_are_one_at_every_cut() {
    for denied in [denied(), denied_at_the_end()] {
        let (one, two) = (answer(&denied, "stop", 100), answer(&other_way(), "stop", 120));
        let cuts = (0..one.len()).map(|cut| (cut, 0)).chain((0..two.len()).map(|cut| (0, cut)));
        let mut first: Option<String> = None;
        for (a, b) in cuts {
            let next = Next::Answer(two.as_bytes(), Close::End, b);
            let seen = turn(Notice::Line, (&one, a), vec![next]);
            let out = seen.text();
            assert_eq!(*first.get_or_insert_with(|| out.clone()), out, "{a}, {b}");
            if a > 0 || b > 0 {
                continue;
            }
            let read = read(&out);
            assert_eq!(read.said, format!("Let me see.\n\n{LINE}\n\nAnother way."));
            assert_eq!(read.calls, [call("", "c2", "ls")["tool_calls"][0].clone()]);
            assert_eq!((read.ends, read.usage), (vec!["stop".into()], (220.into(), 20.into())));
            assert_eq!(seen.ending, Some(Ending::Clean));
            let [kept] = seen.removed.as_slice() else { panic!("{:?}", seen.removed) };
            let client = kept.client.as_ref().unwrap();
            assert_eq!((client.text, client.calls.len()), (digest(&read.said), 1));
        }
    }
}

/// A turn that is not continued says what `explain` says.
#[test]
fn a_turn_that_ends_here_is_explained() {
    let several = vec![call("a", "c1", "rm"), call("", "c2", "rm"), text("")];
    let mixed = vec![call("a", "c1", "rm"), call("", "c2", "ls"), text("")];
    let alone = vec![call("", "c1", "rm")];
    for messages in [denied(), denied_at_the_end(), several, mixed, alone, other_way()] {
        for reason in ["stop", "length"] {
            let answer = answer(&messages, reason, 100);
            let run = |on_deny| {
                drive::run(OLLAMA, drive::settings(on_deny), &policies(), [answer.as_bytes()])
            };
            let (explained, continued) = (run(OnDeny::Explain), run(OnDeny::Continue));
            assert_eq!(read(&explained.text()), read(&continued.text()), "{answer}");
            assert_eq!(continued.ending, explained.ending);
        }
    }
    let answer = answer(&other_way(), "stop", 100);
    let settings = drive::settings(OnDeny::Continue);
    let seen = drive::run(OLLAMA, settings, &policies(), [answer.as_bytes()]);
    assert_eq!(seen.text(), answer, "nothing was denied");
}

#[test]
fn a_turn_is_offered_only_if_no_call_is_left() {
    let offers = |messages: &[Value], reason| {
        turn(Notice::Line, (&answer(messages, reason, 1), 0), Vec::new()).offers.len()
    };
    assert_eq!(offers(&denied(), "stop"), 1);
    assert_eq!(offers(&denied_at_the_end(), "stop"), 1);
    assert_eq!(offers(&denied(), "length"), 0);
    assert_eq!(offers(&other_way(), "stop"), 0);
    assert_eq!(offers(&[call("", "c1", "rm"), call("", "c2", "ls")], "stop"), 0);
}

#[test]
fn three_answers_are_one_and_a_notice_can_be_left_out() {
    let one = answer(&denied(), "stop", 100);
    let two = answer(&[call("Again.", "c9", "rm"), text("")], "stop", 100);
    let three = answer(&[text("I give up.")], "stop", 100);
    for (notice, count) in [(Notice::Line, 2), (Notice::None, 0)] {
        let then = vec![
            Next::Answer(two.as_bytes(), Close::End, 7),
            Next::Answer(three.as_bytes(), Close::End, 9),
        ];
        let seen = turn(notice, (&one, 0), then);
        let read = read(&seen.text());
        assert_eq!(read.said.matches("callgate blocked").count(), count, "{}", read.said);
        assert!(read.said.starts_with("Let me see.\n\n"), "{}", read.said);
        assert!(read.said.ends_with("\n\nI give up."), "{}", read.said);
        assert_eq!((read.calls.len(), read.ends.len()), (0, 1));
        assert_eq!(seen.removed[0].client.as_ref().unwrap().text, digest(&read.said));
    }
}

/// The next answer is cut off at every byte: what the client has is complete.
#[test]
fn a_later_answer_that_fails_leaves_a_complete_turn() {
    let (one, two) = (answer(&denied(), "stop", 100), answer(&other_way(), "stop", 120));
    let next = Next::Answer(two.as_bytes(), Close::End, 0);
    let whole = read(&turn(Notice::Line, (&one, 0), vec![next]).text());
    for cut in 0..two.len() {
        for how in [Close::End, Close::Failed] {
            let part = two.as_bytes().get(..cut).unwrap();
            let seen = turn(Notice::Line, (&one, 0), vec![Next::Answer(part, how, 0)]);
            let read = read(&seen.text());
            if read == whole {
                continue;
            }
            assert_eq!(seen.ending, Some(Ending::Clean), "{cut} {how:?}");
            assert_eq!(seen.failed.len(), 1, "{cut} {how:?}: {}", seen.text());
            assert_eq!(read.ends, ["stop"], "{cut}");
            let [kept] = seen.removed.as_slice() else { panic!("{cut}: {:?}", seen.removed) };
            assert_eq!(kept.client.as_ref().unwrap().text, digest(&read.said), "{cut}");
        }
    }
    for answer in ["{\"error\":\"x\"}\n", "<html>", "[1]"] {
        let seen =
            turn(Notice::Line, (&one, 0), vec![Next::Answer(answer.as_bytes(), Close::End, 0)]);
        assert_eq!((read(&seen.text()).ends.len(), seen.failed.len()), (1, 1), "{answer}");
    }
}
