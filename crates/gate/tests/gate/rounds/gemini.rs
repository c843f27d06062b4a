//! Turns of Gemini: an event stream, a list that is streamed, and bodies.

use callgate_dialect::Dialect;
use callgate_gate::{Close, Ending, Notice, OnDeny, Step};
use callgate_policy::Policies;
use callgate_testkit::drive;
use serde_json::{Value, json};

use super::{Next, Seen, policies, turn_in};

const GEMINI: Dialect = Dialect::Gemini;
const SPENT: &str = r#"{"promptTokenCount":100,"candidatesTokenCount":10}"#;
const LINE: &str =
    "callgate blocked the tool call `rm` (rule no-such-tool (policy names)). Record: r-c1";

/// How chunks become a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Events,
    List,
}

fn text(words: &str) -> Value {
    json!({ "text": words })
}

fn thought(words: &str) -> Value {
    json!({ "text": words, "thought": true })
}

fn call(id: &str, name: &str, signature: &str) -> Value {
    let call = json!({ "id": id, "name": name, "args": { "path": "/" } });
    match signature {
        "" => json!({ "functionCall": call }),
        signature => json!({ "functionCall": call, "thoughtSignature": signature }),
    }
}

/// One chunk, or a whole response.
fn chunk(parts: &[Value], finish: Option<&str>, tokens: u64) -> Value {
    let mut candidate = json!({ "content": { "role": "model", "parts": parts }, "index": 0 });
    if let Some(finish) = finish {
        candidate["finishReason"] = finish.into();
    }
    json!({ "candidates": [candidate], "responseId": format!("r{tokens}"),
        "usageMetadata": { "promptTokenCount": tokens, "candidatesTokenCount": 10 } })
}

/// An answer with a chunk for each list of parts; the last one ends it.
fn answer(form: Form, chunks: &[Vec<Value>], finish: &str, tokens: u64) -> String {
    let chunks = chunks.iter().enumerate().map(|(place, parts)| {
        let is_last = place + 1 == chunks.len();
        chunk(parts, is_last.then_some(finish), tokens).to_string()
    });
    match form {
        Form::Events => chunks.map(|chunk| format!("data: {chunk}\r\n\r\n")).collect(),
        Form::List => format!("[{}\n]\n", chunks.collect::<Vec<_>>().join("\n,\r\n")),
    }
}

/// What a client makes of it: all parts, the only end, the last usage.
#[derive(Debug, Default, PartialEq)]
struct Read {
    said: String,
    thoughts: String,
    calls: Vec<Value>,
    signatures: Vec<Value>,
    finish: Vec<Value>,
    usage: Value,
    ids: Vec<Value>,
}

fn read(form: Form, out: &str) -> Read {
    let chunks: Vec<Value> = match form {
        Form::List => serde_json::from_str(out).unwrap_or_else(|error| panic!("{error}: {out}")),
        Form::Events => {
            // An event that was cut off has another line end.
            let out = out.replace("\r\n", "\n").replace('\r', "\n");
            let events: Vec<String> = out.split("\n\n").map(str::to_owned).collect();
            let events = events.into_iter().filter(|event| !event.is_empty());
            let data = events.map(|event| event.strip_prefix("data: ").expect(&out).to_owned());
            data.map(|data| serde_json::from_str(&data).expect(&out)).collect()
        }
    };
    let mut read = Read::default();
    for chunk in &chunks {
        read.add(chunk);
    }
    read
}

impl Read {
    fn add(&mut self, chunk: &Value) {
        if let Some(usage) = chunk.get("usageMetadata") {
            self.usage = usage.clone();
        }
        self.ids.extend(chunk.get("responseId").cloned());
        self.ids.dedup();
        let candidate = &chunk["candidates"][0];
        for part in candidate["content"]["parts"].as_array().into_iter().flatten() {
            let words = part["text"].as_str().unwrap_or_default();
            match part["thought"] == true {
                true => self.thoughts += words,
                false => self.said += words,
            }
            self.calls.extend(part.get("functionCall").cloned());
            self.signatures.extend(part.get("thoughtSignature").cloned());
        }
        let finish = candidate.get("finishReason").cloned();
        assert!(self.finish.is_empty() || finish.is_none(), "a second end: {chunk}");
        self.finish.extend(finish);
    }
}

fn turn(
    policies: &Policies,
    notice: Notice,
    (first, cut): (&str, usize),
    then: Vec<Next<'_>>,
) -> Seen {
    turn_in(GEMINI, policies, (SPENT, notice), (first.as_bytes(), cut), then)
}

/// The call comes with the end, and with text before it.
fn denied() -> Vec<Vec<Value>> {
    vec![vec![thought("Hm.")], vec![text("Let me ")], vec![text("see."), call("c1", "rm", "s1")]]
}

fn other_way() -> Vec<Vec<Value>> {
    vec![
        vec![thought("So.")],
        vec![text("Another ")],
        vec![text("way.")],
        vec![call("c2", "ls", "s2")],
    ]
}

#[test]
fn two_answers_are_one_at_every_cut() {
    for form in [Form::Events, Form::List] {
        let one = answer(form, &denied(), "STOP", 100);
        let two = answer(form, &other_way(), "STOP", 120);
        let cuts = (0..one.len()).map(|cut| (cut, 0)).chain((0..two.len()).map(|cut| (0, cut)));
        let mut first: Option<String> = None;
        for (a, b) in cuts {
            let next = Next::Answer(two.as_bytes(), Close::End, b);
            let seen = turn(&policies(), Notice::Line, (&one, a), vec![next]);
            let out = seen.text();
            assert_eq!(*first.get_or_insert_with(|| out.clone()), out, "{form:?} {a}, {b}");
            if a > 0 || b > 0 {
                continue;
            }
            let read = read(form, &out);
            assert_eq!(read.said, format!("Let me see.\n\n{LINE}\n\nAnother way."));
            assert_eq!(read.thoughts, "Hm.So.");
            assert_eq!(read.calls, [call("c2", "ls", "")["functionCall"].clone()]);
            assert_eq!(read.signatures, ["s2"]);
            assert_eq!(read.finish, ["STOP"]);
            assert_eq!(read.usage, json!({ "promptTokenCount": 220, "candidatesTokenCount": 20 }));
            assert_eq!(read.ids, ["r100"]);
            assert_eq!(seen.ending, Some(Ending::Clean));
            let [offer] = seen.offers.as_slice() else { panic!("{:?}", seen.offers) };
            assert_eq!((offer.calls.len(), &*offer.calls[0].name), (1, "rm"));
            assert_eq!(offer.calls[0].call.original, call("c1", "rm", "s1").to_string());
            let [kept] = seen.removed.as_slice() else { panic!("{:?}", seen.removed) };
            let client = kept.client.as_ref().unwrap();
            assert_eq!(client.text, digest(&read.said));
            assert_eq!((client.calls.len(), client.signatures.len()), (1, 2));
            assert!(kept.calls.is_empty());
        }
    }
}

fn digest(text: &str) -> Option<[u8; 32]> {
    let mut digest = callgate_dialect::request::TextDigest::new();
    digest.add(text);
    digest.finish()
}

/// Text leaves at once, also if it comes with the end of the turn.
#[test]
fn text_that_comes_with_the_end_does_not_wait() {
    let one = answer(Form::Events, &denied(), "STOP", 100);
    let mut gate = callgate_gate::Gate::new(GEMINI, drive::settings(OnDeny::Continue));
    gate.push(one.as_bytes());
    let mut seen = Seen::default();
    assert!(super::steps(&mut gate, &policies(), &mut seen).is_none());
    assert_eq!(read(Form::Events, &seen.text()).said, "Let me see.");
    assert_eq!(read(Form::Events, &seen.text()).finish, [] as [Value; 0]);
}

/// A turn that is not continued says what `explain` says.
#[test]
fn a_turn_that_ends_here_is_explained() {
    let several = vec![vec![text("a"), call("c1", "rm", "s1")], vec![call("c2", "rm", "")]];
    let mixed = vec![vec![text("a"), call("c1", "rm", "s1"), call("c2", "ls", "")]];
    let apart = vec![vec![call("c1", "rm", "s1")], vec![call("c2", "ls", "")]];
    let behind = vec![vec![call("c1", "rm", "s1")], vec![text("a")]];
    let alone = vec![vec![call("c1", "rm", "")]];
    for chunks in [denied(), several, mixed, apart, behind, alone, other_way()] {
        for reason in ["STOP", "MAX_TOKENS"] {
            for form in [Form::Events, Form::List] {
                let answer = answer(form, &chunks, reason, 100);
                let run = |on_deny| {
                    let settings = drive::settings(on_deny);
                    drive::run(GEMINI, settings, &policies(), [answer.as_bytes()])
                };
                let (explained, continued) = (run(OnDeny::Explain), run(OnDeny::Continue));
                let (mut one, mut other) =
                    (read(form, &explained.text()), read(form, &continued.text()));
                // A signature may be on the notice or on the end.
                one.signatures.dedup();
                other.signatures.dedup();
                assert_eq!(one, other, "{answer}");
                assert_eq!(continued.ending, explained.ending);
            }
            let parts: Vec<Value> = chunks.concat();
            let body = chunk(&parts, Some(reason), 100).to_string();
            let run = |on_deny| {
                let settings = drive::settings(on_deny);
                drive::run(GEMINI, settings, &policies(), [body.as_bytes()])
            };
            let (explained, continued) = (run(OnDeny::Explain), run(OnDeny::Continue));
            assert_eq!(explained.text(), continued.text());
            assert_eq!(format!("{:?}", continued.notes), format!("{:?}", explained.notes));
        }
    }
}

#[test]
fn a_turn_without_denials_is_not_changed() {
    for form in [Form::Events, Form::List] {
        let answer = answer(form, &other_way(), "STOP", 100);
        let settings = drive::settings(OnDeny::Continue);
        let seen = drive::run(GEMINI, settings, &policies(), [answer.as_bytes()]);
        assert_eq!(seen.text(), answer);
    }
}

#[test]
fn a_turn_is_offered_only_if_no_call_is_left() {
    let offers = |chunks: &[Vec<Value>], reason| {
        let one = answer(Form::Events, chunks, reason, 1);
        turn(&policies(), Notice::Line, (&one, 0), Vec::new()).offers.len()
    };
    assert_eq!(offers(&denied(), "STOP"), 1);
    assert_eq!(offers(&denied(), "MAX_TOKENS"), 0);
    assert_eq!(offers(&other_way(), "STOP"), 0);
    let (no, yes) = (call("c1", "rm", "s"), call("c2", "ls", ""));
    assert_eq!(offers(&[vec![no.clone(), yes.clone()]], "STOP"), 0);
    assert_eq!(offers(&[vec![no.clone()], vec![yes]], "STOP"), 0);
    assert_eq!(offers(&[vec![no.clone()], vec![]], "STOP"), 1);
    let code = json!({ "executableCode": { "language": "PYTHON", "code": "1" } });
    assert_eq!(offers(&[vec![code, no]], "STOP"), 1);
}

#[test]
fn without_a_notice_only_the_answers_are_left() {
    let one = answer(Form::Events, &denied(), "STOP", 1);
    let two = answer(Form::Events, &[vec![text("Done.")]], "STOP", 1);
    let next = Next::Answer(two.as_bytes(), Close::End, 0);
    let seen = turn(&policies(), Notice::None, (&one, 0), vec![next]);
    assert_eq!(read(Form::Events, &seen.text()).said, "Let me see.\n\nDone.");
    let alone = answer(Form::Events, &[vec![call("c1", "rm", "s1")]], "STOP", 1);
    let next = Next::Answer(two.as_bytes(), Close::End, 0);
    let seen = turn(&policies(), Notice::None, (&alone, 0), vec![next]);
    assert_eq!(read(Form::Events, &seen.text()).said, "Done.", "JSON begins with its bracket");
}

#[test]
fn three_answers_are_one() {
    for form in [Form::Events, Form::List] {
        let one = answer(form, &denied(), "STOP", 100);
        let two = answer(form, &[vec![text("Again.")], vec![call("c9", "rm", "s9")]], "STOP", 100);
        let three = answer(form, &[vec![text("I give up.")]], "STOP", 100);
        let then = vec![
            Next::Answer(two.as_bytes(), Close::End, 7),
            Next::Answer(three.as_bytes(), Close::End, 9),
        ];
        let seen = turn(&policies(), Notice::Line, (&one, 0), then);
        let read = read(form, &seen.text());
        assert!(read.said.starts_with(&format!("Let me see.\n\n{LINE}\n\nAgain.\n\ncallgate ")));
        assert!(read.said.ends_with("r-c9\n\nI give up."), "{}", read.said);
        assert_eq!(read.finish, ["STOP"]);
        assert_eq!(read.signatures, [] as [Value; 0]);
        assert_eq!((seen.offers.len(), seen.removed.len()), (2, 1));
        assert_eq!(seen.removed[0].client.as_ref().unwrap().text, digest(&read.said));
    }
}

/// The next answer is cut off at every byte: what the client has is complete.
#[test]
fn a_later_answer_that_fails_leaves_a_complete_turn() {
    for form in [Form::Events, Form::List] {
        let one = answer(form, &denied(), "STOP", 100);
        let two = answer(form, &other_way(), "STOP", 120);
        let next = Next::Answer(two.as_bytes(), Close::End, 0);
        let whole = turn(&policies(), Notice::Line, (&one, 0), vec![next]);
        let whole = read(form, &whole.text());
        for cut in 0..two.len() {
            for how in [Close::End, Close::Failed] {
                let part = two.as_bytes().get(..cut).unwrap();
                let seen =
                    turn(&policies(), Notice::Line, (&one, 0), vec![Next::Answer(part, how, 0)]);
                let read = read(form, &seen.text());
                if read == whole {
                    continue;
                }
                assert_eq!(seen.ending, Some(Ending::Clean), "{cut} {how:?}");
                assert_eq!(seen.failed.len(), 1, "{cut} {how:?}: {}", seen.text());
                assert_eq!(read.finish, ["STOP"], "{cut}");
                assert_eq!(read.ids, ["r100"], "{cut}");
                let [kept] = seen.removed.as_slice() else { panic!("{cut}: {:?}", seen.removed) };
                assert_eq!(kept.client.as_ref().unwrap().text, digest(&read.said), "{cut}");
            }
        }
    }
}

/// An error inside a later answer, or an answer of another form, is no part of the turn.
#[test]
fn a_later_answer_that_is_not_valid_leaves_a_complete_turn() {
    let one = answer(Form::Events, &denied(), "STOP", 100);
    let error =
        "data: {\"error\":{\"code\":503,\"message\":\"x\",\"status\":\"UNAVAILABLE\"}}\r\n\r\n";
    let start = format!("data: {}\r\n\r\n", chunk(&[text("So.")], None, 1));
    for answer in [
        error.to_owned(),
        format!("{start}{error}"),
        answer(Form::List, &other_way(), "STOP", 1),
        chunk(&[text("So.")], Some("STOP"), 1).to_string(),
        "<html>".to_owned(),
    ] {
        let then = vec![Next::Answer(answer.as_bytes(), Close::End, 3)];
        let seen = turn(&policies(), Notice::Line, (&one, 0), then);
        let read = read(Form::Events, &seen.text());
        assert_eq!(read.finish, ["STOP"], "{answer}");
        assert_eq!(seen.failed.len(), 1, "{answer}");
        assert!(read.said.contains("callgate blocked"), "{answer}");
    }
}

#[test]
fn two_bodies_are_one() {
    let one = chunk(&denied().concat(), Some("STOP"), 100).to_string();
    let two = chunk(&other_way().concat(), Some("STOP"), 120).to_string();
    for cut in [0, 1, two.len() / 2, two.len()] {
        let next = Next::Answer(two.as_bytes(), Close::End, cut);
        let seen = turn(&policies(), Notice::Line, (&one, 5), vec![next]);
        let mut read = Read::default();
        read.add(&serde_json::from_str(&seen.text()).unwrap());
        assert_eq!(read.said, format!("Let me see.\n\n{LINE}\n\nAnother way."));
        assert_eq!(read.calls, [call("c2", "ls", "")["functionCall"].clone()]);
        assert_eq!((read.finish, read.ids), (vec!["STOP".into()], vec!["r100".into()]));
        assert_eq!(read.usage, json!({ "promptTokenCount": 220, "candidatesTokenCount": 20 }));
        let [kept] = seen.removed.as_slice() else { panic!("{:?}", seen.removed) };
        assert_eq!(kept.client.as_ref().unwrap().text, digest(&read.said));
    }
}

#[test]
fn a_later_body_that_fails_leaves_the_first_one_explained() {
    let one = chunk(&denied().concat(), Some("STOP"), 100).to_string();
    let alone = turn(&policies(), Notice::Line, (&one, 0), Vec::new());
    for answer in ["", "{", r#"{"error":{"code":500,"message":"x"}}"#, "[1]"] {
        for how in [Close::End, Close::Failed] {
            let then = vec![Next::Answer(answer.as_bytes(), how, 0)];
            let seen = turn(&policies(), Notice::Line, (&one, 0), then);
            assert_eq!(seen.text(), alone.text(), "{answer}");
            assert_eq!(seen.failed.len(), 1, "{answer}");
        }
    }
}

/// The bodies of Code Assist are in an envelope, and stay in it.
#[test]
fn answers_in_an_envelope_are_one() {
    let wrap = |chunks: &[Vec<Value>], tokens| -> String {
        let chunks = chunks.iter().enumerate().map(|(place, parts)| {
            let finish = (place + 1 == chunks.len()).then_some("STOP");
            let chunk = json!({ "response": chunk(parts, finish, tokens), "traceId": "t" });
            format!("data: {chunk}\r\n\r\n")
        });
        chunks.collect()
    };
    let (one, two) = (wrap(&denied(), 100), wrap(&other_way(), 120));
    let next = Next::Answer(two.as_bytes(), Close::End, 0);
    let seen = turn(&policies(), Notice::Line, (&one, 0), vec![next]);
    let mut read = Read::default();
    for event in seen.text().split("\r\n\r\n").filter(|event| !event.is_empty()) {
        let chunk: Value = serde_json::from_str(event.strip_prefix("data: ").unwrap()).unwrap();
        assert!(chunk["response"].is_object(), "{chunk}");
        read.add(&chunk["response"]);
    }
    assert_eq!(read.said, format!("Let me see.\n\n{LINE}\n\nAnother way."));
    assert_eq!(read.usage, json!({ "promptTokenCount": 220, "candidatesTokenCount": 20 }));
}

#[test]
fn the_client_is_kept_waiting_with_an_empty_chunk() {
    let one = answer(Form::Events, &denied(), "STOP", 100);
    let mut gate = callgate_gate::Gate::new(GEMINI, drive::settings(OnDeny::Continue));
    gate.push(one.as_bytes());
    let mut seen = Seen::default();
    super::steps(&mut gate, &policies(), &mut seen);
    gate.close(Close::End);
    assert!(super::steps(&mut gate, &policies(), &mut seen).is_some());
    seen.out.clear();
    gate.keep_alive(&mut seen.out);
    assert_eq!(seen.text(), "data: {}\r\n\r\n");
    assert!(!matches!(gate.step(&mut seen.out), Step::Ended(_)));
}
