use super::*;
use crate::http::{Ask, Exchange};

const TEXT: &[u8] = b"data: one\n\ndata: two\n\n";

#[test]
fn every_framing_gives_the_same_body() {
    for framing in [BodyEnd::Length, BodyEnd::Chunked, BodyEnd::Close] {
        for answer in [Answer::new(200).send(TEXT), Answer::new(200).send(TEXT).dribbled()] {
            let upstream = Upstream::always(answer.framed(framing));
            let reply = Ask::post("/x", "{}").send(upstream.address());
            assert_eq!((reply.status, &*reply.body, reply.is_whole), (200, TEXT, true));
        }
    }
}

#[test]
fn requests_are_kept_as_they_came() {
    let upstream = Upstream::always(Answer::json(201, "{}"));
    let ask = Ask::post("/a/b?c=d", "{\"e\": 1}").header("X-Name", "Value");
    assert_eq!(ask.send(upstream.address()).status, 201);
    let request = upstream.request();
    assert_eq!((&*request.method, &*request.path), ("POST", "/a/b?c=d"));
    assert_eq!((request.header("x-name"), &*request.body), (Some("Value"), &b"{\"e\": 1}"[..]));
}

#[test]
fn breaks_are_seen_as_such() {
    for step in [AnswerStep::Cut, AnswerStep::Reset] {
        let answer = Answer::stream(TEXT).pause(20).step(step).send("never");
        let upstream = Upstream::always(answer);
        let reply = Ask::get("/").send(upstream.address());
        assert_eq!((&*reply.body, reply.is_whole), (TEXT, false));
    }
}

#[test]
fn a_stall_ends_when_released_or_left() {
    let upstream = Upstream::always(Answer::stream("first").step(AnswerStep::Stall).send("second"));
    let mut exchange = Exchange::open(upstream.address(), &Ask::get("/")).unwrap();
    assert!(exchange.read_until("first"));
    exchange.leave();
    assert!(upstream.wait_until(|upstream| upstream.left() == 1));
    let mut exchange = Exchange::open(upstream.address(), &Ask::get("/")).unwrap();
    assert!(exchange.read_until("first"));
    upstream.release();
    assert_eq!(exchange.finish().unwrap().body, b"firstsecond");
    assert!(upstream.wait_until(|upstream| upstream.served() == 1));
}

#[test]
fn codings_can_be_undone() {
    for codings in [
        &[BodyCoding::Gzip][..],
        &[BodyCoding::RawDeflate],
        &[BodyCoding::Brotli, BodyCoding::Zstd],
    ] {
        let upstream = Upstream::always(Answer::stream(TEXT).encoded(codings));
        let reply = Ask::get("/").send(upstream.address());
        let header = reply.header("content-encoding").unwrap();
        let limits = callgate_wire::ReadLimits::default();
        let mut decoder = callgate_wire::Decoder::for_header(Some(header), &limits).unwrap();
        let mut out = Vec::new();
        decoder.push(&reply.body, &mut out).unwrap();
        decoder.finish().unwrap();
        assert_eq!(out, TEXT, "{header}");
    }
}

#[test]
fn it_ends_with_its_connections() {
    let upstream = Upstream::always(Answer::stream("first").step(AnswerStep::Stall));
    let mut exchange = Exchange::open(upstream.address(), &Ask::get("/")).unwrap();
    assert!(exchange.read_until("first"));
    drop(upstream);
    assert!(!exchange.finish().unwrap().is_whole);
}
