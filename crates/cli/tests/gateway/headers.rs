//! Headers, both ways.

use callgate_testkit::http::Ask;
use callgate_testkit::upstream::{Answer, BodyCoding, BodyEnd, Upstream};

use crate::support::{ALLOW, CHAT, DENY, MESSAGES, ask, emptied, gateway, turns, whole_turns};

/// Headers of providers that clients look at.
const KEPT: [(&str, &str); 9] = [
    ("request-id", "req_011"),
    ("x-request-id", "req_012"),
    ("anthropic-ratelimit-requests-remaining", "49"),
    ("anthropic-organization-id", "org"),
    ("x-ratelimit-remaining-tokens", "149984"),
    ("openai-processing-ms", "420"),
    ("retry-after", "3"),
    ("x-should-retry", "true"),
    ("set-cookie", "a=b"),
];

#[test]
fn headers_of_the_provider_reach_the_client() {
    for (path, mut answer) in turns("read_file", "{}") {
        for (name, value) in KEPT {
            answer = answer.header(name, value);
        }
        let upstream = Upstream::always(answer);
        let gateway = gateway(&upstream, ALLOW, "");
        let reply = ask(path).send(gateway.address());
        for (name, value) in KEPT {
            assert_eq!(reply.header(name), Some(value), "{path}");
        }
        assert_eq!(reply.header("content-type"), Some("text/event-stream; charset=utf-8"));
    }
}

#[test]
fn headers_that_do_not_fit_a_changed_body_are_removed() {
    const STALE: [&str; 8] = [
        "etag",
        "content-md5",
        "digest",
        "content-digest",
        "repr-digest",
        "accept-ranges",
        "content-encoding",
        "trailer",
    ];
    for (path, answer) in whole_turns("delete_all", "{}") {
        let mut answer = answer.encoded(&[BodyCoding::Gzip]);
        for name in STALE.iter().filter(|name| **name != "content-encoding") {
            answer = answer.header(name, "stale");
        }
        let upstream = Upstream::always(answer);
        let gateway = gateway(&upstream, DENY, "");
        let reply = ask(path).send(gateway.address());
        assert_eq!((reply.status, reply.is_whole), (200, true));
        assert!(!reply.text().contains("tool_use\""), "{}", reply.text());
        assert!(reply.json()["id"].is_string(), "{}", reply.text());
        for name in STALE {
            assert_eq!(reply.header(name), None, "{path} {name}");
        }
        if let Some(length) = reply.header("content-length") {
            assert_eq!(length, reply.body.len().to_string());
        }
    }
}

#[test]
fn headers_of_one_connection_stay_on_it() {
    let answer = turns("read_file", "{}")[0].1.clone();
    let answer = answer
        .framed(BodyEnd::Chunked)
        .header("connection", "x-hop-down")
        .header("x-hop-down", "1")
        .header("keep-alive", "timeout=5")
        .header("proxy-authenticate", "Basic")
        .header("alt-svc", "h3=\":443\"");
    let upstream = Upstream::always(answer);
    let gateway = gateway(&upstream, ALLOW, "");
    let ask = ask(MESSAGES)
        .header("connection", "close, x-hop-up")
        .header("x-hop-up", "1")
        .header("keep-alive", "timeout=5")
        .header("te", "trailers")
        .header("proxy-authorization", "Basic x")
        .header("x-end-to-end", "kept")
        .header("anthropic-version", "2023-06-01")
        .header("anthropic-beta", "one,two");
    let reply = ask.send(gateway.address());
    for name in ["x-hop-down", "keep-alive", "proxy-authenticate", "alt-svc"] {
        assert_eq!(reply.header(name), None, "{name}");
    }
    let request = upstream.request();
    for name in ["x-hop-up", "keep-alive", "te", "proxy-authorization"] {
        assert_eq!(request.header(name), None, "{name}");
    }
    assert_eq!(request.header("x-end-to-end"), Some("kept"));
    assert_eq!(request.header("anthropic-version"), Some("2023-06-01"));
    assert_eq!(request.header("anthropic-beta"), Some("one,two"));
    assert_eq!(request.header("authorization"), Some("Bearer none"));
    assert_eq!(request.header("host"), Some(&*upstream.address().to_string()));
}

#[test]
fn a_part_of_a_body_cannot_be_asked_for() {
    for path in [MESSAGES, CHAT] {
        let upstream = Upstream::start(|request| turns_at(&request.path));
        let gateway = gateway(&upstream, ALLOW, "");
        let ask = ask(path).header("range", "bytes=100-").header("if-range", "\"x\"");
        assert_eq!(ask.send(gateway.address()).status, 200);
        let request = upstream.request();
        assert_eq!((request.header("range"), request.header("if-range")), (None, None));
    }
}

fn turns_at(path: &str) -> Answer {
    let [messages, chat] = turns("read_file", "{}");
    if path.ends_with(MESSAGES) { messages.1 } else { chat.1 }
}

#[test]
fn a_part_of_a_body_is_not_forwarded() {
    // A provider that answers with a part nevertheless: its beginning is not known.
    for (path, answer) in whole_turns("delete_all", "{}") {
        let (_, body) = emptied(answer);
        let answer = Answer::json(206, &body[2..]).header("content-range", "bytes 2-499/500");
        let upstream = Upstream::always(answer);
        let gateway = gateway(&upstream, DENY, "");
        let reply = ask(path).send(gateway.address());
        assert!(!reply.text().contains("delete_all"), "{}", reply.text());
    }
}

#[test]
fn a_request_body_is_forwarded_byte_for_byte() {
    // Nothing of this would survive being read and written again.
    let odd = "{ \"model\" : \"any\",\r\n\t\"n\": 1.0, \"n\": 12345678901234567890, \"u\": \"\\u00fc ü\",\"messages\":[ ] }\n\n";
    for path in [MESSAGES, CHAT] {
        let upstream = Upstream::start(|request| turns_at(&request.path));
        let gateway = gateway(&upstream, ALLOW, "");
        assert_eq!(Ask::post(path, odd).send(gateway.address()).status, 200);
        assert_eq!(upstream.request().body, odd.as_bytes(), "{path}");
    }
}

#[test]
fn a_request_body_in_chunks_is_forwarded() {
    let upstream = Upstream::start(|request| turns_at(&request.path));
    let gateway = gateway(&upstream, ALLOW, "");
    let chunked = "7\r\n{\"a\": \"\r\n5\r\nlong\"\r\n1\r\n}\r\n0\r\n\r\n";
    let ask = Ask::post(CHAT, chunked).header("transfer-encoding", "chunked");
    assert_eq!(ask.send(gateway.address()).status, 200);
    assert_eq!(upstream.request().body, b"{\"a\": \"long\"}");
}

#[test]
fn a_large_request_body_is_forwarded() {
    let upstream = Upstream::start(|request| turns_at(&request.path));
    let gateway = gateway(&upstream, ALLOW, "");
    let body = format!("{{\"messages\":[],\"padding\":\"{}\"}}", "x".repeat(5 << 20));
    assert_eq!(Ask::post(CHAT, body.clone()).send(gateway.address()).status, 200);
    assert!(upstream.request().body == body.as_bytes());
}

#[test]
fn an_upload_that_waits_for_leave_gets_it() {
    let upstream = Upstream::start(|request| turns_at(&request.path));
    let gateway = gateway(&upstream, ALLOW, "");
    let ask = ask(CHAT).header("expect", "100-continue");
    assert_eq!(ask.send(gateway.address()).status, 200);
}

/// Some clients go where a header sends them, whatever the status is.
#[test]
fn no_header_sends_a_client_elsewhere() {
    for (path, answer) in whole_turns("read_file", "{}") {
        let answer = answer
            .header("location", "https://elsewhere.example/v1/x")
            .header("content-location", "//elsewhere.example/v1/x")
            .header("refresh", "0; url=https://elsewhere.example/");
        let upstream = Upstream::always(answer);
        let gateway = gateway(&upstream, ALLOW, "");
        let reply = ask(path).send(gateway.address());
        assert_eq!(reply.status, 200, "{}", reply.text());
        for name in ["location", "content-location", "refresh"] {
            assert_eq!(reply.header(name), None, "{path}: {name}");
        }
    }
    let created = Answer::json(201, "{}").header("location", "/v1/files/f");
    let upstream = Upstream::always(created);
    let gateway = gateway(&upstream, ALLOW, "");
    let reply = Ask::post("/v1/files", "{}").send(gateway.address());
    assert_eq!(reply.header("location"), Some("/v1/files/f"), "it leads to the gateway again");
}
