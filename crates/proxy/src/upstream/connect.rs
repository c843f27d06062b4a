//! Connects to a target: name resolution, TCP, TLS.

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use socket2::{SockRef, TcpKeepalive};
use tokio::net::{TcpStream, lookup_host};
use url::Host;

use super::error::UpstreamError;
use super::stream::Stream;
use super::target::UpstreamTarget;
use super::tls::Tls;

/// A new connection with its protocol.
pub(super) struct NewConnection {
    pub(super) stream: Stream,
    pub(super) protocol: Protocol,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Protocol {
    H1,
    H2,
}

/// Opens a connection. The caller applies the timeout.
pub(super) async fn open(
    target: &UpstreamTarget,
    tls: &Tls,
) -> Result<NewConnection, UpstreamError> {
    let addresses = addresses(target).await?;
    let refused = |source| UpstreamError::Connect { at: Arc::clone(target.origin()), source };
    let tcp = race(addresses).await.map_err(refused)?;
    prepare(&tcp).map_err(refused)?;
    let Some(name) = target.server_name() else {
        return Ok(NewConnection { stream: Stream::Plain(tcp), protocol: Protocol::H1 });
    };
    let unsafe_ = |source| UpstreamError::Tls { at: Arc::clone(target.origin()), source };
    let stream = tls.connector().connect(name.clone(), tcp).await.map_err(unsafe_)?;
    let protocol = match stream.get_ref().1.alpn_protocol() {
        Some(b"h2") => Protocol::H2,
        _ => Protocol::H1,
    };
    Ok(NewConnection { stream: Stream::Tls(Box::new(stream)), protocol })
}

async fn addresses(target: &UpstreamTarget) -> Result<VecDeque<SocketAddr>, UpstreamError> {
    let port = target.port();
    match target.host() {
        Host::Ipv4(ip) => Ok([SocketAddr::from((*ip, port))].into()),
        Host::Ipv6(ip) => Ok([SocketAddr::from((*ip, port))].into()),
        Host::Domain(name) => match lookup_host((name.as_str(), port)).await {
            Ok(found) => Ok(alternate(found)),
            Err(source) => Err(UpstreamError::Resolve { at: Arc::clone(target.origin()), source }),
        },
    }
}

/// Alternates between address families, starting with the resolver's preference: if one family is
/// unreachable, the second attempt already uses the other.
fn alternate(found: impl Iterator<Item = SocketAddr>) -> VecDeque<SocketAddr> {
    let found: Vec<SocketAddr> = found.collect();
    let six_first = found.first().is_some_and(SocketAddr::is_ipv6);
    let (first, second): (Vec<_>, Vec<_>) =
        found.into_iter().partition(|address| address.is_ipv6() == six_first);
    let mut second = second.into_iter();
    let mut mixed = VecDeque::new();
    for address in first {
        mixed.push_back(address);
        mixed.extend(second.next());
    }
    mixed.extend(second);
    mixed
}

/// Tries the addresses in order. The next attempt starts when the last one failed or has not
/// answered for a while. The first connection wins.
async fn race(mut addresses: VecDeque<SocketAddr>) -> io::Result<TcpStream> {
    let mut tries = FuturesUnordered::new();
    let mut failure = io::Error::new(io::ErrorKind::NotFound, "the host name has no address");
    loop {
        match addresses.pop_front() {
            Some(address) => tries.push(TcpStream::connect(address)),
            None if tries.is_empty() => return Err(failure),
            None => {}
        }
        let finished = if addresses.is_empty() {
            tries.next().await
        } else {
            tokio::time::timeout(HEAD_START, tries.next()).await.ok().flatten()
        };
        match finished {
            Some(Ok(stream)) => return Ok(stream),
            Some(Err(error)) => failure = error,
            None => {}
        }
    }
}

/// Sends small writes at once, and detects a peer that is gone.
fn prepare(tcp: &TcpStream) -> io::Result<()> {
    tcp.set_nodelay(true)?;
    SockRef::from(tcp).set_tcp_keepalive(&TcpKeepalive::new().with_time(KEEP_ALIVE))
}

/// How long one address is tried alone, as RFC 8305 recommends.
const HEAD_START: Duration = Duration::from_millis(250);
/// Shorter than the minutes after which NAT devices drop a quiet connection.
const KEEP_ALIVE: Duration = Duration::from_secs(45);
