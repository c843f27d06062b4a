//! Upstreams that disconnect early, stall or send rubbish: the client gets an error in its API's
//! form, no held call gets out, and the next request is served as if nothing had been.

use std::time::Duration;

use callgate_testkit::clients;
use callgate_testkit::gateway::Gateway;
use callgate_testkit::http::{Ask, Reply};
use callgate_testkit::upstream::{Answer, AnswerStep, BodyCoding, BodyEnd, Request, Upstream};
use serde_json::{Value, json};

use crate::load::{HELD, holds_call, model_of, shows_call};
use crate::process::{MIB, memory};
use crate::support::{ALLOW, CHAT, MESSAGES, SAID, emptied, gateway, is_refusal, turns};

/// Short, for upstreams that stall.
const TIMEOUTS: &str = "gateway: { idle_timeout: 1s, head_timeout: 2s, connect_timeout: 2s }";

/// Where a stream breaks.
const PLACES: [&str; 3] = ["text", "call", "end"];

/// How it breaks there.
const BREAKS: [&str; 6] = ["cut", "reset", "stall", "chunk", "huge-chunk", "gzip"];

/// Invalid heads. The provider cannot be asked then.
const HEADS: [&str; 7] = [
    "silence",
    "close",
    "status",
    "endless-status",
    "endless-head",
    "endless-early",
    "stalled-head",
];

fn ask_for(path: &str, model: &str) -> Ask {
    let messages = json!([{ "role": "user", "content": "hi" }]);
    let body = json!({ "model": model, "max_tokens": 64, "stream": true, "messages": messages });
    Ask::post(path, body.to_string()).header("authorization", "Bearer none")
}

/// Breaks as the request's model says.
fn faulty_server() -> Upstream {
    Upstream::start(|request| {
        let model = model_of(request);
        let turn = turn(request);
        match model.split_once('@') {
            Some((how, place)) => broken(turn, how, place),
            None if model == "fine" => turn,
            None => head(&model),
        }
    })
}

fn turn(request: &Request) -> Answer {
    let [messages, chat] = turns("read_file", r#"{"path":"a long enough name"}"#);
    if request.path.ends_with("completions") { chat.1 } else { messages.1 }
}

/// So much of a turn, and then what breaks it.
fn broken(turn: Answer, how: &str, place: &str) -> Answer {
    let (answer, body) = emptied(turn);
    let text = String::from_utf8(body).unwrap();
    let begun = match place {
        "text" => &text[..text.find(SAID).unwrap()],
        // Inside the second piece, of three.
        "call" => &text[..text.find("ong enou").unwrap()],
        // The call is whole, and the turn is not.
        _ => &text[..text.find("\"tool_use\",\"stop").or(text.find("\"tool_calls\"}")).unwrap()],
    };
    let raw = |head: &str, rest: &[u8]| {
        let head = format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n{head}\r\n");
        Answer::raw([head.as_bytes(), rest].concat())
    };
    let chunk = |size: &str| {
        let whole = format!("{:x}\r\n{begun}\r\n{size}\r\n", begun.len());
        raw("transfer-encoding: chunked\r\n", whole.as_bytes())
    };
    match how {
        "cut" => answer.send(begun).step(AnswerStep::Cut),
        "reset" => answer.send(begun).pause(50).step(AnswerStep::Reset),
        "stall" => answer.send(begun).step(AnswerStep::Stall),
        "chunk" => chunk("no size"),
        "huge-chunk" => chunk("fffffffffffffffff"),
        "garbage" => {
            answer.send(begun).send(b"\xff\xfe\x00rubbish\n\n{{{[[\n\n".to_vec()).send("\r\n")
        }
        _ => {
            let coded = BodyCoding::Gzip.encode(begun.as_bytes());
            let short = &coded[..coded.len() - 8];
            answer.header("content-encoding", "gzip").send(short)
        }
    }
}

/// An invalid head.
fn head(model: &str) -> Answer {
    let no_pause = Duration::ZERO;
    let line = || b"x-filler: 0123456789012345678901234567890123456789\r\n".to_vec();
    match model {
        "silence" => Answer::raw("").step(AnswerStep::Stall),
        "close" => Answer::raw(""),
        "status" => Answer::raw("HTTP/1.1 2OO OK\r\n\r\n"),
        "endless-status" => Answer::raw("HTTP/1.1 200 ").step(AnswerStep::Repeat(
            vec![b'a'; 4096],
            100_000,
            no_pause,
        )),
        "endless-head" => Answer::raw("HTTP/1.1 200 OK\r\n").step(AnswerStep::Repeat(
            line(),
            10_000_000,
            no_pause,
        )),
        "endless-early" => {
            let early = b"HTTP/1.1 103 Early Hints\r\n\r\n".repeat(100);
            Answer::raw("").step(AnswerStep::Repeat(early, 10_000_000, Duration::from_millis(1)))
        }
        _ => Answer::raw("HTTP/1.1 200 OK\r\ncontent-type: text/ev").step(AnswerStep::Stall),
    }
}

#[track_caller]
fn goes_on(gateway: &Gateway, after: &str) {
    for path in [MESSAGES, CHAT] {
        let reply = ask_for(path, "fine").send(gateway.address());
        assert_eq!((reply.status, reply.is_whole), (200, true), "{path} after {after}");
        assert!(shows_call(path, &reply.body), "{path} after {after}: {}", reply.text());
    }
}

/// Checks that the stream ends as the API ends one that failed.
#[track_caller]
pub(crate) fn ends_in_error(path: &str, reply: &Reply, how: &str) {
    let text = reply.text();
    assert_eq!(reply.status, 200, "{path} {how}: {text}");
    assert!(reply.is_whole, "{path} {how}: it ends early without an error: {text}");
    let events = clients::events(&text);
    let (name, last) = events.last().expect("an event");
    assert!(last["error"]["message"].is_string(), "{path} {how}: ends in `{last}`");
    let finished = |event: &Value| match path {
        MESSAGES => event["type"] == "message_stop",
        _ => event["choices"][0]["finish_reason"].is_string(),
    };
    assert!(!events.iter().any(|(_, event)| finished(event)), "{path} {how}: {text}");
    if path == MESSAGES {
        assert_eq!((name.as_str(), &last["type"]), ("error", &json!("error")), "{how}: {text}");
    }
}

#[test]
fn streams_that_break_end_in_an_error_and_show_no_held_call() {
    let upstream = faulty_server();
    let gateway = gateway(&upstream, HELD, TIMEOUTS);
    goes_on(&gateway, "the start");
    let before = memory(&gateway);
    for how in BREAKS {
        for place in PLACES {
            for path in [MESSAGES, CHAT] {
                let what = format!("{how}@{place}");
                let reply = ask_for(path, &what).send(gateway.address());
                ends_in_error(path, &reply, &what);
                // A call that was whole had its record and may be out; no other may.
                assert!(
                    place == "end" || !reply.text().contains("read_file"),
                    "{path} {what}: {}",
                    reply.text()
                );
            }
        }
        goes_on(&gateway, how);
    }
    let grown = memory(&gateway).saturating_sub(before);
    assert!(grown < 16 * MIB, "{} KiB more than before", grown >> 10);
}

#[test]
fn garbage_inside_a_stream_is_withheld_with_the_call_around_it() {
    let upstream = faulty_server();
    for policy in [ALLOW, HELD] {
        let gateway = gateway(&upstream, policy, TIMEOUTS);
        for place in PLACES {
            for path in [MESSAGES, CHAT] {
                let reply = ask_for(path, &format!("garbage@{place}")).send(gateway.address());
                let text = reply.text();
                assert_eq!((reply.status, reply.is_whole), (200, true), "{path} {place}: {text}");
                assert!(!text.contains("rubbish"), "{path} {place}: {text}");
                assert!(place == "end" || !holds_call(&reply.body), "{path} {place}: {text}");
                let held = policy == HELD && place != "end";
                assert!(!(held && shows_call(path, &reply.body)), "{path} {place}: {text}");
            }
        }
        goes_on(&gateway, "garbage");
    }
}

#[test]
fn streams_that_break_inside_a_live_call_end_in_an_error() {
    let upstream = faulty_server();
    let gateway = gateway(&upstream, ALLOW, TIMEOUTS);
    for how in BREAKS {
        for path in [MESSAGES, CHAT] {
            let what = format!("{how}@call");
            ends_in_error(path, &ask_for(path, &what).send(gateway.address()), &what);
        }
        goes_on(&gateway, how);
    }
}

#[test]
fn invalid_heads_are_refused_in_the_providers_form() {
    let upstream = faulty_server();
    let gateway = gateway(&upstream, HELD, TIMEOUTS);
    goes_on(&gateway, "the start");
    let before = memory(&gateway);
    for how in HEADS {
        let status = match how {
            "silence" | "endless-early" | "stalled-head" => 504,
            _ => 502,
        };
        for path in [MESSAGES, CHAT] {
            let reply = ask_for(path, how).send(gateway.address());
            assert_eq!(reply.status, status, "{path} {how}: {}", reply.text());
            is_refusal(&reply, path, status);
        }
        goes_on(&gateway, how);
    }
    let grown = memory(&gateway).saturating_sub(before);
    assert!(grown < 16 * MIB, "{} KiB more than before", grown >> 10);
}

#[test]
fn an_upstream_that_comes_back_is_used_again() {
    let upstream = faulty_server();
    let address = upstream.address();
    let gateway = gateway(&upstream, HELD, TIMEOUTS);
    goes_on(&gateway, "the start");
    drop(upstream);
    for path in [MESSAGES, CHAT] {
        is_refusal(&ask_for(path, "fine").send(gateway.address()), path, 502);
    }
    // Another program on that port, for a moment: it takes connections and sends nothing.
    let Ok(other) = std::net::TcpListener::bind(address) else { return };
    for path in [MESSAGES, CHAT] {
        is_refusal(&ask_for(path, "fine").send(gateway.address()), path, 504);
    }
    drop(other);
    is_refusal(&ask_for(CHAT, "fine").send(gateway.address()), CHAT, 502);
}

#[test]
fn bodies_that_break_are_refused() {
    let half =
        r#"{"id":"m","type":"message","role":"assistant","content":[{"type":"text","text":"He"#;
    let upstream = Upstream::start(move |request| {
        let answer = Answer::new(200).header("content-type", "application/json");
        let chunked = answer.clone().framed(BodyEnd::Chunked).send(half);
        match model_of(request).as_str() {
            "cut" => chunked.step(AnswerStep::Cut),
            "reset" => chunked.pause(50).step(AnswerStep::Reset),
            "stall" => chunked.step(AnswerStep::Stall),
            "length" => answer.header("content-length", "5000").send(half).step(AnswerStep::Cut),
            "gzip" => {
                let coded = BodyCoding::Gzip.encode(half.as_bytes());
                answer.header("content-encoding", "gzip").send(&coded[..coded.len() - 4])
            }
            _ => turn(request),
        }
    });
    let gateway = gateway(&upstream, HELD, TIMEOUTS);
    for how in ["cut", "reset", "stall", "length", "gzip"] {
        for path in [MESSAGES, CHAT] {
            let reply = ask_for(path, how).send(gateway.address());
            let status = reply.status;
            assert!(matches!(status, 502 | 504), "{path} {how}: {status} {}", reply.text());
            is_refusal(&reply, path, status);
        }
        goes_on(&gateway, how);
    }
}
