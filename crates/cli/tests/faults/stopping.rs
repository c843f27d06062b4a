//! Stopping: streams may finish, unless the operator asks twice or time is up.

use callgate_audit::{Filter, RecordKind};
use callgate_store::{Location, RecordReader};
use callgate_testkit::gateway::Gateway;
use callgate_testkit::http::{Ask, Exchange};
use callgate_testkit::upstream::{AnswerStep, Upstream};

use crate::load::{HELD, shows_call};
use crate::support::{ALLOW, MESSAGES, SAID, ask, emptied, gateway, turns};

/// A turn that stalls in front of its call until it is released, and the whole of it.
fn paused() -> (Upstream, Vec<u8>) {
    let [(_, answer), _] = turns("read_file", "{}");
    let (answer, whole) = emptied(answer);
    let text = String::from_utf8(whole.clone()).unwrap();
    let call = text[..text.find("tool_use").unwrap()].rfind("event:").unwrap();
    let upstream =
        Upstream::always(answer.send(&text[..call]).step(AnswerStep::Stall).send(&text[call..]));
    (upstream, whole)
}

fn begun(gateway: &Gateway) -> Exchange {
    let mut exchange = Exchange::open(gateway.address(), &ask(MESSAGES)).unwrap();
    assert!(exchange.read_until(SAID));
    exchange
}

/// Waits until it has heard that it is to stop.
fn stops(gateway: &Gateway) {
    let closed =
        |gateway: &Gateway| Exchange::open(gateway.address(), &Ask::get("/healthz")).is_err();
    assert!(gateway.wait_until(closed), "new clients are still served");
}

#[test]
fn a_call_that_comes_after_the_signal_is_judged_and_recorded() {
    for policy in [ALLOW, HELD] {
        let (upstream, whole) = paused();
        let mut gateway = gateway(&upstream, policy, "");
        let exchange = begun(&gateway);
        gateway.signal("TERM");
        stops(&gateway);
        upstream.release();
        let reply = exchange.finish().unwrap();
        assert!(reply.is_whole);
        assert_eq!(reply.body, whole);
        assert_eq!(gateway.ended().and_then(|status| status.code()), Some(0));
        assert_eq!(gateway.calls().len(), 1);
        is_sound(&gateway);
    }
}

#[test]
fn a_second_signal_ends_it_at_once() {
    for signals in [["TERM", "TERM"], ["INT", "INT"], ["TERM", "INT"]] {
        let (upstream, _) = paused();
        let mut gateway = gateway(&upstream, ALLOW, "gateway: { shutdown_timeout: 10m }");
        let exchange = begun(&gateway);
        gateway.signal(signals[0]);
        stops(&gateway);
        assert!(!gateway.said().contains("stopped"), "it does not wait for the stream");
        gateway.signal(signals[1]);
        let status = gateway.ended().expect("a second signal does not end it");
        assert_eq!(status.code(), Some(0), "{signals:?}: {}", gateway.said());
        is_cut(exchange);
        is_sound(&gateway);
    }
}

#[test]
fn it_waits_no_longer_than_the_timeout() {
    let (upstream, _) = paused();
    let mut gateway = gateway(&upstream, ALLOW, "gateway: { shutdown_timeout: 1s }");
    let exchange = begun(&gateway);
    gateway.signal("TERM");
    assert_eq!(gateway.ended().and_then(|status| status.code()), Some(0));
    is_cut(exchange);
    is_sound(&gateway);
    // The outcome of the stream is recorded.
    let store = Location::Sqlite(gateway.folder().join("callgate.db"));
    let turns = Filter { kinds: vec![RecordKind::Turn], ..Filter::default() };
    assert_eq!(RecordReader::open(&store).unwrap().records(&turns).unwrap().len(), 1);
}

#[test]
fn signals_right_after_the_start_are_heard() {
    for signal in ["TERM", "INT"] {
        let (upstream, _) = paused();
        let mut gateway = gateway(&upstream, ALLOW, "");
        // Would end it, if nobody listened.
        gateway.signal("HUP");
        gateway.signal(signal);
        let status = gateway.ended().expect("it does not end");
        assert_eq!(status.code(), Some(0), "{signal}: {status:?}: {}", gateway.said());
    }
}

fn is_cut(exchange: Exchange) {
    let reply = exchange.finish().unwrap();
    assert!(!reply.is_whole, "{}", reply.text());
    assert!(!shows_call(MESSAGES, &reply.body), "{}", reply.text());
}

fn is_sound(gateway: &Gateway) {
    let verified = gateway.run(&["audit", "verify"]);
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
}
