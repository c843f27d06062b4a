//! What each failure means: one test for each way a response, a request or an upstream can be bad.

use std::time::Duration;

use callgate_testkit::clients;
use callgate_testkit::corpus;
use callgate_testkit::http::{Ask, Exchange};
use callgate_testkit::upstream::{Answer, AnswerStep, BodyCoding, BodyEnd, Upstream};
use serde_json::json;

use crate::support::{
    ALLOW, CHAT, DENY, MESSAGES, SAID, ask, emptied, gateway, is_refusal, turns, whole_turns,
};

/// Allows everything, once the arguments are there.
const HELD: &str = "policy: held\nrules:\n  - { id: never, when: { arg: absent, equals: never }, verdict: deny, reason: never }\n";

#[test]
fn error_statuses_pass_with_headers_and_body() {
    let anthropic = r#"{ "type":"error", "error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_1" }"#;
    let openai = r#"{ "error":{"message":"Rate limit","type":"requests","param":null,"code":"rate_limit_exceeded"} }"#;
    for (path, body) in [(MESSAGES, anthropic), (CHAT, openai)] {
        for status in [400, 401, 403, 404, 413, 429, 500, 503, 529] {
            let answer = Answer::json(status, body).header("retry-after", "7");
            let upstream = Upstream::always(answer.header("x-request-id", "req_1"));
            let gateway = gateway(&upstream, DENY, "");
            let reply = ask(path).send(gateway.address());
            assert_eq!((reply.status, reply.text()), (status, body.to_owned()), "{path}");
            assert_eq!(reply.header("retry-after"), Some("7"));
            assert_eq!(reply.header("x-request-id"), Some("req_1"));
            assert_eq!(reply.header("content-type"), Some("application/json"));
        }
    }
}

#[test]
fn an_error_that_is_not_json_passes() {
    let upstream = Upstream::always(
        Answer::new(502).header("content-type", "text/html").send("<h1>Bad Gateway</h1>"),
    );
    let gateway = gateway(&upstream, DENY, "");
    let reply = ask(MESSAGES).send(gateway.address());
    assert_eq!((reply.status, reply.text()), (502, "<h1>Bad Gateway</h1>".to_owned()));
}

#[test]
fn call_text_in_an_error_is_removed() {
    let failed = r#"<function=delete_all>{\"path\":\"/\"}</function>"#;
    let body = format!(
        r#"{{"error":{{"message":"Failed to call a function.","type":"invalid_request_error","code":"tool_use_failed","failed_generation":"{failed}"}}}}"#
    );
    let upstream = Upstream::always(Answer::json(400, body));
    let gateway = gateway(&upstream, ALLOW, "");
    let reply = ask(CHAT).send(gateway.address());
    assert_eq!(
        (reply.status, reply.json()["error"]["code"].clone()),
        (400, json!("tool_use_failed"))
    );
    assert!(!reply.text().contains("delete_all"), "{}", reply.text());
}

#[test]
fn a_call_under_an_error_status_does_not_reach_a_client_that_reads_bodies_only() {
    for (path, answer) in whole_turns("delete_all", "{}") {
        let (_, body) = emptied(answer);
        assert!(String::from_utf8_lossy(&body).contains("delete_all"));
        let upstream = Upstream::always(Answer::json(400, body));
        let gateway = gateway(&upstream, DENY, "");
        let reply = ask(path).send(gateway.address());
        assert_eq!(reply.status, 400, "{}", reply.text());
        assert!(!reply.text().contains("delete_all"), "{path}: {}", reply.text());
    }
}

/// Calls that have no name and no input, or have them in another spelling.
#[test]
fn no_call_of_responses_passes_under_an_error_status() {
    let items = [
        json!({ "type": "shell_call", "call_id": "c", "action": { "commands": ["delete_all"] } }),
        json!({ "type": "local_shell_call", "call_id": "c", "action": { "command": ["delete_all"] } }),
        json!({ "type": "apply_patch_call", "call_id": "c", "operation": { "diff": "delete_all" } }),
        json!({ "type": "computer_call", "call_id": "c", "action": { "text": "delete_all" } }),
        json!({ "type": "custom_tool_call", "call_id": "c", "name": "x", "input": "delete_all" }),
        json!({ "type": "mcp_approval_request", "id": "m", "name": "delete_all" }),
        json!({ "Name": "delete_all", "Input": {} }),
        json!({ "Failed_Generation": "<function=delete_all>" }),
    ];
    for item in items {
        let body = json!({ "output": [item] }).to_string();
        let event = json!({ "type": "response.output_item.done", "item": item });
        let stream = Answer::new(500).header("content-type", "text/event-stream");
        let stream = stream.send(format!("event: response.output_item.done\ndata: {event}\n\n"));
        for answer in [Answer::json(400, body), stream] {
            let upstream = Upstream::always(answer);
            let gateway = gateway(&upstream, DENY, "");
            let reply = ask("/v1/responses").send(gateway.address());
            assert!(matches!(reply.status, 400 | 500), "{}", reply.text());
            assert!(!reply.text().contains("delete_all"), "{item}: {}", reply.text());
        }
    }
}

/// An error is small. What decodes to more is not held in memory first.
#[test]
fn an_error_that_decodes_to_too_much_is_refused() {
    let large = format!(r#"{{"error":{{"message":"{}"}}}}"#, random_letters(6 << 20));
    let upstream = Upstream::always(Answer::json(400, large).encoded(&[BodyCoding::Gzip]));
    let gateway = gateway(&upstream, ALLOW, "");
    let reply = ask(MESSAGES).send(gateway.address());
    assert_eq!((reply.status, reply.text().len() < 1000), (502, true));
    is_refusal(&reply, MESSAGES, 502);
    assert!(reply.text().contains("decodes to more than 4194304 bytes"), "{}", reply.text());
}

/// Letters that shrink to less than four mebibytes, and not by much.
fn random_letters(length: usize) -> String {
    let mut state = 1_u64;
    let next = std::iter::repeat_with(|| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        char::from(b'a' + (state >> 60) as u8)
    });
    next.take(length).collect()
}

/// Clients that guess the character set of an error would read what callgate cannot.
#[test]
fn an_error_that_is_not_utf8_is_withheld() {
    let call = r#"{"error":{"tool_calls":[{"function":{"name":"delete_all","arguments":"{}"}}]}}"#;
    let utf16: Vec<u8> = call.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let broken = [call.as_bytes(), b"\xff"].concat();
    for body in [utf16, broken] {
        let upstream = Upstream::always(Answer::json(400, body));
        let gateway = gateway(&upstream, DENY, "");
        for path in [MESSAGES, CHAT] {
            let reply = ask(path).send(gateway.address());
            assert_eq!(reply.status, 400);
            let text = reply.text().replace('\0', "");
            assert!(!text.contains("delete_all"), "{text}");
        }
    }
}

#[test]
fn an_unknown_coding_is_refused() {
    for (path, answer) in turns("delete_all", "{}") {
        for coding in ["compress", "rot13", "gzip, rot13", "aws-chunked"] {
            let upstream = Upstream::always(answer.clone().header("content-encoding", coding));
            let gateway = gateway(&upstream, DENY, "");
            let reply = ask(path).send(gateway.address());
            is_refusal(&reply, path, 502);
            assert_eq!(reply.header("content-encoding"), None);
        }
    }
}

#[test]
fn a_coding_that_cannot_be_undone_is_refused_or_ends_in_an_error() {
    for (path, answer) in turns("delete_all", "{}") {
        for coding in ["gzip", "deflate", "br", "zstd"] {
            let upstream = Upstream::always(answer.clone().header("content-encoding", coding));
            let gateway = gateway(&upstream, DENY, "");
            let reply = ask(path).send(gateway.address());
            assert!(!reply.text().contains("delete_all"), "{coding}: {}", reply.text());
            let told = reply.status == 502 || reply.text().contains("error") || !reply.is_whole;
            assert!(told, "{path} {coding}: {} {}", reply.status, reply.text());
        }
    }
}

#[test]
fn another_character_set_is_refused() {
    for (path, answer) in whole_turns("delete_all", "{}") {
        for kind in ["application/json; charset=utf-16", "text/event-stream; charset=utf-7"] {
            let (_, body) = emptied(answer.clone());
            let other = Answer::new(200).header("content-type", kind).send(body);
            let upstream = Upstream::always(other);
            let gateway = gateway(&upstream, DENY, "");
            is_refusal(&ask(path).send(gateway.address()), path, 502);
        }
    }
}

#[test]
fn a_response_in_another_dialect_is_refused() {
    let [messages, chat] = turns("delete_all", "{}");
    let [message, completion] = whole_turns("delete_all", "{}");
    for (path, answer) in
        [(MESSAGES, chat.1), (CHAT, messages.1), (MESSAGES, completion.1), (CHAT, message.1)]
    {
        for policy in [ALLOW, DENY] {
            let upstream = Upstream::always(answer.clone());
            let gateway = gateway(&upstream, policy, "");
            let reply = ask(path).send(gateway.address());
            assert!(!reply.text().contains("delete_all"), "{path}: {}", reply.text());
            assert!(reply.text().contains("error"), "{path}: {} {}", reply.status, reply.text());
        }
    }
}

#[test]
fn other_apis_shapes_are_refused() {
    let call = r#"{"name":"delete_all","args":{}}"#;
    let bodies = [
        format!(r#"{{"candidates":[{{"content":{{"role":"model","parts":[{{"functionCall":{call}}}]}}}}]}}"#),
        r#"{"id":"resp_1","object":"response","output":[{"type":"function_call","call_id":"c","name":"delete_all","arguments":"{}"}]}"#.to_owned(),
        r#"{"model":"m","message":{"role":"assistant","tool_calls":[{"function":{"name":"delete_all","arguments":{}}}]},"done":true}"#.to_owned(),
        format!("[{{\"functionCall\":{call}}}]"),
    ];
    for body in bodies {
        for path in [MESSAGES, CHAT] {
            let upstream = Upstream::always(Answer::json(200, body.clone()));
            let gateway = gateway(&upstream, ALLOW, "");
            let reply = ask(path).send(gateway.address());
            assert!(!reply.text().contains("delete_all"), "{path}: {}", reply.text());
            is_refusal(&reply, path, 502);
        }
    }
}

#[test]
fn garbage_is_refused() {
    for body in [&b"\x00\x01\x02\xff"[..], b"<html>hello</html>", b"{", b"{\"a\":1}{\"b\":2}"] {
        for path in [MESSAGES, CHAT] {
            let upstream = Upstream::always(Answer::json(200, body));
            let gateway = gateway(&upstream, ALLOW, "");
            is_refusal(&ask(path).send(gateway.address()), path, 502);
        }
    }
}

#[test]
fn an_upstream_that_speaks_no_http_is_refused() {
    for bytes in ["hello\r\n\r\n", "HTTP/1.1 abc\r\n\r\n", "\x16\x03\x01\x00\x05", ""] {
        let upstream = Upstream::always(Answer::raw(bytes));
        let gateway = gateway(&upstream, ALLOW, "");
        is_refusal(&ask(CHAT).send(gateway.address()), CHAT, 502);
    }
}

#[test]
fn an_upstream_that_is_not_there_is_told() {
    let upstream = Upstream::always(Answer::new(200));
    let gateway = gateway(&upstream, ALLOW, "");
    drop(upstream);
    for path in [MESSAGES, CHAT] {
        is_refusal(&ask(path).send(gateway.address()), path, 502);
    }
}

/// A turn that is cut off inside its call.
fn broken(path: &str, step: AnswerStep) -> Answer {
    let (_, answer) = turns("read_file", r#"{"path":"a long enough name"}"#)
        .into_iter()
        .find(|(known, _)| *known == path)
        .unwrap();
    let (answer, body) = emptied(answer);
    let text = String::from_utf8(body).unwrap();
    let head = &text[..text.rfind("long").unwrap()];
    answer.send(head).pause(50).step(step)
}

#[test]
fn a_stream_that_breaks_inside_a_call_shows_no_call() {
    for path in [MESSAGES, CHAT] {
        for step in [AnswerStep::Cut, AnswerStep::Reset] {
            let upstream = Upstream::always(broken(path, step));
            let gateway = gateway(&upstream, HELD, "");
            let reply = ask(path).send(gateway.address());
            assert!(reply.text().contains(SAID), "{}", reply.text());
            assert!(!reply.text().contains("read_file"), "{}", reply.text());
            let told = reply.text().contains("error") || !reply.is_whole;
            assert!(told, "{path}: the client cannot tell: {}", reply.text());
        }
    }
}

#[test]
fn a_stream_that_breaks_inside_a_live_call_is_reported() {
    for path in [MESSAGES, CHAT] {
        for step in [AnswerStep::Cut, AnswerStep::Reset] {
            let upstream = Upstream::always(broken(path, step));
            let gateway = gateway(&upstream, ALLOW, "");
            let reply = ask(path).send(gateway.address());
            let told = reply.text().contains("\"error\"") || !reply.is_whole;
            assert!(told, "{path}: {}", reply.text());
        }
    }
}

#[test]
fn a_stream_that_breaks_inside_its_text_is_reported() {
    // To some clients a stream that just ends is a whole message.
    for (path, answer) in turns("read_file", "{}") {
        for framing in [BodyEnd::Chunked, BodyEnd::Length] {
            for step in [AnswerStep::Cut, AnswerStep::Reset] {
                let (answer, body) = emptied(answer.clone());
                let text = String::from_utf8(body).unwrap();
                let head = &text[..text.find(SAID).unwrap()];
                let head = &head[..head.rfind("\n\n").unwrap() + 2];
                let answer = match framing {
                    BodyEnd::Length => answer.header("content-length", "9000"),
                    _ => answer,
                };
                let answer = answer.framed(framing).send(head).pause(50).step(step);
                let upstream = Upstream::always(answer);
                let gateway = gateway(&upstream, ALLOW, "");
                let reply = ask(path).send(gateway.address());
                let told = reply.text().contains("\"error\"") || !reply.is_whole;
                assert!(told, "{path} {framing:?}: a clean end: {}", reply.text());
            }
        }
    }
}

#[test]
fn a_response_that_breaks_before_its_first_byte_is_reported() {
    for path in [MESSAGES, CHAT] {
        for kind in ["text/event-stream", "application/json"] {
            for step in [AnswerStep::Cut, AnswerStep::Reset] {
                let answer = Answer::new(200).header("content-type", kind);
                let upstream =
                    Upstream::always(answer.framed(BodyEnd::Chunked).pause(50).step(step));
                let gateway = gateway(&upstream, ALLOW, "");
                let reply = ask(path).send(gateway.address());
                let told = reply.text().contains("error") || !reply.is_whole;
                assert!(told, "{path} {kind}: {} `{}`", reply.status, reply.text());
            }
        }
    }
}

#[test]
fn a_whole_body_that_is_cut_off_is_refused() {
    for (path, answer) in whole_turns("delete_all", "{}") {
        for framing in [BodyEnd::Length, BodyEnd::Chunked] {
            let (_, body) = emptied(answer.clone());
            let half = &body[..body.len() - 20];
            let answer = Answer::new(200).header("content-type", "application/json");
            let answer = match framing {
                BodyEnd::Length => answer.header("content-length", "5000"),
                _ => answer,
            };
            let upstream =
                Upstream::always(answer.framed(framing).send(half).step(AnswerStep::Cut));
            let gateway = gateway(&upstream, DENY, "");
            let reply = ask(path).send(gateway.address());
            assert!(!reply.text().contains("delete_all"), "{}", reply.text());
            assert!(reply.status == 502 || !reply.is_whole, "{path}: {}", reply.text());
        }
    }
}

#[test]
fn an_upstream_that_stalls_is_cut_after_the_idle_timeout() {
    let upstream = Upstream::always(broken(MESSAGES, AnswerStep::Stall));
    let gateway = gateway(&upstream, HELD, "gateway: { idle_timeout: 1s }");
    let reply = ask(MESSAGES).send(gateway.address());
    assert!(!reply.text().contains("read_file"), "{}", reply.text());
    assert!(reply.text().contains("error") || !reply.is_whole, "{}", reply.text());
}

#[test]
fn a_stream_that_is_slow_but_alive_is_not_cut() {
    let [(path, answer), _] = turns("read_file", "{}");
    let (answer, whole) = emptied(answer);
    let ping = b"event: ping\ndata: {\"type\": \"ping\"}\n\n".to_vec();
    // Twice as long as the timeout, and never silent for that long.
    let answer = answer.step(AnswerStep::Repeat(ping.clone(), 8, Duration::from_millis(250)));
    let upstream = Upstream::always(answer.send(whole.clone()));
    let gateway = gateway(&upstream, ALLOW, "gateway: { idle_timeout: 1s }");
    let reply = ask(path).send(gateway.address());
    assert!(reply.is_whole);
    assert_eq!(reply.body, [ping.repeat(8), whole].concat());
}

#[test]
fn a_frame_that_cannot_be_read_is_withheld_unless_it_may_pass() {
    for (path, answer) in turns("read_file", "{}") {
        let bad = "data: {\"type\": \"content_block_delta\", \"choices\": [}\n\n";
        let answer = answer.map_body(|body| [bad.as_bytes(), body].concat());
        let upstream = Upstream::always(answer);
        let closed = gateway(&upstream, ALLOW, "");
        let reply = ask(path).send(closed.address());
        assert!(!reply.text().contains("[}"), "{}", reply.text());
        let open = gateway(&upstream, ALLOW, "malformed: pass");
        let reply = ask(path).send(open.address());
        assert!(reply.text().contains("[}"), "{}", reply.text());
    }
}

/// A turn with one call of these arguments, streamed; and what is left of it.
fn left(path: &str, tool: &str, input: &str, policy: &str, settings: &str) -> (String, bool) {
    let (_, answer) = turns(tool, input).into_iter().find(|(known, _)| *known == path).unwrap();
    let upstream = Upstream::always(answer);
    let gateway = gateway(&upstream, policy, settings);
    let reply = ask(path).send(gateway.address());
    let case = corpus::all().into_iter().find(|case| crate::support::path_of(case) == path);
    let readings = clients::readings(case.unwrap().dialect, &reply.body);
    let has_call = readings.values().any(|calls| calls.iter().any(|(name, _)| name == tool));
    // One that streamed and is refused at its end is ended with an error, and clients raise.
    (reply.text(), has_call && !reply.text().contains("\"error\":"))
}

#[test]
fn arguments_that_are_no_object_count_against_the_call() {
    for path in [MESSAGES, CHAT] {
        for input in ["[1]", "{\"a\":", "{\"a\":1,\"a\":2}"] {
            let (text, has_call) = left(path, "read_file", input, HELD, "");
            assert!(!has_call, "{path} {input}: {text}");
        }
        let (text, has_call) = left(path, "read_file", "[1]", ALLOW, "");
        assert!(has_call, "the name decides: {path}: {text}");
        let (text, has_call) = left(path, "read_file", "[1]", ALLOW, "arguments: deny");
        assert!(!has_call, "{path}: {text}");
    }
}

#[test]
fn arguments_over_the_limit_count_against_the_call() {
    let input = format!("{{\"text\":\"{}\"}}", "x".repeat(4000));
    let limit = "limits: { arguments: 1KiB }";
    for path in [MESSAGES, CHAT] {
        let (text, has_call) = left(path, "write", &input, HELD, limit);
        assert!(!has_call, "{path}: {text}");
        let allow = format!("{limit}\noversize: allow");
        let (text, has_call) = left(path, "write", &input, HELD, &allow);
        assert!(has_call, "{path}: {text}");
        let deny = format!("{limit}\noversize: deny");
        let (text, has_call) = left(path, "write", &input, ALLOW, &deny);
        assert!(!has_call, "{path}: {text}");
    }
}

#[test]
fn a_frame_over_the_limit_ends_the_stream() {
    let input = format!("{{\"text\":\"{}\"}}", "x".repeat(40_000));
    for path in [MESSAGES, CHAT] {
        let (text, has_call) = left(path, "write", &input, HELD, "limits: { frame: 4KiB }");
        assert!(!has_call && text.contains("error"), "{path}: {text}");
    }
}

#[test]
fn more_held_than_the_limit_ends_the_stream() {
    let input = format!("{{\"text\":\"{}\"}}", "x".repeat(4000));
    for path in [MESSAGES, CHAT] {
        let (text, has_call) = left(path, "write", &input, HELD, "limits: { held: 1KiB }");
        assert!(!has_call && text.contains("error"), "{path}: {text}");
        let (text, has_call) = left(path, "write", &input, HELD, "limits: { held: 64KiB }");
        assert!(has_call, "{path}: {text}");
    }
}

#[test]
fn more_calls_than_the_limit_end_the_stream() {
    let call = |n: usize| {
        format!(
            r#"{{"index":{n},"id":"call_{n}","type":"function","function":{{"name":"tool_{n}","arguments":"{{}}"}}}}"#
        )
    };
    let chunk = |inside: &str| format!("data: {{\"choices\":[{{\"index\":0,{inside}}}]}}\n\n");
    let calls: String =
        (0..4).map(|n| chunk(&format!(r#""delta":{{"tool_calls":[{}]}}"#, call(n)))).collect();
    let end = chunk(r#""delta":{},"finish_reason":"tool_calls""#);
    let upstream = Upstream::always(Answer::stream(format!("{calls}{end}data: [DONE]\n\n")));
    let few = gateway(&upstream, HELD, "limits: { calls: 2 }");
    let text = ask(CHAT).send(few.address()).text();
    assert!(!text.contains("tool_2") && text.contains("error"), "{text}");
    let trusting = gateway(&upstream, HELD, "limits: { calls: 2 }\nmalformed: pass");
    let text = ask(CHAT).send(trusting.address()).text();
    assert!(!text.contains("tool_2") && text.contains("error"), "{text}");
    let enough = gateway(&upstream, HELD, "limits: { calls: 4 }");
    let text = ask(CHAT).send(enough.address()).text();
    assert!(text.contains("tool_3") && !text.contains("\"error\""), "{text}");
}

/// A stream of lines under the content type of a body.
#[test]
fn a_response_that_has_begun_keeps_its_status_when_it_fails() {
    let line =
        |message: &str| format!("{{\"model\":\"m\",\"message\":{message},\"done\":false}}\n");
    let call = r#"{"function":{"name":"read_file","arguments":{}}}"#;
    let text = line(r#"{"role":"assistant","content":"Hello"}"#);
    let calls =
        line(&format!(r#"{{"role":"assistant","content":"","tool_calls":[{call},{call}]}}"#));
    for (body, status) in [(format!("{text}{calls}"), 200), (format!("{calls}{text}"), 502)] {
        let answer = Answer::new(200).header("content-type", "application/json");
        let upstream = Upstream::always(answer.send(body.into_bytes()));
        let gateway = gateway(&upstream, ALLOW, "limits: { calls: 1 }");
        let reply = ask("/api/chat").send(gateway.address());
        assert_eq!(reply.status, status, "{}", reply.text());
        assert!(reply.text().contains("error") && !reply.text().contains("read_file"));
        assert_eq!(reply.text().contains("Hello"), status == 200, "{}", reply.text());
    }
}

#[test]
fn a_request_that_must_be_read_in_an_unknown_coding_gets_415() {
    let upstream = Upstream::start(|request| match request.path.as_str() {
        MESSAGES => turns("delete_all", "{}")[0].1.clone(),
        _ => turns("delete_all", "{}")[1].1.clone(),
    });
    let gateway = gateway(&upstream, DENY, "");
    // From here on something may have to be restored.
    assert_eq!(ask(MESSAGES).send(gateway.address()).status, 200);
    let odd = Ask::post(MESSAGES, "??")
        .header("authorization", "Bearer none")
        .header("content-encoding", "rot13");
    assert!(gateway.wait_until(|gateway| odd.send(gateway.address()).status == 415));
}

#[test]
fn a_client_that_sends_its_head_slowly_does_not_hold_others_up() {
    use std::io::Write;
    let upstream = Upstream::always(turns("read_file", "{}")[0].1.clone());
    // Longer than a test waits for an answer.
    let gateway = gateway(&upstream, ALLOW, "gateway: { client_head_timeout: 10m }");
    let mut slow = Vec::new();
    for _ in 0..200 {
        let mut stream = std::net::TcpStream::connect(gateway.address()).unwrap();
        stream.write_all(b"POST /v1/messages HTTP/1.1\r\nhost: ").unwrap();
        slow.push(stream);
    }
    assert_eq!(ask(MESSAGES).send(gateway.address()).status, 200);
}

#[test]
fn requests_that_two_servers_read_in_two_ways_are_refused() {
    let upstream = Upstream::always(turns("read_file", "{}")[1].1.clone());
    let gateway = gateway(&upstream, ALLOW, "");
    for headers in [
        &[("transfer-encoding", "chunked"), ("content-length", "4")][..],
        &[("content-length", "4"), ("content-length", "5")],
        &[("transfer-encoding", "xchunked")],
    ] {
        let ask = headers
            .iter()
            .fold(Ask::post(CHAT, "0\r\n\r\n"), |ask, (name, value)| ask.header(name, value));
        // Refused, or read in the one way the standard says; but never sent on as it came.
        if let Ok(exchange) = Exchange::open(gateway.address(), &ask) {
            let _ = exchange.finish();
        }
    }
    for request in upstream.requests() {
        let both = request.header("content-length").is_some()
            && request.header("transfer-encoding").is_some();
        let lengths = request.headers.iter().filter(|(name, _)| name == "content-length").count();
        assert!(!both && lengths < 2, "{request:?}");
    }
}

/// The rule matches by name alone, but the approver has to see the arguments. So the call is held
/// until it is complete, instead of being denied at its name.
#[test]
fn a_call_that_needs_approval_is_held_and_refused() {
    let policy = "policy: p\nrules:\n  - { id: look, tool: Bash, verdict: ask, reason: A person looks at this., ask: { fallback: allow } }\n";
    for (path, answer) in turns("Bash", r#"{"command":"ls"}"#) {
        let upstream = Upstream::always(answer);
        let gateway = gateway(&upstream, policy, "");
        let reply = ask(path).send(gateway.address());
        let text = reply.text();
        assert!(!text.contains("\"ls\"") && !text.contains("tool_use\""), "{path}: {text}");
        for part in ["A person looks at this.", "needs approval", "no approver"] {
            assert!(text.contains(part), "{path}: {part}: {text}");
        }
        let calls = gateway.calls();
        let [call] = calls.as_slice() else { panic!("{calls:?}") };
        assert_eq!(call["verdict"]["action"], "deny", "{call}");
        assert_eq!(call["verdict"]["rule"], "look", "{call}");
        assert!(call["tool"]["input"].to_string().contains("ls"), "{call}");
    }
}
