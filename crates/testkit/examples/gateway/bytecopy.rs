//! The proxy anyone would write on hyper in an hour: heads and bodies are forwarded, nothing is
//! looked at. It runs in a process of its own: `gateway bytecopy LISTEN UPSTREAM`.

use std::net::SocketAddr;
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result};
use hyper::body::Incoming;
use hyper::client::conn::http1::SendRequest;
use hyper::header::{CONNECTION, HOST, HeaderValue};
use hyper::service::service_fn;
use hyper::{Request, Response, Uri};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};

use crate::proxy::Start;

pub(crate) fn command(start: &Start, address: SocketAddr) -> Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["bytecopy", &address.to_string(), &start.upstream.to_string()]);
    Ok(command)
}

/// Connections to the upstream, busy ones too.
type Pool = Arc<Mutex<Vec<SendRequest<Incoming>>>>;

pub(crate) async fn serve(listen: &str, upstream: &str) -> Result<()> {
    let upstream: SocketAddr = upstream.parse().context("the upstream's address")?;
    let listener = TcpListener::bind(listen).await?;
    let pool = Pool::default();
    loop {
        let (socket, _) = listener.accept().await?;
        socket.set_nodelay(true)?;
        let pool = Arc::clone(&pool);
        let service = service_fn(move |request| forward(request, upstream, Arc::clone(&pool)));
        let server = hyper::server::conn::http1::Builder::new();
        tokio::spawn(server.serve_connection(TokioIo::new(socket), service));
    }
}

async fn forward(
    mut request: Request<Incoming>,
    upstream: SocketAddr,
    pool: Pool,
) -> Result<Response<Incoming>> {
    let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
    *request.uri_mut() = path.parse::<Uri>()?;
    request.headers_mut().remove(CONNECTION);
    request.headers_mut().insert(HOST, HeaderValue::from_str(&upstream.to_string())?);
    let mut sender = match idle(&pool) {
        Some(sender) => sender,
        None => connect(upstream).await?,
    };
    let mut response = sender.send_request(request).await?;
    response.headers_mut().remove(CONNECTION);
    pool.lock().unwrap_or_else(PoisonError::into_inner).push(sender);
    Ok(response)
}

/// A connection whose last answer has been read to its end.
fn idle(pool: &Pool) -> Option<SendRequest<Incoming>> {
    let mut pool = pool.lock().unwrap_or_else(PoisonError::into_inner);
    pool.retain(|sender| !sender.is_closed());
    let ready = pool.iter().position(SendRequest::is_ready)?;
    Some(pool.swap_remove(ready))
}

async fn connect(upstream: SocketAddr) -> Result<SendRequest<Incoming>> {
    let socket = TcpStream::connect(upstream).await?;
    socket.set_nodelay(true)?;
    let (sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(socket)).await?;
    tokio::spawn(connection);
    Ok(sender)
}
