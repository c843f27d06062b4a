//! Responses turns that go on after a denial: what the client gets is one valid answer, wherever
//! the answers are cut.

use callgate_dialect::Dialect;
use callgate_dialect::request::TextDigest;
use callgate_gate::{Close, Ending, Notice, OnDeny};
use callgate_policy::Policies;
use callgate_testkit::drive;
use serde_json::{Value, json};

use super::{Next, Seen, turn_in};

const RESPONSES: Dialect = Dialect::Responses;

fn usage(tokens: u64) -> Value {
    json!({ "input_tokens": tokens, "output_tokens": 10, "total_tokens": tokens + 10,
        "output_tokens_details": { "reasoning_tokens": 3 } })
}

fn reasoning(id: &str) -> Value {
    json!({ "type": "reasoning", "id": format!("rs_{id}"), "summary": [],
        "encrypted_content": format!("sealed-{id}") })
}

fn text(id: &str, words: &str) -> Value {
    json!({ "type": "message", "id": format!("msg_{id}"), "role": "assistant",
        "status": "completed",
        "content": [{ "type": "output_text", "text": words, "annotations": [], "logprobs": [] }] })
}

fn call(id: &str, name: &str) -> Value {
    json!({ "type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": name,
        "arguments": "{\"path\":\"/\"}", "status": "completed" })
}

fn body(items: &[Value], status: &str, tokens: u64) -> Value {
    json!({ "id": format!("resp_{tokens}"), "object": "response", "created_at": tokens,
        "status": status, "model": "m", "error": null, "incomplete_details": null,
        "previous_response_id": null, "output": items, "usage": usage(tokens) })
}

/// An answer as a stream.
fn stream(items: &[Value], status: &str, tokens: u64) -> String {
    let (mut out, mut number) = (String::new(), 0);
    let mut event = |kind: &str, mut data: Value| {
        data["type"] = format!("response.{kind}").into();
        data["sequence_number"] = number.into();
        number += 1;
        out.push_str(&format!("event: response.{kind}\ndata: {data}\n\n"));
    };
    let mut begun = body(&[], "in_progress", tokens);
    begun["usage"] = Value::Null;
    event("created", json!({ "response": begun }));
    event("in_progress", json!({ "response": begun }));
    for (index, item) in items.iter().enumerate() {
        let mut added = item.clone();
        let id = &item["id"];
        let of = |key: &str, value: Value| {
            let mut data = json!({ "item_id": id, "output_index": index });
            data[key] = value;
            data
        };
        let mut between = Vec::new();
        match item["type"].as_str().unwrap() {
            "function_call" => {
                added["arguments"] = "".into();
                for piece in ["{\"path\"", ":\"/\"}"] {
                    let delta = of("delta", piece.into());
                    between.push(("function_call_arguments.delta", delta));
                }
                let done = of("arguments", item["arguments"].clone());
                between.push(("function_call_arguments.done", done));
            }
            "message" => {
                added["content"] = json!([]);
                let part = &item["content"][0];
                let mut empty = part.clone();
                empty["text"] = "".into();
                between.push(("content_part.added", of("part", empty)));
                for word in part["text"].as_str().unwrap().split_inclusive(' ') {
                    between.push(("output_text.delta", of("delta", word.into())));
                }
                between.push(("output_text.done", of("text", part["text"].clone())));
                between.push(("content_part.done", of("part", part.clone())));
            }
            _ => {}
        }
        event("output_item.added", json!({ "output_index": index, "item": added }));
        for (kind, mut data) in between {
            if item["type"] == "message" {
                data["content_index"] = 0.into();
            }
            event(kind, data);
        }
        event("output_item.done", json!({ "output_index": index, "item": item }));
    }
    event(status, json!({ "response": body(items, status, tokens) }));
    out
}

/// What a client makes of a stream, as strictly as the strictest of them.
fn read(out: &str) -> Value {
    let mut response = Value::Null;
    let (mut items, mut open): (Vec<Value>, Option<Value>) = (Vec::new(), None);
    let (mut over, mut number) = (false, 0);
    for frame in
        out.split("\n\n").filter(|frame| !frame.trim().is_empty() && !frame.starts_with(':'))
    {
        let Some(data) = frame.lines().find_map(|line| line.strip_prefix("data: ")) else {
            continue;
        };
        let event: Value = serde_json::from_str(data).unwrap_or_else(|_| panic!("{out}"));
        assert!(!over, "an event behind the end: {event}");
        let at = event["sequence_number"].as_u64().unwrap();
        assert!(at + 1 >= number, "{at} behind {number}: {out}");
        number = at + 1;
        match event["type"].as_str().unwrap().strip_prefix("response.").unwrap() {
            "created" => {
                assert_eq!(response, Value::Null, "a second start");
                response = event["response"].clone();
            }
            "in_progress" => assert_eq!(event["response"]["id"], response["id"]),
            "output_item.added" => {
                assert!(open.is_none(), "{out}");
                assert_eq!(event["output_index"], items.len(), "{out}");
                let mut item = event["item"].clone();
                item["so_far"] = "".into();
                open = Some(item);
            }
            "output_item.done" => {
                assert_eq!(event["output_index"], items.len(), "{out}");
                let begun = open.take().unwrap();
                assert_eq!(
                    (&begun["id"], &begun["type"]),
                    (&event["item"]["id"], &event["item"]["type"])
                );
                let whole = match begun["type"].as_str().unwrap() {
                    "function_call" => &event["item"]["arguments"],
                    "message" => &event["item"]["content"][0]["text"],
                    _ => &begun["so_far"],
                };
                assert_eq!(*whole, begun["so_far"], "{out}");
                items.push(event["item"].clone());
            }
            "output_text.delta" | "function_call_arguments.delta" => {
                assert_eq!(event["output_index"], items.len(), "{out}");
                let item = open.as_mut().unwrap();
                let so_far = item["so_far"].as_str().unwrap().to_owned();
                item["so_far"] = (so_far + event["delta"].as_str().unwrap()).into();
            }
            ending @ ("completed" | "incomplete") => {
                assert!(open.is_none(), "{out}");
                assert_eq!(event["response"]["id"], response["id"], "{out}");
                assert_eq!(event["response"]["status"], ending);
                response = event["response"].clone();
                over = true;
            }
            _ => assert_eq!(event["output_index"], items.len(), "{out}"),
        }
    }
    assert!(over, "it does not end: {out}");
    assert_eq!(response["output"], Value::from(items), "{out}");
    response
}

fn turn(policies: &Policies, notice: Notice, first: (&str, usize), then: Vec<Next<'_>>) -> Seen {
    let spent = usage(100).to_string();
    turn_in(RESPONSES, policies, (&spent, notice), (first.0.as_bytes(), first.1), then)
}

fn policies() -> Policies {
    drive::deny_names(&["rm"])
}

fn denied() -> Vec<Value> {
    vec![reasoning("1"), text("1", "Let me see."), call("c1", "rm")]
}

fn other_way() -> Vec<Value> {
    vec![reasoning("2"), text("2", "Another way."), call("c2", "ls")]
}

fn texts(response: &Value) -> Vec<&str> {
    let items = response["output"].as_array().unwrap().iter();
    items.filter_map(|item| item["content"][0]["text"].as_str()).collect()
}

fn kinds(response: &Value) -> Vec<&str> {
    let items = response["output"].as_array().unwrap().iter();
    items.map(|item| item["type"].as_str().unwrap()).collect()
}

/// The digest of everything that the client has as text.
fn digest(response: &Value) -> Option<[u8; 32]> {
    let mut digest = TextDigest::new();
    texts(response).iter().for_each(|text| digest.add(text));
    digest.finish()
}

const LINE: &str =
    "callgate blocked the tool call `rm` (rule no-such-tool (policy names)). Record: r-c1";

#[test]
fn two_answers_are_one_at_every_cut() {
    let (one, two) = (stream(&denied(), "completed", 100), stream(&other_way(), "completed", 120));
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
        let response = read(&out);
        assert_eq!((&response["id"], &response["created_at"]), (&json!("resp_100"), &json!(100)));
        let sum = json!({ "input_tokens": 220, "output_tokens": 20, "total_tokens": 240,
            "output_tokens_details": { "reasoning_tokens": 6 } });
        assert_eq!(response["usage"], sum);
        let want = ["reasoning", "message", "message", "reasoning", "message", "function_call"];
        assert_eq!(kinds(&response), want);
        assert_eq!(texts(&response), ["Let me see.", LINE, "Another way."]);
        assert_eq!(response["output"][5], call("c2", "ls"));
        assert_eq!(seen.ending, Some(Ending::Clean));
        let [offer] = seen.offers.as_slice() else { panic!("{:?}", seen.offers) };
        assert_eq!((offer.calls.len(), &*offer.calls[0].name), (1, "rm"));
        let [kept] = seen.removed.as_slice() else { panic!("{:?}", seen.removed) };
        let client = kept.client.as_ref().unwrap();
        assert_eq!((client.text, client.calls.len()), (digest(&response), 1));
        assert!(kept.calls.is_empty());
        assert_eq!(shown(&seen), [response["output"].as_array().unwrap()[..3].to_vec()]);
    }
}

/// The items of each answer before the last one, with the notices about its calls.
fn shown(seen: &Seen) -> Vec<Vec<Value>> {
    let items = |answer: &String| {
        let answer: Value = serde_json::from_str(answer).unwrap();
        answer["output"].as_array().unwrap().clone()
    };
    seen.shown.iter().map(items).collect()
}

/// A turn that is not continued says what `explain` says.
#[test]
fn a_turn_that_ends_here_is_explained() {
    let several = vec![text("1", "a"), call("c1", "rm"), call("c2", "rm")];
    let mixed = vec![text("1", "a"), call("c1", "rm"), call("c2", "ls")];
    let other = vec![call("c1", "ls"), call("c2", "rm")];
    for items in [denied(), several, mixed, other, other_way(), vec![call("c1", "rm")]] {
        for status in ["completed", "incomplete"] {
            let whole = body(&items, status, 100).to_string();
            for answer in [stream(&items, status, 100), whole] {
                let run = |on_deny| {
                    let settings = drive::settings(on_deny);
                    drive::run(RESPONSES, settings, &policies(), [answer.as_bytes()])
                };
                let (explained, continued) = (run(OnDeny::Explain), run(OnDeny::Continue));
                match answer.starts_with('{') {
                    true => assert_eq!(continued.text(), explained.text()),
                    false => {
                        let (one, other) = (read(&continued.text()), read(&explained.text()));
                        assert_eq!((texts(&one), kinds(&one)), (texts(&other), kinds(&other)));
                    }
                }
                assert_eq!(continued.ending, explained.ending);
            }
        }
    }
}

#[test]
fn a_turn_is_offered_only_if_no_call_is_left() {
    let offers =
        |answer: &str| turn(&policies(), Notice::Line, (answer, 0), Vec::new()).offers.len();
    let both = vec![call("c1", "rm"), call("c2", "ls")];
    for (items, status, want) in [
        (denied(), "completed", 1),
        (denied(), "incomplete", 0),
        (other_way(), "completed", 0),
        (both, "completed", 0),
        (vec![text("1", "So.")], "completed", 0),
    ] {
        assert_eq!(offers(&stream(&items, status, 1)), want, "{items:?} {status}");
        assert_eq!(offers(&body(&items, status, 1).to_string()), want, "{items:?} {status}");
    }
}

#[test]
fn three_answers_are_one_with_and_without_notices() {
    let one = stream(&denied(), "completed", 100);
    let two = stream(&[text("8", "Again."), call("c9", "rm")], "completed", 110);
    let three = stream(&[text("9", "I give up.")], "completed", 120);
    for notice in [Notice::Line, Notice::None] {
        let then = vec![
            Next::Answer(two.as_bytes(), Close::End, 7),
            Next::Answer(three.as_bytes(), Close::End, 9),
        ];
        let seen = turn(&policies(), notice, (&one, 0), then);
        let response = read(&seen.text());
        let second = LINE.replace("r-c1", "r-c9");
        let want = match notice {
            Notice::Line => vec!["Let me see.", LINE, "Again.", &second, "I give up."],
            Notice::None => vec!["Let me see.", "Again.", "I give up."],
        };
        assert_eq!(texts(&response), want);
        let mut items = shown(&seen);
        items.push(vec![text("9", "I give up.")]);
        assert_eq!(items.concat(), *response["output"].as_array().unwrap(), "{notice:?}");
        let counts: Vec<usize> = items.iter().map(Vec::len).collect();
        assert_eq!(counts, if notice == Notice::Line { [3, 2, 1] } else { [2, 1, 1] });
        assert_eq!((seen.offers.len(), seen.removed.len()), (2, 1));
        assert_eq!(seen.removed[0].client.as_ref().unwrap().text, digest(&response));
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
    let one = stream(&denied(), "completed", 100);
    let two = stream(&other_way(), "completed", 120);
    for cut in 0..two.len() {
        for how in [Close::End, Close::Failed] {
            let part = two.as_bytes().get(..cut).unwrap();
            let seen = turn(&held, Notice::Line, (&one, 0), vec![Next::Answer(part, how, 0)]);
            let response = read(&seen.text());
            let tokens = response["usage"]["input_tokens"].as_u64().unwrap();
            assert!([100, 220].contains(&tokens), "{cut} {how:?}: {tokens}");
            let [kept] = seen.removed.as_slice() else { panic!("{cut}: {:?}", seen.removed) };
            assert_eq!(kept.client.as_ref().unwrap().text, digest(&response), "{cut}");
            let has_call = kinds(&response).contains(&"function_call");
            assert_eq!(kept.client.as_ref().unwrap().calls.is_empty(), !has_call, "{cut}");
        }
    }
    let seen = turn(&held, Notice::Line, (&one, 0), vec![Next::Answer(b"", Close::End, 0)]);
    let alone = turn(&held, Notice::Line, (&one, 0), Vec::new());
    let (empty, alone) = (read(&seen.text()), read(&alone.text()));
    assert_eq!(texts(&empty), texts(&alone), "nothing came: it is explained");
}

/// An error inside a later answer, or an answer of another form, is no part of the turn.
#[test]
fn a_later_answer_that_is_not_valid_leaves_a_complete_turn() {
    let one = stream(&denied(), "completed", 100);
    let error = "event: error\ndata: {\"type\":\"error\",\"message\":\"overloaded\"}\n\n";
    let start = stream(&[text("2", "So.")], "completed", 1);
    let start: String = start.split_inclusive("\n\n").take(5).collect();
    let whole = body(&other_way(), "completed", 1).to_string();
    for answer in [error.to_owned(), format!("{start}{error}"), whole, "<html>".into()] {
        let then = vec![Next::Answer(answer.as_bytes(), Close::End, 3)];
        let seen = turn(&policies(), Notice::Line, (&one, 0), then);
        assert_eq!(read(&seen.text())["id"], "resp_100", "{answer}");
        assert_eq!(seen.failed.len(), 1, "{answer}");
    }
}

#[test]
fn two_bodies_are_one() {
    let one = body(&denied(), "completed", 100).to_string();
    let two = body(&other_way(), "completed", 120).to_string();
    for cut in [0, 1, two.len() / 2, two.len()] {
        let answer = Next::Answer(two.as_bytes(), Close::End, cut);
        let seen = turn(&policies(), Notice::Line, (&one, 5), vec![answer]);
        let response: Value = serde_json::from_str(&seen.text()).unwrap();
        assert_eq!(
            (&response["id"], &response["status"]),
            (&json!("resp_100"), &json!("completed"))
        );
        assert_eq!(response["usage"]["total_tokens"], 240);
        let want = ["reasoning", "message", "message", "reasoning", "message", "function_call"];
        assert_eq!(kinds(&response), want);
        let [kept] = seen.removed.as_slice() else { panic!("{:?}", seen.removed) };
        let client = kept.client.as_ref().unwrap();
        assert_eq!((client.text, client.calls.len()), (digest(&response), 1));
    }
}

#[test]
fn a_later_body_that_fails_leaves_the_first_one_explained() {
    let one = body(&denied(), "completed", 100).to_string();
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
