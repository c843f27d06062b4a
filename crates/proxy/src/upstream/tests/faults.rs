//! Faults, and the errors that report them.

use super::super::{Stage, TimeoutKind};
use super::*;

/// The error that these bytes cause in an exchange, in the head or in the body. The connection must
/// not be reused.
async fn fault(answer: &'static [u8], ending: Ending) -> UpstreamError {
    let (peer, upstreams) = (Peer::new().await, upstreams());
    let target = peer.target();
    let serve = async {
        let mut caller = peer.accept().await;
        caller.answer(answer).await;
        match ending {
            Ending::Close => {}
            Ending::Reset => {
                // Long enough to read the response, even on a busy machine.
                tokio::time::sleep(10 * SHORT).await;
                caller.reset();
            }
            Ending::Stay => caller.gone().await,
        }
    };
    let ask = async {
        match upstreams.send(&target, get()).await {
            Ok(response) => body_failure(Ok(response)).await,
            Err(error) => error,
        }
    };
    let ((), error) = tokio::join!(serve, ask);
    assert_eq!(upstreams.pool(&target).idle_connections(), 0);
    error
}

enum Ending {
    Close,
    Reset,
    Stay,
}

fn protocol(error: &UpstreamError) -> &str {
    match error {
        UpstreamError::Protocol { why, .. } => why,
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn two_lengths_are_refused() {
    let both = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n";
    let error = fault(both, Ending::Stay).await;
    assert_eq!(protocol(&error), "it sends both `Content-Length` and `Transfer-Encoding`");
    let none =
        b"HTTP/1.1 204 No Content\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n";
    protocol(&fault(none, Ending::Stay).await);
    let differing = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nok";
    protocol(&fault(differing, Ending::Stay).await);
}

#[tokio::test]
async fn unknown_transfer_codings_are_refused() {
    for answer in [
        &b"HTTP/1.1 200 OK\r\ntransfer-encoding: gzip\r\n\r\nok"[..],
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: gzip\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
        b"HTTP/1.0 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
    ] {
        protocol(&fault(answer, Ending::Stay).await);
    }
}

#[tokio::test]
async fn garbage_is_refused() {
    for answer in [
        &b"SSH-2.0-OpenSSH_9.2\r\n\r\n"[..],
        b"HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nname : value\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nxyz\r\nok\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nokay\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nfffffffffffffffff\r\n",
    ] {
        let error = fault(answer, Ending::Stay).await;
        assert!(!protocol(&error).is_empty());
    }
}

#[tokio::test]
async fn a_head_without_end_is_refused() {
    let (peer, upstreams) = (Peer::new().await, upstreams());
    let target = peer.target();
    let serve = async {
        let mut caller = peer.accept().await;
        caller.answer(b"HTTP/1.1 200 OK\r\nx: ").await;
        caller.write(&[b'x'; 70 << 10]).await;
        caller.gone().await;
    };
    let ask = async { failure(upstreams.send(&target, get()).await) };
    let ((), error) = tokio::join!(serve, ask);
    protocol(&error);
}

#[tokio::test]
async fn a_body_that_ends_early_is_an_error() {
    for ending in [Ending::Close, Ending::Reset] {
        let short = b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nok";
        let error = fault(short, ending).await;
        assert!(matches!(error, UpstreamError::Reset { stage: Stage::Body, .. }), "{error}");
    }
    for ending in [Ending::Close, Ending::Reset] {
        let short = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nok";
        let error = fault(short, ending).await;
        assert!(matches!(error, UpstreamError::Reset { stage: Stage::Body, .. }), "{error}");
        assert!(error.to_string().contains("in the middle of its answer"), "{error}");
    }
}

#[tokio::test]
async fn a_chunked_body_without_its_last_chunk_is_an_error() {
    let error =
        fault(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n", Ending::Close);
    let error = error.await;
    assert!(matches!(error, UpstreamError::Reset { stage: Stage::Body, .. }), "{error}");
}

#[tokio::test]
async fn a_body_without_length_ends_with_the_connection() {
    let (peer, upstreams) = (Peer::new().await, upstreams());
    let target = peer.target();
    let serve = async { peer.accept().await.answer(b"HTTP/1.1 200 OK\r\n\r\nall of it").await };
    let ask = async { text(upstreams.send(&target, get()).await).await };
    assert_eq!(tokio::join!(serve, ask).1, "all of it");
    assert_eq!(upstreams.pool(&target).idle_connections(), 0);
}

#[tokio::test]
async fn closing_without_an_answer_is_an_error() {
    for ending in [Ending::Close, Ending::Reset] {
        let error = fault(b"", ending).await;
        assert!(matches!(error, UpstreamError::Reset { stage: Stage::Head, .. }), "{error}");
        assert!(error.to_string().contains("before it answered"), "{error}");
    }
}

/// The provider may have started to work on it.
#[tokio::test]
async fn a_request_that_was_sent_is_not_sent_again() {
    let (peer, upstreams) = (Peer::new().await, upstreams());
    let target = peer.target();
    let serve = async {
        let mut caller = peer.accept().await;
        caller.answer(OK).await;
        caller.request().await;
        drop(caller);
        assert!(!peer.is_called().await, "the request came twice");
    };
    let ask = async {
        assert_eq!(text(upstreams.send(&target, post("1")).await).await, "ok");
        failure(upstreams.send(&target, post("2")).await)
    };
    let ((), error) = tokio::join!(serve, ask);
    assert!(matches!(error, UpstreamError::Reset { stage: Stage::Head, .. }), "{error}");
}

#[tokio::test]
async fn no_answer_in_time() {
    let peer = Peer::new().await;
    let upstreams =
        Upstreams::new(UpstreamTimeouts { head: SHORT, ..PATIENT }, Tls::system().unwrap());
    let target = peer.target();
    let serve = async {
        let mut caller = peer.accept().await;
        caller.request().await;
        caller.gone().await;
    };
    let ask = async { failure(upstreams.send(&target, get()).await) };
    let ((), error) = tokio::join!(serve, ask);
    assert!(matches!(error, UpstreamError::Timeout { which: TimeoutKind::Head, .. }), "{error}");
    assert_eq!(error.to_string(), format!("`{}` did not answer within 100ms", target.origin()));
}

#[tokio::test]
async fn a_refused_connection_is_an_error() {
    let target = Peer::new().await.target();
    let error = failure(upstreams().send(&target, get()).await);
    let expected =
        format!("cannot connect to `{}`: Connection refused (os error 111)", target.origin());
    assert_eq!(error.to_string(), expected);
}

#[tokio::test]
async fn an_unknown_host_is_an_error() {
    let target = target("https://user:secret@nowhere.invalid/v1?key=secret");
    let error = failure(upstreams().send(&target, get()).await);
    assert!(matches!(error, UpstreamError::Resolve { .. }), "{error}");
    let message = error.to_string();
    assert!(
        message.starts_with("cannot find the address of `https://nowhere.invalid`: "),
        "{message}"
    );
    assert!(!message.contains("secret"), "{message}");
}

#[tokio::test]
async fn no_connection_in_time() {
    // A peer that accepts the connection and never answers the TLS handshake.
    let peer = Peer::new().await;
    let url = peer.target().origin().replace("http:", "https:");
    let upstreams =
        Upstreams::new(UpstreamTimeouts { connect: SHORT, ..PATIENT }, Tls::system().unwrap());
    let error = failure(upstreams.send(&target(&url), get()).await);
    assert!(matches!(error, UpstreamError::Timeout { which: TimeoutKind::Connect, .. }), "{error}");
    assert_eq!(error.to_string(), format!("`{url}` could not be reached within 100ms"));
}

#[test]
fn targets_are_checked() {
    let refused =
        |url: &str| UpstreamTarget::new(&Url::parse(url).unwrap()).unwrap_err().to_string();
    assert!(refused("ftp://host/").starts_with("`ftp` is not a supported URL scheme"));
    assert_eq!(refused("unix:/run/x").lines().count(), 1);
    assert_eq!(&**target("http://[::1]:80/v1").origin(), "http://[::1]");
    assert_eq!(
        &**target("https://API.Example.com:8443/v1").origin(),
        "https://api.example.com:8443"
    );
}
