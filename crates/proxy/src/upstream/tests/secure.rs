//! TLS, and what its handshake negotiates.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use http_body_util::combinators::UnsyncBoxBody;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio_rustls::TlsAcceptor;

use super::*;

/// A provider with a self-signed certificate.
struct SecurePeer {
    listener: TcpListener,
    acceptor: TlsAcceptor,
    /// The certificate to trust.
    certificate: CertificateDer<'static>,
    connections: AtomicUsize,
}

impl SecurePeer {
    async fn new(protocols: &[&str]) -> Arc<Self> {
        let CertifiedKey { cert, signing_key } =
            generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let key = PrivateKeyDer::try_from(signing_key.serialize_der()).unwrap();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![cert.der().clone()], key)
            .unwrap();
        config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
        Arc::new(Self {
            listener: TcpListener::bind("127.0.0.1:0").await.unwrap(),
            acceptor: TlsAcceptor::from(Arc::new(config)),
            certificate: cert.der().clone(),
            connections: AtomicUsize::new(0),
        })
    }

    fn target(&self) -> UpstreamTarget {
        target(&format!("https://localhost:{}", self.listener.local_addr().unwrap().port()))
    }

    fn upstreams(&self) -> Upstreams {
        Upstreams::new(PATIENT, Tls::trusting(self.certificate.clone()))
    }

    async fn accept(
        &self,
    ) -> std::io::Result<TokioIo<tokio_rustls::server::TlsStream<tokio::net::TcpStream>>> {
        let (stream, _) = self.listener.accept().await?;
        self.connections.fetch_add(1, Ordering::SeqCst);
        self.acceptor.accept(stream).await.map(TokioIo::new)
    }
}

type ServerBody = UnsyncBoxBody<Bytes, std::convert::Infallible>;

fn full(text: String) -> ServerBody {
    http_body_util::Full::from(text).boxed_unsync()
}

async fn describe(request: Request<Incoming>) -> Result<Response<ServerBody>, hyper::Error> {
    let (head, body) = request.into_parts();
    let body = body.collect().await?.to_bytes();
    let host = head.headers.get("host").map(|host| host.to_str().unwrap().to_owned());
    let message = format!("{} {} {:?} {}", head.method, head.uri, host, body.len());
    Ok(Response::new(full(message)))
}

#[tokio::test]
async fn the_older_protocol_over_tls() {
    let peer = SecurePeer::new(&["http/1.1"]).await;
    let (upstreams, target) = (peer.upstreams(), peer.target());
    let server = Arc::clone(&peer);
    tokio::spawn(async move {
        let io = server.accept().await.unwrap();
        let builder = hyper::server::conn::http1::Builder::new();
        builder.serve_connection(io, service_fn(describe)).await.unwrap();
    });
    for _ in 0..2 {
        let authority = target.origin().strip_prefix("https://").unwrap().to_owned();
        let expected = format!("POST /v1/messages?beta=true Some({authority:?}) 2");
        assert_eq!(text(upstreams.send(&target, post("{}")).await).await, expected);
    }
    assert_eq!(peer.connections.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn http2_where_both_speak_it() {
    let peer = SecurePeer::new(&["h2", "http/1.1"]).await;
    let (upstreams, target) = (peer.upstreams(), peer.target());
    serve_h2(&peer);
    // Ten at once after a cold start: they share one connection.
    let sent = (0..10).map(|_| async { text(upstreams.send(&target, post("{}")).await).await });
    for answer in futures_util::future::join_all(sent).await {
        assert_eq!(answer, format!("POST {}/v1/messages?beta=true None 2", target.origin()));
    }
    assert_eq!(peer.connections.load(Ordering::SeqCst), 1);
}

/// Serves every connection with `describe`.
fn serve_h2(peer: &Arc<SecurePeer>) {
    let server = Arc::clone(peer);
    tokio::spawn(async move {
        while let Ok(io) = server.accept().await {
            let builder = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
            tokio::spawn(builder.serve_connection(io, service_fn(describe)));
        }
    });
}

#[tokio::test]
async fn a_closed_http2_connection_is_replaced() {
    let peer = SecurePeer::new(&["h2"]).await;
    let (upstreams, target) = (peer.upstreams(), peer.target());
    let server = Arc::clone(&peer);
    let (stop, mut stopped) = mpsc::channel::<()>(1);
    tokio::spawn(async move {
        let io = server.accept().await.unwrap();
        let builder = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
        let connection = builder.serve_connection(io, service_fn(describe));
        let mut connection = std::pin::pin!(connection);
        tokio::select! {
            _ = connection.as_mut() => {}
            _ = stopped.recv() => {
                connection.as_mut().graceful_shutdown();
                let _ = connection.await;
            }
        }
        let io = server.accept().await.unwrap();
        let builder = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
        let _ = builder.serve_connection(io, service_fn(describe)).await;
    });
    text(upstreams.send(&target, post("{}")).await).await;
    stop.send(()).await.unwrap();
    // Immediately, while the GOAWAY is on its way, and after it.
    text(upstreams.send(&target, post("{}")).await).await;
    tokio::time::sleep(SHORT).await;
    text(upstreams.send(&target, post("{}")).await).await;
    assert_eq!(peer.connections.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn http2_frames_arrive_one_by_one_and_a_dropped_body_resets_the_stream() {
    let peer = SecurePeer::new(&["h2"]).await;
    let (upstreams, target) = (peer.upstreams(), peer.target());
    let (give, mut take) = mpsc::channel(1);
    let server = Arc::clone(&peer);
    tokio::spawn(async move {
        let io = server.accept().await.unwrap();
        let service = service_fn(move |_request: Request<Incoming>| {
            let give = give.clone();
            async move {
                let (sender, frames) = mpsc::channel::<&'static str>(1);
                give.send(sender).await.unwrap();
                Ok::<_, std::convert::Infallible>(Response::new(Frames(frames)))
            }
        });
        let builder = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
        let _ = builder.serve_connection(io, service).await;
    });
    let mut body = upstreams.send(&target, get()).await.unwrap().into_body();
    let frames = take.recv().await.unwrap();
    for text in ["one", "two"] {
        frames.send(text).await.unwrap();
        let frame = body.frame().await.unwrap().unwrap();
        assert_eq!(frame.into_data().unwrap(), text);
    }
    drop(body);
    tokio::time::timeout(PATIENT.idle, frames.closed()).await.expect("the stream is reset");
}

/// A response body from a channel.
struct Frames(mpsc::Receiver<&'static str>);

impl http_body::Body for Frames {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<http_body::Frame<Bytes>, Self::Error>>> {
        let next = self.0.poll_recv(cx);
        next.map(|text| {
            text.map(|text| Ok(http_body::Frame::data(Bytes::from_static(text.as_bytes()))))
        })
    }
}

#[tokio::test]
async fn more_streams_than_one_connection_takes() {
    const LIMIT: u32 = 3;
    let peer = SecurePeer::new(&["h2"]).await;
    let (upstreams, target) = (peer.upstreams(), peer.target());
    let (give, mut take) = mpsc::channel(100);
    let server = Arc::clone(&peer);
    tokio::spawn(async move {
        while let Ok(io) = server.accept().await {
            let give = give.clone();
            let service = service_fn(move |_request: Request<Incoming>| {
                let give = give.clone();
                async move {
                    let (sender, frames) = mpsc::channel::<&'static str>(1);
                    give.send(sender).await.unwrap();
                    Ok::<_, std::convert::Infallible>(Response::new(Frames(frames)))
                }
            });
            let mut builder = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
            builder.max_concurrent_streams(LIMIT);
            tokio::spawn(builder.serve_connection(io, service));
        }
    });
    // All stay open, so that each needs its own slot.
    let (mut bodies, mut senders) = (Vec::new(), Vec::new());
    for _ in 0..10 {
        let answered = upstreams.send(&target, get());
        bodies.push(tokio::time::timeout(PATIENT.head / 2, answered).await.unwrap().unwrap());
        senders.push(take.recv().await.unwrap());
    }
    assert_eq!(peer.connections.load(Ordering::SeqCst), 4);
}

#[tokio::test]
async fn an_untrusted_certificate_is_refused() {
    let peer = SecurePeer::new(&["http/1.1"]).await;
    let server = Arc::clone(&peer);
    tokio::spawn(async move { server.accept().await.map(drop) });
    let error = failure(upstreams().send(&peer.target(), get()).await);
    assert!(matches!(error, UpstreamError::Tls { .. }), "{error}");
    let message = error.to_string();
    assert!(message.starts_with("the TLS handshake with `https://localhost:"), "{message}");
    assert!(message.contains("certificate"), "{message}");
}

#[tokio::test]
async fn a_certificate_for_another_name_is_refused() {
    let peer = SecurePeer::new(&["http/1.1"]).await;
    let server = Arc::clone(&peer);
    tokio::spawn(async move { server.accept().await.map(drop) });
    let url = peer.target().origin().replace("localhost", "127.0.0.1");
    let error = failure(peer.upstreams().send(&target(&url), get()).await);
    assert!(matches!(error, UpstreamError::Tls { .. }), "{error}");
}

#[tokio::test]
async fn plain_text_where_tls_is_due_is_refused() {
    let peer = Peer::new().await;
    let url = peer.target().origin().replace("http:", "https:");
    let serve = async { peer.accept().await.write(b"HTTP/1.1 400 Bad Request\r\n\r\n").await };
    let (upstreams, target) = (upstreams(), target(&url));
    let ask = async { failure(upstreams.send(&target, get()).await) };
    let ((), error) = tokio::join!(serve, ask);
    assert!(matches!(error, UpstreamError::Tls { .. }), "{error}");
}
