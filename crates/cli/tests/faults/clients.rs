//! Clients that send slowly, read nothing, or go away.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use callgate_testkit::gateway::{Gateway, Setup};
use callgate_testkit::http::Exchange;
use callgate_testkit::upstream::{Answer, AnswerStep, Upstream};
use socket2::{Domain, Socket, Type};

use crate::process::{MIB, memory, raise_own_files};
use crate::stores::{passes, server};
use crate::support::{ALLOW, MESSAGES, ask, binary, gateway};

/// Of each kind.
const LORISES: usize = 60;

/// What they say, and then no more.
const BEGUN: [&[u8]; 6] = [
    b"",
    b"P",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"POST /v1/messages HTTP/1.1\r\nhost: 127",
    b"POST /v1/messages HTTP/1.1\r\nhost: 127.0.0.1\r\nx-a: b\r\n",
];

#[test]
fn clients_that_stop_inside_their_head_are_cut_off_and_disturb_nobody() {
    raise_own_files();
    let upstream = server();
    let gateway = gateway(&upstream, ALLOW, "gateway: { client_head_timeout: 3s }");
    passes(&gateway, MESSAGES);
    let before = memory(&gateway);
    let mut streams = Vec::new();
    for begun in BEGUN {
        for _ in 0..LORISES {
            let mut stream = TcpStream::connect(gateway.address()).unwrap();
            stream.write_all(begun).unwrap();
            streams.push((begun, stream));
        }
    }
    passes(&gateway, MESSAGES);
    let grown = memory(&gateway).saturating_sub(before);
    assert!(grown < 32 * MIB, "{} KiB for {} clients", grown >> 10, streams.len());
    for (begun, stream) in streams {
        assert!(ends(stream), "still open after `{}`", String::from_utf8_lossy(begun));
    }
    passes(&gateway, MESSAGES);
}

/// Whether the other side ends the connection, whatever it says before.
fn ends(mut stream: TcpStream) -> bool {
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut buffer = [0; 4096];
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return true,
            Ok(_) => {}
            Err(error) => return error.kind() == std::io::ErrorKind::ConnectionReset,
        }
    }
}

#[test]
fn clients_that_send_their_head_byte_by_byte_are_cut_off_and_disturb_nobody() {
    let upstream = server();
    let gateway = gateway(&upstream, ALLOW, "gateway: { client_head_timeout: 2s }");
    let address = gateway.address();
    let head = [b"POST /v1/messages HTTP/1.1\r\nx-slow: ".to_vec(), vec![b'a'; 2000]].concat();
    let mut streams: Vec<TcpStream> =
        (0..LORISES).map(|_| TcpStream::connect(address).unwrap()).collect();
    let end = Instant::now() + Duration::from_secs(120);
    let mut bytes = head.iter();
    while !streams.is_empty() {
        assert!(Instant::now() < end, "{} are still served", streams.len());
        let Some(byte) = bytes.next() else { panic!("{} got through", streams.len()) };
        streams.retain_mut(|stream| stream.write_all(&[*byte]).is_ok());
        passes(&gateway, MESSAGES);
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_client_that_stops_inside_its_body_is_cut_off_and_so_is_its_upstream() {
    let upstream = server();
    let gateway = gateway(&upstream, ALLOW, "gateway: { head_timeout: 2s }");
    let head = "POST /v1/messages HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{";
    let streams: Vec<TcpStream> = (0..LORISES)
        .map(|_| {
            let mut stream = TcpStream::connect(gateway.address()).unwrap();
            stream.write_all(head.as_bytes()).unwrap();
            stream
        })
        .collect();
    passes(&gateway, MESSAGES);
    for stream in streams {
        assert!(ends(stream));
    }
    passes(&gateway, MESSAGES);
}

/// How a body is announced, and how much of it comes.
const STALLED: [(&str, &str); 3] = [
    ("content-length: 1000", ""),
    ("transfer-encoding: chunked", ""),
    ("transfer-encoding: chunked", "5\r\n{\"a\""),
];

/// Everything up to the end of the connection.
fn rest_of(mut stream: TcpStream) -> String {
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("the connection is still open");
    String::from_utf8(answer).unwrap()
}

#[test]
fn a_client_whose_body_stalls_gets_408_and_is_cut_off() {
    let texts = "policy: p\nrules: []\ntext:\n  - { id: no-word, keywords: [xyzzy], verdict: block, reason: Not that word. }\n";
    for (policy, path, shape) in [
        (ALLOW, "/v1/messages", r#"{"type":"error","error":{"#),
        (ALLOW, "/v1/responses", r#"{"error":{"message":"callgate"#),
        (ALLOW, "/v1beta/models/m:generateContent", r#""status":"DEADLINE_EXCEEDED""#),
        // Here callgate reads the body itself.
        (texts, "/v1/messages", r#"{"type":"error","error":{"#),
    ] {
        let upstream = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        upstream.set_nonblocking(true).unwrap();
        let url = format!("http://{}", upstream.local_addr().unwrap());
        let settings = "gateway: { client_body_timeout: 300ms }";
        let gateway = Setup::new(binary(), &url, policy, settings).start();
        for (announced, sent) in STALLED {
            let mut stream = TcpStream::connect(gateway.address()).unwrap();
            let head = format!(
                "POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n{announced}\r\n\r\n{sent}"
            );
            stream.write_all(head.as_bytes()).unwrap();
            let answer = rest_of(stream);
            assert!(answer.starts_with("HTTP/1.1 408"), "{path} {announced}: {answer}");
            assert!(answer.contains(shape), "{path}: {answer}");
            assert!(answer.contains("gateway.client_body_timeout"), "{answer}");
            // Without a byte of the body nobody has asked the provider for a connection; and where
            // one was asked, it is closed.
            match upstream.accept() {
                Ok((taken, _)) => {
                    assert!(!sent.is_empty(), "{path} {announced}: a connection was taken");
                    taken.set_nonblocking(false).unwrap();
                    assert!(ends(taken), "{path}: the provider's connection stays open");
                }
                Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
            }
        }
    }
}

/// One byte now and then does not keep a connection, and the provider's, open.
#[test]
fn a_body_that_dribbles_is_cut_off() {
    let texts = "policy: p\nrules: []\ntext:\n  - { id: no-word, keywords: [xyzzy], verdict: block, reason: Not that word. }\n";
    for policy in [ALLOW, texts] {
        let upstream = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", upstream.local_addr().unwrap());
        let settings = "gateway: { client_body_timeout: 60s, client_body_total_timeout: 500ms }";
        let gateway = Setup::new(binary(), &url, policy, settings).start();
        let mut stream = TcpStream::connect(gateway.address()).unwrap();
        let head = "POST /v1/messages HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: 100000\r\n\r\n{";
        stream.write_all(head.as_bytes()).unwrap();
        let answer = dribble_until_answered(stream);
        assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
        assert!(answer.contains("gateway.client_body_total_timeout"), "{answer}");
    }
}

/// Sends a space now and then until the gateway answers in the middle of the body and closes.
fn dribble_until_answered(mut stream: TcpStream) -> String {
    stream.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
    let end = Instant::now() + Duration::from_secs(120);
    let mut first = [0];
    while Instant::now() < end {
        match stream.read(&mut first) {
            Ok(0) => return String::new(),
            Ok(_) => return String::from_utf8_lossy(&first).into_owned() + &rest_of(stream),
            Err(_) => stream.write_all(b" ").unwrap_or_default(),
        }
    }
    panic!("it is not cut off");
}

/// Data buys time: a large body may take longer than the limit if enough of it has arrived.
#[test]
fn a_large_body_may_take_longer() {
    let upstream = server();
    let gateway = gateway(&upstream, ALLOW, "gateway: { client_body_total_timeout: 500ms }");
    // Buys sixteen seconds, of which little is used.
    let body = " ".repeat(16 * (16 << 10));
    let mut stream = TcpStream::connect(gateway.address()).unwrap();
    let head = format!(
        "POST {MESSAGES} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len() + 2
    );
    stream.write_all((head + &body).as_bytes()).unwrap();
    thread::sleep(Duration::from_secs(1));
    stream.write_all(b"{}").unwrap();
    let reply = Exchange::on(stream, "POST").unwrap().finish().unwrap();
    assert_eq!(reply.status, 200, "{}", reply.text());
}

/// A client that is slow, but sends something all the time, is served.
#[test]
fn a_slow_body_passes() {
    let upstream = server();
    let gateway = gateway(&upstream, ALLOW, "gateway: { client_body_timeout: 10s }");
    let request = ask(MESSAGES).to_bytes(gateway.address());
    let body = request.windows(4).position(|bytes| bytes == b"\r\n\r\n").unwrap() + 4;
    let mut stream = TcpStream::connect(gateway.address()).unwrap();
    let (head, body) = request.split_at(body);
    stream.write_all(head).unwrap();
    // Longer in all than the timeout, and each piece so much sooner that a busy machine is no
    // excuse.
    for piece in body.chunks(body.len().div_ceil(14)) {
        thread::sleep(Duration::from_millis(750));
        stream.write_all(piece).unwrap();
    }
    let reply = Exchange::on(stream, "POST").unwrap().finish().unwrap();
    assert_eq!(reply.status, 200, "{}", reply.text());
    assert_eq!(upstream.request().body, body);
}

/// A stream without end, as fast as it is taken.
fn endless() -> Answer {
    let delta = "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"and so on\"}}\n\n";
    let start = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"m\",\"content\":[],\"stop_reason\":null,\"stop_sequence\":null,\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}}\n\nevent: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n";
    let many = delta.repeat(200).into_bytes();
    Answer::stream(start).step(AnswerStep::Repeat(many, usize::MAX, Duration::ZERO))
}

/// A connection that takes in little by itself.
pub(crate) fn small_connection(address: SocketAddr) -> TcpStream {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    socket.set_recv_buffer_size(16 << 10).unwrap();
    socket.connect(&address.into()).unwrap();
    socket.into()
}

fn never_reads(gateway: &Gateway) -> TcpStream {
    let mut stream = small_connection(gateway.address());
    stream.write_all(&ask(MESSAGES).to_bytes(gateway.address())).unwrap();
    stream
}

/// Waits until an upstream rests, and gives how much it sent by then.
#[track_caller]
fn rests(upstream: &Upstream) -> usize {
    let end = Instant::now() + Duration::from_secs(120);
    let mut sent = 0;
    while sent == 0 || sent != upstream.sent() {
        assert!(Instant::now() < end, "the upstream sends on: {sent} bytes");
        sent = upstream.sent();
        thread::sleep(Duration::from_secs(1));
    }
    sent
}

#[test]
fn a_client_that_reads_nothing_stops_its_upstream() {
    for settings in ["", "gateway: { mode: off }"] {
        let upstream = Upstream::always(endless());
        let gateway = gateway(&upstream, ALLOW, settings);
        let before = memory(&gateway);
        let stream = never_reads(&gateway);
        let sent = rests(&upstream);
        let grown = memory(&gateway).saturating_sub(before);
        eprintln!("taken {} KiB, memory {} KiB more", sent >> 10, grown >> 10);
        // The rest is what the system keeps for three connections.
        assert!(sent < 64 * MIB, "{sent} bytes were taken");
        assert!(grown < 8 * MIB, "{} KiB", grown >> 10);
        assert_eq!(upstream.left(), 0, "it was cut off, not slowed down");
        drop(stream);
        assert!(upstream.wait_until(|upstream| upstream.left() == 1), "the upstream is not told");
    }
}

#[test]
fn clients_that_read_nothing_cost_little_and_cancel_their_upstreams_when_they_leave() {
    const CLIENTS: usize = 100;
    raise_own_files();
    let upstream = Upstream::always(endless());
    let gateway = gateway(&upstream, ALLOW, "");
    let before = memory(&gateway);
    let streams: Vec<TcpStream> = (0..CLIENTS).map(|_| never_reads(&gateway)).collect();
    assert!(upstream.wait_until(|upstream| upstream.requests().len() == CLIENTS));
    let sent = rests(&upstream);
    let grown = memory(&gateway).saturating_sub(before);
    eprintln!("{CLIENTS}: taken {} MiB, memory {} KiB more", sent / MIB, grown >> 10);
    assert!(grown < 64 * MIB, "{} KiB for {CLIENTS} clients", grown >> 10);
    drop(streams);
    let told = |upstream: &Upstream| upstream.left() == CLIENTS;
    assert!(upstream.wait_until(told), "{} of {CLIENTS} have left", upstream.left());
}
