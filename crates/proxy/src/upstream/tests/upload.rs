//! Requests whose body is still being sent.

use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncWriteExt, DuplexStream, duplex};
use tokio::sync::{mpsc, oneshot};

use super::super::ClientBody;
use super::*;

/// A client that sends a body in pieces, and that body as callgate receives it.
async fn client() -> (DuplexStream, Incoming) {
    let (mut client, server) = duplex(64 << 10);
    let (give, mut take) = mpsc::channel(1);
    let service = service_fn(move |request: Request<Incoming>| {
        let give = give.clone();
        async move {
            give.send(request.into_body()).await.unwrap();
            std::future::pending::<()>().await;
            Ok::<_, std::convert::Infallible>(Response::new(Full::<Bytes>::default()))
        }
    });
    let connection =
        hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(server), service);
    tokio::spawn(connection);
    client
        .write_all(b"POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n")
        .await
        .unwrap();
    let incoming = take.recv().await.unwrap();
    (client, incoming)
}

fn streamed(incoming: Incoming) -> Request<RequestBody> {
    let body = ClientBody::new(incoming, &crate::settings::Timeouts::default());
    Request::post("/").body(RequestBody::Streamed(body)).unwrap()
}

#[tokio::test]
async fn both_ways_at_once() {
    let (peer, upstreams) = (Peer::new().await, upstreams());
    let target = peer.target();
    let (mut client, incoming) = client().await;
    let (answered, answer_read) = oneshot::channel();
    let serve = async {
        let mut caller = peer.accept().await;
        caller.read_through(b"one\r\n").await;
        caller.write(CHUNKED).await;
        caller.chunk("heard one").await;
        caller.read_through(b"two\r\n").await;
        caller.chunk(", heard two").await;
        caller.read_through(b"0\r\n\r\n").await;
        caller.write(b"0\r\n\r\n").await;
        caller
    };
    let send = async {
        client.write_all(b"3\r\none\r\n").await.unwrap();
        answer_read.await.unwrap();
        client.write_all(b"3\r\ntwo\r\n0\r\n\r\n").await.unwrap();
    };
    let ask = async {
        let answer = upstreams.send(&target, streamed(incoming)).await;
        answered.send(()).unwrap();
        text(answer).await
    };
    let (_caller, (), answer) = tokio::join!(serve, send, ask);
    assert_eq!(answer, "heard one, heard two");
    assert_eq!(upstreams.pool(&target).idle_connections(), 1);
}

/// A provider rejects a request before reading all of it, and closes: the response counts, not the
/// failed upload.
#[tokio::test]
async fn an_early_answer_comes_through() {
    const REFUSAL: &[u8] =
        b"HTTP/1.1 413 Payload Too Large\r\ncontent-length: 9\r\nconnection: close\r\n\r\ntoo large";
    for _ in 0..20 {
        let (peer, upstreams) = (Peer::new().await, upstreams());
        let target = peer.target();
        let serve = async {
            let mut caller = peer.accept().await;
            caller.read_through(b"\r\n\r\n").await;
            // Closed with unread data: the kernel sends a reset after the response.
            caller.write(REFUSAL).await;
        };
        let large = Bytes::from(vec![b'x'; 8 << 20]);
        let request = Request::post("/").body(RequestBody::Whole(large)).unwrap();
        let ask = async {
            let answer = upstreams.send(&target, request).await.unwrap();
            assert_eq!(answer.status(), 413);
            text(Ok(answer)).await
        };
        assert_eq!(tokio::join!(serve, ask).1, "too large");
        assert_eq!(upstreams.pool(&target).idle_connections(), 0);
    }
}

#[tokio::test]
async fn an_early_answer_ends_the_upload() {
    let (peer, upstreams) = (Peer::new().await, upstreams());
    let target = peer.target();
    let (mut client, incoming) = client().await;
    client.write_all(b"3\r\none\r\n").await.unwrap();
    let serve = async {
        let mut caller = peer.accept().await;
        caller.read_through(b"one\r\n").await;
        caller.write(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 3\r\n\r\nbad").await;
        caller.gone().await;
    };
    let ask = async { text(upstreams.send(&target, streamed(incoming)).await).await };
    assert_eq!(tokio::join!(serve, ask).1, "bad");
    assert_eq!(upstreams.pool(&target).idle_connections(), 0);
}

#[tokio::test]
async fn a_failing_client_is_distinguished_from_a_failing_provider() {
    let (peer, upstreams) = (Peer::new().await, upstreams());
    let target = peer.target();
    let (mut client, incoming) = client().await;
    client.write_all(b"3\r\none\r\n").await.unwrap();
    let serve = async {
        let mut caller = peer.accept().await;
        caller.read_through(b"one\r\n").await;
        drop(client);
        caller.gone().await;
    };
    let ask = async { failure(upstreams.send(&target, streamed(incoming)).await) };
    let ((), error) = tokio::join!(serve, ask);
    assert!(matches!(error, UpstreamError::Upload { .. }), "{error}");
}
