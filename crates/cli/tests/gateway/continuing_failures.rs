//! What each failure means in a later answer of a turn that continues after a denial: the client has
//! a complete turn, and nothing that was not judged and recorded.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use callgate_testkit::gateway::Gateway;
use callgate_testkit::http::{Exchange, Reply};
use callgate_testkit::provider::{POLICY, Provider, TurnPart};
use callgate_testkit::upstream::{Answer, AnswerStep, Request, Upstream};
use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};
use serde_json::{Value, json};

use crate::continuing::{CONTINUE, Failure, asked, body, first, message, post, server_but};
use crate::support::{MESSAGES, gateway, setup};

/// Three answers: a denied call, these blocks, and a text.
fn server(second: Vec<TurnPart>) -> Upstream {
    let denied = TurnPart::call("{n}_1a", "delete_all", "{}");
    let turns = vec![vec![denied], second, vec![TurnPart::text("Fine.")]];
    let provider = Provider::default().script("later", turns);
    Upstream::start(move |request| provider.answer(request))
}

/// The turn of a model whose second answer is a call of `bash` with these arguments, and how many
/// requests it took.
fn turn_with(input: &str, settings: &str, stream: bool) -> (Value, usize) {
    let upstream =
        server(vec![TurnPart::text("Then so."), TurnPart::call("{n}_2a", "bash", input)]);
    let gateway = gateway(&upstream, POLICY, &format!("{CONTINUE}\n{settings}"));
    let turn = message(&post(&gateway, &[first("later")], stream));
    (turn, upstream.requests().len())
}

/// Whether the client has the call.
fn has_call(turn: &Value) -> bool {
    turn["content"].as_array().unwrap().iter().any(|block| block["type"] == "tool_use")
}

/// The turn ended as with `explain`: without a call, and with the reason.
#[track_caller]
fn is_explained(turn: &Value, what: &str) {
    assert_eq!(turn["stop_reason"], "end_turn", "{what}: {turn}");
    assert!(!has_call(turn), "{what}: {turn}");
    assert!(turn.to_string().contains("callgate blocked the tool call"), "{what}: {turn}");
}

#[test]
fn a_frame_that_cannot_be_read_ends_the_turn_unless_it_may_pass() {
    let bad = "data: {\"type\": \"content_block_delta\", \"choices\": [}\n\n";
    let spoil = move |usual: Answer| usual.map_body(|body| [bad.as_bytes(), body].concat());
    let reply = |settings: &str| {
        let upstream = server_but(1, spoil);
        let gateway = gateway(&upstream, POLICY, &format!("{CONTINUE}\n{settings}"));
        post(&gateway, &[first("other way")], true)
    };
    let closed = reply("");
    assert!(!closed.text().contains("[}"), "{}", closed.text());
    is_explained(&message(&closed), "malformed");
    let open = reply("malformed: pass").text();
    assert!(open.contains("[}") && open.contains("read_file"), "{open}");
}

#[test]
fn arguments_that_are_no_object_count_against_a_later_call() {
    for stream in [true, false] {
        let (turn, requests) = turn_with("[1]", "", stream);
        assert!(!has_call(&turn), "{turn}");
        assert_eq!(turn["stop_reason"], "end_turn", "{turn}");
        assert!(requests >= 2, "{requests}");
        let (turn, _) = turn_with(r#"{"command":"ls"}"#, "", stream);
        assert!(has_call(&turn), "{turn}");
    }
}

#[test]
fn arguments_over_the_limit_count_against_a_later_call() {
    let input = format!("{{\"command\":\"{}\"}}", "x".repeat(4000));
    for stream in [true, false] {
        let limit = "limits: { arguments: 1KiB }";
        let (turn, requests) = turn_with(&input, limit, stream);
        assert!(!has_call(&turn), "{turn}");
        assert_eq!((turn["stop_reason"].as_str(), requests), (Some("end_turn"), 3), "{turn}");
        let (turn, requests) = turn_with(&input, &format!("{limit}\noversize: allow"), stream);
        assert!(has_call(&turn) && requests == 2, "{turn}");
    }
}

#[test]
fn the_limits_of_a_response_apply_to_later_answers() {
    let input = format!("{{\"command\":\"{}\"}}", "x".repeat(40_000));
    for limit in ["limits: { frame: 4KiB }", "limits: { held: 4KiB }"] {
        is_explained(&turn_with(&input, limit, true).0, limit);
    }
}

/// A streamed answer that ends inside its call.
fn cut_inside_call(usual: Answer) -> Answer {
    let text = String::from_utf8(usual.body()).unwrap();
    let inside = text.find("input_json_delta").unwrap();
    let end = inside + text[inside..].find("\n\n").unwrap() + 2;
    Answer::stream(text[..end].to_owned()).step(AnswerStep::Cut)
}

#[test]
fn a_later_answer_that_ends_inside_a_call_shows_no_call() {
    let denied = TurnPart::call("{n}_1a", "delete_all", "{}");
    for (tool, is_held) in [("bash", true), ("read_file", false)] {
        let call = TurnPart::call("{n}_2a", tool, r#"{"command":"a long enough text"}"#);
        let provider = Provider::default().script("later", vec![vec![denied.clone()], vec![call]]);
        let count = AtomicUsize::new(0);
        let upstream = Upstream::start(move |request: &Request| {
            let usual = provider.answer(request);
            match count.fetch_add(1, Ordering::SeqCst) {
                1 => cut_inside_call(usual),
                _ => usual,
            }
        });
        let gateway = gateway(&upstream, POLICY, CONTINUE);
        let reply = post(&gateway, &[first("later")], true);
        match is_held {
            true => is_explained(&message(&reply), tool),
            // A part of it has left, so the client must hear that it is not complete.
            false => {
                let told = reply.text().contains("event: error") || !reply.is_whole;
                assert!(told, "{}", reply.text());
            }
        }
    }
}

#[test]
fn a_later_answer_in_an_unknown_or_broken_coding_ends_the_turn() {
    for coding in ["rot13", "gzip", "br", "zstd"] {
        for stream in [true, false] {
            let encode: Failure =
                Box::new(move |usual: Answer| usual.header("content-encoding", coding));
            let upstream = server_but(1, encode);
            let gateway = gateway(&upstream, POLICY, CONTINUE);
            let turn = message(&post(&gateway, &[first("other way")], stream));
            is_explained(&turn, coding);
        }
    }
}

#[test]
fn an_error_status_of_a_later_answer_ends_the_turn_and_shows_no_call() {
    let call = r#"{"error":{"message":"x","failed_generation":"<function=read_file>"}}"#;
    for status in [400, 401, 429, 500, 529] {
        for stream in [true, false] {
            let upstream = server_but(1, move |_| Answer::json(status, call));
            let gateway = gateway(&upstream, POLICY, CONTINUE);
            let reply = post(&gateway, &[first("other way")], stream);
            assert!(!reply.text().contains("read_file"), "{}", reply.text());
            is_explained(&message(&reply), "status");
        }
    }
}

/// A turn whose second answer waits until the upstream is released.
fn between_answers(settings: &str, happens: impl Fn(&Gateway)) -> (Reply, Gateway, Upstream) {
    let second = TurnPart::call("{n}_2a", "bash", r#"{"command":"ls"}"#);
    let denied = TurnPart::call("{n}_1a", "delete_all", "{}");
    let turns = vec![vec![denied], vec![second], vec![TurnPart::text("Fine.")]];
    let provider = Provider::default().script("later", turns);
    let count = AtomicUsize::new(0);
    let upstream = Upstream::start(move |request: &Request| {
        let usual = provider.answer(request);
        match count.fetch_add(1, Ordering::SeqCst) {
            1 => Answer::stream("").step(AnswerStep::Stall).send(usual.body()),
            _ => usual,
        }
    });
    // A write past the bound is an error then, and does not end the process.
    let runner = ["sh", "-c", "trap '' XFSZ; exec \"$@\"", "sh"];
    let settings = format!("{CONTINUE}\n{settings}");
    let gateway = setup(&upstream, POLICY, &settings).under(&runner).start();
    let open = Exchange::open(gateway.address(), &asked(&body(&[first("later")], true))).unwrap();
    assert!(upstream.wait_until(|upstream| upstream.requests().len() == 2));
    happens(&gateway);
    upstream.release();
    (open.finish().unwrap(), gateway, upstream)
}

#[test]
fn a_later_call_without_a_record_is_denied_unless_the_operator_allows_it() {
    let full = |gateway: &Gateway| {
        let pid = Pid::from_raw(i32::try_from(gateway.id()).unwrap());
        let limit = getrlimit(Resource::Fsize);
        prlimit(pid, Resource::Fsize, Rlimit { current: Some(1), ..limit }).unwrap();
    };
    let (reply, _gateway, _upstream) = between_answers("", full);
    assert!(!has_call(&message(&reply)), "{}", reply.text());
    let (reply, _gateway, _upstream) = between_answers("audit: { on_failure: allow }", full);
    assert!(has_call(&message(&reply)), "{}", reply.text());
}

/// All answers of a turn are judged by the policies with which it began.
#[test]
fn a_policy_that_changes_between_answers_applies_to_the_next_turn() {
    let stricter = "policy: stricter\nrules:\n  - { id: no-bash, tool: bash, verdict: deny, reason: Not any more. }\n";
    let loaded = |gateway: &Gateway| {
        gateway.events().iter().filter(|event| event["type"] == "policy_loaded").count()
    };
    let (reply, gateway, _upstream) = between_answers("", |gateway| {
        let before = loaded(gateway);
        gateway.replace("rules.yaml", stricter);
        assert!(gateway.wait_until(|gateway| loaded(gateway) > before), "{}", gateway.said());
    });
    assert!(has_call(&message(&reply)), "{}", reply.text());
    // The new policy does not deny the first call of the script.
    let next = post(&gateway, &[first("later")], true).text();
    assert!(next.contains("delete_all") && !next.contains("callgate blocked"), "{next}");
}

/// A server that reads bodies without keeping them, and always answers with a denied call.
fn forgetful() -> (String, Arc<AtomicUsize>) {
    let denied = TurnPart::call("toolu_1", "delete_all", "{}");
    let provider = Provider::default().script("later", vec![vec![denied]]);
    let request = body(&[first("later")], true).to_string().into();
    let request = Request { path: MESSAGES.into(), body: request, ..Request::default() };
    let answer = provider.answer(&request).body();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            read_request(&mut stream);
            counted.fetch_add(1, Ordering::SeqCst);
            let head =
                "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
            stream.write_all(&[head.as_bytes(), &answer].concat()).unwrap();
        }
    });
    (url, count)
}

/// Reads a request that has a `content-length`.
fn read_request(stream: &mut TcpStream) {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).unwrap();
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap().to_ascii_lowercase();
    let length = head.split_once("content-length: ").unwrap().1;
    let length: u64 = length.split("\r\n").next().unwrap().parse().unwrap();
    std::io::copy(&mut stream.take(length), &mut std::io::sink()).unwrap();
}

/// Sends a request with this many letters, and returns the complete response.
fn send_letters(gateway: &Gateway, letters: usize) -> String {
    const MIB: usize = 1 << 20;
    let whole = body(&[json!({ "role": "user", "content": "{}" })], true).to_string();
    let (before, behind) = whole.split_once("{}").unwrap();
    let length = before.len() + letters + behind.len();
    let mut stream = TcpStream::connect(gateway.address()).unwrap();
    let address = gateway.address();
    let head = format!(
        "POST {MESSAGES} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer none\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{before}"
    );
    stream.write_all(head.as_bytes()).unwrap();
    let piece = vec![b'x'; MIB];
    for _ in 0..letters / MIB {
        stream.write_all(&piece).unwrap();
    }
    stream.write_all(behind.as_bytes()).unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    reply
}

/// Kept requests have 256 MiB for the whole process. What does not fit is explained, and leaves the
/// room to others.
#[test]
fn a_request_that_does_not_fit_into_the_kept_bodies_is_explained() {
    let (url, count) = forgetful();
    let settings = format!("{CONTINUE}\nlimits: {{ request: 1GiB }}");
    let config = format!(
        "providers:\n  anthropic: {{ base_url: \"{url}\", dialect: anthropic }}\n\
         policies: [rules.yaml]\n{settings}\n"
    );
    let unused = Upstream::always(Answer::new(500));
    let setup = setup(&unused, POLICY, "").config(&config).file("rules.yaml", POLICY);
    let gateway = setup.start();
    let reply = send_letters(&gateway, 257 << 20);
    assert!(reply.contains("Reason: Nothing is deleted here."), "{reply}");
    assert_eq!(count.load(Ordering::SeqCst), 1, "it was kept: {reply}");
    // The model repeats itself, so the second answer is the last.
    let reply = send_letters(&gateway, 1 << 20);
    assert!(reply.contains("Reason: Nothing is deleted here."), "{reply}");
    assert_eq!(count.load(Ordering::SeqCst), 3, "{reply}");
}
