//! Connections are reused when possible, and only then.

use std::future::poll_fn;
use std::pin::Pin;

use http_body::Body;
use http_body_util::BodyExt;
use tokio::sync::oneshot;

use super::super::pool::MAX_IDLE_CONNECTIONS;
use super::*;

/// One connection serves all of `answers`, one by one.
async fn on_one_connection(answers: &[&'static [u8]]) {
    let (peer, upstreams) = (Peer::new().await, upstreams());
    let target = peer.target();
    let serve = async {
        let mut caller = peer.accept().await;
        for answer in answers {
            caller.answer(answer).await;
        }
        assert!(!peer.is_called().await, "a second connection");
    };
    let ask = async {
        for _ in answers {
            let response = upstreams.send(&target, post("{}")).await.unwrap();
            let _ = response.into_body().collect().await.unwrap();
        }
    };
    tokio::join!(serve, ask);
}

#[tokio::test]
async fn one_connection_serves_many_requests() {
    on_one_connection(&[OK, OK, OK]).await;
}

#[tokio::test]
async fn bodies_of_every_kind_leave_the_connection_usable() {
    let chunked = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n";
    let trailers =
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nx-end: 1\r\n\r\n";
    let none = b"HTTP/1.1 204 No Content\r\n\r\n";
    let unchanged = b"HTTP/1.1 304 Not Modified\r\ncontent-length: 100\r\n\r\n";
    let empty = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
    on_one_connection(&[chunked, trailers, none, unchanged, empty, OK]).await;
}

#[tokio::test]
async fn interim_answers_are_passed_over() {
    let interim = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n\
        HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
    on_one_connection(&[interim, OK]).await;
}

#[tokio::test]
async fn a_head_request_has_no_body() {
    let (peer, upstreams) = (Peer::new().await, upstreams());
    let target = peer.target();
    let serve = async {
        let mut caller = peer.accept().await;
        caller.answer(b"HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n").await;
        caller.answer(OK).await;
    };
    let ask = async {
        let head = Request::head("/").body(RequestBody::Empty).unwrap();
        assert_eq!(text(upstreams.send(&target, head).await).await, "");
        assert_eq!(text(upstreams.send(&target, get()).await).await, "ok");
    };
    tokio::join!(serve, ask);
}

#[tokio::test]
async fn a_reader_may_stop_at_the_last_byte() {
    let (peer, upstreams) = (Peer::new().await, upstreams());
    let target = peer.target();
    let serve = async {
        let mut caller = peer.accept().await;
        caller.answer(OK).await;
        caller.answer(OK).await;
    };
    let ask = async {
        let mut body = upstreams.send(&target, get()).await.unwrap().into_body();
        let frame = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await.unwrap().unwrap();
        assert_eq!(frame.into_data().unwrap(), "ok");
        assert!(body.is_end_stream());
        drop(body);
        assert_eq!(text(upstreams.send(&target, get()).await).await, "ok");
    };
    tokio::join!(serve, ask);
}

#[tokio::test]
async fn a_connection_closed_while_idle_is_not_used() {
    let (peer, upstreams) = (Peer::new().await, upstreams());
    let target = peer.target();
    let serve = async {
        let mut first = peer.accept().await;
        first.answer(OK).await;
        drop(first);
        peer.accept().await.answer(OK).await;
    };
    let ask = async {
        assert_eq!(text(upstreams.send(&target, post("1")).await).await, "ok");
        tokio::time::sleep(SHORT).await;
        assert_eq!(text(upstreams.send(&target, post("2")).await).await, "ok");
    };
    tokio::join!(serve, ask);
}

#[tokio::test]
async fn unsolicited_bytes_close_the_connection() {
    let (peer, upstreams) = (Peer::new().await, upstreams());
    let target = peer.target();
    let (read, is_read) = oneshot::channel();
    let (write, is_written) = oneshot::channel();
    let serve = async {
        let mut first = peer.accept().await;
        first.answer(OK).await;
        is_read.await.unwrap();
        first.write(b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil").await;
        write.send(()).unwrap();
        peer.accept().await.answer(OK).await;
    };
    let ask = async {
        assert_eq!(text(upstreams.send(&target, get()).await).await, "ok");
        read.send(()).unwrap();
        is_written.await.unwrap();
        assert_eq!(text(upstreams.send(&target, get()).await).await, "ok");
    };
    tokio::join!(serve, ask);
}

#[tokio::test]
async fn more_than_the_length_is_not_read_and_closes_the_connection() {
    let (peer, upstreams) = (Peer::new().await, upstreams());
    let target = peer.target();
    let serve = async {
        let mut first = peer.accept().await;
        first
            .answer(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nokHTTP/1.1 200 OK\r\n\r\n")
            .await;
        first.gone().await;
    };
    let ask = async { assert_eq!(text(upstreams.send(&target, get()).await).await, "ok") };
    tokio::join!(serve, ask);
}

#[tokio::test]
async fn connection_close_is_respected() {
    let (peer, upstreams) = (Peer::new().await, upstreams());
    let target = peer.target();
    let serve = async {
        let mut first = peer.accept().await;
        first.answer(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok").await;
        first.gone().await;
    };
    let ask = async { assert_eq!(text(upstreams.send(&target, get()).await).await, "ok") };
    tokio::join!(serve, ask);
    assert_eq!(upstreams.pool(&target).idle_connections(), 0);
}

#[tokio::test]
async fn the_idle_list_is_bounded() {
    const MANY: usize = MAX_IDLE_CONNECTIONS + 6;
    let (peer, upstreams) = (Peer::new().await, upstreams());
    let target = peer.target();
    let serve = async {
        let mut callers = Vec::new();
        for _ in 0..MANY {
            let mut caller = peer.accept().await;
            caller.request().await;
            callers.push(caller);
        }
        for caller in &mut callers {
            caller.write(OK).await;
        }
        // The oldest were closed.
        for caller in callers.iter_mut().take(MANY - MAX_IDLE_CONNECTIONS) {
            caller.gone().await;
        }
    };
    let ask = async {
        let sent = (0..MANY).map(|_| upstreams.send(&target, get()));
        let mut bodies = Vec::new();
        for answered in futures_util::future::join_all(sent).await {
            bodies.push(answered.unwrap().into_body());
        }
        for body in bodies {
            let _ = body.collect().await.unwrap();
        }
    };
    tokio::join!(serve, ask);
    assert_eq!(upstreams.pool(&target).idle_connections(), MAX_IDLE_CONNECTIONS);
}

#[tokio::test]
async fn requests_at_once_have_connections_of_their_own() {
    let (peer, upstreams) = (Peer::new().await, upstreams());
    let target = peer.target();
    let serve = async {
        let (mut first, mut second) = (peer.accept().await, peer.accept().await);
        second.answer(OK).await;
        first.answer(OK).await;
    };
    let ask = async {
        let one = async { text(upstreams.send(&target, get()).await).await };
        let two = async { text(upstreams.send(&target, get()).await).await };
        tokio::join!(one, two)
    };
    let ((), answers) = tokio::join!(serve, ask);
    assert_eq!(answers, ("ok".to_owned(), "ok".to_owned()));
}

#[tokio::test]
async fn the_request_names_its_host() {
    let (peer, upstreams) = (Peer::new().await, upstreams());
    let target = peer.target();
    let serve = async { peer.accept().await.answer(OK).await };
    let ask = async {
        let mut request = post("{\"a\":1}");
        request.headers_mut().insert("host", "somewhere.else".parse().unwrap());
        request.headers_mut().insert("content-length", "3".parse().unwrap());
        *request.version_mut() = http::Version::HTTP_10;
        text(upstreams.send(&target, request).await).await
    };
    let (request, _) = tokio::join!(serve, ask);
    let authority = target.origin().strip_prefix("http://").unwrap().to_owned();
    assert!(request.starts_with("POST /v1/messages?beta=true HTTP/1.1\r\n"), "{request}");
    assert!(request.contains(&format!("host: {authority}\r\n")), "{request}");
    assert!(request.contains("content-length: 7\r\n"), "{request}");
    assert!(request.ends_with("\r\n\r\n{\"a\":1}"), "{request}");
}
