//! Running it: health, metrics, shutdown, clients that go away.

use std::time::{Duration, Instant};

use callgate_testkit::http::{Ask, Exchange};
use callgate_testkit::upstream::{Answer, AnswerStep, Upstream};

use crate::support::{
    ALLOW, CHAT, DENY, MESSAGES, SAID, ask, emptied, gateway, setup, turns, whole_turns,
};

#[test]
fn health_and_readiness_are_reported() {
    let upstream = Upstream::always(Answer::new(200));
    let gateway = gateway(&upstream, ALLOW, "");
    for path in ["/healthz", "/readyz"] {
        let reply = Ask::get(path).send(gateway.address());
        assert_eq!((reply.status, reply.json()["status"].clone()), (200, "ok".into()), "{path}");
    }
    assert!(upstream.requests().is_empty());
}

#[test]
fn metrics_count_requests_and_calls() {
    let upstream = Upstream::always(whole_turns("delete_all", "{}")[1].1.clone());
    let gateway = gateway(&upstream, DENY, "");
    for _ in 0..3 {
        assert_eq!(ask(CHAT).send(gateway.address()).status, 200);
    }
    let page = Ask::get("/metrics").send(gateway.address());
    assert_eq!(page.status, 200);
    let text = page.text();
    let line = |start: &str, end: &str| {
        text.lines().any(|line| line.starts_with(start) && line.ends_with(end))
    };
    assert!(line("callgate_requests_total{", " 3"), "{text}");
    assert!(line("callgate_calls_total{verdict=\"deny\"}", " 3"), "{text}");
    assert!(line("callgate_calls_total{verdict=\"allow\"}", " 0"), "{text}");
    assert!(text.lines().any(|line| line.starts_with("# TYPE callgate_")), "{text}");
}

#[test]
fn a_client_that_goes_away_cancels_the_upstream() {
    for (path, answer) in turns("read_file", "{}") {
        // First one that is written to all the time, then one that is silent.
        let piece = answer.clone().map_body(|body| body.to_vec());
        for step in [
            AnswerStep::Repeat(b": still here\n\n".to_vec(), 3000, Duration::from_millis(10)),
            AnswerStep::Stall,
        ] {
            let upstream = Upstream::always(piece.clone().step(step));
            let gateway = gateway(&upstream, ALLOW, "");
            let mut exchange = Exchange::open(gateway.address(), &ask(path)).unwrap();
            assert!(exchange.read_until(SAID));
            exchange.leave();
            assert!(upstream.wait_until(|upstream| upstream.left() == 1), "{path}: goes on");
        }
    }
}

#[test]
fn a_client_that_goes_away_before_the_answer_cancels_the_upstream() {
    use std::io::Write;
    let raw = Answer::raw("").step(AnswerStep::Stall);
    let upstream = Upstream::always(raw);
    let gateway = gateway(&upstream, ALLOW, "");
    let mut stream = std::net::TcpStream::connect(gateway.address()).unwrap();
    stream.write_all(&ask(CHAT).to_bytes(gateway.address())).unwrap();
    assert!(upstream.wait_until(|upstream| upstream.requests().len() == 1));
    drop(stream);
    assert!(upstream.wait_until(|upstream| upstream.left() == 1));
}

#[test]
fn shutdown_lets_a_stream_finish() {
    for signal in ["TERM", "INT"] {
        let [(path, answer), _] = turns("read_file", "{}");
        let (answer, whole) = emptied(answer);
        let text = String::from_utf8(whole.clone()).unwrap();
        let (head, tail) = text.split_at(text.find("event: message_delta").unwrap());
        let upstream = Upstream::always(answer.send(head).step(AnswerStep::Stall).send(tail));
        let mut gateway = gateway(&upstream, ALLOW, "");
        let mut exchange = Exchange::open(gateway.address(), &ask(path)).unwrap();
        assert!(exchange.read_until(SAID));
        gateway.signal(signal);
        let refuses = || {
            let end = Instant::now() + Duration::from_secs(120);
            let address = gateway.address();
            while Instant::now() < end {
                if Exchange::open(address, &Ask::get("/healthz")).is_err() {
                    return true;
                }
                std::thread::sleep(Duration::from_millis(20));
            }
            false
        };
        assert!(refuses(), "{signal}: new connections are still served");
        upstream.release();
        let reply = exchange.finish().unwrap();
        assert!(reply.is_whole, "{signal}");
        assert_eq!(reply.body, whole, "{signal}");
        let status = gateway.ended().expect("it does not end");
        assert!(status.success(), "{signal}: {status:?}: {}", gateway.said());
    }
}

#[test]
fn shutdown_does_not_wait_for_ever() {
    let [(path, answer), _] = turns("read_file", "{}");
    let upstream = Upstream::always(answer.step(AnswerStep::Stall));
    let mut gateway = gateway(&upstream, ALLOW, "gateway: { shutdown_timeout: 1s }");
    let mut exchange = Exchange::open(gateway.address(), &ask(path)).unwrap();
    assert!(exchange.read_until(SAID));
    gateway.signal("TERM");
    assert!(gateway.ended().is_some());
}

#[test]
fn an_idle_gateway_ends_at_once() {
    let upstream = Upstream::always(whole_turns("read_file", "{}")[1].1.clone());
    // Longer than a test waits for its end.
    let mut gateway = gateway(&upstream, ALLOW, "gateway: { shutdown_timeout: 10m }");
    // A connection that is kept open and says nothing must not hold it up.
    let _idle = std::net::TcpStream::connect(gateway.address()).unwrap();
    assert_eq!(ask(CHAT).send(gateway.address()).status, 200);
    gateway.signal("TERM");
    assert!(gateway.ended().is_some_and(|status| status.success()));
}

#[test]
fn a_port_in_use_is_reported() {
    let upstream = Upstream::always(Answer::new(200));
    let address = upstream.address().to_string();
    let said = setup(&upstream, ALLOW, "").listen(&address).try_start().expect_err("it started");
    assert!(said.contains(&address), "{said}");
    assert!(said.contains("in use"), "{said}");
}

#[test]
fn a_store_that_cannot_be_written_is_reported() {
    let upstream = Upstream::always(Answer::new(200));
    let setup = setup(&upstream, ALLOW, "");
    let config = std::fs::read_to_string(setup.folder().join("callgate.yaml")).unwrap();
    let config = config.replace("callgate.db", "rules.yaml/callgate.db");
    let said = setup.file("callgate.yaml", &config).try_start().expect_err("it started");
    assert!(said.contains("rules.yaml"), "{said}");
}

#[test]
fn what_to_set_is_said_at_the_start() {
    let upstream = Upstream::always(Answer::new(200));
    let gateway = gateway(&upstream, ALLOW, "");
    let url = gateway.url();
    assert!(
        gateway.wait_until(|gateway| {
            let said = gateway.said();
            said.contains(&format!("ANTHROPIC_BASE_URL={url}"))
                && said.contains(&format!("OPENAI_BASE_URL={url}/v1"))
        }),
        "{}",
        gateway.said()
    );
}

#[test]
fn no_secret_reaches_the_log() {
    let secret = "sk-ant-api03-THISISASECRETTHISISASECRETTHISISASECRET";
    let input = format!(r#"{{"token":"{secret}"}}"#);
    let upstream = Upstream::start(move |request| {
        let [message, completion] = whole_turns("delete_all", &input);
        if request.path.contains("chat") { completion.1 } else { message.1 }
    });
    let gateway = setup(&upstream, DENY, "").env("RUST_LOG", "trace").start();
    for path in [MESSAGES, CHAT, "/v1/unknown"] {
        let ask = Ask::post(path, format!(r#"{{"messages":[],"x":"{secret}"}}"#));
        ask.header("authorization", &format!("Bearer {secret}"))
            .header("x-api-key", secret)
            .send(gateway.address());
    }
    assert!(!gateway.said().contains(secret), "{}", gateway.said());
    let calls = gateway.calls();
    assert_eq!(calls.len(), 2);
    assert!(!format!("{calls:?}").contains(secret), "{calls:?}");
}

#[test]
fn one_connection_serves_many_requests_and_so_does_the_one_to_the_provider() {
    use std::io::Write;
    let upstream = Upstream::always(whole_turns("read_file", "{}")[1].1.clone());
    let gateway = gateway(&upstream, ALLOW, "");
    let stream = std::net::TcpStream::connect(gateway.address()).unwrap();
    for _ in 0..5 {
        let mut to = stream.try_clone().unwrap();
        to.write_all(&ask(CHAT).to_bytes(gateway.address())).unwrap();
        let reply = Exchange::on(stream.try_clone().unwrap(), "POST").unwrap().finish().unwrap();
        assert_eq!((reply.status, reply.is_whole), (200, true));
    }
    let connections: std::collections::BTreeSet<usize> =
        upstream.requests().iter().map(|request| request.connection).collect();
    assert_eq!(connections.len(), 1, "the upstream's connection is not used again");
}

#[test]
fn many_streams_at_once_do_not_disturb_each_other() {
    let case = crate::support::case("anthropic/text-then-parallel-tools");
    let upstream = Upstream::always(crate::support::served(&case).dribbled());
    let gateway = gateway(&upstream, ALLOW, "");
    let address = gateway.address();
    std::thread::scope(|scope| {
        for _ in 0..32 {
            let body = &case.body;
            scope.spawn(move || assert_eq!(&ask(MESSAGES).send(address).body, body));
        }
    });
}
