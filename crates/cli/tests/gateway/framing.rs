//! Where one response ends, and what is not a response: corners of HTTP that could bypass the gate.

use callgate_testkit::http::Ask;
use callgate_testkit::upstream::{Answer, BodyEnd, Upstream};

use crate::support::{ALLOW, CHAT, DENY, ask, emptied, gateway, whole_turns};

fn completion(tool: &str) -> Vec<u8> {
    emptied(whole_turns(tool, "{}")[1].1.clone()).1
}

#[test]
fn answers_before_the_answer_are_skipped() {
    let body = completion("read_file");
    let mut raw =
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n".to_vec();
    raw.extend(
        format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        )
        .bytes(),
    );
    raw.extend(&body);
    let upstream = Upstream::always(Answer::raw(raw));
    let gateway = gateway(&upstream, ALLOW, "");
    let reply = ask(CHAT).send(gateway.address());
    assert_eq!((reply.status, reply.body), (200, body));
}

#[test]
fn an_upstream_cannot_switch_to_another_protocol() {
    let mut raw =
        b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n".to_vec();
    raw.extend(completion("delete_all"));
    let upstream = Upstream::always(Answer::raw(raw));
    let gateway = gateway(&upstream, DENY, "");
    let reply = ask(CHAT).send(gateway.address());
    assert!(reply.status >= 400, "{}", reply.status);
    assert!(!reply.text().contains("delete_all"), "{}", reply.text());
}

#[test]
fn a_body_where_there_is_none_does_not_pass() {
    for status in [204, 304] {
        let head = format!("HTTP/1.1 {status} None\r\ncontent-type: application/json\r\n\r\n");
        let raw = [head.as_bytes(), &completion("delete_all")].concat();
        let upstream = Upstream::always(Answer::raw(raw));
        let gateway = gateway(&upstream, DENY, "");
        let reply = ask(CHAT).send(gateway.address());
        assert!(!reply.text().contains("delete_all"), "{status}: {}", reply.text());
    }
    let upstream = Upstream::always(Answer::json(200, completion("delete_all")));
    let gateway = gateway(&upstream, DENY, "");
    let reply = Ask::new("HEAD", CHAT).send(gateway.address());
    assert!(reply.body.is_empty());
}

#[test]
fn what_follows_a_body_does_not_answer_the_next_request() {
    // A second answer after the first, on a connection that is used again.
    let safe = completion("read_file");
    let evil = completion("delete_all");
    let head = |length: usize| {
        format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n"
        )
    };
    let raw = [head(safe.len()).as_bytes(), &safe, head(evil.len()).as_bytes(), &evil].concat();
    let upstream = Upstream::always(Answer::raw(raw));
    let gateway = gateway(&upstream, ALLOW, "");
    for _ in 0..3 {
        let reply = ask(CHAT).send(gateway.address());
        assert!(!reply.text().contains("delete_all"), "{}", reply.text());
    }
}

#[test]
fn two_lengths_and_two_framings_of_an_answer_are_refused_or_read_in_one_way() {
    let body = completion("delete_all");
    let length = body.len();
    let chunked = [format!("{length:x}\r\n").as_bytes(), &body, b"\r\n0\r\n\r\n"].concat();
    for (headers, body) in [
        (format!("content-length: 5\r\ncontent-length: {length}\r\n"), &body),
        (format!("content-length: {length}, 5\r\n"), &body),
        ("content-length: 5\r\ntransfer-encoding: chunked\r\n".to_owned(), &chunked),
        ("transfer-encoding: chunked, identity\r\n".to_owned(), &chunked),
        ("transfer-encoding: xchunked\r\n".to_owned(), &chunked),
    ] {
        let head = format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n{headers}\r\n");
        let upstream = Upstream::always(Answer::raw([head.as_bytes(), body].concat()));
        let gateway = gateway(&upstream, DENY, "");
        let reply = ask(CHAT).send(gateway.address());
        assert!(!reply.text().contains("tool_calls\":"), "{headers}: {}", reply.text());
    }
}

#[test]
fn trailers_do_not_reach_the_client() {
    let body = completion("read_file");
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\ntrailer: x-late\r\n\r\n";
    let chunk = format!("{:x}\r\n", body.len());
    let raw = [
        head.as_bytes(),
        chunk.as_bytes(),
        &body,
        b"\r\n0\r\nx-late: 1\r\ncontent-encoding: gzip\r\n\r\n",
    ]
    .concat();
    let upstream = Upstream::always(Answer::raw(raw));
    let gateway = gateway(&upstream, ALLOW, "");
    let reply = ask(CHAT).send(gateway.address());
    assert_eq!((reply.status, reply.is_whole, &reply.body), (200, true, &body));
    assert_eq!(reply.header("trailer"), None);
}

#[test]
fn two_coding_headers_are_one_list() {
    use callgate_testkit::upstream::BodyCoding;
    let body = completion("delete_all");
    let twice = BodyCoding::Brotli.encode(&BodyCoding::Gzip.encode(&body));
    for policy in [ALLOW, DENY] {
        let answer = Answer::json(200, twice.clone());
        let answer = answer.header("content-encoding", "gzip").header("content-encoding", "br");
        let upstream = Upstream::always(answer);
        let gateway = gateway(&upstream, policy, "");
        let reply = ask(CHAT).send(gateway.address());
        assert_eq!(reply.status, 200, "{}", reply.text());
        assert_eq!(reply.body == body, policy == ALLOW, "{}", reply.text());
    }
}

#[test]
fn a_body_that_expands_without_end_is_refused() {
    use callgate_testkit::upstream::BodyCoding;
    let huge = BodyCoding::Gzip.encode(&vec![b' '; 200 << 20]);
    let answer = Answer::json(200, huge).header("content-encoding", "gzip");
    let upstream = Upstream::always(answer);
    let gateway = gateway(&upstream, ALLOW, "");
    let reply = ask(CHAT).send(gateway.address());
    assert!(reply.status == 502 || !reply.is_whole, "{} {} bytes", reply.status, reply.body.len());
}

#[test]
fn a_claimed_length_is_not_believed_for_a_changed_body() {
    for (path, answer) in whole_turns("delete_all", "{}") {
        for framing in [BodyEnd::Length, BodyEnd::Chunked, BodyEnd::Close] {
            let upstream = Upstream::always(answer.clone().framed(framing));
            let gateway = gateway(&upstream, DENY, "");
            let reply = ask(path).send(gateway.address());
            assert_eq!((reply.status, reply.is_whole), (200, true), "{framing:?}");
            assert!(reply.json().is_object(), "{framing:?}: {}", reply.text());
        }
    }
}
