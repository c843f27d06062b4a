//! Whom a server must prove to be.

use std::net::SocketAddr;
use std::sync::Arc;

use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use serde_json::json;
use sha2::{Digest as _, Sha256};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio_rustls::TlsAcceptor;

use super::support::{ALLOW, Client, Era, Server};
use crate::support::text_of;

/// Speaks TLS in front of a server that does not.
struct Secure {
    address: SocketAddr,
    fingerprint: String,
    pem: String,
    _runtime: Runtime,
}

fn secure(to: SocketAddr) -> Secure {
    let names = ["localhost".to_owned(), "127.0.0.1".to_owned()];
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(names).unwrap();
    let key = PrivateKeyDer::try_from(signing_key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![cert.der().clone()], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let address = listener.local_addr().unwrap();
    runtime.spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                let Ok(mut stream) = acceptor.accept(stream).await else { return };
                let Ok(mut plain) = TcpStream::connect(to).await else { return };
                tokio::io::copy_bidirectional(&mut stream, &mut plain).await.ok();
            });
        }
    });
    let digest = Sha256::digest(cert.der());
    let fingerprint = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    Secure { address, fingerprint, pem: cert.pem(), _runtime: runtime }
}

#[test]
fn the_pinned_certificate_and_no_other() {
    let server = Server::new(Era::Modern);
    let secure = secure(server.upstream().address());
    let url = format!("https://{}/mcp", secure.address);
    let entry = format!("tls_fingerprint: \"{}\"", secure.fingerprint.to_uppercase());
    let gateway = server.start(server.setup_at(&url, ALLOW, &entry, ""));
    assert_eq!(text_of(&Client::modern(&gateway).call("echo", json!({}))), "done");

    server.begin();
    let wrong = secure.fingerprint.chars().rev().collect::<String>();
    let entry = format!("tls_fingerprint: \"{wrong}\"");
    let gateway = server.setup_at(&url, ALLOW, &entry, "").start();
    let mut client = Client::modern(&gateway);
    let ask = client.asking("tools/call", json!({ "name": "echo" }));
    let reply = client.send(&ask);
    assert_eq!(reply.status, 502, "{}", reply.text());
    let told = reply.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(told.contains("tls_fingerprint") && told.contains(&secure.fingerprint), "{told}");
    assert!(server.seen().is_empty(), "{:?}", server.seen());
}

#[test]
fn a_certificate_that_the_system_trusts() {
    let server = Server::new(Era::Modern);
    let secure = secure(server.upstream().address());
    let url = format!("https://localhost:{}/mcp", secure.address.port());
    let setup = server.setup_at(&url, ALLOW, "", "").file("roots.pem", &secure.pem);
    let roots = setup.folder().join("roots.pem").to_str().unwrap().to_owned();
    let gateway = server.start(setup.env("SSL_CERT_FILE", &roots));
    assert_eq!(text_of(&Client::modern(&gateway).call("echo", json!({}))), "done");

    // Nobody vouches for it here.
    server.begin();
    let gateway = server.setup_at(&url, ALLOW, "", "").start();
    let mut client = Client::modern(&gateway);
    let ask = client.asking("tools/call", json!({ "name": "echo" }));
    let reply = client.send(&ask);
    assert_eq!(reply.status, 502, "{}", reply.text());
    assert!(reply.text().contains("certificate"), "{}", reply.text());
    assert!(server.seen().is_empty(), "{:?}", server.seen());
}
